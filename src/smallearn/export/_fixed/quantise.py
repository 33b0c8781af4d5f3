"""A model in whole numbers: codes for the inputs, integer weights, sums that cannot overflow.

With ``x ≈ slope · code + offset`` (see `codes`) a raw term ``w · x`` is ``(w · slope) · code`` plus a constant. All
weights and constants are multiplied by one factor and rounded. The factor is the one with the smallest worst-case error
among those for which no sum can overflow (see `scaling`).

`IntegerModel` computes in int64 exactly what the exported C code computes: it is the additive rule in whole numbers,
where `smallearn.model._decision` is that in float64.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from smallearn._errors import Parameter, ParameterError, check_choice
from smallearn._text import listed, show
from smallearn.export._fixed.codes import Coder, Count, FloatBits, Linear, Shifted, Steps, Text, linear, shifted
from smallearn.export._fixed.float32 import in_floats
from smallearn.export._fixed.numbers import NUMBERS, TargetModel, TargetTerm, read_inputs
from smallearn.export._fixed.probability import ProbabilityTable, probability_table
from smallearn.export._fixed.scaling import Rounded, sketch
from smallearn.export._flat import FlatModel, FlatTerm, Input, flatten
from smallearn.model import SMaLLModel
from smallearn.model._arguments import as_model
from smallearn.model._decision import winners

BITS = {"int8": 8, "int8x16": 8, "int16": 16, "int32": 32}  # of a weight
READINGS = ("codes", "counts", "float")
CODE_BITS = BITS | {"int8x16": 16}
MOST_STEPS = {"int8": 127, "int8x16": 32767, "int16": 32767, "int32": 2**30 - 1}  # Q; twice that must fit 32 bits


@dataclass(frozen=True)
class IntegerModel(TargetModel[int]):
    """A model in whole numbers, made by `quantise`; it predicts exactly what the exported C code predicts.

    Scores are ``factor`` times those of the model, rounded.

    Parameters
    ----------
    model : SMaLLModel
        The model it was made from.
    flat : FlatModel
        The same as a flat list of terms.
    number : {"int8", "int8x16", "int16", "int32"}
        The type of the weights; "int8x16": weights of 8 bits on codes of 16.
    intercepts : tuple of int
        The constant of each prototype.
    terms : tuple
        The terms on codes.
    cut : int
        With two classes, the score that the owner of the prototypes must exceed; 0 for a probability of one half.
    offsets : tuple of int
        With more, what is added to the score of each class before they are compared; empty for nothing.
    coders : tuple
        How the value of each input becomes a code.
    factor : Fraction
        What the weights were multiplied by.
    input_bits : int
        The width of a code. The least number of that width is the code of a missing value.
    sum_bits : int
        The width of a score.
    intervals : tuple of (int, int)
        For each prototype, an interval that holds every product and partial sum for all codes that its inputs can have:
        those declared for counts, and all codes of ``number`` for the others.
    readings : {"codes", "counts", "float"}
        What the device passes: codes, whole numbers as it reads them, or float32, whose bits become codes.
    unsigned : bool
        Whether the type of a code has no sign.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from smallearn import SMaLLClassifier
    >>> from smallearn.export import quantise
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> clf = SMaLLClassifier(1, 2, random_state=0).fit(X, y)
    >>> whole = quantise(clf, "int8")
    >>> whole.input_bits, whole.sum_bits, whole.predict_rows(X[:3])
    (8, 16, array([0, 0, 0]))
    """

    coders: tuple[Coder, ...]
    factor: Fraction
    input_bits: int
    sum_bits: int
    intervals: tuple[tuple[int, int], ...]
    readings: str = "codes"
    unsigned: bool = False

    @property
    def missing(self) -> int:
        """The code of a missing value."""
        return -(2 ** (self.input_bits - 1))

    def codes(self, X: Any) -> np.ndarray:
        """Encode rows.

        Parameters
        ----------
        X : array, sparse matrix or table
            Rows as `SMaLLModel.predict` takes them.

        Returns
        -------
        ndarray of int64, shape (n_rows, n_inputs)
            Codes, clipped to the declared ranges.
        """
        values = read_inputs(self.model, self.flat, X)
        codes = np.full(values.shape, self.missing, dtype=np.int64)
        for position, coder in enumerate(self.coders):
            known = ~np.isnan(values[:, position])
            codes[known, position] = coder.encode(values[known, position])
        return codes

    def contributions(self, codes: Any) -> np.ndarray:
        """Compute what each term adds to its score.

        Parameters
        ----------
        codes : array of int, shape (n_rows, n_inputs)
            What `codes` returns.

        Returns
        -------
        ndarray of int64, shape (n_rows, n_terms)
        """
        codes = np.asarray(codes, dtype=np.int64)
        added = np.zeros((len(codes), len(self.terms)), dtype=np.int64)
        for position, term in enumerate(self.terms):
            added[:, position] = _added(term, codes[:, term.input], self.missing)
        return added

    def scores(self, codes: Any) -> np.ndarray:
        """Compute the score of every prototype.

        Parameters
        ----------
        codes : array of int, shape (n_rows, n_inputs)
            What `codes` returns.

        Returns
        -------
        ndarray of int64, shape (n_rows, n_prototypes)
        """
        added = self.contributions(codes)
        z = np.tile(np.array(self.intercepts, dtype=np.int64), (len(added), 1))
        for position, term in enumerate(self.terms):
            z[:, term.prototype] += added[:, position]
        return z

    def predict(self, codes: Any) -> np.ndarray:
        """Predict the position of the class from codes.

        Parameters
        ----------
        codes : array of int, shape (n_rows, n_inputs)
            What `codes` returns.

        Returns
        -------
        ndarray of int64, shape (n_rows,)
            Positions in the model's classes.
        """
        return decide(self, self.scores(codes))

    def predict_rows(self, X: Any) -> np.ndarray:
        """Predict the position of the class from rows.

        Parameters
        ----------
        X : array, sparse matrix or table
            Rows as `SMaLLModel.predict` takes them.

        Returns
        -------
        ndarray of int64, shape (n_rows,)
            Positions in the model's classes.
        """
        return self.predict(self.codes(X))

    @cached_property
    def probability_table(self) -> ProbabilityTable:
        """The table that probabilities are computed by.

        Returns
        -------
        ProbabilityTable
            With ``error``, a bound on how far a probability is from that of the same scores computed exactly.
        """
        return probability_table(Fraction(self.flat.scale) / self.factor, self.reach, len(self.flat.classes))

    @property
    def reach(self) -> int:
        """How far the scores of two classes can be apart.

        Returns
        -------
        int
        """
        least, greatest = min(low for low, _ in self.intervals), max(high for _, high in self.intervals)
        return max(-least, greatest) if self.flat.has_one_owner else greatest - least

    def predict_proba(self, codes: Any) -> np.ndarray:
        """Predict the probability of each class from codes, in whole numbers.

        Parameters
        ----------
        codes : array of int, shape (n_rows, n_inputs)
            What `codes` returns.

        Returns
        -------
        ndarray of int64, shape (n_rows, n_classes)
            Steps of 1/65535, as ``NAME_predict_proba`` of the exported C code has them.
        """
        return self.probability_table.probabilities(class_scores(self, self.scores(codes)))


def class_scores(target: IntegerModel, z: np.ndarray) -> np.ndarray:
    """The score of each class, rows × classes, from those of the prototypes; 0 for a class without any."""
    owners, n_classes = np.array(target.flat.owners), len(target.flat.classes)
    best = np.zeros((len(z), n_classes), dtype=np.int64)
    for label in set(target.flat.owners):
        best[:, label] = z[:, owners == label].max(axis=1)
    return best


def decide(target: IntegerModel, z: np.ndarray) -> np.ndarray:
    """The position of the predicted class, from whole-number scores (rows × prototypes).

    `smallearn.model._decision.decide` compares in float64, which does not hold every sum of 64 bits; this one is exact.
    """
    owners = target.flat.owners
    if target.flat.has_one_owner:
        owner = owners[0]
        best = z.max(axis=1)
        return np.where(best > target.cut if owner == 1 else best >= target.cut, owner, 1 - owner)
    return np.array(owners)[deciding(target, z)]


def deciding(target: IntegerModel, z: np.ndarray) -> np.ndarray:
    """The position of the prototype that decides, from whole-number scores (rows × prototypes)."""
    shifts = [target.offsets[owner] for owner in target.flat.owners] if target.offsets else 0
    return winners(z + np.array(shifts, dtype=np.int64), target.flat.owners)


def _added(term: TargetTerm[int], codes: np.ndarray, missing: int) -> np.ndarray:
    """What a term adds, row by row; ``missing`` is the code of a missing value."""
    if term.kind == "raw":
        added = term.weight * (codes >> term.right)
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
    model: Any,
    number: str = "int16",
    ranges: Mapping[str, tuple[float, float]] | None = None,
    counts: Mapping[str, tuple[float, float, int, int]] | None = None,
    readings: str | None = None,
) -> IntegerModel:
    """Round a model to whole numbers.

    Parameters
    ----------
    model : SMaLLModel or fitted estimator
        The model.
    number : {"int8", "int8x16", "int16", "int32"}, default="int16"
        The type of the weights and the codes. "int8x16": weights of 8 bits on codes of 16.
    ranges : mapping from label to (low, high), default=None
        The range of a feature over which its codes are spread. Default: the training range. A number that has no raw
        term and is compared for equality, or has no range, gets one code for each side of its cut points: that is
        exact.
    counts : mapping from label to (scale, offset, least, greatest), default=None
        The device reads a whole number in [least, greatest], and the feature is ``scale · count + offset``.
    readings : {"codes", "counts", "float"} or None, default=None
        What the device passes. "codes": codes, made of the readings before. "counts": whole numbers as it reads them;
        `counts` then has every number that the model uses. "float": readings in float32, which are compared bit by
        bit, or become codes by a shift: no floating point is needed. None: codes, and counts of features in `counts`.

    Returns
    -------
    IntegerModel

    Raises
    ------
    ValueError
        If the range of a feature with a raw term is not known, or a declaration makes no sense.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from smallearn import SMaLLClassifier
    >>> from smallearn.export import quantise
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> clf = SMaLLClassifier(1, 2, random_state=0).fit(X, y)
    >>> whole = quantise(clf, "int8")
    >>> bool((clf.classes_[whole.predict_rows(X)] == clf.predict(X)).mean() > 0.99)
    True
    """
    check_choice("number", number, tuple(BITS))
    model = as_model(model)
    flat = flatten(model)
    if flat.decision.costs is not None:
        raise ParameterError(
            "The model predicts the class of the least expected cost, which needs probabilities and so floating point: "
            "use ",
            Parameter("number", "float32"),
            ", or a cost matrix in which the cost of an error depends on the true class alone.",
        )
    coders = _coders(flat, number, dict(ranges or {}), dict(counts or {}), readings)
    input_bits, unsigned = _input_type(flat, coders, CODE_BITS[number])
    exact = sketch(flat, coders, CODE_BITS[number])
    wide = CODE_BITS[number]
    if exact.has_products:
        wide = 2 * max(_product_bits(coder, input_bits) for coder in coders)
    best = exact.best(2 ** (BITS[number] - 1) - 1, 2 ** (wide - 1) - 1)
    if len(best.terms) < len(exact.parts) and not exact.has_products:  # some of many literals would round to 0
        best = exact.best(2 ** (BITS[number] - 1) - 1, 2 ** (2 * wide - 1) - 1)
    return IntegerModel(
        model=model,
        flat=flat,
        number=number,
        intercepts=best.intercepts,
        terms=best.terms,
        cut=_whole_cut(flat, best),
        offsets=_whole_offsets(flat, best),
        coders=coders,
        factor=best.factor,
        input_bits=input_bits,
        sum_bits=max(bits_for(interval) for interval in best.intervals),
        intervals=best.intervals,
        readings=readings or "codes",
        unsigned=unsigned,
    )


def _product_bits(coder: Coder, input_bits: int) -> int:
    """The width of what a weight is multiplied by."""
    if isinstance(coder, Shifted):
        return coder.width
    return 8 if isinstance(coder, FloatBits) or (isinstance(coder, Count) and coder.right) else input_bits


def _input_type(flat: FlatModel, coders: Sequence[Coder], least_bits: int) -> tuple[int, bool]:
    """The width of a code, and whether its type has no sign: counts from 0 on need none."""
    gaps = any(input_.may_be_missing for input_ in flat.inputs)
    if coders and not gaps and all(isinstance(coder, Count) and coder.least >= 0 for coder in coders):
        reach = max(coder.greatest for coder in coders)
        bits = next((bits for bits in (8, 16) if reach < 2**bits), None)
        if bits is not None and reach >= 2 ** (max(bits, least_bits) - 1):
            return bits, True
    reach = max((max(-coder.least, coder.greatest) for coder in coders if not isinstance(coder, Linear)), default=0)
    input_bits = next((bits for bits in (8, 16, 32) if bits >= least_bits and reach < 2 ** (bits - 1)), None)
    if input_bits is None:
        raise ValueError(f"A code of {reach} does not fit 32 bits: declare a smaller range in counts.")
    return input_bits, False


def _whole_cut(flat: FlatModel, rounded: Rounded) -> int:
    """The cut between two classes times the factor: within the reach of the scores, or next to it."""
    least, greatest = min(low for low, _ in rounded.intervals), max(high for _, high in rounded.intervals)
    return max(least - 1, min(round(rounded.factor * Fraction(flat.decision.cut)), greatest + 1))


def _whole_offsets(flat: FlatModel, rounded: Rounded) -> tuple[int, ...]:
    """The offset of each class times the factor; no lower than it takes for a class never to be predicted."""
    least, greatest = min(low for low, _ in rounded.intervals), max(high for _, high in rounded.intervals)
    unit, lowest = rounded.unit, (least - greatest - 1) // rounded.unit
    offsets = (round(rounded.factor * Fraction(offset) / unit) for offset in flat.decision.offsets or ())
    return tuple(unit * max(lowest, offset) for offset in offsets)


def target_of(
    model: SMaLLModel,
    number: str,
    *,
    ranges: Mapping[str, tuple[float, float]] | None = None,
    counts: Mapping[str, tuple[float, float, int, int]] | None = None,
    readings: str | None = None,
) -> TargetModel:
    """The model in any of NUMBERS, as its C code has it."""
    check_choice("number", number, NUMBERS)
    if number in BITS:
        return quantise(model, number, ranges, counts, readings)
    check_float_options(number, ranges, counts, readings)
    return in_floats(model, number)


def check_float_options(number: str, ranges: Any, counts: Any, readings: str | None) -> None:
    """Refuse what is for whole numbers alone."""
    if readings not in (None, "float"):
        raise ParameterError(
            Parameter("readings", readings), f" needs whole numbers ({', '.join(BITS)}), not {number}."
        )
    if ranges or counts:
        raise ValueError(
            f"ranges and counts are for whole numbers ({', '.join(BITS)}), not for {number}: leave them out."
        )


def bits_for(interval: tuple[int, int]) -> int:
    """The width of the smallest type that holds an interval and its negative; 128 if no type does."""
    most = max(map(abs, interval))
    return next((bits for bits in (8, 16, 32, 64) if most < 2 ** (bits - 1)), 128)


def _coders(flat: FlatModel, number: str, ranges: dict, counts: dict, readings: str | None) -> tuple[Coder, ...]:
    numeric = [input_.label for input_ in flat.inputs if not input_.is_text]
    unknown = [label for label in (*ranges, *counts) if label not in numeric]
    if unknown and readings != "counts":  # counts of all features of a device may be declared
        raise ValueError(
            f"ranges and counts are for numbers that the model uses ({listed(numeric)}), not {listed(unknown)}."
        )
    if readings is not None:
        check_choice("readings", readings, READINGS)
    lacking = [label for label in numeric if label not in counts]
    if readings == "counts" and lacking:
        unknown = [label for label in counts if label not in numeric]
        but = f" and has {listed(unknown)}, which the model does not use" if unknown else ""
        raise ValueError(
            f"counts lacks {listed(lacking)}{but}: with readings='counts' it has every number that the model uses "
            f"({listed(numeric)})."
        )
    if readings == "float" and counts:
        raise ParameterError("counts are whole numbers: set ", Parameter("readings", "counts"), ", or leave them out.")
    twice = [label for label in ranges if label in counts]
    if twice:
        raise ValueError(f"{listed(twice)} is in both ranges and counts: declare it in one of them.")
    coders = []
    for position, input_ in enumerate(flat.inputs):
        own = [term for term in flat.terms if term.input == position]
        if readings == "float" and not input_.is_text:
            coders.append(_float_coder(input_, own, number, ranges))
        else:
            coder = _coder(input_, own, MOST_STEPS[number], ranges, counts)
            if isinstance(coder, Count) and readings == "counts" and number == "int8":
                reach = max(coder.greatest, -coder.least - 1)
                coder = replace(coder, right=max(0, reach.bit_length() - 7))
            coders.append(coder)
    return tuple(coders)


def _float_coder(input_: Input, terms: list[FlatTerm], number: str, ranges: dict) -> Coder:
    """How the bits of a reading in float32 become a code."""
    kinds = {term.kind for term in terms}
    if "raw" not in kinds:
        return FloatBits(width=16 if BITS[number] == 8 and "equals" not in kinds else 32)
    if input_.label in ranges:
        low, high = _parts(ranges[input_.label], 2, f"ranges[{show(input_.label)}]", "(low, high)")
    elif input_.low is not None and input_.high is not None:
        low, high = input_.low, input_.high
    else:
        raise ValueError(f"The range of {show(input_.label)} is not known: give it in ranges={{label: (low, high)}}.")
    return shifted(input_.label, float(low), float(high), min(CODE_BITS[number], 16))


def _coder(input_: Input, terms: list[FlatTerm], Q: int, ranges: dict, counts: dict) -> Coder:
    if input_.is_text:
        return Text(categories=input_.categories)
    if input_.label in counts:
        return _count(input_.label, counts[input_.label])
    if input_.label in ranges:
        low, high = _parts(ranges[input_.label], 2, f"ranges[{show(input_.label)}]", "(low, high)")
        return linear(input_.label, low, high, Q)
    kinds = {term.kind for term in terms}
    exact = "equals" in kinds and "raw" not in kinds  # evenly spaced codes would make neighbours equal
    if input_.low is not None and input_.high is not None and not exact:
        return linear(input_.label, input_.low, input_.high, Q)
    if "raw" not in kinds:
        steps = Steps.of([(term.kind, term.value) for term in terms if term.kind != "missing"])
        if steps.greatest > Q:
            raise ValueError(
                f"{show(input_.label)} has {steps.greatest} cut points, more than {Q}: use a wider number."
            )
        return steps
    raise ValueError(
        f"The range of {show(input_.label)} is not known: give it in ranges={{label: (low, high)}}, "
        "or in counts={label: (scale, offset, least, greatest)} if the device reads whole numbers."
    )


def _count(label: str, entry: Any) -> Count:
    where = f"counts[{show(label)}]"
    scale, offset, least, greatest = _parts(entry, 4, where, "(scale, offset, least, greatest)")
    if int(least) != least or int(greatest) != greatest or not least <= greatest:
        raise ValueError(
            f"{where}: the least and the greatest count must be whole numbers in order, not {least}, {greatest}."
        )
    count = Count(scale=float(scale), shift=float(offset), least=int(least), greatest=int(greatest))
    ends = [count.value(count.least), count.value(count.greatest)]
    if count.scale == 0.0 or not np.isfinite([count.scale, count.shift, *ends]).all():
        raise ValueError(
            f"{where}: scale · count + offset must be finite, and the scale not 0, unlike in {show(entry)}."
        )
    return count


def _parts(entry: Any, size: int, where: str, form: str) -> tuple:
    try:
        parts = tuple(entry)
        if len(parts) != size or not np.isfinite(np.array(parts, dtype=float)).all():
            raise ValueError
    except (TypeError, ValueError):
        raise ValueError(f"{where} must be {form}, finite numbers, not {show(entry)}.") from None
    return parts
