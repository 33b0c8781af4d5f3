"""`SMaLLClassifierCV` and `frontier`: the best model for a number of terms, chosen by cross-validation."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from math import inf
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.metrics import check_scoring
from sklearn.utils import check_random_state

from smallearn._base import OnRequest, SMaLLBase, TrainingData, warn_if_cut_short
from smallearn._errors import Parameter, ParameterError
from smallearn._learn.assemble import remember_rows
from smallearn._learn.choose.alternatives import find_alternatives
from smallearn._learn.choose.certificate import SHARE
from smallearn._learn.choose.families import ALL_ROWS, SEARCHED_ROWS, RowLimits, Task, list_families
from smallearn._learn.choose.final import Choice, train_choice, train_frontier
from smallearn._learn.choose.folds import Fold, make_folds
from smallearn._learn.choose.race import race
from smallearn._learn.choose.results import Results, cv_results, parameters_of
from smallearn._learn.choose.scores import CostScore, Scorer, Scoring
from smallearn._learn.choose.thresholds import is_share, scorer_name, sweep_of, takes_weights
from smallearn._learn.compiling import notice_of_compiling
from smallearn._learn.data.problem import Problem
from smallearn._learn.data.table import Table
from smallearn._learn.data_parameters import (
    check_cost_matrix,
    check_decision_threshold,
    check_positive_class,
    count_threads,
)
from smallearn._learn.parameters import check_selection
from smallearn._learn.solve.objective import Pooling
from smallearn._run.deadline import Deadline, enforce, present
from smallearn._run.progress import Passes
from smallearn.model import SMaLLModel
from smallearn.model._decision import cost_threshold

__all__ = ["FrontierPoint", "SMaLLClassifierCV", "frontier"]


class SMaLLClassifierCV(SMaLLBase):
    """The best small classifier within a budget, chosen by cross-validation.

    Cross-validation chooses the number of prototypes and of terms, λ, the kinds of literals and the class that owns the
    prototypes. On sparse data with two classes it also tries one-sided models, in which every term speaks for the same
    class: any of some words. With more classes and ``budget="total"`` it also tries models trained by the spherical
    score in place of the log loss: with few weights for many classes these give up the rows that they cannot win.

    Parameters
    ----------
    max_terms : int, default=10
        Terms that the model may have over all prototypes, besides constants and features that are always in. `max_cost`
        is a further limit.
    min_terms : int or None, default=None
        The smallest number of terms to try. None: half of `max_terms`, or 1 with `device`. 1 takes little longer and
        makes ``model_.selection.frontier`` the whole frontier.
    n_prototypes : int, list of int or None, default=None
        The numbers of prototypes to try, for the class that owns them (for each class if there are more than two).
        None: 1, 2, 3, 4 and a third of `max_terms`, up to 8, as long as each prototype has two terms and ten rows.
    alphas : list of float, default=(0.1, 0.01, 0.001, 0.0001)
        Weights of the ridge penalty to try, λ in the paper.
    literals : str or list of str, default=("raw", "both")
        What a term may be, as in `SMaLLClassifier`; each entry of a list is tried. X may have NaN unless it is "raw"
        alone.
    cut_points : int or dict from feature to list, default=20
        As in `SMaLLClassifier`.
    categorical_features : None, "from_dtype", list of features or mask, default=None
        As in `SMaLLClassifier`.
    positive_class : label, None, "auto" or "both", default="auto"
        With two classes, the one that owns the prototypes. "auto": both are tried. None: the greater label. "both":
        each class owns prototypes, as with more classes: often more accurate in many terms, but no longer a rule for
        one class.
    budget : {"auto", "total", "prototype", "shared"}, default="auto"
        What `max_terms` counts. "total": every weight, split freely between the prototypes. "prototype": every weight,
        in equal shares. "shared": different terms, so that a term that several classes or prototypes weigh counts once;
        it is one row of the printed model, with a weight for each of them; models of more than 520 such weights are not
        tried. "auto": "total" with two classes, "shared" with more.
    feature_costs : array-like or dict from feature to cost, default=None
        As in `SMaLLClassifier`.
    max_cost : float or None, default=None
        As in `SMaLLClassifier`.
    always_in : list of features or mask, default=None
        As in `SMaLLClassifier`.
    monotonic_cst : array-like or dict from feature to -1, 0 or 1, default=None
        As in `SMaLLClassifier`.
    feature_groups : dict from name to list of features, or None, default=None
        As in `SMaLLClassifier`.
    max_per_group : int, default=1
        As in `SMaLLClassifier`.
    max_points : int or None, default=None
        As in `SMaLLClassifier`. Folds compare the models before their weights become points.
    scoring : str, callable or None, default=None
        A scorer of scikit-learn's, by name or as a function; own metrics do not receive `sample_weight`. None:
        accuracy is reported, and accuracy less a fifth of the log loss decides, which distinguishes models that
        accuracy on few rows cannot. It weighs the rows by `class_weight` too. If one of two classes is rare, the log
        loss has a share in the choice by f1, balanced accuracy, average precision and the like for the same reason.
    decision_threshold : float or "auto", default="auto"
        With two classes, `predict` answers ``classes_[1]`` where its probability exceeds this. "auto": if `scoring`
        depends on predictions (f1, balanced accuracy and other scorers of `sklearn.metrics.make_scorer`, but not
        accuracy), it is chosen with the model. A candidate model is scored on each fold at the threshold that is best
        on the other folds. In the end the threshold is the best on all folds. Otherwise it is 0.5, or what
        `class_weight` asks for.
    cost_matrix : array-like of shape (n_classes, n_classes) or None, default=None
        What each prediction costs, true × predicted classes. Models are then compared by their mean cost, and the class
        of least expected cost is predicted: with two classes by the threshold at which both cost the same.
    cv : int, splitter, iterable or None, default=None
        As in scikit-learn. None: 5 stratified folds, repeated up to 3 times if there are few rows.
    sample_rows : int, "auto" or None, default="auto"
        About how many rows of each fold a candidate model is trained on while models are compared; it is scored on up
        to 20,000 held-out rows. The chosen model is fitted to all rows in any case. "auto": 1,600 or more, by the
        numbers of rows, classes and terms. None: all rows, which takes longer and rarely chooses a better model.
    one_standard_error : bool, default=False
        Choose the smallest number of terms that scores within one standard error of the best.
    refit : bool, default=True
        Train the chosen model on all rows. False: there are only `cv_results_` and the `best_` attributes.
    frontier_models : bool, default=True
        Whether to train the models of the other sizes on all rows too, with a quicker search: `frontier_models_`. That
        takes about a tenth of the time. With `device` there are none.
    n_alternatives : int, default=0
        How many alternatives to the chosen model to look for: `alternatives_`. It takes about as long again as the
        comparison of one family for each feature that the model uses. Not for a `device`.
    certificate : {"auto", True, False}, default="auto"
        Whether to compute the certificate of the chosen model: `lower_bound_` and the gaps. "auto": where it adds no
        more than about a tenth to the work of the search. This depends on the data and the parameters, not on the time
        that the search takes.
    time_limit : float or None, default=None
        Seconds that `fit` may take, the training on all rows and the certificate included. When they are up, a warning
        says what was cut short, and the best model so far is kept. What has begun and cannot be cut short is finished.
    device : str or None, default=None
        A chip that the model must fit: a name in `smallearn.devices.CHIPS`, such as "atmega328p". The choice is then
        the most accurate model whose compiled code keeps the limits below, in the best number format for it: for any
        row where that can be proven (``device_cost_.bound``), else on training rows. Needs the chip's compiler; without
        it costs are estimates.
    max_flash : float or None, default=None
        Bytes of flash that the model may take on `device`. None: what the chip has.
    max_ram : float or None, default=None
        Bytes of RAM that one prediction may take on `device`. None: what the chip has.
    max_cycles : float or None, default=None
        Cycles (on 32-bit chips: instructions) that one prediction may take on `device`. None: no limit.
    max_time_us : float or None, default=None
        Microseconds that one prediction may take on `device` at the chip's usual clock. None: no limit.
    readings : {"float", "counts", "codes"}, default="float"
        What `device` reads: floats in the units of X, or with "counts" whole numbers, such as those of an ADC. The
        limits hold for the whole way from there to the decision. "codes": without how codes are made of readings.
    counts : mapping from feature to (scale, offset, least, greatest) or None, default=None
        With ``readings="counts"``: the device reads a whole number in [least, greatest], and the feature is
        ``scale · count + offset``. It has every feature that a model may use.
    n_init : int, default=4
        Starts to descend from when the chosen model is trained on all rows; half as many with more than two classes.
    fit_intercept : bool, default=True
        As in `SMaLLClassifier`.
    standardize : bool, default=True
        As in `SMaLLClassifier`.
    class_weight : dict, "balanced" or None, default=None
        As in `SMaLLClassifier`.
    random_state : int, RandomState instance or None, default=None
        Seeds the folds and the starts.
    verbose : int, default=0
        -1: no progress, even on a terminal, and no notice that the first fit compiles.
    n_jobs : int or None, default=None
        Processes for the folds, and threads for passes over all rows, one after the other. None: one core. The model
        does not depend on it.

    Attributes
    ----------
    cv_results_ : dict of ndarrays
        A line for each candidate model: `n_terms`, `n_prototypes`, `alpha`, `literals`, `budget`, `one_sided`, `loss`,
        `positive_class`, the score of each fold, their mean, standard deviation and rank;
        ``pandas.DataFrame(cv_results_)`` shows it. Families that fell behind on the first folds were not run on the
        others: they have NaN there, and no rank.
    best_index_ : int
        The line of the chosen candidate model.
    best_params_ : dict
        Its parameters.
    best_score_ : float
        Its mean score over the folds.
    n_terms_ : int
        Terms of the model, as `budget` counts them.
    frontier_models_ : tuple of SMaLLModel
        The model of every size from `min_terms` or less on, in the order of their numbers of terms, the chosen one
        among them. Each is trained on all rows and has a ``selection`` with its scores on the folds. Where the family
        of the chosen model is within a standard error of the best of a size, it is taken, so that the models are alike.
        ``model_.frontier_models`` has them too. Not there with ``frontier_models=False`` or a `device`.
    alternatives_ : tuple of SMaLLModel
        At most `n_alternatives` models with as many terms that score within a standard error of the chosen one, on the
        same folds, and use other features: no two of them and the chosen one use the same. Those that differ most come
        first. Each is trained on all rows, without features that the chosen model uses, and has a ``selection`` with
        its scores. Empty if there is none; ``model_.alternatives`` has them too. Not there with ``n_alternatives=0``.
    number_ : str
        With `device`: the number format, "float32", "int16", "int8x16" or "int8". Predictions of this estimator are
        those of the weights before rounding; `smallearn.export.quantise` gives those of the chip.
    device_cost_ : smallearn.devices.Cost
        With `device`: what the model costs in that format. If no training value was missing, raw terms refuse missing
        values.
    decision_threshold_ : float
        With two classes, the probability of ``classes_[1]`` above which it is predicted; 0.5 with more.
    model_, classes_, intercepts_, support_, feature_importances_, prototype_classes_, objective_, n_iter_
        As in `SMaLLClassifier`, for the chosen model.
    n_features_in_, feature_names_in_
        As in `SMaLLClassifier`, for the chosen model.
    lower_bound_, optimality_gap_, duality_gap_
        As in `SMaLLClassifier`. Not there if the certificate was not computed: see `certificate`.

    See Also
    --------
    frontier : The best model for each number of terms.
    SMaLLClassifier : One model, with parameters that you set.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> clf = SMaLLClassifierCV(max_terms=4, random_state=0).fit(X, y)
    >>> len(clf.model_.terms) <= 4, clf.score(X, y) > 0.94
    (True, True)

    The same at every size:

    >>> [model.n_terms for model in clf.frontier_models_]
    [1, 2, 3, 4]
    """

    frontier_models_ = OnRequest(
        "The models of other sizes were not trained", "Set frontier_models=True and name no device."
    )

    alternatives_ = OnRequest("Alternatives were not looked for", "Set n_alternatives to how many you want, such as 3.")

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
        budget="auto",
        feature_costs=None,
        max_cost=None,
        always_in=None,
        monotonic_cst=None,
        feature_groups=None,
        max_per_group=1,
        max_points=None,
        scoring=None,
        decision_threshold="auto",
        cost_matrix=None,
        cv=None,
        sample_rows="auto",
        one_standard_error=False,
        refit=True,
        frontier_models=True,
        n_alternatives=0,
        certificate="auto",
        time_limit=None,
        device=None,
        max_flash=None,
        max_ram=None,
        max_cycles=None,
        max_time_us=None,
        readings="float",
        counts=None,
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
        self.feature_groups = feature_groups
        self.max_per_group = max_per_group
        self.max_points = max_points
        self.scoring = scoring
        self.decision_threshold = decision_threshold
        self.cost_matrix = cost_matrix
        self.cv = cv
        self.sample_rows = sample_rows
        self.one_standard_error = one_standard_error
        self.refit = refit
        self.frontier_models = frontier_models
        self.n_alternatives = n_alternatives
        self.certificate = certificate
        self.time_limit = time_limit
        self.device = device
        self.max_flash = max_flash
        self.max_ram = max_ram
        self.max_cycles = max_cycles
        self.max_time_us = max_time_us
        self.readings = readings
        self.counts = counts
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
        """The values of `literals` to try."""
        if isinstance(self.literals, str) or not isinstance(self.literals, Iterable):
            return [self.literals]
        return list(self.literals)

    def fit(self, X, y=None, sample_weight=None) -> Self:
        """Choose a model by cross-validation and train it on all rows.

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
        SMaLLClassifierCV
            The fitted estimator. If training fails, an earlier fit is left as it was.

        Raises
        ------
        ValueError
            If a parameter, X, y or a weight is not allowed, or if no model keeps the limits of `device`.
        """
        check_selection(self.get_params(deep=False))
        shown = int(self.verbose) >= 0
        with notice_of_compiling(shown), Passes(shown), enforce(Deadline(self.time_limit)) as deadline:
            data = self._validated_data(X, y, sample_weight)
            if self.device is not None and self.counts is not None:
                from smallearn._learn.choose.device import check_counts

                check_counts(data.problem, data.feature_names, self.counts)
            task, results, folds = self._race(data, self._min_terms(), n_models=1)
            choice = self._choose(data, task, results)
            choice = self._with_alternatives(task, results, folds, choice)
        self._set_fitted(data, choice.fitted, **_attributes(task, results, choice, self.n_alternatives > 0))
        warn_if_cut_short(deadline)
        return self

    def _min_terms(self) -> int:
        if self.min_terms is not None:
            return int(self.min_terms)
        return (int(self.max_terms) + 1) // 2 if self.device is None else 1

    def _validated_data(self, X, y, sample_weight) -> TrainingData:
        """The data with the candidate terms of all values of `literals`."""
        kinds = self._kinds()
        widest = kinds[0] if len(set(kinds)) == 1 else "any" if "thresholds" in kinds else "both"
        # Folds of the user's are about all rows, and without samples all rows are compared.
        own_folds = self.cv is not None and not isinstance(self.cv, int | np.integer)
        sampled = not own_folds and isinstance(self.sample_rows, str)
        data = self._read(X, y, sample_weight, widest, sampled=sampled)
        if data.is_sample and not sampled:
            reason = "cv is about single rows" if own_folds else "sample_rows=None compares models on all rows"
            raise ValueError(
                f"The {data.problem.n_rows:,} rows are not in memory, and models are chosen on a sample of them, but "
                f"{reason}. Set cv to None or a number of folds, and sample_rows to 'auto'."
            )
        if self.device is not None and isinstance(data.X, Table):
            raise ParameterError(
                Parameter("device", self.device),
                " checks the code on training rows in memory; fit a part of the table.",
            )
        return data

    def _race(self, data: TrainingData, min_terms: int, n_models: int) -> tuple[Task, Results, list[Fold]]:
        """Compare candidate models of ``min_terms`` or more by cross-validation, to train ``n_models`` on all rows."""
        problem, max_terms = data.problem, int(self.max_terms)
        rng = check_random_state(self.random_state)
        scoring = self._scoring(problem.classes)
        folds = make_folds(problem, self.cv, data.kept, rng)
        owners = self._owners(problem.classes.tolist())
        families = list_families(
            problem,
            max_terms,
            n_prototypes=None if self.n_prototypes is None else np.atleast_1d(self.n_prototypes).tolist(),
            alphas=self.alphas,
            literals=self._kinds(),
            owners=owners,
            poolings=self._poolings(len(problem.classes)),
            one_sided=sparse.issparse(problem.X) and owners != [None] and self.monotonic_cst is None,
            spherical=self.budget == "total" and len(problem.classes) > 2,
        )
        task = Task(
            problem=problem,
            scoring=scoring,
            threshold=self._threshold(problem.classes, scoring),
            budget=self._budget(data, float(max_terms if self.max_cost is None else self.max_cost)),
            min_terms=min_terms,
            max_terms=max_terms,
            seed=int(rng.randint(2**31)),
            fit_intercept=bool(self.fit_intercept),
            max_points=None if self.max_points is None else int(self.max_points),
            feature_names=data.feature_names,
            fills_gaps=self._allows_gaps(),
            units=folds[0].units,
            limits=self._row_limits(folds, problem, max_terms),
            large=data.large if data.is_sample else None,
            n_threads=count_threads(self.n_jobs),
            deadline=present(),
            certificate_share=self._certificate_share() / n_models,
        )
        keeps_single = self.device is not None and len(problem.classes) > 2
        results = race(task, families, folds, self.n_jobs, int(self.verbose), keeps_single=keeps_single)
        return task, results, folds

    def _row_limits(self, folds: list[Fold], problem: Problem, max_terms: int) -> RowLimits:
        """How many rows candidate models are trained on."""
        if self.sample_rows is None:
            return ALL_ROWS
        if not isinstance(self.sample_rows, str):
            rows = int(self.sample_rows)
            return RowLimits(first=rows, folds=rows, search=max(rows, SEARCHED_ROWS))
        units = folds[0].units
        n_rows = len(units.rows) if problem.all_rows is None else problem.all_rows
        return RowLimits.automatic(n_rows, int(units.code[-1]) + 1, max_terms)

    def _certificate_share(self) -> float:
        """How much work certificates may take, as a share of the search's."""
        return SHARE if isinstance(self.certificate, str) else inf if self.certificate else 0.0

    def _owners(self, classes: list) -> list[int] | list[None]:
        """The classes to try as owners of the prototypes."""
        auto = isinstance(self.positive_class, str) and self.positive_class == "auto"
        return check_positive_class(None if auto and len(classes) > 2 else self.positive_class, classes)

    def _poolings(self, n_classes: int) -> list[Pooling]:
        """How families count terms. Where a shared term counts once, families that count every weight keep the budget
        as well."""
        if self.budget in ("auto", "shared") and n_classes > 2:
            return ["shared", "total"]
        return ["total" if self.budget == "auto" else self.budget]

    def _scoring(self, classes: np.ndarray) -> Scoring:
        """What models are compared by."""
        costs = check_cost_matrix(self.cost_matrix, classes.tolist())
        if costs is not None:
            return CostScore(costs)
        if self.scoring is None or self.scoring in ("accuracy", "neg_log_loss"):
            return self.scoring
        by_name, scorer = isinstance(self.scoring, str), check_scoring(self, self.scoring)
        chosen = len(classes) == 2 and isinstance(self.decision_threshold, str)
        return Scorer(
            name=self.scoring if by_name else scorer_name(scorer),
            function=scorer,
            takes_weights=by_name or takes_weights(getattr(scorer, "_score_func", None)),
            sweep=sweep_of(scorer, classes) if chosen else None,
            with_loss=len(classes) == 2 and is_share(scorer),
        )

    def _threshold(self, classes: np.ndarray, scoring: Scoring) -> float | None:
        """The decision threshold, if it is known before training."""
        threshold = check_decision_threshold(self.decision_threshold, classes.tolist())
        if threshold is None and isinstance(scoring, CostScore) and len(classes) == 2:
            return cost_threshold(scoring.matrix)
        return threshold

    def _choose(self, data: TrainingData, task: Task, results: Results) -> Choice:
        """The best candidate model; trained on all rows if `refit`; within the limits of `device` if there is one."""
        careful, n_init = bool(self.one_standard_error), int(self.n_init)
        if self.device is None:
            chosen = results.choose(results.complete(), careful)
            if not self.refit:
                return Choice(candidate=chosen)
            return train_choice(task, results, chosen, n_init, every_size=bool(self.frontier_models))
        from smallearn._learn.choose import device
        from smallearn.devices._limits import Limits

        limits = Limits(
            device=self.device,
            max_flash=self.max_flash,
            max_ram=self.max_ram,
            max_cycles=self.max_cycles,
            max_time_us=self.max_time_us,
            readings=self.readings,
            counts=self.counts,
        )
        rows = device.DeviceRows(X=data.X, y=data.y, weight=data.weight)
        return device.choose_for_device(task, results, limits, rows, one_standard_error=careful, n_init=n_init)

    def _with_alternatives(self, task: Task, results: Results, folds: list[Fold], choice: Choice) -> Choice:
        """The choice, whose model has its alternatives, if there are to be any."""
        if choice.fitted is None or not self.n_alternatives:
            return choice
        found = find_alternatives(
            task,
            results,
            folds,
            choice.candidate,
            choice.fitted.model,
            count=int(self.n_alternatives),
            n_init=int(self.n_init),
            n_jobs=self.n_jobs,
        )
        return replace(choice, fitted=replace(choice.fitted, model=replace(choice.fitted.model, alternatives=found)))


