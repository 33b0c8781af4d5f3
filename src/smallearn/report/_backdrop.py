"""What lies behind the curves of a feature: a histogram of the rows and the observed share of a class."""

from collections.abc import Sequence

import numpy as np

from smallearn.model._columns import Column
from smallearn.report._svg import Chart, number_text

BARS, ROOM = 24, 0.3  # of a histogram, and the share of the picture's height that its highest bar takes
TAIL = 0.005  # of the rows at either end that the picture may leave out


def backdrop_of(column: Column, extent: tuple[float, float], is_positive: np.ndarray | None, right: int) -> str:
    """A histogram of the rows at the foot of a picture and, with two classes, the share of one in each bar.

    Drawn once for each feature, for the pictures of all sizes: the width is that of a picture, shares span its height.
    """
    numbers = column.numbers
    chart = Chart(alt="", x=extent, y=(0.0, 1.0), right=right)
    inside = ~np.isnan(numbers) & (numbers >= extent[0]) & (numbers <= extent[1])
    edges = _edges(numbers[inside], extent)
    place = np.clip(np.searchsorted(edges, numbers[inside], side="right") - 1, 0, len(edges) - 2)
    counts = np.bincount(place, minlength=len(edges) - 1)
    most = max(int(counts.max()), 1) if len(counts) else 1
    for low, high, n in zip(edges, edges[1:], counts, strict=False):
        if n:
            title = f"{int(n):,} rows from {number_text(low)} to {number_text(high)}"
            chart.bar(max(low, extent[0]), min(high, extent[1]), 0.0, ROOM * n / most, "rows", title)
    if is_positive is not None:
        hits = np.bincount(place, weights=is_positive[inside], minlength=len(edges) - 1)
        enough = counts >= max(5, 0.002 * counts.sum())
        rate = [
            ((low + high) / 2, h / n)
            for low, high, h, n, ok in zip(edges, edges[1:], hits, counts, enough, strict=False)
            if ok
        ]
        chart.line(rate, "rate", "observed share, from 0% at the foot to 100% at the top")
    return "".join(chart.parts)


def _edges(numbers: np.ndarray, extent: tuple[float, float]) -> list[float]:
    """The edges of the bars: one for each of few whole numbers."""
    low, high = extent
    whole = bool(len(numbers)) and bool(np.all(numbers == np.rint(numbers)))
    if whole and high - low <= BARS + 12:
        return [low - 0.5 + i for i in range(int(high - low) + 2)]
    return np.linspace(low, high, BARS + 1).tolist()


def extent_of(numbers: np.ndarray, cuts: Sequence[float]) -> tuple[float, float]:
    """The range of a picture: all rows but the tails, and the thresholds; whole numbers have room on both sides."""
    known = numbers[~np.isnan(numbers)]
    if not len(known):
        known = np.array([0.0, 1.0])
    low, high = (float(end) for end in np.quantile(known, [TAIL, 1.0 - TAIL]))
    if low == high:
        low, high = float(known.min()), float(known.max())
    low, high = min([low, *cuts]), max([high, *cuts])
    return (low, high) if high > low else (low - 0.5, high + 0.5)
