"""The score card of a model: points and start give back its log-odds exactly, for any model of literals."""

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from smallearn import SMaLLClassifier
from smallearn.model import Accepted, Prototype, SMaLLModel, Term
from tests.helpers.models import CARD, COSTS, YES, with_costs, with_decision

weights = st.integers(-4, 4).map(float) | st.floats(-50.0, 50.0)
numbers = st.integers(-3, 3).map(float)
# One feature is compared with thresholds and single numbers, one has categories, one booleans.
literals = st.one_of(
    st.builds(lambda value, kind: (0, kind, value), numbers, st.sampled_from(["at_most", "above", "equals"])),
    st.sampled_from(["red", "blue", "green"]).map(lambda value: (1, "equals", value)),
    st.booleans().map(lambda value: (2, "equals", value)),
    st.integers(0, 2).map(lambda feature: (feature, "missing", None)),
)
VALUES = ([None, *np.arange(-3.5, 4.0, 0.5)], [None, "red", "blue", "green", "pink"], [None, True, False, 7])
ROWS = pd.DataFrame(
    [(x, colour, flag) for x in VALUES[0] for colour in VALUES[1] for flag in VALUES[2]],
    columns=["x", "colour", "flag"],
).astype(object)
SCALINGS = [
    (None, {}),
    ("pdo", {"points": 500.0, "odds": 30.0, "pdo": 25.0}),
    ("min_max", {"low": -10.0, "high": 90.0}),
]


@st.composite
def cards(draw):
    """A model of literals, with every row of ``ROWS`` as a possible row."""
    owners = draw(st.sampled_from([[1], [0], [1, 1], [0, 1], [1, 0, 1], [0, 1, 2], [2, 1, 0, 1]]))
    prototypes = []
    for owner in owners:
        chosen = draw(st.lists(literals, max_size=6, unique=True))
        terms = [Term(f, draw(weights), ROWS.columns[f], kind, value) for f, kind, value in chosen]
        prototypes.append(Prototype(owner, draw(weights), tuple(terms)))
    classes = ("a", "b", "c")[: max(2, 1 + max(owners))]
    scale = draw(st.sampled_from([1.0, 0.25, 3.0]))
    return SMaLLModel(classes, "<U1", 3, tuple(prototypes), scale=scale)


@given(cards(), st.sampled_from(SCALINGS))
def test_points_give_back_the_scores_of_the_model(model, scaling):
    card = model.score_card(scaling[0], **scaling[1])
    z = model.scores(ROWS)
    totals = card.totals(ROWS)
    size = 1.0 + np.abs(card.zero) + np.abs(card.step * z) + sum(abs(one.start) for one in card.cards)
    assert (np.abs(totals - (card.zero + card.step * z)) <= 1e-12 * size.max() * 100).all()
    tolerance = 1e-9 * (1.0 + np.abs(card.log_odds(totals)).max() + abs(card.zero / card.step))
    assert card.log_odds(totals) == pytest.approx(model.scale * z, abs=tolerance)


@given(cards(), st.sampled_from(SCALINGS))
def test_every_row_is_in_exactly_one_bin_of_each_feature_and_the_least_points_are_0(model, scaling):
    card = model.score_card(scaling[0], **scaling[1])
    for one, own in zip(card.cards, card.totals(ROWS).T, strict=True):
        for feature in one.features:
            assert min(part.points for part in feature.bins) == 0.0
            assert sum(part.missing for part in feature.bins) == 1
            for value in VALUES[feature.feature]:
                assert sum(_holds(part, value) for part in feature.bins) == 1
        # features are combined freely here, so that both ends are reached
        assert own.min() == pytest.approx(one.start, abs=1e-9 * (1.0 + abs(one.start)))
        assert own.max() == pytest.approx(one.highest, abs=1e-9 * (1.0 + abs(one.highest)))


def _holds(part, value):
    """Whether a value is in a bin, by the fields of the bin."""
    if value is None:
        return part.missing
    if part.categories:
        return any(isinstance(value, str) == isinstance(one, str) and value == one for one in part.categories)
    if value in part.excluded:
        return False
    if part.rest:
        return True
    inside = part.low is not None or part.high is not None
    return inside and (part.low is None or value > part.low) and (part.high is None or value <= part.high)


