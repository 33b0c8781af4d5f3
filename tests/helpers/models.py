"""Models for the tests: some whose answers are known by hand, and any that is valid, by hypothesis."""

import math
from dataclasses import replace

import numpy as np
from hypothesis import strategies as st

from smallearn import SMaLLModel
from smallearn.model import Prototype, Range, Term, Training

TRAINING = Training(smallearn="0.1.0", n_rows=40, alpha=0.01, n_nonzero=2, objective=0.25, lower_bound=0.2)
# Scores 2a - c - 1 and 0.5 - a; the feature between them is not in use.
PROTOTYPES = (
    Prototype(1, -1.0, (Term(0, 2.0, "a"), Term(2, -1.0, "c"))),
    Prototype(1, 0.5, (Term(0, -1.0, "a"),)),
)
YES = SMaLLModel(("no", "yes"), "<U3", 3, PROTOTYPES)
NO = replace(YES, prototypes=tuple(replace(prototype, owner=0) for prototype in PROTOTYPES))
ROWS = np.array([[0.0, 9.0, 0.0], [1.0, 9.0, 0.0], [0.5, 9.0, 0.0], [0.75, 9.0, 1.0]])
BEST = np.array([0.5, 1.0, 0.0, -0.25])  # the greater of the two scores, by hand

# Class "a" scores x0, "b" scores x1, "c" the greater of 1 and -x0.
THREE = SMaLLModel(
    ("a", "b", "c"),
    "<U1",
    2,
    (
        Prototype(0, 0.0, (Term(0, 1.0),)),
        Prototype(1, 0.0, (Term(1, 1.0),)),
        Prototype(2, 1.0, ()),
        Prototype(2, 0.0, (Term(0, -1.0),)),
    ),
)
# Of predicting a class (column) where another is true (row): no row has one cost for all errors.
COSTS = ((0.0, 1.0, 5.0), (2.0, 0.0, 1.0), (20.0, 4.0, -1.0))
# A score card: points for literals of a number, a text, a boolean and what is missing; one point is worth 0.5.
CARD = SMaLLModel(
    ("no", "yes"),
    "<U3",
    4,
    (
        Prototype(
            1,
            -2.0,
            (
                Term(0, 2.0, "age", "above", 40.0),
                Term(0, 1.0, "age", "missing"),
                Term(1, 3.0, "colour", "equals", "red"),
                Term(1, -1.0, "colour", "equals", "blue"),
                Term(3, 1.0, "member", "equals", True),
            ),
        ),
    ),
    scale=0.5,
)
# Every kind of node that a file can have, for the tests that damage one.
RANGED = replace(YES, ranges=(Range(0, -1.0, 3.0), Range(2, 0.5, 0.5)))
WHOLE = replace(YES, classes=(0, 1), class_dtype="<i8", training=TRAINING)


def with_decision(model, rng):
    """The model with a threshold, if it has two classes, or with costs of errors that depend on the true class."""
    if len(model.classes) == 2:
        return replace(model, decision_threshold=float(rng.choice([0.05, 0.3, 0.5, 0.9])))
    worth = rng.choice([1.0, 2.0, 8.0], len(model.classes))
    costs = tuple(tuple(0.0 if i == k else float(w) for k in range(len(worth))) for i, w in enumerate(worth))
    return replace(model, cost_matrix=costs)


def with_costs(model, rng):
    """The model of more than two classes with any costs."""
    n = len(model.classes)
    costs = np.round(rng.uniform(0.5, 4.0, (n, n)), 2)
    np.fill_diagonal(costs, 0.0)
    return replace(model, cost_matrix=tuple(map(tuple, costs.tolist())))


def model_of(*terms, intercept=-1.0, ranges=()):
    """A model for "yes" with one prototype of these terms."""
    n_features = 1 + max(term.feature for term in terms)
    return SMaLLModel(("no", "yes"), "<U3", n_features, (Prototype(1, intercept, terms),), ranges=tuple(ranges))


names = st.text(max_size=8) | st.sampled_from(["", "'", '"', "\\", "\n", "\r\n", "\x00", "\x85\u2028", "π"])
finite = st.floats(-1e100, 1e100)  # products of three are finite
small = st.integers(-3, 3).map(float) | st.floats(-100.0, 100.0)
either = st.booleans()
BOTH_KINDS = ("equals", "missing")  # of terms, which a feature of text may have
numbered = st.integers(2, 4).map(lambda count: (tuple(range(count)), "<i8"))


positive = st.floats(0.0, 1e100, exclude_min=True)
counts = st.integers(1, 2**53)
trainings = st.builds(
    Training,
    st.text(max_size=5),
    counts,
    positive,
    counts,
    objective=positive,
    lower_bound=st.none() | finite,
    budget=st.sampled_from(["prototype", "total", "shared"]),
    max_cost=st.none() | positive,
    certified=st.booleans(),
).filter(lambda training: training.lower_bound is not None or not training.certified)
categories = names | st.integers(-(2**70), 2**70) | finite | st.booleans()
some_literals = st.one_of(
    st.builds(Term, st.just(0), st.just(1.0), kind=st.just("raw"), mean=finite, unit=st.none() | positive),
    st.builds(Term, st.just(0), st.just(1.0), kind=st.sampled_from(["at_most", "above"]), value=finite),
    st.builds(Term, st.just(0), st.just(1.0), kind=st.just("equals"), value=categories),
    st.just(Term(0, 1.0, kind="missing")),
)


