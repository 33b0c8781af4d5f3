"""Scores of a model on labelled rows, and the errors it makes there."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from scipy import stats
from sklearn.metrics import roc_curve
from sklearn.utils.validation import column_or_1d

from smallearn._text import count, show
from smallearn.evaluation._groups import Group, groups_of
from smallearn.evaluation._intervals import MOST_RESAMPLED, Interval, bootstrap, normal
from smallearn.evaluation._mistake import Mistake
from smallearn.evaluation._tally import Recognition, Tally, losses
from smallearn.model import SMaLLModel
from smallearn.model._arguments import as_model, codes, read_rows
from smallearn.model._decision import class_scores

DRAWN = "rows drawn at random"


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
    n_sampled : int or None, default=None
        The number of rows, drawn at random, that ``auc``, ``roc`` and ``groups`` are of; None for all rows.
    is_held_out : bool, default=False
        Whether the rows are known to be those that were held out from training.

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
    n_sampled: int | None = None
    is_held_out: bool = False

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
        sample = () if self.n_sampled is None else (f"ROC AUC and groups are those of {self.n_sampled:,} {DRAWN}.",)
        return (*self._verdict(as_model(model), rows), *sample)

    def _verdict(self, model: SMaLLModel, rows: str) -> tuple[str, ...]:
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
        if self.is_held_out:
            sentences.append("These are the rows of the table that were held out from training.")
        elif model.data is not None and model.data.fingerprint:
            sentences.append("This is not the training table. Some rows may appear in both tables.")
        if self.accuracy.value <= self.frequent:
            sentences.append("Always guessing the most common class would be at least as accurate.")
        return tuple(sentences)


def evaluate(model: SMaLLModel, X: Any, y: Any, *, random_state: int = 0) -> Evaluation:
    """Score a model on labelled rows.

    Intervals are 95% confidence intervals: Wilson's for the accuracy, the stratified percentile bootstrap for the
    other scores. With more than 50,000 rows normal approximations take the place of the bootstrap, DeLong's for the
    area under the ROC curve.

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
    n_classes, several = len(model.classes), len(np.unique(code)) > 1
    tally = Tally(model)
    tally.add(rows, code, np.arange(len(code)))
    z = model.scores(rows)
    chances, predicted = model.chances(z), model.decide(z)
    by_class = class_scores(z, model.owners, n_classes)
    ranked = by_class[:, 1] - by_class[:, 0] if n_classes == 2 else chances  # probabilities tie where they are 0 or 1
    scores = tally.scores()
    if len(code) > MOST_RESAMPLED:
        scores["auc"] = _roc_auc_of_many(code, ranked) if several else None
    else:
        resample = partial(bootstrap, code, np.random.default_rng(random_state))
        log_loss, brier = losses(chances, code)
        scores["balanced_accuracy"] = resample(lambda rows: _balanced_accuracy(code[rows], predicted[rows]))
        scores["auc"] = resample(lambda rows: _roc_auc(code[rows], ranked[rows])) if several else None
        scores["log_loss"] = resample(lambda rows: float(log_loss[rows].mean()))
        scores["brier"] = resample(lambda rows: float(brier[rows].mean()))
    return Evaluation(
        **scores,
        classes=model.classes,
        is_training_data=model.was_trained_on(rows, y),
        roc=roc_curve(code, ranked)[:2] if n_classes == 2 and several else None,
        groups=tuple(groups_of(model, rows, predicted != code)),
    )


class RunningEvaluation:
    """An evaluation of rows that come block by block, for tables that need not fit in memory."""

    def __init__(self, model: SMaLLModel):
        self._model = model
        self._tally, self._recognition = Tally(model), Recognition(model)

    def add(self, X: Any, code: np.ndarray, number: np.ndarray) -> None:
        """Add a block of rows, the position of each class, and the number of each row."""
        rows = read_rows(self._model, X)
        self._tally.add(rows, code, number)
        self._recognition.add(rows, code)

    def with_sample(self, X: Any, y: Any) -> Evaluation:
        """The scores of all rows; what needs them all at once is of a random sample: ``X`` and ``y``."""
        return replace(
            evaluate(self._model, X, y),
            **self._tally.scores(),
            is_training_data=self._recognition.is_training_data,
            n_sampled=len(y),
        )


def _balanced_accuracy(code: np.ndarray, predicted: np.ndarray) -> float:
    return float(np.mean([(predicted[code == c] == c).mean() for c in np.unique(code)]))


def _roc_auc_of_many(code: np.ndarray, ranked: np.ndarray) -> Interval:
    """As `_roc_auc`, with DeLong's interval: what each row adds to the areas tells how much they vary."""
    influence, areas = np.zeros(len(code)), []
    for c in [1] if ranked.ndim == 1 else np.unique(code):
        score = ranked if ranked.ndim == 1 else ranked[:, c]
        members, others = np.flatnonzero(code == c), np.flatnonzero(code != c)
        above = _share_below(score[members], score[others])  # of the others, those that a member scores above
        influence[members] += above / len(members)
        influence[others] += (1.0 - _share_below(score[others], score[members])) / len(others)
        areas.append(float(above.mean()))
    influence /= len(areas)
    variance = sum(float(influence[code == c].var()) * int(np.sum(code == c)) for c in np.unique(code))
    return normal(float(np.mean(areas)), float(np.sqrt(variance)), highest=1.0)


def _share_below(values: np.ndarray, others: np.ndarray) -> np.ndarray:
    """The share of the others below each value; those that are equal count half."""
    others = np.sort(others)
    return (np.searchsorted(others, values, "left") + np.searchsorted(others, values, "right")) / (2.0 * len(others))


def _roc_auc(code: np.ndarray, ranked: np.ndarray) -> float:
    """Area under the ROC curve from ranks; with more than two classes the mean of one against the rest."""
    areas = []
    for c in [1] if ranked.ndim == 1 else np.unique(code):
        rank = stats.rankdata(ranked if ranked.ndim == 1 else ranked[:, c])
        members = code == c
        n = int(members.sum())
        areas.append((rank[members].sum() - n * (n + 1) / 2) / (n * (len(code) - n)))
    return float(np.mean(areas))
