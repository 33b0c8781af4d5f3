"""Hostile data and parameters: what must be refused is refused by name, what must work keeps every promise."""

import linecache
import re
import time
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.datasets import make_blobs
from sklearn.exceptions import ConvergenceWarning, NotFittedError

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
    best = decision.argmax(axis=1) if decision.ndim == 2 else (decision > 0.0).astype(int)
    np.testing.assert_array_equal(clf.predict(X), clf.classes_[best])
    assert SMaLLModel.from_json(clf.model_.to_json()) == clf.model_
    return clf


def check_refused(message, X=X, y=Y, sample_weight=None, **parameters):
    with pytest.raises(ValueError, match=message):
        classifier(**parameters).fit(X, y, sample_weight=sample_weight)


# --- X ---------------------------------------------------------------------------------------------------------------


def spoiled(bad):
    broken = X.copy()
    broken[3, 2] = bad
    return broken


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
@pytest.mark.parametrize("solver", ["accelerated", "mirror-prox"])
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
@pytest.mark.parametrize("solver", ["accelerated", "mirror-prox"])
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


# --- parameters ------------------------------------------------------------------------------------------------------

NO_COUNT = [0, -1, 2.5, 2.0, True, "3", np.nan, np.inf, [2]]
NO_SWITCH = [0, 1, None, "yes", 1.0]
WRONG = {
    "n_prototypes": [*NO_COUNT, None],
    "n_nonzero": NO_COUNT,
    "max_iter": [*NO_COUNT, None],
    "alpha": [0, 0.0, -1, True, "3", np.nan, np.inf, None, 1e-11, 1e11, 1j, [0.1]],
    "tol": [-1, -1e-9, True, "3", np.nan, np.inf, 1.5, 1j, [0.1]],
    "reassign": [-1, 2.5, "yes", None, np.nan, [1]],
    "refit_support": NO_SWITCH,
    "fit_intercept": NO_SWITCH,
    "standardize": NO_SWITCH,
    "solver": ["newton", "Accelerated", "", None, 1, ["accelerated"], np.array(["accelerated"])],
    "solver_options": [3, [], "average", True],
    "assignment": ["k-means", "", "tree"],
    "positive_class": [2, "1", "yes", -1, np.nan, 0.5, [1], np.array([0, 1]), np.array([1])],
    "class_weight": ["auto", 3, [1.0, 2.0]],
    "n_jobs": ["a", 2.5, 0, True, np.nan, [1]],
}


@pytest.mark.parametrize(
    ("name", "value"),
    [(name, value) for name, values in WRONG.items() for value in values],
    ids=lambda part: part if isinstance(part, str) else repr(part),
)
def test_a_wrong_parameter_is_refused_with_its_name_and_value(name, value):
    check_refused(f"^{name}={re.escape(repr(value))} ", **{name: value})


@pytest.mark.parametrize(
    ("parameters", "hint"),
    [
        ({"n_nonzero": 0}, "None means every feature may be used"),
        ({"tol": -1.0}, "None means to run max_iter iterations"),
        ({"alpha": 0.0}, r"from 1e-10 to 1e\+10"),
        ({"solver": "sgd"}, "neither 'accelerated' nor 'mirror-prox'"),
        ({"assignment": "tree"}, "'kmeans', 'splits', 'random', 'auto' or an array"),
        ({"positive_class": 2}, r"not one of \[0, 1\], None or 'auto'"),
        ({"class_weight": "auto"}, "neither None, 'balanced' nor a dict"),
        ({"solver_options": 3}, "not a dict or None"),
        ({"n_jobs": 0}, "not None or an integer other than 0"),
    ],
)
def test_a_refusal_says_what_is_allowed(parameters, hint):
    check_refused(hint, **parameters)


