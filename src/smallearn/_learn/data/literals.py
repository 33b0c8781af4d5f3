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
FEW_VALUES = 64  # that are looked at before all
MOST_POWER = 22  # of ten that a float holds exactly
SAMPLE, REGIONS = 16_384, 1024  # values that are sorted first, and regions that they make


@dataclass(frozen=True)
class Candidates:
    """The candidate terms, in the order of the columns that a solver sees: ``kind``, ``feature`` and ``value`` of each.

    The first ``n_raw`` are raw features. Candidate term ``n_raw + i`` is a literal, true on the bins from ``low[i]`` to
    ``high[i] - 1``. Bins are numbered through all features with literals: those of feature ``binned[f]`` begin at
    ``first[f]`` and lie between ``edges[f]``.
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
    edges: tuple[np.ndarray, ...] = ()

    def __len__(self) -> int:
        return len(self.kind)

    def take(self, columns: np.ndarray) -> "Candidates":
        """Some of the candidate terms (ascending), with the bins of the features that they need."""
        literal = columns[columns >= self.n_raw] - self.n_raw
        of = np.searchsorted(self.first, self.low[literal], side="right") - 1
        needed = np.unique(of)
        widths = np.diff(np.append(self.first, self.n_bins))[needed]
        first = np.concatenate([[0], np.cumsum(widths)]).astype(np.int64)
        shift = (first[:-1] - self.first[needed])[np.searchsorted(needed, of)]
        return Candidates(
            kind=tuple(self.kind[l] for l in columns),
            feature=self.feature[columns],
            value=tuple(self.value[l] for l in columns),
            n_raw=int(np.count_nonzero(columns < self.n_raw)),
            low=self.low[literal] + shift,
            high=self.high[literal] + shift,
            binned=self.binned[needed],
            first=first[:-1],
            n_bins=int(first[-1]),
            edges=tuple(self.edges[f] for f in needed),
        )

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
    literals: list[_Literal]


class Presence(NamedTuple):
    """How many rows there are, and in how many of them each feature is missing and each category occurs."""

    n_rows: int
    missing: np.ndarray
    categories: Mapping[int, np.ndarray]

    def __add__(self, other: "Presence") -> "Presence":  # type: ignore[override]
        return Presence(
            n_rows=self.n_rows + other.n_rows,
            missing=self.missing + other.missing,
            categories={l: counts + other.categories[l] for l, counts in self.categories.items()},
        )


def count_presence(X: np.ndarray, categories: Mapping[int, Sequence[Any]]) -> Presence:
    """The presence of the features of dense rows, in which NaN is missing."""
    missing = np.zeros(X.shape[1], dtype=np.int64)
    if X.size and np.isnan(X.min()):
        for begin in range(0, len(X), ROWS_TOGETHER):
            missing += np.isnan(X[begin : begin + ROWS_TOGETHER]).sum(axis=0)
    counts = {}
    for l, known in categories.items():
        x = X[:, l]
        counts[l] = np.bincount(x[x == x].astype(np.int64), minlength=len(known))
    return Presence(n_rows=len(X), missing=missing, categories=counts)


def list_candidates(
    X: np.ndarray,
    weight: np.ndarray,
    presence: Presence,
    *,
    raw: bool,
    cut_points: int | Mapping[int, Sequence[float]],
    categories: Mapping[int, Sequence[Any]],
    twins: bool = False,
) -> Candidates:
    """The candidate terms for the columns of ``X``, in which NaN is missing and categorical columns have codes.

    X may be a sample of the rows that ``presence`` is about: the cut points are those of its values.

    ``cut_points``: how many for each numeric feature, or a list for each feature by index (none for the others). A
    numeric feature of two values needs no literal besides the raw term; with ``twins`` it gets one anyway.
    """
    raw_features = [l for l in range(X.shape[1]) if l not in categories] if raw else []
    with_literals: list[tuple[int, _Binned]] = []
    for l, x in _columns(X, range(X.shape[1])):
        missing = int(presence.missing[l])
        if l in categories:
            binned = _bin_categories(presence.categories[l], presence.n_rows, missing, categories[l])
        else:
            if isinstance(cut_points, Mapping):
                cuts = np.unique(np.asarray(cut_points.get(l, ()), dtype=float))
            else:
                known = x == x if missing else slice(None)  # a slice copies nothing
                cuts = quantile_cuts(x[known], weight[known], cut_points)
                if raw and not twins and len(cuts) == 1 and not missing and len(np.unique(x)) == 2:
                    cuts = cuts[:0]
            binned = _bin_numbers(cuts, presence.n_rows, missing)
        if binned.literals:
            with_literals.append((l, binned))
    first = np.cumsum([0, *(binned.width + 1 for _, binned in with_literals)], dtype=np.int64)
    literals = [
        (l, literal._replace(low=begin + literal.low, high=begin + literal.high))
        for (l, binned), begin in zip(with_literals, first.tolist(), strict=False)  # the last entry is the total
        for literal in binned.literals
    ]
    return Candidates(
        kind=(*[RAW] * len(raw_features), *(literal.kind for _, literal in literals)),
        feature=np.array([*raw_features, *(l for l, _ in literals)], dtype=np.int64),
        value=(*[None] * len(raw_features), *(literal.value for _, literal in literals)),
        n_raw=len(raw_features),
        low=np.array([literal.low for _, literal in literals], dtype=np.int64),
        high=np.array([literal.high for _, literal in literals], dtype=np.int64),
        binned=np.array([l for l, _ in with_literals], dtype=np.int64),
        first=first[:-1],
        n_bins=int(first[-1]),
        edges=tuple(binned.edges for _, binned in with_literals),
    )


def dense_candidates(
    X: np.ndarray, weight: np.ndarray, *, categories: Mapping[int, Sequence[Any]], **choices: Any
) -> tuple[Candidates, np.ndarray]:
    """The candidate terms of all rows, and the bin of each row in each feature with literals.

    ``choices`` are those of `list_candidates`.
    """
    presence = count_presence(X, categories)
    candidates = list_candidates(X, weight, presence, categories=categories, **choices)
    return candidates, find_bins(X, candidates)


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


def find_bins(X: np.ndarray, candidates: Candidates) -> np.ndarray:
    """The bin of each row in each feature with literals, in the smallest type that holds them."""
    most = max((len(edges) + 1 for edges in candidates.edges), default=0)
    bins: np.ndarray = np.empty((len(X), len(candidates.edges)), dtype=_bin_type(most))
    column = np.empty(len(X), dtype=bins.dtype)
    for f, (_, x) in enumerate(_columns(X, candidates.binned.tolist())):
        kernels.find_bins(x, candidates.edges[f], column)
        bins[:, f] = column
    return bins


def _bin_type(most: int) -> type:
    return np.uint8 if most < 256 else np.uint16 if most < 65536 else np.int32


def _bin_categories(counts: np.ndarray, n_rows: int, missing: int, categories: Sequence[Any]) -> _Binned:
    """A bin for each category, and the literal ``[x = c]`` for those that are on some rows but not on all."""
    width = len(categories)
    shown = [c for c in range(width) if 0 < counts[c] < n_rows]
    if len(shown) == 2 and not missing:
        shown = shown[:1]  # the other is its opposite
    literals = [_Literal(kind=EQUALS, value=categories[c], low=c, high=c + 1) for c in shown]
    return _binned(np.arange(width - 1.0), n_rows, missing, literals)


def _bin_numbers(cuts: np.ndarray, n_rows: int, missing: int) -> _Binned:
    """A bin between each two neighbouring cut points, and the literal ``[x ≤ t]`` for each of these."""
    literals = [_Literal(kind=AT_MOST, value=float(cut), low=0, high=c + 1) for c, cut in enumerate(cuts)]
    return _binned(cuts, n_rows, missing, literals)


def _binned(edges: np.ndarray, n_rows: int, missing: int, literals: list[_Literal]) -> _Binned:
    """With the literal "is missing", if it tells rows apart."""
    width = len(edges) + 1
    is_missing = [_Literal(kind=MISSING, value=None, low=width, high=width + 1)] if 0 < missing < n_rows else []
    return _Binned(edges=edges, width=width, literals=literals + is_missing)


def quantile_cuts(x: np.ndarray, weight: np.ndarray, count: int) -> np.ndarray:
    """At most ``count`` cut points at quantiles of ``x``, each about midway between two neighbouring values, in as few
    digits as possible. If there are no more than ``count`` such places, all of them."""
    whole = _are_whole(x)
    if len(x) >= MANY_VALUES:
        x, weight = _near_quantiles(x, weight, count)
    values, position = np.unique(x, return_inverse=True)
    if len(values) < 2 or count < 1:
        return np.empty(0)
    if len(values) - 1 <= count:
        return cuts_between(values[:-1], values[1:], whole)
    reached = np.cumsum(np.bincount(position, weights=weight))
    share = reached[:-1] / reached[-1]
    wanted = _shares(count)
    after = np.minimum(np.searchsorted(share, wanted), len(share) - 1)
    before = np.maximum(after - 1, 0)
    nearest = np.where(np.abs(share[before] - wanted) <= np.abs(share[after] - wanted), before, after)
    chosen = np.unique(nearest)
    return cuts_between(values[chosen], values[chosen + 1], whole)


def cuts_between(low: np.ndarray, high: np.ndarray, whole: bool) -> np.ndarray:
    """A cut point ``low ≤ t < high`` for each pair of neighbouring values: of the numbers in the middle half between
    the two, the one with fewest digits after rounding to tens, ones, tenths, …, nearest to the middle.

    Between ``whole`` numbers it is whole: 1 between 1 and 2.
    """
    middle = 0.5 * low + 0.5 * high
    reach = 0.25 * (high - low)
    cuts, open_ = np.floor(middle) if whole else middle.copy(), np.isfinite(reach) & (reach > 0.0)
    largest = np.abs(middle[open_]) + reach[open_]
    most = int(np.ceil(np.log10(largest.max(initial=1.0))))
    least = 0 if whole else int(np.floor(np.log10(reach[open_].min(initial=1.0))))
    for power in range(min(most, MOST_POWER), max(least, -MOST_POWER) - 1, -1):
        step = 10.0 ** abs(power)  # exact, so that the cut point is the float nearest to a decimal number
        with np.errstate(over="ignore"):  # of a number so large that it has no such digits
            rounded = np.rint(middle / step) * step if power >= 0 else np.rint(middle * step) / step
        fits = open_ & (np.abs(rounded - middle) <= reach)
        cuts[fits] = rounded[fits]
        open_ &= ~fits
    cuts = np.where((low <= cuts) & (cuts < high), cuts, middle) + 0.0  # no -0
    return np.where((low <= cuts) & (cuts < high), cuts, low)  # no float lies between


def _are_whole(x: np.ndarray) -> bool:
    """Whether all values are whole numbers; a few are looked at first."""
    return all(bool(np.all(part == np.floor(part))) for part in (x[:FEW_VALUES], x))


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
