"""`SMaLLClassifierCV` and `frontier`: the best model for a number of terms, chosen by cross-validation.

A *family* is what cannot be had from a neighbour: which literals, how many prototypes, which class owns them, about how
great a λ. For each family and fold one search gives a model of every size and, by warm starts, at each λ of the family.
Families that fall behind on the first folds are not run on the others.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple, Self

import numpy as np
from scipy import special
from sklearn.metrics import check_scoring
from sklearn.utils import check_random_state
from sklearn.utils.parallel import Parallel, delayed

from smallearn import search, starts
from smallearn.base import SMaLLBase
from smallearn.blocks import Rows
from smallearn.budgets import Budget
from smallearn.folds import Fold, make_folds, whole
from smallearn.literals import ABOVE, AT_MOST, RAW
from smallearn.model import SMaLLModel
from smallearn.parameters import Features, check_costs, check_monotonic, check_positive_class, check_selection
from smallearn.problem import Problem
from smallearn.progress import Bar
from smallearn.solvers import accelerated
from smallearn.subset import Search, State

LOSS_SHARE = 0.2  # of the log-loss in the default score: it tells apart what accuracy on few rows cannot
MOST_LOSS = 30.0  # of a row: one that is wrong beyond measure should not outweigh all others
SURVIVORS = (8, 4)  # families that are left after a quick look at the first folds, and after asking these in earnest
FIRST_ROWS = 150  # held out in the first folds, at least
FOLD_STARTS = 3  # descended from in each fold
ROWS_EACH = 10  # of a class, for each of its prototypes, unless the user says how many to try
NEIGHBOURS = 2  # values of λ that share a search
BOUND_TOL, BOUND_ITER = 1e-3, 200  # how far the relaxation is solved for the certificate


@dataclass(frozen=True)
class Family:
    """``owner`` is the class that owns the prototypes, by number; -1: all do. ``alphas`` are neighbours: the search is
    run at one of them."""

    literals: str
    n_prototypes: int
    owner: int
    alphas: tuple[float, ...]


class Candidate(NamedTuple):
    """A line of the table: a family at one λ, with so many terms."""

    family: Family
    alpha: float
    size: int


class Answers(NamedTuple):
    """How well a candidate did on the rows held out in one fold: the score that is shown, the one that decides, and
    that row by row, with the rows' weights, where it is a mean over ``n_rows`` rows."""

    shown: float
    score: float
    rows: np.ndarray | None = None
    weight: np.ndarray | None = None
    n_rows: float = 0.0


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

    def rows(self, problem: Problem, owner: int) -> Rows:
        """The rows for one orientation."""
        return problem.rows(1 - owner if owner >= 0 else -1, self.fit_intercept, 1)

    def search(self, rows: Rows, family: Family, alpha: float) -> Search:
        """The search within a family at one λ."""
        found = self.problem.candidates
        penalty = self.family_budget(family).penalty(alpha, found, self.fit_intercept, family.owner)
        return Search(rows, penalty, _allowed(found.kind, family.literals, rows.n_columns))

    def family_budget(self, family: Family) -> Budget:
        """The budget, which by prototype is an equal share of the terms."""
        if self.budget.costs is not None or self.budget.pooling != "prototype":
            return self.budget
        owners = len(self.problem.classes) if family.owner < 0 else 1
        return replace(self.budget, limit=max(1, self.max_terms // (family.n_prototypes * owners)))

    def counts(self, family: Family, code: np.ndarray) -> dict[int, int]:
        """How many prototypes each class gets: no more than it has rows."""
        labels = range(len(self.problem.classes)) if family.owner < 0 else [family.owner]
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


def class_scores(Z: np.ndarray, owner: np.ndarray, n_classes: int) -> np.ndarray:
    """The score of each class, rows × classes: the greatest of its prototypes', 0 for a class that owns none."""
    found = np.zeros((len(Z), n_classes))
    for label in np.unique(owner):
        found[:, label] = Z[:, owner == label].max(axis=1)
    return found


def score(scoring: Any, decision: np.ndarray, held: Problem, n_rows: float) -> Answers:
    """What the candidate with these class scores is worth on the rows held out, ``n_rows`` by their weight."""
    if scoring is not None and not isinstance(scoring, str):
        value = float(scoring(_Known(decision, held.classes), held.X, held.classes[held.code], held.sample_weight))
        return Answers(value, value)
    if decision.shape[1] == 2:  # a tie goes to the first class
        margin = decision[:, 1] - decision[:, 0]
        right, loss = (margin > 0.0) == (held.code == 1), np.logaddexp(0.0, np.where(held.code == 1, -margin, margin))
    else:
        right = decision.argmax(axis=1) == held.code
        loss = special.logsumexp(decision, axis=1) - decision[np.arange(len(decision)), held.code]
    by_class = held.loss_weight if held.loss_weight.any() else held.sample_weight  # all may be of a class of weight 0
    shown, deciding = held.sample_weight / held.sample_weight.sum(), by_class / by_class.sum()
    blend = right - LOSS_SHARE * np.minimum(loss, MOST_LOSS)
    if scoring is None:  # what decides follows class_weight, as training does
        return Answers(float(shown @ right), float(deciding @ blend), blend.astype(np.float32), deciding, n_rows)
    each = right.astype(float) if scoring == "accuracy" else -loss
    return Answers(float(shown @ each), float(shown @ each), each.astype(np.float32), shown, n_rows)


@dataclass(frozen=True)
class Scorer:
    """A scorer of scikit-learn's. Those that it has by name take weights; of a user's own function nothing is known."""

    function: Any
    weighs: bool

    def __call__(self, estimator: "_Known", X, y: np.ndarray, weight: np.ndarray) -> float:
        return self.function(estimator, X, y, sample_weight=weight) if self.weighs else self.function(estimator, X, y)


class _Known:
    """Answers worked out beforehand, in the dress of a fitted classifier, for a scorer of scikit-learn's."""

    _estimator_type = "classifier"

    def __init__(self, decision: np.ndarray, classes: np.ndarray):
        self._decision, self.classes_ = decision, classes

    def __sklearn_tags__(self):
        return SMaLLClassifierCV().__sklearn_tags__()

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

    def choose(self, candidates: list[Candidate], one_standard_error: bool) -> Candidate:
        """The best with one prototype, unless another is better by more than a standard error: what is picked among
        many by a noisy score should not be the more intricate for nothing. With ``one_standard_error``, the one with
        fewest terms that is not worse than that by more than a standard error."""
        scores = self.smooth(candidates)
        chosen = self.best(scores)
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
    with Bar(len(families) * few, "fits", verbose >= 0) as bar:

        def ask(asked: Table, numbers: range, n_starts: int) -> None:
            jobs = [(family, fold) for fold in numbers for family in left]
            bar.total = bar.done + len(jobs)
            step = len(left) if n_jobs not in (None, 1) else 1  # fits at a time, between two steps of the bar
            for at in range(0, len(jobs), step):
                some = jobs[at : at + step]
                work = (delayed(answer)(task, family, folds[fold], n_starts) for family, fold in some)
                for (_, fold), found in zip(some, Parallel(n_jobs=n_jobs)(work), strict=True):
                    asked.enter(fold, found)
                bar.step(len(some))

        if len(families) > SURVIVORS[0] and few:
            ask(look, range(few), 1)
            left = _survivors(look, left, SURVIVORS[0])
        if len(left) > SURVIVORS[1] and few:
            ask(table, range(few), FOLD_STARTS)
            left = _survivors(table, left, SURVIVORS[1])
            ask(table, range(few, len(folds)), FOLD_STARTS)
        else:
            ask(table, range(len(folds)), FOLD_STARTS)
    return table


def _survivors(table: Table, families: list[Family], count: int) -> list[Family]:
    """The best families so far, each by its best candidate; half as many of those with one prototype in any case."""
    reached = dict.fromkeys(families, -np.inf)
    for candidate in table.answers:
        if candidate.family in reached:
            reached[candidate.family] = max(reached[candidate.family], table.mean(candidate))
    ranked = sorted(families, key=lambda family: -reached[family])
    plain = [family for family in ranked if family.n_prototypes == 1]
    return [family for family in families if family in ranked[:count] or family in plain[: count // 2]]


# --- the estimator ---------------------------------------------------------------------------------------------------


class SMaLLClassifierCV(SMaLLBase):
    """The best small classifier within a budget: prototypes, terms, λ, literals and owner chosen by cross-validation.

    Parameters
    ----------
    max_terms : int, default=10
        Terms that the model may have over all prototypes, besides constants and what is always in. With `max_cost` too.
    n_prototypes : int, list of int or None, default=None
        The numbers of prototypes to try, of the class that owns them (of each class if there are more than two). None:
        1, 2, 3, 4 and a third of `max_terms`, as far as each has two terms and ten rows.
    alphas : list of float, default=(0.1, 0.01, 0.001, 0.0001)
        Weights of the ridge penalty to try, λ in the paper.
    literals : str or list of str, default=("raw", "both")
        What a term may be, as in `SMaLLClassifier`; several are all tried. Unless it is "raw" alone, X may have NaN.
    cut_points, categorical_features, feature_costs, max_cost, always_in, monotonic_cst, max_points, fit_intercept, \
standardize, class_weight
        As in `SMaLLClassifier`. Folds judge weights before they become points.
    positive_class : label, None or "auto", default="auto"
        With two classes, the one that owns the prototypes. "auto": both are tried. None: the greater label.
    budget : {"total", "prototype", "shared"}, default="total"
        How `max_terms` is spent: split between the prototypes as serves best, equally, or on different terms, one that
        several prototypes use being paid for once.
    scoring : str, callable or None, default=None
        A scorer of scikit-learn's; a function of one's own is not told of `sample_weight`. None: accuracy is shown;
        accuracy less a fifth of the log-loss decides, which tells apart models that accuracy on few rows cannot, with
        the rows weighed by `class_weight` too.
    cv : int, splitter, iterable or None, default=None
        As in scikit-learn. None: 5 stratified folds, repeated with up to 3 different cuts where rows are few.
    one_standard_error : bool, default=False
        Take the fewest terms that score within one standard error of the best.
    refit : bool, default=True
        Train the chosen model on all rows. Without it there are `cv_results_` and `best_params_` only.
    n_init : int, default=4
        Starts to descend from when the chosen model is trained on all rows.
    random_state : int, RandomState instance or None, default=None
    verbose : int, default=0
        -1: no progress bar, even on a terminal.
    n_jobs : int or None, default=None
        Processes for the folds. The model does not depend on it.

    Attributes
    ----------
    cv_results_ : dict of ndarrays
        A line for each candidate: `n_terms`, `n_prototypes`, `alpha`, `literals`, `positive_class`, the score of each
        fold, their mean, deviation and rank; ``pandas.DataFrame(cv_results_)`` shows it. Families that fell behind on
        the first folds were not run on the others and have NaN there, and no rank.
    best_index_, best_params_, best_score_ : int, dict, float
        The candidate that was chosen.
    n_terms_ : int
        Terms of the model.
    model_, classes_, intercepts_, support_, prototype_classes_, objective_, lower_bound_, optimality_gap_
        As in `SMaLLClassifier`, for the chosen model.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> clf = SMaLLClassifierCV(max_terms=4, random_state=0).fit(X, y)
    >>> len(clf.model_.terms) <= 4, clf.score(X, y) > 0.94
    (True, True)
    """

    def __init__(
        self,
        max_terms=10,
        *,
        n_prototypes=None,
        alphas=(0.1, 0.01, 0.001, 0.0001),
        literals=("raw", "both"),
        cut_points=20,
        categorical_features=None,
        positive_class="auto",
        budget="total",
        feature_costs=None,
        max_cost=None,
        always_in=None,
        monotonic_cst=None,
        max_points=None,
        scoring=None,
        cv=None,
        one_standard_error=False,
        refit=True,
        n_init=4,
        fit_intercept=True,
        standardize=True,
        class_weight=None,
        random_state=None,
        verbose=0,
        n_jobs=None,
    ):
        self.max_terms = max_terms
        self.n_prototypes = n_prototypes
        self.alphas = alphas
        self.literals = literals
        self.cut_points = cut_points
        self.categorical_features = categorical_features
        self.positive_class = positive_class
        self.budget = budget
        self.feature_costs = feature_costs
        self.max_cost = max_cost
        self.always_in = always_in
        self.monotonic_cst = monotonic_cst
        self.max_points = max_points
        self.scoring = scoring
        self.cv = cv
        self.one_standard_error = one_standard_error
        self.refit = refit
        self.n_init = n_init
        self.fit_intercept = fit_intercept
        self.standardize = standardize
        self.class_weight = class_weight
        self.random_state = random_state
        self.verbose = verbose
        self.n_jobs = n_jobs

    def _allows_gaps(self) -> bool:
        return self._kinds() != ["raw"]

    def _kinds(self) -> list[str]:
        if isinstance(self.literals, str) or not isinstance(self.literals, Iterable):
            return [self.literals]
        return list(self.literals)

    def fit(self, X, y, sample_weight=None) -> Self:
        """Choose and train on ``X`` (array, CSR matrix, pandas or polars table) and labels ``y``."""
        check_selection(self.get_params(deep=False))
        with self._all_or_nothing():
            task, table = self._explore(X, y, sample_weight, (int(self.max_terms) + 1) // 2)
            chosen = table.choose(table.complete(), bool(self.one_standard_error))
            self._tell(task, table, chosen)
            self._forget()
            if self.refit:
                self._keep_model(task, chosen)
        return self

    def _explore(self, X, y, sample_weight, least_terms: int) -> tuple[Task, Table]:
        """Read the data, make the folds and ask every family for models of ``least_terms`` or more."""
        kinds = self._kinds()
        widest = kinds[0] if len(set(kinds)) == 1 else "both"
        problem, kept = self._read(X, y, sample_weight, widest)
        rng = check_random_state(self.random_state)
        folds = make_folds(problem, self.cv, kept, rng)
        families = self._families(problem)
        scoring = self.scoring
        if scoring is not None and scoring not in ("accuracy", "neg_log_loss"):
            scoring = Scorer(check_scoring(self, scoring), isinstance(scoring, str))
        task = Task(
            problem,
            self._budget(problem),
            least_terms,
            int(self.max_terms),
            bool(self.fit_intercept),
            scoring,
            int(rng.randint(2**31)),
        )
        table = race(task, families, folds, self.n_jobs, int(self.verbose))
        if not table.complete():
            raise ValueError(
                "No candidate could be trained on every fold: within the budget and the signs asked for, no column "
                "tells the classes apart in each of them."
            )
        return task, table

    def _families(self, problem: Problem) -> list[Family]:
        n_classes, terms = len(problem.classes), int(self.max_terms)
        any_class = n_classes > 2 and isinstance(self.positive_class, str) and self.positive_class == "auto"
        owners = check_positive_class(None if any_class else self.positive_class, problem.classes.tolist())
        share = terms // n_classes if n_classes > 2 else terms
        if self.n_prototypes is None:
            weight = np.ones(len(problem.code)) if not whole(problem.sample_weight) else problem.sample_weight
            rows = int(np.bincount(problem.code, weights=weight).min()) // ROWS_EACH
            tried = sorted({1, *(p for p in (2, 3, 4, terms // 3) if 1 < p <= min((share + 1) // 2, rows))})
        else:
            tried = sorted({int(p) for p in np.atleast_1d(self.n_prototypes)})
        kinds = list(dict.fromkeys(self._kinds()))
        if not problem.candidates.cuts_more_than_once():  # a literal is then as good as the feature
            kinds = kinds[:1]
        alphas = sorted({float(alpha) for alpha in self.alphas}, reverse=True)
        near = [tuple(alphas[at : at + NEIGHBOURS]) for at in range(0, len(alphas), NEIGHBOURS)]
        return [
            Family(kind, p, owner, some)
            for p in tried
            for some in near
            for kind in kinds
            for owner in (owners[:1] if p == 1 else owners)  # one prototype for the one class is one for the other
        ]

    def _budget(self, problem: Problem) -> Budget:
        features = Features(problem.n_features, getattr(self, "feature_names_in_", None))
        costs = check_costs(features, self.feature_costs)
        limit = float(self.max_terms if self.max_cost is None else self.max_cost)
        signs = check_monotonic(features, self.monotonic_cst, len(problem.classes))
        return Budget(limit, self.budget, costs, tuple(features.some("always_in", self.always_in)), signs)

    def _tell(self, task: Task, table: Table, chosen: Candidate) -> None:
        """Set what is known of the selection."""
        candidates = list(table.answers)
        scores = np.array([table.shown(candidate) for candidate in candidates])
        whole = ~np.isnan(scores).any(axis=1)
        mean = np.nanmean(scores, axis=1)
        rank = np.full(len(candidates), np.nan)
        rank[whole] = 1 + np.searchsorted(np.sort(-mean[whole]), -mean[whole])
        params = [self._params(task, candidate) for candidate in candidates]
        self.cv_results_ = {
            **{name: np.array([entry[name] for entry in params]) for name in params[0]},
            "mean_test_score": mean,
            "std_test_score": np.nanstd(scores, axis=1),
            "rank_test_score": rank,
            **{f"split{fold}_test_score": scores[:, fold] for fold in range(table.n_folds)},
            "params": np.array(params, dtype=object),
        }
        self.best_index_ = candidates.index(chosen)
        self.best_params_ = params[self.best_index_]
        self.best_score_ = float(mean[self.best_index_])

    def _params(self, task: Task, candidate: Candidate) -> dict[str, Any]:
        owner = candidate.family.owner
        return {
            "n_terms": candidate.size,
            "n_prototypes": candidate.family.n_prototypes,
            "alpha": candidate.alpha,
            "literals": candidate.family.literals,
            "positive_class": None if owner < 0 else task.problem.classes.tolist()[owner],
        }

    def _keep_model(self, task: Task, chosen: Candidate) -> None:
        """Train the candidate on all rows and set the fitted attributes."""
        solution, budget = self._train(task, chosen.family, [chosen])[chosen]
        self._keep(task.problem, solution, budget, chosen.alpha)
        self.n_terms_ = len(self.model_.terms)

    def _train(
        self, task: Task, family: Family, chosen: list[Candidate]
    ) -> dict[Candidate, tuple[search.Solution, Budget]]:
        """Candidates of one family, trained on all rows, each with the budget that its bound speaks of."""
        rows = task.rows(task.problem, family.owner)
        least = min(task.least_terms, *(candidate.size for candidate in chosen))
        states = trace(replace(task, least_terms=least), task.problem, rows, family, int(self.n_init), thorough=True)
        found = {}
        for candidate in chosen:
            sizes = [size for alpha, size in states if alpha == candidate.alpha]
            fitting = max((size for size in sizes if size <= candidate.size), default=min(sizes))
            state = states[candidate.alpha, fitting]
            if fitting > candidate.size:  # the path of all rows skipped the size that those of the folds had
                state = task.search(rows, family, candidate.alpha).shortened(state, candidate.size)
            state = self._polished(task, rows, family, candidate, state)
            budget = task.family_budget(family)
            if budget.costs is None and budget.pooling != "prototype":
                budget = replace(budget, limit=float(max(1, candidate.size)))
            penalty = budget.penalty(candidate.alpha, task.problem.candidates, task.fit_intercept, family.owner)
            solver = partial(accelerated.solve, tol=BOUND_TOL, max_iter=BOUND_ITER)
            plan = search.Plan(penalty, solver, True, 0, False, task.problem.sample_weight)
            found[candidate] = search.from_state(rows, state, plan), budget
        return found

    def _polished(self, task: Task, rows: Rows, family: Family, candidate: Candidate, state: State) -> State:
        """Every term put to the test of a swap, by the budget of this candidate."""
        searching = task.search(rows, family, candidate.alpha)
        return searching.tidy(searching.polish(state, len(state.theta), tries=2))


@dataclass(frozen=True)
class FrontierPoint:
    """The best model with ``n_terms`` terms: its score by cross-validation, the standard error of that over the folds,
    and how it was made."""

    n_terms: int
    score: float
    spread: float
    params: dict[str, Any]
    model: SMaLLModel


def frontier(X, y, max_terms=16, *, sample_weight=None, **parameters) -> list[FrontierPoint]:
    """The best model for each number of terms from 1 to ``max_terms``: what each further term buys.

    ``parameters`` are those of `SMaLLClassifierCV`. One search serves all numbers of terms, so that this takes little
    longer than one selection.
    """
    selector = SMaLLClassifierCV(max_terms, **parameters)
    check_selection(selector.get_params(deep=False))
    task, table = selector._explore(X, y, sample_weight, 1)
    chosen: dict[int, Candidate] = {}
    for size in sorted({candidate.size for candidate in table.complete()}):
        chosen[size] = table.choose([c for c in table.complete() if c.size == size], False)
    points = []
    for family in dict.fromkeys(candidate.family for candidate in chosen.values()):
        mine = [candidate for candidate in chosen.values() if candidate.family == family]
        for candidate, (solution, budget) in selector._train(task, family, mine).items():
            selector._keep(task.problem, solution, budget, candidate.alpha)
            scores = table.shown(candidate)
            spread = float(scores.std(ddof=1) / np.sqrt(len(scores))) if len(scores) > 1 else 0.0
            params = selector._params(task, candidate)
            points.append(FrontierPoint(candidate.size, float(scores.mean()), spread, params, selector.model_))
    return sorted(points, key=lambda point: point.n_terms)
