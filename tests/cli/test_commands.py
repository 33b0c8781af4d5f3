"""``smallearn fit``, ``export`` and ``cost``: from a file to a model on a chip."""

import json
import os
import subprocess
import sys
import threading
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from smallearn import cli, estimator, load_model
from smallearn.cli.commands.cost import _as_words as words_of_costs
from smallearn.cli.common import write_file
from smallearn.devices import cost
from smallearn.export import to_c
from tests.helpers.models import CARD
from tests.helpers.tools import need


@pytest.fixture
def table():
    """Rows with everything that files have: gaps, text, quotes, a constant, an id, names in several scripts."""
    rng = np.random.default_rng(0)
    size = rng.normal(5.0, 2.0, 200).round(2)
    colour = rng.choice(["red", 'so-called "blue"', "grün; hell"], 200)
    return pd.DataFrame(
        {
            "id": [f"case {i}" for i in range(200)],
            "Größe, cm": np.where(rng.random(200) < 0.1, np.nan, size),
            "colour": colour,
            "always": 7,
            "result": np.where((size > 5.5) | (colour == "red"), "yes", "no"),
        }
    )


@pytest.mark.parametrize("ending", ["comma.csv", "semicolon.csv", "tab.tsv", "table.parquet"])
def test_fit_learns_from_a_messy_file(table, ending, tmp_path, capsys):
    path = tmp_path / ending
    separator = {"semicolon.csv": ";", "tab.tsv": "\t"}.get(ending, ",")
    if ending.endswith("parquet"):
        table.to_parquet(path)
    else:
        table.to_csv(path, index=False, sep=separator, encoding="utf-8-sig")
    output = tmp_path / "model.json"
    code = cli.main(
        ["fit", str(path), "--target", "result", "--max-terms", "3", "--prototypes", "1", "-o", str(output)]
    )
    told = capsys.readouterr()
    assert code == 0
    assert "Column 'always' has one value only: left out." in told.err
    assert "Column 'id' names the rows: left out; --keep id to keep it." in told.err
    assert "of the rows right by cross-validation" in told.out
    model = load_model(output)
    assert {term.label for term in model.features} <= {"Größe, cm", "colour"}
    assert len(model.terms) <= 3
    assert np.mean(model.predict(table) == table["result"]) > 0.9


def test_decimal_commas_and_question_marks_are_numbers_and_gaps(table, tmp_path, capsys):
    path, output = tmp_path / "data.csv", tmp_path / "model.json"
    table[["Größe, cm", "result"]].to_csv(path, index=False, sep=";", decimal=",", na_rep="?")
    arguments = ["--target", "result", "--max-terms", "1", "--prototypes", "1", "-o", str(output)]
    assert cli.main(["fit", str(path), *arguments]) == 0
    assert load_model(output).terms[0].kind in ("raw", "at_most")
    path.write_text(path.read_text().replace("?", "unknown"))
    capsys.readouterr()
    cli.main(["fit", str(path), *arguments])
    assert "Column 'Größe, cm' is text, for 'unknown' in line" in capsys.readouterr().err


@pytest.mark.tools
def test_fit_for_a_chip_names_the_command_that_exports_what_fits(table, tmp_path, capsys):
    need("avr-gcc")
    path, output = tmp_path / "data.csv", tmp_path / "model.json"
    table.drop(columns="colour").to_csv(path, index=False)
    limits = ["--device", "atmega328p", "--max-flash", "100", "--max-time-us", "10"]
    assert cli.main(["fit", str(path), "--target", "result", "--max-terms", "2", *limits, "-o", str(output)]) == 0
    printed = capsys.readouterr().out
    assert "bytes of flash" in printed
    command = printed.splitlines()[-1].split()[1:]
    assert cli.main([*command, "-o", str(tmp_path / "model.h")]) == 0
    assert "model_predict" in (tmp_path / "model.h").read_text()
    assert cli.main(["cost", str(output), "--number", command[5], "--layout", command[7], "--json"]) == 0
    assert json.loads(capsys.readouterr().out)[0]["flash"] <= 100


@pytest.mark.tools
def test_fit_tells_what_a_chip_cannot_hold_and_writes_nothing(table, tmp_path, capsys):
    need("avr-gcc")
    path, output = tmp_path / "data.csv", tmp_path / "model.json"
    table[["Größe, cm", "result"]].to_csv(path, index=False)
    limits = ["--device", "atmega328p", "--max-flash", "2"]
    assert cli.main(["fit", str(path), "--target", "result", "--max-terms", "1", *limits, "-o", str(output)]) == 1
    assert "smallearn fit: No model keeps --max-flash 2 on atmega328p" in capsys.readouterr().err
    assert not output.exists()


