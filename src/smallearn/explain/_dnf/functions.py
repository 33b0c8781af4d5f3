"""A model as a function of finitely many cases: its truth table, its primes, and the check of a DNF against it."""

import math
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from smallearn._text import listed
from smallearn.explain._dnf.boolean import (
    MOST_CUBES,
    Space,
    TooManyError,
    absorb,
    as_table,
    conjunction,
    covers,
    fewest_primes,
    plainer,
    prime_cover,
    primes,
)
from smallearn.explain._dnf.conditions import Condition, cost_of, held_by
from smallearn.explain._dnf.regions import Variable, grid_of
from smallearn.model import Prototype, SMaLLModel, Term
from smallearn.model._columns import Column, factor_of_one

SMALL = 2**15  # cases of which all primes are listed, to choose the fewest
MOST_TABLE = 2**16  # cases that are tried one by one, to check the answer
MOST_LOCAL = 2**18  # cases of a single prototype


@dataclass(frozen=True)
class _Part:
    """Some prototypes as a model of their own, over the features that they weigh: it is to predict ``wanted``."""

    model: SMaLLModel
    features: tuple[int, ...]
    wanted: int

    def truth(self, rows: np.ndarray) -> np.ndarray:
        return self.model.predict(rows) == self.wanted


def _part(prototypes: Sequence[Prototype], n_classes: int, wanted: int) -> _Part:
    """Features and classes are numbered from 0 on."""
    weighed = [[term for term in prototype.terms if term.weight != 0.0] for prototype in prototypes]
    features = sorted({term.feature for terms in weighed for term in terms})
    place = {feature: i for i, feature in enumerate(features)}
    renumbered = tuple(
        replace(prototype, terms=tuple(replace(term, feature=place[term.feature], name=None) for term in terms))
        for prototype, terms in zip(prototypes, weighed, strict=True)
    )
    model = SMaLLModel(tuple(range(n_classes)), "<i8", len(features), renumbered)
    return _Part(model, tuple(features), wanted)


def _duel(own: Prototype, other: Prototype) -> _Part:
    """Two prototypes of different classes, in the order of these, and a third class that cannot win."""
    first = own.owner < other.owner
    nobody = Prototype(2, -sys.float_info.max, ())
    return _part([replace(own, owner=int(not first)), replace(other, owner=int(first)), nobody], 3, int(not first))


def weighed_terms(model: SMaLLModel) -> dict[int, list[Term]]:
    """The terms of each feature that have a weight, in the order of the features."""
    terms: dict[int, list[Term]] = {}
    for term in model.terms:
        if term.weight != 0.0:
            terms.setdefault(term.feature, []).append(term)
    return {feature: terms[feature] for feature in sorted(terms)}


def _regions(variable: Variable, terms: Sequence[Term]) -> list[int]:
    """The cells that the terms tell apart; those between which they do not are one region, given as a mask."""
    masks: dict[tuple[float, ...], int] = {}
    for i, value in enumerate(variable.values):
        signature = tuple(factor_of_one(term, value) for term in terms)
        masks[signature] = masks.get(signature, 0) | 1 << i
    return list(masks.values())


def _firsts(variable: Variable, masks: Iterable[int]) -> list[Any]:
    """A value of each region."""
    return [variable.values[(mask & -mask).bit_length() - 1] for mask in masks]


def clause_of(variables: Sequence[Variable], masks: Sequence[int]) -> tuple[Condition, ...]:
    pairs = zip(variables, masks, strict=True)
    return tuple(variable.condition(mask) for variable, mask in pairs if mask != variable.everything)


