"""On Dask collections the estimators give the model of the same rows in memory, and predict block by block."""

import pickle
import re
from itertools import pairwise

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone

import smallearn
import smallearn.dask
from smallearn._run import progress
from smallearn.dask import _source
from smallearn.model import load_model
from tests.helpers.dask_rows import N_ROWS, lazy, lazy_list, numbers, table, words
from tests.run.test_progress import Screen

pytestmark = pytest.mark.usefixtures("few_are_many")


def classifier(home, **parameters):
    return home.SMaLLClassifier(**{"n_prototypes": 2, "n_nonzero": 3, "random_state": 0, "verbose": -1, **parameters})


def selector(home, **parameters):
    chosen = {"max_terms": 4, "cv": 2, "alphas": (0.01,), "n_prototypes": [1, 2], "random_state": 0, "verbose": -1}
    return home.SMaLLClassifierCV(**{**chosen, **parameters})


def assert_same(here, there):
    """The same model, but for rounding; and the same record of the training rows."""
    one, other = here.model_, there.model_
    assert [(t.feature, t.name, t.kind, t.value) for t in one.terms] == [
        (t.feature, t.name, t.kind, t.value) for t in other.terms
    ]
    np.testing.assert_allclose([t.weight for t in one.terms], [t.weight for t in other.terms], rtol=1e-8)
    np.testing.assert_allclose(here.intercepts_, there.intercepts_, rtol=1e-8, atol=1e-8)
    assert one.classes == other.classes
    assert one.class_dtype == other.class_dtype
    assert there.objective_ == pytest.approx(here.objective_, rel=1e-10)
    assert type(there.classes_) is np.ndarray
    assert type(there.support_) is np.ndarray


CASES = {
    "dense": (lambda: numbers(), {}),
    "float32": (lambda: numbers(dtype=np.float32), {}),
    "three classes": (lambda: numbers(n_classes=3), {}),
    "literals": (lambda: numbers(seed=1), {"literals": "both"}),
    "balanced": (lambda: numbers(seed=2), {"class_weight": "balanced"}),
    "sparse": (words, {}),
    "sparse literals": (words, {"literals": "both"}),
    "categories and gaps": (table, {"categorical_features": "from_dtype", "literals": "both"}),
}


@pytest.mark.parametrize("name", CASES)
def test_the_classifier_is_that_of_the_rows_in_memory(name):
    make, parameters = CASES[name]
    X, y = make()
    here = classifier(smallearn, **parameters).fit(X, y)
    blocks = lazy_list(y) if sparse.issparse(X) else lazy(y)
    there = classifier(smallearn.dask, **parameters).fit(lazy(X), blocks)
    assert_same(here, there)
    assert there.model_.data == here.model_.data
    assert there.n_features_in_ == here.n_features_in_


@pytest.mark.parametrize("name", ["dense", "three classes", "sparse", "categories and gaps"])
def test_the_selection_is_that_of_the_rows_in_memory(name):
    make, parameters = CASES[name]
    parameters = {key: value for key, value in parameters.items() if key != "literals"}
    X, y = make()
    here = selector(smallearn, **parameters).fit(X, y)
    blocks = lazy_list(y) if sparse.issparse(X) else lazy(y)
    there = selector(smallearn.dask, **parameters).fit(lazy(X), blocks)
    assert_same(here, there)
    np.testing.assert_allclose(there.cv_results_["mean_test_score"], here.cv_results_["mean_test_score"], rtol=1e-8)


def test_weights_count_rows_and_rows_of_no_weight_are_absent():
    X, y = numbers()
    weight = np.random.default_rng(0).integers(0, 3, N_ROWS).astype(float)
    y = np.where(weight == 0, 7, y)  # a class that no row that counts has
    here = classifier(smallearn).fit(X, y, weight)
    there = classifier(smallearn.dask).fit(lazy(X), lazy(y), lazy(weight))
    assert_same(here, there)
    assert there.model_.data is None


