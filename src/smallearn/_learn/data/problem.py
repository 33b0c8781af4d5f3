"""Validated training data: encoded classes, weights, and the mean and scale that standardise the columns."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from smallearn._learn.data.blocks import Labels, Rows, make_rows
from smallearn._learn.data.literal_rows import LiteralRows, literal_moments
from smallearn._learn.data.literals import EQUALS, Candidates, dense_candidates, only_raw, sparse_candidates
from smallearn._learn.parameters import check_class_weight

# Beyond these a float64 can no longer hold the difference of two values, or the inverse of a scale.
LARGEST, SMALLEST = 1e300, 1e-300
# Without standardising, squares of the columns enter the curvature.
LARGEST_RAW = 1e100
MOST_CATEGORIES = 200  # that k-means looks at
EPSILON = float(np.finfo(float).eps)


@dataclass(frozen=True)
class Problem:
    """The rows that count (those of weight 0 are gone), with classes as codes 0, 1, … in the order of ``classes``.

    A solver's columns are the ``candidates``, raw features and literals, standardised by ``mean`` and ``inverse``.
    """

    X: Any
    """The features that are numbers, gaps filled by their mean; where sparse, with a second half for presence."""
    bins: np.ndarray
    candidates: Candidates
    n_features: int
    code: np.ndarray
    classes: np.ndarray
    sample_weight: np.ndarray
    loss_weight: np.ndarray
    mean: np.ndarray
    inverse: np.ndarray
    """The inverse of the scale; 0 for a constant column, which is thereby out of the game."""
    centre: np.ndarray
    """The mean of each column of X, also where ``mean`` is 0 because nothing is to be standardised."""
    width: np.ndarray
    """The inverse scale of each column of X."""
    numbers: np.ndarray
    """The feature that is in each column of X; columns of presence come behind and have none."""
    has_gaps: bool
    """Whether a value was missing in any row."""

    @property
    def constant(self) -> np.ndarray:
        """Which candidates do not vary."""
        return self.inverse == 0.0

    def extents(self, features: list[int]) -> list[tuple[int, float, float]]:
        """``(feature, low, high)`` over the rows, of those features that are numbers."""
        place = {int(feature): a for a, feature in enumerate(self.numbers)}
        known = [feature for feature in features if feature in place]
        low, high = _extent(self.X[:, [place[feature] for feature in known]]) if known else ((), ())
        return [(feature, float(a), float(b)) for feature, a, b in zip(known, low, high, strict=True)]

    def take(self, share: np.ndarray) -> "Problem":
        """The same problem with a share of each row's weight (m, from 0 to 1), standardised as before."""
        index = np.flatnonzero(share > 1e-12)
        weights = {name: getattr(self, name)[index] * share[index] for name in ("sample_weight", "loss_weight")}
        return replace(self, X=self.X[index], bins=self.bins[index], code=self.code[index], **weights)

    def rows(self, owner: int | None, constant: bool, n_jobs: int) -> Rows:
        """The rows as a solver sees them, where class ``owner`` of two owns the prototypes, or every class (None)."""
        zero_owner = None if owner is None else 1 - owner
        total = float(self.loss_weight.sum())
        labels = Labels(self.code, self.loss_weight / total, total, zero_owner)
        if sparse.issparse(self.X) or len(self.candidates) == self.candidates.n_raw == self.X.shape[1]:
            return make_rows(self.X, self.mean, self.inverse, constant, labels, n_jobs)
        raw = self.X[:, : self.candidates.n_raw]
        return LiteralRows(raw, self.bins, self.candidates, self.mean, self.inverse, constant, labels, n_jobs)

    def centred_rows(self) -> Rows:
        """The numbers about their mean, for k-means: distances between points far from zero would drown in rounding.
        Of a table's categories, the most even ones."""
        labels = Labels(self.code, self.sample_weight / self.sample_weight.sum(), 1.0, None)
        numbers = make_rows(self.X, self.centre, self.width, False, labels, 1)
        kind = np.array(self.candidates.kind)
        named = np.flatnonzero((kind == EQUALS) & (self.inverse > 0.0))
        if len(named) == 0:
            return numbers
        named = np.sort(named[np.argsort(self.inverse[named], kind="stable")[:MOST_CATEGORIES]])
        both = np.hstack([numbers.columns(np.arange(self.X.shape[1])), self.rows(None, False, 1).columns(named)])
        return make_rows(both, np.zeros(both.shape[1]), np.ones(both.shape[1]), False, labels, 1)

    def to_raw_units(self, W: np.ndarray, constant: bool) -> tuple[np.ndarray, np.ndarray]:
        """``w_raw = w/scale`` and ``b_raw = b - Σ w·mean/scale``: the standardisation folded into the weights."""
        n = len(self.candidates)
        weights = W[:, :n] * self.inverse
        intercepts = W[:, n] if constant else np.zeros(len(W))
        return weights, intercepts - np.sum(weights * self.mean, axis=1)


