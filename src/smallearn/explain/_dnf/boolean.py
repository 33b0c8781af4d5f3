"""Boolean functions of variables with a few values each: prime implicants, covers, and clauses that imitate labels.

A cube allows each variable some of its values. It is one whole number, for each variable in turn a bit for each value
and a spare one: ``a & b`` is the cube of both, and ``a | b == b`` says that a lies within b. A function is a union of
cubes or, where that is small, a table: a whole number with a bit for each combination, the last variable changing
fastest.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from itertools import combinations
from math import prod
from operator import and_

import numpy as np

MOST_CUBES = 1000  # at any time: more cannot be read, and take too long to compare
MOST_STEPS = 100_000  # subfunctions looked at when the primes of a table are listed
MILP_CELLS = 100_000  # of the matrix of a cover that is solved exactly
MILP_NODES = 2000  # of branch and bound; a count and not a time, so that the answer is the same everywhere
PENALTIES = (1.0, 2.0, 5.0)  # of a row that a clause should not hold for, at first
MOST_VALUES = 6  # of a variable of which every subset is tried
BEAM = 16  # clauses that are extended at each step of a search


class TooManyError(ValueError):
    """The function takes more cubes than are allowed."""


@dataclass(frozen=True)
class Space:
    """The variables: how many values each of them has."""

    sizes: tuple[int, ...]

    @cached_property
    def shifts(self) -> tuple[int, ...]:
        """Where the bits of each variable begin; one above them is spare."""
        return tuple(np.cumsum([0, *(size + 1 for size in self.sizes)]).tolist()[:-1])

    @cached_property
    def fields(self) -> tuple[int, ...]:
        """The bits of each variable."""
        return tuple(((1 << size) - 1) << shift for size, shift in zip(self.sizes, self.shifts, strict=True))

    @cached_property
    def full(self) -> int:
        """The cube of everything."""
        return sum(self.fields)

    @cached_property
    def spare(self) -> int:
        return sum(1 << shift + size for size, shift in zip(self.sizes, self.shifts, strict=True))

    @property
    def volume(self) -> int:
        """How many combinations there are."""
        return prod(self.sizes)

    def pack(self, masks: Iterable[int]) -> int:
        return sum(mask << shift for mask, shift in zip(masks, self.shifts, strict=True))

    def unpack(self, cube: int) -> tuple[int, ...]:
        """The values allowed to each variable, as bits."""
        return tuple((cube & field) >> shift for field, shift in zip(self.fields, self.shifts, strict=True))

    def inhabited(self, cube: int) -> bool:
        """Whether each variable is allowed a value: only then does adding all of them carry into its spare bit."""
        return (cube + self.full) & self.spare == self.spare

    def points(self, cube: int) -> np.ndarray:
        """Which combinations lie in the cube."""
        inside = np.ones(1, dtype=bool)
        for mask, size in zip(self.unpack(cube), self.sizes, strict=True):
            allowed = np.array([bool(mask >> value & 1) for value in range(size)])
            inside = np.logical_and.outer(inside, allowed).ravel()
        return inside


# --- primes ----------------------------------------------------------------------------------------------------------


def as_table(truth: np.ndarray) -> int:
    """A function as a table, from its values on all combinations."""
    return int.from_bytes(np.packbits(truth, bitorder="little").tobytes(), "little")


def primes(space: Space, table: int, most: int = MOST_CUBES) -> list[int]:
    """All prime implicants: cubes on which the function holds and that no value can be added to.

    By the first variable: a cube that allows it the values S holds where the rest lies in all cofactors of S. So take
    every intersection h of cofactors, with all the values whose cofactor contains h. A prime of h makes a prime unless
    it lies in a smaller intersection too, where it is a prime as well and allows the variable more.
    """
    volumes = [prod(space.sizes[i:]) for i in range(len(space.sizes) + 1)]
    known: dict[tuple[int, int], frozenset[int]] = {}

    def visit(g: int, i: int) -> frozenset[int]:
        if g == 0:
            return frozenset()
        if g == (1 << volumes[i]) - 1:
            return frozenset([sum(space.fields[i:])])
        if (g, i) not in known:
            known[g, i] = split(g, i)
            if len(known) > MOST_STEPS or len(known[g, i]) > most:
                raise TooManyError
        return known[g, i]

    def split(g: int, i: int) -> frozenset[int]:
        below = (1 << volumes[i + 1]) - 1
        cofactors = [g >> value * volumes[i + 1] & below for value in range(space.sizes[i])]
        meets = _intersections(cofactors)
        found: set[int] = set()
        for h in meets:
            values = sum(1 << value for value, cofactor in enumerate(cofactors) if h & cofactor == h)
            smaller = [visit(other, i + 1) for other in meets if other != h and other & h == other]
            new = visit(h, i + 1).difference(*smaller)
            found.update(cube | values << space.shifts[i] for cube in new)
        return frozenset(found)

    return sorted(visit(table, 0))


def _intersections(tables: Sequence[int]) -> list[int]:
    """All that are not empty, of any number of the tables."""
    meets: set[int] = set()
    for table in tables:
        meets |= {table & meet for meet in meets} | {table}
        if len(meets) > MOST_CUBES:
            raise TooManyError
    return sorted(meets - {0})


def absorb(cubes: Iterable[int]) -> list[int]:
    """Without the cubes that lie within another."""
    kept: list[int] = []
    for cube in sorted(set(cubes), key=lambda cube: (-cube.bit_count(), cube)):
        if not any(cube | other == other for other in kept):
            kept.append(cube)
    if len(kept) > MOST_CUBES:
        raise TooManyError
    return kept


def conjunction(space: Space, functions: Iterable[Sequence[int]]) -> list[int]:
    """The primes of "all of these hold", each function being given by all its primes."""
    product = [space.full]
    for cubes in functions:
        if len(product) * len(cubes) > 100 * MOST_CUBES:
            raise TooManyError
        both = (one & other for one in product for other in cubes)
        product = absorb(cube for cube in both if space.inhabited(cube))
    return product


# --- covers ----------------------------------------------------------------------------------------------------------


def covers(space: Space, cubes: Sequence[int], cube: int) -> bool:
    """Whether every combination in ``cube`` lies in one of ``cubes``."""
    if any(cube | other == other for other in cubes):
        return True
    parts = {part for part in (other & cube for other in cubes) if space.inhabited(part)}
    return _covers(parts, cube, space.fields)


def _covers(parts: set[int], cube: int, fields: Sequence[int]) -> bool:
    """The same for parts of the cube: it is cut up where they differ, until it is plain."""
    field = 0
    while parts and cube not in parts:
        common = reduce(and_, parts)
        fields = [field for field in fields if (common ^ cube) & field]
        # A value that only the parts without a condition there allow is the hardest to cover: it settles the rest.
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
    used = 0
    for part in parts:
        if (part ^ cube) & field:
            used |= part
    return cube & field & ~used != 0


def _size(cube: int, fields: Sequence[int]) -> int:
    """How many combinations the cube has, as far as these variables are concerned."""
    return prod((cube & field).bit_count() for field in fields)


def _bits(number: int) -> Iterable[int]:
    while number:
        yield number & -number
        number &= number - 1


def expand(space: Space, cube: int, cubes: Sequence[int]) -> int:
    """A prime of the union of ``cubes`` that contains ``cube``: whole conditions are dropped first, the last first."""
    for steps in (list(reversed(space.fields)), list(_bits(space.full & ~cube))):
        for step in steps:
            if cube | step != cube and covers(space, cubes, cube | step):
                cube |= step
    return cube


def prime_cover(space: Space, cubes: Sequence[int], cost: Callable[[int], int], are_prime: bool = False) -> list[int]:
    """Primes of the union of ``cubes`` that have the same union, none of them superfluous; few, not the fewest."""
    grown = list(cubes) if are_prime else absorb(expand(space, cube, cubes) for cube in cubes)
    return _needed(space, grown, cost)


def _needed(space: Space, cubes: Sequence[int], cost: Callable[[int], int]) -> list[int]:
    """Without cubes that the others cover, the dearest tried first."""
    kept = list(cubes)
    for cube in sorted(cubes, key=lambda cube: (-cost(cube), cube)):
        others = [other for other in kept if other != cube]
        if covers(space, others, cube):
            kept = others
    return kept


def plainer(space: Space, cubes: Sequence[int], cost: Callable[[int], int]) -> list[int]:
    """The same union in cubes that cost less: where one allows a variable values that the others see to, without."""
    found = list(cubes)
    for i in sorted(range(len(found)), key=lambda i: (-cost(found[i]), found[i])):
        others = found[:i] + found[i + 1 :]
        for field in space.fields:
            found[i] = _narrowed(space, found[i], field, others, cost)
        for field in space.fields:
            if found[i] != cubes[i] and covers(space, [*others, found[i]], found[i] | field):
                found[i] |= field
    return found if found == list(cubes) else _needed(space, absorb(found), cost)


def _narrowed(space: Space, cube: int, field: int, others: Sequence[int], cost: Callable[[int], int]) -> int:
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
    """Cubes that differ in one variable only made one."""
    found = absorb(cubes)
    for one, other in combinations(found, 2):
        differing = [field for field in space.fields if (one ^ other) & field]
        if len(differing) == 1:
            return joined(space, [one | other, *(cube for cube in found if cube not in (one, other))])
    return found


def fewest_primes(space: Space, truth: np.ndarray, cost: Callable[[int], int]) -> list[int]:
    """As few primes as have the function for their union, of the least cost: from its values on all combinations."""
    found = primes(space, as_table(truth))
    if not found:
        return []
    held = np.array([space.points(cube) for cube in found])[:, truth]
    return [found[i] for i in minimum_cover(held, [cost(cube) for cube in found])]


def minimum_cover(held: np.ndarray, costs: Sequence[int]) -> list[int]:
    """The fewest sets that hold every point (``held``: sets × points), of the least total cost among the fewest.

    Proven where the problem is small; otherwise each time the set that holds most, and none that turns out superfluous.
    """
    points = np.unique(held, axis=1)
    needed = np.unique(np.argmax(points[:, points.sum(axis=0) == 1], axis=0))  # who alone hold a point
    points = points[:, ~points[needed].any(axis=0)]
    if points.shape[1] == 0:
        return [int(i) for i in needed]
    useful = np.flatnonzero(points.any(axis=1))
    weights = np.asarray(costs)[useful]
    chosen = _exact_cover(points[useful], weights) if points[useful].size <= MILP_CELLS else None
    if chosen is None:
        chosen = _greedy_cover(points[useful], weights)
    return sorted({*needed.tolist(), *useful[chosen].tolist()})


def _exact_cover(points: np.ndarray, costs: np.ndarray) -> np.ndarray | None:
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


# --- imitation -------------------------------------------------------------------------------------------------------

Clause = tuple[int, ...]  # numbers of conditions, all of which must hold


class Imitation:
    """A search for a few clauses that agree with ``target`` on as many rows as can be found.

    ``held``: conditions × rows; ``subjects``: the variable that each condition speaks of. A clause gains the rows of
    the target that it adds and loses the others; it is built condition by condition, the best few attempts going on,
    and built anew while the other clauses stand.
    """

    def __init__(self, held: np.ndarray, subjects: Sequence[int], target: np.ndarray, max_conditions: int):
        self.held, self.subjects, self.target = held, np.asarray(subjects), target
        self.factors = held.astype(np.float32)
        self.sign = self._signs(1.0)
        self.max_conditions = max_conditions

    def find(self, max_clauses: int, least_gain: float) -> list[Clause]:
        """The best of several attempts, which shun the rows beyond the target more and more."""
        attempts = [self._attempt(max_clauses, least_gain, penalty) for penalty in PENALTIES]
        return min(attempts, key=lambda clauses: (-self._agreement(clauses), sum(map(len, clauses))))

    def _attempt(self, max_clauses: int, least_gain: float, penalty: float) -> list[Clause]:
        """One clause after the other, as long as one gains enough, and all of them improved."""
        clauses: list[Clause] = []
        while len(clauses) < max_clauses:
            self.sign = self._signs(penalty)
            clause, gain = self._best_clause(clauses)
            self.sign = self._signs(1.0)
            if gain < least_gain:
                break
            clauses = self.improve([*clauses, clause]) if penalty == 1.0 else [*clauses, clause]
        return self.pruned(self.improve(clauses))

    def _signs(self, penalty: float) -> np.ndarray:
        return np.where(self.target, 1.0, -penalty).astype(np.float32)

    def _agreement(self, clauses: Sequence[Clause]) -> int:
        """Rows of the target that they hold for, less the others."""
        return int((self.sign - self._left(clauses)).sum())

    def improve(self, clauses: list[Clause], most_rounds: int = 4) -> list[Clause]:
        """Each clause built anew, while that agrees with more rows."""
        for _ in range(most_rounds):
            before = list(clauses)
            for i in range(len(clauses)):
                others = clauses[:i] + clauses[i + 1 :]
                clause, gain = self._best_clause(others)
                if gain > self._gain(clauses[i], others):
                    clauses = [*clauses[:i], clause, *clauses[i + 1 :]]
            if clauses == before:
                break
        return clauses

    def pruned(self, clauses: list[Clause]) -> list[Clause]:
        """Without the clauses, and then the conditions, that agree with no row more."""
        for clause in list(reversed(clauses)):
            others = [other for other in clauses if other != clause]
            if self._gain(clause, others) <= 0.0:
                clauses = others
        for i, clause in enumerate(clauses):
            others = clauses[:i] + clauses[i + 1 :]
            for condition in clause:
                fewer = tuple(other for other in clauses[i] if other != condition)
                if self._gain(fewer, others) >= self._gain(clauses[i], others):
                    clauses = [*clauses[:i], fewer, *clauses[i + 1 :]]
        return clauses

    def rows(self, clause: Clause) -> np.ndarray:
        return np.logical_and.reduce(self.held[list(clause)], axis=0)

    def _left(self, clauses: Sequence[Clause]) -> np.ndarray:
        """What each row is worth to another clause: nothing if it is held already."""
        taken = np.zeros(len(self.sign), dtype=bool)
        for clause in clauses:
            taken |= self.rows(clause)
        return np.where(taken, np.float32(0.0), self.sign)

    def _gain(self, clause: Clause, others: Sequence[Clause]) -> float:
        return float(self._left(others)[self.rows(clause)].sum())

    def _best_clause(self, others: Sequence[Clause]) -> tuple[Clause, float]:
        worth = self._left(others)
        best: tuple[Clause, float] = ((), float(worth.sum()))
        beam: list[Clause] = [()]
        for _ in range(self.max_conditions):
            left = np.array([worth * self.rows(clause) for clause in beam])
            gains = left @ self.factors.T
            found = self._extended(beam, gains)
            beam = list(found)
            if not beam:  # there is nothing to tell the rows apart by
                break
            if found[beam[0]] > best[1]:
                best = (beam[0], found[beam[0]])
        return best

    def _extended(self, beam: Sequence[Clause], gains: np.ndarray) -> dict[Clause, float]:
        """The best clauses of one condition more; and the best, with each variable in turn, that speak of others."""
        best = np.argsort(-gains, axis=None, kind="stable")[: 4 * BEAM].tolist()
        found = self._clauses(beam, gains, best, BEAM)
        n_conditions = len(self.held)
        of_variable = [np.flatnonzero(self.subjects == variable) for variable in np.unique(self.subjects)]
        others = [
            which * n_conditions + int(numbers[gains[which, numbers].argmax()])
            for numbers in of_variable
            for which in range(len(beam))
        ]
        others.sort(key=lambda place: -gains.flat[place])
        spoken_of = {self._about(clause) for clause in found}
        for clause, gain in self._clauses(beam, gains, others, len(others)).items():
            if self._about(clause) not in spoken_of and len(found) < 2 * BEAM:
                spoken_of.add(self._about(clause))
                found[clause] = gain
        return found

    def _clauses(self, beam: Sequence[Clause], gains: np.ndarray, places: list[int], most: int) -> dict[Clause, float]:
        found: dict[Clause, float] = {}
        for place in places:
            which, condition = divmod(place, len(self.held))
            if len(found) < most:
                found.setdefault(tuple(sorted({*beam[which], condition})), float(gains.flat[place]))
        return found

    def _about(self, clause: Clause) -> tuple[int, ...]:
        return tuple(sorted({int(self.subjects[number]) for number in clause}))
