"""Hostile X and y: what must be refused is refused by name, what must work keeps every promise."""

import time

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.exceptions import NotFittedError

from smallearn import SMaLLModel
from smallearn._learn.solve.solvers import SOLVERS
from tests.helpers.hostile import (
    SPARSE,
    START,
    X,
    Y,
    both,
    check_refused,
    classifier,
    dense_or_sparse,
    fit_and_check,
    spoiled,
)

# --- X ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("bad", "message"), [(np.nan, "X contains NaN"), (np.inf, "X contains infinity"), (-np.inf, "X contains infinity")]
)
@dense_or_sparse
def test_nan_and_infinity_are_refused_by_fit_and_by_every_method(convert, bad, message):
    check_refused(message, X=convert(spoiled(bad)))
    clf = classifier().fit(X, Y)
    for method in (clf.predict, clf.predict_proba, clf.decision_function):
        with pytest.raises(ValueError, match=message):
            method(convert(spoiled(bad)))


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ([["high"] * 4] * 60, "'high'"),
        (np.array([["high", 1, 2, 3]] * 60, dtype=object), "'high'"),
        (X + 1j, "Complex data not supported"),
        (np.empty((0, 4)), r"0 sample\(s\)"),
        (np.empty((60, 0)), r"0 feature\(s\)"),
        (X[:, 0], "Expected 2D array, got 1D array"),
        (X[:, :, None], "dim 3"),
        (None, "Expected 2D array"),
    ],
    ids=["text", "text among objects", "complex", "no rows", "no columns", "1-D", "3-D", "None"],
)
def test_what_is_no_table_of_numbers_is_refused_by_fit_and_predict(bad, message):
    check_refused(message, X=bad)
    with pytest.raises(ValueError, match=message):
        classifier().fit(X, Y).predict(bad)


def test_one_row_is_too_few_to_fit():
    check_refused(r"1 sample\(s\).*minimum of 2", X=X[:1], y=Y[:1])


def test_rows_and_labels_must_be_as_many():
    check_refused(r"inconsistent numbers of samples: \[60, 59\]", y=Y[:59])


@pytest.mark.parametrize("width", [1, 3, 5])
@dense_or_sparse
def test_a_wrong_width_at_predict_is_refused_with_both_widths(convert, width):
    clf = classifier().fit(X, Y)
    for method in (clf.predict, clf.predict_proba, clf.decision_function):
        with pytest.raises(ValueError, match=f"X has {width} features, but SMaLLClassifier is expecting 4"):
            method(convert(np.ones((2, width))))


def test_a_table_with_other_columns_at_predict_is_refused_by_their_names():
    table = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    clf = classifier().fit(table, Y)
    with pytest.raises(ValueError, match=r"(?s)feature names should match.*unseen at fit time.*- z"):
        clf.predict(table.rename(columns={"d": "z"}))


def test_a_table_with_two_columns_of_one_name_is_refused_by_fit_and_by_every_method():
    table = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    twice = table.rename(columns={"c": "a"})
    check_refused("names", X=twice, n_nonzero=None)
    clf = classifier().fit(table, Y)
    for method in (clf.predict, clf.predict_proba, clf.decision_function):
        with pytest.raises(ValueError, match="names"):
            method(twice)


@pytest.mark.parametrize(
    ("column", "message"),
    [
        (np.repeat("high", 60), "'high'"),
        (np.full(60, 1j), "Complex data not supported"),
        (np.full(60, "2020-01-01", dtype="M8[us]"), "not numbers: .*DateTime64"),
    ],
    ids=["text", "complex", "dates"],
)
def test_a_table_with_a_column_of_no_numbers_is_refused_by_fit_and_predict(column, message):
    table = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    clf = classifier().fit(table, Y)
    table["a"] = column
    for call in (lambda: classifier().fit(table, Y), lambda: clf.predict(table)):
        with pytest.raises(ValueError, match=message):
            call()


@pytest.mark.parametrize("convert", [pd.DataFrame, pl.DataFrame])
def test_a_table_with_text_is_refused_by_column_with_what_to_do(convert):
    columns = {name: X[:, l] for l, name in enumerate("abcd")} | {"kind": np.repeat(["low", "high"], 30)}
    check_refused("Column 'kind' contains text .'low'.*categorical_features='from_dtype'", X=convert(columns))


