"""A model in the numbers of a device: float32, float64 or whole numbers. C, ONNX and Rust are written from it."""

import math
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np

from smallearn._text import show
from smallearn.export._flat import FlatModel, as_term
from smallearn.model import SMaLLModel, Term
from smallearn.model._arguments import read_rows
from smallearn.model._card import aligned

N = TypeVar("N", int, float)
NUMBERS = ("float32", "float64", "int8", "int8x16", "int16", "int32")


@dataclass(frozen=True)
class TargetTerm(Generic[N]):
    """What input number ``input`` adds to the score of prototype number ``prototype``.

    ========  ========================================
    kind      adds
    ========  ========================================
    raw       ``weight · (x >> right)``; ``instead`` where x is missing (None: the model cannot predict there)
    at_most   ``weight`` where x ≤ value
    above     ``weight`` where x > value
    equals    ``weight`` where x = value
    between   ``weight`` where value < x ≤ high
    missing   ``weight`` where x is missing
    ========  ========================================

    ``text`` is the term as `smallearn.model.Term.text` has it.
    """

    prototype: int
    input: int
    weight: N
    kind: str
    text: str
    value: N | None = None
    high: N | None = None
    instead: N | None = None
    right: int = 0


Row = tuple[TargetTerm[N] | None, ...]  # of the card: the term of each prototype, None where it has none


@dataclass(frozen=True)
class TargetModel(Generic[N]):
    """``z_j = intercepts[j] + Σ`` of what the terms add, in the order of ``terms``; the rest as in `FlatModel`.

    ``cut`` and ``offsets`` are those of `FlatModel.decision` in these numbers; there is an offset for each class, or
    none.
    """

    model: SMaLLModel
    flat: FlatModel
    number: str
    intercepts: tuple[N, ...]
    terms: tuple[TargetTerm[N], ...]
    cut: N
    offsets: tuple[N, ...]

    def of(self, prototype: int) -> tuple[TargetTerm[N], ...]:
        """The terms of one prototype.

        Parameters
        ----------
        prototype : int
            Its position.

        Returns
        -------
        tuple
        """
        return tuple(term for term in self.terms if term.prototype == prototype)

    @property
    def rows(self) -> list[Row]:
        """The rows of the card: terms that differ in nothing but the prototype and the weight.

        Returns
        -------
        list of tuple
            The term of each prototype; None where it has none.
        """
        columns = [self.of(j) for j in range(len(self.intercepts))]
        return aligned(columns, lambda term: (term.input, term.kind, term.value, term.high))

    @property
    def shares_terms(self) -> bool:
        """Whether any term is in several prototypes.

        Returns
        -------
        bool
        """
        return len(self.rows) < len(self.terms)


def term_texts(flat: FlatModel) -> list[str]:
    """The text of each term."""
    return [as_term(flat, term).text for term in flat.terms]


def read_inputs(model: SMaLLModel, flat: FlatModel, X: Any) -> np.ndarray:
    """The inputs in use of rows as `SMaLLModel.predict` takes them, rows × inputs, NaN where missing.

    A text is the number of its category, from 1, or 0 if it is none of the input's categories.
    """
    rows = read_rows(model, X)
    inputs = np.zeros((rows.n_rows, len(flat.inputs)))
    for position, input_ in enumerate(flat.inputs):
        column = rows.columns[input_.feature]
        if input_.is_text:
            for code, category in enumerate(input_.categories, start=1):
                holds = column.factor(Term(feature=input_.feature, weight=1.0, kind="equals", value=category))
                inputs[holds, position] = code
            inputs[column.missing, position] = np.nan
        else:
            inputs[:, position] = column.numbers
        if not input_.may_be_missing and np.isnan(inputs[:, position]).any():
            raise ValueError(f"A row lacks {show(input_.label)}; the model cannot predict without it.")
    return inputs


def float32_at_most(number: float) -> float:
    """The greatest float32 that is not above ``number``; minus infinity if there is none."""
    with np.errstate(over="ignore"):
        nearest = np.float32(number)
    below = nearest if float(nearest) <= number else np.nextafter(nearest, np.float32(-math.inf))
    return float(below)


def float32_at_least(number: float) -> float:
    """The least float32 that is not below ``number``; infinity if there is none."""
    return -float32_at_most(-number)
