"""``smallearn monitor``: what it prints, its exit codes, dates, and files without histograms."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import f1_score, recall_score

from smallearn import load_model
from smallearn.evaluation import monitor
from tests.helpers.commands import run


@pytest.fixture(autouse=True)
def _in_the_folder(people, monkeypatch):
    monkeypatch.chdir(people)


def shifted_rows(path, **columns):
    """The training table with other columns, in a file."""
    table = pd.read_csv("train.csv").assign(**columns)
    table.to_csv(path, index=False)
    return table


def test_the_training_table_is_stable_and_the_exit_code_is_0(capsys):
    output = run(capsys, "monitor", "model.json", "train.csv").out
    assert "200 rows, compared with 200 training rows: stable." in output
    assert "Performance on 200 rows with a known class" in output
    assert "exit code" not in output


def test_a_shift_has_exit_code_3_unless_the_limit_is_higher(capsys, tmp_path):
    table = shifted_rows(tmp_path / "new.csv", age=pd.read_csv("train.csv")["age"] + 25)
    output = run(capsys, "monitor", "model.json", str(tmp_path / "new.csv"), code=3).out
    assert "large shift of" in output
    assert "What moved most" in output
    assert output.splitlines()[-1].startswith("PSI above 0.25: ")
    assert output.splitlines()[-1].endswith("(exit code 3).")
    run(capsys, "monitor", "model.json", str(tmp_path / "new.csv"), "--fail-at", "90")
    facts = json.loads(run(capsys, "monitor", "model.json", str(tmp_path / "new.csv"), "--json", code=3).out)
    result = monitor(load_model("model.json"), table, table["y"])
    assert facts["shifted"] == list(result.shifted())
    assert facts["stable"] is False
    assert [one["psi"] for one in facts["features"]] == [one.psi for one in result.overall.features]
    assert facts["performance"]["accuracy"]["value"] == result.evaluation.accuracy.value
    assert facts["confusion"] == result.overall.confusion.tolist()


def test_each_period_has_a_line_and_an_entry(capsys, tmp_path):
    dates = pd.date_range("2024-01-20", periods=200, freq="h").strftime("%Y-%m-%d %H:%M").to_list()
    dates[0] = ""
    shifted_rows(tmp_path / "new.csv", when=dates)
    arguments = ["monitor", "model.json", str(tmp_path / "new.csv"), "--date", "when", "--fail-at", "9"]
    lines = run(capsys, *arguments, "--period", "week").out.splitlines()
    table = lines[lines.index("By week") + 1 :]
    assert [line.split()[0] for line in table[:4]] == ["period", "no", "2024-W03", "2024-W04"]
    facts = json.loads(run(capsys, *arguments, "--period", "day", "--json").out)
    assert [one["period"] for one in facts["periods"]][:2] == ["no date", "2024-01-20"]
    assert sum(one["rows"] for one in facts["periods"]) == facts["rows"] == 200
    assert facts["periods"][1]["accuracy"]["low"] < facts["periods"][1]["accuracy"]["high"]


def test_rows_without_a_class_are_compared_but_not_evaluated(capsys, tmp_path):
    table = pd.read_csv("train.csv")
    shifted_rows(tmp_path / "new.csv", y=table["y"].where(np.arange(200) < 120, ""))
    told = run(capsys, "monitor", "model.json", str(tmp_path / "new.csv"))
    assert "200 rows, compared with" in told.out
    assert "Performance on 120 rows with a known class" in told.out
    assert "80 rows have no class that the model knows: compared, not evaluated." in told.err
    table.drop(columns="y").to_parquet(tmp_path / "new.parquet")
    output = run(capsys, "monitor", "model.json", str(tmp_path / "new.parquet")).out
    assert "Performance" not in output
    shifted_rows(tmp_path / "none.csv", y="")
    assert "Performance" not in run(capsys, "monitor", "model.json", str(tmp_path / "none.csv")).out


def test_a_table_in_chunks_gives_what_it_gives_at_once(capsys, tmp_path, monkeypatch):
    table = shifted_rows(tmp_path / "new.csv", age=pd.read_csv("train.csv")["age"] + 9)
    whole = run(capsys, "monitor", "model.json", str(tmp_path / "new.csv"), "--json", "--fail-at", "9").out
    monkeypatch.setattr("smallearn.cli.io.tables.CHUNK_CELLS", 1)  # chunks of 100 rows
    assert run(capsys, "monitor", "model.json", str(tmp_path / "new.csv"), "--json", "--fail-at", "9").out == whole
    assert json.loads(whole)["rows"] == len(table)


def test_a_file_without_histograms_needs_a_table_to_compare_with(capsys, tmp_path):
    old = tmp_path / "old.json"
    replace(load_model("model.json"), reference=None).save(old)
    told = run(capsys, "monitor", str(old), "train.csv", code=1).err
    assert "this model's file has no histograms of its training rows" in told
    assert "--reference TABLE" in told
    output = run(capsys, "monitor", str(old), "test.csv", "--reference", "train.csv", "--fail-at", "9").out
    assert "100 rows, compared with 200 training rows" in output


def test_a_wrong_date_column_or_cell_is_named(capsys, tmp_path):
    shifted_rows(tmp_path / "new.csv", when=["2024-01-01"] * 3 + ["03/04/2024"] + ["2024-01-01"] * 196)
    told = run(capsys, "monitor", "model.json", str(tmp_path / "new.csv"), "--date", "when", code=1).err
    assert "line 5, column 'when': '03/04/2024' is not a date that can be told for sure; write it as 2024-03-31" in told
    told = run(capsys, "monitor", "model.json", "train.csv", "--date", "whenn", code=1).err
    assert "has no column 'whenn'" in told
    shifted_rows(tmp_path / "empty.csv", when="")
    told = run(capsys, "monitor", "model.json", str(tmp_path / "empty.csv"), "--date", "when", code=1).err
    assert "no row has a date in column 'when'" in told
    with pytest.raises(SystemExit, match="2"):
        run(capsys, "monitor", "model.json", "train.csv", "--fail-at", "-1")


def test_what_moved_in_the_latest_period_alone_is_told_first(capsys, tmp_path):
    table = pd.read_csv("train.csv")
    table = pd.concat([table] * 6, ignore_index=True)
    late = np.arange(len(table)) >= 1100
    table.loc[late, "age"] += 60
    table.assign(when=np.where(late, "2024-02-01", "2024-01-01")).to_csv(tmp_path / "new.csv", index=False)
    output = run(capsys, "monitor", "model.json", str(tmp_path / "new.csv"), "--date", "when", code=3).out
    assert "\nIn the latest period, 2024-02: large shift of " in output


def test_the_metric_of_the_choice_and_a_rare_class_are_watched(capsys, tmp_path):
    table = pd.read_csv("train.csv")
    rare = pd.concat([table[table["y"] == "no"], table[table["y"] == "yes"][:12]], ignore_index=True)
    rare.assign(when="2024-01-01").to_csv(tmp_path / "rare.csv", index=False)
    data, model = str(tmp_path / "rare.csv"), str(tmp_path / "rare.json")
    run(capsys, "fit", data, "--target", "y", "--metric", "f1", "--max-terms", "2", "--drop", "when", "-o", model)
    output = run(capsys, "monitor", model, data, "--date", "when").out
    fitted, told = load_model(model), pd.read_csv(data)
    score = f1_score(told["y"], fitted.predict(told), pos_label="yes")
    assert f"\nF1 of 'yes' {score:.3f}; in training {fitted.selection.text} by cross-validation.\n" in output
    recall = recall_score(told["y"], fitted.predict(told), pos_label="yes")
    assert next(line.split()[3] for line in output.splitlines() if "recall of yes " in line) == f"{recall:.1%}"
    head, line = output.split("By month\n")[1].splitlines()[:2]
    assert head.rstrip().endswith("recall of yes  precision of yes")
    assert f"{recall:.1%}" in line
    assert json.loads(run(capsys, "monitor", model, data, "--json").out)["performance"]["rare_class"] == "yes"
