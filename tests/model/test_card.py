"""The card of a model: rows of shared terms, and how they are shown."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given

from smallearn.export import flatten
from smallearn.model import Prototype, SMaLLModel, Term
from smallearn.model._card import aligned
from smallearn.model._print import WIDTH
from tests.helpers.exports import SHARED
from tests.helpers.models import THREE, TRAINING, YES, models

NAMES = ("Setosa", "Versicolour", "Virginica")
FLOWERS = SMaLLModel(
    NAMES,
    "<U11",
    3,
    (
        Prototype(0, 1.5, (Term(0, 2.0, "length", "at_most", 2.45), Term(1, -0.25, "width"))),
        Prototype(1, 0.0, (Term(0, -1.0, "length", "at_most", 2.45), Term(1, 0.5, "width"))),
        Prototype(2, -1.5, (Term(1, 1.25, "width"), Term(2, 3.0, "colour", "equals", "blue"))),
    ),
)


def test_a_card_has_a_row_for_each_different_term_with_its_weights():
    assert [(row.text, row.weights) for row in FLOWERS.card] == [
        ("[length ≤ 2.45]", (2.0, -1.0, 0.0)),
        ("width", (-0.25, 0.5, 1.25)),
        ("[colour = 'blue']", (0.0, 0.0, 3.0)),
    ]
    assert [row.term.weight for row in FLOWERS.card] == [2.0, -0.25, 3.0]


def test_both_sides_of_a_threshold_are_two_rows():
    sides = (Term(0, 1.0, None, "at_most", 1.0), Term(0, 1.0, None, "above", 1.0))
    assert len(replace(YES, prototypes=(Prototype(1, 0.0, sides),)).card) == 2


@given(models())
def test_every_term_is_in_one_row_in_the_column_of_its_prototype(model):
    rows = model.card
    for j, prototype in enumerate(model.prototypes):
        column = [row.terms[j] for row in rows if row.terms[j] is not None]
        assert sorted(map(id, column)) == sorted(map(id, prototype.terms))
    for row in rows:
        assert len({(term.feature, term.kind, term.value) for term in row.terms if term is not None}) == 1


def test_rows_are_in_the_order_of_every_column_where_one_order_can_be():
    assert aligned(["abd", "bcd", "ae"], str) == [
        ("a", None, "a"),
        (None, None, "e"),
        ("b", "b", None),
        (None, "c", None),
        ("d", "d", None),
    ]
    assert sorted(map(str, aligned(["aa", "a"], str))) == sorted(map(str, [("a", "a"), ("a", None)]))


def test_a_shared_budget_counts_rows_and_any_other_counts_weights():
    for budget, number in (("shared", 3), ("total", 6), ("prototype", 6)):
        assert replace(FLOWERS, training=replace(TRAINING, budget=budget)).n_terms == number
    assert FLOWERS.n_terms == 6


def test_print_shows_one_table_where_scores_share_terms():
    assert str(FLOWERS) == (
        "SMaLL model: 3 terms (6 weights) in 3 prototypes, 3 of 3 features used\n"
        "Predict the class with the highest score; at a tie the first of 'Setosa', 'Versicolour', 'Virginica'.\n"
        "\n"
        "  Score for class\n"
        "    'Setosa'  'Versicolour'  'Virginica'\n"
        "          +2             -1            ·  × [length ≤ 2.45]\n"
        "       -0.25           +0.5        +1.25  × width\n"
        "           ·              ·           +3  × [colour = 'blue']\n"
        "        +1.5             +0         -1.5  (constant)"
    )


def test_scores_that_share_little_are_printed_one_after_the_other():
    assert "Score 2 for class 'b'" in str(THREE)
    assert "Score 2 for class 'yes'" in str(YES)


@pytest.mark.parametrize("name", SHARED)
def test_a_card_is_no_wider_than_a_screen_and_names_each_prototype(name):
    text = str(SHARED[name])
    lines = text.split("\n")[2:]
    assert all(len(line) <= WIDTH for line in lines)
    assert text.count("Score for class") == 1
    assert all(term.text in text for term in SHARED[name].terms)


def test_many_classes_are_printed_in_groups_of_columns_of_about_the_same_number():
    labels = tuple(f"class number {i}" for i in range(11))
    prototypes = tuple(Prototype(i, 0.5, (Term(0, 1.0 + i, "size"), Term(1, -i - 0.125, "w" * 20))) for i in range(11))
    text = str(SMaLLModel(labels, "|O", 2, prototypes))
    heads = [line for line in text.split("\n") if "'class n" in line and "Predict" not in line]
    assert [line.count("'class n") for line in heads] == [3, 4, 4]
    assert all(len(line) <= WIDTH for line in text.split("\n")[2:])


def test_a_card_that_does_not_fit_is_printed_score_by_score():
    long = replace(FLOWERS, prototypes=tuple(
        replace(one, terms=tuple(replace(term, name="n" * 59 + str(term.feature)) for term in one.terms))
        for one in FLOWERS.prototypes
    ))  # fmt: skip
    wide = replace(long, classes=tuple(name * 20 for name in NAMES), class_dtype="|O")
    assert "Score for class 'SetosaSetosa" in str(wide)


def test_points_for_different_units_are_not_put_side_by_side():
    prototypes = tuple(
        Prototype(j, 1.0, (Term(0, 2.0 / unit, "area", unit=unit),)) for j, unit in enumerate((1.0, 10.0, 10.0))
    )
    text = str(SMaLLModel(("a", "b", "c"), "<U1", 1, prototypes))
    assert "+2 × area" in text
    assert "+2 per 10 × area" in text


def test_a_notebook_shows_one_table():
    html = FLOWERS._repr_html_()
    assert html.count("<table") == 1
    assert html.count("<tr>") == 1 + len(FLOWERS.card) + 1
    assert THREE._repr_html_().count("<table") == len(THREE.prototypes)


def test_a_model_for_complete_rows_predicts_the_same_without_a_test_for_what_is_missing():
    rng = np.random.default_rng(0)
    for model in SHARED.values():
        complete = model.for_complete_rows()
        assert {term.kind for term in complete.terms} <= {"raw", "above", "equals"}
        assert len(complete.card) <= len(model.card)
        table = np.empty((50, model.n_features), dtype=object)
        table[:] = rng.normal(size=table.shape).round(2)
        if any(isinstance(term.value, str) for term in model.terms):
            table[:, -1] = rng.choice(["red", "blue", "other"], 50)
        np.testing.assert_allclose(complete.scores(table), model.scores(table), rtol=0, atol=1e-12)
        compared = {term.feature for term in complete.terms if term.kind in ("raw", "above")}
        assert all(one.may_be_missing == (one.feature not in compared) for one in flatten(complete).inputs)
        for feature in compared:
            gappy = table[:1].copy()
            gappy[0, feature] = None
            with pytest.raises(ValueError, match=r"missing|NaN"):
                complete.predict(gappy)
