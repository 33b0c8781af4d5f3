"""Small CSV files that say something of features or terms, a line each."""

import csv
from collections.abc import Sequence
from pathlib import Path

from smallearn._text import listed, show
from smallearn.cli.errors import CommandError


def read_lines(path: Path, columns: Sequence[str]) -> dict[str, dict[str, str]]:
    """The lines, each a cell by column, by their cell in the first of ``columns``; there is at least one."""
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            lines = list(csv.DictReader(file, skipinitialspace=True))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise CommandError(f"{path}: {getattr(error, 'strerror', None) or error}") from None
    found: dict[str, dict[str, str]] = {}
    for number, line in enumerate(lines, start=2):
        lacking = [name for name in columns if line.get(name) is None]
        if lacking or None in line:
            what = f"lacks {', '.join(lacking)}" if lacking else "has more cells"
            raise CommandError(f"{path} must have the columns {', '.join(columns)}; line {number} {what}")
        key = line[columns[0]]
        if key in found:
            raise CommandError(f"{path} has {show(key)} twice")
        found[key] = line
    if not found:
        raise CommandError(f"{path} has no lines: its columns are {listed(columns)}, with a line for each {columns[0]}")
    return found
