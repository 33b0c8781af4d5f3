"""A model in as few digits as leave every decision on given rows as it is."""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from smallearn.explain.rows import Rows
from smallearn.model import Prototype, SMaLLModel, Term

MOST_DIGITS = 17  # that tell one float64 from the next
MOST_POINTS = 100  # of a literal, when the weights become whole numbers


def rounded(model: SMaLLModel, X: Any) -> SMaLLModel:
    """The model in fewer digits, with the same decision on every row of ``X``.

    Weights and constants of a model of literals become whole points, the smallest that will do; otherwise they, and
    cut points in any case, get as few significant digits as will do: one digit fewer in any of them would change a
    decision. Probabilities are not kept: they move with the weights.
    """
    rows = Rows(model, X)
    before = rows.decisions(model.prototypes)

    def unchanged(candidate: SMaLLModel) -> bool:
        return bool(np.array_equal(rows.decisions(candidate.prototypes), before))

    card = model if model.is_score_card else _in_points(model, unchanged)
    return _in_digits(model, unchanged, weights=True) if card is None else _in_digits(card, unchanged, weights=False)


def _in_points(model: SMaLLModel, unchanged: Callable[[SMaLLModel], bool]) -> SMaLLModel | None:
    """Whole numbers in proportion to the weights, the smallest that will do."""
    greatest = max((abs(term.weight) for term in model.terms), default=0.0)
    if greatest == 0.0 or any(term.kind == "raw" for term in model.terms):
        return None
    for most in range(1, MOST_POINTS + 1):
        factor = most / greatest
        prototypes = tuple(
            Prototype(
                prototype.owner,
                float(round(factor * prototype.intercept)),
                tuple(replace(term, weight=float(round(factor * term.weight))) for term in prototype.terms),
            )
            for prototype in model.prototypes
        )
        if any(term.weight == 0.0 for prototype in prototypes for term in prototype.terms):
            continue
        candidate = replace(model, prototypes=prototypes, scale=model.scale / factor)
        if unchanged(candidate):
            return candidate
    return None


def _in_digits(model: SMaLLModel, unchanged: Callable[[SMaLLModel], bool], weights: bool) -> SMaLLModel:
    """The fewest digits that all numbers can have alike, and then fewer for one after the other."""
    n_numbers = _Digits(model, weights, []).count()
    alike = next(d for d in range(1, MOST_DIGITS + 1) if unchanged(_Digits(model, weights, [d] * n_numbers).model()))
    digits = [alike] * n_numbers
    moved = True
    while moved:
        moved = False
        for i in range(n_numbers):
            while digits[i] > 1:
                digits[i] -= 1
                if not unchanged(_Digits(model, weights, digits).model()):
                    digits[i] += 1
                    break
                moved = True
    return _Digits(model, weights, digits).model()


class _Digits:
    """The numbers of a model, in order, each in so many digits: constants and weights if wanted, and cut points."""

    def __init__(self, model: SMaLLModel, weights: bool, digits: list[int]):
        self.source, self.weights, self.left = model, weights, iter(digits)

    def count(self) -> int:
        self.left = iter([MOST_DIGITS] * (2 * len(self.source.terms) + len(self.source.prototypes)))
        self.model()
        return 2 * len(self.source.terms) + len(self.source.prototypes) - len(list(self.left))

    def model(self) -> SMaLLModel:
        prototypes = tuple(
            Prototype(one.owner, self._weight(one.intercept), tuple(self._term(term) for term in one.terms))
            for one in self.source.prototypes
        )
        return replace(self.source, prototypes=prototypes)

    def _term(self, term: Term) -> Term:
        weight = self._weight(term.weight)
        cut = term.kind in ("at_most", "above")
        return replace(term, weight=weight, value=significant(term.value, next(self.left)) if cut else term.value)

    def _weight(self, number: float) -> float:
        return significant(number, next(self.left)) if self.weights else number


def significant(number: Any, digits: int) -> float:
    """The number in so many significant digits."""
    return float(f"{float(number):.{digits - 1}e}") if math.isfinite(number) else float(number)
