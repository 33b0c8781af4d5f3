"""A case whose features are held to ranges."""

import math

import pytest

from smallearn import explain
from smallearn.model import Prototype, Range, SMaLLModel, Term

TERMS = (Term(0, 1.0, "age"), Term(1, 10.0, "income", "above", 50.0), Term(2, 5.0, "colour", "equals", "red"))
MODEL = SMaLLModel(
    ("no", "yes"),
    "<U3",
    3,
    (Prototype(1, -60.0, TERMS),),
    ranges=(Range(0, 18.0, 90.0), Range(1, 0.0, 100.0)),
)
ROW = {"age": 30.0, "income": 20.0, "colour": "blue"}


def test_no_change_leaves_the_range_that_a_feature_is_held_to():
    free = explain.case(MODEL, ROW, changeable=["age", "income"])
    held = explain.case(MODEL, ROW, changeable={"age": (18, 65), "income": None})
    assert held.alone["age"].changes[0].after <= 65.0
    assert free.alone["age"] == held.alone["age"]
    narrow = explain.case(MODEL, ROW, changeable={"age": (None, 55.0), "income": (40, math.inf)})
    assert narrow.alone["age"] is None
    assert {change.label for change in narrow.smallest.changes} == {"age", "income"}
    assert all(change.after <= 55.0 for change in narrow.smallest.changes if change.label == "age")
    closed = explain.case(MODEL, ROW, changeable={"age": (None, 45.0), "income": (None, 45.0)})
    assert closed.smallest is None


def test_a_value_outside_the_range_it_is_held_to_may_stay_or_enter_it():
    case = explain.case(MODEL, {**ROW, "age": 20.0, "income": 60.0}, changeable={"age": (40, 80)})
    assert 50.0 < case.smallest.changes[0].after <= 51.0


@pytest.mark.parametrize("limits", [(65, 18), (1,), "ab", 5, (math.nan, 2)])
def test_a_range_that_is_none_is_refused(limits):
    with pytest.raises(ValueError, match=r"changeable: the range of 'age' is .*; it must be a pair \(least, most\)"):
        explain.case(MODEL, ROW, changeable={"age": limits})


def test_categories_have_no_range_and_unknown_features_are_named():
    with pytest.raises(ValueError, match="'colour' has categories and no range"):
        explain.case(MODEL, ROW, changeable={"colour": (1, 2)})
    with pytest.raises(ValueError, match="'weight' is not among the features in use"):
        explain.case(MODEL, ROW, changeable={"weight": (1, 2)})
