"""Cross-validation by weights: what each row weighs in training and in validation, fold by fold.

The parts are drawn from the rows in an order that does not depend on theirs, unit of weight by unit of weight, so that
a row of weight 2 is dealt out as two equal rows would be.
"""

import warnings
from dataclasses import dataclass

import numpy as np
from scipy import sparse
from sklearn.model_selection import check_cv

from smallearn._learn.data.problem import Problem

MANY_ROWS = 1000  # from here on one round of folds is enough
MOST_REPEATS = 3
MOST_UNITS = 10_000_000


@dataclass(frozen=True)
class Fold:
    """What share of each row's weight, from 0 to 1, is for training and what for validation."""

    train: np.ndarray
    validate: np.ndarray


def make_folds(problem: Problem, cv, kept: np.ndarray, rng: np.random.RandomState) -> list[Fold]:
    """``cv`` is None (5 folds, repeated while the rows are few), a number of folds, or a splitter or iterable of
    (training, validation) indices as in scikit-learn. ``kept`` marks the rows of positive weight among those given."""
    if cv is not None and not isinstance(cv, int | np.integer):
        return _given(problem, cv, kept)
    weight = problem.sample_weight
    counted = weight if whole(weight) else np.ones(len(weight))
    by_class = np.bincount(problem.code, weights=counted)
    fewest = int(by_class.min())
    if fewest < 2:
        label = problem.classes.tolist()[int(by_class.argmin())]
        raise ValueError(f"Class {label!r} has {fewest} row; cross-validation needs two of each class at least.")
    count = min(5 if cv is None else int(cv), fewest)
    if cv is not None and count < cv:
        label = problem.classes.tolist()[int(by_class.argmin())]
        warnings.warn(f"cv={cv}, but class {label!r} has {fewest} rows; there are as many folds.", stacklevel=4)
    repeats = 1 if cv is not None else int(np.clip(np.ceil(MANY_ROWS / counted.sum()), 1, MOST_REPEATS))
    order, rows, share = _units(problem)
    return [fold for _ in range(repeats) for fold in _deal(problem, order, rows, share, count, rng)]


def _given(problem: Problem, cv, kept: np.ndarray) -> list[Fold]:
    """The user's own folds, of all rows, without those of no weight."""
    place = np.cumsum(kept) - 1
    y = np.zeros(len(kept), dtype=np.int64)
    y[kept] = problem.code
    found: list[Fold] = []
    for parts in check_cv(cv, y, classifier=True).split(np.zeros((len(kept), 1)), y):
        train, validate = (np.isin(np.arange(len(place)), np.arange(len(kept))[part]) for part in parts)
        fold = Fold(train[kept].astype(float), validate[kept].astype(float))
        lacking = set(range(len(problem.classes))) - set(problem.code[fold.train > 0.0].tolist())
        if lacking or not fold.validate.any():
            what = (
                f"no row of class {problem.classes.tolist()[min(lacking)]!r} to train on"
                if lacking
                else "no row held out"
            )
            raise ValueError(f"cv: fold {len(found)} has {what}.")
        found.append(fold)
    if not found:
        raise ValueError("cv has no folds.")
    return found


def whole(weight: np.ndarray) -> bool:
    """Whether weights count rows: a row of weight 2 is then two rows."""
    return bool(np.all(weight == np.floor(weight)) and weight.sum() <= MOST_UNITS)


def _units(problem: Problem) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Units of weight in a canonical order: the class of each, the row it belongs to, and its share of that row."""
    m = len(problem.code)
    first = np.argsort(_content(problem), kind="stable")
    first = first[np.argsort(problem.code[first], kind="stable")]
    times = (
        problem.sample_weight[first].astype(np.int64) if whole(problem.sample_weight) else np.ones(m, dtype=np.int64)
    )
    rows = np.repeat(first, times)
    return problem.code[rows], rows, 1.0 / np.repeat(times, times)


def _content(problem: Problem) -> np.ndarray:
    """A number for each row that depends on what is in it, not on where it stands or how it is stored: the sum of a
    hash of each entry other than 0 and its column. Whole numbers that wrap around add up the same in any order."""
    X = problem.X
    if sparse.issparse(X):
        hashed = np.where(X.data != 0.0, _hash(X.data, X.indices), np.uint64(0))
        reached = np.concatenate([np.zeros(1, dtype=np.uint64), np.cumsum(hashed, dtype=np.uint64)])
        return reached[X.indptr[1:]] - reached[X.indptr[:-1]]
    total = np.zeros(X.shape[0], dtype=np.uint64)
    for place, x in enumerate([*X.T, *problem.bins.T]):
        total += np.where(x != 0.0, _hash(x, np.array([place])), np.uint64(0))
    return total


def _hash(value: np.ndarray, column: np.ndarray) -> np.ndarray:
    return _mix(value.astype(np.float64).view(np.uint64) ^ _mix(column.astype(np.uint64)))


def _mix(bits: np.ndarray) -> np.ndarray:
    """The finaliser of SplitMix64: every bit of the input sways every bit of the output."""
    bits = bits + np.uint64(0x9E3779B97F4A7C15)
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31))


def _deal(problem, code, rows, share, count, rng) -> list[Fold]:
    """Deal the units of each class out in turn, after a shuffle."""
    m = len(problem.code)
    part = np.empty(len(rows), dtype=np.int64)
    begin = 0
    for label in np.unique(code):
        mine = np.flatnonzero(code == label)
        part[mine[rng.permutation(len(mine))]] = (begin + np.arange(len(mine))) % count
        begin += len(mine)
    found = []
    for fold in range(count):
        validate = np.minimum(np.bincount(rows[part == fold], weights=share[part == fold], minlength=m), 1.0)
        found.append(Fold(np.clip(1.0 - validate, 0.0, 1.0), validate))
    return found
