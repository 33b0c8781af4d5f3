"""``smallearn evaluate``: training rows and others, alone and beside standard models."""

import json
import sys

import numpy as np
import pandas as pd
import pytest

from smallearn import SMaLLClassifierCV, load_model
from tests.helpers.commands import run


@pytest.fixture(autouse=True)
def _in_the_folder(people, monkeypatch):
    monkeypatch.chdir(people)


def test_training_rows_are_recognised_and_the_cross_validated_score_comes_first(capsys):
    lines = run(capsys, "evaluate", "model.json", "train.csv").out.splitlines()
    kept = load_model("model.json").selection
    assert lines[1].startswith(f"{kept.score:.1%} ± {kept.spread:.1%} by cross-validation")
    assert "These are the training rows" in lines[2]
    shuffled = pd.read_csv("train.csv").sample(frac=1.0, random_state=1)
    shuffled.to_parquet("shuffled.parquet")
    assert "These are the training rows" in run(capsys, "evaluate", "model.json", "shuffled.parquet").out


def test_other_rows_are_scored_by_themselves(capsys):
    table = pd.read_csv("test.csv")
    model = load_model("model.json")
    accuracy = np.mean(model.predict(table) == table["y"])
    output = run(capsys, "evaluate", "model.json", "test.csv").out
    assert f"{accuracy:.1%} (" in output
    assert "This is not the training table." in output
    assert "by cross-validation" not in output
    facts = json.loads(run(capsys, "evaluate", "model.json", "test.csv", "--json").out)
    assert facts["accuracy"]["value"] == pytest.approx(accuracy)
    assert facts["is_training_data"] is False
    assert np.sum(facts["confusion"]) == facts["rows"] == 100
    for one in facts["mistakes"]:
        assert table["y"][one["row"] - 1] == one["is"] != one["says"]


def test_standard_models_are_scored_for_comparison(capsys):
    output = run(capsys, "evaluate", "model.json", "test.csv", "--compare", "--train", "train.csv").out
    assert "Each was trained on the same table as this model" in output
    for name in ("this model", "logistic regression", "decision tree", "random forest", "gradient boosting"):
        assert name in output
    facts = json.loads(run(capsys, "evaluate", "model.json", "train.csv", "--compare", "--json").out)
    scores = {one["name"]: one["accuracy"] for one in facts["familiar"]}
    assert scores["gradient boosting"] > scores["majority class"]


def comparison(capsys, folder, train, test, *options):
    """The command that evaluates a model of one table on another."""
    for name, table in (("a.csv", train), ("b.csv", test)):
        table.to_csv(folder / name, index=False)
    a, b, model = (str(folder / name) for name in ("a.csv", "b.csv", "m.json"))
    run(capsys, "fit", a, "--target", "y", "--max-terms", "1", "-o", model, "--quiet")
    return ["evaluate", model, b, *(option.format(a=a, b=b) for option in options)]


def facts_and_scores(capsys, command):
    """What a command prints as JSON, and the accuracy of each standard model."""
    facts = json.loads(run(capsys, *command, "--json").out)
    return facts, {one["name"]: one["accuracy"] for one in facts.get("familiar", [])}


def test_standard_models_see_the_same_rows_with_the_types_of_training(capsys, tmp_path):
    rng = np.random.default_rng(1)
    x = rng.integers(0, 3, 120)
    train = pd.DataFrame({"x": x, "y": np.array(["1", "2", "x"])[x]})
    command = comparison(capsys, tmp_path, train, train[train["y"] != "x"], "--train", "{a}")  # implies --compare
    _, scores = facts_and_scores(capsys, command)
    assert scores["decision tree"] == scores["random forest"] == 1.0  # though the classes look like numbers here
    k = rng.random(200) < 0.7
    train = pd.DataFrame({"k": k.astype(int), "z": rng.normal(size=200), "y": np.where(k, "yes", "no")})
    test = pd.DataFrame({"k": 0, "z": rng.normal(size=30), "y": ["no"] * 25 + ["yes"] * 5})
    facts, scores = facts_and_scores(capsys, comparison(capsys, tmp_path, train, test, "--train", "{a}"))
    assert scores["decision tree"] == facts["accuracy"]["value"] == pytest.approx(25 / 30)  # by a column constant here
    train = pd.DataFrame({"x": np.repeat([0.0, 1.0, 2.0], 20), "y": np.repeat(["p", "q", "r"], 20)})
    test = train.iloc[[*range(10), *range(20, 40), 40, 41, 42, 43]]
    facts, scores = facts_and_scores(capsys, comparison(capsys, tmp_path, train, test, "--train", "{a}"))
    assert facts["rows"] == 34
    assert scores["majority class"] == pytest.approx(10 / 34)  # all 34 rows, the rare class's too


