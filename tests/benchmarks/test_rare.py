"""The benchmarks of rare classes and of reliability: their data, and the error that they report."""

import numpy as np
import pandas as pd
import pytest
from benchmarks.rare import TERMS, Lasso, oil_like
from benchmarks.reliability import calibration_error

from benchmarks import rare, reliability


@pytest.mark.parametrize(("benchmark", "names"), [(rare, rare.SETS), (reliability, reliability.TWO)])
def test_they_read_the_sets_of_the_folder(tmp_path, benchmark, names):
    y = np.arange(100) % 4 == 0
    table = pd.DataFrame({"a": np.arange(100.0), "target": y.astype(int)})
    for name in names:
        table.to_csv(tmp_path / f"{name}.csv", index=False)
    lines = [f"{name}.csv,100,1,{y.sum()}" for name in names]
    (tmp_path / "MANIFEST.csv").write_text("\n".join(["file,n_samples,n_features,n_positive", *lines]) + "\n")
    name, *_, rows = next(benchmark.problems(tmp_path))
    assert name == names[0]
    assert rows.X.shape == (70, 1)
    assert rows.X_test.shape == (30, 1)


def test_oil_like_sets_have_few_positive_rows_and_many_features():
    rows = oil_like(0, 0)
    assert rows.X.shape == (900, 48)
    assert 0.02 < rows.y.mean() < 0.07
    assert 0.02 < rows.y_test.mean() < 0.07


def test_the_rival_with_l1_has_at_most_as_many_terms():
    rows = oil_like(0, 0)
    model = Lasso().fit(rows.X, rows.y)
    assert 0 < np.count_nonzero(model.coef_) <= TERMS
    assert model.predict_proba(rows.X_test).shape == (3_000, 2)


def test_the_calibration_error_is_the_distance_of_probability_and_frequency():
    code = np.tile([0, 1, 1, 1], 300)
    right, wrong = np.tile([0.25, 0.75], (1200, 1)), np.tile([0.45, 0.55], (1200, 1))
    assert calibration_error(right, code) == pytest.approx(0.0, abs=1e-12)
    assert calibration_error(wrong, code) == pytest.approx(0.2)
