"""The race: families of models are asked fold by fold, those that fall behind drop out, and one candidate is chosen.

A *family* is what cannot be had from a neighbour: which literals, how many prototypes, which class owns them, about how
great a λ. For each family and fold one search gives a model of every size and, by warm starts, at each λ of the family.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from scipy import special
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.parallel import Parallel, delayed

from smallearn._learn.choose.folds import Fold, whole
from smallearn._learn.data.blocks import Rows
from smallearn._learn.data.literals import ABOVE, AT_MOST, RAW
from smallearn._learn.data.problem import Problem
from smallearn._learn.solve import starts
from smallearn._learn.solve.budgets import Budget
from smallearn._learn.solve.scoring import blend, log_loss, right
from smallearn._learn.solve.support_search import Search, State
from smallearn._run.progress import Bar
from smallearn.model._rule import class_scores

SURVIVORS = (8, 4)  # families that are left after a quick look at the first folds, and after asking these in earnest
FIRST_ROWS = 150  # held out in the first folds, at least
FOLD_STARTS = 3  # descended from in each fold
BEYOND_CHANCE = 4.0  # standard errors: an advantage that the best of hundreds of candidates does not have by luck
MANY_PROTOTYPES = 6  # from here on as many starts as prototypes: the more there are, the more ways to get stuck


@dataclass(frozen=True)
class Family:
    """``owner`` is the class that owns the prototypes, by number; None: every class does. ``alphas`` are neighbours:
    the search is run at one of them."""

    literals: str
    n_prototypes: int
    owner: int | None
    alphas: tuple[float, ...]


class Candidate(NamedTuple):
    """A line of the table: a family at one λ, with so many terms."""

    family: Family
    alpha: float
    size: int


class Answers(NamedTuple):
    """How well a candidate did on the rows held out in one fold: the score that is shown, the one that decides, and
    that row by row, with the rows' weights, where it is a mean over ``n_rows`` rows. ``right``: which rows it got
    right, where that is what counts."""

    shown: float
    score: float
    rows: np.ndarray | None = None
    weight: np.ndarray | None = None
    n_rows: float = 0.0
    right: np.ndarray | None = None


@dataclass(frozen=True)
class Task:
    """All that a fold needs, for a worker to run it."""

    problem: Problem
    budget: Budget
    least_terms: int
    max_terms: int
    fit_intercept: bool
    scoring: Any
    seed: int

    def rows(self, problem: Problem, owner: int | None) -> Rows:
        """The rows for one orientation."""
        return problem.rows(owner, self.fit_intercept, 1)

    def search(self, rows: Rows, family: Family, alpha: float) -> Search:
        """The search within a family at one λ."""
        found = self.problem.candidates
        penalty = self.family_budget(family).penalty(alpha, found, self.fit_intercept, family.owner)
        return Search(rows, penalty, _allowed(found.kind, family.literals, rows.n_columns))

    def family_budget(self, family: Family) -> Budget:
        """The budget, which by prototype is an equal share of the terms."""
        if self.budget.costs is not None or self.budget.pooling != "prototype":
            return self.budget
        owners = len(self.problem.classes) if family.owner is None else 1
        return replace(self.budget, limit=max(1, self.max_terms // (family.n_prototypes * owners)))

    def counts(self, family: Family, code: np.ndarray) -> dict[int, int]:
        """How many prototypes each class gets: no more than it has rows."""
        labels = range(len(self.problem.classes)) if family.owner is None else [family.owner]
        return {label: min(family.n_prototypes, int(np.sum(code == label))) for label in labels}


def _allowed(kind: Sequence[str], literals: str, n_columns: int) -> np.ndarray:
    names = np.array([*kind, *["constant"] * (n_columns - len(kind))])
    cut = (names == AT_MOST) | (names == ABOVE)
    return ~cut if literals == "raw" else names != RAW if literals == "thresholds" else np.ones(n_columns, dtype=bool)


# --- one family on some rows -----------------------------------------------------------------------------------------


def trace(
    task: Task, problem: Problem, rows: Rows, family: Family, n_init: int, thorough: bool = False
) -> dict[tuple[float, int], State]:
    """A model of every size at every λ of the family: one λ starts afresh, the others from its models."""
    first = family.alphas[len(family.alphas) // 2]
    explorer = task.search(rows, family, first)
    counts, rng = task.counts(family, problem.code), np.random.RandomState(task.seed)
    kind, pool = ("auto", starts.POOL) if thorough else ("kmeans", 1)
    begun = starts.best(problem, rows, explorer.penalty, counts, kind, n_init, rng, pool)
    path = explorer.trace(begun, task.least_terms, task.max_terms)
    found = {(first, size): state for size, state in path.items()}
    sizes = list(path)
    for alpha in family.alphas:
        if alpha != first:
            neighbour = explorer.at(replace(explorer.penalty, alpha=alpha))
            found.update({(alpha, size): neighbour.refit(found[first, size]) for size in sizes})
    return found


def answer(task: Task, family: Family, fold: Fold, n_starts: int) -> dict[Candidate, Answers]:
    """Train a family on a fold and score its models on the rows held out."""
    train, held = task.problem.take(fold.train), task.problem.take(fold.validate)
    states = trace(task, train, task.rows(train, family.owner), family, n_starts)
    rows = task.rows(held, family.owner)
    used = np.unique(np.concatenate([state.column for state in states.values()])) if states else np.empty(0, dtype=int)
    columns = rows.columns(used)
    n_rows = _count(task.problem, held)
    found = {}
    for (alpha, size), state in states.items():
        W = np.zeros((len(state.assignment.owner), len(used)))
        W[state.prototype, np.searchsorted(used, state.column)] = state.theta
        decision = class_scores(columns @ W.T, state.assignment.owner, len(task.problem.classes))
        found[Candidate(family, alpha, size)] = score(task.scoring, decision, held, n_rows)
    return found


def _count(problem: Problem, part: Problem) -> float:
    """How many rows there are in a part of a problem: a row of weight 2 is two, where weights count rows."""
    return float(part.sample_weight.sum()) if whole(problem.sample_weight) else float(len(part.code))


def missed(problem: Problem, state: State) -> float:
    """The share of the rows, by weight, that a model trained on them gives to another class."""
    decision = class_scores(state.Z, state.assignment.owner, len(problem.classes))
    weight = problem.sample_weight
    return float(weight[~right(decision, problem.code)].sum() / weight.sum())


def score(scoring: Any, decision: np.ndarray, held: Problem, n_rows: float) -> Answers:
    """What the candidate with these class scores is worth on the rows held out, ``n_rows`` by their weight."""
    if scoring is not None and not isinstance(scoring, str):
        value = float(scoring(_Known(decision, held.classes), held.X, held.classes[held.code], held.sample_weight))
        return Answers(value, value)
    by_class = held.loss_weight if held.loss_weight.any() else held.sample_weight  # all may be of a class of weight 0
    shown, deciding = held.sample_weight / held.sample_weight.sum(), by_class / by_class.sum()
    hits = right(decision, held.code)
    if scoring is None:  # what decides follows class_weight, as training does
        each = blend(decision, held.code)
        return Answers(float(shown @ hits), float(deciding @ each), each.astype(np.float32), deciding, n_rows, hits)
    if scoring == "accuracy":
        return Answers(float(shown @ hits), float(shown @ hits), hits.astype(np.float32), shown, n_rows, hits)
    loss = log_loss(decision, held.code)
    return Answers(-float(shown @ loss), -float(shown @ loss), -loss.astype(np.float32), shown, n_rows)


@dataclass(frozen=True)
class Scorer:
    """A scorer of scikit-learn's. Those that it has by name take weights; of a user's own function nothing is known."""

    function: Any
    weighs: bool

    def __call__(self, estimator: "_Known", X, y: np.ndarray, weight: np.ndarray) -> float:
        return self.function(estimator, X, y, sample_weight=weight) if self.weighs else self.function(estimator, X, y)


class _Known(ClassifierMixin, BaseEstimator):
    """Answers worked out beforehand, in the dress of a fitted classifier, for a scorer of scikit-learn's."""

    def __init__(self, decision: np.ndarray, classes: np.ndarray):
        self._decision, self.classes_ = decision, classes

    def decision_function(self, X) -> np.ndarray:
        return self._decision[:, 1] - self._decision[:, 0] if len(self.classes_) == 2 else self._decision

    def predict_proba(self, X) -> np.ndarray:
        return special.softmax(self._decision, axis=1)

    def predict(self, X) -> np.ndarray:
        return self.classes_[self._decision.argmax(axis=1)]  # argmax gives a tie to the first


