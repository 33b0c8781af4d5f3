"""The trained model: what it predicts, how it prints, and that a file is read exactly or refused with a reason."""

import copy
import json
import math
import os
import pickle
import re
import subprocess
import sys
import tempfile
from dataclasses import FrozenInstanceError, replace
from datetime import date
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from smallearn import SMaLLModel, load_model
from smallearn.model import CHUNK_ROWS, Prototype, Term, Training

posix_only = pytest.mark.skipif(os.name == "nt", reason="file modes and symbolic links of POSIX")

TRAINING = Training(smallearn="0.1.0", n_rows=40, alpha=0.01, n_nonzero=2, objective=0.25, lower_bound=0.2)
# Scores 2a - c - 1 and 0.5 - a; the feature between them is not in use.
PROTOTYPES = (
    Prototype(1, -1.0, (Term(0, 2.0, "a"), Term(2, -1.0, "c"))),
    Prototype(1, 0.5, (Term(0, -1.0, "a"),)),
)
YES = SMaLLModel(("no", "yes"), "<U3", 3, PROTOTYPES)
NO = replace(YES, prototypes=tuple(replace(prototype, owner=0) for prototype in PROTOTYPES))
ROWS = np.array([[0.0, 9.0, 0.0], [1.0, 9.0, 0.0], [0.5, 9.0, 0.0], [0.75, 9.0, 1.0]])
BEST = np.array([0.5, 1.0, 0.0, -0.25])  # the greater of the two scores, by hand

# Class "a" scores x0, "b" scores x1, "c" the greater of 1 and -x0.
THREE = SMaLLModel(
    ("a", "b", "c"),
    "<U1",
    2,
    (
        Prototype(0, 0.0, (Term(0, 1.0),)),
        Prototype(1, 0.0, (Term(1, 1.0),)),
        Prototype(2, 1.0, ()),
        Prototype(2, 0.0, (Term(0, -1.0),)),
    ),
)
# Every kind of node that a file can have, for the tests that damage one.
WHOLE = replace(YES, classes=(0, 1), class_dtype="<i8", training=TRAINING)

names = st.text(max_size=8) | st.sampled_from(["", "'", '"', "\\", "\n", "\r\n", "\x00", "\x85\u2028", "π"])
finite = st.floats(allow_nan=False, allow_infinity=False)
small = st.integers(-3, 3).map(float) | st.floats(-100.0, 100.0)
either = st.booleans()
numbered = st.integers(2, 4).map(lambda count: (tuple(range(count)), "<i8"))


@st.composite
def models(draw, weights=finite, named=either, classes=numbered):
    """Any valid model: two classes of which one owns the prototypes, or more that own one or more each; and names that
    differ, or none."""
    labels, dtype = draw(classes)
    if len(labels) == 2:
        owners = [draw(st.integers(0, 1))] * draw(st.integers(1, 3))
    else:
        everyone = list(range(len(labels)))
        owners = draw(st.permutations(everyone + draw(st.lists(st.sampled_from(everyone), max_size=2))))
    n_features = draw(st.integers(1, 4))
    called = [None] * n_features
    if draw(named):
        called = draw(st.lists(names, min_size=n_features, max_size=n_features, unique=True))
    prototypes = []
    for owner in owners:
        used = draw(st.lists(st.integers(0, n_features - 1), unique=True, max_size=n_features))
        terms = tuple(Term(index, draw(weights), called[index]) for index in used)
        prototypes.append(Prototype(owner, draw(weights), terms))
    return SMaLLModel(labels, dtype, n_features, tuple(prototypes), draw(st.none() | trainings))


@st.composite
def models_with_rows(draw):
    model = draw(models(weights=small, named=st.just(False)))
    row = st.lists(small, min_size=model.n_features, max_size=model.n_features)
    return model, draw(st.lists(row, min_size=1, max_size=6))


positive = st.floats(0.0, exclude_min=True, allow_infinity=False)
trainings = st.builds(
    Training, st.text(max_size=5), st.integers(1), positive, st.integers(1), objective=positive, lower_bound=finite
)


def as_array(labels, dtype=None):
    """Labels as `SMaLLClassifier` hands them over: from a numpy array."""
    values = np.unique(np.array(labels, dtype=dtype))
    return tuple(values.tolist()), values.dtype.str


several = {"min_size": 2, "max_size": 4, "unique": True}
labels_of = {
    "int": st.lists(st.integers(-(2**63), 2**63 - 1), **several).map(lambda labels: as_array(labels, np.int64)),
    "uint8": st.lists(st.integers(0, 255), **several).map(lambda labels: as_array(labels, np.uint8)),
    "float": st.lists(finite, **several).map(as_array),
    "float32": st.lists(st.floats(width=32, allow_nan=False, allow_infinity=False), **several).map(
        lambda labels: as_array(labels, np.float32)
    ),
    "bool": st.just(((False, True), "|b1")),
    "str": st.lists(st.text(max_size=5), **several).map(as_array).filter(lambda found: len(found[0]) > 1),
    "object": st.lists(st.text(max_size=5) | st.integers() | finite | st.booleans(), **several).map(
        lambda labels: (tuple(labels), "|O")
    ),
}


def by_definition(model, row):
    """The class of a row straight from the rule, in plain Python."""
    score = [0.0 if len(model.classes) == 2 else -math.inf] * len(model.classes)
    if len(model.classes) == 2:
        score[model.prototypes[0].owner] = -math.inf
    for prototype in model.prototypes:
        z = prototype.intercept
        for term in prototype.terms:
            z += term.weight * row[term.feature]
        score[prototype.owner] = max(score[prototype.owner], z)
    return model.classes[score.index(max(score))]


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


# --- kinds of X ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "convert",
    [
        np.float32,
        np.asfortranarray,
        lambda X: X.astype(object),
        lambda X: X.tolist(),
        lambda X: np.repeat(X, 2, axis=0)[::2],
        sparse.csr_array,
        sparse.csr_matrix,
        sparse.csc_array,
        lambda X: sparse.csr_array(X.astype(np.float32)),
    ],
    ids=["float32", "Fortran", "object", "list", "strided", "csr", "csr_matrix", "csc", "csr of float32"],
)
@pytest.mark.parametrize("model", [YES, NO], ids=["yes", "no"])
def test_every_kind_of_array_gives_the_same_scores(model, convert):
    X = convert(ROWS)
    np.testing.assert_array_equal(model.scores(X), model.scores(ROWS))
    np.testing.assert_array_equal(model.predict(X), model.predict(ROWS))


