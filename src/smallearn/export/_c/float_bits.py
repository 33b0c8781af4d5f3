"""Conditions and products of whole-number code that takes float readings: it looks at their bits.

A comparison looks at the upper 16 or all 32 bits (`FloatBits`). What is multiplied becomes a whole number by a shift of
the significand (`Shifted`). The functions that these expressions call are in `readings`.
"""

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from smallearn.export._fixed.codes import FloatBits, Shifted, Text
from smallearn.export._fixed.numbers import TargetTerm

if TYPE_CHECKING:
    from smallearn.export._c.model import CModel


def width_of(c: "CModel", position: int) -> int:
    """How many of the upper bits of a reading a comparison looks at."""
    coder = c.target.coders[position]  # type: ignore[attr-defined]
    if isinstance(coder, FloatBits):
        return coder.width
    return 16 if isinstance(coder, Text) and coder.greatest < 256 else 32


def bits(c: "CModel", position: int) -> str:
    """The upper bits of a reading as a signed number, as an expression."""
    return f"{c.prefix}_{'upper_bits' if width_of(c, position) == 16 else 'all_bits'}(&{c.x(position)})"


def fixed(c: "CModel", position: int) -> str:
    """The code of a reading that is shifted, as an expression."""
    coder = c.target.coders[position]  # type: ignore[attr-defined]
    assert isinstance(coder, Shifted)
    return f"{c.prefix}_fixed(&{c.x(position)}, {coder.base})"


def is_missing(c: "CModel", position: int) -> str:
    """The condition that a reading is not a number: its exponent is the greatest, as that of infinity is, and its
    significand is greater."""
    width = width_of(c, position)
    return f"({bits(c, position)} & {2 ** (width - 1) - 1:#x}) > {_infinity(width):#x}"


def _infinity(width: int) -> int:
    """The code of infinity."""
    return FloatBits(width).greatest


def holds(c: "CModel", term: TargetTerm) -> str:
    """The condition of a literal on a float reading."""
    coder = c.target.coders[term.input]  # type: ignore[attr-defined]
    missing, value = c.target.missing, term.value  # type: ignore[attr-defined]
    assert value is not None
    known = [f"!({is_missing(c, term.input)})"] if c.target.flat.inputs[term.input].may_be_missing else []
    if isinstance(coder, Text):
        number = FloatBits(width_of(c, term.input)).encode(np.array([float(value)]))[0]
        return f"{bits(c, term.input)} == {number:#x}"
    at_most = partial(_code_at_most, c, term.input)
    low, high = {
        "at_most": (None, value),
        "above": (value, None),
        "equals": (value - 1, value),
        "between": (None if value == missing else value, term.high),
    }[term.kind]
    low = None if low is not None and low < coder.least else low
    parts = [] if low is None else [f"!({at_most(low)})"]
    parts += [] if high is None else [at_most(high)]
    if low is not None and high is None and low >= 0 and known and isinstance(coder, FloatBits):
        least, width = low + 1, coder.width  # in one comparison: greater, and a number
        return f"(uint{width}_t)({bits(c, term.input)} - {least:#x}) <= {_infinity(width) - least:#x}u"
    if low is not None and high is None:
        parts = [_code_above(c, term.input, low)]
    if low is not None and high is not None and isinstance(coder, FloatBits):
        known = []  # the codes of what is no number are beyond those of both infinities
    return " && ".join([*known, *parts]) or "1"


def _code_at_most(c: "CModel", position: int, code: int, sign: tuple[str, str] = ("<=", ">=")) -> str:
    """The condition that the code of a float reading is at most ``code``; with the other signs, that it is greater.

    Bits of positive floats are ordered as signed numbers, those of negative floats backwards as unsigned ones.
    """
    if isinstance(c.target.coders[position], Shifted):  # type: ignore[attr-defined]
        return f"{fixed(c, position)} {sign[0]} {code}"
    width = width_of(c, position)
    if code >= 0:
        return f"{bits(c, position)} {sign[0]} {code:#x}"
    number = (code ^ (2 ** (width - 1) - 1)) % 2**width
    return f"(uint{width}_t){bits(c, position)} {sign[1]} {number:#x}u"


def _code_above(c: "CModel", position: int, code: int) -> str:
    return _code_at_most(c, position, code, (">", "<"))