@pytest.mark.parametrize(
    ("content", "arguments", "words"),
    [
        ("a,b\n1,2\n3,4\n", ["--target", "c"], "has no column 'c'; it has 'a', 'b'"),
        ("a,b\n", ["--target", "b"], "has no rows"),
        ("a,b\n1,2\n4\n5,6,7,8\n", ["--target", "b"], "data.csv, line 4 has 4 cells, the header 2"),
        ("a,b\n1,x\n2,x\n", ["--target", "b"], "column 'b' has one class only, 'x'"),
        ("a,b\n1,x\n2,x\n3,y\n", ["--target", "b"], "two classes need 5 rows each at least, to hold some out"),
        ("a,b\n" + "1,x\n1,y\n" * 5, ["--target", "b"], "no column is left to learn from"),
        ("a,b\n\udcff,x\n2,y\n", ["--target", "b"], "is not UTF-8 text: save it as UTF-8, or try --encoding cp1252"),
        (None, ["--target", "b"], "there is no file"),
    ],
)
def test_fit_says_in_a_sentence_what_is_wrong(content, arguments, words, tmp_path, capsys):
    path = tmp_path / "data.csv"
    if content is not None:
        path.write_bytes(content.encode(errors="surrogateescape"))
    assert cli.main(["fit", str(path), *arguments, "-o", str(tmp_path / "model.json")]) == 1
    told = capsys.readouterr()
    assert words in told.err
    assert "Traceback" not in told.err
    assert not (tmp_path / "model.json").exists()


@pytest.fixture
def simple(table, tmp_path):
    """A file of one number, one text and the class."""
    table[["Größe, cm", "colour", "result"]].to_csv(tmp_path / "data.csv", index=False)
    return tmp_path / "data.csv"


def fit(path, *arguments):
    """The exit code of a quick fit, and where the model is."""
    output = path.with_name("model.json")
    quick = ["--target", "result", "--max-terms", "2", "--prototypes", "1", "-o", str(output)]
    return cli.main(["fit", str(path), *quick, *arguments]), output


def test_fit_tells_the_score_with_its_error_beside_the_most_frequent_class(simple, table, capsys):
    code, output = fit(simple)
    assert code == 0
    printed = capsys.readouterr().out
    chosen, share = load_model(output).selection, table["result"].value_counts(normalize=True)
    assert f"{chosen.score:.1%} ± {chosen.spread:.1%} of the rows right by cross-validation" in printed
    assert f"'{share.index[0]}', the most frequent class, is {share.iloc[0]:.1%} of them" in printed
    assert "better is possible on the training data" in printed
    assert f"smallearn export {output} --to c" in printed


def test_fit_has_everything_for_machines(simple, capsys):
    simple.write_text(
        "\n".join(f"{'n' if i == 0 else i * i},{line}" for i, line in enumerate(simple.read_text().split("\n")))
    )
    code, output = fit(simple, "--json", "--drop", "colour")
    assert code == 0
    facts = json.loads(capsys.readouterr().out)
    model = load_model(output)
    assert facts["model"] == str(output)
    assert facts["score"] == model.selection.score
    assert facts["n_terms"] == len(model.terms)
    assert facts["rows"] == sum(entry["rows"] for entry in facts["classes"]) == 200
    assert facts["left_out"] == {"colour": "as asked"}
    assert model.data.target == "result"
    assert model.data.source == "data.csv"


def test_fit_keeps_quiet_if_asked_to(table, tmp_path, capsys):
    table.to_csv(tmp_path / "data.csv", index=False)
    assert fit(tmp_path / "data.csv", "--quiet")[0] == 0
    assert capsys.readouterr().err == ""
    assert fit(tmp_path / "data.csv", "--quiet", "--drop", "none")[0] == 1
    assert "has no column 'none'" in capsys.readouterr().err


def test_fit_makes_a_score_card_of_conditions_for_the_class_asked_for(simple):
    code, output = fit(simple, "--points", "3", "--literals", "thresholds", "--positive", "no")
    assert code == 0
    model = load_model(output)
    assert model.is_score_card
    assert all(abs(term.points) <= 3 for term in model.terms)
    assert {term.kind for term in model.terms} <= {"at_most", "above", "equals", "missing"}
    assert model.classes[model.prototypes[0].owner] == "no"


