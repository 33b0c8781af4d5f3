"""What is known of all rows of a `Source`: candidate terms, scaling, classes and weights.

That takes a bounded number of passes: for classes, extents and means; for a sample of the rows, the *pool*, on which
models are chosen and which cut points are taken from; for the deviations; and for the literals.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from smallearn._learn.data.blocks import Scaling, running_sum
from smallearn._learn.data.content import (
    FEW_COLUMNS,
    MOST_UNITS,
    hash_numbers,
    hash_values,
    is_drawn,
    is_even,
    sample_limits,
    sample_sizes,
)
from smallearn._learn.data.literal_rows import LiteralMasses, literal_masses
from smallearn._learn.data.literals import (
    Candidates,
    Presence,
    count_presence,
    find_bins,
    list_candidates,
    only_raw,
    sparse_candidates,
)
from smallearn._learn.data.problem import (
    Extents,
    Problem,
    candidate_scaling,
    canonical,
    check_candidates,
    class_weights,
    column_scaling,
    extents_of,
    has_gaps,
    sparse_columns,
    sum_squares,
)
from smallearn._learn.data.source import Block, Source, join, pick

# How often rows may repeat on average for a sample by their hashes: those of the first columns, and of all.
FEW_REPEATS, MORE_REPEATS = 1.1, 8.0
SALT = 1  # of the pool, of which other samples are drawn
# Bits of means, deviations and the like, and of sums of weights: others depend on the order in which rows are added up.
STEADY_BITS, WEIGHT_BITS = 32, 40
BY_POSITION = 0  # in place of a number of columns: rows are drawn by their position


@dataclass(frozen=True)
class Summary:
    """What a `Problem` takes from all rows; the fields have the same names there."""

    n_rows: int
    candidates: Candidates
    n_features: int
    classes: np.ndarray
    class_weight: np.ndarray
    total: float
    scaling: Scaling
    column_scaling: Scaling
    column_extents: Extents
    column_feature: np.ndarray
    has_gaps: bool
    fill: np.ndarray
    """What replaces a missing value in each column of X."""
    is_sparse: bool

    def problem(self, block: Block) -> Problem:
        """Some of the rows."""
        if self.is_sparse:
            X, bins = canonical(block.X), np.empty((block.X.shape[0], 0), dtype=np.uint8)
            if len(self.candidates) > self.candidates.n_raw:
                X = sparse_columns(X, raw=self.candidates.n_raw > 0)
        else:
            every = len(self.column_feature) == block.X.shape[1]
            X = block.X if every else np.take(block.X, self.column_feature, axis=1)
            if self.has_gaps:
                X = fill_gaps(X, self.fill)
            bins = find_bins(block.X, self.candidates)
        return Problem(
            X=X,
            bins=bins,
            candidates=self.candidates,
            n_features=self.n_features,
            code=block.code,
            classes=self.classes,
            sample_weight=block.weight,
            loss_weight=block.weight * self.class_weight[block.code],
            class_weight=self.class_weight,
            scaling=self.scaling,
            column_scaling=self.column_scaling,
            column_extents=self.column_extents,
            column_feature=self.column_feature,
            has_gaps=self.has_gaps,
            total=self.total,
            all_rows=self.n_rows,
        )

    def steady(self) -> "Summary":
        """Without the last bits, which depend on the blocks that the rows were added up in. The choice of a model may
        hang on them; models are chosen with this one."""
        of_columns = steady_scaling(self.column_scaling)
        return replace(
            self,
            class_weight=steady(self.class_weight),
            scaling=steady_scaling(self.scaling),
            column_scaling=of_columns,
            fill=steady_scaling(self.column_scaling._replace(mean=self.fill)).mean,
        )

    def take(self, columns: np.ndarray) -> "Summary":
        """The same rows with some of the candidate terms, in ascending order. Dense rows only."""
        candidates = self.candidates.take(columns)
        place = np.searchsorted(self.column_feature, candidates.feature[: candidates.n_raw])
        return replace(
            self,
            candidates=candidates,
            scaling=self.scaling.take(columns),
            column_scaling=self.column_scaling.take(place),
            column_extents=Extents(*(bound[place] for bound in self.column_extents)),
            column_feature=self.column_feature[place],
            fill=self.fill[place],
        )


class Layout(NamedTuple):
    """Which columns are made of the features: those of ``column_feature``, and for sparse rows, with ``literals``,
    whether values are above 0."""

    column_feature: np.ndarray
    categories: Mapping[int, Sequence[Any]]
    literals: str

    def columns(self, X: Any) -> Any:
        """The columns of some rows; NaN is missing."""
        if sparse.issparse(X):
            X = canonical(X)
            return X if self.literals == "raw" else sparse_columns(X, raw=self.literals != "thresholds")
        return X[:, self.column_feature] if self.categories else X


class Tally(NamedTuple):
    """What is counted and summed up of some rows. ``rows`` and ``mass`` are by class; ``known`` is the weight of the
    rows in which each column is not missing, ``total`` the weighted sum of its values there."""

    rows: np.ndarray
    mass: np.ndarray
    whole: bool
    presence: Presence
    low: np.ndarray
    high: np.ndarray
    known: np.ndarray
    total: np.ndarray

    def __add__(self, other: "Tally") -> "Tally":  # type: ignore[override]
        return Tally(
            rows=self.rows + other.rows,
            mass=self.mass + other.mass,
            whole=self.whole and other.whole,
            presence=self.presence + other.presence,
            low=np.minimum(self.low, other.low),
            high=np.maximum(self.high, other.high),
            known=self.known + other.known,
            total=self.total + other.total,
        )

    @property
    def sizes(self) -> np.ndarray:
        """The number of rows of each class; their weight, if the weights count rows."""
        return self.mass if self.counts_rows else self.rows

    @property
    def counts_rows(self) -> bool:
        """As `content.counts_rows`."""
        return self.whole and float(self.mass.sum()) <= MOST_UNITS

    def sizes_of(self, block: Block) -> np.ndarray:
        """`sizes` of some of the rows."""
        weights = block.weight if self.counts_rows else None
        return np.bincount(block.code, weights=weights, minlength=len(self.rows))


def summarise(
    source: Source,
    most: int,
    *,
    class_weight: Any = None,
    standardize: bool = True,
    literals: str = "raw",
    cut_points: int | Mapping[int, Sequence[float]] = 0,
) -> tuple[Summary, Block, np.ndarray]:
    """What is known of all rows, a pool of about ``most`` of them, and what the weights of the pool's rows are
    multiplied by, so that each class keeps its weight. The parameters are those of `build_problem`."""
    n, categories = source.n_features, source.categories
    layout = Layout(np.array([l for l in range(n) if l not in categories], dtype=np.int64), categories, literals)
    tally = reduce(add, source.map(tally_rows, len(source.classes), layout))
    check_tally(tally, source.classes, layout)
    pool, share = draw_pool(source, tally, most)
    by_class = class_weights(class_weight, source.classes, tally.mass)
    extents = extents_of_tally(tally)
    weight, fill = float(tally.mass.sum()), extents.mean
    has_missing = bool(tally.presence.missing.any())

    def deviation(mean: np.ndarray, unit: np.ndarray) -> np.ndarray:
        (squares,) = running_sum(source.map(squares_of_rows, layout, fill if has_missing else None, mean, unit))
        return np.sqrt(squares / weight)

    of_columns = column_scaling(extents, layout.column_feature, standardize, deviation)
    if sparse.issparse(pool.X):
        raw = literals != "thresholds"
        candidates = only_raw(n) if literals == "raw" else sparse_candidates(n, raw)
        scaling = candidate_scaling(of_columns, standardize)
        features = layout.column_feature if raw else layout.column_feature[:0]
    else:
        candidates, features = dense_terms(pool, share, tally, layout, cut_points), layout.column_feature
        masses = None
        if len(candidates) > candidates.n_raw:
            masses = LiteralMasses(*running_sum(source.map(masses_of_rows, candidates)))
        scaling = candidate_scaling(of_columns, standardize, candidates, masses)
    summary = Summary(
        n_rows=tally.presence.n_rows,
        candidates=candidates,
        n_features=n,
        classes=source.classes,
        class_weight=by_class,
        total=float(np.sum(tally.mass * by_class)),
        scaling=scaling,
        column_scaling=of_columns,
        column_extents=extents,
        column_feature=features,
        has_gaps=literals != "raw" and has_missing,
        fill=fill,
        is_sparse=sparse.issparse(pool.X),
    )
    return summary, pool, share


def dense_terms(pool: Block, share: np.ndarray, tally: Tally, layout: Layout, cut_points: Any) -> Candidates:
    """The candidate terms of dense rows, with the cut points of the pool."""
    literals = layout.literals
    if literals == "raw" and not layout.categories:
        return only_raw(pool.X.shape[1])
    candidates = list_candidates(
        pool.X,
        pool.weight * share,
        tally.presence,
        raw=literals != "thresholds",
        cut_points={} if literals == "raw" else cut_points,
        categories=layout.categories,
        twins=literals == "any",
    )
    check_candidates(candidates)
    return candidates


# --- numbers without their last bits ---------------------------------------------------------------------------------


def steady(sums: np.ndarray, bits: int = STEADY_BITS) -> np.ndarray:
    """Numbers rounded, so that they are the same to the last bit although they were added up in another order."""
    mantissa, exponent = np.frexp(sums)
    return np.ldexp(np.round(np.ldexp(mantissa, bits)), exponent - bits)


def steady_scaling(scaling: Scaling) -> Scaling:
    """The same for a scaling: its means are rounded to a small part of the scale."""
    inverse_scale = steady(scaling.inverse_scale)
    unit = np.exp2(STEADY_BITS + np.floor(np.log2(np.where(inverse_scale > 0.0, inverse_scale, 1.0))))
    with np.errstate(over="ignore", invalid="ignore"):
        mean = np.round(scaling.mean * unit) / unit
    usable = (inverse_scale > 0.0) & np.isfinite(mean)
    return Scaling(mean=np.where(usable, mean, scaling.mean), inverse_scale=inverse_scale)


# --- the pool ---------------------------------------------------------------------------------------------------------


def draw_pool(source: Source, tally: Tally, most: int) -> tuple[Block, np.ndarray]:
    """About ``most`` of the rows, and what their weights are multiplied by, so that each class keeps its weight.

    Rows are drawn by the hash of their values, all that are equal or none, and equal ones become one, so that neither
    their order matters nor whether a row occurs twice or has weight 2. If they repeat too often for that, the pool has
    every different row; if there are too many of those, rows are drawn by their position.
    """
    sizes = tally.sizes
    limit, wanted = sample_limits(sizes, most), sample_sizes(sizes, most)
    for n_columns, repeats in ((FEW_COLUMNS, FEW_REPEATS), (source.n_features, MORE_REPEATS)):
        pool, hashes = _join_drawn(source.map(draw_rows, limit, n_columns))
        drawn = tally.sizes_of(pool)
        if _n_different(hashes) * repeats >= drawn.sum() and is_even(drawn, wanted):
            break
    else:
        different = _all_different(source, most)
        if different is not None:
            return _rounded(different), np.ones(len(different.code))
        pool, _ = _join_drawn(source.map(draw_rows, limit, BY_POSITION))
        drawn = tally.sizes_of(pool)
    share = sizes / np.maximum(drawn, 1.0)
    pool = _rounded(_merged(pool))
    return pool, share[pool.code]


def _n_different(hashes: np.ndarray) -> int:
    in_order = np.sort(hashes)
    return min(1, len(hashes)) + int(np.count_nonzero(in_order[1:] != in_order[:-1]))


def _rounded(pool: Block) -> Block:
    """The pool without the last bits of the weights, which depend on the order of the rows."""
    return pool._replace(weight=steady(pool.weight, WEIGHT_BITS))


def _join_drawn(answers: Iterator[tuple[Block, np.ndarray]]) -> tuple[Block, np.ndarray]:
    blocks, hashes = zip(*answers, strict=True)
    return join(blocks), np.concatenate(hashes)


def draw_rows(block: Block, limit: np.ndarray, n_columns: int) -> tuple[Block, np.ndarray]:
    """The rows of a block that are in the pool, and their hashes."""
    by_position = n_columns == BY_POSITION
    hashes = hash_numbers(block.position) if by_position else hash_values(block.X, n_columns)
    rows = np.flatnonzero(is_drawn(hashes, limit[block.code], SALT))
    return pick(block, rows), hashes[rows]


def _all_different(source: Source, most: int) -> Block | None:
    """Every different row once, with the weight of all that are like it; None if there are more than ``most``."""
    together: Block | None = None
    for block in source.map(merge_rows, most):
        together = block if together is None or block is None else merge_rows(join([together, block]), most)
        if together is None:
            return None
    return together


def merge_rows(block: Block, most: int) -> Block | None:
    """The different rows of a block; None if there are more than ``most``."""
    merged = _merged(block)
    return merged if len(merged.code) <= most else None


def _merged(block: Block) -> Block:
    """The different rows, with the weight of all that are like them; sorted by their hashes."""
    hashes = hash_values(block.X) ^ hash_numbers(block.code)
    _, first, place = np.unique(hashes, return_index=True, return_inverse=True)
    return pick(block, first)._replace(weight=np.bincount(place, weights=block.weight, minlength=len(first)))


# --- questions --------------------------------------------------------------------------------------------------------


def tally_rows(block: Block, n_classes: int, layout: Layout) -> Tally:
    """The tally of a block."""
    X, weight = layout.columns(block.X), block.weight
    n = X.shape[1]
    known = np.full(n, weight.sum())
    low, high, total = extents_of(X, weight) if len(weight) else _no_extents(n)
    presence = Presence(n_rows=len(weight), missing=np.zeros(block.X.shape[1], dtype=np.int64), categories={})
    if not sparse.issparse(X) and (layout.categories or np.isnan(total).any()):  # what is missing shows in its sum
        presence = count_presence(block.X, layout.categories)
    if presence.missing.any():
        gaps = np.isnan(X)
        known = weight @ ~gaps
        low, high = np.where(gaps, np.inf, X).min(axis=0), np.where(gaps, -np.inf, X).max(axis=0)
        total = weight @ np.where(gaps, 0.0, X)
    return Tally(
        rows=np.bincount(block.code, minlength=n_classes).astype(float),
        mass=np.bincount(block.code, weights=weight, minlength=n_classes),
        whole=bool(np.all(weight == np.floor(weight))),
        presence=presence,
        low=low,
        high=high,
        known=known,
        total=total,
    )


def _no_extents(n: int) -> Extents:
    """Those of no rows."""
    return Extents(low=np.full(n, np.inf), high=np.full(n, -np.inf), mean=np.zeros(n))


def squares_of_rows(
    block: Block, layout: Layout, fill: np.ndarray | None, mean: np.ndarray, unit: np.ndarray
) -> tuple[np.ndarray]:
    """The sums of squares of a block about the means; ``fill`` stands in place of missing values, if there are any."""
    X = layout.columns(block.X) if fill is None else fill_gaps(layout.columns(block.X), fill)
    return (sum_squares(X, block.weight, float(block.weight.sum()), mean, unit),)


def masses_of_rows(block: Block, candidates: Candidates) -> LiteralMasses:
    """What the rows of a block weigh in each bin."""
    return literal_masses(find_bins(block.X, candidates), block.weight, candidates)


def fill_gaps(X: Any, fill: np.ndarray) -> Any:
    """The columns with ``fill`` in place of missing values; ``X`` itself if there are none."""
    return X if sparse.issparse(X) or not has_gaps(X) else np.where(np.isnan(X), fill, X)


# --- checks -----------------------------------------------------------------------------------------------------------


def extents_of_tally(tally: Tally) -> Extents:
    """Extents and means of the columns; a column that is missing everywhere is 0."""
    there = tally.known > 0.0
    mean = np.where(there, tally.total / np.where(there, tally.known, 1.0), 0.0)
    return Extents(low=np.where(there, tally.low, 0.0), high=np.where(there, tally.high, 0.0), mean=mean)


def check_tally(tally: Tally, classes: np.ndarray, layout: Layout) -> None:
    """Refuse rows that cannot be learned from."""
    if np.any(tally.low == -np.inf) or np.any(tally.high == np.inf):
        raise ValueError("Input X contains infinity; X must hold finite numbers, or NaN where one is missing.")
    if layout.literals == "raw" and tally.presence.missing.any():
        feature = int(tally.presence.missing.argmax())
        raise ValueError(
            f"Input X contains NaN: feature {feature} has {tally.presence.missing[feature]} missing values, for which "
            "literals='raw' has no term. Set literals='both', or fill them in."
        )
    absent = np.flatnonzero(tally.rows == 0.0)
    if len(absent):
        label = classes.tolist()[int(absent[0])]
        raise ValueError(f"Class {label!r} has no row of positive weight; leave its rows out.")
    if not 0.0 < float(tally.mass.sum()) < np.inf:
        raise ValueError(f"sample_weight sums to {tally.mass.sum():g}; it must be positive and finite.")
