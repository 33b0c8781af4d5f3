"""`SMaLLClassifier`: parameters and fit; the mathematics is elsewhere."""

import warnings
from dataclasses import replace
from typing import Any, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from smallearn._base import SMaLLBase, TrainingData, warn_if_cut_short
from smallearn._errors import Parameter, ParameterError
from smallearn._learn.assemble import AssembleOptions, assemble
from smallearn._learn.compiling import notice_of_compiling
from smallearn._learn.data import content
from smallearn._learn.data.labels import Assignment
from smallearn._learn.data.problem import Problem
from smallearn._learn.data_parameters import (
    check_assignment,
    check_decision_threshold,
    check_positive_class,
    count_threads,
)
from smallearn._learn.parameters import check_parameters
from smallearn._learn.solve import assignment as assignments
from smallearn._learn.solve import descent, starts
from smallearn._learn.solve.budgets import Budget
from smallearn._learn.solve.objective import RELAXATION, Penalty, Solver
from smallearn._learn.solve.solvers import SOLVERS
from smallearn._run.deadline import Deadline, enforce, present
from smallearn._run.progress import Passes
from smallearn._text import count

__all__ = ["SMaLLClassifier"]

MOST_ROUNDS = 100  # of reassignment: a safety limit, for each round lowers the objective
MANY_ROWS = 50_000  # from here on a sample is trained on first …
SAMPLE_ROWS = 25_000  # … of about this size
PROOF_TOL = 1e-4  # the relative gap at which a proof is complete, if tol is None


