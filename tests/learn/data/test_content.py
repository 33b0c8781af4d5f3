"""Hashes and samples of rows: by their content alone, whatever their order, their storage and the number of copies."""

import numpy as np
import pytest
from scipy import sparse

from smallearn._learn.data import content
from smallearn._learn.data.problem import build_problem

pytestmark = pytest.mark.uncompiled

M = 4000


def problem_of(X, y, weight=None, **options):
    return build_problem(X, np.asarray(y), np.ones(len(y)) if weight is None else weight.astype(float), **options)


def example(m=M, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(m, 3)).round(2), (rng.random(m) < 0.3).astype(int)


@pytest.mark.parametrize("convert", [sparse.csr_array, np.float32], ids=["sparse", "float32"])
def test_a_hash_is_that_of_the_numbers_however_they_are_stored(convert):
    X = np.random.default_rng(0).integers(-2, 3, (200, 4)) / 4.0
    plain = content.hash_rows(problem_of(X, np.arange(200) % 2))
    X[X == 0.0] *= -1.0  # zeros that are negative
    np.testing.assert_array_equal(content.hash_rows(problem_of(convert(X), np.arange(200) % 2)), plain)
    assert len(np.unique(plain)) == len(np.unique(X, axis=0))


@pytest.mark.parametrize("literals", ["raw", "both"])
def test_a_sample_has_about_the_rows_asked_for_and_the_weight_of_each_class(literals):
    X, y = example()
    y[:40] = 2  # a rare class
    problem = problem_of(X, y, literals=literals, cut_points=5)
    rows, share = content.sample(problem, 1000)
    assert 800 < len(rows) < 1400
    assert np.sum(y[rows] == 2) == 40
    np.testing.assert_allclose(np.bincount(y[rows], weights=share), np.bincount(y))
    assert abs(X[rows].mean() - X.mean()) < 0.1


def test_a_sample_depends_neither_on_the_order_of_the_rows_nor_on_copies_in_place_of_weights():
    X, y = example()
    rng = np.random.default_rng(1)
    times = rng.integers(1, 4, M)
    copies = rng.permutation(np.repeat(np.arange(M), times))
    weighted = content.sample(problem_of(X, y, times), 1000)
    repeated = content.sample(problem_of(X[copies], y[copies]), 1000)
    mass = np.bincount(weighted.rows, weights=times[weighted.rows] * weighted.share, minlength=M)
    mass_of_copies = np.bincount(copies[repeated.rows], weights=repeated.share, minlength=M)
    np.testing.assert_allclose(mass, mass_of_copies)


def test_few_different_rows_are_not_sampled():
    X, y = example()
    assert content.sample(problem_of(np.sign(X[:, :1]) + 2.0, y), 500) is None
