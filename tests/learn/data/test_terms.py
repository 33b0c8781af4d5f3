"""Candidate terms and the rows made of them, against the matrix of literals written out by hand."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from smallearn._learn.data.blocks import DenseRows, Labels
from smallearn._learn.data.literal_rows import LiteralRows, literal_moments
from smallearn._learn.data.literals import dense_candidates, only_raw, quantile_cuts, sparse_candidates
from smallearn._learn.data.problem import build_problem
from smallearn._learn.kernels import PADDING
from tests.helpers import oracle, problems

NAN = np.nan
COLOURS = ("blue", "green", "red")


def value_by_hand(x, kind, value, categories=None):
    """What a term is on one value; NaN is missing, and a raw term has no value there."""
    if kind == "missing":
        return float(np.isnan(x))
    if kind == "raw":
        return x
    if np.isnan(x):
        return 0.0
    if kind == "equals":
        return float(categories[int(x)] == value)
    return float(x <= value) if kind == "at_most" else float(x > value)


def by_hand(X, candidates, categories, weight):
    """The matrix of the candidates, rows × candidates; gaps of raw terms filled with the mean."""
    B = np.empty((len(X), len(candidates)))
    for a, (kind, l, value) in enumerate(zip(candidates.kind, candidates.feature, candidates.value, strict=True)):
        B[:, a] = [value_by_hand(x, kind, value, categories.get(int(l))) for x in X[:, l]]
        gaps = np.isnan(B[:, a])
        B[gaps, a] = np.average(B[~gaps, a], weights=weight[~gaps])
    return B


@st.composite
def tables(draw):
    """Numbers with ties and gaps, one column of colours, weights and labels."""
    m, n = draw(st.integers(6, 30)), draw(st.integers(1, 4))
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    X = np.where(rng.random((m, n)) < 0.5, rng.integers(-2, 3, (m, n)), rng.normal(size=(m, n)))
    X[rng.random((m, n)) < draw(st.sampled_from([0.0, 0.2]))] = NAN
    X[:2] = np.arange(2)[:, None]  # something to tell apart in each column
    categories = {}
    if draw(st.booleans()):
        colour = rng.integers(0, 3, m).astype(float)
        colour[rng.random(m) < draw(st.sampled_from([0.0, 0.2]))] = NAN
        colour[:3] = [0.0, 1.0, 2.0]
        X, categories = np.column_stack([X, colour]), {n: COLOURS}
    cuts = draw(st.sampled_from([1, 3, 50, {0: [-0.5, 0.5, 9.0]}]))
    return X, categories, rng.uniform(0.5, 2.0, m), cuts, rng


@st.composite
def literal_rows(draw):
    """Rows of candidate terms, the same matrix standardised by hand, an assignment, and random numbers."""
    X, categories, weight, cuts, rng = draw(tables())
    n_classes = draw(st.sampled_from([2, 3]))
    labels, assignment = problems.random_labels(rng, len(X), n_classes)
    kind = draw(st.sampled_from(["both", "thresholds"]))
    if kind == "thresholds" and isinstance(cuts, dict):
        cuts = 3
    problem = build_problem(X, labels.code, weight, None, True, kind, cuts, categories)
    constant = draw(st.booleans())
    rows = problem.rows(problems.only_owner(labels), constant, 1)
    assert isinstance(rows, LiteralRows)
    B = by_hand(X, problem.candidates, categories, weight)
    mean = np.average(B, axis=0, weights=weight)
    deviation = np.sqrt(np.average((B - mean) ** 2, axis=0, weights=weight))
    varies = deviation > 1e-12
    Z = (B - mean) * np.where(varies, 1.0 / np.where(varies, deviation, 1.0), 0.0)
    if constant:
        Z = np.column_stack([Z, np.ones(len(Z))])
    return rows, Z, assignment, rng


# --- cut points ------------------------------------------------------------------------------------------------------


@given(st.lists(st.integers(-5, 5), min_size=1, max_size=40), st.integers(1, 8), st.integers(0, 1000))
def test_cut_points_rise_part_the_values_and_are_no_more_than_asked_for(values, count, seed):
    x = np.array(values, dtype=float) / 3.0
    weight = np.random.default_rng(seed).uniform(0.1, 3.0, len(x))
    cuts = quantile_cuts(x, weight, count)
    distinct = np.unique(x)
    assert len(cuts) <= count
    assert np.all(np.diff(cuts) > 0.0)
    middles = 0.5 * (distinct[:-1] + distinct[1:])
    np.testing.assert_allclose(
        cuts, middles if len(middles) <= count else middles[np.isin(middles.round(9), cuts.round(9))]
    )
    assert len({tuple(x <= cut) for cut in cuts}) == len(cuts)


@given(st.lists(st.tuples(st.integers(-9, 9), st.integers(1, 4)), min_size=1, max_size=20), st.integers(1, 6))
def test_a_row_of_weight_two_moves_the_quantiles_as_the_row_twice(rows, count):
    x, times = np.array(rows).T
    once = quantile_cuts(x.astype(float), times.astype(float), count)
    np.testing.assert_array_equal(once, quantile_cuts(np.repeat(x, times).astype(float), np.ones(times.sum()), count))


@pytest.mark.parametrize("count", [1, 3, 9, 20])
def test_each_quantile_has_a_cut_point_as_near_as_the_values_allow(count):
    x = np.random.default_rng(0).exponential(size=400)
    cuts = quantile_cuts(x, np.ones(400), count)
    shares = (x[:, None] <= cuts).mean(axis=0)
    np.testing.assert_allclose(shares, np.arange(1, count + 1) / (count + 1.0), atol=0.5 / 400 + 1e-12)


def test_neighbours_in_rounding_are_still_parted():
    x = np.array([1.0, np.nextafter(1.0, 2.0), 1e300, 1.7e308])
    cuts = quantile_cuts(x, np.ones(4), 5)
    assert (x[:, None] <= cuts).sum(axis=0).tolist() == [1, 2, 3]
    assert np.isfinite(cuts).all()


def test_a_constant_has_no_cut_point():
    assert len(quantile_cuts(np.ones(5), np.ones(5), 3)) == 0
    assert len(quantile_cuts(np.empty(0), np.empty(0), 3)) == 0


# --- candidates ------------------------------------------------------------------------------------------------------


def test_the_candidates_of_a_small_table_are_those_by_hand():
    X = np.array([[1.0, 0, 0, 5], [2, 1, 0, 5], [NAN, 2, 1, 5], [2, NAN, 1, 5]])
    categories = {1: COLOURS, 2: ("no", "yes")}
    found, bins = dense_candidates(X, np.ones(4), True, 4, categories)
    listed = list(zip(found.kind, found.feature.tolist(), found.value, strict=True))
    assert listed == [
        ("raw", 0, None),
        ("raw", 3, None),
        ("at_most", 0, 1.5),
        ("missing", 0, None),
        ("equals", 1, "blue"),
        ("equals", 1, "green"),
        ("equals", 1, "red"),
        ("missing", 1, None),
        ("equals", 2, "no"),  # "yes" is its opposite; the constant has no literal
    ]
    assert bins.tolist() == [[0, 0, 0], [1, 1, 0], [2, 2, 1], [1, 3, 1]]
    assert (found.n_raw, found.binned.tolist(), found.first.tolist()) == (2, [0, 1, 2], [0, 3, 7])


@pytest.mark.parametrize(
    ("raw", "twins", "with_literal"), [(True, False, [2]), (True, True, [0, 2]), (False, False, [0, 2])]
)
def test_a_number_of_two_values_has_no_literal_beside_itself(raw, twins, with_literal):
    gap = [1.0, 0.0, NAN, 1.0]
    X = np.column_stack([[0.0, 1, 1, 0], np.full(4, 7.0), gap])
    found, _ = dense_candidates(X, np.ones(4), raw, 4, {}, twins)
    cut = [l for kind, l in zip(found.kind, found.feature.tolist(), strict=True) if kind == "at_most"]
    assert cut == with_literal
    given_cuts, _ = dense_candidates(X, np.ones(4), True, {0: [0.3]}, {})
    assert ("at_most", 0.3) in zip(given_cuts.kind, given_cuts.value, strict=True)  # asked for, so offered


@settings(max_examples=60)
@given(tables(), st.booleans())
def test_every_literal_is_true_on_its_bins_and_nowhere_else(table, raw):
    X, categories, weight, cuts, _ = table
    found, bins = dense_candidates(X, weight, raw, cuts, categories)
    assert len(found) == len(found.feature) == len(found.value) == found.n_raw + len(found.low)
    for i in range(len(found) - found.n_raw):
        kind, l, value = found.kind[found.n_raw + i], int(found.feature[found.n_raw + i]), found.value[found.n_raw + i]
        f = found.binned.tolist().index(l)
        code = found.first[f] + bins[:, f].astype(int)
        true = (found.low[i] <= code) & (code < found.high[i])
        assert true.tolist() == [value_by_hand(x, kind, value, categories.get(l)) == 1.0 for x in X[:, l]]
        if not isinstance(cuts, dict):
            assert 0 < true.sum() < len(X)


@settings(max_examples=30)
@given(tables())
def test_moments_of_literals_are_those_of_the_matrix(table):
    X, categories, weight, cuts, _ = table
    weight = weight / weight.sum()
    found, bins = dense_candidates(X, weight, False, cuts, categories)
    B = by_hand(X, found, categories, weight)
    mean, deviation = literal_moments(bins, weight, found)
    np.testing.assert_allclose(mean, weight @ B, atol=1e-12)
    np.testing.assert_allclose(deviation, np.sqrt(np.maximum(weight @ B - (weight @ B) ** 2, 0.0)), atol=1e-7)


def test_cut_points_of_the_user_are_taken_as_they_are_and_others_have_none():
    X = np.array([[1.0, 4.0], [2.0, 5.0], [3.0, 6.0]])
    found, _ = dense_candidates(X, np.ones(3), False, {1: [5.5, 4.5, 4.5]}, {})
    assert list(zip(found.feature.tolist(), found.value, strict=True)) == [(1, 4.5), (1, 5.5)]
    assert found.cuts_more_than_once()
    assert not dense_candidates(X, np.ones(3), False, {0: [2.0], 1: [5.0]}, {})[0].cuts_more_than_once()


def test_many_categories_need_more_than_a_byte_a_bin():
    codes = np.arange(300.0)[:, None]
    found, bins = dense_candidates(codes, np.ones(300), False, 3, {0: tuple(range(300))})
    assert bins.dtype == np.uint16
    assert bins[:, 0].tolist() == list(range(300))
    assert len(found) == 300


def test_raw_and_sparse_candidates_count_every_feature():
    assert only_raw(3).kind == ("raw",) * 3
    both, alone = sparse_candidates(3, True), sparse_candidates(3, False)
    assert (both.kind, both.feature.tolist()) == (("raw",) * 3 + ("above",) * 3, [0, 1, 2, 0, 1, 2])
    assert (alone.kind, alone.feature.tolist(), alone.n_raw) == (("above",) * 3, [0, 1, 2], 0)
    assert both.cuts_more_than_once()
    assert not only_raw(3).cuts_more_than_once()


# --- rows ------------------------------------------------------------------------------------------------------------


def agree(found, expected):
    np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-10)


@settings(max_examples=40)
@given(literal_rows())
def test_rows_of_literals_agree_with_the_matrix_written_out(given_):
    rows, Z, assignment, rng = given_
    m, d = Z.shape
    p = len(assignment.owner)
    assert rows.n_columns == d
    agree(rows.columns(np.arange(d)), Z)
    agree(rows.square_norms(), np.sum(Z * Z, axis=1))
    W, S, bend = rng.normal(size=(p, d)), rng.normal(size=(m, p)), rng.random((m, p))
    bend[0] = S[0] = 0.0
    agree(rows.scores(W), Z @ W.T)
    few = np.where(np.arange(d) < 2, W, 0.0)
    agree(rows.scores(few), Z @ few.T)
    agree(rows.combine(S), S.T @ Z)
    slope, curve = rows.screen(S, bend)
    agree(slope, S.T @ Z)
    agree(curve, bend.T @ (Z * Z))


@settings(max_examples=40)
@given(literal_rows())
def test_sums_and_curvature_over_literals_agree_with_the_matrix_written_out(given_):
    rows, Z, assignment, rng = given_
    d, p = Z.shape[1], len(assignment.owner)
    plain = DenseRows(np.ascontiguousarray(Z), np.zeros(d), np.ones(d), False, rows.labels)
    W = 0.3 * rng.normal(size=(p, d))
    found, expected = rows.sums(W, assignment), plain.sums(W, assignment)
    assert found.loss == pytest.approx(oracle.mean_loss(Z, W, assignment, rows.labels), rel=1e-9)
    assert found.conjugate == pytest.approx(expected.conjugate, rel=1e-8, abs=1e-10)
    agree(found.gradient, expected.gradient)
    assert rows.sums(W, assignment, gradient=False).loss == pytest.approx(found.loss, rel=1e-12)
    chosen = np.sort(rng.choice(d, min(d, 3), replace=False))
    column = np.tile(chosen, (p, 1))
    column[0, -1] = PADDING
    theta = np.where(column != PADDING, rng.normal(size=column.shape), 0.0)
    bent, straight = rows.curvature(theta, column, assignment), plain.curvature(theta, column, assignment)
    agree(bent.loss, straight.loss)
    agree(bent.gradient, straight.gradient)
    agree(bent.hessian, straight.hessian)
    agree(rows.restrict(chosen).scores(W[:, chosen]), Z[:, chosen] @ W[:, chosen].T)
    agree(rows.restrict(chosen).combine(np.ones((len(Z), 1)))[0], Z[:, chosen].sum(axis=0))


@pytest.mark.parametrize("constant", [True, False])
@pytest.mark.parametrize("convert", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_screen_and_columns_of_plain_rows_agree_with_the_matrix(convert, constant):
    rng = np.random.default_rng(1)
    X = np.where(rng.random((50, 6)) < 0.5, rng.normal(size=(50, 6)), 0.0)
    labels, _ = problems.random_labels(rng, 50, 2)
    problem = build_problem(convert(X), labels.code, np.ones(50), None, True)
    rows = problem.rows(problems.only_owner(labels), constant, 1)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    Z = np.column_stack([Z, np.ones(50)]) if constant else Z
    S, bend = rng.normal(size=(50, 2)), rng.random((50, 2))
    slope, curve = rows.screen(S, bend)
    agree(slope, S.T @ Z)
    agree(curve, bend.T @ (Z * Z))
    chosen = np.array([1, 4, 6] if constant else [1, 4])
    agree(rows.columns(chosen), Z[:, chosen])


def test_the_blocks_of_many_rows_add_up_to_the_same_sums_for_any_number_of_threads(monkeypatch):
    monkeypatch.setattr("smallearn._learn.data.blocks.BLOCK_ENTRIES", 64)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 3))
    labels, assignment = problems.random_labels(rng, 90, 3)
    problem = build_problem(X, labels.code, np.ones(90), None, True, "both", 5)
    W = rng.normal(size=(len(assignment.owner), len(problem.candidates) + 1))
    one, two = (problem.rows(problems.only_owner(labels), True, jobs).sums(W, assignment) for jobs in (1, 2))
    assert one.loss == two.loss
    np.testing.assert_array_equal(one.gradient, two.gradient)


# --- shares of rows --------------------------------------------------------------------------------------------------


def test_taking_a_share_of_rows_keeps_their_standardisation_and_scales_their_weight():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20, 2)), np.arange(20) % 2
    problem = build_problem(X, y, rng.uniform(1.0, 2.0, 20), {0: 1.0, 1: 3.0}, True, "both", 4)
    share = np.where(np.arange(20) < 5, 0.0, np.where(np.arange(20) < 9, 0.25, 1.0))
    part = problem.take(share)
    np.testing.assert_allclose(part.sample_weight, (problem.sample_weight * share)[5:])
    np.testing.assert_allclose(part.loss_weight, (problem.loss_weight * share)[5:])
    np.testing.assert_array_equal(part.mean, problem.mean)
    every = np.arange(len(problem.candidates))
    whole, rest = problem.rows(-1, False, 1), part.rows(-1, False, 1)
    np.testing.assert_array_equal(rest.columns(every), whole.columns(every)[5:])
    assert rest.labels.weight.sum() == pytest.approx(1.0)
    assert isinstance(rest.labels, Labels)
