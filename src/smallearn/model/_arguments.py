"""What users pass beside a model, checked and as the model reads it: one row, many rows, units, labels."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from smallearn._text import listed, show
from smallearn.model._columns import TEXT, check_accepted_in_row
from smallearn.model._model import SMaLLModel
from smallearn.model._pipeline.fold import fold_pipeline
from smallearn.model._rows import Rows


def values_of(model: SMaLLModel, row: Any) -> dict[int, Any]:
    """The value of each feature in use, by its position; a row that the model does not accept is refused.

    ``row`` is a mapping by name, a sequence of all features, a pandas Series, or a table, array or `Rows` of one row.
    """
    values = _values_of(model, row)
    check_accepted_in_row(model, lambda term: values[term.feature])
    return values


def _values_of(model: SMaLLModel, row: Any) -> dict[int, Any]:
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
    """Return the model of a fitted estimator or pipeline; a model is returned as it is.

    Every function that takes a model takes a fitted estimator or pipeline too, by calling this first.

    Parameters
    ----------
    model : SMaLLModel, fitted estimator or pipeline
        A `SMaLLModel`, a fitted `SMaLLClassifier` or `SMaLLClassifierCV`, a pipeline that ends in one, as
        `smallearn.fold_pipeline` takes it, or one of these in a search over parameters, such as scikit-learn's
        ``GridSearchCV``, or with a threshold, as ``TunedThresholdClassifierCV``.

    Returns
    -------
    SMaLLModel
        The model itself, the estimator's ``model_``, or that of the pipeline in the units of its raw rows.

    Raises
    ------
    ValueError
        If the estimator is not fitted, or a step of the pipeline cannot be folded.
    TypeError
        If it is anything else: a path, another estimator.

    See Also
    --------
    smallearn.fold_pipeline : What is done with a pipeline.

    Examples
    --------
    >>> from smallearn import SMaLLClassifier
    >>> from smallearn.model import as_model
    >>> classifier = SMaLLClassifier(n_prototypes=1, n_nonzero=1).fit([[0.0], [1.0]], ["no", "yes"])
    >>> as_model(classifier) is classifier.model_
    True
    """
    return fold_pipeline(model)


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