@given(cards(), st.sampled_from(SCALINGS), st.integers(0, 1000))
def test_the_card_decides_as_the_model_away_from_its_thresholds(model, scaling, seed):
    rng = np.random.default_rng(seed)
    model = with_decision(model, rng)
    if len(model.classes) > 2 and seed % 2:
        model = with_costs(model, rng)
    card = model.score_card(scaling[0], **scaling[1], X=ROWS)
    z = model.compared(model.scores(ROWS))
    near = np.sort(z, axis=1)
    clear = near[:, -1] - near[:, -2] > 1e-6 * (1.0 + np.abs(z).max())
    assert (card.predict(ROWS) == model.predict(ROWS))[clear].all()
    assert card.changed <= np.count_nonzero(~clear)
    assert card.n_rows == len(ROWS)
    for text in (str(card), card._repr_html_()):
        assert "Predict" in text
    if model.sole_owner is not None:
        best = card.totals(ROWS).max(axis=1)
        owner = best > card.threshold if model.sole_owner == 1 else best >= card.threshold
        assert ((model.predict(ROWS) == model.classes[model.sole_owner]) == owner)[clear].all()


def test_pdo_means_what_credit_files_mean():
    card = CARD.score_card("pdo", points=600, odds=50, pdo=20)
    assert card.doubling == pytest.approx(20.0)
    assert card.probability(600.0) == pytest.approx(50 / 51)
    assert card.probability(620.0) == pytest.approx(100 / 101)
    assert card.probability(580.0) == pytest.approx(25 / 26)


def test_min_max_goes_from_end_to_end():
    card = CARD.score_card("min_max", low=300, high=850)
    assert (card.cards[0].start, card.cards[0].highest) == pytest.approx((300.0, 850.0))
    several = replace(CARD, prototypes=(*CARD.prototypes, Prototype(1, 1.0, ()))).score_card
    both = several("min_max").cards
    assert min(one.start for one in both) == pytest.approx(0.0)
    assert max(one.highest for one in both) == pytest.approx(100.0)
    bare = SMaLLModel(("n", "y"), "<U1", 1, (Prototype(1, 2.0, ()),))
    assert bare.score_card("min_max").totals([[1.0]]).tolist() == [[0.0]]


def test_the_points_of_the_model_are_the_default_and_begin_at_0():
    card = CARD.score_card()
    assert card.cards[0].start == 0.0
    assert [(one.name, [(part.text, part.points) for part in one.bins]) for one in card.cards[0].features] == [
        ("age", [("≤ 40", 0.0), ("> 40", 2.0), ("missing", 1.0)]),
        ("colour", [("'red'", 4.0), ("'blue'", 0.0), ("any other, or missing", 1.0)]),
        ("member", [("True", 1.0), ("any other, or missing", 0.0)]),
    ]
    assert card.threshold == 3.0
    assert "Predict 'yes' above 3 points, otherwise 'no'." in str(card)
    assert card.strip()[0] == (0.0, pytest.approx(1 / (1 + math.exp(1.5))))
    assert [total for total, _ in card.strip()] == list(range(8))


def test_bins_of_two_thresholds_add_up():
    terms = (Term(0, 1.0, "x", "above", 1.0), Term(0, 2.0, "x", "above", 5.0), Term(0, -4.0, "x", "equals", 3.0))
    model = SMaLLModel(("n", "y"), "<U1", 1, (Prototype(1, 0.0, terms),))
    bins = model.score_card().cards[0].features[0].bins
    assert [(one.text, one.points) for one in bins] == [
        ("≤ 1, or missing", 3.0),
        ("> 1 and ≤ 5, other than 3", 4.0),
        ("> 5", 6.0),
        ("3", 0.0),
    ]


def test_what_the_model_refuses_has_no_bin():
    terms = (Term(0, 1.0, "ward", "equals", "A"), Term(0, 3.0, "ward", "equals", "B"))
    model = SMaLLModel(("n", "y"), "<U1", 1, (Prototype(1, 0.0, terms),))
    strict = replace(model, accepted=(Accepted(0, ("A", "B"), missing=False),))
    assert [one.text for one in strict.score_card().cards[0].features[0].bins] == ["'A'", "'B'"]
    assert strict.score_card().cards[0].features[0].bins[1].points == 2.0
    gaps = replace(model, accepted=(Accepted(0, missing=False),))
    assert [one.text for one in gaps.score_card().cards[0].features[0].bins] == ["'A'", "'B'", "any other"]


