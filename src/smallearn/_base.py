"""What both estimators have in common: reading X and y, setting the fitted attributes, predicting."""

import math
import warnings
from collections.abc import Callable, Mapping
from contextlib import suppress
from copy import copy
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any

import numpy as np
from numpy.exceptions import DTypePromotionError
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length, check_is_fitted, column_or_1d, validate_data

from smallearn._errors import Parameter, ParameterError
from smallearn._learn import prediction
from smallearn._learn.assemble import Fitted, remember_rows
from smallearn._learn.data.content import row_counts
from smallearn._learn.data.encoding import check_evaluated, encode_table
from smallearn._learn.data.labels import class_codes
from smallearn._learn.data.many_rows import Large
from smallearn._learn.data.problem import Problem, build_problem
from smallearn._learn.data.source import ArraySource, pool_rows, width_of
from smallearn._learn.data.table import Table, readable
from smallearn._learn.data_parameters import (
    Features,
    check_costs,
    check_cut_points,
    check_groups,
    check_monotonic,
    check_sample_weight,
    count_threads,
)
from smallearn._learn.solve.budgets import Budget
from smallearn._run.deadline import Deadline
from smallearn._text import listed, show
from smallearn.model import SMaLLModel, _html
from smallearn.model._reference import MOST_FEATURES, reference_of

GLANCE_ROWS = 1 << 14  # of many rows, from which the histograms are made that a model keeps
LEAST_COMPILED = 2**20  # numbers in X, for which predictions are compiled: for fewer the model is fast enough


@dataclass(frozen=True)
class TrainingData:
    """Validated training data: the rows as they came, their labels and weights, and the problem made of them.

    The problem has only the rows of positive weight; if there are many, ``large``, it may be a sample of these.
    """

    X: Any
    y: np.ndarray
    weight: np.ndarray
    feature_names: np.ndarray | None
    problem: Problem
    large: Large | None = None

    @property
    def kept(self) -> np.ndarray:
        """Which rows are in the problem, of those that came or, if it is a sample, of those drawn."""
        return np.ones(len(self.problem.code), dtype=bool) if self.is_sample else self.weight > 0.0

    @property
    def is_sample(self) -> bool:
        """Whether the problem is a sample of the rows."""
        return self.problem.n_rows > len(self.problem.code)

    @property
    def whole(self) -> Problem:
        """The problem, with the scaling of all rows."""
        return self.problem if self.large is None or not self.is_sample else self.large.exact(self.problem)

    def described_by(self, model: SMaLLModel) -> SMaLLModel:
        """The model with histograms of these rows, or if they are many of a sample; as it was if it cannot read them
        (numbers as text) or uses so many features that nobody reads their histograms."""
        if len(model.features) > MOST_FEATURES:
            return model
        X: Any = self.X
        weight: np.ndarray | None = self.weight
        known: Mapping[int, Any] = {}
        if self.large is not None:
            known = self.large.source.categories
            block, weight = self.large.glance(GLANCE_ROWS)
            X = readable(block.X, known)
        elif isinstance(X, Table):
            weight = X.weight
        with suppress(ValueError, TypeError, OverflowError):
            return replace(model, reference=reference_of(model, X, weight, known))
        return model

    @property
    def features(self) -> Features:
        """The features by name and position, for parameters that name some of them."""
        return Features(self.problem.n_features, self.feature_names)


class OnRequest:
    """A fitted attribute that is only there if it was computed; an error says why it is not, and what to do.

    The value lies in the estimator's ``__dict__``, which Python asks first.

    Parameters
    ----------
    reason : str
        Such as "The certificate was not computed".
    advice : str
        What to set.
    """

    def __init__(self, reason: str, advice: str):
        self.reason, self.advice = reason, advice

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, estimator: Any, owner: type | None = None) -> Any:
        if estimator is None:
            return self
        kind = type(estimator).__name__
        if "model_" not in vars(estimator):
            raise AttributeError(f"This {kind} has no model yet and so no {self._name!r}; call fit (with refit=True).")
        raise AttributeError(f"{self.reason}, so that this {kind} has no {self._name!r}. {self.advice}")


CERTIFICATE = "The certificate was not computed", "Set certificate=True (and more time, if there is a time_limit)."


