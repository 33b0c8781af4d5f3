"""Projections, prox and norm against slow oracles, on anything that hypothesis can think of."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from smallearn._learn.solve import geometry
from smallearn._learn.solve.objective import Penalty
from tests.helpers import oracle

pytestmark = pytest.mark.uncompiled

# Squares and quotients of smaller numbers leave the range of floats in the oracles; extremes have tests of their own.
moderate = st.floats(-1e3, 1e3).filter(lambda x: x == 0.0 or abs(x) > 1e-30)
numbers = moderate | st.sampled_from([0.0, 1.0, -1.0, 0.5, 1e-17])
vectors = st.lists(numbers, min_size=1, max_size=12).map(np.array)
budgets = st.integers(1, 6)
rhos = st.floats(1e-4, 1e3)


def count(k, n, n_always=0):
    """The masks of one prototype that have at most ``k`` of ``n`` columns."""
    return Penalty.count(1.0, k, n, n_always).pools(1)


@given(vectors, st.floats(0.25, 6.0))
def test_projection_onto_masks_agrees_with_bisection(v, budget):
    projected = geometry.project_mask(v[None], budget)[0]
    np.testing.assert_allclose(projected, oracle.project_capped_simplex(v, budget), atol=1e-9)


@given(vectors, budgets, st.integers(0, 2**32 - 1))
def test_projection_is_feasible_and_nearest(v, budget, seed):
    projected = geometry.project_mask(v[None], budget)[0]
    assert projected.min() >= 0.0
    assert projected.max() <= 1.0
    assert projected.sum() <= budget * (1.0 + 1e-9)
    other = np.random.default_rng(seed).uniform(0.0, 1.0, len(v))
    other *= min(1.0, budget / other.sum())
    assert np.linalg.norm(projected - v) <= np.linalg.norm(other - v) * (1.0 + 1e-12)


def test_projection_handles_entries_that_differ_by_many_orders_of_magnitude():
    projected = geometry.project_mask(np.array([[1e18, 0.75, 0.75, -1e18]]), 2.0)[0]
    np.testing.assert_allclose(projected, [1.0, 0.5, 0.5, 0.0])


@given(vectors, budgets, rhos)
def test_prox_agrees_with_bisection(v, k, rho):
    W, mask, value = geometry.prox(v[None], count(k, len(v)), rho)
    w, expected_mask = oracle.prox_k_support(v, k, rho)
    scale = 1.0 + np.abs(v).max()
    np.testing.assert_allclose(W[0], w, atol=1e-9 * scale)
    np.testing.assert_allclose(mask[0], expected_mask, atol=1e-7)
    assert value == pytest.approx(0.5 * oracle.k_support_square(W[0], k), rel=1e-7, abs=1e-12)


@given(vectors, budgets, rhos, st.integers(0, 2**32 - 1))
def test_prox_is_a_minimiser(v, k, rho, seed):
    def cost(w):
        return 0.5 * np.sum((w - v) ** 2) + 0.5 * rho * oracle.k_support_square(w, k)

    W, _, _ = geometry.prox(v[None], count(k, len(v)), rho)
    nearby = W[0] + np.random.default_rng(seed).normal(size=len(v)) * 10.0 ** -(seed % 5)
    assert cost(W[0]) <= cost(nearby) * (1.0 + 1e-9) + 1e-12


@given(vectors, budgets)
def test_norm_agrees_with_the_formula_and_its_mask_spends_the_budget(w, k):
    mask, half = geometry.norm(w[None], count(k, len(w)))
    assert half == pytest.approx(0.5 * oracle.k_support_square(w, k), rel=1e-9, abs=1e-300)
    assert mask.sum() <= max(k, len(w) if k >= len(w) else k) * (1.0 + 1e-9)
    used = w != 0.0
    assert np.all(mask[0][used] > 0.0)


@given(vectors, budgets)
def test_norm_lies_between_the_ridge_and_the_lasso_and_equals_the_ridge_on_sparse_vectors(w, k):
    _, half = geometry.norm(w[None], count(k, len(w)))
    ridge, lasso = np.sum(w**2), np.abs(w).sum() ** 2
    assert ridge * (1.0 - 1e-9) <= 2.0 * half <= lasso * (1.0 + 1e-9) + 1e-300
    kept = np.where(np.argsort(np.argsort(-np.abs(w), kind="stable"), kind="stable") < k, w, 0.0)
    _, half = geometry.norm(kept[None], count(k, len(w)))
    assert 2.0 * half == pytest.approx(np.sum(kept**2), rel=1e-12)


def test_columns_always_in_are_outside_the_budget():
    V = np.array([[3.0, 2.0, 1.0, 7.0]])
    W, mask, _ = geometry.prox(V, count(1, 3, 1), 0.5)
    assert mask[0, 3] == 1.0
    assert W[0, 3] == pytest.approx(7.0 / 1.5)
    np.testing.assert_allclose(W[0, :3], oracle.prox_k_support(V[0, :3], 1, 0.5)[0])


@pytest.mark.parametrize("scale", [1e-300, 1e-150, 1.0, 1e150])
def test_prox_works_at_any_scale(scale):
    v = np.array([[4.0, -3.0, 2.0, 1.0, 0.0]])
    expected, _, _ = geometry.prox(v, count(2, 5), 0.3)
    W, mask, _ = geometry.prox(v * scale, count(2, 5), 0.3)
    np.testing.assert_allclose(W / scale, expected, rtol=1e-12)
    assert mask.sum() == pytest.approx(2.0)


def test_prox_of_entries_far_apart_still_spends_the_budget():
    _, mask, _ = geometry.prox(np.array([[1.0, 1e-17, 1e-17, 1e-17]]), count(2, 4), 0.1)
    assert mask.sum() == pytest.approx(2.0)


def test_norm_of_one_entry_and_a_speck_is_that_of_the_entry():
    """Where rounding puts the sum of the mask a hair below k, the walk must not fall back behind the breakpoint."""
    for entry in np.linspace(0.1, 1.0, 200):
        mask, half = geometry.norm(np.array([[1e-17, entry, 0.0]]), count(1, 3))
        assert half == pytest.approx(0.5 * entry**2, rel=1e-12)
        assert mask.sum() == pytest.approx(1.0)


@given(vectors, budgets)
def test_sum_of_largest_is_the_sum_of_the_sorted_head(v, k):
    assert geometry.sum_of_largest(v[None], k) == pytest.approx(np.sort(v)[::-1][:k].sum(), rel=1e-12, abs=1e-9)


@given(st.lists(st.sampled_from([0.1, 0.2, 0.3, 1.0, 2.5]), max_size=12), st.sampled_from([0.3, 0.6, 1.0, 3.0]))
def test_filling_takes_each_thing_that_still_fits(cost, budget):
    left, expected = budget + 1e-12, []
    for price in cost:
        expected.append(price <= left)
        left -= price * expected[-1]
    assert geometry.fill(np.array(cost), budget).tolist() == expected
