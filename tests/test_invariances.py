"""What must not change the chosen model: processes, hash seeds, the order of rows, weights written as repeated rows."""

import os
import subprocess
import sys

import numpy as np
import pytest

from smallearn import SMaLLClassifier, SMaLLClassifierCV
from smallearn._learn.choose import race
from smallearn._learn.choose.families import RowLimits
from smallearn._learn.data import source
from smallearn._learn.solve import assignment

COSTS = [[0.0, 1.0, 2.0], [5.0, 0.0, 1.0], [1.0, 3.0, 0.0]]
PARAMETERS = [
    {},
    {"n_prototypes": 3},
    {"budget": "shared"},
    {"literals": "both"},
    {"scoring": "f1"},
    {"class_weight": "balanced"},
    {"cost_matrix": [[0.0, 1.0], [4.0, 0.0]]},
]


def train_on(monkeypatch, **limits):
    """Let every selection train on so many rows."""
    monkeypatch.setattr(RowLimits, "automatic", lambda *_: RowLimits(**limits))


@pytest.fixture(params=["all rows", "samples", "pool"])
def sampling(request, monkeypatch):
    """The tests run on all rows, with limits so low that every step works on a sample, and with so few rows in memory
    that models are chosen on a pool and settled block by block."""
    if request.param == "pool":
        monkeypatch.setattr(source, "POOL_ROWS", 150)
        monkeypatch.setattr(source, "LEAST_POOL_ROWS", 1)
        monkeypatch.setattr(source, "BLOCK_ENTRIES", 128)
    if request.param == "samples":
        train_on(monkeypatch, first=80, folds=110, search=150)
        monkeypatch.setattr(race, "MOST_HELD_OUT", 40)
        monkeypatch.setattr(assignment, "MOST_POINTS", 60)


def table(kind="numbers", n_classes=2, m=240, seed=0):
    """Rows of numbers, or of a grid: whole numbers from 0 to 2, where many distances and many rows are equal."""
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(m, 4)), 2) if kind == "numbers" else rng.integers(0, 3, (m, 4)).astype(float)
    z = np.abs(X[:, 0] - 1.0) - 0.8 + 0.5 * X[:, 1] + 0.5 * rng.normal(size=m)
    return X, np.digitize(z, [0.0] if n_classes == 2 else [-0.5, 0.5])


def fit(X, y, weight=None, **parameters):
    parameters = {"max_terms": 5, "alphas": [0.1, 0.01], "cut_points": 4, "cv": 3, "n_init": 2} | parameters
    return SMaLLClassifierCV(**parameters, random_state=0, verbose=-1).fit(X, y, sample_weight=weight)


