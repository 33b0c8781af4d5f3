"""The panel in which a reader changes the inputs: a field for each feature; the exported JavaScript decides."""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from importlib.resources import files
from typing import Any

import numpy as np

from smallearn._text import show, show_category
from smallearn.export._flat import Input, flatten
from smallearn.export._scripts.javascript import to_javascript
from smallearn.model import SMaLLModel, Term
from smallearn.model._columns import Column
from smallearn.model._rows import read_rows
from smallearn.model._term import condition_text

MOST_CATEGORIES = 50
OTHER = "(any other)"
LARGEST = 1e150  # that a slider goes to: beyond it the width of a range is no number


@dataclass(frozen=True)
class Field:
    """An input: a number with its range, or text to choose from. ``start`` is a typical value; ``unit`` what it is
    measured in. ``options`` are labels and the values that they stand for."""

    id: str
    feature: int
    label: str
    is_text: bool
    may_be_missing: bool
    start: Any
    low: float
    high: float
    step: float
    options: tuple[tuple[str, Any], ...]
    unit: str | None


def fields_of(model: SMaLLModel, X: Any, units: dict[str, str]) -> list[Field]:
    """A field for each feature in use, in the order in which the exported function wants them."""
    flat = flatten(model)
    columns = {} if X is None else read_rows(model, X).columns
    fields = []
    for number, given in enumerate(flat.inputs):
        name, column, unit = f"input-{number}", columns.get(given.feature), units.get(given.label)
        if given.is_text:
            fields.append(_text_field(name, given, column, unit))
        else:
            own = [value for term in flat.terms if term.input == number for value in (term.value, term.mean)]
            fields.append(_number_field(name, given, column, unit, [value for value in own if _is_number(value)]))
    return fields


def _text_field(name: str, given: Input, column: Column | None, unit: str | None) -> Field:
    seen = Counter([] if column is None else map(_plain, column.values[~column.missing].tolist()))
    often = sorted(seen, key=lambda value: (-seen[value], str(value)))
    values = list(dict.fromkeys([*often[:MOST_CATEGORIES], *given.categories]))
    other = _unlike(values)
    options = (*((_shown(value), value) for value in values), (OTHER, other))
    start = values[0] if values else other
    label = _called(given)
    return Field(name, given.feature, label, True, given.may_be_missing, start, 0.0, 0.0, 0.0, options, unit)


def _called(given: Input) -> str:
    """What is written beside the field: never nothing."""
    return show(given.label, quote=False, most=120).strip() or "(no name)"


def _plain(value: Any) -> Any:
    """A category as the exported function compares it: text, or a number in double precision."""
    return value if isinstance(value, str) else float(value)


def _shown(value: Any) -> str:
    return show(value, quote=False) if isinstance(value, str) else show_category(value)


def _is_number(value: Any) -> bool:
    return value is not None and not isinstance(value, str)


def _number_field(name: str, given: Input, column: Column | None, unit: str | None, own: Sequence[Any]) -> Field:
    """``own``: the numbers that the feature is compared with."""
    numbers = np.empty(0) if column is None else column.numbers[~column.missing]
    low, high = _range(given, numbers, own)
    whole = len(numbers) > 0 and bool(np.all(numbers == np.rint(numbers)))
    step = 1.0 if whole and low == int(low) else _step(high - low)
    middle = float(np.median(numbers)) if len(numbers) else 0.5 * low + 0.5 * high
    typical = min(max(float(f"{step * round(middle / step):.12g}"), low), high)
    label = _called(given)
    return Field(name, given.feature, label, False, given.may_be_missing, typical, low, high, step, (), unit)


def _range(given: Input, numbers: np.ndarray, own: Sequence[float]) -> tuple[float, float]:
    """That of the slider: as in training, as in the rows, or around what the feature is compared with."""
    if given.low is not None and given.high is not None:
        low, high = given.low, given.high
    elif len(numbers):
        low, high = float(numbers.min()), float(numbers.max())
    else:
        least, most = min(own, default=0.0), max(own, default=0.0)
        beyond = max(most - least, 0.5 * abs(most), 1.0) if own else 10.0
        low, high = least - beyond, most + beyond
    low, high = (min(max(end, -LARGEST), LARGEST) for end in (low, high))
    smallest = max(1e-9 * max(abs(low), abs(high)), 1e-300)
    return (low, high) if high - low > smallest else (low - max(1.0, 0.5 * abs(low)), high + max(1.0, 0.5 * abs(high)))


def _step(extent: float) -> float:
    """A thousandth or so of the range, a power of ten."""
    return float(f"1e{int(np.floor(np.log10(extent))) - 3}")


def _unlike(values: list[Any]) -> str:
    """Text that is none of these."""
    other = OTHER
    while other in values:
        other += " "
    return other


def script_of(model: SMaLLModel, fields: list[Field], units: dict[str, str]) -> str:
    """The exported module and the code of the panel, for one ``<script type="module">``."""
    panel = files("smallearn.report").joinpath("panel.js").read_text(encoding="utf-8")
    constants = {
        "FIELDS": [asdict(field) for field in fields],
        "WORDS": _words(model, units),
        "NAMES": [show(label, quote=False) for label in model.classes],
    }
    lines = [f"const {name} = {_harmless(value)};" for name, value in constants.items()]
    return "\n".join([to_javascript(model, inputs="used"), *lines, panel])


def _words(model: SMaLLModel, units: dict[str, str]) -> list[list[str]]:
    """Each term of each prototype of the exported module, in words."""
    flat = flatten(model)
    found = []
    for j in range(len(flat.owners)):
        mine = []
        for term in flat.of(j):
            given = flat.inputs[term.input]
            own = Term(given.feature, term.weight, given.label, term.kind, term.value)
            raw = show(given.label, quote=False)
            mine.append(raw if term.kind == "raw" else condition_text(own, units.get(given.label)))
        found.append(mine)
    return found


def _harmless(value: Any) -> str:
    """JSON that nothing within ``<script>`` can break out of, in ASCII."""
    return json.dumps(value).replace("<", "\\u003c")
