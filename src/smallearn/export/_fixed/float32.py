"""A model in float32 or float64, and a bound on how far its scores are from those of `SMaLLModel`.

C computes in the float type itself; nothing here does. `exact_scores` is the rule of `smallearn.model._decision`, in
float64, on inputs that were rounded before.
"""

import math
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from smallearn._errors import Parameter, ParameterError
from smallearn._text import show
from smallearn.export._fixed.numbers import TargetModel, TargetTerm, float32_at_most, read_inputs, term_texts
from smallearn.export._flat import FlatModel, FlatTerm, as_term, flatten
from smallearn.model import Prototype, SMaLLModel, Term
from smallearn.model._arguments import as_model
from smallearn.model._columns import Column
from smallearn.model._decision import class_scores, compared, score

UNIT = {"float32": 2.0**-24, "float64": 2.0**-53}  # half the distance from 1 to the next number
GREATEST = {"float32": float(np.finfo(np.float32).max), "float64": float(np.finfo(np.float64).max)}
LEAST_NORMAL = {"float32": 2.0**-126, "float64": 2.0**-1022}
LARGEST_COST = 1e30  # whose sums float32 holds


def in_floats(model: SMaLLModel, number: str = "float32") -> TargetModel[float]:
    """The model with weights, constants and means rounded to float32, or left as they are for float64.

    Cut points are rounded down, so that ``x ≤ t`` is the same for every float32 x. A number that float32 cannot hold
    equals no float32, so a term that compares with it is dropped.
    """
    flat = flatten(model)
    narrow = number == "float32"
    terms = [_term(flat, term, text, narrow) for term, text in zip(flat.terms, term_texts(flat), strict=True)]
    intercepts = tuple(_rounded(b, f"the constant of prototype {j + 1}", narrow) for j, b in enumerate(flat.intercepts))
    return TargetModel(
        model=model,
        flat=flat,
        number=number,
        intercepts=intercepts,
        terms=tuple(term for term in terms if term is not None),
        cut=_clipped(flat.decision.cut, number),
        offsets=tuple(_clipped(offset, number) for offset in flat.decision.offsets or ()),
    )


def _term(flat: FlatModel, term: FlatTerm, text: str, narrow: bool) -> TargetTerm[float] | None:
    """The term in floats; None if it never holds."""
    guarded = flat.inputs[term.input].may_be_missing
    if term.kind == "missing" and not guarded:  # another term makes the row an error there
        return None
    weight = _rounded(term.weight, f"the weight of {text}", narrow)
    value: Any = term.value
    instead = None
    if flat.inputs[term.input].is_text:
        value = None if value is None else float(1 + flat.inputs[term.input].categories.index(value))
    elif term.kind in ("at_most", "above") and narrow:
        value = float32_at_most(value)  # minus infinity below every float32: then `above` holds unless x is missing
    elif narrow and _is_lost(term):
        return None
    if term.mean is not None and guarded:
        instead = _rounded(term.weight * term.mean, f"the weight of {text} times its mean", narrow)
    return TargetTerm(
        prototype=term.prototype,
        input=term.input,
        weight=weight,
        kind=term.kind,
        text=text,
        value=value,
        instead=instead,
    )


def _is_lost(term: FlatTerm) -> bool:
    """Whether a term compares with a number that no float32 equals."""
    return term.kind == "equals" and isinstance(term.value, float) and float32_at_most(term.value) != term.value


def flat_in_float32(flat: FlatModel) -> FlatModel:
    """The model with every number rounded to float32, as `in_floats` does it, means and costs as well.

    Costs that are too large for sums in float32 are divided by the greatest, which decides the same.
    """
    terms = []
    for term, text in zip(flat.terms, term_texts(flat), strict=True):
        if _is_lost(term):
            continue
        value = float32_at_most(term.value) if term.kind in ("at_most", "above") else term.value  # type: ignore[arg-type]
        mean = None if term.mean is None else _rounded(term.mean, f"the mean of {text}", True)
        terms.append(replace(term, weight=_rounded(term.weight, f"the weight of {text}", True), value=value, mean=mean))
    intercepts = (_rounded(b, f"the constant of prototype {j + 1}", True) for j, b in enumerate(flat.intercepts))
    decision = flat.decision
    most = max((abs(cost) for row in decision.costs or () for cost in row), default=0.0)
    divisor = most if most > LARGEST_COST else 1.0
    costs = decision.costs and tuple(tuple(_clipped(c / divisor, "float32") for c in row) for row in decision.costs)
    offsets = decision.offsets and tuple(_clipped(offset, "float32") for offset in decision.offsets)
    scale = _clipped(flat.scale, "float32")
    return replace(
        flat,
        intercepts=tuple(intercepts),
        terms=tuple(terms),
        scale=scale,
        decision=decision._replace(cut=_clipped(decision.cut, "float32"), offsets=offsets, costs=costs, scale=scale),
    )


