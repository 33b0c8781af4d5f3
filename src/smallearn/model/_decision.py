"""The rule of every model, written once.

A prototype's score is its constant plus the sum of its terms, ``z = intercept + Σ weight · b``, in the order of the
terms. A class's score is the highest of its prototypes' scores, and the class with the highest score is predicted.
Of two classes, one may own all prototypes; then the other scores 0. Ties go to the first class.

A decision threshold or a cost matrix moves the decision and nothing else: `Decision`.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from smallearn.model._columns import all_finite
from smallearn.model._parts import Prototype, Term

# Sums and maxima over short rows are slow, so that few columns are kept one after the other in memory. Up to this many
# numbers numpy adds up in the same order, wherever they are.
FEW_CLASSES = 7
LARGEST = 1e300  # of what is compared with scores, which are finite
Factor = Callable[[Term], Any]  # what a term's weight is multiplied by: a number, or an array with one for each row
Costs = tuple[tuple[float, ...], ...]  # of predicting one class (column) where another is true (row)


class Decision(NamedTuple):
    """What the scores of the classes are compared by.

    Parameters
    ----------
    cut : float, default=0.0
        If one of two classes owns all prototypes, the score of the other: the owner is predicted above it (from it on,
        if it is the first class).
    offsets : tuple of float or None, default=None
        Otherwise, what is added to the score of each class before the highest wins.
    costs : tuple of tuple of float or None, default=None
        With more classes, costs by true and predicted class: the least expected cost wins.
    scale : float, default=1.0
        Log-odds of one point of score, for the probabilities in expected costs.
    """

    cut: float = 0.0
    offsets: tuple[float, ...] | None = None
    costs: Costs | None = None
    scale: float = 1.0


HIGHEST = Decision()  # the highest score wins


def decision_of(threshold: float, costs: Costs | None, owner: int | None, scale: float) -> Decision:
    """The decision at a threshold, a probability of the second of two classes, or for the costs of more classes.

    ``owner`` is the class that owns all prototypes, if one does. Costs that depend on the true class alone need no
    probabilities: they only add to the scores.
    """
    if costs is None:
        if threshold == 0.5:
            return HIGHEST
        cut = max(-LARGEST, min(math.log(threshold / (1.0 - threshold)) / scale, LARGEST))
        if owner is None:
            return Decision(offsets=(min(cut, 0.0), min(-cut, 0.0)))
        return Decision(cut=cut if owner == 1 else -cut)
    errors = [{row[k] - row[i] for k in range(len(row)) if k != i} for i, row in enumerate(costs)]
    weights = [max(error) for error in errors]
    if any(len(error) > 1 for error in errors) or min(weights) <= 0.0:
        return Decision(costs=costs, scale=scale)
    offsets = (math.log(weight / max(weights)) / scale for weight in weights)
    return Decision(offsets=tuple(max(-LARGEST, offset) for offset in offsets))


def cost_threshold(costs: Costs) -> float:
    """The threshold on the probability of the second of two classes above which predicting it costs less.

    ValueError if the costs leave nothing to decide: an error must cost more than the right answer, for both classes.
    """
    wrong_second, wrong_first = costs[0][1] - costs[0][0], costs[1][0] - costs[1][1]
    total = wrong_second + wrong_first
    threshold = wrong_second / total if wrong_second > 0.0 and wrong_first > 0.0 else math.nan
    if not 0.0 < threshold < 1.0:
        raise ValueError("an error costs no more than the right answer, so that one class is always cheaper")
    return threshold


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


def sole_owner(owners: Sequence[int], n_classes: int) -> int | None:
    """The class that owns all prototypes, of two; None if every class owns some."""
    return owners[0] if n_classes == 2 and len(set(owners)) == 1 else None


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
    """How far each class is above the best of the others, by score or as `compared`; both rows × classes."""
    return best - np.stack([np.delete(best, label, axis=1).max(axis=1) for label in range(best.shape[1])], axis=1)


def compared(z: np.ndarray, owners: Sequence[int], n_classes: int, decision: Decision = HIGHEST) -> np.ndarray:
    """What decides between the classes, rows × classes: the highest wins. Scores in points, or expected costs below 0.

    From the scores of the prototypes (rows × prototypes).
    """
    best = class_scores(z, owners, n_classes)
    owner = sole_owner(owners, n_classes)
    if owner is not None:
        best[:, 1 - owner] = decision.cut
    elif decision.offsets is not None:
        best += np.array(decision.offsets)
    elif decision.costs is not None:
        with np.errstate(over="ignore"):
            chance = np.exp(decision.scale * (best - best.max(axis=1, keepdims=True)))
        best = -sum(chance[:, [i]] * np.array(row) for i, row in enumerate(decision.costs))
    return best


def decide(z: np.ndarray, owners: Sequence[int], n_classes: int, decision: Decision = HIGHEST) -> np.ndarray:
    """The position of the predicted class, from the scores of the prototypes (rows × prototypes)."""
    best = compared(z, owners, n_classes, decision)
    code = np.zeros(len(z), dtype=np.intp)
    top = best[:, 0]
    for label in range(1, n_classes):
        np.maximum(code, label * (best[:, label] > top), out=code)  # a tie goes to the first
        top = np.maximum(top, best[:, label])
    return code


def winners(z: np.ndarray, owners: Sequence[int], decision: Decision = HIGHEST) -> np.ndarray:
    """The position of the prototype with the highest score, for each row; at a tie one of the first class.

    With offsets or costs, of those of the predicted class.
    """
    order = np.argsort(owners, kind="stable")
    if decision.offsets is not None:  # rounded as where the class is decided
        z = z + np.array(decision.offsets)[list(owners)]
    elif decision.costs is not None:
        code = decide(z, owners, 1 + max(owners), decision)
        z = np.where(np.asarray(owners) == code[:, None], z, -np.inf)
    return order[z[:, order].argmax(axis=1)]


def finite(z: np.ndarray) -> np.ndarray:
    """The scores; ValueError if one of them overflowed."""
    if not all_finite(z):
        raise ValueError("The scores overflow: X has values far beyond those that the model was trained on.")
    return z
