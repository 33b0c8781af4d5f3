"""The smallest change of a case that changes its decision, exactly: by a mixed-integer program (`program`). Where no
number that may change is weighed, the regions that literals cut features into are all there is to choose, and every
choice is tried if they are not too many.

A number's change is measured in its range in training, changes are added up; another category, or a value where none
was, counts 1. No change goes beyond the range in training (and the case's own value).
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from smallearn._text import show, show_category
from smallearn.explain._case.domains import OTHER, Domain, Known, Region, domain_of
from smallearn.explain._case.program import Program, goals_of
from smallearn.model import SMaLLModel, Term
from smallearn.model._columns import factor_of_one, is_missing
from smallearn.model._rows import as_row
from smallearn.model._rule import decide, score

MOST_CHOICES = 100_000  # of regions, that are tried one and all
ROUNDING = 0.02  # how much further than needed a change may go for the sake of a short number


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


# --- the search ------------------------------------------------------------------------------------------------------


def smallest_flip(model: SMaLLModel, values: dict[int, Any], changeable: Sequence[int], known: Known) -> Flip | None:
    """The smallest change of the features at these positions after which the model decides otherwise."""
    current = model.predict_one(as_row(model, values))
    domains = [
        domain_of(model, term, values[term.feature], known) for term in model.features if term.feature in changeable
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
    as_it_is = np.zeros(1, dtype=int)
    chosen: dict[int, tuple[list[Any], np.ndarray]] = {}
    for domain, choice in zip(domains, choices, strict=True):
        left, place = np.divmod(left, len(choice))
        chosen[domain.feature] = choice, place
        cost += np.array([_size([domain], [value]) for value in choice])[place]

    def factor(term: Term) -> np.ndarray:
        choice, place = chosen.get(term.feature, ([values[term.feature]], as_it_is))
        return np.array([factor_of_one(term, value) for value in choice])[place]

    for j, prototype in enumerate(model.prototypes):
        z[:, j] = score(prototype, factor)
    cost[decide(z, model.owners, len(model.classes)) == model.classes.index(current)] = np.inf
    best = int(cost.argmin())
    return None if math.isinf(cost[best]) else [choice[place[best]] for choice, place in chosen.values()]


def _by_program(model: SMaLLModel, values: dict[int, Any], domains: Sequence[Domain], current: Any) -> Flip | None:
    program = Program(model, values, domains)
    best: Flip | None = None
    for goal in goals_of(model, model.classes.index(current)):
        limit = math.inf if best is None else best.size
        for at_ties in (True, False):  # a tie that the solver's rounding spoils is kept off, like other bounds
            moved = program.solve(goal, at_ties, limit)
            flip = None if moved is None else _in_short_numbers(model, values, domains, moved, current)
            if flip is not None or moved is None:
                break
        if flip is not None and flip.size < limit:
            best = flip
    return best


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
