"""Covers of Boolean functions: as few and as simple cubes as possible with a given union."""

from collections.abc import Callable, Iterable, Sequence
from functools import reduce
from itertools import combinations
from math import prod
from operator import and_

import numpy as np

from smallearn.explain._dnf.cubes import Space, absorb, as_table, primes

MILP_ENTRIES = 100_000  # of the matrix of a cover that is solved exactly
MILP_NODES = 2000  # of branch and bound; a count and not a time, so that the answer is the same everywhere
MOST_VALUES = 6  # of a variable, of which every subset is tried

Cost = Callable[[int], int]  # how long and how awkward a cube is as text


def covers(space: Space, cubes: Sequence[int], cube: int) -> bool:
    """Whether every combination in ``cube`` lies in one of ``cubes``."""
    if any(cube | other == other for other in cubes):
        return True
    parts = {part for part in (other & cube for other in cubes) if space.inhabited(part)}
    return _covers(parts, cube, space.fields)


def _covers(parts: set[int], cube: int, fields: Sequence[int]) -> bool:
    """Whether parts of a cube cover it: the cube is split where the parts differ, until the answer is obvious."""
    field = 0
    while parts and cube not in parts:
        common = reduce(and_, parts)
        fields = [field for field in fields if (common ^ cube) & field]
        # A value that only unrestricted parts allow is the hardest to cover: if they cover it, they cover the others.
        field = next((field for field in fields if _has_unused_value(parts, cube, field)), 0)
        if not field:
            break
        parts = {part for part in parts if part & field == cube & field}
    if not parts or cube in parts:
        return bool(parts)
    if sum(_size(part, fields) for part in parts) < _size(cube, fields):
        return False
    field = max(fields, key=lambda field: sum((part ^ cube) & field != 0 for part in parts))
    insides = {frozenset(part for part in parts if part & value): value for value in _bits(cube & field)}
    hardest = {inside: value for inside, value in insides.items() if not any(other < inside for other in insides)}
    return all(
        _covers({part & ~field | value for part in inside}, cube & ~field | value, fields)
        for inside, value in hardest.items()
    )


def _has_unused_value(parts: set[int], cube: int, field: int) -> bool:
    """Whether the variable has a value that no part restricted there allows."""
    used = 0
    for part in parts:
        if (part ^ cube) & field:
            used |= part
    return cube & field & ~used != 0


def _size(cube: int, fields: Sequence[int]) -> int:
    """The number of combinations of these variables in the cube."""
    return prod((cube & field).bit_count() for field in fields)


def _bits(number: int) -> Iterable[int]:
    """The powers of two that add up to the number."""
    while number:
        yield number & -number
        number &= number - 1


def expand(space: Space, cube: int, cubes: Sequence[int]) -> int:
    """A prime of the union of ``cubes`` that contains ``cube``.

    Conditions on whole variables are dropped first, the last variable first; then single values are added.
    """
    for steps in (list(reversed(space.fields)), list(_bits(space.full & ~cube))):
        for step in steps:
            if cube | step != cube and covers(space, cubes, cube | step):
                cube |= step
    return cube


def prime_cover(space: Space, cubes: Sequence[int], cost: Cost, *, are_prime: bool = False) -> list[int]:
    """Primes of the union of ``cubes`` that have the same union, none of them redundant: few, not the fewest."""
    grown = list(cubes) if are_prime else absorb(expand(space, cube, cubes) for cube in cubes)
    return _needed(space, grown, cost)


def _needed(space: Space, cubes: Sequence[int], cost: Cost) -> list[int]:
    """Drop cubes that the others cover, the most costly first."""
    kept = list(cubes)
    for cube in sorted(cubes, key=lambda cube: (-cost(cube), cube)):
        others = [other for other in kept if other != cube]
        if covers(space, others, cube):
            kept = others
    return kept


