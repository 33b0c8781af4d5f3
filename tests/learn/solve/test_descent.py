"""Reassignment: the objective never rises, and no prototype is left without rows."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import make_classification

from smallearn import SMaLLClassifier
from smallearn._learn.solve import descent as search


@pytest.fixture
def history(monkeypatch):
    """The objective after every round, as `train` reports it."""
    values = []
    monkeypatch.setattr(search, "_report", lambda _plan, _name, solution: values.append(solution.value))
    return values


@pytest.mark.parametrize("refit", [True, False])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("seed", range(8))
def test_the_objective_never_rises(history, seed, n_classes, refit):
    rng = np.random.default_rng(seed)
    X, y = make_classification(150, 12, n_informative=6, n_redundant=4, n_classes=n_classes, random_state=seed)
    X = X @ (np.eye(12) + 0.5 * rng.normal(size=(12, 12)))
    clf = SMaLLClassifier(3, 2, 1e-3, random_state=seed, refit_support=refit).fit(X, y)
    assert np.all(np.diff(history[:-1]) <= 1e-12)  # the last round may be the one that was not kept
    assert clf.objective_ == pytest.approx(min(history), rel=1e-12)
    assert clf.objective_ <= history[0]


def test_more_rounds_never_end_higher_and_zero_rounds_equal_false():
    X, y = make_classification(300, 20, n_informative=8, random_state=1)
    by_rounds = [SMaLLClassifier(3, 3, 1e-3, reassign=r, random_state=0).fit(X, y) for r in (False, 0, 1, 2, 5, True)]
    values = [clf.objective_ for clf in by_rounds]
    assert values[0] == values[1]
    assert np.all(np.diff(values) <= 1e-12)
    assert values[-1] < values[0]


def test_at_the_end_no_row_would_move():
    X, y = make_classification(300, 20, n_informative=8, random_state=2)
    clf = SMaLLClassifier(3, 3, 1e-2, random_state=0).fit(X, y)
    own = clf.model_.scores(X)[y == 1].argmax(axis=1)
    index = np.zeros(300, dtype=int)
    index[y == 1] = own
    again = SMaLLClassifier(len(clf.prototypes_), 3, 1e-2, assignment=index, reassign=False).fit(X, y)
    assert again.objective_ == pytest.approx(clf.objective_, rel=1e-6)


@pytest.mark.parametrize("seed", range(8))
def test_a_reseeded_prototype_takes_rows_by_their_weight(seed):
    """Weight 2 is the row twice here too."""
    rng = np.random.RandomState(seed)
    X = rng.uniform(size=(80, 3))
    y = (np.abs(X[:, 0] - 0.5) > 0.25).astype(int)
    weight = rng.randint(1, 6, 80)
    start = np.zeros(80, dtype=int)
    weighted = SMaLLClassifier(2, 1, 1e-3, assignment=start, tol=1e-8).fit(X, y, weight.astype(float))
    repeated = SMaLLClassifier(2, 1, 1e-3, assignment=np.repeat(start, weight), tol=1e-8)
    repeated.fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    assert weighted.objective_ == pytest.approx(repeated.objective_, rel=1e-7)


def test_an_empty_prototype_is_dropped_when_the_assignment_is_fixed():
    X, y = make_classification(100, 5, random_state=0)
    clf = SMaLLClassifier(3, 2, assignment=np.full(100, 1), reassign=False).fit(X, y)
    alone = SMaLLClassifier(1, 2, reassign=False).fit(X, y)
    assert clf.prototypes_.shape == (1, 5)
    np.testing.assert_allclose(clf.prototypes_, alone.prototypes_)


def test_an_empty_prototype_is_reseeded_where_that_lowers_the_objective():
    """Two far corners are positive: one half-space cannot hold both, the second prototype pays."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-1.0, 1.0, (600, 2))
    y = (np.abs(X[:, 0]) > 0.6).astype(int)
    clf = SMaLLClassifier(2, 1, 1e-3, assignment=np.zeros(600, dtype=int)).fit(X, y)
    assert len(clf.prototypes_) == 2
    assert clf.score(X, y) > 0.97
    fixed = SMaLLClassifier(2, 1, 1e-3, assignment=np.zeros(600, dtype=int), reassign=False).fit(X, y)
    assert clf.objective_ < fixed.objective_


@given(st.integers(0, 2**32 - 1))
def test_a_reseeded_prototype_keeps_the_stack_ordered_by_class(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, 3))
    y = rng.integers(0, 3, 60)
    clf = SMaLLClassifier(3, 1, 1e-3, assignment=np.zeros(60, dtype=int)).fit(X, y)
    assert np.all(np.diff(clf.prototype_classes_) >= 0)
    assert set(clf.prototype_classes_) == {0, 1, 2}
