"""Loss, gradient, Hessian, conjugate and bound, each against its definition."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from smallearn._learn.kernels import NO_PROTOTYPE, PADDING
from smallearn._learn.solve.objective import Penalty
from smallearn._learn.solve.solvers import accelerated
from tests.helpers import oracle, problems

pytestmark = pytest.mark.uncompiled

seeds = st.integers(0, 2**32 - 1)
class_counts = st.sampled_from([2, 3, 4])


@given(seeds, class_counts)
def test_loss_agrees_with_its_definition(seed, n_classes):
    objective, X, W = problems.random_problem(seed, n_classes=n_classes)
    expected = oracle.mean_loss(X, W, objective.roles)
    assert objective.loss(W) == pytest.approx(expected, rel=1e-12)


@given(seeds, class_counts)
def test_gradient_agrees_with_differences(seed, n_classes):
    objective, X, W = problems.random_problem(seed, n_classes=n_classes)
    expected = oracle.numerical_gradient(lambda V: oracle.mean_loss(X, V, objective.roles), W)
    np.testing.assert_allclose(objective.sums(W).gradient, expected, atol=1e-7)


@given(seeds, class_counts)
def test_hessian_agrees_with_differences_of_the_gradient(seed, n_classes):
    objective, _, W = problems.random_problem(seed, n_classes=n_classes)
    p, d = W.shape
    everything = np.tile(np.arange(d), (p, 1))
    at = objective.curvature(W, everything)
    assert at.loss == pytest.approx(objective.loss(W), rel=1e-12)
    np.testing.assert_allclose(at.gradient, objective.sums(W).gradient, atol=1e-12)
    for j, l in np.ndindex(p, d):
        shift = np.zeros((p, d))
        shift[j, l] = 1e-5
        slope = (objective.sums(W + shift).gradient - objective.sums(W - shift).gradient) / 2e-5
        np.testing.assert_allclose(at.hessian[j * d + l], slope.ravel(), atol=1e-8)


@given(seeds)
def test_curvature_on_chosen_entries_is_that_part_of_the_whole(seed):
    objective, _, W = problems.random_problem(seed)
    p, d = W.shape
    rng = np.random.default_rng(seed)
    chosen = np.array([np.sort(rng.choice(d, 2, replace=False)) for _ in range(p)])
    chosen[0, 1] = PADDING  # a prototype with one entry less
    sparse_W = np.zeros((p, d))
    for j, a in np.ndindex(p, 2):
        if chosen[j, a] != PADDING:
            sparse_W[j, chosen[j, a]] = W[j, chosen[j, a]]
    theta = np.where(chosen != PADDING, np.take_along_axis(W, chosen, axis=1), 0.0)
    whole = objective.curvature(sparse_W, np.tile(np.arange(d), (p, 1)))
    part = objective.curvature(theta, chosen)
    real = (chosen != PADDING).ravel()
    flat = (np.arange(p)[:, None] * d + chosen).ravel()[real]
    assert part.loss == pytest.approx(whole.loss, rel=1e-12)
    np.testing.assert_allclose(part.gradient.ravel()[real], whole.gradient.ravel()[flat], atol=1e-12)
    np.testing.assert_allclose(part.hessian[np.ix_(real, real)], whole.hessian[np.ix_(flat, flat)], atol=1e-12)


@given(seeds, class_counts)
def test_conjugate_is_the_supremum_that_defines_it(seed, n_classes):
    objective, _, W = problems.random_problem(seed, n_classes=n_classes)
    rng = np.random.default_rng(seed)
    m, p = len(objective.assignment.own), len(objective.assignment.owner)
    Z = rng.normal(size=(m, p)) * 3.0
    S = objective.residual(Z)
    conjugate = objective.mean_conjugate(S)

    def lower(scores):
        losses = [oracle.row_loss(scores[i], i, objective.roles) for i in range(m)]
        return objective.mean_product(S, scores) - objective.roles.weight @ losses

    assert conjugate == pytest.approx(lower(Z), abs=1e-12)  # attained where s = ∇loss(z)
    assert lower(Z + rng.normal(size=Z.shape)) <= conjugate + 1e-12
    sums = objective.sums(W)
    at_W = objective.residual(objective.scores(W))
    assert sums.conjugate == pytest.approx(objective.mean_conjugate(at_W), abs=1e-12)
    np.testing.assert_allclose(objective.gather(at_W), sums.gradient, atol=1e-12)


@given(seeds, class_counts)
def test_slope_of_the_conjugate_inverts_the_gradient_of_the_loss(seed, n_classes):
    objective, _, _ = problems.random_problem(seed, n_classes=n_classes)
    own = objective.assignment.own
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(len(own), len(objective.assignment.owner)))
    S = objective.residual(Z)
    slope = objective.conjugate_slope(S)
    rivals = objective.assignment.owner[None, :] != objective.rows.labels.code[:, None]
    z_own = np.where(own != NO_PROTOTYPE, Z[np.arange(len(own)), own], 0.0)
    if objective.roles.has_zero:
        rows = np.flatnonzero(own != NO_PROTOTYPE)
        np.testing.assert_allclose(slope[rows, own[rows]], Z[rows, own[rows]], atol=1e-9)
        rivals[rows] = False
    np.testing.assert_allclose(slope[rivals], (Z - z_own[:, None])[rivals], atol=1e-9)


@given(seeds, class_counts, st.floats(0.01, 10.0))
def test_dual_step_projects_onto_the_dual_set(seed, n_classes, step):
    objective, _, _ = problems.random_problem(seed, n_classes=n_classes)
    rng = np.random.default_rng(seed)
    shape = (len(objective.assignment.own), len(objective.assignment.owner))
    S = objective.residual(rng.normal(size=shape))
    moved = objective.dual_step(S, rng.normal(size=shape), step)
    own, owner, code = objective.assignment.own, objective.assignment.owner, objective.rows.labels.code
    for i in range(shape[0]):
        rivals = owner != code[i]
        assert np.all(moved[i][rivals] >= 0.0)
        assert moved[i][rivals].sum() <= 1.0 + 1e-12
        if own[i] != NO_PROTOTYPE:
            assert -1.0 - 1e-12 <= moved[i][own[i]] <= 0.0
        idle = ~rivals & (np.arange(shape[1]) != own[i])
        assert not moved[i][idle].any()
    np.testing.assert_allclose(objective.dual_step(S, np.zeros(shape), step), S, atol=1e-12)


@given(seeds, class_counts, st.integers(1, 5))
def test_the_dual_bounds_every_primal(seed, n_classes, k):
    objective, _, W = problems.random_problem(seed, n_classes=n_classes, k=k)
    sums = objective.sums(W)
    bound = objective.dual(sums.conjugate, sums.gradient)
    other = np.random.default_rng(seed + 1).normal(size=W.shape)
    assert bound <= objective.primal(W) + 1e-12
    assert bound <= objective.primal(other) + 1e-12
    other[:, k:-1] = 0.0
    assert bound <= objective.sparse_primal(other) + 1e-12


def test_the_bound_counts_columns_that_are_always_in():
    """Leaving the intercept's G² out gives .447 where the optimum is .439: no bound."""
    objective = problems.breast_cancer(3, 0.1)
    relaxed = accelerated.solve(objective, None, 1e-9, 1000)
    sums = objective.sums(relaxed.W)
    without = -sums.conjugate - Penalty.count(0.1, 3, 30, 0).conjugate(sums.gradient[:, :30])
    assert without == pytest.approx(0.447, abs=5e-4)
    assert objective.dual(sums.conjugate, sums.gradient) == pytest.approx(0.4393754, abs=1e-7)


def test_loss_and_bound_stay_finite_at_huge_scores():
    objective, _, W = problems.random_problem(0)
    sums = objective.sums(1e6 * W)
    assert np.isfinite(sums.loss)
    assert np.isfinite(sums.conjugate)
    assert np.isfinite(sums.gradient).all()
