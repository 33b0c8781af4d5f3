"""Shorter clauses that hold for the same of the rows given."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from smallearn.explain._dnf.conditions import Condition, cost_of
from smallearn.explain._dnf.covers import joined, minimum_cover
from smallearn.explain._dnf.functions import Function, clause_of, weighed_terms
from smallearn.explain._dnf.regions import Variable
from smallearn.model import SMaLLModel
from smallearn.model._columns import Column
from smallearn.model._rows import Rows


@dataclass(frozen=True)
class Data:
    """The rows given: the columns that the model uses, and where it predicts the class."""

    n_rows: int
    columns: dict[int, Column]
    truth: np.ndarray

    def every(self, step: int) -> "Data":
        """Every ``step``-th row."""
        columns = {i: Column(column.values[::step], column.label) for i, column in self.columns.items()}
        return Data(n_rows=len(self.truth[::step]), columns=columns, truth=self.truth[::step])


def data_of(model: SMaLLModel, rows: Rows, label: int) -> Data:
    """What a DNF for the class at position ``label`` needs of the rows."""
    if rows.n_rows == 0:
        raise ValueError("X has no rows; pass at least one row, or X=None for the exact rule.")
    columns = {feature: rows.column(terms[0]) for feature, terms in weighed_terms(model).items()}
    truth = model.decide(model.scores(rows)) == label
    return Data(n_rows=rows.n_rows, columns=columns, truth=truth)


@dataclass(frozen=True)
class Choices:
    """Conditions that clauses can be made of.

    ``places`` has the position of the variable of each condition and the mask of its atoms; ``held`` tells whether it
    holds, conditions × rows.
    """

    variables: Sequence[Variable]
    places: tuple[tuple[int, int], ...]
    conditions: tuple[Condition, ...]
    held: np.ndarray

    @property
    def subjects(self) -> np.ndarray:
        """The position of the variable of each condition."""
        return np.array([i for i, _ in self.places], dtype=int)

    def masks(self, chosen: Iterable[int]) -> list[int]:
        """The atoms of each variable that all of the chosen conditions allow."""
        masks = [variable.everything for variable in self.variables]
        for number in chosen:
            i, mask = self.places[number]
            masks[i] &= mask
        return masks

    def clause(self, chosen: Iterable[int]) -> tuple[Condition, ...]:
        """The AND of the chosen conditions, one condition for each feature."""
        return clause_of(self.variables, self.masks(chosen))


def choices_of(variables: Sequence[Variable], masks: Sequence[Iterable[int]], data: Data) -> Choices:
    """The conditions of these masks, those of each variable in turn."""
    places = tuple((i, mask) for i, some in enumerate(masks) for mask in dict.fromkeys(some))
    conditions = tuple(variables[i].condition(mask) for i, mask in places)
    held = [condition.holds(data.columns[condition.feature]) for condition in conditions]
    return Choices(
        variables=variables,
        places=places,
        conditions=conditions,
        held=np.array(held, dtype=bool).reshape(len(places), data.n_rows),
    )


def shortened(function: Function, cubes: Sequence[int], data: Data) -> list[int]:
    """Cubes of atoms that together include the same of the rows given, none of them redundant there.

    Each clause is replaced by a simpler one that includes no row that it did not include, and all the rows that no
    other clause includes.
    """
    used = [function.atoms.unpack(cube) for cube in cubes]
    masks = [
        [mask for mask in (*(masks[i] for masks in used), *variable.choices()) if mask not in (0, variable.everything)]
        for i, variable in enumerate(function.variables)
    ]
    choices = choices_of(function.variables, masks, data)
    _, different = np.unique(np.vstack([choices.held, data.truth]), axis=1, return_index=True)
    held, truth = choices.held[:, different], data.truth[different]
    if not truth.any():
        return []
    number = {place: i for i, place in enumerate(choices.places)}
    clauses = [[number[place] for place in enumerate(masks) if place in number] for masks in used]
    costs = [cost_of(function.clause(cube)) for cube in cubes]
    rows = np.array([held[clause].all(axis=0) for clause in clauses])
    kept = minimum_cover(rows[:, truth], costs)
    for i in sorted(kept, key=lambda i: -costs[i]):
        others = rows[[j for j in kept if j != i]].any(axis=0)
        clauses[i] = _replaced(choices, held, clauses[i], rows[i] & ~others)
        rows[i] = held[clauses[i]].all(axis=0)
    return joined(function.atoms, [function.atoms.pack(choices.masks(clauses[i])) for i in kept])


def _replaced(choices: Choices, held: np.ndarray, own: list[int], needed: np.ndarray) -> list[int]:
    """The fewest and simplest conditions that include the needed rows and no row that ``own`` does not include.

    ``own`` itself, if that is as simple.
    """
    inside = held[own].all(axis=0)
    if inside.all():
        return []
    fit = np.flatnonzero(held[:, needed].all(axis=1))
    costs = [10 * choices.conditions[i].awkwardness + (i not in own) for i in fit]
    chosen = fit[minimum_cover(~held[np.ix_(fit, ~inside)], costs)].tolist()
    return chosen if cost_of(choices.clause(chosen)) < cost_of(choices.clause(own)) else own
