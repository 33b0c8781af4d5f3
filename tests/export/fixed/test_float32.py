"""float32: cut points decide the same for every float32, and the bound on scores holds."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from smallearn.export._c.writer import to_c
from smallearn.export._fixed.float32 import float32_error_bound, in_floats
from smallearn.model import Prototype, SMaLLModel, Term
from tests.helpers.exports import MODELS


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (replace(MODELS["yes"], prototypes=(Prototype(1, 0.0, (Term(0, 1e39, "a"),)),)), r"The weight of a is 1e\+39"),
        (replace(MODELS["yes"], prototypes=(Prototype(1, -1e39, ()),)), r"The constant of prototype 1 is -1e\+39"),
        (
            replace(MODELS["yes"], prototypes=(Prototype(1, 0.0, (Term(0, 1e30, "a", mean=1e30),)),)),
            "The weight of a times its mean",
        ),
    ],
)
def test_numbers_beyond_float32_are_named(model, message):
    with pytest.raises(ValueError, match=message):
        to_c(model)
    to_c(model, "float64")


@given(st.floats(-1e300, 1e300), st.floats(width=32, allow_nan=False, allow_infinity=False))
def test_cut_points_decide_for_every_float32_as_in_float64(cut, x):
    literals = tuple(Term(0, 1.0, "a", kind, cut) for kind in ("at_most", "above", "equals"))
    model = SMaLLModel((0, 1), "<i8", 1, (Prototype(1, 0.0, literals),))
    near = np.float32(np.clip(cut, -3e38, 3e38))
    for value in (x, float(near), float(np.nextafter(near, np.float32(1))), float(np.nextafter(near, np.float32(-1)))):
        kept = {term.kind: term.value for term in in_floats(model).terms}
        assert (value <= kept["at_most"], value > kept["above"]) == (value <= cut, value > cut)
        assert ("equals" in kept and value == kept["equals"]) == (value == cut)


def test_the_float32_bound_is_small_and_infinite_where_float32_overflows():
    X = np.array([[1.0, 0.0, 2.0], [1e38, 0.0, 1.0], [3e38, 0.0, -3e38]], dtype=np.float32)
    bound = float32_error_bound(MODELS["yes"], X)
    assert (bound[0] < 1e-5).all()
    assert np.isinf(bound[2]).tolist() == [True, False]
    assert bound.shape == (3, 2)


def test_the_float32_bound_is_for_float32_inputs():
    with pytest.raises(ValueError, match="numbers that float32 does not hold"):
        float32_error_bound(MODELS["yes"], [[0.1, 0.0, 0.0]])


@given(st.lists(st.floats(-1e3, 1e3), min_size=7, max_size=7), st.integers(0, 2**31))
def test_the_float32_bound_holds_for_any_order_of_magnitude_and_for_fused_operations(numbers, seed):
    rng = np.random.default_rng(seed)
    weights = np.array(numbers[:3]) * 10.0 ** rng.integers(-40, 15, 3)
    terms = tuple(Term(i, float(w), f"x{i}") for i, w in enumerate(weights))
    model = SMaLLModel((0, 1), "<i8", 3, (Prototype(1, float(numbers[3] * 10.0 ** rng.integers(-40, 15)), terms),))
    x = (np.array(numbers[4:]) * 10.0 ** rng.integers(-40, 15, 3)).astype(np.float32)
    bound = float32_error_bound(model, [x.tolist()])[0, 0]
    rounded = in_floats(model)
    wanted = model.scores([x.tolist()])[0, 0]
    z = fused = np.float32(rounded.intercepts[0])
    for term, value in zip(rounded.terms, x[[term.input for term in rounded.terms]], strict=True):
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            z = z + np.float32(term.weight) * value
            product = np.longdouble(term.weight) * np.longdouble(value)  # exact, and rounded once after the sum
            fused = np.float32(product + np.longdouble(fused))
    if np.isfinite(bound):
        assert abs(float(z) - wanted) <= bound
        assert abs(float(fused) - wanted) <= bound