def _rounded(number: float, what: str, narrow: bool) -> float:
    """The nearest float32, or the number itself; ``what`` names it in an error."""
    kind = "float32" if narrow else "float64"
    with np.errstate(over="ignore"):
        nearest = float(np.float32(number)) if narrow else number
    if not math.isfinite(nearest):
        wider = (" or use ", Parameter("number", "float64")) if narrow else ()
        raise ParameterError(
            f"{what[0].upper()}{what[1:]} is {show(number)}, beyond what {kind} can hold (±{GREATEST[kind]:.4g}): "
            "rescale the features",
            *wider,
            ".",
        )
    return nearest


def _clipped(number: float, kind: str) -> float:
    """The nearest number of this type to a number that scores are compared with."""
    most = GREATEST[kind]
    number = max(-most, min(number, most))
    return float(np.float32(number)) if kind == "float32" else number


# --- the bound -------------------------------------------------------------------------------------------------------


def float32_error_bound(model: Any, X: Any) -> np.ndarray:
    """Bound the difference between scores computed in float32 and those of `SMaLLModel`.

    Parameters
    ----------
    model : SMaLLModel or fitted estimator
        The model.
    X : array, sparse matrix or table
        Rows as `SMaLLModel.predict` takes them, of numbers that float32 holds.

    Returns
    -------
    ndarray, shape (n_rows, n_prototypes)
        A proven bound on ``|score in float32 − score of the model|``; infinite where float32 may overflow.

    Raises
    ------
    ValueError
        If X has numbers that float32 does not hold.

    Notes
    -----
    A prototype's score is ``s = b + Σ w_i v_i`` with n terms, where v_i is x, a mean, or 0 or 1. Literals hold for the
    same float32 x in both, as cut points are rounded down. With u = 2⁻²⁴ and η = 2⁻¹²⁶ the result of a float32
    operation, and of rounding a constant, is ``exact · (1 + δ) + ε`` with ``|δ| ≤ u`` and ``|ε| ≤ η``: η covers
    underflow, gradual or to 0.

    - A term is rounded at most three times, its weight, its mean and its product (in C and ONNX twice: its weight and
      its product, where x is missing ``w_i · mean``, to float64 and then to float32), and takes part in at most n
      additions: n + 3 factors (1 + δ) or fewer. They change the sum by at most ``γ (|b| + Σ |w_i v_i|)``,
      ``γ = (n + 3) u / (1 − (n + 3) u)``.
    - A term has at most four ε: of its weight, times ``|v_i|``; of x (0 instead of a subnormal number) or the mean,
      times ``|w_i|``; of the product; of the addition. Later operations multiply each by at most 2 · 2. With
      that of b they are at most ``4 η (1 + Σ (|w_i| + |v_i| + 2))``.
    - `SMaLLModel` itself is off by at most the same with u = 2⁻⁵³ and a smaller η. The bound is the sum of both, and
      2⁻⁴⁰ of itself for the rounding of its own computation.
    - A product and a sum that are fused into one operation have one δ and one ε less.
    - It is infinite where a product or a partial sum might overflow.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_breast_cancer
    >>> from smallearn import SMaLLClassifier
    >>> from smallearn.export import float32_error_bound
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> clf = SMaLLClassifier(1, 2, random_state=0).fit(X, y)
    >>> bool(float32_error_bound(clf, X.astype(np.float32)).max() < 1e-3)
    True
    """
    model = as_model(model)
    flat = flatten(model)
    inputs = read_inputs(model, flat, X)
    with np.errstate(over="ignore"):
        if not np.array_equal(inputs, inputs.astype(np.float32), equal_nan=True):
            raise ValueError("X has numbers that float32 does not hold: round them first, X.astype(numpy.float32).")
    return error_bound(flat, inputs, "float32")


def error_bound(flat: FlatModel, inputs: np.ndarray, number: str) -> np.ndarray:
    """`float32_error_bound` for the result of `read_inputs`, in numbers that this type holds."""
    size = np.tile(np.abs(flat.intercepts), (len(inputs), 1))
    under = np.ones_like(size)
    for j, prototype in enumerate(_on_inputs(flat)):
        for term in prototype.terms:
            factor = np.abs(_factor(inputs, term))
            with np.errstate(over="ignore"):
                size[:, j] += abs(term.weight) * factor
                under[:, j] += abs(term.weight) + factor + 2.0
    length = np.array([len(flat.of(j)) for j in range(len(flat.owners))], dtype=float)
    with np.errstate(over="ignore", invalid="ignore"):
        device, model = (_gamma(length + 3, UNIT[kind]) for kind in (number, "float64"))
        bound = (1.0 + 2.0**-40) * ((device + model) * size + 8.0 * LEAST_NORMAL[number] * under)
        safe = size + bound < (1.0 - 2.0**-20) * GREATEST[number]
    return np.where(safe, bound, np.inf)


