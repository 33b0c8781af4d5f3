"""What the tests of all exports share: models of every kind, and rows that hit every edge of them."""

import functools
import math
from dataclasses import replace

import numpy as np
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer, load_iris, load_wine

from smallearn import SMaLLClassifier, SMaLLModel
from smallearn.export._flat import FlatModel, Input, flatten
from smallearn.model import Prototype, Range, Term
from tests.helpers.models import CARD, NO, THREE, YES, labels_of, models, with_decision


def trained(load, **parameters) -> tuple[SMaLLModel, np.ndarray]:
    """A model trained on a set that comes with scikit-learn, and all its rows."""
    found = load()
    names = [str(name) for name in found.feature_names]
    model = SMaLLClassifier(random_state=0, **parameters).fit(found.data, found.target).model_
    return model.with_feature_names(names), found.data


MIXED = SMaLLModel(
    ("ill", "well"),
    "<U4",
    5,
    (
        Prototype(
            0,
            -1.5,
            (
                Term(0, 0.75, "age", mean=50.0),
                Term(0, 2.0, "age", "missing"),
                Term(1, -3.25, "blood pressure", "at_most", 0.1),
                Term(2, 4.0, "ward", "equals", "A"),
                Term(4, 1.0, "count", "equals", 3),
            ),
        ),
        Prototype(
            0,
            0.25,
            (
                Term(1, 1.5, "blood pressure", "above", 140.0),
                Term(2, -1.0, "ward", "equals", 'it\'s "B" \\ */ -- \n</script>'),
                Term(2, -0.5, "ward", "missing"),
                Term(4, -2.0, "count", "equals", True),
                Term(3, -0.125, "dose", mean=0.0),
            ),
        ),
    ),
    scale=0.5,
    ranges=(Range(0, 18.0, 97.0), Range(1, 60.0, 200.0), Range(3, -1.0, 1.0), Range(4, 0.0, 9.0)),
)
"""Every kind of term, missing values, two classes of which the first owns the prototypes."""


def shared(owners, classes, *, numbers=(), cuts=(), words=(), seed=0, **fields) -> SMaLLModel:
    """A model whose prototypes share most of their terms, in one order: raw terms of ``numbers`` with a mean, literals
    of ``cuts`` (feature, kind, value), and categories of the last feature. Some prototypes lack a term."""
    rng = np.random.default_rng(seed)
    kinds = [(feature, "raw", None) for feature in numbers] + list(cuts)
    text = max([-1, *(feature for feature, _, _ in kinds)]) + 1
    kinds += [(text, "equals", word) for word in words]
    weights = np.round(rng.normal(size=(len(kinds), len(owners))), 3)
    weights[rng.random(weights.shape) < 0.15] = 0.0
    prototypes = tuple(
        Prototype(
            owner,
            round(float(rng.normal()), 3),
            tuple(
                Term(feature, float(weight), f"f{feature}", kind, value, mean=0.25 if kind == "raw" else None)
                for (feature, kind, value), weight in zip(kinds, weights[:, j], strict=True)
                if weight
            ),
        )
        for j, owner in enumerate(owners)
    )
    used = sorted({term.feature for prototype in prototypes for term in prototype.terms} - {text})
    ranges = tuple(Range(feature, -3.0, 4.0) for feature in used)
    return SMaLLModel(classes, "|O", text + 1, prototypes, ranges=ranges, **fields)


