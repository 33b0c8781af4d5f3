"""What the methods share: what a fitted model tells, and one inner search for those that have none of their own.

The search: 5-fold stratified cross-validation of the accuracy, the best choice with at most T terms (ties go to the
smaller), and a final fit on all training rows. One run over the folds serves every T, because most methods give a whole
path of sizes in one fit.
"""

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import StandardScaler

FOLDS = 5
SIZES = (1, 2, 3, 4, 5, 6, 8, 10, 13, 16, 20, 25, 32)
WIDE = 1_000  # with more columns, a grid is smaller or a method is replaced by a faster one

Choice = tuple[int, Any]  # the number of terms, and the other parameters of the method


class Fitted(NamedTuple):
    """A fitted model: functions of rows, its size in both counts (None: not counted), and its bytes on a chip.

    ``probability`` has a column for each class. ``rows`` counts the rows of its card: distinct terms, whichever classes
    use them. ``weights`` counts every weight.
    """

    labels: Callable[[Any], np.ndarray]
    probability: Callable[[Any], np.ndarray]
    rows: int | None
    weights: int | None
    flash: Callable[[], int] | None = None


class Found(NamedTuple):
    """A model with at most ``terms`` terms, its score in the inner cross-validation, if any, and its CPU seconds."""

    terms: int
    model: Fitted
    validation: float | None
    seconds: float


class Method(ABC):
    """A method that fits models with at most T terms."""

    bounded = True
    count = "rows"  # which of its two counts is bounded
    on_chip = False  # whether its bytes can be measured
    by_bytes = False  # whether its bound is the bytes of a tree of at most that many splits, instead of terms

    @abstractmethod
    def fits(self, X, y, terms: Sequence[int], seed: int) -> Iterator[Found]:
        """A model with at most T terms for each T in ``terms``."""


class Searched(Method):
    """A method whose parameters are chosen by the inner search."""

    @abstractmethod
    def candidates(self, X, y, held, most: int, seed: int) -> dict[Choice, np.ndarray]:
        """For each choice with at most ``most`` terms, smaller ones first: probabilities of the held-out rows."""

    @abstractmethod
    def fit(self, X, y, choice: Choice, seed: int) -> Fitted:
        """The model of this choice."""

    def fits(self, X, y, terms: Sequence[int], seed: int) -> Iterator[Found]:
        """The seconds are those of the search, which all T share, plus those of the final fit."""
        start = time.process_time()
        scores = self._search(X, y, max(terms), seed)
        searched = time.process_time() - start
        made: dict[Choice, tuple[Fitted, float]] = {}
        for T in terms:
            choice = max((c for c in scores if c[0] <= T), key=scores.__getitem__)  # max keeps the first of equals
            if choice not in made:
                start = time.process_time()
                made[choice] = self.fit(X, y, choice, seed), time.process_time() - start
            fitted, seconds = made[choice]
            yield Found(T, fitted, scores[choice], searched + seconds)

    def _search(self, X, y, most: int, seed: int) -> dict[Choice, float]:
        folds = StratifiedKFold(min(FOLDS, np.bincount(y).min()), shuffle=True, random_state=seed)
        scores: dict[Choice, list[float]] = {}
        for train, held in folds.split(y[:, None], y):
            for choice, p in self.candidates(X[train], y[train], X[held], most, seed).items():
                scores.setdefault(choice, []).append(float(np.mean(p.argmax(axis=1) == y[held])))
        in_all = {choice: s for choice, s in scores.items() if len(s) == folds.n_splits}
        return {choice: float(np.mean(s)) for choice, s in sorted(in_all.items(), key=lambda item: item[0][0])}


class Standard:
    """Standardised columns without constant ones. With ``keep_sparse``, sparse rows stay sparse and are not centred."""

    def __init__(self, X, keep_sparse: bool = False):
        self.dense = not keep_sparse
        X = self._rows(X)
        self.scaler = StandardScaler(with_mean=not sparse.issparse(X)).fit(X)
        self.varying = np.flatnonzero(self.scaler.var_ > 1e-12)

    def __call__(self, X) -> Any:
        return self.scaler.transform(self._rows(X))[:, self.varying]

    def _rows(self, X) -> Any:
        return dense(X) if self.dense else X


def dense(X) -> np.ndarray:
    """Sparse rows as an ordinary array; there are few enough of them."""
    return X.toarray() if sparse.issparse(X) else X


def two_columns(p: np.ndarray) -> np.ndarray:
    """The probabilities of both classes, from those of the second."""
    return np.column_stack([1.0 - p, p])


def sizes_up_to(most: int) -> list[int]:
    """The sizes that are tried, up to and including ``most``."""
    return sorted({s for s in SIZES if s <= most} | {most})
