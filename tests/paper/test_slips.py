"""Each slip of the paper, with a test that the printed formula fails and the corrected one passes.

The paper's signs are used here: its ``s_i`` is ``y_i`` times the library's, and ``u(t) = log(1 + Σ exp(-t_j))``.
"""

import numpy as np
import pytest

from smallearn import SMaLLClassifier
from smallearn._learn.solve import geometry
from smallearn._learn.solve.objective import Penalty
from smallearn._learn.solve.solvers import mirror_prox
from tests.helpers import oracle, problems

ALPHA = 0.05


def u(t):
    return np.log1p(np.exp(-t).sum())


@pytest.fixture
def setting():
    """One problem without intercept, with the paper's letters for it."""
    rng = np.random.default_rng(0)
    m, n, p = 20, 4, 2
    X = rng.normal(size=(m, n))
    y = np.where(np.arange(m) % 2 == 0, 1.0, -1.0)
    own = np.where(y > 0, np.arange(m) // 2 % p, -1)
    mask = rng.uniform(0.1, 1.0, (p, n))
    S = np.zeros((m, p))
    for i in range(m):
        S[i] = -rng.dirichlet(np.ones(p + 1))[:p] if y[i] < 0 else 0.0
        if y[i] > 0:
            S[i, own[i]] = -rng.uniform(0.1, 0.9)
    return X, y, own, mask, S


def conjugate(s):
    share = np.append(-s, 1.0 + s.sum())
    share = share[share > 0.0]
    return float(share @ np.log(share))


def Phi(W, mask, S, X, y):  # noqa: N802 (the paper's letter)
    terms = [y[i] * S[i] @ (W * mask) @ X[i] - conjugate(S[i]) for i in range(len(y))]
    return np.mean(terms) + 0.5 * ALPHA * np.sum(W**2)


def gather(S, X, y):
    return (S * y[:, None]).T @ X


def phi(mask, S, X, y):
    """The corrected φ: slip 2 mended, mask once as in the relaxation."""
    G = gather(S, X, y)
    return -np.sum(G**2 * mask) / (2 * len(y) * ALPHA) - sum(conjugate(s) for s in S)


def test_1_a_negative_row_has_the_loss_of_minus_its_scores():
    z = np.array([2.0, -1.0])
    expected = oracle.loss(z, -1, 0, np.array([1, 1]), 0)
    assert expected == pytest.approx(u(-z))
    assert expected != pytest.approx(u(z))


def test_2_phi_has_one_half_in_front_of_its_square(setting):
    X, y, _, mask, S = setting
    mask = np.round(mask)  # at a 0/1 mask the elimination of W is exact
    G, m = gather(S, X, y), len(y)
    W = -(G * mask) / (m * ALPHA)
    least = m * Phi(W, mask, S, X, y)
    entropy = sum(conjugate(s) for s in S)
    assert least == pytest.approx(-np.sum((G * mask) ** 2) / (2 * m * ALPHA) - entropy)
    assert least != pytest.approx(-np.sum((G * mask) ** 2) / (m * ALPHA) - entropy)


def test_3_the_gradient_in_the_mask_has_one_half_too(setting):
    X, y, _, mask, S = setting
    G = gather(S, X, y)
    slope = oracle.numerical_gradient(lambda e: phi(e, S, X, y), mask)
    np.testing.assert_allclose(slope, -(G**2) / (2 * len(y) * ALPHA), rtol=1e-5)
    assert not np.allclose(slope, -(G**2) / (len(y) * ALPHA), rtol=1e-2)


def test_4_the_gradient_in_s_has_a_part_from_the_conjugate(setting):
    X, y, _, mask, S = setting
    i = 1  # a negative row: every entry of s is free
    assert y[i] < 0

    def of_row(s):
        moved = S.copy()
        moved[i] = s
        return phi(mask, moved, X, y)

    slope = oracle.numerical_gradient(of_row, S[i])
    printed = -(y[i] / (len(y) * ALPHA)) * (gather(S, X, y) * mask) @ X[i]
    entropy_part = np.log((1.0 + S[i].sum()) / -S[i])
    np.testing.assert_allclose(slope, printed - entropy_part, rtol=1e-5)
    assert not np.allclose(slope, printed, rtol=1e-2)


def test_5_the_bracket_of_algorithm_2_can_miss_the_root():
    v, k = np.array([10.0, 0.6, 0.6]), 1.5
    projected = geometry.project_mask(v[None], k)[0]
    root = 0.6 - projected[1]
    assert projected.sum() == pytest.approx(k)
    assert root == pytest.approx(0.35)
    assert (v.sum() - k) / len(v) > root  # the printed lower end lies above it


def test_6_the_loop_of_algorithm_2_need_not_end():
    """As printed: bisection on ``while low <= high``, from a bracket that misses the root."""
    v, k, tol = np.array([10.0, 0.6, 0.6]), 1.5, 1e-9
    low, high = (v.sum() - k) / len(v), v.max() - k / len(v)
    for _ in range(10_000):
        if low > high:
            break
        middle = 0.5 * (low + high)
        spent = np.clip(v - middle, 0.0, 1.0).sum()
        if abs(spent - k) < tol:
            break
        low, high = (middle, high) if spent > k else (low, middle)
    else:
        middle = None  # never returned
    assert middle is None
    assert geometry.project_mask(v[None], k).sum() == pytest.approx(k)


def test_7_a_projection_reads_every_entry():
    """O(log 1/tol) cannot be the whole cost: each of the n entries changes the answer."""
    v = np.full(1000, 0.5)
    reference = geometry.project_mask(v[None], 3)[0]
    for l in (0, 499, 999):
        moved = v.copy()
        moved[l] += 0.1
        assert not np.allclose(geometry.project_mask(moved[None], 3)[0], reference)


def test_8_mask_and_dual_both_have_a_start():
    objective = problems.breast_cancer(3, 0.1)
    for name in ("entropy", "euclidean"):
        start = mirror_prox._start(objective, mirror_prox.GEOMETRIES[name], None)
        assert np.all(start.mask[:, :30] == pytest.approx(0.1))
        own, code = objective.assignment.own, objective.rows.labels.code
        positive = np.flatnonzero(code == 1)
        np.testing.assert_allclose(start.S[positive, own[positive]], -0.5)
        np.testing.assert_allclose(start.S[code == 0], 1.0 / 3.0)


def test_9_the_weights_from_the_relaxed_dual_are_not_the_best_on_the_support():
    X, y, own = problems.breast_cancer_groups()
    fits = [
        SMaLLClassifier(2, 3, 0.01, assignment=own, reassign=False, refit_support=refit, tol=1e-8).fit(X, y)
        for refit in (False, True)
    ]
    assert np.array_equal(fits[0].support_, fits[1].support_)
    assert fits[1].objective_ < fits[0].objective_ * 0.99
    assert fits[0].lower_bound_ == pytest.approx(fits[1].lower_bound_, abs=1e-7)


def test_10_without_an_intercept_every_half_space_passes_through_the_mean():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3)) + 5.0
    y = (X[:, 0] > 6.0).astype(int)
    without, with_it = (SMaLLClassifier(1, 1, 1e-3, fit_intercept=flag).fit(X, y) for flag in (False, True))
    assert without.decision_function(X.mean(axis=0, keepdims=True))[0] == pytest.approx(0.0, abs=1e-12)
    assert with_it.score(X, y) > without.score(X, y) + 0.1


