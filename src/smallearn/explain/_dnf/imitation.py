"""An approximate rule, where the model weighs numbers and has no exact one: a few clauses fitted to its predictions."""

import math
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from smallearn.explain._dnf.clause_search import ClauseSearch
from smallearn.explain._dnf.conditions import Condition
from smallearn.explain._dnf.regions import Variable, number_variable, variable_of
from smallearn.explain._dnf.shorter import Choices, Data, choices_of
from smallearn.model import Term
from smallearn.model._columns import Column

MOST_CUTS = 48  # of a number, in the first search
MOST_NEAR = 24  # further cuts on either side of one that was chosen, in the second search
MOST_ROWS = 5000  # for the search; the agreement is counted on all rows


def imitated(
    terms: dict[int, list[Term]], flags: set[int], data: Data, *, max_clauses: int, max_conditions: int
) -> list[tuple[Condition, ...]]:
    """A few clauses that agree with the model on as many rows as can be found.

    The first search uses some cuts of each number, the second one more cuts near those that were chosen.
    """
    data = data.every(math.ceil(data.n_rows / MOST_ROWS))
    numbers = {i: _Cuts(terms[i], data.columns[i]) for i in terms if is_continuous(terms[i], i in flags)}
    others = [variable_of(terms[i], i in flags, data.columns[i]) for i in terms if i not in numbers]
    first = _with_cuts(others, numbers, {i: cuts.quantiles() for i, cuts in numbers.items()}, data)
    clauses = _search(first, data, max_conditions).find(max_clauses, least_gain=max(1.0, 0.002 * data.n_rows))
    chosen = {first.conditions[i] for clause in clauses for i in clause}
    near = {i: cuts.near([c for c in chosen if c.feature == i]) for i, cuts in numbers.items()}
    second = _with_cuts(others, numbers, near, data)
    number = {condition: i for i, condition in enumerate(second.conditions)}
    clauses = [tuple(number[first.conditions[i]] for i in clause) for clause in clauses]
    search = _search(second, data, max_conditions)
    return [second.clause(clause) for clause in search.pruned(search.improved(clauses))]


def _search(choices: Choices, data: Data, max_conditions: int) -> ClauseSearch:
    return ClauseSearch(held=choices.held, subjects=choices.subjects, target=data.truth, max_conditions=max_conditions)


def is_continuous(terms: Sequence[Term], is_flag: bool) -> bool:
    """Whether a feature is weighed as a number other than 0 and 1."""
    return not is_flag and any(term.kind == "raw" for term in terms)


class _Cuts:
    """The cut points of a number: between neighbouring values, at the shortest number there."""

    def __init__(self, terms: Sequence[Term], column: Column):
        self.terms = terms
        self.values, counts = np.unique(column.numbers[~column.missing], return_counts=True)
        self.below = np.cumsum(counts)[:-1]
        self.has_gaps = bool(column.missing.any())
        self.mean = next(term.mean for term in terms if term.kind == "raw")

    def quantiles(self) -> list[float]:
        """Some cuts with about as many rows between any two of them."""
        if len(self.below) <= MOST_CUTS:
            return [self.at(i) for i in range(len(self.below))]
        wanted = np.linspace(0.0, self.below[-1], MOST_CUTS + 2)[1:-1]
        return [self.at(i) for i in np.unique(np.searchsorted(self.below, wanted)).tolist()]

    def near(self, conditions: Iterable[Condition]) -> list[float]:
        """The cuts of these conditions, and those around them up to the next quantile."""
        cuts = {end for c in conditions for interval in c.intervals for end in interval if math.isfinite(end)}
        coarse = [-1, *self.places(self.quantiles()), len(self.below)]
        near: set[int] = set()
        for place in self.places(cuts):
            i = coarse.index(place)
            around = np.linspace(coarse[i - 1] + 1, coarse[i + 1] - 1, 2 * MOST_NEAR).round().astype(int)
            near.update([place, *around.tolist()])
        return [self.at(i) for i in sorted(near)]

    def places(self, cuts: Iterable[float]) -> list[int]:
        """The positions of the values just below these cuts."""
        return (np.searchsorted(self.values, sorted(cuts), side="right") - 1).tolist()

    def at(self, i: int) -> float:
        """The cut between the values at positions i and i + 1."""
        low, high = float(self.values[i]), float(self.values[i + 1])
        middle = low + 0.5 * (high - low)
        numbers = (float(f"{middle:.{digits}e}") for digits in range(17))
        return next((number for number in numbers if low <= number < high), low)

    def masks(self, variable: Variable) -> Iterator[int]:
        """The masks of short conditions, in which a missing value is treated like the mean, as the model does."""
        home = 0
        if self.has_gaps and self.mean is not None:
            home = next(1 << i for i, (low, high) in enumerate(variable.named) if low < self.mean <= high)
        absent = variable.everything & ~variable.complete
        for mask in variable.choices():
            yield mask | absent if mask & home else mask


def _with_cuts(
    others: Sequence[Variable], numbers: dict[int, _Cuts], cuts: dict[int, list[float]], data: Data
) -> Choices:
    """The conditions of all features, the numbers divided at these cuts."""
    cut = [number_variable(numbers[i].terms[0], cuts[i], absent=numbers[i].has_gaps) for i in numbers]
    variables = sorted([*others, *cut], key=lambda variable: variable.term.feature)
    masks = []
    for variable in variables:
        known = numbers.get(variable.term.feature)
        some = known.masks(variable) if known else variable.choices()
        masks.append([mask for mask in some if mask not in (0, variable.everything)])
    return choices_of(variables, masks, data)