class SMaLLBase(ClassifierMixin, BaseEstimator):
    """A classifier whose fitted state is a `SMaLLModel` and what is known of its training."""

    lower_bound_ = OnRequest(*CERTIFICATE)
    optimality_gap_ = OnRequest(*CERTIFICATE)
    duality_gap_ = OnRequest(*CERTIFICATE)

    @classmethod
    @cache
    def _get_param_names(cls):
        """As scikit-learn's, but the signature of a class is inspected once, not in every fit."""
        return super()._get_param_names()

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.categorical_features is None
        tags.input_tags.allow_nan = self._allows_gaps()
        tags.input_tags.categorical = self.categorical_features is not None
        return tags

    def _allows_gaps(self) -> bool:
        """Whether X may have missing values."""
        return self.literals != "raw"

    # --- reading ---------------------------------------------------------------------------------------------------

    def _read(self, X, y, sample_weight, literals: str, *, sampled: bool) -> TrainingData:
        """Validate the training data; sets nothing on the estimator. With ``sampled``, the problem is a sample if there
        are many rows."""
        if isinstance(X, Table):
            return self._read_table(X, y, sample_weight, literals)
        reader = copy(self)  # validation sets n_features_in_ and feature_names_in_ on the estimator that it is given
        categories: dict[int, tuple] = {}
        if self.categorical_features is None:
            values, labels = reader._validated(X, y, order="C", ensure_min_samples=2)
        else:
            values, labels, categories = reader._validated_table(X, y)
        names = getattr(reader, "feature_names_in_", None)
        if not _are_classes(labels):
            check_classification_targets(labels)
        if sparse.issparse(values) and not np.isfinite(values.data).all():
            raise ValueError("X is sparse and has NaN, for which sparse columns have no term; fill the gaps first.")
        weight = check_sample_weight(sample_weight, values)
        cuts = check_cut_points(Features(values.shape[1], names), self.cut_points, sparse.issparse(values), categories)
        rows = X if hasattr(X, "shape") else np.asarray(X)
        data = partial(TrainingData, X=rows, y=labels, weight=weight, feature_names=names)
        choices = self._choices(literals, cuts)
        most = pool_rows(width_of(values))
        if row_counts(weight).sum() <= most:
            return data(problem=build_problem(values, labels, weight, categories=categories, **choices))
        classes, code = class_codes(labels, weight > 0.0)
        source = ArraySource(values, code, weight, classes, categories, count_threads(self.n_jobs))
        large = Large.read(source, most, **choices)
        if sampled:
            return data(problem=large.problem(), large=large)
        everything = replace(large.summary.problem(source.block(slice(0, len(weight)))), total=None)
        return data(problem=everything, large=large)

    def _read_table(self, table: Table, y, sample_weight, literals: str) -> TrainingData:
        """As `_read`, for a table in mapped files."""
        if y is not None or sample_weight is not None:
            raise ValueError("A Table has its classes and weights: pass it alone, fit(table).")
        categories = table.categories or {}
        if categories and self.categorical_features is None:
            names = listed([str(table.feature_names[l]) for l in categories])
            raise ParameterError(
                f"The table has categories in {names}; set ",
                Parameter("categorical_features", "from_dtype"),
                ", or leave these columns out of the table.",
            )
        features = Features(table.shape[1], table.feature_names)
        choices = self._choices(literals, check_cut_points(features, self.cut_points, False, categories))
        n_rows, most = table.shape[0], pool_rows(table.shape[1])
        data = partial(TrainingData, X=table, y=table.classes, weight=np.ones(0), feature_names=table.feature_names)
        if n_rows <= most:
            weight = np.ones(n_rows) if table.weight is None else np.array(table.weight)
            return data(problem=build_problem(np.array(table.X), table.y, weight, categories=categories, **choices))
        n_threads = count_threads(self.n_jobs)
        source = ArraySource(table.X, table.code, table.weight, table.classes, categories, n_threads)
        large = Large.read(source, most, **choices)
        return data(problem=large.problem(), large=large)

    def _choices(self, literals: str, cut_points: Any) -> dict[str, Any]:
        """How a problem is made of the rows."""
        return {
            "class_weight": self.class_weight,
            "standardize": self.standardize,
            "literals": literals,
            "cut_points": cut_points,
        }

    def _validated(self, X: Any, *y: Any, **checks: Any) -> Any:
        """scikit-learn's checks of X, and of y when training, with the names and number of features."""
        check_evaluated(X)
        if self.categorical_features is not None:
            return validate_data(self, X, *y, reset=bool(y), skip_check_array=True)
        checks |= {"reset": bool(y), "accept_sparse": "csr", "dtype": [np.float64, np.float32]}
        checks.setdefault("ensure_all_finite", "allow-nan" if self._allows_gaps() else True)
        if y and _are_classes(y[0]) and _is_checked(X) and len(X) == len(y[0]):
            self.n_features_in_ = X.shape[1]
            self.__dict__.pop("feature_names_in_", None)
            return X, y[0]
        try:
            if not y or not _are_classes(y[0]):
                return validate_data(self, X, *y, **checks)
            checked = validate_data(self, X, **checks)
        except DTypePromotionError as error:
            raise ValueError(f"X has columns that are not numbers: {error}") from None
        except ValueError as error:
            if y and "could not convert string" in str(error) and hasattr(X, "columns"):
                encode_table(X)  # says which column has text, and what to do
            raise
        check_consistent_length(checked, y[0])
        return checked, y[0]

    def _validated_table(self, X: Any, y: Any) -> tuple[np.ndarray, np.ndarray, dict[int, tuple]]:
        """A table with categories as numbers, the labels, and the categories of each such feature."""
        X, y = self._validated(X, y)
        names = getattr(self, "feature_names_in_", None)
        table = encode_table(X, self.categorical_features, names)
        labels = column_or_1d(y, warn=True)
        check_consistent_length(table.values, labels)
        if not self._allows_gaps() and np.isnan(table.values).any():
            first = int(np.isnan(table.values).any(axis=0).argmax())
            name = show(f"x{first}" if names is None else str(names[first]))
            raise ParameterError(
                f"Feature {name} has missing values, and ",
                Parameter("literals", "raw"),
                " has no term for these. Set ",
                Parameter("literals", "both"),
                ", or fill them in.",
            )
        return table.values, labels, table.categories

    def _budget(self, data: TrainingData, limit: float) -> Budget:
        """``limit`` terms or cost, with the other parameters that restrict terms."""
        features = data.features
        always_in = tuple(features.positions("always_in", self.always_in))
        return Budget(
            limit=limit,
            pooling="total" if self.budget == "auto" else self.budget,
            costs=check_costs(features, self.feature_costs),
            always_in=always_in,
            groups=check_groups(features, self.feature_groups, int(self.max_per_group), always_in),
            max_per_group=int(self.max_per_group),
            signs=check_monotonic(features, self.monotonic_cst, data.problem.classes.tolist(), self.positive_class),
        )

    # --- the fitted attributes -------------------------------------------------------------------------------------

    def _set_fitted(self, data: TrainingData, fitted: Fitted | None, **others: Any) -> None:
        """Replace all attributes of an earlier fit by those of this one; ``fitted=None`` leaves no model."""
        attributes = {"n_features_in_": data.problem.n_features, **others}
        if data.feature_names is not None:
            attributes["feature_names_in_"] = data.feature_names
        if fitted is not None:
            attributes |= {
                "model_": data.described_by(self._remember(fitted.model, data)),
                "classes_": fitted.classes,
                "_weights_": fitted.weights,
                "intercepts_": fitted.intercepts,
                "support_": fitted.support,
                "feature_importances_": fitted.feature_importances,
                "prototype_classes_": fitted.prototype_classes,
                "objective_": fitted.objective,
                "n_iter_": fitted.n_iter,
                "decision_threshold_": fitted.model.decision_threshold,
            }
            if fitted.lower_bound is not None:
                attributes |= {
                    "lower_bound_": fitted.lower_bound,
                    "optimality_gap_": fitted.optimality_gap,
                    "duality_gap_": fitted.duality_gap,
                }
        for name in [name for name in vars(self) if name.endswith("_") and name not in attributes]:
            delattr(self, name)
        self.__dict__.update(attributes)

    def _remember(self, model: SMaLLModel, data: TrainingData) -> SMaLLModel:
        """The model with a fingerprint of its training rows, where that can be computed."""
        return remember_rows(model, data.X, data.y)

    @property
    def prototypes_(self) -> np.ndarray:
        """The weights in raw units, prototypes × features.

        Returns
        -------
        ndarray of shape (p, n_features)
            Stacked in the order of `classes_`.

        Raises
        ------
        AttributeError
            If the estimator is not fitted, or if terms may be literals: these are in ``model_.terms``.
        """
        if "_weights_" not in self.__dict__:
            raise AttributeError(f"This {type(self).__name__} is not fitted yet and has no 'prototypes_'.")
        if self._weights_ is None:
            raise AttributeError(
                "A model whose terms may be literals has no 'prototypes_', for one feature may have several terms: see "
                "model_.terms, and support_ for the features in use."
            )
        return self._weights_

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
        """Class scores, in log-odds.

        Parameters
        ----------
        X : array-like, sparse matrix or table of shape (n_samples, n_features)
            Rows with the features of the training data.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            With two classes, positive values are for ``classes_[1]``; with more, the score of each class.
        """
        check_is_fitted(self, "model_")
        fast = self._answered(X, lambda rows, n: prediction.from_scores(self.model_, rows, n, self.model_._log_odds))
        return self.model_.decision_function(self._validated(X)) if fast is None else fast

    def predict(self, X) -> np.ndarray:
        """Predict the class of each row.

        Parameters
        ----------
        X : array-like, sparse matrix or table of shape (n_samples, n_features)
            Rows with the features of the training data.

        Returns
        -------
        ndarray of shape (n_samples,)
            With two classes, ``classes_[1]`` where its probability exceeds ``decision_threshold_``; with more, the
            class of the highest score or of the least expected cost. A tie goes to the first of ``classes_``.
        """
        check_is_fitted(self, "model_")
        fast = self._answered(X, lambda rows, n: prediction.predict(self.model_, rows, n))
        return self.model_.predict(self._validated(X)) if fast is None else fast

    def predict_proba(self, X) -> np.ndarray:
        """Predict the probability of each class: the softmax of the class scores.

        They are those of the data as they are: `class_weight` changes them no more than it changes the weights of
        terms, and `sample_weight` counts rows.

        Parameters
        ----------
        X : array-like, sparse matrix or table of shape (n_samples, n_features)
            Rows with the features of the training data.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            In the order of ``classes_``.
        """
        check_is_fitted(self, "model_")
        fast = self._answered(X, lambda rows, n: prediction.from_scores(self.model_, rows, n, self.model_.chances))
        return self.model_.predict_proba(self._validated(X)) if fast is None else fast

    def _answered(self, X: Any, answer: Callable[[prediction.Stored, int], np.ndarray | None]) -> np.ndarray | None:
        """The compiled answer for many rows; None for fewer, and where X has to be checked further."""
        size = X.nnz if sparse.issparse(X) else math.prod(getattr(X, "shape", ()))
        if size < LEAST_COMPILED or self.categorical_features is not None:
            return None
        floats = type(X) is np.ndarray and X.ndim == 2 and X.dtype in prediction.FLOATS
        if floats or hasattr(X, "columns"):  # a table: its columns are read where they are
            check_evaluated(X)
            validate_data(self, X, reset=False, skip_check_array=True)
        else:
            X = self._validated(X, ensure_all_finite=False)
        stored = prediction.stored(X, self._allows_gaps())
        return None if stored is None else answer(stored, count_threads(self.n_jobs))


def _are_classes(y: Any) -> bool:
    """Whether y is an array of whole numbers or text, one for each row: nothing in it can be wrong."""
    return type(y) is np.ndarray and y.ndim == 1 and y.dtype.kind in "biuSU"


def _is_checked(X: Any) -> bool:
    """Whether X is what scikit-learn's checks would make of it: finite floats, row by row in memory."""
    is_plain = type(X) is np.ndarray and X.ndim == 2 and X.dtype in prediction.FLOATS and X.flags.c_contiguous
    if not is_plain or len(X) < 2 or not X.shape[1]:
        return False
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(np.isfinite(X.sum()))


def warn_if_cut_short(deadline: Deadline) -> None:
    """Warn, for the function that calls this, if time was up before the work was done."""
    if deadline.cut_short:
        warnings.warn(
            f"{deadline.sentence()} The result is the best so far; with more time it may be better.",
            ConvergenceWarning,
            stacklevel=3,
        )
