"""A model in the numbers of a target: float32, float64, or whole numbers. What C is written from."""

import math
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np

from smallearn._text import show
from smallearn.export._flat import FlatModel
from smallearn.model import SMaLLModel, Term
from smallearn.model._columns import gather

N = TypeVar("N", int, float)
NUMBERS = ("float32", "float64", "int8", "int16", "int32")


@dataclass(frozen=True)
class TargetTerm(Generic[N]):
    """What is added to the score of prototype number ``prototype``, by what input number ``input`` holds.

    ========  ========================================
    kind      adds
    ========  ========================================
    raw       ``weight · x``; ``instead`` where x is missing (None: that has no answer)
    at_most   ``weight`` where x ≤ value
    above     ``weight`` where x > value
    equals    ``weight`` where x = value
    between   ``weight`` where value < x ≤ high
    missing   ``weight`` where x is missing
    ========  ========================================

    ``text`` is the term in words, as the user knows it.
    """

    prototype: int
    input: int
    weight: N
    kind: str
    text: str
    value: N | None = None
    high: N | None = None
    instead: N | None = None


@dataclass(frozen=True)
class TargetModel(Generic[N]):
    """``z_j = intercepts[j] + Σ`` of what the terms add, in the order of ``terms``; the rest as in `FlatModel`."""

    model: SMaLLModel
    flat: FlatModel
    number: str
    intercepts: tuple[N, ...]
    terms: tuple[TargetTerm[N], ...]

    def of(self, prototype: int) -> tuple[TargetTerm[N], ...]:
        """The terms of one prototype."""
        return tuple(term for term in self.terms if term.prototype == prototype)


def term_texts(flat: FlatModel) -> list[str]:
    """Each term in words."""
    labels = [(given.feature, given.label) for given in flat.inputs]
    return [Term(labels[t.input][0], t.weight, labels[t.input][1], t.kind, t.value).text for t in flat.terms]


def read_inputs(model: SMaLLModel, flat: FlatModel, X: Any) -> np.ndarray:
    """The inputs in use of rows as `SMaLLModel` takes them, rows × inputs, NaN where missing. Text is its number among
    the input's categories, from 1, and 0 if it is none of them."""
    blocks = [np.empty((0, len(flat.inputs)))]
    for n_rows, columns in gather(X, model.features, model.n_features):
        block = np.zeros((n_rows, len(flat.inputs)))
        for position, given in enumerate(flat.inputs):
            column = columns[given.feature]
            if given.is_text:
                for code, category in enumerate(given.categories, start=1):
                    block[column.factor(Term(given.feature, 1.0, kind="equals", value=category)), position] = code
                block[column.missing, position] = np.nan
            else:
                block[:, position] = column.numbers
            if not given.may_be_missing and np.isnan(block[:, position]).any():
                raise ValueError(f"A row lacks {show(given.label)}; the model has no answer without it.")
        blocks.append(block)
    return np.concatenate(blocks)


def float32_at_most(number: float) -> float:
    """The greatest float32 that is no greater; minus infinity if there is none."""
    with np.errstate(over="ignore"):
        nearest = np.float32(number)
    below = nearest if float(nearest) <= number else np.nextafter(nearest, np.float32(-math.inf))
    return float(below)


def float32_at_least(number: float) -> float:
    """The least float32 that is no less; infinity if there is none."""
    return -float32_at_most(-number)