CUTS = [(f, kind, value) for f in range(3, 6) for kind, value in (("at_most", -0.5), ("above", 0.75), ("above", 1.5))]
SHARED = {
    "shared literals": shared((0, 1, 2), ("a", "b", "c"), cuts=CUTS).for_complete_rows(),
    "shared, few columns": shared((0, 1, 2), ("a", "b", "c"), numbers=(0, 1), cuts=CUTS, words=("red", "blue")),
    "shared raw": shared((0, 1, 2, 3), (1, 2, 3, 4), numbers=(0, 1, 2)).for_complete_rows(),
    "shared, many columns": shared((0, 1, 1, 2, 3, 4, 4), tuple("abcde"), numbers=(0, 1), cuts=CUTS[:4], words=("w",)),
    "shared by many": shared((0, 1, 2, 3, 4, 5), tuple("abcdef"), numbers=(0, 1), cuts=CUTS[:5]).for_complete_rows(),
    "literals of many": shared((0, 1, 2, 3, 3, 4), tuple("abcde"), cuts=CUTS, seed=2).for_complete_rows(),
    "one number": shared((0, 1, 2, 3), tuple("abcd"), numbers=(0,), seed=1).for_complete_rows(),
    "shared, out of order": shared((2, 0, 1, 0), ("a", "b", "c"), cuts=[*CUTS, (3, "missing", None)], seed=1),
    "shared by two classes": shared((1, 1, 1), ("no", "yes"), cuts=[*CUTS, (6, "above", 0.0)]),
    "shared by one of two": shared((0,) * 5, ("no", "yes"), numbers=(1,), cuts=CUTS),
    "shared by both of two": shared((0, 0, 1), ("no", "yes"), numbers=(1,), cuts=CUTS, seed=2),
}
"""Prototypes that share terms: few and many columns, several prototypes of a class, two classes."""
COSTS = ((0.0, 1.0, 2.0), (5.0, 0.0, 1.5), (9.0, 3.0, -0.5))
BOTH = {
    "both of two": replace(MIXED, prototypes=(*MIXED.prototypes, replace(MIXED.prototypes[0], owner=1, intercept=0.5))),
    "both of two, raw": SMaLLModel(
        ("no", "yes"),
        "<U3",
        12,
        tuple(
            Prototype(owner, 0.5 * (j - 2), tuple(Term(feature, 0.25 * (-1) ** feature) for feature in range(j, 12, 3)))
            for j, owner in enumerate((0, 0, 1, 1, 1))
        ),
        ranges=tuple(Range(feature, -1.0, 3.0) for feature in range(12)),
    ),
    "both of two, out of order": replace(
        YES, prototypes=(*YES.prototypes, replace(YES.prototypes[0], owner=0, intercept=0.25))
    ),
}
"""Two classes that both own prototypes."""
DECISIONS = {
    "low threshold of both": replace(BOTH["both of two"], decision_threshold=0.2),
    "high threshold of both": replace(BOTH["both of two, raw"], decision_threshold=0.9, scale=2.0),
    "low threshold": replace(MIXED, decision_threshold=0.2),
    "high threshold": replace(YES, decision_threshold=0.9),
    "threshold of a card": replace(CARD, decision_threshold=0.3),
    "threshold of shared terms": replace(SHARED["shared by two classes"], decision_threshold=0.7, scale=0.5),
    "threshold of one of two": replace(SHARED["shared by one of two"], decision_threshold=0.05),
    "extreme threshold": replace(YES, decision_threshold=1e-300),
    "offsets": replace(THREE, cost_matrix=((0.0, 1.0, 1.0), (4.0, 0.0, 4.0), (0.5, 0.5, 0.0))),
    "offsets of shared terms": replace(
        SHARED["shared, few columns"], cost_matrix=((0.0, 1.0, 1.0), (3.0, 0.0, 3.0), (8.0, 8.0, 0.0)), scale=2.0
    ),
    "offsets of many columns": replace(
        SHARED["shared, many columns"],
        cost_matrix=tuple(tuple(0.0 if i == k else 1.0 + i for k in range(5)) for i in range(5)),
    ),
}
"""Thresholds of two classes, and costs of more that only add to the scores."""
EXPECTED_COSTS = {
    "costs": replace(THREE, cost_matrix=COSTS, scale=0.7),
    "costs of shared terms": replace(SHARED["shared, few columns"], cost_matrix=COSTS),
    "costs out of order": replace(SHARED["shared, out of order"], cost_matrix=COSTS, scale=3.0),
}
"""Costs that need probabilities, and so floating point."""
MODELS = {
    **SHARED,
    **BOTH,
    **DECISIONS,
    "yes": YES,
    "no": NO,
    "three": THREE,
    "card": CARD,
    "mixed": MIXED,
    "constant": replace(YES, prototypes=(Prototype(1, 0.0, ()),)),
}


@functools.cache
def trained_models() -> dict[str, tuple[SMaLLModel, np.ndarray]]:
    """Models of real data with all their rows: two classes, three, and literals."""
    return {
        "breast cancer": trained(load_breast_cancer, n_prototypes=2, n_nonzero=3),
        "breast cancer literals": trained(load_breast_cancer, n_prototypes=2, n_nonzero=3, literals="both"),
        "iris": trained(load_iris, n_prototypes=1, n_nonzero=2),
        "wine": trained(load_wine, n_prototypes=2, n_nonzero=2, literals="thresholds"),
    }