def test_float32_rows_are_scored_in_float64():
    X = np.random.default_rng(0).normal(size=(50, 3)).astype(np.float32)
    scores = YES.scores(X)
    assert scores.dtype == np.float64
    np.testing.assert_array_equal(scores, YES.scores(X.astype(np.float64)))


def test_whole_numbers_and_booleans_are_numbers():
    np.testing.assert_array_equal(YES.decision_function(np.array([[1, 9, 0]])), [1.0])
    np.testing.assert_array_equal(YES.decision_function(np.array([[True, False, False]])), [1.0])


@pytest.mark.parametrize("table", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
@pytest.mark.parametrize("columns", [["a", "b", "c"], ["c", "b", "a"], ["c", "a"], ["extra", "c", "b", "a", "more"]])
def test_tables_are_read_by_name_whatever_else_they_hold(table, columns):
    values = dict(zip("abc", ROWS.T, strict=True))
    X = table({name: values.get(name, np.full(len(ROWS), np.nan)) for name in columns})
    np.testing.assert_array_equal(YES.predict(X), YES.predict(ROWS))
    np.testing.assert_array_equal(YES.decision_function(X), BEST)
    np.testing.assert_array_equal(YES.predict_proba(X), YES.predict_proba(ROWS))


@pytest.mark.parametrize("table", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
def test_a_table_without_a_column_in_use_is_an_error_that_names_it(table):
    X = table({"a": [1.0], "b": [2.0], "d\n": [3.0]})
    with pytest.raises(ValueError, match="lacks the columns 'c' that the model uses"):
        YES.predict(X)
    with pytest.raises(ValueError, match="lacks the columns 'a', 'c'"):
        YES.predict(table({"b": [2.0]}))


@pytest.mark.parametrize("table", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
def test_a_table_with_a_missing_value_or_text_in_a_column_in_use_is_an_error(table):
    with pytest.raises(ValueError, match="NaN or infinity"):
        YES.predict(table({"a": [1.0, None], "c": [0.0, 0.0]}))
    with pytest.raises(ValueError, match="'high'"):
        YES.predict(table({"a": ["high", "low"], "c": [0.0, 0.0]}))


@pytest.mark.parametrize(
    ("columns", "twice"), [(["a", "c", "a"], "'a'"), (["c", "a", "c", "b"], "'c'"), (["c", "a"] * 2, "'a', 'c'")]
)
def test_a_table_with_two_columns_of_a_name_in_use_is_an_error_that_names_them(columns, twice):
    X = pd.DataFrame(np.ones((2, len(columns))), columns=columns)
    for method in (YES.predict, YES.predict_proba, YES.decision_function, YES.scores):
        with pytest.raises(ValueError, match=f"more than one column called {twice}, which the model uses"):
            method(X)


def test_two_columns_of_a_name_not_in_use_are_no_matter():
    X = pd.DataFrame(ROWS[:, [0, 1, 1, 2]], columns=["a", "b", "b", "c"])
    np.testing.assert_array_equal(YES.decision_function(X), BEST)


NO_NUMBERS = {
    "dates": (np.array(["2020-01-01", "2020-01-02"], dtype="M8[us]"), r"values of type datetime64\[us\]"),
    "durations": (np.array([1, 2], dtype="m8[us]"), r"values of type timedelta64\[us\]"),
    "text": (np.array(["1", "2"]), r"text \('1'\)"),
    "text among objects": (np.array([1, "2"], dtype=object), r"text \('2'\)"),
    "bytes among objects": (np.array([1, b"2"], dtype=object), r"text \(b'2'\)"),
    "complex": (np.array([1j, 2.0]), "values of type complex128"),
}


@pytest.mark.parametrize(
    ("table", "kind"),
    [
        *((np.column_stack, kind) for kind in NO_NUMBERS),
        *((pd.DataFrame, kind) for kind in NO_NUMBERS),
        *((pl.DataFrame, kind) for kind in ("dates", "durations", "text")),
    ],
)
def test_what_is_no_number_is_refused_and_not_converted(table, kind):
    column, what = NO_NUMBERS[kind]
    X = table([column] * 3) if table is np.column_stack else table({"a": column, "c": np.zeros(2)})
    for method in (YES.predict, YES.predict_proba, YES.decision_function, YES.scores):
        with pytest.raises(ValueError, match=f"the model uses contain {what}; it needs numbers"):
            method(X)


@pytest.mark.parametrize("model", [YES, THREE], ids=["named", "not named"])
@pytest.mark.parametrize("method", ["predict", "predict_proba", "decision_function", "scores"])
def test_a_lazy_table_is_refused_or_read_aright(model, method):
    X = ROWS[:, : model.n_features]
    lazy = pl.LazyFrame(X, schema=["a", "b", "c"][: model.n_features])
    try:
        found = getattr(model, method)(lazy)
    except ValueError:
        return
    np.testing.assert_array_equal(found, getattr(model, method)(X))


@pytest.mark.parametrize("table", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
def test_a_model_without_names_reads_a_table_by_position(table):
    np.testing.assert_array_equal(THREE.predict(table({"p": [2.0, 2.0], "q": [0.0, 3.0]})), ["a", "b"])
    with pytest.raises(ValueError, match=r"shape \(1, 1\).*2 features"):
        THREE.predict(table({"p": [2.0]}))


@pytest.mark.parametrize("method", ["predict", "predict_proba", "decision_function", "scores"])
@pytest.mark.parametrize(
    ("X", "shape"),
    [
        (np.ones((2, 2)), "(2, 2)"),
        (np.ones((2, 4)), "(2, 4)"),
        (np.ones(3), "(3,)"),
        (np.ones((1, 3, 1)), "(1, 3, 1)"),
        (np.float64(1.0), "()"),
        ([], "(0,)"),
        (sparse.csr_array(np.ones((2, 4))), "(2, 4)"),
    ],
)
def test_a_wrong_shape_is_an_error_that_says_what_came_and_what_is_wanted(method, X, shape):
    with pytest.raises(ValueError, match=re.escape(f"X has shape {shape}; the model was trained on 3 features")):
        getattr(YES, method)(X)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize(
    "convert", [np.asarray, np.float32, sparse.csr_array, lambda X: pd.DataFrame(X, columns=[*"abc"])]
)
def test_a_value_that_is_not_finite_is_an_error_in_a_feature_in_use_and_no_matter_elsewhere(convert, bad):
    X = ROWS.copy()
    X[1, 1] = bad
    assert YES.predict(convert(X)).tolist() == YES.predict(ROWS).tolist()
    X[1, 2] = bad
    with pytest.raises(ValueError, match="NaN or infinity"):
        YES.predict(convert(X))


def test_text_is_an_error_that_shows_it():
    with pytest.raises(ValueError, match="'high'"):
        YES.predict([["high", "b", "c"]])


@pytest.mark.parametrize("model", [YES, NO, THREE], ids=["yes", "no", "three"])
@pytest.mark.parametrize(
    "convert", [np.asarray, sparse.csr_array, lambda X: pd.DataFrame(X, columns=list("abc")[: X.shape[1]])]
)
def test_no_rows_give_empty_predictions_of_the_right_shape_and_type(model, convert):
    X = convert(np.empty((0, model.n_features)))
    n = len(model.classes)
    assert model.predict(X).shape == (0,)
    assert model.predict(X).dtype == np.dtype(model.class_dtype)
    assert model.decision_function(X).shape == ((0,) if n == 2 else (0, n))
    assert model.predict_proba(X).shape == (0, n)
    assert model.scores(X).shape == (0, len(model.prototypes))


@pytest.mark.parametrize("n_rows", [1, CHUNK_ROWS - 1, CHUNK_ROWS, CHUNK_ROWS + 1, 2 * CHUNK_ROWS + 3])
@pytest.mark.parametrize("convert", [np.asarray, sparse.csr_array, lambda X: pl.DataFrame(X, schema=["a", "b", "c"])])
def test_rows_beyond_one_chunk_are_scored_like_the_first(n_rows, convert):
    X = np.random.default_rng(0).normal(size=(n_rows, 3))
    scores = YES.scores(convert(X))
    np.testing.assert_array_equal(scores[:, 0], (-1.0 + 2.0 * X[:, 0]) + -1.0 * X[:, 2])
    np.testing.assert_array_equal(scores[:, 1], 0.5 + -1.0 * X[:, 0])
    assert len(YES.predict(convert(X))) == n_rows


def test_a_nan_in_the_last_chunk_is_found():
    X = np.zeros((CHUNK_ROWS + 1, 3))
    X[-1, 0] = np.nan
    with pytest.raises(ValueError, match="NaN or infinity"):
        YES.predict(X)


def test_a_model_of_intercepts_alone_predicts_every_row_alike():
    model = SMaLLModel((0, 1), "<i8", 2, (Prototype(1, 0.25, ()),))
    for X in (np.zeros((3, 2)), sparse.csr_array((3, 2)), pd.DataFrame({"p": [1.0] * 3, "q": [2.0] * 3})):
        np.testing.assert_array_equal(model.decision_function(X), [0.25] * 3)
    assert model.predict_one({}) == 1
    assert model.features == ()


# --- one row ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "row",
    [
        {"a": 1.0, "c": 0.0},
        {"c": 0, "a": True, "b": "not in use", "more": None},
        [1.0, None, 0.0],
        (1, "not in use", 0),
        np.array([1.0, np.nan, 0.0]),
        np.array([1, 9, 0]),
        np.array([1.0, np.nan, 0.0], dtype=np.float16),
        pd.Series([1.0, np.nan, 0.0], index=["a", "b", "c"]),
        pd.Series([0.0, 1.0], index=["c", "a"]),
        pd.Series([0, "not in use", 1], index=["c", "b", "a"], dtype=object),
    ],
    ids=[
        *("dict", "dict with more", "list", "tuple", "numpy", "numpy of int", "numpy of float16"),
        *("Series", "Series in other order", "Series of objects"),
    ],
)
def test_one_row_may_be_a_mapping_or_a_sequence_and_only_features_in_use_are_read(row):
    assert YES.predict_one(row) == "yes"
    assert NO.predict_one(row) == "no"


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_one_row_of_narrow_floats_is_scored_in_float64(dtype):
    x = dtype(0.1)
    for excess in (1e-9, -1e-9):  # less than the distance to the next number of that type
        assert dtype(excess - float(x)) == -x
        model = SMaLLModel(("no", "yes"), "<U3", 1, (Prototype(1, excess - float(x), (Term(0, 1.0, "a"),)),))
        expected = "yes" if excess > 0.0 else "no"
        assert model.predict(np.array([[x]])).tolist() == [expected]
        for row in (np.array([x]), [x], {"a": x}, pd.Series([x], index=["a"])):
            assert model.predict_one(row) == expected


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_one_row_of_narrow_floats_may_have_scores_beyond_their_range(dtype):
    X = np.array([[-1.0, 0.0, 0.0], [1.0, 0.0, 1.0]], dtype=dtype) * np.finfo(dtype).max
    large = replace(YES, prototypes=(Prototype(1, -1.0, (Term(0, 1e40, "a"), Term(2, -1e39, "c"))),))
    assert [large.predict_one(row) for row in X] == large.predict(X).tolist() == ["no", "yes"]


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_every_row_of_narrow_floats_is_predicted_alike_alone_and_together(dtype):
    rng = np.random.default_rng(0)
    weights = rng.normal(size=3)
    X = rng.normal(size=(200, 3)).astype(dtype)
    X[:, 2] = -(X[:, 0] * weights[0] + X[:, 1] * weights[1]) / weights[2]  # scores near 0
    model = SMaLLModel((0, 1), "<i8", 3, (Prototype(1, 0.0, tuple(map(Term, range(3), weights.tolist()))),))
    together = model.predict(X).tolist()
    assert set(together) == {0, 1}
    assert [model.predict_one(row) for row in X] == together


def test_features_without_names_are_called_by_their_number():
    assert THREE.predict_one({"x0": 2.0, "x1": 3.0}) == "b"
    with pytest.raises(ValueError, match="lacks 'x1'; the model uses 'x0', 'x1'"):
        THREE.predict_one({"x0": 2.0, "b": 3.0})


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"a": 1.0}, "lacks 'c'; the model uses 'a', 'c'"),
        ({}, "lacks 'a'; the model uses 'a', 'c'"),
        ({"a": "1.0", "c": 0.0}, "a number for each of 'a', 'c'"),
        (["high", 0.0, 0.0], "a number for each of 'a', 'c'"),
        ("abc", "a number for each of 'a', 'c'"),
        ({"a": "3", "c": 0.0}, "a number for each of 'a', 'c'.*'3' is text"),
        (["3", 0.0, 0.0], "a number for each of 'a', 'c'.*'3' is text"),
        ({"a": b"3", "c": 0.0}, "a number for each of 'a', 'c'.*b'3' is text"),
        ([0.0, 0.0, b"3"], "a number for each of 'a', 'c'.*b'3' is text"),
        (np.array([b"1", b"2", b"3"]), "a number for each of 'a', 'c'.*is text"),
        ({"a": 10**400, "c": 0.0}, "a number for each of 'a', 'c'.*too large"),
        ([0.0, 0.0, -(10**400)], "a number for each of 'a', 'c'.*too large"),
        ("3", "'3' is text"),
        (None, "must be a mapping or a sequence with a number for each of 'a', 'c'"),
        (3, "must be a mapping or a sequence with a number for each of 'a', 'c'"),
        (2.5, "must be a mapping or a sequence with a number for each of 'a', 'c'"),
        (np.float64(2.5), "must be a mapping or a sequence with a number for each of 'a', 'c'"),
        (pd.Series([1.0, 2.0], index=["a", "b"]), "lacks 'c'; the model uses 'a', 'c'"),
        (np.array(["1", "2", "3"]), "a number for each of 'a', 'c'"),
        ({"a": 1.0, "c": None}, "a number for each of 'a', 'c'.*NoneType"),
        ([1.0, 0.0, None], "a number for each of 'a', 'c'.*NoneType"),
        ([1.0, 0.0, 1j], "a number for each of 'a', 'c'.*complex"),
        ({"a": math.nan, "c": 0.0}, "not a finite number: {'a': nan, 'c': 0.0}"),
        ([0.0, 0.0, math.nan], "not a finite number: {'a': 0.0, 'c': nan}"),
        (np.array([math.inf, 0.0, 0.0]), "not a finite number.*inf"),
        ({"a": -math.inf, "c": 0.0}, "not a finite number: {'a': -inf, 'c': 0.0}"),
        ([1.0, 2.0], "has 2 values; the model was trained on 3 features"),
        ((1.0, 2.0, 3.0, 4.0), "has 4 values; the model was trained on 3 features"),
        ([], "has 0 values; the model was trained on 3 features"),
        (np.zeros(2), "has 2 values; the model was trained on 3 features"),
    ],
)
def test_one_bad_row_is_an_error_that_says_why(row, message):
    with pytest.raises(ValueError, match=message):
        YES.predict_one(row)