def test_rounding_tells_how_many_decisions_it_changes():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(400, 3)).round(1), columns=["a", "b", "c"])
    y = (X["a"] + X["b"] - 0.5 * X["c"] + rng.normal(size=400) > 0).astype(int)
    model = SMaLLClassifier(1, 8, literals="thresholds").fit(X, y).model_
    exact, rounded = model.score_card(X=X), model.score_card("min_max", high=5, digits=0, X=X)
    assert exact.changed == 0
    assert "The card changes no decision on the 400 rows given." in str(exact)
    assert rounded.changed == np.sum(rounded.predict(X) != model.predict(X)) > 0
    assert f"Rounding changes {rounded.changed} decisions on the 400 rows given." in str(rounded)
    assert all(part.points == round(part.points) for one in rounded.cards[0].features for part in one.bins)
    assert rounded.totals(X).tolist() == np.round(rounded.totals(X)).tolist()
    fine = model.score_card("pdo", digits=2, X=X)
    assert fine.changed == 0
    # the threshold that is printed decides the same
    printed = float(str(fine).split("above ")[1].split(" points")[0])
    assert ((fine.totals(X)[:, 0] > printed + 1e-9) == (fine.predict(X) == 1)).all()


def test_a_card_is_a_table_too():
    frame = CARD.score_card("pdo", digits=1).to_frame()
    assert frame.columns.tolist() == ["card", "feature", "values", "points"]
    assert frame.iloc[0].tolist() == ["Score for class 'yes'", "", "start", pytest.approx(443.8)]
    assert len(frame) == 1 + 3 + 3 + 2


def test_text_of_strangers_is_escaped_in_a_notebook():
    terms = (Term(0, 1.0, "<b>", "equals", "<script>"),)
    html = SMaLLModel(("n", "<y>"), "<U3", 1, (Prototype(1, 0.0, terms),)).score_card()._repr_html_()
    assert "<b>" not in html
    assert "<script>" not in html
    assert "<y>" not in html


def test_a_model_with_raw_terms_says_which_and_what_to_do():
    message = "multiplies 'a' and 'c' by a weight. Train a model of conditions alone: literals='thresholds'"
    with pytest.raises(ValueError, match=message):
        YES.score_card()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"scaling": "log"}, "scaling='log' is not one of 'pdo', 'min_max', or None"),
        ({"scaling": "pdo", "odds": 0.0}, "odds=0.0 is not a positive number"),
        ({"scaling": "pdo", "pdo": -20}, "pdo=-20 is not a positive number"),
        ({"scaling": "pdo", "points": float("nan")}, "points=nan is not a finite number"),
        ({"scaling": "min_max", "low": 5, "high": 5}, "low=5 is not below high=5"),
        ({"digits": -1}, "digits=-1 is not a whole number from 0 to 15"),
    ],
)
def test_scalings_that_make_no_sense_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        CARD.score_card(**arguments)


def test_several_classes_have_a_card_each_on_one_scale():
    terms = [(Term(0, weight, "x", "above", 0.0),) for weight in (1.0, 2.0, -3.0)]
    model = SMaLLModel(("a", "b", "c"), "<U1", 1, tuple(Prototype(j, 0.5 * j, t) for j, t in enumerate(terms)))
    card = model.score_card("pdo")
    assert [one.title for one in card.cards] == [f"Score for class '{label}'" for label in "abc"]
    assert card.strip() == ()
    assert card.threshold is None
    assert "Predict the class with the most points; at a tie the first of 'a', 'b', 'c'." in str(card)
    assert "20 points double the odds." in str(card)
    assert card.predict([[1.0], [-1.0]]).tolist() == model.predict([[1.0], [-1.0]]).tolist() == ["b", "c"]
    costly = replace(model, cost_matrix=COSTS).score_card()
    assert "least expected cost" in str(costly)