def plainer(space: Space, cubes: Sequence[int], cost: Cost) -> list[int]:
    """The same union in cubes of lower cost.

    A cube loses values of a variable that the other cubes cover, if that makes its text simpler.
    """
    simpler = list(cubes)
    for i in sorted(range(len(simpler)), key=lambda i: (-cost(simpler[i]), simpler[i])):
        others = simpler[:i] + simpler[i + 1 :]
        for field in space.fields:
            simpler[i] = _narrowed(space, simpler[i], field, others, cost)
        for field in space.fields:
            if simpler[i] != cubes[i] and covers(space, [*others, simpler[i]], simpler[i] | field):
                simpler[i] |= field
    return simpler if simpler == list(cubes) else _needed(space, absorb(simpler), cost)


def _narrowed(space: Space, cube: int, field: int, others: Sequence[int], cost: Cost) -> int:
    """The cube without values of one variable that the others cover, at the lowest cost."""
    values = list(_bits(cube & field))
    if cube & field == field or len(values) > MOST_VALUES:
        return cube
    some = [sum(chosen) for size in range(1, len(values)) for chosen in combinations(values, size)]
    tried = [(cost(cube & ~field | left), -left.bit_count(), cube & ~field | left) for left in some]
    for price, _, narrow in sorted(tried):
        if price < cost(cube) and covers(space, others, cube & ~field | (cube & field & ~narrow)):
            return narrow
    return cube


def joined(space: Space, cubes: Sequence[int]) -> list[int]:
    """Merge cubes that differ in one variable only."""
    kept = absorb(cubes)
    for one, other in combinations(kept, 2):
        differing = [field for field in space.fields if (one ^ other) & field]
        if len(differing) == 1:
            return joined(space, [one | other, *(cube for cube in kept if cube not in (one, other))])
    return kept


def fewest_primes(space: Space, truth: np.ndarray, cost: Cost) -> list[int]:
    """The fewest primes whose union is the function, of the lowest cost; ``truth`` is its value on all combinations."""
    listed = primes(space, as_table(truth))
    if not listed:
        return []
    held = np.array([space.points(cube) for cube in listed])[:, truth]
    return [listed[i] for i in minimum_cover(held, [cost(cube) for cube in listed])]


def minimum_cover(held: np.ndarray, costs: Sequence[int]) -> list[int]:
    """The fewest sets that contain every point (``held``: sets × points), of the lowest total cost among the fewest.

    Exact if the problem is small; otherwise greedy, without redundant sets.
    """
    points = np.unique(held, axis=1)
    needed = np.unique(np.argmax(points[:, points.sum(axis=0) == 1], axis=0))  # the only set that contains some point
    points = points[:, ~points[needed].any(axis=0)]
    if points.shape[1] == 0:
        return [int(i) for i in needed]
    useful = np.flatnonzero(points.any(axis=1))
    weights = np.asarray(costs)[useful]
    chosen = _exact_cover(points[useful], weights) if points[useful].size <= MILP_ENTRIES else None
    if chosen is None:
        chosen = _greedy_cover(points[useful], weights)
    return sorted({*needed.tolist(), *useful[chosen].tolist()})


def _exact_cover(points: np.ndarray, costs: np.ndarray) -> np.ndarray | None:
    """By branch and bound; None if that takes too long."""
    from scipy.optimize import Bounds, LinearConstraint, milp

    result = milp(
        1.0 + costs.sum() + costs,  # one set fewer is worth any cost
        integrality=np.ones(len(costs)),
        bounds=Bounds(0.0, 1.0),
        constraints=LinearConstraint(points.T.astype(float), lb=1.0),
        options={"node_limit": MILP_NODES, "mip_rel_gap": 0.0},
    )
    return np.flatnonzero(result.x > 0.5) if result.status == 0 else None


def _greedy_cover(points: np.ndarray, costs: np.ndarray) -> np.ndarray:
    """The set with the most new points, again and again; then redundant sets are dropped."""
    left = np.ones(points.shape[1], dtype=bool)
    chosen: list[int] = []
    while left.any():
        gain = (points & left).sum(axis=1)
        best = np.lexsort((np.arange(len(costs)), costs, -gain))[0]
        chosen.append(int(best))
        left &= ~points[best]
    times = points[chosen].sum(axis=0)
    for i in sorted(chosen, key=lambda i: (-costs[i], i)):
        if (times[points[i]] > 1).all():
            chosen.remove(i)
            times = times - points[i]
    return np.array(chosen)
