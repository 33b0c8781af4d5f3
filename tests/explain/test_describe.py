"""A model as sentences and as cards."""

import numpy as np
import pytest

from smallearn import explain
from smallearn.model import Prototype, SMaLLModel, Term
from tests.helpers.models import CARD, THREE, model_of


def test_a_cut_point_is_rounded_to_where_it_parts_the_rows_as_before():
    model = SMaLLModel((0, 1), "<i8", 1, (Prototype(1, -1.0, (Term(0, 2.0, "age", "at_most", 45.5),)),))
    short = explain.rounded(model, np.array([[18.0], [45.0], [46.0], [90.0]]))
    assert short.terms[0].value == 45.0
    said = explain.describe(model, np.array([[18.0], [45.0], [46.0], [90.0]]))
    assert said.sentences == ("Start from −1 point; add 2 if age is at most 45.",)


def test_a_description_has_names_units_and_the_rule():
    text = str(explain.describe(CARD))
    for term in CARD.features:
        assert term.label in text
    with pytest.raises(ValueError, match="There are units for 'nothing'; the model uses"):
        explain.describe(CARD, units={"nothing": "cm"})
    terms = (Term(0, -0.25, "size"), Term(1, 1.0, "age", "at_most", 40.0), Term(2, 1.0, "colour", "equals", "red"))
    model = SMaLLModel(("no", "yes"), "<U3", 3, (Prototype(1, 1.5, terms),))
    said = explain.describe(model, units={"size": "mm", "age": "years"})
    assert said.rule == "Predict 'yes' if this score is above 0, otherwise 'no'."
    assert said.sentences == (
        "Start from 1.5; subtract 0.25 times size (in mm), add 1 if age is at most 40 years and add 1 if "
        "colour is 'red'.",
    )
    assert [line.number for line in said.cards[0]] == ["-0.25", "+1", "+1", "+1.5"]
    more = str(explain.describe(THREE))
    assert "Predict the class with the highest score" in more
    assert all(f"for class {label!r}" in more for label in THREE.classes)


def test_no_rows_say_nothing_of_digits():
    model = model_of(Term(0, 2.13, "a", "at_most", 1.234))
    assert explain.describe(model, np.zeros((0, 1))).n_rows is None
    with pytest.raises(ValueError, match="no rows"):
        explain.rounded(model, np.zeros((0, 1)))


def test_a_description_has_every_digit_that_a_decision_needs():
    model = model_of(Term(0, 1.0 / 3.0, "x"))
    said = explain.describe(model, np.array([[3.0], [3.0 + 1e-15]]))
    assert said.model.terms[0].weight == 1.0 / 3.0
    assert [line.number for line in said.cards[0]] == ["+0.3333333333333333", "-1"]
    assert "add 0.3333333333333333 times x" in said.sentences[0]
    cut = explain.describe(model_of(Term(0, 2.0, "x", "at_most", 0.1 + 0.2)))
    assert cut.cards[0][0].text == "if x is at most 0.30000000000000004"


def test_a_card_tells_what_stands_in_for_a_missing_number_in_as_few_digits_as_will_do():
    term = Term(0, 1.0, "age", mean=41.23456)
    model = SMaLLModel(("no", "yes"), "<U3", 1, (Prototype(1, -40.0, (term,)),))
    described = explain.describe(model, [[np.nan], [39.0], [41.0]], units={"age": "years"})
    assert described.cards[0][0].text.startswith("× age (in years; ")
    shown = float(described.cards[0][0].text.split("; ")[1].removesuffix(" if missing)"))
    assert (described.model.terms[0].mean, described.model.predict([[np.nan]])[0]) == (shown, "yes")
    complete = explain.describe(model, [[39.0], [41.0]])
    assert "missing" not in str(complete)
    assert complete.model.terms[0].mean == 41.23456
