"""Cut points and candidate terms, against the definition of each literal."""

from decimal import ROUND_HALF_EVEN, Decimal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from smallearn._learn import kernels
from smallearn._learn.data import literals
from smallearn._learn.data.literals import dense_candidates, only_raw, quantile_cuts, sparse_candidates
from tests.helpers.literals import COLOURS, NAN, tables, value_by_hand

pytestmark = pytest.mark.uncompiled

# --- cut points ------------------------------------------------------------------------------------------------------


@given(st.lists(st.integers(-5, 5), min_size=1, max_size=40), st.integers(1, 8), st.integers(0, 1000))
def test_cut_points_rise_part_the_values_and_are_no_more_than_asked_for(values, count, seed):
    x = np.array(values, dtype=float) / 3.0
    weight = np.random.default_rng(seed).uniform(0.1, 3.0, len(x))
    cuts = quantile_cuts(x, weight, count)
    distinct = np.unique(x)
    assert len(cuts) <= count
    assert np.all(np.diff(cuts) > 0.0)
    assert len(cuts) == min(count, len(distinct) - 1) or len(distinct) - 1 > count
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


@given(
    st.lists(st.floats(-1e12, 1e12), min_size=2, max_size=30, unique=True)
    | st.lists(st.decimals(-1000, 1000, places=2).map(float), min_size=2, max_size=30, unique=True)
)
def test_a_cut_point_is_in_the_middle_half_between_two_values_with_the_fewest_digits_there(values):
    x = np.sort(np.array(values))
    low, high = x[:-1], x[1:]
    cuts = literals.cuts_between(low, high, whole=False)
    assert np.all((low <= cuts) & (cuts < high))
    for a, b, cut in zip(low.tolist(), high.tolist(), cuts.tolist(), strict=True):
        middle, reach = 0.5 * a + 0.5 * b, 0.25 * (b - a)
        if reach < max(1e-9 * max(abs(a), abs(b)), 1e-20):  # rounding errors decide what lies between
            continue
        assert abs(cut - middle) <= reach * (1.0 + 1e-9)
        coarser = Decimal(repr(cut)).normalize().as_tuple().exponent + 1  # one digit fewer
        unit = Decimal(1).scaleb(coarser)
        if cut != 0.0:
            nearest = (Decimal(middle) / unit).quantize(Decimal(1), rounding=ROUND_HALF_EVEN) * unit
            assert abs(nearest - Decimal(middle)) > Decimal(reach) * (1 - Decimal("1e-9"))


@given(st.lists(st.integers(-(10**6), 10**6), min_size=2, max_size=30, unique=True), st.integers(1, 8))
def test_cut_points_between_whole_numbers_are_whole(values, count):
    x = np.array(values, dtype=float)
    cuts = quantile_cuts(x, np.ones(len(x)), count)
    np.testing.assert_array_equal(cuts, np.floor(cuts))
    assert len({tuple(x <= cut) for cut in cuts}) == len(cuts)


def test_cut_points_read_as_people_write_them():
    ones = np.ones(2)
    assert quantile_cuts(np.array([1.0, 2.0]), ones, 5).tolist() == [1.0]
    assert quantile_cuts(np.array([1.0, 3.0]), ones, 5).tolist() == [2.0]
    assert quantile_cuts(np.array([5137.6, 5137.8]), ones, 5).tolist() == [5137.7]
    assert quantile_cuts(np.array([0.12, 0.13]), ones, 5).tolist() == [0.125]
    assert quantile_cuts(np.array([-3.2, 4.9]), ones, 5).tolist() == [0.0]
    assert quantile_cuts(np.array([18_112.0, 24_950.0]), ones, 5).tolist() == [20_000.0]


def test_neighbours_in_rounding_are_still_parted():
    x = np.array([1.0, np.nextafter(1.0, 2.0), 1e300, 1.7e308])
    cuts = quantile_cuts(x, np.ones(4), 5)
    assert (x[:, None] <= cuts).sum(axis=0).tolist() == [1, 2, 3]
    assert np.isfinite(cuts).all()


LARGE_COLUMNS = {
    "normal": lambda rng, m: rng.normal(size=m),
    "heavy tails": lambda rng, m: rng.standard_cauchy(m),
    "far from zero": lambda rng, m: 1e6 + 1e-3 * rng.random(m),
    "sorted": lambda rng, m: np.sort(rng.exponential(size=m)),
    "mostly zero": lambda rng, m: np.where(rng.random(m) < 0.97, 0.0, rng.normal(size=m)),
    "many ties": lambda rng, m: rng.integers(0, 40, m).astype(float),
    "few values": lambda rng, m: rng.integers(0, 4, m).astype(float),
    "a period that the sample meets": lambda rng, m: np.where(np.arange(m) % 2, rng.normal(size=m), 7.0),
}


