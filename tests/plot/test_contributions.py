"""One decision, from the constant to the score."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

from smallearn import plot
from smallearn.model import Prototype, Term
from tests.helpers.models import CARD, NO, ROWS, THREE, YES
from tests.helpers.pictures import words


@pytest.mark.parametrize(("model", "row"), [(YES, ROWS[0]), (YES, ROWS[3]), (NO, ROWS[1]), (THREE, [3.0, -1.0])])
def test_the_bars_of_a_case_are_what_terms_add_and_end_at_the_score(model, row):
    ax = plot.contributions(model, row)
    scores = model.scores(np.array([row]))[0]
    number = int(scores.argmax())
    prototype = model.prototypes[number]
    *bars, score = ax.patches
    expected = [prototype.intercept, *(term.weight * row[term.feature] for term in prototype.terms)]
    assert [bar.get_width() for bar in bars] == pytest.approx(expected)
    assert bars[-1].get_x() + bars[-1].get_width() == pytest.approx(scores[number])
    assert (score.get_x(), score.get_width()) == (0.0, pytest.approx(scores[number]))
    for one, following in pairwise(bars):
        assert following.get_x() == pytest.approx(one.get_x() + one.get_width())
    title = ax.get_title(loc="left")
    assert title.startswith(f"{model.predict(np.array([row]))[0]}: score {number + 1} for class ")
    assert [text.get_text() for text in ax.get_yticklabels()] == [
        "constant",
        *(f"{term.label} = {row[term.feature]:.5g}" for term in prototype.terms),
        "score",
    ]


def test_a_tie_goes_to_the_class_that_is_predicted():
    reversed_ = replace(THREE, prototypes=THREE.prototypes[::-1])
    assert plot.contributions(reversed_, [2.0, 2.0]).get_title(loc="left") == "a: score 4 for class a +2"


def test_a_case_says_which_class_comes_next():
    assert "(dotted: next class c, +1)" in plot.contributions(THREE, [3.0, -1.0]).get_xlabel()


def test_a_case_of_literals_says_the_values():
    ax = plot.contributions(CARD, {"age": None, "colour": "red", "member": np.bool_(True)})
    assert [text.get_text() for text in ax.get_yticklabels()][1:3] == [
        "[age > 40]: missing",
        "[age is missing]: missing",
    ]
    assert "[member = True]: True" in words(ax)
    assert ax.get_title(loc="left") == "yes: score for class yes +3"
    filled = replace(YES, prototypes=(Prototype(1, 0.0, (Term(0, 2.0, "a", mean=0.25),)),))
    ax = plot.contributions(filled, [np.nan, 0.0, 0.0])
    assert "a = missing, mean 0.25 used" in words(ax)
    assert ax.patches[-1].get_width() == 0.5


@pytest.mark.parametrize(
    "row",
    [
        {"a": 0.75, "c": 1.0},
        [0.75, 9.0, 1.0],
        np.array([[0.75, 9.0, 1.0]]),
        [[0.75, 9.0, 1.0]],
        sparse.csr_array([[0.75, 9.0, 1.0]]),
        pd.DataFrame({"c": [1.0], "a": [0.75]}),
        pd.Series({"c": 1.0, "a": 0.75}),
        pl.DataFrame({"c": [1.0], "a": [0.75]}),
    ],
)
def test_a_case_may_come_in_many_forms(row):
    assert [bar.get_width() for bar in plot.contributions(YES, row).patches] == pytest.approx([0.5, -0.75, -0.25])


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        (ROWS, "A case is one row; this table has 4"),
        ([1.0], "The case has 1 values"),
        ({"a": 1.0}, "lacks 'c'"),
        ("text", "not the text 'text'"),
        ({"a": "text", "c": 1.0}, "is text"),
        ({"a": np.inf, "c": 1.0}, "finite"),
    ],
)
def test_a_case_that_cannot_be_says_why(row, problem):
    with pytest.raises(ValueError, match=problem):
        plot.contributions(YES, row)
