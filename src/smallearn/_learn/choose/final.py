"""The chosen candidate model, trained on all rows."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from smallearn._learn.assemble import Fitted, assemble
from smallearn._learn.choose.certificate import add_certificate
from smallearn._learn.choose.families import CandidateModel, Family, Models, Task, train_family
from smallearn._learn.choose.folds import draw
from smallearn._learn.choose.results import Results
from smallearn._learn.choose.scores import compared, metric_name
from smallearn._learn.data.labels import LOG_LOSS, Assignment
from smallearn._learn.data.problem import Problem
from smallearn._learn.solve import descent
from smallearn._learn.solve.scoring import right
from smallearn._learn.solve.support_search import MOST_THOROUGH
from smallearn._learn.solve.support_state import State
from smallearn._run.deadline import present
from smallearn.devices import Cost
from smallearn.model import Selection
from smallearn.model._decision import class_scores

MOST_REMOVALS = 32  # terms, the cheapest, that are tried for a swap
MOST_SWAPS = 10  # of terms, on all rows
MORE_STARTS = 4  # times as many, where a search over all rows got stuck


@dataclass(frozen=True)
class Choice:
    """The chosen candidate model, what is fitted on all rows, and the number format and cost on a chip.

    ``fitted`` is None if the model was only chosen, ``number`` and ``cost`` if there is no chip.
    """

    candidate: CandidateModel
    fitted: Fitted | None = None
    number: str | None = None
    cost: Cost | None = None


def train_choice(task: Task, results: Results, chosen: CandidateModel, n_init: int) -> Choice:
    """Train the chosen candidate model on all rows, or a smaller one that is as good.

    Of the candidate models with the same errors on held-out rows it takes those with fewest errors in training, and of
    these the one with fewest terms. If that is worse in training than on held-out rows, the search got stuck and is
    repeated from more starts.
    """
    alike = results.with_same_errors(chosen)
    sample = Sample(task)
    for starts in (n_init, MORE_STARTS * n_init):
        states = sample.train(chosen.family, alike, starts)
        errors = {candidate: error_rate(task, sample.training.problem, state) for candidate, state in states.items()}
        chosen = min(alike, key=lambda c: (round(errors[c], 9), c.n_terms, -c.alpha))
        if not results.beats_training(chosen, errors[chosen]) or present().passed():
            break
    state = sample.settle(chosen, states[chosen])
    return Choice(candidate=chosen, fitted=assemble_candidate(task, results, chosen, state))


def train_frontier(task: Task, results: Results, n_init: int) -> list[tuple[CandidateModel, Fitted]]:
    """The best candidate model with each number of terms and what is fitted on all rows, by number of terms."""
    chosen = results.best_of_each_size().values()
    sample = Sample(task)
    trained = []
    for family in dict.fromkeys(candidate.family for candidate in chosen):
        members = [candidate for candidate in chosen if candidate.family == family]
        for candidate, state in sample.train(family, members, n_init).items():
            settled = sample.settle(candidate, state)
            trained.append((candidate, assemble_candidate(task, results, candidate, settled)))
    return sorted(trained, key=lambda entry: entry[0].n_terms)


class Sample:
    """Candidate models are searched for on a sample of all rows and then settled on all rows; on few rows the sample
    is all of them."""

    def __init__(self, task: Task):
        units, most = task.units, task.limits.search
        self._task = task
        # Counted in units: of heavy rows a sample may have each, but not all their weight.
        self._is_all = most is None or len(units.rows) <= most
        self._part = draw(units, np.arange(len(units.rows)), most)
        self.training = task.training_set(task.problem.take(*self._part))
        self._found: dict[tuple[Family, int, int], Models] = {}

    def train(self, family: Family, candidates: list[CandidateModel], n_init: int) -> dict[CandidateModel, State]:
        """Candidate models of one family, trained on the sample by one search."""
        task, training = self._task, self.training
        models = self._models(family, n_init, min(task.min_terms, *(candidate.n_terms for candidate in candidates)))
        states = {}
        for candidate in candidates:
            sizes = [size for alpha, size in models if alpha == candidate.alpha]
            fitting = max((size for size in sizes if size <= candidate.n_terms), default=min(sizes))
            state = models[candidate.alpha, fitting]
            search = task.search(training.rows(family.owner), family, candidate.alpha, training.columns)
            if fitting > candidate.n_terms:  # the search skipped a size that the folds had
                state = search.shrink_to(state, candidate.n_terms)
            polished = search.polish(state, MOST_REMOVALS, tries=2)
            states[candidate] = search.drop_unused(polished)
        return states

    def _models(self, family: Family, n_init: int, least: int) -> Models:
        """The models of a family from ``least`` terms on, by one search, which is kept."""
        key = family, n_init, least
        if key not in self._found:
            task = replace(self._task, min_terms=least)
            late = present().stops("the search on all rows")
            starts = 1 if late else n_init if family.owner is not None else -(-n_init // 2)
            every_kind = not late and task.max_terms <= MOST_THOROUGH
            self._found[key] = train_family(
                task, self.training, family, starts, thorough=not late, every_kind=every_kind
            )
        return self._found[key]

    def settle(self, candidate: CandidateModel, state: State) -> State:
        """A model of the sample, on all rows: rows move, weights are refitted, and terms swapped where that helps."""
        task, family = self._task, candidate.family
        search = task.search(task.rows(task.problem, family.owner), family, candidate.alpha)
        if self._is_all:
            own = np.empty_like(state.assignment.own)
            own[self._part.rows] = state.assignment.own
            return search.fixed().refit_at(Assignment(own=own, owner=state.assignment.owner), state.entries)
        settled = search.reassign(search.place(state))
        return search.drop_unused(search.polish(settled, MOST_REMOVALS, most=MOST_SWAPS))


def error_rate(task: Task, problem: Problem, state: State) -> float:
    """The share of its training rows, by weight, that a model misclassifies."""
    scores = class_scores(state.Z.T, state.assignment.owner, len(problem.classes))
    decision, weight = compared(scores, problem, task.scoring, task.threshold), problem.sample_weight
    return float(weight[~right(decision, problem.code)].sum() / weight.sum())


def assemble_candidate(task: Task, results: Results, candidate: CandidateModel, state: State) -> Fitted:
    """A candidate model trained on all rows, with the record of its selection, and with its certificate if the task
    asks for it."""
    family = candidate.family
    budget = task.family_budget(family)
    if budget.costs is None and budget.pooling != "prototype":
        budget = replace(budget, limit=float(max(1, candidate.n_terms)))
    rows: Any = task.rows(task.problem, family.owner)
    problem, penalty = task.problem, task.penalty(family, candidate.alpha, budget)
    found = descent.from_state(rows, state, penalty, family.sharpness)
    if task.large is not None:
        every_row = task.large.rows(family.owner, task.fit_intercept)
        refit = family.sharpness == LOG_LOSS  # other weights stay those of the sample
        found, rows = descent.settle(every_row, rows, found, penalty, refit=refit), every_row
        problem = task.large.exact(problem)
    # The bound is about all models within the budget, one-sided or not.
    every = budget.penalty(candidate.alpha, task.problem.candidates, task.fit_intercept, family.owner)
    found = add_certificate(task, results, rows, found, every)
    fitted = assemble(problem, found, budget, task.options(candidate.alpha, results.threshold(candidate)))
    selection = Selection(
        metric=metric_name(task.scoring),
        scores=tuple(results.reported(candidate).tolist()),
        max_terms=task.max_terms,
        frontier=results.frontier(),
    )
    return replace(fitted, model=replace(fitted.model, selection=selection))
