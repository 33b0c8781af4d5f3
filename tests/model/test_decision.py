"""Decision thresholds and cost matrices: they move the decision and nothing else."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from smallearn._learn import prediction
from smallearn.model import Prototype, SMaLLModel, Term
from smallearn.model._decision import HIGHEST, cost_threshold, decide
from smallearn.model._sentences import cut_text
from tests.helpers.models import CARD, COSTS, NO, ROWS, THREE, YES, models_with_rows

thresholds = st.floats(0.0, 1.0, exclude_min=True, exclude_max=True)
costs = st.lists(st.lists(st.integers(0, 9).map(float), min_size=3, max_size=3), min_size=3, max_size=3)
X = np.random.default_rng(0).normal(scale=2.0, size=(400, 3))
# What an error costs depends on the true class alone.
BY_CLASS = ((0.0, 1.0, 1.0), (3.0, 0.0, 3.0), (0.5, 0.5, 0.0))


def every_prediction(model, X):
    """By rows, one by one, from known scores and compiled: all must agree."""
    together = model.predict(X)
    assert [model.predict_one(row) for row in X.tolist()] == together.tolist()
    assert model.labels(model.decide(model.scores(X))).tolist() == together.tolist()
    assert prediction.predict(model, prediction.stored(np.ascontiguousarray(X), False), 1).tolist() == together.tolist()
    return together


@pytest.mark.parametrize("model", [YES, NO])
@pytest.mark.parametrize("scale", [1.0, 0.3])
@pytest.mark.parametrize("threshold", [0.01, 0.2, 0.5, 0.9])
def test_the_second_class_is_predicted_where_its_probability_exceeds_the_threshold(model, scale, threshold):
    moved = replace(model, decision_threshold=threshold, scale=scale)
    probability = moved.predict_proba(X)[:, 1]
    assert np.abs(probability - threshold).min() > 1e-9
    assert np.array_equal(every_prediction(moved, X) == "yes", probability > threshold)


@pytest.mark.parametrize("model", [YES, NO])
def test_probabilities_and_log_odds_do_not_change_with_the_threshold(model):
    moved = replace(model, decision_threshold=0.1)
    assert np.array_equal(moved.predict_proba(X), model.predict_proba(X))
    assert np.array_equal(moved.decision_function(X), model.decision_function(X))
    assert not np.array_equal(moved.predict(X), model.predict(X))


@given(models_with_rows())
def test_one_half_is_the_rule_of_the_highest_score(example):
    model, rows = example
    assert (model.decision, model.cut) == (HIGHEST, 0.0)
    z = model.scores(np.array(rows))
    assert np.array_equal(model.decide(z), decide(z, model.owners, len(model.classes)))


@pytest.mark.parametrize(("owner", "at_the_cut"), [(1, "no"), (0, "no")])
def test_a_score_at_the_cut_goes_to_the_first_class(owner, at_the_cut):
    model = SMaLLModel(("no", "yes"), "<U3", 1, (Prototype(owner, 0.0, (Term(0, 1.0),)),), decision_threshold=0.3)
    beside = [math.nextafter(model.cut, side) for side in (-math.inf, math.inf)]
    low, high = ("no", "yes") if owner == 1 else ("yes", "no")
    found = every_prediction(model, np.array([[model.cut], *([x] for x in beside)]))
    assert found.tolist() == [at_the_cut, low, high]


@given(thresholds, st.floats(0.0, 1e300, exclude_min=True), st.sampled_from([YES, NO]))
def test_every_threshold_has_a_finite_cut(threshold, scale, model):
    moved = replace(model, decision_threshold=threshold, scale=scale)
    assert math.isfinite(moved.cut)
    every_prediction(moved, ROWS)


# --- costs -----------------------------------------------------------------------------------------------------------


def test_the_threshold_of_two_classes_is_where_both_predictions_cost_the_same():
    threshold = cost_threshold(((-1.0, 2.0), (7.0, 0.5)))
    assert (1 - threshold) * -1.0 + threshold * 7.0 == pytest.approx((1 - threshold) * 2.0 + threshold * 0.5)
    assert cost_threshold(((0.0, 1.0), (9.0, 0.0))) == 0.1


@pytest.mark.parametrize("matrix", [((0.0, 0.0), (1.0, 0.0)), ((0.0, 1.0), (0.0, 0.0)), ((0.0, -1.0), (-2.0, 0.0))])
def test_costs_that_leave_nothing_to_decide_are_refused(matrix):
    with pytest.raises(ValueError, match="an error costs no more than the right answer"):
        cost_threshold(matrix)


@given(costs, st.sampled_from([1.0, 0.25]))
def test_the_class_of_least_expected_cost_is_predicted(matrix, scale):
    model = replace(THREE, cost_matrix=tuple(map(tuple, matrix)), scale=scale)
    expected = model.predict_proba(X[:40, :2]) @ np.array(matrix)
    least = expected.min(axis=1, keepdims=True)
    code = model.codes(every_prediction(model, X[:40, :2]))
    assert (expected[np.arange(40), code] <= least[:, 0] + 1e-12).all()
    assert np.array_equal(model.predict_proba(X[:, :2]), replace(model, cost_matrix=None).predict_proba(X[:, :2]))


def test_costs_by_true_class_are_offsets_of_the_scores():
    model = replace(THREE, cost_matrix=BY_CLASS, scale=2.0)
    assert model.decision.costs is None
    assert model.decision.offsets == pytest.approx([math.log(1 / 3) / 2, 0.0, math.log(1 / 6) / 2])
    expected = model.predict_proba(X[:, :2]) @ np.array(BY_CLASS)
    assert np.array_equal(model.codes(every_prediction(model, X[:, :2])), expected.argmin(axis=1))


def test_with_equal_costs_the_highest_score_wins_and_a_tie_goes_to_the_first():
    model = replace(THREE, cost_matrix=tuple(tuple(float(i != k) for k in range(3)) for i in range(3)))
    tied = np.array([[1.0, 1.0], [-1.0, -1.0], [0.0, 2.0]])
    assert every_prediction(model, tied).tolist() == THREE.predict(tied).tolist() == ["a", "c", "b"]
    indifferent = replace(THREE, cost_matrix=((1.0, 1.0, 1.0),) * 3)
    assert set(every_prediction(indifferent, tied)) == {"a"}


@pytest.mark.parametrize("matrix", [None, COSTS, BY_CLASS])
def test_the_deciding_prototype_is_the_highest_of_the_predicted_class(matrix):
    model = replace(THREE, cost_matrix=matrix)
    z = model.scores(X[:, :2])
    winner, code = model.winners(z), model.decide(z)
    assert np.array_equal(np.array(model.owners)[winner], code)
    for j in range(len(model.prototypes)):
        rivals = [i for i, owner in enumerate(model.owners) if owner == model.owners[j]]
        assert (z[winner == j, j] == z[winner == j][:, rivals].max(axis=1)).all()
    ahead = model.compared(z)
    assert np.array_equal(ahead.argmax(axis=1), code)


# --- words -----------------------------------------------------------------------------------------------------------


def test_the_rule_names_the_cut_and_the_probability():
    one = replace(YES, prototypes=YES.prototypes[:1], decision_threshold=0.2)
    assert one.rule == (
        "Predict 'yes' if this score is above -1.386 (a probability of 'yes' above 20.0%), otherwise 'no'."
    )
    assert replace(NO, decision_threshold=0.2).rule == (
        "Predict 'no' if any of these scores is 1.386 or more (a probability of 'yes' at most 20.0%), otherwise 'yes'."
    )
    assert one.rule in str(one)


def test_points_are_compared_with_a_whole_number():
    assert cut_text(replace(CARD, decision_threshold=0.2)) == "above -3"  # the cut is -2.77: from -2 on
    owned = replace(CARD, prototypes=tuple(replace(prototype, owner=0) for prototype in CARD.prototypes))
    assert cut_text(replace(owned, decision_threshold=0.2)) == "3 or more"


def test_the_rule_names_offsets_and_costs():
    assert replace(THREE, cost_matrix=BY_CLASS).rule == (
        "Predict the class with the highest score, with -1.099 for 'a' and -1.792 for 'c'; at a tie the first of "
        "'a', 'b', 'c'."
    )
    assert "the class with the least expected cost; at a tie the first" in replace(THREE, cost_matrix=COSTS).rule


def test_where_offsets_hide_a_difference_the_first_prototype_decides_as_in_the_exports():
    prototypes = (
        Prototype(1, 0.0, (Term(feature=0, weight=-1.0),)),
        Prototype(1, 0.0, ()),
        Prototype(2, 0.0, ()),
        Prototype(0, -2.0, ()),
    )
    costs = ((0.0, 8.0, 8.0), (2.0, 0.0, 2.0), (2.0, 2.0, 0.0))
    model = SMaLLModel((0, 1, 2), "<i8", n_features=1, prototypes=prototypes, cost_matrix=costs)
    z = model.scores([[5e-324], [1.0], [-1.0]])
    assert model.winners(z).tolist() == [0, 1, 0]
    assert model.predict([[5e-324], [1.0], [-1.0]]).tolist() == [1, 1, 1]
