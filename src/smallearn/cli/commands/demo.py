"""``smallearn demo``: all steps on data that come with the installation."""

import argparse
import shlex
from collections.abc import Callable
from contextlib import chdir
from pathlib import Path

from smallearn._text import show
from smallearn.cli.arguments import add_command, add_path
from smallearn.cli.console import Console, heading
from smallearn.cli.errors import CommandError, ExitCode
from smallearn.cli.io.tables import need_tables

DESCRIPTION = """\
Run the other commands one after another: on the breast cancer data, 398 tumours to train on and 171 to test on, or on
all final positions of tic-tac-toe. Each command is printed before it runs; the files that they write stay in a
folder.
"""
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


def add(commands) -> argparse.ArgumentParser:
    """Add the command's parser."""
    parser = add_command(
        commands,
        "demo",
        summary="all steps on data that are included: fit, evaluate, explain, export, report",
        description=DESCRIPTION,
        examples=EXAMPLES,
    )
    parser.add_argument(
        "journey",
        nargs="?",
        choices=JOURNEYS,
        default="breast-cancer",
        metavar="DATA",
        help="breast-cancer or tic-tac-toe (default: breast-cancer)",
    )
    add_path(
        parser,
        "-o",
        "--output",
        folder=True,
        metavar="FOLDER",
        default=Path("smallearn-demo"),
        help="the folder for all files, created if needed (default: smallearn-demo)",
    )
    return parser


def run(arguments: argparse.Namespace, console: Console) -> int:
    """Write the data, run the commands."""
    from smallearn.cli.entry import main  # which imports this file

    need_tables()
    folder = arguments.output
    try:
        folder.mkdir(parents=True, exist_ok=True)
        console.note(f"In the folder {folder}:")
        WRITE_DATA[arguments.journey](folder)
    except OSError as error:
        raise CommandError(f"{show(str(folder))} cannot be written to: {error.strerror}") from None
    with chdir(folder):
        for line in JOURNEYS[arguments.journey]:
            print(heading(f"\n$ smallearn {line}"), flush=True)
            code = main(shlex.split(line))
            if code:
                return code
    page = folder / "report.html"
    if page.exists():
        console.note(f"\nThe report is {page}: open it in a browser.")
    return ExitCode.DONE


def _write_tumours(folder: Path) -> None:
    """scikit-learn's breast cancer data, a stratified third of it for the test."""
    from sklearn.datasets import load_breast_cancer
    from sklearn.model_selection import train_test_split

    data = load_breast_cancer(as_frame=True)
    table = data.data.assign(diagnosis=data.target_names[data.target])
    train, test = train_test_split(table, test_size=0.3, stratify=table["diagnosis"], random_state=0)
    train.to_csv(folder / "train.csv", index=False)
    test.to_csv(folder / "test.csv", index=False)


def _write_boards(folder: Path) -> None:
    """Every final position of tic-tac-toe."""
    import pandas as pd

    from smallearn.datasets import tic_tac_toe

    boards = tic_tac_toe(one_hot=False)
    table = pd.DataFrame(boards.data, columns=boards.feature_names)
    table["result"] = ["x wins" if won else "x does not win" for won in boards.target]
    table.to_csv(folder / "board.csv", index=False)


WRITE_DATA: dict[str, Callable[[Path], None]] = {"breast-cancer": _write_tumours, "tic-tac-toe": _write_boards}
