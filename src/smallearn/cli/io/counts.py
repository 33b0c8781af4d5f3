"""What a device reads, from a small CSV file: how counts become features."""

import csv
from pathlib import Path

from smallearn._text import listed, show
from smallearn.cli.errors import CommandError

COLUMNS = ("feature", "scale", "offset", "low", "high")


def read_counts(path: Path) -> dict[str, tuple[float, float, int, int]]:
    """By feature: scale, offset, and the least and the greatest count; the feature is ``scale · count + offset``."""
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            lines = list(csv.DictReader(file, skipinitialspace=True))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise CommandError(f"{path}: {getattr(error, 'strerror', None) or error}") from None
    counts: dict[str, tuple[float, float, int, int]] = {}
    for line in lines:
        lacking = [name for name in COLUMNS if line.get(name) is None]
        if lacking or None in line:
            raise CommandError(f"{path} must have the columns {', '.join(COLUMNS)} in every line; {show(dict(line))}")
        name = line["feature"]
        if name in counts:
            raise CommandError(f"{path} has {show(name)} twice")
        scale, offset = (_number(path, name, line[column]) for column in ("scale", "offset"))
        low, high = (_whole(path, name, line[column]) for column in ("low", "high"))
        counts[name] = (scale, offset, low, high)
    if not counts:
        raise CommandError(f"{path} has no counts: its columns are {listed(COLUMNS)}, with a line for each feature")
    return counts


def _number(path: Path, name: str, cell: str) -> float:
    try:
        return float(cell)
    except ValueError:
        raise CommandError(f"{path}: {show(cell)}, of {show(name)}, is not a number") from None


def _whole(path: Path, name: str, cell: str) -> int:
    number = _number(path, name, cell)
    if not number.is_integer():
        raise CommandError(f"{path}: {show(cell)}, of {show(name)}, is not a whole number")
    return int(number)
