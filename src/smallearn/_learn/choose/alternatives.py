"""Alternatives to the chosen model: as many terms, about the same score, other features.

The chosen family is searched again, at the chosen λ and number of terms, without some of the features that the chosen
model uses: each in turn, then the ones that are missed least together. What scores within a standard error of the
chosen model on the same folds is trained on all rows.
"""

from dataclasses import replace

import numpy as np

from smallearn._learn.choose.families import CandidateModel, Task
from smallearn._learn.choose.final import Sample, alone, assemble_candidate
from smallearn._learn.choose.folds import Fold
from smallearn._learn.choose.race import score_on_folds
from smallearn._learn.choose.results import Results
from smallearn._run.deadline import present
from smallearn.model import SMaLLModel
from smallearn.model._parts import standard_error

MOST_LEFT_OUT = 12  # features that are left out in turn
WORK = "the alternatives"  # what is cut short when time is up


def find_alternatives(
    task: Task,
    results: Results,
    folds: list[Fold],
    chosen: CandidateModel,
    model: SMaLLModel,
    *,
    count: int,
    n_init: int,
    n_jobs: int | None,
) -> tuple[SMaLLModel, ...]:
    """At most ``count`` alternatives to ``model``, trained for the candidate model ``chosen``; those that differ most
    from it and from one another first. When time is up, there are fewer or none."""
    if results.n_folds < len(folds) or present().stops(WORK):
        return ()
    always = set(task.budget.always_in)
    inner = replace(task, min_terms=chosen.n_terms, max_terms=max(1, chosen.n_terms))
    features = sorted(features_of(model) - always)[:MOST_LEFT_OUT]
    tried = Results(results.n_folds, results.n_rows)
    tried.scores[chosen] = results.scores[chosen]

    def try_without(sets: list[tuple[int, ...]]) -> list[CandidateModel]:
        """The candidate models without these features that are about as good as the chosen one, best first."""
        families = [replace(chosen.family, alphas=(chosen.alpha,), without=tuple(sorted(some))) for some in sets]
        for fold, scores in score_on_folds(inner, results, folds, families, n_jobs):
            tried.enter(fold, {c: s for c, s in scores.items() if c.n_terms == chosen.n_terms})
        found = [CandidateModel(family=family, alpha=chosen.alpha, n_terms=chosen.n_terms) for family in families]
        complete = set(tried.complete())
        good = [c for c in found if c in complete and is_as_good(tried, chosen, c)]
        return sorted(good, key=lambda c: (-tried.mean(c), c.family.without))

    single = try_without([(feature,) for feature in features])
    least_missed = [candidate.family.without[0] for candidate in single]
    several = [tuple(least_missed[:size]) for size in range(2, len(least_missed) + 1)]
    good = single + (try_without(several) if several and not present().stops(WORK) else [])
    return choose_different(model, _train(task, tried, good, n_init), count)


def is_as_good(results: Results, chosen: CandidateModel, other: CandidateModel) -> bool:
    """Whether a candidate model scores within a standard error of the chosen one, by what decides and by what is
    reported."""
    ahead, error = results.advantage(chosen, other)
    own, its = results.reported(chosen), results.reported(other)
    return ahead <= error and float(np.mean(own - its)) <= standard_error(tuple(own.tolist()))


def choose_different(model: SMaLLModel, found: list[SMaLLModel], count: int) -> tuple[SMaLLModel, ...]:
    """At most ``count`` of the models, of which no two use the same features, nor do any and ``model``.

    In turn the one that has most features apart from all those before, at a tie the first.
    """
    chosen: list[SMaLLModel] = []
    known = [features_of(model)]
    left = [other for other in found if other.n_terms == model.n_terms]
    while left and len(chosen) < count:
        apart = [min(len(features_of(other) ^ one) for one in known) for other in left]
        best = int(np.argmax(apart))
        if apart[best] == 0:
            break
        chosen.append(left.pop(best))
        known.append(features_of(chosen[-1]))
    return tuple(chosen)


def features_of(model: SMaLLModel) -> set[int]:
    """The features that a model uses."""
    return {term.feature for term in model.terms}


def _train(task: Task, tried: Results, good: list[CandidateModel], n_init: int) -> list[SMaLLModel]:
    """The candidate models trained on all rows, in their order, as far as time allows."""
    uncertified, trained = replace(task, certificate_share=0.0), []
    for candidate in good:
        if present().stops(WORK):
            break
        sized = replace(uncertified, min_terms=candidate.n_terms, max_terms=max(1, candidate.n_terms))
        sample = Sample(sized)
        state = sample.train(candidate.family, [candidate], n_init)[candidate]
        fitted = assemble_candidate(uncertified, tried, candidate, sample.settle(candidate, state), ())
        trained.append(alone(fitted.model))
    return trained
