"""Rows as the inputs of a compiled model."""

from typing import Any

import numpy as np

from smallearn.export._fixed.numbers import TargetModel, read_inputs
from smallearn.export._fixed.quantise import IntegerModel


def encode(target: TargetModel, X: Any) -> tuple[np.ndarray, str]:
    """The readings or codes of rows as `SMaLLModel.predict` takes them, and their type."""
    if isinstance(target, IntegerModel) and target.readings != "float":
        return target.codes(X), f"{'u' if target.unsigned else ''}int{target.input_bits}"
    with np.errstate(over="ignore"):
        return read_inputs(target.model, target.flat, X).astype(np.float32), "float32"
