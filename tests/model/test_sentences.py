"""The pieces of text that every view of a model is made of."""

from dataclasses import replace

import numpy as np
import pytest

from smallearn.model import Prototype, SMaLLModel, Term
from smallearn.model._sentences import card_lines, score_name, score_title, size_text, value_text
from smallearn.model._term import condition_text, term_text
from tests.helpers.models import CARD, THREE, YES

ONE_EACH = replace(THREE, prototypes=THREE.prototypes[:3])


def test_a_score_is_named_by_its_class_and_by_a_number_where_a_class_has_several():
    assert score_name(CARD, 0) == "score for class 'yes'"
    assert [score_name(YES, j) for j in range(2)] == ["score 1 for class 'yes'", "score 2 for class 'yes'"]
    assert [score_title(ONE_EACH, j, quote=False) for j in range(3)] == [f"Score for class {name}" for name in "abc"]
    assert score_title(THREE, 3) == "Score 4 for class 'c'"


def test_the_size_counts_terms_prototypes_and_features():
    assert size_text(CARD) == "5 terms in 1 prototype, 3 of 4 features used"
    constant = SMaLLModel((0, 1), "<i8", 1, (Prototype(1, 1.0, ()),))
    assert size_text(constant) == "0 terms in 1 prototype, 0 of 1 feature used"


def test_a_card_has_a_line_for_each_term_and_the_constant_last():
    lines = card_lines(YES, 0)
    assert [(line.number, line.text, line.term) for line in lines] == [
        ("+2", "× a", YES.terms[0]),
        ("-1", "× c", YES.terms[1]),
        ("-1", "constant", None),
    ]
    assert card_lines(CARD, 0)[2].text == "× [colour = 'red']"


@pytest.mark.parametrize(
    ("term", "text", "condition"),
    [
        (Term(0, 1.0, "age", "at_most", 1 / 3), "[age ≤ 0.3333333333]", "age is at most 0.3333333333333333 years"),
        (Term(0, 1.0, "age", "above", 40.0), "[age > 40]", "age is above 40 years"),
        (Term(0, 1.0, "age", "equals", 40), "[age = 40]", "age is 40"),
        (Term(0, 1.0, "age", "missing"), "[age is missing]", "age is missing"),
    ],
)
def test_a_literal_is_a_factor_or_a_condition(term, text, condition):
    assert term.text == term_text(term) == text
    assert condition_text(term, "years") == condition


def test_long_names_are_cut_and_all_digits_can_be_shown():
    assert term_text(Term(0, 1.0, "n" * 30, "equals", "c" * 30), longest=10) == "[nnnnnn…nnn = 'cccccc…ccc']"
    assert term_text(Term(0, 1.0, "age", "at_most", 1 / 3), all_digits=True) == "[age ≤ 0.3333333333333333]"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (35.0, "35 mm"),
        (np.int64(3), "3 mm"),
        (0.25, "0.25 mm"),
        ("red", "'red' mm"),
        (None, "missing"),
        (np.nan, "missing"),
    ],
)
def test_a_value_has_its_unit_unless_it_is_missing(value, text):
    assert value_text(value, "mm") == text
