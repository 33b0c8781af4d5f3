"""The numbers of a change in few digits, for a reader."""

import math
from collections.abc import Sequence
from typing import Any

from smallearn.explain._case.changeable import Changeable, is_step
from smallearn.explain._case.changes import Flip
from smallearn.explain._case.domains import Domain

ROUNDING = 0.02  # how much larger than needed a change may become by rounding
PUSHES = (0.0, 1e-12, 1e-9, 1e-6, 1e-4)  # of a range, if the exact numbers do not change the decision


def in_short_numbers(row: Changeable, after: Sequence[Any]) -> Flip | None:
    """The change in numbers of few digits, slightly larger than needed; in exact numbers if that is not possible."""
    exact = [_whole(domain, value) for domain, value in zip(row.domains, after, strict=True)]
    limit = (1.0 + ROUNDING) * row.size(exact)
    tried = [[_away(domain, value, n) for domain, value in zip(row.domains, exact, strict=True)] for n in range(1, 9)]
    short = [values for values in tried if row.size(values) <= limit]
    pushed = [
        [_pushed(domain, value, further) for domain, value in zip(row.domains, exact, strict=True)]
        for further in PUSHES
    ]
    enough = next((values for values in (*short, *pushed) if row.flips(values)), None)
    return None if enough is None else row.flip(_needed(row, enough))


def _needed(row: Changeable, enough: Sequence[Any]) -> list[Any]:
    """Leave out changes that are not needed, and change whole numbers no further than needed."""
    after = list(enough)
    for i, domain in enumerate(row.domains):
        without = [*after[:i], domain.now, *after[i + 1 :]]
        if row.flips(without):
            after = without
        elif domain.whole and domain.now is not None and after[i] is not None:
            near, far = domain.now, after[i]  # not far enough, far enough
            while abs(far - near) > 1.0:
                middle = float(math.floor(0.5 * (near + far)))
                if row.flips([*after[:i], middle, *after[i + 1 :]]):
                    far = middle
                else:
                    near = middle
            after[i] = far
    return after


def _whole(domain: Domain, after: Any) -> Any:
    """A whole number where the feature has no others: outward, unless it is whole but for rounding."""
    if not domain.whole or after is None:
        return after
    if abs(after - round(after)) <= 1e-6 or domain.now is None:
        return _within(domain, float(round(after)))
    return _within(domain, float(math.ceil(after) if after > domain.now else math.floor(after)))


def _within(domain: Domain, number: float) -> float:
    """The number, or the end of the domain that it lies beyond."""
    low = min(region.low for region in domain.regions if region.is_number)
    high = max(region.high for region in domain.regions if region.is_number)
    if domain.whole:
        low, high = float(math.ceil(low)), float(math.floor(high))
    return min(max(number, low), high)


def _is_move(domain: Domain, after: Any) -> bool:
    """Whether a number changes by more than the solver's rounding."""
    return is_step(domain, after) and abs(after - domain.now) > 1e-9 * domain.range


def _away(domain: Domain, after: Any, digits: int) -> Any:
    """The number rounded away from the present value, to ``digits`` digits of its range."""
    if not domain.is_number or domain.whole or after is None:
        return after
    if domain.now is not None and not _is_move(domain, after):
        return domain.now
    step = 10.0 ** (math.floor(math.log10(domain.range)) + 1 - digits)
    up = domain.now is None or after > domain.now
    short = (math.ceil if up else math.floor)(round(after / step, 6)) * step
    return _within(domain, float(f"{short:.12g}"))


def _pushed(domain: Domain, after: Any, further: float) -> Any:
    """The number moved away from the present value by a share of its range."""
    if not domain.is_number or domain.whole or after is None:
        return after
    if domain.now is None:
        return _within(domain, after)
    if not _is_move(domain, after):
        return domain.now
    return _within(domain, after + further * math.copysign(domain.range, after - domain.now))
