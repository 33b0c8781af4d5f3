"""Dense and sparse rows: every answer against the matrix written out, and the sums against the oracle."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from smallearn._learn.data.blocks import MOST_DENSE_COLUMNS, DenseRows, Scaling, SparseRows, in_memory, make_rows
from smallearn._learn.data.labels import Assignment, Labels
from smallearn._learn.kernels import MOST_DEVIATIONS, NO_PROTOTYPE, PADDING
from smallearn._learn.solve.objective import residual
from tests.helpers import oracle, problems

pytestmark = pytest.mark.uncompiled

KINDS = {"dense": np.asarray, "sparse": sparse.csr_array}
every_kind = pytest.mark.parametrize("convert", KINDS.values(), ids=KINDS)
with_and_without = pytest.mark.parametrize("intercept", [True, False], ids=["intercept", "no intercept"])
class_counts = st.sampled_from([2, 3, 4])
seeds = st.integers(0, 2**32 - 1)


def agree(found, expected):
    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-10)


def example(convert, intercept=True, n_classes=3, seed=3, m=40, n=6):
    """Rows of a matrix with zeros, that matrix standardised, the roles of the rows, and random numbers."""
    rng = np.random.default_rng(seed)
    X = np.where(rng.random((m, n)) < 0.5, rng.normal(size=(m, n)), 0.0)
    X[:2] = [[1.0], [-1.0]]  # every column varies
    labels, assignment = problems.random_labels(rng, m, n_classes)
    rows = make_rows(convert(X), problems.scaling_of(X), intercept=intercept, labels=labels, n_jobs=1)
    standard = problems.standardised(X)
    return rows, standard if intercept else standard[:, :-1], labels.roles(assignment), rng


def random_weights(rows, roles, rng):
    return 0.5 * rng.normal(size=(len(roles.owner), rows.n_columns))


@every_kind
@with_and_without
@given(seeds, class_counts)
def test_sums_are_those_of_the_oracle(convert, intercept, seed, n_classes):
    rows, standard, roles, rng = example(convert, intercept, n_classes, seed, m=12, n=4)
    W = random_weights(rows, roles, rng)
    found = rows.sums(W, roles)
    assert found.loss == pytest.approx(oracle.mean_loss(standard, W, roles), rel=1e-10)
    slope = oracle.numerical_gradient(lambda V: oracle.mean_loss(standard, V, roles), W)
    np.testing.assert_allclose(found.gradient, slope, atol=1e-7)
    # loss + loss* = <G, W> at the gradient of the loss
    assert found.conjugate == pytest.approx(np.vdot(found.gradient, W) - found.loss, abs=1e-9)
    assert rows.sums(W, roles, gradient=False).loss == found.loss


@every_kind
@with_and_without
def test_scores_columns_norms_and_combinations_are_those_of_the_matrix(convert, intercept):
    rows, standard, roles, rng = example(convert, intercept)
    W, S = random_weights(rows, roles, rng), rng.normal(size=(len(standard), 2))
    assert rows.n_columns == standard.shape[1]
    agree(rows.scores(W), standard @ W.T)
    agree(rows.scores(W[:1]), standard @ W[:1].T)
    agree(rows.combine(S), S.T @ standard)
    agree(rows.square_norms(), np.sum(standard**2, axis=1))
    chosen = np.array([1, 4, 6] if intercept else [1, 4])
    agree(rows.columns(chosen), standard[:, chosen])
    agree(rows.columns(chosen[:0]), standard[:, :0])


@with_and_without
@pytest.mark.parametrize("n_classes", [2, 3])
def test_rows_are_placed_with_the_prototype_of_their_class_that_scores_them_best(intercept, n_classes):
    rows, standard, roles, rng = example(np.asarray, intercept, n_classes, m=300)
    W = random_weights(rows, roles, rng)
    scores = np.where(roles.owner == roles.code[:, None], standard @ W.T, -np.inf)
    best = np.where(np.isin(roles.code, roles.owner), scores.argmax(axis=1), NO_PROTOTYPE)
    np.testing.assert_array_equal(rows.place(W, roles.owner), best)


@every_kind
@with_and_without
def test_the_screen_has_gradient_and_curvature_of_every_column(convert, intercept):
    rows, standard, _, rng = example(convert, intercept)
    S, curvature = rng.normal(size=(len(standard), 2)), rng.random((len(standard), 2))
    slope, square = rows.screen(np.hstack([S, curvature]))
    agree(slope, S.T @ standard)
    agree(square, curvature.T @ standard**2)


@every_kind
@with_and_without
def test_some_of_the_rows_have_the_same_columns_and_weights_that_sum_to_one(convert, intercept):
    rows, standard, _, rng = example(convert, intercept)
    chosen = rng.permutation(len(standard))[:15]
    part, every = rows.take(chosen), np.arange(standard.shape[1])
    agree(part.columns(every), standard[chosen])
    weight = rows.labels.weight[chosen]
    agree(part.labels.weight, weight / weight.sum())
    assert part.labels.total == pytest.approx(rows.labels.total * weight.sum())
    np.testing.assert_array_equal(part.labels.code, rows.labels.code[chosen])


@every_kind
@with_and_without
def test_curvature_is_that_of_the_matrix_in_memory(convert, intercept):
    rows, standard, roles, rng = example(convert, intercept)
    p, d = len(roles.owner), rows.n_columns
    column = np.array([np.sort(rng.choice(d, 3, replace=False)) for _ in range(p)])
    column[0, -1] = PADDING
    theta = np.where(column != PADDING, rng.normal(size=column.shape), 0.0)
    found, expected = (some.curvature(theta, column, roles) for some in (rows, in_memory(standard, rows.labels)))
    for one, other in zip(found, expected, strict=True):
        agree(one, other)
    W = np.zeros((p, d))
    for j, a in np.ndindex(*column.shape):
        if column[j, a] != PADDING:
            W[j, column[j, a]] = theta[j, a]
    sums = rows.sums(W, roles)
    agree(found.loss, sums.loss)
    agree(found.conjugate, sums.conjugate)
    real = column != PADDING
    agree(found.gradient[real], np.take_along_axis(sums.gradient, column, axis=1)[real])
    assert not found.gradient[~real].any()
    assert found.hessian.shape == (column.size, column.size)
    assert not found.hessian[~real.ravel()].any()
    agree(found.hessian, found.hessian.T)


@every_kind
def test_restricted_rows_give_the_sums_of_those_columns(convert):
    rows, _, roles, rng = example(convert)
    W = random_weights(rows, roles, rng)
    columns = np.array([1, 4, 6])
    W[:, np.setdiff1d(np.arange(7), columns)] = 0.0
    small = rows.restrict(columns)
    assert isinstance(small, DenseRows)
    assert small.labels is rows.labels
    found, expected = small.sums(W[:, columns], roles), rows.sums(W, roles)
    agree(found.loss, expected.loss)
    agree(found.gradient, expected.gradient[:, columns])
    agree(small.scores(W[:, columns]), rows.scores(W))


def test_many_columns_of_a_sparse_matrix_stay_sparse():
    n = MOST_DENSE_COLUMNS + 20
    rows, standard, roles, rng = example(sparse.csr_array, n=n)
    W = random_weights(rows, roles, rng)
    for last in (n, n - 1):  # with the intercept and without
        columns = np.append(np.arange(MOST_DENSE_COLUMNS), last)
        small = rows.restrict(columns)
        assert isinstance(small, SparseRows)
        agree(small.scores(W[:, columns]), standard[:, columns] @ W[:, columns].T)
        expected = in_memory(standard[:, columns], rows.labels).sums(W[:, columns], roles)
        agree(small.sums(W[:, columns], roles).gradient, expected.gradient)


@every_kind
def test_many_blocks_add_up_to_the_same_sums_whatever_the_number_of_threads(convert, monkeypatch):
    monkeypatch.setattr("smallearn._learn.data.blocks.BLOCK_ENTRIES", 64)
    monkeypatch.setattr("smallearn._learn.data.blocks.CHUNK_ENTRIES", 64)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 5))
    labels, assignment = problems.random_labels(rng, 200, 2)
    roles = labels.roles(assignment)
    several = [
        make_rows(convert(X), problems.scaling_of(X), intercept=True, labels=labels, n_jobs=n_jobs)
        for n_jobs in (1, 2, 3)
    ]
    W = random_weights(several[0], roles, rng)
    column = np.tile(np.arange(6), (len(W), 1))
    for answers in ([rows.sums(W, roles) for rows in several], [rows.curvature(W, column, roles) for rows in several]):
        for other in answers[1:]:
            for one, two in zip(answers[0], other, strict=True):
                np.testing.assert_array_equal(one, two)
        assert answers[0].loss == pytest.approx(oracle.mean_loss(problems.standardised(X), W, roles), rel=1e-12)
    agree(several[0].scores(W), problems.standardised(X) @ W.T)
    S = rng.normal(size=(200, 2))
    agree(several[0].combine(S), S.T @ problems.standardised(X))


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("m", [3, 6, 127, 129, 515])
@pytest.mark.parametrize("n", [1, 7, 8, 9, 16, 150])
def test_sums_over_several_tiles_are_those_of_the_oracle(n, m, n_classes):
    rows, standard, roles, rng = example(np.asarray, n_classes=n_classes, m=m, n=n)
    W = random_weights(rows, roles, rng)
    found = rows.sums(W, roles)
    assert found.loss == pytest.approx(oracle.mean_loss(standard, W, roles), rel=1e-12)
    agree(found.gradient, rows.combine(residual(standard @ W.T, roles) * roles.weight[:, None]))


@pytest.mark.parametrize("shift", [0.0, 0.9 * MOST_DEVIATIONS, 1.1 * MOST_DEVIATIONS, 1e3, 1e7])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sums_keep_their_digits_however_far_columns_are_from_zero(shift, dtype):
    rng = np.random.default_rng(0)
    X = (rng.normal(size=(300, 11)) + shift).astype(dtype)
    labels, assignment = problems.random_labels(rng, 300, 2)
    roles = labels.roles(assignment)
    rows = make_rows(X, problems.scaling_of(X.astype(float)), intercept=True, labels=labels, n_jobs=1)
    W = random_weights(rows, roles, rng)
    found, expected = (some.sums(W, roles) for some in (rows, in_memory(rows.columns(np.arange(12)), labels)))
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("n", [1, 7, 8, 9, 16, 21])
@pytest.mark.parametrize("m", [1, 8, 33])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sums_do_not_read_what_is_before_or_after_the_rows(n, m, dtype):
    rng = np.random.default_rng(0)
    memory = np.full((m + 40) * n, np.nan, dtype=dtype)
    X = memory[20 * n : (m + 20) * n].reshape(m, n)
    X[:] = rng.normal(size=(m, n))
    labels = Labels(code=np.arange(m) % 2, weight=np.full(m, 1.0 / m), total=float(m), zero_owner=0)
    roles = labels.roles(Assignment(own=np.where(labels.code == 1, 0, NO_PROTOTYPE), owner=np.ones(1, dtype=np.int64)))
    W = rng.normal(size=(1, n + 1))
    found, expected = (
        DenseRows(some, Scaling.none(n), intercept=True, labels=labels).sums(W, roles)
        for some in (X, X.astype(np.float64))
    )
    scores = X.astype(np.float64) @ W[0, :-1] + W[0, -1]
    assert found.loss == pytest.approx(np.mean(np.logaddexp(0.0, scores) - labels.code * scores), rel=1e-12)
    np.testing.assert_allclose(found.gradient, expected.gradient, rtol=1e-12)


def test_rows_in_another_order_of_memory_have_the_same_sums():
    rows, _, roles, rng = example(np.asarray, n=9)
    others, *_ = example(np.asfortranarray, n=9)
    W = random_weights(rows, roles, rng)
    for one, other in zip(rows.sums(W, roles), others.sums(W, roles), strict=True):
        np.testing.assert_array_equal(one, other)


@every_kind
def test_rows_remember_the_columns_they_were_last_restricted_to(convert):
    rows, *_ = example(convert)
    some, others = np.array([0, 2]), np.array([1, 2])
    first, second = rows.narrow(some), rows.narrow(others)
    assert rows.narrow(some) is first
    assert rows.narrow(others) is second
    agree(second.columns(np.arange(2)), rows.columns(others))
    rows.narrow(np.array([3]))
    assert rows.narrow(some) is not first


@every_kind
def test_a_column_that_does_not_vary_is_zero(convert):
    X = np.column_stack([np.arange(4.0), np.full(4, 5.0)])
    scaling = Scaling(mean=np.array([1.5, 5.0]), inverse_scale=np.array([1.0, 0.0]))
    labels = problems.equal_weights(np.array([0, 1, 0, 1]), zero_owner=0)
    rows = make_rows(convert(X), scaling, intercept=False, labels=labels, n_jobs=1)
    assert not rows.columns(np.array([1])).any()
    assert not rows.combine(np.ones((4, 1)))[0, 1]
