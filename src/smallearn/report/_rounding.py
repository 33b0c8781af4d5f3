"""The model that a page shows and computes with: in few digits, where that changes nothing that matters on the rows."""

import math
from dataclasses import replace

import numpy as np

from smallearn.explain._digits import _Numbers
from smallearn.model import Rows, SMaLLModel, Term
from smallearn.model._decision import scores

FEWEST, MOST = 3, 7  # significant digits of its numbers
TOLERANCE = 0.0005  # that a probability may change by: they are shown with a tenth of a percent


def in_few_digits(model: SMaLLModel, rows: Rows | None) -> SMaLLModel:
    """The model with its numbers in as few digits as keep every decision and every probability on the rows.

    The model itself without rows, or if seven digits are not enough.
    """
    if rows is None or rows.n_rows == 0 or not model.terms:
        return model
    model = _with_whole_cuts(model, rows)
    decided, chances = _answers(model, rows)
    numbers = _Numbers(model, rows, weights=not model.is_score_card)
    for digits in range(FEWEST, MOST + 1):
        trial = numbers.rounded([digits] * numbers.count)
        try:
            again, near = _answers(trial, rows)
        except ValueError:  # a number that is rounded up may overflow
            continue
        if np.array_equal(again, decided) and np.abs(near - chances).max() <= TOLERANCE:
            return trial
    return model


def _with_whole_cuts(model: SMaLLModel, rows: Rows) -> SMaLLModel:
    """The model with whole thresholds for columns that have whole values only: [x ≤ 1] in place of [x ≤ 1.5]."""

    def cut(term: Term) -> Term:
        if term.kind not in ("at_most", "above"):
            return term
        numbers = rows.column(term).numbers
        known = numbers[~np.isnan(numbers)]
        whole = bool(np.all(known == np.rint(known)))
        return replace(term, value=float(math.floor(term.value))) if whole else term  # type: ignore[arg-type]

    prototypes = tuple(replace(one, terms=tuple(map(cut, one.terms))) for one in model.prototypes)
    return model if prototypes == model.prototypes else replace(model, prototypes=prototypes)


def _answers(model: SMaLLModel, rows: Rows) -> tuple[np.ndarray, np.ndarray]:
    z = scores(model.prototypes, rows.factor, rows.n_rows)
    return model.decide(z), model.chances(z)
