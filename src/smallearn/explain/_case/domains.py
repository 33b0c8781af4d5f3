"""What a feature of a case may become: regions within the range in training, on which each literal is constant."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from smallearn.model import SMaLLModel, Term
from smallearn.model._columns import is_missing
from smallearn.model._rows import read_rows

ROOM = 1e-5  # of a range, or of what scores can vary by, kept from a bound that is not to be met; the solver's is 1e-6
MOST_STEPS = 1e4  # of a whole number that the solver counts; beyond, it is solved as any number and made whole then
OTHER = "any other value"  # where the model knows no category to name


@dataclass(frozen=True)
class Region:
    """Values from ``low`` to ``high`` on which every literal of the feature is constant, or a single ``value`` that is
    no number to move along: a category, or None for missing."""

    value: Any
    low: float = math.nan
    high: float = math.nan

    @property
    def is_number(self) -> bool:
        return self.low == self.low

    @property
    def sample(self) -> Any:
        """A value of the region."""
        if not self.is_number:
            return self.value
        return self.low if self.low == self.high else 0.5 * (self.low + self.high)


@dataclass(frozen=True)
class Domain:
    """A feature that may be changed: where it is, how far a range is, which regions it has. Of a category, which may be
    a number too, no change is small: only ``is_number`` says that there is a way from one value to another."""

    feature: int
    label: str
    now: Any
    is_number: bool
    range: float
    whole: bool
    terms: tuple[tuple[int, Term], ...]  # with the number of the prototype
    regions: tuple[Region, ...]

    @property
    def counts(self) -> bool:
        """Whether the solver moves it by whole steps."""
        return self.whole and self.range <= MOST_STEPS


@dataclass(frozen=True)
class Known:
    """What rows say of the features: numbers that are whole, their ranges, and categories."""

    whole: frozenset[int]
    ranges: dict[int, tuple[float, float]]
    categories: dict[int, tuple[Any, ...]]


def known_from(model: SMaLLModel, X: Any = None) -> Known:
    """From the model's own ranges and, if given, rows."""
    ranges = {extent.feature: (extent.low, extent.high) for extent in model.ranges}
    whole: set[int] = set()
    categories: dict[int, tuple[Any, ...]] = {}
    rows = None if X is None else read_rows(model, X)
    columns = {} if rows is None else {term.feature: rows.column(term) for term in model.features}
    for feature, column in columns.items():
        if not _is_number(model, feature):
            categories[feature] = tuple(dict.fromkeys(column.values[~column.missing].tolist()))
            continue
        numbers = column.numbers[~np.isnan(column.numbers)]
        if len(numbers):
            ranges.setdefault(feature, (float(numbers.min()), float(numbers.max())))
            if np.all(numbers == np.rint(numbers)):
                whole.add(feature)
    return Known(whole=frozenset(whole), ranges=ranges, categories=categories)


def _is_number(model: SMaLLModel, feature: int) -> bool:
    """Whether a feature is weighed or compared by size; one that is only compared for equality is a category."""
    return any(term.kind in ("raw", "at_most", "above") for term in model.terms if term.feature == feature)


def domain_of(model: SMaLLModel, feature: Term, now: Any, known: Known) -> Domain:
    terms = tuple(
        (j, term)
        for j, prototype in enumerate(model.prototypes)
        for term in prototype.terms
        if term.feature == feature.feature
    )
    now = None if is_missing(now) else now
    if not _is_number(model, feature.feature):
        return Domain(feature.feature, feature.label, now, False, 1.0, False, terms, _categories(terms, now, known))
    truth = isinstance(now, bool | np.bool_)
    now = None if now is None else float(now)
    low, high = (0.0, 1.0) if truth else _limits(terms, now, known.ranges.get(feature.feature))
    extent = high - low if high > low else 1.0
    whole = truth or (feature.feature in known.whole and (now is None or now.is_integer()))
    regions = list(_intervals(terms, low, high, whole and extent <= MOST_STEPS, ROOM * extent))
    regions.append(Region(None) if now is None else Region(None, now, now))  # as it is
    return Domain(feature.feature, feature.label, now, True, extent, whole, terms, tuple(regions))


def _categories(terms: Sequence[tuple[int, Term]], now: Any, known: Known) -> tuple[Region, ...]:
    """The categories that the model knows, another, and the present one; of true and false there are these two."""
    values = {term.value: None for _, term in terms if term.kind == "equals"}
    seen = [value for value in known.categories.get(terms[0][1].feature, ()) if value not in values]
    other = (
        [False, True] if any(isinstance(value, bool | np.bool_) for value in (now, *values)) else seen[:1] or [OTHER]
    )
    return tuple(Region(value) for value in dict.fromkeys([now, *values, *other]))


def _limits(terms: Sequence[tuple[int, Term]], now: float | None, known: tuple[float, float] | None):
    """The range in training, with the case's own value; where none is known, a wide one."""
    here = [] if now is None else [now]
    if known is not None:
        return min([known[0], *here]), max([known[1], *here])
    cuts = [*here, *(float(term.value) for _, term in terms if term.value is not None)] or [0.0]
    room = 10.0 * max(1.0, *(abs(cut) for cut in cuts))
    return min(cuts) - room, max(cuts) + room


def _intervals(terms, low: float, high: float, whole: bool, room: float) -> Iterator[Region]:
    """Between the cuts and on them; an end that does not belong to an interval is kept off by ``room``."""
    cuts = sorted({float(term.value) for _, term in terms if term.kind in ("at_most", "above", "equals")})
    inner = [cut for cut in cuts if low <= cut <= high]
    ends = [low, *(cut for cut in inner if low < cut < high), high]
    for cut in inner:
        if not whole or cut.is_integer():
            yield Region(None, cut, cut)
    for begin, end in pairwise(ends):
        first = begin + room if begin in inner else begin
        last = end - room if end in inner else end
        if whole:
            first = math.ceil(begin + (0.5 if begin in inner and begin == int(begin) else 0.0))
            last = math.floor(end - (0.5 if end in inner and end == int(end) else 0.0))
        if first <= last:
            yield Region(None, float(first), float(last))
    if low == high and low not in inner:
        yield Region(None, low, high)
