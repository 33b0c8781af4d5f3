"""``smallearn predict``: the input as it was, more columns, bounded memory, and a whole file or none."""

import errno
import io
import json
import math
import os
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from smallearn import cli
from smallearn.cli.commands.predict import predictions
from smallearn.export import to_sql
from tests.helpers.models import CARD, COSTS, NO, THREE, WHOLE, YES, models, small

MESSY = (
    '\ufeffage;colour;"the\nnote";member;old\n41,50; red;"a ""b""\nc";TRUE;x\n?;NA;1,0e3;false;\n007;blue;" x ";;y\n'
)


@pytest.fixture
def folder(tmp_path):
    CARD.save(tmp_path / "model.json")
    (tmp_path / "in.csv").write_bytes(MESSY.encode())
    return tmp_path


def predict(folder, *arguments):
    return cli.main(["predict", str(folder / "model.json"), *map(str, arguments)])


def cells(path, **options):
    return pd.read_csv(path, dtype=str, na_filter=False, sep=";", encoding="utf-8-sig", **options)


@given(models(weights=small, literals=st.just(False)), st.data())
def test_predictions_are_those_of_the_model(model, data):
    row = st.lists(st.sampled_from([0.0, 1.0, -2.5]), min_size=model.n_features, max_size=model.n_features)
    X = np.array(data.draw(st.lists(row, min_size=1, max_size=5)))
    code, probability, prototype, chances, score = predictions(model, X)
    each = np.arange(len(X))
    assert [model.classes[one] for one in code] == model.predict(X).tolist()
    np.testing.assert_allclose(probability, model.predict_proba(X)[each, code], rtol=1e-9)
    np.testing.assert_allclose(chances, model.predict_proba(X), rtol=1e-9)
    decision = model.decision_function(X)
    np.testing.assert_array_equal(score, decision if decision.ndim == 1 else decision[each, code])
    z = model.scores(X)
    assert (z[each, prototype] == z.max(axis=1)).all()


def test_at_a_tie_the_first_prototype_of_the_first_class_wins():
    assert predictions(THREE, np.array([[1.0, 1.0], [-1.0, 0.0], [1.0, 0.0]]))[2].tolist() == [0, 2, 0]
    for model, label in ((YES, "no"), (NO, "no")):
        code, probability, prototype, *_ = predictions(model, np.array([[0.5, 9.0, 0.0]]))  # both scores are 0
        assert (model.classes[code[0]], probability[0], prototype[0]) == (label, 0.5, 0)


def test_cells_are_as_they_were_and_columns_are_added(folder):
    before = cells(folder / "in.csv")
    assert predict(folder, folder / "in.csv", "-o", folder / "out.csv") == 0
    after = cells(folder / "out.csv")
    of_classes = ["probability_no", "probability_yes"]
    assert list(after.columns) == [*before.columns, "prediction", "probability", "prototype", *of_classes]
    pd.testing.assert_frame_equal(after[before.columns], before)
    assert after["prediction"].tolist() == ["yes", "no", "no"]
    assert after["prototype"].tolist() == ["1", "1", "1"]
    assert "," in after["probability"][0]  # as in the file
    assert float(after["probability"][0].replace(",", ".")) == pytest.approx(1 / (1 + np.exp(-0.5 * 4)), rel=1e-15)
    assert (folder / "out.csv").read_bytes().startswith(b"\xef\xbb\xbf")


@pytest.mark.parametrize(
    "model", [YES, replace(YES, decision_threshold=0.3), NO, THREE, replace(THREE, cost_matrix=COSTS)]
)
def test_the_score_is_that_of_sql(tmp_path, model, capsys):
    model = model.with_feature_names([f"f{l}" for l in range(model.n_features)])
    model.save(tmp_path / "model.json")
    X = np.random.default_rng(0).normal(size=(30, model.n_features))
    pd.DataFrame(X, columns=[f"f{l}" for l in range(model.n_features)]).to_csv(tmp_path / "in.csv", index=False)
    assert predict(tmp_path, tmp_path / "in.csv", "--score", "-o", tmp_path / "out.csv") == 0
    scored = pd.read_csv(tmp_path / "out.csv")
    assert list(scored.columns)[-len(model.classes) - 2 :] == [
        *("prototype", "score"),
        *(f"probability_{label}" for label in model.classes),
    ]
    with closing(sqlite3.connect(":memory:")) as database:
        database.create_function("exp", 1, math.exp)
        pd.DataFrame(X, columns=[f"f{l}" for l in range(model.n_features)]).to_sql("data", database, index=False)
        answers = pd.read_sql(to_sql(model, "sqlite"), database)
    assert scored["prediction"].tolist() == answers["prediction"].tolist()
    np.testing.assert_allclose(scored["score"], answers["score"], rtol=1e-9, atol=1e-12)
    assert predict(tmp_path, tmp_path / "out.csv", "--score", "-o", tmp_path / "again.csv") == 1
    assert "already has 'prediction', 'probability', 'prototype'" in capsys.readouterr().err


