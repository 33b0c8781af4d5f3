"""Validated training data: encoded classes, weights, and the mean and scale that standardise the columns."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from smallearn.blocks import Labels, Rows, make_rows
from smallearn.parameters import check_class_weight

# Beyond these a float64 can no longer hold the difference of two values, or the inverse of a scale.
LARGEST, SMALLEST = 1e300, 1e-300
# Without standardising, squares of the columns enter the curvature.
LARGEST_RAW = 1e100
EPSILON = float(np.finfo(float).eps)


@dataclass(frozen=True)
class Problem:
    """The rows that count (those of weight 0 are gone), with classes as codes 0, 1, … in the order of ``classes``."""

    X: Any
    code: np.ndarray
    classes: np.ndarray
    sample_weight: np.ndarray
    loss_weight: np.ndarray
    mean: np.ndarray
    inverse: np.ndarray
    """The inverse of the scale; 0 for a constant column, which is thereby out of the game."""
    centre: np.ndarray
    """The mean of each column, also where ``mean`` is 0 because nothing is to be standardised."""

    def rows(self, zero_owner: int, constant: bool, n_jobs: int) -> Rows:
        """The rows as a solver sees them, where class ``zero_owner`` (-1: none) owns the prototype frozen at zero."""
        total = float(self.loss_weight.sum())
        labels = Labels(self.code, self.loss_weight / total, total, zero_owner)
        return make_rows(self.X, self.mean, self.inverse, constant, labels, n_jobs)

    def centred_rows(self) -> Rows:
        """The rows about their mean, for k-means: distances between points far from zero would drown in rounding."""
        labels = Labels(self.code, self.sample_weight / self.sample_weight.sum(), 1.0, -1)
        return make_rows(self.X, self.centre, self.inverse, False, labels, 1)

    def to_raw_units(self, W: np.ndarray, constant: bool) -> tuple[np.ndarray, np.ndarray]:
        """``w_raw = w/scale`` and ``b_raw = b - Σ w·mean/scale``: the standardisation folded into the weights."""
        n = self.X.shape[1]
        weights = W[:, :n] * self.inverse
        intercepts = W[:, n] if constant else np.zeros(len(W))
        return weights, intercepts - np.sum(weights * self.mean, axis=1)


def build_problem(X, y, sample_weight, class_weight, standardize: bool) -> Problem:
    """From validated arrays: drop rows without weight, encode the classes, weigh them, find mean and scale."""
    kept = sample_weight > 0.0
    if not kept.all():
        X, y, sample_weight = X[kept], y[kept], sample_weight[kept]
    classes, code = np.unique(y, return_inverse=True)
    if len(classes) < 2:
        label = classes.tolist()[0]
        raise ValueError(f"y has one class, {label!r}, among the rows of positive weight; two classes are needed.")
    with np.errstate(over="ignore", invalid="ignore"):
        loss_weight = sample_weight * _class_weights(class_weight, classes, code, sample_weight)[code]
        totals = sample_weight.sum(), loss_weight.sum()
    if not all(0.0 < total < np.inf for total in totals):
        raise ValueError(
            f"sample_weight sums to {totals[0]:g}, and times class_weight to {totals[1]:g}; both sums must be positive "
            "and finite."
        )
    if sparse.issparse(X):
        X = _tidy(X)
    centre, inverse = _standardisation(X, sample_weight / sample_weight.sum(), standardize)
    mean = centre if standardize else np.zeros(X.shape[1])
    return Problem(X, code.astype(np.int64), classes, sample_weight, loss_weight, mean, inverse, centre)


def _class_weights(class_weight, classes, code, sample_weight) -> np.ndarray:
    """One weight per class. "balanced" counts rows by their weight, so that weight 2 equals the row twice."""
    weights = check_class_weight(class_weight, classes.tolist())
    if weights is None:
        mass = np.bincount(code, weights=sample_weight)
        weights = mass.sum() / (len(classes) * mass)
    return weights


def _tidy(X):
    """CSR with 32-bit indices where they fit (one compiled kernel for all) and no entry stored twice."""
    X = X.tocsr()
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    if X.indices.dtype != np.int32 and max(X.nnz, X.shape[1]) < np.iinfo(np.int32).max:
        X = sparse.csr_array((X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32)), shape=X.shape)
    return X


def _standardisation(X, weight, standardize) -> tuple[np.ndarray, np.ndarray]:
    """Mean and inverse scale (population standard deviation, or 1) of each column, without a copy of X."""
    low, high = _extent(X)
    peak = np.maximum(np.abs(low), np.abs(high))
    limit = LARGEST if standardize else LARGEST_RAW
    if np.any(peak > limit):
        column = int(np.argmax(peak))
        raise ValueError(
            f"Column {column} has values up to {peak[column]:.3g}, beyond {limit:.0e}"
            + ("; rescale it." if standardize else ", too large to use as it is: rescale it or set standardize=True.")
        )
    # Moments are taken in units of a power of two near the largest value: exact, and no square can overflow.
    unit = np.exp2(np.floor(np.log2(np.where(peak > 0.0, peak, 1.0))))
    mean, deviation = _moments(X, weight, unit)
    if not standardize:
        return mean * unit, np.ones(X.shape[1])
    varies = (low < high) & (deviation > 10.0 * EPSILON) & (deviation * unit > SMALLEST)
    inverse = np.where(varies, 1.0 / np.where(varies, deviation * unit, 1.0), 0.0)
    return mean * unit, inverse


def _extent(X) -> tuple[np.ndarray, np.ndarray]:
    if sparse.issparse(X):
        low, high = (bound(axis=0).toarray().astype(float).ravel() for bound in (X.min, X.max))
        return low, high
    return X.min(axis=0).astype(float), X.max(axis=0).astype(float)


def _moments(X, weight, unit) -> tuple[np.ndarray, np.ndarray]:
    """Weighted mean and standard deviation of the columns of ``X / unit``, in two passes."""
    m, n = X.shape
    if sparse.issparse(X):
        scaled = X.data / unit[X.indices]
        entry_weight = np.repeat(weight, np.diff(X.indptr))
        mean = np.bincount(X.indices, weights=entry_weight * scaled, minlength=n)
        stored = np.bincount(X.indices, weights=entry_weight, minlength=n)
        centred = scaled - mean[X.indices]
        square = np.bincount(X.indices, weights=entry_weight * centred * centred, minlength=n)
        return mean, np.sqrt(square + np.maximum(1.0 - stored, 0.0) * mean * mean)
    step = max(64, (1 << 18) // max(1, n))
    chunks = [slice(begin, begin + step) for begin in range(0, m, step)]
    mean = sum(np.einsum("i,il->l", weight[chunk], X[chunk] / unit) for chunk in chunks)
    square = sum(np.einsum("i,il->l", weight[chunk], (X[chunk] / unit - mean) ** 2) for chunk in chunks)
    return mean, np.sqrt(square)
