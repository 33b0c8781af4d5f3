"""What the estimators have in common: reading X and y, keeping a trained model, predicting."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.exceptions import DTypePromotionError
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length, check_is_fitted, column_or_1d, validate_data

from smallearn._errors import Parameter, ParameterError
from smallearn._learn.data.literals import RAW
from smallearn._learn.data.problem import Problem, build_problem
from smallearn._learn.data.tables import read_table
from smallearn._learn.parameters import Features, check_cut_points, check_sample_weight
from smallearn._learn.solve.budgets import Budget
from smallearn._learn.solve.descent import Solution
from smallearn._learn.solve.points import Points, find_points
from smallearn._text import show
from smallearn._version import __version__
from smallearn.model import Prototype, Range, SMaLLModel, Term, Training, _html
from smallearn.model._model import class_dtype

FITTED = (
    *("classes_", "intercepts_", "support_", "prototype_classes_", "objective_", "lower_bound_", "optimality_gap_"),
    *("duality_gap_", "n_iter_", "n_terms_", "number_", "device_cost_", "model_", "_weights"),
)


class SMaLLBase(ClassifierMixin, BaseEstimator):
    """A classifier whose fitted state is a `SMaLLModel` and what is known of its training."""

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.categorical_features is None
        tags.input_tags.allow_nan = self._allows_gaps()
        tags.input_tags.categorical = self.categorical_features is not None
        return tags

    def _allows_gaps(self) -> bool:
        return self.literals != "raw"

    # --- reading ---------------------------------------------------------------------------------------------------

    @contextmanager
    def _all_or_nothing(self) -> Iterator[None]:
        """A fit that fails leaves an earlier one as it was."""
        before = dict(self.__dict__)
        try:
            yield
        except BaseException:
            self.__dict__.clear()
            self.__dict__.update(before)
            raise

    def _read(self, X, y, sample_weight, literals: str, standardize: bool | None = None) -> tuple[Problem, np.ndarray]:
        """The validated training data, and which rows count."""
        categories: dict[int, tuple] = {}
        if self.categorical_features is None:
            X, y = self._validated(X, y, order="C", ensure_min_samples=2)
        else:
            X, y = validate_data(self, X, y, skip_check_array=True)
            table = read_table(X, self.categorical_features, getattr(self, "feature_names_in_", None))
            X, categories = table.values, table.categories
            y = column_or_1d(y, warn=True)
            check_consistent_length(X, y)
            if not self._allows_gaps() and np.isnan(X).any():
                first = int(np.isnan(X).any(axis=0).argmax())
                name = show(str(getattr(self, "feature_names_in_", {first: f"x{first}"})[first]))
                raise ParameterError(
                    f"Feature {name} has missing values, and ",
                    Parameter("literals", "raw"),
                    " has no term for these. Set ",
                    Parameter("literals", "both"),
                    ", or fill them in.",
                )
        check_classification_targets(y)
        if sparse.issparse(X) and not np.isfinite(X.data).all():
            raise ValueError("X is sparse and has NaN, for which sparse columns have no term; fill the gaps first.")
        weight = check_sample_weight(sample_weight, X)
        features = Features(X.shape[1], getattr(self, "feature_names_in_", None))
        cuts = check_cut_points(features, self.cut_points, sparse.issparse(X), categories)
        standardize = self.standardize if standardize is None else standardize
        return build_problem(X, y, weight, self.class_weight, standardize, literals, cuts, categories), weight > 0.0

    def _validated(self, X: Any, *y: Any, **checks: Any) -> Any:
        """scikit-learn's checks of X, and of y when training, with the names and number of features."""
        if hasattr(X, "collect") and not hasattr(X, "shape"):
            raise ValueError(f"X is a {type(X).__name__}, a table not read yet; collect it first.")
        if self.categorical_features is not None:
            return validate_data(self, X, *y, reset=bool(y), skip_check_array=True)
        numbers = [np.float64, np.float32]
        checks["ensure_all_finite"] = "allow-nan" if self._allows_gaps() else True
        try:
            return validate_data(self, X, *y, reset=bool(y), accept_sparse="csr", dtype=numbers, **checks)
        except DTypePromotionError as problem:
            raise ValueError(f"X has columns that are not numbers: {problem}") from None

    # --- keeping ---------------------------------------------------------------------------------------------------

    def _keep(self, problem: Problem, solution: Solution, budget: Budget, alpha: float) -> None:
        """Set the fitted attributes."""
        found = problem.candidates
        weights, intercepts = problem.to_raw_units(solution.W, self.fit_intercept)
        card = None
        if self.max_points is not None:
            card = self._score_card(problem, solution, weights, intercepts, alpha)
            weights, intercepts = card.scale * card.points / card.units, card.scale * card.intercepts
        used = weights != 0.0
        p = len(weights)
        self.classes_ = problem.classes
        self.intercepts_ = intercepts
        self.support_ = np.zeros((p, problem.n_features), dtype=bool)
        for j, l in zip(*np.nonzero(used), strict=True):
            self.support_[j, found.feature[l]] = True
        self._weights = weights if set(found.kind) <= {RAW} else None
        self.prototype_classes_ = problem.classes[solution.assignment.owner]
        self.objective_ = solution.value if card is None else self._objective_of(problem, solution, card, alpha)
        self.lower_bound_ = min(solution.bound, solution.value)  # where they meet, rounding may part them
        self.optimality_gap_ = (self.objective_ - self.lower_bound_) / self.objective_
        self.duality_gap_ = solution.relaxed.gap
        self.n_iter_ = solution.n_iter
        self.model_ = self._model(problem, solution, weights, intercepts, card, budget, alpha)

    def _know_data(self, X, y) -> None:
        """Tell the model of its training rows, unless only training can read them: numbers as text."""
        with suppress(ValueError, OverflowError):
            self.model_ = self.model_.trained_on(X, column_or_1d(y))

    def _forget(self) -> None:
        """Take back what `_keep` set in an earlier fit."""
        for name in FITTED:
            self.__dict__.pop(name, None)

    @property
    def prototypes_(self) -> np.ndarray:
        """The weights in raw units, p × n_features."""
        if "_weights" not in self.__dict__:
            raise AttributeError(f"This {type(self).__name__} is not fitted yet and has no 'prototypes_'.")
        if self._weights is None:
            raise AttributeError(
                "A model whose terms may be literals has no 'prototypes_', for one feature may have several terms: see "
                "model_.terms, and support_ for the features in use."
            )
        return self._weights

    def _score_card(self, problem: Problem, solution: Solution, weights, intercepts, alpha: float) -> Points:
        """Whole weights in the place of the refitted ones, on the same candidates."""
        owner = int(solution.assignment.owner[0]) if len(problem.classes) == 2 else None
        rows = problem.rows(owner, False, 1)
        used = np.flatnonzero(np.any(weights != 0.0, axis=0))
        scale = np.where(problem.inverse[used] > 0.0, problem.inverse[used], 1.0)
        values = rows.columns(used) / scale + problem.mean[used]
        raw = np.array([problem.candidates.kind[l] == RAW for l in used], dtype=bool)
        values[:, ~raw] = np.rint(values[:, ~raw])
        card = find_points(
            values,
            weights[:, used],
            intercepts,
            solution.assignment.own,
            problem.code,
            solution.assignment.owner,
            rows.labels.zero_owner,
            rows.labels.weight,
            raw,
            int(self.max_points),
            alpha,
            1.0 / scale,
            problem.mean[used],
        )
        full = np.zeros(weights.shape, dtype=np.int64)
        full[:, used] = card.points
        if self.monotonic_cst is not None:
            full[full * weights < 0.0] = 0  # no sign that was not allowed
        units = np.ones(weights.shape[1])
        units[used] = card.units
        return replace(card, points=full, units=units)

    def _objective_of(self, problem: Problem, solution: Solution, card: Points, alpha: float) -> float:
        """The training objective of a score card, at the assignment that the bound speaks of."""
        owner = int(solution.assignment.owner[0]) if len(problem.classes) == 2 else None
        weights = card.scale * card.points / card.units
        scale = np.where(problem.inverse > 0.0, problem.inverse, 1.0)
        W = np.column_stack([weights / scale, card.scale * card.intercepts + weights @ problem.mean])
        loss = problem.rows(owner, True, 1).sums(W, solution.assignment, gradient=False).loss
        return loss + 0.5 * alpha * float(np.sum(W * W))

    def _model(self, problem: Problem, solution: Solution, weights, intercepts, card, budget, alpha) -> SMaLLModel:
        found = problem.candidates
        names = getattr(self, "feature_names_in_", None)
        place = {int(l): a for a, l in enumerate(found.feature[: found.n_raw])}
        fills = self._allows_gaps() and not sparse.issparse(problem.X)

        def term(j: int, l: int) -> Term:
            feature, kind = int(found.feature[l]), found.kind[l]
            unit = None if card is None or kind != RAW else float(card.units[l])
            weight = float(weights[j, l]) if card is None else float(card.points[j, l] / card.units[l])
            return Term(
                feature,
                weight,
                None if names is None else str(names[feature]),
                kind,
                found.value[l],
                float(problem.centre[place[feature]]) if fills and kind == RAW else None,
                unit,
            )

        prototypes = tuple(
            Prototype(
                int(owner),
                float(intercepts[j] if card is None else card.intercepts[j]),
                tuple(term(j, int(l)) for l in np.flatnonzero(weights[j])),
            )
            for j, owner in enumerate(solution.assignment.owner)
        )
        training = Training(
            smallearn=__version__,
            n_rows=len(problem.code),
            alpha=float(alpha),
            n_nonzero=int(budget.limit) if budget.costs is None else None,
            objective=float(self.objective_),
            lower_bound=float(self.lower_bound_),
            budget=budget.pooling,
            max_cost=None if budget.costs is None else float(budget.limit),
            certified=bool(solution.certified) and card is None,
        )
        scale = 1.0 if card is None else float(card.scale)
        classes = tuple(self.classes_.tolist())
        used = sorted({term.feature for prototype in prototypes for term in prototype.terms})
        ranges = tuple(Range(*extent) for extent in problem.extents(used))
        return SMaLLModel(classes, class_dtype(self.classes_), problem.n_features, prototypes, training, scale, ranges)

    # --- in a notebook ---------------------------------------------------------------------------------------------

    def _repr_html_inner(self) -> str:
        return self._with_rule(super()._repr_html_inner())

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        shown = super()._repr_mimebundle_(**kwargs)
        return {**shown, "text/html": self._with_rule(shown["text/html"])} if "text/html" in shown else shown

    def _with_rule(self, diagram: str) -> str:
        """scikit-learn's diagram, beside the rule once there is one."""
        return _html.beside(self.model_._repr_html_(), diagram) if "model_" in self.__dict__ else diagram

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
