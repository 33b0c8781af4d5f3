"""The trained model: what it predicts and what it refuses to be."""

import copy
import math
import pickle
from dataclasses import FrozenInstanceError, replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given

from smallearn import SMaLLModel
from smallearn.model import Prototype, Term
from tests.helpers.models import (
    BEST,
    NO,
    PROTOTYPES,
    ROWS,
    THREE,
    TRAINING,
    WHOLE,
    YES,
    by_definition,
    models_with_rows,
)

# --- predictions -----------------------------------------------------------------------------------------------------


def test_scores_are_those_computed_by_hand():
    np.testing.assert_array_equal(YES.scores(ROWS), [[-1.0, 0.5], [1.0, -0.5], [0.0, 0.0], [-0.5, -0.25]])


def test_the_owner_of_the_prototypes_is_predicted_where_a_score_is_positive():
    np.testing.assert_array_equal(YES.decision_function(ROWS), BEST)
    assert YES.predict(ROWS).tolist() == ["yes", "yes", "no", "no"]
    np.testing.assert_allclose(YES.predict_proba(ROWS)[:, 1], 1.0 / (1.0 + np.exp(-BEST)), rtol=1e-15)


def test_decision_function_is_positive_for_the_second_class_also_if_the_first_owns_the_prototypes():
    np.testing.assert_array_equal(NO.decision_function(ROWS), -BEST)
    assert NO.predict(ROWS).tolist() == ["no", "no", "no", "yes"]
    np.testing.assert_allclose(NO.predict_proba(ROWS)[:, 1], 1.0 / (1.0 + np.exp(BEST)), rtol=1e-15)


def test_with_three_classes_the_greatest_score_wins():
    X = [[0.0, 0.0], [2.0, 0.0], [2.0, 3.0], [-4.0, 1.0]]
    np.testing.assert_array_equal(THREE.decision_function(X), [[0, 0, 1], [2, 0, 1], [2, 3, 1], [-4, 1, 4]])
    assert THREE.predict(X).tolist() == ["c", "a", "b", "c"]
    e = math.e
    np.testing.assert_allclose(THREE.predict_proba(X)[0], [1 / (2 + e), 1 / (2 + e), e / (2 + e)], rtol=1e-15)


@pytest.mark.parametrize(
    ("row", "winner"), [([1.0, 0.0], "a"), ([0.0, 1.0], "b"), ([1.0, 1.0], "a"), ([-5.0, 5.0], "b")]
)
def test_with_three_classes_a_tie_goes_to_the_first_class(row, winner):
    assert THREE.predict([row]).tolist() == [winner]
    assert THREE.predict_one(row) == winner
    shuffled = replace(THREE, prototypes=THREE.prototypes[::-1])
    assert shuffled.predict([row]).tolist() == [winner]
    assert shuffled.predict_one(row) == winner


@pytest.mark.parametrize(("x", "winner"), [(-5e-324, "no"), (0.0, "no"), (-0.0, "no"), (5e-324, "yes")])
def test_a_prototype_of_the_second_class_fires_above_zero(x, winner):
    model = SMaLLModel(("no", "yes"), "<U3", 1, (Prototype(1, 0.0, (Term(0, 1.0),)),))
    assert model.predict([[x]]).tolist() == [winner]
    assert model.predict_one([x]) == winner
    assert (model.decision_function([[x]])[0] > 0.0) == (winner == "yes")


@pytest.mark.parametrize(("x", "winner"), [(-5e-324, "yes"), (0.0, "no"), (-0.0, "no"), (5e-324, "no")])
def test_a_prototype_of_the_first_class_fires_from_zero_on(x, winner):
    model = SMaLLModel(("no", "yes"), "<U3", 1, (Prototype(0, 0.0, (Term(0, 1.0),)),))
    assert model.predict([[x]]).tolist() == [winner]
    assert model.predict_one([x]) == winner
    assert (model.decision_function([[x]])[0] > 0.0) == (winner == "yes")


@given(models_with_rows())
def test_every_way_to_predict_agrees_with_the_rule_row_by_row(given_):
    model, rows = given_
    expected = [by_definition(model, row) for row in rows]
    X = np.array(rows)
    assert model.predict(X).tolist() == expected
    assert [model.predict_one(row) for row in rows] == expected
    assert [model.predict_one(row) for row in X] == expected
    assert [model.predict_one({f"x{l}": x for l, x in enumerate(row)}) for row in rows] == expected
    assert [model.predict(X[i : i + 1])[0] for i in range(len(X))] == expected
    decision, probability = model.decision_function(X), model.predict_proba(X)
    index = np.array([model.classes.index(label) for label in expected])
    if len(model.classes) == 2:
        np.testing.assert_array_equal(decision > 0.0, index == 1)
        decision = np.column_stack([np.zeros(len(X)), decision])
    np.testing.assert_array_equal(decision.argmax(axis=1), index)
    assert probability.shape == (len(X), len(model.classes))
    np.testing.assert_allclose(probability.sum(axis=1), 1.0, rtol=1e-14)
    np.testing.assert_array_equal(probability[np.arange(len(X)), index], probability.max(axis=1))
    log_probability = decision - np.logaddexp.reduce(decision, axis=1, keepdims=True)
    np.testing.assert_allclose(probability, np.exp(log_probability), rtol=1e-9, atol=1e-300)


@pytest.mark.parametrize(
    ("classes", "dtype"),
    [
        ((0, 1), "<i8"),
        ((0, 1), "|u1"),
        ((0.5, 1.5), "<f4"),
        ((False, True), "|b1"),
        (("x", 1), "|O"),
        (("b", "a"), "<U1"),
    ],
)
def test_predictions_have_the_type_of_the_training_labels(classes, dtype):
    model = replace(YES, classes=classes, class_dtype=dtype)
    predicted = model.predict(ROWS)
    assert predicted.dtype == np.dtype(dtype)
    assert predicted.tolist() == [classes[1], classes[1], classes[0], classes[0]]
    assert model.predict_one(ROWS[0]) == classes[1]
    assert type(model.predict_one(ROWS[0])) is type(classes[1])


