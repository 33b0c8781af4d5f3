"""`SMaLLClassifier`: parameters, fit, predict; the mathematics is elsewhere."""

import warnings
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.exceptions import DTypePromotionError
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from smallearn import __version__, assignment, search
from smallearn.blocks import Assignment
from smallearn.model import Prototype, SMaLLModel, Term, Training, class_dtype
from smallearn.objective import Penalty
from smallearn.parameters import (
    check_assignment,
    check_parameters,
    check_positive_class,
    check_sample_weight,
    count_threads,
)
from smallearn.problem import Problem, build_problem
from smallearn.solvers import accelerated, mirror_prox

MOST_ROUNDS = 100  # of reassignment; each lowers the objective, so that this is a stop for the unforeseen


class SMaLLClassifier(ClassifierMixin, BaseEstimator):
    """Sparse multiprototype linear classifier: at most `n_nonzero` terms in each of `n_prototypes` prototypes.

    With two classes it predicts by ``max_j w_j·x > 0`` (a relaxed p-term k-DNF); with more, by the greatest score over
    the prototypes of all classes. It is trained through a convex relaxation of the k-sparse problem, rounded and
    refitted. It reports a lower bound on the training objective of every model with that budget, for the final
    assignment of rows to prototypes.

    Parameters
    ----------
    n_prototypes : int, default=2
        Prototypes of the class that owns them, at most; with more than two classes, of each class. Reduced, with a
        warning, to the number of rows of the class; a prototype that loses all its rows is dropped, unless a new one in
        its place lowers the objective.
    n_nonzero : int or None, default=3
        Terms that a prototype may have, the intercept not counted. None: no limit. Capped at the number of features.
    alpha : float, default=0.01
        Weight of the ridge penalty, λ in the paper, from 1e-10 to 1e10.
    solver : {"accelerated", "mirror-prox"}, default="accelerated"
        How the relaxation is solved: accelerated proximal gradient, or the paper's algorithm.
    assignment : "kmeans" or array-like of shape (n_samples,), default="kmeans"
        The prototype that each row starts with. An array counts within the row's class and is ignored for rows whose
        class owns no prototype.
    reassign : bool or int, default=True
        Whether rows may move to the prototype that scores them best: until none moves, never, or for so many rounds.
        False keeps the assignment as it is: a prototype without rows is then dropped, not reseeded.
    refit_support : bool, default=True
        Refit the weights on the rounded support. False: the paper's weights, from the dual point of the relaxation.
    fit_intercept : bool, default=True
        Give each prototype a constant term in standardised space, penalised like a weight and outside the budget.
    standardize : bool, default=True
        Train on columns of mean 0 and standard deviation 1. The model is in raw units either way.
    positive_class : label, None or "auto", default=None
        With two classes, the one that owns the prototypes. None: the greater label. "auto": whichever gives the lower
        objective.
    solver_options : dict or None, default=None
        For "mirror-prox": `geometry` ("entropy" or "euclidean"), `step_sizes` ("adaptive" or a pair (α, β)), `average`
        (True: the average of the iterates; False: the last).
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes in the loss.
    tol : float or None, default=1e-4
        The relative duality gap at which the solver stops. None: run `max_iter` iterations, or until rounding leaves no
        progress.
    max_iter : int, default=10000
        Iterations of the solver, for each relaxation that it solves.
    random_state : int, RandomState instance or None, default=None
        Seeds k-means.
    verbose : int, default=0
        1: a line for each relaxation that is solved.
    n_jobs : int or None, default=None
        Threads for passes over many rows. The model does not depend on it.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    prototypes_ : ndarray of shape (p, n_features)
        The weights in raw units, stacked in the order of `classes_`. May have fewer rows than asked for.
    intercepts_ : ndarray of shape (p,)
    support_ : ndarray of bool, shape (p, n_features)
        Where `prototypes_` is not zero: at most `n_nonzero` a row.
    prototype_classes_ : ndarray of shape (p,)
        The class that each prototype belongs to.
    objective_ : float
        Mean loss plus penalty of this model, in standardised space, at the final assignment of rows to prototypes.
    lower_bound_ : float
        No model with this budget has a lower objective at that assignment. It says nothing of test accuracy.
    optimality_gap_ : float
        ``(objective_ - lower_bound_) / objective_``.
    duality_gap_ : float
        ``(P - D) / P`` of the relaxation, P its objective where the solver stopped and D the bound: how far it got.
    n_iter_ : int
        Iterations of the solver, over all relaxations.
    model_ : SMaLLModel
        The model on its own: predicts with numpy alone, prints itself, saves to JSON.

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
        solver="accelerated",
        assignment="kmeans",
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
        self.solver = solver
        self.assignment = assignment
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
        """Train as the paper does, its formulas corrected: Mirror-Prox with Euclidean steps α = 0.01 and β = 0.001 for
        2,000 steps from a uniform start, averaged; k-means; no intercept in standardised space, no refit, no
        reassignment; λ = 0.1."""
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

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    # --- training --------------------------------------------------------------------------------------------------

    def fit(self, X, y, sample_weight=None) -> Self:
        """Train on ``X`` (array, CSR matrix, pandas or polars table; n_samples × n_features) and labels ``y``.

        ``sample_weight``: weight 2 equals the row twice, weight 0 as if it were absent.
        """
        check_parameters(self.get_params(deep=False))
        before = dict(self.__dict__)
        try:
            problem, start = self._problem(X, y, sample_weight)
            plan = self._plan(problem)
            solution = self._best_orientation(problem, start, plan)
            self._keep(problem, solution)
        except BaseException:  # a fit that fails leaves an earlier one as it was
            self.__dict__.clear()
            self.__dict__.update(before)
            raise
        self._warn_if_unfinished(solution)
        return self

    def _problem(self, X, y, sample_weight) -> tuple[Problem, np.ndarray | None]:
        """The validated training data, and the assignment if one was given."""
        X, y = self._validated(X, y, order="C", ensure_min_samples=2)
        check_classification_targets(y)
        weight = check_sample_weight(sample_weight, X)
        start = None
        if not isinstance(self.assignment, str):
            start = check_assignment(self.assignment, X.shape[0])[weight > 0.0]
        return build_problem(X, y, weight, self.class_weight, self.standardize), start

    def _plan(self, problem: Problem) -> search.Plan:
        n = problem.X.shape[1]
        k = n if self.n_nonzero is None else min(int(self.n_nonzero), n)
        tol = 0.0 if self.tol is None else float(self.tol)
        if self.solver == "accelerated":
            solver = partial(accelerated.solve, tol=tol, max_iter=int(self.max_iter))
        else:
            options = mirror_prox.Options(**(self.solver_options or {}))
            solver = partial(mirror_prox.solve, tol=tol, max_iter=int(self.max_iter), options=options)
        unlimited = isinstance(self.reassign, bool | np.bool_) and self.reassign
        rounds = MOST_ROUNDS if unlimited else int(self.reassign)
        penalty = Penalty.count(float(self.alpha), k, n, int(bool(self.fit_intercept)))
        refit, verbose = bool(self.refit_support), bool(self.verbose)
        return search.Plan(penalty, solver, refit, rounds, verbose, problem.sample_weight)

    def _best_orientation(self, problem: Problem, start: np.ndarray | None, plan: search.Plan) -> search.Solution:
        """Train with the class that is to own the prototypes (-1: all do), or with the better of the two."""
        trained = []
        for owner in check_positive_class(self.positive_class, problem.classes.tolist()):
            rows = problem.rows(1 - owner if owner >= 0 else -1, self.fit_intercept, count_threads(self.n_jobs))
            first = self._first_assignment(problem, owner, start)
            trained.append(search.train(rows, first, plan))
        return min(trained, key=lambda solution: solution.value)

    def _first_assignment(self, problem: Problem, owner: int, start: np.ndarray | None) -> Assignment:
        counts = {}
        for label in range(len(problem.classes)) if owner < 0 else [owner]:
            members = int(np.sum(problem.code == label))
            counts[label] = min(int(self.n_prototypes), members)
            if members < self.n_prototypes:
                warnings.warn(
                    f"n_prototypes={self.n_prototypes}, but class {problem.classes.tolist()[label]!r} has {members} "
                    f"of the rows; it gets as many prototypes ({members}).",
                    UserWarning,
                    stacklevel=4,
                )
        if start is not None:
            return assignment.given(start, problem.code, list(counts), int(self.n_prototypes))
        rng = check_random_state(self.random_state)
        return assignment.by_kmeans(problem.centred_rows(), counts, problem.sample_weight, rng)

    def _keep(self, problem: Problem, solution: search.Solution) -> None:
        """Set the fitted attributes."""
        self.classes_ = problem.classes
        self.prototypes_, self.intercepts_ = problem.to_raw_units(solution.W, self.fit_intercept)
        self.support_ = self.prototypes_ != 0.0
        self.prototype_classes_ = problem.classes[solution.assignment.owner]
        self.objective_ = solution.value
        self.lower_bound_ = min(solution.relaxed.dual, solution.value)  # where they meet, rounding may part them
        self.optimality_gap_ = (self.objective_ - self.lower_bound_) / self.objective_
        self.duality_gap_ = solution.relaxed.gap
        self.n_iter_ = solution.n_iter
        self.model_ = self._model(problem, solution)

    def _model(self, problem: Problem, solution: search.Solution) -> SMaLLModel:
        names = getattr(self, "feature_names_in_", None)
        prototypes = tuple(
            Prototype(
                int(owner),
                float(intercept),
                tuple(
                    Term(int(index), float(weights[index]), None if names is None else str(names[index]))
                    for index in np.flatnonzero(weights)
                ),
            )
            for owner, intercept, weights in zip(
                solution.assignment.owner, self.intercepts_, self.prototypes_, strict=True
            )
        )
        n = problem.X.shape[1]
        training = Training(
            smallearn=__version__,
            n_rows=problem.X.shape[0],
            alpha=float(self.alpha),
            n_nonzero=n if self.n_nonzero is None else min(int(self.n_nonzero), n),
            objective=float(self.objective_),
            lower_bound=float(self.lower_bound_),
        )
        return SMaLLModel(tuple(self.classes_.tolist()), class_dtype(self.classes_), n, prototypes, training)

    def _warn_if_unfinished(self, solution: search.Solution) -> None:
        if self.tol is not None and not solution.relaxed.converged:
            if solution.relaxed.n_iter >= self.max_iter:
                advice = "Raise max_iter, tol or alpha"
            else:
                advice = "Rounding left no progress: raise tol or alpha, or set standardize=True"
            warnings.warn(
                f"The {self.solver} solver stopped after {solution.relaxed.n_iter} iterations "
                f"(max_iter={self.max_iter}) at a relative duality gap of {self.duality_gap_:.1e}, short of "
                f"tol={self.tol}. {advice}; the budget and lower_bound_ hold all the same.",
                ConvergenceWarning,
                stacklevel=3,
            )

    # --- predictions -----------------------------------------------------------------------------------------------

    def decision_function(self, X) -> np.ndarray:
        """Two classes: positive for ``classes_[1]``. More: the score of each class, rows × classes."""
        check_is_fitted(self, "model_")
        return self.model_.decision_function(self._validated(X))

    def predict(self, X) -> np.ndarray:
        """The class of the greatest score; ties go to the first of ``classes_``."""
        check_is_fitted(self, "model_")
        return self.model_.predict(self._validated(X))

    def predict_proba(self, X) -> np.ndarray:
        """The softmax of the class scores. It describes the data as weighted and is not corrected for weights."""
        check_is_fitted(self, "model_")
        return self.model_.predict_proba(self._validated(X))

    def _validated(self, X: Any, *y: Any, **checks: Any) -> Any:
        """scikit-learn's checks of X, and of y when training, with the names and number of features."""
        if hasattr(X, "collect") and not hasattr(X, "shape"):
            raise ValueError(f"X is a {type(X).__name__}, a table not read yet; collect it first.")
        numbers = [np.float64, np.float32]
        try:
            return validate_data(self, X, *y, reset=bool(y), accept_sparse="csr", dtype=numbers, **checks)
        except DTypePromotionError as problem:
            raise ValueError(f"X has columns that are not numbers: {problem}") from None
