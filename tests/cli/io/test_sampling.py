"""Random samples of rows that come in chunks."""

import numpy as np
import pandas as pd
import pytest

from smallearn.cli.io import sampling
from smallearn.cli.io.sampling import Sample


def chunks(n_rows, size):
    table = pd.DataFrame({"x": np.arange(n_rows) / 2.0, "name": [f"row {i}" for i in range(n_rows)]})
    for begin in range(0, n_rows, size):
        yield table[begin : begin + size], np.arange(begin, min(begin + size, n_rows))


def sample_of(n_rows, size, most):
    sample = Sample(most)
    for X, code in chunks(n_rows, size):
        sample.add(X, code)
    assert sample.n_rows == n_rows
    return sample.rows()


@pytest.mark.parametrize("most", [None, 100, 120])
def test_few_rows_are_all_kept(most):
    X, code = sample_of(100, 7, most)
    assert X.index.equals(pd.RangeIndex(100))
    np.testing.assert_array_equal(X["x"], np.arange(100) / 2.0)
    np.testing.assert_array_equal(code, np.arange(100))


def test_of_many_rows_a_sample_is_kept_that_does_not_depend_on_the_chunks(monkeypatch):
    monkeypatch.setattr(sampling, "MOST_PARTS", 5)
    kept = [sample_of(1000, size, 50) for size in (1, 13, 400, 1000)]
    X, code = kept[0]
    assert len(code) == 50
    assert np.all(np.diff(code) > 0)
    np.testing.assert_array_equal(X.index, code)
    np.testing.assert_array_equal(X["x"], code / 2.0)
    assert X["name"].tolist() == [f"row {i}" for i in code]
    for _, other in kept[1:]:
        np.testing.assert_array_equal(other, code)


def test_every_row_is_as_likely_as_any_other(monkeypatch):
    times = np.zeros(40)
    for seed in range(400):
        monkeypatch.setattr(sampling, "SEED", seed)
        times[sample_of(40, 6, 10)[1]] += 1
    assert times.sum() == 400 * 10
    assert np.abs(times - 100.0).max() < 5.0 * np.sqrt(400 * 0.25 * 0.75)
