"""The test vectors of a model in SQL: rows, the model's answers to them, and a query for those that differ."""

from typing import Any

import numpy as np

from smallearn._text import show
from smallearn.export._flat import FlatModel
from smallearn.export._sql.dialect import Dialect
from smallearn.export._sql.expressions import ANSWERS, REASON, Expressions
from smallearn.export._vectors import Cell, vectors_of
from smallearn.model import SMaLLModel
from smallearn.model._arguments import read_rows
from smallearn.model._decision import contributions
from smallearn.model._rows import Rows

TOLERANCE = 1e-12  # of scores relative to the sum of the terms' sizes, and of probabilities
EXTRA_COLUMNS = ("row", "class", "log-odds", "chance", "error")


def differences_query(model: SMaLLModel, parts: Expressions, X: Any, *, scored: str, table: str) -> str:
    """A query for the rows of X that the database predicts differently.

    ``scored`` is a SELECT from ``table`` with the predictions; the query puts the rows of X in the place of that table.
    """
    flat, dialect = parts.flat, parts.dialect
    rows = read_rows(model, X)
    vectors = vectors_of(model, flat, rows)
    if not vectors:
        raise ValueError("conformance has no rows; pass at least one row of the data.")
    names = [dialect.identifier(_unused(name, flat, dialect)) for name in EXTRA_COLUMNS]
    values = []
    for number, (vector, numbers) in enumerate(zip(vectors, _expected_numbers(model, rows), strict=True)):
        cells = [_cell(dialect, cell, input_.is_text) for cell, input_ in zip(vector.cells, flat.inputs, strict=True)]
        entries = [str(number), parts.labels[vector.expected], *(dialect.number(float(x)) for x in numbers), *cells]
        values.append(entries)
    columns = [*names, *(dialect.identifier(input_.label) for input_ in flat.inputs)]
    _, expected, score, chance, error = (f"found.{name}" for name in names)
    same = (
        dialect.same_text("found.prediction", expected) if parts.has_text_labels else f"found.prediction = {expected}"
    )
    different = [
        "found.prediction IS NULL",
        f"NOT ({same})",
        f"abs(found.score - {score}) > {error}",
        f"abs(found.probability - {chance}) > {error} + {dialect.number(TOLERANCE)}",
    ]
    return (
        f"WITH {dialect.table_of_rows(table, columns, values)}\n"
        f"SELECT * FROM (\n{scored}\n) found\nWHERE " + "\n  OR ".join(different) + "\n"
    )


def _expected_numbers(model: SMaLLModel, rows: Rows) -> np.ndarray:
    """Rows × (score, probability, allowed error)."""
    decision, code = model.decision_function(rows), model.decide(model.scores(rows))[:, None]
    score = decision if decision.ndim == 1 else np.take_along_axis(decision, code, axis=1)
    chance = np.take_along_axis(model.predict_proba(rows), code, axis=1)
    return np.column_stack([score, chance, TOLERANCE * model.scale * _sizes(model, rows)])


def _sizes(model: SMaLLModel, rows: Rows) -> np.ndarray:
    """``|constant| + Σ |weight · b|`` of the prototype for which it is greatest."""
    sizes = np.tile([abs(prototype.intercept) for prototype in model.prototypes], (rows.n_rows, 1))
    for j, prototype in enumerate(model.prototypes):
        for added in contributions(prototype, rows.factor):
            sizes[:, j] += np.abs(added)
    return sizes.max(axis=1)


def _cell(dialect: Dialect, cell: Cell, is_text: bool) -> str:
    if cell is None:
        return dialect.null(is_text)
    if isinstance(cell, str):
        return dialect.text(cell)
    if is_text and dialect.typed_columns:
        raise ValueError(
            f"A row for conformance holds {show(cell)} where the model compares text, but a column of {dialect.name} "
            "has one type: leave the row out."
        )
    return dialect.number(cell)


def _unused(name: str, flat: FlatModel, dialect: Dialect) -> str:
    """The name, or a longer one that no column has."""
    taken = {dialect.key(input_.label) for input_ in flat.inputs} | {*ANSWERS, REASON}
    while name in taken:
        name += "_"
    return name
