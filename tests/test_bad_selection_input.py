"""Hostile parameters of literals, budgets and selection: refused by name, with what came and what is allowed."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from smallearn import SMaLLClassifier, SMaLLClassifierCV, SMaLLModel, frontier

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 4))
Y = (X[:, 0] > 0.0).astype(int)
Y3 = np.arange(40) % 3
QUICK = {"max_terms": 2, "alphas": [0.01], "n_prototypes": 1, "cv": 2, "n_init": 1, "random_state": 0}

# What both estimators know, then each its own: parameters, and what the message must have.
COMMON = [
    ({"budget": "all"}, r"budget='all' is not one of .*'prototype', 'total', 'shared'"),
    ({"budget": None}, "budget=None"),
    ({"cut_points": 0}, r"cut_points=0 is neither a number of cut points from 1 .* nor a dict"),
    ({"cut_points": 2.5}, "cut_points=2.5"),
    ({"cut_points": True}, "cut_points=True"),
    ({"cut_points": {0: [1.0, np.nan]}}, r"cut_points gives feature 0 .* finite numbers"),
    ({"cut_points": {0: 3}}, "cut_points gives feature 0 the cut points 3"),
    ({"cut_points": {9: [0.0]}}, r"cut_points has the feature 9; features are names or positions 0\.\.3"),
    ({"cut_points": {"age": [0.0]}}, "cut_points names the feature 'age'; X has no feature names"),
    ({"feature_costs": [1, 1, 1, 1]}, "feature_costs and max_cost go together"),
    ({"max_cost": 2.0}, "feature_costs and max_cost go together"),
    ({"feature_costs": [1, 1], "max_cost": 2.0}, r"feature_costs=\[1, 1\] .* each of the 4 features"),
    ({"feature_costs": [1, 1, 0, 1], "max_cost": 2.0}, "feature_costs has 0.0; costs are positive"),
    ({"feature_costs": [1, 1, np.nan, 1], "max_cost": 2.0}, "feature_costs has nan"),
    ({"feature_costs": {0: "dear"}, "max_cost": 2.0}, "feature_costs gives feature 0 the value 'dear', not a number"),
    ({"feature_costs": [1, 1, 1, 1], "max_cost": 0.0}, r"max_cost=0\.0"),
    ({"feature_costs": [1, 1, 1, 1], "max_cost": np.nan}, "max_cost=nan"),
    ({"always_in": [4]}, "always_in has the feature 4"),
    ({"always_in": 1}, "always_in=1 is not a list"),
    ({"always_in": "age"}, "always_in='age' is not a list"),
    ({"always_in": [True, False]}, "always_in is a mask of 2 entries for 4 features"),
    ({"always_in": [0], "literals": "thresholds"}, r"always_in has feature 0, .*literals='raw' or 'both'"),
    ({"monotonic_cst": [1, 0]}, r"monotonic_cst=\[1, 0\] .* 4 features"),
    ({"monotonic_cst": {0: 2}}, r"monotonic_cst has 2; it takes 1 \(rising\), -1 \(falling\) and 0"),
    ({"monotonic_cst": {0: "up"}}, "monotonic_cst gives feature 0 the value 'up'"),
    ({"literals": "cuts"}, "literals='cuts' is not one of 'raw', 'thresholds', 'both'"),
    ({"categorical_features": [7]}, r"categorical_features has the position 7; X has columns 0 to 3"),
    ({"max_points": 0}, "max_points=0 is not a positive integer"),
    ({"max_points": 2.5}, "max_points=2.5"),
    ({"n_init": 0}, "n_init=0"),
    ({"n_jobs": 0}, "n_jobs=0"),
    ({"positive_class": "yes"}, "positive_class='yes'"),
    ({"fit_intercept": False, "max_points": 3}, "max_points rounds the constant to points too"),
    ({"decision_threshold": 1.0}, "decision_threshold=1.0 is neither 'auto' nor a number above 0 and below 1"),
    ({"decision_threshold": "best"}, "decision_threshold='best' is neither 'auto' nor a number"),
]
CLASSIFIER = [
    ({"assignment": "best"}, r"assignment='best' is not one of .* or an array"),
    ({"local_search": 1}, "local_search=1 is not True or False"),
    ({"certify": "yes"}, "certify='yes' is not True or False"),
    ({"certify": True, "refit_support": False}, "certify=True .* needs refit_support=True"),
    ({"local_search": True, "refit_support": False}, "local_search=True .* needs refit_support=True"),
    ({"certify": True, "time_limit": -1.0}, r"time_limit=-1\.0 .*seconds"),
    ({"solver": "mirror-prox", "budget": "total"}, "use solver='accelerated'"),
    ({"solver": "mirror-prox", "monotonic_cst": {0: 1}}, "use solver='accelerated'"),
]
SELECTION = [
    ({"max_terms": 0}, "max_terms=0 is not a positive integer"),
    ({"max_terms": None}, "max_terms=None"),
    ({"alphas": []}, r"alphas=\[\] is not a non-empty list"),
    ({"alphas": 0.1}, r"alphas=0\.1 is not a non-empty list"),
    ({"alphas": [0.1, 0.0]}, r"alphas=0\.0 is not a number from 1e-10"),
    ({"literals": []}, r"literals=\[\] is not a non-empty list"),
    ({"literals": ["raw", "cut"]}, "literals='cut' .*or a list of these"),
    ({"n_prototypes": 0}, "n_prototypes=0"),
    ({"n_prototypes": [1, 2.5]}, "n_prototypes=2.5"),
    ({"n_prototypes": []}, r"n_prototypes=.*\[\].* is not a non-empty list"),
    ({"cv": 1}, "cv=1 is not an integer of 2 or more"),
    ({"cv": 2.5}, "cv=2.5 is not an integer of 2"),
    ({"cv": True}, "cv=True is not an integer of 2"),
    ({"cv": "five"}, "cv"),
    ({"cv": []}, "cv has no folds"),
    ({"refit": None}, "refit=None is not True or False"),
    ({"one_standard_error": 1}, "one_standard_error=1"),
    ({"scoring": "beauty"}, "'beauty'"),
    ({"sample_rows": 0}, "sample_rows=0 is not a positive integer or 'auto'; None means all rows"),
    ({"sample_rows": -5}, "sample_rows=-5"),
    ({"sample_rows": 100.5}, r"sample_rows=100\.5"),
    ({"sample_rows": np.nan}, "sample_rows=nan"),
    ({"sample_rows": True}, "sample_rows=True"),
    ({"sample_rows": "all"}, "sample_rows='all' is not a positive integer or 'auto'"),
    ({"sample_rows": [100]}, r"sample_rows=\[100\]"),
    ({"scoring": 3}, "scoring"),
    ({"cost_matrix": 3}, r"cost_matrix=3 is not 2 rows of 2 finite numbers: .*in the order 0, 1"),
    ({"cost_matrix": [[0, 1], [1]]}, "is not 2 rows of 2 finite numbers"),
    ({"cost_matrix": [[0, 1, 1]] * 3}, "is not 2 rows of 2 finite numbers"),
    ({"cost_matrix": [[0, np.inf], [1, 0]]}, "is not 2 rows of 2 finite numbers"),
    ({"cost_matrix": [["a", "b"], ["c", "d"]]}, "is not 2 rows of 2 finite numbers"),
    ({"cost_matrix": [[0, 0], [0, 0]]}, "has the same cost for every prediction"),
    ({"cost_matrix": [[0, 1], [0, 0]]}, "leaves nothing to decide: an error costs no more than the right answer"),
    ({"cost_matrix": [[0, 1], [1, 0]], "scoring": "f1"}, "cost_matrix and scoring='f1' are two scores"),
]


@pytest.mark.parametrize(("parameters", "message"), COMMON + CLASSIFIER)
def test_a_wrong_parameter_of_the_classifier_is_refused_by_name(parameters, message):
    with pytest.raises(ValueError, match=message):
        SMaLLClassifier(**parameters).fit(X, Y)


@pytest.mark.parametrize(("parameters", "message"), COMMON + SELECTION)
def test_a_wrong_parameter_of_the_selection_is_refused_by_name(parameters, message):
    with pytest.raises(ValueError, match=message):
        SMaLLClassifierCV(**{**QUICK, **parameters}).fit(X, Y)


@pytest.mark.parametrize("make", [SMaLLClassifier, lambda **parameters: SMaLLClassifierCV(**{**QUICK, **parameters})])
@pytest.mark.parametrize(
    ("parameters", "X", "y", "message"),
    [
        ({"literals": "raw"}, np.where(X > 2.0, np.nan, X), Y, "NaN"),
        ({"literals": "both"}, np.where(X > 2.0, np.inf, X), Y, "infinity"),
        ({"literals": "both"}, sparse.csr_array(np.where(X > 2.0, np.nan, X)), Y, "sparse and has NaN"),
        ({"categorical_features": [0]}, sparse.csr_array(X), Y, "sparse"),
        ({"monotonic_cst": {0: 1}}, X, Y3, r"needs two classes; y has 3"),
        ({"positive_class": 1}, X, Y3, "positive_class=1 is for two classes, but y has 3"),
        ({"literals": "thresholds"}, np.ones((40, 2)), Y, "no candidate term"),
        ({}, X, np.zeros(40), "one class"),
        ({"categorical_features": [0], "literals": "both", "always_in": [0]}, X.round(), Y, "always_in has feature 0"),
        (
            {"categorical_features": [0], "literals": "both", "monotonic_cst": {0: 1}},
            X.round(),
            Y,
            "categories have no order",
        ),
        (
            {"categorical_features": [1], "literals": "raw"},
            np.where(X > 2.0, np.nan, X),
            Y,
            r"missing values, .*'both'",
        ),
    ],
)
def test_data_that_do_not_go_with_the_parameters_are_refused(make, parameters, X, y, message):
    with pytest.raises(ValueError, match=message):
        make(**parameters).fit(X, y)


def test_a_name_that_the_table_does_not_have_is_refused_with_those_it_has():
    table = pd.DataFrame(X, columns=["age", "height", "mass", "pulse"])
    with pytest.raises(ValueError, match=r"always_in names the feature 'weight'; X has 'age', 'height'"):
        SMaLLClassifier(always_in=["weight"]).fit(table, Y)


def test_too_few_rows_of_a_class_to_cross_validate_are_refused_by_their_label():
    with pytest.raises(ValueError, match="Class 'rare' has 1 row"):
        SMaLLClassifierCV(**QUICK).fit(X, np.where(np.arange(40) == 3, "rare", "common"))


def test_constant_columns_give_the_constant_model_as_without_selection():
    found = SMaLLClassifierCV(**{**QUICK, "literals": "raw"}).fit(np.ones((40, 2)), Y)
    assert found.model_.terms == ()
    assert SMaLLModel.from_json(found.model_.to_json()) == found.model_
    np.testing.assert_array_equal(found.predict(np.ones((3, 2))), np.full(3, np.bincount(Y).argmax()))


@pytest.mark.parametrize(
    ("parameters", "y"),
    [({"cv": 1}, Y), ({"always_in": [9]}, Y), ({"scoring": "beauty"}, Y), ({}, np.zeros(40)), ({"cv": []}, Y)],
)
def test_a_failed_selection_leaves_an_earlier_one_as_it_was(parameters, y):
    clf = SMaLLClassifierCV(**QUICK).fit(X, Y)
    before = {name: value for name, value in vars(clf).items() if name.endswith("_")}
    clf.set_params(**parameters)
    with pytest.raises(ValueError):
        clf.fit(X[:, :3] if not parameters else X, y)
    after = {name: value for name, value in vars(clf).items() if name.endswith("_")}
    assert list(before) == list(after)
    assert all(before[name] is after[name] for name in before)
    assert clf.predict(X).shape == (40,)


def test_parameters_are_not_changed_by_a_selection():
    clf = SMaLLClassifierCV(**QUICK)
    before = {name: repr(value) for name, value in clf.get_params().items()}
    assert {name: repr(value) for name, value in clf.fit(X, Y).get_params().items()} == before


def test_the_frontier_refuses_what_the_selection_refuses():
    with pytest.raises(ValueError, match="max_terms=0"):
        frontier(X, Y, 0)
    with pytest.raises(ValueError, match="cv=1 is not"):
        frontier(X, Y, 2, cv=1)
    with pytest.raises(TypeError, match="depth"):
        frontier(X, Y, 2, depth=3)


@pytest.mark.parametrize(
    ("X", "parameters", "words"),
    [
        (sparse.csr_matrix(np.eye(4)), {}, "X is sparse"),
        (np.array([["a"], ["b"], ["a"], ["b"]], dtype=object), {"categorical_features": [0]}, "is categorical"),
    ],
)
def test_cut_points_for_a_feature_that_cannot_have_them_are_refused(X, parameters, words):
    clf = SMaLLClassifier(literals="both", cut_points={0: [0.5]}, **parameters)
    with pytest.raises(ValueError, match=words):
        clf.fit(X, [0, 1, 0, 1])
