"""A model in as few digits as leave every decision on given rows as it is."""

import decimal
import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from smallearn.model import Prototype, SMaLLModel, Term
from smallearn.model._columns import Rows
from smallearn.model._rows import as_model, read_rows
from smallearn.model._rule import decide, scores

MOST_DIGITS = 17  # that tell one float64 from the next
MOST_POINTS = 100  # of a literal, when the weights become whole numbers


def rounded(model: Any, X: Any) -> SMaLLModel:
    """The model in fewer digits, with the same decision on every row of ``X``.

    Weights and constants of a model of literals become whole points, the smallest that will do, if 100 for a literal
    are enough; otherwise they, and in any case cut points and what stands in for values that these rows lack, get as
    few significant digits as will do: any of them rounded to fewer would change a decision. Probabilities are not
    kept: they move with the weights.
    """
    model = as_model(model)
    rows = read_rows(model, X)
    if rows.n_rows == 0:
        raise ValueError("There are no rows on which decisions could be kept.")
    before = _decisions(model, rows)

    def unchanged(candidate: SMaLLModel) -> bool:
        try:
            return bool(np.array_equal(_decisions(candidate, rows), before))
        except ValueError:  # a number that was rounded up overflows
            return False

    card = model if model.is_score_card else _in_points(model, unchanged)
    shown, short = None, model if card is None else card
    while shown != short:  # what is shown is to be as short as it can be, not only what it was rounded from
        shown, short = short, _in_digits(_Numbers(short, rows, weights=card is None), unchanged)
    return short


def _decisions(model: SMaLLModel, rows: Rows) -> np.ndarray:
    return decide(scores(model.prototypes, rows.factor, rows.n_rows), model.owners, len(model.classes))


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


def _in_digits(numbers: "_Numbers", unchanged: Callable[[SMaLLModel], bool]) -> SMaLLModel:
    """The fewest digits that all numbers can have alike, and then fewer for one after the other."""
    alike = next(d for d in range(1, MOST_DIGITS + 1) if unchanged(numbers.rounded([d] * numbers.count)))
    digits = [alike] * numbers.count
    moved = True
    while moved:
        moved = False
        for i in range(numbers.count):
            fewer = ([*digits[:i], d, *digits[i + 1 :]] for d in range(1, digits[i]))
            found = next((tried for tried in fewer if unchanged(numbers.rounded(tried))), None)
            if found is not None:
                digits, moved = found, True
    return numbers.rounded(digits)


class _Numbers:
    """The numbers of a model, in order: constants and weights if wanted, cut points, and what stands in for gaps."""

    def __init__(self, model: SMaLLModel, rows: Rows, weights: bool):
        self.model, self.rows, self.weights = model, rows, weights
        others = sum(_is_cut(term) or rows.fills_gaps(term) for term in model.terms)
        self.count = others + (len(model.prototypes) + len(model.terms) if weights else 0)

    def rounded(self, digits: list[int]) -> SMaLLModel:
        """The model with each of its numbers in so many digits."""
        left = iter(digits)

        def weight(number: float) -> float:
            return significant(number, next(left)) if self.weights else number

        def term_of(term: Term) -> Term:
            term = replace(term, weight=weight(term.weight))
            if self.rows.fills_gaps(term):
                return replace(term, mean=significant(term.mean, next(left)))
            return self._cut(term, next(left)) if _is_cut(term) else term

        prototypes = tuple(
            Prototype(one.owner, weight(one.intercept), tuple(term_of(term) for term in one.terms))
            for one in self.model.prototypes
        )
        return replace(self.model, prototypes=prototypes)

    def _cut(self, term: Term, digits: int) -> Term:
        """The cut point in so many digits: up or down, where one of them parts the rows as before; else the nearest."""
        found = [replace(term, value=value) for value in _nearby(float(term.value), digits)]  # type: ignore[arg-type]
        same = [one for one in found if np.array_equal(self.rows.factor(one), self.rows.factor(term))]
        return (same or found)[0]


def _is_cut(term: Term) -> bool:
    return term.kind in ("at_most", "above")


def _nearby(number: float, digits: int) -> list[float]:
    """The number in so many significant digits: the nearest, the next below and the next above."""
    nearest = decimal.Decimal(f"{number:.{digits - 1}e}")
    step = decimal.Decimal(1).scaleb(nearest.adjusted() - digits + 1)
    return [
        float(nearest),
        *(float(nearest + side * step) for side in ((-1, 1) if float(nearest) > number else (1, -1))),
    ]


def significant(number: Any, digits: int) -> float:
    """The number in so many significant digits."""
    return float(f"{float(number):.{digits - 1}e}") if math.isfinite(number) else float(number)