@pytest.mark.parametrize(
    "fitted_on",
    [
        None,
        X,
        pd.DataFrame(X, columns=["a", "b", "c", "d"]),
    ],
    ids=["fit", "predict without names", "predict with names"],
)
def test_a_lazy_table_is_refused_or_read_aright(fitted_on):
    lazy = pl.LazyFrame(X, schema=["a", "b", "c", "d"])
    clf = classifier().fit(X if fitted_on is None else fitted_on, Y)
    expected = clf.predict_proba(X if fitted_on is None else fitted_on)
    try:
        found = (clf.fit(lazy, Y) if fitted_on is None else clf).predict_proba(lazy)
    except ValueError:
        return
    np.testing.assert_array_equal(found, expected)


def test_an_estimator_that_is_not_fitted_says_so():
    for method in ("predict", "predict_proba", "decision_function"):
        with pytest.raises(NotFittedError, match="not fitted yet"):
            getattr(classifier(), method)(X)


@pytest.mark.parametrize("scale", [1e301, 1e307])
@pytest.mark.parametrize("standardize", [True, False])
@dense_or_sparse
def test_values_above_the_limit_are_refused_with_the_column(convert, standardize, scale):
    huge = X.copy()
    huge[:, 2] *= scale
    check_refused(
        r"Column 2 has values up to \d.*e\+30\d, beyond 1e\+\d+.*rescale it", X=convert(huge), standardize=standardize
    )


@dense_or_sparse
def test_values_too_large_without_standardising_are_refused_with_what_to_do(convert):
    large = X.copy()
    large[:, 1] *= 1e150
    message = r"Column 1 has values up to \d.*e\+150, beyond 1e\+100.*set standardize=True"
    check_refused(message, X=convert(large), standardize=False)
    fit_and_check(convert(large), Y, standardize=True)


@pytest.mark.parametrize("scale", [1e8, 1e12, 1e20, 1e50, 1e99])
@pytest.mark.parametrize("fit_intercept", [True, False])
@dense_or_sparse
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_large_values_without_standardising_keep_the_promises_and_take_no_time(convert, fit_intercept, scale):
    options = {"standardize": False, "fit_intercept": fit_intercept}
    classifier(**options).fit(convert(X), Y)  # so that no kernel is compiled while the clock runs
    for seed in range(3):
        rng = np.random.default_rng(seed)
        table = rng.normal(size=(60, 4))
        y = (table[:, 0] + 0.5 * table[:, 1] + 0.3 * rng.normal(size=60) > 0.3).astype(int)
        begin = time.perf_counter()
        fit_and_check(convert(table * scale), y, random_state=seed, **options)
        assert time.perf_counter() - begin < 30.0  # half a second where nothing else runs


@both
@dense_or_sparse
@pytest.mark.parametrize("shift", [0.0, 3.0])
@pytest.mark.parametrize("solver", SOLVERS)
def test_columns_of_wildly_different_scale_give_the_predictions_of_the_same_data_rescaled(X, y, convert, shift, solver):
    options = {"solver": solver, "tol": 1e-3}
    scale = np.array([1e-150, 1e150, 1.0, 1e-3])
    plain = fit_and_check(convert(X + shift), y, **options)
    scaled = fit_and_check(convert((X + shift) * scale), y, **options)
    np.testing.assert_array_equal(scaled.predict(convert((X + shift) * scale)), plain.predict(convert(X + shift)))
    assert scaled.objective_ == pytest.approx(plain.objective_, rel=1e-9)
    np.testing.assert_array_equal(scaled.support_, plain.support_)
    np.testing.assert_allclose(scaled.prototypes_ * scale, plain.prototypes_, rtol=1e-6)


@pytest.mark.parametrize("scale", [1e-290, 1e290])
@dense_or_sparse
def test_data_at_the_edge_of_the_range_is_learnt_like_any_other(convert, scale):
    plain = fit_and_check(convert(X), Y)
    scaled = fit_and_check(convert(X * scale), Y)
    assert scaled.objective_ == pytest.approx(plain.objective_, rel=1e-9)
    np.testing.assert_array_equal(scaled.predict(convert(X * scale)), plain.predict(convert(X)))