@pytest.mark.parametrize(
    "parameters",
    [
        {"n_prototypes": np.int8(2)},
        {"n_nonzero": None},
        {"n_nonzero": 10**30},
        {"n_nonzero": np.int64(1)},
        {"alpha": 1e-10},
        {"alpha": 1e10},
        {"alpha": np.float32(0.1)},
        {"alpha": 1},
        {"tol": 1.0},
        {"tol": None, "max_iter": 20},
        {"max_iter": 10**30},
        {"reassign": 0},
        {"reassign": 1},
        {"reassign": np.True_},
        {"fit_intercept": np.False_},
        {"positive_class": "auto"},
        {"positive_class": np.int64(0)},
        {"class_weight": {}},
        {"class_weight": {0: 0.0}},
        {"class_weight": {1: 5}},
        {"class_weight": "balanced"},
        {"solver_options": {}},
        {"refit_support": False},
        {"standardize": False},
        {"n_jobs": 2},
    ],
    ids=repr,
)
def test_every_allowed_extreme_works(parameters):
    fit_and_check(X, Y, **parameters)


@pytest.mark.parametrize("max_iter", [1, 2])
@pytest.mark.parametrize("solver", ["accelerated", "mirror-prox"])
def test_a_solver_that_stops_short_warns_and_keeps_the_promises(solver, max_iter):
    message = rf"{solver} solver stopped .*max_iter={max_iter}\b.* short of tol=1e-09"
    with pytest.warns(ConvergenceWarning, match=message) as caught:
        clf = classifier(solver=solver, max_iter=max_iter, tol=1e-9).fit(X, Y)
    assert [warning.filename for warning in caught] == [__file__]
    assert clf.duality_gap_ > 1e-9
    with pytest.warns(ConvergenceWarning):
        fit_and_check(X, Y, solver=solver, max_iter=max_iter, tol=1e-9)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"geometry": "entropy"},
            r"solver_options has \['geometry'\].*solver='accelerated' does not know; it takes none",
        ),
        ({"step_sizes": "adaptive", "momentum": 1}, r"solver_options has \['step_sizes', 'momentum'\].*'accelerated'"),
        ({1: 2, "a": 3}, r"solver_options has \[1, 'a'\].*'accelerated'"),
    ],
)
def test_the_accelerated_solver_takes_no_options(options, message):
    check_refused(message, solver="accelerated", solver_options=options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"momentum": 1}, r"solver_options has \['momentum'\].*'mirror-prox'.*it takes geometry, step_sizes, average"),
        ({"Geometry": "entropy"}, r"solver_options has \['Geometry'\]"),
        ({1: 2, "a": 3}, r"solver_options has \[1, 'a'\].*'mirror-prox'"),
        *(
            (
                {"geometry": geometry},
                f"solver_options: geometry={re.escape(repr(geometry))} is neither 'entropy' nor 'euclidean'",
            )
            for geometry in ("hyperbolic", None, 1, ["entropy"])
        ),
        *(
            ({"average": average}, f"solver_options: average={average!r} is not True or False")
            for average in ("no", None, 1, 0.5)
        ),
        *(
            (
                {"step_sizes": steps},
                f"solver_options: step_sizes={re.escape(repr(steps))} is neither 'adaptive' nor a pair of positive",
            )
            for steps in [
                *("constant", "", None, 0.1, (0.1,), (0.1, 0.1, 0.1), (), (0.0, 0.1), (0.1, -0.1), (np.nan, 0.1)),
                *((0.1, np.inf), ("0.1", "0.1"), (None, 0.1), (1j, 0.1), {"alpha": 0.1, "beta": 0.1}),
                *((True, 1), (1, True)),
            ]
        ),
    ],
)
def test_mirror_prox_refuses_options_that_it_does_not_know(options, message):
    check_refused(message, solver="mirror-prox", solver_options=options)


