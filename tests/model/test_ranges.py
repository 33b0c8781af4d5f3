"""A trained model knows the range of each feature that it uses."""

import numpy as np
import pytest
from scipy import sparse

from smallearn import SMaLLClassifier, SMaLLClassifierCV, load_model

rng = np.random.default_rng(0)
X = rng.normal(size=(60, 4)) * [1.0, 10.0, 0.1, 3.0] + [0.0, 5.0, 1.0, -3.0]
y = X[:, 1] + 20.0 * X[:, 2] - X[:, 3] > 28.0


def ranges_of(model):
    return {extent.feature: (extent.low, extent.high) for extent in model.ranges}


def expected(X, model):
    return {term.feature: (np.nanmin(X[:, term.feature]), np.nanmax(X[:, term.feature])) for term in model.features}


@pytest.mark.parametrize("literals", ["raw", "thresholds", "both"])
def test_ranges_are_those_of_the_training_rows(literals, tmp_path):
    model = SMaLLClassifier(2, 2, literals=literals).fit(X, y).model_
    assert model.features
    assert ranges_of(model) == expected(X, model)
    model.save(tmp_path / "model.json")
    assert load_model(tmp_path / "model.json").ranges == model.ranges


def test_ranges_are_of_the_rows_that_count_and_the_values_that_are_there():
    weight = (X[:, 1] < 10.0).astype(float)
    gappy = X.copy()
    gappy[::7, 1] = np.nan
    model = SMaLLClassifierCV(2, literals="both", verbose=-1).fit(gappy, y, sample_weight=weight).model_
    assert 1 in ranges_of(model)
    assert ranges_of(model) == expected(gappy[weight > 0.0], model)


def test_zeros_count_in_sparse_columns():
    thin = np.where(X > 0.5, X, 0.0)
    model = SMaLLClassifier(1, 2).fit(sparse.csr_array(thin), y).model_
    assert ranges_of(model) == expected(thin, model)


def test_categories_and_presence_have_no_range():
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame({"colour": np.where(y, "red", "blue"), "size": X[:, 0]})
    model = SMaLLClassifierCV(1, categorical_features=["colour"], verbose=-1).fit(table, y).model_
    assert [term.kind for term in model.terms] == ["equals"]
    assert model.ranges == ()
    counts = SMaLLClassifier(1, 2, literals="thresholds").fit(sparse.csr_array(np.where(X > 0.5, X, 0.0)), y).model_
    assert counts.terms
    assert counts.ranges == ()
