"""Reports in a browser: models to make them of, rows for their panels, and what the panels should answer."""

from dataclasses import dataclass, replace
from functools import cache
from typing import Any
from unittest.mock import patch

import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer, load_iris

from smallearn import SMaLLClassifier, SMaLLModel
from smallearn.export._flat import flatten
from smallearn.model import Prototype, Range, Term
from smallearn.model._columns import factor_of_one
from smallearn.report import report_html
from smallearn.report._page import _models_of, _subject_of
from smallearn.report._panel import Field, fields_of
from smallearn.report._subject import Subject
from tests.helpers.exports import DECISIONS, EXPECTED_COSTS, MIXED, SHARED, edges, full_table, trained
from tests.helpers.models import CARD, NO, YES

ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]

# --- models ----------------------------------------------------------------------------------------------------------

NASTY = (
    'it\'s "quoted" & <b>bold</b>',
    "</script><script>window.broken = 1</script>",
    "<!-- <script> --> ]]>",
    "${window.broken = 1} `tick` \\ \\u0041",
    "a line\nand \u2028 another\x00",
    "\u202eright to left\u202c עברית 数 🙂",
    "__proto__",
    "W" * 200,
    "{{ title }} {% raw %}",
    "",
)
HOSTILE = SMaLLModel(
    ("</title><b onclick=x>", "`${no}` \"'"),
    "|O",
    len(NASTY) + 1,
    (
        Prototype(1, 0.5, tuple(Term(i, 0.25 * (i - 4.5), name) for i, name in enumerate(NASTY))),
        Prototype(
            1,
            -1.0,
            (
                *(Term(len(NASTY), float(i + 1), "constructor", "equals", name) for i, name in enumerate(NASTY)),
                Term(len(NASTY), 2.0, "constructor", "missing"),
                Term(0, -1.0, NASTY[0], "above", 0.5),
            ),
        ),
    ),
    ranges=tuple(Range(i, -float(i + 1), 2.0) for i in range(len(NASTY))),
)


def unnamed(model: SMaLLModel) -> SMaLLModel:
    """The same without names of features."""
    prototypes = (replace(one, terms=tuple(replace(term, name=None) for term in one.terms)) for one in model.prototypes)
    return replace(model, prototypes=tuple(prototypes))


def messy(n_rows: int = 240, seed: int = 0) -> tuple[pd.DataFrame, np.ndarray]:
    """A table with numbers, text and gaps."""
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 90, n_rows).astype(float)
    colour = rng.choice(["red", "green", "<i>blue</i>"], n_rows).astype(object)
    income = np.round(rng.lognormal(10.0, 0.5, n_rows), 2)
    y = (age > 45) + 1.5 * (colour == "red") + rng.normal(0.0, 0.5, n_rows) > 1.2
    age[rng.random(n_rows) < 0.1] = np.nan
    colour[rng.random(n_rows) < 0.1] = None
    income[rng.random(n_rows) < 0.2] = np.nan
    return pd.DataFrame({"age": age, "colour": colour, "income": income}), np.where(y, "comes back", "stays away")


@dataclass(frozen=True)
class Example:
    """A model in the few digits that its page shows, the rows that the page is made from, and the page."""

    model: SMaLLModel
    X: Any
    y: Any
    page: str
    fields: list[Field]


def _breast_cancer() -> tuple[SMaLLModel, Any, Any]:
    model, X = trained(load_breast_cancer, n_prototypes=2, n_nonzero=3)
    y = load_breast_cancer().target
    return model.trained_on(X, y, target="diagnosis"), X, y


def _messy() -> tuple[SMaLLModel, Any, Any]:
    X, y = messy()
    how = {"n_nonzero": 4, "literals": "both", "categorical_features": "from_dtype", "random_state": 0}
    return SMaLLClassifier(2, **how).fit(X, y).model_, X, y


def _iris() -> tuple[SMaLLModel, Any, Any]:
    model, X = trained(load_iris, n_prototypes=1, n_nonzero=2)
    return model, X, load_iris().target


EXAMPLES = {
    "breast cancer": _breast_cancer,
    "messy": _messy,
    "iris": _iris,
    "hostile": lambda: (HOSTILE, None, None),
    "unnamed": lambda: (unnamed(YES), None, None),
    "first class": lambda: (NO, None, None),
    "mixed": lambda: (MIXED, None, None),
    "card": lambda: (CARD, None, None),
    "shared terms": lambda: (SHARED["shared, few columns"], None, None),
    "shared by two classes": lambda: (DECISIONS["threshold of one of two"], None, None),
    "threshold": lambda: (DECISIONS["low threshold"], None, None),
    "offsets": lambda: (DECISIONS["offsets of many columns"], None, None),
    "costs": lambda: (EXPECTED_COSTS["costs of shared terms"], None, None),
}


@cache
def example(name: str) -> Example:
    """An example by its name, made once."""
    model, X, y = EXAMPLES[name]()
    with patch("smallearn.evaluation._intervals.RESAMPLES", 50):  # intervals are not what is looked at here
        page = report_html(model, X, y)
        subject = subject_of(model, X, y)
    return Example(subject.model, X, y, page, fields_of(subject)[0])


def subject_of(model: SMaLLModel, X: Any = None, y: Any = None, **options: Any) -> Subject:
    """What the page is about."""
    about = {"units": None, "source": None, "row_numbers": None, "sampled_from": None} | options
    return _subject_of(model, _models_of(model, X)[0], X, y, None, **about)[0]


# --- rows and answers ------------------------------------------------------------------------------------------------


def panel_rows(given: Example, count: int, seed: int = 0) -> list[list]:
    """Rows of values for the fields: edges of every term, values of the range, options, gaps."""
    rng = np.random.default_rng(seed)
    flat = flatten(given.model)
    choices = []
    for position, field in enumerate(given.fields):
        if field.is_text:
            values = [value for _, value in field.options] + ([None] if field.may_be_missing else [])
        else:
            values = edges(flat, position) + rng.uniform(field.low, field.high, 8).tolist()
        choices.append(values)
    return [[values[rng.integers(len(values))] for values in choices] for _ in range(count)]


def typical(given: Example) -> list:
    """The row that the panel begins with."""
    return [field.start for field in given.fields]


def as_entered(given: Example, row: list) -> list:
    """What is put into the fields: a number as text, the place of an option, None to tick the box."""
    return [
        value if value is None else [v for _, v in field.options].index(value) if field.is_text else repr(value)
        for field, value in zip(given.fields, row, strict=True)
    ]


@dataclass(frozen=True)
class Answer:
    """What a panel shows of a row."""

    label: int
    prototype: int
    scores: list[float]
    probability: float
    parts: list[float]


def answers(given: Example, rows: list[list]) -> list[Answer]:
    """Those of the model itself."""
    model, flat = given.model, flatten(given.model)
    table = full_table(flat, rows)
    scores, chances, labels = model.scores(table), model.predict_proba(table), model.codes(model.predict(table))
    best = model.winners(scores)
    found = []
    for i, row in enumerate(rows):
        j = int(best[i])
        values = {one.feature: value for one, value in zip(flat.inputs, row, strict=True)}
        assert model.codes([model.predict_one({t.label: values[t.feature] for t in model.features})])[0] == labels[i]
        parts = [term.weight * factor_of_one(term, values[term.feature]) for term in model.prototypes[j].terms]
        found.append(Answer(int(labels[i]), j, scores[i].tolist(), float(chances[i, labels[i]]), parts))
    return found