@pytest.mark.parametrize("row", [b"abc", bytearray(b"abc")])
def test_bytes_are_text_and_no_row_of_numbers(row):
    with pytest.raises(ValueError, match="a number for each of 'a', 'c'"):
        YES.predict_one(row)


def test_a_text_of_one_digit_is_no_row_of_one_feature():
    model = SMaLLModel((0, 1), "<i8", 1, (Prototype(1, 0.0, (Term(0, 1.0),)),))
    with pytest.raises(ValueError, match=r"a number for each of 'x0'.*'3' is text"):
        model.predict_one("3")


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("place", [0, 1])
def test_one_row_of_three_classes_is_refused_whichever_prototype_meets_the_bad_value(bad, place):
    row = [1.0, 1.0]
    row[place] = bad
    with pytest.raises(ValueError, match="not a finite number"):
        THREE.predict_one(row)


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
        ((0, 1), [0, 1], "one of them owns all the prototypes"),
        ((0, 1, 2), [0, 1], "each of them owns a prototype"),
        ((0, 1, 2), [0, 1, 2, 3], "each of them owns a prototype"),
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


# --- in words --------------------------------------------------------------------------------------------------------


def test_print_shows_the_rule_the_weights_and_the_names(capsys):
    print(YES)
    assert capsys.readouterr().out == (
        "SMaLL model: 2 prototypes of at most 2 terms, 2 of 3 features used\n"
        "Predict 'yes' if any of these scores is above 0, otherwise 'no'.\n"
        "\n"
        "  prototype 1\n"
        "    +2 × a\n"
        "    -1 × c\n"
        "    -1 (constant)\n"
        "\n"
        "  prototype 2\n"
        "      -1 × a\n"
        "    +0.5 (constant)\n"
    )


