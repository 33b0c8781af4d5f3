"""How well a candidate model does on the held-out rows of one fold, by accuracy, log loss, costs or a scorer.

Training weighs the classes. Probabilities describe the data as they are, without these weights; the decision follows
the weights unless there is a threshold or a cost matrix.
"""

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from scipy import special
from sklearn.base import BaseEstimator, ClassifierMixin

from smallearn._learn.choose.thresholds import Sweep, counts_above
from smallearn._learn.data.problem import Problem
from smallearn._learn.solve.scoring import MOST_LOSS, blend, log_loss, right


class RowScores(NamedTuple):
    """The deciding score row by row, with the weight of each row; ``n_rows`` is how many rows these count for."""

    score: np.ndarray
    weight: np.ndarray
    n_rows: float


class Swept(NamedTuple):
    """The score at every threshold: what it is, the counts of `thresholds.counts_above`, and what is added to it where
    it decides."""

    sweep: Sweep
    above: np.ndarray
    besides: float


class FoldScore(NamedTuple):
    """The score of a candidate model on one fold: the one that is reported, and the one that decides.

    ``rows`` is None where the score is not a mean over rows, ``correct`` (which rows are classified correctly) where
    the score is not about that. Where the threshold is chosen with the model, the score depends on the other folds:
    then there is ``swept``, and the scores are NaN.
    """

    reported: float
    deciding: float
    rows: RowScores | None = None
    correct: np.ndarray | None = None
    swept: Swept | None = None


@dataclass(frozen=True)
class Scorer:
    """A scorer of scikit-learn's. ``takes_weights``: scikit-learn's metrics take `sample_weight`; a custom function
    might not, and does not receive it. ``sweep``: the same score by threshold, if that is to be chosen too.
    ``with_loss``: the rarer one of two classes is, the larger the share of the log loss in what decides, for few rows
    of a class cannot tell models apart."""

    name: str
    function: Any
    takes_weights: bool
    sweep: Sweep | None = None
    with_loss: bool = False

    def __call__(self, estimator: "_Scored", X, y: np.ndarray, weight: np.ndarray) -> float:
        weights = {"sample_weight": weight} if self.takes_weights else {}
        return float(self.function(estimator, X, y, **weights))


@dataclass(frozen=True)
class CostScore:
    """The mean cost of the predictions, times -1. ``matrix`` has the costs, true × predicted classes."""

    matrix: tuple[tuple[float, ...], ...]
    name = "negative mean cost"


Scoring = Literal["accuracy", "neg_log_loss"] | Scorer | CostScore | None
"""None: accuracy is reported, accuracy less a share of the log loss decides."""


def metric_name(scoring: Scoring) -> str:
    """The name of the reported score."""
    return scoring.name if isinstance(scoring, Scorer | CostScore) else scoring or "accuracy"


def compared(decision: np.ndarray, problem: Problem, scoring: Scoring, threshold: float | None) -> np.ndarray:
    """What decides between the classes, from the class scores of training (both m × classes): the highest wins.

    ``threshold`` is a probability of the second of two classes; None: the decision is that of the weighted classes.
    """
    if threshold is not None:
        cut = problem.class_offsets[1] - problem.class_offsets[0] + special.logit(threshold)
        return decision - np.array([0.0, cut])
    if isinstance(scoring, CostScore):
        return -special.softmax(decision - problem.class_offsets, axis=1) @ np.array(scoring.matrix)
    return decision


def score_fold(
    scoring: Scoring, decision: np.ndarray, held_out: Problem, n_rows: float, threshold: float | None = None
) -> FoldScore:
    """The score of class scores ``decision`` (m × classes) on held-out rows, which count for ``n_rows`` rows.

    ``threshold`` is that of `compared`, if it is not chosen with the model.
    """
    best = compared(decision, held_out, scoring, threshold)
    if isinstance(scoring, Scorer):
        shown = decision - held_out.class_offsets
        besides = -_share_of_loss(shown, held_out) if scoring.with_loss else 0.0
        if scoring.sweep is not None:
            weight = held_out.sample_weight if scoring.takes_weights else np.ones(len(shown))
            above = counts_above(shown[:, 1] - shown[:, 0], held_out.code, weight)
            return FoldScore(reported=np.nan, deciding=np.nan, swept=Swept(scoring.sweep, above, besides))
        labels = held_out.classes[held_out.code]
        value = scoring(_Scored(shown, best, held_out.classes), held_out.X, labels, held_out.sample_weight)
        return FoldScore(reported=value, deciding=value + besides)
    # All held-out rows may belong to a class of weight 0.
    by_class = held_out.loss_weight if held_out.loss_weight.any() else held_out.sample_weight
    weight, class_weight = held_out.sample_weight / held_out.sample_weight.sum(), by_class / by_class.sum()
    correct = right(best, held_out.code)
    if scoring is None:  # the deciding score follows class_weight, as training does
        each = blend(decision, held_out.code, correct)
        return FoldScore(
            reported=_mean(weight, correct),
            deciding=_mean(class_weight, each),
            rows=RowScores(score=each.astype(np.float32), weight=class_weight, n_rows=n_rows),
            correct=correct,
        )
    if scoring == "accuracy":
        value, each, counted = _mean(weight, correct), correct.astype(np.float32), correct
    elif isinstance(scoring, CostScore):
        cost = np.array(scoring.matrix)[held_out.code, best.argmax(axis=1)]
        value, each, counted = -_mean(weight, cost), -cost.astype(np.float32), None
    else:
        loss = log_loss(decision - held_out.class_offsets, held_out.code)
        value, each, counted = -_mean(weight, loss), -loss.astype(np.float32), None
    return FoldScore(
        reported=value, deciding=value, rows=RowScores(score=each, weight=weight, n_rows=n_rows), correct=counted
    )


def _share_of_loss(decision: np.ndarray, held_out: Problem) -> float:
    """The mean log loss of two classes, relative to that of their frequencies, times ``1 - 2 f`` with f that of the
    rarer class: nothing if both are as frequent, all of it if one is very rare."""
    weight = held_out.sample_weight / held_out.sample_weight.sum()
    frequency = np.bincount(held_out.code, weights=weight, minlength=2)
    known = float(special.entr(frequency).sum())
    loss = np.minimum(log_loss(decision, held_out.code), MOST_LOSS)
    return (1.0 - 2.0 * float(frequency.min())) * _mean(weight, loss) / known if known > 0.0 else 0.0


def _mean(weight: np.ndarray, values: np.ndarray) -> float:
    """The weighted mean, for weights that sum to 1. Not by BLAS, which starts threads for it."""
    return float(np.sum(weight * values))


class _Scored(ClassifierMixin, BaseEstimator):
    """Known class scores behind the interface of a fitted classifier, for scikit-learn's scorers.

    ``best`` is what decides between the classes.
    """

    def __init__(self, decision: np.ndarray, best: np.ndarray, classes: np.ndarray):
        self._decision, self._best, self.classes_ = decision, best, classes

    def decision_function(self, X) -> np.ndarray:
        return self._decision[:, 1] - self._decision[:, 0] if len(self.classes_) == 2 else self._decision

    def predict_proba(self, X) -> np.ndarray:
        return special.softmax(self._decision, axis=1)

    def predict(self, X) -> np.ndarray:
        return self.classes_[self._best.argmax(axis=1)]  # argmax gives a tie to the first