@pytest.mark.parametrize("name", ["three classes", "sparse", "categories and gaps"])
def test_the_selection_takes_weights(name):
    make, parameters = CASES[name]
    X, y = make()
    weight = np.random.default_rng(0).integers(0, 3, N_ROWS) / 2
    parameters = {key: value for key, value in parameters.items() if key != "literals"}
    here = selector(smallearn, **parameters).fit(X, y, weight)
    blocks = (lazy_list(values) if sparse.issparse(X) else lazy(values) for values in (y, weight))
    there = selector(smallearn.dask, **parameters).fit(lazy(X), *blocks)
    assert_same(here, there)
    np.testing.assert_allclose(there.cv_results_["mean_test_score"], here.cv_results_["mean_test_score"], rtol=1e-8)


def test_classes_and_weights_can_be_columns():
    X, y = table()
    weight = pd.Series(np.random.default_rng(0).random(N_ROWS) + 0.5)
    parameters = {"categorical_features": "from_dtype", "literals": "both"}
    here = classifier(smallearn, **parameters).fit(X, y, weight)
    whole = lazy(X.assign(target=y, mass=weight))
    there = classifier(smallearn.dask, **parameters).fit(whole, "target", "mass")
    assert_same(here, there)
    assert there.model_.data.target == "target"
    assert list(there.feature_names_in_) == list(X.columns)


def test_few_rows_are_trained_on_in_memory(monkeypatch):
    monkeypatch.setattr(_source.Survey, "source", None)  # is not called
    for X, y in ([values[:900] for values in numbers()], [values[:900] for values in table()]):
        parameters = {"categorical_features": "from_dtype", "literals": "both"} if hasattr(X, "iloc") else {}
        here = classifier(smallearn, **parameters).fit(X, y)
        there = classifier(smallearn.dask, **parameters).fit(lazy(X, 200), lazy(y, 200))
        assert there.model_ == here.model_
        if hasattr(X, "iloc"):
            there.fit(lazy(X.assign(target=y), 200), "target")
            assert there.model_.prototypes == here.model_.prototypes
    X, y = (values[:900] for values in words())
    there = classifier(smallearn.dask).fit(lazy(X, 200), lazy_list(y, 200))
    assert there.model_ == classifier(smallearn).fit(X, y).model_
    assert there.fit(X, y).model_ == classifier(smallearn).fit(X, y).model_  # rows in memory too


def test_the_model_does_not_depend_on_the_partitions_beyond_rounding():
    X, y = numbers()
    first = classifier(smallearn.dask).fit(lazy(X), lazy(y))
    for chunk in (61, 2000):
        assert_same(first, classifier(smallearn.dask).fit(lazy(X, chunk), lazy(y, chunk)))
    assert_same(first, classifier(smallearn.dask).fit(da.from_array(X, chunks=(700, 2)), y))  # y in memory is cut alike


def test_small_partitions_share_a_block_and_empty_ones_are_left_out():
    X, y = numbers()
    pieces = [0, 0, 40, 40, 1000, 1000, 1001, N_ROWS, N_ROWS]
    parts = [[dask.delayed(values[begin:end]) for begin, end in pairwise(pieces)] for values in (X, y)]
    there = classifier(smallearn.dask).fit(*parts)
    assert_same(classifier(smallearn).fit(X, y), there)
    predicted = there.predict(parts[0])
    assert (predicted.compute() == classifier(smallearn).fit(X, y).predict(X)).all()


def test_chunk_sizes_need_not_be_known():
    X, y = table()
    numeric = X[list("acde")]
    here = classifier(smallearn).fit(numeric.to_numpy(), y)
    there = classifier(smallearn.dask).fit(lazy(numeric).to_dask_array(), lazy(y))
    assert_same(here, there)
    assert np.isnan(there.predict(lazy(numeric).to_dask_array()).shape[0])