@pytest.mark.parametrize("kind", LARGE_COLUMNS)
@pytest.mark.parametrize("count", [1, 7, 20])
def test_many_values_have_the_cut_points_that_sorting_all_of_them_gives(kind, count, monkeypatch):
    rng = np.random.default_rng(count)
    x = LARGE_COLUMNS[kind](rng, 4000)
    monkeypatch.setattr(literals, "SAMPLE", 500)
    monkeypatch.setattr(literals, "REGIONS", 100)
    for weight in (np.ones(4000), rng.integers(1, 4, 4000).astype(float), rng.uniform(0.5, 2.0, 4000)):
        monkeypatch.setattr(literals, "MANY_VALUES", 10**9)
        sorted_all = quantile_cuts(x, weight, count)
        monkeypatch.setattr(literals, "MANY_VALUES", 1)
        np.testing.assert_array_equal(quantile_cuts(x, weight, count), sorted_all)


def test_of_many_values_only_those_near_the_quantiles_are_sorted():
    x = np.random.default_rng(0).normal(size=200_000)
    kept, weight = literals._near_quantiles(x, np.ones(len(x)), 20)
    assert len(kept) < 0.1 * len(x)
    assert weight.sum() == len(x)


def test_a_constant_has_no_cut_point():
    assert len(quantile_cuts(np.ones(5), np.ones(5), 3)) == 0
    assert len(quantile_cuts(np.empty(0), np.empty(0), 3)) == 0


@pytest.mark.parametrize("n_edges", [0, 1, 2, 3, 4, 7, 8, 300])
@pytest.mark.parametrize("m", [0, 1, 1023, 1024, 1025, 3000])
def test_the_bin_of_a_value_is_the_number_of_edges_below_it(n_edges, m):
    rng = np.random.default_rng(m)
    edges = np.arange(n_edges) / 4.0
    x = rng.integers(-8, 4 * n_edges + 8, m) / 16.0  # some values are edges
    x[rng.random(m) < 0.1] = NAN
    bins = np.empty(m, dtype=np.uint16)
    kernels.find_bins(x, edges, bins)
    np.testing.assert_array_equal(bins, np.where(np.isnan(x), n_edges + 1, np.searchsorted(edges, x)))


# --- candidates ------------------------------------------------------------------------------------------------------


def test_the_candidates_of_a_small_table_are_those_by_hand():
    X = np.array([[1.0, 0, 0, 5], [2, 1, 0, 5], [NAN, 2, 1, 5], [2, NAN, 1, 5]])
    categories = {1: COLOURS, 2: ("no", "yes")}
    found, bins = dense_candidates(X, np.ones(4), raw=True, cut_points=4, categories=categories)
    listed = list(zip(found.kind, found.feature.tolist(), found.value, strict=True))
    assert listed == [
        ("raw", 0, None),
        ("raw", 3, None),
        ("at_most", 0, 1.0),
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
    found, _ = dense_candidates(X, np.ones(4), raw=raw, cut_points=4, categories={}, twins=twins)
    cut = [l for kind, l in zip(found.kind, found.feature.tolist(), strict=True) if kind == "at_most"]
    assert cut == with_literal
    given_cuts, _ = dense_candidates(X, np.ones(4), raw=True, cut_points={0: [0.3]}, categories={})
    assert ("at_most", 0.3) in zip(given_cuts.kind, given_cuts.value, strict=True)  # asked for, so offered


@settings(max_examples=60)
@given(tables(), st.booleans())
def test_every_literal_is_true_on_its_bins_and_nowhere_else(table, raw):
    X, categories, weight, cuts, _ = table
    found, bins = dense_candidates(X, weight, raw=raw, cut_points=cuts, categories=categories)
    assert len(found) == len(found.feature) == len(found.value) == found.n_raw + len(found.low)
    for i in range(len(found) - found.n_raw):
        kind, l, value = found.kind[found.n_raw + i], int(found.feature[found.n_raw + i]), found.value[found.n_raw + i]
        f = found.binned.tolist().index(l)
        code = found.first[f] + bins[:, f].astype(int)
        true = (found.low[i] <= code) & (code < found.high[i])
        assert true.tolist() == [value_by_hand(x, kind, value, categories.get(l)) == 1.0 for x in X[:, l]]
        if not isinstance(cuts, dict):
            assert 0 < true.sum() < len(X)


def test_cut_points_of_the_user_are_taken_as_they_are_and_others_have_none():
    X = np.array([[1.0, 4.0], [2.0, 5.0], [3.0, 6.0]])
    found, _ = dense_candidates(X, np.ones(3), raw=False, cut_points={1: [5.5, 4.5, 4.5]}, categories={})
    assert list(zip(found.feature.tolist(), found.value, strict=True)) == [(1, 4.5), (1, 5.5)]
    assert found.cuts_more_than_once()
    single, _ = dense_candidates(X, np.ones(3), raw=False, cut_points={0: [2.0], 1: [5.0]}, categories={})
    assert not single.cuts_more_than_once()


def test_many_categories_need_more_than_a_byte_a_bin():
    codes = np.arange(300.0)[:, None]
    found, bins = dense_candidates(codes, np.ones(300), raw=False, cut_points=3, categories={0: tuple(range(300))})
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