@pytest.mark.parametrize("geometry", ["entropy", "euclidean"])
@pytest.mark.parametrize(
    "step_sizes", ["adaptive", (0.01, 0.001), [1e-3, 1], (1e-300, 1e-300), (1e300, 1e300)], ids=str
)
@pytest.mark.parametrize("average", [True, False])
def test_mirror_prox_keeps_the_promises_whatever_its_steps(geometry, step_sizes, average):
    options = {"geometry": geometry, "step_sizes": step_sizes, "average": average}
    fit_and_check(X, Y, solver="mirror-prox", solver_options=options, tol=None, max_iter=30)


# --- assignment, orientation, weights --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("assignment", "message"),
    [
        (np.zeros(59, dtype=int), r"assignment has shape \(59,\).*one integer for each of the 60 rows"),
        (np.zeros(61, dtype=int), r"assignment has shape \(61,\)"),
        (np.zeros((60, 1), dtype=int), r"assignment has shape \(60, 1\)"),
        ([], r"assignment has shape \(0,\)"),
        (0, r"assignment has shape \(\)"),
        (None, "assignment has shape .* type object"),
        (np.zeros(60), "assignment has .* type float64"),
        (np.zeros(60, dtype=bool), "assignment has .* type bool"),
        (["0"] * 60, "assignment has .* type <U1"),
        (np.full(60, 2), r"assignment has prototype indices from 2 to 2 .* must lie in 0\.\.1"),
        (np.full(60, -1), r"assignment has prototype indices from -1 to -1 .* must lie in 0\.\.1"),
        (np.arange(60), r"assignment has prototype indices .* must lie in 0\.\.1"),
    ],
)
def test_an_assignment_that_does_not_fit_is_refused(assignment, message):
    check_refused(message, assignment=assignment)


@both
def test_an_assignment_in_range_works_and_may_leave_a_prototype_empty(X, y):
    for start in (np.zeros(60, dtype=int), (np.arange(60) % 2).tolist(), np.ones(60, dtype=np.uint8)):
        fit_and_check(X, y, assignment=start)


def test_an_assignment_is_ignored_where_the_class_owns_no_prototype():
    start = np.where(Y == 1, np.arange(60) % 2, -99)
    clf = fit_and_check(X, Y, assignment=start, reassign=False)
    same = fit_and_check(X, Y, assignment=np.where(Y == 1, start, 0), reassign=False)
    np.testing.assert_array_equal(clf.prototypes_, same.prototypes_)
    check_refused("assignment has prototype indices from -99 to -99", assignment=start, positive_class=0)


@pytest.mark.parametrize("positive_class", [0, "auto", 7])
def test_with_three_classes_all_own_prototypes_so_that_positive_class_is_refused(positive_class):
    check_refused(
        f"positive_class={positive_class!r}, but y has 3 classes.*leave it None",
        X=X3,
        y=Y3,
        positive_class=positive_class,
    )


@pytest.mark.parametrize("n_prototypes", [23, 1000])
@pytest.mark.parametrize("reassign", [True, False])
def test_more_prototypes_than_rows_warns_and_takes_as_many_as_there_are_rows(n_prototypes, reassign):
    few = int(Y.sum())
    assert few < n_prototypes
    with pytest.warns(UserWarning, match=rf"n_prototypes={n_prototypes}, but class 1 has .*\b{few}\b"):
        clf = fit_and_check(X, Y, n_prototypes=n_prototypes, reassign=reassign)
    assert len(clf.prototypes_) <= few
    if not reassign:
        assert len(clf.prototypes_) == few


@pytest.mark.parametrize(
    ("X", "y", "positive_class", "n_warnings"),
    [(X, Y, None, 1), (X, Y, 0, 1), (X, Y, "auto", 2), (X3, Y3, None, 3)],
    ids=["greater label", "lesser label", "auto", "three classes"],
)
def test_the_warning_of_too_few_rows_points_at_the_line_that_calls_fit(X, y, positive_class, n_warnings):
    X, y = X[:12], y[:12]
    clf = classifier(n_prototypes=13, positive_class=positive_class, reassign=False)
    with pytest.warns(UserWarning, match="n_prototypes=13") as caught:
        clf.fit(X, y)
    assert [warning.filename for warning in caught] == [__file__] * n_warnings
    assert {linecache.getline(__file__, warning.lineno).strip() for warning in caught} == {"clf.fit(X, y)"}


