"""Validated training data: encoded classes, weights, candidate terms, and the scaling that standardises the columns."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from smallearn._learn import kernels
from smallearn._learn.data.blocks import Scaling, TrainingRows, in_memory, make_rows, read_only
from smallearn._learn.data.labels import Labels, class_codes
from smallearn._learn.data.literal_rows import LiteralMasses, LiteralRows, literal_masses, literal_moments
from smallearn._learn.data.literals import EQUALS, Candidates, dense_candidates, only_raw, sparse_candidates
from smallearn._learn.data_parameters import check_class_weight

# Beyond these a float64 can no longer hold the difference of two values, or the inverse of a scale.
LARGEST, SMALLEST = 1e300, 1e-300
# Without standardising, squares of the columns enter the curvature.
LARGEST_RAW = 1e100
CHUNK_ENTRIES = 1 << 18  # numbers that are added up before their sum is added to the others
KMEANS_CATEGORIES = 200  # literals of categories, at most, that k-means uses
EPSILON = float(np.finfo(float).eps)


class Extents(NamedTuple):
    """The least and the greatest value of each column, and its weighted mean."""

    low: np.ndarray
    high: np.ndarray
    mean: np.ndarray


@dataclass(frozen=True)
class Problem:
    """The rows of positive weight, with classes as codes 0, 1, … in the order of ``classes``.

    A solver's columns are the ``candidates`` (raw features and literals), standardised by ``scaling``.
    """

    X: Any
    """The numeric features, missing values filled by the mean; if sparse, then a second half: which are above 0."""
    bins: np.ndarray
    candidates: Candidates
    n_features: int
    code: np.ndarray
    classes: np.ndarray
    sample_weight: np.ndarray
    loss_weight: np.ndarray
    class_weight: np.ndarray
    """Of each class, in ``loss_weight``."""
    scaling: Scaling
    """Of the candidate terms. Those that do not vary have inverse scale 0 and are never selected."""
    column_scaling: Scaling
    """Of the columns of X. Its mean is that of the data even if nothing is to be standardised."""
    column_extents: Extents
    """Of the columns of X, over all rows that the scaling is from."""
    column_feature: np.ndarray
    """The feature in each of the first columns of X. Columns that say which values are above 0 have none."""
    has_gaps: bool
    """Whether a value is missing in any row."""
    total: float | None = None
    """What the loss weights of all rows sum to, if these are only some of them; None: they are all."""
    all_rows: int | None = None
    """The number of rows that the model is about, if these are only some of them; None: they are all."""

    @property
    def n_rows(self) -> int:
        """The number of rows that the model is about."""
        return len(self.code) if self.all_rows is None else self.all_rows

    @property
    def class_offsets(self) -> np.ndarray:
        """What the weight of each class adds to its scores, in log-odds; nothing if a class has no weight."""
        return np.log(self.class_weight) if self.class_weight.min() > 0.0 else np.zeros(len(self.class_weight))

    def extents(self, features: list[int]) -> list[tuple[int, float, float]]:
        """``(feature, low, high)`` for those features that are numeric."""
        column = {int(feature): a for a, feature in enumerate(self.column_feature)}
        low, high, _ = self.column_extents
        numeric = [feature for feature in features if feature in column]
        return [(feature, float(low[column[feature]]), float(high[column[feature]])) for feature in numeric]

    def take(self, rows: np.ndarray, share: np.ndarray) -> "Problem":
        """The same problem with some of the rows and a share of the weight of each, standardised as before."""
        return replace(
            self,
            X=self.X[rows],
            bins=self.bins[rows],
            code=self.code[rows],
            sample_weight=self.sample_weight[rows] * share,
            loss_weight=self.loss_weight[rows] * share,
        )

    @cached_property
    def shares(self) -> tuple[np.ndarray, np.ndarray]:
        """The share of each row in the total of `sample_weight`, and in that of `loss_weight`."""
        # All rows may belong to a class of weight 0.
        by_class = self.loss_weight if self.loss_weight.any() else self.sample_weight
        return self.sample_weight / self.sample_weight.sum(), by_class / by_class.sum()

    def rows(self, owner: int | None, intercept: bool, n_jobs: int) -> TrainingRows:
        """The rows for training. Class ``owner`` of two owns the prototypes, or every class does (None)."""
        total = float(self.loss_weight.sum()) if self.total is None else self.total
        zero_owner = None if owner is None else 1 - owner
        labels = Labels(code=self.code, weight=self.loss_weight / total, total=total, zero_owner=zero_owner)
        if sparse.issparse(self.X) or len(self.candidates) == self.candidates.n_raw == self.X.shape[1]:
            return make_rows(self.X, self.scaling, intercept=intercept, labels=labels, n_jobs=n_jobs)
        raw = self.X[:, : self.candidates.n_raw]
        return LiteralRows(
            raw, self.bins, self.candidates, self.scaling, intercept=intercept, labels=labels, n_jobs=n_jobs
        )

    def centred_rows(self) -> TrainingRows:
        """The numeric columns about their mean, and the most even literals of categories: the rows for k-means.

        Without centring, distances between points far from zero would be lost to rounding.
        """
        weight = self.sample_weight / self.sample_weight.sum()
        labels = Labels(code=self.code, weight=weight, total=1.0, zero_owner=None)
        numeric = make_rows(self.X, self.column_scaling, intercept=False, labels=labels, n_jobs=1)
        inverse_scale = self.scaling.inverse_scale
        categories = np.flatnonzero((np.array(self.candidates.kind) == EQUALS) & (inverse_scale > 0.0))
        if len(categories) == 0:
            return numeric
        most_even = np.argsort(inverse_scale[categories], kind="stable")[:KMEANS_CATEGORIES]
        categories = np.sort(categories[most_even])
        columns = [numeric.columns(np.arange(self.X.shape[1])), self.rows(None, False, 1).columns(categories)]
        return in_memory(np.hstack(columns), labels)

    def to_raw_units(self, W: np.ndarray, intercept: bool) -> tuple[np.ndarray, np.ndarray]:
        """Weights and constants in raw units, ``w_raw = w/scale`` and ``b_raw = b - Σ w·mean/scale``."""
        n = len(self.candidates)
        weights = W[:, :n] * self.scaling.inverse_scale
        intercepts = W[:, n] if intercept else np.zeros(len(W))
        return weights, intercepts - np.sum(weights * self.scaling.mean, axis=1)


def build_problem(
    X: Any,
    y: np.ndarray,
    sample_weight: np.ndarray,
    *,
    class_weight: Any = None,
    standardize: bool = True,
    literals: str = "raw",
    cut_points: int | Mapping[int, Sequence[float]] = 0,
    categories: Mapping[int, Sequence[Any]] | None = None,
) -> Problem:
    """From validated arrays: drop rows without weight, encode and weigh the classes, list the candidate terms, and find
    the scaling. ``literals`` is "raw", "thresholds", "both", or "any": all that one of these would have."""
    kept = sample_weight > 0.0
    if not kept.all():
        X, y, sample_weight = X[kept], y[kept], sample_weight[kept]
    classes, code = class_codes(y)
    if len(classes) < 2:
        label = classes.tolist()[0]
        raise ValueError(f"y has one class, {label!r}, among the rows of positive weight; two classes are needed.")
    with np.errstate(over="ignore", invalid="ignore"):
        by_class = class_weights(class_weight, classes, np.bincount(code, weights=sample_weight))
        loss_weight = sample_weight * by_class[code]
        totals = sample_weight.sum(), loss_weight.sum()
    if not all(0.0 < total < np.inf for total in totals):
        raise ValueError(
            f"sample_weight sums to {totals[0]:g}, and times class_weight to {totals[1]:g}; both sums must be positive "
            "and finite."
        )
    weight = sample_weight / sample_weight.sum()
    terms = _terms(X, sample_weight, literals, cut_points, categories or {})
    column_extents = extents_of(terms.columns, weight)
    of_columns = column_scaling(
        column_extents, terms.column_feature, standardize, partial(_deviation, terms.columns, weight)
    )
    return Problem(
        X=terms.columns,
        bins=terms.bins,
        candidates=terms.candidates,
        n_features=X.shape[1],
        code=code,
        classes=classes,
        sample_weight=sample_weight,
        loss_weight=loss_weight,
        class_weight=by_class,
        scaling=_candidate_scaling(terms, of_columns, weight, standardize),
        column_scaling=of_columns,
        column_extents=column_extents,
        column_feature=terms.column_feature,
        has_gaps=literals != "raw" and has_gaps(X),
    )


class _Terms(NamedTuple):
    """Numeric columns, nothing missing, the feature of each, the bins of features with literals, and the terms."""

    columns: Any
    column_feature: np.ndarray
    bins: np.ndarray
    candidates: Candidates


def _terms(X: Any, weight: np.ndarray, literals: str, cut_points, categories: Mapping) -> _Terms:
    """The candidate terms and the columns that they are computed from."""
    no_bins = np.empty((X.shape[0], 0), dtype=np.uint8)
    features = np.arange(X.shape[1])
    raw = literals != "thresholds"
    if sparse.issparse(X):
        X = canonical(X)
    if literals == "raw" and (sparse.issparse(X) or not categories):
        return _Terms(columns=X, column_feature=features, bins=no_bins, candidates=only_raw(X.shape[1]))
    if sparse.issparse(X):
        return _Terms(
            columns=sparse_columns(X, raw),
            column_feature=features if raw else features[:0],
            bins=no_bins,
            candidates=sparse_candidates(X.shape[1], raw),
        )
    cuts = {} if literals == "raw" else cut_points
    candidates, bins = dense_candidates(
        X, weight, raw=raw, cut_points=cuts, categories=categories, twins=literals == "any"
    )
    check_candidates(candidates)
    numeric = np.array([l for l in features if l not in categories], dtype=np.int64)
    columns = np.ascontiguousarray(X[:, numeric]) if categories else X
    return _Terms(columns=_filled(columns, weight), column_feature=numeric, bins=bins, candidates=candidates)


def check_candidates(candidates: Candidates) -> None:
    """Refuse data without a candidate term."""
    if not len(candidates):
        raise ValueError(
            "There is no candidate term: no column of X has two values with a cut point between them. Give other "
            "cut_points, or set literals='both'."
        )


def sparse_columns(X: Any, raw: bool) -> Any:
    """Which values of a CSR matrix are above 0, after the values themselves or instead of them."""
    present = sparse.csr_array(((X.data > 0.0).astype(X.dtype), X.indices, X.indptr), shape=X.shape)
    return canonical(sparse.hstack([X, present], format="csr")) if raw else present


def _filled(X: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """The columns with the mean in place of missing values; ``X`` itself if there are none."""
    if not has_gaps(X):
        return X
    filled = X.copy()
    for l in np.flatnonzero(np.isnan(X.min(axis=0))):
        gaps = np.isnan(X[:, l])
        filled[gaps, l] = _ordered_mean(X[~gaps, l], weight[~gaps])
    return filled


def _candidate_scaling(terms: _Terms, columns: Scaling, weight: np.ndarray, standardize: bool) -> Scaling:
    """The scaling of the candidate terms, from that of the columns and the moments of the literals."""
    candidates = terms.candidates
    if len(candidates) == candidates.n_raw or sparse.issparse(terms.columns):
        return candidate_scaling(columns, standardize)
    masses = literal_masses(terms.bins, weight, candidates)._replace(weight=1.0)  # which they sum to, but for rounding
    return candidate_scaling(columns, standardize, candidates, masses)


def candidate_scaling(
    columns: Scaling, standardize: bool, candidates: Candidates | None = None, masses: LiteralMasses | None = None
) -> Scaling:
    """The scaling of the columns, followed by that of the literals if there are any."""
    mean, inverse_scale = columns
    if candidates is not None and masses is not None:
        share, deviation = literal_moments(masses, candidates)
        varies = deviation > 10.0 * EPSILON
        scale = np.where(varies, 1.0 / np.where(varies, deviation, 1.0), 0.0) if standardize else varies.astype(float)
        mean = np.concatenate([mean[: candidates.n_raw], share])
        inverse_scale = np.concatenate([inverse_scale[: candidates.n_raw], scale])
    return Scaling(mean=mean if standardize else np.zeros(len(mean)), inverse_scale=inverse_scale)


def has_gaps(X: Any) -> bool:
    """Whether an array has NaN, without an array of booleans; a sparse matrix has none."""
    return bool(not sparse.issparse(X) and X.size and np.isnan(X.min()))


def _ordered_mean(x: np.ndarray, weight: np.ndarray) -> float:
    """The mean, summed value by value in ascending order: the same to the last bit for any order of the rows, and
    whether a row occurs twice or has weight 2."""
    values, position = np.unique(x, return_inverse=True)
    mass = np.bincount(position, weights=weight)
    return float(np.sum(values * (mass / mass.sum()))) if len(x) else 0.0


def class_weights(class_weight: Any, classes: np.ndarray, mass: np.ndarray) -> np.ndarray:
    """One weight for each class, of which ``mass`` is the weight of its rows: "balanced" counts rows by weight, so
    that weight 2 equals the row twice."""
    weights = check_class_weight(class_weight, classes.tolist())
    return mass.sum() / (len(classes) * mass) if weights is None else weights


def canonical(X: Any) -> Any:
    """CSR with 32-bit indices where they fit (one compiled kernel for all) and no entry stored twice."""
    X = X.tocsr()
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    if X.indices.dtype != np.int32 and max(X.nnz, X.shape[1]) < np.iinfo(np.int32).max:
        X = sparse.csr_array((X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32)), shape=X.shape)
    return X


def column_scaling(
    extents: Extents, feature: np.ndarray, standardize: bool, deviation: Callable[[np.ndarray, np.ndarray], np.ndarray]
) -> Scaling:
    """Mean and inverse scale (population standard deviation, or 1) of each column.

    ``deviation`` is asked for the standard deviations, given the means and a unit for each column.
    """
    low, high, mean = extents
    peak = np.maximum(np.abs(low), np.abs(high))
    limit = LARGEST if standardize else LARGEST_RAW
    if np.any(peak > limit):
        column = int(np.argmax(peak))
        raise ValueError(
            f"Column {feature[column]} has values up to {peak[column]:.3g}, beyond {limit:.0e}"
            + ("; rescale it." if standardize else ", too large to use as it is: rescale it or set standardize=True.")
        )
    if not standardize:
        return Scaling(mean=mean, inverse_scale=np.ones(len(mean)))
    # Squares are taken in units of a power of two near the largest value: exact, and none can overflow.
    unit = np.exp2(np.floor(np.log2(np.maximum(peak, SMALLEST))))
    spread = deviation(mean, unit)
    varies = (low < high) & (spread > 10.0 * EPSILON) & (spread * unit > SMALLEST)
    inverse_scale = np.where(varies, 1.0 / np.where(varies, spread * unit, 1.0), 0.0)
    return Scaling(mean=mean, inverse_scale=inverse_scale)


def extents_of(X: Any, weight: np.ndarray) -> Extents:
    """Extents and means of the columns, in one pass."""
    n = X.shape[1]
    if sparse.issparse(X):
        low, high = (bound(axis=0).toarray().astype(float).ravel() for bound in (X.min, X.max))
        entry_weight = np.repeat(weight, np.diff(X.indptr))
        return Extents(low=low, high=high, mean=np.bincount(X.indices, weights=entry_weight * X.data, minlength=n))
    low, high = np.full(n, np.inf), np.full(n, -np.inf)
    mean = np.zeros(n)
    for rows, share in chunks(X, weight):
        total = np.zeros(n)
        kernels.column_extents(rows, share, low, high, total)
        mean += total
    return Extents(low=low, high=high, mean=mean)


def _deviation(X: Any, weight: np.ndarray, mean: np.ndarray, unit: np.ndarray) -> np.ndarray:
    """The weighted standard deviation of each column, in its unit; the weights sum to 1."""
    return np.sqrt(sum_squares(X, weight, 1.0, mean, unit))


def sum_squares(X: Any, weight: np.ndarray, total: float, mean: np.ndarray, unit: np.ndarray) -> np.ndarray:
    """The weighted sum of squares of each column about ``mean``, in its unit; ``total`` is the sum of the weights."""
    n = X.shape[1]
    if sparse.issparse(X):
        entry_weight = np.repeat(weight, np.diff(X.indptr))
        stored = np.bincount(X.indices, weights=entry_weight, minlength=n)
        centred = (X.data - mean[X.indices]) / unit[X.indices]
        square = np.bincount(X.indices, weights=entry_weight * centred * centred, minlength=n)
        return square + np.maximum(total - stored, 0.0) * (mean / unit) ** 2
    square = np.zeros(n)
    for rows, share in chunks(X, weight):
        part = np.zeros(n)
        kernels.column_squares(rows, share, mean, 1.0 / unit, part)
        square += part
    return square


def chunks(X: np.ndarray, weight: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """The rows with their weights, some at a time: sums of sums keep more digits than one long sum."""
    step = max(64, CHUNK_ENTRIES // max(1, X.shape[1]))
    for begin in range(0, len(X), step):
        yield read_only(X[begin : begin + step]), weight[begin : begin + step]
