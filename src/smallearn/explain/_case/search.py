"""The smallest change of a row that changes its decision, found exactly.

A number's change is measured relative to its range in training, and the changes of all features are added up; another
category, or a value in place of a missing one, counts 1. No change leaves the range in training (or the row's own
value). Where none of the features that may change is weighed as a number, every combination of regions is tried, if
there are not too many; otherwise a mixed-integer program is solved (`program`).
"""

import math
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from smallearn.explain._case.changeable import Changeable, size_of
from smallearn.explain._case.changes import Flip
from smallearn.explain._case.domains import Domain, Known, Region, domain_of
from smallearn.explain._case.program import Above, Program, goals_of
from smallearn.explain._case.short import in_short_numbers
from smallearn.explain._size import check_size
from smallearn.model import SMaLLModel, Term
from smallearn.model._arguments import as_row
from smallearn.model._columns import column_of, factor_of_one, signatures
from smallearn.model._decision import score

MOST_LEAD, LEADS = 30.0, 12  # in log-odds, of a class that is to have the least expected cost, and how many are tried
MOST_COMBINATIONS = 100_000  # of regions, that are all tried


def smallest_flip(model: SMaLLModel, values: dict[int, Any], free: Collection[int], known: Known) -> Flip | None:
    """The smallest change of the features at the positions ``free`` after which the model predicts another class."""
    check_size(model, "the smallest change that changes a decision")
    domains = tuple(
        domain_of(model, term, values[term.feature], known) for term in model.features if term.feature in free
    )
    if not domains:
        return None
    row = Changeable(model=model, values=values, domains=domains, prediction=model.predict_one(as_row(model, values)))
    if all(term.kind != "raw" for domain in domains for _, term in domain.terms):
        choices = [_choices(domain) for domain in domains]
        if math.prod(map(len, choices)) <= MOST_COMBINATIONS:
            after = _nearest_combination(row, choices)
            return None if after is None else in_short_numbers(row, after)
    return _by_program(row)


def _choices(domain: Domain) -> list[Any]:
    """The nearest value of each region; of regions on which the same literals are true, the nearest."""
    nearest = [_nearest(domain, region) for region in domain.regions]
    nearest.sort(key=lambda value: size_of(domain, value))
    found: dict[bytes, Any] = {}
    for value, signature in zip(nearest, signatures([term for _, term in domain.terms], nearest), strict=True):
        found.setdefault(signature, value)
    return list(found.values())


def _nearest(domain: Domain, region: Region) -> Any:
    if not region.is_number or domain.now is None:
        return region.sample
    return min(max(domain.now, region.low), region.high)


def _nearest_combination(row: Changeable, choices: Sequence[list[Any]]) -> list[Any] | None:
    """Of all combinations of values that change the decision, the nearest: scored at once, by the model's rule."""
    model = row.model
    left = np.arange(math.prod(map(len, choices)))
    cost, z = np.zeros(len(left)), np.empty((len(left), len(model.prototypes)))
    chosen: dict[int, tuple[list[Any], np.ndarray]] = {}
    for domain, choice in zip(row.domains, choices, strict=True):
        left, place = np.divmod(left, len(choice))
        chosen[domain.feature] = choice, place
        cost += np.array([size_of(domain, value) for value in choice])[place]
    unchanged = np.zeros(1, dtype=int)
    columns = {feature: column_of(choice) for feature, (choice, _) in chosen.items()}

    def factor(term: Term) -> np.ndarray:
        if term.feature not in chosen:
            return np.array([factor_of_one(term, row.values[term.feature])])[unchanged]
        return columns[term.feature].factor(term)[chosen[term.feature][1]]

    for j, prototype in enumerate(model.prototypes):
        z[:, j] = score(prototype, factor)
    cost[model.decide(z) == model.classes.index(row.prediction)] = np.inf
    best = int(cost.argmin())
    return None if math.isinf(cost[best]) else [choice[place[best]] for choice, place in chosen.values()]


def _by_program(row: Changeable) -> Flip | None:
    """The best of the goals that give the row to another class."""
    program = Program(row.model, row.values, row.domains)
    best: Flip | None = None
    reached = _reached if row.model.decision.costs is None else _reached_by_leads
    for goal in goals_of(row.model, row.model.classes.index(row.prediction)):
        limit = math.inf if best is None else best.size
        flip = reached(row, program, goal, limit)
        if flip is not None and flip.size < limit:
            best = flip
    return best


def _reached_by_leads(row: Changeable, program: Program, goal: Sequence[Above], limit: float) -> Flip | None:
    """A change that gives the row to a class by its expected cost, with the smallest lead of its score that does.

    The lead is the same over all other classes, so that there may be a smaller change.
    """
    low, high = -MOST_LEAD / row.model.scale, MOST_LEAD / row.model.scale
    best = None
    for _ in range(LEADS):
        lead = 0.5 * (low + high)
        flip = _reached(row, program, [replace(above, lead=lead) for above in goal], limit)
        if flip is None:
            low = lead
        else:
            high, best = lead, flip
    return best


def _reached(row: Changeable, program: Program, goal: Sequence[Above], limit: float) -> Flip | None:
    """The smallest change that reaches a goal. A tie that the solver's rounding spoils is avoided like other bounds."""
    for at_ties in (True, False):
        after = program.solve(goal, at_ties=at_ties, limit=limit)
        flip = None if after is None else in_short_numbers(row, after)
        if after is None or flip is not None:
            return flip
    return None
