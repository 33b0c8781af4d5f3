"""Cross-validation by weights: what each row weighs in training and in validation, fold by fold.

The parts are drawn from the rows in an order that does not depend on theirs, unit of weight by unit of weight, so that
a row of weight 2 is dealt out as two equal rows would be.
"""

from dataclasses import dataclass

import numpy as np
from scipy import sparse
from sklearn.model_selection import check_cv

from smallearn.problem import Problem

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
    counted = weight if _whole(weight) else np.ones(len(weight))
    by_class = np.bincount(problem.code, weights=counted)
    fewest = int(by_class.min())
    if fewest < 2:
        label = problem.classes.tolist()[int(by_class.argmin())]
        raise ValueError(f"Class {label!r} has {fewest} row; cross-validation needs two of each class at least.")
    count = min(5 if cv is None else int(cv), fewest)
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


def _whole(weight: np.ndarray) -> bool:
    return bool(np.all(weight == np.floor(weight)) and weight.sum() <= MOST_UNITS)


def _units(problem: Problem) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Units of weight in a canonical order: the class of each, the row it belongs to, and its share of that row."""
    m = len(problem.code)
    first = np.argsort(_content(problem), kind="stable")
    first = first[np.argsort(problem.code[first], kind="stable")]
    times = (
        problem.sample_weight[first].astype(np.int64) if _whole(problem.sample_weight) else np.ones(m, dtype=np.int64)
    )
    rows = np.repeat(first, times)
    return problem.code[rows], rows, 1.0 / np.repeat(times, times)


def _content(problem: Problem) -> np.ndarray:
    """A number for each row, the same for rows that are equal and ordered by what is in them, not by where they are."""
    if sparse.issparse(problem.X):
        X = problem.X
        edges = zip(X.indptr[:-1], X.indptr[1:], strict=True)
        keys = [X.indices[a:b].tobytes() + b"|" + X.data[a:b].tobytes() for a, b in edges]
        return np.unique(np.array(keys, dtype=object), return_inverse=True)[1]
    content = np.hstack([problem.X, problem.bins.astype(problem.X.dtype)]) if problem.bins.size else problem.X
    content = np.ascontiguousarray(content + 0.0)  # -0.0 is 0.0
    rows = content.view(np.dtype((np.void, content.dtype.itemsize * content.shape[1]))).ravel()
    return np.unique(rows, return_inverse=True)[1]


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