# --- all families, all folds -----------------------------------------------------------------------------------------


class Table:
    """The answers of every candidate to every fold that it was asked."""

    def __init__(self, n_folds: int, n_rows: float):
        self.n_folds, self.n_rows = n_folds, n_rows
        self.answers: dict[Candidate, list[Answers | None]] = {}

    def enter(self, fold: int, found: dict[Candidate, Answers]) -> None:
        """What the candidates of a family said of one fold."""
        for candidate, said in found.items():
            self.answers.setdefault(candidate, [None] * self.n_folds)[fold] = said

    def complete(self) -> list[Candidate]:
        """Candidates that were asked of every fold."""
        return [candidate for candidate, said in self.answers.items() if all(one is not None for one in said)]

    def shown(self, candidate: Candidate) -> np.ndarray:
        """The score of each fold as users see it; NaN where it was not asked."""
        return np.array([np.nan if one is None else one.shown for one in self.answers[candidate]])

    def mean(self, candidate: Candidate) -> float:
        """The deciding score, over the folds that the candidate was asked."""
        return float(np.mean([one.score for one in self.answers[candidate] if one is not None]))

    def smooth(self, candidates: Iterable[Candidate]) -> dict[Candidate, float]:
        """The deciding score of each, averaged with those of its neighbours, one term more or less and the next λ: a
        good candidate among bad ones is luck more often than not."""
        mean = {candidate: self.mean(candidate) for candidate in candidates}
        alphas = sorted({candidate.alpha for candidate in mean})
        by_size = {c: _average(mean, c, [c._replace(size=c.size - 1), c._replace(size=c.size + 1)]) for c in mean}
        place = {alpha: position for position, alpha in enumerate(alphas)}
        found = {}
        for c in by_size:
            near = [alphas[at] for at in (place[c.alpha] - 1, place[c.alpha] + 1) if 0 <= at < len(alphas)]
            found[c] = _average(by_size, c, [c._replace(alpha=alpha) for alpha in near])
        return found

    @staticmethod
    def best(scores: dict[Candidate, float]) -> Candidate:
        """The highest score; among equals fewer prototypes, fewer terms, the greater λ."""
        return max(scores, key=lambda c: (round(scores[c], 12), -c.family.n_prototypes, -c.size, c.alpha))

    def advantage(self, one: Candidate, other: Candidate) -> tuple[float, float]:
        """How much better ``one`` is than ``other``, fold by fold on the same rows, and the standard error of that."""
        both = zip(self.answers[one], self.answers[other], strict=True)
        pairs = [(a, b) for a, b in both if a is not None and b is not None]
        by_fold = np.array([a.score - b.score for a, b in pairs])
        mean = float(by_fold.mean())
        rows = [(a.rows - b.rows, a.weight) for a, b in pairs if a.rows is not None and b.rows is not None]
        if len(rows) == len(pairs):
            each, weight = (np.concatenate(part) for part in zip(*rows, strict=True))
            variance = float(np.average((each - np.average(each, weights=weight)) ** 2, weights=weight))
            n_rows = min(sum(a.n_rows for a, _ in pairs), self.n_rows)  # a repeated row is no new evidence
            return mean, float(np.sqrt(variance / n_rows))
        return mean, float(by_fold.std(ddof=1) / np.sqrt(len(by_fold))) if len(by_fold) > 1 else 0.0

    def equals(self, chosen: Candidate) -> list[Candidate]:
        """Those of the family that get the same rows right in every fold, among them the one given."""
        return [c for c in self.complete() if c.family == chosen.family and (c == chosen or self._alike(c, chosen))]

    def promises_more(self, candidate: Candidate, missed: float) -> bool:
        """Whether a model that misses this share of the rows it learned from is worse, beyond chance, than the
        candidate was on rows held out."""
        said = self.answers[candidate]
        if any(one is None or one.right is None for one in said):
            return False
        error = np.sqrt(missed * (1.0 - missed) / self.n_rows)
        return bool(1.0 - missed + 2.0 * error < self.shown(candidate).mean())

    def _alike(self, one: Candidate, other: Candidate) -> bool:
        for a, b in zip(self.answers[one], self.answers[other], strict=True):
            if a is None or b is None or a.right is None or b.right is None or not np.array_equal(a.right, b.right):
                return False
        return True

    def choose(self, candidates: list[Candidate], one_standard_error: bool) -> Candidate:
        """The best by the smoothed score, unless the best without smoothing is better beyond chance; the best with one
        prototype, unless that is better by more than a standard error: what is picked among many by a noisy score
        should not be the more intricate for nothing. With ``one_standard_error``, the one with fewest terms that is
        not worse than that by more than a standard error."""
        scores = self.smooth(candidates)
        chosen = self.best(scores)
        sharp = self.best({candidate: self.mean(candidate) for candidate in candidates})
        mean, error = self.advantage(sharp, chosen)
        chosen = sharp if mean > BEYOND_CHANCE * error else chosen
        simple = {candidate: value for candidate, value in scores.items() if candidate.family.n_prototypes == 1}
        if simple and chosen.family.n_prototypes > 1:
            plain = self.best(simple)
            mean, error = self.advantage(chosen, plain)
            chosen = chosen if mean > error else plain
        if one_standard_error:
            near = []
            for candidate in candidates:
                mean, error = self.advantage(chosen, candidate)
                if mean <= error or candidate == chosen:
                    near.append(candidate)
            fewest = min(candidate.size for candidate in near)
            chosen = self.best({c: scores[c] for c in near if c.size == fewest})
        return chosen


