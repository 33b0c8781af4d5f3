"""Folds of cross-validation, and samples of their rows.

Rows are dealt and drawn in an order that depends on their content alone, one unit of weight at a time, so that a row of
weight 2 is treated exactly as two equal rows.
"""

import warnings
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from sklearn.model_selection import check_cv

from smallearn._learn.data.content import Part, counts_rows, hash_numbers, hash_rows, row_counts, sample_sizes
from smallearn._learn.data.problem import Problem

MANY_ROWS = 1000  # from here on the folds are not repeated
MOST_REPEATS = 3
DEFAULT_FOLDS = 5
GOLDEN = 0.6180339887498949  # multiples of it, modulo 1, are evenly spread


class Units(NamedTuple):
    """Units of weight in a canonical order, sorted by class: the class of each, the row that it belongs to, its share
    of that row, and its place in a random order, in which samples are drawn."""

    code: np.ndarray
    rows: np.ndarray
    share: np.ndarray
    place: np.ndarray


NO_UNITS = Units(*(np.empty(0, dtype=np.int64) for _ in range(4)))


@dataclass(frozen=True)
class Fold:
    """Which units of weight train, and which are held out. ``turn`` (from 0 to 1) is where a sample begins in the
    random order of the units: samples for different folds then have few rows in common."""

    units: Units
    trains: np.ndarray
    validates: np.ndarray
    turn: float

    def train(self, most: int | None = None) -> Part:
        """The rows to train on, or a sample of about ``most`` of them."""
        return draw(self.units, np.flatnonzero(self.trains), most, self.turn)

    def held_out(self, most: int | None = None) -> Part:
        """The held-out rows, or a sample of about ``most`` of them."""
        return draw(self.units, np.flatnonzero(self.validates), most, self.turn)


def draw(units: Units, chosen: np.ndarray, most: int | None, turn: float = 0.0) -> Part:
    """The rows of some units (ascending positions); if there are more than ``most``, of a random sample of them.

    Each class keeps its share of the sample and of the weight, but a rare one gets more units, of less weight each.
    """
    share = units.share[chosen]
    if most is not None and len(chosen) > most:
        code = units.code[chosen]
        sizes = np.bincount(code)
        count = sample_sizes(sizes, most)
        begin = np.concatenate([[0], np.cumsum(sizes)])
        by_class = [
            first + np.sort(np.argpartition(_turned(units.place[chosen[first:last]], turn), n - 1)[:n])
            for first, last, n in zip(begin[:-1], begin[1:], count, strict=True)
            if n
        ]
        kept = np.concatenate(by_class)
        share = share[kept] * (sizes / np.maximum(count, 1))[code[kept]]
        chosen = chosen[kept]
    rows = units.rows[chosen]
    first = np.flatnonzero(np.concatenate([[True], rows[1:] != rows[:-1]]))  # the units of a row are neighbours
    return Part(rows=rows[first], share=np.add.reduceat(share, first) if len(first) < len(rows) else share)


def _turned(place: np.ndarray, turn: float) -> np.ndarray:
    """The places, counted from a share ``turn`` of them on."""
    low, high = place.min(), place.max() + 1
    return (place - low - int(turn * (high - low))) % (high - low)


def make_folds(problem: Problem, cv: Any, kept: np.ndarray, rng: np.random.RandomState) -> list[Fold]:
    """The folds of the rows of a problem.

    ``cv`` is None (5 folds, repeated while the rows are few), a number of folds, or a splitter or iterable of
    (training, validation) indices as in scikit-learn. ``kept`` marks the rows of positive weight among the user's rows.
    """
    if cv is not None and not isinstance(cv, int | np.integer):
        return _user_folds(problem, cv, kept, rng)
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
    units = canonical_units(problem)
    return [fold for _ in range(repeats) for fold in _deal(shuffled(units, rng), n_folds)]


def _user_folds(problem: Problem, cv: Any, kept: np.ndarray, rng: np.random.RandomState) -> list[Fold]:
    """The folds of a splitter or an iterable, which index all rows, without the rows of weight 0."""
    y = np.zeros(len(kept), dtype=np.int64)
    y[kept] = problem.code
    every = np.arange(len(kept))
    units = shuffled(canonical_units(problem), rng)
    folds: list[Fold] = []
    for parts in check_cv(cv, y, classifier=True).split(np.zeros((len(kept), 1)), y):
        train, validate = (np.isin(every, every[part])[kept] for part in parts)
        lacking = set(range(len(problem.classes))) - set(problem.code[train].tolist())
        if lacking:
            label = problem.classes.tolist()[min(lacking)]
            raise ValueError(f"cv: fold {len(folds)} has no row of class {label!r} to train on.")
        if not validate.any():
            raise ValueError(f"cv: fold {len(folds)} has no held-out row.")
        folds.append(
            Fold(units=units, trains=train[units.rows], validates=validate[units.rows], turn=_turn(len(folds)))
        )
    if not folds:
        raise ValueError("cv has no folds; it needs at least one pair of (training, validation) indices.")
    return folds


def canonical_units(problem: Problem) -> Units:
    """The units of weight of all rows, in a canonical order that does not depend on that of the rows."""
    content = hash_rows(problem)
    if not counts_rows(problem.sample_weight):  # equal rows of different weight are different
        content += hash_numbers(problem.sample_weight)
    first = np.argsort(content, kind="stable")
    small = problem.code.astype(np.min_scalar_type(len(problem.classes)))  # a stable sort of small integers is quick
    first = first[np.argsort(small[first], kind="stable")]
    times = row_counts(problem.sample_weight)[first].astype(np.int64)
    rows = np.repeat(first, times)
    return Units(code=problem.code[rows], rows=rows, share=1.0 / np.repeat(times, times), place=np.arange(len(rows)))


def shuffled(units: Units, rng: np.random.RandomState) -> Units:
    """The units with new places, drawn class by class."""
    place = np.empty(len(units.rows), dtype=np.int64)
    begin = 0
    for size in np.bincount(units.code):
        place[begin + rng.permutation(size)] = begin + np.arange(size)
        begin += size
    return units._replace(place=place)


def _deal(units: Units, n_folds: int) -> list[Fold]:
    """Deal the shuffled units to the folds in turn."""
    part = units.place % n_folds
    return [Fold(units=units, trains=part != fold, validates=part == fold, turn=_turn(fold)) for fold in range(n_folds)]


def _turn(fold: int) -> float:
    """Where the samples of a fold begin: evenly spread over the units, however many folds there are."""
    return (fold * GOLDEN) % 1.0
