"""Values of features that the user gives at the command line: ``--set age=40``."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from smallearn._text import exact, listed, show
from smallearn.cli.errors import CommandError
from smallearn.cli.io import cells, units
from smallearn.cli.io.model_rows import kind_of
from smallearn.cli.io.tables import similar
from smallearn.model import Histogram, SMaLLModel, Term

MOST_NAMED = 10  # categories in a message
MOSTLY = 0.5  # share of the rows without a value, above which none is typical
HEAVY = 0.2  # share of the rows in a bin; without a frequent value, bins have a tenth


def given_values(model: SMaLLModel, texts: Sequence[str], X: Any = None) -> dict[str, Any]:
    """The values in texts such as ``age=40``, by feature; ``X`` are rows that show which categories exist."""
    features = {term.label: term for term in model.features}
    values: dict[str, Any] = {}
    for text in texts:
        name, value = _split(text, features)
        if name in values:
            raise CommandError(f"--set gives {show(name)} twice")
        values[name] = _value(model, features[name], value.strip(), None if X is None else X[name])
    return values


def _split(text: str, features: Mapping[str, Term]) -> tuple[str, str]:
    """The name of a feature and its value; either may have an equals sign."""
    at = [i for i, sign in enumerate(text) if sign == "="]
    for i in at:
        if text[:i] in features:
            return text[:i], text[i + 1 :]
    if not at:
        raise CommandError(f"--set {text} is not of the form COLUMN=VALUE, such as age=40")
    name = text[: at[0]]
    near = similar(name, list(features))
    meant = f"did you mean {show(near[0])}? It" if near else "it"
    raise CommandError(f"--set: the model does not use {show(name)}; {meant} uses {listed(list(features))}")


def _value(model: SMaLLModel, feature: Term, text: str, column: Any) -> Any:
    """A value as the model reads it."""
    kind, complete, categories = kind_of(model, feature)
    if text in categories:
        return text
    if text in (*cells.MISSING, *model.table.missing):
        if complete:
            raise CommandError(f"--set {feature.label}={text}: the value is missing, but the model needs one")
        return np.nan if kind == "numbers" else None
    if kind == "numbers":
        return _number(feature, text)
    if kind == "booleans":
        if text.lower() not in (*cells.BOOLEANS, "0", "1"):
            raise CommandError(f"--set {feature.label}={text}: the value is true or false")
        return cells.BOOLEANS.get(text.lower(), text == "1")
    known = {*categories, *(() if column is None else (value for value in column if isinstance(value, str)))}
    if kind == "text" and column is not None and text not in known:
        near = similar(text, sorted(known))
        meant = f"did you mean {show(near[0])}? " if near else ""
        some = listed(sorted(known)[:MOST_NAMED]) + (", …" if len(known) > MOST_NAMED else "")
        raise CommandError(f"--set: {show(text)} does not occur in column {show(feature.label)}; {meant}it has {some}")
    return text


def _number(feature: Term, text: str) -> float:
    """A number with a decimal point; units and grouped thousands are read as in tables."""
    import pyarrow as pa

    cell = units.bare(pa.array([text], pa.large_string()))[0]
    for style in (cells.Style(False), cells.Style(False, grouped=True)):
        values, bad = cells.numbers_of(cell, style)
        if not bad[0]:
            return float(values[0])
    raise CommandError(f"--set {feature.label}={text}: {show(text)} is not a number, such as 40 or 1.5")


def typical_values(model: SMaLLModel, names: Sequence[str], X: Any = None) -> dict[str, Any]:
    """A typical value of each feature: the median or the most frequent one in ``X``, else in training; none where it
    is missing in most rows."""
    features = {term.label: term for term in model.features}
    return {name: _typical(model, features[name], None if X is None else X[name]) for name in names}


def _typical(model: SMaLLModel, feature: Term, column: Any) -> Any:
    kind, complete, _ = kind_of(model, feature)
    gap = np.nan if kind == "numbers" else None
    if column is None:
        seen = () if model.reference is None else model.reference.features
        histogram = next((one for one in seen if one.feature == feature.feature and sum(one.counts) > 0), None)
        if histogram is None:
            raise CommandError(
                f"no typical value of {show(feature.label)} is known: add --set {feature.label}=VALUE, or a table to "
                "take typical values from"
            )
        return gap if histogram.missing > MOSTLY * histogram.total and not complete else _middle(histogram)
    present = column.dropna()
    if len(present) < (1.0 - MOSTLY) * len(column) and not complete:
        return gap
    if column.dtype.kind == "f":
        return float(present.quantile(0.5, interpolation="lower"))  # a number that occurs
    return present.value_counts().index[0]


def _middle(histogram: Histogram) -> Any:
    """The most frequent category, or about the median of numbers: whole if they are, else in three digits."""
    counts = np.array(histogram.counts)
    if histogram.edges is None:
        assert histogram.categories is not None  # it has either
        return histogram.categories[int(counts.argmax())]
    below = np.concatenate([[0.0], np.cumsum(counts)])
    at = int(np.searchsorted(below[1:], 0.5 * below[-1]))
    low, high = histogram.edges[at : at + 2]
    if at == len(counts) - 1 and counts[at] > HEAVY * below[-1]:
        return float(high)  # a bin as heavy as that is mostly one value, its greatest
    middle = np.interp(0.5 * below[-1], below, histogram.edges)
    if all(2.0 * edge == round(2.0 * edge) for edge in histogram.edges):  # cuts between whole numbers
        return float(min(max(round(middle), math.ceil(low)), math.floor(high)))
    return float(f"{middle:.3g}")


def case_of(model: SMaLLModel, values: Mapping[str, Any]) -> Any:
    """A row with these values, as a pandas table that the model takes."""
    import pandas as pd

    columns = {
        name: pd.Series([value], dtype=None if isinstance(value, float) else object) for name, value in values.items()
    }
    if all(term.name is not None for term in model.features):
        return pd.DataFrame(columns)
    return pd.DataFrame(columns, columns=[f"x{l}" for l in range(model.n_features)])


def values_text(values: Mapping[str, Any]) -> str:
    """``age = 40, colour = 'red'``."""
    return ", ".join(f"{show(name, quote=False)} = {_shown(value)}" for name, value in values.items())


def _shown(value: Any) -> str:
    if value is None or value != value:
        return "missing"
    return exact(value) if isinstance(value, float) else show(value)


def notes_on_range(model: SMaLLModel, values: Mapping[str, Any]) -> list[str]:
    """A sentence for each number outside the range that it has in training."""
    label = {term.feature: term.label for term in model.features}
    notes = []
    for extent in model.ranges:
        value = values.get(label.get(extent.feature, ""))
        if isinstance(value, float) and not np.isnan(value) and not extent.low <= value <= extent.high:
            name = show(label[extent.feature], quote=False)
            span = f"{exact(extent.low)} to {exact(extent.high)}"
            notes.append(f"{name} = {exact(value)} is outside the range in training, {span}: the model extrapolates.")
    return notes
