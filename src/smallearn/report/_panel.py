"""The panel in which a reader changes the inputs: a field for each feature, and the real rows it can start from."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from smallearn._text import show, show_category
from smallearn.explain._case.domains import known_from
from smallearn.export._flat import FlatModel, FlatTerm, Input, flatten
from smallearn.model import Rows, SMaLLModel
from smallearn.model._columns import Column
from smallearn.report._subject import Subject

MOST_CATEGORIES, MOST_ROWS = 50, 50
OTHER = "(any other)"
LARGEST = 1e150  # the end of a slider: the width of a larger range would overflow


@dataclass(frozen=True)
class Field:
    """An input of the panel: a number with the range of its slider, or text with ``options`` to choose from.

    ``start`` is the value it begins with, None for missing. ``options`` are pairs of a label and its value. ``known``
    is the range in training, ``whole`` whether all values are; both are None and False if no rows tell. ``seen`` are
    the categories of the rows, for a feature that no model weighs.
    """

    id: str
    feature: int
    label: str
    is_text: bool
    may_be_missing: bool
    start: Any
    unit: str | None
    low: float = 0.0
    high: float = 0.0
    step: float = 0.0
    options: tuple[tuple[str, Any], ...] = ()
    known: tuple[float, float] | None = None
    whole: bool = False
    seen: tuple[Any, ...] = ()
    accepted: tuple[Any, ...] | None = None

    @property
    def name(self) -> str:
        """The label with its unit."""
        return f"{self.label} ({self.unit})" if self.unit else self.label


@dataclass(frozen=True)
class RealRow:
    """A row that the page holds: its number, the value of each field, and its class if known."""

    number: int
    values: tuple[Any, ...]
    truth: int | None


def fields_of(subject: Subject) -> tuple[list[Field], RealRow | None]:
    """A field for each feature that any model reads, and the real row that they start from, if there are rows."""
    flats = [flatten(model) for model in subject.models]
    features = sorted({one.feature for flat in flats for one in flat.inputs})
    columns = {} if subject.rows is None else subject.rows.columns
    fields = [_field(subject, flats, place, feature, columns.get(feature)) for place, feature in enumerate(features)]
    if subject.rows is None or subject.rows.n_rows == 0 or not fields:
        return fields, None
    start = _row(subject, fields, _nearest(subject.rows, fields))
    return [_started(field, value) for field, value in zip(fields, start.values, strict=True)], start


def _field(subject: Subject, flats: Sequence[FlatModel], place: int, feature: int, column: Column | None) -> Field:
    readers = [(flat, i) for flat in flats for i, one in enumerate(flat.inputs) if one.feature == feature]
    inputs = [flat.inputs[i] for flat, i in readers]
    first = next((one for one in inputs if one.is_text), inputs[0])
    known = next(known_from(model, subject.rows) for model in subject.models if _reads(model, feature))
    common: dict[str, Any] = {
        "id": f"input-{place}",
        "feature": feature,
        "label": show(first.label, quote=False, most=120).strip() or "(no name)",
        "is_text": first.is_text,
        "may_be_missing": any(one.may_be_missing and (one.accepted is None or one.accepted.missing) for one in inputs),
        "unit": subject.units.get(first.label),
        "known": known.ranges.get(feature),
        "whole": feature in known.whole,
        "seen": tuple(map(_as_compared, known.categories.get(feature, ())[:MOST_CATEGORIES])),
        "accepted": None if feature not in known.accepted else tuple(map(_as_compared, known.accepted[feature])),
    }
    if first.is_text:
        return Field(**common, **_text_range(inputs, column))
    compared = [value for flat, i in readers for term in flat.terms if term.input == i for value in _numbers_of(term)]
    return Field(**common, **_number_range(first, column, compared))


def _reads(model: SMaLLModel, feature: int) -> bool:
    return any(term.feature == feature for term in model.terms)


def _numbers_of(term: FlatTerm) -> list[float]:
    """The threshold, category or mean of a term, as far as they are numbers."""
    return [value for value in (term.value, term.mean) if value is not None and not isinstance(value, str)]


def _text_range(inputs: Sequence[Input], column: Column | None) -> dict[str, Any]:
    """The options of a text field, the most frequent categories first, and where it starts."""
    seen = Counter([] if column is None else map(_as_compared, column.values[~column.missing].tolist()))
    frequent = sorted(seen, key=lambda value: (-seen[value], str(value)))
    accepted = next((one.accepted.categories for one in inputs if one.accepted is not None), None)
    categories = [value for one in inputs for value in one.categories]
    values = list(dict.fromkeys([*frequent[:MOST_CATEGORIES], *categories, *(accepted or ())]))
    options = [(_option_text(value), value) for value in values]
    if accepted is None:
        options.append((OTHER, _text_unlike(values)))
    return {"options": tuple(options), "start": options[0][1]}


def _as_compared(value: Any) -> Any:
    """A category as the exported function compares it: text, or a number in double precision."""
    return value if isinstance(value, str) else float(value)


def _option_text(value: Any) -> str:
    return show(value, quote=False) if isinstance(value, str) else show_category(value)


def _text_unlike(values: list[Any]) -> str:
    """A text that is none of these."""
    other = OTHER
    while other in values:
        other += " "
    return other


def _number_range(feature: Input, column: Column | None, compared: Sequence[float]) -> dict[str, Any]:
    """The ends and the step of a slider, and where it starts; ``compared`` are the numbers in the feature's terms."""
    numbers = np.empty(0) if column is None else column.numbers[~column.missing]
    low, high = _ends(feature, numbers, compared)
    whole = len(numbers) > 0 and bool(np.all(numbers == np.rint(numbers)))
    step = 1.0 if whole and low == int(low) else _step(high - low)
    middle = float(np.median(numbers)) if len(numbers) else 0.5 * low + 0.5 * high
    start = min(max(float(f"{step * round(middle / step):.12g}"), low), high)
    return {"low": low, "high": high, "step": step, "start": start}