@both
def test_scores_that_overflow_are_refused_alike_for_many_rows_and_for_one(X, y):
    clf = fit_and_check(X * 1e-150, y)
    model = clf.model_
    far = X * 1e-150
    far[7] = 1e200  # one row is enough
    for method in (clf.predict, clf.predict_proba, clf.decision_function):
        with pytest.raises(ValueError, match="The scores overflow"):
            method(far)
    for method in (model.predict, model.predict_proba, model.decision_function, model.scores):
        with pytest.raises(ValueError, match="The scores overflow"):
            method(far)
    for row in (far[7], far[7].tolist(), {f"x{l}": value for l, value in enumerate(far[7])}):
        with pytest.raises(ValueError, match="too large or not a finite number"):
            model.predict_one(row)
    assert [model.predict_one(row) for row in far[:7]] == clf.predict(far[:7]).tolist()


@pytest.mark.parametrize("value", [0.0, 1.0, -7.3, 0.1 + 0.2, 1e250, 1e-310], ids=str)
@both
@dense_or_sparse
def test_a_constant_column_is_never_used_and_changes_nothing(X, y, convert, value):
    clf = fit_and_check(convert(np.insert(X, 1, value, axis=1)), y, assignment=START)
    without = classifier(assignment=START).fit(convert(X), y)
    assert not clf.support_[:, 1].any()
    assert clf.objective_ == pytest.approx(without.objective_, rel=1e-6)
    np.testing.assert_allclose(np.delete(clf.prototypes_, 1, axis=1), without.prototypes_, atol=1e-4)


@pytest.mark.parametrize("value", [0.0, 3.0, 1e-310, 1e290], ids=str)
@pytest.mark.parametrize("positive_class", [0, 1])
@pytest.mark.parametrize("solver", SOLVERS)
@dense_or_sparse
def test_constant_columns_alone_give_the_majority_class(convert, solver, positive_class, value):
    y = np.repeat([0, 1], [20, 40])
    constant = convert(np.full((60, 3), value))
    clf = fit_and_check(constant, y, solver=solver, positive_class=positive_class)
    assert not clf.support_.any()
    assert set(clf.predict(constant)) == {1}
    share = clf.predict_proba(constant)[0, 1]
    assert 0.5 < share < 40 / 60  # the intercept is penalised, so that it stops short of the share


def test_constant_columns_without_an_intercept_leave_nothing_to_learn():
    clf = fit_and_check(np.ones((60, 3)), Y, fit_intercept=False)
    assert clf.objective_ == pytest.approx(np.log(2.0))
    np.testing.assert_array_equal(clf.predict_proba(np.ones((60, 3))), 0.5)


@both
@dense_or_sparse
def test_subnormal_columns_are_never_used_and_change_nothing(X, y, convert):
    tiny = X.copy()
    tiny[:, 2] *= 1e-310
    clf = fit_and_check(convert(tiny), y, assignment=START)
    without = classifier(assignment=START).fit(convert(np.delete(X, 2, axis=1)), y)
    assert not clf.support_[:, 2].any()
    assert clf.objective_ == pytest.approx(without.objective_, rel=1e-6)
    np.testing.assert_allclose(np.delete(clf.prototypes_, 2, axis=1), without.prototypes_, atol=1e-4)


@both
@dense_or_sparse
@pytest.mark.parametrize("n_nonzero", [1, 3, None])
def test_duplicate_columns_keep_the_promises(X, y, convert, n_nonzero):
    clf = fit_and_check(convert(np.tile(X, 3)), y, n_nonzero=n_nonzero)
    assert clf.score(convert(np.tile(X, 3)), y) > 0.75


@both
def test_one_column_many_times_is_worth_that_column_once(X, y):
    once = fit_and_check(X[:, :1], y, n_nonzero=1, assignment=START)
    clf = fit_and_check(np.repeat(X[:, :1], 4, axis=1), y, n_nonzero=1, assignment=START)
    assert clf.objective_ == pytest.approx(once.objective_, rel=1e-6)


def test_equal_rows_with_either_label_are_predicted_by_the_majority():
    rows = np.repeat(X[:2], 30, axis=0)
    y = np.array(([0] * 20 + [1] * 10) + ([0] * 10 + [1] * 20))
    clf = fit_and_check(rows, y)
    assert clf.predict(X[:2]).tolist() == [0, 1]


