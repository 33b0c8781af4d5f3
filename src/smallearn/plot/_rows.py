"""Rows as a model reads them: classes as numbers, what each term adds, the score that decides."""

from dataclasses import replace
from typing import Any

import numpy as np

from smallearn.model import SMaLLModel, Term
from smallearn.model._columns import gather
from smallearn.model._rows import read_rows
from smallearn.model._rule import contributions


def n_rows_of(X: Any) -> int:
    """How many rows there are: one at least."""
    shape = np.shape(X) if not hasattr(X, "shape") else X.shape
    if len(shape) != 2 or shape[0] == 0:
        raise ValueError(f"X has shape {tuple(shape)}; it takes rows × features, and one row at least.")
    return int(shape[0])


def additions(model: SMaLLModel, X: Any) -> list[np.ndarray]:
    """For each prototype what its terms add to its score: rows × terms, in points."""
    rows = read_rows(model, X)
    empty = np.empty((rows.n_rows, 0))
    return [np.column_stack([empty, *contributions(prototype, rows.factor)]) for prototype in model.prototypes]


def column(X: Any, term: Term, n_features: int) -> np.ndarray:
    """The values of one feature."""
    return np.concatenate([columns[term.feature].values for _, columns in gather(X, [term], n_features)])


def compact(model: SMaLLModel) -> SMaLLModel:
    """The same model for rows that hold the features in use and no others, in their order."""
    place = {term.feature: number for number, term in enumerate(model.features)}
    prototypes = tuple(
        replace(
            prototype, terms=tuple(replace(term, feature=place[term.feature], name=None) for term in prototype.terms)
        )
        for prototype in model.prototypes
    )
    return replace(model, n_features=len(place), prototypes=prototypes, ranges=())
