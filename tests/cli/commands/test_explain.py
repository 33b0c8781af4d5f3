"""``smallearn explain``: a model and a row in words."""

import json
import sys
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from smallearn import SMaLLModel, load_model
from smallearn.cli.io.given_values import typical_values
from smallearn.explain import reason_codes
from smallearn.model import Prototype, Range, Term
from tests.helpers.commands import run
from tests.helpers.models import CARD, THREE, model_of


@pytest.fixture(autouse=True)
def _in_the_folder(people, monkeypatch):
    monkeypatch.chdir(people)


def test_a_model_is_explained_in_words(capsys):
    output = run(capsys, "explain", "model.json", "train.csv", "--unit", "age=years").out
    assert "The model in words" in output
    assert "years" in output
    assert "on the 200 rows given" in output
    assert "What matters" in output
    facts = json.loads(run(capsys, "explain", "model.json", "train.csv", "--json").out)
    assert facts["rule"].startswith("Predict 'yes' if")
    assert {one["name"] for one in facts["features"]} == {term.label for term in load_model("model.json").features}
    assert facts["conditions"][0]["fidelity"] > 0.9


@pytest.mark.parametrize("name", ["empty.csv", "empty.parquet"])
def test_a_row_of_a_table_without_rows_is_refused(capsys, tmp_path, name):
    header = pd.read_csv("test.csv")[:0]
    (header.to_parquet if name.endswith("parquet") else header.to_csv)(tmp_path / name, index=False)
    error = run(capsys, "explain", "model.json", str(tmp_path / name), "--row", "1", code=1).err
    assert f"{name} has no rows" in error


def test_only_training_rows_shorten_a_rule_and_imitations_are_called_approximate(capsys, tmp_path):
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.choice(["n", "s"], (120, 3)), columns=["p", "q", "r"])
    table["y"] = np.where((table["p"] == "s") & (table["q"] == "s"), "yes", "no")
    table.to_csv(tmp_path / "all.csv", index=False)
    table[(table["q"] == "s") & (table["r"] == "n")].to_csv(tmp_path / "part.csv", index=False)
    model, every, part = (str(tmp_path / name) for name in ("m.json", "all.csv", "part.csv"))
    run(capsys, "fit", every, "--target", "y", "--max-terms", "2", "-o", model, "--quiet")
    title, _, clause, worth, *_ = run(capsys, "explain", model, part).out.splitlines()
    assert title == "The rule"
    assert ("p " in clause, "q " in clause) == (True, True)  # though q is the same in all these rows
    assert worth.startswith("Exactly the model")
    terms = (Term(0, 1.0, "age"), Term(1, 2.0, "size"))
    SMaLLModel(("no", "yes"), "<U3", 3, (Prototype(1, -60.0, terms),)).save(model)
    first, rest = run(capsys, "explain", model, "test.csv").out.split("\n\nApproximate rule\n")
    assert first.startswith("The model in words")
    assert "rows given" in rest


def test_a_model_is_explained_without_data(capsys, tmp_path):
    assert "four digits" in run(capsys, "explain", "model.json").out
    for model in (CARD, THREE):
        model.save(tmp_path / "other.json")
        assert "Predict" in run(capsys, "explain", str(tmp_path / "other.json")).out


def test_a_row_is_explained_in_words(capsys):
    model, table = load_model("model.json"), pd.read_csv("test.csv")
    output = run(capsys, "explain", "model.json", "test.csv", "--row", "3").out
    assert output.startswith(f"Row 3 of test.csv: '{model.predict_one(table.iloc[2])}'")
    assert "What would change the decision" in output
    facts = json.loads(run(capsys, "explain", "model.json", "test.csv", "--row", "3", "--json").out)
    assert facts["prediction"] == model.predict_one(table.iloc[2])
    assert facts["scores"] == pytest.approx(model.scores(table.iloc[[2]])[0])
    changed = table.iloc[2].to_dict()
    for change in facts["smallest"]["changes"]:
        changed[change["feature"]] = change["to"]
    assert model.predict_one(changed) == facts["smallest"]["class"] != facts["prediction"]
    only = run(capsys, "explain", "model.json", "test.csv", "--row", "3", "--changeable", "age", "--json").out
    assert list(json.loads(only)["flips"]) == ["age"]


