"""Tilted rows: the gradient is that of other rows at one W, and their minimum is close to that of the others."""

import numpy as np
import pytest

from smallearn._learn.data.blocks import in_memory
from smallearn._learn.data.tilted import TiltedRows
from smallearn._learn.kernels import PADDING
from smallearn._learn.solve.objective import Objective, Penalty
from smallearn._learn.solve.rounding import refit
from tests.helpers import oracle, problems


@pytest.fixture
def example():
    """All rows and a sample of them, as objectives, and a W."""
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=(2000, 4)), np.ones(2000)])
    labels, assignment = problems.random_labels(rng, 2000, 3)
    penalty = Penalty.count(0.1, 4, 4, 1)
    few = np.arange(200)
    some = type(assignment)(own=assignment.own[few], owner=assignment.owner)
    every = Objective(in_memory(X, labels), assignment, penalty)
    sample = Objective(in_memory(X[few], labels.take(few)), some, penalty)
    return every, sample, 0.3 * rng.normal(size=every.shape)


def tilted(every, sample, W):
    rows = TiltedRows(sample.rows, every.sums(W).gradient - sample.sums(W).gradient)
    return Objective(rows, sample.assignment, sample.penalty)


def test_the_gradient_is_that_of_all_rows_at_one_place_and_fits_the_loss_everywhere(example):
    every, sample, W = example
    there = tilted(every, sample, W)
    np.testing.assert_allclose(there.sums(W).gradient, every.sums(W).gradient, atol=1e-12)
    np.testing.assert_allclose(there.sums(2.0 * W).gradient, oracle.numerical_gradient(there.loss, 2.0 * W), atol=1e-7)


def test_curvature_and_fewer_columns_are_tilted_alike(example):
    every, sample, W = example
    there = tilted(every, sample, W)
    column = np.tile([1, 4, PADDING], (len(W), 1))
    theta = np.where(column != PADDING, np.take_along_axis(W, column, axis=1), 0.0)
    at = there.curvature(theta, column)
    narrow = there.restrict(np.array([1, 4])).sums(np.ascontiguousarray(W[:, [1, 4]]))
    assert at.loss == pytest.approx(narrow.loss, rel=1e-12)
    np.testing.assert_allclose(at.gradient[:, :2], narrow.gradient, atol=1e-12)
    assert not at.gradient[:, 2].any()


def test_a_step_on_the_tilted_sample_comes_much_closer_to_the_minimum_of_all_rows_than_the_sample(example):
    every, sample, _ = example
    support = np.ones(every.shape, dtype=bool)
    start = np.zeros(every.shape)
    best, alone = (refit(objective, support, start)[0] for objective in (every, sample))
    step, _ = refit(tilted(every, sample, alone), support, alone)
    assert np.abs(step - best).max() < 0.3 * np.abs(alone - best).max()
