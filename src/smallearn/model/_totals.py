"""The totals that a score card of literals can reach."""

import math
from collections.abc import Sequence

from smallearn.model._columns import factor_of_one
from smallearn.model._parts import Prototype, Term

MOST_COMBINATIONS = 5000


def attainable_totals(prototypes: Sequence[Prototype]) -> list[int] | None:
    """The highest scores that a row can have, in order; None if the combinations are too many.

    The literals of one feature depend on each other: of ``[x ≤ 3]`` and ``[x > 3]`` only one is true. So each feature
    is given one value from every region on which its literals are constant, and the features are combined freely.
    """
    literals: dict[int, list[Term]] = {}
    for prototype in prototypes:
        for term in prototype.terms:
            literals.setdefault(term.feature, []).append(term)
    totals = {tuple(round(prototype.intercept) for prototype in prototypes)}
    for feature, terms in literals.items():
        numbers = {float(term.value) for term in terms if isinstance(term.value, int | float)} or {0.0}
        nearby = {math.nextafter(number, side) for number in numbers for side in (-math.inf, math.inf)}
        values = [None, *(term.value for term in terms), *filter(math.isfinite, numbers | nearby)]
        gains = {tuple(_gain(prototype, feature, value) for prototype in prototypes) for value in values}
        totals = {tuple(map(sum, zip(total, gain, strict=True))) for total in totals for gain in gains}
        if len(totals) > MOST_COMBINATIONS:
            return None
    return sorted({max(total) for total in totals})


def _gain(prototype: Prototype, feature: int, value: object) -> int:
    """The points that a prototype gets from one feature."""
    mine = [term for term in prototype.terms if term.feature == feature]
    return sum(round(term.points) * int(factor_of_one(term, value)) for term in mine)
