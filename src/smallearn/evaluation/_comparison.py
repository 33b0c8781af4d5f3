"""Standard models of scikit-learn on the same rows, or on a sample of them, for comparison."""

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier

from smallearn._text import count
from smallearn.evaluation._evaluate import Evaluation
from smallearn.model import SMaLLModel
from smallearn.model._arguments import as_model
from smallearn.model._parts import Familiar, StandardModels, standard_error
from smallearn.model._sentences import terms_text

FOLDS = 5
FOLDS_OF_SAMPLE, MOST_ROWS = 3, 5_000  # of more rows a sample is taken, and cross-validated with fewer folds
INNER_FOLDS = 3  # for regularisation and depth, of more than FEW_ROWS
MOST_CATEGORIES = 20  # of a column that are one-hot encoded, the rest as one
FEW_ROWS = 2_000  # on which time matters less: a larger forest, boosting that does not stop early
UNKNOWN = "–"
N_FAMILIAR = 5  # standard models, and calls of `step`


@dataclass(frozen=True)
class Comparison:
    """Standard models on the rows that a model was evaluated on, as `familiar` returns them.

    Parameters
    ----------
    models : tuple of Familiar
        The standard models.
    trained : bool
        Whether they were trained on a table of their own and scored on all rows; else they were cross-validated.
    same : bool or None, default=True
        If ``trained``: whether that table is the one that the small model was trained on; None if that is unknown.
    folds : int, default=5
        The number of folds of the cross-validation.
    n_rows : int or None, default=None
        The number of rows that they were trained on, or cross-validated; None for all.
    sampled_from : int or None, default=None
        If these are a random sample: of how many rows.

    Examples
    --------
    >>> from smallearn.evaluation import Comparison, Familiar
    >>> tree = Familiar(name="decision tree", score=0.918, spread=0.0, size="6 splits")
    >>> Comparison(models=(tree,), trained=True).folds
    5
    """

    models: tuple[Familiar, ...]
    trained: bool
    same: bool | None = True
    folds: int = FOLDS
    n_rows: int | None = None
    sampled_from: int | None = None

    @classmethod
    def kept_with(cls, model: SMaLLModel) -> "Comparison | None":
        """Find the comparison on the training rows that is kept in a model's file.

        Parameters
        ----------
        model : SMaLLModel or fitted estimator
            The model.

        Returns
        -------
        Comparison or None
            None if there is none.
        """
        kept = as_model(model).standard_models
        if kept is None:
            return None
        return cls(kept.models, trained=False, folds=kept.folds, n_rows=kept.n_rows, sampled_from=kept.sampled_from)

    def kept_by(self, model: SMaLLModel) -> SMaLLModel:
        """Keep this comparison in a model's file, if it is a cross-validation on the model's training rows.

        Parameters
        ----------
        model : SMaLLModel
            The model.

        Returns
        -------
        SMaLLModel
            The same model with ``standard_models``.
        """
        if self.trained:
            raise ValueError("Only a comparison by cross-validation on the training rows is kept with a model.")
        kept = StandardModels(self.models, folds=self.folds, n_rows=self.n_rows, sampled_from=self.sampled_from)
        return replace(model, standard_models=kept)

    def words(self, model: SMaLLModel, judged: Evaluation) -> str:
        """Say how the standard models were scored, and how fair the comparison is.

        Parameters
        ----------
        model : SMaLLModel or fitted estimator
            The model that they are compared with.
        judged : Evaluation
            Its scores.

        Returns
        -------
        str
            One or two sentences.
        """
        if self.trained:
            known = {True: "the same table as this model", False: "another table than this model"}
            table = "a table that may differ from that of this model" if self.same is None else known[self.same]
            sample = "" if self.sampled_from is None else f"a random sample of {self.n_rows:,} rows of "
            return f"Each was trained on {sample}{table} and scored on the same rows.{self._hint}"
        model = as_model(model)
        fewer = self.n_rows is not None and self.n_rows < judged.n_rows
        rows = f"{self.n_rows} of these rows; classes with too few rows are left out" if fewer else "these rows"
        if self.sampled_from is not None:
            rows = f"a random sample of {self.n_rows:,} of the {self.sampled_from:,} rows"
        how = f"{self._by_folds(rows)}{self._hint}"
        if judged.is_training_data and _was_cross_validated(model):
            return f"{how} The score of this model is cross-validated too."
        if judged.is_training_data:
            return f"{how} The score of this model is on its own training rows and therefore optimistic."
        if model.data is None or not model.data.fingerprint:
            return f"{how} It is not known which rows this model was trained on."
        return f"{how} They were trained on other parts of this table and this model was not, which favours them."

    def _by_folds(self, rows: str) -> str:
        return f"Each was scored by {self.folds}-fold stratified cross-validation on {rows}."

    @property
    def _hint(self) -> str:
        """What a sample means."""
        return "" if self.sampled_from is None else " With all rows they may do better."

    def lines(self, model: SMaLLModel, judged: Evaluation) -> list[tuple[str, str, str, str]]:
        """Give the comparison as text, this model first.

        Parameters
        ----------
        model : SMaLLModel or fitted estimator
            This model, as in `words`.
        judged : Evaluation
            What `evaluate` returned for it.

        Returns
        -------
        list of (str, str, str, str)
            Name, accuracy, size and CPU seconds of a fit of each model; these are not known of this model.
        """
        model = as_model(model)
        own = f"{judged.accuracy.value:.1%}"
        if judged.is_training_data and model.selection is not None and _was_cross_validated(model):
            own = f"{model.selection.score:.1%} ± {model.selection.spread:.1%}"
        each = [
            (
                m.name,
                f"{m.score:.1%}" + (f" ± {m.spread:.1%}" if m.spread else ""),
                m.size,
                UNKNOWN if m.seconds is None else f"{m.seconds:.2f}",
            )
            for m in self.models
        ]
        return [("this model", own, terms_text(model), UNKNOWN), *each]


