"""Small CSV files that say something of features or terms, a line each."""

import csv
import io
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from smallearn._text import listed, show
from smallearn.cli.errors import CommandError

SEPARATORS = ",;\t|"
DECIMAL_COMMA = re.compile(r"[+-]?[0-9]*,[0-9]+([eE][+-]?[0-9]+)?")


def read_lines(path: Path, columns: Sequence[str], numbers: Sequence[str] = ()) -> dict[str, dict[str, str]]:
    """The lines, each a cell by column, by their cell in the first of ``columns``; there is at least one.

    The separator is the one that the first line shows. Cells of the columns of ``numbers`` get a decimal point if they
    have a decimal comma and commas do not separate the columns.
    """
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            text = file.read()
        separator, titles = _header(text, columns)
        records = list(_records(text, separator))[1:]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise CommandError(f"{path}: {getattr(error, 'strerror', None) or error}") from None
    lacking = [name for name in columns if name not in titles]
    if lacking and titles:
        raise CommandError(
            f"{path} must have the columns {', '.join(columns)}; its first line lacks {', '.join(lacking)}: it has "
            f"{listed(titles)}"
        )
    found: dict[str, dict[str, str]] = {}
    for number, record in enumerate(records, start=2):
        if not record:
            continue
        lacking = [name for name in columns if titles.index(name) >= len(record)]
        if lacking or len(record) > len(titles):
            what = f"lacks {', '.join(lacking)}" if lacking else "has more cells"
            raise CommandError(f"{path} must have the columns {', '.join(columns)}; line {number} {what}")
        line = dict(zip(titles, record, strict=False))
        key = line[columns[0]].strip()
        if key in found:
            raise CommandError(f"{path} has {show(key)} twice")
        if separator != ",":
            line |= {name: line[name].replace(",", ".") for name in numbers if DECIMAL_COMMA.fullmatch(line[name])}
        found[key] = line
    if not found:
        raise CommandError(f"{path} has no lines: its columns are {listed(columns)}, with a line for each {columns[0]}")
    return found


def _header(text: str, columns: Sequence[str]) -> tuple[str, list[str]]:
    """The separator, the one that finds most of the ``columns`` in the first line, and the titles there."""
    titles = {separator: [title.strip() for title in next(_records(text, separator), [])] for separator in SEPARATORS}
    separator = max(SEPARATORS, key=lambda separator: sum(name in titles[separator] for name in columns))
    return separator, titles[separator]


def _records(text: str, separator: str) -> Iterator[list[str]]:
    return csv.reader(io.StringIO(text, newline=""), delimiter=separator, skipinitialspace=True)
