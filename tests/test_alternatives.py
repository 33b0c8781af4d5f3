"""Alternatives: models of the same size that are about as good and use other features."""

from itertools import combinations

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris

from smallearn import SMaLLClassifierCV
from smallearn._learn.data import source
from smallearn.model._parts import standard_error
from smallearn.model._sentences import alternatives_sentence
from tests.test_invariances import check_same, fit, table


def used(model):
    """The features that a model uses."""
    return {term.feature for term in model.terms}


@pytest.fixture(scope="module")
def data():
    return load_breast_cancer(return_X_y=True)


@pytest.fixture(scope="module")
def fitted(data):
    return SMaLLClassifierCV(max_terms=4, n_alternatives=3, cv=5, random_state=0, verbose=-1).fit(*data)


def test_alternatives_have_as_many_terms_and_no_two_use_the_same_features(fitted):
    assert 1 <= len(fitted.alternatives_) <= 3
    assert all(model.n_terms == fitted.n_terms_ for model in fitted.alternatives_)
    for one, other in combinations([fitted.model_, *fitted.alternatives_], 2):
        assert used(one) != used(other)
    for other in fitted.alternatives_:  # each does without a feature of the chosen model
        assert used(fitted.model_) - used(other)


def test_alternatives_score_within_a_standard_error_on_the_same_folds(fitted):
    own = np.array(fitted.model_.selection.scores)
    for model in fitted.alternatives_:
        assert len(model.selection.scores) == len(own)
        assert model.selection.metric == fitted.model_.selection.metric
        assert np.mean(own - model.selection.scores) <= standard_error(tuple(own))


def test_alternatives_are_trained_on_all_rows_and_about_as_accurate_there(fitted, data):
    X, y = data
    for model in fitted.alternatives_:
        assert model.training.n_rows == len(y)
        assert np.mean(model.predict(X) == y) > model.selection.score - 0.01
        assert model.data is None


def test_the_model_holds_its_alternatives_and_is_otherwise_the_same(fitted, data):
    assert fitted.model_.alternatives == fitted.alternatives_
    alone = SMaLLClassifierCV(max_terms=4, cv=5, random_state=0, verbose=-1).fit(*data)
    assert alone.model_.prototypes == fitted.model_.prototypes
    assert alone.frontier_models_ == fitted.frontier_models_
    assert alone.model_.alternatives == ()
    with pytest.raises(AttributeError, match="n_alternatives"):
        alone.alternatives_  # noqa: B018  # reading it is what fails


def test_where_every_feature_is_needed_there_is_none():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 2))
    clf = SMaLLClassifierCV(2, n_alternatives=2, cv=3, random_state=0, verbose=-1).fit(X, X.sum(axis=1) > 0.0)
    assert clf.alternatives_ == ()
    assert alternatives_sentence(clf.model_).startswith("No other model of this size")


def test_two_copies_of_a_feature_are_alternatives_and_the_sentence_names_them():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4))
    X[:, 1] = X[:, 0] + 0.01 * rng.normal(size=300)
    clf = SMaLLClassifierCV(1, n_alternatives=2, cv=3, random_state=0, verbose=-1).fit(
        X, X[:, 0] + 0.5 * rng.normal(size=300) > 0.3
    )
    own = next(iter(used(clf.model_)))
    assert [used(model) for model in clf.alternatives_] == [{1 - own}]
    assert f"'x{1 - own}' in place of 'x{own}'." in alternatives_sentence(clf.model_)


@pytest.mark.parametrize(
    "parameters", [{}, {"budget": "total"}, {"always_in": [0]}, {"scoring": "balanced_accuracy"}, {"max_points": 5}]
)
def test_several_classes_and_other_parameters_have_alternatives_too(parameters):
    X, y = load_iris(return_X_y=True)
    X = np.column_stack([X, X + 0.05 * np.random.default_rng(0).normal(size=X.shape)])
    clf = SMaLLClassifierCV(3, n_alternatives=2, cv=3, random_state=0, verbose=-1, **parameters).fit(X, y)
    assert all(model.n_terms == clf.n_terms_ for model in clf.alternatives_)
    assert all(used(model) != used(clf.model_) for model in clf.alternatives_)
    assert len(clf.alternatives_) > 0


def test_many_rows_have_alternatives(monkeypatch, data):
    monkeypatch.setattr(source, "POOL_ROWS", 300)
    monkeypatch.setattr(source, "LEAST_POOL_ROWS", 1)
    clf = SMaLLClassifierCV(max_terms=3, n_alternatives=1, cv=2, random_state=0, verbose=-1).fit(*data)
    assert [model.training.n_rows for model in clf.alternatives_] == [len(data[1])]


@pytest.mark.parametrize("n_classes", [2, 3])
def test_alternatives_depend_neither_on_the_order_of_rows_nor_on_repeated_rows_nor_on_processes(n_classes):
    X, y = table(n_classes=n_classes)
    X = np.column_stack([X, np.round(X[:, ::-1] + 0.2 * X, 2)])
    rng = np.random.default_rng(1)
    times = rng.integers(1, 4, len(y))
    copies = rng.permutation(np.repeat(np.arange(len(y)), times))
    one = fit(X, y, times.astype(float), n_alternatives=2)
    check_same(one, fit(X[copies], y[copies], n_alternatives=2), X)
    assert fit(X, y, times.astype(float), n_alternatives=2, n_jobs=2).model_ == one.model_


@pytest.mark.parametrize("value", [-1, 1.5, True, "3"])
def test_a_number_of_alternatives_that_is_none_is_refused(value, data):
    with pytest.raises(ValueError, match=r"n_alternatives=.* is not a whole number from 0"):
        SMaLLClassifierCV(n_alternatives=value, verbose=-1).fit(*data)


def test_a_chip_has_no_alternatives(data):
    with pytest.raises(ValueError, match="n_alternatives=2 are not measured on a chip"):
        SMaLLClassifierCV(n_alternatives=2, device="atmega328p", verbose=-1).fit(*data)