def test_rules_of_many_classes_are_printed_up_to_ten(capsys, tmp_path):
    prototypes = tuple(Prototype(label, 0.0, (Term(0, 1.0, "colour", "equals", str(label)),)) for label in range(12))
    SMaLLModel(tuple(range(12)), "<i8", 1, prototypes).save(tmp_path / "many.json")
    assert "The rules of the other 2 classes: use --json." in run(capsys, "explain", str(tmp_path / "many.json")).out


def test_reason_codes_of_a_row_are_those_of_python_in_the_words_of_a_file(capsys, tmp_path):
    model = load_model("model.json")
    feature = next(iter(model.features)).label
    words = tmp_path / "words.csv"
    words.write_text(f"term,words\n{feature},Bad luck\n", encoding="utf-8")
    rows = pd.read_csv("train.csv")
    for label in model.classes:
        expected = reason_codes(model, rows, 2, wording={feature: "Bad luck"}, favourable=label)
        number = 1 + next(row for row, codes in enumerate(expected) if "Bad luck" in codes)
        named = [code for code in expected[number - 1] if code is not None]
        options = ("--row", str(number), "--reason-codes", "2", "--wording", str(words), "--favourable", str(label))
        facts = json.loads(run(capsys, "explain", "model.json", "train.csv", *options, "--json").out)
        assert facts["reason_codes"] == named
        output, notes = run(capsys, "explain", "model.json", "train.csv", *options)
        lines = output[output.index(f"What held '{label}' back most:") :].splitlines()[1:]
        assert lines == [f"  {place + 1}. {code}" for place, code in enumerate(named)]
        assert "words.csv has no words for: " in notes
    facts = json.loads(run(capsys, "explain", "model.json", "train.csv", "--row", "1", "--json").out)
    assert "reason_codes" not in facts


@pytest.mark.parametrize(
    ("content", "options", "message"),
    [
        ("term,words\nage,Too old\n", ["--favourable", "maybe"], "--favourable maybe is not a class"),
        ("term,words\nheight,Too tall\n", [], "'height' is neither a term nor a feature in use"),
        ("term;words\nage;Too old\n", [], "must have the columns term, words"),
        ("term,words\nage,Too old\nage,Old\n", [], "has 'age' twice"),
        ("term,words\n", [], "has no lines"),
    ],
)
def test_words_that_cannot_be_used_are_refused(capsys, tmp_path, content, options, message):
    words = tmp_path / "words.csv"
    words.write_text(content, encoding="utf-8")
    arguments = ("explain", "model.json", "train.csv", "--row", "1", "--wording", str(words), *options)
    assert message in run(capsys, *arguments, code=1).err


def test_reason_codes_need_a_row(capsys):
    assert "name it with --row" in run(capsys, "explain", "model.json", "--reason-codes", "2", code=1).err


# --- other values ----------------------------------------------------------------------------------------------------


@pytest.fixture
def cases(tmp_path):
    CARD.save(tmp_path / "model.json")
    (tmp_path / "in.csv").write_text("age,colour,member,z\n50,red,true,1\n20,blue,false,2\n20,blue,false,3\n")
    return tmp_path


def explained(capsys, folder, *arguments, code=0):
    data = [str(folder / "in.csv")] if "--row" in arguments or "data" in arguments else []
    rest = [one for one in arguments if one != "data"]
    return run(capsys, "explain", str(folder / "model.json"), *data, *rest, code=code)


def test_a_row_is_explained_with_another_value(cases, capsys):
    plain = json.loads(explained(capsys, cases, "--row", "2", "--json").out)
    assert explained(capsys, cases, "--row", "2", "--set", "age=20", "--json").out  # the value that it has
    same = json.loads(explained(capsys, cases, "--row", "2", "--set", "age=20", "--json").out)
    assert same.pop("set") == {"age": 20.0}
    assert same == plain
    as_first = ["--set", "age=50", "--set", "colour=red", "--set", "member=true"]
    first = json.loads(explained(capsys, cases, "--row", "1", "--json").out)
    changed = json.loads(explained(capsys, cases, "--row", "2", *as_first, "--json").out)
    assert (changed["probability"], changed["scores"]) == (first["probability"], first["scores"])
    printed = explained(capsys, cases, "--row", "2", "--set", "age=50").out
    assert "Row 2 of in.csv with age = 50:" in printed
    assert f"As it is in the table, with age = 20: '{plain['prediction']}', with probability" in printed


