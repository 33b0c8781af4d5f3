"""Values as text for people."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smallearn._text import count, exact, joined, of_unit, percent, percent_up, show, show_category, signed


@pytest.mark.parametrize(
    ("parts", "text"), [([], ""), (["a"], "a"), (["a", "b"], "a and b"), (["a", "b", "c"], "a, b and c")]
)
def test_parts_are_joined_by_commas_and_a_last_and(parts, text):
    assert joined(parts) == text


def test_things_are_counted_and_units_follow_numbers():
    assert (count(1, "row"), count(2, "row"), count(0, "row")) == ("1 row", "2 rows", "0 rows")
    assert (of_unit("mm"), of_unit(None), of_unit("")) == (" mm", "", "")
    assert of_unit("a\nb") == " a\\nb"


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_an_exact_number_reads_as_the_same_number(value):
    assert float(exact(value)) == float(signed(value, digits=None)) == value


@pytest.mark.parametrize(
    ("value", "options", "text"),
    [
        (58.7912, {}, "+58.79"),
        (-0.0, {}, "+0"),
        (-1e-320, {"digits": 2}, "-1e-320"),
        (-2.0, {"whole": True}, "-2"),
        (1 / 3, {"digits": None}, "+0.3333333333333333"),
        (0.1, {"digits": None}, "+0.1"),
    ],
)
def test_a_signed_number_has_a_sign_and_no_minus_0(value, options, text):
    assert signed(value, **options) == text


@given(st.floats(0.0, 0.9))
def test_an_upper_bound_in_percent_is_never_too_low(share):
    shown = float(percent_up(share).removesuffix("%"))
    assert 100.0 * share <= shown + 1e-9
    assert shown - 100.0 * share <= 0.1 + 1e-9


def test_a_probability_is_never_shown_as_certain_unless_it_is():
    assert [percent(p) for p in (0.0, 1e-9, 0.5, 1.0 - 1e-9, 1.0)] == ["0.0%", "<0.1%", "50.0%", ">99.9%", "100.0%"]


def test_a_category_has_as_many_digits_as_identify_it():
    assert (show_category(0.1), show_category(math.pi), show_category("a"), show_category(True)) == (
        "0.1",
        repr(math.pi),
        "'a'",
        "True",
    )
    assert show_category("a" * 100, most=5) == "'aaa…a'"


def test_long_names_that_differ_at_their_ends_differ_as_text():
    names = [f"{'measurement_of_' * 10}{end}" for end in ("radius", "area")]
    assert show(names[0]) != show(names[1])
    assert show(names[0], quote=False).endswith("measurement_of_radius"[-20:])
    assert {len(show(name, quote=False)) for name in names} == {60}


@given(st.text(max_size=300), st.integers(3, 80))
def test_text_is_no_longer_than_asked_and_can_be_printed(text, most):
    shown = show(text, quote=False, most=most)
    assert len(shown) <= most
    assert shown.isprintable()
    assert shown == text or not text.isprintable() or len(text) > most
