"""What the tests of the Python, JavaScript and Rust exports share: rows, the model's answers, names that mean harm."""

import math
from dataclasses import dataclass, replace

import numpy as np
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from smallearn import SMaLLModel
from smallearn.export._flat import FlatModel, flatten
from smallearn.model import Prototype, Term
from smallearn.model._columns import factor_of_one
from tests.helpers.exports import EXPECTED_COSTS, MODELS, edge_rows, exportable, full_table, used_rows
from tests.helpers.models import YES

few = settings(max_examples=5, suppress_health_check=list(HealthCheck))
batches = st.lists(exportable(), min_size=10, max_size=10)
"""Several models with their rows: for languages that are slow to start."""

HOSTILE = [
    *("", "'", '"', "\\", '\\"', "\\'", "*/", "/*", "//", "#", "--", "\n", "\r\n", "\x00", "\x7f", "\x85\u2028\u2029"),
    *("</script><script>process.exit(3)</script>", "<!--", "-->", "`${process.exit(3)}`", "${process.exit(3)}", "{}"),
    *('"; process.exit(3); "', "'); raise SystemExit(3) #", '"""', "'''", "%s", "{0}", "??/", "???/", "\\u{110000}"),
    *("class", "fn", "def", "None", "null", "self", "x0", "z0", "__proto__", "constructor", "toString", "0", "1e5"),
    *("π", "\U0001f600", "a\tb", "a b", "A B", "a" * 10**6, "é" * 10**5, "\\N{BULLET}"),
]
"""Names of features, classes and categories alike."""


def hostile_model(names=HOSTILE) -> SMaLLModel:
    """Feature number i says class number i where it has its own name for a value."""
    prototypes = [
        Prototype(i, 0.0, (Term(i, 1.0, name, "equals", name), Term(i, -0.5, name, "missing")))
        for i, name in enumerate(names)
    ]
    return SMaLLModel(tuple(names), "|O", len(names), tuple(prototypes))


def hostile_rows(names=HOSTILE) -> list[list]:
    """Row number i is of class i; the last is of the first class, as all that it has is in wrong places."""
    rows = [["other"] * len(names) for _ in names]
    for i, name in enumerate(names):
        rows[i][i] = name
    return [*rows, [*names[1:], names[0]]]


NEEDY = replace(
    YES,
    n_features=4,
    prototypes=(
        Prototype(1, -1.0, (Term(0, 2.0, "a"), Term(0, 1.0, "a", "above", 3.0))),
        Prototype(1, 0.5, (Term(2, -1.0, "c"), Term(3, 1.0, "d", "above", 0.5), Term(3, 0.0, "d"))),
    ),
)
"""No answer where any feature is missing; that of weight 0 included. The second feature is not in use."""
FULL = [1.0, 0.0, 2.0, 1.0]
REFUSED = {
    f"{value} at {place}": [*FULL[:place], value, *FULL[place + 1 :]]
    for place in (0, 2, 3)
    for value in (None, math.nan, "7")
} | {"overflow": [1.7e308, 0.0, 2.0, 1.0]}
"""Rows for which it has no answer."""

LABELS = {
    "int": (-(2**63), 2**63 - 1),
    "huge": (2**64, 10**40, -(10**40)),
    "unsigned": (0, 2**64 - 1),
    "small": (1, 0),
    "float": (-0.0, 0.1, 5e-324, -1.7976931348623157e308),
    "bool": (False, True),
    "mixed": ("1", 1, 2.5, -(2**53) - 1),
}
"""Classes of every type."""


def labelled(labels: tuple) -> SMaLLModel:
    """Class number i is that of x0 = i: scores -x0² + 2 i x0 - i², without the square that all have in common."""
    if len(labels) == 2:
        return SMaLLModel(labels, "|O", 1, (Prototype(1, -0.5, (Term(0, 1.0),)),))
    terms = [Prototype(i, -float(i * i), (Term(0, 2.0 * i),)) for i in range(len(labels))]
    return SMaLLModel(labels, "|O", 1, tuple(terms))


def by_hand() -> list[tuple[SMaLLModel, list[list]]]:
    """The models whose answers are known, with rows at every edge."""
    return [(model, edge_rows(flatten(model), 20)) for model in (*MODELS.values(), *EXPECTED_COSTS.values())]


def with_rows(found: dict[str, tuple[SMaLLModel, np.ndarray]]) -> list[tuple[SMaLLModel, list[list]]]:
    return [(model, used_rows(flatten(model), X)) for model, X in found.values()]


# --- what the model says ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Answer:
    """Of one row: the position of the class; log-odds in a list; the reason as (feature, contribution) of its terms."""

    label: int
    scores: list[float]
    decision: list[float]
    prototype: int
    terms: list[tuple[str, float]]
    probabilities: list[float] | None = None


def all_features(flat: FlatModel, row: list) -> list:
    """The row as `SMaLLModel.predict_one` takes it."""
    return full_table(flat, [row])[0].tolist()


def assert_agrees(model: SMaLLModel, rows: list[list], answers: list[Answer]) -> None:
    """Every answer is the model's: classes and scores exactly, probabilities to rounding."""
    flat = flatten(model)
    table = full_table(flat, rows)
    assert len(answers) == len(rows)
    labels = [model.classes.index(label) for label in model.predict(table).tolist()]
    assert [answer.label for answer in answers] == labels
    scores = model.scores(table)
    assert [answer.scores for answer in answers] == scores.tolist()
    decision = model.decision_function(table).reshape(len(rows), -1)
    assert [answer.decision for answer in answers] == decision.tolist()
    if answers and answers[0].probabilities is not None:
        found = np.array([answer.probabilities for answer in answers])
        np.testing.assert_allclose(found, model.predict_proba(table), rtol=1e-12, atol=1e-15)
    best = scores[np.arange(len(rows)), model.winners(scores)] if rows else []
    for row, label, z, score, answer in zip(rows, labels, scores, best, answers, strict=True):
        assert z[answer.prototype] == score
        _assert_reason(flat, row, label, z, answer)


def _assert_reason(flat: FlatModel, row: list, label: int, z: np.ndarray, answer: Answer) -> None:
    best = answer.prototype
    assert flat.has_one_owner or flat.owners[best] == label
    total, expected = flat.intercepts[best], []
    for term in flat.of(best):
        given = flat.inputs[term.input]
        as_term = Term(given.feature, term.weight, None, term.kind, term.value, term.mean)
        part = term.weight * factor_of_one(as_term, row[term.input])
        expected.append((given.label, part))
        total += part
    assert answer.terms == expected
    assert total == z[best]
