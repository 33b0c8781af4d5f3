"""The classifiers that are compared have the paper's grids and count their features alike."""

import warnings

import numpy as np
import pytest
from sklearn.model_selection import StratifiedKFold

from smallearn import datasets
from smallearn.paper import data, methods

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def grid(method, n=10):
    search = method.make(n, 0)
    assert isinstance(search.cv, StratifiedKFold)
    assert search.cv.n_splits == 5
    return search.param_grid


def test_the_grids_are_those_of_the_paper():
    by_name = methods.BY_NAME
    assert grid(by_name["LSVM"]) == grid(by_name["LR"]) == {"classify__C": [0.1, 1.0, 10.0, 100.0]}
    kernels = [
        (one["classify__kernel"], one.get("classify__degree"), one["classify__C"]) for one in grid(by_name["RSVM"])
    ]
    assert kernels == [
        (["rbf", "sigmoid"], None, [0.01, 0.1, 1.0, 10.0, 100.0]),
        (["poly"], [2, 3], [0.01, 0.1, 1.0, 10.0, 100.0]),
    ]
    for name in ("RF", "AB", "GB"):
        assert grid(by_name[name])["classify__n_estimators"] == [10, 20, 50]
    assert grid(by_name["RF"], 50)["classify__max_features"] == ["sqrt", "log2"]
    assert len(grid(by_name["RF"], 10)["classify__max_features"]) == 1  # three features either way
    assert grid(by_name["DT"]) == {"classify__criterion": ["gini", "entropy"]}
    assert grid(by_name["kNN"]) == {"classify__n_neighbors": [1, 3, 5, 7]}
    steps = {
        name: [one["step_sizes"] for one in grid(by_name[name])["solver_options"]]
        for name in ("SMaLL k=n", "SMaLL k=3")
    }
    assert steps["SMaLL k=n"] == [(0.01, 0.01), (0.01, 0.001)]
    assert set(steps["SMaLL k=3"]) == {(a, b) for a in (0.1, 0.01, 0.001) for b in (0.001, 0.0001)}
    assert by_name["SMaLL k=3"].make(10, 0).estimator.alpha == 0.1
    for name, whole in (("L1Hi", 1.0), ("EnHu", 2.0)):  # half of the strength of an elastic net is l1
        assert [one["select__estimator__alpha"] for one in grid(by_name[name])] == [
            [whole * l1] for l1 in (0.1, 0.01, 0.001, 0.0001)
        ]
        assert by_name[name].make(11, 0).estimator["select"].max_features == 5


def test_the_label_that_is_1_in_the_coding_of_openml_owns_the_prototypes_of_the_preset():
    """Most sets there have the values P and N, in this order; here P is 1 and N is 0."""
    small = methods.BY_NAME["SMaLL k=n"]
    assert [small.make(2, 0, owner).estimator.positive_class for owner in (0, 1)] == [0, 1]
    others = [source.name for source in {*data.TABLE1, *data.WIDE, data.FUNDS, data.BREAST_CANCER} if source.owner == 1]
    assert sorted(others) == ["bankruptcy", "breast_cancer", "ozone", "sonar", "spambase"]


def test_quadratic_discriminant_analysis_copes_with_collinear_columns_and_few_rows():
    X = np.random.default_rng(0).normal(size=(45, 14))
    X[:, -1] = X[:, :-1].sum(axis=1)
    y = (np.arange(45) % 4 == 0).astype(int)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = methods.BY_NAME["QDA"].make(14, 0).fit(X, y)
    assert np.isfinite(fitted.best_score_)
    assert set(fitted.predict(X)) <= {0, 1}


def test_a_feature_in_two_prototypes_counts_twice_and_trees_count_what_they_split_on():
    X, y = datasets.friedman(120, 8, random_state=0, return_X_y=True)
    small = methods.BY_NAME["SMaLL k=n"].make(8, 0).fit(X, y)
    assert methods.terms_used(small, 8) == 16
    assert methods.terms_by_prototype(small) == "|".join(["0 1 2 3 4 5 6 7"] * 2)
    X[:, 3:] = 0.0  # nothing to split on
    tree = methods.BY_NAME["DT"]
    fitted = tree.make(8, 0).fit(X, y)
    assert tree.count_features(fitted, 8) == 3
    assert methods.terms_by_prototype(fitted) == ""
