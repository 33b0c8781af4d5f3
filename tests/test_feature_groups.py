"""Limits on groups of features: no path of training breaks them."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.exceptions import ConvergenceWarning

from smallearn import SMaLLClassifier, SMaLLClassifierCV
from smallearn._learn.data import source
from smallearn._learn.solve.group_limit import GroupLimit


def used(model):
    """The features that a model uses."""
    return {term.feature for term in model.terms}


def keeps(model, groups, most):
    """Whether a model, and each that is kept with it, keeps the limit."""
    models = (model, *model.frontier_models, *model.alternatives)
    return all(len(used(one) & set(group)) <= most for one in models for group in groups.values())


def rows(seed, n_classes, m=60, n=6):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, n))
    X[:, 1] = X[:, 0] + 0.1 * rng.normal(size=m)  # as good as its neighbour: both would be used
    z = X[:, 0] + X[:, 1] + X[:, 2] - X[:, 3] + 0.5 * rng.normal(size=m)
    return X, np.digitize(z, [0.0] if n_classes == 2 else [-1.0, 1.0])


groups_of_six = st.dictionaries(
    st.sampled_from(["a", "b", "c"]), st.lists(st.integers(0, 5), min_size=1, max_size=5, unique=True), min_size=1
)


@settings(max_examples=40, deadline=None)
@given(
    groups=groups_of_six,
    most=st.integers(1, 2),
    seed=st.integers(0, 20),
    n_classes=st.sampled_from([2, 3]),
    parameters=st.fixed_dictionaries(
        {
            "budget": st.sampled_from(["prototype", "total", "shared"]),
            "n_prototypes": st.integers(1, 2),
            "n_nonzero": st.integers(1, 5),
            "literals": st.sampled_from(["raw", "thresholds", "both"]),
            "local_search": st.booleans(),
            "refit_support": st.booleans(),
            "max_points": st.sampled_from([None, 5]),
        }
    ),
)
def test_no_classifier_uses_more_of_a_group(groups, most, seed, n_classes, parameters):
    if parameters["local_search"]:
        parameters["refit_support"] = True
    X, y = rows(seed, n_classes)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        clf = SMaLLClassifier(
            feature_groups=groups, max_per_group=most, cut_points=3, verbose=-1, random_state=0, **parameters
        ).fit(X, y)
    assert keeps(clf.model_, groups, most)
    assert clf.lower_bound_ <= clf.objective_ * (1.0 + 1e-9)


@settings(max_examples=10, deadline=None)
@given(
    groups=groups_of_six,
    most=st.integers(1, 2),
    seed=st.integers(0, 20),
    n_classes=st.sampled_from([2, 3]),
    budget=st.sampled_from(["auto", "total", "prototype"]),
)
def test_no_chosen_model_uses_more_of_a_group(groups, most, seed, n_classes, budget):
    X, y = rows(seed, n_classes)
    clf = SMaLLClassifierCV(
        4,
        feature_groups=groups,
        max_per_group=most,
        budget=budget,
        alphas=(0.01,),
        cut_points=3,
        cv=2,
        n_init=1,
        verbose=-1,
        random_state=0,
    ).fit(X, y)
    assert keeps(clf.model_, groups, most)


@pytest.mark.parametrize("max_terms", [4, 30])
def test_names_name_the_features_and_several_terms_may_be_of_one(max_terms):
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    groups = {"worst": [name for name in X if name.startswith("worst")]}
    clf = SMaLLClassifierCV(
        max_terms, feature_groups=groups, literals="both", alphas=(0.01,), cv=2, random_state=0, verbose=-1
    ).fit(X, y)
    labels = {term.label for term in clf.model_.terms if term.label in groups["worst"]}
    assert len(labels) == 1
    assert clf.best_score_ > 0.9


def test_many_rows_keep_the_limit(monkeypatch):
    monkeypatch.setattr(source, "POOL_ROWS", 150)
    monkeypatch.setattr(source, "LEAST_POOL_ROWS", 1)
    X, y = rows(0, 2, m=600)
    groups = {"a": [0, 1, 2]}
    for clf in (SMaLLClassifier(1, 4), SMaLLClassifierCV(4, cv=2)):
        clf.set_params(feature_groups=groups, verbose=-1, random_state=0).fit(X, y)
        assert keeps(clf.model_, groups, 1)
        assert used(clf.model_) & {0, 1, 2}


@pytest.mark.parametrize("budget", ["prototype", "total", "shared"])
def test_branch_and_bound_proves_no_model_that_breaks_the_limit(budget):
    X, y = load_iris(return_X_y=True)
    groups = {"petal": [2, 3]}
    parameters = {"alpha": 0.01, "budget": budget, "certify": True, "random_state": 0, "verbose": -1}
    free = SMaLLClassifier(1, 2, **parameters).fit(X, y)
    limited = SMaLLClassifier(1, 2, feature_groups=groups, **parameters).fit(X, y)
    assert keeps(limited.model_, groups, 1)
    assert not keeps(free.model_, groups, 1)
    assert limited.lower_bound_ <= free.objective_ * (1.0 + 1e-9)
    assert limited.objective_ >= free.objective_ * (1.0 - 1e-9)
    assert not limited.model_.training.certified


def test_a_group_without_effect_changes_nothing():
    X, y = load_iris(return_X_y=True)
    free = SMaLLClassifierCV(3, cv=2, random_state=0, verbose=-1).fit(X, y)
    limited = SMaLLClassifierCV(
        3, cv=2, feature_groups={"all": [0, 1, 2, 3]}, max_per_group=4, random_state=0, verbose=-1
    ).fit(X, y)
    assert limited.model_ == free.model_


def test_columns_are_closed_once_a_group_has_its_features():
    limit = GroupLimit.of(((0, 1, 2), (2, 3)), 1, np.array([0, 1, 2, 3, 0, 1, -1]))
    assert limit.closed(np.array([6])).tolist() == [False] * 7
    assert limit.closed(np.array([0])).tolist() == [False, True, True, False, False, True, False]
    assert limit.closed(np.array([2])).tolist() == [True, True, False, True, True, True, False]
    assert limit.allows(np.array([0, 4, 3, 6]))
    assert not limit.allows(np.array([0, 5]))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"feature_groups": ["a"]}, "feature_groups=.* is not a dict from the name of a group"),
        ({"feature_groups": {}}, "feature_groups={} is not a dict"),
        ({"feature_groups": {"lab": "age"}}, r"feature_groups\['lab'\]='age' is not a list of feature names"),
        ({"feature_groups": {"lab": []}}, r"feature_groups\['lab'\] has no feature"),
        ({"feature_groups": {"lab": [9]}}, r"feature_groups\['lab'\] has the feature 9; .*0\.\.3"),
        ({"feature_groups": {"lab": [0, 1]}, "max_per_group": 0}, "max_per_group=0 is not a positive integer"),
        (
            {"feature_groups": {"lab": [0, 1]}, "always_in": [0, 1]},
            r"feature_groups\['lab'\] has 2 features of always_in, but max_per_group=1",
        ),
    ],
    ids=str,
)
@pytest.mark.parametrize("kind", [SMaLLClassifier, SMaLLClassifierCV])
def test_groups_that_make_no_sense_are_refused(kind, parameters, message):
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match=message):
        kind(verbose=-1, **parameters).fit(X, y)
