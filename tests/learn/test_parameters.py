"""Checks of parameters: what is allowed passes, all else is refused with the name, the value and a way out."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from smallearn import SMaLLClassifier, SMaLLClassifierCV
from smallearn._errors import ParameterError
from smallearn._learn.parameters import (
    check_bool,
    check_number,
    check_parameters,
    check_positive_integer,
    check_selection,
    is_integer,
    is_number,
)
from smallearn._learn.solve.solvers import SOLVERS
from smallearn.devices import CHIPS

ANYTHING = st.one_of(
    *(st.none(), st.booleans(), st.integers(), st.floats(), st.complex_numbers(), st.text(max_size=5)),
    *(st.lists(st.integers(), max_size=3), st.just(np.float32(2.0)), st.just(np.int8(3)), st.just(np.True_)),
    st.just(Fraction(1, 2)),
)


def checked(check, estimator, *solvers, **parameters):
    check(estimator(**parameters).get_params(deep=False), *solvers)


# --- single values ---------------------------------------------------------------------------------------------------


@given(ANYTHING)
def test_a_positive_integer_passes_and_all_else_is_refused_by_name(value):
    if is_integer(value) and value >= 1:
        check_positive_integer("max_iter", value)
        return
    with pytest.raises(ParameterError, match=r"^max_iter=") as caught:
        check_positive_integer("max_iter", value, "; so")
    assert str(caught.value).endswith("is not a positive integer; so.")


@given(ANYTHING, st.floats(-1e3, 1e3), st.floats(0.0, 1e3))
def test_a_number_passes_within_its_limits_alone(value, low, width):
    if is_number(value) and low <= value <= low + width:
        check_number("tol", value, low, low + width)
        return
    with pytest.raises(ParameterError, match=r"^tol=") as caught:
        check_number("tol", value, low, low + width)
    assert f"from {low:g} to {low + width:g}." in str(caught.value)


@given(ANYTHING)
def test_only_true_and_false_are_true_or_false(value):
    if isinstance(value, bool | np.bool_):
        check_bool("refit", value)
        return
    with pytest.raises(ParameterError, match="is not True or False"):
        check_bool("refit", value)


@given(ANYTHING)
def test_an_integer_is_a_number_and_a_truth_value_is_neither(value):
    assert is_number(value) or not is_integer(value)
    if isinstance(value, bool | np.bool_ | complex | str | list | None):
        assert not is_number(value)


# --- parameters together ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "parameters",
    [{}, SMaLLClassifier.paper_preset().get_params(), {"feature_costs": [1.0], "max_cost": 2.0, "budget": "shared"}],
    ids=["default", "paper", "costs"],
)
def test_what_is_documented_passes(parameters):
    checked(check_parameters, SMaLLClassifier, SOLVERS, **parameters)


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"n_prototypes": [1, np.int64(2)], "alphas": np.array([0.1]), "literals": ["raw", "thresholds"]},
        {"min_terms": 10, "cv": np.int64(2)},
        *({"device": device, "max_flash": 100, "max_time_us": 0.5} for device in CHIPS),
    ],
    ids=repr,
)
def test_what_is_documented_passes_the_selection(parameters):
    checked(check_selection, SMaLLClassifierCV, **parameters)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"feature_costs": {0: 1.0}}, "feature_costs and max_cost go together: set both, or neither"),
        ({"max_cost": 1.0}, "feature_costs and max_cost go together: set both, or neither"),
        ({"max_points": 3, "fit_intercept": False}, "max_points rounds .* it needs fit_intercept=True"),
        ({"local_search": True, "refit_support": False}, "local_search=True .* it needs refit_support=True"),
        ({"certify": True, "refit_support": False}, "certify=True .* it needs refit_support=True"),
        *(
            ({"solver": "mirror-prox", **one}, f"solver='mirror-prox' cannot be combined with {name}=.*'accelerated'")
            for name, one in {
                "budget": {"budget": "total"},
                "max_cost": {"feature_costs": [1.0], "max_cost": 2.0},
                "always_in": {"always_in": [0]},
                "monotonic_cst": {"monotonic_cst": [1]},
            }.items()
        ),
    ],
)
def test_parameters_that_exclude_each_other_are_both_named(parameters, message):
    with pytest.raises(ParameterError, match=message):
        checked(check_parameters, SMaLLClassifier, SOLVERS, **parameters)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"min_terms": 5, "max_terms": 4}, "min_terms=5 is more than max_terms=4"),
        ({"max_ram": 10}, "max_ram=10 is a limit on a chip; name the chip with device"),
        ({"device": "cortex-m4", "refit": False}, "device='cortex-m4' .* it needs refit=True"),
    ],
)
def test_parameters_of_the_selection_that_exclude_each_other_are_both_named(parameters, message):
    with pytest.raises(ParameterError, match=message):
        checked(check_selection, SMaLLClassifierCV, **parameters)


def test_a_message_can_be_written_with_the_options_of_the_command_line():
    with pytest.raises(ParameterError) as caught:
        checked(check_selection, SMaLLClassifierCV, min_terms=5, max_terms=4)
    assert caught.value.message(lambda parameter: f"--{parameter.name}") == "--min_terms is more than --max_terms."


def test_the_devices_that_are_accepted_are_the_chips(monkeypatch):
    with pytest.raises(ParameterError, match=f"device='z80' is not one of {', '.join(map(repr, CHIPS))}, or None"):
        checked(check_selection, SMaLLClassifierCV, device="z80")
    monkeypatch.setitem(CHIPS, "z80", replace(CHIPS["atmega328p"], name="z80"))
    checked(check_selection, SMaLLClassifierCV, device="z80")
