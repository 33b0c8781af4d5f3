"""What users pass beside a model, checked and as the model reads it: one row, many rows, units, labels."""

import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from smallearn._text import listed, show
from smallearn.model._columns import TEXT
from smallearn.model._model import SMaLLModel
from smallearn.model._rows import Rows


def values_of(model: SMaLLModel, row: Any) -> dict[int, Any]:
    """The value of each feature in use, by its position.

    ``row`` is a mapping by name, a sequence of all features, a pandas Series, or a table, array or `Rows` of one row.
    """
    if isinstance(row, Rows):
        if row.n_rows != 1:
            raise ValueError(f"A case is one row; there are {row.n_rows} here.")
        return {term.feature: row.column(term).values[0] for term in model.features}
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
        missing = [term.label for term in features if term.label not in set(row.keys())]
        if missing:
            raise ValueError(f"The case lacks {listed(missing)}; the model uses {listed([t.label for t in features])}.")
        return {term.feature: row[term.label] for term in features}
    if len(row) != model.n_features:
        raise ValueError(f"The case has {len(row)} values; the model was trained on {model.n_features} features.")
    return {term.feature: row[term.feature] for term in features}


def as_model(model: Any) -> SMaLLModel:
    """Return the model of a fitted estimator; a model is returned as it is.

    Every function that takes a model takes a fitted estimator too, by calling this first.

    Parameters
    ----------
    model : SMaLLModel or fitted estimator
        A `SMaLLModel`, a fitted `SMaLLClassifier` or `SMaLLClassifierCV`, or a search over their parameters such as
        scikit-learn's ``GridSearchCV``.

    Returns
    -------
    SMaLLModel
        The model itself, or the estimator's ``model_``.

    Raises
    ------
    ValueError
        If the estimator is not fitted.
    TypeError
        If it is anything else: a path, a pipeline, another estimator.

    Examples
    --------
    >>> from smallearn import SMaLLClassifier
    >>> from smallearn.model import as_model
    >>> classifier = SMaLLClassifier(n_prototypes=1, n_nonzero=1).fit([[0.0], [1.0]], ["no", "yes"])
    >>> as_model(classifier) is classifier.model_
    True
    """
    estimator = getattr(model, "best_estimator_", model)  # that of a search over parameters
    fitted = getattr(estimator, "model_", estimator)
    if isinstance(fitted, SMaLLModel):
        return fitted
    kind = type(estimator).__name__
    if isinstance(model, str | os.PathLike):
        raise TypeError(f"{show(os.fspath(model))} is a path, not a model; read it first: smallearn.load_model(path).")
    if hasattr(estimator, "steps"):
        raise TypeError(
            f"A {kind} is not a model. Pass its last step, pipeline[-1], with rows as the earlier steps return them."
        )
    if hasattr(estimator, "fit") and _is_from_smallearn(type(estimator)):
        raise ValueError(f"This {kind} is not fitted yet and has no model; call fit first (with refit=True).")
    raise TypeError(f"A {kind} is not a model; pass a SMaLLModel or a fitted SMaLLClassifier or SMaLLClassifierCV.")


def _is_from_smallearn(kind: type) -> bool:
    """Whether a class, or one that it inherits from, is defined in this package."""
    package = __name__.partition(".")[0]
    return any(base.__module__.partition(".")[0] == package for base in kind.__mro__)


def as_row(model: SMaLLModel, values: dict[int, Any]) -> dict[str, Any]:
    """Values by position as a mapping by name, for `SMaLLModel.predict_one`."""
    return {term.label: values[term.feature] for term in model.features}


def checked_units(model: SMaLLModel, units: Mapping[str, str] | None) -> Mapping[str, str]:
    """The units of features, if all of these are in use."""
    units = {} if units is None else units
    known = {term.label for term in model.features}
    unknown = [name for name in units if name not in known]
    if unknown:
        raise ValueError(f"There are units for {listed(unknown)}; the model uses {listed(sorted(known))}.")
    return units


def codes(model: SMaLLModel, y: Any, n_rows: int) -> np.ndarray:
    """The position of each row's class; a label that the model does not know is refused."""
    labels = np.asarray(y)
    if labels.shape != (n_rows,):
        raise ValueError(f"y has shape {labels.shape}; it must have one label for each of the {n_rows} rows of X.")
    code = model.codes(labels)
    unknown = list(dict.fromkeys(labels[code < 0].tolist()))
    if unknown:
        raise ValueError(
            f"y has labels that the model does not know: {listed(unknown[:5])}; "
            f"its classes are {listed(model.classes)}."
        )
    return code


def read_rows(model: SMaLLModel, X: Any) -> Rows:
    """Read the columns that a model uses, once for all questions about these rows.

    Parameters
    ----------
    model : SMaLLModel
        The model that the rows are for.
    X : array, sparse matrix, table or Rows
        Rows × features. `Rows` are returned as they are.

    Returns
    -------
    Rows
        What a model, and every function that takes rows for a model, takes in place of ``X``.

    Examples
    --------
    >>> from smallearn.model import Prototype, SMaLLModel, Term, read_rows
    >>> dose = Term(feature=1, weight=2.0, name="dose")
    >>> model = SMaLLModel(("no", "yes"), "<U3", n_features=3, prototypes=(Prototype(1, -3.0, (dose,)),))
    >>> rows = read_rows(model, [[5.0, 1.0, 0.0], [5.0, 2.0, 0.0]])
    >>> model.scores(rows).tolist()
    [[-1.0], [1.0]]
    >>> read_rows(model, rows) is rows
    True
    """
    return X if isinstance(X, Rows) else Rows(X, model.features, model.n_features)