def without_mixed_kinds(prototypes):
    """The prototypes without terms that need a number of a feature which is text in another term."""
    terms = [term for prototype in prototypes for term in prototype.terms]
    text = {term.feature for term in terms if isinstance(term.value, str)}
    return [
        replace(prototype, terms=tuple(t for t in prototype.terms if t.feature not in text or t.kind in BOTH_KINDS))
        for prototype in prototypes
    ]


@st.composite
def models(draw, weights=finite, named=either, classes=numbered, literals=either):
    """Any valid model: two classes of which one owns the prototypes, or classes that own one or more each; names that
    differ, or none; and, if asked for, literals of any kind."""
    labels, dtype = draw(classes)
    if len(labels) == 2 and draw(either):
        owners = [draw(st.integers(0, 1))] * draw(st.integers(1, 3))
    else:
        everyone = list(range(len(labels)))
        owners = draw(st.permutations(everyone + draw(st.lists(st.sampled_from(everyone), max_size=2))))
    n_features = draw(st.integers(1, 4))
    called = [None] * n_features
    if draw(named):
        called = draw(st.lists(names, min_size=n_features, max_size=n_features, unique=True))
    prototypes = []
    for owner in owners:
        used = draw(st.lists(st.integers(0, n_features - 1), unique=True, max_size=n_features))
        terms = [Term(index, draw(weights), called[index]) for index in used]
        if draw(literals):
            chosen = draw(st.lists(some_literals, max_size=4, unique_by=lambda literal: (literal.kind, literal.value)))
            index = draw(st.integers(0, n_features - 1))
            terms = [term for term in terms if term.feature != index]
            terms += [replace(term, feature=index, weight=draw(weights), name=called[index]) for term in chosen]
        prototypes.append(Prototype(owner, draw(weights), tuple(terms)))
    prototypes = without_mixed_kinds(prototypes)
    scale = draw(st.just(1.0) | positive) if draw(literals) else 1.0
    used = sorted({term.feature for prototype in prototypes for term in prototype.terms})
    known = draw(st.lists(st.sampled_from(used), unique=True)) if used else []
    ranges = tuple(Range(feature, *sorted(draw(st.tuples(finite, finite)))) for feature in known)
    return SMaLLModel(labels, dtype, n_features, tuple(prototypes), draw(st.none() | trainings), scale, ranges)


@st.composite
def models_with_rows(draw):
    model = draw(models(weights=small, named=st.just(False), literals=st.just(False)))
    row = st.lists(small, min_size=model.n_features, max_size=model.n_features)
    return model, draw(st.lists(row, min_size=1, max_size=6))


def as_array(labels, dtype=None):
    """Labels as `SMaLLClassifier` hands them over: from a numpy array."""
    values = np.unique(np.array(labels, dtype=dtype))
    return tuple(values.tolist()), values.dtype.str


several = {"min_size": 2, "max_size": 4, "unique": True}
labels_of = {
    "int": st.lists(st.integers(-(2**63), 2**63 - 1), **several).map(lambda labels: as_array(labels, np.int64)),
    "uint8": st.lists(st.integers(0, 255), **several).map(lambda labels: as_array(labels, np.uint8)),
    "float": st.lists(finite, **several).map(as_array),
    "float32": st.lists(st.floats(width=32, allow_nan=False, allow_infinity=False), **several).map(
        lambda labels: as_array(labels, np.float32)
    ),
    "bool": st.just(((False, True), "|b1")),
    "str": st.lists(st.text(max_size=5), **several).map(as_array).filter(lambda found: len(found[0]) > 1),
    "object": st.lists(st.text(max_size=5) | st.integers() | finite | st.booleans(), **several).map(
        lambda labels: (tuple(labels), "|O")
    ),
}


def factor_by_definition(term, x):
    missing = x is None or x != x
    if term.kind == "raw":
        return term.mean if missing else x
    if term.kind == "missing":
        return float(missing)
    if missing:
        return 0.0
    if term.kind == "equals":
        return float(isinstance(x, str) == isinstance(term.value, str) and x == term.value)
    return float(x <= term.value if term.kind == "at_most" else x > term.value)


def by_definition(model, row):
    """The class of a row straight from the rule, in plain Python."""
    owners = {prototype.owner for prototype in model.prototypes}
    score = [-math.inf if label in owners else 0.0 for label in range(len(model.classes))]
    for prototype in model.prototypes:
        z = prototype.intercept
        for term in prototype.terms:
            z += term.weight * factor_by_definition(term, row[term.feature])
        score[prototype.owner] = max(score[prototype.owner], z)
    return model.classes[score.index(max(score))]