@pytest.mark.parametrize("labels", [[True, False], [1, 0], [2.0, 1.0], ["b", "a"]])
def test_fit_takes_classes_of_every_kind(labels, simple, table, capsys):
    table["result"] = np.where(table["result"] == "yes", *map(np.array, labels))
    table[["Größe, cm", "colour", "result"]].to_csv(simple, index=False)
    code, output = fit(simple, "--positive", str(labels[0]).removesuffix(".0"))
    assert code == 0, capsys.readouterr().err
    model = load_model(output)
    assert set(model.classes) == set(labels)
    assert model.classes[model.prototypes[0].owner] == labels[0]


def test_fit_with_booleans_reads_them_in_any_writing(table, tmp_path):
    table["big"] = np.where(table["Größe, cm"].isna(), "", np.where(table["Größe, cm"] > 5.5, "TRUE", "false"))
    path = tmp_path / "data.csv"
    table[["big", "colour", "result"]].to_csv(path, index=False)
    code, output = fit(path)
    assert code == 0
    term = next(term for term in load_model(output).terms if term.name == "big")
    assert (term.kind, type(term.value)) == ("equals", bool)
    scored = tmp_path / "scored.csv"
    assert cli.main(["predict", str(output), str(path), "-o", str(scored)]) == 0
    found = pd.read_csv(scored)
    assert np.mean(found["prediction"] == found["result"]) > 0.85


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--positive", "maybe"], "--positive 'maybe' is none of the classes, 'no', 'yes'"),
        (["--literals", "raw"], "--literals raw has no term for these. Set --literals both"),
        (["--max-flash", "9"], "--max-flash 9 is a limit on a chip; name the chip with --device."),
        (["--device", "8051"], "--device 8051 is not one of"),
        (["--keep", "none"], "has no column 'none'"),
        (["-o", "nowhere/model.json"], "there is no folder 'nowhere' to write 'model.json' in"),
    ],
)
def test_fit_speaks_of_its_own_arguments(arguments, words, simple, capsys):
    assert fit(simple, *arguments)[0] == 1
    assert words in capsys.readouterr().err


def test_the_owner_is_for_two_classes(simple, table, capsys):
    table["result"] = np.where(table["Größe, cm"] < 4, "low", table["result"])
    table.to_csv(simple, index=False)
    assert fit(simple, "--positive", "low")[0] == 1
    assert "--positive is for two classes" in capsys.readouterr().err


def test_frontier_tells_each_size_for_people_and_machines(simple, tmp_path, capsys):
    arguments = ["frontier", str(simple), "--target", "result", "--max-terms", "2", "--prototypes", "1"]
    assert cli.main(arguments) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["terms", "prototypes", "accuracy"]
    assert [line.split()[0] for line in lines[1:3]] == ["1", "2"]
    assert cli.main([*arguments, "--json", "--chip", "cortex-m0", "--save", str(tmp_path / "models")]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [line["terms"] for line in found] == [1, 2]
    assert found[0]["flash"] < found[1]["flash"]
    assert len(load_model(tmp_path / "models" / "model-1.json").terms) == 1


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (["--plot", "a.doc"], "must end in .svg"),
        (["--chip", "8051"], "--chip 8051 is not one of"),
        (["--chip", "cortex-m0", "--number", "foo"], "--number 'foo' is none of float32, int8"),
        (["--number", "foo"], "--number is that of a chip: name one with --chip"),
        (["--number", "int8"], "--number is that of a chip: name one with --chip"),
        (["--save", "data.csv"], "--save 'data.csv' must be a folder, and 'data.csv' is none"),
        (["--save", "data.csv/models"], "--save 'data.csv/models' must be a folder, and 'data.csv' is none"),
    ],
)
def test_frontier_tells_what_is_wrong_before_it_searches(wrong, words, simple, monkeypatch, capsys):
    monkeypatch.chdir(simple.parent)
    monkeypatch.setattr("smallearn.cli.commands.frontier._points", None)
    assert cli.main(["frontier", "data.csv", "--target", "result", *wrong]) == 1
    assert words in capsys.readouterr().err


