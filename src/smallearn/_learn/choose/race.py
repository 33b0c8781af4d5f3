"""The race: cross-validation that drops families that fall behind.

All families get a quick look on the first folds. Those left are trained thoroughly on the first folds, and the best few
of them on all others.
"""

import numpy as np
from sklearn.utils.parallel import Parallel, delayed

from smallearn._learn.choose.families import CandidateModel, Family, Task, train_family
from smallearn._learn.choose.folds import Fold, counts_rows
from smallearn._learn.choose.results import Results
from smallearn._learn.choose.scores import FoldScore, score_fold
from smallearn._learn.data.problem import Problem
from smallearn._run.progress import Bar
from smallearn.model._decision import class_scores

AFTER_LOOK, AFTER_FIRST = 8, 4  # families left after the quick look, and after the first folds
FIRST_ROWS = 150  # least number of rows that the first folds hold out
FOLD_STARTS = 3  # starts of the search in each fold
MANY_PROTOTYPES = 6  # from here on as many starts as prototypes: with more of them a search gets stuck more easily


def race(task: Task, families: list[Family], folds: list[Fold], n_jobs: int | None, verbose: int) -> Results:
    """The scores of the candidate models of all families; of those that fell behind, on the first folds only."""
    n_rows = count_rows(task.problem, task.problem)
    held_out = max(1, int(count_rows(task.problem, task.problem.take(folds[0].validate))))
    first = min(-(-FIRST_ROWS // held_out), len(folds) // 2)
    look, results = Results(len(folds), n_rows), Results(len(folds), n_rows)
    left = families
    looks = len(families) > AFTER_LOOK and first > 0
    most = min(len(families), AFTER_LOOK + AFTER_LOOK // 2) if looks else len(families)
    total = len(families) * first * looks + _planned(most, first, len(folds))
    with Bar(total, "fits", verbose >= 0) as bar:

        def run(into: Results, numbers: range, n_starts: int) -> None:
            jobs = [(family, fold) for fold in numbers for family in left]
            step = len(left) if n_jobs not in (None, 1) else 1  # fits between two updates of the bar
            for at in range(0, len(jobs), step):
                some = jobs[at : at + step]
                work = (
                    delayed(score_family)(task, family, folds[fold], _starts(family, n_starts)) for family, fold in some
                )
                for (_, fold), scores in zip(some, Parallel(n_jobs=n_jobs)(work), strict=True):
                    into.enter(fold, scores)
                bar.step(len(some))

        if looks:
            run(look, range(first), 1)
            left = survivors(look, left, AFTER_LOOK)
            bar.total = bar.done + _planned(len(left), first, len(folds))
        if len(left) > AFTER_FIRST and first:
            run(results, range(first), FOLD_STARTS)
            left = survivors(results, left, AFTER_FIRST)
            bar.total = bar.done + len(left) * (len(folds) - first)
            run(results, range(first, len(folds)), FOLD_STARTS)
        else:
            run(results, range(len(folds)), FOLD_STARTS)
    return results if results.complete() else results.with_smaller_models()


def score_family(task: Task, family: Family, fold: Fold, n_starts: int) -> dict[CandidateModel, FoldScore]:
    """Train a family on a fold and score its models on the held-out rows."""
    train, held_out = task.problem.take(fold.train), task.problem.take(fold.validate)
    models = train_family(task, train, task.rows(train, family), family, n_starts)
    used = np.unique(np.concatenate([state.column for state in models.values()]))
    columns = task.rows(held_out, family).columns(used)
    n_rows = count_rows(task.problem, held_out)
    scores = {}
    for (alpha, n_terms), state in models.items():
        W = np.zeros((len(state.assignment.owner), len(used)))
        W[state.prototype, np.searchsorted(used, state.column)] = state.theta
        decision = class_scores(columns @ W.T, state.assignment.owner, len(task.problem.classes))
        candidate = CandidateModel(family=family, alpha=alpha, n_terms=n_terms)
        scores[candidate] = score_fold(task.scoring, decision, held_out, n_rows)
    return scores


def count_rows(problem: Problem, part: Problem) -> float:
    """How many rows a part of a problem counts for: their total weight, where weights count rows."""
    return float(part.sample_weight.sum()) if counts_rows(problem.sample_weight) else float(len(part.code))


def survivors(results: Results, families: list[Family], count: int) -> list[Family]:
    """The best ``count`` families so far, by their best candidate models, and the best ``count // 2`` of those with one
    prototype."""
    reached = dict.fromkeys(families, -np.inf)
    for candidate in results.scores:
        if candidate.family in reached:
            reached[candidate.family] = max(reached[candidate.family], results.mean(candidate))
    ranked = sorted(families, key=lambda family: -reached[family])
    single = [family for family in ranked if family.n_prototypes == 1]
    return [family for family in families if family in ranked[:count] or family in single[: count // 2]]


def _planned(n_families: int, first: int, n_folds: int) -> int:
    """The largest number of fits that this many families may take, so that the progress bar never steps back."""
    if n_families <= AFTER_FIRST or not first:
        return n_families * n_folds
    return n_families * first + min(n_families, AFTER_FIRST + AFTER_FIRST // 2) * (n_folds - first)


def _starts(family: Family, n_starts: int) -> int:
    return family.n_prototypes if family.n_prototypes >= MANY_PROTOTYPES and n_starts > 1 else n_starts
