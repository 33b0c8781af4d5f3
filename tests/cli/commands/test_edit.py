"""``smallearn edit``: changes in the order given, what they cost, and a file that remembers them."""

import json

import numpy as np
import pandas as pd
import pytest

from smallearn import load_model
from smallearn.model import Prototype, Term
from tests.helpers.commands import run
from tests.helpers.models import CARD, THREE, YES


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """A model of two scores, a score card, and the rows that a card with other weights would be right on."""
    monkeypatch.chdir(tmp_path)
    YES.save("two.json")
    CARD.save("card.json")
    THREE.save("three.json")
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {
            "age": rng.integers(20, 80, 200).astype(float),
            "colour": rng.choice(["red", "blue", "green"], 200),
            "dose": rng.normal(5, 2, 200).round(1),
            "member": rng.choice(["True", "False"], 200),
        }
    )
    table.loc[:5, "age"] = np.nan
    noise = rng.random(200) < 0.1
    table["ill"] = np.where((table["dose"] > 5) ^ noise, "yes", "no")
    table.to_csv("data.csv", index=False)
    return tmp_path


def test_changes_are_made_in_the_order_given_and_the_file_remembers_them(capsys):
    steps = ["--cut", "age=40:45", "--weight", "[age > 45]=3", "--drop-term", "[colour = 'blue']", "--forbid", "member"]
    more = ["--add", "[age <= 30]=-1", "--constant=-1", "--threshold", "0.3", "-o", "edited.json"]
    out, err = run(capsys, "edit", "card.json", *steps, *more)
    assert "Wrote edited.json" in err
    edited = load_model("edited.json")
    assert edited.prototypes == (
        Prototype(
            1,
            -1.0,
            (
                Term(0, 3.0, "age", "above", 45.0),
                Term(0, 1.0, "age", "missing"),
                Term(1, 3.0, "colour", "equals", "red"),
                Term(0, -1.0, "age", "at_most", 30.0),
            ),
        ),
    )
    assert edited.decision_threshold == 0.3
    assert [edit.action for edit in edited.edits] == [
        "cut",
        "weight",
        "drop",
        "drop",
        "forbid",
        "add",
        "constant",
        "threshold",
    ]
    assert "Changed by hand:\n  cut 40 → 45 in [age > 45]\n" in out


def test_without_o_nothing_is_written(folder, capsys):
    before = sorted(folder.iterdir())
    _, err = run(capsys, "edit", "card.json", "--threshold", "0.3")
    assert "Nothing was written" in err
    assert sorted(folder.iterdir()) == before


@pytest.mark.parametrize(
    ("text", "term"),
    [
        ("[colour = 'green']=2", Term(1, 2.0, "colour", "equals", "green")),
        ('[colour="green"]=2', Term(1, 2.0, "colour", "equals", "green")),
        ("[colour = green]=2", Term(1, 2.0, "colour", "equals", "green")),
        ("[member = False]=-2", Term(3, -2.0, "member", "equals", False)),
        ("[colour is missing]=1", Term(1, 1.0, "colour", "missing")),
        ("[age ≤ 30.5]=1", Term(0, 1.0, "age", "at_most", 30.5)),
        ("1:[age > 60]=1", Term(0, 1.0, "age", "above", 60.0)),
        ("age=0.5", Term(0, 0.5, "age", unit=1.0)),
    ],
)
def test_a_term_is_added_as_it_would_be_printed(capsys, text, term):
    run(capsys, "edit", "card.json", "--add", text, "-o", "edited.json")
    assert load_model("edited.json").terms[-1] == term


def test_scores_are_counted_from_1(capsys):
    steps = ["--weight", "2:a=3", "--constant", "2=1", "--drop-term", "1:a", "--add", "1:[c > 2]=4"]
    run(capsys, "edit", "two.json", *steps, "-o", "edited.json")
    first, second = load_model("edited.json").prototypes
    assert first == Prototype(1, -1.0, (Term(2, -1.0, "c"), Term(2, 4.0, "c", "above", 2.0)))
    assert second == Prototype(1, 1.0, (Term(0, 3.0, "a"),))


@pytest.mark.parametrize(
    ("model", "steps", "message"),
    [
        ("card", [], "there is nothing to change"),
        ("card", ["--cut", "age:45"], "not of the form FEATURE=OLD:NEW"),
        ("card", ["--cut", "age=41:45"], "there is no such cut; it is cut at 40.0"),
        (
            "card",
            ["--weight", "[age > 41]=1"],
            "There is no term [age > 41]. The model has [age > 40], [age is missing]",
        ),
        ("card", ["--weight", "[colour = 'red']"], "not of the form TERM=NUMBER"),
        ("card", ["--weight", "[age > 40]=many"], "'many' is not a number"),
        ("card", ["--add", "[age ~ 40]=1"], "a condition is 'FEATURE > NUMBER'"),
        ("card", ["--add", "[zip > 40]=1"], "of the features 'age', 'colour', 'member'; name DATA"),
        ("card", ["--constant", "first=1"], "not of the form SCORE=NUMBER"),
        ("card", ["--threshold", "1.5"], "above 0 and below 1, not 1.5"),
        ("card", ["--refit"], "--refit needs a table"),
        ("card", ["--threshold", "0.4", "--replace"], "--replace goes with --refit"),
        ("three", ["--threshold", "0.4"], "A decision threshold is for two classes"),
        ("two", ["--weight", "a=4"], "2 scores have the term a"),
        ("card", ["--threshold", "0.4", "-o", "card.json"], "is also the input"),
    ],
)
def test_what_cannot_be_is_told(capsys, model, steps, message):
    out, err = run(capsys, "edit", f"{model}.json", *steps, code=1)
    assert message in err
    assert out == ""


