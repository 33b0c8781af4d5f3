"""What rows are by their content: a hash of their values, how many rows each stands for, and samples drawn by both.

Nothing here depends on the order of the rows, nor on whether a row occurs twice or has weight 2.
"""

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from smallearn._learn import kernels
from smallearn._learn.data.blocks import read_only
from smallearn._learn.data.problem import Problem

MOST_UNITS = 10_000_000  # total weight up to which whole weights count rows
CHUNK_ROWS = 2048  # that are hashed at a time, so that they stay in the cache
RARE = 4  # a sample has at least 1/RARE of an equal share of each class
FEW_COLUMNS = 8  # that are hashed first for a sample …
DIFFERENT = 0.9  # … and are enough if this share of its rows differ in them
EVEN = 2.0  # a sample of a class that is so many times too small or too large is no sample


class Part(NamedTuple):
    """Some of the rows, and what their weights are multiplied by."""

    rows: np.ndarray
    share: np.ndarray


def counts_rows(weight: np.ndarray) -> bool:
    """Whether the weights count rows: if all are whole numbers, a row of weight 2 stands for two rows."""
    with np.errstate(over="ignore"):
        return bool(np.all(weight == np.floor(weight)) and weight.sum() <= MOST_UNITS)


def row_counts(weight: np.ndarray) -> np.ndarray:
    """How many rows each row stands for: its weight if the weights count rows, else 1."""
    return weight if counts_rows(weight) else np.ones(len(weight))


def sample_sizes(sizes: np.ndarray, most: int) -> np.ndarray:
    """How many rows of each class a sample of about ``most`` has: its share of them, but more of a rare class."""
    least = np.minimum(sizes, most // (RARE * np.count_nonzero(sizes)))
    return np.maximum(least, most * sizes // sizes.sum())


def sample_limits(sizes: np.ndarray, most: int) -> np.ndarray:
    """For each class of so many rows, the limit of `is_drawn` for a sample of about ``most`` rows of all classes."""
    return (sample_sizes(sizes, most) / np.maximum(sizes, 1) * 2.0**32).astype(np.uint64)


def is_drawn(hashes: np.ndarray, limit: np.ndarray, salt: int = 0) -> np.ndarray:
    """Whether each row is in a sample, by its hash and the limit of its class. Equal rows all are, or none.

    Samples with another ``salt`` are independent."""
    return _mix(hashes + np.uint64(salt)) >> np.uint64(32) < limit


def is_even(drawn: np.ndarray, wanted: np.ndarray) -> bool:
    """Whether a sample has about as many rows of each class as are wanted."""
    return not np.any((drawn < wanted / EVEN) | (drawn > EVEN * wanted))


def sample(problem: Problem, most: int) -> Part | None:
    """About ``most`` of the rows, in which each class keeps its weight; None if rows repeat too often for that.

    A row is drawn by its hash. That needs no sorting and no more than one pass over the data: the hash is of the first
    columns alone, if rows mostly differ in these.
    """
    counts = row_counts(problem.sample_weight)
    sizes = np.bincount(problem.code, weights=counts)
    limit = sample_limits(sizes, most)[problem.code]
    for n_columns in (FEW_COLUMNS, problem.X.shape[1]):
        hashes = hash_rows(problem, n_columns)
        rows = np.flatnonzero(is_drawn(hashes, limit))
        if len(np.unique(hashes[rows])) >= DIFFERENT * counts[rows].sum():
            break
    drawn = np.bincount(problem.code[rows], weights=counts[rows], minlength=len(sizes))
    if not is_even(drawn, sample_sizes(sizes, most)):
        return None
    return Part(rows=rows, share=(sizes / drawn)[problem.code[rows]])


def hash_rows(problem: Problem, n_columns: int | None = None) -> np.ndarray:
    """A hash of each row's values, which depends neither on the row's position nor on how the data are stored.

    With ``n_columns``, only the first columns of X count.
    """
    return hash_values(problem.X, n_columns, problem.bins)


def hash_values(X: Any, n_columns: int | None = None, bins: np.ndarray | None = None) -> np.ndarray:
    """A hash of each row of a matrix: the sum of a hash of each non-zero entry with its column. Integers that wrap
    around add up the same in any order. With ``bins``, these are further columns of dense rows."""
    if sparse.issparse(X):
        values = X.data.astype(np.float64, copy=False).view(np.uint64)
        counts = (X.data != 0.0) & (X.indices < (X.shape[1] if n_columns is None else n_columns))
        hashed = np.where(counts, _mix(values ^ _mix(X.indices.astype(np.uint64))), np.uint64(0))
        reached = np.concatenate([np.zeros(1, dtype=np.uint64), np.cumsum(hashed, dtype=np.uint64)])
        return reached[X.indptr[1:]] - reached[X.indptr[:-1]]
    X = X[:, :n_columns]
    n_bins = 0 if bins is None else bins.shape[1]
    keys = _mix(np.arange(X.shape[1] + n_bins, dtype=np.uint64))
    total = np.empty(X.shape[0], dtype=np.uint64)
    for begin in range(0, len(total), CHUNK_ROWS):
        rows = slice(begin, begin + CHUNK_ROWS)
        values = np.ascontiguousarray(X[rows]) if bins is None or not n_bins else np.hstack([X[rows], bins[rows]])
        kernels.hash_rows(read_only(values), keys, total[rows])
    return total


def hash_numbers(values: np.ndarray) -> np.ndarray:
    """A hash of each number."""
    return _mix(values.astype(np.float64, copy=False).view(np.uint64))


def _mix(bits: np.ndarray) -> np.ndarray:
    """The finaliser of SplitMix64, as `kernels.mix_bits`."""
    bits = bits + np.uint64(0x9E3779B97F4A7C15)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        bits ^= bits >> np.uint64(shift)
        bits *= np.uint64(factor)
    bits ^= bits >> np.uint64(31)
    return bits
