"""The bins of a feature: their rows, how often the classes occur in them, weight of evidence and information value."""

import itertools
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from smallearn._text import show_category
from smallearn.model import Term
from smallearn.model._columns import Column

MOST_BINS, FEW_VALUES, MOST_CATEGORIES = 6, 8, 8  # of a weighed number; numbers that are bins each; categories


@dataclass(frozen=True)
class Bin:
    """Values of a feature: its text, and which of the rows have them."""

    text: str
    rows: np.ndarray


@dataclass(frozen=True)
class Evidence:
    """What a bin says about a class.

    The weight of evidence is the logarithm of how much larger the bin's share of the class is than its share of the
    other rows; the information value is that times the difference of the shares. ``WHEN_EMPTY`` is added to both counts
    where one is 0.
    """

    count: int
    rate: float
    weight: float
    value: float


WHEN_EMPTY = 0.5


def is_number(terms: Sequence[Term]) -> bool:
    """Whether a feature is weighed or compared by size; otherwise it has categories."""
    return any(term.kind in ("raw", "at_most", "above") for term in terms)


def cuts_of(terms: Sequence[Term]) -> list[float]:
    """The thresholds of a number."""
    return sorted({float(term.value) for term in terms if term.kind in ("at_most", "above")})  # type: ignore[arg-type]


def bins_of(terms: Sequence[Term], column: Column) -> list[Bin]:
    """The bins of a feature: between its thresholds, between quantiles if it is weighed; or its categories."""
    return _of_numbers(terms, column) if is_number(terms) else _of_categories(terms, column)


def _of_numbers(terms: Sequence[Term], column: Column) -> list[Bin]:
    numbers, missing = column.numbers, column.missing
    known = numbers[~missing]
    values = np.unique(known)
    cuts = cuts_of(terms)
    bins: list[Bin] = []
    if len(values) <= 2 or (len(values) <= FEW_VALUES and not cuts):
        bins = [Bin(show_category(float(value)), numbers == value) for value in values]
    elif len(values):
        if any(term.kind == "raw" for term in terms) or not cuts:
            shares = np.linspace(0.0, 1.0, MOST_BINS + 1)[1:-1]
            drawn = np.quantile(known, shares, method="inverted_cdf")
            cuts = sorted({*cuts, *drawn.tolist()} - {float(values[-1])})
        ends = [-math.inf, *cuts, math.inf]
        bins = [
            Bin(_interval(low, high), (numbers > low) & (numbers <= high)) for low, high in itertools.pairwise(ends)
        ]
    return _with_gaps([one for one in bins if one.rows.any()], missing)


def _interval(low: float, high: float) -> str:
    if math.isinf(low):
        return "all" if math.isinf(high) else f"≤ {show_category(high)}"
    return f"> {show_category(low)}" if math.isinf(high) else f"{show_category(low)} to {show_category(high)}"


def _of_categories(terms: Sequence[Term], column: Column) -> list[Bin]:
    missing = column.missing
    values = column.values
    seen = Counter(values[~missing].tolist())
    asked = [term.value for term in terms if term.kind == "equals"]
    frequent = sorted(seen, key=lambda value: (-seen[value], str(value)))
    chosen = [value for value in frequent if value in asked]
    chosen += [value for value in frequent if value not in asked][: max(0, MOST_CATEGORIES - len(chosen))]
    bins, rest = [], ~missing
    for value in sorted(chosen, key=frequent.index):
        same = np.array([one == value for one in values.tolist()], dtype=bool) & ~missing
        bins.append(Bin(show_category(value), same))
        rest = rest & ~same
    if rest.any():
        bins.append(Bin("other", rest))
    return _with_gaps(bins, missing)


def _with_gaps(bins: list[Bin], missing: np.ndarray) -> list[Bin]:
    return [*bins, Bin("missing", missing)] if missing.any() else bins


def evidence_of(one: Bin, is_class: np.ndarray) -> Evidence:
    """What a bin says about a class; ``is_class`` tells which rows are of it."""
    members, others = int(is_class.sum()), int((~is_class).sum())
    inside = int((one.rows & is_class).sum())
    outside = int(one.rows.sum()) - inside
    count = inside + outside
    rate = inside / count if count else math.nan
    if not members or not others:
        return Evidence(count, rate, math.nan, math.nan)
    more = WHEN_EMPTY if inside == 0 or outside == 0 else 0.0
    mine, theirs = (inside + more) / members, (outside + more) / others
    weight = math.log(mine / theirs)
    return Evidence(count, rate, weight, (mine - theirs) * weight)


def mean_in(one: Bin, added: np.ndarray) -> float:
    """The average of some numbers, one for each row, over the rows of a bin."""
    return float(added[one.rows].mean())