def _gamma(count: np.ndarray, unit: float) -> np.ndarray:
    return count * unit / (1.0 - count * unit)


def exact_scores(flat: FlatModel, inputs: np.ndarray) -> np.ndarray:
    """`SMaLLModel.scores` for the result of `read_inputs`, infinite where they overflow."""
    z = np.empty((len(inputs), len(flat.owners)))
    with np.errstate(over="ignore", invalid="ignore"):
        for j, prototype in enumerate(_on_inputs(flat)):
            z[:, j] = score(prototype, partial(_factor, inputs))
    return z


def _on_inputs(flat: FlatModel) -> list[Prototype]:
    """The prototypes for the result of `read_inputs`: features are the inputs' positions, categories their numbers."""
    terms = []
    for term in flat.terms:
        value, input_ = term.value, flat.inputs[term.input]
        if input_.is_text and value is not None:
            value = 1.0 + input_.categories.index(value)
        terms.append(replace(as_term(flat, term), feature=term.input, value=value))
    pairs = list(zip(flat.terms, terms, strict=True))
    return [
        Prototype(owner=owner, intercept=intercept, terms=tuple(term for one, term in pairs if one.prototype == j))
        for j, (owner, intercept) in enumerate(zip(flat.owners, flat.intercepts, strict=True))
    ]


def _factor(inputs: np.ndarray, term: Term) -> np.ndarray:
    """What the weight of a term is multiplied by, row by row."""
    return Column(inputs[:, term.feature], term.label).factor(term).astype(float)


def certain(flat: FlatModel, z: np.ndarray, bound: np.ndarray, number: str = "float32") -> np.ndarray:
    """Which rows have the same class for all scores that are at most ``bound`` away from ``z``.

    What the scores are compared with may be rounded to numbers of this type.
    """
    decision, n_classes = flat.decision, len(flat.classes)
    with np.errstate(invalid="ignore"):
        low, high = z - bound, z + bound
    if flat.has_one_owner:
        off = 2.0 * UNIT[number] * abs(decision.cut)
        return (low > decision.cut + off).any(axis=1) | (high < decision.cut - off).all(axis=1)
    best, rival = class_scores(low, flat.owners, n_classes), class_scores(high, flat.owners, n_classes)
    if decision.costs is not None:
        best, rival = _cost_ends(flat, z, bound, number)
    elif decision.offsets is not None:
        offsets = np.array(decision.offsets)
        best, rival = (_with_offsets(ends, offsets, sign, number) for ends, sign in ((best, -1.0), (rival, 1.0)))
    winner = best.argmax(axis=1)
    rival = rival.copy()
    rival[np.arange(len(z)), winner] = -np.inf
    return best.max(axis=1) > rival.max(axis=1)


def _with_offsets(ends: np.ndarray, offsets: np.ndarray, sign: float, number: str) -> np.ndarray:
    """The ends of scores plus offsets, once for the rounding of the offsets and once for that of the sum."""
    return ends + offsets + sign * 2.0 * UNIT[number] * (np.abs(ends) + 2.0 * np.abs(offsets))


def _cost_ends(flat: FlatModel, z: np.ndarray, bound: np.ndarray, number: str) -> tuple[np.ndarray, np.ndarray]:
    """The least and the greatest that minus the expected cost of each class can be.

    A probability is off by a factor: of the scores' error, of the scale's, and of some roundings.
    """
    decision, n_classes = flat.decision, len(flat.classes)
    assert decision.costs is not None
    middle = compared(z, flat.owners, n_classes, decision)
    size = class_scores(z, flat.owners, n_classes)
    farthest = decision.scale * (size.max(axis=1) - size.min(axis=1))
    with np.errstate(over="ignore", invalid="ignore"):
        relative = np.expm1(
            2.0 * decision.scale * bound.max(axis=1) + UNIT[number] * (8.0 * farthest + 64.0 + n_classes)
        )
        chance = np.exp(decision.scale * (size - size.max(axis=1, keepdims=True)))
        error = relative[:, None] * (chance @ np.abs(np.array(decision.costs)))
        error += GREATEST[number] ** -1.0  # underflow
        error[np.isnan(error)] = np.inf
    return middle - error, middle + error
