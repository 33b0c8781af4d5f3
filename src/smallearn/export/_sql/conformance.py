"""The conformance test of a model in SQL: rows, the model's answers to them, and a query for those that differ."""

from dataclasses import replace
from typing import Any

import numpy as np

from smallearn._text import show
from smallearn.export._flat import FlatModel
from smallearn.export._sql.dialects import Dialect
from smallearn.model import SMaLLModel
from smallearn.model._columns import gather, is_missing

TOLERANCE = 1e-12  # of scores relative to the sum of the terms' sizes, and of probabilities
FACTS = ("row", "class", "log-odds", "chance", "error")


def conformance_query(
    model: SMaLLModel, flat: FlatModel, dialect: Dialect, X: Any, labels: list[str], scored: str, table: str
) -> str:
    """``scored`` is a SELECT from ``table`` with the answers; the query puts the rows of X in the place of that."""
    rows = _literals(flat, dialect, model, X)
    if not rows:
        raise ValueError("conformance has no rows; pass at least one row of the data.")
    classes = [labels[place] for place in _positions(model, X)]
    names = [dialect.identifier(_free(fact, flat, dialect)) for fact in FACTS]
    values = []
    for number, (row, label, facts) in enumerate(zip(rows, classes, _facts(model, X), strict=True)):
        written = [str(number), label, *(dialect.number(float(fact)) for fact in facts), *row]
        values.append(f"    ({', '.join(written)})")
    columns = ", ".join([*names, *(dialect.identifier(given.label) for given in flat.inputs)])
    _, expected, score, chance, error = (f"found.{name}" for name in names)
    different = [
        "found.prediction IS NULL",
        f"found.prediction <> {expected}",
        f"abs(found.score - {score}) > {error}",
        f"abs(found.probability - {chance}) > {error} + {dialect.number(TOLERANCE)}",
    ]
    listing = ",\n".join(values)
    return (
        f"WITH {table} ({columns}) AS (VALUES\n{listing}\n)\n"
        f"SELECT * FROM (\n{scored}\n) AS found\nWHERE " + "\n  OR ".join(different) + "\n"
    )


def _positions(model: SMaLLModel, X: Any) -> list[int]:
    """The predicted classes by their position: labels may be equal to each other, as 1 and True are."""
    return replace(model, classes=tuple(range(len(model.classes))), class_dtype="<i8").predict(X).tolist()


def _facts(model: SMaLLModel, X: Any) -> np.ndarray:
    """Rows × (score, probability, error allowed)."""
    decision = model.decision_function(X)
    score = decision if decision.ndim == 1 else decision.max(axis=1)
    return np.column_stack([score, model.predict_proba(X).max(axis=1), TOLERANCE * model.scale * _sizes(model, X)])


def _sizes(model: SMaLLModel, X: Any) -> np.ndarray:
    """``|b| + Σ |weight · b|`` of the prototype for which it is greatest."""
    sizes = []
    for n_rows, columns in gather(X, model.features, model.n_features):
        size = np.tile([abs(prototype.intercept) for prototype in model.prototypes], (n_rows, 1))
        for j, prototype in enumerate(model.prototypes):
            for term in prototype.terms:
                size[:, j] += abs(term.weight * columns[term.feature].factor(term))
        sizes.append(size.max(axis=1))
    return np.concatenate(sizes)


def _literals(flat: FlatModel, dialect: Dialect, model: SMaLLModel, X: Any) -> list[list[str]]:
    """The inputs of each row."""
    rows = []
    for n_rows, columns in gather(X, model.features, model.n_features):
        inputs = [(given.is_text, columns[given.feature].values) for given in flat.inputs]
        rows += [[_literal(dialect, values[i], is_text) for is_text, values in inputs] for i in range(n_rows)]
    return rows


def _literal(dialect: Dialect, value: Any, is_text: bool) -> str:
    if is_missing(value):
        return "NULL"
    if isinstance(value, str):
        return dialect.text(value)
    if is_text and dialect.lateral:
        raise ValueError(f"A row has {show(value)} where the model compares text; {dialect.name} has no such column.")
    return dialect.number(float(value))


def _free(name: str, flat: FlatModel, dialect: Dialect) -> str:
    """The name, or a longer one that no feature has."""
    taken = {dialect.key(given.label) for given in flat.inputs} | {"prediction", "score", "probability", "reason"}
    while name in taken:
        name += "_"
    return name
