"""The compiled loops of the search, each against a plain transcription."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special

from smallearn._learn import search_kernels
from smallearn._learn.data.blocks import NO_LITERALS
from smallearn._learn.data.labels import SPHERICAL, Assignment
from smallearn._learn.kernels import NO_PROTOTYPE
from smallearn._learn.search_kernels import BLOCK, STEEP
from smallearn._learn.solve.support_state import begin_of
from tests.helpers import oracle, problems

pytestmark = pytest.mark.uncompiled

CLASSES = {"two classes": 2, "three classes": 3}
by_classes = pytest.mark.parametrize("n_classes", CLASSES.values(), ids=CLASSES)


# --- one pass over the rows ------------------------------------------------------------------------------------------


class Example:
    """Random columns, entries and roles. The rows are in random order, so that blocks have several classes, or sorted
    by class."""

    def __init__(self, seed, m=70, n=4, n_classes=2, scale=1.0, by_class=False, share=0.6):
        rng = np.random.default_rng(seed)
        self.rng = rng
        self.labels, assignment = problems.random_labels(rng, m, n_classes)
        if by_class:
            order = np.argsort(self.labels.code, kind="stable")
            assignment = Assignment(own=assignment.own[order], owner=assignment.owner)
            self.labels = type(self.labels)(
                code=self.labels.code[order],
                weight=self.labels.weight[order],
                total=self.labels.total,
                zero_owner=self.labels.zero_owner,
            )
        self.assignment, self.roles = assignment, self.labels.roles(assignment)
        self.flat = self.labels.flat(assignment.own.copy(), assignment.owner)
        self.X = rng.normal(size=(m, n))
        self.K = np.ascontiguousarray(self.X.T)
        p = len(assignment.owner)
        inside = rng.random((p, n)) < share
        inside[:, 0] = True
        inside[0] = (
            inside[0] & (np.arange(n) > 0) if p > 1 else inside[0]
        )  # one prototype may have few entries, or none
        self.prototype, self.column = np.nonzero(inside)
        self.begin = begin_of(self.prototype, p)
        self.theta = scale * rng.normal(size=len(self.column))
        self.places = self.prototype * n + self.column  # of the entries, among all of W

    def weights(self, theta=None):
        W = np.zeros((len(self.roles.owner), self.X.shape[1]))
        W[self.prototype, self.column] = self.theta if theta is None else theta
        return W

    def run_pass(self, first=0, last=None, bent=True):
        """Loss, scores, gradient and Hessian (both triangles)."""
        size = len(self.theta)
        last = len(self.X) if last is None else last
        Z = np.full((len(self.roles.owner), len(self.X)), np.nan)
        g, H = np.zeros(size), np.zeros((size if bent else 0, size))
        loss = search_kernels.entries_pass(
            self.K, self.column, self.begin, self.theta, self.flat, first, last, Z, g, H, True
        )
        return loss, Z, g, np.tril(H) + np.tril(H, -1).T if bent else H

    def expected(self):
        Z = self.X @ self.weights().T
        PI = oracle.probabilities(Z, self.roles)
        own = (self.roles.own[:, None] == np.arange(Z.shape[1])).astype(float)
        G = (self.roles.weight[:, None] * (PI - own)).T @ self.X
        H = oracle.hessian(self.X, Z, self.roles)
        return Z.T, G.ravel()[self.places], H[np.ix_(self.places, self.places)]

    def objective(self, theta, alpha):
        return oracle.mean_loss(self.X, self.weights(theta), self.roles) + 0.5 * alpha * theta @ theta


@by_classes
@pytest.mark.parametrize("by_class", [False, True], ids=["mixed", "by class"])
@pytest.mark.parametrize("m", [9, BLOCK, BLOCK + 1, 2 * BLOCK + 77])
def test_a_pass_has_loss_scores_gradient_and_hessian(m, by_class, n_classes):
    for seed in range(3):
        example = Example(seed, m, n_classes=n_classes, by_class=by_class)
        loss, Z, g, H = example.run_pass()
        assert loss == pytest.approx(oracle.mean_loss(example.X, example.weights(), example.roles), rel=1e-12)
        for found, expected in zip((Z, g, H), example.expected(), strict=True):
            np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-13)
        plain = example.run_pass(bent=False)
        assert plain[0] == loss
        np.testing.assert_array_equal(plain[2], g)


def spherical_score(example, theta):
    """``Σ weight (1 - p_own/‖p‖)``, with p the softmax over what is in the loss of each row."""
    roles, Z = example.roles, example.X @ example.weights(theta).T
    others = (roles.owner == roles.code[:, None]) & (roles.own[:, None] != np.arange(Z.shape[1]))
    Z = np.column_stack([np.where(others, -np.inf, Z), np.full(len(Z), 0.0 if roles.has_zero else -np.inf)])
    p = special.softmax(Z, axis=1)
    own = np.take_along_axis(p, roles.own[:, None] % Z.shape[1], axis=1)[:, 0]  # none: the frozen zero, last
    return roles.weight @ (1.0 - own / np.linalg.norm(p, axis=1))


@by_classes
@pytest.mark.parametrize("m", [9, BLOCK + 1])
def test_a_sharp_pass_has_the_spherical_score_its_gradient_and_an_upper_bound_of_its_curvature(m, n_classes):
    for seed in range(3):
        example = Example(seed, m, n_classes=n_classes)
        example.flat = (*example.flat[:-1], SPHERICAL)
        loss, _, g, H = example.run_pass()
        theta, size = example.theta, len(example.theta)
        assert loss == pytest.approx(spherical_score(example, theta), rel=1e-12)
        step = 1e-5 * np.eye(size)
        slopes = [(spherical_score(example, theta + e) - spherical_score(example, theta - e)) / 2e-5 for e in step]
        np.testing.assert_allclose(g, slopes, atol=1e-9)
        bent = []
        for e in step:
            example.theta = theta + e
            ahead = example.run_pass()[2]
            example.theta = theta - e
            bent.append((ahead - example.run_pass()[2]) / 2e-5)
        assert np.linalg.eigvalsh(H - np.array(bent)).min() > -1e-8
        steep = Example(seed, m, n_classes=n_classes, scale=3.0 * STEEP)
        steep.flat = (*steep.flat[:-1], SPHERICAL)
        assert steep.run_pass()[0] == pytest.approx(spherical_score(steep, steep.theta), rel=1e-9)


@by_classes
@pytest.mark.parametrize("scale", [0.6 * STEEP, 3.0 * STEEP, 1e5])
def test_steep_scores_neither_overflow_nor_lose_digits(scale, n_classes):
    example = Example(1, 300, n_classes=n_classes, scale=scale)
    loss, Z, g, H = example.run_pass()
    assert np.abs(Z).max() > STEEP
    roles = example.roles
    scores = np.where((roles.owner == roles.code[:, None]) & (roles.own[:, None] != np.arange(len(Z))), -np.inf, Z.T)
    scores = np.column_stack([scores, np.full(300, 0.0 if roles.has_zero else -np.inf)])
    own = np.take_along_axis(scores, roles.own[:, None] % scores.shape[1], axis=1)[:, 0]  # none: the frozen zero, last
    assert loss == pytest.approx(roles.weight @ (np.logaddexp.reduce(scores, axis=1) - own), rel=1e-12)
    for found, expected in zip((Z, g, H), example.expected(), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-11)


@by_classes
def test_passes_over_parts_of_the_rows_add_up(n_classes):
    example = Example(2, 500, n_classes=n_classes)
    whole, parts = example.run_pass(), [example.run_pass(0, 301), example.run_pass(301, 500)]
    for at in (0, 2, 3):
        np.testing.assert_allclose(parts[0][at] + parts[1][at], whole[at], rtol=1e-11, atol=1e-14)
    assert np.isnan(parts[0][1][:, 301:]).all()
    np.testing.assert_array_equal(parts[0][1][:, :301], whole[1][:, :301])


@by_classes
def test_shares_are_probabilities_residuals_and_curvatures(n_classes):
    for scale in (1.0, 3.0 * STEEP):
        example = Example(3, BLOCK + 45, n_classes=n_classes, scale=scale)
        Z = np.ascontiguousarray(example.weights() @ example.X.T)
        p, m = Z.shape
        PI, V, bend = np.full((p, m), np.nan), np.full((m, 2 * p), np.nan), np.full(m, np.nan)
        search_kernels.shares(Z, example.flat, PI, V, bend)
        expected = oracle.probabilities(Z.T, example.roles)
        weight, own = example.roles.weight[:, None], example.roles.own[:, None] == np.arange(p)
        np.testing.assert_allclose(PI.T, expected, atol=1e-14)
        np.testing.assert_allclose(V[:, :p], weight * (expected - own), atol=1e-14)
        np.testing.assert_allclose(V[:, p:], weight * expected * (1.0 - expected), atol=1e-14)
        np.testing.assert_array_equal(bend, example.roles.weight)


# --- refits ----------------------------------------------------------------------------------------------------------


def refit(example, alpha=0.05, tol=1e-13, max_iter=200, rounds=0, inverse=None, theta=None):
    theta = np.zeros(len(example.theta)) if theta is None else theta.copy()
    size = len(theta)
    known = inverse is not None
    inverse = inverse.copy() if known else np.empty((size, size))
    own = example.roles.own.copy()
    flat = example.labels.flat(own, example.roles.owner)
    value, Z = search_kernels.fit_entries(
        example.K, example.column, example.begin, theta, flat, alpha, tol, max_iter, rounds, inverse, known
    )
    return value, theta, own, Z, inverse


@by_classes
@pytest.mark.parametrize("seed", range(3))
def test_a_refit_ends_at_the_minimum_with_and_without_a_known_inverse_hessian(seed, n_classes):
    example = Example(seed, 90, 8, n_classes)
    value, theta, own, Z, inverse = refit(example)
    assert value == pytest.approx(example.objective(theta, 0.05), rel=1e-12)
    np.testing.assert_array_equal(own, example.roles.own)
    np.testing.assert_allclose(Z, example.weights(theta) @ example.X.T, atol=1e-12)
    slope = oracle.numerical_gradient(lambda point: example.objective(point, 0.05), theta)
    np.testing.assert_allclose(slope, 0.0, atol=1e-6)
    H = oracle.hessian(example.X, Z.T, example.roles)[np.ix_(example.places, example.places)]
    np.testing.assert_allclose(inverse @ (H + 0.05 * np.eye(len(theta))), np.eye(len(theta)), atol=1e-8)
    rng = np.random.default_rng(seed)
    near = theta + 0.1 * rng.normal(size=len(theta))
    for start, guess in ((near, inverse), (np.zeros(len(theta)), inverse), (near, np.eye(len(theta)))):
        again = refit(example, inverse=guess, theta=start)
        assert again[0] == pytest.approx(value, rel=1e-9)
        np.testing.assert_allclose(again[1], theta, atol=1e-4)


@pytest.mark.parametrize("guess", [1e-6, 1e6, -1.0], ids=["short steps", "long steps", "wrong direction"])
def test_a_refit_with_a_useless_inverse_hessian_never_ends_higher_than_it_began(guess):
    example = Example(0, 90, 6)
    theta = np.zeros(len(example.theta))
    value = refit(example, inverse=guess * np.eye(len(theta)), theta=theta)[0]
    assert value <= example.objective(theta, 0.05) * (1.0 + 1e-12)


def test_steps_that_are_far_too_long_are_given_up_for_the_hessian():
    example = Example(0, 90, 6)
    least = refit(example)[0]
    assert refit(example, inverse=1e6 * np.eye(len(example.theta)))[0] == pytest.approx(least, rel=1e-9)


@pytest.mark.parametrize("known", [False, True], ids=["with the Hessian", "with a known inverse Hessian"])
@pytest.mark.parametrize("broken", ["a cell", "the weights"])
def test_a_refit_ends_where_its_value_is_not_a_number(broken, known):
    example = Example(0, 120, 4, n_classes=3)
    theta = example.theta.copy()
    if broken == "a cell":
        example.K[example.column[0], 5] = np.nan
    else:
        theta[0] = np.nan
    value, *_ = refit(example, rounds=3, inverse=np.eye(len(theta)) if known else None, theta=theta)
    assert np.isnan(value)


@pytest.mark.parametrize("rounds", [0, 3])
def test_a_refit_with_an_inverse_hessian_that_is_not_a_number_ends_at_a_value_that_is_one(rounds):
    example = Example(0, 120, 4, n_classes=3)
    value, theta, *_ = refit(example, rounds=rounds, inverse=np.full((len(example.theta),) * 2, np.nan))
    assert np.isfinite(value)
    assert np.all(np.isfinite(theta))


@pytest.mark.parametrize("seed", range(4))
def test_rows_move_only_to_prototypes_that_score_them_higher(seed):
    example = Example(seed, 120, 4, n_classes=3)
    stays, moves = refit(example), refit(example, rounds=1)
    own, code, owner = example.roles.own, example.roles.code, example.roles.owner
    rows = np.arange(120)
    np.testing.assert_array_equal(owner[moves[2]], code)
    moved = moves[2] != own
    assert np.all(stays[3][moves[2][moved], rows[moved]] > stays[3][own[moved], rows[moved]])
    best = np.where(owner[:, None] == code, stays[3], -np.inf).max(axis=0)
    np.testing.assert_array_equal(stays[3][moves[2], rows], best)
    assert moves[0] <= stays[0] * (1.0 + 1e-12)


def test_moved_rows_go_to_the_best_prototype_of_their_class_and_ties_stay():
    Z = np.array([[1.0, 3.0, 5.0, 7.0], [2.0, 3.0, 1.0, 7.0], [9.0, 9.0, 0.0, 7.0]])
    own = np.array([0, 1, 2, NO_PROTOTYPE])
    assert search_kernels.move_rows(Z, own, np.array([0, 0, 1, 2]), np.array([0, 0, 1])) == 1
    assert own.tolist() == [1, 1, 2, NO_PROTOTYPE]


@given(st.integers(0, 1000), st.integers(1, 8))
def test_cholesky_solves_and_bears_a_singular_matrix(seed, size):
    rng = np.random.default_rng(seed)
    B = rng.normal(size=(size, size + 2))
    A, v = B @ B.T, rng.normal(size=size)
    L, x = A.copy(), v.copy()
    search_kernels.cholesky(L, search_kernels.LEAST_PIVOT)
    search_kernels.cholesky_solve(L, x)
    np.testing.assert_allclose(A @ x, v, atol=1e-6 * np.linalg.cond(A))
    flat = np.ones((size, size))
    search_kernels.cholesky(flat, search_kernels.LEAST_PIVOT)
    search_kernels.cholesky_solve(flat, v)
    assert np.isfinite(v).all()


@given(st.integers(0, 1000), st.integers(1, 6))
def test_an_updated_inverse_hessian_is_symmetric_and_maps_the_change_of_the_gradient_to_the_step(seed, size):
    rng = np.random.default_rng(seed)
    B = rng.normal(size=(size, size + 3))
    A = B @ B.T
    s = rng.normal(size=size)
    inverse = np.eye(size)
    search_kernels.bfgs_update(inverse, s, A @ s)
    np.testing.assert_allclose(inverse @ (A @ s), s, atol=1e-7)
    np.testing.assert_allclose(inverse, inverse.T, atol=1e-9)
    assert np.linalg.eigvalsh(inverse).min() > 0.0
    unchanged = inverse.copy()
    search_kernels.bfgs_update(inverse, s, -(A @ s))  # no minimum that way
    np.testing.assert_array_equal(inverse, unchanged)


# --- what to try -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("m", [1, 3, 4, 5, 102])
@pytest.mark.parametrize("p", [1, 2, 5])
@pytest.mark.parametrize("intercept", [True, False], ids=["intercept", "no intercept"])
@pytest.mark.parametrize("kinds", [(True, True), (True, False), (False, True)], ids=["both", "raw", "literals"])
def test_the_screen_has_gradient_and_curvature_of_raw_columns_literals_and_intercept(m, p, intercept, kinds):
    rng = np.random.default_rng(m + p)
    X, V = rng.normal(size=(m, 3)), rng.normal(size=(m, 2 * p))
    sizes = np.array([4, 2])  # bins of two features with literals
    first = np.array([0, 4])
    bins = rng.integers(0, sizes, (m, 2)).astype(np.uint8)
    low, high = np.array([0, 1, 2, 0, 4, 5, 3]), np.array([1, 4, 3, 2, 5, 6, 3])  # the last is never true
    literals = [
        (bins[:, f] + first[f] >= a) & (bins[:, f] + first[f] < b)
        for f, a, b in zip([0, 0, 0, 0, 1, 1, 0], low, high, strict=True)
    ]
    mean, inverse = rng.uniform(0.1, 0.9, 10), rng.uniform(0.5, 2.0, 10)
    x = (np.column_stack([X, *literals]) - mean) * inverse
    x[:, :3] *= kinds[0]
    x[:, 3:] *= kinds[1]
    x = np.column_stack([x, np.ones(m)]) if intercept else x
    G, H = np.zeros((2, p, x.shape[1]))
    search_kernels.screen_pass(X, mean, inverse, bins, first, low, high, 6, V, *kinds, G, H)
    np.testing.assert_allclose(G, V[:, :p].T @ x, atol=1e-10)
    np.testing.assert_allclose(H, V[:, p:].T @ x**2, atol=1e-10)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_screen_needs_no_literals(dtype):
    rng = np.random.default_rng(0)
    X, V = rng.normal(size=(30, 4)).astype(dtype), rng.normal(size=(30, 4))
    G, H = np.zeros((2, 2, 4))
    search_kernels.screen_pass(X, np.zeros(4), np.ones(4), *NO_LITERALS, V, True, True, G, H)
    np.testing.assert_allclose(G, V[:, :2].T @ X, atol=1e-12)
    np.testing.assert_allclose(H, V[:, 2:].T @ X.astype(float) ** 2, atol=1e-12)


def ranked(values, top):
    best = np.full(top, -7, dtype=np.int64)
    return best[: search_kernels.rank(np.array(values, dtype=float), top, best)].tolist()


@given(st.lists(st.integers(-3, 12), min_size=1, max_size=30), st.integers(1, 12))
def test_the_rank_is_that_of_a_stable_sort_of_the_positive_values(values, top):
    expected = sorted((q for q, value in enumerate(values) if value > 0), key=lambda q: -values[q])[:top]
    assert ranked(values, top) == expected


def test_values_that_differ_by_rounding_alone_keep_their_order():
    exact = [0.1, 0.3, 0.3, 0.2, 0.3]
    for seed in range(20):
        jitter = 1.0 + 1e-14 * np.random.default_rng(seed).normal(size=5)
        assert ranked(exact * jitter, 4) == [1, 2, 4, 3]
    assert ranked([0.1, 0.1 * (1.0 + 1e-7)], 2) == [1, 0]
    assert ranked([np.nan, 1.0, np.nan], 3) == [1]
    assert ranked([-1.0, 0.0], 2) == []


def promising(G, H, *, alpha=0.1, usable=None, sign=None, price=None, left=None, entries=(), shared=False, top=99):
    p, d = G.shape
    prototype, column = (np.array([entry[at] for entry in entries], dtype=np.int64) for at in (0, 1))
    return search_kernels.promising(
        G,
        H,
        alpha,
        np.ones(d, dtype=bool) if usable is None else usable,
        np.zeros(d, dtype=np.int8) if sign is None else sign,
        np.ones(d) if price is None else price,
        np.full(p, 9.0) if left is None else left,
        prototype,
        column,
        shared,
        top,
    )


@settings(max_examples=60)
@given(st.integers(0, 10_000), st.booleans())
def test_promising_entries_are_those_with_the_largest_gain_that_may_be_used(seed, shared):
    rng = np.random.default_rng(seed)
    p, d = int(rng.integers(1, 4)), int(rng.integers(2, 8))
    G, H = rng.normal(size=(p, d)), rng.random((p, d))
    usable, sign = rng.random(d) < 0.8, rng.integers(-1, 2, d).astype(np.int8)
    price = rng.integers(0, 4, d).astype(float)
    left = np.full(p, 2.0) if shared else rng.integers(0, 4, p).astype(float)
    entries = [(j, l) for j in range(p) for l in range(d) if rng.random() < 0.3]
    if shared:
        price[[l for _, l in entries]] = 0.0  # a term that is there already costs nothing more
    gain = np.zeros((p, d))
    for j, l in np.ndindex(p, d):
        affordable = price[l] <= left[j] or price[l] == 0.0
        if usable[l] and affordable and -G[j, l] * sign[l] >= 0.0 and (j, l) not in entries:
            gain[j, l] = G[j, l] ** 2 / (2.0 * (H[j, l] + 0.1))
    gain = gain.sum(axis=0) if shared else gain.ravel()
    options = {"usable": usable, "sign": sign, "price": price, "left": left, "entries": entries, "shared": shared}
    best, found = promising(G, H, **options)
    real = found > 1e-12  # where all prototypes have the term, a rest of rounding may be left
    order = np.argsort(-gain, kind="stable")
    assert best[real].tolist() == [q for q in order.tolist() if gain[q] > 1e-12]
    np.testing.assert_allclose(found[real], gain[best[real]], rtol=1e-9)
    few, _ = promising(G, H, **options, top=2)
    assert few.tolist() == best[:2].tolist()


@by_classes
@pytest.mark.parametrize("by_class", [False, True], ids=["mixed", "by class"])
@pytest.mark.parametrize("m", [60, BLOCK + 31])
def test_joint_gains_and_steps_are_those_of_newtons_method_with_all_weights_free(m, by_class, n_classes):
    alpha = 0.1
    for seed in range(3):
        example = Example(seed, m, 7, n_classes, by_class=by_class, share=0.4)
        _, theta, _, Z, inverse = refit(example, alpha)
        PI = np.ascontiguousarray(oracle.probabilities(Z.T, example.roles).T)
        p, d = len(Z), 7
        own = example.roles.own[:, None] == np.arange(p)
        weight = example.roles.weight
        G = (weight[:, None] * (PI.T - own)).T @ example.X
        full = oracle.hessian(example.X, Z.T, example.roles)
        H = np.diag(full).reshape(p, d).copy()
        best = np.setdiff1d(np.arange(p * d), example.places)
        best = example.rng.permutation(best)[:5]
        gain, step, order = search_kernels.joint_gains(
            example.K, example.column, example.begin, PI, weight, example.flat, inverse, G, H, alpha, best, best % d
        )
        assert np.all(np.diff(gain[order]) <= 1e-9 * gain.max())
        assert sorted(order.tolist()) == list(range(len(best)))
        for a, q in enumerate(best):
            at = [*example.places, q]
            A = full[np.ix_(at, at)] + alpha * np.eye(len(at))
            slope = np.append(np.zeros(len(theta)), G.ravel()[q])  # the others are at their minimum
            newton = -np.linalg.solve(A, slope)
            np.testing.assert_allclose(step[a], newton, rtol=1e-7, atol=1e-9)
            assert gain[a] == pytest.approx(-0.5 * slope @ newton, rel=1e-7)


def test_a_column_that_says_nothing_new_promises_a_bounded_gain():
    example = Example(0, 80, 3, share=1.0)
    K = np.vstack([example.K, example.K[:1]])  # a copy of a column of the support
    _, _, _, Z, inverse = refit(example, 1e-12)
    PI = np.ascontiguousarray(oracle.probabilities(Z.T, example.roles).T)
    p = len(Z)
    G, H = np.full((p, 4), 0.5), np.full((p, 4), 0.2)
    best, slot = np.array([3]), np.array([3])
    gain, step, _ = search_kernels.joint_gains(
        K, example.column, example.begin, PI, example.roles.weight, example.flat, inverse, G, H, 1e-12, best, slot
    )
    assert 0.0 < gain[0] <= 0.5 * 0.5**2 / (1e-3 * 0.2) * (1.0 + 1e-9)
    assert np.isfinite(step).all()


# --- k-means ---------------------------------------------------------------------------------------------------------


def plain_lloyd(A, code, weight, centres, owner, rounds):
    own = np.full(len(A), NO_PROTOTYPE)
    for _ in range(rounds):
        distance = ((A[:, None, :] - centres[None]) ** 2).sum(axis=2)
        distance[owner[None] != code[:, None]] = np.inf
        nearest = np.where(np.isfinite(distance.min(axis=1)), distance.argmin(axis=1), NO_PROTOTYPE)
        if np.array_equal(nearest, own):
            break
        own = nearest
        centres = np.array(
            [
                np.average(A[own == j], axis=0, weights=weight[own == j]) if np.any(own == j) else c
                for j, c in enumerate(centres)
            ]
        )
    return own, centres


@pytest.mark.parametrize("rounds", [1, 2, 30])
@pytest.mark.parametrize("seed", range(4))
def test_lloyd_is_the_plain_algorithm(seed, rounds):
    rng = np.random.default_rng(seed)
    A, weight, code = rng.normal(size=(150, 3)), rng.uniform(0.5, 2.0, 150), rng.integers(0, 3, 150)
    owner = np.array([0, 0, 0, 2, 2])  # rows of class 1 belong to no prototype
    start = rng.normal(size=(5, 3))
    start[1] = 50.0  # far from every row: keeps its place, without rows
    own, centres = np.full(150, NO_PROTOTYPE), start.copy()
    between = search_kernels.lloyd(A, code, weight, centres, owner, rounds, own)
    expected_own, expected_centres = plain_lloyd(A, code, weight, start, owner, rounds)
    np.testing.assert_array_equal(own, expected_own)
    np.testing.assert_allclose(centres, expected_centres, atol=1e-12)
    mass = np.array([weight[own == j].sum() for j in range(5)])
    assert between == pytest.approx(mass @ (centres**2).sum(axis=1), rel=1e-10)