# --- forms of X ------------------------------------------------------------------------------------------------------


def with_duplicate_entries(dense):
    """Every entry stored twice, as halves."""
    m, n = dense.shape
    columns = np.repeat(np.tile(np.arange(n), m), 2)
    return sparse.csr_array((np.repeat(dense.ravel() / 2, 2), columns, np.arange(m + 1) * 2 * n), shape=(m, n))


def with_explicit_zeros(dense):
    m, n = dense.shape
    return sparse.csr_array((dense.ravel().copy(), np.tile(np.arange(n), m), np.arange(m + 1) * n), shape=(m, n))


def with_unsorted_indices(dense):
    m, n = dense.shape
    columns = np.tile(np.arange(n)[::-1], m)
    return sparse.csr_array((dense[:, ::-1].ravel().copy(), columns, np.arange(m + 1) * n), shape=(m, n))


def with_long_indices(dense):
    rows = sparse.csr_array(dense)
    rows.indices, rows.indptr = rows.indices.astype(np.int64), rows.indptr.astype(np.int64)
    return rows


def read_only(dense):
    copy = dense.copy()
    copy.flags.writeable = False
    return copy


def read_only_sparse(dense):
    rows = with_duplicate_entries(dense)
    for part in (rows.data, rows.indices, rows.indptr):
        part.flags.writeable = False
    return rows


FORMS = {
    "DataFrame": pd.DataFrame,
    "read-only": read_only,
    "Fortran": np.asfortranarray,
    "strided": lambda dense: np.repeat(np.repeat(dense, 2, axis=0), 2, axis=1)[::2, ::2],
    "backwards": lambda dense: np.ascontiguousarray(dense[::-1, ::-1])[::-1, ::-1],
    "big-endian": lambda dense: dense.astype(">f8"),
    "object": lambda dense: dense.astype(object),
    "csr": sparse.csr_array,
    "csr_matrix": sparse.csr_matrix,
    "csc": sparse.csc_array,
    "coo": sparse.coo_array,
    "duplicate entries": with_duplicate_entries,
    "explicit zeros": with_explicit_zeros,
    "unsorted indices": with_unsorted_indices,
    "int64 indices": with_long_indices,
    "read-only csr": read_only_sparse,
}


def contents(X):
    """A copy of everything that an array or a sparse matrix holds."""
    if not sparse.issparse(X):
        return [np.array(X)]
    parts = ("data", "row", "col") if X.format == "coo" else ("data", "indices", "indptr")
    return [getattr(X, part).copy() for part in parts]


@pytest.mark.parametrize(
    ("form", "solver"),
    [
        *((form, "accelerated") for form in FORMS),
        *((form, "mirror-prox") for form in ("Fortran", "csr", "read-only csr")),
    ],
)
def test_the_form_of_the_table_does_not_change_the_model_nor_the_model_the_table(form, solver):
    table = FORMS[form](SPARSE)
    before = contents(table)
    options = {"solver": solver, "tol": 1e-6 if solver == "accelerated" else 1e-3}
    plain = classifier(**options).fit(SPARSE, Y)
    clf = fit_and_check(table, Y, **options)
    assert clf.objective_ == pytest.approx(plain.objective_, rel=1e-6)
    np.testing.assert_array_equal(clf.support_, plain.support_)
    np.testing.assert_allclose(clf.decision_function(table), plain.decision_function(SPARSE), atol=1e-4)
    np.testing.assert_array_equal(clf.predict(table), clf.predict(SPARSE))
    for old, new in zip(before, contents(table), strict=True):
        np.testing.assert_array_equal(old, new)


@both
@dense_or_sparse
def test_float32_is_learnt_like_its_values_in_float64(X, y, convert):
    single = X.astype(np.float32)
    clf = fit_and_check(convert(single), y)
    double = fit_and_check(convert(single.astype(float)), y)
    assert clf.objective_ == pytest.approx(double.objective_, rel=1e-9)
    np.testing.assert_array_equal(clf.predict(convert(single)), double.predict(convert(single.astype(float))))


