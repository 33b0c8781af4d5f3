"""The smallest change of a case that changes its decision, exactly: a mixed-integer program over the values of the
features, in which each literal is constant on each region that the literals of a feature cut it into. Where no number
that may change is weighed, the regions are all there is to choose, and every choice is tried if they are not too many.

A number's change is measured in its range in training, changes are added up; another category, or a value where none
was, counts 1. No change goes beyond the range in training (and the case's own value).
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp

from smallearn.columns import factor_of_one, gather, is_missing
from smallearn.explain.rows import as_row
from smallearn.model import SMaLLModel, Term, decide
from smallearn.words import show, show_category

ROOM = 1e-5  # of a range, or of what scores can vary by, kept from a bound that is not to be met; the solver's is 1e-6
MOST_STEPS = (
    1e4  # of a whole number that the solver counts; beyond them it is solved as any number, and made whole then
)
MOST_CHOICES = 100_000  # of regions, that are tried one and all
ROUNDING = 0.02  # how much further than needed a change may go for the sake of a short number
OTHER = "any other value"  # where the model knows no category to name


@dataclass(frozen=True)
class Change:
    """``label`` from one value to another (None: missing), in ``unit``."""

    feature: int
    label: str
    before: Any
    after: Any
    unit: str | None = None

    @property
    def text(self) -> str:
        """``age from 50 to 38 years``."""
        before = "missing" if is_missing(self.before) else show_category(plain(self.before))
        truth = isinstance(self.before, bool | np.bool_) and self.after in (0.0, 1.0)
        after = self.after if self.after is OTHER else show_category(bool(self.after) if truth else plain(self.after))
        return f"{show(self.label, quote=False)} from {before} to {after}{of_unit(self.unit)}"


def of_unit(unit: str | None) -> str:
    """What stands behind a number."""
    return f" {show(unit, quote=False)}" if unit else ""


@dataclass(frozen=True)
class Flip:
    """Changes that together make the model decide for ``label``; ``size`` adds them up, in ranges of training."""

    changes: tuple[Change, ...]
    label: Any
    size: float

    @property
    def text(self) -> str:
        """``age from 50 to 38 and colour from 'red' to 'blue' makes it 'yes'``."""
        changes = " and ".join(change.text for change in self.changes)
        return f"{changes} {'makes' if len(self.changes) == 1 else 'make'} it {show(self.label)}"


def plain(value: Any) -> Any:
    """A value of numpy's as one of Python's; a whole number without a point."""
    value = value.item() if isinstance(value, np.generic) else value
    return int(value) if isinstance(value, float) and value.is_integer() and abs(value) < 1e15 else value


# --- what a feature may become ---------------------------------------------------------------------------------------


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
    categories: dict[int, dict[Any, None]] = {}
    if X is None:
        return Known(frozenset(), ranges, {})
    found: dict[int, list[np.ndarray]] = {}
    for _, columns in gather(X, model.features, model.n_features):
        for term in model.features:
            if _is_number(model, term.feature):
                numbers = columns[term.feature].numbers
                found.setdefault(term.feature, []).append(numbers[~np.isnan(numbers)])
            else:
                present = columns[term.feature].values[~columns[term.feature].missing]
                categories.setdefault(term.feature, {}).update(dict.fromkeys(present.tolist()))
    for feature, parts in found.items():
        numbers = np.concatenate(parts)
        if len(numbers):
            ranges.setdefault(feature, (float(numbers.min()), float(numbers.max())))
            if np.all(numbers == np.rint(numbers)):
                whole.add(feature)
    return Known(frozenset(whole), ranges, {feature: tuple(values) for feature, values in categories.items()})


def _is_number(model: SMaLLModel, feature: int) -> bool:
    """Whether a feature is weighed or compared by size; one that is only compared for equality is a category."""
    return any(term.kind in ("raw", "at_most", "above") for term in model.terms if term.feature == feature)


def _domain(model: SMaLLModel, feature: Term, now: Any, known: Known) -> Domain:
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


# --- the program -----------------------------------------------------------------------------------------------------


def smallest_flip(model: SMaLLModel, values: dict[int, Any], changeable: Sequence[int], known: Known) -> Flip | None:
    """The smallest change of the features at these positions after which the model decides otherwise."""
    current = model.predict_one(as_row(model, values))
    domains = [
        _domain(model, term, values[term.feature], known) for term in model.features if term.feature in changeable
    ]
    if not domains:
        return None
    if all(term.kind != "raw" for domain in domains for _, term in domain.terms):
        choices = [_choices(domain) for domain in domains]
        if math.prod(map(len, choices)) <= MOST_CHOICES:
            moved = _cheapest(model, values, domains, choices, current)
            return None if moved is None else _in_short_numbers(model, values, domains, moved, current)
    return _by_program(model, values, domains, current)


def _choices(domain: Domain) -> list[Any]:
    """The nearest value of each region; of regions on which the same literals hold, the nearest."""
    found: dict[tuple[float, ...], Any] = {}
    nearest = [_nearest(domain, region) for region in domain.regions]
    for value in sorted(nearest, key=lambda value: _size([domain], [value])):
        found.setdefault(tuple(factor_of_one(term, value) for _, term in domain.terms), value)
    return list(found.values())


def _nearest(domain: Domain, region: Region) -> Any:
    if not region.is_number or domain.now is None:
        return region.sample
    return min(max(domain.now, region.low), region.high)


def _cheapest(model, values, domains: Sequence[Domain], choices: Sequence[list[Any]], current: Any) -> list[Any] | None:
    """Of every choice of values that changes the decision the nearest, by scores added up as the model does."""
    left = np.arange(math.prod(map(len, choices)))
    cost, z = np.zeros(len(left)), np.empty((len(left), len(model.prototypes)))
    chosen: dict[int, tuple[list[Any], np.ndarray]] = {}
    for domain, choice in zip(domains, choices, strict=True):
        left, place = np.divmod(left, len(choice))
        chosen[domain.feature] = choice, place
        cost += np.array([_size([domain], [value]) for value in choice])[place]
    for j, prototype in enumerate(model.prototypes):
        z[:, j] = prototype.intercept
        for term in prototype.terms:
            choice, place = chosen.get(term.feature, ([values[term.feature]], np.zeros(1, dtype=int)))
            z[:, j] += term.weight * np.array([factor_of_one(term, value) for value in choice])[place]
    cost[decide(z, model.owners, len(model.classes)) == model.classes.index(current)] = np.inf
    best = int(cost.argmin())
    return None if math.isinf(cost[best]) else [choice[place[best]] for choice, place in chosen.values()]


def _by_program(model: SMaLLModel, values: dict[int, Any], domains: Sequence[Domain], current: Any) -> Flip | None:
    program = _Program(model, values, domains)
    best: Flip | None = None
    for goal in _goals(model, model.classes.index(current)):
        limit = math.inf if best is None else best.size
        for at_ties in (True, False):  # a tie that the solver's rounding spoils is kept off, like other bounds
            moved = program.solve(goal, at_ties, limit)
            flip = None if moved is None else _in_short_numbers(model, values, domains, moved, current)
            if flip is not None or moved is None:
                break
        if flip is not None and flip.size < limit:
            best = flip
    return best


@dataclass(frozen=True)
class Above:
    """The score of prototype ``one`` is above that of ``other``, 0 where that is None; a tie is enough or not."""

    one: int | None
    other: int | None
    tie: bool


def _goals(model: SMaLLModel, current: int) -> list[list[Above]]:
    """Each of these, if all of it holds, gives the case to another class. A tie goes to the first of the classes."""
    owners = model.owners
    if len(model.classes) == 2:
        owner = owners[0]
        if owner == current:
            return [[Above(None, j, tie=owner == 1) for j in range(len(owners))]]
        return [[Above(j, None, tie=owner == 0)] for j in range(len(owners))]
    return [
        [Above(j, i, tie=owners[j] < owners[i]) for i in range(len(owners)) if owners[i] != owners[j]]
        for j in range(len(owners))
        if owners[j] != current
    ]


@dataclass(frozen=True)
class _Piece:
    """A region, or the part of it on one side of the present value: ``x = base + step · u``, u of 0 or more. What it
    costs to be there, and for each unit of u."""

    domain: int
    region: Region
    base: float = 0.0
    step: float = 0.0
    least: float = 0.0
    most: float = 0.0
    entry: float = 0.0
    toll: float = 0.0

    def value(self, u: float) -> Any:
        return float(self.base + self.step * u) if self.region.is_number else self.region.value


def _pieces(d: int, domain: Domain) -> Iterator[_Piece]:
    for region in domain.regions:
        if not region.is_number:
            yield _Piece(d, region, entry=0.0 if _same_place(region, domain.now) else 1.0)
            continue
        unit = 1.0 if domain.counts else domain.range
        if domain.now is None:
            yield _Piece(d, region, region.low, unit, 0.0, (region.high - region.low) / unit, entry=1.0)
            continue
        for side in (-1.0, 1.0):
            ends = sorted(side * (end - domain.now) / unit for end in (region.low, region.high))
            if ends[1] >= 0.0:
                yield _Piece(d, region, domain.now, side * unit, max(0.0, ends[0]), ends[1], toll=unit / domain.range)


class _Program:
    """Two variables for each piece: whether the value is in it, and where."""

    def __init__(self, model: SMaLLModel, values: dict[int, Any], domains: Sequence[Domain]):
        self.domains = domains
        self.pieces = [piece for d, domain in enumerate(domains) for piece in _pieces(d, domain)]
        n = len(self.pieces)
        self.cost = np.array([*(piece.entry for piece in self.pieces), *(piece.toll for piece in self.pieces)])
        moves_by_one = [float(domains[piece.domain].counts) for piece in self.pieces]
        self.integer = np.array([1.0] * n + moves_by_one)
        self.bounds = Bounds(np.zeros(2 * n), np.array([1.0] * n + [piece.most for piece in self.pieces]))
        one_each = [[float(piece.domain == d) for piece in self.pieces] + [0.0] * n for d in range(len(domains))]
        least = np.hstack([np.diag([-piece.least for piece in self.pieces]), np.eye(n)])
        most = np.hstack([np.diag([piece.most for piece in self.pieces]), -np.eye(n)])
        self.limits = [
            LinearConstraint(np.array(one_each), 1.0, 1.0),
            LinearConstraint(np.vstack([least, most]), 0.0, np.inf),
        ]
        self._scores(model, values)

    def _scores(self, model: SMaLLModel, values: dict[int, Any]) -> None:
        """Each prototype's score as a constant and what the variables add."""
        free = {domain.feature for domain in self.domains}
        n = len(self.pieces)
        self.constant, self.slope = np.zeros(len(model.prototypes)), np.zeros((len(model.prototypes), 2 * n))
        for j, prototype in enumerate(model.prototypes):
            fixed = [term for term in prototype.terms if term.feature not in free]
            self.constant[j] = prototype.intercept
            self.constant[j] += sum(term.weight * factor_of_one(term, values[term.feature]) for term in fixed)
        for place, piece in enumerate(self.pieces):
            for j, term in self.domains[piece.domain].terms:
                if term.kind == "raw" and piece.region.is_number:
                    self.slope[j, place] += term.weight * piece.base
                    self.slope[j, n + place] += term.weight * piece.step
                else:
                    self.slope[j, place] += term.weight * factor_of_one(term, piece.region.sample)

    def _score(self, prototype: int | None) -> tuple[np.ndarray, float]:
        if prototype is None:
            return np.zeros(2 * len(self.pieces)), 0.0
        return self.slope[prototype], float(self.constant[prototype])

    def solve(self, goal: Sequence[Above], at_ties: bool, limit: float) -> list[Any] | None:
        """New values of the domains that reach the goal at the least cost, if that is below the limit."""
        rows, least = [], []
        for above in goal:
            one, other = self._score(above.one), self._score(above.other)
            slope, level = one[0] - other[0], one[1] - other[1]
            reach = abs(level) + float(np.abs(slope) @ self.bounds.ub) or 1.0
            rows.append(slope / reach)
            least.append(-level / reach + (0.0 if above.tie and at_ties else ROOM))
        wanted = LinearConstraint(np.array(rows), np.array(least), np.full(len(rows), np.inf))
        found = milp(
            self.cost,
            integrality=self.integer,
            bounds=self.bounds,
            constraints=[*self.limits, wanted],
            options={"mip_rel_gap": 1e-9},
        )
        if found.x is None or found.fun >= limit:
            return None
        return [self._answer(d, found.x) for d in range(len(self.domains))]

    def _answer(self, d: int, x: np.ndarray) -> Any:
        mine = [place for place, piece in enumerate(self.pieces) if piece.domain == d]
        place = max(mine, key=lambda place: x[place])
        return self.pieces[place].value(float(x[len(self.pieces) + place]))