class SMaLLClassifier(SMaLLBase):
    """Sparse multiprototype linear classifier with at most `n_nonzero` terms a prototype.

    With two classes it predicts by ``max_j w_j·x > 0`` (a relaxed p-term k-DNF); with more, by the highest score over
    the prototypes of all classes. It is trained through a convex relaxation of the k-sparse problem, rounded and
    refitted. It reports a certificate: a lower bound on the training objective of every model with that budget, for the
    final assignment of rows to prototypes.

    Parameters
    ----------
    n_prototypes : int, default=2
        The largest number of prototypes of the class that owns them; with more than two classes, of each class. It is
        reduced, with a warning, to the number of rows of the class. A prototype that loses all its rows is dropped,
        unless a new one in its place lowers the objective.
    n_nonzero : int or None, default=3
        Terms that a prototype may have, besides the constant. None: no limit.
    alpha : float, default=0.01
        Weight of the ridge penalty, λ in the paper, from 1e-10 to 1e10.
    budget : {"prototype", "total", "shared"}, default="prototype"
        What `n_nonzero` (or `max_cost`) limits: the terms of each prototype; those of all prototypes together, split
        freely; or the distinct terms, where a term that several prototypes use counts once.
    feature_costs : array-like or dict from feature to cost, default=None
        The cost of a term of each feature; features that a dict leaves out cost 1. Needs `max_cost`.
    max_cost : float or None, default=None
        The total cost that the budget allows, in place of `n_nonzero`. Needs `feature_costs`.
    always_in : list of features or mask, default=None
        Features, by name or position, that every prototype has as raw terms, outside the budget. Their weight is 0 if
        the column is constant or a sign allows nothing else.
    monotonic_cst : array-like or dict from feature to -1, 0 or 1, default=None
        As in scikit-learn: with 1, P(`classes_[1]`) never falls as the feature rises; with -1 it never rises. Two
        classes only.
    feature_groups : dict from name to list of features, or None, default=None
        Groups of features of which a model uses few: ``{"lab": ["sodium", "potassium"]}``, by name or position. The
        model never uses more than `max_per_group` different features of a group, over all prototypes and terms. The
        certificate is about models without this limit: `lower_bound_` holds for those with it too.
    max_per_group : int, default=1
        The most different features of each group that the model may use.
    literals : {"raw", "thresholds", "both"}, default="raw"
        What a term may be: a raw feature; a literal, ``[x ≤ t]`` (``[x > 0]`` if X is sparse) or ``[x is missing]``; or
        either. With literals X may have NaN.
    cut_points : int or dict from feature to list, default=20
        The number of thresholds ``t`` to try for each feature, at quantiles; or a dict of the thresholds themselves.
    categorical_features : None, "from_dtype", list of features or mask, default=None
        As in scikit-learn: the columns whose terms are ``[x = category]``. "from_dtype": the text columns of a table.
    solver : {"accelerated", "mirror-prox"}, default="accelerated"
        How the relaxation is solved: by accelerated proximal gradient, or by the paper's algorithm.
    assignment : {"kmeans", "splits", "random", "auto"} or array-like of shape (n_samples,), default="kmeans"
        The prototype that each row starts with: by k-means; by cuts of single features; at random; or by all three. The
        indices of an array count within the row's class; they are ignored for rows whose class owns no prototype.
    n_init : int, default=1
        The number of starts to descend from: the best by a quick look at about four times as many.
    local_search : bool, default=False
        Swap terms of the model, one at a time, until no promising swap lowers the objective.
    certify : bool, default=False
        Prove by branch and bound that no model within the budget is better at the final assignment, or find a better
        one. With `max_points`, this is about the weights before they become points.
    time_limit : float or None, default=None
        Seconds that `fit` may take, the proof of `certify` included. When they are up, a warning says what was cut
        short, and the best model so far is kept with its certificate.
    max_points : int or None, default=None
        Make a score card: weights that are whole numbers from -max_points to max_points ("points"), for raw features
        per 10, 100, … of their unit, with a whole constant. Found by search from the refitted weights.
    decision_threshold : float or "auto", default="auto"
        With two classes, `predict` answers ``classes_[1]`` where its probability exceeds this. "auto": 0.5; with
        `class_weight`, what these weights ask for.
    reassign : bool or int, default=True
        Whether rows may move to the prototype that scores them best: True until none moves, False never, or a number
        of rounds. With False a prototype without rows is dropped, not reseeded.
    refit_support : bool, default=True
        Refit the weights on the rounded support. False: the paper's weights, from the dual point of the relaxation.
    fit_intercept : bool, default=True
        Give each prototype a constant in standardised space, penalised like a weight and outside the budget.
    standardize : bool, default=True
        Train on columns of mean 0 and standard deviation 1. The model is in raw units either way.
    positive_class : label, None, "auto" or "both", default=None
        With two classes, the one that owns the prototypes. None: the greater label. "auto": the one that gives the
        lower objective. "both": each class owns up to `n_prototypes`, as with more classes, and the highest score wins.
    solver_options : dict or None, default=None
        For "mirror-prox": `geometry` ("entropy" or "euclidean"), `step_sizes` ("adaptive" or a pair (α, β)), `average`
        (True: the average of the iterates; False: the last).
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes in the loss. They move the decision; probabilities are those of the data as they are (up
        to half a point for a score card).
    tol : float or None, default=1e-4
        The relative duality gap at which the solver stops. None: run `max_iter` iterations, or until rounding errors
        stop the progress.
    max_iter : int, default=10000
        The largest number of iterations of the solver for one relaxation.
    random_state : int, RandomState instance or None, default=None
        Seeds k-means and the other starts.
    verbose : int, default=0
        1: print a line for each relaxation that is solved. -1: no notice that the first fit compiles, and no
        progress of passes over many rows.
    n_jobs : int or None, default=None
        Threads for passes over many rows. The model does not depend on it.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, in order.
    prototypes_ : ndarray of shape (p, n_features)
        The weights in raw units, stacked in the order of `classes_`; p may be less than asked for. Not there if terms
        may be literals: these are in ``model_.terms``.
    intercepts_ : ndarray of shape (p,)
        The constant of each prototype.
    support_ : ndarray of bool, shape (p, n_features)
        The features that each prototype uses.
    feature_importances_ : ndarray of shape (n_features,)
        The share of each feature in the weights, each times the standard deviation of its term in training (as it is
        with ``standardize=False``); 0 for a feature that is not in use. For scikit-learn's ``SelectFromModel``.
    prototype_classes_ : ndarray of shape (p,)
        The class that owns each prototype.
    objective_ : float
        Mean loss plus penalty of this model, in standardised space, at the final assignment of rows to prototypes.
    lower_bound_ : float
        No model within this budget has a lower objective at that assignment. It says nothing about test accuracy.
    optimality_gap_ : float
        ``(objective_ - lower_bound_) / objective_``.
    duality_gap_ : float
        ``(P - D) / P`` of the relaxation, with P its objective where the solver stopped and D its lower bound.
    n_iter_ : int
        Iterations of the solver, over all relaxations.
    n_relaxations_ : int
        Relaxations that `certify` solved.
    decision_threshold_ : float
        With two classes, the probability of ``classes_[1]`` above which it is predicted; 0.5 with more.
    model_ : SMaLLModel
        The model by itself: it predicts with numpy alone, prints itself and saves to JSON.
    n_features_in_ : int
        The number of features of the training data.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, if the training data had names.

    See Also
    --------
    SMaLLClassifierCV : Chooses these parameters by cross-validation.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> clf = SMaLLClassifier(n_prototypes=2, n_nonzero=3, random_state=0).fit(X, y)
    >>> clf.support_.sum(axis=1)
    array([3, 3])
    >>> clf.score(X, y) > 0.94
    True
    """

    def __init__(
        self,
        n_prototypes=2,
        n_nonzero=3,
        alpha=1e-2,
        *,
        budget="prototype",
        feature_costs=None,
        max_cost=None,
        always_in=None,
        monotonic_cst=None,
        feature_groups=None,
        max_per_group=1,
        literals="raw",
        cut_points=20,
        categorical_features=None,
        solver="accelerated",
        assignment="kmeans",
        n_init=1,
        local_search=False,
        certify=False,
        time_limit=None,
        max_points=None,
        decision_threshold="auto",
        reassign=True,
        refit_support=True,
        fit_intercept=True,
        standardize=True,
        positive_class=None,
        solver_options=None,
        class_weight=None,
        tol=1e-4,
        max_iter=10_000,
        random_state=None,
        verbose=0,
        n_jobs=None,
    ):
        self.n_prototypes = n_prototypes
        self.n_nonzero = n_nonzero
        self.alpha = alpha
        self.budget = budget
        self.feature_costs = feature_costs
        self.max_cost = max_cost
        self.always_in = always_in
        self.monotonic_cst = monotonic_cst
        self.feature_groups = feature_groups
        self.max_per_group = max_per_group
        self.literals = literals
        self.cut_points = cut_points
        self.categorical_features = categorical_features
        self.solver = solver
        self.assignment = assignment
        self.n_init = n_init
        self.local_search = local_search
        self.certify = certify
        self.time_limit = time_limit
        self.max_points = max_points
        self.decision_threshold = decision_threshold
        self.reassign = reassign
        self.refit_support = refit_support
        self.fit_intercept = fit_intercept
        self.standardize = standardize
        self.positive_class = positive_class
        self.solver_options = solver_options
        self.class_weight = class_weight
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.verbose = verbose
        self.n_jobs = n_jobs

    @classmethod
    def paper_preset(cls, **overrides: Any) -> Self:
        """Create a classifier that trains as the paper does, its formulas corrected.

        Mirror-Prox with Euclidean steps α = 0.01 and β = 0.001 for 2,000 iterations from a uniform start, averaged;
        k-means; no intercept in standardised space, no refit, no reassignment; λ = 0.1.

        Parameters
        ----------
        **overrides : dict
            Parameters of the constructor, in place of those of the preset.

        Returns
        -------
        SMaLLClassifier
            Not fitted yet.
        """
        preset: dict[str, Any] = {
            "alpha": 0.1,
            "solver": "mirror-prox",
            "solver_options": {"geometry": "euclidean", "step_sizes": (0.01, 0.001), "average": True},
            "reassign": False,
            "refit_support": False,
            "fit_intercept": False,
            "tol": None,
            "max_iter": 2000,
        }
        return cls(**{**preset, **overrides})

    def fit(self, X, y=None, sample_weight=None) -> Self:
        """Train a model within the budget.

        Parameters
        ----------
        X : array-like, CSR matrix, or pandas or polars table of shape (n_samples, n_features)
            The training rows.
        y : array-like of shape (n_samples,)
            The class of each row: numbers or text.
        sample_weight : array-like of shape (n_samples,), default=None
            The weight of each row. Weight 2 equals the row twice, weight 0 a row that is absent.

        Returns
        -------
        SMaLLClassifier
            The fitted estimator. If training fails, an earlier fit is left as it was.

        Raises
        ------
        ValueError
            If a parameter, X, y or a weight is not allowed. The message says what is.
        """
        check_parameters(self.get_params(deep=False), SOLVERS)
        shown = int(self.verbose) >= 0
        with notice_of_compiling(shown), Passes(shown), enforce(Deadline(self.time_limit)) as deadline:
            # A mapped array stays where it is, if that is possible.
            sampled = isinstance(X, np.memmap) and self._needs_every_row() is None
            data = self._read(X, y, sample_weight, self.literals, sampled=sampled)
            self._check_sampled(data)
            start = self._start(data)
            budget, options = self._budget(data, self._limit(data.problem)), self._options(data)
            solution = self._train(data, budget, start)
            fitted = assemble(data.whole, solution, budget, options)
        self._set_fitted(data, fitted, n_relaxations_=solution.n_relaxations)
        warn_if_cut_short(deadline)
        if RELAXATION not in deadline.cut_short:
            self._warn_if_unfinished(solution)
        return self

    def _start(self, data: TrainingData) -> np.ndarray | None:
        """The user's assignment of the rows that count; None if it is to be found."""
        if isinstance(self.assignment, str):
            return None
        return check_assignment(self.assignment, len(data.kept))[data.kept]

    def _limit(self, problem: Problem) -> float:
        """How many terms, or what cost, the budget allows."""
        if self.max_cost is not None:
            return float(self.max_cost)
        owner = check_positive_class(self.positive_class, problem.classes.tolist())[0]
        owners = len(problem.classes) if owner is None else 1
        most = len(problem.candidates) * (int(self.n_prototypes) * owners if self.budget == "total" else 1)
        return float(most if self.n_nonzero is None else min(int(self.n_nonzero), most))

    def _options(self, data: TrainingData) -> AssembleOptions:
        return AssembleOptions(
            alpha=self.alpha,
            fit_intercept=self.fit_intercept,
            max_points=None if self.max_points is None else int(self.max_points),
            feature_names=data.feature_names,
            fills_gaps=self._allows_gaps(),
            decision_threshold=check_decision_threshold(self.decision_threshold, data.problem.classes.tolist()),
        )

    # --- training --------------------------------------------------------------------------------------------------

    def _train(self, data: TrainingData, budget: Budget, start: np.ndarray | None) -> descent.Solution:
        """The best solution over all starts and over the classes that may own the prototypes."""
        trained: list[tuple[descent.Solution, Any, descent.Plan]] = []
        problem, (few, drawn) = data.problem, self._sample(data)
        for owner in check_positive_class(self.positive_class, problem.classes.tolist()):
            if trained and present().stops("further starts"):
                break
            rows = self._all_rows(data, owner)
            plan = self._plan(problem, budget, owner)
            if few is None:
                solution = self._best_descent(problem, rows, owner, start, plan)
            else:
                sample = few.rows(owner, self.fit_intercept, count_threads(self.n_jobs))
                first = None if start is None else start[drawn]
                on_sample = replace(plan, sample_weight=few.sample_weight)
                found = self._best_descent(few, sample, owner, first, on_sample)
                solution = descent.resume(rows, sample, found, plan)
            trained.append((solution, rows, plan))
        solution, rows, plan = min(trained, key=lambda entry: entry[0].value)
        if self.certify:
            solution = descent.prove(rows, solution, plan, PROOF_TOL if self.tol is None else float(self.tol))
        return solution

    def _all_rows(self, data: TrainingData, owner: int | None) -> Any:
        """All rows, of which class ``owner`` has the prototypes (None: every class has)."""
        if data.large is not None and data.is_sample:
            return data.large.rows(owner, self.fit_intercept)
        return data.problem.rows(owner, self.fit_intercept, count_threads(self.n_jobs))

    def _sample(self, data: TrainingData) -> tuple[Problem | None, np.ndarray]:
        """The rows to train on first if there are many, unless they may not move or are not refitted; and which rows of
        the problem they are."""
        problem, large = data.problem, data.large
        many = data.is_sample or content.row_counts(problem.sample_weight).sum() > MANY_ROWS
        if many and self.reassign and self.refit_support:
            pool = problem if large is None or data.is_sample else large.problem()
            place = np.arange(len(problem.code))
            if large is not None and not data.is_sample:
                place = (np.cumsum(data.kept) - 1)[large.pool.position]
            part = content.sample(pool, SAMPLE_ROWS)
            if part is not None:
                return pool.take(*part), place[part.rows]
            if data.is_sample:
                return pool, place
        return None, np.empty(0)

    def _needs_every_row(self) -> str | None:
        """The name of a parameter that needs every row in memory, if there is one."""
        met = {"reassign": bool(self.reassign), "refit_support": bool(self.refit_support)}
        met |= {"solver": self.solver == "accelerated", "assignment": isinstance(self.assignment, str)}
        return next((name for name, is_met in met.items() if not is_met), None)

    def _check_sampled(self, data: TrainingData) -> None:
        """Refuse what needs every row in memory where there is only a sample."""
        refused = self._needs_every_row()
        if data.is_sample and refused is not None:
            value = getattr(self, refused)
            raise ParameterError(
                Parameter(refused, value) if np.ndim(value) == 0 else Parameter(refused),
                f" needs every row in memory; of these {data.problem.n_rows:,} rows a sample is trained on first.",
            )

    def _best_descent(self, problem, rows, owner: int | None, start, plan: descent.Plan) -> descent.Solution:
        """The best solution over all starts."""
        trained: list[descent.Solution] = []
        for assignment in self._first_assignments(problem, rows, owner, start, plan.penalty):
            if trained and present().stops("further starts"):
                break
            trained.append(descent.train(rows, assignment, plan))
        return min(trained, key=lambda solution: solution.value)

    def _plan(self, problem: Problem, budget: Budget, owner: int | None) -> descent.Plan:
        unlimited = isinstance(self.reassign, bool | np.bool_) and self.reassign
        return descent.Plan(
            penalty=budget.penalty(float(self.alpha), problem.candidates, self.fit_intercept, owner),
            solver=self._solver(),
            refit=bool(self.refit_support),
            rounds=MOST_ROUNDS if unlimited else int(self.reassign),
            verbose=int(self.verbose) > 0,
            sample_weight=problem.sample_weight,
            local_search=bool(self.local_search),
        )

    def _solver(self) -> Solver:
        """The solver of the relaxation, with its options."""
        tol = 0.0 if self.tol is None else float(self.tol)
        return SOLVERS[self.solver].bind(tol, int(self.max_iter), self.solver_options)

    def _first_assignments(self, problem, rows, owner: int | None, start, penalty: Penalty) -> list[Assignment]:
        """The assignments to descend from: the user's, or the best that are found."""
        counts = {}
        for label in range(len(problem.classes)) if owner is None else [owner]:
            members = int(np.sum(problem.code == label))
            counts[label] = min(int(self.n_prototypes), members)
            if members < self.n_prototypes:
                warnings.warn(
                    f"n_prototypes={self.n_prototypes}, but class {problem.classes.tolist()[label]!r} has {members} "
                    f"of the rows; using {count(members, 'prototype')} for it.",
                    UserWarning,
                    stacklevel=5,
                )
        if start is not None:
            return [assignments.by_index(start, problem.code, list(counts), int(self.n_prototypes))]
        options = {"kind": self.assignment, "n_init": int(self.n_init), "random_state": self.random_state}
        return starts.best(problem, rows, penalty, counts, **options)

    def _warn_if_unfinished(self, solution: descent.Solution) -> None:
        """Warn if the solver stopped short of ``tol``."""
        relaxed = solution.relaxed
        if self.tol is None or relaxed.converged:
            return
        if relaxed.n_iter >= self.max_iter:
            advice = "Raise max_iter, tol or alpha"
        else:
            advice = "Rounding errors stopped its progress: raise tol or alpha, or set standardize=True"
        warnings.warn(
            f"The {self.solver} solver stopped after {relaxed.n_iter} iterations (max_iter={self.max_iter}) at a "
            f"relative duality gap of {relaxed.gap:.1e}, short of tol={self.tol}. {advice}. The budget and "
            "lower_bound_ still hold.",
            ConvergenceWarning,
            stacklevel=3,
        )