@pytest.mark.parametrize("dtype", [np.int64, np.int8, np.int32, bool], ids=lambda dtype: dtype.__name__)
@dense_or_sparse
def test_whole_numbers_and_booleans_are_learnt_like_floats(convert, dtype):
    whole = (X > 0.0).astype(dtype) if dtype is bool else np.rint(10.0 * X).astype(dtype)
    clf = fit_and_check(convert(whole), Y)
    same = fit_and_check(convert(whole.astype(float)), Y)
    np.testing.assert_array_equal(clf.prototypes_, same.prototypes_)
    np.testing.assert_array_equal(clf.predict(convert(whole)), same.predict(convert(whole.astype(float))))


def test_sparse_columns_without_entries_are_never_used_and_change_nothing():
    clf = fit_and_check(sparse.csr_array(np.insert(SPARSE, [0, 2, 4], 0.0, axis=1)), Y, assignment=START)
    without = classifier(assignment=START).fit(sparse.csr_array(SPARSE), Y)
    assert not clf.support_[:, [0, 3, 6]].any()
    assert clf.objective_ == pytest.approx(without.objective_, rel=1e-6)
    np.testing.assert_allclose(np.delete(clf.prototypes_, [0, 3, 6], axis=1), without.prototypes_, atol=1e-4)


def test_a_sparse_table_without_entries_gives_the_majority_class():
    empty = sparse.csr_array((60, 4))
    clf = fit_and_check(empty, np.repeat([0, 1], [40, 20]))
    assert not clf.support_.any()
    assert set(clf.predict(empty)) == {0}


# --- y ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "labels",
    [
        np.array(["no", "yes"]),
        np.array(["no", "yes"], dtype=object),
        np.array([False, True]),
        np.array([0.0, 1.0]),
        np.array([0.0, 1.0], dtype=np.float32),
        np.array([-128, 127], dtype=np.int8),
        np.array([2**62, 2**62 + 1]),
        np.array([2**64 - 2, 2**64 - 1], dtype=np.uint64),
        np.array(["", "\n\"'π"]),
    ],
    ids=["str", "object", "bool", "float", "float32", "int8", "long int", "uint64", "odd str"],
)
@pytest.mark.parametrize("owner", [None, 0, 1])
def test_labels_come_back_as_they_were_given(labels, owner):
    plain = classifier(positive_class=owner).fit(X, Y)
    clf = fit_and_check(X, labels[Y], positive_class=None if owner is None else labels.tolist()[owner])
    np.testing.assert_array_equal(clf.classes_, labels)
    assert clf.classes_.dtype == clf.predict(X).dtype == labels.dtype
    np.testing.assert_array_equal(clf.predict(X), labels[plain.predict(X)])
    assert set(clf.prototype_classes_.tolist()) == {labels.tolist()[1 if owner is None else owner]}
    restored = SMaLLModel.from_json(clf.model_.to_json())
    np.testing.assert_array_equal(restored.predict(X), clf.predict(X))
    assert restored.predict(X).dtype == labels.dtype


@pytest.mark.parametrize(
    "wrap", [list, pd.Series, lambda y: pd.Series(y).astype("category")], ids=["list", "Series", "category"]
)
def test_labels_may_come_in_any_container(wrap):
    y = np.array(["no", "yes"])[Y]
    clf = fit_and_check(X, wrap(y))
    assert clf.classes_.tolist() == ["no", "yes"]
    assert clf.score(X, y) > 0.9


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (X[:, 0], "Unknown label type: continuous"),
        (Y + 0.5, "Unknown label type: continuous"),
        (np.column_stack([Y, Y]), r"y should be a 1d array, got an array of shape \(60, 2\)"),
        (np.where(Y, np.nan, 1.0), "y contains NaN"),
        (np.where(Y, np.inf, 1.0), "y contains infinity"),
        (np.array([None, "a"], dtype=object)[Y], "Unknown label type"),
        (np.array([1, "a"], dtype=object)[Y], "Unknown label type"),
        (None, "requires y to be passed"),
        (np.zeros(60), r"y has one class, 0\.0,.*two classes are needed"),
        (["same"] * 60, "y has one class, 'same',.*two classes are needed"),
    ],
    ids=["continuous", "halves", "2-D", "NaN", "infinity", "None among", "mixed", "None", "one class", "one string"],
)
def test_labels_that_name_no_classes_are_refused(y, message):
    check_refused(message, y=y)