def _same_place(region: Region, now: Any) -> bool:
    return region.value is None if now is None else region.value == now


# --- for a reader ----------------------------------------------------------------------------------------------------


def _in_short_numbers(model, values, domains: Sequence[Domain], moved: Sequence[Any], current: Any) -> Flip | None:
    """The change in numbers with few digits, a little further than needed; exact if that will not do."""

    def flips(after: Sequence[Any]) -> bool:
        return bool(_decides(model, values, domains, after) != current)

    exact = [_whole(domain, after) for domain, after in zip(domains, moved, strict=True)]
    limit = (1.0 + ROUNDING) * _size(domains, exact)
    tried = [[_away(domain, after, n) for domain, after in zip(domains, exact, strict=True)] for n in range(1, 9)]
    short = [after for after in tried if _size(domains, after) <= limit]
    pushed = [
        [_pushed(domain, after, further) for domain, after in zip(domains, exact, strict=True)]
        for further in (0.0, 1e-12, 1e-9, 1e-6, 1e-4)
    ]
    found = next((after for after in (*short, *pushed) if flips(after)), None)
    return None if found is None else _flip(model, values, domains, _needed(domains, found, flips))


def _needed(domains: Sequence[Domain], moved: Sequence[Any], flips: Callable[[Sequence[Any]], bool]) -> list[Any]:
    """Without changes that are not needed, and whole numbers no further than needed."""
    after = list(moved)
    for i, domain in enumerate(domains):
        without = [*after[:i], domain.now, *after[i + 1 :]]
        if flips(without):
            after = without
        elif domain.whole and domain.now is not None and after[i] is not None:
            near, far = domain.now, after[i]  # not far enough, far enough
            while abs(far - near) > 1.0:
                middle = float(math.floor(0.5 * (near + far)))
                if flips([*after[:i], middle, *after[i + 1 :]]):
                    far = middle
                else:
                    near = middle
            after[i] = far
    return after


