"""A model as a card."""

from dataclasses import replace

import pytest

from smallearn import plot
from smallearn.model import Prototype, Term
from tests.helpers.models import CARD, YES
from tests.helpers.pictures import drawn, words


def test_a_card_has_every_term_and_what_totals_mean():
    texts = words(plot.score_card(CARD))
    for text in ("+2", "× [age > 40]", "× [colour = 'red']", "× [age is missing]", "\u22122", "constant", "88.1%"):
        assert text in texts
    assert texts[0].startswith("Predict 'yes' if this score is above 0, otherwise 'no'.")
    assert "Points and probability of 'yes'" in texts
    turn = [line for line in plot.score_card(CARD).lines if line.get_linewidth() == 3.0]
    assert len(turn) == 1  # between 0 and +1
    assert turn[0].get_xdata()[0] == pytest.approx(4 / 8)


def test_a_card_of_weights_has_no_totals_and_long_ones_stand_in_columns():
    assert not any("probability" in text for text in words(plot.score_card(replace(YES, scale=0.3))))
    terms = tuple(Term(number, 1.5, f"feature {number}") for number in range(8))
    long = replace(YES, n_features=8, prototypes=tuple(Prototype(1, 0.5, terms) for _ in range(6)))
    ax = drawn(plot.score_card(long))
    assert len({text.get_position()[0] for text in ax.texts if text.get_text().startswith("Score")}) > 1
    points = tuple(replace(term, weight=3.0, unit=10.0) for term in terms)
    units = replace(long, prototypes=(Prototype(1, 2.0, points),))
    assert "per 10 × feature 3" in words(plot.score_card(units))
