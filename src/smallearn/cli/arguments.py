"""Options that several commands have, and the types that check their values.

An option that sets a parameter of the library has the parameter's name as its ``dest``, so that an error about the
parameter can name the option: see `option_names`.
"""

import argparse
import csv
import textwrap
from collections.abc import Collection, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

from smallearn._text import listed
from smallearn.cli.errors import CommandError
from smallearn.model import SMaLLModel

# How shtab, which writes the completions of shells, names files and folders.
FILE = {"bash": "_shtab_compgen_files", "zsh": "_files", "tcsh": "f"}
FOLDER = {"bash": "_shtab_compgen_dirs", "zsh": "_files -/", "tcsh": "d"}
TABLE = "the table"  # the title of options about how it is read
WIDTH = 79  # of descriptions in a help text


class Names(Collection[str]):
    """The names in a registry of the library, in order. It is imported only when they are read: in help or errors."""

    def __init__(self, room: str, registry: str):
        self.room, self.registry = room, registry

    def _names(self) -> list[str]:
        return sorted(getattr(import_module(self.room), self.registry))

    def __contains__(self, name: object) -> bool:
        return name in self._names()

    def __iter__(self) -> Iterator[str]:
        return iter(self._names())

    def __len__(self) -> int:
        return len(self._names())

    def __str__(self) -> str:
        return ", ".join(self)


Parser = argparse.ArgumentParser | argparse._ArgumentGroup

CHIP_NAMES = Names("smallearn.devices", "CHIPS")
TARGET_NAMES = Names("smallearn.export", "TARGETS")
DIALECT_NAMES = Names("smallearn.export._sql.dialects", "DIALECTS")


