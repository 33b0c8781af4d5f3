"""The validated training data: shares of its rows, features too large to compute with, and memory."""

import tracemalloc

import numpy as np
import pytest

from smallearn import SMaLLClassifierCV
from smallearn._learn.data.labels import Labels
from smallearn._learn.data.problem import build_problem


@pytest.mark.uncompiled
def test_taking_a_share_of_rows_keeps_their_standardisation_and_scales_their_weight():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20, 2)), np.arange(20) % 2
    weight = rng.uniform(1.0, 2.0, 20)
    problem = build_problem(X, y, weight, class_weight={0: 1.0, 1: 3.0}, literals="both", cut_points=4)
    chosen, share = rng.permutation(20)[:15], rng.uniform(0.2, 3.0, 15)
    part = problem.take(chosen, share)
    np.testing.assert_array_equal(part.code, problem.code[chosen])
    np.testing.assert_allclose(part.sample_weight, problem.sample_weight[chosen] * share)
    np.testing.assert_allclose(part.loss_weight, problem.loss_weight[chosen] * share)
    np.testing.assert_array_equal(part.scaling.mean, problem.scaling.mean)
    every = np.arange(len(problem.candidates))
    whole, rest = problem.rows(None, False, 1), part.rows(None, False, 1)
    np.testing.assert_array_equal(rest.columns(every), whole.columns(every)[chosen])
    assert rest.labels.weight.sum() == pytest.approx(1.0)
    assert isinstance(rest.labels, Labels)


@pytest.mark.uncompiled
def test_a_value_too_large_is_reported_with_the_position_of_its_feature():
    X = np.column_stack([np.arange(6) % 2, np.arange(6.0), [1.0, 2.0, 3.0, 4.0, 5.0, 1e301]])
    categories = {0: ("no", "yes")}
    with pytest.raises(ValueError, match="Column 2 has values up to"):
        build_problem(X, np.arange(6) % 2, np.ones(6), literals="both", cut_points=2, categories=categories)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_beside_x_the_problem_takes_a_byte_a_cell_and_a_few_numbers_a_row(dtype):
    m, n = 120_000, 30
    X = np.random.default_rng(0).standard_normal((m, n), dtype=dtype)
    y = (X[:, 0] > 0.0).astype(int)
    selector = SMaLLClassifierCV()
    selector._validated_data(X[:100], y[:100], None)  # compiles
    tracemalloc.start()
    problem = selector._validated_data(X, y, None).problem
    kept, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    numbers_a_row = 8 * m
    assert np.shares_memory(problem.X, X)
    assert problem.bins.dtype == np.uint8
    assert kept < m * n + 4 * numbers_a_row
    assert peak < m * n + 14 * numbers_a_row


def test_of_many_rows_little_more_than_the_pool_is_kept():
    m, n = 400_000, 30
    X = np.random.default_rng(0).standard_normal((m, n), dtype=np.float32)
    y = (X[:, 0] > 0.0).astype(int)
    selector = SMaLLClassifierCV()
    selector._validated_data(X[:100], y[:100], None)  # compiles
    tracemalloc.start()
    data = selector._validated_data(X, y, None)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    pool = data.problem.X.nbytes + data.problem.bins.nbytes
    assert data.is_sample
    assert len(data.problem.code) < 140_000
    assert peak < 3 * pool + 8 * 8 * m
