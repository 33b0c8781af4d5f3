"""Test vectors: rows as a target reads them, with the class that the model predicts for each.

Every function here takes X as `SMaLLModel.predict` does; rows are read once, by `smallearn.model.read_rows`.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from smallearn._text import show
from smallearn.export._fixed.float32 import certain, error_bound, exact_scores
from smallearn.export._fixed.numbers import read_inputs
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


def float32_vectors(model: SMaLLModel, flat: FlatModel, X: Any) -> list[Vector]:
    """The same with numbers rounded to float32, without the rows for which rounding decides or that are infinite then.

    ``flat`` is the model as it is, its numbers not rounded.
    """
    rows = [tuple(map(_as_float32, cells)) for cells in input_cells(model, flat, X)]
    rows = [cells for cells in rows if not any(isinstance(cell, float) and math.isinf(cell) for cell in cells)]
    found = []
    for chunk in _chunks(model, rows):
        inputs = read_inputs(model, flat, _table(flat, chunk))
        z = exact_scores(flat, inputs)
        sure = certain(flat, z, error_bound(flat, inputs, "float32"), "float32")
        expected = model.decide(z)
        found += [Vector(cells=chunk[i], expected=int(expected[i])) for i in np.flatnonzero(sure).tolist()]
    return found


def _as_float32(cell: Cell) -> Cell:
    with np.errstate(over="ignore"):
        return float(np.float32(cell)) if isinstance(cell, float) else cell


def _positions(model: SMaLLModel, flat: FlatModel, rows: Sequence[tuple[Cell, ...]]) -> Iterator[int]:
    """The position of each row's class: labels may be equal to each other, as 1 and True are."""
    for chunk in _chunks(model, rows):
        yield from model.decide(model.scores(_table(flat, chunk)))


def _chunks(model: SMaLLModel, rows: Sequence[tuple[Cell, ...]]) -> Iterator[Sequence[tuple[Cell, ...]]]:
    step = max(1, CELLS // max(1, model.n_features))
    return (rows[begin : begin + step] for begin in range(0, len(rows), step))


def _table(flat: FlatModel, rows: Sequence[tuple[Cell, ...]]) -> np.ndarray:
    """The rows with all features; those that are not in use hold 0."""
    table = np.zeros((len(rows), flat.n_features), dtype=object)
    for position, input_ in enumerate(flat.inputs):
        table[:, input_.feature] = [cells[position] for cells in rows]
    return table
