"""Boolean functions of variables with a few values each: cubes, tables and prime implicants.

A cube allows each variable some of its values. It is one whole number that has, for each variable in turn, a bit for
each value and a spare bit: ``a & b`` is the intersection of two cubes, and ``a | b == b`` says that a lies within b. A
function is a union of cubes or, where that is small, a table: a whole number with a bit for each combination of values,
the last variable changing fastest.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod

import numpy as np

MOST_CUBES = 1000  # at any time: more cannot be read, and take too long to compare
MOST_STEPS = 100_000  # subfunctions visited while the primes of a table are listed


class TooManyError(ValueError):
    """The function needs more cubes than are allowed."""


@dataclass(frozen=True)
class Space:
    """The variables, by the number of values of each."""

    sizes: tuple[int, ...]

    @cached_property
    def shifts(self) -> tuple[int, ...]:
        """The position of the first bit of each variable; the bit after its last is spare."""
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
        """The spare bits of all variables."""
        return sum(1 << shift + size for size, shift in zip(self.sizes, self.shifts, strict=True))

    @property
    def volume(self) -> int:
        """The number of combinations."""
        return prod(self.sizes)

    def pack(self, masks: Iterable[int]) -> int:
        """The cube that allows each variable the values of its mask."""
        return sum(mask << shift for mask, shift in zip(masks, self.shifts, strict=True))

    def unpack(self, cube: int) -> tuple[int, ...]:
        """The values allowed to each variable, as a mask for each."""
        return tuple((cube & field) >> shift for field, shift in zip(self.fields, self.shifts, strict=True))

    def inhabited(self, cube: int) -> bool:
        """Whether each variable is allowed a value: only then does adding all its bits carry into the spare one."""
        return (cube + self.full) & self.spare == self.spare

    def points(self, cube: int) -> np.ndarray:
        """Which combinations lie in the cube."""
        inside = np.ones(1, dtype=bool)
        for mask, size in zip(self.unpack(cube), self.sizes, strict=True):
            allowed = np.array([bool(mask >> value & 1) for value in range(size)])
            inside = np.logical_and.outer(inside, allowed).ravel()
        return inside


def as_table(truth: np.ndarray) -> int:
    """The table of a function, from its value for each combination."""
    return int.from_bytes(np.packbits(truth, bitorder="little").tobytes(), "little")


def primes(space: Space, table: int, most: int = MOST_CUBES) -> list[int]:
    """All prime implicants: cubes on which the function is true and to which no value can be added.

    Recursion on the first variable. A cube that allows it the values S is an implicant if the rest of the cube lies in
    the cofactors of all values of S. So every intersection h of cofactors is taken, with all the values whose cofactor
    contains h. A prime of h gives a prime of the function, unless it is also a prime of a smaller intersection, which
    allows the first variable more values.
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
        cubes: set[int] = set()
        for h in meets:
            values = sum(1 << value for value, cofactor in enumerate(cofactors) if h & cofactor == h)
            smaller = [visit(other, i + 1) for other in meets if other != h and other & h == other]
            new = visit(h, i + 1).difference(*smaller)
            cubes.update(cube | values << space.shifts[i] for cube in new)
        return frozenset(cubes)

    return sorted(visit(table, 0))


def _intersections(tables: Sequence[int]) -> list[int]:
    """The intersections of any number of the tables that are not empty."""
    meets: set[int] = set()
    for table in tables:
        meets |= {table & meet for meet in meets} | {table}
        if len(meets) > MOST_CUBES:
            raise TooManyError
    return sorted(meets - {0})


def absorb(cubes: Iterable[int]) -> list[int]:
    """The cubes that do not lie within another."""
    kept: list[int] = []
    for cube in sorted(set(cubes), key=lambda cube: (-cube.bit_count(), cube)):
        if not any(cube | other == other for other in kept):
            kept.append(cube)
    if len(kept) > MOST_CUBES:
        raise TooManyError
    return kept


def conjunction(space: Space, functions: Iterable[Sequence[int]]) -> list[int]:
    """The primes of the AND of some functions, each given by all its primes."""
    product = [space.full]
    for cubes in functions:
        if len(product) * len(cubes) > 100 * MOST_CUBES:
            raise TooManyError
        both = (one & other for one in product for other in cubes)
        product = absorb(cube for cube in both if space.inhabited(cube))
    return product
