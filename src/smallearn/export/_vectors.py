"""Test vectors: rows as a target reads them, with the class that the model predicts for each.

Every function here takes X as `SMaLLModel.predict` does; rows are read once, by `smallearn.model.read_rows`.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from smallearn._text import show
from smallearn.export._flat import FlatModel
from smallearn.model import SMaLLModel
from smallearn.model._arguments import read_rows
from smallearn.model._columns import is_missing

Cell = str | float | None  # text, a number, or missing
CELLS = 2**20  # of the table that is predicted at a time


@dataclass(frozen=True)
class Vector:
    """The inputs in use of a row, and the position of its class."""

    cells: tuple[Cell, ...]
    expected: int


def vectors_of(model: SMaLLModel, flat: FlatModel, X: Any) -> list[Vector]:
    """The rows of X with the model's answers. Numbers are read as float64 first, as the target reads them."""
    rows = input_cells(model, flat, X)
    return [
        Vector(cells=cells, expected=int(expected))
        for cells, expected in zip(rows, _positions(model, flat, rows), strict=True)
    ]


def input_cells(model: SMaLLModel, flat: FlatModel, X: Any) -> list[tuple[Cell, ...]]:
    """The inputs in use of each row of X: text, float64, or None where the value is missing."""
    rows = read_rows(model, X)
    columns = []
    for input_ in flat.inputs:
        column = rows.columns[input_.feature]
        column.missing  # noqa: B018 - refuses what is no number, text or missing value; tolist would let dates pass
        columns.append([_cell(value) for value in column.values.tolist()])
    return list(zip(*columns, strict=True)) if columns else [()] * rows.n_rows


def _cell(value: Any) -> Cell:
    if is_missing(value):
        return None
    if isinstance(value, str):
        return str(value)
    try:
        return float(value)
    except (TypeError, OverflowError) as error:
        raise ValueError(f"A row for conformance holds {show(value)}, which is no float64 ({error}).") from None


def _positions(model: SMaLLModel, flat: FlatModel, rows: Sequence[tuple[Cell, ...]]) -> Iterator[int]:
    """The position of each row's class: labels may be equal to each other, as 1 and True are."""
    step = max(1, CELLS // max(1, model.n_features))
    for begin in range(0, len(rows), step):
        chunk = rows[begin : begin + step]
        table = np.zeros((len(chunk), model.n_features), dtype=object)  # features that are not in use hold 0
        for position, input_ in enumerate(flat.inputs):
            table[:, input_.feature] = [cells[position] for cells in chunk]
        yield from model.decide(model.scores(table))
