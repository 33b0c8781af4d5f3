"""A model in float32 or float64, and how far its scores can be from `SMaLLModel`'s."""

import math
from typing import Any

import numpy as np

from smallearn._errors import Parameter, ParameterError
from smallearn._text import show
from smallearn.export._fixed.numbers import TargetModel, TargetTerm, float32_at_most, read_inputs, term_texts
from smallearn.export._flat import FlatModel, FlatTerm, flatten
from smallearn.model import SMaLLModel

UNIT = {"float32": 2.0**-24, "float64": 2.0**-53}  # half the distance from 1 to the next number
GREATEST = {"float32": float(np.finfo(np.float32).max), "float64": float(np.finfo(np.float64).max)}
LEAST_NORMAL = {"float32": 2.0**-126, "float64": 2.0**-1022}


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
    guarded = flat.inputs[term.input].may_be_missing
    if term.kind == "missing" and not guarded:  # another term has no answer there
        return None
    weight = _rounded(term.weight, f"the weight of {text}", narrow)
    value: Any = term.value
    instead = None
    if flat.inputs[term.input].is_text:
        value = None if value is None else float(1 + flat.inputs[term.input].categories.index(value))
    elif term.kind in ("at_most", "above") and narrow:
        value = float32_at_most(value)  # minus infinity below every float32: `above` holds for all that is not missing
    elif term.kind == "equals" and narrow and float32_at_most(value) != value:
        return None
    if term.mean is not None and guarded:
        instead = _rounded(term.weight * term.mean, f"the weight of {text} times its mean", narrow)
    return TargetTerm(term.prototype, term.input, weight, term.kind, text, value, None, instead)


def _rounded(number: float, what: str, narrow: bool) -> float:
    with np.errstate(over="ignore"):
        near = float(np.float32(number)) if narrow else number
    if not math.isfinite(near):
        format = "float32" if narrow else "float64"
        wider = (" or use ", Parameter("number", "float64")) if narrow else ()
        raise ParameterError(
            f"{what[0].upper()}{what[1:]} is {show(number)}, beyond what {format} can hold "
            f"(±{GREATEST[format]:.4g}): rescale the features",
            *wider,
            ".",
        )
    return near


# --- how far off -----------------------------------------------------------------------------------------------------


def float32_error_bound(model: SMaLLModel, X: Any) -> np.ndarray:
    """A proven bound on |float32 score − `SMaLLModel` score| for float32 inputs, rows × prototypes.

    A prototype's score is ``s = b + Σ w_i v_i`` with n terms, where v_i is x, a mean, or 0 or 1. Literals hold for the
    same float32 x in both (see `in_floats`). With u = 2⁻²⁴ and η = 2⁻¹²⁶ the result of a float32 operation, and of
    rounding a constant, is ``exact · (1 + δ) + ε`` with |δ| ≤ u and |ε| ≤ η: η covers underflow, gradual or to 0.

    - A term is rounded at most twice, its weight and its product (where x is missing: ``w_i · mean``, to float64 and
      then to float32), and takes part in at most n additions: n + 2 factors (1 + δ) or fewer. They change the sum by at
      most ``γ (|b| + Σ |w_i v_i|)``, ``γ = (n + 3) u / (1 − (n + 3) u)``.
    - A term has at most four ε: of its weight, times |v_i|; of x (0 instead of a subnormal number), times |w_i|; of the
      product; of the addition. What comes after multiplies each by at most 2 · 2. With that of b they are at most
      ``4 η (1 + Σ (|w_i| + |v_i| + 2))``.
    - `SMaLLModel` itself is off by at most the same with u = 2⁻⁵³ and a smaller η. The bound is the sum of both, and
      2⁻⁴⁰ of itself for the rounding of its own computation.
    - A product and a sum that are fused into one operation have one δ and one ε less.
    - It is infinite where a product or a partial sum might overflow.
    """
    flat = flatten(model)
    inputs = read_inputs(model, flat, X)
    with np.errstate(over="ignore"):
        if not np.array_equal(inputs, inputs.astype(np.float32), equal_nan=True):
            raise ValueError("X has numbers that float32 does not hold: round them first, X.astype(numpy.float32).")
    return error_bound(flat, inputs, "float32")


def error_bound(flat: FlatModel, inputs: np.ndarray, number: str) -> np.ndarray:
    """`float32_error_bound` for inputs as `read_inputs` gives them, which numbers of this type hold."""
    size = np.tile(np.abs(flat.intercepts), (len(inputs), 1))
    under = np.ones_like(size)
    length = np.zeros(len(flat.intercepts))
    for term in flat.terms:
        factor = np.abs(_factor(flat, term, inputs))
        with np.errstate(over="ignore"):
            size[:, term.prototype] += abs(term.weight) * factor
            under[:, term.prototype] += abs(term.weight) + factor + 2.0
        length[term.prototype] += 1
    with np.errstate(over="ignore", invalid="ignore"):
        ours, theirs = (_gamma(length + 3, UNIT[kind]) for kind in (number, "float64"))
        bound = (1.0 + 2.0**-40) * ((ours + theirs) * size + 8.0 * LEAST_NORMAL[number] * under)
        safe = size + bound < (1.0 - 2.0**-20) * GREATEST[number]
    return np.where(safe, bound, np.inf)


def _gamma(count: np.ndarray, unit: float) -> np.ndarray:
    return count * unit / (1.0 - count * unit)


def _factor(flat: FlatModel, term: FlatTerm, inputs: np.ndarray) -> np.ndarray:
    """What the weight of a term is multiplied by."""
    x = inputs[:, term.input]
    value: Any = term.value
    if term.kind == "raw":
        return x if term.mean is None else np.where(np.isnan(x), term.mean, x)
    if term.kind == "missing":
        return np.isnan(x).astype(float)
    if flat.inputs[term.input].is_text:
        value = 1.0 + flat.inputs[term.input].categories.index(value)
    compare = {"at_most": np.less_equal, "above": np.greater, "equals": np.equal}[term.kind]
    with np.errstate(invalid="ignore"):
        return compare(x, value).astype(float)


def exact_scores(flat: FlatModel, inputs: np.ndarray) -> np.ndarray:
    """`SMaLLModel.scores` of inputs as `read_inputs` gives them."""
    z = np.tile(np.array(flat.intercepts), (len(inputs), 1))
    with np.errstate(over="ignore", invalid="ignore"):
        for term in flat.terms:
            z[:, term.prototype] += term.weight * _factor(flat, term, inputs)
    return z


def certain(flat: FlatModel, z: np.ndarray, bound: np.ndarray) -> np.ndarray:
    """The rows whose class is the same for all scores that are at most ``bound`` away from ``z``."""
    with np.errstate(invalid="ignore"):
        low, high = z - bound, z + bound
    if flat.is_binary:
        return (low > 0).any(axis=1) | (high < 0).all(axis=1)
    owners = np.array(flat.owners)
    best = np.column_stack([low[:, owners == label].max(axis=1) for label in range(len(flat.classes))])
    rival = np.column_stack([high[:, owners == label].max(axis=1) for label in range(len(flat.classes))])
    winner = best.argmax(axis=1)
    rival[np.arange(len(z)), winner] = -np.inf
    return best.max(axis=1) > rival.max(axis=1)
