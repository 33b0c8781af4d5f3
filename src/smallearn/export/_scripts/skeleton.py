"""What the Python, JavaScript and Rust texts have in common: the layout of a row, the words, the conformance rows."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from smallearn._errors import Parameter, ParameterError
from smallearn._text import show, show_category
from smallearn.export._flat import FlatModel, FlatTerm
from smallearn.export._names import remark
from smallearn.model import SMaLLModel
from smallearn.model._columns import Column, gather, is_missing

NUMERIC = ("raw", "at_most", "above")
Cell = str | float | None


@dataclass(frozen=True)
class Layout:
    """Rows of ``width`` values, in which input number i stands at ``places[i]``."""

    width: int
    places: tuple[int, ...]


def layout_of(flat: FlatModel, inputs: str) -> Layout:
    """All features by their position in the training data, or only those in use, in order."""
    if inputs == "all":
        return Layout(flat.n_features, tuple(given.feature for given in flat.inputs))
    if inputs == "used":
        return Layout(len(flat.inputs), tuple(range(len(flat.inputs))))
    raise ParameterError(
        Parameter("inputs", inputs),
        " is neither 'all' (a row has all features, as in the training data) "
        "nor 'used' (a row has only those that the model uses).",
    )


def is_number(flat: FlatModel, position: int) -> bool:
    """Whether the input is computed or compared by size with, so that text has no place in it."""
    return any(term.kind in NUMERIC for term in flat.terms if term.input == position)


def by_class(flat: FlatModel) -> list[int]:
    """The prototypes in the order of their classes: the first of the greatest scores is the winner's."""
    return sorted(range(len(flat.owners)), key=lambda j: flat.owners[j])


# --- in words --------------------------------------------------------------------------------------------------------


def heading(flat: FlatModel, layout: Layout) -> list[str]:
    """Lines for the comment that opens the text: origin, rule, and what a row is."""
    some = "this score is" if len(flat.owners) == 1 else "any of these scores is"
    if flat.is_binary:
        owner = flat.owners[0]
        bar = "above 0" if owner == 1 else "0 or more"
        rule = f"Predict {_label(flat.classes[owner])} if {some} {bar}, otherwise {_label(flat.classes[1 - owner])}."
    else:
        rule = "Predict the class of the highest score; at a tie the first of CLASSES."
    lines = [f"{flat.stamp}", rule]
    if flat.scale != 1.0:
        lines.append(f"One point of score is worth {flat.scale!r} in log-odds.")
    lines.append(f"A row has {layout.width} values; read are")
    for place, given in zip(layout.places, flat.inputs, strict=True):
        kind = "text" if given.is_text else "number"
        lines.append(f"  [{place}] {remark(given.label)}: {kind}{', may be missing' if given.may_be_missing else ''}")
    if not flat.inputs:
        lines[-1] = f"A row has {layout.width} values; none is read."
    return lines


def said(flat: FlatModel, term: FlatTerm) -> str:
    """``age``, ``age <= 40.0``, ``ward = 'Süd'``, ``age is missing``: for a text that a reader sees, on one line."""
    label = show(flat.inputs[term.input].label, quote=False)
    if term.kind == "raw":
        return label
    if term.kind == "missing":
        return f"{label} is missing"
    if term.kind == "equals":
        return f"{label} = {show_category(term.value)}"
    return f"{label} {'<=' if term.kind == 'at_most' else '>'} {term.value!r}"


def in_words(flat: FlatModel, term: FlatTerm) -> str:
    """The same for a comment: printable ASCII."""
    return remark(said(flat, term))


def wrong_row(layout: Layout) -> str:
    """The message of an export for a row that has no answer."""
    return (
        f"A row has {layout.width} values; this one has more or fewer, "
        "or a value in use is missing, too large or of a wrong type."
    )


def _label(label: Any) -> str:
    return remark(show(label))


# --- conformance rows ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Case:
    """The inputs in use of a row, None where they are missing, and the position of its class."""

    values: tuple[Cell, ...]
    expected: int


def cases_of(model: SMaLLModel, flat: FlatModel, rows: Any) -> list[Case]:
    """The rows of anything that `SMaLLModel.predict` takes, with its answers. Numbers are read as float64."""
    used = {given.feature for given in flat.inputs}
    features = [term for term in model.features if term.feature in used]
    cases: list[Case] = []
    for n_rows, columns in gather(rows, features, model.n_features):
        cells = [_checked(columns[term.feature]).tolist() for term in features]
        found: Iterable[tuple] = zip(*cells, strict=True) if cells else [()] * n_rows
        cases += [_case(model, flat, values) for values in found]
    return cases


def _checked(column: Column) -> np.ndarray:
    """The values, once the column has found nothing but numbers, text and gaps: as whole numbers dates would pass."""
    column.missing  # noqa: B018
    return column.values


def _case(model: SMaLLModel, flat: FlatModel, values: Sequence[Any]) -> Case:
    cells = tuple(_cell(value) for value in values)
    row: list[Any] = [0.0] * model.n_features
    for given, cell in zip(flat.inputs, cells, strict=True):
        row[given.feature] = cell
    return Case(cells, model.classes.index(model.predict_one(row)))


def _cell(value: Any) -> Cell:
    if is_missing(value):
        return None
    if isinstance(value, str):
        return str(value)
    try:
        return float(value)
    except (TypeError, OverflowError) as problem:
        raise ValueError(f"A row for conformance holds {show(value)}, which is no float64: {problem}.") from None
