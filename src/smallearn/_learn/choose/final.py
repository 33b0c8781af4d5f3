"""The chosen candidate model, trained on all rows."""

from dataclasses import dataclass, replace

from smallearn._learn.assemble import Fitted, assemble
from smallearn._learn.choose.certificate import add_certificate
from smallearn._learn.choose.families import CandidateModel, Family, Task, train_family
from smallearn._learn.choose.results import Results
from smallearn._learn.choose.scores import metric_name
from smallearn._learn.data.problem import Problem
from smallearn._learn.solve import descent
from smallearn._learn.solve.scoring import right
from smallearn._learn.solve.support_state import State
from smallearn.devices import Cost
from smallearn.model import Selection
from smallearn.model._decision import class_scores

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

    Of the candidate models with the same errors on held-out rows it takes those with fewest errors on all rows, and of
    these the one with fewest terms. If that is worse on all rows than on held-out rows, the search got stuck and is
    repeated from more starts.
    """
    alike = results.with_same_errors(chosen)
    for starts in (n_init, MORE_STARTS * n_init):
        states = train_on_all_rows(task, chosen.family, alike, starts)
        errors = {candidate: error_rate(task.problem, state) for candidate, state in states.items()}
        chosen = min(alike, key=lambda c: (round(errors[c], 9), c.n_terms, -c.alpha))
        if not results.beats_training(chosen, errors[chosen]):
            break
    return Choice(candidate=chosen, fitted=assemble_candidate(task, results, chosen, states[chosen]))


def train_frontier(task: Task, results: Results, n_init: int) -> list[tuple[CandidateModel, Fitted]]:
    """The best candidate model with each number of terms and what is fitted on all rows, by number of terms."""
    chosen = results.best_of_each_size().values()
    trained = []
    for family in dict.fromkeys(candidate.family for candidate in chosen):
        members = [candidate for candidate in chosen if candidate.family == family]
        for candidate, state in train_on_all_rows(task, family, members, n_init).items():
            trained.append((candidate, assemble_candidate(task, results, candidate, state)))
    return sorted(trained, key=lambda entry: entry[0].n_terms)


def train_on_all_rows(
    task: Task, family: Family, candidates: list[CandidateModel], n_init: int
) -> dict[CandidateModel, State]:
    """Candidate models of one family, trained on all rows by one search."""
    rows = task.rows(task.problem, family)
    least = min(task.min_terms, *(candidate.n_terms for candidate in candidates))
    models = train_family(replace(task, min_terms=least), task.problem, rows, family, n_init, thorough=True)
    states = {}
    for candidate in candidates:
        sizes = [size for alpha, size in models if alpha == candidate.alpha]
        fitting = max((size for size in sizes if size <= candidate.n_terms), default=min(sizes))
        state = models[candidate.alpha, fitting]
        search = task.search(rows, family, candidate.alpha)
        if fitting > candidate.n_terms:  # the search over all rows skipped a size that the folds had
            state = search.shrink_to(state, candidate.n_terms)
        polished = search.polish(state, len(state.theta), tries=2)  # tries to swap every term
        states[candidate] = search.drop_unused(polished)
    return states


def error_rate(problem: Problem, state: State) -> float:
    """The share of its training rows, by weight, that a model misclassifies."""
    decision = class_scores(state.Z, state.assignment.owner, len(problem.classes))
    weight = problem.sample_weight
    return float(weight[~right(decision, problem.code)].sum() / weight.sum())


def assemble_candidate(task: Task, results: Results, candidate: CandidateModel, state: State) -> Fitted:
    """A candidate model trained on all rows, with the record of its selection, and with its certificate if the task
    asks for it."""
    family = candidate.family
    budget = task.family_budget(family)
    if budget.costs is None and budget.pooling != "prototype":
        budget = replace(budget, limit=float(max(1, candidate.n_terms)))
    penalty = budget.penalty(candidate.alpha, task.problem.candidates, task.fit_intercept, family.owner)
    rows = task.rows(task.problem, family)
    found = add_certificate(task, results, rows, descent.from_state(rows, state, penalty), penalty)
    fitted = assemble(task.problem, found, budget, task.options(candidate.alpha))
    selection = Selection(
        metric=metric_name(task.scoring),
        scores=tuple(results.reported(candidate).tolist()),
        max_terms=task.max_terms,
        frontier=results.frontier(),
    )
    return replace(fitted, model=replace(fitted.model, selection=selection))
