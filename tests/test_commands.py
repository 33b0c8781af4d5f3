"""``smallearn fit``, ``export`` and ``cost``: from a file to a model on a chip."""

import json

import numpy as np
import pandas as pd
import pytest

from models import CARD
from smallearn import cli, load_model
from smallearn.export import to_c
from tools import need


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
        (["--to", "c", "--number", "int7"], "int7"),
        (["--to", "sql", "--dialect", "oracle"], "oracle"),
        (["--to", "onnx"], "--to onnx needs -o"),
        (["--to", "c", "-o", "nowhere/at/all.h"], "there is no folder"),
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


def test_cost_prints_every_format_or_the_one_asked_for(saved, capsys):
    need("avr-gcc")
    assert cli.main(["cost", str(saved), "--chip", "atmega328p"]) == 0
    assert capsys.readouterr().out.count("bytes of flash") == 3
    assert cli.main(["cost", str(saved), "--chip", "atmega328p", "--number", "int8"]) == 0
    assert capsys.readouterr().out.count("int8: ") == 1
    assert cli.main(["cost", str(saved), "--chip", "8051"]) == 1
    assert "--chip 8051 is not known" in capsys.readouterr().err
