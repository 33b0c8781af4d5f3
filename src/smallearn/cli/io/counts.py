"""What a device reads, from a small CSV file: how counts become features."""

from pathlib import Path

from smallearn._text import show
from smallearn.cli.errors import CommandError
from smallearn.cli.io.small_tables import read_lines

COLUMNS = ("feature", "scale", "offset", "low", "high")


def read_counts(path: Path) -> dict[str, tuple[float, float, int, int]]:
    """By feature: scale, offset, and the least and the greatest count; the feature is ``scale · count + offset``."""
    counts = {}
    for name, line in read_lines(path, COLUMNS).items():
        scale, offset = (_number(path, name, line[column]) for column in ("scale", "offset"))
        low, high = (_whole(path, name, line[column]) for column in ("low", "high"))
        counts[name] = (scale, offset, low, high)
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