def test_a_case_can_be_described_without_a_table(cases, capsys):
    first = json.loads(explained(capsys, cases, "--row", "1", "--json").out)
    values = ["--set", "age=50", "--set", "colour=red", "--set", "member=true"]
    found = json.loads(explained(capsys, cases, *values, "--json").out)
    assert found["scores"] == first["scores"]
    assert found["typical"] == {}


def test_what_is_not_set_is_typical(cases, capsys):
    found = json.loads(explained(capsys, cases, "data", "--set", "age=$50.00", "--json").out)
    assert found["set"] == {"age": 50.0}
    assert found["typical"] == {"colour": "blue", "member": False}
    printed = explained(capsys, cases, "data", "--set", "age=50").out
    assert "Typical values, the median or most frequent value in in.csv: colour = 'blue', member = False." in printed


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--set", "ages=4"], "the model does not use 'ages'; did you mean 'age'? It uses 'age', 'colour', 'member'"),
        (["--set", "z=4"], "the model does not use 'z'; it uses"),
        (["--set", "age"], "--set age is not of the form COLUMN=VALUE"),
        (["--set", "age=old"], "'old' is not a number, such as 40 or 1.5"),
        (["--set", "age=1", "--set", "age=2"], "--set gives 'age' twice"),
        (["--row", "1", "--set", "colour=blu"], "'blu' does not occur in column 'colour'; did you mean 'blue'? it has"),
        (["--row", "1", "--set", "member=maybe"], "the value is true or false"),
        (["--set", "age=4"], "no typical value of 'colour' is known: add --set colour=VALUE, or a table"),
    ],
)
def test_values_that_cannot_be_set_are_refused(arguments, words, cases, capsys):
    assert words in explained(capsys, cases, *arguments, code=1).err


def test_a_value_outside_the_range_in_training_is_noted(cases, capsys):
    ranges = (Range(feature=next(t.feature for t in CARD.terms if t.label == "age"), low=18.0, high=90.0),)
    replace(CARD, ranges=ranges).save(cases / "model.json")
    output = explained(capsys, cases, "--row", "1", "--set", "age=400").err
    assert "age = 400 is outside the range in training, 18 to 90: the model extrapolates." in output


def test_without_pandas_the_extra_is_named(cases, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "pandas", None)
    for arguments in (["--set", "age=4"], ["--row", "1"]):
        assert "needs pandas, which is not installed" in explained(capsys, cases, *arguments, code=1).err


def test_typical_values_of_training_come_with_the_model(people, capsys):
    model = load_model(people / "model.json")
    labels = [term.label for term in model.features]
    table = pd.read_csv(people / "train.csv")
    found = json.loads(run(capsys, "explain", "model.json", "--set", f"{labels[0]}=30", "--json").out)
    assert set(found["typical"]) == set(labels[1:])
    for name, value in found["typical"].items():
        if isinstance(value, float):
            low, high = table[name].quantile([0.3, 0.7])
            assert low <= value <= high
        else:
            assert value == table[name].mode()[0]


@pytest.mark.parametrize(
    ("values", "typical"),
    [
        ([999.0] * 70 + list(range(1, 31)), 999.0),
        (list(range(1, 102)), 51.0),
        ([0.0] * 60 + list(range(1, 41)), 0.0),
        ([1.0, 2.0, 2.0, 3.0], 2.0),
        ([np.nan] * 60 + list(range(1, 41)), np.nan),
        ([0.5 * number + 0.125 for number in range(101)], 25.1),
    ],
)
def test_a_typical_number_is_one_that_training_had(values, typical):
    model = model_of(Term(0, 1.0, "days", "above", 3.0), Term(0, 1.0, "days", "missing"), intercept=-0.5)
    reference = model.with_reference(pd.DataFrame({"days": values}))
    assert typical_values(reference, ["days"])["days"] == pytest.approx(typical, rel=0.02, nan_ok=True)