def _attributes(task: Task, results: Results, choice: Choice, with_alternatives: bool) -> dict[str, Any]:
    """The fitted attributes that describe the comparison and the choice."""
    table = cv_results(task, results)
    index = list(results.scores).index(choice.candidate)
    attributes = {
        "cv_results_": table,
        "best_index_": index,
        "best_params_": table["params"][index],
        "best_score_": float(table["mean_test_score"][index]),
    }
    if choice.fitted is not None:
        attributes["n_terms_"] = choice.fitted.model.n_terms
    if choice.fitted is not None and choice.fitted.model.frontier_models:
        attributes["frontier_models_"] = choice.fitted.model.frontier_models
    if choice.fitted is not None and with_alternatives:
        attributes["alternatives_"] = choice.fitted.model.alternatives
    if choice.number is not None:
        attributes |= {"number_": choice.number, "device_cost_": choice.cost}
    return attributes


@dataclass(frozen=True)
class FrontierPoint:
    """The best model with one number of terms, by cross-validation.

    Parameters
    ----------
    n_terms : int
        The largest number of terms that the model may have.
    score : float
        Its mean score over the folds.
    spread : float
        The standard error of that mean.
    params : dict
        How the model was made: `n_terms`, `n_prototypes`, `alpha`, `literals`, `budget`, `one_sided`, `loss`,
        `positive_class`.
    model : SMaLLModel
        The model, trained on all rows.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from smallearn import frontier
    >>> X, y = load_iris(return_X_y=True)
    >>> point = frontier(X, y, max_terms=2, cv=2, random_state=0)[-1]
    >>> point.n_terms, len(point.model.terms) <= 2
    (2, True)
    """

    n_terms: int
    score: float
    spread: float
    params: dict[str, Any]
    model: SMaLLModel