def _whole(domain: Domain, after: Any) -> Any:
    """A whole number where the feature has no others: outward, unless it is one but for rounding; within the limits."""
    if not domain.whole or after is None:
        return after
    if abs(after - round(after)) <= 1e-6 or domain.now is None:
        return _within(domain, float(round(after)))
    return _within(domain, float(math.ceil(after) if after > domain.now else math.floor(after)))


def _within(domain: Domain, number: float) -> float:
    """The number, or the end of the domain that it is beyond."""
    low = min(region.low for region in domain.regions if region.is_number)
    high = max(region.high for region in domain.regions if region.is_number)
    if domain.whole:
        low, high = float(math.ceil(low)), float(math.floor(high))
    return min(max(number, low), high)


def _is_step(domain: Domain, after: Any) -> bool:
    """A number to a number: neither category nor gap."""
    return domain.is_number and domain.now is not None and after is not None


def _is_move(domain: Domain, after: Any) -> bool:
    """A number to another, by more than the solver's own rounding."""
    return _is_step(domain, after) and abs(after - domain.now) > 1e-9 * domain.range


def _away(domain: Domain, after: Any, digits: int) -> Any:
    """The number rounded away from the present value, to a digit of its range; within the limits."""
    if not domain.is_number or domain.whole or after is None:
        return after
    if domain.now is not None and not _is_move(domain, after):
        return domain.now
    step = 10.0 ** (math.floor(math.log10(domain.range)) + 1 - digits)
    up = domain.now is None or after > domain.now
    short = (math.ceil if up else math.floor)(round(after / step, 6)) * step
    return _within(domain, float(f"{short:.12g}"))


