"""k-means on rows that are only ever scored and summed: deterministic, blind to row order, exact about weights."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs

from smallearn._learn.data.blocks import DenseRows, Scaling, SparseRows
from smallearn._learn.data.labels import Assignment
from smallearn._learn.kernels import NO_PROTOTYPE
from smallearn._learn.solve import assignment
from tests.helpers import problems


def rows_of(X, code, kind=DenseRows):
    data = sparse.csr_array(X) if kind is SparseRows else X
    return kind(data, Scaling.none(X.shape[1]), intercept=True, labels=problems.equal_weights(code))


def groups(own):
    """The partition, whatever the numbering."""
    return {frozenset(np.flatnonzero(own == j).tolist()) for j in np.unique(own[own != NO_PROTOTYPE])}


@pytest.fixture(scope="module")
def blobs():
    X, blob = make_blobs(120, centers=4, n_features=3, cluster_std=0.5, random_state=3)
    return X, blob, blob // 2  # classes 0 and 1 are two blobs each


@pytest.mark.uncompiled
@pytest.mark.parametrize("kind", [DenseRows, SparseRows])
def test_clear_clusters_are_found_within_each_class_at_once(blobs, kind):
    X, blob, code = blobs
    found = assignment.by_kmeans(rows_of(X, code, kind), {0: 2, 1: 2}, np.ones(120), np.random.RandomState(0))
    assert groups(found.own) == groups(blob)
    assert found.owner.tolist() == [0, 0, 1, 1]
    assert np.array_equal(found.owner[found.own], code)


def test_its_inertia_is_close_to_that_of_scikit_learn():
    X, y, _ = problems.breast_cancer_groups()
    standard = (X - X.mean(axis=0)) / X.std(axis=0)

    def inertia(own, count):
        chosen = [standard[own == j] for j in range(count)]
        return sum(np.sum((part - part.mean(axis=0)) ** 2) for part in chosen)

    for count in (2, 3, 5):
        found = assignment.by_kmeans(rows_of(standard, y), {1: count}, np.ones(len(y)), np.random.RandomState(0))
        reference = KMeans(count, n_init=10, random_state=0).fit(standard[y == 1])
        assert inertia(found.own, count) <= 1.05 * reference.inertia_


@pytest.mark.uncompiled
def test_the_same_seed_gives_the_same_groups_in_any_row_order(blobs):
    X, _, code = blobs
    order = np.random.default_rng(0).permutation(120)
    for seed in range(5):
        draw = [np.random.RandomState(seed) for _ in range(2)]
        plain = assignment.by_kmeans(rows_of(X, code), {0: 3, 1: 3}, np.ones(120), draw[0])
        mixed = assignment.by_kmeans(rows_of(X[order], code[order]), {0: 3, 1: 3}, np.ones(120), draw[1])
        assert np.array_equal(plain.own[order], mixed.own)


@pytest.mark.uncompiled
def test_weight_two_equals_the_row_twice(blobs):
    X, _, code = blobs
    weight = np.random.default_rng(1).integers(1, 4, 120)
    for seed in range(5):
        draw = [np.random.RandomState(seed) for _ in range(2)]
        weighted = assignment.by_kmeans(rows_of(X, code), {0: 3, 1: 2}, weight.astype(float), draw[0])
        twice = rows_of(np.repeat(X, weight, axis=0), np.repeat(code, weight))
        repeated = assignment.by_kmeans(twice, {0: 3, 1: 2}, np.ones(weight.sum()), draw[1])
        assert np.array_equal(np.repeat(weighted.own, weight), repeated.own)


@pytest.mark.uncompiled
def test_rows_that_coincide_make_fewer_clusters():
    X = np.array([[0.0], [0.0], [1.0], [5.0], [5.0]])
    code = np.array([0, 0, 0, 1, 1])
    found = assignment.by_kmeans(rows_of(X, code), {0: 3, 1: 2}, np.ones(5), np.random.RandomState(0))
    assert found.owner.tolist() == [0, 0, 1]
    assert groups(found.own) == {frozenset({0, 1}), frozenset({2}), frozenset({3, 4})}


@pytest.mark.uncompiled
def test_rows_of_a_class_without_prototypes_belong_to_none(blobs):
    X, _, code = blobs
    found = assignment.by_kmeans(rows_of(X, code), {1: 2}, np.ones(120), np.random.RandomState(0))
    assert np.all(found.own[code == 0] == NO_PROTOTYPE)
    assert set(found.own[code == 1]) == {0, 1}


@pytest.mark.uncompiled
def test_a_given_assignment_counts_within_the_class():
    found = assignment.by_index(np.array([0, 1, 0, 1, 9]), np.array([0, 0, 1, 1, 2]), [0, 1], 2)
    assert found.own.tolist() == [0, 1, 2, 3, NO_PROTOTYPE]
    assert found.owner.tolist() == [0, 0, 1, 1]
    with pytest.raises(ValueError, match=r"indices from 0 to 2 .* 0\.\.1"):
        assignment.by_index(np.array([0, 2]), np.array([0, 0]), [0], 2)


@pytest.mark.uncompiled
def test_rows_move_to_a_better_prototype_of_their_own_class_only():
    Z = np.array([[1.0, 2.0, 9.0], [3.0, 3.0, 9.0], [5.0, 1.0, 0.0], [7.0, 7.0, 7.0]])
    start = Assignment(own=np.array([0, 1, 2, NO_PROTOTYPE]), owner=np.array([0, 0, 1]))
    moved = assignment.best_scoring(Z, np.array([0, 0, 1, 2]), start)
    assert moved.own.tolist() == [1, 1, 2, NO_PROTOTYPE]  # a better score, a tie (stays), a class of one, a row without


@pytest.mark.uncompiled
def test_prototypes_without_rows_are_dropped_and_the_others_renumbered():
    filled, kept = assignment.drop_empty(
        Assignment(own=np.array([3, 1, NO_PROTOTYPE, 3]), owner=np.array([0, 0, 1, 1]))
    )
    assert kept.tolist() == [False, True, False, True]
    assert filled.own.tolist() == [1, 0, NO_PROTOTYPE, 1]
    assert filled.owner.tolist() == [0, 1]


# --- a sample of many rows -------------------------------------------------------------------------------------------


@pytest.fixture
def few_points(monkeypatch):
    monkeypatch.setattr(assignment, "MOST_POINTS", 40)


@pytest.mark.uncompiled
@pytest.mark.usefixtures("few_points")
@pytest.mark.parametrize("kind", [DenseRows, SparseRows])
def test_of_many_rows_a_sample_gives_the_same_clear_clusters(blobs, kind):
    X, blob, code = blobs
    found = assignment.by_kmeans(rows_of(X, code, kind), {0: 2, 1: 2}, np.ones(120), np.random.RandomState(0))
    assert groups(found.own) == groups(blob)
    assert np.array_equal(found.owner[found.own], code)
    one = assignment.by_kmeans(rows_of(X, code, kind), {1: 2}, np.ones(120), np.random.RandomState(0))
    assert groups(one.own) == groups(np.where(code == 1, blob, NO_PROTOTYPE))


def test_the_inertia_of_a_sample_is_close_to_that_of_all_rows(monkeypatch):
    X, y, _ = problems.breast_cancer_groups()
    standard = (X - X.mean(axis=0)) / X.std(axis=0)

    def inertia(own, count):
        return sum(np.sum((standard[own == j] - standard[own == j].mean(axis=0)) ** 2) for j in range(count))

    for count in (2, 3):
        whole = assignment.by_kmeans(rows_of(standard, y), {1: count}, np.ones(len(y)), np.random.RandomState(0))
        with monkeypatch.context() as patched:
            patched.setattr(assignment, "MOST_POINTS", 150)
            part = assignment.by_kmeans(rows_of(standard, y), {1: count}, np.ones(len(y)), np.random.RandomState(0))
        assert inertia(part.own, count) <= 1.1 * inertia(whole.own, count)


@pytest.mark.uncompiled
@pytest.mark.usefixtures("few_points")
def test_a_sample_misses_no_class_however_rare():
    rng = np.random.default_rng(0)
    X, code = rng.normal(size=(500, 3)), np.arange(500) % 2
    code[:2] = 2
    for seed in range(10):
        found = assignment.by_kmeans(rows_of(X, code), {0: 2, 1: 2, 2: 2}, np.ones(500), np.random.RandomState(seed))
        assert found.owner.tolist() == [0, 0, 1, 1, 2, 2]


@pytest.mark.uncompiled
@pytest.mark.usefixtures("few_points")
@pytest.mark.parametrize("grid", [False, True], ids=["continuous", "grid"])
def test_a_sample_does_not_depend_on_the_order_of_rows_and_weight_two_equals_the_row_twice(grid):
    rng = np.random.default_rng(4)
    X = rng.integers(0, 3, (60, 3)).astype(float) if grid else rng.normal(size=(60, 3))
    code, weight = rng.integers(0, 2, 60), rng.integers(1, 4, 60)
    for seed in range(5):
        copies = rng.permutation(np.repeat(np.arange(60), weight))
        draw = [np.random.RandomState(seed) for _ in range(2)]
        weighted = assignment.by_kmeans(rows_of(X, code), {0: 3, 1: 2}, weight.astype(float), draw[0])
        repeated = assignment.by_kmeans(rows_of(X[copies], code[copies]), {0: 3, 1: 2}, np.ones(len(copies)), draw[1])
        assert np.array_equal(weighted.own[copies], repeated.own)


@pytest.mark.uncompiled
@pytest.mark.parametrize("kind", [DenseRows, SparseRows])
def test_a_row_that_is_equally_near_to_two_centres_joins_the_same_one_however_the_columns_are_scaled(kind):
    rng = np.random.default_rng(0)
    X, code = rng.integers(0, 3, (80, 3)).astype(float), rng.integers(0, 2, 80)
    for seed in range(10):
        draw = [np.random.RandomState(seed) for _ in range(2)]
        plain = assignment.by_kmeans(rows_of(X, code, kind), {0: 3, 1: 3}, np.ones(80), draw[0])
        # In other units the same distances are rounded otherwise.
        other = assignment.by_kmeans(rows_of(X * 1.1, code, kind), {0: 3, 1: 3}, np.ones(80), draw[1])
        assert np.array_equal(plain.own, other.own)
