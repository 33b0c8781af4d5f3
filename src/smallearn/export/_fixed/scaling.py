"""The factor by which a model's weights are multiplied before they are rounded to whole numbers.

Everything is exact: fractions before rounding, Python integers after it. `Rounded.intervals` is the proof that nothing
overflows: it adds up the least and the greatest value of each term.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial
from itertools import pairwise
from typing import Any

from smallearn.export._fixed.codes import Coder, Count, Interval, Linear, Shifted
from smallearn.export._fixed.numbers import TargetTerm, term_texts
from smallearn.export._flat import FlatModel

MOST_LITERALS = 10  # of a prototype whose subsets of literals are enumerated
MOST_OF_BYTE, MOST_OF_WORD = 2**7 - 1, 2**15 - 1
FEW = 4  # prototypes whose literals are compared with those of the first
FACTORS = 24  # that are tried, between half the greatest that fits and the greatest


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
    right: int = 0

    @property
    def middle(self) -> Fraction:
        """The code at which rounding the slope changes nothing."""
        return Fraction(self.least + self.greatest, 2) if self.kind == "raw" else Fraction(0)

    @property
    def farthest(self) -> Fraction:
        """The greatest distance of a code from the middle."""
        return max(self.greatest - self.middle, self.middle - self.least)


@dataclass(frozen=True)
class Rounded:
    """A model on codes in whole numbers: ``factor`` times the exact one. ``parts`` are ``terms`` before rounding."""

    factor: Fraction
    intercepts: tuple[int, ...]
    terms: tuple[TargetTerm[int], ...]
    parts: tuple[Part, ...]
    error: Fraction  # of the score at worst, in units of the exact score
    is_compared: bool  # whether the prototypes of several classes share terms: only their differences matter
    step: int = 1  # of the weights of literals
    unit: int = 1  # of the constants

    @cached_property
    def intervals(self) -> tuple[tuple[int, int], ...]:
        """For each prototype, an interval that holds every product and every partial sum.

        It holds for all codes, for any order of the terms, and with or without the constant.
        """
        ends = [[min(0, intercept), max(0, intercept)] for intercept in self.intercepts]
        for term, part in zip(self.terms, self.parts, strict=True):
            added = [0, part.least * term.weight, part.greatest * term.weight]
            added += [] if term.instead is None else [term.instead]
            ends[term.prototype][0] += min(added)
            ends[term.prototype][1] += max(added)
        return tuple((least, greatest) for least, greatest in ends)

    def fits(self, most_weight: int, most_sum: int) -> bool:
        """Whether no sum exceeds ``most_sum`` and no weight of a product ``most_weight``.

        Where prototypes of several classes share terms, no difference between neighbours exceeds that either, divided
        by the step of literals.
        """
        ends = [abs(end) for interval in self.intervals for end in interval]
        raw = [abs(term.weight) for term in self.terms if term.kind == "raw"]
        between = []
        if self.is_compared:
            rows = list(gaps_of(self.terms, [term.weight for term in self.terms], len(self.intercepts)))
            between = [abs(gap) if kind == "raw" else abs(gap) // self.step for kind, *row in rows for gap in row]
        return max(ends) <= most_sum and max([*raw, *between], default=0) <= most_weight


def gaps_of(terms: Sequence[Any], weights: Sequence[Any], n_prototypes: int) -> Iterator[tuple]:
    """For each row of the card, its kind, and how far the weight of each prototype is from that of the next.

    A decision between several classes depends on nothing else, and code that adds up these is shorter. Of few
    prototypes with literals it is how far they are from that of the first.
    """
    pairs = list(pairwise(range(n_prototypes)))
    if n_prototypes <= FEW and any(term.kind != "raw" for term in terms):
        pairs = [(j, 0) for j in range(1, n_prototypes)]
    rows: dict[tuple, list[Any]] = {}
    for term, weight in zip(terms, weights, strict=True):
        key = (term.kind, term.input, term.value, term.high)
        rows.setdefault(key, [0] * n_prototypes)[term.prototype] = weight
    for (kind, *_), row in rows.items():
        yield kind, *(row[j] - row[other] for j, other in pairs)


def power_of_two(number: Fraction, most: int) -> int:
    """The least power of 2 by which a number has to be divided so that it rounds to ``most`` at most."""
    power = 1
    while number > power * most:
        power *= 2
    return power


@dataclass(frozen=True)
class Sketch:
    """A model on codes, not yet rounded."""

    intercepts: tuple[Fraction, ...]
    parts: tuple[Part, ...]
    owner: int | None  # of all prototypes, where there are two classes
    cut: Fraction  # between two classes
    shares: bool  # whether any term is in several prototypes

    @property
    def is_compared(self) -> bool:
        """Whether the prototypes of several classes share terms."""
        return self.shares and self.owner is None

    @property
    def has_products(self) -> bool:
        return any(part.kind == "raw" and part.slope for part in self.parts)

    @property
    def steepest(self) -> Fraction:
        """The greatest slope of a code, or without one the greatest weight of a literal, or else of a constant."""
        kinds = [[part.slope for part in self.parts if part.kind == "raw"], [part.slope for part in self.parts]]
        sizes = (max(map(abs, some), default=Fraction(0)) for some in (*kinds, self.intercepts, [Fraction(1)]))
        return next(size for size in sizes if size)

    def rounded(self, factor: Fraction, most_weight: int) -> Rounded:
        """The model times ``factor``, rounded to the nearest whole numbers; terms that round to 0 are dropped.

        The weights of literals are multiples of a step, and the constants of a unit. What rounding a slope changes in
        the middle of its codes is added to the constant.
        """
        step = self.step(factor, most_weight)
        exact = [factor * intercept for intercept in self.intercepts]
        error = [Fraction(0) for _ in exact]
        terms, parts = [], []
        for part in self.parts:
            weight = round(factor * part.slope) if part.kind == "raw" else step * round(factor * part.slope / step)
            excess = factor * part.slope - weight
            exact[part.prototype] += excess * part.middle
            wrong = abs(excess) * part.farthest
            instead = None
            if part.instead is not None:  # less what is in the constant: a missing value has no code
                gap = factor * part.instead - excess * part.middle
                instead = round(gap)
                wrong = max(wrong, abs(gap - (instead if weight else 0)))
            error[part.prototype] += wrong
            if weight:
                terms.append(_rounded_term(part, weight, instead))
                parts.append(part)
        unit = self.unit(exact, most_weight)
        intercepts = tuple(unit * round(intercept / unit) for intercept in exact)
        worst = max(e + abs(x - b) for e, x, b in zip(error, exact, intercepts, strict=True))
        return Rounded(
            factor=factor,
            intercepts=intercepts,
            terms=tuple(terms),
            parts=tuple(parts),
            error=worst / factor,
            is_compared=self.is_compared,
            step=step,
            unit=unit,
        )

    def step(self, factor: Fraction, most_weight: int) -> int:
        """A power of 2 by which weights or leads of literals are divided so that they fit beside those of products.

        Only a card has them side by side, and the products need not be more precise than the literals.
        """
        if not self.shares or not self.has_products:
            return 1
        slopes = [part.slope for part in self.parts if part.kind != "raw"]
        if self.is_compared:
            rows = gaps_of(self.parts, [part.slope for part in self.parts], len(self.intercepts))
            slopes = [gap for kind, *row in rows if kind != "raw" for gap in row]
        return power_of_two(factor * max(map(abs, slopes), default=Fraction(0)), most_weight - 1)

    def unit(self, intercepts: Sequence[Fraction], most_weight: int) -> int:
        """A power of 2 by which constants are divided so that they fit beside weights, in a card; 1 otherwise.

        What a weight of products loses by rounding can be as large.
        """
        if not self.shares:
            return 1
        numbers = [one - after for one, after in pairwise(intercepts)] if self.is_compared else intercepts
        return power_of_two(max(map(abs, numbers), default=Fraction(0)), most_weight - 1)

    def changed_decisions(self, factor: Fraction) -> int:
        """For how many subsets of the literals rounding moves a score to the other side of the cut.

        0 for more than two classes. Prototypes with products or many literals are not counted.
        """
        if self.owner is None:
            return 0
        count = 0
        for prototype, intercept in enumerate(self.intercepts):
            own = [part for part in self.parts if part.prototype == prototype]
            if len(own) > MOST_LITERALS or any(part.kind == "raw" for part in own):
                continue
            cut = round(factor * self.cut)
            exact, rounded = [intercept - self.cut], [round(factor * intercept) - cut]
            for part in own:
                exact += [total + part.slope for total in exact]
                rounded += [total + round(factor * part.slope) for total in rounded]
            for total, whole in zip(exact, rounded, strict=True):
                count += (total > 0) != (whole > 0) if self.owner else (total >= 0) != (whole >= 0)
        return count

    def best(self, most_weight: int, most_sum: int) -> Rounded:
        """Of the factors that fit, the one that changes the fewest decisions, and of those the one with least error."""
        size = [abs(intercept) for intercept in self.intercepts]
        for part in self.parts:
            size[part.prototype] += abs(part.slope) * max(abs(part.least), abs(part.greatest))
        if self.is_compared and most_sum > (MOST_OF_WORD if self.has_products else MOST_OF_BYTE):
            most_sum //= 4  # differences of partial sums need no wider type, where that is cheap
        top = min(most_weight / self.steepest, most_sum / max(*size, self.steepest))
        while True:  # ends: with a small enough factor all weights are 0
            tried = [self.rounded(factor, most_weight) for factor in _factors(top, self.steepest)]
            fitting = [one for one in tried if one.fits(most_weight, most_sum)]
            if any(2 * one.factor >= top for one in fitting):  # not 1 alone, which may be too small to keep a weight
                return min(fitting, key=lambda one: (self.changed_decisions(one.factor), one.error))
            top /= 2


def _factors(top: Fraction, steepest: Fraction) -> Iterator[Fraction]:
    """1, which keeps the points of a score card, and some from half the top up to it.

    If there are factors that make the greatest weight a whole number, those are used.
    """
    if top >= 1:
        yield Fraction(1)
    most = math.floor(top * steepest)
    for weight in range(most, most // 2, -max(1, most // (2 * FACTORS))):
        yield weight / steepest
    if not most:
        yield from (top * part / FACTORS for part in range(FACTORS, FACTORS // 2, -1))


def sketch(flat: FlatModel, coders: tuple[Coder, ...], code_bits: int) -> Sketch:
    """The model on codes: literals are intervals of codes; offsets and literals that always hold are constants."""
    intercepts = [Fraction(intercept) for intercept in flat.intercepts]
    parts = []
    for term, text in zip(flat.terms, term_texts(flat), strict=True):
        coder, weight = coders[term.input], Fraction(term.weight)
        part = partial(Part, prototype=term.prototype, input=term.input, text=text)
        guarded = flat.inputs[term.input].may_be_missing
        if isinstance(coder, Linear | Count | Shifted) and term.kind == "raw":
            intercepts[term.prototype] += weight * coder.offset
            instead = None if term.mean is None or not guarded else weight * (Fraction(term.mean) - coder.offset)
            least, greatest = codes_in_products(coder, code_bits)
            right = coder.right if isinstance(coder, Count) else 0
            part = partial(part, least=least >> right, greatest=greatest >> right, right=right)
            parts.append(part(kind="raw", slope=weight * coder.slope, instead=instead))
        elif term.kind == "missing":
            parts += [part(kind="missing", slope=weight)] if guarded else []
        else:
            kind, value, high = literal(coder.interval(term.kind, term.value), coder, guarded)
            if kind == "always":
                intercepts[term.prototype] += weight
            elif kind != "never":
                parts.append(part(kind=kind, slope=weight, value=value, high=high))
    owner = flat.owners[0] if flat.has_one_owner else None
    shares = len(flat.rows) < len(flat.terms)
    return Sketch(
        intercepts=tuple(intercepts),
        parts=tuple(parts),
        owner=owner,
        cut=Fraction(flat.decision.cut),
        shares=shares,
    )


def literal(holds: Interval, coder: Coder, guarded: bool) -> tuple[str, int | None, int | None]:
    """Kind, value and high of the literal that holds at these codes of ``coder``.

    If ``guarded``, it must not hold at the code of a missing value, which is less than all others.
    """
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


def _rounded_term(part: Part, weight: int, instead: int | None) -> TargetTerm[int]:
    return TargetTerm(
        prototype=part.prototype,
        input=part.input,
        weight=weight,
        kind=part.kind,
        text=part.text,
        value=part.value,
        high=part.high,
        instead=instead,
        right=part.right,
    )


def codes_in_products(coder: Coder, code_bits: int) -> tuple[int, int]:
    """The least and the greatest code for which sums are proven not to overflow: of `Linear`, all of this width."""
    if isinstance(coder, Linear):
        return -(2 ** (code_bits - 1)), 2 ** (code_bits - 1) - 1
    return coder.least, coder.greatest
