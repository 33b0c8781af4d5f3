"""`SMaLLClassifierCV` and `frontier`: the best model for a number of terms, chosen by cross-validation (see `race`)."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Self

import numpy as np
from sklearn.metrics import check_scoring
from sklearn.utils import check_random_state, column_or_1d

from smallearn._base import SMaLLBase
from smallearn._learn.choose.folds import make_folds, whole
from smallearn._learn.choose.race import Candidate, Family, Scorer, Table, Task, missed, race, trace
from smallearn._learn.compiling import notice_of_compiling
from smallearn._learn.data.blocks import Rows
from smallearn._learn.data.problem import Problem
from smallearn._learn.parameters import (
    Features,
    check_costs,
    check_monotonic,
    check_positive_class,
    check_sample_weight,
    check_selection,
)
from smallearn._learn.solve import descent
from smallearn._learn.solve.budgets import Budget
from smallearn._learn.solve.solvers import accelerated
from smallearn._learn.solve.support_search import State
from smallearn.model import Selection, SMaLLModel, Step
from smallearn.model._parts import standard_error

__all__ = ["FrontierPoint", "SMaLLClassifierCV", "frontier"]

ROWS_EACH = 10  # of a class, for each of its prototypes, unless the user says how many to try
NEIGHBOURS = 2  # values of λ that share a search
MORE_STARTS = 4  # times as many, where a search over all rows got stuck
BOUND_TOL, BOUND_ITER = 1e-3, 200  # how far the relaxation is solved for the certificate


class SMaLLClassifierCV(SMaLLBase):
    """The best small classifier within a budget: prototypes, terms, λ, literals and owner chosen by cross-validation.

    Parameters
    ----------
    max_terms : int, default=10
        Terms that the model may have over all prototypes, besides constants and what is always in. With `max_cost` too.
    min_terms : int or None, default=None
        The fewest terms that are tried. None: half of `max_terms`, or 1 with `device`. 1 takes little longer and makes
        ``model_.selection.frontier`` the whole frontier.
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
    device : {"atmega328p", "cortex-m0", "cortex-m4"} or None, default=None
        A chip that the model has to fit: it is then the most accurate one of at most `max_terms` whose compiled code
        keeps the limits below, in the number format that serves best. Needs the chip's compiler, or goes by estimates.
    max_flash, max_ram, max_cycles, max_time_us : number or None, default=None
        What one prediction may take on `device`: bytes of flash and RAM, cycles (instructions on Cortex-M), time at the
        chip's usual clock. None: what the chip has. If no training row has a gap, raw terms take none either.
    n_init : int, default=4
        Starts to descend from when the chosen model is trained on all rows.
    random_state : int, RandomState instance or None, default=None
    verbose : int, default=0
        -1: no progress bar, even on a terminal, and no notice that the first fit compiles.
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
    number_, device_cost_ : str, `smallearn.devices.Cost`
        With `device`: the number format ("float32", "int16", "int8") and what the model costs in it. Predictions here
        are those of the weights before rounding; `smallearn.export.quantise` gives those of the chip.
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
        min_terms=None,
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
        device=None,
        max_flash=None,
        max_ram=None,
        max_cycles=None,
        max_time_us=None,
        n_init=4,
        fit_intercept=True,
        standardize=True,
        class_weight=None,
        random_state=None,
        verbose=0,
        n_jobs=None,
    ):
        self.max_terms = max_terms
        self.min_terms = min_terms
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
        self.device = device
        self.max_flash = max_flash
        self.max_ram = max_ram
        self.max_cycles = max_cycles
        self.max_time_us = max_time_us
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
        with self._all_or_nothing(), notice_of_compiling(int(self.verbose) >= 0):
            if self.device is not None:
                return self._fit_on_device(X, y, sample_weight)
            task, table = self._explore(X, y, sample_weight, self._least_terms((int(self.max_terms) + 1) // 2))
            chosen = table.choose(table.complete(), bool(self.one_standard_error))
            states: dict[Candidate, State] = {}
            if self.refit:
                chosen, states = self._settle(task, table, chosen)
            self._tell(task, table, chosen)
            self._forget()
            if self.refit:
                self._keep(task.problem, *self._solution(task, chosen, states[chosen]), chosen.alpha)
                self._remember(table, chosen, X, y)
        return self

    def _least_terms(self, usual: int) -> int:
        return usual if self.min_terms is None else int(self.min_terms)

    def _remember(self, table: Table, chosen: Candidate, X, y) -> None:
        """What the model is to know of its choice and its data."""
        self.n_terms_ = len(self.model_.terms)
        frontier = tuple(_step(table, candidate) for candidate in _best_of_each_size(table).values())
        metric = self.scoring if isinstance(self.scoring, str) else "accuracy" if self.scoring is None else "own scorer"
        chose = Selection(metric, tuple(table.shown(chosen).tolist()), int(self.max_terms), frontier)
        self.model_ = replace(self.model_, selection=chose)
        self._know_data(X, y)

    def _fit_on_device(self, X, y, sample_weight) -> Self:
        """The candidate that promises most, in each number format; if none keeps the limits, the next that is smaller,
        until what is left promises less than what was found."""
        from smallearn._learn.choose import device

        limits = device.Limits(self.device, self.max_flash, self.max_ram, self.max_cycles, self.max_time_us)
        task, table = self._explore(X, y, sample_weight, self._least_terms(1))
        rows = X if hasattr(X, "shape") else np.asarray(X)
        labels, weight = column_or_1d(y), check_sample_weight(sample_weight, rows)
        left = table.complete()
        best: tuple[float, Candidate, State, device.Deployed] | None = None
        smallest: list[device.Deployed] = []
        while left:
            chosen = table.choose(left, bool(self.one_standard_error))
            if best is not None and table.mean(chosen) <= best[0]:
                break
            state = self._states(task, chosen.family, [chosen], int(self.n_init))[chosen]
            self._keep_on_device(task, chosen, state)
            tried = device.deploy(self.model_, limits, rows, labels, weight)
            fitting = [one for one in tried if not one.broken]
            for one in fitting:
                promise = table.mean(chosen) - one.loss
                if best is None or promise > best[0]:
                    best = (promise, chosen, state, one)
            if not smallest or len(self.model_.terms) <= len(smallest[0].model.terms):
                smallest = tried
            left = [c for c in left if c != chosen and (fitting or not _no_smaller(c, chosen))]
        if best is None:
            raise device.too_tight(limits, smallest)
        _, chosen, state, deployed = best
        self._tell(task, table, chosen)
        self._forget()
        self._keep_on_device(task, chosen, state)
        self._remember(table, chosen, rows, labels)
        self.number_, self.device_cost_ = deployed.number, deployed.cost
        return self

    def _keep_on_device(self, task: Task, chosen: Candidate, state: State) -> None:
        """A chip pays for every question; whether a value is missing is asked only if one was, in training."""
        self._keep(task.problem, *self._solution(task, chosen, state), chosen.alpha)
        if not task.problem.has_gaps:
            self.model_ = self.model_.for_complete_rows()

    def _explore(self, X, y, sample_weight, least_terms: int) -> tuple[Task, Table]:
        """Read the data, make the folds and ask every family for models of ``least_terms`` or more."""
        kinds = self._kinds()
        widest = kinds[0] if len(set(kinds)) == 1 else "any" if "thresholds" in kinds else "both"
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
            "positive_class": None if owner is None else task.problem.classes.tolist()[owner],
        }

    def _settle(self, task: Task, table: Table, chosen: Candidate) -> tuple[Candidate, dict[Candidate, State]]:
        """Train on all rows. Of candidates that are right on the same rows held out, those that miss fewest of all
        rows, and of these the one with fewest terms. If that is worse on all rows than on those held out, the search
        got stuck, and starts anew from more places."""
        alike = table.equals(chosen)
        for n_init in (int(self.n_init), MORE_STARTS * int(self.n_init)):
            states = self._states(task, chosen.family, alike, n_init)
            share = {c: missed(task.problem, state) for c, state in states.items()}
            chosen = min(alike, key=lambda c: (round(share[c], 9), c.size, -c.alpha))
            if not table.promises_more(chosen, share[chosen]):
                break
        return chosen, states

    def _states(self, task: Task, family: Family, chosen: list[Candidate], n_init: int) -> dict[Candidate, State]:
        """Candidates of one family, trained on all rows."""
        rows = task.rows(task.problem, family.owner)
        least = min(task.least_terms, *(candidate.size for candidate in chosen))
        states = trace(replace(task, least_terms=least), task.problem, rows, family, n_init, thorough=True)
        found = {}
        for candidate in chosen:
            sizes = [size for alpha, size in states if alpha == candidate.alpha]
            fitting = max((size for size in sizes if size <= candidate.size), default=min(sizes))
            state = states[candidate.alpha, fitting]
            if fitting > candidate.size:  # the path of all rows skipped the size that those of the folds had
                state = task.search(rows, family, candidate.alpha).shortened(state, candidate.size)
            found[candidate] = self._polished(task, rows, family, candidate, state)
        return found

    def _solution(self, task: Task, candidate: Candidate, state: State) -> tuple[descent.Solution, Budget]:
        """The trained candidate with its bound, and the budget that this speaks of."""
        family = candidate.family
        budget = task.family_budget(family)
        if budget.costs is None and budget.pooling != "prototype":
            budget = replace(budget, limit=float(max(1, candidate.size)))
        penalty = budget.penalty(candidate.alpha, task.problem.candidates, task.fit_intercept, family.owner)
        solver = partial(accelerated.solve, tol=BOUND_TOL, max_iter=BOUND_ITER)
        plan = descent.Plan(penalty, solver, True, 0, False, task.problem.sample_weight)
        return descent.from_state(task.rows(task.problem, family.owner), state, plan), budget

    def _polished(self, task: Task, rows: Rows, family: Family, candidate: Candidate, state: State) -> State:
        """Every term put to the test of a swap, by the budget of this candidate."""
        searching = task.search(rows, family, candidate.alpha)
        return searching.tidy(searching.polish(state, len(state.theta), tries=2))


def _no_smaller(one: Candidate, other: Candidate) -> bool:
    """Whether a model of the one is not likely to be smaller than one of the other: as many terms, of the same kind, in
    as many prototypes."""
    alike = (one.family.literals, one.family.n_prototypes) == (other.family.literals, other.family.n_prototypes)
    return alike and one.size >= other.size


def _best_of_each_size(table: Table) -> dict[int, Candidate]:
    every = table.complete()
    sizes = sorted({candidate.size for candidate in every})
    return {size: table.choose([c for c in every if c.size == size], False) for size in sizes}


def _step(table: Table, candidate: Candidate) -> Step:
    scores = tuple(table.shown(candidate).tolist())
    return Step(candidate.size, candidate.family.n_prototypes, float(np.mean(scores)), standard_error(scores))


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
    with notice_of_compiling(int(selector.verbose) >= 0):
        return _frontier(selector, X, y, sample_weight)


def _frontier(selector: SMaLLClassifierCV, X, y, sample_weight) -> list[FrontierPoint]:
    task, table = selector._explore(X, y, sample_weight, 1)
    chosen = _best_of_each_size(table)
    points = []
    for family in dict.fromkeys(candidate.family for candidate in chosen.values()):
        mine = [candidate for candidate in chosen.values() if candidate.family == family]
        for candidate, state in selector._states(task, family, mine, int(selector.n_init)).items():
            selector._keep(task.problem, *selector._solution(task, candidate, state), candidate.alpha)
            selector._remember(table, candidate, X, y)
            step, params = _step(table, candidate), selector._params(task, candidate)
            points.append(FrontierPoint(candidate.size, step.score, step.spread, params, selector.model_))
    return sorted(points, key=lambda point: point.n_terms)