@pytest.mark.usefixtures("few_standard_models")
def test_rows_that_no_standard_model_can_be_trained_on_are_evaluated_all_the_same(capsys, tmp_path):
    train = pd.DataFrame({"x": np.arange(40) % 7, "y": np.where(np.arange(40) % 7 > 3, "yes", "no")})
    one = train[train["y"] == "no"]
    command = comparison(capsys, tmp_path, train, one, "--compare")
    printed = run(capsys, *command)
    output = printed.out + printed.err
    facts, scores = facts_and_scores(capsys, command)
    assert "No standard models for comparison: column 'y' has only one class" in output
    assert scores == {}
    assert facts["rows"] == len(one)
    assert "Always guessing the most common class would be at least as accurate." in output
    run(capsys, "report", str(tmp_path / "m.json"), str(tmp_path / "b.csv"), "-o", str(tmp_path / "r.html"))
    assert (tmp_path / "r.html").stat().st_size > 10_000


@pytest.mark.usefixtures("few_standard_models")
def test_another_table_is_not_taken_for_the_training_table(capsys):
    output = run(capsys, "evaluate", "model.json", "test.csv", "--train", "test.csv").out
    assert "trained on another table than this model" in output


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["evaluate", "none.json", "test.csv"], "there is no file 'none.json'"),
        (["evaluate", "model.json", "none.csv"], "there is no file 'none.csv'"),
        (["evaluate", "model.json", "test.csv", "--target", "z"], "'z'"),
        (["evaluate", "model.json", "test.csv", "--target", "colour"], "class 'red' is not a class of the model"),
        (["explain", "model.json", "test.csv", "--row", "101"], "test.csv has 100 rows; there is no row 101"),
        (["explain", "model.json", "--row", "1"], "--row needs a table"),
        (["explain", "model.json", "test.csv", "--target", "z"], "'z'"),
        (["explain", "model.json", "test.csv", "--changeable", "age"], "name it with --row"),
        (["explain", "model.json", "test.csv", "--row", "1", "--changeable", "z"], "--changeable: 'z' is not among"),
        (["explain", "model.json", "--unit", "age"], "is not of the form COLUMN=UNIT"),
        (["explain", "model.json", "--unit", "z=cm"], "the model does not use 'z'"),
        (["report", "model.json", "test.csv", "-o", "nowhere/report.html"], "there is no folder 'nowhere'"),
    ],
)
def test_errors_are_one_sentence_after_the_command(arguments, words, capsys):
    output = run(capsys, *arguments, code=1)
    assert words in output.err
    assert output.err.startswith(f"smallearn {arguments[0]}: ")
    assert output.err.count("\n") <= 2
    assert output.out == ""


def test_a_model_saved_from_python_needs_the_target_to_be_named(capsys, tmp_path):
    table = pd.read_csv("train.csv")
    clf = SMaLLClassifierCV(2, n_prototypes=1, literals="raw", random_state=0).fit(table[["age", "size"]], table["y"])
    clf.model_.save(tmp_path / "own.json")
    output = run(capsys, "evaluate", str(tmp_path / "own.json"), "train.csv", code=1)
    assert "name it with --target" in output.err
    output = run(capsys, "evaluate", str(tmp_path / "own.json"), "train.csv", "--target", "y")
    assert "These are the training rows" in output.out


def test_without_pandas_the_extra_is_named(people, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "pandas", None)
    for more in ([], ["--compare"]):
        line = ["evaluate", str(people / "model.json"), str(people / "test.csv"), *more]
        wanted = "reading tables needs pandas, which is not installed: pip install 'smallearn[cli]'."
        assert wanted in run(capsys, *line, code=1).err
