"""Training from a `Table` gives the model that the same rows give in memory."""

import tracemalloc

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone

from smallearn import SMaLLClassifier, SMaLLClassifierCV
from smallearn._learn.data import source
from smallearn._learn.data.table import Table
from tests.helpers.large import COLOURS, few_in_memory, rows_of

NAMES = np.array(list("abcde"), dtype=object)


def table_of(X, y, tmp_path, weight=None, categories=None):
    """A table whose features are in a mapped file."""
    mapped = np.memmap(tmp_path / "X", dtype=X.dtype, mode="w+", shape=X.shape)
    mapped[:] = X
    classes, code = np.unique(y, return_inverse=True)
    return Table(
        X=np.memmap(tmp_path / "X", dtype=X.dtype, mode="r", shape=X.shape),
        code=code.astype(np.int32),
        classes=classes,
        feature_names=NAMES,
        target="class",
        weight=weight,
        categories=categories,
    )


def frame_of(X, categories):
    frame = pd.DataFrame(X, columns=NAMES)
    return frame.assign(e=pd.Series([COLOURS[int(c)] for c in X[:, 4]])) if categories else frame


def check_same(one, other):
    a, b = one.model_, other.model_
    assert [t.feature for t in a.terms] == [t.feature for t in b.terms]
    assert [(t.kind, t.value) for t in a.terms] == [(t.kind, t.value) for t in b.terms]
    np.testing.assert_allclose([t.weight for t in a.terms], [t.weight for t in b.terms], rtol=1e-8)
    np.testing.assert_allclose([p.intercept for p in a.prototypes], [p.intercept for p in b.prototypes], rtol=1e-8)
    assert a.training.n_rows == b.training.n_rows
    assert a.data.fingerprint == b.data.fingerprint
    assert one.objective_ == pytest.approx(other.objective_, rel=1e-10)


@pytest.mark.parametrize("size", ["small", "large"])
@pytest.mark.parametrize("kind", ["numbers", "categories", "gaps"])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("estimator", [SMaLLClassifier, SMaLLClassifierCV])
def test_a_table_gives_the_model_that_its_rows_give_in_memory(monkeypatch, tmp_path, size, kind, n_classes, estimator):
    if size == "large":
        few_in_memory(monkeypatch)
    X, y = rows_of(kind, n_classes, m=1200)
    categories = {4: COLOURS} if kind == "categories" else None
    weight = np.random.default_rng(1).integers(1, 3, len(y)).astype(float)
    parameters = {"categorical_features": "from_dtype" if categories else None, "random_state": 0, "cut_points": 4}
    if estimator is SMaLLClassifier:
        parameters |= {"literals": "both", "n_prototypes": 2, "n_nonzero": 2}
    else:
        parameters |= {"max_terms": 4, "alphas": [0.01], "cv": 3, "verbose": -1}
    in_memory = estimator(**parameters).fit(frame_of(X, categories), y, sample_weight=weight)
    mapped = estimator(**parameters).fit(table_of(X, y, tmp_path, weight, categories))
    check_same(in_memory, mapped)
    np.testing.assert_array_equal(mapped.feature_names_in_, NAMES)
    np.testing.assert_array_equal(mapped.predict(frame_of(X, categories)), in_memory.predict(frame_of(X, categories)))


@pytest.mark.parametrize(("estimator", "opened"), [(SMaLLClassifier, "memmap"), (SMaLLClassifierCV, "load")])
def test_a_mapped_array_is_not_copied(monkeypatch, tmp_path, estimator, opened):
    few_in_memory(monkeypatch)
    monkeypatch.setattr(source, "BLOCK_ENTRIES", 1 << 16)
    rng = np.random.default_rng(0)
    X = rng.standard_normal((20_000, 60))
    y = (X[:, 0] + X[:, 1] + rng.standard_normal(len(X)) > 0).astype(int)
    X[rng.random(X.shape) < 0.02] = np.nan
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    if opened == "memmap":
        X.tofile(tmp_path / "X")
        mapped = np.memmap(tmp_path / "X", dtype=float, mode="r", shape=X.shape)
    parameters = {"random_state": 0, "verbose": -1, "cut_points": 4, "literals": "both", "n_prototypes": 1}
    parameters |= {"n_nonzero": 2} if estimator is SMaLLClassifier else {"max_terms": 2, "alphas": [0.01], "cv": 2}
    in_memory = estimator(**parameters).fit(X, y)
    tracemalloc.start()
    there = estimator(**parameters).fit(mapped, y)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < X.nbytes / 2
    check_same(in_memory, there)


def test_what_needs_every_row_reads_a_mapped_array(monkeypatch, tmp_path):
    X, y = rows_of("numbers", m=1200)
    np.save(tmp_path / "X.npy", X)
    few_in_memory(monkeypatch)
    plain = SMaLLClassifier(1, 2, reassign=False, random_state=0)
    check_same(plain.fit(X, y), clone(plain).fit(np.load(tmp_path / "X.npy", mmap_mode="r"), y))


def test_sparse_rows_are_settled_block_by_block(monkeypatch):
    X, y = rows_of("sparse")
    whole = SMaLLClassifierCV(3, alphas=[0.01], random_state=0, verbose=-1, cv=3).fit(X, y)
    few_in_memory(monkeypatch)
    blocks = SMaLLClassifierCV(3, alphas=[0.01], random_state=0, verbose=-1, cv=3).fit(X, y)
    assert sparse.issparse(X)
    assert blocks.model_.training.n_rows == len(y)
    assert blocks.objective_ == pytest.approx(whole.objective_, rel=0.05)


@pytest.mark.parametrize(
    ("change", "arguments", "message"),
    [
        ({}, {"y": [0, 1]}, "pass it alone"),
        ({}, {"sample_weight": [1.0]}, "pass it alone"),
        ({"categories": {4: COLOURS}}, {}, "categories in 'e'"),
    ],
)
def test_what_a_table_does_not_need_or_lacks_is_said(tmp_path, change, arguments, message):
    X, y = rows_of("categories", m=200)
    with pytest.raises(ValueError, match=message):
        SMaLLClassifier().fit(table_of(X, y, tmp_path, **change), **arguments)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"reassign": False}, "reassign=False needs every row in memory"),
        ({"refit_support": False}, "refit_support=False needs"),
        ({"solver": "mirror-prox"}, "solver='mirror-prox' needs"),
        ({"assignment": np.zeros(1500, dtype=int)}, "assignment needs"),
    ],
)
def test_training_that_needs_every_row_is_refused_for_rows_outside_memory(monkeypatch, tmp_path, parameters, message):
    few_in_memory(monkeypatch)
    X, y = rows_of("numbers")
    with pytest.raises(ValueError, match=message):
        SMaLLClassifier(**parameters).fit(table_of(X, y, tmp_path))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [({"cv": [([0, 1, 2], [3, 4])]}, "cv is about single rows"), ({"sample_rows": None}, "on all rows")],
)
def test_a_choice_that_needs_every_row_is_refused_for_rows_outside_memory(monkeypatch, tmp_path, parameters, message):
    few_in_memory(monkeypatch)
    X, y = rows_of("numbers")
    with pytest.raises(ValueError, match=message):
        SMaLLClassifierCV(2, **parameters).fit(table_of(X, y, tmp_path))


def test_a_choice_for_a_chip_needs_rows_in_memory(tmp_path):
    X, y = rows_of("numbers", m=200)
    with pytest.raises(ValueError, match="device='cortex-m0' checks the code on training rows in memory"):
        SMaLLClassifierCV(2, device="cortex-m0").fit(table_of(X, y, tmp_path))
