"""Probabilities in whole numbers: a small table in place of the exponential, and a bound on its error.

A probability depends on how far scores are apart. With two classes that of the less likely one is
``1 / (1 + exp(rate · distance))``; with more, each class weighs ``exp(-rate · distance)``, its distance from the
greatest score, and probabilities are shares of the sum of weights. Both curves fall and are convex: between two entries
of the table the chord is above the curve, by an amount that is known.

Everything is computed with `decimal`, so that tables are the same everywhere.
"""

from dataclasses import dataclass
from decimal import Context, Decimal, localcontext
from fractions import Fraction

import numpy as np

ONE = 65535  # the whole number of a probability of 1
HALF = 32767  # the greatest probability of the less likely of two classes: below one half
WEIGHT = 32768  # of the class with the greatest score, of more than two: ONE · WEIGHT and sums fit 32 bits
TOLERANCE = Decimal("0.001")  # of a probability: what a table that interpolates may be off by
FRACTION_BITS = 8  # between two entries: products of a difference of entries and a fraction then fit 24 bits
CODE_OF_CHORDS = (
    60  # bytes of code, about, that a table without interpolation does not need: 96 on AVR, 20 to 48 on ARM
)
EXACT = Context(prec=40)


@dataclass(frozen=True)
class ProbabilityTable:
    """A table from the distance between scores to a probability or a weight, made by `probability_table`.

    With ``v = distance >> drop`` and ``i = v >> bits`` the value is ``entries[i]``, if bits > 0 less
    ``((entries[i] - entries[i + 1]) · (v mod 2^bits) + 2^(bits - 1)) >> bits``; from the last entry on, it is that.

    Two classes: the value is the probability of the less likely class, in steps of 1 / ONE. It is at most HALF, so that
    the second class has more than one half exactly where its score is greater.

    More classes: it is the weight of a class whose score is this distance below the greatest. The probability of a
    class is ``(weight · ONE + sum / 2) / sum``, without a fraction, where sum is that of all weights.

    Parameters
    ----------
    entries : tuple of int
        Never rising, of 16 bits without a sign.
    bits : int
        The logarithm of the number of steps between two entries; 0: there is nothing between them.
    drop : int
        How many of the lower bits of a distance do not matter.
    n_classes : int
        The number of classes.
    error : float
        A bound on how far a probability, divided by ONE, is from that of the same scores computed exactly.
    """

    entries: tuple[int, ...]
    bits: int
    drop: int
    n_classes: int
    error: float

    def values(self, distance: np.ndarray) -> np.ndarray:
        """The value at each distance, whole numbers from 0 to 2⁶⁴ - 1."""
        end = (len(self.entries) - 1) << self.bits
        v = np.minimum(distance.astype(np.uint64) >> np.uint64(self.drop), np.uint64(end)).astype(np.int64)
        entries = np.array([*self.entries, self.entries[-1]], dtype=np.int64)
        here, after = entries[v >> self.bits], entries[(v >> self.bits) + 1]
        half = (1 << self.bits) >> 1
        return here - (((here - after) * (v & ((1 << self.bits) - 1)) + half) >> self.bits)

    def probabilities(self, scores: np.ndarray) -> np.ndarray:
        """The probability of each class in steps of 1 / ONE, from the classes' scores; both rows × classes.

        A distance that does not fit 64 bits with a sign is one that does without.
        """
        if self.n_classes == 2:
            less = self.values(scores.max(axis=1) - scores.min(axis=1))
            second = np.where(scores[:, 1] > scores[:, 0], ONE - less, less)
            return np.stack([ONE - second, second], axis=1)
        weight = self.values(scores.max(axis=1, keepdims=True) - scores)
        total = weight.sum(axis=1, keepdims=True)
        return (weight * ONE + total // 2) // total


def probability_table(rate: Fraction, reach: int, n_classes: int) -> ProbabilityTable:
    """The smallest table whose error keeps the tolerance, or the most precise one.

    Parameters
    ----------
    rate : Fraction
        The log-odds of one unit of score.
    reach : int
        No distance between two scores is greater.
    n_classes : int
        The number of classes.

    Returns
    -------
    ProbabilityTable
    """
    with localcontext(EXACT):
        unit = Decimal(rate.numerator) / Decimal(rate.denominator)
        shift = reach.bit_length()
        while shift and _step_error(unit, shift, n_classes) > TOLERANCE:
            shift -= 1
        found = _table(unit, shift, reach, n_classes)
        plain = _table(unit, 0, reach, n_classes) if shift and _count(unit, 0, reach, n_classes) < 256 else found
        is_smaller = 2 * len(plain.entries) <= 2 * len(found.entries) + CODE_OF_CHORDS
        return plain if is_smaller else found


def _curve(t: Decimal, n_classes: int) -> Decimal:
    """The curve at log-odds t ≥ 0: a probability of two classes, a weight of more."""
    falling = (-t).exp()
    return falling / (1 + falling) if n_classes == 2 else falling


def _tail(n_classes: int) -> Decimal:
    """Where the curve is below this, the table ends."""
    return TOLERANCE if n_classes == 2 else max(TOLERANCE / (2 * (n_classes - 1)), Decimal(1) / WEIGHT)


def _count(unit: Decimal, shift: int, reach: int, n_classes: int) -> int:
    """The position of the last entry."""
    tail = _tail(n_classes)
    end = (1 / tail - 1).ln() if n_classes == 2 else (1 / tail).ln()
    step = 2**shift
    return min(-(-reach // step), int((end / (unit * step)).to_integral_value("ROUND_CEILING")))


def _table(unit: Decimal, shift: int, reach: int, n_classes: int) -> ProbabilityTable:
    """The table whose entries are 2^shift units of score apart."""
    last = _count(unit, shift, reach, n_classes)
    top, most = (ONE, HALF) if n_classes == 2 else (WEIGHT, WEIGHT)
    curve = [_curve(unit * 2**shift * place, n_classes) for place in range(last + 1)]
    entries = tuple(min(int((top * value).to_integral_value()), most) for value in curve)
    rounding = (Decimal(1) if shift else Decimal("0.5")) / top  # of the entries, and of the chord
    beyond = (Decimal(entries[-1]) / top if last << shift < reach else Decimal(0)) + rounding
    error = _step_error(unit, shift, n_classes)
    if n_classes == 2:
        error = max(error + rounding, beyond)
    else:
        # Weights w become w (1 + ρ) + η, where error = ρ / 4 and η is at most `beyond`. With S, the sum of weights, at
        # least 1, a share p = w / S changes by at most (ρ p (1 - p) S + (n - 1) η) / (S - (n - 1) η).
        others = (n_classes - 1) * beyond
        error = (error + others) / (1 - others) + Decimal("0.5") / ONE if others < 1 else Decimal(1)
    drop = max(0, shift - FRACTION_BITS)
    return ProbabilityTable(
        entries=entries, bits=shift - drop, drop=drop, n_classes=n_classes, error=_float_above(error)
    )


def _step_error(unit: Decimal, shift: int, n_classes: int) -> Decimal:
    """What interpolation between exact entries and dropped bits change in a probability, at most."""
    if not shift:
        return Decimal(0)
    width = unit * 2**shift
    if width > 4:
        return Decimal(1)
    dropped = unit * (2 ** max(0, shift - FRACTION_BITS) - 1)
    if n_classes == 2:
        return width**2 / (48 * Decimal(3).sqrt()) + dropped / 4  # an eighth of the greatest second derivative; slope
    # The chord of exp(-t) is (1 - c t) above one that begins at 0; relative to the curve it is greatest at 1/c - 1.
    c = (1 - (-width).exp()) / width
    return (c * (1 / c - 1).exp() * dropped.exp() - 1) / 4


def _float_above(number: Decimal) -> float:
    """A float that is not less, with three digits."""
    return min(1.0, float(Context(prec=3, rounding="ROUND_CEILING").plus(number)))
