"""A model in float32 or float64, and how far its scores can be from `SMaLLModel`'s."""

import math
from typing import Any

import numpy as np

from smallearn.export.numbers import TargetModel, TargetTerm, float32_at_most, read_inputs, term_texts
from smallearn.export.terms import FlatModel, FlatTerm, flatten
from smallearn.model import SMaLLModel
from smallearn.words import show

UNIT = {"float32": 2.0**-24, "float64": 2.0**-53}  # half the distance from 1 to the next number
TINY = {"float32": 2.0**-149, "float64": 2.0**-1074}  # the least positive number
GREATEST = {"float32": float(np.finfo(np.float32).max), "float64": float(np.finfo(np.float64).max)}


def in_floats(model: SMaLLModel, number: str = "float32") -> TargetModel[float]:
    """The model with weights, intercepts and means rounded to float32 (or left as they are: float64).

    Cut points are rounded down, so that ``x ≤ t`` is the same for every float32 x. A number that float32 cannot hold is
    equal to none, so its term falls away.
    """
    flat = flatten(model)
    narrow = number == "float32"
    terms = []
    for term, text in zip(flat.terms, term_texts(flat), strict=True):
        made = _term(flat, term, text, narrow)
        if made is not None:
            terms.append(made)
    intercepts = tuple(_rounded(b, f"the constant of prototype {j + 1}", narrow) for j, b in enumerate(flat.intercepts))
    return TargetModel(model, flat, number, intercepts, tuple(terms))


def _term(flat: FlatModel, term: FlatTerm, text: str, narrow: bool) -> TargetTerm[float] | None:
    weight = _rounded(term.weight, f"the weight of {text}", narrow)
    value: Any = term.value
    instead = None
    if flat.inputs[term.input].is_text:
        value = None if value is None else float(1 + flat.inputs[term.input].categories.index(value))
    elif term.kind in ("at_most", "above") and narrow:
        value = float32_at_most(value)  # minus infinity below every float32: `above` holds for all that is not missing
    elif term.kind == "equals" and narrow and float32_at_most(value) != value:
        return None
    if term.kind == "raw" and term.mean is not None:
        instead = _rounded(term.weight * term.mean, f"the weight of {text} times its mean", narrow)
    return TargetTerm(term.prototype, term.input, weight, term.kind, text, value, None, instead)


def _rounded(number: float, what: str, narrow: bool) -> float:
    with np.errstate(over="ignore"):
        near = float(np.float32(number)) if narrow else number
    if not math.isfinite(near):
        raise ValueError(
            f"{what[0].upper()}{what[1:]} is {show(number)}, beyond what {'float32' if narrow else 'float64'} can hold "
            f"(±{GREATEST['float32' if narrow else 'float64']:.4g}): rescale the features"
            f"{' or use number=' + repr('float64') if narrow else ''}."
        )
    return near
