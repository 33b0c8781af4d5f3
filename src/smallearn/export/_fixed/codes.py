"""How the values of an input become whole numbers ("codes"), and for which codes a literal holds.

Each coder has ``least`` and ``greatest``, the ends of its codes; ``encode``; ``interval``, the codes at which a literal
holds, both ends included, or None; and, where raw terms are possible, ``x ≈ slope · code + offset``.
"""

import math
from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from smallearn._text import show
from smallearn.export._fixed.numbers import float32_at_least, float32_at_most

Interval = tuple[int, int] | None


@dataclass(frozen=True)
class Linear:
    """``round((x − low) / (high − low) · 2Q) − Q``, clipped to ±Q.

    Computed in float32 as ``trunc((x − origin) · rate) − Q``, where the half that rounding needs is part of the origin:
    a difference and a product, which no compiler can fuse, so that every device computes the same code.
    """

    low: float
    high: float
    Q: int

    @property
    def least(self) -> int:
        return -self.Q

    @property
    def greatest(self) -> int:
        return self.Q

    @property
    def slope(self) -> Fraction:
        return (Fraction(self.high) - Fraction(self.low)) / (2 * self.Q)

    @property
    def offset(self) -> Fraction:
        return (Fraction(self.high) + Fraction(self.low)) / 2

    @property
    def origin(self) -> float:
        return _float32(Fraction(self.low) - self.slope / 2)

    @property
    def rate(self) -> float:
        return 0.0 if self.slope == 0 else _float32(1 / self.slope)

    def encode(self, values: np.ndarray) -> np.ndarray:
        """Codes of values that are not missing."""
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            steps = (values.astype(np.float32) - np.float32(self.origin)) * np.float32(self.rate)
        within = np.where(steps > 0.0, np.minimum(steps.astype(np.float64), 2.0 * self.Q), 0.0)
        return np.trunc(within).astype(np.int64) - self.Q

    def interval(self, kind: str, value: Any) -> Interval:
        """The codes at whose value, the middle of what is rounded to them, the literal holds."""
        if self.slope == 0:
            holds = {"at_most": self.low <= value, "above": self.low > value, "equals": self.low == value}[kind]
            return (self.least, self.greatest) if holds else None
        place = (Fraction(value) - self.offset) / self.slope
        if kind == "equals":
            nearest = round(place)
            return (nearest, nearest) if abs(nearest) <= self.Q else None
        cut = min(max(math.floor(place), self.least - 1), self.greatest)
        return _ordered(self.least, cut) if kind == "at_most" else _ordered(cut + 1, self.greatest)


@dataclass(frozen=True)
class Steps:
    """How many of ``cuts`` x has passed: exact for literals.

    A cut is a number and whether reaching it is enough (x ≥ number) or not (x > number).
    """

    cuts: tuple[tuple[float, bool], ...]

    @classmethod
    def of(cls, literals: list[tuple[str, Any]]) -> "Steps":
        """The cuts that separate values which these literals, kind and value, separate."""
        cuts = {(float(value), False) for _, value in literals}
        cuts |= {(float(value), True) for kind, value in literals if kind == "equals"}
        return cls(tuple(sorted(cuts, key=lambda cut: (cut[0], not cut[1]))))

    @property
    def least(self) -> int:
        return 0

    @property
    def greatest(self) -> int:
        return len(self.cuts)

    @property
    def float32_cuts(self) -> list[tuple[float, bool]]:
        """Cuts in float32 that give the same code for every float32 x."""
        return [(float32_at_least(cut) if reached else float32_at_most(cut), reached) for cut, reached in self.cuts]

    def encode(self, values: np.ndarray) -> np.ndarray:
        """Codes of values that are not missing."""
        codes = np.zeros(len(values), dtype=np.int64)
        for cut, reached in self.cuts:
            codes += values >= cut if reached else values > cut
        return codes

    def interval(self, kind: str, value: Any) -> Interval:
        """The codes at which the literal holds."""
        passed = self.cuts.index((float(value), False))
        if kind == "at_most":
            return 0, passed
        return (passed + 1, self.greatest) if kind == "above" else (passed, passed)


