"""Scores by threshold against scikit-learn's metrics, row by row, and the threshold that other folds ask for."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics
from sklearn.metrics import get_scorer, make_scorer

from smallearn._learn.choose.thresholds import GRID, Confusion, confusion, counts_above, sweep_of, takes_weights

CLASSES = np.array([0, 1])
SCORERS = {
    **{name: get_scorer(name) for name in ("f1", "precision", "recall", "jaccard", "balanced_accuracy")},
    **{name: get_scorer(name) for name in ("f1_macro", "f1_weighted", "recall_macro", "matthews_corrcoef")},
    "f2": make_scorer(metrics.fbeta_score, beta=2),
    "f1 of the first class": make_scorer(metrics.f1_score, pos_label=0),
    "f1 without warnings": make_scorer(metrics.f1_score, zero_division=0.0),
    "f1 that is 1 without rows": make_scorer(metrics.f1_score, zero_division=1.0),
    "a loss": make_scorer(metrics.hamming_loss, greater_is_better=False),
    "kappa": make_scorer(metrics.cohen_kappa_score),
}


def rows(seed, m=60):
    """Log-odds, classes of which the second is rare, and weights."""
    rng = np.random.default_rng(seed)
    code = (rng.random(m) < 0.2).astype(np.int64)
    code[:2] = 0, 1
    return rng.normal(size=m) + code - 1.0, code, rng.integers(1, 4, m).astype(float)


def test_what_a_division_by_0_gives_makes_a_metric_no_slower():
    assert sweep_of(SCORERS["f1 without warnings"], CLASSES).tries is None  # all thresholds at once
    assert sweep_of(SCORERS["f1 that is 1 without rows"], CLASSES).tries is not None


@given(st.integers(0, 100))
def test_counts_are_those_of_the_rows_above_each_threshold(seed):
    margin, code, weight = rows(seed)
    above = counts_above(margin, code, weight)
    for label in (0, 1):
        mine = code == label
        assert above[label, 0] == weight[mine].sum()
        assert above[label, 1:].tolist() == [weight[mine & (margin > cut)].sum() for cut in GRID]


def test_rows_beyond_the_grid_are_counted():
    above = counts_above(np.array([-1e9, 1e9]), np.array([1, 1]), np.ones(2))
    assert set(above[1, 1:]) == {1.0}


@pytest.mark.parametrize("name", SCORERS)
@pytest.mark.filterwarnings("ignore")  # scikit-learn's, about classes that are never predicted
def test_a_score_of_counts_is_that_of_scikit_learn_on_the_rows(name):
    scorer = SCORERS[name]
    sweep = sweep_of(scorer, CLASSES)
    for seed in range(3):
        margin, code, weight = rows(seed)
        counts = confusion(counts_above(margin, code, weight))
        some = np.arange(100, len(GRID) - 100, 20)
        found = sweep.metric(Confusion(*(count[some] for count in counts)))
        expected = [
            scorer._sign
            * scorer._score_func(code, (margin > GRID[at]).astype(int), sample_weight=weight, **scorer._kwargs)
            for at in some
        ]
        np.testing.assert_allclose(found, expected, atol=1e-12)


def test_an_own_metric_sees_as_many_rows_as_there_are():
    def own(truth, predicted):
        return len(truth) + (truth == predicted).sum()

    sweep = sweep_of(make_scorer(own), CLASSES)
    margin, code, _ = rows(0)
    above = counts_above(margin, code, np.ones(len(code)))
    at = len(GRID) // 2
    found = sweep.metric(confusion(above[..., [0, 1 + at]]))
    assert found.tolist() == [own(code, (margin > 0.0).astype(int))]
    assert 0 < len(sweep._positions(above)) <= 34


@pytest.mark.parametrize("scorer", ["roc_auc", "average_precision", "neg_log_loss", "accuracy", "neg_brier_score"])
def test_a_score_that_does_not_depend_on_the_threshold_has_no_sweep(scorer):
    assert sweep_of(get_scorer(scorer), CLASSES) is None
    assert sweep_of(lambda *_: 0.0, CLASSES) is None


def test_only_metrics_of_scikit_learn_are_known_to_take_weights():
    assert takes_weights(metrics.fbeta_score)
    assert not takes_weights(lambda *_: 0.0)
    assert not takes_weights(None)


@pytest.mark.parametrize("name", ["f1", "balanced_accuracy"])
def test_a_fold_is_scored_at_the_threshold_that_is_best_on_the_others(name):
    sweep, folds = sweep_of(get_scorer(name), CLASSES), [rows(seed) for seed in range(4)]
    above = [counts_above(*fold) for fold in folds]
    scores = sweep.across(above)
    for k in range(4):
        others = [np.concatenate(parts) for parts in zip(*(f for i, f in enumerate(folds) if i != k), strict=True)]
        by_cut = [score_at(name, others, cut) for cut in GRID]
        reached = [
            score_at(name, folds[k], cut) for cut, value in zip(GRID, by_cut, strict=True) if value > max(by_cut) - 1e-9
        ]
        assert np.abs(np.array(reached) - scores[k]).min() < 1e-12


def score_at(name, fold, cut):
    margin, code, weight = fold
    return get_scorer(name)._score_func(code, (margin > cut).astype(int), sample_weight=weight)


def test_the_only_fold_has_its_own_threshold():
    sweep, fold = sweep_of(get_scorer("f1"), CLASSES), rows(0)
    above = counts_above(*fold)
    assert sweep.across([above])[0] == pytest.approx(max(score_at("f1", fold, cut) for cut in GRID))


def test_the_threshold_is_in_the_middle_of_the_best_and_has_few_digits():
    sweep = sweep_of(get_scorer("f1"), CLASSES)
    above = counts_above(np.array([-3.0, -1.0, 2.0, 3.0]), np.array([0, 0, 1, 1]), np.ones(4))
    assert GRID[int(sweep.best(above))] == pytest.approx(0.5, abs=0.06)  # between log-odds of -1 and 2
    assert sweep.threshold([above]) == 0.6
