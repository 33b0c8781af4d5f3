"""The panel in which a reader changes the inputs: a field for each feature; the exported JavaScript decides."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.resources import files
from typing import Any

import numpy as np

from smallearn._text import show, show_category
from smallearn.export._flat import FlatModel, FlatTerm, Input, as_term, flatten
from smallearn.export._reason_codes import check_number, shortfalls
from smallearn.export._scripts.javascript import to_javascript
from smallearn.model import SMaLLModel, read_rows
from smallearn.model._card import card_table
from smallearn.model._columns import Column
from smallearn.model._sentences import card_lines, score_name
from smallearn.model._term import condition_text

MOST_CATEGORIES = 50
OTHER = "(any other)"
LARGEST = 1e150  # the end of a slider: the width of a larger range would overflow


@dataclass(frozen=True)
class Field:
    """An input of the panel: a number with the range of its slider, or text with ``options`` to choose from.

    ``start`` is a typical value. ``options`` are pairs of a label and its value.
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


def fields_of(model: SMaLLModel, X: Any, units: Mapping[str, str]) -> list[Field]:
    """A field for each feature in use, in the order of the exported function's arguments."""
    flat = flatten(model)
    columns = {} if X is None else read_rows(model, X).columns
    fields = []
    for number, feature in enumerate(flat.inputs):
        column, unit = columns.get(feature.feature), units.get(feature.label)
        common: dict[str, Any] = {
            "id": f"input-{number}",
            "feature": feature.feature,
            "label": show(feature.label, quote=False, most=120).strip() or "(no name)",
            "is_text": feature.is_text,
            "may_be_missing": feature.may_be_missing and (feature.accepted is None or feature.accepted.missing),
            "unit": unit,
        }
        if feature.is_text:
            fields.append(Field(**common, **_text_range(feature, column)))
        else:
            compared = [value for term in flat.terms if term.input == number for value in _numbers_of(term)]
            fields.append(Field(**common, **_number_range(feature, column, compared)))
    return fields


def _numbers_of(term: FlatTerm) -> list[float]:
    """The threshold, category or mean of a term, as far as they are numbers."""
    return [value for value in (term.value, term.mean) if value is not None and not isinstance(value, str)]


def _text_range(feature: Input, column: Column | None) -> dict[str, Any]:
    """The options of a text field, the most frequent categories first, and where it starts."""
    seen = Counter([] if column is None else map(_as_compared, column.values[~column.missing].tolist()))
    frequent = sorted(seen, key=lambda value: (-seen[value], str(value)))
    accepted = None if feature.accepted is None else feature.accepted.categories
    values = list(dict.fromkeys([*frequent[:MOST_CATEGORIES], *feature.categories, *(accepted or ())]))
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


def codes_of(
    model: SMaLLModel, number: int, wording: Mapping[str, str] | None, favourable: Any
) -> dict[str, Any] | None:
    """The reason codes that the panel shows: for whom, how many, and by prototype the most that each term can add.

    None if there are to be none.
    """
    check_number("reason_codes", number, least=0)
    if number == 0:
        return None
    found = shortfalls(flatten(model), wording, favourable)
    prototypes = [
        {"place": place, "terms": [{"most": most, "words": words} for _, most, words in terms]}
        for place, terms in found.terms.items()
    ]
    label = show(found.favourable)
    return {"label": label, "number": int(number), "sign": found.sign, "prototypes": prototypes}


def script_of(
    model: SMaLLModel, fields: list[Field], units: Mapping[str, str], codes: dict[str, Any] | None = None
) -> str:
    """The exported module and the code of the panel, for one ``<script type="module">``; ``codes``: `codes_of`."""
    panel = files("smallearn.report").joinpath("panel.js").read_text(encoding="utf-8")
    constants = {
        "FIELDS": [asdict(field) for field in fields],
        "TERM_TEXTS": _term_texts(model, units),
        "SCORE_NAMES": [score_name(model, number, quote=False) for number in range(len(model.prototypes))],
        "NAMES": [show(label, quote=False) for label in model.classes],
        "CARD": _card(model, units),
        "CODES": codes,
        "DECIDES": "costs" if model.decision.costs else "offsets" if model.decision.offsets else "score",
    }
    lines = [f"const {name} = {_script_json(value)};" for name, value in constants.items()]
    return "\n".join([to_javascript(model, inputs="used"), *lines, panel])


def _card(model: SMaLLModel, units: Mapping[str, str]) -> dict[str, Any] | None:
    """The headings of the scores, and for each row of the card its text and the place of its term in each score.

    None if the scores do not share most of their terms.
    """
    table = card_table(model, [card_lines(model, j) for j in range(len(model.prototypes))], quote=False)
    if table is None:
        return None
    flat = flatten(model)
    terms = [flat.of(number) for number in range(len(flat.owners))]
    rows = [
        {
            "text": _term_text(flat, next(term for term in row if term is not None), units),
            "places": [None if term is None else terms[j].index(term) for j, term in enumerate(row)],
        }
        for row in flat.rows
    ]
    return {"heads": table.heads, "rows": rows}


def _term_texts(model: SMaLLModel, units: Mapping[str, str]) -> list[list[str]]:
    """The text of each term of each prototype, in the order of the exported module."""
    flat = flatten(model)
    return [[_term_text(flat, term, units) for term in flat.of(number)] for number in range(len(flat.owners))]


def _term_text(flat: FlatModel, term: FlatTerm, units: Mapping[str, str]) -> str:
    feature = flat.inputs[term.input]
    if term.kind == "raw":
        return show(feature.label, quote=False)
    return condition_text(as_term(flat, term), units.get(feature.label))


def _script_json(value: Any) -> str:
    """JSON in ASCII that cannot end the ``<script>`` element."""
    return json.dumps(value).replace("<", "\\u003c")
