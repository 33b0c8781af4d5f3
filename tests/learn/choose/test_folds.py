"""Folds by weight: nothing lost, classes even, a row of weight 2 dealt out as two rows, and the user's own folds."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.model_selection import KFold, PredefinedSplit, ShuffleSplit, StratifiedKFold

from smallearn._learn.choose.folds import MANY_ROWS, MOST_REPEATS, canonical_units, draw, make_folds, shuffled
from smallearn._learn.data.content import RARE
from smallearn._learn.data.problem import build_problem

NAN = np.nan


def problem_of(X, y, weight=None, **options):
    weight = np.ones(len(y)) if weight is None else np.asarray(weight, dtype=float)
    return build_problem(X, np.asarray(y), weight, **options)


def deal(problem, cv=None, seed=0):
    return make_folds(problem, cv, np.ones(len(problem.code), dtype=bool), np.random.RandomState(seed))


def trained(fold, m):
    """The share of each of ``m`` rows that trains."""
    return spread(fold.train(), m)


def held_out(fold, m):
    """The share of each of ``m`` rows that is held out."""
    return spread(fold.held_out(), m)


def spread(part, m):
    share = np.zeros(m)
    share[part.rows] = part.share
    return share


def some_rows(seed, m=30, n_classes=2, gaps=False):
    rng = np.random.default_rng(seed)
    X = rng.integers(-2, 3, (m, 3)) + rng.integers(0, 2, (m, 3)) / 3.0
    if gaps:
        X[rng.random(X.shape) < 0.2] = NAN
    return X, np.concatenate([np.repeat(np.arange(n_classes), 2), rng.integers(0, n_classes, m - 2 * n_classes)])


# --- the folds that are made -----------------------------------------------------------------------------------------


@settings(max_examples=60)
@given(st.integers(0, 1000), st.integers(2, 4), st.sampled_from([None, 2, 3, 5]), st.booleans())
@pytest.mark.filterwarnings("ignore:cv=:UserWarning")
def test_every_unit_of_weight_is_held_out_once_and_each_class_evenly(seed, n_classes, cv, whole):
    X, y = some_rows(seed, n_classes=n_classes)
    rng = np.random.default_rng(seed)
    weight = rng.integers(1, 4, len(y)).astype(float) if whole else rng.uniform(0.2, 3.0, len(y))
    folds = deal(problem_of(X, y, weight), cv, seed)
    counted = weight if whole else np.ones(len(y))
    by_class = np.bincount(y, weights=counted)
    count = int(min(5 if cv is None else cv, by_class.min()))
    repeats = 1 if cv else int(np.clip(np.ceil(MANY_ROWS / counted.sum()), 1, MOST_REPEATS))
    assert len(folds) == count * repeats
    m = len(y)
    for fold in folds:
        train, validate = trained(fold, m), held_out(fold, m)
        assert np.all((train >= 0.0) & (validate >= 0.0))
        np.testing.assert_allclose(train + validate, 1.0, atol=1e-12)
        units = validate * counted
        np.testing.assert_allclose(units, np.rint(units), atol=1e-9)
        for label in range(n_classes):
            held = units[y == label].sum()
            assert abs(held - by_class[label] / count) < 1.0 + 1e-9
            assert (train * counted)[y == label].sum() > 0.5
    for begin in range(0, len(folds), count):
        np.testing.assert_allclose(sum(held_out(fold, m) for fold in folds[begin : begin + count]), 1.0, atol=1e-9)


def test_few_rows_are_dealt_out_several_times_and_differently():
    folds = deal(problem_of(*some_rows(0, 40)))
    assert len(folds) == 5 * MOST_REPEATS
    assert len({held_out(fold, 40).tobytes() for fold in folds}) == len(folds)
    X, y = some_rows(0, MANY_ROWS)
    assert len(deal(problem_of(X, y))) == 5


def by_content(X, y, folds, weight):
    """What is held out of each different row in each fold, whatever the order and number of its copies."""
    rows = np.column_stack([np.nan_to_num(X, nan=77.0), y])
    _, place = np.unique(rows, axis=0, return_inverse=True)
    return np.array([np.bincount(place.ravel(), weights=held_out(fold, len(y)) * weight) for fold in folds])


@settings(max_examples=30)
@given(st.integers(0, 1000), st.sampled_from(["raw", "both", "gaps"]), st.sampled_from([2, 3]))
def test_a_row_of_weight_two_is_dealt_out_as_the_row_twice_in_any_order(seed, literals, n_classes):
    X, y = some_rows(seed, n_classes=n_classes, gaps=literals == "gaps")
    rng = np.random.default_rng(seed)
    times = rng.integers(1, 4, len(y))
    order = rng.permutation(times.sum())
    copies = np.repeat(np.arange(len(y)), times)[order]
    options = {} if literals == "raw" else {"literals": "both", "cut_points": 3}
    once = deal(problem_of(X, y, times, **options), 3, seed)
    twice = deal(problem_of(X[copies], y[copies], **options), 3, seed)
    held, held_of_copies = by_content(X, y, once, times), by_content(X[copies], y[copies], twice, np.ones(len(copies)))
    np.testing.assert_allclose(held, held_of_copies, atol=1e-9)


@pytest.mark.parametrize("convert", [sparse.csr_array, np.float32], ids=["sparse", "float32"])
def test_sparse_and_shorter_numbers_are_dealt_out_like_the_same_numbers_in_full(convert):
    rng = np.random.default_rng(3)
    X, y = rng.integers(-1, 3, (50, 4)).astype(float), np.arange(50) % 2
    X[X == 0.0] *= -1.0  # some zeros are negative
    plain, other = deal(problem_of(X, y), 4), deal(problem_of(convert(X), y), 4)
    for one, two in zip(plain, other, strict=True):
        np.testing.assert_array_equal(held_out(one, 50), held_out(two, 50))


def test_the_folds_follow_the_random_state():
    problem = problem_of(*some_rows(1))
    same, again, other = deal(problem, 3, 5), deal(problem, 3, 5), deal(problem, 3, 6)
    assert all(np.array_equal(trained(a, 30), trained(b, 30)) for a, b in zip(same, again, strict=True))
    assert not all(np.array_equal(trained(a, 30), trained(b, 30)) for a, b in zip(same, other, strict=True))


def test_a_small_class_limits_the_number_of_folds_and_one_row_is_too_few():
    X, y = some_rows(0)
    few = np.where(np.arange(len(y)) < 3, "rare", "common")
    with pytest.warns(UserWarning, match="cv=5, but class 'rare' has 3 rows; using 3 folds"):
        assert len(deal(problem_of(X, few), 5)) == 3
    assert len(deal(problem_of(X, few))) == 3 * MOST_REPEATS  # nothing was asked for
    with pytest.raises(ValueError, match=r"Class 'rare' has 1 row; cross-validation needs at least two rows"):
        deal(problem_of(X, np.where(np.arange(len(y)) < 1, "rare", "common")))
    assert len(deal(problem_of(X, np.where(np.arange(len(y)) < 1, "rare", "common"), np.full(len(y), 2.0)))) > 0


# --- the user's own --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "cv",
    [KFold(3), StratifiedKFold(3), ShuffleSplit(4, random_state=0), PredefinedSplit(np.arange(30) % 3)],
    ids=lambda cv: type(cv).__name__,
)
def test_a_splitter_is_followed_and_rows_without_weight_are_left_out(cv):
    X, y = some_rows(2)[0], np.arange(30) % 2
    weight = np.where(np.arange(30) % 5 == 0, 0.0, 1.0)
    kept = weight > 0.0
    problem = problem_of(X, y, weight)
    folds = make_folds(problem, cv, kept, np.random.RandomState(0))
    expected = list(cv.split(X, np.where(kept, y, 0)))
    assert len(folds) == len(expected)
    for fold, (train, validate) in zip(folds, expected, strict=True):
        assert trained(fold, kept.sum()).tolist() == np.isin(np.arange(30), train)[kept].tolist()
        assert held_out(fold, kept.sum()).tolist() == np.isin(np.arange(30), validate)[kept].tolist()


@pytest.mark.parametrize("wrap", [list, iter, tuple])
def test_an_iterable_of_indices_or_masks_is_followed(wrap):
    X, _ = some_rows(2)
    problem = problem_of(X, np.arange(30) % 2)
    mask = np.arange(30) < 20
    folds = deal(problem, wrap([(np.arange(20), np.arange(20, 30)), (mask, ~mask), ([0, 1, -1], [2])]))
    assert trained(folds[0], 30).tolist() == trained(folds[1], 30).tolist() == mask.astype(float).tolist()
    assert np.sort(folds[2].train().rows).tolist() == [0, 1, 29]
    assert folds[2].held_out().rows.tolist() == [2]


@pytest.mark.parametrize(
    ("cv", "message"),
    [
        ([(np.arange(0, 30, 2), np.arange(1, 30, 2))], "fold 0 has no row of class 'b' to train on"),
        ([(np.arange(20), np.arange(20, 30)), (np.arange(20), [])], "fold 1 has no held-out row"),
        ([], "no folds"),
        ("all", "Expected `?cv`? as an integer"),
    ],
)
def test_folds_that_cannot_serve_are_refused(cv, message):
    X, _ = some_rows(2)
    with pytest.raises(ValueError, match=message):
        deal(problem_of(X, np.where(np.arange(30) % 2 == 0, "a", "b")), cv)


# --- samples ---------------------------------------------------------------------------------------------------------


def many_rows(seed=0, shares=(0.6, 0.38, 0.02), m=2000):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(m, 2)), np.repeat(np.arange(len(shares)), (np.array(shares) * m).astype(int))


def sample(problem, most, turn=0.0, seed=0):
    units = shuffled(canonical_units(problem), np.random.RandomState(seed))
    return draw(units, np.arange(len(units.rows)), most, turn)


@pytest.mark.parametrize("most", [100, 400, 1999])
def test_a_sample_has_about_as_many_rows_and_keeps_the_weight_of_each_class(most):
    X, y = many_rows()
    part = sample(problem_of(X, y), most)
    assert 0.95 * most <= len(part.rows) <= most * (1.0 + 1.0 / RARE)
    assert len(set(part.rows.tolist())) == len(part.rows)
    assert np.all(np.diff(y[part.rows]) >= 0)  # sorted by class
    np.testing.assert_allclose(np.bincount(y[part.rows], weights=part.share), np.bincount(y), rtol=1e-12)


def test_a_rare_class_gets_more_rows_of_less_weight():
    X, y = many_rows()
    part = sample(problem_of(X, y), 240)
    counts = np.bincount(y[part.rows])
    assert counts[2] == 240 // (RARE * 3)
    assert counts[2] > 240 * np.mean(y == 2)
    shares = [part.share[y[part.rows] == label] for label in range(3)]
    assert all(np.ptp(share) < 1e-12 for share in shares)
    assert shares[2][0] < shares[0][0]


def test_up_to_the_limit_a_sample_is_all_rows():
    X, y = many_rows(m=500)
    for most in (500, 9999, None):
        part = sample(problem_of(X, y), most)
        assert sorted(part.rows.tolist()) == list(range(500))
        assert np.all(part.share == 1.0)


@pytest.mark.parametrize("weighted", [False, True])
def test_a_sample_does_not_depend_on_the_order_of_rows_and_weight_two_equals_the_row_twice(weighted):
    X, y = many_rows(m=300)
    rng = np.random.default_rng(1)
    times = rng.integers(1, 4, len(y)) if weighted else np.ones(len(y), dtype=int)
    copies = rng.permutation(np.repeat(np.arange(len(y)), times))
    for turn in (0.0, 0.4):
        once = sample(problem_of(X, y, times), 120, turn)
        twice = sample(problem_of(X[copies], y[copies]), 120, turn)
        mass = np.zeros((2, len(y)))
        mass[0, once.rows] = once.share * times[once.rows]
        np.add.at(mass[1], copies[twice.rows], twice.share)
        np.testing.assert_allclose(mass[0], mass[1], atol=1e-9)


def test_fractional_weights_are_sampled_row_by_row():
    X, y = many_rows(m=400)
    problem = problem_of(X, y, np.random.default_rng(0).uniform(0.1, 0.9, len(y)))
    part = sample(problem, 100)
    assert 90 <= len(part.rows) <= 125
    assert len(set(part.rows.tolist())) == len(part.rows)


def test_samples_of_different_folds_have_few_rows_in_common():
    X, y = many_rows(shares=(0.5, 0.5), m=5000)
    folds = deal(problem_of(X, y), 5)
    drawn = [set(fold.train(400).rows.tolist()) for fold in folds]
    for fold, rows in zip(folds, drawn, strict=True):
        assert rows <= set(fold.train().rows.tolist())
        assert set(fold.held_out(50).rows.tolist()) <= set(fold.held_out().rows.tolist())
    shared = [len(drawn[a] & drawn[b]) / 400 for a in range(5) for b in range(a)]
    assert max(shared) < 0.3
    assert drawn[0] == set(folds[0].train(400).rows.tolist())  # the same each time


def test_samples_that_grow_keep_their_rows():
    X, y = many_rows()
    smaller, larger = (set(sample(problem_of(X, y), most).rows.tolist()) for most in (200, 500))
    assert smaller < larger
