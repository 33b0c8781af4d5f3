"""The race: cross-validation that drops families that fall behind.

All families get a quick look on the first folds. Those left are trained on the first folds, and the best few of them on
the others, until they cannot win any more; on large data these begin again, on more rows of each fold. Where hardly a
row is misclassified, all that are left after the look are trained thoroughly on every fold.
"""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from joblib import effective_n_jobs

from smallearn._learn.choose.families import CandidateModel, Family, Task, look_at_family, train_family
from smallearn._learn.choose.folds import NO_UNITS, Fold
from smallearn._learn.choose.results import Results
from smallearn._learn.choose.scores import FoldScore, score_fold
from smallearn._learn.choose.workers import delayed, in_processes
from smallearn._learn.data.content import counts_rows
from smallearn._learn.data.problem import Problem
from smallearn._learn.solve.support_search import MANY_PROTOTYPES, MOST_THOROUGH
from smallearn._learn.solve.support_state import ColumnCache, weighted_sums
from smallearn._run.deadline import enforce, present
from smallearn._run.progress import Bar
from smallearn.model._decision import class_scores

AFTER_LOOK, AFTER_FIRST = 8, 4  # families left after the quick look, and after the first folds
FIRST_ROWS = 150  # least number of rows that the first folds hold out
MOST_HELD_OUT = 20_000  # held-out rows that a candidate model is scored on
FEWEST_FOLDS, MORE_FOLDS = 2, 4  # after which a family that is far behind is dropped
FEW_ERRORS = 0.01  # at a lower error rate only thorough searches tell models apart …
TELLING_ROWS = 6_400  # … on at least so many rows
OUT = 2.0  # standard errors behind the best family
FOLD_STARTS = 3  # starts of the search in each fold
MORE_STARTS = 6  # prototypes, from which on there are as many starts: with more of them a search gets stuck more easily