def _pushed(domain: Domain, after: Any, further: float) -> Any:
    """The number a little further from the present value; within the limits."""
    if not domain.is_number or domain.whole or after is None:
        return after
    if domain.now is None:
        return _within(domain, after)
    if not _is_move(domain, after):
        return domain.now
    return _within(domain, after + further * math.copysign(domain.range, after - domain.now))


def _size(domains: Sequence[Domain], moved: Sequence[Any]) -> float:
    total = 0.0
    for domain, after in zip(domains, moved, strict=True):
        if _is_step(domain, after):
            total += abs(after - domain.now) / domain.range
        elif not (after is None and domain.now is None) and after != domain.now:
            total += 1.0
    return total


def _changed(values: dict[int, Any], domains: Sequence[Domain], moved: Sequence[Any]) -> dict[int, Any]:
    return {**values, **{domain.feature: after for domain, after in zip(domains, moved, strict=True)}}


def _decides(model, values, domains, moved) -> Any:
    return model.predict_one(as_row(model, _changed(values, domains, moved)))


def _flip(model, values, domains: Sequence[Domain], moved: Sequence[Any]) -> Flip:
    changes = tuple(
        Change(domain.feature, domain.label, None if domain.now is None else values[domain.feature], after)
        for domain, after in zip(domains, moved, strict=True)
        if not (after is None and domain.now is None) and after != domain.now
    )
    return Flip(changes, _decides(model, values, domains, moved), _size(domains, moved))
