"""A model as a Boolean function of regions: its truth table, its primes, and the check of a DNF against it."""

import math
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from smallearn._text import listed
from smallearn.explain._dnf.conditions import Condition, cost_of, held_by
from smallearn.explain._dnf.covers import covers, fewest_primes, plainer, prime_cover
from smallearn.explain._dnf.cubes import MOST_CUBES, Space, TooManyError, absorb, as_table, conjunction, primes
from smallearn.explain._dnf.regions import Variable, grid_of
from smallearn.model import Prototype, SMaLLModel, Term
from smallearn.model._columns import Column, signatures
from smallearn.model._limits import LARGEST

# Numbers of combinations of regions, or rows of a truth table:
SMALL = 2**15  # up to which all primes are listed, to choose the fewest
MOST_CHECKED = 2**16  # up to which every row of the truth table is compared with the model
MOST_LOCAL = 2**18  # of the features of a single prototype


@dataclass(frozen=True)
class _Part:
    """Some prototypes as a model on its own, over the features that they use; it should predict ``wanted``."""

    model: SMaLLModel
    features: tuple[int, ...]
    wanted: int
    offsets: tuple[float, ...] = ()  # of the prototypes, which are added to their scores

    def truth(self, rows: np.ndarray) -> np.ndarray:
        """Whether it predicts ``wanted``, row by row."""
        z = self.model.scores(rows)
        return self.model.decide(z + np.array(self.offsets) if self.offsets else z) == self.wanted


def _part(prototypes: Sequence[Prototype], n_classes: int, wanted: int, of: SMaLLModel | None = None) -> _Part:
    """A part of some prototypes, with features and classes numbered from 0; it decides as ``of`` does, if given."""
    used = [[term for term in prototype.terms if term.weight != 0.0] for prototype in prototypes]
    features = sorted({term.feature for terms in used for term in terms})
    place = {feature: i for i, feature in enumerate(features)}
    renumbered = tuple(
        replace(prototype, terms=tuple(replace(term, feature=place[term.feature], name=None) for term in terms))
        for prototype, terms in zip(prototypes, used, strict=True)
    )
    model = SMaLLModel(
        classes=tuple(range(n_classes)),
        class_dtype="<i8",
        n_features=len(features),
        prototypes=renumbered,
    )
    if of is not None:
        model = replace(model, scale=of.scale, decision_threshold=of.decision_threshold, cost_matrix=of.cost_matrix)
    return _Part(model=model, features=tuple(features), wanted=wanted)


def _duel(own: Prototype, other: Prototype, offsets: Sequence[float] | None) -> _Part:
    """The part in which ``own`` should beat ``other``: two classes in their order, and a third that cannot win."""
    position = int(own.owner > other.owner)
    never = Prototype(owner=2, intercept=-LARGEST, terms=())
    part = _part([replace(own, owner=position), replace(other, owner=1 - position), never], 3, position)
    return part if offsets is None else replace(part, offsets=(offsets[own.owner], offsets[other.owner], 0.0))


def weighed_terms(model: SMaLLModel) -> dict[int, list[Term]]:
    """The terms of each feature whose weight is not 0, in the order of the features."""
    terms: dict[int, list[Term]] = {}
    for term in model.terms:
        if term.weight != 0.0:
            terms.setdefault(term.feature, []).append(term)
    return {feature: terms[feature] for feature in sorted(terms)}


def _regions(variable: Variable, terms: Sequence[Term]) -> list[int]:
    """The regions of a feature, as masks of atoms: atoms that the terms do not tell apart are in one region."""
    masks: dict[bytes, int] = {}
    for i, signature in enumerate(signatures(terms, variable.values)):
        masks[signature] = masks.get(signature, 0) | 1 << i
    return list(masks.values())


def _firsts(variable: Variable, masks: Iterable[int]) -> list[Any]:
    """A value of each of these sets of atoms."""
    return [variable.values[(mask & -mask).bit_length() - 1] for mask in masks]


def clause_of(variables: Sequence[Variable], masks: Sequence[int]) -> tuple[Condition, ...]:
    """A condition for each variable that is not allowed all its atoms."""
    pairs = zip(variables, masks, strict=True)
    return tuple(variable.condition(mask) for variable, mask in pairs if mask != variable.everything)


