"""Rows and classes as pictures need them."""

from dataclasses import replace
from typing import Any

import numpy as np

from smallearn.model import Rows, SMaLLModel, read_rows
from smallearn.model._arguments import codes
from smallearn.model._decision import contributions

TAIL = 0.005  # of the rows, on either side, that may lie beyond an axis …
SQUASHED = 2.0  # … if it would be so many times as long …
FEWEST = 100  # … and there are so many rows
CUT = " (axis cut to the middle 99% of rows)"


def check_rows(X: Any) -> int:
    """The number of rows of ``X``, which must have at least one."""
    shape = np.shape(X) if not hasattr(X, "shape") else X.shape
    if len(shape) != 2 or shape[0] == 0:
        raise ValueError(f"X has shape {tuple(shape)}; pass rows × features, with at least one row.")
    return int(shape[0])


def optional_codes(model: SMaLLModel, X: Any, y: Any) -> np.ndarray | None:
    """The class of each row as a position in ``model.classes``; None if ``y`` is not given."""
    if X is None and y is not None:
        raise ValueError("y is given without X; pass both, X alone or neither.")
    n_rows = 0 if X is None else check_rows(X)
    return None if y is None else codes(model, y, n_rows)


def target_of(model: SMaLLModel) -> str | None:
    """The name of the column of classes, if it is known."""
    return None if model.data is None else model.data.target


def middle(values: np.ndarray) -> tuple[float, float] | None:
    """Where an axis is cut so that a few extreme values do not squash the others: around the middle 99% of many values.
    None if it need not be cut."""
    if len(values) < FEWEST:
        return None
    low, high = np.quantile(values, [TAIL, 1.0 - TAIL]).tolist()
    is_squashed = high > low and float(np.ptp(values)) > SQUASHED * (high - low)
    return (low, high) if is_squashed else None


def additions(model: SMaLLModel, X: Any) -> list[np.ndarray]:
    """For each prototype what its terms add to its score: rows × terms."""
    rows: Rows = read_rows(model, X)
    empty = np.empty((rows.n_rows, 0))
    return [np.column_stack([empty, *contributions(prototype, rows.factor)]) for prototype in model.prototypes]


def compact(model: SMaLLModel) -> SMaLLModel:
    """The same model for rows that hold only the features in use, in their order."""
    place = {term.feature: number for number, term in enumerate(model.features)}
    prototypes = tuple(
        replace(
            prototype, terms=tuple(replace(term, feature=place[term.feature], name=None) for term in prototype.terms)
        )
        for prototype in model.prototypes
    )
    others: dict[str, Any] = {"frontier_models": (), "alternatives": (), "reference": None}
    return replace(model, n_features=len(place), prototypes=prototypes, ranges=(), accepted=(), **others)
