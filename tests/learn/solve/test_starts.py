"""First assignments: valid whatever their kind, blind to the order and number of rows, the best of many kept."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from smallearn._learn.data.labels import Assignment
from smallearn._learn.data.problem import build_problem
from smallearn._learn.kernels import NO_PROTOTYPE
from smallearn._learn.solve import starts
from smallearn._learn.solve.objective import Penalty
from smallearn._learn.solve.support_search import SupportSearch
from smallearn._run.deadline import Deadline, enforce

KINDS = ("kmeans", "splits", "random", "auto")


def setting(X, y, counts, weight=None, literals="raw", convert=np.asarray):
    """The problem, its rows and a penalty with room for three terms a prototype."""
    weight = np.ones(len(y)) if weight is None else np.asarray(weight, dtype=float)
    problem = build_problem(convert(X), y, weight, literals=literals, cut_points=4)
    owner = next(iter(counts)) if len(problem.classes) == 2 else None
    rows = problem.rows(owner, True, 1)
    return problem, rows, Penalty.count(0.01, 3, len(problem.candidates), 1)


def data(seed, m=60, n_classes=2):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, 4))
    return X, np.concatenate([np.repeat(np.arange(n_classes), 3), rng.integers(0, n_classes, m - 3 * n_classes)])


def check_start(start, code, counts):
    """Rows of the classes that own prototypes have one of theirs, the others none; none is without rows."""
    assert isinstance(start, Assignment)
    member = np.isin(code, list(counts))
    assert np.all(start.own[~member] == NO_PROTOTYPE)
    assert np.array_equal(start.owner[start.own[member]], code[member])
    assert np.all(np.bincount(start.own[member], minlength=len(start.owner)) > 0)
    for label, count in counts.items():
        assert 1 <= np.sum(start.owner == label) <= count
    assert np.all(np.diff(start.owner) >= 0)


@settings(max_examples=40)
@given(
    st.integers(0, 1000),
    st.sampled_from(KINDS),
    st.sampled_from([{1: 2}, {0: 3}, {0: 2, 1: 1, 2: 3}]),
    st.integers(1, 3),
    st.sampled_from(["raw", "both", "thresholds", "sparse"]),
)
def test_every_start_is_an_assignment_and_no_more_come_than_are_asked_for(seed, kind, counts, n_init, literals):
    X, y = data(seed, n_classes=2 if len(counts) == 1 else 3)
    convert = sparse.csr_array if literals == "sparse" else np.asarray
    problem, rows, penalty = setting(
        X, y, counts, literals="raw" if literals == "sparse" else literals, convert=convert
    )
    found = starts.best(
        problem, rows, penalty, counts, kind=kind, n_init=n_init, random_state=np.random.RandomState(seed)
    )
    assert 1 <= len(found) <= n_init
    assert len({start.own.tobytes() for start in found}) == len(found)
    for start in found:
        check_start(start, problem.code, counts)


@pytest.mark.parametrize("kind", KINDS)
def test_one_prototype_a_class_leaves_no_choice(kind):
    X, y = data(0, n_classes=3)
    counts = {0: 1, 1: 1, 2: 1}
    (only,) = starts.best(*setting(X, y, counts), counts, kind=kind, n_init=4, random_state=np.random.RandomState(0))
    assert only.own.tolist() == y.tolist()


@pytest.mark.parametrize("kind", ["splits", "random", "auto"])
@pytest.mark.parametrize("literals", ["raw", "both"])
def test_a_row_of_weight_two_is_placed_as_the_row_twice_in_any_order(kind, literals):
    X, y = data(3)
    rng = np.random.default_rng(3)
    times = rng.integers(1, 4, len(y))
    order = rng.permutation(times.sum())
    copies = np.repeat(np.arange(len(y)), times)[order]
    once = starts.best(*setting(X, y, {1: 2}, times, literals), {1: 2}, kind=kind, n_init=3, random_state=1)
    twice = starts.best(
        *setting(X[copies], y[copies], {1: 2}, None, literals),
        {1: 2},
        kind=kind,
        n_init=3,
        random_state=1,
    )
    assert len(once) == len(twice)
    for one, two in zip(once, twice, strict=True):
        assert one.own[copies].tolist() == two.own.tolist()


def test_a_split_cuts_the_class_along_the_feature_in_groups_of_equal_weight():
    rng = np.random.default_rng(0)
    x = rng.permutation(60).astype(float)
    X, y = np.column_stack([rng.normal(size=60), x]), np.ones(60, dtype=int)
    y[x < 20] = 0
    problem, rows, _ = setting(X, y, {1: 2})
    start = starts._split(rows, problem, {1: 2}, 1)
    assert start.own[(x >= 20) & (x < 40)].tolist() == [0] * 20
    assert start.own[x >= 40].tolist() == [1] * 20
    assert start.own[x < 20].tolist() == [NO_PROTOTYPE] * 20


def test_splits_find_the_feature_that_parts_the_cases_where_its_ends_are_one_class():
    """Class 1 lies on both sides of class 0 in one feature of six: each side is to be a prototype."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 6))
    X[:, 4] = rng.uniform(-1.5, 1.0, 200)
    y = (np.abs(X[:, 4]) > 0.5).astype(int)
    (start,) = starts.best(*setting(X, y, {1: 2}, literals="both"), {1: 2}, kind="splits", n_init=1, random_state=0)
    low, high = X[(y == 1) & (X[:, 4] < 0.0), 4], X[(y == 1) & (X[:, 4] > 0.0), 4]
    groups = [X[start.own == j, 4] for j in (0, 1)]
    assert min(len(low), len(high)) > 30
    assert groups[0].max() < groups[1].min()


def test_the_starts_that_are_kept_are_those_that_get_furthest():
    X, y = data(5)
    problem, rows, penalty = setting(X, y, {1: 2})
    proposed = starts.propose(problem, rows, penalty, {1: 2}, kind="auto", count=2, rng=np.random.RandomState(0))
    assert len(proposed) > 2
    kept = starts.screen(rows, penalty, proposed, 2)
    search = SupportSearch(rows, penalty)
    reach = {
        start.own.tobytes(): search.reassign(
            search.fixed().grow_to(search.fixed().start(start), starts.TRIAL_TERMS * 2)
        ).value
        for start in proposed
    }
    ranked = sorted(reach.values())
    assert [reach[start.own.tobytes()] for start in kept] == ranked[:2]
    assert starts.screen(rows, penalty, proposed, 99) is proposed


def test_when_time_is_up_starts_are_no_longer_compared():
    problem, rows, penalty = setting(*data(0), {0: 2})
    proposed = starts.propose(problem, rows, penalty, {0: 2}, kind="auto", count=6, rng=np.random.RandomState(0))
    with enforce(Deadline(0.0)) as deadline:
        kept = starts.screen(rows, penalty, proposed, 2)
    assert deadline.cut_short == ["the comparison of starts"]
    assert kept == proposed[:1]


def test_rows_that_are_all_alike_get_one_prototype():
    X, y = np.zeros((10, 2)), np.arange(10) % 2
    X[y == 0] = 1.0
    for kind in KINDS:
        for start in starts.best(
            *setting(X, y, {1: 3}), {1: 3}, kind=kind, n_init=2, random_state=np.random.RandomState(0)
        ):
            assert start.owner.tolist() == [1]
