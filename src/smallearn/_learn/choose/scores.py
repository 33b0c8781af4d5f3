"""How well a candidate model does on the held-out rows of one fold, by accuracy, log loss or a scorer."""

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from scipy import special
from sklearn.base import BaseEstimator, ClassifierMixin

from smallearn._learn.data.problem import Problem
from smallearn._learn.solve.scoring import blend, log_loss, right


class RowScores(NamedTuple):
    """The deciding score row by row, with the weight of each row; ``n_rows`` is how many rows these count for."""

    score: np.ndarray
    weight: np.ndarray
    n_rows: float


class FoldScore(NamedTuple):
    """The score of a candidate model on one fold: the one that is reported, and the one that decides.

    ``rows`` is None where the score is not a mean over rows, ``correct`` (which rows are classified correctly) where
    the score is not about that.
    """

    reported: float
    deciding: float
    rows: RowScores | None = None
    correct: np.ndarray | None = None


@dataclass(frozen=True)
class Scorer:
    """A scorer of scikit-learn's. ``takes_weights``: those known by name take `sample_weight`; a custom function might
    not, and does not receive it."""

    name: str
    function: Any
    takes_weights: bool

    def __call__(self, estimator: "_Scored", X, y: np.ndarray, weight: np.ndarray) -> float:
        weights = {"sample_weight": weight} if self.takes_weights else {}
        return float(self.function(estimator, X, y, **weights))


Scoring = Literal["accuracy", "neg_log_loss"] | Scorer | None
"""None: accuracy is reported, accuracy less a share of the log loss decides."""


def metric_name(scoring: Scoring) -> str:
    """The name of the reported score."""
    return scoring.name if isinstance(scoring, Scorer) else scoring or "accuracy"


def score_fold(scoring: Scoring, decision: np.ndarray, held_out: Problem, n_rows: float) -> FoldScore:
    """The score of class scores ``decision`` (m × classes) on held-out rows, which count for ``n_rows`` rows."""
    if isinstance(scoring, Scorer):
        labels = held_out.classes[held_out.code]
        value = scoring(_Scored(decision, held_out.classes), held_out.X, labels, held_out.sample_weight)
        return FoldScore(reported=value, deciding=value)
    weight, class_weight = held_out.shares
    correct = right(decision, held_out.code)
    if scoring is None:  # the deciding score follows class_weight, as training does
        each = blend(correct, decision, held_out.code)
        return FoldScore(
            reported=_mean(weight, correct),
            deciding=_mean(class_weight, each),
            rows=RowScores(score=each.astype(np.float32), weight=class_weight, n_rows=n_rows),
            correct=correct,
        )
    if scoring == "accuracy":
        value, each, counted = _mean(weight, correct), correct.astype(np.float32), correct
    else:
        loss = log_loss(decision, held_out.code)
        value, each, counted = -_mean(weight, loss), -loss.astype(np.float32), None
    return FoldScore(
        reported=value, deciding=value, rows=RowScores(score=each, weight=weight, n_rows=n_rows), correct=counted
    )


def _mean(weight: np.ndarray, values: np.ndarray) -> float:
    """The weighted mean, for weights that sum to 1. Not by BLAS, which starts threads for it."""
    return float(np.sum(weight * values))


class _Scored(ClassifierMixin, BaseEstimator):
    """Known class scores behind the interface of a fitted classifier, for scikit-learn's scorers."""

    def __init__(self, decision: np.ndarray, classes: np.ndarray):
        self._decision, self.classes_ = decision, classes

    def decision_function(self, X) -> np.ndarray:
        return self._decision[:, 1] - self._decision[:, 0] if len(self.classes_) == 2 else self._decision

    def predict_proba(self, X) -> np.ndarray:
        return special.softmax(self._decision, axis=1)

    def predict(self, X) -> np.ndarray:
        return self.classes_[self._decision.argmax(axis=1)]  # argmax gives a tie to the first