def _average(scores: dict[Candidate, float], own: Candidate, near: list[Candidate]) -> float:
    """The own score, twice, and those of the neighbours that there are."""
    values = [scores[own], scores[own], *(scores[c] for c in near if c in scores)]
    return sum(values) / len(values)


def race(task: Task, families: list[Family], folds: list[Fold], n_jobs: int | None, verbose: int) -> Table:
    """A quick look at all families on the first folds; those left are asked in earnest of the first folds, and the best
    few of all others."""
    n_rows = _count(task.problem, task.problem)
    held = max(1, int(_count(task.problem, task.problem.take(folds[0].validate))))
    few = min(-(-FIRST_ROWS // held), len(folds) // 2)
    look, table = Table(len(folds), n_rows), Table(len(folds), n_rows)
    left = families
    looks = len(families) > SURVIVORS[0] and few > 0
    most = min(len(families), SURVIVORS[0] + SURVIVORS[0] // 2) if looks else len(families)
    total = len(families) * few * looks + _planned(most, few, len(folds))
    with Bar(total, "fits", verbose >= 0) as bar:

        def ask(asked: Table, numbers: range, n_starts: int) -> None:
            jobs = [(family, fold) for fold in numbers for family in left]
            step = len(left) if n_jobs not in (None, 1) else 1  # fits at a time, between two steps of the bar
            for at in range(0, len(jobs), step):
                some = jobs[at : at + step]
                work = (delayed(answer)(task, family, folds[fold], _starts(family, n_starts)) for family, fold in some)
                for (_, fold), found in zip(some, Parallel(n_jobs=n_jobs)(work), strict=True):
                    asked.enter(fold, found)
                bar.step(len(some))

        if looks:
            ask(look, range(few), 1)
            left = _survivors(look, left, SURVIVORS[0])
            bar.total = bar.done + _planned(len(left), few, len(folds))
        if len(left) > SURVIVORS[1] and few:
            ask(table, range(few), FOLD_STARTS)
            left = _survivors(table, left, SURVIVORS[1])
            bar.total = bar.done + len(left) * (len(folds) - few)
            ask(table, range(few, len(folds)), FOLD_STARTS)
        else:
            ask(table, range(len(folds)), FOLD_STARTS)
    return table


def _planned(n_families: int, few: int, n_folds: int) -> int:
    """The most fits that so many families take in earnest, for a bar of progress that never has to step back."""
    if n_families <= SURVIVORS[1] or not few:
        return n_families * n_folds
    return n_families * few + min(n_families, SURVIVORS[1] + SURVIVORS[1] // 2) * (n_folds - few)


def _starts(family: Family, few: int) -> int:
    return family.n_prototypes if family.n_prototypes >= MANY_PROTOTYPES and few > 1 else few


def _survivors(table: Table, families: list[Family], count: int) -> list[Family]:
    """The best families so far, each by its best candidate; half as many of those with one prototype in any case."""
    reached = dict.fromkeys(families, -np.inf)
    for candidate in table.answers:
        if candidate.family in reached:
            reached[candidate.family] = max(reached[candidate.family], table.mean(candidate))
    ranked = sorted(families, key=lambda family: -reached[family])
    plain = [family for family in ranked if family.n_prototypes == 1]
    return [family for family in families if family in ranked[:count] or family in plain[: count // 2]]