def check_same(one, other, X):
    """The same choice and terms, and weights and scores that differ by rounding alone."""
    assert one.best_params_ == other.best_params_
    for a, b in zip(all_models(one), all_models(other), strict=True):
        check_same_terms(a, b)
    assert one.decision_threshold_ == pytest.approx(other.decision_threshold_, rel=1e-9)
    np.testing.assert_allclose(one.decision_function(X), other.decision_function(X), rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(one.cv_results_["mean_test_score"], other.cv_results_["mean_test_score"], rtol=1e-9)


def all_models(estimator):
    """The model, and those that are kept with it."""
    model = estimator.model_
    return [model, *model.frontier_models, *model.alternatives]


def check_same_terms(a, b):
    """The same terms, and weights that differ by rounding alone."""
    assert len(a.prototypes) == len(b.prototypes)
    for p, q in zip(a.prototypes, b.prototypes, strict=True):
        assert p.owner == q.owner
        assert [(t.feature, t.kind, t.value) for t in p.terms] == [(t.feature, t.kind, t.value) for t in q.terms]
        np.testing.assert_allclose([t.weight for t in p.terms], [t.weight for t in q.terms], rtol=1e-6)


@pytest.mark.usefixtures("sampling")
@pytest.mark.parametrize(
    ("n_classes", "parameters"),
    [(2, {}), (3, {}), (3, {"budget": "total"}), (2, {"scoring": "f1"}), (3, {"cost_matrix": COSTS})],
    ids=str,
)
def test_the_model_is_the_same_bit_for_bit_for_any_number_of_processes(n_classes, parameters, monkeypatch):
    monkeypatch.setattr(assignment, "MOST_POINTS", 8_000)  # other processes know nothing of what is patched here
    X, y = table(n_classes=n_classes)
    alone = fit(X, y, **parameters)
    for n_jobs in (1, 2):
        other = fit(X, y, n_jobs=n_jobs, **parameters)
        assert other.model_ == alone.model_
        assert other.best_params_ == alone.best_params_
        for name, column in alone.cv_results_.items():
            np.testing.assert_array_equal(other.cv_results_[name], column)


HASHED = """
from tests.test_invariances import fit, table
from smallearn._learn.choose import race
from smallearn._learn.choose.families import RowLimits
from smallearn._learn.data import source
RowLimits.automatic = lambda *_: RowLimits(first=80, folds=110, search=150)
race.MOST_HELD_OUT = 40
print(fit(*table()).model_.to_json())
"""


def test_the_model_is_the_same_for_any_hash_seed():
    models = [
        subprocess.run(
            [sys.executable, "-c", HASHED],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("0", "1")
    ]
    assert models[0]
    assert models[0] == models[1]


@pytest.mark.usefixtures("sampling")
@pytest.mark.parametrize("kind", ["numbers", "grid"])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("weight", ["none", "fractional"])
@pytest.mark.parametrize("scoring", [None, "balanced_accuracy"])
def test_the_order_of_rows_does_not_matter(kind, n_classes, weight, scoring):
    X, y = table(kind, n_classes)
    rng = np.random.default_rng(1)
    order, weight = rng.permutation(len(y)), np.ones(len(y)) if weight == "none" else rng.uniform(0.3, 2.0, len(y))
    check_same(fit(X, y, weight, scoring=scoring), fit(X[order], y[order], weight[order], scoring=scoring), X)


@pytest.mark.usefixtures("sampling")
@pytest.mark.parametrize("kind", ["numbers", "grid"])
def test_where_every_weight_of_several_classes_counts_neither_order_nor_repeated_rows_matter(kind):
    X, y = table(kind, n_classes=3)
    rng = np.random.default_rng(1)
    times = rng.integers(1, 4, len(y))
    copies = rng.permutation(np.repeat(np.arange(len(y)), times))
    one, other = fit(X, y, times.astype(float), budget="total"), fit(X[copies], y[copies], budget="total")
    assert set(one.cv_results_["loss"].tolist()) == {"log", "spherical"}
    check_same(one, other, X)


@pytest.mark.usefixtures("sampling")
@pytest.mark.parametrize("kind", ["numbers", "grid"])
@pytest.mark.parametrize("parameters", PARAMETERS, ids=str)
def test_whole_weights_are_repeated_rows(kind, parameters):
    X, y = table(kind)
    rng = np.random.default_rng(1)
    times = rng.integers(1, 4, len(y))
    copies = rng.permutation(np.repeat(np.arange(len(y)), times))
    check_same(fit(X, y, times.astype(float), **parameters), fit(X[copies], y[copies], **parameters), X)


@pytest.mark.parametrize("searched", [300, 8000])
@pytest.mark.parametrize("seed", range(3))
def test_few_heavy_rows_are_many_rows(seed, searched, monkeypatch):
    """A sample may have each of the rows, but not all of their weight."""
    train_on(monkeypatch, first=searched, folds=searched, search=searched)
    X, y = table(m=40, seed=seed)
    copies = np.random.default_rng(1).permutation(np.repeat(np.arange(40), 40))
    check_same(fit(X, y, np.full(40, 40.0)), fit(X[copies], y[copies]), X)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("kind", ["numbers", "grid"])
@pytest.mark.parametrize("literals", ["raw", "both"])
def test_a_model_of_given_size_depends_on_order_and_repeats_by_rounding_alone(kind, n_classes, literals):
    X, y = table(kind, n_classes, m=120)
    rng = np.random.default_rng(1)
    times = rng.integers(0, 4, len(y))
    order, copies = rng.permutation(len(y)), np.repeat(np.arange(len(y)), times)

    def fitted(rows, weight=None):
        classifier = SMaLLClassifier(2, 3, literals=literals, random_state=0)
        return classifier.fit(X[rows], y[rows], sample_weight=weight)

    every = np.arange(len(y))
    for one, other in ((fitted(every), fitted(order)), (fitted(every, times.astype(float)), fitted(copies))):
        check_same_terms(one.model_, other.model_)
        np.testing.assert_allclose(one.decision_function(X), other.decision_function(X), rtol=1e-6, atol=1e-9)
        assert one.objective_ == pytest.approx(other.objective_, rel=1e-12)