def add_command(
    commands, name: str, *, summary: str, description: str, examples: str, notes: str = ""
) -> argparse.ArgumentParser:
    """Add the parser of a command.

    ``description`` is prose, whose paragraphs are wrapped; ``examples`` are lines of shell, each a command that works;
    ``notes`` come before them, as they are.
    """
    paragraphs = (" ".join(paragraph.split()) for paragraph in description.split("\n\n"))
    lines = "".join(f"  {line}\n" for line in examples.strip().splitlines())
    return commands.add_parser(
        name,
        help=summary,
        description="\n\n".join(textwrap.fill(paragraph, WIDTH, break_on_hyphens=False) for paragraph in paragraphs),
        epilog=f"{notes}\nexamples:\n{lines}" if notes else f"examples:\n{lines}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )


def option_names(parser: argparse.ArgumentParser) -> dict[str, str]:
    """The options of a command by the parameter that they set: ``--max-terms`` for ``max_terms``."""
    return {action.dest: action.option_strings[-1] for action in parser._actions if action.option_strings}


def add_model(parser: argparse.ArgumentParser) -> None:
    """``MODEL``."""
    add_path(parser, "model", metavar="MODEL", help="a model file (JSON)")


def add_data(
    parser: argparse.ArgumentParser, *, optional: bool = False, several: bool = False
) -> argparse._ArgumentGroup:
    """``DATA``, ``--encoding``, ``--missing`` and ``--sheet``; the group of options about the table."""
    more = "a folder of Parquet files, or several of them" if several else "a folder of Parquet files"
    add_path(
        parser,
        "data",
        metavar="DATA",
        help=f"a table: CSV or TSV (also .gz), Parquet, Arrow or Excel; or {more}",
        nargs="?" if optional else "+" if several else None,
    )
    group = parser.add_argument_group(TABLE)
    group.add_argument("--encoding", default="utf-8", metavar="NAME", help="encoding of CSV and TSV (default: utf-8)")
    remembered = "; the model remembers it" if several else ""
    group.add_argument(
        "--missing",
        action="append",
        default=[],
        metavar="TEXT",
        help=f"also treat TEXT as a missing value, in any column{remembered}; repeatable (--missing=-9 if it begins "
        "with -)",
    )
    group.add_argument("--sheet", metavar="NAME", help="the sheet of an Excel file (default: the first)")
    return group


def add_named(parser: Parser, option: str, names: Names, *, help: str, **more: Any) -> None:
    """An option whose value is one of ``names``, which stand in the help for ``%(names)s``; the library checks it."""
    action = parser.add_argument(option, **more)
    action.names, action.help = names, help  # type: ignore[attr-defined]  # argparse fills in any attribute


def add_readings(parser: Parser, default: str | None, text: str) -> None:
    """``--readings`` and ``--counts``: what a device reads."""
    parser.add_argument("--readings", metavar="KIND", default=default, help=text)
    add_path(
        parser,
        "--counts",
        metavar="FILE",
        help="for --readings counts: a CSV file with the columns feature, scale, offset, low, high; the device reads a "
        "whole number from low to high, and the feature is scale times that plus offset",
    )


def add_target(parser: argparse.ArgumentParser) -> None:
    """``--target`` for a model that is trained already."""
    parser.add_argument(
        "--target", metavar="COLUMN", help="the column of classes (default: the one the model was trained on)"
    )


def add_training(command: argparse.ArgumentParser, *, several: bool = False) -> None:
    """``DATA``, ``--target`` and which columns to learn from."""
    parser = add_data(command, several=several)
    parser.add_argument("--target", required=True, metavar="COLUMN", help="the column of classes")
    parser.add_argument(
        "--drop", action="append", default=[], metavar="COLUMN", help="do not use this column; repeatable"
    )
    parser.add_argument(
        "--keep",
        action="append",
        default=[],
        metavar="COLUMN",
        help="use this column although it looks like an ID or a date; repeatable",
    )
    parser.add_argument(
        "--id",
        dest="ids",
        action="append",
        default=[],
        metavar="COLUMN",
        help="this column identifies a row: do not learn from it, and remember it in the model; repeatable",
    )
    parser.add_argument("--weights", metavar="COLUMN", help="the column of weights; a row of weight 2 counts twice")
    parser.add_argument(
        "--labels",
        action="append",
        default=[],
        metavar="VALUE=NAME,…",
        help="names for the classes: 0=no,1=yes, or for ranges of numbers, each from its first to below its last: "
        "..30=young,30..50=middle,50..=old; several values may have one name; repeatable",
    )
    parser.add_argument(
        "--many-classes",
        action="store_true",
        help="train although the target has very many classes, or whole numbers that look like a measurement",
    )


def add_storage(parser: Parser) -> None:
    """``--on-disk``, ``--in-memory``, ``--dask`` and ``--float32``."""
    where = parser.add_mutually_exclusive_group()
    where.add_argument(
        "--on-disk",
        action="store_const",
        const=True,
        default=None,
        help="convert the table to files and train from these, however small it is (default: only large tables)",
    )
    where.add_argument(
        "--in-memory",
        dest="on_disk",
        action="store_const",
        const=False,
        help="read the whole table into memory, however large it is",
    )
    where.add_argument(
        "--dask",
        metavar="ADDRESS",
        help="train on a Dask cluster, whose workers read the table (Parquet, under the same path): the address of its "
        "scheduler, such as tcp://scheduler:8786; or local, to try it with --jobs processes on this machine",
    )
    parser.add_argument(
        "--float32",
        action="store_true",
        help="store numbers in these files with 7 digits instead of 16, in half the space",
    )


def add_groups(parser: Parser) -> None:
    """``--group NAME=COLUMN,COLUMN`` and ``--max-per-group``."""
    parser.add_argument(
        "--group",
        dest="feature_groups",
        action=_Groups,
        type=group,
        metavar="NAME=COLUMN,…",
        help="a group of columns of which the model may use few, such as lab=sodium,potassium; repeatable",
    )
    parser.add_argument(
        "--max-per-group",
        type=positive_integer,
        default=1,
        metavar="N",
        help="the most columns of each --group that the model may use (default: 1)",
    )


class _Groups(argparse.Action):
    """Collects groups in a dict from name to columns."""

    def __call__(self, parser, namespace, values, option_string=None):
        name, columns = values
        groups = getattr(namespace, self.dest) or {}
        if name in groups:
            raise argparse.ArgumentError(self, f"the group {name!r} is there already; name each group once")
        setattr(namespace, self.dest, {**groups, name: columns})


def add_printing(parser: argparse.ArgumentParser, json: bool = True) -> None:
    """``--quiet`` and ``--json``."""
    parser.add_argument("--quiet", action="store_true", help="print nothing on stderr but errors")
    if json:
        parser.add_argument("--json", action="store_true", help="print one JSON document, for scripts")


def add_path(parser: Parser, *names: str, folder: bool = False, **options) -> None:
    """A file or a folder, which shells can complete."""
    argument = parser.add_argument(*names, type=Path, **options)
    argument.complete = FOLDER if folder else FILE  # type: ignore[attr-defined]


# --- types -----------------------------------------------------------------------------------------------------------


def sample_rows(text: str) -> int | str | None:
    """``auto``, ``all`` (None) or a number of rows."""
    if text in ("all", "auto"):
        return None if text == "all" else text
    try:
        return positive_integer(text)
    except argparse.ArgumentTypeError as error:
        raise argparse.ArgumentTypeError(f"{error}, auto or all") from None


def group(text: str) -> tuple[str, list[str]]:
    """``NAME=COLUMN,COLUMN``: the name of a group, and its columns as one line of CSV, in which quotes are allowed."""
    name, sign, columns = text.partition("=")
    members = next(csv.reader([columns]), []) if columns else []
    if not sign or not name or not members or not all(members):
        raise argparse.ArgumentTypeError(
            f"{text!r} is not of the form NAME=COLUMN,COLUMN, such as lab=sodium,potassium"
        )
    return name, members


def whole_number(text: str, low: int, high: int) -> int:
    """A whole number from ``low`` to ``high``."""
    if not (text.isascii() and text.isdecimal()) or not low <= int(text) <= high:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from {low} to {high}")
    return int(text)


def positive_integer(text: str) -> int:
    """A whole number from 1 to a million."""
    return whole_number(text, 1, 1_000_000)


def seed(text: str) -> int:
    """A whole number from 0 that is a seed of numpy's."""
    return whole_number(text, 0, 2**32 - 1)


def row_number(text: str) -> int:
    """The number of a row, from 1."""
    if not (text.isascii() and text.isdecimal()):
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 1")
    if int(text) == 0:
        raise argparse.ArgumentTypeError("rows are counted from 1, the first below the header")
    return int(text)


def positive_number(text: str) -> float:
    """A number above 0."""
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0.0 < number < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number above 0")
    return number


def probability(text: str) -> float:
    """A number above 0 and below 1."""
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0.0 < number < 1.0:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number above 0 and below 1")
    return number


# --- units -----------------------------------------------------------------------------------------------------------


def add_units(parser: argparse.ArgumentParser) -> None:
    """``--unit COLUMN=UNIT``."""
    parser.add_argument(
        "--unit",
        action="append",
        default=[],
        metavar="COLUMN=UNIT",
        help="the unit of a feature, to be printed with its values; repeatable",
    )


def units_of(arguments: argparse.Namespace, model: SMaLLModel) -> dict[str, str]:
    """The units that the user named, by feature, and those of the model's descriptions."""
    used = [term.label for term in model.features]
    units = {one.name: one.unit for one in model.descriptions if one.unit and one.name in used}
    for text in arguments.unit:
        name, sign, unit = text.rpartition("=")
        if not sign or not unit:
            raise CommandError(f"--unit {text} is not of the form COLUMN=UNIT, such as age=years")
        if name not in used:
            raise CommandError(f"--unit: the model does not use {name!r}; it uses {listed(used)}")
        units[name] = unit
    return units


# --- descriptions ----------------------------------------------------------------------------------------------------

DESCRIBED = ("name", "words", "unit")


def add_describe(parser: Parser) -> None:
    """``--describe FILE``."""
    add_path(
        parser,
        "--describe",
        metavar="FILE",
        help="what features are called for readers: a CSV file with the columns name, words and unit; words and unit "
        "may be empty",
    )


def described(arguments: argparse.Namespace, model: SMaLLModel) -> SMaLLModel:
    """The model with the descriptions of ``--describe``, in place of those that it has of the same features."""
    if arguments.describe is None:
        return model
    from dataclasses import replace

    from smallearn.cli.io.small_tables import read_lines
    from smallearn.model import Description

    lines = read_lines(arguments.describe, DESCRIBED)
    found = {name: Description(name, line["words"] or None, line["unit"] or None) for name, line in lines.items()}
    kept = (one for one in model.descriptions if one.name not in found)
    return replace(model, descriptions=(*kept, *found.values()))
