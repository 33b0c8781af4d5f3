"""The rule of every model, written once.

A prototype's score is its constant plus the sum of its terms, ``z = intercept + Σ weight · b``, in the order of the
terms. A class's score is the highest of its prototypes' scores, and the class with the highest score is predicted.
With two classes, one of them owns all prototypes and the other scores 0. Ties go to the first class.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from smallearn.model._columns import all_finite
from smallearn.model._parts import Prototype, Term

# Sums and maxima over short rows are slow, so that few columns are kept one after the other in memory. Up to this many
# numbers numpy adds up in the same order, wherever they are.
FEW_CLASSES = 7
Factor = Callable[[Term], Any]  # what a term's weight is multiplied by: a number, or an array with one for each row


def contributions(prototype: Prototype, factor: Factor) -> Iterator[Any]:
    """What each term adds to the score, in the order of the terms."""
    return (term.weight * factor(term) for term in prototype.terms)


def score(prototype: Prototype, factor: Factor) -> Any:
    """``intercept + Σ weight · b``: a number, or an array if the factors are arrays."""
    total: Any = prototype.intercept
    for added in contributions(prototype, factor):
        total = total + added
    return total


def scores(prototypes: Sequence[Prototype], factor: Factor, n_rows: int) -> np.ndarray:
    """The score of every prototype on every row, rows × prototypes."""
    z = np.empty((n_rows, len(prototypes)), order="F")
    with np.errstate(over="ignore", invalid="ignore"):
        for j, prototype in enumerate(prototypes):
            total = z[:, j]
            total[:] = prototype.intercept
            for added in contributions(prototype, factor):
                total += added
    return finite(z)


def class_scores(z: np.ndarray, owners: Sequence[int] | np.ndarray, n_classes: int) -> np.ndarray:
    """The score of each class, rows × classes: the highest of its prototypes' scores, 0 for a class without any."""
    best = np.zeros((len(z), n_classes), order="F" if n_classes <= FEW_CLASSES else "C")
    seen = set()
    for j, label in enumerate(np.asarray(owners).tolist()):
        if label in seen:
            np.maximum(best[:, label], z[:, j], out=best[:, label])
        else:
            best[:, label] = z[:, j]
        seen.add(label)
    return best


def leads(best: np.ndarray) -> np.ndarray:
    """How far the score of each class is above the best score of the other classes, both rows × classes."""
    return best - np.stack([np.delete(best, label, axis=1).max(axis=1) for label in range(best.shape[1])], axis=1)


def decide(z: np.ndarray, owners: Sequence[int], n_classes: int) -> np.ndarray:
    """The position of the predicted class, from the scores of the prototypes (rows × prototypes)."""
    best = class_scores(z, owners, n_classes)
    code = np.zeros(len(z), dtype=np.intp)
    top = best[:, 0]
    for label in range(1, n_classes):
        np.maximum(code, label * (best[:, label] > top), out=code)  # a tie goes to the first
        top = np.maximum(top, best[:, label])
    return code


def winners(z: np.ndarray, owners: Sequence[int]) -> np.ndarray:
    """The position of the prototype with the highest score, for each row; at a tie one of the first class."""
    order = np.argsort(owners, kind="stable")
    return order[z[:, order].argmax(axis=1)]


def finite(z: np.ndarray) -> np.ndarray:
    """The scores; ValueError if one of them overflowed."""
    if not all_finite(z):
        raise ValueError("The scores overflow: X has values far beyond those that the model was trained on.")
    return z
