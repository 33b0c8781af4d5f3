"""Rows in blocks answer as rows in memory do, without a number for each row."""

import numpy as np
import pytest

from smallearn._learn.data import source
from smallearn._learn.data.many_rows import Large, Placement
from smallearn._learn.data.source import ArraySource
from smallearn._learn.kernels import PADDING
from smallearn._learn.solve import assignment as assignments
from tests.helpers.large import COLOURS, KINDS, rows_of


@pytest.fixture(params=KINDS)
def both(request, monkeypatch):
    """The same rows in blocks, and in memory."""
    monkeypatch.setattr(source, "BLOCK_ENTRIES", 1 << 11)
    X, y = rows_of(request.param)
    categories = {4: COLOURS} if request.param == "categories" else {}
    rows = ArraySource(X, y, None, np.array([0, 1]), categories)
    large = Large.read(rows, 300, literals="both", cut_points=4)
    return large.rows(1, True), large.summary.problem(rows.block(slice(0, len(y)))).rows(1, True, 1)


@pytest.fixture(name="W")
def two_prototypes(both):
    """Two prototypes of few terms."""
    W = np.zeros((2, both[0].n_columns))
    W[0, [0, 3, -1]], W[1, [2, -2, -1]] = [1.0, -0.5, 0.2], [0.7, 0.4, -0.3]
    return W


def test_loss_gradient_and_curvature_are_those_in_memory(both, W):
    many, whole = both
    owner = np.array([1, 1])
    placed, known = assignments.place(many, W, owner), assignments.place(whole, W, owner)
    assert isinstance(placed, Placement)
    np.testing.assert_array_equal(placed.sizes(), known.sizes())
    ours, theirs = many.sums(W, many.labels.roles(placed)), whole.sums(W, whole.labels.roles(known))
    for a, b in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-11, atol=1e-13)
    assert many.sums(W, placed, gradient=False).loss == pytest.approx(ours.loss, rel=1e-14)
    column = np.array([[0, 3, many.n_columns - 1], [2, many.n_columns - 1, PADDING]])
    theta = np.where(column == PADDING, 0.0, 0.3)
    at = zip(
        many.curvature(theta, column, placed), whole.curvature(theta, column, whole.labels.roles(known)), strict=True
    )
    for a, b in at:
        np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-12)


def test_some_columns_are_enough(both, W):
    many, whole = both
    columns = np.flatnonzero(W.any(axis=0))
    few = many.narrow(columns)
    placed = few.place(np.ascontiguousarray(W[:, columns]), np.array([1, 1]))
    known = assignments.place(whole, W, np.array([1, 1]))
    np.testing.assert_array_equal(placed.sizes(), known.sizes())
    ours = few.sums(np.ascontiguousarray(W[:, columns]), placed)
    theirs = whole.sums(W, whole.labels.roles(known))
    np.testing.assert_allclose(ours.gradient, theirs.gradient[:, columns], rtol=1e-10, atol=1e-12)
    assert few.n_columns == len(columns)


def test_prototypes_without_rows_can_be_dropped(both, W):
    many, _ = both
    V = np.vstack([W[:1], W[1:] * 0.0 - 1e9 * (np.arange(W.shape[1]) == W.shape[1] - 1)])
    placed = many.place(V, np.array([1, 1]))
    assert placed.sizes()[1] == 0
    kept, which = assignments.drop_empty(placed)
    np.testing.assert_array_equal(which, [True, False])
    assert kept.one_per_class
    assert not placed.one_per_class
    assert many.sums(V[:1], kept).loss > 0.0
