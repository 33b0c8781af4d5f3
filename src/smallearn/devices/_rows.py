"""Rows that a cost is measured on, and rows as the inputs of a compiled model."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from smallearn.export._fixed.float32 import in_floats
from smallearn.export._fixed.numbers import TargetModel, read_inputs
from smallearn.export._fixed.quantise import BITS, IntegerModel, quantise
from smallearn.export._flat import FlatModel
from smallearn.model import SMaLLModel

ROWS = 200
GAPS = 0.1  # of the values that may be missing


def target_of(model: SMaLLModel, number: str, given: Mapping[str, Any]) -> TargetModel:
    """The model in the numbers of its C code. ``given`` are the options ``ranges`` and ``counts`` of `to_c`."""
    if number in BITS:
        return quantise(model, number, given.get("ranges"), given.get("counts"))
    return in_floats(model, number)


def encode(target: TargetModel, X: Any) -> tuple[np.ndarray, str]:
    """Rows as `SMaLLModel` takes them as the inputs of the compiled function, and the type of these."""
    if isinstance(target, IntegerModel):
        return target.codes(X), f"int{target.input_bits}"
    with np.errstate(over="ignore"):
        return read_inputs(target.model, target.flat, X).astype(np.float32), "float32"


def typical_rows(flat: FlatModel, given: Mapping[str, Any], count: int = ROWS) -> np.ndarray:
    """Rows of all features, always the same: values over the range of each input and at its cut points, and some that
    are missing."""
    rng = np.random.default_rng(0)
    rows = np.zeros((count, flat.n_features), dtype=object)
    for position, one in enumerate(flat.inputs):
        if one.is_text:
            values = rng.choice(np.array([*one.categories, "\0"], dtype=object), count)
        else:
            low, high = _range(flat, position, given)
            values = rng.uniform(low, high, count).astype(object)
            cuts = _cuts(flat, position)
            if cuts:
                at = rng.random(count) < 0.5
                values[at] = rng.choice(cuts, at.sum())
        if one.may_be_missing:
            values[rng.random(count) < GAPS] = None
        rows[:, one.feature] = values
    return rows


def _cuts(flat: FlatModel, position: int) -> list[float]:
    """Values on both sides of every cut point of an input."""
    cuts = {term.value for term in flat.terms if term.input == position and isinstance(term.value, float)}
    near = {math.nextafter(cut, side) for cut in cuts for side in (-math.inf, math.inf)}
    return sorted(cut for cut in cuts | near if math.isfinite(cut))


def _range(flat: FlatModel, position: int, given: Mapping[str, Any]) -> tuple[float, float]:
    """As declared, else of the training rows, else around the cut points."""
    one = flat.inputs[position]
    if one.label in (given.get("ranges") or {}):
        low, high = given["ranges"][one.label]
        return float(low), float(high)
    if one.label in (given.get("counts") or {}):
        scale, offset, least, greatest = given["counts"][one.label]
        low, high = sorted((scale * least + offset, scale * greatest + offset))
        return low, high
    if one.low is not None and one.high is not None:
        return one.low, one.high
    cuts = _cuts(flat, position) or [0.0]
    return max(min(cuts) - 1.0, -1e300), min(max(cuts) + 1.0, 1e300)