def test_a_column_of_text_may_be_empty_in_a_partition():
    X, y = table()
    X.loc[: N_ROWS // 2, "heat"] = None
    parameters = {"categorical_features": "from_dtype", "literals": "both"}
    with dask.config.set({"dataframe.convert-string": False}):
        there = classifier(smallearn.dask, **parameters).fit(lazy(X), lazy(y))
    assert_same(classifier(smallearn, **parameters).fit(X, y), there)


@pytest.mark.parametrize("home", [smallearn, smallearn.dask])
def test_the_stages_of_a_fit_are_shown(home, monkeypatch):
    screen = Screen(terminal=True)
    monkeypatch.setattr(progress.sys, "stderr", screen)
    for name in ("_FIRST_SECONDS", "_REDRAW_SECONDS"):
        monkeypatch.setattr(progress, name, 0.0)
    X, y = numbers() if home is smallearn else map(lazy, numbers())
    selector(home, verbose=0).fit(X, y)
    lines = [line.strip() for line in screen.getvalue().split("\r")]
    assert any(re.fullmatch(r"reading: pass \d+, \S+ [kM] rows/s", line) for line in lines)
    chosen = lines.index("choosing on a sample")
    assert any(line.endswith("left") and " fits" in line for line in lines[chosen:])
    last = next(line for line in reversed(lines) if line)
    assert re.fullmatch(r"settling the weights: pass \d+, loss [\d.]+ \([+-]\S+\), \S+ [kM] rows/s", last), last
    screen.truncate(0)
    selector(home, verbose=-1).fit(X, y)
    assert "pass" not in screen.getvalue()


# --- predictions ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["dense", "three classes", "sparse", "categories and gaps"])
@pytest.mark.parametrize("method", ["predict", "predict_proba", "decision_function"])
def test_predictions_are_lazy_and_the_same(name, method):
    make, parameters = CASES[name]
    X, y = (values[:300] for values in make())
    here = classifier(smallearn, **parameters).fit(X, y)
    there = classifier(smallearn.dask, **parameters).fit(X, y)
    expected, rows = getattr(here, method)(X), lazy(X, 70)
    predicted = getattr(there, method)(rows)
    assert isinstance(predicted, da.Array)
    assert predicted.dtype == expected.dtype
    np.testing.assert_array_equal(predicted.compute(), expected)
    np.testing.assert_array_equal(getattr(there, method)(X), expected)
    if not sparse.issparse(X):
        np.testing.assert_array_equal(getattr(there.model_, method)(rows).compute(), expected)


def test_a_loaded_model_predicts_lazily(tmp_path):
    X, y = (values[:300] for values in table())
    parameters = {"categorical_features": "from_dtype", "literals": "both"}
    model = classifier(smallearn, **parameters).fit(X, y).model_
    model.save(tmp_path / "model.json")
    loaded = load_model(tmp_path / "model.json")
    predicted = loaded.predict(lazy(X, 70))
    assert isinstance(predicted, da.Array)
    assert (predicted.compute() == model.predict(X)).all()


def test_the_score_is_that_in_memory():
    X, y = (values[:300] for values in numbers())
    weight = np.arange(300.0)
    there = classifier(smallearn.dask).fit(X, y)
    expected = classifier(smallearn).fit(X, y).score(X, y, weight)
    assert there.score(lazy(X, 70), lazy(y, 70), lazy(weight, 70)) == pytest.approx(expected)
    assert there.score(lazy(X, 70), lazy_list(y, 70), weight) == pytest.approx(expected)
    assert there.score(X, y, weight) == pytest.approx(expected)
    frame = pd.DataFrame(X)
    named = classifier(smallearn.dask).fit(frame, y)
    assert named.score(dd.from_pandas(frame, npartitions=3), y, weight) == pytest.approx(expected)


# --- as scikit-learn's ------------------------------------------------------------------------------------------------


class Client:
    """Something that can be neither copied nor pickled."""

    def __reduce__(self):
        raise TypeError("not this")


@pytest.mark.parametrize("make", [classifier, selector])
def test_the_constructor_takes_what_that_in_memory_takes_and_a_client(make):
    client = Client()
    there = make(smallearn.dask, client=client)
    assert there.get_params() == {**make(smallearn).get_params(), "client": client}
    assert clone(there).client is client
    assert clone(there).get_params() == there.get_params()
    assert pickle.loads(pickle.dumps(there)).client is None
    assert there.client is client
    assert type(there).__doc__.count("client : ") == 1
    assert there.set_params(n_prototypes=1).n_prototypes == 1


def test_a_fitted_estimator_is_pickled_without_its_client():
    X, y = (values[:300] for values in numbers())
    there = classifier(smallearn.dask, client=Client()).fit(X, y)
    loaded = pickle.loads(pickle.dumps(there))
    assert loaded.client is None
    assert loaded.model_ == there.model_


# --- messages ---------------------------------------------------------------------------------------------------------


def bad_inputs():
    X, y = numbers()
    text = np.where(y, "yes", None)
    frame, target = table()
    unknown = lazy(frame[list("acde")]).to_dask_array()
    infinite = X.copy()
    infinite[5, 1] = np.inf
    parts, labels = lazy_list(X), lazy_list(y)
    csr = dask.delayed(sparse.csr_array(X[:450]))
    return {
        "no y": (lazy(X), None, "needs y"),
        "other length": (lazy(X), lazy(y[:-1]), "3000 rows, and y has 2999"),
        "other length in memory": (lazy(X), y[:-1], "3000 rows, and y has 2999"),
        "other partitions": (parts, labels[:-1], "7 partitions and y has 6"),
        "other cuts": (parts, lazy_list(y, 430), "Partition 0: X has 450 rows and y has 430"),
        "unknown chunks": (unknown, y, "chunk sizes of X are not known.*compute_chunk_sizes"),
        "no such column": (lazy(frame), "goal", "no column 'goal'"),
        "missing label": (lazy(X), lazy(text), "y has missing values"),
        "one class": (lazy(X), lazy(np.ones(N_ROWS, dtype=int)), "y has one class, 1"),
        "continuous": (lazy(X), lazy(X[:, 0]), "continuous"),
        "infinity": (lazy(infinite), lazy(y), "infinity"),
        "text": (lazy(frame), lazy(target), "Partition 0: could not convert string to float"),
        "gaps": (lazy(frame[["a", "b"]]), lazy(target), "NaN"),
        "another type": ([*parts[:2], csr, *parts[3:]], labels, "array and partition 2 is a sparse matrix"),
        "another width": ([*parts[:2], parts[2][:, :3], *parts[3:]], labels, "5 columns and partition 2 has 3"),
        "one dimension": (lazy(X[:, 0]), lazy(y), "2D"),
        "mixed labels": (parts, [dask.delayed(np.array(["a"] * 450)), *labels[1:]], "text in some rows"),
    }


@pytest.mark.parametrize("name", bad_inputs())
def test_bad_rows_are_refused_with_a_clear_message(name):
    X, y, message = bad_inputs()[name]
    there = classifier(smallearn.dask)
    with pytest.raises(ValueError, match=message):
        there.fit(X, y)
    assert not hasattr(there, "model_")


def test_bad_weights_are_refused():
    X, y = numbers()
    for weight in (np.full(N_ROWS, -1.0), np.full(N_ROWS, np.nan)):
        with pytest.raises(ValueError, match="Partition 0: sample_weight"):
            classifier(smallearn.dask).fit(lazy(X), lazy(y), lazy(weight))


def test_a_bag_is_no_table():
    import dask.bag as db

    with pytest.raises(ValueError, match="X is a Bag"):
        classifier(smallearn.dask).fit(db.from_sequence([1, 2]), [0, 1])
