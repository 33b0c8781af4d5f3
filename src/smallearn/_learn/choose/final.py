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
from smallearn._learn.solve.support_search import MOST_THOROUGH, REMOVALS
from smallearn._learn.solve.support_state import ColumnCache, State
from smallearn._run.deadline import present
from smallearn.devices import Cost
from smallearn.model import Selection, SMaLLModel, Step
from smallearn.model._decision import class_scores

MOST_REMOVALS = 32  # terms, the cheapest, that are tried for a swap
MOST_SWAPS = 10  # of terms, on all rows
MORE_STARTS = 4  # times as many, where a search over all rows got stuck
OTHER_SIZES = "the models of other sizes"  # what is left out when time is up


@dataclass(frozen=True)
class Choice:
    """The chosen candidate model, what is fitted on all rows, and the number format and cost on a chip.

    ``fitted`` is None if the model was only chosen, ``number`` and ``cost`` if there is no chip.
    """

    candidate: CandidateModel
    fitted: Fitted | None = None
    number: str | None = None
    cost: Cost | None = None


def train_choice(
    task: Task, results: Results, chosen: CandidateModel, n_init: int, *, every_size: bool = False
) -> Choice:
    """Train the chosen candidate model on all rows, or a smaller one that is as good; and those of ``every_size``.

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
        if not results.beats_training(chosen, errors[chosen]) or present().stops("further starts"):
            break
    state = sample.settle(chosen, states[chosen])
    sizes = results.sizes_like(chosen)
    frontier = tuple(results.step(candidate) for candidate in sizes.values())
    fitted = assemble_candidate(task, results, chosen, state, frontier)
    if every_size:
        others = [candidate for candidate in sizes.values() if candidate != chosen]
        models = _distinct(alone(fitted.model), train_others(task, results, sample, others))
        fitted = replace(fitted, model=replace(fitted.model, frontier_models=models))
    return Choice(candidate=chosen, fitted=fitted)


def train_others(
    task: Task, results: Results, sample: "Sample", candidates: list[CandidateModel]
) -> list[tuple[CandidateModel, SMaLLModel]]:
    """Candidate models trained on all rows with little work, as far as time allows: from the search that was run for
    the chosen model, or from one start."""
    uncertified = replace(task, certificate_share=0.0)
    trained = []
    for family in dict.fromkeys(candidate.family for candidate in candidates):
        members = [candidate for candidate in candidates if candidate.family == family]
        if present().stops(OTHER_SIZES):
            break
        for candidate, state in sample.train(family, members, 1, quick=True).items():
            if present().stops(OTHER_SIZES):
                break
            settled = sample.settle(candidate, state, quick=True)
            trained.append((candidate, assemble_candidate(uncertified, results, candidate, settled, ()).model))
    return trained


def alone(model: SMaLLModel) -> SMaLLModel:
    """A model as it is kept with another: without what the other one has."""
    selection = model.selection and replace(model.selection, frontier=())
    return replace(model, selection=selection, data=None, frontier_models=(), alternatives=())


def _distinct(chosen: SMaLLModel, others: list[tuple[CandidateModel, SMaLLModel]]) -> tuple[SMaLLModel, ...]:
    """The models by ascending number of terms, one of each size: the chosen one, or the one that was to have it.

    A model may have fewer terms than it was allowed to have.
    """
    by_size: dict[int, SMaLLModel] = {}
    for _, model in sorted(others, key=lambda entry: -entry[0].n_terms):
        by_size[model.n_terms] = model
    by_size[chosen.n_terms] = chosen
    return tuple(by_size[size] for size in sorted(by_size))


def train_frontier(task: Task, results: Results, n_init: int) -> list[tuple[CandidateModel, Fitted]]:
    """The best candidate model with each number of terms and what is fitted on all rows, by number of terms."""
    chosen, frontier = results.best_of_each_size().values(), results.frontier()
    sample = Sample(task)
    trained = []
    for family in dict.fromkeys(candidate.family for candidate in chosen):
        members = [candidate for candidate in chosen if candidate.family == family]
        for candidate, state in sample.train(family, members, n_init).items():
            settled = sample.settle(candidate, state)
            trained.append((candidate, assemble_candidate(task, results, candidate, settled, frontier)))
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
        self._columns: ColumnCache | None = None

    def train(
        self, family: Family, candidates: list[CandidateModel], n_init: int, *, quick: bool = False
    ) -> dict[CandidateModel, State]:
        """Candidate models of one family, trained on the sample by one search; ``quick``: by the last one that was run
        for the family, if there is one, and with few swaps."""
        task, training = self._task, self.training
        least = min(task.min_terms, *(candidate.n_terms for candidate in candidates))
        models = self._quick_models(family, least) if quick else self._models(family, n_init, least)
        states = {}
        for candidate in candidates:
            sizes = [size for alpha, size in models if alpha == candidate.alpha]
            fitting = max((size for size in sizes if size <= candidate.n_terms), default=min(sizes))
            state = models[candidate.alpha, fitting]
            search = task.search(training.rows(family.owner), family, candidate.alpha, training.columns)
            if fitting > candidate.n_terms:  # the search skipped a size that the folds had
                state = search.shrink_to(state, candidate.n_terms)
            polished = search.polish(state, REMOVALS) if quick else search.polish(state, MOST_REMOVALS, tries=2)
            states[candidate] = search.drop_unused(polished)
        return states

    def _quick_models(self, family: Family, least: int) -> Models:
        """The models of a family: those of the last search, or of a new one from one start."""
        kept = [models for (known, *_), models in self._found.items() if known == family]
        if kept:
            return kept[-1]
        models = train_family(replace(self._task, min_terms=least), self.training, family, 1)
        self._found[family, 1, least] = models
        return models

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

    def settle(self, candidate: CandidateModel, state: State, *, quick: bool = False) -> State:
        """A model of the sample, on all rows: rows move, weights are refitted, and unless it is to be ``quick``, terms
        swapped where that helps."""
        task, family = self._task, candidate.family
        rows = task.rows(task.problem, family.owner)
        if quick and self._columns is None:
            self._columns = ColumnCache(rows)  # few columns, read once for all quick models
        search = task.search(rows, family, candidate.alpha, self._columns if quick else None)
        if self._is_all:
            own = np.empty_like(state.assignment.own)
            own[self._part.rows] = state.assignment.own
            return search.fixed().refit_at(Assignment(own=own, owner=state.assignment.owner), state.entries)
        settled = search.reassign(search.place(state))
        return search.drop_unused(settled if quick else search.polish(settled, MOST_REMOVALS, most=MOST_SWAPS))


def error_rate(task: Task, problem: Problem, state: State) -> float:
    """The share of its training rows, by weight, that a model misclassifies."""
    scores = class_scores(state.Z.T, state.assignment.owner, len(problem.classes))
    decision, weight = compared(scores, problem, task.scoring, task.threshold), problem.sample_weight
    return float(weight[~right(decision, problem.code)].sum() / weight.sum())


def assemble_candidate(
    task: Task, results: Results, candidate: CandidateModel, state: State, frontier: tuple[Step, ...]
) -> Fitted:
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
        frontier=frontier,
    )
    return replace(fitted, model=replace(fitted.model, selection=selection))
