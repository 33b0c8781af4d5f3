"""The compiled predictions are those of the model, bit for bit, or none."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numba import config
from scipy import sparse

from smallearn import SMaLLClassifier, _base
from smallearn._learn import prediction
from smallearn.model import Prototype, SMaLLModel, Term

METHODS = ("predict", "predict_proba", "decision_function")
N_FEATURES = 7
ROWS = 411 if config.DISABLE_JIT else 20_011  # if compiled, more than one chunk; and no whole number of blocks
pytestmark = pytest.mark.uncompiled
STORED = {
    "rows": lambda X: X,
    "columns": np.asfortranarray,
    "pandas": pd.DataFrame,
    "pandas, a block a column": lambda X: pd.concat([pd.Series(column.copy()) for column in X.T], axis=1),
    "polars": pl.DataFrame,
}


def random_model(rng, classes, kinds, *, owner=1, mean=None):
    """Two or three prototypes for each class that owns any, of up to four terms."""
    owners = [owner] * 3 if len(classes) == 2 else rng.permutation(np.repeat(np.arange(len(classes)), 2)).tolist()

    def term():
        kind, feature = str(rng.choice(kinds)), int(rng.integers(N_FEATURES))
        value = None if kind in ("raw", "missing") else round(float(rng.normal()), 1)
        return Term(feature, float(rng.normal()), kind=kind, value=value, mean=mean if kind == "raw" else None)

    prototypes = tuple(
        Prototype(int(label), float(rng.normal()), tuple(term() for _ in range(rng.integers(5)))) for label in owners
    )
    return SMaLLModel(tuple(classes), np.array(classes).dtype.str, N_FEATURES, prototypes)


def compiled_answers(model, X, *, gaps=False, n_threads=1):
    stored = prediction.stored(X, gaps)
    assert stored is not None
    return (
        prediction.predict(model, stored, n_threads),
        prediction.from_scores(model, stored, n_threads, lambda z: z),
        prediction.from_scores(model, stored, n_threads, model.chances),
    )


def assert_same(found, expected):
    assert found.dtype == expected.dtype
    assert found.tobytes() == expected.tobytes()


@pytest.mark.parametrize("store", STORED.values(), ids=STORED)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize(
    ("classes", "owner"), [((0, 1), 1), ((0, 1), 0), (("no", "yes"), 1), ((0.5, 1.5, 2.5, 3.5), None)]
)
def test_every_answer_is_that_of_the_model(store, dtype, gaps, classes, owner):
    rng = np.random.default_rng(len(classes) + gaps)
    X = rng.normal(size=(ROWS, N_FEATURES)).round(1).astype(dtype)
    if gaps:
        X[rng.random(X.shape) < 0.1] = np.nan
    for kinds in (["raw"], ["at_most", "above", "missing"], ["raw", "at_most", "above"]):
        model = random_model(rng, classes, kinds, owner=owner, mean=0.3 if gaps else None)
        for n_threads in (1, 2):
            labels, scores, chances = compiled_answers(model, store(X), gaps=gaps, n_threads=n_threads)
            assert_same(labels, model.predict(X))
            assert_same(scores, model.scores(X))
            assert_same(chances, model.predict_proba(X))


def random_entries(rng, dtype, index, gaps):
    """A CSR matrix with explicit zeros, repeated and unsorted entries, and many empty rows."""
    length = rng.integers(5, size=ROWS) * (rng.random(ROWS) < 0.7)
    indptr = np.concatenate([[0], np.cumsum(length)]).astype(index)
    data = rng.normal(size=indptr[-1]).round(1).astype(dtype)  # some are 0
    data[rng.random(len(data)) < 0.1] = -0.0
    if gaps:
        data[rng.random(len(data)) < 0.1] = np.nan
    X = sparse.csr_array((data, rng.integers(N_FEATURES, size=len(data)).astype(index), indptr), (ROWS, N_FEATURES))
    X.indices, X.indptr = X.indices.astype(index), X.indptr.astype(index)
    return X


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize(("classes", "owner"), [((0, 1), 1), (("no", "yes"), 0), ((0.5, 1.5, 2.5, 3.5), None)])
def test_every_answer_for_sparse_rows_is_that_of_the_model(dtype, index, gaps, classes, owner):
    rng = np.random.default_rng(len(classes) + gaps)
    X = random_entries(rng, dtype, index, gaps)
    assert X.indices.dtype == X.indptr.dtype == index
    assert not X.has_canonical_format
    for kinds in (["raw"], ["at_most", "above", "missing"], ["raw", "at_most", "above"]):
        model = random_model(rng, classes, kinds, owner=owner, mean=0.3 if gaps else None)
        for n_threads in (1, 2):
            labels, scores, chances = compiled_answers(model, X, gaps=gaps, n_threads=n_threads)
            assert_same(labels, model.predict(X))
            assert_same(scores, model.scores(X))
            assert_same(chances, model.predict_proba(X))


@pytest.mark.parametrize("column", [0, 1], ids=["in use", "not in use"])
@pytest.mark.parametrize(("bad", "gaps"), [(np.nan, False), (np.inf, False), (-np.inf, True)])
@pytest.mark.parametrize("row", [0, ROWS - 1])
def test_there_is_no_answer_if_an_entry_is_not_finite(column, bad, gaps, row):
    model = SMaLLModel((0, 1), "<i8", 2, (Prototype(1, 0.0, (Term(0, 1.0, kind="above", value=0.0),)),))
    X = sparse.csr_array(([1.0, bad], ([5, row], [0, column])), (ROWS, 2))
    assert compiled_answers(model, X, gaps=gaps) == (None, None, None)


@pytest.mark.parametrize("gaps", [False, True])
def test_there_is_no_answer_if_the_sum_of_repeated_entries_in_use_overflows(gaps):
    X = sparse.csr_array((np.full(2, 1.5e308), [0, 0], [0, 2]), (1, 2))
    for feature, answered in ((0, False), (1, True)):
        literal = Term(feature, 1.0, kind="above", value=0.0)
        model = SMaLLModel((0, 1), "<i8", 2, (Prototype(1, 0.0, (literal,)),))
        assert (prediction.predict(model, prediction.stored(X, gaps), 1) is not None) == answered


def test_rows_without_entries_or_a_model_without_terms_are_answered():
    model = SMaLLModel((0, 1), "<i8", 3, (Prototype(1, 1.0, (Term(2, 1.0),)),))
    constant = SMaLLModel((0, 1), "<i8", 3, (Prototype(1, 1.0, ()),))
    nothing, some = sparse.csr_array((300, 3)), sparse.csr_array(np.eye(3))
    for question in (model, constant):
        for X in (nothing, some):
            assert prediction.predict(question, prediction.stored(X, False), 1).tolist() == [1] * X.shape[0]


@pytest.mark.parametrize("X", [np.ones((300, 2)), sparse.csr_array(np.ones((300, 2)))], ids=["dense", "sparse"])
def test_categories_are_left_to_the_model(X):
    model = SMaLLModel((0, 1), "<i8", 2, (Prototype(1, 0.0, (Term(0, 1.0, kind="equals", value=1),)),))
    assert compiled_answers(model, X) == (None, None, None)


def test_a_table_is_read_in_the_order_of_its_columns_however_it_lies_in_memory():
    rng = np.random.default_rng(0)
    model = random_model(rng, (0, 1), ["raw"])
    table = pd.DataFrame(rng.normal(size=(300, N_FEATURES)))
    assert isinstance(prediction.stored(table, False).numbers, np.ndarray)
    for other in (table.iloc[:, ::-1], table.iloc[::-1], table.iloc[5:105], table[[3, 1, 0, 2, 4, 6, 5]]):
        X = other.to_numpy()
        assert_same(compiled_answers(model, other)[1], model.scores(X))


@pytest.mark.parametrize("n_threads", [1, 2])
def test_no_rows_have_no_answers(n_threads):
    model = SMaLLModel((0, 1), "<i8", 2, (Prototype(1, 0.0, (Term(0, 1.0),)),))
    for X in (np.ones((0, 2)), sparse.csr_array((0, 2))):
        assert prediction.predict(model, prediction.stored(X, False), n_threads).tolist() == []


@pytest.mark.parametrize("owner", [0, 1])
def test_a_tie_goes_to_the_first_class(owner):
    prototype = Prototype(owner, 0.0, (Term(0, 1.0),))
    model = SMaLLModel(("a", "b"), "<U1", 1, (prototype,))
    X = np.array([[0.0], [-0.0], [5e-324], [-5e-324], [1.0], [-1.0]])
    labels = prediction.predict(model, prediction.stored(X, False), 1)
    assert labels.tolist() == model.predict(X).tolist()
    assert labels[:2].tolist() == ["a", "a"]


def test_a_tie_among_several_classes_goes_to_the_first_of_them():
    prototypes = tuple(Prototype(owner, 0.0, (Term(0, 1.0),)) for owner in (2, 1, 0))
    model = SMaLLModel((7, 8, 9), "<i8", 1, prototypes)
    assert prediction.predict(model, prediction.stored(np.ones((40, 1)), False), 1).tolist() == [7] * 40


@pytest.mark.parametrize("store", STORED.values(), ids=STORED)
@pytest.mark.parametrize("column", [0, 1], ids=["in use", "not in use"])
@pytest.mark.parametrize(("bad", "gaps"), [(np.nan, False), (np.inf, False), (-np.inf, True)])
@pytest.mark.parametrize("row", [0, ROWS - 1])
def test_there_is_no_answer_if_a_number_is_not_finite(store, column, bad, gaps, row):
    model = SMaLLModel((0, 1), "<i8", 2, (Prototype(1, 0.0, (Term(0, 1.0, kind="above", value=0.0),)),))
    X = np.ones((ROWS, 2))
    X[row, column] = bad
    assert compiled_answers(model, store(X), gaps=gaps) == (None, None, None)


def test_there_is_no_answer_if_a_score_overflows_or_a_raw_term_has_no_mean():
    model = SMaLLModel((0, 1), "<i8", 1, (Prototype(1, 0.0, (Term(0, 10.0),)),))
    for bad in (1e308, np.nan):
        assert compiled_answers(model, np.array([[1.0], [bad]]), gaps=True) == (None, None, None)


@pytest.mark.parametrize(
    "X",
    [
        np.ones((4, 6))[:, ::2],
        np.ones((4, 3), dtype=int),
        np.ones((4, 3), dtype=">f8"),
        pd.DataFrame({"a": [1.0], "b": [1]}),
        pd.DataFrame({"a": pd.array([1.0, None], dtype="Float64")}),
        pl.DataFrame({"a": [1.0], "b": ["x"]}),
        sparse.csc_array(np.ones((4, 3))),
        sparse.csr_array(np.ones((4, 3), dtype=int)),
    ],
    ids=[
        "strided",
        "whole numbers",
        "other byte order",
        "mixed table",
        "nullable table",
        "text",
        "sparse by column",
        "sparse whole numbers",
    ],
)
def test_what_no_kernel_reads_is_left_to_the_model(X):
    assert prediction.stored(X, False) is None


@pytest.mark.parametrize("store", STORED.values(), ids=STORED)
@pytest.mark.parametrize("literals", ["raw", "both"])
def test_an_estimator_predicts_many_rows_as_its_model_does_and_refuses_the_same(store, literals, monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 4))
    clf = SMaLLClassifier(2, 2, literals=literals, random_state=0).fit(store(X), X[:, 0] + X[:, 1] > 0.0)
    expected = {name: getattr(clf, name)(store(X)) for name in METHODS}
    monkeypatch.setattr(_base, "LEAST_COMPILED", 1)
    monkeypatch.setattr(SMaLLModel, "_from_scores", None)  # the model is not asked
    for name in METHODS:
        assert_same(getattr(clf, name)(store(X)), expected[name])
    monkeypatch.undo()
    assert_refuses_the_same(clf, X, store, monkeypatch)


@pytest.mark.parametrize("store", [sparse.csr_array, sparse.csr_matrix, sparse.csc_array, sparse.coo_array])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64])
@pytest.mark.parametrize("literals", ["raw", "both"])
def test_an_estimator_predicts_many_sparse_rows_as_its_model_does_and_refuses_the_same(
    store, dtype, literals, monkeypatch
):
    rng = np.random.default_rng(0)
    X = (rng.integers(-3, 4, size=(400, 4)) * (rng.random((400, 4)) < 0.5)).astype(dtype)
    clf = SMaLLClassifier(2, 2, literals=literals, random_state=0).fit(store(X), X[:, 0] + X[:, 1] > 0)
    expected = {name: getattr(clf, name)(store(X)) for name in METHODS}
    monkeypatch.setattr(_base, "LEAST_COMPILED", 1)
    monkeypatch.setattr(SMaLLModel, "_from_scores", None)  # the model is not asked
    for name in METHODS:
        assert_same(getattr(clf, name)(store(X)), expected[name])
    monkeypatch.undo()
    assert_refuses_the_same(clf, X.astype(float), store, monkeypatch)


def assert_refuses_the_same(clf, X, store, monkeypatch):
    messages = []
    for least in (1, 2**30):
        monkeypatch.setattr(_base, "LEAST_COMPILED", least)
        for bad, factor in ((np.inf, 1.0), (-np.inf, 1.0), (1e308, 1e10)):
            spoiled = X.copy()
            spoiled[7] = bad
            with np.errstate(over="ignore"), pytest.raises(ValueError) as error:
                clf.predict(store(spoiled * factor))
            messages.append(str(error.value))
    assert messages[:3] == messages[3:]


@pytest.mark.parametrize(
    "broken", ["a column too far", "a negative column", "falling starts", "entries that are not there"]
)
def test_a_broken_csr_matrix_is_not_read_by_compiled_code(broken):
    X = sparse.csr_array(np.eye(4))
    assert prediction.stored(X, False) is not None
    if broken == "a column too far":
        X.indices[2] = 4
    elif broken == "a negative column":
        X.indices[2] = -1
    elif broken == "falling starts":
        X.indptr[1:3] = [2, 1]
    else:
        X.indptr[-1] = 99
    assert prediction.stored(X, False) is None
