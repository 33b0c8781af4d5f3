"""How a model prints."""

from dataclasses import replace

import pytest
from hypothesis import given

from models import NO, THREE, WHOLE, YES, models
from smallearn import SMaLLModel
from smallearn.model import Prototype, Term


def test_print_shows_the_rule_the_weights_and_the_names(capsys):
    print(YES)
    assert capsys.readouterr().out == (
        "SMaLL model: 2 prototypes of at most 2 terms, 2 of 3 features used\n"
        "Predict 'yes' if any of these scores is above 0, otherwise 'no'.\n"
        "\n"
        "  prototype 1\n"
        "    +2 × a\n"
        "    -1 × c\n"
        "    -1 (constant)\n"
        "\n"
        "  prototype 2\n"
        "      -1 × a\n"
        "    +0.5 (constant)\n"
    )


def test_print_says_that_the_first_class_wins_at_zero():
    lines = str(NO).splitlines()
    assert lines[1] == "Predict 'no' if any of these scores is 0 or more, otherwise 'yes'."
    assert lines[2:] == str(YES).splitlines()[2:]


def test_print_of_one_prototype_speaks_of_one_score():
    one = SMaLLModel((False, True), "|b1", 1, (Prototype(1, 0.0, (Term(0, 1234567.0),)),))
    assert str(one) == (
        "SMaLL model: 1 prototype of at most 1 term, 1 of 1 feature used\n"
        "Predict True if this score is above 0, otherwise False.\n"
        "\n"
        "  prototype 1\n"
        "    +1.235e+06 × x0\n"
        "            +0 (constant)"
    )


def test_print_of_three_classes_names_the_class_of_each_prototype_and_the_order_at_a_tie():
    assert str(THREE) == (
        "SMaLL model: 4 prototypes of at most 1 term, 2 of 2 features used\n"
        "Predict the class of the highest score; at a tie the first of 'a', 'b', 'c'.\n"
        "\n"
        "  prototype 1, for 'a'\n"
        "    +1 × x0\n"
        "    +0 (constant)\n"
        "\n"
        "  prototype 2, for 'b'\n"
        "    +1 × x1\n"
        "    +0 (constant)\n"
        "\n"
        "  prototype 3, for 'c'\n"
        "    +1 (constant)\n"
        "\n"
        "  prototype 4, for 'c'\n"
        "    -1 × x0\n"
        "    +0 (constant)"
    )


def test_print_shows_the_certificate_and_its_limits():
    text = str(WHOLE)
    assert text.startswith(str(replace(WHOLE, training=None)))
    assert "training objective 0.25; no model with at most 2 terms a prototype is below 0.2\n" in text
    assert "gap 20.0%" in text
    assert text.endswith("It says nothing of test accuracy.")


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("a\nb", "a\\nb"),
        ("\x1b[31mred", "\\x1b[31mred"),
        ("tab\t\x00", "tab\\t\\x00"),
        ("right to left \u202e", "right to left \\u202e"),
        ("\ud800", "\\ud800"),
        ("π · 1", "π · 1"),
        ("n" * 60, "n" * 60),
        ("n" * 61, "n" * 59 + "…"),
        ("n" * 10_000, "n" * 59 + "…"),
    ],
)
def test_print_escapes_control_characters_and_cuts_long_text(name, shown):
    model = SMaLLModel((name, "z"), "|O", 1, (Prototype(1, 0.0, (Term(0, 1.0, name),)),))
    lines = str(model).splitlines()
    assert lines[1] == f"Predict 'z' if this score is above 0, otherwise '{shown}'."
    assert lines[4] == f"    +1 × {shown}"
    assert len(lines) == 6


@given(models())
def test_print_is_printable_whatever_the_names(model):
    assert all(line.isprintable() for line in str(model).split("\n"))
