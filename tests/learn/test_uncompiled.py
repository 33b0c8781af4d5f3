"""What stands for the compiler's instructions where nothing is compiled, against these instructions."""

import subprocess
import sys

import numpy as np
import pytest
from numba import config, njit, types
from numba.core.errors import TypingError

from smallearn._learn import compiling, kernels, uncompiled
from smallearn._learn.kernels import LANES, NO_PROTOTYPE, ROWS, STEEP

pytestmark = pytest.mark.skipif(bool(config.DISABLE_JIT), reason="compares with compiled code")

# Compiled anew each time: then the code is seen that writes the instructions.
exp_number = njit(lambda x: kernels.exp_number(x))
log_number = njit(lambda x: kernels.log_number(x))
score_rows = njit(lambda X, i, V, j, z, r, ahead: kernels.score_rows(X, i, V, j, z, r, ahead))
add_rows = njit(lambda X, i, G, j, s, r, ahead: kernels.add_rows(X, i, G, j, s, r, ahead))
prefetch = njit(lambda X, offset: kernels.prefetch(X, offset))
softmax_rows = njit(
    lambda z, s, sums, offset, own, code, weight, begin, owner, has_zero, r: kernels.softmax_rows(
        z, s, sums, offset, own, code, weight, begin, owner, has_zero, r
    )
)


def test_exp_and_log_are_the_same_but_for_rounding():
    rng = np.random.default_rng(0)
    for x in np.concatenate([rng.uniform(-720.0, 700.0, 300), [0.0, -708.0, -np.inf, np.nan]]):
        assert exp_number(x) == pytest.approx(uncompiled.exp_number(x), rel=1e-14, abs=0.0, nan_ok=True)
    for x in np.concatenate([np.exp(rng.uniform(-700.0, 700.0, 300)), [1.0, np.inf, np.nan]]):
        assert log_number(x) == pytest.approx(uncompiled.log_number(x), rel=1e-14, abs=1e-15, nan_ok=True)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_scores_and_gradients_of_rows_are_the_same_but_for_rounding(dtype):
    rng = np.random.default_rng(0)
    for n in (LANES, LANES + 1, 2 * LANES, 3 * LANES - 1):
        X = rng.normal(size=(2 * ROWS - 3, n)).astype(dtype)  # the last rows end within a vector of rows
        width = -(-n // LANES) * LANES
        V = rng.normal(size=(4, width))
        for i in (0, ROWS):
            found, expected = np.zeros((4, 3 * ROWS)), np.zeros((4, 3 * ROWS))
            score_rows(X, i, V, 2, found, ROWS, 0)
            uncompiled.score_rows(X, i, V, 2, expected, ROWS, 0)
            np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-13)
            assert found[2:, ROWS : 2 * ROWS].all()
            G, s = rng.normal(size=(4, width)), rng.normal(size=(4, 3 * ROWS))
            found, expected = G.copy(), G.copy()
            add_rows(X, i, found, 2, s, ROWS, 0)
            uncompiled.add_rows(X, i, expected, 2, s, ROWS, 0)
            np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-13)
            assert (found[2:] != G[2:]).all()
            np.testing.assert_array_equal(found[:2], G[:2])


@pytest.mark.parametrize("has_zero", [True, False])
@pytest.mark.parametrize("spread", [1.0, 3.0 * STEEP, 1e4])
def test_the_softmax_of_rows_is_the_same_but_for_rounding(has_zero, spread):
    for seed in range(20):
        rng = np.random.default_rng(seed)
        owner = np.array([1, 1, 1]) if has_zero else np.array([0, 0, 1, 2])
        own = rng.integers(len(owner), size=LANES + 3)  # the second vector of rows is not full
        code = owner[own]
        if has_zero:
            own[::2], code[::2] = NO_PROTOTYPE, 0
        weight, offset = rng.random(len(own)), rng.normal(size=len(owner))
        scores = spread * rng.normal(size=(len(owner), 2 * LANES))
        answers = []
        for function in (softmax_rows, uncompiled.softmax_rows):
            z, s, sums = scores.copy(), np.zeros_like(scores), np.ones((len(owner) + 2, LANES))
            for r in (0, LANES):
                function(z, s, sums, offset, own, code, weight, 0, owner, has_zero, r)
            answers.append((z, s, sums))
        for found, expected in zip(*answers, strict=True):
            np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-13)
        assert not answers[0][1][:, LANES + 3 :].any()


def test_asking_for_memory_changes_nothing():
    X = np.arange(3.0)
    assert prefetch(X, 8) is uncompiled.prefetch(X, 8) is None
    assert X.tolist() == [0.0, 1.0, 2.0]


def test_instructions_are_refused_for_arrays_that_are_not_in_c_order():
    in_order, other = types.Array(types.float64, 2, "C"), types.Array(types.float64, 2, "F")
    assert kernels._on_rows(in_order, in_order, in_order) is not None
    assert kernels._on_rows(in_order, other, in_order) is None
    vectors, matrix = [np.ones(8)] * 4, np.asfortranarray(np.ones((8, 16)))
    with pytest.raises(TypingError, match="No implementation of function"):
        softmax_rows(matrix, matrix, matrix, *vectors, 0, np.ones(8), True, 0)


def test_if_nothing_is_compiled_the_function_of_that_name_is_called(monkeypatch):
    monkeypatch.setattr(compiling.config, "DISABLE_JIT", True)

    def exp_number(_context, _x):
        raise AssertionError("nobody asks for instructions")

    assert compiling.instructions(exp_number)(0.0) == 1.0

    def infinite(x):
        return np.float64(1.0) / x

    assert compiling.compiled(infinite)(np.float64(0.0)) == np.inf  # as silently as in compiled code


FIT = """
from sklearn.datasets import load_iris
from smallearn import SMaLLClassifier
X, y = load_iris(return_X_y=True)
model = SMaLLClassifier(1, 2, random_state=0).fit(X[::6, :3], y[::6] == 1).model_
print(*(f"{term.weight:.6f} of {term.feature}" for term in model.terms))
"""


def test_a_model_is_the_same_with_and_without_the_compiler(monkeypatch):
    answers = []
    for disabled in ("0", "1"):
        monkeypatch.setenv("NUMBA_DISABLE_JIT", disabled)
        done = subprocess.run([sys.executable, "-c", FIT], capture_output=True, text=True, check=True)
        answers.append(done.stdout)
    assert answers[0] == answers[1]
    assert " of " in answers[0]