def test_with_three_classes_every_class_short_of_rows_is_warned_of():
    kept = np.concatenate([np.flatnonzero(label == Y3)[:count] for label, count in enumerate([2, 3, 20])])
    with pytest.warns(UserWarning, match="n_prototypes=4") as caught:
        clf = fit_and_check(X3[kept], Y3[kept], n_prototypes=4, reassign=False)
    for warning, words in zip(caught, (r"class 0 has .*\b2\b", r"class 1 has .*\b3\b"), strict=True):
        assert re.search(words, str(warning.message))
    assert np.bincount(clf.prototype_classes_).tolist() == [2, 3, 4]


def test_two_rows_are_enough():
    rows = np.unique(Y, return_index=True)[1]
    clf = fit_and_check(X[rows], Y[rows], n_prototypes=1)
    assert clf.predict(X[rows]).tolist() == [0, 1]


@pytest.mark.parametrize(
    ("class_weight", "message"),
    [
        ({2: 1.0}, r"class_weight names \[2\], not among the classes \[0, 1\]"),
        ({"0": 1.0, 1: 1.0}, r"class_weight names \['0'\]"),
        ({0: 1.0, 1: -0.5}, r"^class_weight gives class 1 the weight -0\.5, not a finite number from 0\."),
        *(
            ({0: bad}, f"^class_weight gives class 0 the weight {re.escape(repr(bad))}, not a finite number from 0\\.")
            for bad in (-1.0, np.nan, np.inf, None, "2", "heavy", True, [2.0], 1j)
        ),
        ({0: 0.0, 1: 0.0}, "^sample_weight sums to 60, and times class_weight to 0; both sums must be positive"),
    ],
)
def test_class_weights_that_mean_nothing_are_refused(class_weight, message):
    check_refused(message, class_weight=class_weight)


@pytest.mark.parametrize(
    ("sample_weight", "message"),
    [
        (np.where(np.arange(60) == 5, -0.5, 1.0), r"sample_weight has a negative entry \(-0\.5\)"),
        (np.ones(59), r"sample_weight has shape \(59,\); it must hold one number for each of 60 rows"),
        (np.ones((60, 1)), r"sample_weight has shape \(60, 1\)"),
        (np.ones((60, 2)), r"sample_weight has shape \(60, 2\)"),
        (5.0, "^sample_weight must hold one finite number for each row: .*scalar"),
        (np.zeros(60), "Every sample_weight is zero"),
        ((Y == 1).astype(float), "y has one class, 1, among the rows of positive weight"),
        (np.full(60, np.nan), "sample_weight contains NaN"),
        (np.full(60, np.inf), "sample_weight contains infinity"),
        (["heavy"] * 60, "^sample_weight must hold .*'heavy'"),
        ("heavy", "^sample_weight must hold .*'heavy'"),
        ([], r"^sample_weight must hold .*0 sample\(s\)"),
    ],
    ids=[
        *("negative", "short", "2-D", "wide", "number", "zero", "one class", "NaN", "infinity", "text", "one text"),
        "empty",
    ],
)
def test_sample_weights_that_mean_nothing_are_refused(sample_weight, message):
    check_refused(message, sample_weight=sample_weight)


