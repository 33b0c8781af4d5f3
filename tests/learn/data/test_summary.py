"""What is known of many rows after a few passes is what is known of them in memory."""

import numpy as np
import pytest

from smallearn._learn.data import source, summary
from smallearn._learn.data.many_rows import Large
from smallearn._learn.data.problem import build_problem
from smallearn._learn.data.source import ArraySource
from tests.helpers.large import COLOURS, KINDS, rows_of

# Raw terms have nothing to say about missing values.
WAYS = [(kind, way) for kind in KINDS for way in ("raw", "thresholds", "both") if (kind, way) != ("gaps", "raw")]


def both_ways(monkeypatch, kind, literals, weight=None, most=10**6, **choices):
    monkeypatch.setattr(source, "BLOCK_ENTRIES", 1 << 11)
    X, y = rows_of(kind)
    categories = {4: COLOURS} if kind == "categories" else {}
    weight = np.ones(len(y)) if weight is None else weight
    choices |= {"literals": literals, "cut_points": 5}
    rows = ArraySource(X, y, weight, np.unique(y), categories)
    found, pool, share = summary.summarise(rows, most, **choices)
    return found, pool, share, build_problem(X, y, weight, categories=categories, **choices)


@pytest.mark.parametrize(("kind", "literals"), WAYS)
@pytest.mark.parametrize("standardize", [True, False])
def test_terms_and_scaling_are_those_of_all_rows(monkeypatch, kind, literals, standardize):
    weight = np.random.default_rng(1).random(1500)
    found, _, _, known = both_ways(
        monkeypatch, kind, literals, weight, standardize=standardize, class_weight="balanced"
    )
    assert found.candidates.kind == known.candidates.kind
    assert found.candidates.value == known.candidates.value
    np.testing.assert_array_equal(found.candidates.feature, known.candidates.feature)
    for ours, theirs in zip(
        (*found.scaling, *found.column_scaling), (*known.scaling, *known.column_scaling), strict=True
    ):
        np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-14)
    np.testing.assert_array_equal(found.column_extents.low, known.column_extents.low)
    np.testing.assert_array_equal(found.column_extents.high, known.column_extents.high)
    np.testing.assert_allclose(found.class_weight, known.class_weight, rtol=1e-12)
    assert found.total == pytest.approx(known.loss_weight.sum(), rel=1e-12)
    assert found.has_gaps == known.has_gaps


@pytest.mark.parametrize("kind", KINDS)
def test_some_columns_of_some_rows_are_the_same_however_they_are_made(monkeypatch, kind):
    found, pool, _, _ = both_ways(monkeypatch, kind, "both")
    rows = found.problem(pool).rows(1, True, 1)
    columns = np.arange(0, len(found.candidates), 3)
    if kind != "sparse":
        few = found.take(columns).problem(pool).rows(1, False, 1)
        np.testing.assert_array_equal(few.columns(np.arange(len(columns))), rows.columns(columns))
    assert rows.labels.total == found.total


def test_the_pool_has_the_weight_of_each_class_and_more_rows_of_a_rare_one(monkeypatch):
    monkeypatch.setattr(source, "BLOCK_ENTRIES", 1 << 12)
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20_000, 9)), (rng.random(20_000) < 0.03).astype(int)
    rows = ArraySource(X, y, None, np.array([0, 1]))
    _, pool, share = summary.summarise(rows, 2_000)
    np.testing.assert_allclose(np.bincount(pool.code, weights=pool.weight * share), np.bincount(y), rtol=1e-9)
    assert 1_600 < len(pool.code) < 2_600
    assert np.mean(pool.code) > 2 * np.mean(y)
    again = np.random.default_rng(1).permutation(len(y))
    _, other, _ = summary.summarise(ArraySource(X[again], y[again], None, np.array([0, 1])), 2_000)
    np.testing.assert_array_equal(pool.X, other.X)


@pytest.mark.parametrize(("values", "n_different"), [(3, 27), (40, None)])
def test_of_rows_that_repeat_the_pool_has_every_different_one_or_some_by_position(values, n_different):
    rng = np.random.default_rng(0)
    X = rng.integers(values, size=(3_000, 3)).astype(float)
    if n_different is None:  # most rows are one of two, the others all different: no sample by hashes is even
        X[:2_900] = X[rng.integers(2, size=2_900)]
        X[2_900:, 0] += np.arange(100)
    y = (X[:, 0] > X[:, 1]).astype(int)
    _, pool, share = summary.summarise(ArraySource(X, y, None, np.array([0, 1])), 60)
    np.testing.assert_allclose(np.bincount(pool.code, weights=pool.weight * share), np.bincount(y), rtol=1e-9)
    if n_different is not None:
        assert len(pool.code) == n_different
        np.testing.assert_array_equal(share, 1.0)


@pytest.mark.parametrize(
    ("value", "message"), [(np.inf, "infinity"), (np.nan, "feature 2 has 1 missing"), (1e305, "beyond")]
)
def test_values_that_cannot_be_learned_from_are_refused(value, message):
    X, y = rows_of("numbers")
    X[700, 2] = value
    with pytest.raises(ValueError, match=message):
        summary.summarise(ArraySource(X, y, None, np.array([0, 1])), 100)


def test_a_class_without_weight_is_refused():
    X, y = rows_of("numbers")
    with pytest.raises(ValueError, match="Class 1 has no row of positive weight"):
        summary.summarise(ArraySource(X, y, 1.0 - y, np.array([0, 1])), 100)


@pytest.mark.parametrize("kind", KINDS)
def test_the_pool_is_the_same_to_the_last_bit_in_any_blocks_and_order(monkeypatch, kind):
    X, y = rows_of(kind)
    weight = np.random.default_rng(1).random(len(y))
    order = np.random.default_rng(2).permutation(len(y))
    categories = {4: COLOURS} if kind == "categories" else {}
    problems = []
    for entries, rows in ((1 << 11, slice(None)), (3000, slice(None)), (1 << 11, order)):
        monkeypatch.setattr(source, "BLOCK_ENTRIES", entries)
        many = ArraySource(X[rows], y[rows], weight[rows], np.unique(y), categories)
        large = Large.read(many, 700, literals="both", cut_points=5, class_weight="balanced")
        problems.append(large.problem())
        exact = large.exact(problems[-1])
        assert exact.scaling is large.summary.scaling
        np.testing.assert_allclose(problems[-1].scaling.inverse_scale, exact.scaling.inverse_scale, rtol=1e-9)
    for other in problems[1:]:
        for field in ("scaling", "column_scaling"):
            for one, another in zip(getattr(problems[0], field), getattr(other, field), strict=True):
                np.testing.assert_array_equal(one, another)
        for field in ("code", "loss_weight", "bins"):
            np.testing.assert_array_equal(getattr(problems[0], field), getattr(other, field))
        one, another = (problem.X.toarray() if kind == "sparse" else problem.X for problem in (problems[0], other))
        np.testing.assert_array_equal(one, another)