# --- rows ------------------------------------------------------------------------------------------------------------


def edges(flat: FlatModel, position: int) -> list:
    """The values of an input at which something may go wrong; None is a missing value."""
    given: Input = flat.inputs[position]
    mine = [term for term in flat.terms if term.input == position]
    missing = [None] if given.may_be_missing else []
    if given.is_text:
        return [*given.categories, "", "other", "a" * 300, *missing]
    values = [0.0, -0.0, 1.0, -1.0, 0.5, 1e-3, 1e6, 5e-324]
    for term in mine:
        if term.value is not None and not isinstance(term.value, str):
            values += [term.value, math.nextafter(term.value, -math.inf), math.nextafter(term.value, math.inf)]
    if given.low is not None and given.high is not None:
        values += [given.low, given.high, 0.5 * given.low + 0.5 * given.high]
    return [*(value for value in values if math.isfinite(value)), *missing]


def edge_rows(flat: FlatModel, count: int, seed: int = 0) -> list[list]:
    """Rows of the inputs in use, in their order: each edge of each input at least once, the rest drawn from them."""
    rng = np.random.default_rng(seed)
    choices = [edges(flat, position) for position in range(len(flat.inputs))]
    rows = [[options[rng.integers(len(options))] for options in choices] for _ in range(count)]
    for position, options in enumerate(choices):
        for value in options:
            row = [options[rng.integers(len(options))] for options in choices]
            row[position] = value
            rows.append(row)
    return rows


def full_table(flat: FlatModel, rows: list[list]) -> np.ndarray:
    """The same rows with all features, as `SMaLLModel` takes them; features that are not in use hold 0."""
    table = np.zeros((len(rows), flat.n_features), dtype=object)
    for position, given in enumerate(flat.inputs):
        for i, row in enumerate(rows):
            table[i, given.feature] = row[position]
    return table


def used_rows(flat: FlatModel, X: np.ndarray) -> list[list]:
    """Of rows with all features, the inputs in use."""
    return X[:, [given.feature for given in flat.inputs]].tolist()


def magnitudes(flat: FlatModel, rows: list[list]) -> np.ndarray:
    """``|b| + Σ |weight · b|`` of each prototype, rows × prototypes: what rounding is relative to."""
    sums = np.tile(np.abs(flat.intercepts), (len(rows), 1)).astype(float)
    for term in flat.terms:
        for i, row in enumerate(rows):
            value = row[term.input]
            if term.kind == "raw":
                sums[i, term.prototype] += abs(term.weight * (term.mean if value is None else value))
            else:
                sums[i, term.prototype] += abs(term.weight)
    return sums


moderate = st.floats(-1e6, 1e6).map(lambda w: 0.0 if abs(w) < 1e-6 else w)


@st.composite
def exportable(draw, classes=None):
    """Any valid model with weights, cut points and means of ordinary size, some with shared terms and some with a
    threshold or costs, and a handful of its edge rows."""
    kind = draw(st.sampled_from(sorted(labels_of))) if classes is None else classes
    model = draw(models(weights=moderate, classes=labels_of[kind]))
    prototypes = []
    for prototype in model.prototypes:
        tamed = [_tamed(term) for term in prototype.terms]
        different = {(term.feature, term.kind, term.value): term for term in tamed}
        prototypes.append(replace(prototype, terms=tuple(different.values())))
    if draw(st.booleans()):  # all have the terms of the first, with other weights
        terms = prototypes[0].terms
        prototypes = [
            replace(one, terms=tuple(replace(term, weight=draw(moderate)) for term in terms)) for one in prototypes
        ]
    model = replace(model, prototypes=tuple(prototypes), ranges=(), scale=min(max(model.scale, 1e-3), 1e3))
    if draw(st.booleans()):
        model = with_decision(model, np.random.default_rng(draw(st.integers(0, 99))))
    flat = flatten(model)
    return model, edge_rows(flat, 5, draw(st.integers(0, 2**31)))


def _tamed(term: Term) -> Term:
    """Cut points and means of a size that no product overflows."""
    value = math.fmod(term.value, 1e9) if isinstance(term.value, float) else term.value
    value = value % 2**60 if isinstance(value, int) and not isinstance(value, bool) else value
    return replace(term, value=value, mean=None if term.mean is None else math.fmod(term.mean, 1e6))
