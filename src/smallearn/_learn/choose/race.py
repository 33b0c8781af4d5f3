"""The race: cross-validation that drops families that fall behind.

All families get a quick look on the first folds. Those left are trained thoroughly on the first folds, and the best few
of them on all others.
"""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from joblib import effective_n_jobs
from sklearn.utils.parallel import Parallel, delayed

from smallearn._learn.choose.families import CandidateModel, Family, Task, look_at_family, train_family
from smallearn._learn.choose.folds import Fold
from smallearn._learn.choose.results import Results
from smallearn._learn.choose.scores import FoldScore, score_fold
from smallearn._learn.data.content import counts_rows
from smallearn._learn.data.problem import Problem
from smallearn._learn.solve.support_state import ColumnCache, weighted_sums
from smallearn._run.progress import Bar
from smallearn.model._decision import class_scores

AFTER_LOOK, AFTER_FIRST = 8, 4  # families left after the quick look, and after the first folds
FIRST_ROWS = 150  # least number of rows that the first folds hold out
MOST_HELD_OUT = 20_000  # held-out rows that a candidate model is scored on
FEWEST_FOLDS = 2  # after which a family that is far behind is dropped
OUT, LAG = 2.0, 0.0  # standard errors behind the best family, and behind the best single prototype
FOLD_STARTS = 3  # starts of the search in each fold
MANY_PROTOTYPES = 6  # from here on as many starts as prototypes: with more of them a search gets stuck more easily