class Function:
    """Where a model of literals and flags predicts class number ``label``, as a function of regions."""

    def __init__(self, model: SMaLLModel, variables: Sequence[Variable], label: int):
        self.model, self.variables, self.label = model, variables, label
        self.whole = _part(model.prototypes, len(model.classes), label)
        terms = weighed_terms(model)
        self.regions = [_regions(variable, terms[variable.term.feature]) for variable in variables]
        self.space = Space(tuple(map(len, self.regions)))
        self.cells = Space(tuple(len(variable.values) for variable in variables))

    def cubes(self) -> list[int]:
        """Cubes of cells whose union it is, as few and as plain as can be found; no condition is superfluous."""
        try:
            return [self.in_cells(cube) for cube in plainer(self.space, self._cover(), self._cost)]
        except TooManyError:
            raise ValueError(
                f"An exact DNF of this model is out of reach: it takes more than {MOST_CUBES:,} clauses on the way, or "
                f"one of its prototypes has more than {MOST_LOCAL:,} cases. A model with fewer terms has one."
            ) from None

    def _cover(self) -> list[int]:
        """Primes whose union it is, in regions: the fewest where they can all be listed."""
        if self.space.volume <= SMALL:
            with suppress(TooManyError):
                return fewest_primes(self.space, self.whole.truth(self._rows(self.variables)), self._cost)
        one_branch = len(list(self._branches())) == 1
        return prime_cover(self.space, self.union, self._cost, are_prime=one_branch)

    @cached_property
    def union(self) -> list[int]:
        """Cubes of regions whose union it is, put together from functions of one or two prototypes."""
        found: list[int] = []
        for branch in self._branches():
            found += conjunction(self.space, map(self._primes, branch))
        return absorb(found)

    def _branches(self) -> Iterator[list[_Part]]:
        """The class is predicted if in any branch every part predicts what it is to.

        Two classes: any prototype says so alone, or none of them does. More: a prototype beats each of the others'.
        """
        prototypes = self.model.prototypes
        if len(self.model.classes) == 2:
            alone = [_part([prototype], 2, self.label) for prototype in prototypes]
            yield from ([part] for part in alone) if self.label == prototypes[0].owner else [alone]
            return
        for own in prototypes:
            if own.owner == self.label:
                yield [_duel(own, other) for other in prototypes if other.owner != self.label]

    def _primes(self, part: _Part) -> list[int]:
        """All primes of a part, as cubes of all regions."""
        places = [i for i, variable in enumerate(self.variables) if variable.term.feature in part.features]
        local = Space(tuple(self.space.sizes[i] for i in places))
        if local.volume > MOST_LOCAL:
            raise TooManyError
        truth = part.truth(self._rows([self.variables[i] for i in places]))
        everywhere = self.space.unpack(self.space.full)
        found = []
        for cube in primes(local, as_table(truth)):
            masks = dict(zip(places, local.unpack(cube), strict=True))
            found.append(self.space.pack(masks.get(i, mask) for i, mask in enumerate(everywhere)))
        return found

    def _rows(self, variables: Sequence[Variable]) -> np.ndarray:
        """All combinations of regions of some of the variables."""
        return grid_of([_firsts(variable, self.regions[self.variables.index(variable)]) for variable in variables])

    # --- in cells, in words, checked

    def in_cells(self, cube: int) -> int:
        masks = [
            sum(region for i, region in enumerate(regions) if mask >> i & 1)
            for mask, regions in zip(self.space.unpack(cube), self.regions, strict=True)
        ]
        return self.cells.pack(masks)

    def clause(self, cube: int) -> tuple[Condition, ...]:
        """A cube of cells in words."""
        return clause_of(self.variables, self.cells.unpack(cube))

    def _cost(self, cube: int) -> int:
        return cost_of(self.clause(self.in_cells(cube)))

    def in_order(self, cubes: Iterable[int]) -> list[int]:
        """By the features that they speak of."""

        def key(cube: int) -> tuple:
            masks = self.cells.unpack(cube)
            free = [mask == variable.everything for variable, mask in zip(self.variables, masks, strict=True)]
            return ([i for i, anything in enumerate(free) if not anything], masks)

        return sorted(cubes, key=key)

    def checked(self, cubes: Sequence[int], sure: Sequence[int] | None, complete: bool = False) -> str | None:
        """How it was checked that the cubes are the model, on all rows or those with nothing missing; None: they are
        not. By a table of all cases; if that is too long, against cubes that are ``sure`` or the union of the parts."""
        masks = [variable.complete if complete else variable.everything for variable in self.variables]
        pieces = self.regions if sure is None else [[1 << i for i in range(size)] for size in self.cells.sizes]
        inside = [[piece & mask for piece in some if piece & mask] for some, mask in zip(pieces, masks, strict=True)]
        if math.prod(map(len, inside)) > MOST_TABLE:
            exact = [self.in_cells(cube) for cube in self.union] if sure is None else sure
            return "cube by cube" if self._same(cubes, exact, self.cells.pack(masks)) else None
        rows = grid_of([_firsts(variable, some) for variable, some in zip(self.variables, inside, strict=True)])
        columns = {
            variable.term.feature: Column(rows[:, i], variable.term.label) for i, variable in enumerate(self.variables)
        }
        held = held_by([self.clause(cube) for cube in cubes], len(rows), columns).any(axis=1)
        return f"truth table of {len(rows):,} cases" if np.array_equal(held, self.whole.truth(rows)) else None

    def _same(self, some: Sequence[int], others: Sequence[int], within: int) -> bool:
        """Whether they have the same union, as far as it lies in a cube."""
        for union, cubes in ((some, others), (others, some)):
            parts = [cube & within for cube in cubes if self.cells.inhabited(cube & within)]
            if not all(covers(self.cells, union, part) for part in parts):
                return False
        return True

    def domain(self, complete: bool = False) -> str:
        """The rows of which it speaks."""
        flags = [variable.term.label for variable in self.variables if variable.kind == "flag"]
        words = "every input"
        if flags:
            what = listed(flags) if len(flags) <= 3 else f"{len(flags)} of the features"
            words += " of 0s and 1s" if len(flags) == len(self.variables) else f" with 0 or 1 for {what}"
            words += " or missing" if any(v.kind == "flag" and v.absent for v in self.variables) else ""
        return f"{words} in which nothing is missing" if complete else words
