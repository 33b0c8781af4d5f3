"""Reading what a model needs from arrays, matrices, tables and single rows."""

import math
import re
import tracemalloc
from dataclasses import replace

import dask.array as da
import numpy as np
import pandas as pd
import polars as pl
import pytest
import xarray as xr
from scipy import sparse

from smallearn import SMaLLClassifier, SMaLLModel
from smallearn.model import Prototype, Term
from smallearn.model._arguments import read_rows
from smallearn.model._decision import leads
from smallearn.model._rows import CHUNK_ROWS
from tests.helpers.models import BEST, NO, ROWS, THREE, YES

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


@pytest.mark.parametrize("convert", [np.asarray, np.asfortranarray, np.float32], ids=["rows", "columns", "float32"])
@pytest.mark.parametrize("method", ["predict", "predict_proba", "decision_function", "scores"])
def test_beside_its_result_a_prediction_takes_the_memory_of_a_chunk(method, convert):
    X = convert(np.random.default_rng(0).normal(size=(20 * CHUNK_ROWS, 3)))
    YES.predict(X[:10])
    tracemalloc.start()
    result = getattr(YES, method)(X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak - result.nbytes < 20 * CHUNK_ROWS * 8  # less than one column of X


def test_values_whose_sum_overflows_are_finite_all_the_same():
    X = np.full((3, 3), 1e308)
    model = SMaLLModel(("no", "yes"), "<U3", 3, (Prototype(1, -1.0, (Term(0, 1.0, "a"),)),))
    assert model.decision_function(X).tolist() == [1e308] * 3


def test_a_table_that_changes_after_it_was_read_changes_no_rows():
    for order in ("C", "F"):
        X = np.array(ROWS, order=order)
        rows = read_rows(YES, X)
        X[:] = 0.0
        np.testing.assert_array_equal(YES.scores(rows), YES.scores(ROWS))


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


# --- rows that are read once -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("model", [YES, THREE], ids=["two classes", "three classes"])
def test_rows_that_were_read_before_give_the_same_scores_and_compute_them_once(model):
    X = np.random.default_rng(0).normal(size=(5000, model.n_features))
    rows = read_rows(model, X)
    assert np.array_equal(model.scores(rows), model.scores(X))
    assert model.scores(rows) is model.scores(rows)
    assert np.array_equal(model.predict_proba(rows), model.predict_proba(X))
    assert read_rows(model, rows) is rows


def test_the_lead_of_a_class_is_over_the_best_of_the_others():
    assert leads(np.array([[3.0, 1.0, 2.0], [0.0, 0.0, -1.0]])).tolist() == [[1.0, -2.0, -1.0], [0.0, 0.0, -1.0]]


@pytest.mark.parametrize("make", [np.asarray, lambda X: da.from_array(X, chunks=(40, 3))], ids=["numpy", "dask"])
def test_an_array_of_xarray_is_read_as_an_array(make):
    X = np.random.default_rng(0).normal(size=(100, 3))
    y = X[:, 0] > X[:, 2]
    clf = SMaLLClassifier(1, 2, random_state=0).fit(X, y)
    array = xr.DataArray(make(X), dims=("row", "feature"))
    assert clf.model_.predict(array).tolist() == clf.model_.predict(X).tolist()
    assert clf.predict_proba(array).tolist() == clf.predict_proba(X).tolist()
    assert SMaLLClassifier(1, 2, random_state=0).fit(array, y).model_ == clf.model_
