"""The values that a feature of a row may change to: regions within its range in training."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

from smallearn.model import SMaLLModel, Term
from smallearn.model._arguments import read_rows
from smallearn.model._columns import is_missing

# The distance kept from a bound that must not be met, relative to a range or to what scores can vary by. The solver's
# own tolerance is 1e-6.
ROOM = 1e-5
MOST_STEPS = 1e4  # of a whole number that the solver counts; a wider range is solved as continuous and rounded then
OTHER = "any other value"  # where no other category is known by name


@dataclass(frozen=True)
class Region:
    """Values on which every literal of a feature is constant.

    An interval from ``low`` to ``high``; or a single ``value`` that is not a number to move along: a category, or None
    for missing.
    """

    value: Any
    low: float = math.nan
    high: float = math.nan

    @property
    def is_number(self) -> bool:
        """Whether the region is an interval."""
        return self.low == self.low

    @property
    def sample(self) -> Any:
        """A value of the region."""
        if not self.is_number:
            return self.value
        return self.low if self.low == self.high else 0.5 * (self.low + self.high)


@dataclass(frozen=True)
class Domain:
    """A feature that may change: its present value and its regions.

    ``now`` is None for a missing value. ``range`` is what a change is measured by. A category may be a number too, but
    there is no small step from one category to another: only ``is_number`` says that values can be moved along.
    ``whole``: the feature has whole values only. ``terms`` are those of the feature, each with the position of its
    prototype.
    """

    feature: int
    label: str
    now: Any
    is_number: bool
    range: float
    whole: bool
    terms: tuple[tuple[int, Term], ...]
    regions: tuple[Region, ...]

    @property
    def counts(self) -> bool:
        """Whether the solver moves it by whole steps."""
        return self.whole and self.range <= MOST_STEPS


@dataclass(frozen=True)
class Known:
    """What is known about the features: which are whole, their ranges, and their categories.

    ``accepted`` are the categories of features that have no others, ``held`` ranges that the user sets.
    """

    whole: frozenset[int]
    ranges: dict[int, tuple[float, float]]
    categories: dict[int, tuple[Any, ...]]
    accepted: dict[int, tuple[Any, ...]]
    held: dict[int, tuple[float, float]] = field(default_factory=dict)


def known_from(model: SMaLLModel, X: Any = None) -> Known:
    """What the model knows about its features, and what rows show about them."""
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
    accepted = {one.feature: one.categories for one in model.accepted if one.categories is not None}
    return Known(whole=frozenset(whole), ranges=ranges, categories=categories, accepted=accepted)


def _is_number(model: SMaLLModel, feature: int) -> bool:
    """Whether a feature is weighed or compared by size; one that is only compared for equality is a category."""
    return any(term.kind in ("raw", "at_most", "above") for term in model.terms if term.feature == feature)


def domain_of(model: SMaLLModel, feature: Term, now: Any, known: Known) -> Domain:
    """The domain of a feature, given by one of its terms, whose present value is ``now``."""
    terms = tuple(
        (j, term)
        for j, prototype in enumerate(model.prototypes)
        for term in prototype.terms
        if term.feature == feature.feature
    )
    now = None if is_missing(now) else now
    if not _is_number(model, feature.feature):
        return Domain(
            feature=feature.feature,
            label=feature.label,
            now=now,
            is_number=False,
            range=1.0,
            whole=False,
            terms=terms,
            regions=_categories(terms, now, known),
        )
    is_truth = isinstance(now, bool | np.bool_)
    now = None if now is None else float(now)
    low, high = (0.0, 1.0) if is_truth else _limits(terms, now, known.ranges.get(feature.feature))
    extent = high - low if high > low else 1.0
    whole = is_truth or (feature.feature in known.whole and (now is None or now.is_integer()))
    least, most = known.held.get(feature.feature, (low, high))
    least, most = max(low, least), min(most, high)
    counts = whole and extent <= MOST_STEPS
    regions = list(_intervals(terms, least, most, whole=counts, room=ROOM * extent)) if least <= most else []
    regions.append(Region(None) if now is None else Region(None, low=now, high=now))  # no change
    return Domain(
        feature=feature.feature,
        label=feature.label,
        now=now,
        is_number=True,
        range=extent,
        whole=whole,
        terms=terms,
        regions=tuple(regions),
    )


def _categories(terms: Sequence[tuple[int, Term]], now: Any, known: Known) -> tuple[Region, ...]:
    """The present category, those of the model, and one more; a truth value has only True and False."""
    values = {term.value: None for _, term in terms if term.kind == "equals"}
    feature = terms[0][1].feature
    if feature in known.accepted:
        return tuple(Region(value) for value in dict.fromkeys([now, *known.accepted[feature]]))
    seen = [value for value in known.categories.get(feature, ()) if value not in values]
    other = (
        [False, True] if any(isinstance(value, bool | np.bool_) for value in (now, *values)) else seen[:1] or [OTHER]
    )
    return tuple(Region(value) for value in dict.fromkeys([now, *values, *other]))


def _limits(
    terms: Sequence[tuple[int, Term]], now: float | None, known: tuple[float, float] | None
) -> tuple[float, float]:
    """The range in training, extended to the present value; a wide range if none is known."""
    here = [] if now is None else [now]
    if known is not None:
        return min([known[0], *here]), max([known[1], *here])
    cuts = [*here, *(float(term.value) for _, term in terms if term.value is not None)] or [0.0]
    room = 10.0 * max(1.0, *(abs(cut) for cut in cuts))
    return min(cuts) - room, max(cuts) + room


def _intervals(
    terms: Sequence[tuple[int, Term]], low: float, high: float, *, whole: bool, room: float
) -> Iterator[Region]:
    """The thresholds, and the intervals between them; ``room`` is kept from an end that belongs to a threshold."""
    literals = [term for _, term in terms if term.kind in ("at_most", "above", "equals")]
    cuts = sorted({float(term.value) for term in literals})  # type: ignore[arg-type]
    inner = [cut for cut in cuts if low <= cut <= high]
    ends = [low, *(cut for cut in inner if low < cut < high), high]
    for cut in inner:
        if not whole or cut.is_integer():
            yield Region(None, low=cut, high=cut)
    for begin, end in pairwise(ends):
        first = begin + room if begin in inner else begin
        last = end - room if end in inner else end
        if whole:
            first = math.ceil(begin + (0.5 if begin in inner and begin == int(begin) else 0.0))
            last = math.floor(end - (0.5 if end in inner and end == int(end) else 0.0))
        if first <= last:
            yield Region(None, low=float(first), high=float(last))
    if low == high and low not in inner:
        yield Region(None, low=low, high=high)