def test_print_says_that_the_first_class_wins_at_zero():
    lines = str(NO).splitlines()
    assert lines[1] == "Predict 'no' if any of these scores is 0 or more, otherwise 'yes'."
    assert lines[2:] == str(YES).splitlines()[2:]


def test_print_of_one_prototype_speaks_of_one_score():
    one = SMaLLModel((False, True), "|b1", 1, (Prototype(1, 0.0, (Term(0, 1234567.0),)),))
    assert str(one) == (
        "SMaLL model: 1 prototype of at most 1 term, 1 of 1 feature used\n"
        "Predict True if this score is above 0, otherwise False.\n"
        "\n"
        "  prototype 1\n"
        "    +1.235e+06 × x0\n"
        "            +0 (constant)"
    )


def test_print_of_three_classes_names_the_class_of_each_prototype_and_the_order_at_a_tie():
    assert str(THREE) == (
        "SMaLL model: 4 prototypes of at most 1 term, 2 of 2 features used\n"
        "Predict the class of the highest score; at a tie the first of 'a', 'b', 'c'.\n"
        "\n"
        "  prototype 1, for 'a'\n"
        "    +1 × x0\n"
        "    +0 (constant)\n"
        "\n"
        "  prototype 2, for 'b'\n"
        "    +1 × x1\n"
        "    +0 (constant)\n"
        "\n"
        "  prototype 3, for 'c'\n"
        "    +1 (constant)\n"
        "\n"
        "  prototype 4, for 'c'\n"
        "    -1 × x0\n"
        "    +0 (constant)"
    )