def test_11_the_log_loss_bounds_the_error_only_after_division_by_log_2():
    at_the_boundary = oracle.loss(np.array([0.0]), 0, 1, np.array([1]), 0)
    assert at_the_boundary < 1.0
    assert at_the_boundary / np.log(2.0) == pytest.approx(1.0)


def test_12_euclidean_steps_need_a_clipped_logarithm_and_entropy_steps_none():
    """∇u* is infinite on the boundary, where exact projections land: no Lipschitz constant, no O(1/t) from it."""
    objective = problems.breast_cancer(3, 0.1)
    corner = np.where(objective.rows.labels.code[:, None] == 0, np.array([[1.0, 0.0]]), 0.0)
    slope = objective.conjugate_slope(corner)
    assert np.isfinite(slope).all()
    assert np.abs(slope).max() == pytest.approx(np.log(1e12))  # as far as the clip lets it
    circling = mirror_prox.StepOptions("euclidean", (0.01, 0.01), average=False)
    steady = mirror_prox.StepOptions("entropy", (0.1, 0.1), average=False)
    gaps = [mirror_prox.solve(objective, None, 0.0, 500, options).gap for options in (circling, steady)]
    assert gaps[0] > 5e-3
    assert gaps[1] < 1e-5


def test_the_k_support_square_is_not_strongly_convex():
    """Along a face of the ball it is flat: for k = 1 it is ‖w‖₁², so a solver must not count on strong convexity."""
    penalty = Penalty.count(1.0, 1, 2, 0)
    values = [penalty.value(np.array([[t, 1.0 - t]])) for t in (0.25, 0.5, 0.75)]
    np.testing.assert_allclose(values, 0.5)
