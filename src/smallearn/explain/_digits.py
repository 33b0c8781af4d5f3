"""A model in as few digits as possible, with the same decisions on some rows."""

import decimal
import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from smallearn.model import SMaLLModel, Term
from smallearn.model._arguments import as_model, read_rows
from smallearn.model._decision import scores
from smallearn.model._rows import Rows

MOST_DIGITS = 17  # enough to tell any two floats apart
MOST_POINTS = 100  # for a literal, when weights become whole numbers


def rounded(model: Any, X: Any) -> SMaLLModel:
    """Round the numbers of a model as far as possible without changing a decision on some rows.

    The weights and constants of a model of literals become whole points, the smallest that keep the decisions, if at
    most 100 points for a literal are enough. Otherwise each of them gets as few significant digits as possible: with
    any one rounded further, a decision would change. The same holds for means that these rows use. A threshold is
    rounded as far as it divides these rows as before. Probabilities change with the weights.

    Parameters
    ----------
    model : SMaLLModel or fitted estimator
        The model.
    X : array, sparse matrix, table or Rows
        Rows × features; at least one row.

    Returns
    -------
    SMaLLModel
        A model with the same prediction on every row of ``X``.

    See Also
    --------
    describe : The model with these numbers, as text.

    Examples
    --------
    >>> from smallearn.explain import rounded
    >>> from smallearn.model import Prototype, SMaLLModel, Term
    >>> prototype = Prototype(owner=1, intercept=-1.4871, terms=(Term(feature=0, weight=1.0213, name="dose"),))
    >>> model = SMaLLModel(("no", "yes"), "<U3", n_features=1, prototypes=(prototype,))
    >>> print(rounded(model, [[1.0], [2.0]]).prototypes[0].intercept)
    -1.0
    """
    model = as_model(model)
    rows = read_rows(model, X)
    if rows.n_rows == 0:
        raise ValueError("X has no rows; rounding needs at least one whose decision is kept.")
    before = _decisions(model, rows)

    def unchanged(trial: SMaLLModel) -> bool:
        try:
            return bool(np.array_equal(_decisions(trial, rows), before))
        except ValueError:  # a number that is rounded up may overflow
            return False

    card = model if model.is_score_card else _in_points(model, unchanged)
    shown, short = None, model if card is None else card
    while shown != short:  # until no number of the result, too, can be rounded further
        shown, short = short, _in_digits(_Numbers(short, rows, weights=card is None), unchanged)
    return short


def _decisions(model: SMaLLModel, rows: Rows) -> np.ndarray:
    """The position of the predicted class of each row. Scores are not kept: many models are tried."""
    return model.decide(scores(model.prototypes, rows.factor, rows.n_rows))


def _in_points(model: SMaLLModel, unchanged: Callable[[SMaLLModel], bool]) -> SMaLLModel | None:
    """Whole numbers in proportion to the weights, the smallest that keep the decisions; None if there are none."""
    greatest = max((abs(term.weight) for term in model.terms), default=0.0)
    if greatest == 0.0 or any(term.kind == "raw" for term in model.terms):
        return None
    for most in range(1, MOST_POINTS + 1):
        factor = most / greatest
        prototypes = tuple(
            replace(
                prototype,
                intercept=float(round(factor * prototype.intercept)),
                terms=tuple(replace(term, weight=float(round(factor * term.weight))) for term in prototype.terms),
            )
            for prototype in model.prototypes
        )
        if any(term.weight == 0.0 for prototype in prototypes for term in prototype.terms):
            continue
        trial = replace(model, prototypes=prototypes, scale=model.scale / factor)
        if unchanged(trial):
            return trial
    return None


def _in_digits(numbers: "_Numbers", unchanged: Callable[[SMaLLModel], bool]) -> SMaLLModel:
    """The smallest number of digits that all numbers can have, and then fewer for one number after the other."""
    alike = next(d for d in range(1, MOST_DIGITS + 1) if unchanged(numbers.rounded([d] * numbers.count)))
    digits = [alike] * numbers.count
    moved = True
    while moved:
        moved = False
        for i in range(numbers.count):
            fewer = ([*digits[:i], d, *digits[i + 1 :]] for d in range(1, digits[i]))
            enough = next((tried for tried in fewer if unchanged(numbers.rounded(tried))), None)
            if enough is not None:
                digits, moved = enough, True
    return numbers.rounded(digits)


class _Numbers:
    """The numbers of a model that can be rounded, in a fixed order.

    Constants and weights, if ``weights``; thresholds; and the means that the rows use for missing values. A threshold
    or mean that several prototypes share is one number.
    """

    def __init__(self, model: SMaLLModel, rows: Rows, weights: bool):
        self.model, self.rows, self.weights = model, rows, weights
        others = {_value(term) for term in model.terms if _is_cut(term) or rows.fills_gaps(term)}
        self.count = len(others) + (len(model.prototypes) + len(model.terms) if weights else 0)

    def rounded(self, digits: list[int]) -> SMaLLModel:
        """The model with each of its numbers in its number of ``digits``."""
        left = iter(digits)
        shared: dict[tuple, int] = {}

        def weight(number: float) -> float:
            return significant(number, next(left)) if self.weights else number

        def digits_of(term: Term) -> int:
            if _value(term) not in shared:
                shared[_value(term)] = next(left)
            return shared[_value(term)]

        def term_of(term: Term) -> Term:
            term = replace(term, weight=weight(term.weight))
            if self.rows.fills_gaps(term):
                return replace(term, mean=significant(term.mean, digits_of(term)))
            return self._cut(term, digits_of(term)) if _is_cut(term) else term

        prototypes = tuple(
            replace(one, intercept=weight(one.intercept), terms=tuple(term_of(term) for term in one.terms))
            for one in self.model.prototypes
        )
        return replace(self.model, prototypes=prototypes)

    def _cut(self, term: Term, digits: int) -> Term:
        """The threshold in so many digits, rounded up or down to divide the rows as before; in more if none does.

        So nobody reads two thresholds where the model has one, even if no decision hangs on the rows between them.
        """
        divided, exact = self.rows.factor(term), float(term.value)  # type: ignore[arg-type]  # of a cut
        nearby = (value for more in range(digits, MOST_DIGITS) for value in _nearby(exact, more))
        trials = (replace(term, value=value) for value in nearby)
        return next((one for one in trials if np.array_equal(self.rows.factor(one), divided)), term)


def _value(term: Term) -> tuple:
    """What a threshold or a mean is told from others by."""
    return term.feature, term.kind, term.value, term.mean


def _is_cut(term: Term) -> bool:
    return term.kind in ("at_most", "above")


def _nearby(number: float, digits: int) -> list[float]:
    """The number in ``digits`` significant digits: the nearest such number, and its neighbours on either side."""
    nearest = decimal.Decimal(f"{number:.{digits - 1}e}")
    step = decimal.Decimal(1).scaleb(nearest.adjusted() - digits + 1)
    return [
        float(nearest),
        *(float(nearest + side * step) for side in ((-1, 1) if float(nearest) > number else (1, -1))),
    ]


def significant(number: Any, digits: int) -> float:
    """The number rounded to ``digits`` significant digits."""
    return float(f"{float(number):.{digits - 1}e}") if math.isfinite(number) else float(number)
