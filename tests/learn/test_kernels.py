"""The kernels' own exp and log, and the loss of a tile of rows, against exact and slow versions."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from smallearn._learn import kernels
from smallearn._learn.kernels import NO_PROTOTYPE

pytestmark = pytest.mark.uncompiled


@given(st.floats(-707.0, 700.0))
def test_exp_is_exact_to_a_few_units_of_the_last_place(x):
    assert kernels.exp_of(x) == pytest.approx(np.exp(x), rel=1e-15, abs=0.0)


@given(st.floats(1.0, 1e300))
def test_log_is_exact_to_a_few_units_of_the_last_place(x):
    assert kernels.log_of(x) == pytest.approx(np.log(x), rel=1e-15, abs=1e-16)


def test_exp_and_log_at_the_ends():
    assert kernels.exp_of(0.0) == 1.0
    assert kernels.exp_of(-1000.0) == kernels.exp_of(-np.inf) == 0.0
    assert kernels.log_of(1.0) == 0.0
    assert kernels.log_of(np.inf) == np.inf
    assert np.isnan(kernels.exp_of(np.nan))
    assert np.isnan(kernels.log_of(np.nan))


def relative_error(kernel, exact, x):
    expected = np.array([exact(value) for value in x])
    return np.max(np.abs([kernel(value) for value in x] - expected) / np.abs(expected))


def test_exp_is_that_of_the_math_library_where_the_power_of_two_changes_and_half_way():
    halves = np.arange(-2040, 2016) * (math.log(2.0) / 2.0)
    x = np.concatenate([np.nextafter(halves, side) for side in (-np.inf, 0.0, np.inf)] + [[1e-310, -1e-9]])
    assert relative_error(kernels.exp_of, math.exp, x[np.abs(x) <= 700.0]) < 1e-14


def test_log_is_that_of_the_math_library_below_1_too_and_where_the_power_of_two_changes():
    """A sum of exponentials is below 1 where all scores are."""
    rng = np.random.default_rng(0)
    powers = np.exp2(np.arange(-1022, 1023, dtype=float))
    x = np.concatenate(
        [np.exp(rng.uniform(-708.0, 709.0, 2000)), 1.0 + 1e-6 * rng.normal(size=200), 1.0 + 1e-14 * np.arange(1, 99)]
        + [scale * powers for scale in (1.0, 1.5, math.sqrt(2.0), np.nextafter(math.sqrt(2.0), 2.0))]
        + [np.nextafter(1.0, [0.0, 2.0]), [np.finfo(float).tiny, np.finfo(float).max]]
    )
    assert relative_error(kernels.log_of, math.log, x[x != 1.0]) < 1e-14


@pytest.mark.parametrize("has_zero", [True, False])
@given(st.integers(0, 2**32 - 1), st.integers(1, 40), st.sampled_from([1.0, 30.0, 1e4]))
def test_a_tile_has_the_losses_and_residuals_of_its_rows(has_zero, seed, m, spread):
    rng = np.random.default_rng(seed)
    owner = np.array([1, 1, 1]) if has_zero else np.array([0, 0, 1, 2])
    own = rng.integers(0, len(owner), m)
    code = owner[own]
    if has_zero:
        own, code = np.where(rng.random(m) < 0.5, NO_PROTOTYPE, own), code.copy()
        code[own == NO_PROTOTYPE] = 0
    roles = own, code, rng.random(m), owner, has_zero
    Z, offset = spread * rng.normal(size=(m, len(owner))), rng.normal(size=len(owner))
    z, sums = np.zeros((len(owner), 48)), kernels.empty_sums(len(owner))
    z[:, :m] = Z.T
    kernels.softmax_tile(z, z, sums, offset, roles, 0)
    total, loss, conjugate = kernels.row_sums(sums)
    expected, s = np.zeros(2), np.empty(len(owner))
    for i in range(m):
        expected += roles[2][i] * np.array(kernels.softmax_residual(Z[i] + offset, own[i], code[i], owner, has_zero, s))
        np.testing.assert_allclose(z[:, i], roles[2][i] * s, rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose([loss, conjugate], expected, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(total, z.sum(axis=1), rtol=1e-12, atol=1e-13)
    assert not z[:, m:].any()


def test_scores_that_overflow_leave_no_finite_loss():
    X, inverse = np.full((3, 2), 1e200), np.ones(2)
    X.flags.writeable = False
    roles = np.zeros(3, dtype=np.int64), np.ones(3, dtype=np.int64), np.ones(3) / 3, np.ones(1, dtype=np.int64), True
    W = np.array([[1e200, -1e200]])  # the score is inf - inf
    loss, _ = kernels.dense_pass(X, np.zeros(2), inverse, W, roles, np.zeros((0, 0)))
    assert not np.isfinite(loss)
