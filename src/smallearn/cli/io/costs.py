"""Costs of predictions, read from a small CSV file."""

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from smallearn._text import listed, show
from smallearn.cli.errors import CommandError


def read_costs(path: Path, classes: Sequence[Any]) -> list[list[float]]:
    """The costs in the order of the classes, true × predicted.

    The first line of the file names the predicted classes, from its second cell on. Each further line has a true class
    and the cost of each prediction.
    """
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            lines = [line for line in csv.reader(file) if any(cell.strip() for cell in line)]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise CommandError(f"{path}: {getattr(error, 'strerror', None) or error}") from None
    names = [str(label) for label in classes]
    predicted = [cell.strip() for cell in lines[0][1:]] if lines else []
    true = [line[0].strip() for line in lines[1:]]
    if sorted(predicted) != sorted(names) or sorted(true) != sorted(names):
        raise CommandError(
            f"{path} must name each of the classes {listed(classes)} once in its first line, from the second cell on, "
            f"and once at the beginning of a line; it has {listed(predicted)} and {listed(true)}"
        )
    costs = {}
    for label, line in zip(true, lines[1:], strict=True):
        if len(line) != len(names) + 1:
            raise CommandError(f"{path}: the line of {show(label)} has {len(line) - 1} costs for {len(names)} classes")
        for other, cell in zip(predicted, line[1:], strict=True):
            costs[label, other] = _cost(path, cell)
    return [[costs[label, other] for other in names] for label in names]


def _cost(path: Path, cell: str) -> float:
    try:
        return float(cell)
    except ValueError:
        raise CommandError(f"{path}: the cost {show(cell)} is not a number") from None
