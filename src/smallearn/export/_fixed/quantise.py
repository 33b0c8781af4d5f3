"""A model in whole numbers: codes for the inputs, integer weights, sums that cannot overflow.

With ``x ≈ slope · code + offset`` (see `codes`) a raw term ``w · x`` is ``(w · slope) · code`` and a part of the
constant. All weights and constants are multiplied by one factor and rounded; the factor is the one, of those for which
no sum can overflow, whose scores are the least wrong at worst (see `scaling`).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from smallearn._errors import check_choice
from smallearn._text import listed, show
from smallearn.export._fixed.codes import Coder, Count, Steps, Text, linear
from smallearn.export._fixed.numbers import TargetModel, TargetTerm, read_inputs
from smallearn.export._fixed.scaling import sketch
from smallearn.export._flat import FlatModel, FlatTerm, Input, flatten
from smallearn.model import SMaLLModel

BITS = {"int8": 8, "int16": 16, "int32": 32}
MOST_STEPS = {"int8": 127, "int16": 32767, "int32": 2**30 - 1}  # Q; twice that must fit 32 bits


@dataclass(frozen=True)
class IntegerModel(TargetModel[int]):
    """Scores are ``factor`` times those of the model, rounded: ``z_j = intercepts[j] + Σ`` of what the terms add.

    Inputs are codes of ``input_bits`` bits, scores have ``sum_bits``; the least number of the input's type stands for a
    missing value. ``intervals[j]`` holds every product and partial sum of prototype ``j`` for all codes that its inputs
    can have: those declared for counts, and all those of ``number``'s type for the others.
    """

    coders: tuple[Coder, ...]
    factor: Fraction
    input_bits: int
    sum_bits: int
    intervals: tuple[tuple[int, int], ...]

    @property
    def missing(self) -> int:
        """The code of a missing value."""
        return -(2 ** (self.input_bits - 1))

    def codes(self, X: Any) -> np.ndarray:
        """The codes of rows as `SMaLLModel` takes them, rows × inputs: clamped to the declared ranges."""
        values = read_inputs(self.model, self.flat, X)
        codes = np.full(values.shape, self.missing, dtype=np.int64)
        for position, coder in enumerate(self.coders):
            known = ~np.isnan(values[:, position])
            codes[known, position] = coder.encode(values[known, position])
        return codes

    def contributions(self, codes: Any) -> np.ndarray:
        """What each term adds, rows × terms."""
        codes = np.asarray(codes, dtype=np.int64)
        added = np.zeros((len(codes), len(self.terms)), dtype=np.int64)
        for position, term in enumerate(self.terms):
            added[:, position] = _added(term, codes[:, term.input], self.missing)
        return added

    def scores(self, codes: Any) -> np.ndarray:
        """The score of every prototype, rows × prototypes."""
        added = self.contributions(codes)
        z = np.tile(np.array(self.intercepts, dtype=np.int64), (len(added), 1))
        for position, term in enumerate(self.terms):
            z[:, term.prototype] += added[:, position]
        return z

    def predict(self, codes: Any) -> np.ndarray:
        """The position of the class, in the order of the classes."""
        return decide(self.flat, self.scores(codes))

    def predict_rows(self, X: Any) -> np.ndarray:
        """The position of the class of rows as `SMaLLModel` takes them."""
        return self.predict(self.codes(X))


def decide(flat: FlatModel, z: np.ndarray) -> np.ndarray:
    """The position of the class from the scores of the prototypes, ties to the first class."""
    if flat.is_binary:
        owner = flat.owners[0]
        best = z.max(axis=1)
        return np.where(best > 0 if owner == 1 else best >= 0, owner, 1 - owner)
    return np.array(flat.owners)[winners(flat, z)]


def winners(flat: FlatModel, z: np.ndarray) -> np.ndarray:
    """The prototype of the greatest score; at a tie that of the first class, and of those the first."""
    order = np.array(sorted(range(len(flat.owners)), key=lambda j: flat.owners[j]))
    return order[z[:, order].argmax(axis=1)]


def _added(term: TargetTerm[int], codes: np.ndarray, missing: int) -> np.ndarray:
    if term.kind == "raw":
        added = term.weight * codes
        return added if term.instead is None else np.where(codes == missing, term.instead, added)
    value: Any = term.value
    holds = {
        "at_most": lambda: codes <= value,
        "above": lambda: codes > value,
        "equals": lambda: codes == value,
        "between": lambda: (value < codes) & (codes <= term.high),
        "missing": lambda: codes == missing,
    }[term.kind]
    return term.weight * holds().astype(np.int64)


# --- from floats to whole numbers ------------------------------------------------------------------------------------


def quantise(
    model: SMaLLModel,
    number: str = "int16",
    ranges: Mapping[str, tuple[float, float]] | None = None,
    counts: Mapping[str, tuple[float, float, int, int]] | None = None,
) -> IntegerModel:
    """The model with weights of type ``number``: "int8", "int16" or "int32".

    ``counts[label] = (scale, offset, least, greatest)`` says that the device reads a whole number in
    [least, greatest] for which the feature is ``scale · count + offset``. ``ranges[label] = (low, high)`` spreads the
    codes of a feature over that range; the default is the training range. A number that is compared for equality, or
    without a range, and has no raw term gets a code for each side of its cut points, which is exact.
    """
    check_choice("number", number, tuple(BITS))
    flat = flatten(model)
    coders = _coders(flat, number, dict(ranges or {}), dict(counts or {}))
    reach = max((max(-coder.least, coder.greatest) for coder in coders if isinstance(coder, Count | Text)), default=0)
    input_bits = next((bits for bits in (8, 16, 32) if bits >= BITS[number] and reach < 2 ** (bits - 1)), 0)
    if not input_bits:
        raise ValueError(f"A code of {reach} does not fit 32 bits: declare a smaller range in counts.")
    exact = sketch(flat, coders, BITS[number])
    wide = 2 * input_bits if exact.has_products else BITS[number]
    best = exact.best(2 ** (BITS[number] - 1) - 1, 2 ** (wide - 1) - 1)
    if len(best.terms) < len(exact.parts) and not exact.has_products:  # so many literals that some would vanish
        best = exact.best(2 ** (BITS[number] - 1) - 1, 2 ** (2 * wide - 1) - 1)
    sum_bits = max(bits_for(interval) for interval in best.intervals)
    types = (input_bits, sum_bits, best.intervals)
    return IntegerModel(model, flat, number, best.intercepts, best.terms, coders, best.factor, *types)


def bits_for(interval: tuple[int, int]) -> int:
    """The width of the least type that holds an interval and its negative."""
    most = max(map(abs, interval))
    return next(bits for bits in (8, 16, 32, 64) if most < 2 ** (bits - 1))


def _coders(flat: FlatModel, number: str, ranges: dict, counts: dict) -> tuple[Coder, ...]:
    numeric = [given.label for given in flat.inputs if not given.is_text]
    strange = [label for label in (*ranges, *counts) if label not in numeric]
    if strange:
        raise ValueError(
            f"ranges and counts are for numbers that the model uses ({listed(numeric)}), not {listed(strange)}."
        )
    twice = [label for label in ranges if label in counts]
    if twice:
        raise ValueError(f"{listed(twice)} is in ranges and in counts: give one of them.")
    made = []
    for position, given in enumerate(flat.inputs):
        mine = [term for term in flat.terms if term.input == position]
        made.append(_coder(given, mine, MOST_STEPS[number], ranges, counts))
    return tuple(made)


def _coder(given: Input, terms: list[FlatTerm], Q: int, ranges: dict, counts: dict) -> Coder:
    if given.is_text:
        return Text(given.categories)
    if given.label in counts:
        return _count(given.label, counts[given.label])
    if given.label in ranges:
        low, high = _parts(ranges[given.label], 2, f"ranges[{show(given.label)}]", "(low, high)")
        return linear(given.label, low, high, Q)
    kinds = {term.kind for term in terms}
    sharp = "equals" in kinds and "raw" not in kinds  # evenly spaced codes would take neighbours for equals
    if given.low is not None and given.high is not None and not sharp:
        return linear(given.label, given.low, given.high, Q)
    if "raw" not in kinds:
        steps = Steps.of([(term.kind, term.value) for term in terms if term.kind != "missing"])
        if steps.greatest > Q:
            raise ValueError(f"{show(given.label)} has {steps.greatest} cut points, more than {Q}: use a wider number.")
        return steps
    raise ValueError(
        f"The range of {show(given.label)} is not known: give it in ranges={{label: (low, high)}}, "
        "or in counts={label: (scale, offset, least, greatest)} if the device reads whole numbers."
    )


def _count(label: str, entry: Any) -> Count:
    where = f"counts[{show(label)}]"
    scale, offset, least, greatest = _parts(entry, 4, where, "(scale, offset, least, greatest)")
    if int(least) != least or int(greatest) != greatest or not least <= greatest:
        raise ValueError(f"{where}: the least and the greatest count are whole numbers in order: {least}, {greatest}.")
    made = Count(float(scale), float(offset), int(least), int(greatest))
    ends = [made.value(made.least), made.value(made.greatest)]
    if made.scale == 0.0 or not np.isfinite([made.scale, made.shift, *ends]).all():
        raise ValueError(f"{where}: scale · count + offset must be finite, and the scale not 0: {show(entry)}.")
    return made


def _parts(entry: Any, size: int, where: str, form: str) -> tuple:
    try:
        parts = tuple(entry)
        if len(parts) != size or not np.isfinite(np.array(parts, dtype=float)).all():
            raise ValueError
    except (TypeError, ValueError):
        raise ValueError(f"{where} must be {form}, finite numbers, not {show(entry)}.") from None
    return parts
