"""The script of the page: the models as exported functions, what it needs to know of them, and its own code."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from importlib.resources import files
from typing import Any

import numpy as np

from smallearn._text import show
from smallearn.export._flat import FlatModel, FlatTerm, as_term, flatten
from smallearn.export._reason_codes import check_number, shortfalls
from smallearn.export._scripts.javascript import EXPORTED, to_javascript
from smallearn.model import SMaLLModel
from smallearn.model._sentences import score_name
from smallearn.model._term import condition_text
from smallearn.report._counts import STEPS
from smallearn.report._panel import Field, RealRow
from smallearn.report._rule import is_card
from smallearn.report._subject import Subject
from smallearn.report._verdict import BALANCED, rows_of
from smallearn.report._views import View

PARTS = ("text.js", "decisions.js", "threshold.js", "flips.js", "what_if.js", "views.js")
# What the page calls of an exported module; the last three are there if the decision needs them.
NEEDED = ("scores", "winner", "probabilities", "contributions", "OWNERS", "INTERCEPTS", "SCALE")
OPTIONAL = ("CUT", "OFFSETS", "COSTS")


def script_of(
    subject: Subject,
    views: Sequence[View],
    fields: Sequence[Field],
    rows: Sequence[RealRow],
    codes: Sequence[dict[str, Any] | None],
) -> str:
    """One module: the exported functions of each model in a scope of their own, and the code of the page."""
    models = ",\n".join(_scope(view.model) for view in views)
    page = {
        "classes": subject.class_names,
        "positive": subject.positive,
        "sizes": None if views[0].counts is None else views[0].counts.sizes,
        "rowsText": rows_of(subject.model, subject.positive) if len(subject.class_names) == 2 else "",
        "balanced": BALANCED,
        "steps": len(STEPS),
        "fields": [asdict(field) for field in fields],
        "rows": [asdict(row) for row in rows],
        "views": [_view_for_script(subject, view, fields, code) for view, code in zip(views, codes, strict=True)],
    }
    code = "\n".join(files("smallearn.report").joinpath("script", name).read_text(encoding="utf-8") for name in PARTS)
    return f"const MODELS = [\n{models}\n];\nconst PAGE = {_script_json(page)};\n{code}"


def _scope(model: SMaLLModel) -> str:
    """The exported module as a function that returns what the page calls."""
    text = EXPORTED.sub("", to_javascript(model, inputs="used"))
    optional = ", ".join(f'{name}: typeof {name} === "undefined" ? null : {name}' for name in OPTIONAL)
    return f"() => {{\n{text}\nreturn {{ {', '.join(NEEDED)}, {optional} }};\n}}"


def _view_for_script(
    subject: Subject, view: View, fields: Sequence[Field], codes: dict[str, Any] | None
) -> dict[str, Any]:
    model = view.model
    flat = flatten(model)
    place = {field.feature: number for number, field in enumerate(fields)}
    terms = [flat.of(j) for j in range(len(flat.owners))]
    return {
        "name": view.name,
        "size": view.size,
        "isSize": view.is_size,
        "verdict": view.verdict,
        "inputs": [place[one.feature] for one in flat.inputs],
        "terms": [
            [[place[flat.inputs[t.input].feature], t.weight, t.kind, t.value, t.mean] for t in own] for own in terms
        ],
        "texts": [[_term_text(flat, term, subject.units) for term in own] for own in terms],
        "means": _means(subject, flat),
        "scoreNames": [score_name(model, number, quote=False) for number in range(len(model.prototypes))],
        "threshold": model.decision_threshold,
        "zero": _zero(model),
        "counts": None if view.counts is None else view.counts.for_script(),
        "codes": codes,
        "file": file_of(view),
        "json": model.to_json(),
    }


def _zero(model: SMaLLModel) -> float | None:
    """What a total of points is more than a score, where the page shows the model as a score card."""
    return model.score_card().zero if is_card(model) and model.sole_owner is not None else None


def file_of(view: View) -> str:
    """The name of the file in which the page saves a model."""
    if view.number > 0:
        return f"model-{view.name.replace(' ', '-')}.json"
    return "model-as-shown.json" if view.shown.is_rounded else "model.json"


def _means(subject: Subject, flat: FlatModel) -> list[list[float]] | None:
    """What each term adds on average over the rows; None without rows."""
    if subject.rows is None or subject.rows.n_rows == 0:
        return None
    return [
        [float(np.mean(term.weight * subject.rows.factor(as_term(flat, term)))) for term in flat.of(j)]
        for j in range(len(flat.owners))
    ]


def _term_text(flat: FlatModel, term: FlatTerm, units: Mapping[str, str]) -> str:
    feature = flat.inputs[term.input]
    if term.kind == "raw":
        return show(feature.label, quote=False)
    return condition_text(as_term(flat, term), units.get(feature.label))


def codes_of(
    model: SMaLLModel, number: int, wording: Mapping[str, str] | None, favourable: Any, *, partly: bool = False
) -> dict[str, Any] | None:
    """The reason codes that the panel shows: for whom, how many, and by prototype the most that each term can add.

    None if there are to be none. ``partly``: words for terms that the model does not have are left out.
    """
    check_number("reason_codes", number, least=0)
    if number == 0:
        return None
    flat = flatten(model)
    if partly and wording:
        known = {key for term in flat.terms for key in (term.text, flat.inputs[term.input].label)}
        wording = {key: words for key, words in wording.items() if key in known or key.replace("<=", "≤") in known}
    found = shortfalls(flat, wording, favourable)
    prototypes = [
        {"place": place, "terms": [{"most": most, "words": words} for _, most, words in terms]}
        for place, terms in found.terms.items()
    ]
    label = show(found.favourable)
    return {"label": label, "number": int(number), "sign": found.sign, "prototypes": prototypes}


def _script_json(value: Any) -> str:
    """JSON in ASCII that cannot end the ``<script>`` element."""
    return json.dumps(value, separators=(",", ":")).replace("<", "\\u003c")