def frontier(X, y, max_terms=16, *, sample_weight=None, **parameters) -> list[FrontierPoint]:
    """Find the best model for each number of terms: accuracy against size.

    One search finds the models of all sizes, so that this takes little longer than one selection.

    Parameters
    ----------
    X : array-like, CSR matrix, or pandas or polars table of shape (n_samples, n_features)
        The training rows.
    y : array-like of shape (n_samples,)
        The class of each row: numbers or text.
    max_terms : int, default=16
        The largest number of terms.
    sample_weight : array-like of shape (n_samples,), default=None
        The weight of each row. Weight 2 equals the row twice, weight 0 a row that is absent.
    **parameters : dict
        Further parameters of `SMaLLClassifierCV`.

    Returns
    -------
    list of FrontierPoint
        One for each number of terms from 1 to `max_terms`, as far as such models were found, in that order.

    Raises
    ------
    ValueError
        If a parameter, X, y or a weight is not allowed.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> points = frontier(X, y, max_terms=3, cv=2, random_state=0)
    >>> [point.n_terms for point in points]
    [1, 2, 3]
    """
    selector = SMaLLClassifierCV(max_terms, **parameters)
    check_selection(selector.get_params(deep=False))
    shown = int(selector.verbose) >= 0
    with notice_of_compiling(shown), Passes(shown), enforce(Deadline(selector.time_limit)) as deadline:
        data = selector._validated_data(X, y, sample_weight)
        task, results, _ = selector._race(data, min_terms=1, n_models=int(max_terms))
        trained = train_frontier(task, results, int(selector.n_init))
    warn_if_cut_short(deadline)
    points = []
    for candidate, fitted in trained:
        step = results.step(candidate)
        points.append(
            FrontierPoint(
                n_terms=step.n_terms,
                score=step.score,
                spread=step.spread,
                params=parameters_of(task, candidate),
                model=data.described_by(remember_rows(fitted.model, data.X, data.y)),
            )
        )
    return points
