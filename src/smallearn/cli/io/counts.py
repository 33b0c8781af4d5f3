"""What a device reads, from a small CSV file: how counts become features."""

from collections.abc import Collection
from pathlib import Path

from smallearn._text import listed, show
from smallearn.cli.console import Console
from smallearn.cli.errors import CommandError
from smallearn.cli.io.small_tables import read_lines

COLUMNS = ("feature", "scale", "offset", "low", "high")


def read_counts(path: Path) -> dict[str, tuple[float, float, int, int]]:
    """By feature: scale, offset, and the least and the greatest count; the feature is ``scale · count + offset``."""
    counts = {}
    for name, line in read_lines(path, COLUMNS, numbers=COLUMNS[1:]).items():
        scale, offset = (_number(path, name, line[column]) for column in ("scale", "offset"))
        low, high = (_whole(path, name, line[column]) for column in ("low", "high"))
        counts[name] = (scale, offset, low, high)
    return counts


def note_unused(path: Path, counts: Collection[str], numbers: Collection[str], console: Console) -> None:
    """A note on lines of features that are not among the ``numbers`` that a model is trained on."""
    others = [name for name in counts if name not in numbers]
    if others:
        lines, are = ("lines", "are") if len(others) > 1 else ("a line", "is")
        why = "not among the numbers that the model is trained on: not used."
        console.note(f"{path.name} has {lines} for {listed(others)}, which {are} {why}")


def _number(path: Path, name: str, cell: str) -> float:
    try:
        return float(cell)
    except ValueError:
        comma = ": commas separate the columns, so write decimals with a point" if "," in cell else ""
        raise CommandError(f"{path}: {show(cell)}, of {show(name)}, is not a number{comma}") from None


def _whole(path: Path, name: str, cell: str) -> int:
    number = _number(path, name, cell)
    if not number.is_integer():
        raise CommandError(f"{path}: {show(cell)}, of {show(name)}, is not a whole number")
    return int(number)
