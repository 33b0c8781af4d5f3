"""The values of a feature as a model tells them apart: a few cells, each with a value that stands for it."""

import math
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from smallearn._text import show
from smallearn.explain._dnf.conditions import Condition
from smallearn.model import Term
from smallearn.model._columns import Column
from smallearn.model._parts import Category

MOST_CATEGORIES = 50  # of a column of X that a shorter clause may name


@dataclass(frozen=True)
class Variable:
    """A feature cut into cells, the finest that can be spoken of: intervals of numbers in their order, or categories;
    then, if ``other``, all else that is not missing, and, if ``absent``, what is missing. ``values``: one of each."""

    term: Term
    cells: tuple[Any, ...]
    values: tuple[Any, ...]
    kind: str  # "number", "category" or "flag"
    other: bool = False
    absent: bool = True

    @property
    def n_cells(self) -> int:
        return len(self.values)

    @property
    def everything(self) -> int:
        return (1 << self.n_cells) - 1

    @property
    def complete(self) -> int:
        """All cells but the missing one."""
        return (1 << self.n_cells - self.absent) - 1

    def condition(self, mask: int) -> Condition:
        """The value is in one of these cells."""
        chosen = [cell for i, cell in enumerate(self.cells) if mask >> i & 1]
        missing = bool(mask & ~self.complete)
        about = Condition(self.term.feature, self.term.name, missing=missing, flag=self.kind == "flag")
        if self.kind == "number":
            return replace(about, intervals=_joined(chosen))
        if mask & self.complete == self.complete or (self.other and mask >> len(self.cells) & 1):
            return replace(about, negated=True, categories=tuple(c for c in self.cells if c not in chosen))
        return replace(about, categories=tuple(chosen))

    def choices(self) -> Iterator[int]:
        """Cells that a short condition can have: one category or all but one, numbers up to a cut or beyond it."""
        if self.absent:
            yield from (self.complete, self.everything & ~self.complete)
        for i, cell in enumerate(self.cells):
            if self.kind != "number":
                yield from (1 << i, self.everything & ~(1 << i))
                continue
            if cell[0] == math.nextafter(cell[1], -math.inf):
                yield 1 << i
            below = (1 << i + 1) - 1
            if cell[1] < math.inf and below != self.complete:
                yield from (below, self.complete & ~below)


def _joined(cells: Iterable[tuple[float, float]]) -> tuple[tuple[float, float], ...]:
    """Neighbouring intervals made one."""
    joined: list[tuple[float, float]] = []
    for low, high in cells:
        if joined and joined[-1][1] == low:
            joined[-1] = (joined[-1][0], high)
        else:
            joined.append((low, high))
    return tuple(joined)


def number_variable(term: Term, cuts: Iterable[float], points: Iterable[float] = (), absent: bool = True) -> Variable:
    """Cut after each of ``cuts``; ``points`` are cells of their own."""
    ends = {float(cut) for cut in cuts}
    for point in points:
        ends |= {math.nextafter(point, -math.inf), float(point)}
    edges = [-math.inf, *sorted(end for end in ends if math.isfinite(end)), math.inf]
    cells = tuple((low, high) for low, high in pairwise(edges) if low < sys.float_info.max)
    values = [high if high < math.inf else math.nextafter(low, math.inf) for low, high in cells]
    if len(edges) == 2:
        values = [0.0]
    return Variable(term, cells, (*values, *[None] * absent), "number", absent=absent)


def variable_of(terms: Sequence[Term], is_flag: bool, column: Column | None) -> Variable:
    """The feature of these terms, and of this column if there is one: it tells of more categories, and whether a
    feature that is 0 or 1 can be missing."""
    term = terms[0]
    if is_flag:
        absent = column is not None and bool(column.missing.any())
        return Variable(term, (0, 1), (0.0, 1.0, *[None] * absent), "flag", absent=absent)
    categories = [other.value for other in terms if other.kind == "equals"]
    if any(other.kind in ("at_most", "above") for other in terms):
        points = [value for value in categories if value is not None and not isinstance(value, str)]
        if any(float(point) != point or abs(point) >= 2**53 for point in points):
            raise ValueError(f"{show(term.label)} is compared with a number of too many digits to be put into words.")
        cuts = [float(other.value) for other in terms if other.kind in ("at_most", "above")]  # type: ignore[arg-type]
        return number_variable(term, cuts, points)
    known = [*categories, *_seen(column)] if categories else []
    cells = tuple(dict.fromkeys(value for value in known if value is not None and value == value))
    return Variable(term, cells, (*cells, _another(cells), None), "category", other=True)


def _seen(column: Column | None) -> list[Category]:
    """The categories of a column, unless there are very many."""
    found = {} if column is None else dict.fromkeys(column.values[~column.missing].tolist())
    return sorted(found, key=lambda value: (isinstance(value, str), value)) if len(found) <= MOST_CATEGORIES else []


def _another(cells: Sequence[Category]) -> Category:
    """A category that is none of these: a number if they are numbers."""
    if any(isinstance(cell, str) for cell in cells):
        return max((cell for cell in cells if isinstance(cell, str)), key=len) + "…"
    return next(number for number in range(len(cells) + 1) if number not in cells)


def grid_of(values: Sequence[Sequence[Any]]) -> np.ndarray:
    """All combinations, the last changing fastest: of numbers as floats if they are that, otherwise as objects."""
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