def race(
    task: Task,
    families: list[Family],
    folds: list[Fold],
    n_jobs: int | None,
    verbose: int,
    *,
    keeps_single: bool = False,
) -> Results:
    """The scores of the candidate models of all families; of those that fell behind, on the first folds only.

    ``keeps_single``: families with one prototype for each class do not fall behind. They take least of a chip. When
    time is up, the scores so far: on fewer folds, and if there are none, those of the quick look.
    """
    first = min(-(-FIRST_ROWS // max(1, int(np.sum(folds[0].validates)))), len(folds) // 2)
    with Bar(0, "fits", verbose >= 0) as bar:
        start = _Heat(task, folds, task.limits.first, n_jobs, bar, n_kept=max(1, first))
        left = families
        looked: Results | None = None
        if len(families) > AFTER_LOOK and first > 0:
            bar.total = first * len(families) + _planned(AFTER_LOOK + AFTER_LOOK // 2, first, len(folds))
            looked = start.run(left, range(first), look=True)
            left = survivors(looked, worth_training(looked, left), AFTER_LOOK)
        bar.total = bar.done + _planned(len(left), first, len(folds))
        done = 0
        if len(left) > AFTER_FIRST and first:
            start.run(left, range(first))
            done = first
        heat, most = start, task.limits.folds
        close = start.results.least_error() < FEW_ERRORS  # to perfect
        if close and most is not None:
            most = max(most, TELLING_ROWS)
        if done and not close:
            left = survivors(start.results, left, AFTER_FIRST)
        if (close or most != task.limits.first) and not start.stopped:  # those left begin anew, from the first fold on
            heat, done = _Heat(task, folds, most, n_jobs, bar, thorough=close), 0
        while done < len(folds) and not heat.stopped:
            ahead = left if close else contenders(heat.results, left, done)
            left = [family for family in left if family in ahead or (keeps_single and family.n_prototypes == 1)]
            bar.total = bar.done + len(left) * (len(folds) - done)
            heat.run(left, range(done, done + 1))
            done += 1
    for results in (heat.results, start.results, looked):
        if results is not None and results.scores:
            return results.on_folds_run()
    raise AssertionError("no family was scored")


class _Heat:
    """A part of the race in which every family is trained on about as many rows of a fold, ``most`` (None: all), and
    as thoroughly. ``n_kept`` folds stay ready to train on: a quick look and what follows share what they read."""

    def __init__(
        self,
        task: Task,
        folds: list[Fold],
        most: int | None,
        n_jobs: int | None,
        bar: Bar,
        thorough: bool = False,
        n_kept: int = 1,
    ):
        self._task, self._folds, self._most, self._n_jobs, self._bar = task, folds, most, n_jobs, bar
        self._thorough, self._n_kept = thorough, n_kept
        self._kept: dict[int, _Track] = {}
        self.results = self._no_results()
        self.stopped = False  # because time is up

    def run(self, families: list[Family], numbers: range, look: bool = False) -> Results:
        """Score the families on some folds, or take a quick look at them. A look has results of its own."""
        results = self._no_results() if look else self.results
        entries = []
        for fold, scores, count in self._scores(families, numbers, look):
            entries.append((fold, scores))
            self._bar.step(count)
        if self.stopped and results.scores and {c.family for _, scores in entries for c in scores} < set(families):
            return results  # time was up before all families were run on this fold; there are others
        for fold, scores in entries:
            results.enter(fold, scores)
        return results

    def _no_results(self) -> Results:
        return Results(len(self._folds), count_rows(self._task.problem, self._task.problem))

    def _scores(
        self, families: list[Family], numbers: range, look: bool
    ) -> Iterator[tuple[int, dict[CandidateModel, FoldScore], int]]:
        """For some families and folds: the fold, the scores of candidate models, and of how many families they are.

        Processes get the families of a fold in equal shares, so that the searches of each share what they read.
        """
        jobs = effective_n_jobs(self._n_jobs)
        shares = 1 if jobs == 1 else max(1, min(len(families), -(-jobs // len(numbers))))
        size = 1 if jobs == 1 else -(-len(families) // shares)
        parts = [(fold, families[a : a + size]) for fold in numbers for a in range(0, len(families), size)]
        for begin in range(0, len(parts), jobs):
            some = parts[begin : begin + jobs]
            if jobs == 1:
                scored = [_score_families(self._track(fold), part, look) for fold, part in some]
            else:
                work = (delayed(_score_families)(self._track(fold), part, look) for fold, part in some)
                scored = in_processes(self._n_jobs, work)
            for (fold, part), scores in zip(some, scored, strict=True):
                yield fold, scores, len(part)
            if present().stops("the comparison of models"):
                self.stopped = True
                return

    def _track(self, fold: int) -> "_Track":
        """A fold, ready to train on."""
        if fold not in self._kept:
            if len(self._kept) == self._n_kept:
                self._kept.clear()
            self._kept[fold] = _make_track(self._task, self._folds[fold], self._most, self._thorough)
        return self._kept[fold]


class _Track:
    """A fold: the rows to train on are those of ``task``; the held-out rows count for ``n_rows``."""

    def __init__(self, task: Task, held_out: Problem, n_rows: float, thorough: bool):
        self._task, self._held_out, self._n_rows, self._thorough = task, held_out, n_rows, thorough
        self.deadline = task.deadline
        self._training = task.training_set(task.problem)
        self._columns = ColumnCache(task.rows(held_out, None))

    def __reduce__(self):  # without what the searches have read
        return _Track, (self._task, self._held_out, self._n_rows, self._thorough)

    def score(self, family: Family, look: bool) -> dict[CandidateModel, FoldScore]:
        """Train a family, or take a quick look at it, and score its models on the held-out rows."""
        task, training, held_out = self._task, self._training, self._held_out
        if look:
            models = look_at_family(task, training, family)
        else:
            models = train_family(task, training, family, _starts(family, task.max_terms), thorough=self._thorough)
        scores = {}
        for (alpha, n_terms), state in models.items():
            Z = weighted_sums(self._columns, state)
            decision = class_scores(Z.T, state.assignment.owner, len(held_out.classes))
            candidate = CandidateModel(family=family, alpha=alpha, n_terms=n_terms)
            scores[candidate] = score_fold(task.scoring, decision, held_out, self._n_rows, task.threshold)
        return scores


def _make_track(task: Task, fold: Fold, most: int | None, thorough: bool) -> _Track:
    """A fold of which about ``most`` rows are trained on (None: all)."""
    problem = task.problem
    held_out = problem.take(*fold.held_out(MOST_HELD_OUT))
    train = problem.take(*fold.train(most))
    alone = replace(task, problem=train, units=NO_UNITS, large=None, n_threads=1)
    return _Track(alone, held_out, count_rows(problem, held_out), thorough)


def score_on_folds(
    task: Task, results: Results, folds: list[Fold], families: list[Family], n_jobs: int | None
) -> Iterator[tuple[int, dict[CandidateModel, FoldScore]]]:
    """The scores of further families on every fold, trained on as many rows as in the race with these ``results``."""
    close, most = results.least_error() < FEW_ERRORS, task.limits.folds
    if close and most is not None:
        most = max(most, TELLING_ROWS)
    jobs = effective_n_jobs(n_jobs)
    for begin in range(0, len(folds), jobs):
        numbers = range(begin, min(begin + jobs, len(folds)))
        tracks = [_make_track(task, folds[number], most, close) for number in numbers]
        if jobs == 1:
            scored = [_score_families(track, families, False) for track in tracks]
        else:
            scored = in_processes(n_jobs, (delayed(_score_families)(track, families, False) for track in tracks))
        yield from zip(numbers, scored, strict=True)
        if present().passed():
            return


def _score_families(track: _Track, families: list[Family], look: bool) -> dict[CandidateModel, FoldScore]:
    """The scores of some families on a fold; of the first only, if time is up."""
    scores: dict[CandidateModel, FoldScore] = {}
    with enforce(track.deadline) as deadline:
        for family in families:
            scores |= track.score(family, look)
            if deadline.passed():
                break
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


def worth_training(looked: Results, families: list[Family]) -> list[Family]:
    """The families that a quick look leaves in the race. With more than two classes several prototypes for each take
    long: they have to be ahead of the best single one by more than a standard error, as in the end."""
    best: dict[Family, CandidateModel] = {}
    for candidate in looked.scores:
        family = candidate.family
        if family not in best or looked.mean(candidate) > looked.mean(best[family]):
            best[family] = candidate
    single = [best[family] for family in families if family.n_prototypes == 1 and family in best]
    if not single:
        return families
    leader = max(single, key=looked.mean)

    def worth(family: Family) -> bool:
        if family.n_prototypes == 1 or family.owner is not None or family not in best:
            return True
        ahead, error = looked.advantage(best[family], leader)
        return ahead > error

    return [family for family in families if worth(family)]


def contenders(results: Results, families: list[Family], n_folds: int) -> list[Family]:
    """The families that may still be chosen after the first ``n_folds`` folds.

    A family is out if its best candidate model is behind the best of all by more than can be chance. Families with
    several prototypes have to beat the best single prototype in the end: they are out if they are not ahead of it. With
    many prototypes a search may be stuck in one fold and not in the next, so these stay for more folds.
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
        if family.n_prototypes >= MANY_PROTOTYPES and n_folds < MORE_FOLDS:
            return True
        if family not in best:
            return False
        behind, error = results.advantage(leader, best[family])
        if behind > OUT * error:
            return False
        if single is None or family.n_prototypes == 1:
            return True
        ahead, _ = results.advantage(best[family], single[1])
        return ahead > 0.0

    return [family for family in families if may_win(family)]


def _planned(n_families: int, first: int, n_folds: int) -> int:
    """The largest number of fits that this many families may take, so that the progress bar never steps back."""
    if n_families <= AFTER_FIRST or not first:
        return n_families * n_folds
    return n_families * first + min(n_families, AFTER_FIRST + AFTER_FIRST // 2) * n_folds


def _starts(family: Family, max_terms: int) -> int:
    if family.owner is None:  # each class has starts of its own, and one of many is good
        return 1
    many = family.n_prototypes >= MORE_STARTS and max_terms <= MOST_THOROUGH
    return family.n_prototypes if many else FOLD_STARTS
