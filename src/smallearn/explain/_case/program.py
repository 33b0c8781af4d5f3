"""The smallest change that reaches a goal, as a mixed-integer program over the regions of the features."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp

from smallearn.explain._case.domains import ROOM, Domain, Region
from smallearn.model import SMaLLModel
from smallearn.model._columns import factor_in_row, factor_of_one
from smallearn.model._decision import contributions


@dataclass(frozen=True)
class Above:
    """The score of prototype ``one`` is above that of ``other`` by ``lead``; None stands for the cut of two classes.

    ``tie``: equal scores are enough.
    """

    one: int | None
    other: int | None
    tie: bool
    lead: float = 0.0


def goals_of(model: SMaLLModel, current: int) -> list[list[Above]]:
    """Each goal, if all of its comparisons hold, gives the row to another class. A tie goes to the first class."""
    owners = model.owners
    owner = model.sole_owner
    if owner is not None:
        if owner == current:
            return [[Above(one=None, other=j, tie=owner == 1) for j in range(len(owners))]]
        return [[Above(one=j, other=None, tie=owner == 0)] for j in range(len(owners))]
    return [
        [Above(one=j, other=i, tie=owners[j] < owners[i]) for i in range(len(owners)) if owners[i] != owners[j]]
        for j in range(len(owners))
        if owners[j] != current
    ]


@dataclass(frozen=True)
class _Piece:
    """A region, or the part of it on one side of the present value.

    A value in it is ``base + step · u`` with ``least ≤ u ≤ most``; being in it costs ``entry + toll · u``.
    """

    domain: int
    region: Region
    base: float = 0.0
    step: float = 0.0
    least: float = 0.0
    most: float = 0.0
    entry: float = 0.0
    toll: float = 0.0

    def value(self, u: float) -> Any:
        """The value at ``u``."""
        return float(self.base + self.step * u) if self.region.is_number else self.region.value


def _pieces(d: int, domain: Domain) -> Iterator[_Piece]:
    """The pieces of the domain at position ``d``."""
    for region in domain.regions:
        if not region.is_number:
            yield _Piece(domain=d, region=region, entry=0.0 if _is_present(region, domain.now) else 1.0)
            continue
        unit = 1.0 if domain.counts else domain.range
        if domain.now is None:
            most = (region.high - region.low) / unit
            yield _Piece(domain=d, region=region, base=region.low, step=unit, most=most, entry=1.0)
            continue
        for side in (-1.0, 1.0):
            ends = sorted(side * (end - domain.now) / unit for end in (region.low, region.high))
            if ends[1] >= 0.0:
                yield _Piece(
                    domain=d,
                    region=region,
                    base=domain.now,
                    step=side * unit,
                    least=max(0.0, ends[0]),
                    most=ends[1],
                    toll=unit / domain.range,
                )


def _is_present(region: Region, now: Any) -> bool:
    return region.value is None if now is None else region.value == now


class Program:
    """The program for one row. Two variables for each piece: whether the value is in it, and where (``u``).

    ``constant + slope @ variables`` are the scores of the prototypes.
    """

    def __init__(self, model: SMaLLModel, values: dict[int, Any], domains: Sequence[Domain]):
        self.n_domains = len(domains)
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
        self.constant = _constants(model, values, domains)
        self.cut = model.cut
        if model.decision.offsets is not None:
            self.constant += np.array(model.decision.offsets)[list(model.owners)]
        self.slope = _slopes(model, domains, self.pieces)

    def solve(self, goal: Sequence[Above], *, at_ties: bool, limit: float) -> list[Any] | None:
        """New values of the domains that reach the goal at the lowest cost, if that is below the limit.

        ``at_ties``: whether a tie is reached exactly, where one is enough, or with some room.
        """
        rows, least = [], []
        for above in goal:
            one, other = self._score(above.one), self._score(above.other)
            slope, level = one[0] - other[0], one[1] - other[1] - above.lead
            reach = abs(level) + float(np.abs(slope) @ self.bounds.ub) or 1.0
            rows.append(slope / reach)
            least.append(-level / reach + (0.0 if above.tie and at_ties else ROOM))
        wanted = LinearConstraint(np.array(rows), np.array(least), np.full(len(rows), np.inf))
        solution = milp(
            self.cost,
            integrality=self.integer,
            bounds=self.bounds,
            constraints=[*self.limits, wanted],
            options={"mip_rel_gap": 1e-9},
        )
        if solution.x is None or solution.fun >= limit:
            return None
        return [self._value(d, solution.x) for d in range(self.n_domains)]

    def _score(self, prototype: int | None) -> tuple[np.ndarray, float]:
        """The score of a prototype, with its offset, as a linear function of the variables: slope and constant."""
        if prototype is None:
            return np.zeros(2 * len(self.pieces)), self.cut
        return self.slope[prototype], float(self.constant[prototype])

    def _value(self, d: int, x: np.ndarray) -> Any:
        """The value of a domain in a solution."""
        mine = [place for place, piece in enumerate(self.pieces) if piece.domain == d]
        place = max(mine, key=lambda place: x[place])
        return self.pieces[place].value(float(x[len(self.pieces) + place]))


def _constants(model: SMaLLModel, values: dict[int, Any], domains: Sequence[Domain]) -> np.ndarray:
    """What each prototype's score is made of besides the features that may change."""
    free = {domain.feature for domain in domains}
    constant = np.zeros(len(model.prototypes))
    for j, prototype in enumerate(model.prototypes):
        fixed = replace(prototype, terms=tuple(term for term in prototype.terms if term.feature not in free))
        constant[j] = prototype.intercept + sum(contributions(fixed, partial(factor_in_row, values)))
    return constant


def _slopes(model: SMaLLModel, domains: Sequence[Domain], pieces: Sequence[_Piece]) -> np.ndarray:
    """What each variable adds to each prototype's score: prototypes × variables."""
    n = len(pieces)
    slope = np.zeros((len(model.prototypes), 2 * n))
    for place, piece in enumerate(pieces):
        for j, term in domains[piece.domain].terms:
            if term.kind == "raw" and piece.region.is_number:
                slope[j, place] += term.weight * piece.base
                slope[j, n + place] += term.weight * piece.step
            else:
                slope[j, place] += term.weight * factor_of_one(term, piece.region.sample)
    return slope
