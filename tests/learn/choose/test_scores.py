"""The score of a fold against scikit-learn's metrics, and what decides beside what is reported."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import softmax
from sklearn.metrics import accuracy_score, get_scorer, log_loss, roc_auc_score

from smallearn._learn.choose.scores import CostScore, Scorer, metric_name, score_fold
from smallearn._learn.data.problem import build_problem
from smallearn._learn.solve.scoring import LOSS_SHARE


def held_out(seed, n_classes=2, class_weight=None):
    """Random rows of every class with random weights, and random class scores for them."""
    rng = np.random.default_rng(seed)
    y = np.concatenate([np.arange(n_classes), rng.integers(0, n_classes, 20)])
    X, weight = rng.normal(size=(len(y), 2)), rng.uniform(0.5, 2.0, len(y))
    problem = build_problem(X, y, weight, class_weight=class_weight)
    decision = rng.normal(size=(len(y), n_classes))
    if n_classes == 2:
        decision[:, 0] = 0.0
    return problem, decision


@given(st.integers(0, 50), st.integers(2, 4))
def test_accuracy_and_log_loss_are_those_of_scikit_learn(seed, n_classes):
    problem, decision = held_out(seed, n_classes)
    weight = problem.sample_weight
    accuracy = score_fold("accuracy", decision, problem, 22.0)
    expected = accuracy_score(problem.code, decision.argmax(axis=1), sample_weight=weight)
    assert accuracy.reported == accuracy.deciding == pytest.approx(expected)
    loss = score_fold("neg_log_loss", decision, problem, 22.0)
    expected = -log_loss(problem.code, softmax(decision, axis=1), sample_weight=weight)
    assert loss.reported == loss.deciding == pytest.approx(expected)
    assert loss.correct is None
    for score in (accuracy, loss):
        assert score.rows.score @ score.rows.weight == pytest.approx(score.deciding, rel=1e-5)
        assert score.rows.n_rows == 22.0


@given(st.integers(0, 50))
def test_by_default_accuracy_is_reported_and_less_a_share_of_the_log_loss_decides(seed):
    problem, decision = held_out(seed)
    score = score_fold(None, decision, problem, 22.0)
    accuracy = score_fold("accuracy", decision, problem, 22.0)
    loss = score_fold("neg_log_loss", decision, problem, 22.0)
    assert score.reported == accuracy.reported
    assert score.deciding == pytest.approx(accuracy.reported + LOSS_SHARE * loss.reported)
    np.testing.assert_array_equal(score.correct, accuracy.correct)


def test_class_weights_change_what_decides_and_not_what_is_reported():
    plain, decision = held_out(0)
    weighted, _ = held_out(0, class_weight={0: 5.0, 1: 1.0})
    one, two = (score_fold(None, decision, problem, 22.0) for problem in (plain, weighted))
    assert one.reported == two.reported
    assert one.deciding != two.deciding


def test_rows_of_a_class_of_weight_zero_alone_still_have_a_score():
    problem, decision = held_out(0, class_weight={0: 0.0, 1: 1.0})
    part = problem.take(np.flatnonzero(problem.code == 0), np.ones(np.sum(problem.code == 0)))
    score = score_fold(None, decision[problem.code == 0], part, 10.0)
    assert np.isfinite(score.deciding)


@pytest.mark.parametrize("takes_weights", [True, False])
def test_a_scorer_sees_a_fitted_classifier_and_weights_only_if_it_takes_them(takes_weights):
    problem, decision = held_out(1)
    scorer = Scorer(name="roc_auc", function=get_scorer("roc_auc"), takes_weights=takes_weights)
    score = score_fold(scorer, decision, problem, 22.0)
    weight = problem.sample_weight if takes_weights else None
    expected = roc_auc_score(problem.code, decision[:, 1], sample_weight=weight)
    assert score.reported == score.deciding == pytest.approx(expected)
    assert score.rows is None
    assert score.correct is None


def test_a_score_is_named_as_it_is_reported():
    assert metric_name(None) == metric_name("accuracy") == "accuracy"
    assert metric_name("neg_log_loss") == "neg_log_loss"
    assert metric_name(Scorer(name="f1", function=None, takes_weights=True)) == "f1"


@given(st.integers(0, 50))
def test_the_rarer_a_class_is_the_larger_is_the_share_of_the_log_loss_in_what_decides(seed):
    problem, decision = held_out(seed)
    scorer = Scorer(name="roc_auc", function=get_scorer("roc_auc"), takes_weights=True, with_loss=True)
    score = score_fold(scorer, decision, problem, 22.0)
    loss = -score_fold("neg_log_loss", decision, problem, 22.0).reported
    frequency = np.bincount(problem.code, weights=problem.sample_weight) / problem.sample_weight.sum()
    known = -np.sum(frequency * np.log(frequency))
    assert score.deciding == pytest.approx(score.reported - abs(frequency[0] - frequency[1]) * loss / known)


@given(st.integers(0, 50), st.sampled_from([0.2, 0.5, 0.9]))
def test_a_threshold_is_a_probability_without_class_weights(seed, threshold):
    problem, decision = held_out(seed, class_weight={0: 1.0, 1: 4.0})
    chance = softmax(decision - np.log([1.0, 4.0]), axis=1)[:, 1]
    score = score_fold("accuracy", decision, problem, 22.0, threshold)
    assert np.array_equal(score.correct, (chance > threshold) == (problem.code == 1))


@given(st.integers(0, 50), st.integers(3, 4))
def test_a_cost_is_that_of_the_class_of_least_expected_cost(seed, n_classes):
    problem, decision = held_out(seed, n_classes, class_weight={0: 3.0})
    costs = np.random.default_rng(seed).uniform(0.0, 5.0, (n_classes, n_classes))
    score = score_fold(CostScore(tuple(map(tuple, costs.tolist()))), decision, problem, 22.0)
    chance = softmax(decision - np.log([3.0] + [1.0] * (n_classes - 1)), axis=1)
    paid = costs[problem.code, (chance @ costs).argmin(axis=1)]
    assert score.reported == score.deciding == pytest.approx(-np.average(paid, weights=problem.sample_weight))
    assert metric_name(CostScore(((0.0, 1.0), (1.0, 0.0)))) == "negative mean cost"
