"""How a model prints."""

import re
from dataclasses import replace

import pytest
from hypothesis import given

from smallearn import SMaLLModel
from smallearn.model import Prototype, Selection, Step, Term
from tests.helpers.models import CARD, NO, THREE, TRAINING, WHOLE, YES, models


def test_print_shows_the_rule_the_weights_and_the_names(capsys):
    print(YES)
    assert capsys.readouterr().out == (
        "SMaLL model: 3 terms in 2 prototypes, 2 of 3 features used\n"
        "Predict 'yes' if any of these scores is above 0, otherwise 'no'.\n"
        "\n"
        "  Score 1 for class 'yes'\n"
        "    +2 × a\n"
        "    -1 × c\n"
        "    -1 (constant)\n"
        "\n"
        "  Score 2 for class 'yes'\n"
        "      -1 × a\n"
        "    +0.5 (constant)\n"
    )


def test_print_says_that_the_first_class_wins_at_zero():
    lines = str(NO).splitlines()
    assert lines[1] == "Predict 'no' if any of these scores is 0 or more, otherwise 'yes'."
    assert lines[2:] == str(YES).replace("for class 'yes'", "for class 'no'").splitlines()[2:]


def test_print_of_one_prototype_speaks_of_one_score():
    one = SMaLLModel((False, True), "|b1", 1, (Prototype(1, 0.0, (Term(0, 1234567.0),)),))
    assert str(one) == (
        "SMaLL model: 1 term in 1 prototype, 1 of 1 feature used\n"
        "Predict True if this score is above 0, otherwise False.\n"
        "\n"
        "  Score for class True\n"
        "    +1.235e+06 × x0\n"
        "            +0 (constant)"
    )


def test_print_of_three_classes_names_the_class_of_each_prototype_and_the_order_at_a_tie():
    assert str(THREE) == (
        "SMaLL model: 3 terms in 4 prototypes, 2 of 2 features used\n"
        "Predict the class with the highest score; at a tie the first of 'a', 'b', 'c'.\n"
        "\n"
        "  Score 1 for class 'a'\n"
        "    +1 × x0\n"
        "    +0 (constant)\n"
        "\n"
        "  Score 2 for class 'b'\n"
        "    +1 × x1\n"
        "    +0 (constant)\n"
        "\n"
        "  Score 3 for class 'c'\n"
        "    +1 (constant)\n"
        "\n"
        "  Score 4 for class 'c'\n"
        "    -1 × x0\n"
        "    +0 (constant)"
    )


def with_facts(model=WHOLE, **facts):
    return replace(model, training=replace(TRAINING, **facts))


def test_print_shows_the_certificate_and_its_limits():
    text = str(WHOLE)
    assert text.startswith(str(replace(WHOLE, training=None)))
    assert text.endswith(
        "\n\nAt most 20.0% better is possible on the training data "
        "(objective 0.25, at most 2 terms per prototype, this assignment of rows to prototypes)."
    )


def test_a_single_score_for_a_class_needs_no_assignment_of_rows():
    one = replace(WHOLE, prototypes=WHOLE.prototypes[:1])
    assert str(one).endswith("(objective 0.25, at most 2 terms per prototype).")


def test_a_certificate_that_says_nothing_is_left_out():
    assert str(with_facts(lower_bound=0.0)) == str(with_facts(lower_bound=-7.0)) == str(replace(WHOLE, training=None))
    assert "At most 80.1% better is possible" in str(with_facts(lower_bound=0.0499))  # rounded up: it is a bound


def test_a_certificate_that_was_not_computed_is_left_out():
    assert str(with_facts(lower_bound=None)) == f"{replace(WHOLE, training=None)}"


@pytest.mark.parametrize("facts", [{"certified": True, "lower_bound": 0.24999}, {"lower_bound": 0.25}])
def test_a_proof_is_called_a_proof(facts):
    assert "\nProven optimal on the training data (objective 0.25, at most" in str(with_facts(**facts))


def chosen(n_terms, *steps, score=0.9):
    frontier = tuple(Step(n_terms=n, n_prototypes=1, score=value, spread=0.01) for n, value in steps)
    selection = Selection(metric="accuracy", scores=(score, score), max_terms=n_terms, frontier=frontier)
    return str(replace(YES, selection=selection))


def test_terms_that_were_allowed_and_not_used_are_counted():
    assert chosen(3) == str(YES)
    assert chosen(6).endswith("\n\nUsed 3 of the 6 terms allowed.")
    assert chosen(6, (3, 0.9), (4, 0.905)).endswith("\n\nUsed 3 of the 6 terms allowed; more did not help.")
    assert chosen(6, (3, 0.9), (4, 0.95)).endswith("\n\nUsed 3 of the 6 terms allowed.")  # but did not fit a chip, say


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
        ("n" * 61, "n" * 39 + "…" + "n" * 20),
        ("n" * 10_000, "n" * 39 + "…" + "n" * 20),
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