@pytest.mark.parametrize(
    ("sample_weight", "class_weight", "sums"),
    [
        (1e308, None, ("inf", "inf")),
        (1e308, "balanced", ("inf", "nan")),
        (1e308, {0: 1e-308, 1: 1e-308}, ("inf", "60")),
        (1.0, {0: 1e308, 1: 1e308}, ("60", "inf")),
        (1.0, {1: 1e308}, ("60", "inf")),
        (1e200, {0: 1e200}, ("6e+201", "inf")),
        (1e308, {0: 1e308, 1: 1e308}, ("inf", "inf")),
    ],
)
def test_weights_whose_sum_overflows_are_refused_with_the_sums(sample_weight, class_weight, sums):
    message = f"^sample_weight sums to {re.escape(sums[0])}, and times class_weight to {sums[1]}; .*finite"
    check_refused(message, sample_weight=np.full(60, sample_weight), class_weight=class_weight)


@pytest.mark.parametrize("scale", [1e-320, 1e-200, 1e200, 1e300])
def test_only_the_ratio_of_sample_weights_matters(scale):
    plain = fit_and_check(X, Y)
    clf = fit_and_check(X, Y, sample_weight=np.full(60, scale))
    assert clf.objective_ == pytest.approx(plain.objective_, rel=1e-9)
    np.testing.assert_array_equal(clf.predict(X), plain.predict(X))


@dense_or_sparse
def test_rows_of_weight_zero_count_for_nothing_in_any_check(convert):
    extreme = X.copy()
    extreme[0] = 1e305
    weight = np.ones(60)
    weight[0] = 0.0
    clf = fit_and_check(convert(X), Y, sample_weight=weight)
    same = classifier().fit(convert(extreme), Y, sample_weight=weight)
    np.testing.assert_array_equal(clf.prototypes_, same.prototypes_)


# --- the certificate -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_nonzero", [1, 2, None])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_lower_bound_never_exceeds_the_objective_not_even_by_rounding(n_classes, n_nonzero):
    for seed in range(40):
        rng = np.random.default_rng(seed)
        rows = rng.normal(size=(30, 3))
        y = np.append(np.arange(n_classes), rng.integers(n_classes, size=30 - n_classes))
        alpha = float(10.0 ** rng.integers(-3, 2))
        clf = classifier(n_prototypes=1, n_nonzero=n_nonzero, alpha=alpha, tol=1e-10).fit(rows, y)
        assert clf.lower_bound_ <= clf.objective_
        assert clf.optimality_gap_ >= 0.0
        assert clf.model_.training.lower_bound <= clf.model_.training.objective
        assert clf.model_.training.optimality_gap >= 0.0


# --- a failed fit ----------------------------------------------------------------------------------------------------

TABLE = pd.DataFrame(X, columns=["a", "b", "c", "d"])
OTHERS = {
    "the same table": TABLE,
    "other width": TABLE[["a", "b", "c"]],
    "other names": TABLE.rename(columns={"a": "z"}),
    "other order": TABLE[["d", "c", "b", "a"]],
    "no names": X,
    "no names and other width": X[:, :2],
}
FAILURES = {
    "one class": ({}, np.zeros(60)),
    "bad positive_class": ({"positive_class": 7}, Y),
    "bad class_weight": ({"class_weight": {7: 1.0}}, Y),
    "bad assignment": ({"assignment": [9] * 60}, Y),
}


@pytest.mark.parametrize(("parameters", "y"), FAILURES.values(), ids=FAILURES)
@pytest.mark.parametrize("other", OTHERS.values(), ids=OTHERS)
def test_a_failed_fit_on_another_table_leaves_the_earlier_width_and_names(other, parameters, y):
    clf = classifier().fit(TABLE, Y)
    model, probability, predicted = clf.model_, clf.predict_proba(TABLE), clf.predict(TABLE)
    with pytest.raises(ValueError):
        clf.set_params(**parameters).fit(other, y)
    assert clf.n_features_in_ == 4
    assert clf.feature_names_in_.tolist() == ["a", "b", "c", "d"]
    assert clf.model_ is model
    np.testing.assert_array_equal(clf.predict_proba(TABLE), probability)
    np.testing.assert_array_equal(clf.predict(TABLE), predicted)
    assert clf.score(TABLE, Y) > 0.9