def test_without_a_file_it_prints_csv(folder, capfdbinary):
    assert predict(folder, folder / "in.csv") == 0
    printed = capfdbinary.readouterr().out.decode()
    assert cells(io.StringIO(printed))["prediction"].tolist() == ["yes", "no", "no"]
    assert "\r" not in printed


def test_whole_number_classes_stay_whole(folder):
    WHOLE.save(folder / "model.json")
    pd.DataFrame({"a": [1.0, 0.75], "c": [0.0, 1.0]}).to_csv(folder / "n.csv", index=False)
    assert predict(folder, folder / "n.csv", "-o", folder / "o.parquet") == 0
    assert pd.read_parquet(folder / "o.parquet")["prediction"].dtype == np.int64


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["in.csv", "-o", "out.pdf"], "the ending of 'out.pdf' is not that of a known format"),
        (["in.csv", "-o", "nowhere/out.csv"], "there is no folder"),
        (["scored.csv", "-o", "out.csv"], "already has 'prediction': choose other names with --suffix _2"),
        (["bad.csv", "-o", "out.csv"], "bad.csv, line 40002, column 'age': 'abc' is not a number"),
        (["empty.csv", "-o", "out.csv"], "has no rows"),
        (["far.csv", "-o", "out.csv"], "line 3, column 'age': '1e400' is not a number"),
    ],
)
def test_an_error_leaves_no_file_behind(arguments, words, folder, monkeypatch, capsys):
    head = "age,colour,member\n"
    (folder / "scored.csv").write_text("age,colour,member,prediction\n1,red,1,yes\n")
    (folder / "bad.csv").write_text(head + "1,red,true\n" * 40_000 + "abc,red,true\n")
    (folder / "far.csv").write_text(head + "1,red,1\n1e400,red,1\n")
    (folder / "empty.csv").write_text(head)
    before = set(folder.iterdir())
    monkeypatch.chdir(folder)
    monkeypatch.setattr("smallearn.cli.io.tables.CHUNK_CELLS", 10_000)
    assert predict(folder, *arguments) == 1
    assert words in capsys.readouterr().err
    assert set(folder.iterdir()) == before


def test_a_full_disk_is_an_error_and_leaves_no_file_behind(folder, monkeypatch, capsys):
    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    before = set(folder.iterdir())
    monkeypatch.setattr("smallearn.cli.io.output.CsvWriter.write", full)
    assert predict(folder, folder / "in.csv", "-o", folder / "out.csv") == 1
    assert "cannot be written: No space left on device" in capsys.readouterr().err
    assert set(folder.iterdir()) == before


def test_a_suffix_makes_room_for_a_second_prediction(folder):
    assert predict(folder, folder / "in.csv", "-o", folder / "one.csv") == 0
    assert predict(folder, folder / "one.csv", "--suffix", "_2", "-o", folder / "two.csv") == 0
    two = cells(folder / "two.csv")
    assert two["prediction_2"].tolist() == two["prediction"].tolist()


def test_a_table_on_stdout_is_utf_8_whatever_the_terminal_uses(folder):
    replace(CARD, classes=("no", "Ω")).save(folder / "model.json")
    command = [sys.executable, "-m", "smallearn", "predict", str(folder / "model.json"), str(folder / "in.csv")]
    output = subprocess.run(command, capture_output=True, env=os.environ | {"PYTHONIOENCODING": "cp1252"}, timeout=120)
    assert output.returncode == 0
    assert cells(io.BytesIO(output.stdout))["prediction"].tolist() == ["Ω", "no", "no"]


def test_the_output_never_replaces_the_input(folder):
    assert predict(folder, folder / "in.csv", "-o", folder / "in.csv") == 1
    assert (folder / "in.csv").read_bytes() == MESSY.encode()


def test_every_class_has_its_probability(folder):
    THREE.save(folder / "model.json")
    X = np.random.default_rng(0).normal(size=(20, 2))
    names = [term.label for term in THREE.features]
    pd.DataFrame(X, columns=names).to_csv(folder / "n.csv", index=False)
    assert predict(folder, folder / "n.csv", "-o", folder / "o.parquet") == 0
    found = pd.read_parquet(folder / "o.parquet")
    columns = [f"probability_{label}" for label in THREE.classes]
    np.testing.assert_allclose(found[columns], THREE.predict_proba(X), rtol=1e-12)


