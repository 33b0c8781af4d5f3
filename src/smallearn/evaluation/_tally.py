"""Scores of rows that come block by block: sums, the most confident errors, and whether they are the training rows."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from smallearn.evaluation._intervals import Interval, normal, wilson
from smallearn.evaluation._mistake import Mistake
from smallearn.model import SMaLLModel
from smallearn.model._fingerprint import Parts, hash_rows
from smallearn.model._rows import Rows

MOST_ERRORS = 10  # that are listed


class Tally:
    """What is counted and summed up of the rows. Intervals are normal approximations, in which each class has a fixed
    number of rows; that of the accuracy is Wilson's."""

    def __init__(self, model: SMaLLModel):
        self._model = model
        n_classes = len(model.classes)
        self.confusion = np.zeros((n_classes, n_classes), dtype=np.int64)
        self._losses, self._squares = np.zeros((2, n_classes)), np.zeros((2, n_classes))  # of each class
        self._mistakes: list[Mistake] = []

    def add(self, rows: Rows, code: np.ndarray, number: np.ndarray) -> None:
        """Add a block of rows, the position of each class, and the number of each row."""
        model = self._model
        n_classes = len(model.classes)
        z = model.scores(rows)
        chances, predicted = model.chances(z), model.decide(z)
        cells = np.bincount(code * n_classes + predicted, minlength=n_classes**2)
        self.confusion += cells.reshape(n_classes, n_classes)
        for sums, squares, loss in zip(self._losses, self._squares, losses(chances, code), strict=True):
            sums += np.bincount(code, weights=loss, minlength=n_classes)
            squares += np.bincount(code, weights=loss**2, minlength=n_classes)
        both = [*self._mistakes, *_mistakes(model, code, predicted, chances, number)]
        self._mistakes = sorted(both, key=lambda one: (-one.probability, one.row))[:MOST_ERRORS]

    def scores(self) -> dict[str, Any]:
        """Fields of an `Evaluation`."""
        sizes, hits = self.confusion.sum(axis=1), np.diag(self.confusion)
        n_rows, there = int(sizes.sum()), sizes > 0
        share = hits[there] / sizes[there]
        spread = np.sqrt(np.sum(share * (1.0 - share) / sizes[there])) / len(share)
        log_loss, brier = (self._mean(loss, sizes) for loss in zip(self._losses, self._squares, strict=True))
        return {
            "n_rows": n_rows,
            "accuracy": wilson(int(hits.sum()), n_rows),
            "balanced_accuracy": normal(float(share.mean()), float(spread), highest=1.0),
            "log_loss": log_loss,
            "brier": brier,
            "frequent": float(sizes.max() / n_rows),
            "confusion": self.confusion,
            "mistakes": tuple(self._mistakes),
        }

    def _mean(self, loss: tuple[np.ndarray, np.ndarray], sizes: np.ndarray) -> Interval:
        """The mean of a loss over all rows, from the sums of it and of its square."""
        sums, squares = loss
        n_rows, members = sizes.sum(), np.maximum(sizes, 1)
        variance = np.maximum(squares / members - (sums / members) ** 2, 0.0)
        return normal(float(sums.sum() / n_rows), float(np.sqrt(np.sum(sizes * variance)) / n_rows))


class Recognition:
    """Whether rows are those that a model was trained on."""

    def __init__(self, model: SMaLLModel):
        self._model = model
        self._left = 0 if model.data is None else sum(model.data.class_counts)
        self._parts = None if model.data is None else Parts(model.data.fingerprint)

    def add(self, rows: Any, code: np.ndarray) -> None:
        """Add a block of rows and the position of each class."""
        self._left -= len(code)
        if self._left < 0:
            self._parts = None
        if self._parts is not None:
            self._parts.add(hash_rows(self._model.features, self._model.n_features, rows, code))

    @property
    def is_training_data(self) -> bool:
        """Whether all rows together are the training rows."""
        if self._parts is None or self._left != 0 or self._model.data is None:
            return False
        return self._parts.fingerprint() == self._model.data.fingerprint


def losses(chances: np.ndarray, code: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The log loss and the Brier score of each row."""
    n_classes = chances.shape[1]
    true_chance = np.clip(chances[np.arange(len(code)), code], 1e-15, 1.0)
    squares = ((chances - np.eye(n_classes)[code]) ** 2).sum(axis=1) / (1 if n_classes > 2 else 2)
    return -np.log(true_chance), squares


def _mistakes(
    model: SMaLLModel, code: np.ndarray, predicted: np.ndarray, chances: np.ndarray, number: np.ndarray
) -> Iterator[Mistake]:
    """The errors in which the predicted class was most probable, the most probable first."""
    wrong = np.flatnonzero(predicted != code)
    confidence = chances[wrong, predicted[wrong]]
    for row in wrong[np.argsort(-confidence, kind="stable")][:MOST_ERRORS]:
        yield Mistake(
            row=int(number[row]),
            truth=model.classes[code[row]],
            predicted=model.classes[predicted[row]],
            probability=float(chances[row, predicted[row]]),
        )
