"""Candidate terms: the raw features and the literals that training may use.

A literal is true on an interval of the *bins* of one feature. Bins come from the cut points of a number (``[x ≤ t]``
is true in all bins up to that of ``t``) or from the categories (``[x = c]`` is true in one bin). The last bin is for
missing values. So all literals of a feature share one column of small integers, and their sums over rows are sums over
a histogram: the matrix of literals is never built.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from smallearn._learn import kernels

RAW, AT_MOST, ABOVE, EQUALS, MISSING = "raw", "at_most", "above", "equals", "missing"
COLUMNS_TOGETHER, ROWS_TOGETHER = 4, 4096  # columns that are copied at a time, and rows of these
MANY_VALUES = 100_000  # from here on, only values near the quantiles are sorted
SAMPLE, REGIONS = 16_384, 1024  # values that are sorted first, and regions that they make


@dataclass(frozen=True)
class Candidates:
    """The candidate terms, in the order of the columns that a solver sees: ``kind``, ``feature`` and ``value`` of each.

    The first ``n_raw`` are raw features. Candidate term ``n_raw + i`` is a literal, true on the bins from ``low[i]`` to
    ``high[i] - 1``. Bins are numbered through all features with literals: those of feature ``binned[f]`` begin at
    ``first[f]``.
    """

    kind: tuple[str, ...]
    feature: np.ndarray
    value: tuple[Any, ...]
    n_raw: int
    low: np.ndarray
    high: np.ndarray
    binned: np.ndarray
    first: np.ndarray
    n_bins: int

    def __len__(self) -> int:
        return len(self.kind)

    def cuts_more_than_once(self) -> bool:
        """Whether literals can say more than raw features: a feature has two cut points, or the columns are sparse."""
        cut = [l for l, kind in zip(self.feature.tolist(), self.kind, strict=True) if kind == AT_MOST]
        return len(set(cut)) < len(cut) or (ABOVE in self.kind)


def only_raw(n: int) -> Candidates:
    """Every feature as it is, and nothing else."""
    return _without_bins(kind=(RAW,) * n, feature=np.arange(n), value=(None,) * n, n_raw=n)


def sparse_candidates(n: int, raw: bool) -> Candidates:
    """For sparse columns: the literals ``[x > 0]``, after the raw features or instead of them."""
    n_raw = n if raw else 0
    return _without_bins(
        kind=(RAW,) * n_raw + (ABOVE,) * n,
        feature=np.concatenate([np.arange(n_raw), np.arange(n)]),
        value=(None,) * n_raw + (0.0,) * n,
        n_raw=n_raw,
    )


def _without_bins(kind: tuple[str, ...], feature: np.ndarray, value: tuple[Any, ...], n_raw: int) -> Candidates:
    """Candidate terms whose columns are those of X."""
    empty = np.empty(0, dtype=np.int64)
    return Candidates(
        kind=kind,
        feature=feature,
        value=value,
        n_raw=n_raw,
        low=empty,
        high=empty,
        binned=empty,
        first=empty,
        n_bins=0,
    )


class _Literal(NamedTuple):
    """True on the bins ``low ≤ bin < high`` of its feature."""

    kind: str
    value: Any
    low: int
    high: int


class _Binned(NamedTuple):
    """One feature: its bins lie between the ``edges``, ``width`` is the bin of missing values; and its literals."""

    edges: np.ndarray
    width: int
    has_gaps: bool
    literals: list[_Literal]


def dense_candidates(
    X: np.ndarray,
    weight: np.ndarray,
    *,
    raw: bool,
    cut_points: int | Mapping[int, Sequence[float]],
    categories: Mapping[int, Sequence[Any]],
    twins: bool = False,
) -> tuple[Candidates, np.ndarray]:
    """The candidate terms for the columns of ``X`` and the bin of each entry.

    In ``X`` NaN is missing; categorical columns have codes.

    ``cut_points``: how many for each numeric feature, or a list for each feature by index (none for the others). A
    numeric feature of two values needs no literal besides the raw term; with ``twins`` it gets one anyway.
    """
    raw_features = [l for l in range(X.shape[1]) if l not in categories] if raw else []
    with_literals: list[tuple[int, _Binned]] = []
    for l, x in _columns(X, range(X.shape[1])):
        gaps = np.isnan(x)
        if l in categories:
            binned = _bin_categories(x, gaps, categories[l])
        else:
            if isinstance(cut_points, Mapping):
                cuts = np.unique(np.asarray(cut_points.get(l, ()), dtype=float))
            else:
                has_gaps = gaps.any()
                known = ~gaps if has_gaps else slice(None)  # a slice copies nothing
                cuts = quantile_cuts(x[known], weight[known], cut_points)
                if raw and not twins and len(cuts) == 1 and not has_gaps and len(np.unique(x)) == 2:
                    cuts = cuts[:0]
            binned = _bin_numbers(cuts, gaps)
        if binned.literals:
            with_literals.append((l, binned))
    first = np.cumsum([0, *(binned.width + 1 for _, binned in with_literals)], dtype=np.int64)
    literals = [
        (l, literal._replace(low=begin + literal.low, high=begin + literal.high))
        for (l, binned), begin in zip(with_literals, first.tolist(), strict=False)  # the last entry is the total
        for literal in binned.literals
    ]
    candidates = Candidates(
        kind=(*[RAW] * len(raw_features), *(literal.kind for _, literal in literals)),
        feature=np.array([*raw_features, *(l for l, _ in literals)], dtype=np.int64),
        value=(*[None] * len(raw_features), *(literal.value for _, literal in literals)),
        n_raw=len(raw_features),
        low=np.array([literal.low for _, literal in literals], dtype=np.int64),
        high=np.array([literal.high for _, literal in literals], dtype=np.int64),
        binned=np.array([l for l, _ in with_literals], dtype=np.int64),
        first=first[:-1],
        n_bins=int(first[-1]),
    )
    return candidates, _bins(X, dict(with_literals))


def _columns(X: np.ndarray, features: Sequence[int]) -> Iterator[tuple[int, np.ndarray]]:
    """Some columns as contiguous float64 arrays, each valid until the next. A few are copied at a time, so that the
    memory of a row is read once for all of them."""
    space = np.empty((min(COLUMNS_TOGETHER, len(features)), len(X)))
    for begin in range(0, len(features), COLUMNS_TOGETHER):
        block = dict(zip(features[begin : begin + COLUMNS_TOGETHER], space, strict=False))
        for row in range(0, len(X), ROWS_TOGETHER):
            rows = slice(row, row + ROWS_TOGETHER)
            for l, x in block.items():
                x[rows] = X[rows, l]
        yield from block.items()


def _bins(X: np.ndarray, binned: Mapping[int, _Binned]) -> np.ndarray:
    """The bin of each row in each feature with literals, in the smallest type that holds them."""
    most = max((feature.width - (not feature.has_gaps) for feature in binned.values()), default=0)
    bins: np.ndarray = np.empty((len(X), len(binned)), dtype=_bin_type(most))
    column = np.empty(len(X), dtype=bins.dtype)
    for f, (l, x) in enumerate(_columns(X, list(binned))):
        kernels.find_bins(x, binned[l].edges, column)
        bins[:, f] = column
    return bins


def _bin_type(most: int) -> type:
    return np.uint8 if most < 256 else np.uint16 if most < 65536 else np.int32


def _bin_categories(x: np.ndarray, gaps: np.ndarray, categories: Sequence[Any]) -> _Binned:
    """A bin for each category, and the literal ``[x = c]`` for those that are on some rows but not on all."""
    width = len(categories)
    count = np.bincount(x[~gaps].astype(np.int64), minlength=width)
    shown = [c for c in range(width) if 0 < count[c] < len(x)]
    if len(shown) == 2 and not gaps.any():
        shown = shown[:1]  # the other is its opposite
    literals = [_Literal(kind=EQUALS, value=categories[c], low=c, high=c + 1) for c in shown]
    return _binned(np.arange(width - 1.0), gaps, literals)


def _bin_numbers(cuts: np.ndarray, gaps: np.ndarray) -> _Binned:
    """A bin between each two neighbouring cut points, and the literal ``[x ≤ t]`` for each of these."""
    literals = [_Literal(kind=AT_MOST, value=float(cut), low=0, high=c + 1) for c, cut in enumerate(cuts)]
    return _binned(cuts, gaps, literals)


def _binned(edges: np.ndarray, gaps: np.ndarray, literals: list[_Literal]) -> _Binned:
    """With the literal "is missing", if it tells rows apart."""
    width, has_gaps = len(edges) + 1, bool(gaps.any())
    missing = [_Literal(kind=MISSING, value=None, low=width, high=width + 1)] if has_gaps and not gaps.all() else []
    return _Binned(edges=edges, width=width, has_gaps=has_gaps, literals=literals + missing)


def quantile_cuts(x: np.ndarray, weight: np.ndarray, count: int) -> np.ndarray:
    """At most ``count`` cut points at quantiles of ``x``, each midway between two neighbouring values. If there are no
    more than ``count`` midpoints, all of them."""
    if len(x) >= MANY_VALUES:
        x, weight = _near_quantiles(x, weight, count)
    values, position = np.unique(x, return_inverse=True)
    if len(values) < 2 or count < 1:
        return np.empty(0)
    middle = 0.5 * values[:-1] + 0.5 * values[1:]
    middle = np.where((values[:-1] <= middle) & (middle < values[1:]), middle, values[:-1])  # no float lies between
    if len(middle) <= count:
        return middle
    reached = np.cumsum(np.bincount(position, weights=weight))
    share = reached[:-1] / reached[-1]
    wanted = _shares(count)
    after = np.minimum(np.searchsorted(share, wanted), len(share) - 1)
    before = np.maximum(after - 1, 0)
    nearest = np.where(np.abs(share[before] - wanted) <= np.abs(share[after] - wanted), before, after)
    return middle[np.unique(nearest)]


def _near_quantiles(x: np.ndarray, weight: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Fewer values with the same cut points, so that few have to be sorted.

    A sample parts the line into regions of about as many values. The values of a region that contains a quantile are
    kept, and those of its neighbours; in every other region one value has the weight of all. The sample decides how
    many are kept, not what the cut points are.
    """
    sample = np.sort(x[:: max(1, len(x) // SAMPLE)])
    edges = np.unique(sample[:: max(1, len(sample) // REGIONS)])
    region: np.ndarray = np.empty(len(x), dtype=_bin_type(len(edges)))
    kernels.find_bins(x, edges, region)
    mass = np.bincount(region, weights=weight, minlength=len(edges) + 1)
    occupied = np.flatnonzero(mass)
    if len(occupied) <= count + 1:
        return x, weight
    reached = np.cumsum(mass[occupied])
    hit = np.searchsorted(reached[:-1] / reached[-1], _shares(count))
    near = np.unique(np.clip(hit[:, None] + np.array([-1, 0, 1]), 0, len(occupied) - 1))
    far = np.delete(occupied, near)
    is_near = np.zeros(len(mass), dtype=bool)
    is_near[occupied[near]] = True
    kept = is_near[region]
    ends = np.append(edges, np.inf)
    return np.concatenate([x[kept], ends[far]]), np.concatenate([weight[kept], mass[far]])


def _shares(count: int) -> np.ndarray:
    """The shares of the weight at which cut points are wanted."""
    return np.arange(1, count + 1) / (count + 1.0)
