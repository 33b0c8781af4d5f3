"""The values of a feature as a model tells them apart: a few atoms, each with one value as its sample.

An atom is a set of values that no condition divides: an interval between neighbouring cut points, a category, all other
categories, or missing. A region, on which every literal of the model is constant, is a union of atoms. Sets of atoms
are masks: whole numbers with a bit for each atom.
"""

import math
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Literal

import numpy as np

from smallearn._text import show
from smallearn.explain._dnf.conditions import Condition
from smallearn.model import Term
from smallearn.model._columns import Column
from smallearn.model._parts import Category

MOST_CATEGORIES = 50  # of a column of X, for a shorter clause to name them


@dataclass(frozen=True)
class Variable:
    """A feature divided into atoms.

    ``named`` are the atoms that have a name: intervals of numbers in their order, or categories. They are followed by
    one for all other categories, if ``other``, and one for missing, if ``absent``. ``values`` has a sample of each
    atom, in the same order.
    """

    term: Term
    named: tuple[Any, ...]
    values: tuple[Any, ...]
    kind: Literal["number", "category", "flag"]
    other: bool = False
    absent: bool = True

    @property
    def everything(self) -> int:
        """The mask of all atoms."""
        return (1 << len(self.values)) - 1

    @property
    def complete(self) -> int:
        """The mask of all atoms but missing."""
        return (1 << len(self.values) - self.absent) - 1

    def condition(self, mask: int) -> Condition:
        """The condition that the value is in one of these atoms."""
        chosen = [atom for i, atom in enumerate(self.named) if mask >> i & 1]
        missing = bool(mask & ~self.complete)
        about = Condition(self.term.feature, self.term.name, missing=missing, flag=self.kind == "flag")
        if self.kind == "number":
            return replace(about, intervals=_merged(chosen))
        if mask & self.complete == self.complete or (self.other and mask >> len(self.named) & 1):
            return replace(about, negated=True, categories=tuple(c for c in self.named if c not in chosen))
        return replace(about, categories=tuple(chosen))

    def choices(self) -> Iterator[int]:
        """The masks of short conditions: one category or all but one, numbers up to a cut point or above it."""
        if self.absent:
            yield from (self.complete, self.everything & ~self.complete)
        for i, atom in enumerate(self.named):
            if self.kind != "number":
                yield from (1 << i, self.everything & ~(1 << i))
                continue
            if atom[0] == math.nextafter(atom[1], -math.inf):
                yield 1 << i
            below = (1 << i + 1) - 1
            if atom[1] < math.inf and below != self.complete:
                yield from (below, self.complete & ~below)


def _merged(intervals: Iterable[tuple[float, float]]) -> tuple[tuple[float, float], ...]:
    """The same set of numbers, with neighbouring intervals merged."""
    merged: list[tuple[float, float]] = []
    for low, high in intervals:
        if merged and merged[-1][1] == low:
            merged[-1] = (merged[-1][0], high)
        else:
            merged.append((low, high))
    return tuple(merged)


def number_variable(term: Term, cuts: Iterable[float], points: Iterable[float] = (), absent: bool = True) -> Variable:
    """A number divided after each of ``cuts``; each of ``points`` is an atom on its own."""
    ends = {float(cut) for cut in cuts}
    for point in points:
        ends |= {math.nextafter(point, -math.inf), float(point)}
    edges = [-math.inf, *sorted(end for end in ends if math.isfinite(end)), math.inf]
    intervals = tuple((low, high) for low, high in pairwise(edges) if low < sys.float_info.max)
    values = [high if high < math.inf else math.nextafter(low, math.inf) for low, high in intervals]
    if len(edges) == 2:
        values = [0.0]
    return Variable(term=term, named=intervals, values=(*values, *[None] * absent), kind="number", absent=absent)


def variable_of(terms: Sequence[Term], is_flag: bool, column: Column | None) -> Variable:
    """The feature of these terms.

    Its column, if rows are given, shows further categories, and whether a feature that is 0 or 1 may be missing.
    """
    term = terms[0]
    if is_flag:
        absent = column is not None and bool(column.missing.any())
        values = (0.0, 1.0, *[None] * absent)
        return Variable(term=term, named=(0, 1), values=values, kind="flag", absent=absent)
    categories = [other.value for other in terms if other.kind == "equals"]
    if any(other.kind in ("at_most", "above") for other in terms):
        points = [value for value in categories if value is not None and not isinstance(value, str)]
        if any(float(point) != point or abs(point) >= 2**53 for point in points):
            raise ValueError(
                f"{show(term.label)} is compared with a number that no float holds exactly; it has no exact rule."
            )
        cuts = [float(other.value) for other in terms if other.kind in ("at_most", "above")]  # type: ignore[arg-type]
        return number_variable(term, cuts, points)
    known = [*categories, *_seen(column)] if categories else []
    named = tuple(dict.fromkeys(value for value in known if value is not None and value == value))
    return Variable(term=term, named=named, values=(*named, _another(named), None), kind="category", other=True)


def _seen(column: Column | None) -> list[Category]:
    """The categories of a column, unless there are too many."""
    values = {} if column is None else dict.fromkeys(column.values[~column.missing].tolist())
    return sorted(values, key=lambda value: (isinstance(value, str), value)) if len(values) <= MOST_CATEGORIES else []


def _another(categories: Sequence[Category]) -> Category:
    """A category that is none of these: a number if they are numbers."""
    if any(isinstance(category, str) for category in categories):
        return max((category for category in categories if isinstance(category, str)), key=len) + "…"
    return next(number for number in range(len(categories) + 1) if number not in categories)


def grid_of(values: Sequence[Sequence[Any]]) -> np.ndarray:
    """All combinations of the values, one row each, the last changing fastest; floats if all values are numbers."""
    everything = [value for some in values for value in some]
    plain = all(value is None or (not isinstance(value, str) and float(value) == value) for value in everything)
    shape = tuple(len(some) for some in values)
    places = np.indices(shape).reshape(len(shape), -1) if shape else np.zeros((0, 1), dtype=int)
    rows = np.empty((places.shape[1], len(values)), dtype=float if plain else object)
    for i, some in enumerate(values):
        column = np.empty(len(some), dtype=rows.dtype)
        column[:] = [math.nan if plain and value is None else value for value in some]
        rows[:, i] = column[places[i]]
    return rows