def test_print_shows_the_certificate_and_its_limits():
    text = str(WHOLE)
    assert text.startswith(str(replace(WHOLE, training=None)))
    assert "training objective 0.25; no model with at most 2 terms a prototype is below 0.2\n" in text
    assert "gap 20.0%" in text
    assert text.endswith("It says nothing of test accuracy.")


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("a\nb", "a\\nb"),
        ("\x1b[31mred", "\\x1b[31mred"),
        ("tab\t\x00", "tab\\t\\x00"),
        ("right to left \u202e", "right to left \\u202e"),
        ("\ud800", "\\ud800"),
        ("π · 1", "π · 1"),
        ("n" * 60, "n" * 60),
        ("n" * 61, "n" * 59 + "…"),
        ("n" * 10_000, "n" * 59 + "…"),
    ],
)
def test_print_escapes_control_characters_and_cuts_long_text(name, shown):
    model = SMaLLModel((name, "z"), "|O", 1, (Prototype(1, 0.0, (Term(0, 1.0, name),)),))
    lines = str(model).splitlines()
    assert lines[1] == f"Predict 'z' if this score is above 0, otherwise '{shown}'."
    assert lines[4] == f"    +1 × {shown}"
    assert len(lines) == 6


@given(models())
def test_print_is_printable_whatever_the_names(model):
    assert all(line.isprintable() for line in str(model).split("\n"))


# --- JSON: the way there and back ------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", labels_of)
@given(data=st.data())
def test_json_gives_back_an_equal_model_whose_every_number_and_name_is_exact(kind, data):
    model = data.draw(models(classes=labels_of[kind]))
    text = model.to_json()
    restored = SMaLLModel.from_json(text)
    assert restored == model
    assert repr(restored) == repr(model)  # tells 1 from 1.0 and True, and 0.0 from -0.0
    assert restored.to_json() == text
    json.loads(text, parse_constant=pytest.fail)  # no NaN or Infinity, which other readers refuse


@settings(max_examples=25)
@given(models(classes=labels_of["str"]))
def test_a_saved_model_loads_equal(model):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "model.json")
        model.save(path)
        assert path.read_text(encoding="utf-8") == model.to_json()
        assert repr(load_model(path)) == repr(model)
        assert load_model(str(path)) == model


@pytest.mark.parametrize(
    ("label", "kind"),
    [
        (None, "NoneType"),
        (b"x", "bytes"),
        ((1, 2), "tuple"),
        (date(2020, 1, 1), "date"),
        (np.int64(3), "int64"),
        (1j, "complex"),
    ],
)
def test_labels_that_json_cannot_hold_are_refused_by_name(label, kind):
    model = replace(YES, classes=("no", label), class_dtype="|O")
    with pytest.raises(ValueError, match=re.escape(f"Class {label!r} is a {kind}; JSON holds")):
        model.to_json()


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_numbers_that_json_cannot_hold_are_refused(bad):
    for model in (
        replace(YES, classes=(0.0, bad), class_dtype="<f8"),
        replace(YES, prototypes=(Prototype(1, bad, ()),)),
        replace(YES, prototypes=(Prototype(1, 0.0, (Term(0, bad),)),)),
    ):
        with pytest.raises(ValueError, match="JSON"):
            model.to_json()


# --- JSON: damage ----------------------------------------------------------------------------------------------------

GONE = object()


def tree_of(model):
    return json.loads(model.to_json())


def edited(tree, path, value):
    """The tree with the node at ``path`` replaced, or deleted if ``value`` is GONE."""
    if not path:
        return value
    tree = copy.deepcopy(tree)
    node = tree
    for key in path[:-1]:
        node = node[key]
    if value is GONE:
        del node[path[-1]]
    else:
        node[path[-1]] = value
    return tree


def paths(node, here=()):
    """Where every node below this one is."""
    children = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for key, child in children:
        yield (*here, key)
        yield from paths(child, (*here, key))


def at(place):
    """``prototypes[0].terms[1].weight`` as a path."""
    return tuple(int(key) if key.isdigit() else key for key in re.findall(r"\w+", place))


def check_refused(text, message):
    with pytest.raises(ValueError, match=message) as caught:
        SMaLLModel.from_json(text)
    assert type(caught.value) is ValueError


@pytest.mark.parametrize(
    ("place", "value", "message"),
    [
        ("format", "pickle", "\"format\" is not 'smallearn-model'"),
        ("format", GONE, "\"format\" is not 'smallearn-model'"),
        ("format", ["smallearn-model"], "\"format\" is not 'smallearn-model'"),
        ("version", 2, "schema version 2; this smallearn reads version 1"),
        ("version", 0, "schema version 0; this smallearn reads version 1"),
        ("version", "1", "schema version '1'; this smallearn reads version 1"),
        ("version", True, "schema version True; this smallearn reads version 1"),
        ("version", 1.0, r"schema version 1\.0; this smallearn reads version 1"),
        ("version", None, "schema version None"),
        ("version", GONE, "schema version None"),
        ("classes", [], "^classes: a model needs at least two, found 0"),
        ("classes", [0], "^classes: a model needs at least two, found 1"),
        ("classes[1]", GONE, "^classes: a model needs at least two, found 1"),
        ("prototypes", [], "at least two classes and one prototype"),
        ("prototypes[1].class", 0, "one of them owns all the prototypes"),
        ("prototypes[0].terms[1].feature", 0, r"prototypes\[0\].terms: a feature stands there twice"),
        ("prototypes[0].terms[0].name", "b", "Feature 0 has two names: 'b', 'a'"),
        ("prototypes[0].terms[0].name", None, "Feature 0 has two names: None, 'a'"),
        ("prototypes[0].terms[1].name", "a", "must have different names, or all none: 'a', 'a'"),
        ("prototypes[0].terms[1].name", None, "must have different names, or all none: 'a', None"),
        ("prototypes[0].terms[1].kind", "square", r"prototypes\[0\].terms\[1\].kind: 'square' is not 'raw'"),
        ("prototypes[0].terms[1].kind", None, r"prototypes\[0\].terms\[1\].kind: None is not 'raw'"),
        ("classes[1]", 0, r"classes: \[0, 0\] names a class twice"),
        ("training.objective", 0.0, "training: objective and alpha must be positive"),
        ("training.alpha", -1.0, "training: objective and alpha must be positive"),
    ],
)
def test_a_file_that_breaks_a_rule_is_refused_with_the_reason(place, value, message):
    check_refused(json.dumps(edited(tree_of(WHOLE), at(place), value)), message)


