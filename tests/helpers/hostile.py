"""What the tests of hostile data and parameters share: small problems, and every promise held at once."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import make_blobs

from smallearn import SMaLLClassifier, SMaLLModel

N_NONZERO = 2


def two_classes(n_rows=60, n_features=4):
    X = np.random.default_rng(0).normal(size=(n_rows, n_features))
    return X, (X[:, 0] + 0.5 * X[:, 1] > 0.3).astype(int)


def three_classes():
    return make_blobs(60, 4, centers=3, cluster_std=2.0, random_state=0)


X, Y = two_classes()
X3, Y3 = three_classes()
START = np.arange(60) % 2  # an assignment, for comparisons that k-means with its random draws would blur
SPARSE = np.where(np.abs(X) > 0.5, X, 0.0)
DATA = {"two classes": (X, Y), "three classes": (X3, Y3)}
both = pytest.mark.parametrize(("X", "y"), DATA.values(), ids=DATA)
dense_or_sparse = pytest.mark.parametrize("convert", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])


def spoiled(bad):
    broken = X.copy()
    broken[3, 2] = bad
    return broken


def classifier(**parameters):
    return SMaLLClassifier(**{"n_nonzero": N_NONZERO, "random_state": 0, **parameters})


def fit_and_check(X, y, sample_weight=None, **parameters):
    """Fit, then hold the estimator to everything that it promises whatever the data."""
    clf = classifier(**parameters).fit(X, y, sample_weight=sample_weight)
    p, n = clf.prototypes_.shape
    assert n == X.shape[1] == clf.n_features_in_
    if clf.n_nonzero is not None:
        assert clf.support_.sum(axis=1).max() <= clf.n_nonzero
    np.testing.assert_array_equal(clf.support_, clf.prototypes_ != 0.0)
    assert clf.intercepts_.shape == clf.prototype_classes_.shape == (p,)
    for value in (clf.prototypes_, clf.intercepts_, clf.objective_, clf.lower_bound_, clf.duality_gap_):
        assert np.isfinite(value).all()
    assert 0.0 <= clf.lower_bound_ <= clf.objective_
    assert 0.0 <= clf.duality_gap_ <= 1.0
    assert clf.optimality_gap_ == (clf.objective_ - clf.lower_bound_) / clf.objective_
    assert clf.n_iter_ >= 1
    decision, probability = clf.decision_function(X), clf.predict_proba(X)
    assert np.isfinite(decision).all()
    np.testing.assert_allclose(probability.sum(axis=1), 1.0)
    cut = np.log(clf.decision_threshold_ / (1.0 - clf.decision_threshold_))
    best = clf.model_.decide(clf.model_.scores(X)) if decision.ndim == 2 else (decision > cut).astype(int)
    np.testing.assert_array_equal(clf.predict(X), clf.classes_[best])
    assert SMaLLModel.from_json(clf.model_.to_json()) == clf.model_
    return clf


def check_refused(message, X=X, y=Y, sample_weight=None, **parameters):
    with pytest.raises(ValueError, match=message):
        classifier(**parameters).fit(X, y, sample_weight=sample_weight)
