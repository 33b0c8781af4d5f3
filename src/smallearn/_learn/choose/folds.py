"""Folds of cross-validation as weights: the share of each row that trains, and the share that is held out.

The rows are dealt in an order that depends on their content alone, one unit of weight at a time, so that a row of
weight 2 is treated exactly as two equal rows.
"""

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.model_selection import check_cv

from smallearn._learn.data.problem import Problem

MANY_ROWS = 1000  # from here on the folds are not repeated
MOST_REPEATS = 3
MOST_UNITS = 10_000_000  # total weight up to which whole weights count rows
DEFAULT_FOLDS = 5
CHUNK_ROWS = 2048  # that are hashed at a time, so that they stay in the cache


@dataclass(frozen=True)
class Fold:
    """The share of each row's weight, from 0 to 1, that trains, and the share that is held out."""

    train: np.ndarray
    validate: np.ndarray


def make_folds(problem: Problem, cv: Any, kept: np.ndarray, rng: np.random.RandomState) -> list[Fold]:
    """The folds of the rows of a problem.

    ``cv`` is None (5 folds, repeated while the rows are few), a number of folds, or a splitter or iterable of
    (training, validation) indices as in scikit-learn. ``kept`` marks the rows of positive weight among the user's rows.
    """
    if cv is not None and not isinstance(cv, int | np.integer):
        return _user_folds(problem, cv, kept)
    counts = row_counts(problem.sample_weight)
    by_class = np.bincount(problem.code, weights=counts)
    fewest, label = int(by_class.min()), problem.classes.tolist()[int(by_class.argmin())]
    if fewest < 2:
        raise ValueError(
            f"Class {label!r} has {fewest} row; cross-validation needs at least two rows of each class. Add rows of "
            "this class, or use SMaLLClassifier, which needs no cross-validation."
        )
    n_folds = min(DEFAULT_FOLDS if cv is None else int(cv), fewest)
    if cv is not None and n_folds < cv:
        warnings.warn(f"cv={cv}, but class {label!r} has {fewest} rows; using {n_folds} folds.", stacklevel=4)
    repeats = 1 if cv is not None else int(np.clip(np.ceil(MANY_ROWS / counts.sum()), 1, MOST_REPEATS))
    order, rows, share = _units(problem)
    return [fold for _ in range(repeats) for fold in _deal(problem, order, rows, share, n_folds, rng)]


def _user_folds(problem: Problem, cv: Any, kept: np.ndarray) -> list[Fold]:
    """The folds of a splitter or an iterable, which index all rows, without the rows of weight 0."""
    y = np.zeros(len(kept), dtype=np.int64)
    y[kept] = problem.code
    every = np.arange(len(kept))
    folds: list[Fold] = []
    for parts in check_cv(cv, y, classifier=True).split(np.zeros((len(kept), 1)), y):
        train, validate = (np.isin(every, every[part])[kept].astype(float) for part in parts)
        lacking = set(range(len(problem.classes))) - set(problem.code[train > 0.0].tolist())
        if lacking:
            label = problem.classes.tolist()[min(lacking)]
            raise ValueError(f"cv: fold {len(folds)} has no row of class {label!r} to train on.")
        if not validate.any():
            raise ValueError(f"cv: fold {len(folds)} has no held-out row.")
        folds.append(Fold(train=train, validate=validate))
    if not folds:
        raise ValueError("cv has no folds; it needs at least one pair of (training, validation) indices.")
    return folds


def counts_rows(weight: np.ndarray) -> bool:
    """Whether the weights count rows: if all are whole numbers, a row of weight 2 stands for two rows."""
    return bool(np.all(weight == np.floor(weight)) and weight.sum() <= MOST_UNITS)


def row_counts(weight: np.ndarray) -> np.ndarray:
    """How many rows each row stands for: its weight if the weights count rows, else 1."""
    return weight if counts_rows(weight) else np.ones(len(weight))


def _units(problem: Problem) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Units of weight in a canonical order: the class of each, the row it belongs to, and its share of that row."""
    first = np.argsort(_content(problem), kind="stable")
    small = problem.code.astype(np.min_scalar_type(len(problem.classes)))  # a stable sort of small integers is quick
    first = first[np.argsort(small[first], kind="stable")]
    times = row_counts(problem.sample_weight)[first].astype(np.int64)
    rows = np.repeat(first, times)
    return problem.code[rows], rows, 1.0 / np.repeat(times, times)


def _content(problem: Problem) -> np.ndarray:
    """A hash of each row's values, which depends neither on the row's position nor on how the data are stored.

    It is the sum of a hash of each non-zero entry with its column. Integers that wrap around add up the same in any
    order.
    """
    X = problem.X
    if sparse.issparse(X):
        hashed = np.where(X.data != 0.0, _hash(X.data, X.indices), np.uint64(0))
        reached = np.concatenate([np.zeros(1, dtype=np.uint64), np.cumsum(hashed, dtype=np.uint64)])
        return reached[X.indptr[1:]] - reached[X.indptr[:-1]]
    places = np.arange(X.shape[1] + problem.bins.shape[1])
    total = np.empty(X.shape[0], dtype=np.uint64)
    for begin in range(0, len(total), CHUNK_ROWS):
        rows = slice(begin, begin + CHUNK_ROWS)
        values = np.hstack([X[rows], problem.bins[rows]]).astype(np.float64, copy=False)
        total[rows] = np.where(values != 0.0, _hash(values, places), np.uint64(0)).sum(axis=1)
    return total


def _hash(value: np.ndarray, column: np.ndarray) -> np.ndarray:
    return _mix(value.astype(np.float64, copy=False).view(np.uint64) ^ _mix(column.astype(np.uint64)))


def _mix(bits: np.ndarray) -> np.ndarray:
    """The finaliser of SplitMix64: every bit of the input changes every bit of the output."""
    bits = bits + np.uint64(0x9E3779B97F4A7C15)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        bits ^= bits >> np.uint64(shift)
        bits *= np.uint64(factor)
    bits ^= bits >> np.uint64(31)
    return bits


def _deal(problem: Problem, code, rows, share, n_folds: int, rng: np.random.RandomState) -> list[Fold]:
    """Shuffle the units of each class and deal them to the folds in turn."""
    m = len(problem.code)
    part = np.empty(len(rows), dtype=np.int64)
    begin = 0
    for label in np.unique(code):
        members = np.flatnonzero(code == label)
        part[members[rng.permutation(len(members))]] = (begin + np.arange(len(members))) % n_folds
        begin += len(members)
    folds = []
    for fold in range(n_folds):
        validate = np.minimum(np.bincount(rows[part == fold], weights=share[part == fold], minlength=m), 1.0)
        folds.append(Fold(train=np.clip(1.0 - validate, 0.0, 1.0), validate=validate))
    return folds