@dataclass(frozen=True)
class Count:
    """Whole numbers that the device reads, with ``x = scale · count + offset``.

    Products are of ``count >> right``, so that weights and counts of 8 bits do; comparisons are of the count itself.
    """

    scale: float
    shift: float
    least: int
    greatest: int
    right: int = 0

    @property
    def slope(self) -> Fraction:
        return Fraction(self.scale) * 2**self.right

    @property
    def offset(self) -> Fraction:
        """In the middle of the counts that are shifted to the same number."""
        return Fraction(self.shift) + Fraction(self.scale) * (2**self.right - 1) / 2

    def value(self, count: int) -> float:
        """The feature in float64 arithmetic, which is monotone in the count."""
        return self.scale * count + self.shift

    def encode(self, values: np.ndarray) -> np.ndarray:
        """The nearest count of values that are not missing."""
        nearest = np.rint((values - self.shift) / self.scale)
        return np.clip(nearest, self.least, self.greatest).astype(np.int64)

    def interval(self, kind: str, value: Any) -> Interval:
        """The counts at which the literal holds, exactly."""
        counts = range(self.least, self.greatest + 1)
        if self.scale > 0:
            below = self.least + bisect_left(counts, value, key=self.value)  # the first with x ≥ value
            above = self.least + bisect_right(counts, value, key=self.value)  # the first with x > value
            choice = {"at_most": (self.least, above - 1), "above": (above, self.greatest), "equals": (below, above - 1)}
        else:
            above = self.least + bisect_left(counts, -value, key=lambda c: -self.value(c))  # the first with x ≤ value
            below = self.least + bisect_right(counts, -value, key=lambda c: -self.value(c))  # the first with x < value
            choice = {"at_most": (above, self.greatest), "above": (self.least, above - 1), "equals": (above, below - 1)}
        return _ordered(*choice[kind])


@dataclass(frozen=True)
class Text:
    """The number of a text among ``categories``, from 1; 0 for any other text."""

    categories: tuple[Any, ...]

    @property
    def least(self) -> int:
        return 0

    @property
    def greatest(self) -> int:
        return len(self.categories)

    def encode(self, values: np.ndarray) -> np.ndarray:
        """`read_inputs` has numbered the categories already."""
        return values.astype(np.int64)

    def interval(self, kind: str, value: Any) -> Interval:
        """The one code of a category."""
        code = 1 + self.categories.index(value)
        return code, code


@dataclass(frozen=True)
class FloatBits:
    """The upper ``width`` bits of a float32, 16 or 32, as a whole number that is ordered like the float.

    Literals need no other code: a device compares bits, without floating point. 32 bits are exact; with 16, cut points
    have 8 significant binary digits.
    """

    width: int

    @property
    def least(self) -> int:
        return int(self._ordered(np.float32(-math.inf)))

    @property
    def greatest(self) -> int:
        return int(self._ordered(np.float32(math.inf)))

    def encode(self, values: np.ndarray) -> np.ndarray:
        """Codes of values that are not missing."""
        with np.errstate(over="ignore"):
            return self._ordered(values.astype(np.float32))

    def _ordered(self, values: Any) -> np.ndarray:
        bits = np.asarray(values, dtype=np.float32).view(np.int32).astype(np.int64) >> (32 - self.width)
        return np.where(bits < 0, bits ^ (2 ** (self.width - 1) - 1), bits)

    def interval(self, kind: str, value: Any) -> Interval:
        """The codes at which the literal holds; with 16 bits, at those on the side of the cut nearest to it."""
        if kind == "equals":
            code = int(self._ordered(np.float32(value)))
            return (-1, 0) if value == 0 else (code, code)  # -0.0 has a code of its own
        cut = self._last_at_most(float(value))
        return _ordered(self.least, cut) if kind == "at_most" else _ordered(cut + 1, self.greatest)

    def _last_at_most(self, value: float) -> int:
        """The last code on the left of a cut."""
        code = int(self._ordered(np.float32(float32_at_most(value) + 0.0)))
        if self.width == 32 or not self.least < code < self.greatest:
            return code
        low, high = self._start(code), self._start(code + 1)
        return code if high - value <= value - low else code - 1

    def _start(self, code: int) -> float:
        """The least number of a code."""
        low = 32 - self.width
        bits = code << low if code >= 0 else ((code ^ (2 ** (self.width - 1) - 1)) << low) | (2**low - 1)
        return float(np.array(bits, dtype=np.int64).astype(np.int32).view(np.float32))


