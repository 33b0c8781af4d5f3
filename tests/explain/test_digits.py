"""Numbers are rounded as far as no decision changes, and no further."""

from dataclasses import replace

import numpy as np
import pytest

from smallearn import SMaLLClassifier, explain
from smallearn.model import Prototype, SMaLLModel, Term
from smallearn.model._limits import LARGEST
from tests.helpers.models import model_of


def numbers_of(model):
    """Where numbers stand in a model that `rounded` rounds."""
    for j, prototype in enumerate(model.prototypes):
        if not model.is_score_card:
            yield j, None, "intercept"
        for t, term in enumerate(prototype.terms):
            if not model.is_score_card:
                yield j, t, "weight"
            if term.kind in ("at_most", "above"):
                yield j, t, "value"


def with_fewer_digits(model, place):
    """The model with one of its numbers rounded to fewer digits than it has, in every way."""
    j, t, field = place
    prototype = model.prototypes[j]
    owner = prototype if t is None else prototype.terms[t]
    value = getattr(owner, field)
    digits = next(d for d in range(1, 18) if float(f"{value:.{d - 1}e}") == value)
    for fewer in range(1, digits):
        other = replace(owner, **{field: float(f"{value:.{fewer - 1}e}")})
        if t is not None:
            other = replace(prototype, terms=(*prototype.terms[:t], other, *prototype.terms[t + 1 :]))
        yield replace(model, prototypes=(*model.prototypes[:j], other, *model.prototypes[j + 1 :]))


def check_rounding(model, X):
    before = model.predict(X)
    short = explain.rounded(model, X)
    assert np.array_equal(short.predict(X), before)
    shorter = [other for place in numbers_of(short) for other in with_fewer_digits(short, place)]
    assert shorter
    assert all(not np.array_equal(other.predict(X), before) for other in shorter)


def test_numbers_are_rounded_as_far_as_no_decision_changes_and_not_further(tumour_model, tumours):
    check_rounding(tumour_model, tumours[0])


@pytest.mark.parametrize("seed", [10, 65, 75, 139])
def test_no_number_that_is_shown_could_have_fewer_digits(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, 3)).round(2)
    intercept = float(rng.normal() * 0.1)
    terms = tuple(Term(i, float(rng.normal()), f"f{i}") for i in range(3))
    check_rounding(SMaLLModel((0, 1), "<i8", 3, (Prototype(1, intercept, terms),)), X)


def test_a_model_of_literals_gets_whole_points_with_probabilities_near_those_before(tumours):
    X, y = tumours
    model = SMaLLClassifier(1, 3, literals="thresholds", random_state=0).fit(X, y).model_
    card = explain.rounded(model, X)
    assert card.is_score_card
    assert not model.is_score_card
    assert np.abs(card.predict_proba(X) - model.predict_proba(X)).mean() < 0.1
    assert "Whole points; every decision on the 569 rows" in str(explain.describe(model, X))


def test_literals_too_unlike_for_whole_points_are_rounded_like_others():
    model = model_of(Term(0, 1.0, "a", "above", 0.0), Term(1, 0.00123, "b", "above", 0.0), intercept=-1.0)
    short = explain.rounded(model, np.array([[1.0, 1.0], [1.0, 0.0], [0.0, 1.0]]))
    assert [term.weight for term in short.terms] == [1.0, 0.001]


def test_a_number_is_not_rounded_up_beyond_what_a_model_may_have():
    model = model_of(Term(0, 9.96e304, "a"))
    short = explain.rounded(model, np.array([[0.0], [1.0]]))
    assert short.terms[0].weight <= LARGEST