def test_frontier_draws_what_it_prints(simple, tmp_path, monkeypatch):
    from smallearn import plot

    drawn = {}
    monkeypatch.setattr(plot, "frontier", lambda *_, **options: drawn.update(options))
    quick = ["--target", "result", "--max-terms", "1", "--prototypes", "1", "--plot", str(tmp_path / "f.svg")]
    for number, flags in (("float32", ["--number", "float32"]), ("int8", [])):
        assert cli.main(["frontier", str(simple), *quick, "--chip", "cortex-m0", *flags]) == 0
        del drawn["ax"]
        assert drawn == {"by": "bytes", "chip": "cortex-m0", "number": number, "layout": "best"}


@pytest.fixture
def saved(tmp_path):
    CARD.save(tmp_path / "model.json")
    return tmp_path / "model.json"


def test_export_prints_or_writes_the_target(saved, tmp_path, capsys):
    assert cli.main(["export", str(saved), "--to", "c", "--number", "int8", "--name", "card"]) == 0
    assert capsys.readouterr().out == to_c(CARD, "int8", name="card")
    for target, file in (("python", "m.py"), ("javascript", "m.mjs"), ("rust", "m.rs"), ("onnx", "m.onnx")):
        assert cli.main(["export", str(saved), "--to", target, "-o", str(tmp_path / file)]) == 0
        assert (tmp_path / file).stat().st_size > 100
    query = ["export", str(saved), "--to", "sql", "--dialect", "sqlite", "--table", "my cases", "--form", "select"]
    assert cli.main(query) == 0
    assert '"my cases"' in capsys.readouterr().out
    assert cli.main(["export", str(saved), "--to", "arduino", "-o", str(tmp_path / "Card")]) == 0
    assert (tmp_path / "Card" / "library.properties").is_file()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--to", "python", "--number", "int8"], "--number does not go with --to python; it takes --inputs"),
        (["--to", "c", "--number", "int7"], "--number int7"),
        (["--to", "sql", "--dialect", "oracle"], "oracle"),
        (["--to", "onnx"], "--to onnx needs -o"),
        (["--to", "c", "-o", "nowhere/at/all.h"], "there is no folder"),
        (["--to", "c", "--name", "1 x"], "--name '1 x' is not a C name"),
        (["--to", "c", "--name", "1x"], "--name 1x is not a C name"),
    ],
)
def test_export_says_in_a_sentence_what_is_wrong(saved, arguments, words, capsys):
    assert cli.main(["export", str(saved), *arguments]) == 1
    told = capsys.readouterr()
    assert words in told.err
    assert told.out == ""


def test_a_file_that_is_no_model_is_told(tmp_path, capsys):
    (tmp_path / "model.json").write_text("{}")
    assert cli.main(["cost", str(tmp_path / "model.json")]) == 1
    assert "Not a smallearn model" in capsys.readouterr().err
    assert cli.main(["cost", str(tmp_path / "none.json")]) == 1
    assert "there is no file" in capsys.readouterr().err


@pytest.mark.tools
def test_cost_prints_every_format_or_the_one_asked_for(saved, capsys):
    need("avr-gcc")
    assert cli.main(["cost", str(saved), "--chip", "atmega328p"]) == 0
    assert capsys.readouterr().out.count("bytes of flash") == 3
    assert cli.main(["cost", str(saved), "--chip", "atmega328p", "--number", "int8"]) == 0
    assert capsys.readouterr().out.count("int8: ") == 1
    assert cli.main(["cost", str(saved), "--number", "float64"]) == 1
    assert "--number is float32, int8, int16 or int32" in capsys.readouterr().err
    assert cli.main(["cost", str(saved), "--chip", "8051"]) == 1
    assert "--chip 8051 is not one of" in capsys.readouterr().err


# --- files that are checked before any work --------------------------------------------------------------------------


