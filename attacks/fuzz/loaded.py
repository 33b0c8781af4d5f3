"""What every model that loads must do: predict, print, be written again, be explained, without a warning."""

import math
import warnings
from typing import Any

import numpy as np

from smallearn import SMaLLModel
from smallearn.explain import case

MOST_FEATURES = 10_000  # of a row that is written out


def check_model(model: SMaLLModel) -> None:
    """Raise unless the model works; any warning is raised too."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        _printed_and_written(model)
        _decides(model)


def _printed_and_written(model: SMaLLModel) -> None:
    assert str(model).isprintable() or str(model)
    assert repr(model)
    assert model._repr_html_().startswith("<")
    text = model.to_json()
    again = SMaLLModel.from_json(text)
    assert again == model, "the model that is written and read again is another"
    assert again.to_json() == text, "the model that is read again is written otherwise"
    text.encode()  # as UTF-8, which a file needs


def _decides(model: SMaLLModel) -> None:
    rows = rows_of(model)
    described = case(model, rows[0])  # of one row: it searches for changes, which takes longer than all else
    assert str(described)
    assert described.prediction == model.predict_one(rows[0])
    if model.n_features > MOST_FEATURES:
        return
    table = full_rows(model, rows)
    found = model.predict(table)
    chances = model.predict_proba(table)
    model.decision_function(table)
    assert len(found) == len(rows)
    assert np.isfinite(chances).all(), "a probability is not finite"
    assert np.allclose(chances.sum(axis=1), 1.0), "probabilities do not add up to 1"
    for label, row in zip(found.tolist(), rows, strict=True):
        assert label == model.predict_one(row), "predict and predict_one differ"


def rows_of(model: SMaLLModel) -> list[dict[str, Any]]:
    """A few rows that the model accepts, by the labels of the features."""
    values = {term.label: values_of(model, term.feature) for term in model.features}
    return [{label: found[k % len(found)] for label, found in values.items()} for k in range(3)]


def values_of(model: SMaLLModel, feature: int) -> list[Any]:
    """Values of a feature that the model accepts: cut points and categories, the ends of its range, missing."""
    mine = [term for term in model.terms if term.feature == feature]
    accepted = next((one for one in model.accepted if one.feature == feature), None)
    known = next((one for one in model.ranges if one.feature == feature), None)
    may_be_missing = all(term.kind != "raw" or term.mean is not None for term in mine)
    if accepted is not None and accepted.categories is not None:
        values = list(accepted.categories)
        missing = accepted.missing
    else:
        is_text = any(isinstance(term.value, str) for term in mine)
        values = [term.value for term in mine if term.value is not None]
        values += ["other"] if is_text else [] if known is None else [known.low, known.high]
        missing = may_be_missing and (accepted is None or accepted.missing)
        if not is_text:
            values += [0.0, 1.0]
    return [*values[:2], *([math.nan] if missing else []), *values[2:]] or [math.nan]


def full_rows(model: SMaLLModel, rows: list[dict[str, Any]]) -> np.ndarray:
    """The rows with all features, those that are not in use 0."""
    table = np.zeros((len(rows), model.n_features), dtype=object)
    for term in model.features:
        for k, row in enumerate(rows):
            value = row[term.label]
            table[k, term.feature] = None if value != value else value
    return table