@pytest.mark.parametrize(
    "place",
    [
        *("classes", "class_dtype", "n_features", "prototypes", "training"),
        *(f"prototypes[1].{field}" for field in ("class", "intercept", "terms")),
        *(f"prototypes[0].terms[1].{field}" for field in ("kind", "feature", "weight", "name")),
        *(f"training.{field}" for field in ("smallearn", "n_rows", "alpha", "n_nonzero", "objective", "lower_bound")),
    ],
)
def test_a_missing_or_unknown_field_is_named_with_its_place(place):
    owner, _, field = place.rpartition(".")
    where = re.escape(owner or "model")
    check_refused(json.dumps(edited(tree_of(WHOLE), at(place), GONE)), rf"^{where}: missing fields \['{field}'\]")
    extra = (*at(place)[:-1], "extra")
    check_refused(json.dumps(edited(tree_of(WHOLE), extra, 1)), rf"^{where}: .*unknown fields \['extra'\]")


WRONG = {
    "list": ["01", {}, None, 1, True],
    "str": [1, 1.5, None, True, [], {}],
    "an object": [[], "a", 1, True],
    "a whole number": ["1", 1.0, None, True, [], {}, -1, 10**400 * -1],
    "a finite number": ["1.0", None, True, [], {}, 10**400],
}
EXPECTED = {
    "classes": "list",
    "class_dtype": "str",
    "n_features": "a whole number",
    "prototypes": "list",
    "prototypes[1]": "an object",
    "prototypes[1].class": "a whole number",
    "prototypes[1].intercept": "a finite number",
    "prototypes[1].terms": "list",
    "prototypes[0].terms[1]": "an object",
    "prototypes[0].terms[1].feature": "a whole number",
    "prototypes[0].terms[1].weight": "a finite number",
    "training": "an object",
    "training.smallearn": "str",
    "training.n_rows": "a whole number",
    "training.alpha": "a finite number",
    "training.n_nonzero": "a whole number",
    "training.objective": "a finite number",
    "training.lower_bound": "a finite number",
}


@pytest.mark.parametrize("place", EXPECTED)
def test_a_value_of_the_wrong_type_is_refused_with_its_place_and_what_was_expected(place):
    for value in WRONG[EXPECTED[place]]:
        check_refused(
            json.dumps(edited(tree_of(WHOLE), at(place), value)),
            rf"^{re.escape(place)}: expected {EXPECTED[place]}.*, found ",
        )


@pytest.mark.parametrize("name", [3, 1.5, True, [], {}])
def test_a_name_that_is_not_text_is_refused(name):
    place = "prototypes[0].terms[0].name"
    check_refused(json.dumps(edited(tree_of(WHOLE), at(place), name)), rf"^{re.escape(place)}: expected str, found ")


@pytest.mark.parametrize(
    ("place", "value", "limits"),
    [
        ("n_features", 0, "of at least 1"),
        ("n_features", -3, "of at least 1"),
        ("prototypes[0].class", 2, "from 0 to 1"),
        ("prototypes[0].class", -1, "from 0 to 1"),
        ("prototypes[0].terms[1].feature", 3, "from 0 to 2"),
        ("prototypes[0].terms[1].feature", -1, "from 0 to 2"),
        ("training.n_rows", 0, "of at least 1"),
        ("training.n_nonzero", 0, "of at least 1"),
    ],
)
def test_a_number_out_of_range_is_refused_with_the_range(place, value, limits):
    message = rf"^{re.escape(place)}: expected a whole number {limits}, found {value}\."
    check_refused(json.dumps(edited(tree_of(WHOLE), at(place), value)), message)


def test_with_three_classes_each_must_own_a_prototype():
    check_refused(json.dumps(edited(tree_of(THREE), at("prototypes[0].class"), 1)), "each of them owns a prototype")


@pytest.mark.parametrize(
    "dtype",
    [
        *("nonsense", "", "|S3", "<c16", "|V8", "<M8[D]", "i4,i4", "(2,)i4", "i8\x00", "\ud800"),
        *("f16", "<f16", "<U500000000", "<U0", "a", "\x07"),
    ],
)
def test_a_class_dtype_that_holds_no_labels_is_refused(dtype):
    check_refused(json.dumps(edited(tree_of(WHOLE), ("class_dtype",), dtype)), "^class_dtype: .* is not the type of")


@pytest.mark.parametrize(
    ("classes", "dtype", "message"),
    [
        (["a", "b"], "<i8", r"classes\[0\]: 'a' does not fit the type '<i8'"),
        ([0, True], "<i8", r"classes\[1\]: True does not fit"),
        ([0, 1.0], "<i8", r"classes\[1\]: 1.0 does not fit"),
        ([0, 1], "|b1", r"classes\[0\]: 0 does not fit"),
        ([0, 1], "<U3", r"classes\[0\]: 0 does not fit"),
        ([0.0, "1"], "<f8", r"classes\[1\]: '1' does not fit"),
        ([0.0, False], "<f8", r"classes\[1\]: False does not fit"),
        (["a", None], "|O", r"classes\[1\]: None does not fit"),
        (["a", []], "|O", r"classes\[1\]: \[\] does not fit"),
        ([0, 128], "|i1", r"classes: \[0, 128\] do not fit the type '\|i1'"),
        ([-1, 0], "|u1", r"classes: \[-1, 0\] do not fit"),
        ([0, 2**63], "<i8", "classes: .* do not fit"),
        ([0, 10**400], "<f8", "classes: .* do not fit"),
        ([0, 2**53 + 1], "<f8", "classes: .* do not fit"),
        ([0.5, 0.1], "<f4", "classes: .* do not fit"),
        ([0.0, 1e300], "f4", r"classes: \[0\.0, 1e\+300\] do not fit the type 'f4'"),
        ([-1e300, 0.0], "<f2", "classes: .* do not fit the type '<f2'"),
        (["a", "long"], "<U3", "classes: .* do not fit"),
        (["a", "b\x00"], "<U3", "classes: .* do not fit"),
        ([1, True], "|O", "classes: .* names a class twice"),
        ([1, 1.0], "|O", "classes: .* names a class twice"),
        (["a", "a"], "<U1", "classes: .* names a class twice"),
    ],
)
def test_labels_that_do_not_fit_their_type_are_refused(classes, dtype, message):
    tree = edited(edited(tree_of(WHOLE), ("classes",), classes), ("class_dtype",), dtype)
    check_refused(json.dumps(tree), message)