@pytest.fixture
def files(tmp_path, monkeypatch):
    """A model, a table, and links to both."""
    monkeypatch.chdir(tmp_path)
    CARD.save("model.json")
    (tmp_path / "data.csv").write_text("age,colour,member,y\n41,red,1,yes\n")
    (tmp_path / "hard.json").hardlink_to("model.json")
    (tmp_path / "soft.csv").symlink_to("data.csv")
    return tmp_path


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("predict model.json data.csv -o soft.csv", "'soft.csv' is also the input: name another file"),
        ("predict model.json soft.csv -o ./data.csv", "'data.csv' is also the input"),
        ("report model.json data.csv -o hard.json", "'hard.json' is also the input"),
        ("report model.json model.json --train data.csv -o data.csv", "'data.csv' is also the input"),
        ("frontier data.csv --target y -o soft.csv", "'soft.csv' is also the input"),
        ("export model.json --to c -o hard.json", "'hard.json' is also the input"),
        ("fit data.csv --target y -o soft.csv", "'soft.csv' ends like a table, and a model is JSON"),
        ("fit data.csv --target y -o new.parquet", "'new.parquet' ends like a table"),
        ("fit data.csv --target y -o new.json.gz", "'new.json.gz' ends like a table"),
        ("predict data.csv model.json", "comes first: smallearn predict model.json data.csv."),
        ("evaluate data.csv model.json", "data.csv is a table, not a model; the model comes first: smallearn evaluate"),
        ("explain soft.csv model.json", "soft.csv is a table, not a model; the model comes first: smallearn explain"),
        ("report data.csv model.json -o x.html", "the model comes first: smallearn report model.json data.csv."),
        ("explain data.csv", "data.csv is a table, not a model; train one: smallearn fit."),
        ("cost data.csv", "data.csv is a table, not a model; train one: smallearn fit."),
        ("export data.csv --to c", "data.csv is a table, not a model; train one: smallearn fit."),
        ("evaluate model.json data.csv --compare --train none.csv", "there is no file 'none.csv'"),
    ],
)
def test_files_in_the_wrong_place_are_told_and_left_alone(line, words, files, capsys):
    before = {path.name: path.read_bytes() for path in files.iterdir()}
    assert cli.main(line.split()) == 1
    assert words in capsys.readouterr().err
    assert {path.name: path.read_bytes() for path in files.iterdir()} == before


def test_a_model_may_be_called_anything(files):
    (files / "model.txt").write_bytes((files / "model.json").read_bytes())
    assert cli.main(["predict", "model.txt", "data.csv", "-o", "scored.csv"]) == 0


@pytest.mark.parametrize(
    "line",
    [
        "fit none.csv --target y -o m.json",
        "frontier none.csv --target y",
        "evaluate model.json none.csv",
        "evaluate none.json data.csv",
        "explain model.json none.csv --row 2000000",
        "predict model.json none.csv",
        "report model.json none.csv -o r.html",
        "cost none.json",
        "export none.json --to c",
    ],
)
def test_a_missing_file_is_told_before_anything_heavy_is_imported(line, files):
    code = f"""
import sys
from smallearn import cli
code = cli.main({line.split()!r})
heavy = ("sklearn", "pandas", "numba", "scipy", "pyarrow", "matplotlib")
print(code, [name for name in heavy if name in sys.modules])
"""
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=files, timeout=120)
    assert told.stdout == "1 []\n"
    assert "there is no file 'none." in told.stderr


# --- files that are replaced, and what is no file --------------------------------------------------------------------

TO_C = ["export", "model.json", "--to", "c", "-o"]
posix_only = pytest.mark.skipif(os.name == "nt", reason="pipes, modes and symbolic links of POSIX")


@posix_only
def test_a_file_that_is_replaced_keeps_its_mode_and_its_links(files):
    (files / "real.h").write_text("old")
    (files / "real.h").chmod(0o600)
    (files / "link.h").symlink_to("real.h")
    assert cli.main([*TO_C, "link.h"]) == 0
    assert (files / "link.h").is_symlink()
    assert (files / "real.h").read_text() == to_c(CARD)
    assert (files / "real.h").stat().st_mode & 0o777 == 0o600


@posix_only
@pytest.mark.parametrize("write", [lambda path: cli.main([*TO_C, path]), CARD.save], ids=["export", "save"])
def test_a_pipe_is_written_into(write, files):
    os.mkfifo("pipe")
    before, read = set(files.iterdir()), []
    reader = threading.Thread(target=lambda: read.append((files / "pipe").read_text()), daemon=True)
    reader.start()
    write("pipe")
    reader.join(60)
    assert read in ([to_c(CARD)], [CARD.to_json()])
    assert (files / "pipe").is_fifo()
    assert set(files.iterdir()) == before


