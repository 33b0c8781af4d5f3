"""Scores of a model on labelled rows, and the errors it makes there."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy import stats
from sklearn.metrics import confusion_matrix, roc_curve
from sklearn.utils.validation import column_or_1d

from smallearn._text import count, show
from smallearn.evaluation._groups import Group, groups_of
from smallearn.evaluation._intervals import Interval, bootstrap, wilson
from smallearn.model import SMaLLModel
from smallearn.model._arguments import as_model, codes, read_rows
from smallearn.model._decision import class_scores

MOST_ERRORS = 10  # that are listed


@dataclass(frozen=True)
class Mistake:
    """A row that is predicted wrongly.

    Parameters
    ----------
    row : int
        Its position, from 0.
    truth, predicted : label
        The true class and the predicted one.
    probability : float
        The probability of the predicted class by the model.

    Examples
    --------
    >>> from smallearn.evaluation import Mistake
    >>> Mistake(row=75, truth="malignant", predicted="benign", probability=0.974).predicted
    'benign'
    """

    row: int
    truth: Any
    predicted: Any
    probability: float


@dataclass(frozen=True)
class Evaluation:
    """The scores of a model on labelled rows, as `evaluate` returns them.

    Parameters
    ----------
    n_rows : int
        The number of rows.
    classes : tuple
        The classes of the model.
    is_training_data : bool
        Whether the rows are those that the model was trained on.
    accuracy, balanced_accuracy : Interval
        The share of correct predictions, in all and averaged over the classes, with 95% intervals.
    auc : Interval or None
        Area under the ROC curve; with more than two classes the mean of one class against the rest. None if all rows
        are of one class.
    log_loss, brier : Interval
        Log loss and Brier score of the probabilities.
    frequent : float
        The accuracy of always guessing the most common class.
    confusion : ndarray of shape (n_classes, n_classes)
        The confusion matrix: a line for each true class, a column for each predicted one.
    roc : tuple of two ndarrays, or None
        False and true positive rates for ``classes[1]``; None unless there are two classes.
    mistakes : tuple of Mistake
        The errors with the highest predicted probability, at most ten.
    groups : tuple of Group
        Groups of rows with the highest error rates, at most five.

    Examples
    --------
    >>> from smallearn import SMaLLClassifier
    >>> from smallearn.evaluation import evaluate
    >>> ages, answers = [[30.0], [35.0], [45.0], [60.0]], ["no", "no", "yes", "yes"]
    >>> evaluation = evaluate(SMaLLClassifier(n_nonzero=1).fit(ages, answers), ages, answers)
    >>> evaluation.is_training_data, evaluation.accuracy.value, evaluation.frequent
    (True, 1.0, 0.5)
    """

    n_rows: int
    classes: tuple[Any, ...]
    is_training_data: bool
    accuracy: Interval
    balanced_accuracy: Interval
    auc: Interval | None
    log_loss: Interval
    brier: Interval
    frequent: float
    confusion: np.ndarray
    roc: tuple[np.ndarray, np.ndarray] | None
    mistakes: tuple[Mistake, ...]
    groups: tuple[Group, ...]

    @property
    def baseline(self) -> str:
        """The accuracy of always guessing the most common class, as text.

        Returns
        -------
        str
            ``62.6% by always guessing the most common class``.
        """
        return f"{self.frequent:.1%} by always guessing the most common class"

    def figures(self) -> Iterator[tuple[str, str, str]]:
        """Give the scores as text.

        Yields
        ------
        name, value, meaning : str
            ``"accuracy"``, ``"94.7% (90.3% to 97.2%)"`` and what the score measures.
        """
        yield "accuracy", f"{self.accuracy}", f"share correct; {self.baseline}"
        yield "balanced accuracy", f"{self.balanced_accuracy}", "share correct in each class, averaged over the classes"
        if self.auc is not None:
            meaning = "chance that a row of one class scores above a row of the other"
            if len(self.classes) > 2:
                meaning = "chance that a row of a class scores above a row of another, averaged over the classes"
            yield "ROC AUC", f"{self.auc:.3f}", meaning
        yield "log loss", f"{self.log_loss:.3f}", "mean negative log-likelihood of the true classes; 0 is perfect"
        yield "Brier score", f"{self.brier:.3f}", "mean squared error of the probabilities; 0 is perfect"

    def confusion_lines(self) -> list[tuple[str, ...]]:
        """Give the confusion matrix as text.

        Returns
        -------
        list of tuple of str
            The head, and for each true class its name, the number of rows for each predicted class and the share
            that is correct (``–`` without rows).
        """
        names = [show(label, quote=False) for label in self.classes]
        lines = [("true class", *(f"predicted {name}" for name in names), "correct")]
        for name, counts, hits in zip(names, self.confusion, np.diag(self.confusion), strict=True):
            correct = f"{hits / counts.sum():.1%}" if counts.sum() else "–"
            lines.append((name, *map(str, counts), correct))
        return lines

    def summary(self, model: SMaLLModel, rows: str = "these rows") -> tuple[str, ...]:
        """Sum up how good the model is, and how far these rows can tell.

        Parameters
        ----------
        model : SMaLLModel or fitted estimator
            The model that was evaluated.
        rows : str, default="these rows"
            What to call the rows.

        Returns
        -------
        tuple of str
            Sentences.
        """
        model = as_model(model)
        selection = model.selection
        if self.is_training_data and selection is None:
            return ("These are the training rows: expect lower scores on new rows.",)
        if self.is_training_data and selection is not None:
            folds = count(len(selection.scores), "fold")
            return (
                f"{selection.text} by cross-validation ({selection.metric}, {folds}): the score to rely on.",
                "These are the training rows, so the scores on them are optimistic.",
            )
        sentences = [f"{self.accuracy:.1%} of {rows} are predicted correctly."]
        if model.data is not None:
            sentences.append("This is not the training table. Some rows may appear in both tables.")
        if self.accuracy.value <= self.frequent:
            sentences.append("Always guessing the most common class would be at least as accurate.")
        return tuple(sentences)


def evaluate(model: SMaLLModel, X: Any, y: Any, *, random_state: int = 0) -> Evaluation:
    """Score a model on labelled rows.

    Intervals are 95% confidence intervals: Wilson's for the accuracy, the stratified percentile bootstrap for the
    other scores.

    Parameters
    ----------
    model : SMaLLModel or fitted estimator
        The model.
    X : array, sparse matrix or table of shape (n_rows, n_features)
        The rows.
    y : array-like of shape (n_rows,)
        Their classes.
    random_state : int, default=0
        Seed of the bootstrap.

    Returns
    -------
    Evaluation
        The scores, the confusion matrix and the errors.

    Raises
    ------
    ValueError
        If there are no rows, or ``y`` has a class that the model does not know.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from smallearn import SMaLLClassifier
    >>> from smallearn.evaluation import evaluate
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> clf = SMaLLClassifier(n_nonzero=2, random_state=0).fit(X[::2], y[::2])
    >>> result = evaluate(clf, X[1::2], y[1::2])
    >>> print(f"{result.accuracy:.1%}")
    94.7% (87.1% to 97.9%)
    >>> result.confusion
    array([[25,  0,  0],
           [ 0, 23,  2],
           [ 0,  2, 23]])
    """
    model = as_model(model)
    rows = read_rows(model, X)
    if rows.n_rows == 0:
        raise ValueError("X has no rows; a model is evaluated on at least one.")
    y = column_or_1d(y)
    code = codes(model, y, rows.n_rows)
    n_classes = len(model.classes)
    z = model.scores(rows)
    chances = model.chances(z)
    by_class = class_scores(z, model.owners, n_classes)
    ranked = by_class[:, 1] - by_class[:, 0] if n_classes == 2 else chances  # probabilities tie where they are 0 or 1
    predicted = model.decide(z)
    resample = partial(bootstrap, code, np.random.default_rng(random_state))
    true_chance = np.clip(chances[np.arange(len(code)), code], 1e-15, 1.0)
    squares = ((chances - np.eye(n_classes)[code]) ** 2).sum(axis=1) / (1 if n_classes > 2 else 2)
    several = len(np.unique(code)) > 1
    return Evaluation(
        n_rows=len(code),
        classes=model.classes,
        is_training_data=model.was_trained_on(rows, y),
        accuracy=wilson(int((predicted == code).sum()), len(code)),
        balanced_accuracy=resample(lambda rows: _balanced_accuracy(code[rows], predicted[rows])),
        auc=resample(lambda rows: _roc_auc(code[rows], ranked[rows])) if several else None,
        log_loss=resample(lambda rows: float(-np.log(true_chance[rows]).mean())),
        brier=resample(lambda rows: float(squares[rows].mean())),
        frequent=float(np.bincount(code).max() / len(code)),
        confusion=confusion_matrix(code, predicted, labels=range(n_classes)),
        roc=roc_curve(code, ranked)[:2] if n_classes == 2 and several else None,
        mistakes=tuple(_mistakes(model, code, predicted, chances)),
        groups=tuple(groups_of(model, rows, predicted != code)),
    )


def _balanced_accuracy(code: np.ndarray, predicted: np.ndarray) -> float:
    return float(np.mean([(predicted[code == c] == c).mean() for c in np.unique(code)]))


def _roc_auc(code: np.ndarray, ranked: np.ndarray) -> float:
    """Area under the ROC curve from ranks; with more than two classes the mean of one against the rest."""
    areas = []
    for c in [1] if ranked.ndim == 1 else np.unique(code):
        rank = stats.rankdata(ranked if ranked.ndim == 1 else ranked[:, c])
        members = code == c
        n = int(members.sum())
        areas.append((rank[members].sum() - n * (n + 1) / 2) / (n * (len(code) - n)))
    return float(np.mean(areas))


def _mistakes(model: SMaLLModel, code: np.ndarray, predicted: np.ndarray, chances: np.ndarray) -> Iterator[Mistake]:
    """The errors in which the predicted class was most probable, the most probable first."""
    wrong = np.flatnonzero(predicted != code)
    confidence = chances[wrong, predicted[wrong]]
    for row in wrong[np.argsort(-confidence, kind="stable")][:MOST_ERRORS]:
        yield Mistake(
            row=int(row),
            truth=model.classes[code[row]],
            predicted=model.classes[predicted[row]],
            probability=float(chances[row, predicted[row]]),
        )