def race(task: Task, families: list[Family], folds: list[Fold], n_jobs: int | None, verbose: int) -> Results:
    """The scores of the candidate models of all families; of those that fell behind, on the first folds only."""
    n_rows = count_rows(task.problem, task.problem)
    first = min(-(-FIRST_ROWS // max(1, int(np.sum(folds[0].validates)))), len(folds) // 2)
    looked, results = Results(len(folds), n_rows), Results(len(folds), n_rows)
    left = families
    looks = len(families) > AFTER_LOOK and first > 0
    most = min(len(families), AFTER_LOOK + AFTER_LOOK // 2) if looks else len(families)
    total = len(families) * first * looks + _planned(most, first, len(folds))
    tracks = _Tracks(task, folds, first)
    with Bar(total, "fits", verbose >= 0) as bar:

        def run(into: Results, numbers: range, look: bool = False) -> None:
            for fold, scores, count in tracks.run(left, numbers, look, n_jobs):
                into.enter(fold, scores)
                bar.step(count)

        if looks:
            run(looked, range(first), look=True)
            left = survivors(looked, left, AFTER_LOOK)
            bar.total = bar.done + _planned(len(left), first, len(folds))
        if len(left) > AFTER_FIRST and first:
            run(results, range(first))
            left = survivors(results, left, AFTER_FIRST)
        else:
            first = 0
        for fold in range(first, len(folds)):
            left = contenders(results, left, fold)
            bar.total = bar.done + len(left) * (len(folds) - fold)
            run(results, range(fold, fold + 1))
    return results if results.complete() else results.with_smaller_models()


class _Tracks:
    """The rows of each fold, ready to train on. Those of the first folds, on which families run twice, are kept."""

    def __init__(self, task: Task, folds: list[Fold], first: int):
        self._task, self._folds, self._first = task, folds, first
        self._kept: dict[int, _Track] = {}

    def run(
        self, families: list[Family], numbers: range, look: bool, n_jobs: int | None
    ) -> Iterator[tuple[int, dict[CandidateModel, FoldScore], int]]:
        """For some families and folds: the fold, the scores of candidate models, and of how many families they are.

        Processes get the families of a fold in equal shares, so that the searches of each share what they read.
        """
        if n_jobs in (None, 1):
            for fold in numbers:
                track = self._track(fold)
                for family in families:
                    yield fold, track.score(family, look), 1
            return
        jobs = effective_n_jobs(n_jobs)
        shares = max(1, min(len(families), -(-jobs // len(numbers)) if len(numbers) else 1))
        parts = [(fold, families[share::shares]) for fold in numbers for share in range(shares)]
        for begin in range(0, len(parts), jobs):  # fits between two updates of the bar
            some = parts[begin : begin + jobs]
            work = (delayed(_score_families)(self._track(fold), part, look) for fold, part in some)
            for (fold, part), scores in zip(some, Parallel(n_jobs=n_jobs)(work), strict=True):
                yield fold, scores, len(part)

    def _track(self, fold: int) -> "_Track":
        if fold in self._kept:
            return self._kept[fold]
        task, problem, rows = self._task, self._task.problem, self._folds[fold]
        held_out = problem.take(*rows.held_out(MOST_HELD_OUT))
        n_rows = count_rows(problem, held_out)
        track = _Track(replace(task, problem=problem.take(*rows.train(task.sample_rows)), units=None), held_out, n_rows)
        if fold < self._first:
            self._kept[fold] = track
        return track


class _Track:
    """A fold: the rows to train on are those of ``task``; the held-out rows count for ``n_rows``."""

    def __init__(self, task: Task, held_out: Problem, n_rows: float):
        self._task, self._held_out, self._n_rows = task, held_out, n_rows
        self._training = task.training_set(task.problem)
        self._columns = ColumnCache(task.rows(held_out, None))

    def __reduce__(self):  # without what the searches have read
        return _Track, (self._task, self._held_out, self._n_rows)

    def score(self, family: Family, look: bool) -> dict[CandidateModel, FoldScore]:
        """Train a family, or take a quick look at it, and score its models on the held-out rows."""
        task, training, held_out = self._task, self._training, self._held_out
        models = (
            look_at_family(task, training, family) if look else train_family(task, training, family, _starts(family))
        )
        scores = {}
        for (alpha, n_terms), state in models.items():
            Z = weighted_sums(self._columns, state)
            decision = class_scores(Z.T, state.assignment.owner, len(held_out.classes))
            candidate = CandidateModel(family=family, alpha=alpha, n_terms=n_terms)
            scores[candidate] = score_fold(task.scoring, decision, held_out, self._n_rows)
        return scores


def _score_families(track: _Track, families: list[Family], look: bool) -> dict[CandidateModel, FoldScore]:
    scores: dict[CandidateModel, FoldScore] = {}
    for family in families:
        scores |= track.score(family, look)
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


def contenders(results: Results, families: list[Family], n_folds: int) -> list[Family]:
    """The families that may still be chosen after the first ``n_folds`` folds.

    A family is out if its best candidate model is behind the best of all by more than can be chance. Families with
    several prototypes have to beat the best single prototype in the end: they are out if they are behind that one.
    """
    if n_folds < FEWEST_FOLDS:
        return families
    mean: dict[Family, tuple[float, CandidateModel]] = {}
    for candidate, scores in results.scores.items():
        if candidate.family in families and all(score is not None for score in scores[:n_folds]):
            reached = results.mean(candidate)
            if candidate.family not in mean or reached > mean[candidate.family][0]:
                mean[candidate.family] = reached, candidate
    if not mean:
        return families
    best = {family: candidate for family, (_, candidate) in mean.items()}
    leader = max(mean.values(), key=lambda entry: entry[0])[1]
    single = max(
        (entry for family, entry in mean.items() if family.n_prototypes == 1), key=lambda e: e[0], default=None
    )

    def may_win(family: Family) -> bool:
        if family not in best:
            return False
        behind, error = results.advantage(leader, best[family])
        if behind > OUT * error:
            return False
        if single is None or family.n_prototypes == 1:
            return True
        ahead, error = results.advantage(best[family], single[1])
        return ahead > -LAG * error

    return [family for family in families if may_win(family)]


def _planned(n_families: int, first: int, n_folds: int) -> int:
    """The largest number of fits that this many families may take, so that the progress bar never steps back."""
    if n_families <= AFTER_FIRST or not first:
        return n_families * n_folds
    return n_families * first + min(n_families, AFTER_FIRST + AFTER_FIRST // 2) * (n_folds - first)


def _starts(family: Family) -> int:
    return family.n_prototypes if family.n_prototypes >= MANY_PROTOTYPES else FOLD_STARTS