def build_problem(
    X, y, sample_weight, class_weight, standardize: bool, literals: str = "raw", cut_points=0, categories=None
) -> Problem:
    """From validated arrays: drop rows without weight, encode the classes, weigh them, list the candidate terms, find
    mean and scale. ``literals`` is "raw", "thresholds", "both", or "any": all that one of these would have."""
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
    weight = sample_weight / sample_weight.sum()
    n_features = X.shape[1]
    columns, numbers, bins, candidates = _candidates(X, sample_weight, literals, cut_points, categories or {})
    centre, width = _standardisation(columns, weight, standardize)
    mean, inverse = centre, width
    if len(candidates) > candidates.n_raw and not sparse.issparse(columns):
        share, deviation = literal_moments(bins, weight, candidates)
        varies = deviation > 10.0 * EPSILON
        scale = np.where(varies, 1.0 / np.where(varies, deviation, 1.0), 0.0) if standardize else varies.astype(float)
        mean = np.concatenate([centre[: candidates.n_raw], share])
        inverse = np.concatenate([width[: candidates.n_raw], scale])
    if not standardize:
        mean = np.zeros(len(mean))
    code = code.astype(np.int64)
    return Problem(
        columns,
        bins,
        candidates,
        n_features,
        code,
        classes,
        sample_weight,
        loss_weight,
        mean,
        inverse,
        centre,
        width,
        numbers,
        bool(not sparse.issparse(X) and np.isnan(X).any()),
    )


def _candidates(X, weight, literals, cut_points, categories) -> tuple[Any, np.ndarray, np.ndarray, Candidates]:
    """The columns of numbers with their gaps filled and which features they are, the bins of the features with
    literals, and the list of candidate terms."""
    none = np.empty((X.shape[0], 0), dtype=np.uint8)
    every = np.arange(X.shape[1])
    if sparse.issparse(X):
        X = _tidy(X)
        if literals == "raw":
            return X, every, none, only_raw(X.shape[1])
        present = sparse.csr_array(((X.data > 0.0).astype(X.dtype), X.indices, X.indptr), shape=X.shape)
        raw = literals != "thresholds"
        joined = _tidy(sparse.hstack([X, present], format="csr")) if raw else present
        return joined, every if raw else every[:0], none, sparse_candidates(X.shape[1], raw)
    if literals == "raw" and not categories:
        return X, every, none, only_raw(X.shape[1])
    cuts = {} if literals == "raw" else cut_points
    candidates, bins = dense_candidates(X, weight, literals != "thresholds", cuts, categories, literals == "any")
    if not len(candidates):
        raise ValueError("There is no candidate term: no column of X takes two values that a cut point parts.")
    numbers = np.array([l for l in range(X.shape[1]) if l not in categories], dtype=np.int64)
    filled = np.ascontiguousarray(X[:, numbers])
    gaps = np.isnan(filled)
    if gaps.any():
        filled = filled.copy()
        for l in np.flatnonzero(gaps.any(axis=0)):
            filled[gaps[:, l], l] = _ordered_mean(filled[~gaps[:, l], l], weight[~gaps[:, l]])
    return filled, numbers, bins, candidates


def _ordered_mean(x: np.ndarray, weight: np.ndarray) -> float:
    """Summed value by value, in upward order: what fills a gap is then the same bit for bit whatever the order of the
    rows, and whether a row stands there twice or weighs double."""
    values, place = np.unique(x, return_inverse=True)
    mass = np.bincount(place, weights=weight)
    return float(np.sum(values * (mass / mass.sum()))) if len(x) else 0.0


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
