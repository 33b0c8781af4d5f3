"""A model that a person changes: each step does what it says, refuses what cannot be, and is remembered."""

import json
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from smallearn import SMaLLModel
from smallearn._refit import is_by_hand
from smallearn.export import to_c, to_python, to_sql
from smallearn.model import Accepted, Edit, Prototype, Range, Selection, Term
from tests.helpers.models import CARD, THREE, TRAINING, YES

PATIENTS = pd.DataFrame(
    {"age": [42.0, 50.0, None, 30.0], "colour": ["red", "blue", "red", None], "dose": 0.0, "member": [True] * 4}
)


def test_every_step_changes_one_thing_and_leaves_the_first_model_as_it_was():
    before = CARD.to_json()
    edited = (
        CARD.edit()
        .change_cut("age", 40, 45)
        .set_weight("[age > 45]", 3)
        .drop("[colour = 'blue']")
        .set_constant(-1)
        .add("age", above=60, weight=2)
        .set_threshold(0.3)
        .model
    )
    assert CARD.to_json() == before
    expected = (
        Term(0, 3.0, "age", "above", 45.0),
        Term(0, 1.0, "age", "missing"),
        Term(1, 3.0, "colour", "equals", "red"),
        Term(3, 1.0, "member", "equals", True),
        Term(0, 2.0, "age", "above", 60.0),
    )
    assert edited.prototypes == (Prototype(1, -1.0, expected),)
    assert edited.decision_threshold == 0.3
    assert edited.scores(PATIENTS)[:, 0].tolist() == [3.0, 3.0, 4.0, 0.0]  # by hand


def test_the_record_says_what_was_and_what_is():
    edited = CARD.edit().change_cut("age", 40, 45).set_weight("age > 45", 3).drop("member = True").set_threshold(0.3)
    assert edited.model.edits == (
        Edit("cut", "[age > 45]", 40.0, 45.0),
        Edit("weight", "[age > 45]", 2.0, 3.0),
        Edit("drop", "[member = True]", 1.0),
        Edit("threshold", "decision threshold", 0.5, 0.3),
    )
    assert [edit.text for edit in edited.model.edits] == [
        "cut 40 → 45 in [age > 45]",
        "weight of [age > 45] 2 → 3",
        "dropped [member = True] with weight 1",
        "decision threshold 0.5 → 0.3",
    ]


def test_a_cut_changes_in_every_score_that_has_it_and_on_both_sides():
    prototypes = (
        Prototype(0, 0.0, (Term(0, 1.0, "age", "above", 40.0),)),
        Prototype(1, 0.0, (Term(0, 1.0, "age", "at_most", 40.0), Term(0, 1.0, "age", "above", 60.0))),
    )
    model = SMaLLModel(("a", "b"), "<U1", 1, prototypes).edit().change_cut("age", 40, 45).model
    assert [term.text for term in model.terms] == ["[age > 45]", "[age ≤ 45]", "[age > 60]"]
    assert [edit.what for edit in model.edits] == ["[age > 45]", "[age ≤ 45]"]


def test_forbidding_a_feature_drops_its_terms_and_refuses_others():
    edited = CARD.edit().forbid("colour")
    assert [term.text for term in edited.model.terms] == ["[age > 40]", "[age is missing]", "[member = True]"]
    assert edited.model.edits[-1] == Edit("forbid", "colour")
    with pytest.raises(ValueError, match="'colour' was forbidden"):
        edited.add("colour", equals="green", weight=1)


@pytest.mark.parametrize("text", ["[age <= 40.5]", "age ≤ 40.5", " [age  <=  40.5] "])
def test_a_term_is_found_as_it_is_printed_or_typed(text):
    model = SMaLLModel(("a", "b"), "<U1", 1, (Prototype(1, 0.0, (Term(0, 1.0, "age", "at_most", 40.5),)),))
    assert model.edit().drop(text).model.terms == ()


def test_terms_that_read_the_same_are_told_apart_by_all_digits():
    cuts = (40.000000000002, 40.000000000001)
    model = SMaLLModel(
        ("a", "b"), "<U1", 1, (Prototype(1, 0.0, tuple(Term(0, 1.0, "age", "above", cut) for cut in cuts)),)
    )
    assert [term.value for term in model.edit().drop("[age > 40.000000000001]").model.terms] == [40.000000000002]
    with pytest.raises(ValueError, match=r"Several terms read \[age > 40\]: name one in full"):
        model.edit().drop("[age > 40]")