def _ends(feature: Input, numbers: np.ndarray, compared: Sequence[float]) -> tuple[float, float]:
    """The range in training, that of the rows, or one around the numbers in the feature's terms; never empty."""
    if feature.low is not None and feature.high is not None:
        low, high = feature.low, feature.high
    elif len(numbers):
        low, high = float(numbers.min()), float(numbers.max())
    else:
        least, most = min(compared, default=0.0), max(compared, default=0.0)
        beyond = max(most - least, 0.5 * abs(most), 1.0) if compared else 10.0
        low, high = least - beyond, most + beyond
    low, high = (min(max(end, -LARGEST), LARGEST) for end in (low, high))
    smallest = max(1e-9 * max(abs(low), abs(high)), 1e-300)
    return (low, high) if high - low > smallest else (low - max(1.0, 0.5 * abs(low)), high + max(1.0, 0.5 * abs(high)))


def _step(extent: float) -> float:
    """A power of ten, about a thousandth of the range."""
    return float(f"1e{int(np.floor(np.log10(extent))) - 3}")


# --- real rows -------------------------------------------------------------------------------------------------------


def _nearest(rows: Rows, fields: Sequence[Field]) -> int:
    """The row that is nearest to the typical one: medians and most frequent categories; the first of several."""
    distance = np.zeros(rows.n_rows)
    for field in fields:
        column = rows.columns[field.feature]
        if field.is_text:
            far = np.array([value != field.start for value in column.values.tolist()], dtype=float)
            distance += np.where(column.missing, 2.0, far)
        else:
            far = np.abs(column.numbers - field.start) / (field.high - field.low)
            distance += np.where(column.missing, 2.0, far)
    return int(np.argmin(distance))


def _row(subject: Subject, fields: Sequence[Field], position: int) -> RealRow:
    assert subject.rows is not None
    values = []
    for field in fields:
        column = subject.rows.columns[field.feature]
        value = column.values[position]
        values.append(None if column.missing[position] else _as_compared(_plain(value)))
    truth = None if subject.code is None else int(subject.code[position])
    return RealRow(subject.number_of(position), tuple(values), truth)


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def rows_of(subject: Subject, fields: Sequence[Field], number: int) -> list[RealRow]:
    """At most so many rows for the page: the most confident errors first, then rows at equal distances."""
    if subject.rows is None or number == 0:
        return []
    errors = [] if subject.judged is None else [one.row for one in subject.judged.mistakes]
    errors = [row for row in errors if row < subject.rows.n_rows][: number // 2]
    spaced = np.linspace(0, subject.rows.n_rows - 1, min(number, subject.rows.n_rows)).astype(int).tolist()
    chosen = list(dict.fromkeys([*errors, *spaced]))[:number]
    return [_row(subject, fields, position) for position in sorted(chosen)]


def _started(field: Field, value: Any) -> Field:
    """The field with another start; a category that is no option yet becomes one."""
    options = field.options
    if value is None and not field.may_be_missing:
        return field
    if field.is_text and value is not None and value not in [one for _, one in options]:
        options = ((_option_text(value), value), *options)
    return replace(field, start=value, options=options)
