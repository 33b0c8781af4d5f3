"""Rows as a model reads them: one case, however it is given, and many, with scores that can be asked for again."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from smallearn._text import listed, show
from smallearn.model._columns import TEXT, Column, gather
from smallearn.model._model import SMaLLModel, decide, finite
from smallearn.model._parts import Prototype, Term


def values_of(model: SMaLLModel, row: Any) -> dict[int, Any]:
    """From the position of each feature in use to its value, from a mapping, a sequence of all features, a row of a
    table (a pandas Series) or a table or array of one row."""
    if isinstance(row, TEXT):
        raise ValueError(f"A case is a mapping or a sequence of values, not the text {show(row)}.")
    if hasattr(row, "shape") and len(row.shape) == 2:
        if row.shape[0] != 1:
            raise ValueError(f"A case is one row; this table has {row.shape[0]}.")
        named = all(term.name is not None for term in model.features)
        if hasattr(row, "columns") and not named:
            row = [row[name].to_numpy()[0] for name in row.columns]
        elif hasattr(row, "columns"):
            row = {name: row[name].to_numpy()[0] for name in row.columns}
        else:
            row = (row.toarray() if hasattr(row, "toarray") else row)[0]
    elif not hasattr(row, "keys") and len(row) == 1 and hasattr(row[0], "__len__") and not isinstance(row[0], TEXT):
        row = row[0]
    features = model.features
    if hasattr(row, "keys"):
        lacking = [term.label for term in features if term.label not in set(row.keys())]
        if lacking:
            raise ValueError(f"The case lacks {listed(lacking)}; the model uses {listed([t.label for t in features])}.")
        return {term.feature: row[term.label] for term in features}
    if len(row) != model.n_features:
        raise ValueError(f"The case has {len(row)} values; the model was trained on {model.n_features} features.")
    return {term.feature: row[term.feature] for term in features}


def as_row(model: SMaLLModel, values: dict[int, Any]) -> dict[str, Any]:
    """What `SMaLLModel.predict_one` reads."""
    return {term.label: values[term.feature] for term in model.features}


def checked_units(model: SMaLLModel, units: Mapping[str, str] | None) -> Mapping[str, str]:
    """Units of features in use; none is meant for another."""
    units = {} if units is None else units
    known = {term.label for term in model.features}
    strange = [name for name in units if name not in known]
    if strange:
        raise ValueError(f"There are units for {listed(strange)}; the model uses {listed(sorted(known))}.")
    return units


def codes(model: SMaLLModel, y: Any, n_rows: int) -> np.ndarray:
    """The number of each row's class."""
    labels = np.asarray(y)
    if labels.shape != (n_rows,):
        raise ValueError(f"y has shape {labels.shape}; it takes one label for each of the {n_rows} rows of X.")
    code = model.codes(labels)
    unknown = list(dict.fromkeys(labels[code < 0].tolist()))
    if unknown:
        raise ValueError(
            f"y has labels that the model does not know: {listed(unknown[:5])}; "
            f"its classes are {listed(model.classes)}."
        )
    return code


Place = tuple[int, int]  # a prototype and a term of it, by position


class Rows:
    """The columns in use of all rows, for models that differ from one only in their numbers."""

    def __init__(self, model: SMaLLModel, X: Any):
        self.n_classes = len(model.classes)
        chunks = list(gather(X, model.features, model.n_features))
        self.n_rows = sum(n_rows for n_rows, _ in chunks)
        self.columns = {
            term.feature: Column(np.concatenate([columns[term.feature].values for _, columns in chunks]), term.label)
            for term in model.features
            if chunks
        }
        self._factors: dict[tuple, np.ndarray] = {}

    def factor(self, term: Term) -> np.ndarray:
        """What the term's weight is multiplied by, row by row."""
        key = (term.feature, term.kind, type(term.value), term.value, term.mean)
        if key not in self._factors:
            self._factors[key] = np.asarray(self.columns[term.feature].factor(term), dtype=float)
        return self._factors[key]

    def fills_gaps(self, term: Term) -> bool:
        """Whether some rows have no value where the term puts its mean."""
        return term.mean is not None and bool(self.columns[term.feature].missing.any())

    def scores(self, prototypes: Sequence[Prototype], instead: Mapping[Place, Any] | None = None) -> np.ndarray:
        """Those of `SMaLLModel.scores`, bit for bit, but for factors to be used instead of a term's own."""
        z = np.empty((self.n_rows, len(prototypes)))
        with np.errstate(over="ignore", invalid="ignore"):
            for j, prototype in enumerate(prototypes):
                z[:, j] = prototype.intercept
                for t, term in enumerate(prototype.terms):
                    given = None if instead is None else instead.get((j, t))
                    z[:, j] += term.weight * (self.factor(term) if given is None else given)
        return finite(z)

    def decisions(self, prototypes: Sequence[Prototype], instead: Mapping[Place, Any] | None = None) -> np.ndarray:
        """The number of each row's class, as `SMaLLModel.predict` has it."""
        return decide(self.scores(prototypes, instead), [one.owner for one in prototypes], self.n_classes)
