"""How good a model's answers are."""

import numpy as np
from sklearn.metrics import log_loss, recall_score, roc_auc_score

BINS = 10  # of the calibration error
LEAST = 1e-6  # probability that the log loss takes for 0

METRICS = {  # column of the results → its title, and whether more of it is better
    "accuracy": ("Accuracy, %", True),
    "balanced_accuracy": ("Balanced accuracy, %", True),
    "auc": ("AUC, %", True),
    "log_loss": ("Log loss", False),
    "calibration_error": ("Expected calibration error, %", False),
}


def metrics(y: np.ndarray, labels: np.ndarray, probability: np.ndarray) -> dict[str, float]:
    """The metrics of predicted labels and of probabilities, rows × classes."""
    return {
        "accuracy": float(np.mean(labels == y)),
        "balanced_accuracy": float(recall_score(y, labels, labels=np.unique(y), average="macro", zero_division=0.0)),
        "auc": auc(y, probability),
        "log_loss": loss(y, probability),
        "calibration_error": calibration_error(y, probability),
    }


def auc(y: np.ndarray, probability: np.ndarray) -> float:
    """The area under the ROC curve; with several classes the mean of each class against the others."""
    if probability.shape[1] == 2:
        return float(roc_auc_score(y, probability[:, 1]))
    return float(np.mean([roc_auc_score(y == label, probability[:, label]) for label in np.unique(y)]))


def loss(y: np.ndarray, probability: np.ndarray) -> float:
    """The log loss; no probability counts as less than one in a million."""
    p = np.clip(probability, LEAST, 1.0 - LEAST)
    return float(log_loss(y, p / p.sum(axis=1, keepdims=True), labels=np.arange(p.shape[1])))


def calibration_error(y: np.ndarray, probability: np.ndarray) -> float:
    """How far the probability of the likeliest class is from how often it is right: the mean over ten equal bins."""
    likeliest = probability.argmax(axis=1)
    confidence = probability.max(axis=1)
    off = confidence - (likeliest == y)
    bins = np.minimum((confidence * BINS).astype(int), BINS - 1)
    return float(np.abs(np.bincount(bins, weights=off, minlength=BINS)).sum() / len(y))
