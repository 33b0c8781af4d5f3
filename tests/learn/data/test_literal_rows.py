"""Rows made of literals, against the matrix of literals written out by hand."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from smallearn._learn.data.blocks import in_memory
from smallearn._learn.data.literal_rows import LiteralRows, literal_masses, literal_moments
from smallearn._learn.data.literals import dense_candidates
from smallearn._learn.data.problem import build_problem
from smallearn._learn.kernels import PADDING
from tests.helpers import oracle, problems
from tests.helpers.literals import by_hand, tables

pytestmark = pytest.mark.uncompiled


@st.composite
def literal_rows(draw):
    """Rows of candidate terms, the same matrix standardised by hand, the roles of the rows, and random numbers."""
    X, categories, weight, cuts, rng = draw(tables())
    n_classes = draw(st.sampled_from([2, 3]))
    labels, assignment = problems.random_labels(rng, len(X), n_classes)
    kind = draw(st.sampled_from(["both", "thresholds"]))
    if kind == "thresholds" and isinstance(cuts, dict):
        cuts = 3
    problem = build_problem(X, labels.code, weight, literals=kind, cut_points=cuts, categories=categories)
    intercept = draw(st.booleans())
    rows = problem.rows(problems.only_owner(labels), intercept, 1)
    assert isinstance(rows, LiteralRows)
    B = by_hand(X, problem.candidates, categories, weight)
    mean = np.average(B, axis=0, weights=weight)
    deviation = np.sqrt(np.average((B - mean) ** 2, axis=0, weights=weight))
    varies = deviation > 1e-12
    Z = (B - mean) * np.where(varies, 1.0 / np.where(varies, deviation, 1.0), 0.0)
    if intercept:
        Z = np.column_stack([Z, np.ones(len(Z))])
    return rows, Z, rows.labels.roles(assignment), rng


def agree(found, expected):
    np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-10)


@settings(max_examples=30)
@given(tables())
def test_moments_of_literals_are_those_of_the_matrix(table):
    X, categories, weight, cuts, _ = table
    weight = weight / weight.sum()
    found, bins = dense_candidates(X, weight, raw=False, cut_points=cuts, categories=categories)
    B = by_hand(X, found, categories, weight)
    mean, deviation = literal_moments(literal_masses(bins, weight, found), found)
    np.testing.assert_allclose(mean, weight @ B, atol=1e-12)
    np.testing.assert_allclose(deviation, np.sqrt(np.maximum(weight @ B - (weight @ B) ** 2, 0.0)), atol=1e-7)


@settings(max_examples=40)
@given(literal_rows())
def test_rows_of_literals_agree_with_the_matrix_written_out(given_):
    rows, Z, roles, rng = given_
    m, d = Z.shape
    p = len(roles.owner)
    assert rows.n_columns == d
    agree(rows.columns(np.arange(d)), Z)
    agree(rows.square_norms(), np.sum(Z * Z, axis=1))
    W, S, curvature = rng.normal(size=(p, d)), rng.normal(size=(m, p)), rng.random((m, p))
    curvature[0] = S[0] = 0.0
    agree(rows.scores(W), Z @ W.T)
    few = np.where(np.arange(d) < 2, W, 0.0)
    agree(rows.scores(few), Z @ few.T)
    agree(rows.combine(S), S.T @ Z)
    slope, curve = rows.screen(np.hstack([S, curvature]))
    agree(slope, S.T @ Z)
    agree(curve, curvature.T @ (Z * Z))


@settings(max_examples=40)
@given(literal_rows())
def test_sums_and_curvature_over_literals_agree_with_the_matrix_written_out(given_):
    rows, Z, roles, rng = given_
    d, p = Z.shape[1], len(roles.owner)
    plain = in_memory(np.ascontiguousarray(Z), rows.labels)
    W = 0.3 * rng.normal(size=(p, d))
    found, expected = rows.sums(W, roles), plain.sums(W, roles)
    assert found.loss == pytest.approx(oracle.mean_loss(Z, W, roles), rel=1e-9)
    assert found.conjugate == pytest.approx(expected.conjugate, rel=1e-8, abs=1e-10)
    agree(found.gradient, expected.gradient)
    assert rows.sums(W, roles, gradient=False).loss == pytest.approx(found.loss, rel=1e-12)
    chosen = np.sort(rng.choice(d, min(d, 3), replace=False))
    column = np.tile(chosen, (p, 1))
    column[0, -1] = PADDING
    theta = np.where(column != PADDING, rng.normal(size=column.shape), 0.0)
    found_curvature, expected_curvature = rows.curvature(theta, column, roles), plain.curvature(theta, column, roles)
    agree(found_curvature.loss, expected_curvature.loss)
    agree(found_curvature.gradient, expected_curvature.gradient)
    agree(found_curvature.hessian, expected_curvature.hessian)
    agree(rows.restrict(chosen).scores(W[:, chosen]), Z[:, chosen] @ W[:, chosen].T)
    agree(rows.restrict(chosen).combine(np.ones((len(Z), 1)))[0], Z[:, chosen].sum(axis=0))


def test_blocks_of_literals_add_up_to_the_same_sums_for_any_number_of_threads(monkeypatch):
    monkeypatch.setattr("smallearn._learn.data.blocks.BLOCK_ENTRIES", 64)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 3))
    labels, assignment = problems.random_labels(rng, 90, 3)
    problem = build_problem(X, labels.code, np.ones(90), literals="both", cut_points=5)
    W = rng.normal(size=(len(assignment.owner), len(problem.candidates) + 1))
    roles = problem.rows(None, True, 1).labels.roles(assignment)
    one, two = (problem.rows(None, True, n_jobs).sums(W, roles) for n_jobs in (1, 2))
    assert one.loss == two.loss
    np.testing.assert_array_equal(one.gradient, two.gradient)


def test_a_screen_of_one_kind_leaves_the_other_at_zero():
    rng = np.random.default_rng(0)
    X, code = rng.normal(size=(50, 3)), np.arange(50) % 2
    problem = build_problem(X, code, np.ones(50), literals="both", cut_points=4)
    rows, r = problem.rows(1, True, 1), problem.candidates.n_raw
    V = rng.normal(size=(50, 4))
    everything = rows.screen(V)
    raw = np.arange(rows.n_columns) < r
    literal = ~raw & (np.arange(rows.n_columns) < rows.n_columns - 1)
    for usable, left_out in ((raw, literal), (literal, raw)):
        for found, expected in zip(rows.screen(V, rows.kinds(usable)), everything, strict=True):
            np.testing.assert_array_equal(found[:, ~left_out], expected[:, ~left_out])
            assert not found[:, left_out].any()
    assert rows.kinds(raw | literal) == (True, True)


def test_some_of_the_rows_have_the_same_columns():
    rng = np.random.default_rng(0)
    problem = build_problem(rng.normal(size=(50, 3)), np.arange(50) % 2, np.ones(50), literals="both", cut_points=4)
    rows, chosen, every = problem.rows(1, True, 1), rng.permutation(50)[:20], np.arange(3)
    part = rows.take(chosen)
    np.testing.assert_array_equal(part.columns(every), rows.columns(every)[chosen])
    np.testing.assert_array_equal(part.labels.code, rows.labels.code[chosen])