def test_the_cost_on_a_table_is_that_of_the_models(capsys):
    arguments = [
        "edit",
        "card.json",
        "data.csv",
        "--target",
        "ill",
        "--threshold",
        "0.3",
        "--json",
        "-o",
        "edited.json",
    ]
    facts = json.loads(run(capsys, *arguments)[0])
    table = pd.read_csv("data.csv")
    table["colour"] = table["colour"].astype(object)
    before, after = (model.predict(table) for model in (CARD, load_model("edited.json")))
    assert facts["scores"]["accuracy"] == {
        "before": pytest.approx(np.mean(before == table["ill"])),
        "after": pytest.approx(np.mean(after == table["ill"])),
    }
    assert facts["decisions_changed"] == np.sum(before != after) > 0
    assert facts["moved"] == [{"from": "no", "to": "yes", "rows": int(np.sum(before != after))}]
    assert facts["edits"][0]["text"] == "decision threshold 0.5 → 0.3"


def test_a_refit_keeps_what_was_set_and_tells_held_out_scores(capsys):
    arguments = ["edit", "card.json", "data.csv", "--target", "ill", "--weight", "[age > 40]=1", "--refit"]
    out, _ = run(capsys, *arguments, "-o", "edited.json")
    assert "accuracy on held-out rows (5 folds)" in out
    assert "4 weights and 1 constant refitted on 200 rows" in out
    edited = load_model("edited.json")
    assert edited.terms[0].weight == 1.0
    assert edited.is_score_card


def test_replaced_terms_come_from_all_columns_of_the_table(capsys):
    arguments = ["edit", "card.json", "data.csv", "--target", "ill", "--forbid", "colour", "--refit", "--replace"]
    out, _ = run(capsys, *arguments, "-o", "edited.json")
    edited = load_model("edited.json")
    assert len(edited.terms) == 5
    assert "dose" in [term.label for term in edited.terms]
    assert "colour" not in [term.label for term in edited.terms]
    assert "added by the refit: [dose ≤" in out
    table = pd.read_csv("data.csv")
    assert np.mean(edited.predict(table) == table["ill"]) > np.mean(CARD.predict(table) == table["ill"]) + 0.2


def test_a_column_that_the_model_does_not_read_can_be_added_from_the_table(capsys):
    arguments = ["edit", "card.json", "data.csv", "--target", "ill", "--add", "[dose > 5]=4", "-o", "edited.json"]
    run(capsys, *arguments)
    assert load_model("edited.json").terms[-1] == Term(2, 4.0, "dose", "above", 5.0)
    pd.read_csv("data.csv").assign(other=range(200)).rename(columns={"other": "zz"}).eval("zz = zz * 1.5").to_csv(
        "wide.csv", index=False
    )
    _, err = run(capsys, *[*arguments[:2], "wide.csv", *arguments[3:]], code=1)
    assert "trained on 4 columns, and this table has 5" in err
    run(capsys, *[*arguments[:2], "wide.csv", *arguments[3:]], "--drop", "zz")


def test_a_model_of_a_part_of_the_table_is_refitted_on_it_and_judged_on_the_other(capsys):
    fit = ["fit", "data.csv", "--target", "ill", "--max-terms", "2", "--literals", "thresholds", "--prototypes", "1"]
    run(capsys, *fit, "--test-size", "0.3", "-o", "part.json")
    model = load_model("part.json")
    term = model.terms[0].text
    out, _ = run(capsys, "edit", "part.json", "data.csv", "--drop-term", term, "--refit", "-o", "edited.json")
    assert "On data.csv: 60 rows held out from training\n" in out
    assert "(5 folds)" not in out
    edited = load_model("edited.json")
    assert sum(edited.data.class_counts) == sum(model.data.class_counts) == 140
    assert edited.edits[-1].after == 140.0
    assert edited.table == model.table
    evaluated = json.loads(run(capsys, "evaluate", "edited.json", "data.csv", "--json").out)
    assert (evaluated["rows"], evaluated["is_held_out"]) == (60, True)
    facts = json.loads(run(capsys, "edit", "part.json", "data.csv", "--drop-term", term, "--refit", "--json").out)
    assert (facts["rows"], facts["is_held_out"]) == (60, True)
    assert facts["scores"]["accuracy"]["after"] == evaluated["accuracy"]["value"]


def test_a_rare_class_and_the_metric_of_the_choice_are_told(capsys):
    table = pd.read_csv("data.csv")
    table[(table["ill"] == "no") | (np.arange(200) < 30)].to_csv("rare.csv", index=False)
    fit = ["fit", "rare.csv", "--target", "ill", "--max-terms", "2", "--metric", "f1", "--prototypes", "1"]
    run(capsys, *fit, "-o", "rare.json")
    output = run(capsys, "edit", "rare.json", "rare.csv", "--threshold", "0.9").out
    lines = [line.split("  ")[1] for line in output.splitlines() if line.startswith("  ") and "%" in line]
    assert lines[-2:] == ["recall of 'yes'", "precision of 'yes'"]
    assert "  F1 of 'yes'" in output
    facts = json.loads(run(capsys, "edit", "rare.json", "rare.csv", "--threshold", "0.9", "--json").out)
    assert facts["rare_class"]["class"] == "yes"
    assert facts["rare_class"]["recall"]["after"] <= facts["rare_class"]["recall"]["before"]


def test_without_a_change_the_terms_are_named(capsys):
    assert "there is nothing to change" in (error := run(capsys, "edit", "card.json", code=1).err)
    assert "the model has [age > 40]" in error