class Function:
    """Where a model of literals and flags predicts the class at position ``label``, as a function of regions.

    A cube of ``space`` allows each feature some of its regions, a cube of ``atoms`` some of its atoms.
    """

    def __init__(self, model: SMaLLModel, variables: Sequence[Variable], label: int):
        self.model, self.variables, self.label = model, variables, label
        self.whole = _part(model.prototypes, len(model.classes), label, model)
        terms = weighed_terms(model)
        self.regions = [_regions(variable, terms[variable.term.feature]) for variable in variables]
        self.space = Space(tuple(map(len, self.regions)))
        self.atoms = Space(tuple(len(variable.values) for variable in variables))

    def cubes(self) -> list[int]:
        """Cubes of atoms with this union, as few and as simple as can be found; no condition is redundant."""
        try:
            return [self.in_atoms(cube) for cube in plainer(self.space, self._cover(), self._cost)]
        except TooManyError:
            raise ValueError(
                f"The exact rule of this model is too long: more than {MOST_CUBES:,} clauses to compare, or more than "
                f"{MOST_LOCAL:,} combinations of values in one of its prototypes. Train a model with fewer terms."
            ) from None

    def _cover(self) -> list[int]:
        """Primes with this union, as cubes of regions: the fewest, if all of them can be listed."""
        if self.space.volume <= SMALL:
            with suppress(TooManyError):
                return fewest_primes(self.space, self.whole.truth(self._rows(self.variables)), self._cost)
        one_branch = len(list(self._branches())) == 1
        return prime_cover(self.space, self.union, self._cost, are_prime=one_branch)

    @cached_property
    def union(self) -> list[int]:
        """Cubes of regions with this union, combined from functions of one or two prototypes."""
        cubes: list[int] = []
        for branch in self._branches():
            cubes += conjunction(self.space, map(self._primes, branch))
        return absorb(cubes)

    def _branches(self) -> Iterator[list[_Part]]:
        """The class is predicted if all parts of any branch predict what they should.

        With two classes, any prototype decides for its owner; all of them must decide against it for the other class.
        With more, a prototype of the class must beat those of all other classes. Expected costs have no parts.
        """
        prototypes, decision = self.model.prototypes, self.model.decision
        if decision.costs is not None:
            yield [self.whole]
            return
        if self.model.sole_owner is not None:
            alone = [_part([prototype], 2, self.label, self.model) for prototype in prototypes]
            yield from ([part] for part in alone) if self.label == prototypes[0].owner else [alone]
            return
        for own in prototypes:
            if own.owner == self.label:
                yield [_duel(own, other, decision.offsets) for other in prototypes if other.owner != self.label]

    def _primes(self, part: _Part) -> list[int]:
        """All primes of a part, as cubes of the regions of all features."""
        places = [i for i, variable in enumerate(self.variables) if variable.term.feature in part.features]
        local = Space(tuple(self.space.sizes[i] for i in places))
        if local.volume > MOST_LOCAL:
            raise TooManyError
        truth = part.truth(self._rows([self.variables[i] for i in places]))
        everywhere = self.space.unpack(self.space.full)
        cubes = []
        for cube in primes(local, as_table(truth)):
            masks = dict(zip(places, local.unpack(cube), strict=True))
            cubes.append(self.space.pack(masks.get(i, mask) for i, mask in enumerate(everywhere)))
        return cubes

    def _rows(self, variables: Sequence[Variable]) -> np.ndarray:
        """All combinations of regions of some of the variables."""
        return grid_of([_firsts(variable, self.regions[self.variables.index(variable)]) for variable in variables])

    # --- as conditions, and checked --------------------------------------------------------------------------------

    def in_atoms(self, cube: int) -> int:
        """A cube of regions as a cube of atoms."""
        masks = [
            sum(region for i, region in enumerate(regions) if mask >> i & 1)
            for mask, regions in zip(self.space.unpack(cube), self.regions, strict=True)
        ]
        return self.atoms.pack(masks)

    def clause(self, cube: int) -> tuple[Condition, ...]:
        """A cube of atoms as a clause."""
        return clause_of(self.variables, self.atoms.unpack(cube))

    def _cost(self, cube: int) -> int:
        return cost_of(self.clause(self.in_atoms(cube)))

    def in_order(self, cubes: Iterable[int]) -> list[int]:
        """Cubes of atoms in the order of the features that their conditions are about."""

        def key(cube: int) -> tuple:
            masks = self.atoms.unpack(cube)
            free = [mask == variable.everything for variable, mask in zip(self.variables, masks, strict=True)]
            return ([i for i, anything in enumerate(free) if not anything], masks)

        return sorted(cubes, key=key)

    def checked(self, cubes: Sequence[int], sure: Sequence[int] | None, *, complete: bool = False) -> str | None:
        """How it was checked that cubes of atoms agree with the model; None if they do not.

        On all inputs, or on those without missing values if ``complete``. The whole truth table is compared with the
        model, unless it is too long; then the cubes are compared with those that are ``sure`` to be right, or with the
        union of the parts.
        """
        masks = [variable.complete if complete else variable.everything for variable in self.variables]
        pieces = self.regions if sure is None else [[1 << i for i in range(size)] for size in self.atoms.sizes]
        inside = [[piece & mask for piece in some if piece & mask] for some, mask in zip(pieces, masks, strict=True)]
        if math.prod(map(len, inside)) > MOST_CHECKED:
            exact = [self.in_atoms(cube) for cube in self.union] if sure is None else sure
            return "clause by clause" if self._same(cubes, exact, self.atoms.pack(masks)) else None
        rows = grid_of([_firsts(variable, some) for variable, some in zip(self.variables, inside, strict=True)])
        columns = {
            variable.term.feature: Column(rows[:, i], variable.term.label) for i, variable in enumerate(self.variables)
        }
        held = held_by([self.clause(cube) for cube in cubes], len(rows), columns).any(axis=1)
        return f"truth table of {len(rows):,} rows" if np.array_equal(held, self.whole.truth(rows)) else None

    def _same(self, some: Sequence[int], others: Sequence[int], within: int) -> bool:
        """Whether some cubes have the same union as others, within a cube."""
        for union, cubes in ((some, others), (others, some)):
            parts = [cube & within for cube in cubes if self.atoms.inhabited(cube & within)]
            if not all(covers(self.atoms, union, part) for part in parts):
                return False
        return True

    def domain(self, complete: bool = False) -> str:
        """The inputs that were checked, as text."""
        flags = [variable for variable in self.variables if variable.kind == "flag"]
        text = "every input"
        if flags:
            which = listed([flag.term.label for flag in flags]) if len(flags) <= 3 else f"{len(flags)} of the features"
            text += " of 0s and 1s" if len(flags) == len(self.variables) else f" with 0 or 1 for {which}"
            text += " or missing" if any(flag.absent for flag in flags) else ""
        return f"{text} without missing values" if complete else text