@pytest.mark.parametrize(
    ("step", "message"),
    [
        (lambda e: e.drop("[age > 41]"), "no term [age > 41]. The model has [age > 40], [age is missing], [colour"),
        (lambda e: e.change_cut("age", 41, 45), "there is no such cut; it is cut at 40.0"),
        (lambda e: e.change_cut("size", 41, 45), "does not use 'size'; it uses 'age', 'colour', 'member'"),
        (lambda e: e.change_cut("colour", 41, 45), "the model does not cut it"),
        (lambda e: e.change_cut("age", 40, 40), "to be changed to what it is"),
        (lambda e: e.change_cut("age", 40, float("nan")), "A cut is a finite number, not nan"),
        (lambda e: e.add("age", above=60, weight=1).change_cut("age", 40, 60), "at 60 already"),
        (lambda e: e.set_weight("[age > 40]", 0), "drop [age > 40] instead"),
        (lambda e: e.set_weight("[age > 40]", "2"), "A weight is a finite number, not '2'"),
        (lambda e: e.set_weight("[age > 40]", 2, score=2), "no score 2; the model has 1 for class 'yes'"),
        (lambda e: e.set_threshold(1.0), "above 0 and below 1, not 1.0"),
        (lambda e: e.add("age", above=40, weight=1), "has the term [age > 40] already"),
        (lambda e: e.add("age", above=40, at_most=50, weight=1), "above and at_most are two"),
        (lambda e: e.add("zip", weight=1), "no feature 'zip' among those known: 'age', 'colour', 'member'"),
        (lambda e: e.add("age", weight=0), "weight 0 changes nothing"),
        (lambda e: e.forbid("zip"), "no feature 'zip'"),
    ],
)
def test_what_cannot_be_is_refused_with_what_there_is(step, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        step(CARD.edit())


def test_a_model_of_several_scores_asks_which():
    with pytest.raises(ValueError, match="2 scores have the term a: say score=1 or score=2"):
        YES.edit().set_weight("a", 3)
    with pytest.raises(ValueError, match="which score"):
        YES.edit().set_constant(3)
    edited = YES.edit().set_weight("a", 3, score=2).set_constant(0, score=2).model
    assert edited.prototypes == (YES.prototypes[0], Prototype(1, 0.0, (Term(0, 3.0, "a"),)))
    assert [edit.score for edit in edited.edits] == [2, 2]
    assert YES.edit().drop("a").model.prototypes == (Prototype(1, -1.0, (Term(2, -1.0, "c"),)), Prototype(1, 0.5, ()))
    with pytest.raises(ValueError, match="threshold is for two classes"):
        THREE.edit().set_threshold(0.4)


def test_a_feature_that_the_model_does_not_read_needs_its_position():
    edited = CARD.edit(feature_names=["age", "colour", "dose", "member"]).add("dose", above=5, weight=1).model
    assert edited.terms[-1] == Term(2, 1.0, "dose", "above", 5.0)
    with pytest.raises(ValueError, match="has 3 names"):
        CARD.edit(feature_names=["age", "colour", "dose"])
    with pytest.raises(ValueError, match="at another position"):
        CARD.edit(feature_names=["colour", "age", "dose", "member"])
    other = replace(CARD, prototypes=(Prototype(1, 0.0, (Term(2, 1.0, "dose"),)),))
    assert replace(CARD, alternatives=(other,)).edit().add("dose", weight=1).model.terms[-1].feature == 2
    assert THREE.edit().add("x1", weight=1.0, score=1).model.prototypes[0].terms[-1] == Term(1, 1.0)


def test_what_no_longer_holds_is_left_out():
    model = replace(
        CARD,
        training=replace(TRAINING, certified=True),
        selection=Selection("accuracy", (0.9,), 5, ()),
        ranges=(Range(0, 18.0, 90.0),),
        accepted=(Accepted(1, ("blue", "red")),),
        frontier_models=(CARD,),
        alternatives=(CARD,),
    ).trained_on(PATIENTS, ["no", "yes", "yes", "no"], target="ill")
    assert "Proven" in str(replace(model, training=replace(model.training, lower_bound=0.25)))
    edited = model.edit().set_weight("[age > 40]", 3).model
    assert (edited.selection, edited.frontier_models, edited.alternatives) == (None, (), ())
    assert (edited.training.lower_bound, edited.training.certified) == (None, False)
    assert "ertificate" not in str(edited)
    assert edited.was_trained_on(PATIENTS, ["no", "yes", "yes", "no"])
    dropped = model.edit().forbid("age").forbid("colour").model
    assert (dropped.ranges, dropped.accepted) == ((), ())
    assert dropped.data.target == "ill"
    assert not dropped.was_trained_on(PATIENTS, ["no", "yes", "yes", "no"])


def test_the_file_remembers_and_refuses_what_is_no_record():
    edited = YES.edit().set_weight("c", 2.5).drop("a", score=2).model
    text = edited.to_json()
    assert SMaLLModel.from_json(text) == edited
    assert json.loads(text)["version"] == 10
    for field, value, message in (
        ("action", "guess", "edits[0].action: expected one of"),
        ("after", "3", "edits[0].after: expected a finite number"),
        ("score", 0, "edits[0].score: expected a whole number of at least 1"),
        ("what", None, "edits[0].what: expected str"),
    ):
        content = json.loads(text)
        content["edits"][0][field] = value
        with pytest.raises(ValueError, match=re.escape(message)):
            SMaLLModel.from_json(json.dumps(content))
    content["edits"][0]["who"] = "me"
    with pytest.raises(ValueError, match="unknown fields"):
        SMaLLModel.from_json(json.dumps(content))


def test_print_notebook_and_exports_say_that_a_person_changed_the_model():
    edited = CARD.edit().change_cut("age", 40, 45).model
    assert "Changed by hand:\n  cut 40 → 45 in [age > 45]\n" in str(edited)
    assert "Changed by hand: cut 40 → 45 in [age &gt; 45]." in edited._repr_html_()
    for write in (to_c, to_sql, to_python):
        assert "changed by hand" in write(edited)
        assert "changed by hand" not in write(CARD)


def test_weights_of_a_person_are_known_also_after_the_cut_has_changed():
    edited = CARD.edit().set_weight("[age > 40]", 3).change_cut("age", 40, 45).model
    kept = [is_by_hand(edited, 0, term) for term in edited.terms]
    assert kept == [True, False, False, False, False]
    assert not is_by_hand(edited, 0, None)
    assert is_by_hand(edited.edit().set_constant(1).model, 0, None)


def test_points_of_a_card_are_set_as_they_are_printed():
    card = SMaLLModel(("a", "b"), "<U1", 1, (Prototype(1, 1.0, (Term(0, 0.2, "size", unit=10.0),)),), scale=0.5)
    edited = card.edit().set_weight("size", 3).model
    assert "+3 per 10 × size" in str(edited)
    np.testing.assert_allclose(edited.scores([[10.0]]), [[4.0]])
