"""The one factor by which a model's weights are multiplied before they are rounded to whole numbers.

Everything is exact: fractions before rounding, Python integers after it. `Rounded.intervals` is the proof that nothing
overflows: it adds up the least and the greatest that each term can add.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from smallearn.export._fixed.codes import Coder, Count, Interval, Linear
from smallearn.export._fixed.numbers import TargetTerm, term_texts
from smallearn.export._flat import FlatModel

MANY = 10  # literals whose subsets are no longer counted
FEW = 24  # factors that are tried, between half the greatest that fits and the greatest


@dataclass(frozen=True)
class Part:
    """A term before rounding: ``slope`` times a code in [least, greatest], or ``slope`` where a literal holds."""

    prototype: int
    input: int
    kind: str
    text: str
    slope: Fraction
    least: int = 0
    greatest: int = 1
    value: int | None = None
    high: int | None = None
    instead: Fraction | None = None

    @property
    def middle(self) -> Fraction:
        """The code at which rounding the slope shall change nothing."""
        return Fraction(self.least + self.greatest, 2) if self.kind == "raw" else Fraction(0)

    @property
    def farthest(self) -> Fraction:
        """From the middle."""
        return max(self.greatest - self.middle, self.middle - self.least)


@dataclass(frozen=True)
class Rounded:
    """A model on codes in whole numbers: ``factor`` times the exact one. ``parts`` are the exact ones of ``terms``."""

    factor: Fraction
    intercepts: tuple[int, ...]
    terms: tuple[TargetTerm[int], ...]
    parts: tuple[Part, ...]
    error: Fraction  # of the score, in its own unit, at worst

    @cached_property
    def intervals(self) -> tuple[tuple[int, int], ...]:
        """For each prototype an interval that holds every product and every partial sum, with or without the constant,
        whatever the codes and whatever the order of the terms."""
        ends = [[min(0, intercept), max(0, intercept)] for intercept in self.intercepts]
        for term, part in zip(self.terms, self.parts, strict=True):
            added = [0, part.least * term.weight, part.greatest * term.weight]
            added += [] if term.instead is None else [term.instead]
            ends[term.prototype][0] += min(added)
            ends[term.prototype][1] += max(added)
        return tuple((least, greatest) for least, greatest in ends)

    def fits(self, most_weight: int, most_sum: int) -> bool:
        """Whether no sum is ever beyond ``most_sum`` and no factor of a product beyond ``most_weight``."""
        ends = [abs(end) for interval in self.intervals for end in interval]
        raw = [abs(term.weight) for term in self.terms if term.kind == "raw"]
        return max(ends) <= most_sum and max(raw, default=0) <= most_weight


@dataclass(frozen=True)
class Sketch:
    """A model on codes, not yet rounded."""

    intercepts: tuple[Fraction, ...]
    parts: tuple[Part, ...]
    owner: int | None  # of all prototypes, where there are two classes

    @property
    def has_products(self) -> bool:
        return any(part.kind == "raw" and part.slope for part in self.parts)

    @property
    def steepest(self) -> Fraction:
        """The greatest slope of a code, or without one the greatest weight of a literal, or else of a constant."""
        kinds = [[part.slope for part in self.parts if part.kind == "raw"], [part.slope for part in self.parts]]
        sizes = (max(map(abs, some), default=Fraction(0)) for some in (*kinds, self.intercepts, [Fraction(1)]))
        return next(size for size in sizes if size)

    def rounded(self, factor: Fraction) -> Rounded:
        """Times ``factor``, to the nearest whole numbers; a weight that rounds to 0 falls away. What rounding a slope
        changes in the middle of its codes goes into the intercept."""
        exact = [factor * intercept for intercept in self.intercepts]
        error = [Fraction(0) for _ in exact]
        terms, parts = [], []
        for part in self.parts:
            weight = round(factor * part.slope)
            excess = factor * part.slope - weight
            exact[part.prototype] += excess * part.middle
            wrong = abs(excess) * part.farthest
            instead = None
            if part.instead is not None:  # less what is in the intercept, for a gap has no code to take it from
                gap = factor * part.instead - excess * part.middle
                instead = round(gap)
                wrong = max(wrong, abs(gap - (instead if weight else 0)))
            error[part.prototype] += wrong
            if weight:
                place = (part.prototype, part.input, weight, part.kind, part.text)
                terms.append(TargetTerm(*place, part.value, part.high, instead))
                parts.append(part)
        intercepts = tuple(map(round, exact))
        worst = max(e + abs(x - b) for e, x, b in zip(error, exact, intercepts, strict=True))
        return Rounded(factor, intercepts, tuple(terms), tuple(parts), worst / factor)

    def turned(self, factor: Fraction) -> int:
        """In how many cases rounding puts a score on the other side of 0, over all subsets of the literals that can
        hold. Prototypes with products or with many literals have too many cases, and three classes no such side."""
        if self.owner is None:
            return 0
        count = 0
        for prototype, intercept in enumerate(self.intercepts):
            mine = [part for part in self.parts if part.prototype == prototype]
            if len(mine) > MANY or any(part.kind == "raw" for part in mine):
                continue
            exact, rounded = [intercept], [round(factor * intercept)]
            for part in mine:
                exact += [total + part.slope for total in exact]
                rounded += [total + round(factor * part.slope) for total in rounded]
            for total, whole in zip(exact, rounded, strict=True):
                count += (total > 0) != (whole > 0) if self.owner else (total >= 0) != (whole >= 0)
        return count

    def best(self, most_weight: int, most_sum: int) -> Rounded:
        """Of the factors that fit, the one that turns the fewest decisions, and of those the first that has the least
        error."""
        size = [abs(intercept) for intercept in self.intercepts]
        for part in self.parts:
            size[part.prototype] += abs(part.slope) * max(abs(part.least), abs(part.greatest))
        top = min(most_weight / self.steepest, most_sum / max(*size, self.steepest))
        while True:  # to an end: with a factor that is small enough, all weights are 0
            tried = [self.rounded(factor) for factor in _factors(top, self.steepest)]
            fitting = [one for one in tried if one.fits(most_weight, most_sum)]
            if fitting:
                return min(fitting, key=lambda one: (self.turned(one.factor), one.error))
            top /= 2


def _factors(top: Fraction, steepest: Fraction) -> Iterator[Fraction]:
    """1, which leaves the points of a score card as they are; and some from half the top up to it, those that make the
    greatest weight whole if there are any."""
    if top >= 1:
        yield Fraction(1)
    most = math.floor(top * steepest)
    for weight in range(most, most // 2, -max(1, most // (2 * FEW))):
        yield weight / steepest
    if not most:
        yield from (top * part / FEW for part in range(FEW, FEW // 2, -1))


def sketch(flat: FlatModel, coders: tuple[Coder, ...], weight_bits: int) -> Sketch:
    """Literals become intervals of codes; those that always hold, and the offsets of inputs, become constants."""
    intercepts = [Fraction(intercept) for intercept in flat.intercepts]
    parts = []
    for term, text in zip(flat.terms, term_texts(flat), strict=True):
        coder, weight, place = coders[term.input], Fraction(term.weight), (term.prototype, term.input)
        guarded = flat.inputs[term.input].may_be_missing
        if isinstance(coder, Linear | Count) and term.kind == "raw":
            intercepts[term.prototype] += weight * coder.offset
            instead = None if term.mean is None or not guarded else weight * (Fraction(term.mean) - coder.offset)
            ends = (coder.least, coder.greatest) if isinstance(coder, Count) else _ends(weight_bits)
            parts.append(Part(*place, "raw", text, weight * coder.slope, *ends, instead=instead))
        elif term.kind == "missing":
            parts += [Part(*place, "missing", text, weight)] if guarded else []
        else:
            kind, value, high = literal(coder.interval(term.kind, term.value), coder, guarded)
            if kind == "always":
                intercepts[term.prototype] += weight
            elif kind != "never":
                parts.append(Part(*place, kind, text, weight, value=value, high=high))
    return Sketch(tuple(intercepts), tuple(parts), flat.owners[0] if flat.is_binary else None)


def literal(holds: Interval, coder: Coder, guarded: bool) -> tuple[str, int | None, int | None]:
    """Kind, value and high of the literal that holds at these codes of ``coder``, and not, if ``guarded``, at that of a
    missing value, which is less than all of them."""
    if holds is None:
        return "never", None, None
    low, high = holds
    if low == coder.least and high == coder.greatest:
        return ("above", low - 1, None) if guarded else ("always", None, None)
    if low == high:
        return "equals", low, None
    if high == coder.greatest:
        return "above", low - 1, None
    if low > coder.least or guarded:
        return "between", low - 1, high
    return "at_most", high, None


def _ends(bits: int) -> tuple[int, int]:
    return -(2 ** (bits - 1)), 2 ** (bits - 1) - 1
