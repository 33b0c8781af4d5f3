"""States of the search: entries, what the quadratic model says of one more or one less, and the cache of columns."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from smallearn._learn.data.blocks import in_memory
from smallearn._learn.data.labels import Assignment
from smallearn._learn.kernels import NO_PROTOTYPE
from smallearn._learn.solve import support_state
from smallearn._learn.solve.support_state import ColumnCache, Entries, State, begin_of, fit, tempered, weighted_sums
from tests.helpers import problems

pytestmark = pytest.mark.uncompiled


def entries_of(pairs, theta=None):
    prototype, column = (np.array([pair[at] for pair in pairs], dtype=np.int64) for at in (0, 1))
    return Entries(prototype=prototype, column=column, theta=np.arange(1.0, len(pairs) + 1) if theta is None else theta)


def random_state(seed, size, p=3):
    """A state with a random positive definite Hessian, and that Hessian with one entry more, which comes last."""
    rng = np.random.default_rng(seed)
    prototype = np.sort(rng.integers(0, p, size))
    entries = Entries(prototype=prototype, column=np.arange(size), theta=rng.normal(size=size))
    B = rng.normal(size=(size + 1, size + 4))
    A = B @ B.T + np.eye(size + 1)
    assignment = Assignment(own=np.zeros(1, dtype=np.int64), owner=np.zeros(p, dtype=np.int64))
    state = State(
        assignment, entries, begin_of(entries.prototype, p), 1.0, np.zeros((p, 1)), np.linalg.inv(A[:-1, :-1])
    )
    return state, A, rng


# --- entries ---------------------------------------------------------------------------------------------------------


def test_a_column_more_comes_last_in_each_prototype_at_weight_zero():
    entries = entries_of([(0, 4), (0, 7), (1, 2), (3, 4)])
    found = entries.with_column(np.array([0, 1, 2]), 5)
    assert [*zip(*(field.tolist() for field in found), strict=True)] == [
        (0, 4, 1.0),
        (0, 7, 2.0),
        (0, 5, 0.0),
        (1, 2, 3.0),
        (1, 5, 0.0),
        (2, 5, 0.0),
        (3, 4, 4.0),
    ]
    assert begin_of(found.prototype, 5).tolist() == [0, 3, 5, 6, 7, 7]
    assert entries.with_column(np.array([], dtype=np.int64), 5).column.tolist() == [4, 7, 2, 4]


def test_entries_are_taken_by_mask_or_index():
    entries = entries_of([(0, 4), (0, 7), (1, 2)])
    by_mask, by_index = entries.take(np.array([True, False, True])), entries.take(np.array([0, 2]))
    for one, other in zip(by_mask, by_index, strict=True):
        assert one.tolist() == other.tolist()
    assert by_mask.column.tolist() == [4, 2]


# --- the quadratic model ---------------------------------------------------------------------------------------------


@given(st.integers(0, 1000), st.integers(1, 20), st.integers(0, 2))
def test_one_more_entry_has_the_inverse_of_the_bordered_hessian(seed, size, prototype):
    state, A, rng = random_state(seed, size)
    slope = np.append(np.zeros(size), rng.normal())  # the entries of the state are at their minimum
    step = -np.linalg.solve(A, slope)
    entries, inverse = state.with_entry(prototype, 99, step, -0.5 * slope @ step)
    new = int(np.flatnonzero(entries.column == 99)[0])
    assert np.all(np.diff(entries.prototype) >= 0)
    assert entries.prototype[new] == prototype
    old = np.delete(np.arange(size + 1), new)
    np.testing.assert_array_equal(entries.column[old], state.column)
    np.testing.assert_allclose(entries.theta[old], state.theta + step[:-1])
    assert entries.theta[new] == step[-1]
    if len(entries.theta) < support_state.MANY_ENTRIES:
        assert inverse is state.inverse_hessian  # `fit` computes the Hessian of so few entries anew
    else:
        order = np.append(old, new)
        np.testing.assert_allclose(inverse[np.ix_(order, order)], np.linalg.inv(A), atol=1e-8)


@given(st.integers(0, 1000), st.integers(2, 8), st.integers(1, 3))
def test_without_entries_the_others_are_at_the_minimum_of_the_quadratic_model(seed, size, count):
    state, A, rng = random_state(seed, size)
    A = A[:-1, :-1]
    dropped = np.sort(rng.permutation(size)[: min(count, size - 1)])
    kept = np.setdiff1d(np.arange(size), dropped)
    entries, inverse = state.without(dropped)
    np.testing.assert_array_equal(entries.column, state.column[kept])
    np.testing.assert_allclose(inverse, np.linalg.inv(A[np.ix_(kept, kept)]), atol=1e-8)
    # ½ (w - θ)ᵀ A (w - θ) over the w that are 0 where entries were dropped
    least = state.theta[kept] + np.linalg.solve(A[np.ix_(kept, kept)], A[np.ix_(kept, dropped)] @ state.theta[dropped])
    np.testing.assert_allclose(entries.theta, least, atol=1e-8)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("most", [1, 99], ids=["known", "anew"])
def test_many_entries_are_fitted_to_the_same_minimum_with_an_approximate_inverse_hessian(n_classes, most, monkeypatch):
    monkeypatch.setattr(support_state, "MANY_ENTRIES", most)
    objective, _, _ = problems.random_problem(3, m=80, n=9, n_classes=n_classes)
    p, d = objective.shape
    columns = ColumnCache(objective.rows)
    prototype, column = np.nonzero(np.ones((p, d), dtype=bool))
    every = Entries(prototype=prototype, column=column, theta=np.zeros(p * d))
    options = {"precision": 1e-12, "rounds": 0}
    given_ = (columns, objective.rows.labels, objective.penalty, objective.assignment)
    full = fit(*given_, every, **options)
    fewer, inverse = full.without(np.array([1, 5]))
    reached = fit(*given_, fewer, **options, inverse_hessian=inverse)
    anew = fit(*given_, fewer._replace(theta=np.zeros(p * d - 2)), **options)
    assert reached.value == pytest.approx(anew.value, rel=1e-9)
    np.testing.assert_allclose(reached.theta, anew.theta, atol=1e-4)


# --- probabilities ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("factor", [0.02, 1.0, 30.0])
def test_tempering_multiplies_the_scores_by_what_the_log_loss_wants(factor):
    objective, _, _ = problems.random_problem(4, m=90, n=5, n_classes=3)
    p, d = objective.shape
    labels, alpha = objective.rows.labels, objective.penalty.alpha
    prototype, column = np.nonzero(np.ones((p, d), dtype=bool))
    entries = Entries(prototype=prototype, column=column, theta=np.zeros(p * d))
    options = {"precision": 1e-12, "rounds": 0}
    state = fit(ColumnCache(objective.rows), labels, objective.penalty, objective.assignment, entries, **options)
    state = replace(state, entries=state.entries._replace(theta=factor * state.theta), Z=factor * state.Z)
    found = tempered(state, labels, alpha)
    np.testing.assert_allclose(found.theta, state.theta / factor, rtol=1e-4)  # the fit was the best there is
    np.testing.assert_allclose(found.Z, state.Z / factor, rtol=1e-4, atol=1e-9)
    W, value = found.weights(d), objective.sparse_primal(found.weights(d))
    assert value <= min(objective.sparse_primal(0.99 * W), objective.sparse_primal(1.01 * W))


# --- columns ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("cached", [1, 1 << 24], ids=["few are held", "all are held"])
def test_the_cache_holds_the_columns_that_were_asked_for_last_with_the_same_values(cached, monkeypatch):
    monkeypatch.setattr(support_state, "CACHED_ENTRIES", cached)
    monkeypatch.setattr(support_state, "FEWEST_CACHED", 6)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 50))
    read = []
    rows = in_memory(X, problems.equal_weights(np.arange(20) % 2))
    columns_of = rows.columns
    monkeypatch.setattr(rows, "columns", lambda columns: (read.append(columns.tolist()), columns_of(columns))[1])
    cache = ColumnCache(rows)
    for _ in range(60):
        asked = rng.integers(0, 50, int(rng.integers(1, 9)))  # in any order, some twice, some more than are held
        slots = cache.slots(asked)
        np.testing.assert_array_equal(cache.K[slots], X[:, asked].T)
        assert cache.K.flags.c_contiguous
    assert all(columns == sorted(set(columns)) for columns in read)
    if cached > 1:
        assert sum(len(columns) for columns in read) <= 50  # each is read once
        assert len(cache.K) <= 100
    else:
        assert len(cache.K) <= 9
    assert len(cache.slots(np.array([], dtype=np.int64))) == 0


def test_weighted_sums_are_the_scores_of_a_state_on_other_rows():
    objective, Z, W = problems.random_problem(1, m=30, n=4)
    p, d = objective.shape
    prototype, column = np.nonzero(np.abs(W) > 0.4)
    entries = Entries(prototype=prototype, column=column, theta=W[prototype, column])
    assignment = Assignment(own=np.full(9, NO_PROTOTYPE), owner=objective.assignment.owner)
    state = State(assignment, entries, begin_of(entries.prototype, p), 0.0, np.zeros((p, 9)), np.eye(len(column)))
    np.testing.assert_allclose(weighted_sums(ColumnCache(objective.rows), state), state.weights(d) @ Z.T, atol=1e-12)