def _was_cross_validated(model: SMaLLModel) -> bool:
    return model.selection is not None and model.selection.metric == "accuracy"


def familiar(
    X: Any,
    y: Any,
    test: tuple[Any, Any] | None = None,
    same: bool | None = True,
    step: Callable[[], None] = lambda: None,
    max_rows: int | None = MOST_ROWS,
) -> Comparison:
    """Score standard classifiers, for comparison with a small model.

    These are the majority class, logistic regression, a decision tree, a random forest and gradient boosting.
    Regularisation and depth are chosen by an inner cross-validation; text is one-hot encoded, rare categories as one,
    and missing values are imputed.

    Parameters
    ----------
    X : pandas DataFrame of shape (n_rows, n_features)
        The rows to train on.
    y : array-like of shape (n_rows,)
        Their classes.
    test : (X, y), optional
        Rows to score on. Without them, scores are from stratified cross-validation on ``X``, with 5 folds, or 3 on a
        sample, or as many as the rarest class has rows.
    same : bool or None, default=True
        Whether the small model was trained on ``X`` too; None if that is unknown.
    step : callable, optional
        Called after each model.
    max_rows : int or None, default=5000
        Of more rows of ``X`` a random sample of so many is taken, stratified by class; None for all.

    Returns
    -------
    Comparison
        The accuracy, the size and the time of each.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from smallearn.evaluation import familiar
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> compared = familiar(X[::2], y[::2], (X[1::2], y[1::2]))
    >>> print(compared.models[0].name, f"{compared.models[0].score:.1%}")
    majority class 33.3%
    """
    y = np.asarray(y)
    n_all = len(y)
    is_sample = max_rows is not None and n_all > max_rows
    if max_rows is not None and is_sample:
        rows = _stratified(y, max_rows)
        X, y = _take(X, rows), y[rows]
    fewest = int(np.unique(y, return_counts=True)[1].min())
    n_folds = min(FOLDS_OF_SAMPLE if is_sample else FOLDS, max(2, fewest))
    folds = list(StratifiedKFold(n_folds, shuffle=True, random_state=0).split(X, y))
    models = []
    for name, classifier, size_of in _classifiers(
        max(2, min(FOLDS if len(y) <= FEW_ROWS else INNER_FOLDS, fewest // 2)), len(y)
    ):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of columns that are empty in a fold, of solvers that stop early
            begin = time.process_time()
            fitted = clone(classifier).fit(X, y)
            seconds = time.process_time() - begin
            if test is not None:
                scores = [_accuracy(fitted, *test)]
            else:
                scores = [_accuracy(clone(classifier).fit(_take(X, a), y[a]), _take(X, b), y[b]) for a, b in folds]
        score, spread = float(np.mean(scores)), standard_error(tuple(scores))
        models.append(Familiar(name=name, score=score, spread=spread, size=size_of(fitted), seconds=seconds))
        step()
    return Comparison(
        models=tuple(models),
        trained=test is not None,
        same=same,
        folds=n_folds,
        n_rows=len(y),
        sampled_from=n_all if is_sample else None,
    )


def _stratified(y: np.ndarray, n_rows: int) -> np.ndarray:
    """About so many rows, in order: of each class its share, but a row for each fold if there are as many."""
    rng = np.random.default_rng(0)
    _, code, counts = np.unique(y, return_inverse=True, return_counts=True)
    wanted = np.maximum(np.round(n_rows * counts / len(y)).astype(int), np.minimum(counts, 2 * FOLDS_OF_SAMPLE))
    chosen = [rng.choice(np.flatnonzero(code == k), n, replace=False) for k, n in enumerate(wanted)]
    return np.sort(np.concatenate(chosen))


def _classifiers(n_folds: int, n_rows: int) -> list[tuple[str, Any, Callable[[Any], str]]]:
    """Name, estimator and a function for the size of the fitted one; ``n_folds`` of the inner cross-validation."""
    text = make_column_selector(dtype_exclude=["number", "bool"])
    numbers = make_column_selector(dtype_include=["number", "bool"])
    one_hot = make_pipeline(
        SimpleImputer(strategy="constant", fill_value="missing"),
        OneHotEncoder(handle_unknown="infrequent_if_exist", max_categories=MOST_CATEGORIES, dtype=np.float32),
    )
    imputed = SimpleImputer(add_indicator=True)
    plain = make_column_transformer((imputed, numbers), (one_hot, text), sparse_threshold=0.0)
    scaled = make_column_transformer(
        (make_pipeline(imputed, StandardScaler()), numbers), (one_hot, text), sparse_threshold=0.0
    )
    few = n_rows <= FEW_ROWS
    linear = GridSearchCV(LogisticRegression(max_iter=2000), {"C": [0.01, 0.1, 1.0, 10.0]}, cv=n_folds)
    tree = GridSearchCV(
        DecisionTreeClassifier(random_state=0),
        {"max_depth": [2, 3, 5, None] if few else [3, 5, 8, None], "min_samples_leaf": [1, 5]},
        cv=n_folds,
    )
    forest = RandomForestClassifier(200 if few else 100, random_state=0)
    boosted = HistGradientBoostingClassifier(early_stopping=not few, random_state=0)
    return [
        ("majority class", DummyClassifier(), lambda _: "a constant"),
        (
            "logistic regression",
            make_pipeline(scaled, linear),
            lambda m: count(m[-1].best_estimator_.coef_.size, "weight"),
        ),
        (
            "decision tree",
            make_pipeline(plain, tree),
            lambda m: count(m[-1].best_estimator_.get_n_leaves() - 1, "split"),
        ),
        ("random forest", make_pipeline(plain, forest), lambda m: f"{_splits_of_forest(m[-1]):,} splits"),
        ("gradient boosting", make_pipeline(plain, boosted), lambda m: f"{_splits_of_boosting(m[-1]):,} splits"),
    ]


def _splits_of_forest(forest: Any) -> int:
    return sum(tree.get_n_leaves() - 1 for tree in forest.estimators_)


def _splits_of_boosting(boosted: Any) -> int:
    return sum(tree.get_n_leaf_nodes() - 1 for stage in boosted._predictors for tree in stage)


def _take(X: Any, rows: Any) -> Any:
    return X.iloc[rows] if hasattr(X, "iloc") else X[rows]


def _accuracy(fitted: Any, X: Any, y: Any) -> float:
    return float(np.mean(fitted.predict(X) == np.asarray(y)))
