"""How good the class scores of each row are: whether the predicted class is right, and the log loss.

The objective sums over prototypes, which makes it smooth and an upper bound. A model predicts by the greatest score, so
models are compared by that.
"""

import numpy as np
from scipy import special

LOSS_SHARE = 0.2  # of the log loss in the blend: it separates models that accuracy on few rows cannot
MOST_LOSS = 30.0  # of one row: a single extreme row should not outweigh all others


def right(decision: np.ndarray, code: np.ndarray) -> np.ndarray:
    """Which rows are classified correctly; ties go to the first class."""
    return decision.argmax(axis=1) == code


def log_loss(decision: np.ndarray, code: np.ndarray) -> np.ndarray:
    """The log loss of each row, by the softmax of the class scores."""
    if decision.shape[1] == 2:
        margin = decision[:, 1] - decision[:, 0]
        return np.logaddexp(0.0, np.where(code == 1, -margin, margin))
    return special.logsumexp(decision, axis=1) - decision[np.arange(len(decision)), code]


def blend(decision: np.ndarray, code: np.ndarray, correct: np.ndarray | None = None) -> np.ndarray:
    """For each row: 1 if it is classified correctly, minus a share of its log loss.

    ``correct`` says which are, if the class with the highest score is not the one that is predicted.
    """
    correct = right(decision, code) if correct is None else correct
    return correct - LOSS_SHARE * np.minimum(log_loss(decision, code), MOST_LOSS)
