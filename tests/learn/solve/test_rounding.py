"""Rounding keeps the budget, refitting finds the minimum, and brute force confirms the certificate."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from smallearn import SMaLLClassifier
from smallearn._learn.solve import rounding
from smallearn._learn.solve.solvers import accelerated
from tests.helpers import oracle, problems

seeds = st.integers(0, 2**32 - 1)


@given(seeds, st.sampled_from([2, 3]), st.integers(1, 6))
def test_a_rounded_support_keeps_the_budget_and_the_columns_always_in(seed, n_classes, k):
    objective, _, _ = problems.random_problem(seed, n_classes=n_classes, k=min(k, 5))
    support = rounding.round_support(objective, accelerated.solve(objective, None, 1e-6, 1000))
    assert np.all(support[:, :5].sum(axis=1) == min(k, 5))
    assert support[:, 5].all()


@given(seeds, st.sampled_from([2, 3]), st.sampled_from([1e-6, 1e-3, 0.1]))
def test_refitting_ends_where_the_slope_is_zero_and_newton_agrees_with_lbfgs(seed, n_classes, alpha):
    objective, _, W = problems.random_problem(seed, m=30, n_classes=n_classes, alpha=alpha)
    support = np.random.default_rng(seed).random(W.shape) < 0.5
    support[:, -1] = True
    refitted, value = rounding.refit(objective, support, W)
    slope = objective.sums(refitted).gradient + alpha * refitted
    assert not refitted[~support].any()
    assert np.abs(slope[support]).max() < 1e-7
    assert value == pytest.approx(objective.sparse_primal(refitted), rel=1e-9)
    other, other_value = rounding._lbfgs(objective, support, np.where(support, W, 0.0))
    assert other_value == pytest.approx(value, rel=1e-5, abs=1e-9)
    assert value <= other_value * (1.0 + 1e-9)
    if alpha == 0.1:
        np.testing.assert_allclose(other, refitted, atol=1e-5)


def test_refitting_survives_separable_data_with_almost_no_penalty():
    X = np.linspace(-1.0, 1.0, 40)[:, None]
    clf = SMaLLClassifier(1, 1, alpha=1e-10).fit(X, (X[:, 0] > 0.0).astype(int))
    assert clf.score(X, (X[:, 0] > 0.0).astype(int)) == 1.0
    assert 0.0 < clf.objective_ < 1e-5


@given(seeds, st.integers(2, 10), st.integers(1, 3), st.sampled_from([1e-3, 1e-2, 1e-1]))
def test_brute_force_over_all_supports_lies_between_bound_and_objective(seed, n, k, alpha):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(30, n)) @ rng.normal(size=(n, n))  # correlated
    y = (X[:, :3].sum(axis=1) + rng.normal(size=30) > 0.0).astype(int)
    y[:2] = [0, 1]
    clf = SMaLLClassifier(1, k, alpha).fit(X, y)
    standard = np.column_stack([(X - X.mean(axis=0)) / X.std(axis=0), np.ones(30)])
    best = oracle.best_subset(standard, y, k, alpha)
    assert clf.lower_bound_ <= best + 1e-9
    assert best <= clf.objective_ + 1e-9
    assert clf.support_.sum(axis=1).max() <= k
    assert clf.optimality_gap_ == pytest.approx((clf.objective_ - clf.lower_bound_) / clf.objective_)


def test_with_room_for_every_feature_nothing_is_lost_to_rounding():
    X, y, _ = problems.breast_cancer_groups()
    for k in (30, None, 1000):
        clf = SMaLLClassifier(1, k, 0.01, tol=1e-8).fit(X, y)
        assert 0.0 <= clf.optimality_gap_ < 1e-7