@pytest.mark.parametrize(("parameters", "y"), FAILURES.values(), ids=FAILURES)
@pytest.mark.parametrize("table", [X, TABLE], ids=["array", "table"])
def test_a_first_fit_that_fails_leaves_an_estimator_that_is_not_fitted(table, parameters, y):
    clf = classifier(**parameters)
    with pytest.raises(ValueError):
        clf.fit(table, y)
    assert [name for name in vars(clf) if name.endswith("_")] == []
    for method in (clf.predict, clf.predict_proba, clf.decision_function):
        with pytest.raises(NotFittedError, match="not fitted yet"):
            method(table)


@pytest.mark.parametrize(
    ("parameters", "arguments"),
    [
        ({"n_nonzero": 0}, {}),
        ({"solver": "sgd"}, {}),
        ({"positive_class": 7}, {}),
        ({"assignment": [0]}, {}),
        ({"assignment": [9] * 60}, {}),
        ({"class_weight": {7: 1.0}}, {}),
        ({"standardize": False}, {"X": X * 1e150}),
        ({}, {"X": spoiled(np.nan)}),
        ({}, {"X": X * 1e305}),
        ({}, {"X": np.empty((0, 4))}),
        ({}, {"y": np.zeros(60)}),
        ({}, {"y": X[:, 0]}),
        ({}, {"sample_weight": -np.ones(60)}),
        ({}, {"sample_weight": np.zeros(60)}),
    ],
)
def test_a_failed_fit_leaves_an_earlier_fit_as_it_was(parameters, arguments):
    clf = classifier().fit(X, Y)
    before, model = {name: value for name, value in vars(clf).items() if name.endswith("_")}, clf.model_
    decision = clf.decision_function(X)
    with pytest.raises(ValueError):
        clf.set_params(**parameters).fit(**{"X": X, "y": Y, **arguments})
    after = {name: value for name, value in vars(clf).items() if name.endswith("_")}
    assert after.keys() == before.keys()
    for name, value in before.items():
        np.testing.assert_array_equal(after[name], value)
    assert clf.model_ is model
    np.testing.assert_array_equal(clf.decision_function(X), decision)


def test_a_failed_first_fit_can_be_mended():
    clf = classifier(positive_class=7)
    with pytest.raises(ValueError, match="positive_class=7"):
        clf.fit(X, Y)
    assert not hasattr(clf, "model_")
    assert clf.set_params(positive_class=1).fit(X, Y).score(X, Y) > 0.9


def test_a_fit_does_not_change_the_parameters():
    clf = classifier(
        solver="mirror-prox", solver_options={"average": False}, assignment=[0] * 60, class_weight={0: 2.0}
    )
    before = clf.get_params()
    clf.fit(X, Y)
    assert clf.get_params() == before


def test_a_given_assignment_may_use_every_index_though_a_class_has_fewer_rows():
    X, y = np.arange(10.0)[:, None], np.array([0] * 8 + [1] * 2)
    start = np.array([0] * 8 + [0, 2])
    with pytest.warns(UserWarning, match="n_prototypes=3"):
        clf = SMaLLClassifier(3, 1, assignment=start, reassign=False).fit(X, y)
    assert len(clf.prototypes_) == 2


def test_groups_far_from_zero_are_told_apart_without_standardising():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=80) * 0.1 + np.repeat([0.0, 5.0, 2.5], [20, 20, 40]), np.full(80, 1e9)])
    y = np.repeat([1, 0], 40)
    clf = SMaLLClassifier(2, 1, standardize=False, reassign=False, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        clf.fit(X, y)
    assert len(clf.prototypes_) == 2


def test_class_weights_may_name_a_class_that_a_fold_lacks():
    clf = classifier(class_weight={0: 1.0, 1: 2.0, 2: 3.0}).fit(X, Y)
    same = classifier(class_weight={0: 1.0, 1: 2.0}).fit(X, Y)
    assert clf.objective_ == same.objective_
