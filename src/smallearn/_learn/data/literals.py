"""Candidate terms: the raw features and the literals that training may use.

A literal is true on an interval of the *bins* of one feature. Bins come from the cut points of a number (``[x ≤ t]``
is true in all bins up to that of ``t``) or from the categories (``[x = c]`` is true in one bin). The last bin is for
missing values. So all literals of a feature share one column of small integers, and their sums over rows are sums over
a histogram: the matrix of literals is never built.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

RAW, AT_MOST, ABOVE, EQUALS, MISSING = "raw", "at_most", "above", "equals", "missing"


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
    """One feature: the bin of each row (``width`` is the bin of missing values) and the literals on these bins."""

    bins: np.ndarray
    width: int
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
    m, n = X.shape
    raw_features = [l for l in range(n) if l not in categories] if raw else []
    with_literals: list[tuple[int, _Binned]] = []
    for l in range(n):
        x = X[:, l].astype(np.float64)
        if l in categories:
            binned = _bin_categories(x, categories[l])
        else:
            if isinstance(cut_points, Mapping):
                cuts = np.unique(np.asarray(cut_points.get(l, ()), dtype=float))
            else:
                gaps = np.isnan(x)
                cuts = quantile_cuts(x[~gaps], weight[~gaps], cut_points)
                if raw and not twins and not gaps.any() and len(np.unique(x)) == 2:
                    cuts = cuts[:0]
            binned = _bin_numbers(x, cuts)
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
    return candidates, _stack([binned.bins for _, binned in with_literals], m)


def _bin_categories(x: np.ndarray, categories: Sequence[Any]) -> _Binned:
    """A bin for each category, and the literal ``[x = c]`` for those that are on some rows but not on all."""
    gaps = np.isnan(x)
    width = len(categories)
    bins = np.where(gaps, width, x).astype(np.int64)
    count = np.bincount(bins, minlength=width + 1)
    shown = [c for c in range(width) if 0 < count[c] < len(x)]
    if len(shown) == 2 and not gaps.any():
        shown = shown[:1]  # the other is its opposite
    literals = [_Literal(kind=EQUALS, value=categories[c], low=c, high=c + 1) for c in shown]
    return _Binned(bins=bins, width=width, literals=literals + _missing(gaps, width))


def _bin_numbers(x: np.ndarray, cuts: np.ndarray) -> _Binned:
    """A bin between each two neighbouring cut points, and the literal ``[x ≤ t]`` for each of these."""
    gaps = np.isnan(x)
    width = len(cuts) + 1
    bins = np.where(gaps, width, np.searchsorted(cuts, x, side="left"))
    literals = [_Literal(kind=AT_MOST, value=float(cut), low=0, high=c + 1) for c, cut in enumerate(cuts)]
    return _Binned(bins=bins, width=width, literals=literals + _missing(gaps, width))


def _missing(gaps: np.ndarray, width: int) -> list[_Literal]:
    """The literal "is missing", if it tells rows apart."""
    if not gaps.any() or gaps.all():
        return []
    return [_Literal(kind=MISSING, value=None, low=width, high=width + 1)]


def _stack(columns: list[np.ndarray], m: int) -> np.ndarray:
    """The columns of bins side by side, in the smallest type that holds them."""
    if not columns:
        return np.empty((m, 0), dtype=np.uint8)
    most = max(int(column.max()) for column in columns)
    dtype = np.uint8 if most < 256 else np.uint16 if most < 65536 else np.int32
    return np.ascontiguousarray(np.column_stack(columns).astype(dtype))


def quantile_cuts(x: np.ndarray, weight: np.ndarray, count: int) -> np.ndarray:
    """At most ``count`` cut points at quantiles of ``x``, each midway between two neighbouring values. If there are no
    more than ``count`` midpoints, all of them."""
    values, position = np.unique(x, return_inverse=True)
    if len(values) < 2 or count < 1:
        return np.empty(0)
    middle = 0.5 * values[:-1] + 0.5 * values[1:]
    middle = np.where((values[:-1] <= middle) & (middle < values[1:]), middle, values[:-1])  # no float lies between
    if len(middle) <= count:
        return middle
    reached = np.cumsum(np.bincount(position, weights=weight))
    share = reached[:-1] / reached[-1]
    wanted = np.arange(1, count + 1) / (count + 1.0)
    after = np.minimum(np.searchsorted(share, wanted), len(share) - 1)
    before = np.maximum(after - 1, 0)
    nearest = np.where(np.abs(share[before] - wanted) <= np.abs(share[after] - wanted), before, after)
    return middle[np.unique(nearest)]