def test_print_of_a_score_card_shows_points_their_worth_and_what_each_total_means():
    assert str(CARD) == (
        "SMaLL model: 5 terms in 1 prototype, 3 of 4 features used\n"
        "Predict 'yes' if this score is above 0, otherwise 'no'.\n"
        "One point is worth 0.5 in log-odds.\n"
        "\n"
        "  Score for class 'yes'\n"
        "    +2 × [age > 40]\n"
        "    +1 × [age is missing]\n"
        "    +3 × [colour = 'red']\n"
        "    -1 × [colour = 'blue']\n"
        "    +1 × [member = True]\n"
        "    -2 (constant)\n"
        "\n"
        "  points: probability of 'yes'\n"
        "    -3: 18.2%\n"
        "    -2: 26.9%\n"
        "    -1: 37.8%\n"
        "    +0: 50.0%\n"
        "    +1: 62.2%\n"
        "    +2: 73.1%\n"
        "    +3: 81.8%\n"
        "    +4: 88.1%"
    )


def card(*terms, intercept=0.0, **fields):
    return SMaLLModel(("no", "yes"), "<U3", 9, (Prototype(1, intercept, terms),), **fields)


def test_print_of_a_score_card_with_numbers_shows_their_units_and_no_totals():
    text = str(card(Term(0, -0.01, "area", mean=3.0, unit=100.0), Term(1, 2.0, "age", "above", 4.0), intercept=3.0))
    assert text.endswith("Score for class 'yes'\n    -1 per 100 × area\n    +2 × [age > 4]\n    +3 (constant)")
    assert "    +7 × area\n" in str(card(Term(0, 7.0, "area", unit=1.0)))
    assert "    -12 per 0.001 × area\n" in str(card(Term(0, -12 / 0.001, "area", unit=0.001)))
    for points in (1, 3, 7, 29):
        for unit in (10.0**power for power in range(-8, 9)):
            assert card(Term(0, points / unit, "area", unit=unit)).is_score_card


def test_print_of_weights_that_are_not_points_is_as_ever():
    assert not card(Term(0, 2.0, "area")).is_score_card  # a number without a unit
    assert not card(Term(0, 2.5, "area", "above", 1.0)).is_score_card
    assert not card(Term(0, 2.0, "area", "above", 1.0), intercept=0.5).is_score_card
    assert not card().is_score_card
    text = str(card(Term(0, 2.5, "area", "above", 1.0), intercept=0.5))
    assert text.endswith("    +2.5 × [area > 1]\n    +0.5 (constant)")


def totals(model):
    return [int(total) for total in re.findall(r"^ +([+-]\d+): ", str(model), flags=re.MULTILINE)]


def test_only_totals_that_some_row_can_have_are_listed():
    both = card(Term(0, 2.0, "a", "at_most", 1.0), Term(0, 5.0, "a", "above", 1.0))
    assert totals(both) == [0, 2, 5]  # 0 where it is missing, 7 never
    assert totals(card(Term(0, 2.0, "a", "equals", "x"), Term(0, 5.0, "a", "equals", "y"))) == [0, 2, 5]
    assert totals(card(Term(0, 2.0, "a", "above", 1.0), Term(0, 5.0, "a", "above", 3.0))) == [0, 2, 7]
    assert totals(card(Term(0, 2.0, "a", "at_most", 3.0), Term(0, 5.0, "a", "equals", 2))) == [0, 2, 7]
    assert totals(card(Term(0, 2.0, "a", "above", 1.0), Term(1, 5.0, "b", "above", 1.0))) == [0, 2, 5, 7]
    two = replace(both, prototypes=(*both.prototypes, Prototype(1, 1.0, (Term(1, 3.0, "b", "missing"),))))
    assert totals(two) == [1, 2, 4, 5]  # the greater of the two


def test_many_totals_are_not_listed():
    few = [Term(index, float(index + 1), f"f{index}", "above", 0.0) for index in range(6)]
    assert totals(card(*few)) == list(range(22))
    assert totals(card(*few, Term(6, 7.0, "f6", "above", 0.0))) == []
    assert totals(card(*(Term(index, 2.0**index, None, "above", 0.0) for index in range(9)))) == []
    wide = [Term(index, 2.0**index, None, "above", 0.0) for index in range(1000)]
    assert totals(replace(card(*wide), n_features=1000)) == []


def test_totals_are_the_classes_own_also_if_the_first_class_owns_the_prototypes():
    model = card(Term(0, 20.0, "a", "above", 1.0), intercept=-8.0)
    first = replace(model, prototypes=(replace(model.prototypes[0], owner=0),))
    assert str(first).endswith("  points: probability of 'no'\n     -8: <0.1%\n    +12: >99.9%")


@pytest.mark.parametrize(
    ("facts", "sentence"),
    [
        ({}, "at most 2 terms per prototype"),
        ({"n_nonzero": 1}, "at most 1 term per prototype"),
        ({"budget": "total", "n_nonzero": 6}, "at most 6 terms in all"),
        ({"budget": "shared", "n_nonzero": 4}, "at most 4 different terms"),
        ({"max_cost": 12.0}, "at most 2 terms per prototype, a cost of at most 12"),
        ({"n_nonzero": None, "max_cost": 0.5}, "a cost of at most 0.5"),
    ],
)
def test_the_certificate_names_the_budget(facts, sentence):
    model = with_facts(**facts)
    assert f"At most 20.0% better is possible on the training data (objective 0.25, {sentence}, this" in str(model)
    assert model.training.rivals == f"no model with {sentence.replace(', ', ' and ')}"
