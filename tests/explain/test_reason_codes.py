"""Reason codes: the terms that held a class back, as a slow transcription of the definition finds them."""

import pandas as pd
import pytest

from smallearn.explain import reason_codes
from smallearn.export import flatten, to_sql
from smallearn.model import Prototype, SMaLLModel, Term
from smallearn.model._columns import factor_of_one
from smallearn.report import report_html
from tests.helpers.exports import MIXED, MODELS, edge_rows, full_table
from tests.helpers.models import CARD, NO, YES

BY_NAME = {"every kind of term": MIXED, "card": CARD, "three classes": MODELS["shared, few columns"]}


def plainly(model: SMaLLModel, row, n, label):
    """The words of one row, term by term."""
    wanted = model.classes.index(label)
    own = [j for j, prototype in enumerate(model.prototypes) if prototype.owner == wanted]
    sign = 1.0 if own else -1.0
    scores = model.scores([row])[0]
    best = max(own or range(len(scores)), key=lambda j: scores[j])
    ranges = {extent.feature: extent for extent in model.ranges}
    short = []
    for place, term in enumerate(model.prototypes[best].terms):
        added = term.weight * factor_of_one(term, row[term.feature])
        ends = ranges.get(term.feature)
        if term.kind != "raw":
            most = max(0.0, sign * term.weight)
        elif ends is not None:
            most = max(sign * term.weight * ends.low, sign * term.weight * ends.high)
        else:
            most = sign * term.weight * term.mean
        if most - sign * added > 0.0:
            words = f"not {term.text}" if term.kind != "raw" and added == 0.0 else term.text
            short.append((-(most - sign * added), place, words))
    named = [text for _, _, text in sorted(short)][:n]
    return named + [None] * (n - len(named))


@pytest.mark.parametrize("name", BY_NAME)
def test_the_terms_that_fall_short_most_are_named_in_order(name):
    model = BY_NAME[name]
    X = full_table(flatten(model), edge_rows(flatten(model), 60))
    for label in model.classes:
        found = reason_codes(model, X, 2, favourable=label)
        assert found.tolist() == [plainly(model, row, 2, label) for row in X]
        assert len({tuple(row) for row in found.tolist()}) > 1


def test_a_term_has_the_words_for_it_rather_than_those_for_its_feature():
    literal = next(term for term in MIXED.terms if "≤" in term.text)
    X = full_table(flatten(MIXED), edge_rows(flatten(MIXED), 60))
    for key in (literal.text, literal.text.replace("≤", "<=")):
        wording = {key: "for the term", literal.label: "for the feature"}
        codes = [reason_codes(MIXED, X, 9, wording=wording, favourable=label) for label in MIXED.classes]
        words = {code for each in codes for code in each.ravel()}
        assert "for the term" in words
        assert not {literal.text, f"not {literal.text}"} & words


def test_a_literal_that_falls_short_by_being_false_is_named_with_a_not():
    few = Term(0, 2.0, "loans", "at_most", 1.5)
    jobless = Term(1, -1.0, "job", "equals", "none")
    model = SMaLLModel(("refuse", "grant"), "<U6", 2, (Prototype(1, 0.0, (few, jobless)),))
    row, other = pd.DataFrame({"loans": [3.0], "job": ["none"]}), pd.DataFrame({"loans": [1.0], "job": ["clerk"]})
    assert reason_codes(model, row, 2).tolist() == [["not [loans ≤ 1.5]", "[job = 'none']"]]
    found = reason_codes(model, other, 2, favourable="refuse")
    assert found.tolist() == [["[loans ≤ 1.5]", "not [job = 'none']"]]
    assert reason_codes(model, row, 1, wording={"[loans <= 1.5]": "Many loans"}).tolist() == [["Many loans"]]


@pytest.mark.parametrize("number", [-1, 1.5, True, "3"])
def test_a_number_of_codes_that_is_none_is_refused(number):
    with pytest.raises(ValueError, match=r"n=.* is not a whole number of reason codes, 1 or more"):
        reason_codes(CARD, [[None] * CARD.n_features], number)
    with pytest.raises(ValueError, match=r"reason_codes=.* is not a whole number of reason codes, 0 or more"):
        to_sql(CARD, "sqlite", reason_codes=number)
    with pytest.raises(ValueError, match=r"reason_codes=.* is not a whole number of reason codes, 0 or more"):
        report_html(CARD, reason_codes=number, chips=())


def test_no_codes_are_refused_where_they_are_all_that_is_asked_for():
    with pytest.raises(ValueError, match="n=0"):
        reason_codes(CARD, [[None] * CARD.n_features], 0)


@pytest.mark.parametrize("model", [YES, NO])
def test_a_class_that_is_none_and_unknown_words_are_refused(model):
    row = [[0.0] * model.n_features]
    with pytest.raises(ValueError, match="favourable='perhaps' is not a class"):
        reason_codes(model, row, favourable="perhaps")
    with pytest.raises(ValueError, match="wording: 'nothing' is neither a term nor a feature in use"):
        reason_codes(model, row, wording={"nothing": "words"})
