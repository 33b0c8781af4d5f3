"""Rows that a model may be asked about, drawn over the ranges of its inputs."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from smallearn.export._flat import FlatModel

ROWS = 200
AT_CUTS = 0.5
MISSING = 0.1  # the share of missing values, where they may be


def typical_rows(
    flat: FlatModel,
    ranges: Mapping[str, Any] | None = None,
    counts: Mapping[str, Any] | None = None,
    n_rows: int = ROWS,
    at_cuts: float = AT_CUTS,
    leaning: Sequence[float] = (1.0,),
) -> np.ndarray:
    """Rows of all features, always the same: over the range of each input, a share of them at its cut points, some
    missing. ``leaning`` are powers: with one below 1 the values of a row lean to the high end, above 1 to the low."""
    rng = np.random.default_rng(0)
    power = np.resize(leaning, n_rows)
    rows = np.zeros((n_rows, flat.n_features), dtype=object)
    for position, input_ in enumerate(flat.inputs):
        accepted = None if input_.accepted is None else input_.accepted.categories
        if accepted is not None:
            values = rng.choice(np.array(accepted, dtype=object), n_rows)
        elif input_.is_text:
            values = rng.choice(np.array([*input_.categories, "\0"], dtype=object), n_rows)
        else:
            low, high = _range(flat, position, ranges or {}, counts or {})
            values = (low + 2.0 * ((0.5 * high - 0.5 * low) * rng.random(n_rows) ** power)).astype(object)
            cuts = _cuts(flat, position)
            if cuts and at_cuts:
                at_cut = rng.random(n_rows) < at_cuts
                values[at_cut] = rng.choice(cuts, at_cut.sum())
        if input_.may_be_missing and (input_.accepted is None or input_.accepted.missing):
            values[rng.random(n_rows) < MISSING] = None
        rows[:, input_.feature] = values
    return rows


def _cuts(flat: FlatModel, position: int) -> list[float]:
    """The cut points of an input, and the values next to them on both sides."""
    cuts = {term.value for term in flat.terms if term.input == position and isinstance(term.value, float)}
    near = {math.nextafter(cut, side) for cut in cuts for side in (-math.inf, math.inf)}
    return sorted(cut for cut in cuts | near if math.isfinite(cut))


def _range(flat: FlatModel, position: int, ranges: Mapping[str, Any], counts: Mapping[str, Any]) -> tuple[float, float]:
    """The declared range of an input, else that of the training rows, else one around the cut points."""
    input_ = flat.inputs[position]
    if input_.label in ranges:
        low, high = ranges[input_.label]
        return float(low), float(high)
    if input_.label in counts:
        scale, offset, least, greatest = counts[input_.label]
        low, high = sorted((scale * least + offset, scale * greatest + offset))
        return low, high
    if input_.low is not None and input_.high is not None:
        return input_.low, input_.high
    cuts = _cuts(flat, position) or [0.0]
    return max(min(cuts) - 1.0, -1e300), min(max(cuts) + 1.0, 1e300)
