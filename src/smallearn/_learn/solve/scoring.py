"""What the scores of the prototypes say of each row: the class, whether it is right, and how sure.

The objective sums over prototypes, which makes it smooth and an upper bound; a model is used by the greatest score, and
where models are compared, that is what counts.
"""

import numpy as np
from scipy import special

LOSS_SHARE = 0.2  # of the log-loss in the blend: it tells apart what accuracy on few rows cannot
MOST_LOSS = 30.0  # of a row: one that is wrong beyond measure should not outweigh all others


def right(decision: np.ndarray, code: np.ndarray) -> np.ndarray:
    """Which rows are given to their class; a tie goes to the first."""
    return decision.argmax(axis=1) == code


def log_loss(decision: np.ndarray, code: np.ndarray) -> np.ndarray:
    """Of each row, by the softmax of the class scores."""
    if decision.shape[1] == 2:
        margin = decision[:, 1] - decision[:, 0]
        return np.logaddexp(0.0, np.where(code == 1, -margin, margin))
    return special.logsumexp(decision, axis=1) - decision[np.arange(len(decision)), code]


def blend(decision: np.ndarray, code: np.ndarray) -> np.ndarray:
    """Of each row: 1 if it is right, less a share of its log-loss."""
    return right(decision, code) - LOSS_SHARE * np.minimum(log_loss(decision, code), MOST_LOSS)
