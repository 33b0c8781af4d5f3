"""``smallearn demo``: the whole journey on data that come with the installation."""

import argparse
import shlex
from collections.abc import Callable
from contextlib import chdir
from pathlib import Path

from smallearn._text import show
from smallearn.cli.arguments import add_command, add_path
from smallearn.cli.common import CommandError, tell
from smallearn.cli.io.sources import need_tables
from smallearn.cli.terminal import heading

EXAMPLES = """\
smallearn demo
smallearn demo tic-tac-toe -o tic-tac-toe
"""
JOURNEYS = {
    "breast-cancer": [
        "fit train.csv --target diagnosis --max-terms 6 -o model.json",
        "evaluate model.json test.csv --compare --train train.csv",
        "explain model.json test.csv --row 3",
        "export model.json --to c --number int8 -o model.h",
        "export model.json --to sql --table tumours -o model.sql",
        "report model.json test.csv --train train.csv -o report.html",
    ],
    "tic-tac-toe": [
        "fit board.csv --target result --max-terms 24 -o model.json",
        "explain model.json board.csv",
    ],
}


def add(commands) -> None:
    """The command's arguments."""
    parser = add_command(
        commands,
        "demo",
        "the whole journey on data that come with it: fit, evaluate, explain, export, report",
        "Run the other commands one after the other: on the breast cancer data, 398 tumours to learn from and 171\n"
        "held out, or on all positions in which a game of tic-tac-toe can end. Each command is printed before it\n"
        "runs; what they write is left in a folder.",
        EXAMPLES,
    )
    parser.add_argument(
        "journey",
        nargs="?",
        choices=JOURNEYS,
        default="breast-cancer",
        metavar="JOURNEY",
        help="breast-cancer or tic-tac-toe (breast-cancer)",
    )
    add_path(
        parser, "-o", "--output", folder=True, metavar="FOLDER", help="where files go (smallearn-demo, made if needed)"
    )
    parser.set_defaults(run=run, quiet=False)


def run(given: argparse.Namespace) -> int:
    """Write the data, run the commands."""
    need_tables()
    folder = given.output or Path("smallearn-demo")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        WRITE[given.journey](folder)
    except OSError as problem:
        raise CommandError(f"{show(str(folder))} cannot be written to: {problem.strerror}") from None
    tell(f"In the folder {folder}:")
    with chdir(folder):
        for line in JOURNEYS[given.journey]:
            print(heading(f"\n$ smallearn {line}"), flush=True)
            code = given.main(shlex.split(line))
            if code:
                return code
    page = folder / "report.html"
    if page.exists():
        tell(f"\nThe report is {page}: open it in a browser.")
    return 0


def _tumours(folder: Path) -> None:
    """scikit-learn's breast cancer data, a stratified third of it held out."""
    from sklearn.datasets import load_breast_cancer
    from sklearn.model_selection import train_test_split

    data = load_breast_cancer(as_frame=True)
    table = data.data.assign(diagnosis=data.target_names[data.target])
    train, test = train_test_split(table, test_size=0.3, stratify=table["diagnosis"], random_state=0)
    train.to_csv(folder / "train.csv", index=False)
    test.to_csv(folder / "test.csv", index=False)


def _boards(folder: Path) -> None:
    """Every position in which a game can end."""
    import pandas as pd

    from smallearn.datasets import tic_tac_toe

    boards = tic_tac_toe(one_hot=False)
    table = pd.DataFrame(boards.data, columns=boards.feature_names)
    table["result"] = ["x wins" if won else "x does not win" for won in boards.target]
    table.to_csv(folder / "board.csv", index=False)


WRITE: dict[str, Callable[[Path], None]] = {"breast-cancer": _tumours, "tic-tac-toe": _boards}
