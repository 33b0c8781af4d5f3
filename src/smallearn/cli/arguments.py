"""Arguments that several commands have, and the types that check them."""

import argparse
from pathlib import Path

# What shtab, which writes the shells' completions, calls a file and a folder.
FILE = {"bash": "_shtab_compgen_files", "zsh": "_files", "tcsh": "f"}
FOLDER = {"bash": "_shtab_compgen_dirs", "zsh": "_files -/", "tcsh": "d"}
CHIPS = "atmega328p, cortex-m0, cortex-m4"


def add_command(commands, name: str, summary: str, description: str, examples: str) -> argparse.ArgumentParser:
    """A command's parser; ``examples`` are lines of shell, each a command that works."""
    lines = "".join(f"  {line}\n" for line in examples.strip().splitlines())
    return commands.add_parser(
        name,
        help=summary,
        description=description,
        epilog=f"examples:\n{lines}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )


def add_model(parser: argparse.ArgumentParser) -> None:
    """``MODEL``."""
    add_path(parser, "model", metavar="MODEL", help="a model file (JSON)")


def add_data(
    parser: argparse.ArgumentParser,
    help: str = "a table: CSV, TSV (.gz too), Parquet or Arrow",
    optional: bool = False,
) -> None:
    """``DATA`` and ``--encoding``."""
    add_path(parser, "data", metavar="DATA", help=help, nargs="?" if optional else None)
    parser.add_argument("--encoding", default="utf-8", metavar="NAME", help="of CSV and TSV (utf-8)")
    parser.add_argument(
        "--missing",
        action="append",
        default=[],
        metavar="TEXT",
        help="a further text that means a missing value, in any column; repeatable (--missing=-9 if it begins with -)",
    )


def add_training(parser: argparse.ArgumentParser) -> None:
    """``DATA``, ``--target`` and which columns to learn from."""
    add_data(parser)
    parser.add_argument("--target", required=True, metavar="COLUMN", help="the column of classes")
    parser.add_argument("--drop", action="append", default=[], metavar="COLUMN", help="not to learn from; repeatable")
    parser.add_argument(
        "--keep", action="append", default=[], metavar="COLUMN", help="to learn from though it looks like an id or date"
    )


def add_search(parser: argparse.ArgumentParser, max_terms: int) -> None:
    """What the selection may choose from, its seed and its processes."""
    parser.add_argument(
        "--max-terms", type=count, default=max_terms, metavar="N", help=f"terms that a model may have ({max_terms})"
    )
    parser.add_argument("--prototypes", type=count, metavar="P", help="prototypes (chosen by cross-validation)")
    parser.add_argument("--positive", metavar="LABEL", help="of two classes, the one that the scores speak for")
    parser.add_argument("--points", type=count, metavar="N", help="a score card: whole points from -N to N")
    parser.add_argument(
        "--literals",
        choices=("raw", "thresholds", "both"),
        metavar="KIND",
        help="what terms are: raw, the numbers themselves; thresholds, conditions such as [age ≤ 40]; or both, mixed "
        "(default: raw and both are tried, and the better is taken)",
    )
    parser.add_argument("--seed", type=seed, default=0, metavar="N", help="of the folds and starts (0)")
    parser.add_argument("--jobs", type=count, metavar="N", help="processes to use (1)")


def add_talk(parser: argparse.ArgumentParser, json: bool = True) -> None:
    """``--quiet`` and ``--json``."""
    parser.add_argument("--quiet", action="store_true", help="say nothing on stderr but errors")
    if json:
        parser.add_argument("--json", action="store_true", help="one JSON document on stdout, for machines")


def add_path(parser: argparse.ArgumentParser, *names: str, folder: bool = False, **options) -> None:
    """A file or a folder, which shells can complete."""
    argument = parser.add_argument(*names, type=Path, **options)
    argument.complete = FOLDER if folder else FILE  # type: ignore[attr-defined]


def count(text: str) -> int:
    """A whole number from 1."""
    if not (text.isascii() and text.isdecimal()) or not 1 <= int(text) <= 1_000_000:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 1 to 1000000")
    return int(text)


def row(text: str) -> int:
    """The number of a row, from 1."""
    if not (text.isascii() and text.isdecimal()):
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 1")
    if int(text) < 1:
        raise argparse.ArgumentTypeError("rows are counted from 1, the first below the header")
    return int(text)


def seed(text: str) -> int:
    """A whole number from 0."""
    if not (text.isascii() and text.isdecimal()) or int(text) >= 2**32:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 0 to 4294967295")
    return int(text)


def positive(text: str) -> float:
    """A number above 0."""
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0.0 < number < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number above 0")
    return number