@pytest.mark.parametrize("dtype", ["<f8", "f4", "|O"])
@pytest.mark.parametrize("number", ["1e999", "-1e999"])
def test_a_label_beyond_the_range_of_a_float_is_refused_with_its_place(dtype, number):
    tree = edited(edited(tree_of(WHOLE), ("classes",), [0.0, "HERE"]), ("class_dtype",), dtype)
    check_refused(json.dumps(tree).replace('"HERE"', number), rf"^classes\[1\]: {float(number)} is not a finite number")


@pytest.mark.parametrize("place", [place for place, kind in EXPECTED.items() if kind == "a finite number"])
@pytest.mark.parametrize("number", ["1e999", "-1e999", "1" + "0" * 400])
def test_a_number_beyond_the_range_of_a_float_is_refused_with_its_place(place, number):
    text = json.dumps(edited(tree_of(WHOLE), at(place), "HERE")).replace('"HERE"', number)
    check_refused(text, rf"^{re.escape(place)}: expected a finite number, found ")


@pytest.mark.parametrize("place", ["prototypes[0].intercept", "training.objective", "classes[1]", "n_features"])
@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity"])
def test_nan_and_infinity_are_refused_by_name(place, number):
    text = json.dumps(edited(tree_of(WHOLE), at(place), "HERE")).replace('"HERE"', number)
    check_refused(text, f"Not a smallearn model: {number} is not a finite number")


@pytest.mark.parametrize("field", ['"version": 1', '"class": 1', '"weight": 2.0', '"alpha": 0.01'])
def test_a_field_that_stands_twice_is_refused(field):
    text = WHOLE.to_json()
    assert field in text
    check_refused(text.replace(field, f"{field}, {field}", 1), "a field stands twice in one object")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "not JSON",
        WHOLE.to_json()[:-3],
        WHOLE.to_json() + "{}",
        "\ufeff" + WHOLE.to_json(),
        WHOLE.to_json().replace('"', "'"),
        "[" * 100_000,
        '{"a":' * 100_000,
        "[" * 100_000 + "]" * 100_000,
    ],
    ids=["empty", "words", "cut", "more", "BOM", "Python", "deep list", "deep object", "deep and closed"],
)
def test_text_that_is_not_json_is_refused(text):
    check_refused(text, "Not a smallearn model: not valid JSON")


@pytest.mark.parametrize("text", ["null", "1", '"smallearn-model"', "[]", "{}", '[{"format": "smallearn-model"}]'])
def test_json_of_another_kind_is_refused(text):
    check_refused(text, "Not a smallearn model")


@pytest.mark.parametrize("depth", [10, 500, 900])
def test_deep_nesting_inside_a_field_is_refused_with_its_place(depth):
    tree = edited(tree_of(WHOLE), at("prototypes[0].intercept"), "HERE")
    deep = "[" * depth + "]" * depth
    check_refused(
        json.dumps(tree).replace('"HERE"', deep), r"^prototypes\[0\].intercept: expected a finite number, found \["
    )


def valid_or_refused(tree):
    """Reading a damaged tree ends in a ValueError or in a model that works in every way."""
    text = json.dumps(tree)
    try:
        model = SMaLLModel.from_json(text)
    except ValueError:
        return
    assert SMaLLModel.from_json(model.to_json()) == model
    assert str(model).startswith("SMaLL model")
    zeros = {term.label: 0.0 for prototype in model.prototypes for term in prototype.terms}
    assert model.predict_one(zeros) in model.classes
    if model.n_features < 100:
        assert set(model.predict(np.zeros((2, model.n_features))).tolist()) == {model.predict_one(zeros)}


NAMED = [f"feature {l}" for l in range(3)]
DAMAGED = {
    "two classes": WHOLE.with_feature_names(NAMED),
    "three classes": replace(THREE, classes=("no", "yes", "maybe"), class_dtype="<U5", training=TRAINING),
    "floats": replace(NO.with_feature_names(NAMED), classes=(0.5, 1.5), class_dtype="<f8"),
    "objects": replace(YES.with_feature_names(NAMED), classes=("no", 1), class_dtype="|O"),
}
REPLACEMENTS = [
    *(None, True, False, 0, 1, -1, 2, 3, 10**30, 0.5, -1.5, 1e308, 5e-324, "", "raw", "x0", "a\nb", "\ud800"),
    *("<i8", "<f8", "|b1", "|O", "<U1", "|S1", [], [[]], [0, 1], [0, 1, 2], ["a", "b"], {}, {"a": 1}, [{}]),
]


@pytest.mark.parametrize("model", DAMAGED.values(), ids=DAMAGED)
def test_deleting_any_node_is_refused_or_leaves_a_valid_model(model):
    tree = tree_of(model)
    for path in paths(tree):
        valid_or_refused(edited(tree, path, GONE))


@pytest.mark.parametrize("model", DAMAGED.values(), ids=DAMAGED)
def test_replacing_any_node_is_refused_or_leaves_a_valid_model(model):
    tree = tree_of(model)
    for path in [(), *paths(tree)]:
        for value in REPLACEMENTS:
            valid_or_refused(edited(tree, path, value))


