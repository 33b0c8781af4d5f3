"""The panel in which a reader changes the inputs: a field for each feature; the exported JavaScript decides."""

import json
from dataclasses import asdict, dataclass
from importlib.resources import files
from typing import Any

import numpy as np

from smallearn.columns import Column, gather
from smallearn.explain.description import condition
from smallearn.export.javascript import to_javascript
from smallearn.export.terms import Input, flatten
from smallearn.model import SMaLLModel, Term
from smallearn.words import show

MOST_CATEGORIES = 50
OTHER = "(any other)"


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
    options: tuple[tuple[str, str], ...]
    unit: str | None


def fields_of(model: SMaLLModel, X: Any, units: dict[str, str]) -> list[Field]:
    """A field for each feature in use, in the order in which the exported function wants them."""
    columns: dict[int, Column] = {}
    if X is not None:
        chunks = [found for _, found in gather(X, model.features, model.n_features)]
        for term in model.features:
            values = np.concatenate([chunk[term.feature].values for chunk in chunks])
            columns[term.feature] = Column(values, term.label)
    return [
        _field(number, given, columns.get(given.feature), units.get(given.label))
        for number, given in enumerate(flatten(model).inputs)
    ]


def _field(number: int, given: Input, column: Column | None, unit: str | None) -> Field:
    name, label = f"input-{number}", show(given.label, quote=False, most=120)
    if given.is_text:
        known = list(dict.fromkeys(str(category) for category in given.categories))
        seen = [] if column is None else [str(value) for value in column.values[~column.missing].tolist()]
        often = sorted(set(seen), key=lambda value: (-seen.count(value), value))
        values = list(dict.fromkeys([*often[:MOST_CATEGORIES], *known]))
        other = _unlike(values)
        options = (*((show(value, quote=False), value) for value in values), (OTHER, other))
        start = often[0] if often else known[0] if known else other
        return Field(name, given.feature, label, True, given.may_be_missing, start, 0.0, 0.0, 0.0, options, unit)
    numbers = np.empty(0) if column is None else column.numbers[~column.missing]
    low = given.low if given.low is not None else float(numbers.min()) if len(numbers) else -10.0
    high = given.high if given.high is not None else float(numbers.max()) if len(numbers) else 10.0
    if not low < high:
        low, high = low - 1.0, high + 1.0
    whole = len(numbers) > 0 and bool(np.all(numbers == np.rint(numbers)))
    step = 1.0 if whole and low == int(low) else _step(high - low)
    middle = float(np.median(numbers)) if len(numbers) else 0.5 * (low + high)
    typical = float(f"{step * round(middle / step):.12g}")
    return Field(name, given.feature, label, False, given.may_be_missing, typical, low, high, step, (), unit)


def _step(extent: float) -> float:
    """A thousandth or so of the range, a power of ten."""
    return float(f"1e{int(np.floor(np.log10(extent))) - 3}")


def _unlike(values: list[str]) -> str:
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
            mine.append(raw if term.kind == "raw" else condition(own, units.get(given.label)))
        found.append(mine)
    return found


def _harmless(value: Any) -> str:
    """JSON that nothing within ``<script>`` can break out of, in ASCII."""
    return json.dumps(value).replace("<", "\\u003c")
