"""What users hand over beside a model, as the model reads it: one row, many rows, units, labels."""

import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from smallearn._text import listed, show
from smallearn.model._columns import TEXT, Rows
from smallearn.model._model import SMaLLModel


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


def as_model(given: Any) -> SMaLLModel:
    """The model that a user has in hand: a `SMaLLModel`, or a fitted estimator that holds one.

    Parameters
    ----------
    given : SMaLLModel or fitted estimator
        An estimator is known by its ``model_``; a search over parameters by its ``best_estimator_``.

    Returns
    -------
    SMaLLModel

    Raises
    ------
    ValueError
        If the estimator is not fitted.
    TypeError
        If it is anything else.
    """
    found = getattr(given, "best_estimator_", given)
    found = getattr(found, "model_", found)
    if isinstance(found, SMaLLModel):
        return found
    kind = type(given).__name__
    if isinstance(given, str | os.PathLike):
        raise TypeError(f"{show(os.fspath(given))} is a path, not a model; read it first: smallearn.load_model(path).")
    if hasattr(given, "steps"):
        raise TypeError(
            f"A {kind} is not a model. Pass its last step, pipeline[-1], with rows as the earlier steps return them."
        )
    if kind.startswith("SMaLL"):
        raise ValueError(f"This {kind} is not fitted yet and has no model; call fit first.")
    raise TypeError(f"A {kind} is not a model; it takes a SMaLLModel or a fitted SMaLLClassifier or SMaLLClassifierCV.")


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


def read_rows(model: SMaLLModel, X: Any) -> Rows:
    """The columns that the model uses, read once; rows that were read already are taken as they are."""
    return X if isinstance(X, Rows) else Rows(X, model.features, model.n_features)
