"""The documented commands in order, from a messy file to a model in use; each is a process of its own here in all but
name, with nothing but files between them."""

import json
import shlex
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from smallearn import cli, load_model
from smallearn.cli.commands import COMMANDS


def messy_rows():
    """250 rows with all that files have: gaps of three kinds, text in quotes, a line break in a cell, decimal commas, a
    constant, ids, dates, a class of three rows and rows without one."""
    rng = np.random.default_rng(0)
    size, number = rng.normal(5.0, 2.0, 250).round(2), rng.integers(0, 9, 250)
    colour = rng.choice(["rot", 'sog. "blau"', "grün; hell"], 250)
    label = np.where((size > 5.5) | (colour == "rot"), "ja", "nein").astype(object)
    label[[3, 99, 180]] = "vielleicht"
    label[[7, 8]] = None
    return pd.DataFrame(
        {
            "": np.arange(250),
            "Nr": 1000 + np.arange(250),
            "Größe (cm)": np.where(rng.random(250) < 0.1, np.nan, size),
            "Farbe": np.where(rng.random(250) < 0.05, None, colour),
            "Notiz; lang": np.where(number > 4, "eine\nzwei", "nichts"),
            "immer": "gleich",
            "am": "2024-02-29",
            "Anzahl": number,
            "Ergebnis": label,
        }
    )


def write(path):
    rows = messy_rows()
    if path.suffix == ".parquet":
        rows.drop(columns="").assign(am=pd.to_datetime(rows["am"])).to_parquet(path)
    else:
        rows.to_csv(path, index=False, sep=";", decimal=",", na_rep="?", encoding="utf-8-sig", lineterminator="\r\n")
    return path


# The journey: each command with its arguments, {data} and {model} being files.
JOURNEY = [
    "fit {data} --target Ergebnis --max-terms 3 -o {model}",
    "evaluate {model} {data} --compare",
    "explain {model} {data}",
    "explain {model} {data} --row 3",
    "predict {model} {data} -o scored.csv",
    "predict {model} {data} -o scored.parquet",
    "frontier {data} --target Ergebnis --max-terms 2 -o frontier.csv --save models --plot frontier.svg",
    "export {model} --to c --number int16 -o model.h",
    "export {model} --to sql --dialect duckdb",
    "cost {model} --chip atmega328p --number int8 --json",
    "report {model} {data} -o report.html",
]


# The last test here shows with less that Parquet gives the same model as CSV.
@pytest.mark.parametrize("name", ["Fälle 2024.csv", pytest.param("cases.parquet", marks=pytest.mark.slow)])
@pytest.mark.usefixtures("few_standard_models")
def test_the_commands_work_one_after_the_other(name, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    data, model = write(tmp_path / name).name, "das Modell.json"
    said = {}
    for line in JOURNEY:
        command = shlex.split(line.format(data=shlex.quote(data), model=shlex.quote(model)))
        assert cli.main(command) == 0, capsys.readouterr().err
        output = capsys.readouterr()
        assert "Traceback" not in output.err
        said.setdefault(command[0], output)
    _check_fit(said["fit"], model)
    _check_predictions(name, model)
    assert "These are the training rows" in said["evaluate"].out
    assert "What matters" in said["explain"].out
    assert "Größe (cm)" in Path("report.html").read_text(encoding="utf-8")
    lines = pd.read_csv("frontier.csv")
    assert lines["terms"].tolist() == [1, 2]
    assert load_model("models/model-2.json").data.target == "Ergebnis"
    assert json.loads(said["cost"].out)[0]["number"] == "int8"


def _check_fit(output, path):
    for words in (
        "2 rows without a class ignored.",
        "Class 'vielleicht' has 3 rows, too few for cross-validation: ignored.",
        "Column 'Nr' looks like an ID: ignored; --keep Nr to use it.",
        "Column 'immer' has only one value: ignored.",
    ):
        assert words in output.err
    assert "Column 'am' " in output.err
    model = load_model(path)
    assert {term.label for term in model.features} <= {"Größe (cm)", "Farbe", "Notiz; lang", "Anzahl"}
    assert model.classes == ("ja", "nein")
    assert sum(model.data.class_counts) == 245
    assert [step.n_terms for step in model.selection.frontier] == [1, 2, 3]
    after = output.out.partition("Next:")[2].strip().splitlines()
    commands = [shlex.split(line) for line in after]
    assert [command[1] for command in commands] == ["explain", "report", "predict", "export"]
    known = {module.__name__.rpartition(".")[2] for module in COMMANDS}
    for command in commands:
        assert command[2] == path
        if command[1] in known:
            cli.make_parser().parse_args(command[1:])


def _check_predictions(name, path):
    rows, scored = messy_rows(), pd.read_parquet("scored.parquet")
    model = load_model(path)
    assert len(scored) == 250
    assert np.mean(scored["prediction"] == rows["Ergebnis"]) > 0.85
    expected = model.predict(rows.assign(**{"Farbe": rows["Farbe"].where(rows["Farbe"].notna(), None)}))
    assert scored["prediction"].tolist() == expected.tolist()
    if name.endswith("csv"):
        scored = pd.read_csv("scored.csv", sep=";", dtype=str, na_filter=False)
        before = pd.read_csv(name, sep=";", dtype=str, na_filter=False, encoding="utf-8-sig")
        pd.testing.assert_frame_equal(scored[before.columns], before)
    assert scored["prediction"].tolist() == expected.tolist()


def test_the_same_rows_from_csv_and_parquet_are_the_same_model(tmp_path, capsys):
    models = []
    for name in ("a.csv", "a.parquet"):
        output = tmp_path / f"{name}.json"
        arguments = ["--target", "Ergebnis", "--max-terms", "2", "--prototypes", "1", "-o", str(output), "--quiet"]
        assert cli.main(["fit", str(write(tmp_path / name)), *arguments]) == 0
        models.append(load_model(output))
    assert models[0].prototypes == models[1].prototypes
    assert models[0].data.fingerprint == models[1].data.fingerprint
    assert capsys.readouterr().err == ""