@pytest.mark.parametrize("threshold", [0.001, 0.3, 0.999])
def test_a_threshold_moves_the_decision_of_this_run_alone(threshold, folder):
    before = (folder / "model.json").read_bytes()
    assert predict(folder, folder / "in.csv", "--threshold", threshold, "-o", folder / "out.csv") == 0
    after = cells(folder / "out.csv")
    chances = after["probability_yes"].str.replace(",", ".").astype(float)
    assert after["prediction"].tolist() == np.where(chances > threshold, "yes", "no").tolist()
    assert (folder / "model.json").read_bytes() == before


def test_a_threshold_is_for_two_classes(folder, capsys):
    THREE.save(folder / "model.json")
    assert predict(folder, folder / "in.csv", "--threshold", "0.2") == 1
    assert "--threshold is for two classes; the model has 3" in capsys.readouterr().err


def with_ids(folder):
    lines = ["customer_id;age;colour;member;old"] + [f"c{i};{20 + i};red;true;x" for i in range(30)]
    (folder / "ids.csv").write_text("\n".join(lines) + "\n")
    return folder / "ids.csv"


NEW = ["prediction", "probability", "prototype", "probability_no", "probability_yes"]


def test_only_new_columns_come_with_the_id(folder, capsys):
    path = with_ids(folder)
    assert predict(folder, path, "--only-new", "-o", folder / "out.csv") == 0
    assert "identified by the column 'customer_id'" in capsys.readouterr().err
    after = cells(folder / "out.csv")
    assert list(after.columns) == ["customer_id", *NEW]
    assert after["customer_id"].tolist() == [f"c{i}" for i in range(30)]
    assert predict(folder, path, "-o", folder / "all.csv") == 0
    pd.testing.assert_frame_equal(after, cells(folder / "all.csv")[list(after.columns)])


@pytest.mark.parametrize("name", ["out.csv", "out.parquet", "out.arrow"])
def test_the_columns_to_copy_are_named(name, folder):
    arguments = ["--only-new", "--id", "old", "--id", "age", "-o", folder / name]
    assert predict(folder, with_ids(folder), *arguments) == 0
    read = {"out.csv": cells, "out.parquet": pd.read_parquet}.get(name, pd.read_feather)
    found = read(folder / name)
    assert list(found.columns) == ["old", "age", *NEW]
    assert found["age"].tolist() == [str(20 + i) for i in range(30)]


def test_rows_without_an_id_are_numbered(folder, monkeypatch, capsys):
    monkeypatch.setattr("smallearn.cli.io.tables.CHUNK_CELLS", 1)  # chunks of 100 rows
    (folder / "many.csv").write_text("age,colour,member\n" + "50,red,true\n" * 250)
    assert predict(folder, folder / "many.csv", "--only-new", "-o", folder / "out.csv") == 0
    assert "identified by their numbers" in capsys.readouterr().err
    found = pd.read_csv(folder / "out.csv")
    assert list(found.columns) == ["row", *NEW]
    assert found["row"].tolist() == list(range(1, 251))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--id", "age"], "--id is for --only-new"),
        (["--only-new", "--id", "nothing"], "has no column 'nothing'"),
        (["--defuse-formulas", "-o", "out.parquet"], "--defuse-formulas is for CSV and TSV"),
    ],
)
def test_options_that_do_not_fit_are_refused(arguments, words, folder, monkeypatch, capsys):
    monkeypatch.chdir(folder)
    assert predict(folder, "in.csv", *arguments) == 1
    assert words in capsys.readouterr().err


def test_formulas_are_defused_on_request_and_numbers_are_not(folder):
    safe = ["-5", "+3.5", "-1,234.50", "-7%", "a=b", "", "x-1", "-$5", "+49 171 12"]
    evil = ["=1+1", "+A1", "-2+3", "@SUM(A1)", "\t=1", " =HYPERLINK(1)", "＝1+1", "-cmd|' /C calc'!A0", "-1-2"]
    table = pd.DataFrame({"=note": [*safe, *evil], "age": 50, "colour": "red", "member": True})
    table.to_csv(folder / "notes.csv", index=False)
    assert predict(folder, folder / "notes.csv", "-o", folder / "same.csv") == 0
    read = {"dtype": str, "na_filter": False, "lineterminator": "\n"}
    assert pd.read_csv(folder / "same.csv", **read)["=note"].tolist() == [*safe, *evil]
    assert predict(folder, folder / "notes.csv", "--defuse-formulas", "-o", folder / "out.csv") == 0
    after = pd.read_csv(folder / "out.csv", **read)
    assert after["'=note"].tolist() == [*safe, *(f"'{cell}" for cell in evil)]


def test_classes_that_are_formulas_are_defused_too(folder):
    replace(CARD, classes=("=n", "@ye")).save(folder / "model.json")
    assert predict(folder, folder / "in.csv", "--defuse-formulas", "-o", folder / "out.csv") == 0
    assert set(cells(folder / "out.csv")["prediction"]) == {"'=n", "'@ye"}