@pytest.mark.parametrize("extreme", [-1e300, 1e300])
def test_probabilities_of_extreme_scores_are_zero_and_one(extreme):
    model = SMaLLModel((0, 1), "<i8", 1, (Prototype(1, 0.0, (Term(0, 1.0),)),))
    np.testing.assert_array_equal(model.predict_proba([[extreme]]), [[extreme < 0.0, extreme > 0.0]])


# --- the object ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("part", "field"),
    [
        (WHOLE, "classes"),
        (WHOLE, "new"),
        (PROTOTYPES[0], "intercept"),
        (PROTOTYPES[0].terms[0], "weight"),
        (TRAINING, "alpha"),
    ],
)
def test_a_model_is_frozen(part, field):
    with pytest.raises(FrozenInstanceError):
        setattr(part, field, 1.0)


@pytest.mark.parametrize("model", [YES, NO, THREE, WHOLE], ids=["yes", "no", "three", "whole"])
def test_a_model_pickles_copies_and_hashes(model):
    for twin in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        assert twin == model
        assert repr(twin) == repr(model)
        assert hash(twin) == hash(model)
        X = np.ones((2, model.n_features))
        np.testing.assert_array_equal(twin.predict(X), model.predict(X))


@pytest.mark.parametrize(
    ("classes", "owners", "message"),
    [
        ((0,), [0], "two classes and one prototype"),
        ((0, 1), [], "two classes and one prototype"),
        ((0, 1, 2), [0, 1], "each of them owns a prototype"),
        ((0, 1, 2), [0, 1, 2, 3], "belongs to one of the classes"),
        ((0, 1), [0, 2], "belongs to one of the classes"),
    ],
)
def test_a_model_whose_prototypes_do_not_fit_its_classes_cannot_be_made(classes, owners, message):
    with pytest.raises(ValueError, match=message):
        SMaLLModel(classes, "<i8", 1, tuple(Prototype(owner, 0.0, ()) for owner in owners))


@pytest.mark.parametrize(
    ("prototypes", "message"),
    [
        ([[(0, "a")], [(0, "b")]], "Feature 0 has two names: 'a', 'b'"),
        ([[(1, "a")], [(0, "b"), (1, None)]], "Feature 1 has two names: 'a', None"),
        ([[(0, None), (1, None)], [(0, "None")]], "Feature 0 has two names: None, 'None'"),
        ([[(0, "a"), (1, "a")]], "must have different names, or all none: 'a', 'a'"),
        ([[(0, "")], [(2, "b"), (1, "")]], "must have different names, or all none: '', 'b', ''"),
        ([[(0, "a"), (1, None)]], "must have different names, or all none: 'a', None"),
        ([[(0, None)], [(1, "b")]], "must have different names, or all none: None, 'b'"),
    ],
)
def test_a_model_whose_features_are_not_called_apart_cannot_be_made(prototypes, message):
    made = [Prototype(1, 0.0, tuple(Term(index, 1.0, name) for index, name in terms)) for terms in prototypes]
    with pytest.raises(ValueError, match=message):
        SMaLLModel((0, 1), "<i8", 3, tuple(made))


def test_features_in_use_come_once_and_in_order():
    backwards = replace(YES, prototypes=(*PROTOTYPES[::-1], Prototype(1, 0.0, (Term(2, 1.0, "c"), Term(1, 1.0, "b")))))
    assert [(term.feature, term.label) for term in backwards.features] == [(0, "a"), (1, "b"), (2, "c")]
    assert [term.label for term in THREE.features] == ["x0", "x1"]


def test_the_optimality_gap_is_relative_to_the_objective():
    assert TRAINING.optimality_gap == pytest.approx(0.2)


def test_without_a_certificate_there_is_no_optimality_gap():
    assert replace(TRAINING, lower_bound=None).optimality_gap is None


def test_names_can_be_given_later_and_change_nothing_else():
    named = THREE.with_feature_names(["temp", "pH\n"])
    assert [term.label for term in named.features] == ["temp", "pH\n"]
    assert [term.name for term in THREE.features] == [None, None]
    assert named.with_feature_names(["x0", "x1"]).predict_one({"x0": 2.0, "x1": 0.0}) == "a"
    assert named.predict_one({"temp": 2.0, "pH\n": 3.0}) == "b"
    assert named.predict(pd.DataFrame({"pH\n": [3.0], "temp": [2.0]})).tolist() == ["b"]
    X = np.random.default_rng(0).normal(size=(20, 2))
    np.testing.assert_array_equal(named.scores(X), THREE.scores(X))
    assert THREE.with_feature_names(np.array(["temp", "pH\n"])) == named
    assert SMaLLModel.from_json(named.to_json()) == named


@pytest.mark.parametrize("called", [[], ["a"], ["a", "b", "c"]])
def test_a_wrong_number_of_names_is_an_error_that_says_so(called):
    with pytest.raises(ValueError, match=f"There are {len(called)} names for 2 features"):
        THREE.with_feature_names(called)


@pytest.mark.parametrize("called", [["a", "a", "a"], ["a", "b", "a"], [1, 2, "1"]])
def test_names_given_later_must_differ_where_they_are_in_use(called):
    with pytest.raises(ValueError, match="must have different names"):
        YES.with_feature_names(called)
    assert YES.with_feature_names(["a", "a", "c"]) == YES  # the one between is not in use