@dataclass(frozen=True)
class Shifted:
    """``trunc(x · 2^shift)``, clipped to ±Q, where Q is the greatest number of ``width`` bits, 8 or 16.

    A device computes it from the bits of a float32 by a shift of its significand, without floating point.
    """

    shift: int
    width: int
    low: float
    high: float

    @property
    def greatest(self) -> int:
        return 2 ** (self.width - 1) - 1

    @property
    def least(self) -> int:
        return -self.greatest

    @property
    def slope(self) -> Fraction:
        return Fraction(2) ** -self.shift

    @property
    def offset(self) -> Fraction:
        """Half a step away from zero, if all values have one sign."""
        return self.slope / 2 * ((self.low >= 0.0) - (self.high <= 0.0))

    @property
    def base(self) -> int:
        """The exponent, as float32 has it, of the numbers that are too large by one bit."""
        return 126 + self.width - self.shift

    def encode(self, values: np.ndarray) -> np.ndarray:
        """Codes of values that are not missing."""
        with np.errstate(over="ignore"):
            scaled = np.ldexp(values.astype(np.float32).astype(np.float64), self.shift)
        return np.trunc(np.clip(scaled, self.least, self.greatest)).astype(np.int64)

    def interval(self, kind: str, value: Any) -> Interval:
        """The codes at whose value the literal holds."""
        place = (Fraction(value) - self.offset) / self.slope
        if kind == "equals":
            nearest = round(place)
            return (nearest, nearest) if abs(nearest) <= self.greatest else None
        cut = min(max(math.floor(place), self.least - 1), self.greatest)
        return _ordered(self.least, cut) if kind == "at_most" else _ordered(cut + 1, self.greatest)


Coder = Linear | Steps | Count | Text | FloatBits | Shifted


def meaning(coder: Coder) -> str:
    """What the codes of a number mean, for a comment; empty if they are the feature's own values."""
    if isinstance(coder, Shifted):
        return f"times 2^{coder.shift}, without its fraction"
    if isinstance(coder, FloatBits):
        return f"the upper {coder.width} bits of a float; of a negative one, all but the sign inverted"
    if isinstance(coder, Count):
        same = coder.scale == 1.0 and coder.shift == 0.0
        feature = "" if same else f"; the feature is {coder.scale!r} * count + {coder.shift!r}"
        return f"a count from {coder.least} to {coder.greatest}{feature}"
    if isinstance(coder, Linear):
        return f"from {coder.low!r} (code {coder.least}) to {coder.high!r} (code {coder.greatest})"
    cuts = [f"{'>=' if reached else '>'} {cut!r}" for cut, reached in coder.cuts] if isinstance(coder, Steps) else []
    listed = ", ".join(cuts[:8]) + (", ..." if len(cuts) > 8 else "")
    return f"code: how many of these are true: {listed}" if cuts else "any code"


def shifted(label: str, low: float, high: float, width: int) -> Shifted:
    """A `Shifted` coder that holds a range."""
    _, exponent = math.frexp(max(abs(low), abs(high)))
    coder = Shifted(shift=width - 1 - exponent if low or high else 0, width=width, low=low, high=high)
    if not 16 <= coder.base <= 254:
        raise ValueError(
            f"The range of {show(label)}, {low!r} to {high!r}, is too far from 1 for float32: rescale the feature, or "
            "declare another range in ranges={label: (low, high)}."
        )
    return coder


def linear(label: str, low: Any, high: Any, Q: int) -> Linear:
    """A `Linear` coder, once float32 is known to hold what the conversion needs."""
    try:
        low, high = float(low), float(high)
    except (TypeError, ValueError):
        raise ValueError(f"The range of {show(label)} must be two numbers, not {show(low)} and {show(high)}.") from None
    if not -math.inf < low <= high < math.inf:
        raise ValueError(f"The range of {show(label)} must be two finite numbers in order, not {low!r}, {high!r}.")
    coder = Linear(low=low, high=high, Q=Q)
    if not (math.isfinite(coder.origin) and math.isfinite(coder.rate)) or (coder.rate == 0.0 and low < high):
        raise ValueError(
            f"The range of {show(label)}, {low!r} to {high!r}, is too wide, too narrow or too far from 0 for float32: "
            "rescale the feature, or declare another range in ranges={label: (low, high)}."
        )
    return coder


def _ordered(low: int, high: int) -> Interval:
    return (low, high) if low <= high else None


def _float32(number: Fraction) -> float:
    with np.errstate(over="ignore"):
        try:
            return float(np.float32(float(number)))
        except OverflowError:
            return math.inf