# --- large files ----------------------------------------------------------------------------------------------------


RUN = """
import json, resource, sys
import pandas, pyarrow.parquet
from smallearn import cli
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
code = cli.main(sys.argv[1:])
print(json.dumps({"code": code, "kB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before}), file=sys.stderr)
"""


def large(path, megabytes):
    row = "{i},{age},red,true,some longer text to make the row what rows are,0.123456,7.5\n"
    block = "".join(row.format(i=i, age=i % 90) for i in range(10_000))
    with path.open("w") as file:
        file.write("id,age,colour,member,note,v,w\n")
        while file.tell() < megabytes * 1_000_000:
            file.write(block)
    return path


def start(folder, *arguments, code=RUN):
    command = [sys.executable, "-c", code, "predict", str(folder / "model.json"), *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_memory_does_not_grow_with_the_table(folder):
    grown = {}
    for megabytes in (6, 30):
        done = start(folder, large(folder / "large.csv", megabytes), "-o", folder / "out.csv", "--quiet")
        output = json.loads(done.communicate(timeout=300)[1])
        assert output["code"] == 0
        grown[megabytes] = output["kB"] / 1000
    # As text in memory the larger table alone would be beyond 100 MB; what is read at once is a fraction of it.
    assert grown[30] < 100
    assert grown[30] < grown[6] + 25
    assert (folder / "out.csv").stat().st_size > 30_000_000


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signals")
@pytest.mark.parametrize(("name", "code", "words"), [("INT", 130, "Interrupted."), ("TERM", 143, ""), ("HUP", 129, "")])
def test_an_interruption_leaves_no_file_behind(name, code, words, folder):
    source = large(folder / "large.csv", 40)
    before = set(folder.iterdir())
    running = start(
        folder, source, "-o", folder / "out.csv", code="import sys\nfrom smallearn import cli\nsys.exit(cli.main())"
    )
    deadline = time.monotonic() + 60
    while not any(path.stat().st_size for path in folder.glob(".smallearn-*")) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert set(folder.iterdir()) != before  # it is at work
    os.kill(running.pid, getattr(signal, f"SIG{name}"))
    _, output = running.communicate(timeout=60)
    assert running.returncode == code
    assert output.strip() == words
    assert set(folder.iterdir()) == before


def test_a_closed_pipe_is_no_traceback(folder):
    source = large(folder / "large.csv", 8)
    program = f"{sys.executable} -m smallearn predict {folder / 'model.json'} {source} | head -n 2"
    done = subprocess.run(["bash", "-c", program], capture_output=True, text=True, timeout=120)
    assert done.stdout.splitlines()[1].startswith("0,0,red,true")
    assert done.stderr == ""


def test_a_ranked_list_has_the_likeliest_first(folder, capsys):
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"age": rng.integers(20, 80, 50), "colour": rng.choice(["red", "blue"], 50), "member": "True"})
    table.assign(row_id=range(50)).to_csv(folder / "rows.csv", index=False)
    assert predict(folder, folder / "rows.csv", "-o", folder / "all.csv") == 0
    assert predict(folder, folder / "rows.csv", "--rank-by", "yes", "-o", folder / "ranked.csv") == 0
    assert "Wrote" in (note := capsys.readouterr().err)
    assert "50 rows, the most likely 'yes' first." in note
    plain, ranked = (pd.read_csv(folder / name) for name in ("all.csv", "ranked.csv"))
    expected = plain.sort_values("probability_yes", ascending=False, kind="stable", ignore_index=True)
    pd.testing.assert_frame_equal(ranked, expected)
    for name in ("first.csv", "first.parquet", "first.xlsx"):
        arguments = ["--rank-by", "no", "--top", "3", "--only-new", "-o", folder / name]
        assert predict(folder, folder / "rows.csv", *arguments) == 0
    least = plain.sort_values("probability_no", ascending=False, kind="stable")["row_id"].tolist()[:3]
    assert pd.read_csv(folder / "first.csv")["row_id"].tolist() == least
    assert pd.read_parquet(folder / "first.parquet")["row_id"].astype(int).tolist() == least
    assert pd.read_excel(folder / "first.xlsx")["row_id"].tolist() == least


def test_a_class_to_rank_by_has_to_be_one_of_the_model(folder, capsys):
    assert predict(folder, folder / "in.csv", "--rank-by", "Yes") == 1
    assert "--rank-by 'Yes' is not one of the classes: 'no', 'yes'" in capsys.readouterr().err
    assert predict(folder, folder / "in.csv", "--top", "3") == 1
    assert "--top is for ranked rows: add --rank-by with one of 'no', 'yes'" in capsys.readouterr().err