@posix_only
@pytest.mark.parametrize("into", ["| cat", "> out.h", ">> out.h"])
def test_stdout_is_written_into_by_its_name(into, files):
    (files / "stdout").symlink_to("/dev/fd/1")  # as /dev/stdout is, which no test should put at risk
    (files / "out.h").write_text("before\n")
    program = f"(echo first; {sys.executable} -m smallearn {' '.join(TO_C)} stdout; echo last) {into}"
    told = subprocess.run(["bash", "-c", program], capture_output=True, text=True, timeout=120)
    found = told.stdout or (files / "out.h").read_text()
    assert found == f"{'before' + chr(10) if '>>' in into else ''}first\n{to_c(CARD)}last\n"


def test_what_cannot_be_written_is_told_in_a_sentence(files, capsys):
    (files / "lost.h").symlink_to("nowhere/real.h")
    assert cli.main([*TO_C, "lost.h"]) == 1
    assert "'lost.h' cannot be written: No such file or directory" in capsys.readouterr().err


# --- text that an encoding has not -----------------------------------------------------------------------------------


def run(line, encoding, folder):
    """A command in a process whose stdout has this encoding."""
    environment = os.environ | {"PYTHONIOENCODING": encoding, "PYTHONUTF8": "0"}
    command = [sys.executable, "-m", "smallearn", *line.split()]
    return subprocess.run(command, capture_output=True, env=environment, cwd=folder, timeout=120)


@pytest.mark.parametrize("encoding", ["cp1252", "ascii"])
def test_signs_that_stdout_has_not_are_escaped(encoding, files):
    replace(CARD, classes=("no", "≤ 5")).save("model.json")
    for line in ("explain model.json data.csv", "fit --help"):
        told = run(line, encoding, files)
        assert (told.returncode, told.stderr) == (0, b"")
        assert b"\\u2264" in told.stdout


def test_source_is_printed_as_it_is_or_not_at_all(files):
    replace(CARD, classes=("no", "Ω")).save("model.json")
    told = run("export model.json --to sql", "cp1252", files)
    assert (told.returncode, told.stdout) == (1, b"")
    assert b"the output's encoding, cp1252, has no '" in told.stderr


def test_bytes_that_are_no_text_become_question_marks(files, table):
    write_file("a\udcffb≤", files / "page.html")
    assert (files / "page.html").read_text(encoding="utf-8") == "a?b≤"
    source = files / "x\udcff.csv"
    try:
        table.drop(columns="id").to_csv(source, index=False)
    except OSError:
        pytest.skip("names of files are text here")
    quick = ["--target", "result", "--max-terms", "1", "--prototypes", "1", "--save", "models"]
    assert cli.main(["frontier", str(source), *quick]) == 0
    assert load_model("models/model-1.json").data.source == "x?.csv"
    assert cli.main(["report", "model.json", "data.csv", "--title", "\udcff!", "-o", "page.html"]) == 0
    assert "?!" in (files / "page.html").read_text(encoding="utf-8")


# --- words -----------------------------------------------------------------------------------------------------------


def test_fit_says_which_class_the_scores_speak_for(table, tmp_path, capsys):
    path, line = tmp_path / "data.csv", "The scores speak for "
    table.to_csv(path, index=False)
    arguments = ["--target", "result", "--max-terms", "1", "--prototypes", "1", "--missing", "n. b.", "--quiet"]
    fit = ["fit", str(path), *arguments, "-o", str(tmp_path / "model.json")]
    assert cli.main(fit) == 0
    told = capsys.readouterr().out
    said = next(text for text in told.splitlines() if text.startswith(line)).split()
    label, flag, other = said[4], said[5], said[6]
    assert {label, f"'{other}';"} == {"'yes';", "'no';"}
    assert "data.csv '--missing=n. b.'" in told
    assert cli.main([*fit, flag, other]) == 0
    assert line not in capsys.readouterr().out
    model = load_model(tmp_path / "model.json")
    assert model.classes[model.prototypes[0].owner] == other


def test_cost_says_once_how_it_was_found():
    one = replace(cost(CARD, "atmega328p", "int8", method="estimate"), how="so")
    lines = words_of_costs([one, one, replace(one, how="otherwise")]).splitlines()
    assert [lines[2], lines[4]] == ["(so)", "(otherwise)"]
    assert len(lines) == 5


@pytest.mark.parametrize("flags", [["--quiet"], []])
def test_doctor_announces_compiling_unless_quiet(flags, monkeypatch):
    shown = []

    @contextmanager
    def notice(shows):
        shown.append(shows)
        yield

    monkeypatch.setattr(estimator, "notice_of_compiling", notice)
    assert cli.main(["doctor", *flags]) == 0
    assert shown == [not flags]
