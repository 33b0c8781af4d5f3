"""``evaluate``, ``explain`` and ``report`` of many rows: exact where sums serve, else of a random sample."""

import json
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from smallearn import load_model
from smallearn.cli.io import model_rows
from smallearn.evaluation import evaluate
from tests.helpers.commands import run

MOST = 40


@pytest.fixture(autouse=True)
def _in_the_folder(people, monkeypatch):
    monkeypatch.chdir(people)


@pytest.fixture
def few(monkeypatch):
    """Let few rows be many."""
    monkeypatch.setattr(model_rows, "MOST_ROWS", MOST)


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize("name", ["test.csv", "train.csv", "gaps.csv"])
def test_sums_are_those_of_all_rows(name, capsys):
    if name == "gaps.csv":
        pd.read_csv("test.csv").assign(y=lambda t: t["y"].where(t.index % 7 > 0)).to_csv(name, index=False)
    facts = json.loads(run(capsys, "evaluate", "model.json", name, "--json").out)
    model, table = load_model("model.json"), pd.read_csv(name).dropna()
    whole = evaluate(model, table, table["y"])
    assert facts["rows"] == whole.n_rows == len(table)
    assert facts["sampled_rows"] == MOST
    assert facts["is_training_data"] is whole.is_training_data is (name == "train.csv")
    assert facts["confusion"] == whole.confusion.tolist()
    assert facts["accuracy"] == {"value": whole.accuracy.value, "low": whole.accuracy.low, "high": whole.accuracy.high}
    for score in ("balanced_accuracy", "log_loss", "brier"):
        assert facts[score]["value"] == pytest.approx(getattr(whole, score).value, rel=1e-12)
    assert facts["auc"]["low"] <= whole.auc.value <= facts["auc"]["high"]
    errors = [(table.index[one.row] + 1, one.truth, one.predicted, one.probability) for one in whole.mistakes]
    found = [(one["row"], one["is"], one["says"], one["probability"]) for one in facts["mistakes"]]
    assert found == errors


@pytest.mark.usefixtures("few")
def test_what_needs_rows_at_once_is_of_a_sample_and_says_so(capsys):
    output = run(capsys, "evaluate", "model.json", "test.csv").out
    assert f"ROC AUC and groups are those of {MOST} rows drawn at random." in output
    output = run(capsys, "explain", "model.json", "test.csv").out
    assert f"All that depends on rows is that of {MOST} drawn at random from 100." in output
    assert f"on {MOST} rows" in output
    assert json.loads(run(capsys, "explain", "model.json", "test.csv", "--json").out)["sampled_rows"] == MOST
    run(capsys, "report", "model.json", "test.csv", "--no-compare", "-o", "many.html")
    with open("many.html", encoding="utf-8") as file:
        page = file.read()
    assert f"of {MOST} rows drawn at random" in page
    assert "100 rows of test.csv" in page


def test_of_few_rows_nothing_is_said(capsys):
    assert "drawn at random" not in run(capsys, "evaluate", "model.json", "test.csv").out
    assert json.loads(run(capsys, "evaluate", "model.json", "test.csv", "--json").out)["sampled_rows"] is None
    assert "drawn at random" not in run(capsys, "explain", "model.json", "test.csv").out


@pytest.mark.usefixtures("few")
def test_one_row_is_found_wherever_it_is(capsys):
    model, table = load_model("model.json"), pd.read_csv("test.csv")
    for row in (1, 37, 100):
        facts = json.loads(run(capsys, "explain", "model.json", "test.csv", "--row", str(row), "--json").out)
        assert facts["prediction"] == model.predict(table[row - 1 : row])[0]
    assert (
        "has 100 rows; there is no row 101"
        in run(capsys, "explain", "model.json", "test.csv", "--row", "101", code=1).err
    )


@pytest.mark.usefixtures("few")
def test_a_page_without_classes_shows_a_sample(capsys):
    pd.read_csv("test.csv").drop(columns="y").to_csv("new.csv", index=False)
    run(capsys, "report", "model.json", "new.csv", "--no-compare", "-o", "new.html")
    with open("new.html", encoding="utf-8") as file:
        assert f"of {MOST} rows drawn at random" in file.read()


RUN = """
import contextlib, io, json, resource, sys
import pandas, pyarrow.parquet
from smallearn import cli
from smallearn.cli.io import model_rows
model_rows.MOST_ROWS = 5000
peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
with contextlib.redirect_stdout(io.StringIO()):
    assert cli.main([sys.argv[1], sys.argv[2], "test.csv"]) == 0  # libraries are loaded
    before = peak()
    code = cli.main(sys.argv[1:])
print(json.dumps({"code": code, "kB": peak() - before}))
"""


@pytest.mark.parametrize("command", ["evaluate", "explain"])
def test_memory_does_not_grow_with_the_table(command):
    table, rng = pd.read_csv("test.csv"), np.random.default_rng(0)
    grown = {}
    for n_rows in (20_000, 400_000):
        many = table.iloc[rng.integers(len(table), size=n_rows)]
        many.to_parquet("many.parquet")
        arguments = [sys.executable, "-c", RUN, command, "model.json", "many.parquet", "--quiet"]
        done = subprocess.run(arguments, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr
        result = json.loads(done.stdout)
        assert result["code"] == 0
        grown[n_rows] = result["kB"]
    # In memory, the three columns, their terms and the scores would take 30 MB more.
    assert grown[400_000] - grown[20_000] < 10_000
