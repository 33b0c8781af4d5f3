"""Candidate terms: what a prototype may be made of beside the raw features.

A literal is true on an interval of the *bins* of one feature. Bins come from the cut points of a number (``[x ≤ t]``
is true in all bins up to that of ``t``) or from the categories of a text (``[x = c]`` is true in one bin), and the last
bin of a feature with gaps is "missing". So all literals of a feature share one column of small integers, and their sums
over rows are sums over a histogram: the matrix of literals is never made.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

RAW, AT_MOST, ABOVE, EQUALS, MISSING = "raw", "at_most", "above", "equals", "missing"


@dataclass(frozen=True)
class Candidates:
    """The candidate terms, in the order of the columns that a solver sees: ``kind``, ``feature`` and ``value`` of each.

    The first ``n_raw`` are raw features; literal ``n_raw + i`` is true on the bins ``low[i] ≤ bin < high[i]``, counted
    through all features: those of feature ``binned[f]`` begin at ``first[f]``.
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
        """Whether a feature has two cut points or, being sparse, numbers beside presence: literals then say more."""
        cut = [l for l, kind in zip(self.feature.tolist(), self.kind, strict=True) if kind == AT_MOST]
        return len(set(cut)) < len(cut) or (ABOVE in self.kind)


def only_raw(n: int) -> Candidates:
    """Every feature as it is, and nothing else."""
    empty = np.empty(0, dtype=np.int64)
    return Candidates((RAW,) * n, np.arange(n), (None,) * n, n, empty, empty, empty, empty, 0)


def sparse_candidates(n: int, raw: bool) -> Candidates:
    """For sparse columns: presence, ``[x > 0]``, beside the raw features or instead of them."""
    empty = np.empty(0, dtype=np.int64)
    n_raw = n if raw else 0
    kind = (RAW,) * n_raw + (ABOVE,) * n
    feature = np.concatenate([np.arange(n_raw), np.arange(n)])
    return Candidates(kind, feature, (None,) * n_raw + (0.0,) * n, n_raw, empty, empty, empty, empty, 0)


def dense_candidates(
    X: np.ndarray,
    weight: np.ndarray,
    raw: bool,
    cut_points: int | Mapping[int, Sequence[float]],
    categories: Mapping[int, Sequence[Any]],
    twins: bool = False,
) -> tuple[Candidates, np.ndarray]:
    """The candidates for the columns of ``X`` (NaN is missing, codes in categorical columns) and the bin of each entry.

    ``cut_points``: how many for each number, or a list for each feature by index (none for the others). A number of two
    values needs no literal beside itself; it gets one all the same with ``twins``.
    """
    m, n = X.shape
    numbers = [l for l in range(n) if l not in categories]
    raw_features = numbers if raw else []
    kind = [RAW] * len(raw_features)
    feature = list(raw_features)
    value: list[Any] = [None] * len(raw_features)
    low: list[int] = []
    high: list[int] = []
    first: list[int] = []
    binned: list[int] = []
    columns: list[np.ndarray] = []
    total = 0

    def add(name: str, l: int, what: Any, begin: int, end: int) -> None:
        kind.append(name)
        feature.append(l)
        value.append(what)
        low.append(total + begin)
        high.append(total + end)

    for l in range(n):
        x = X[:, l].astype(np.float64)
        gaps = np.isnan(x)
        if l in categories:
            width = len(categories[l])
            bins = np.where(gaps, width, x).astype(np.int64)
            present = np.bincount(bins, minlength=width + 1)
            shown = [c for c in range(width) if 0 < present[c] < m]
            if len(shown) == 2 and not gaps.any():
                shown = shown[:1]  # the other is its opposite
            for c in shown:
                add(EQUALS, l, categories[l][c], c, c + 1)
        else:
            if isinstance(cut_points, Mapping):
                cuts = np.unique(np.asarray(cut_points.get(l, ()), dtype=float))
            else:
                cuts = quantile_cuts(x[~gaps], weight[~gaps], cut_points)
                if raw and not twins and not gaps.any() and len(np.unique(x)) == 2:
                    cuts = cuts[:0]
            width = len(cuts) + 1
            bins = np.where(gaps, width, np.searchsorted(cuts, x, side="left"))
            for c, cut in enumerate(cuts):
                add(AT_MOST, l, float(cut), 0, c + 1)
        if gaps.any() and not gaps.all():
            add(MISSING, l, None, width, width + 1)
        if len(low) and low[-1] >= total:  # the feature has a literal
            binned.append(l)
            first.append(total)
            columns.append(bins)
            total += width + 1
    most = max((int(column.max()) for column in columns), default=0)
    dtype = np.uint8 if most < 256 else np.uint16 if most < 65536 else np.int32
    stacked = np.column_stack(columns).astype(dtype) if columns else np.empty((m, 0), dtype=np.uint8)
    found = Candidates(
        tuple(kind),
        np.array(feature, dtype=np.int64),
        tuple(value),
        len(raw_features),
        np.array(low, dtype=np.int64),
        np.array(high, dtype=np.int64),
        np.array(binned, dtype=np.int64),
        np.array(first, dtype=np.int64),
        total,
    )
    return found, np.ascontiguousarray(stacked)


def quantile_cuts(x: np.ndarray, weight: np.ndarray, count: int) -> np.ndarray:
    """At most ``count`` cut points at quantiles of ``x``, each midway between two neighbouring values. All of the
    midpoints where there are no more than that."""
    values, place = np.unique(x, return_inverse=True)
    if len(values) < 2 or count < 1:
        return np.empty(0)
    middle = 0.5 * values[:-1] + 0.5 * values[1:]
    middle = np.where((values[:-1] <= middle) & (middle < values[1:]), middle, values[:-1])  # neighbours in rounding
    if len(middle) <= count:
        return middle
    reached = np.cumsum(np.bincount(place, weights=weight))
    share = reached[:-1] / reached[-1]
    wanted = np.arange(1, count + 1) / (count + 1.0)
    after = np.minimum(np.searchsorted(share, wanted), len(share) - 1)
    before = np.maximum(after - 1, 0)
    nearest = np.where(np.abs(share[before] - wanted) <= np.abs(share[after] - wanted), before, after)
    return middle[np.unique(nearest)]