@pytest.mark.parametrize("model", DAMAGED.values(), ids=DAMAGED)
def test_replacing_any_node_by_any_other_is_refused_or_leaves_a_valid_model(model):
    tree = tree_of(model)
    everywhere = list(paths(tree))
    nodes = []
    for path in everywhere:
        node = tree
        for key in path:
            node = node[key]
        if node not in nodes:
            nodes.append(node)
    for path in everywhere:
        for node in nodes:
            valid_or_refused(edited(tree, path, node))


# --- files -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"\xff\xfe\x00", "not UTF-8 text"),
        (WHOLE.to_json().encode("utf-16"), "not UTF-8 text"),
        (b"", "not valid JSON"),
        (b"{}", '"format" is not'),
        (WHOLE.to_json().replace('"version": 1', '"version": 7').encode(), "schema version 7"),
        (
            WHOLE.to_json().replace("2.0", "1e999").encode(),
            r"prototypes\[0\].terms\[0\].weight: expected a finite number",
        ),
    ],
)
def test_load_model_names_the_file_that_it_refuses(tmp_path, content, reason):
    path = tmp_path / "broken model.json"
    path.write_bytes(content)
    for spelling in (path, str(path)):
        with pytest.raises(ValueError, match=f"^{re.escape(str(path))}: .*{reason}"):
            load_model(spelling)


def test_a_missing_file_is_the_usual_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        load_model(tmp_path / "none.json")


def test_saving_replaces_an_older_model(tmp_path):
    path = tmp_path / "model.json"
    THREE.save(path)
    YES.save(str(path))
    assert load_model(path) == YES
    assert os.listdir(tmp_path) == ["model.json"]


@pytest.mark.parametrize("call", ["fsync", "replace"])
@pytest.mark.parametrize("problem", [OSError("disk full"), KeyboardInterrupt()], ids=["OSError", "KeyboardInterrupt"])
def test_a_save_that_fails_midway_leaves_the_old_file_and_no_other(tmp_path, monkeypatch, call, problem):
    def fail(*_):
        raise problem

    path = tmp_path / "model.json"
    YES.save(path)
    monkeypatch.setattr(os, call, fail)
    for target in (path, tmp_path / "new.json"):
        with pytest.raises(type(problem)):
            THREE.save(target)
    assert os.listdir(tmp_path) == ["model.json"]
    assert load_model(path) == YES


@pytest.mark.parametrize(("label", "message"), [(None, "JSON holds"), ("\ud800", "surrogates")])
def test_a_model_that_cannot_be_written_leaves_the_old_file_and_no_other(tmp_path, label, message):
    path = tmp_path / "model.json"
    YES.save(path)
    with pytest.raises(ValueError, match=message):
        replace(YES, classes=("no", label), class_dtype="|O").save(path)
    assert os.listdir(tmp_path) == ["model.json"]
    assert load_model(path) == YES


def test_a_folder_that_is_not_there_is_the_usual_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        YES.save(tmp_path / "none" / "model.json")
    assert os.listdir(tmp_path) == []


def test_the_longest_file_name_that_the_disk_takes_will_do(tmp_path):
    path = tmp_path / ("m" * 255)
    YES.save(path)
    assert load_model(path) == YES


def test_a_file_name_of_many_long_characters_will_do(tmp_path):
    path = tmp_path / ("模" * 84)
    for model in (THREE, YES):
        model.save(path)
        assert load_model(path) == model
    assert os.listdir(tmp_path) == [path.name]


def test_saving_onto_a_folder_is_an_error_and_leaves_nothing_behind(tmp_path):
    folder = tmp_path / "models"
    folder.mkdir()
    for target in (folder, str(folder), f"{folder}{os.sep}"):
        with pytest.raises(ValueError, match=f"^{re.escape(str(folder))} is not a file"):
            YES.save(target)
    assert os.listdir(tmp_path) == ["models"]
    assert os.listdir(folder) == []


@posix_only
@pytest.mark.parametrize("exists", [True, False], ids=["to a file", "to nothing yet"])
@pytest.mark.parametrize("relative", [True, False], ids=["relative", "absolute"])
def test_saving_through_a_symbolic_link_keeps_the_link(tmp_path, exists, relative):
    (tmp_path / "models").mkdir()
    real, link = tmp_path / "models" / "v1.json", tmp_path / "latest.json"
    if exists:
        THREE.save(real)
    link.symlink_to(Path("models", "v1.json") if relative else real)
    YES.save(link)
    assert link.is_symlink()
    assert not real.is_symlink()
    assert load_model(real) == load_model(link) == YES
    assert sorted(os.listdir(tmp_path)) == ["latest.json", "models"]
    assert os.listdir(real.parent) == ["v1.json"]


@posix_only
@pytest.mark.parametrize(("umask", "mode"), [(0o022, 0o644), (0o077, 0o600), (0o002, 0o664)])
def test_a_new_file_has_the_mode_of_the_umask(tmp_path, umask, mode):
    before = os.umask(umask)
    try:
        YES.save(tmp_path / "model.json")
    finally:
        os.umask(before)
    assert (tmp_path / "model.json").stat().st_mode & 0o777 == mode


@posix_only
@pytest.mark.parametrize("mode", [0o600, 0o640, 0o666, 0o755])
def test_a_file_that_is_replaced_keeps_its_mode(tmp_path, mode):
    path = tmp_path / "model.json"
    THREE.save(path)
    path.chmod(mode)
    YES.save(path)
    assert load_model(path) == YES
    assert path.stat().st_mode & 0o777 == mode


def test_a_program_that_only_predicts_loads_numpy_alone(tmp_path):
    YES.save(tmp_path / "model.json")
    program = """if True:
        import sys
        import smallearn
        model = smallearn.load_model("model.json")
        print(model.predict([[0.0, 9.0, 0.0]])[0], model.predict_one({"a": 0.75, "c": 1.0}))
        print(model.predict_proba([[0.5, 9.0, 0.0]]), str(model).splitlines()[0])
        heavy = {"numba", "llvmlite", "sklearn", "scipy", "joblib", "pandas"}
        print(sorted(heavy & {name.partition(".")[0] for name in sys.modules}))
    """
    ran = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ran.stderr == ""
    assert ran.stdout.splitlines() == ["yes no", f"[[0.5 0.5]] {str(YES).splitlines()[0]}", "[]"]
