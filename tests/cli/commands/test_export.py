"""``smallearn export``: every target, printed or written."""

import io
import re
import sys
from dataclasses import replace

import pytest

from smallearn import cli, devices
from smallearn.devices import cost
from smallearn.export import TARGETS, register, to_c, to_javascript, to_onnx, to_pmml, to_rust, to_sql
from smallearn.model import Deployment, Prototype, Range, TableFacts, Term
from tests.helpers.c_programs import run
from tests.helpers.models import CARD
from tests.helpers.tools import need


def test_export_prints_or_writes_the_target(saved, tmp_path, capsys):
    assert cli.main(["export", str(saved), "--to", "c", "--number", "int8", "--name", "card"]) == 0
    assert capsys.readouterr().out == to_c(CARD, "int8", name="card")
    more = ["--probabilities", "--class-names"]
    assert cli.main(["export", str(saved), "--to", "c", "--number", "int8", *more]) == 0
    assert capsys.readouterr().out == to_c(CARD, "int8", probabilities=True, class_names=True)
    for target in TARGETS:
        assert cli.main(["export", str(saved), "--to", target, "-o", str(tmp_path / target)]) == 0
        assert (tmp_path / target).stat().st_size > 100 or (tmp_path / target / "library.properties").is_file()
    query = ["export", str(saved), "--to", "sql", "--dialect", "sqlite", "--table", "my cases", "--form", "select"]
    assert cli.main(query) == 0
    assert '"my cases"' in capsys.readouterr().out
    assert cli.main(["export", str(saved), "--to", "javascript", "--form", "types"]) == 0
    assert capsys.readouterr().out == to_javascript(CARD, form="types")


def test_a_note_names_the_words_that_have_to_be_null_in_a_database(saved, tmp_path, capsys):
    words = (("age", ("-", "n/a")), ("unused", ("?",)), ("colour", ("NULL",)))
    replace(CARD, table=TableFacts(missing_by_column=words)).save(tmp_path / "told.json")
    assert cli.main(["export", str(tmp_path / "told.json"), "--to", "sql"]) == 0
    told = "Read as missing values: '-' and 'n/a' in 'age'; 'NULL' in 'colour'. In a database they have to be NULL.\n"
    assert capsys.readouterr().err == told
    for path, target in ((saved, "sql"), (tmp_path / "told.json", "python")):
        assert cli.main(["export", str(path), "--to", target]) == 0
        assert capsys.readouterr().err == ""


@pytest.mark.tools
@pytest.mark.parametrize("name", ["model", "fault detector", "größe"])
def test_a_pair_of_files_in_c_compiles_whatever_the_files_are_called(saved, tmp_path, name):
    for form in ("h", "c"):
        path = tmp_path / f"{name}.{form}"
        assert cli.main(["export", str(saved), "--to", "c", "--number", "int8", "--form", form, "-o", str(path)]) == 0
    strict = ["-std=c99", "-Wall", "-Wextra", "-Werror"]
    run([need("gcc"), *strict, "-c", f"{name}.c", "-o", "pair.o"], cwd=tmp_path)
    assert " T model_predict\n" in run([need("nm"), "pair.o"], cwd=tmp_path)


def test_a_table_and_its_view_may_be_in_a_schema(saved, capsys):
    query = ["export", str(saved), "--to", "sql", "--schema", "my bank"]
    assert cli.main(query) == 0
    assert capsys.readouterr().out == to_sql(CARD, table=("my bank", "data"))
    assert cli.main([*query, "--table", "loans", "--form", "view", "--view", "answers"]) == 0
    expected = to_sql(CARD, table=("my bank", "loans"), form="view", view=("my bank", "answers"))
    assert capsys.readouterr().out == expected
    assert cli.main(["export", str(saved), "--to", "c", "--schema", "bank"]) == 1
    assert "--schema does not go with --to c" in capsys.readouterr().err


def test_reason_codes_have_the_words_of_a_file_and_speak_of_the_class_that_is_named(saved, tmp_path, capsys):
    words = tmp_path / "words.csv"
    words.write_text('term,words\n"[age > 40]",Too old\ncolour,Wrong colour\n', encoding="utf-8")
    options = {"wording": {"[age > 40]": "Too old", "colour": "Wrong colour"}, "favourable": "no"}
    asked = ["--reason-codes", "2", "--wording", str(words), "--favourable", "no"]
    assert cli.main(["export", str(saved), "--to", "sql", *asked]) == 0
    assert capsys.readouterr().out == to_sql(CARD, reason_codes=2, **options)
    assert cli.main(["export", str(saved), "--to", "sql", *asked[2:]]) == 0
    assert capsys.readouterr().out == to_sql(CARD, reason_codes=3, **options)
    assert cli.main(["export", str(saved), "--to", "pmml", "--favourable", "no"]) == 0
    assert capsys.readouterr().out == to_pmml(CARD, reason_codes=3, favourable="no")
    assert cli.main(["export", str(saved), "--to", "c", "--favourable", "no"]) == 1
    assert "--favourable does not go with --to c" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        cli.main(["export", str(saved), "--to", "sql", "--reason-codes", "-1"])
    assert "not a whole number from 1" in capsys.readouterr().err


def test_a_note_names_the_terms_that_have_no_words(saved, tmp_path, capsys):
    words = tmp_path / "words.csv"
    words.write_text('term,words\n"[age > 40]",Too old\n', encoding="utf-8")
    others = ", ".join(dict.fromkeys(term.text for term in CARD.terms if term.text != "[age > 40]"))
    assert cli.main(["export", str(saved), "--to", "sql", "--wording", str(words)]) == 0
    assert capsys.readouterr().err == f"words.csv has no words for: {others}.\n"
    words.write_text("\n".join(["term,words", *{f"{term.label},Bad" for term in CARD.terms}]), encoding="utf-8")
    assert cli.main(["export", str(saved), "--to", "sql", "--wording", str(words)]) == 0
    assert capsys.readouterr().err == ""


def test_onnx_is_written_in_the_number_format_that_is_asked_for(saved, tmp_path):
    path = tmp_path / "model.onnx"
    assert cli.main(["export", str(saved), "--to", "onnx", "--number", "float64", "-o", str(path)]) == 0
    assert path.read_bytes() == to_onnx(CARD, number="float64").SerializeToString()


def test_rust_is_written_in_the_number_format_that_is_asked_for(saved, capsys):
    assert (
        cli.main(["export", str(saved), "--to", "rust", "--number", "int8", "--readings", "float", "--probabilities"])
        == 0
    )
    assert capsys.readouterr().out == to_rust(CARD, "int8", readings="float", probabilities=True)


LOST = replace(
    CARD,
    prototypes=(Prototype(1, -1000.3, (Term(0, 1.0, "a"), Term(1, 1000.0, "b", kind="above", value=0.0))),),
    ranges=(Range(0, 0.0, 1.0), Range(1, -1.0, 1.0)),
    scale=1.0,
)


@pytest.fixture
def lossy(tmp_path):
    """A model that eight bits cannot hold, in a file, and a table of rows that they predict well."""
    LOST.save(tmp_path / "lossy.json")
    (tmp_path / "rows.csv").write_text("a,b\n1,-1\n0.2,-0.5\n0.5,-0.1\n")
    return ["export", str(tmp_path / "lossy.json"), "--to", "c", "--number", "int8"]


def test_a_format_that_changes_many_decisions_is_refused_unless_told(lossy, tmp_path, capsys):
    output = tmp_path / "model.h"
    assert cli.main([*lossy, "-o", str(output)]) == 1
    said = capsys.readouterr().err
    assert re.search(
        r"int8 changes \d+ of 2,000 decisions .*, more than 2%: choose a wider --number, name a table", said
    )
    assert "or allow more with --max-changed" in said
    assert not output.exists()
    assert cli.main([*lossy, "-o", str(output), "--max-changed", "100"]) == 0
    assert "of 2,000 decisions" in capsys.readouterr().err
    assert output.read_text() == to_c(LOST, "int8")
    assert cli.main([*lossy[:2], str(tmp_path / "rows.csv"), *lossy[2:]]) == 0
    assert "int8 changes 0 of 3 decisions on the rows given." in capsys.readouterr().err
    assert cli.main([*lossy, "--quiet", "--number", "int32"]) == 0
    assert capsys.readouterr().err == ""


def test_what_was_chosen_for_a_chip_is_written_and_told(tmp_path, capsys):
    chosen = replace(LOST, deployment=Deployment("atmega328p", "int8", "code", "float"))
    chosen.save(tmp_path / "chosen.json")
    assert cli.main(["export", str(tmp_path / "chosen.json"), "--to", "c"]) == 0
    captured = capsys.readouterr()
    assert captured.out == to_c(chosen)
    assert "int8 changes" in captured.err
    assert cli.main(["export", str(tmp_path / "chosen.json"), "--to", "c", "--max-changed", "0.5"]) == 1
    assert "more than 0.5%" in capsys.readouterr().err


@pytest.mark.tools
@pytest.mark.parametrize("limits", [(("max_flash", 100.0), ("max_time_us", 1.0)), (("max_flash", 4000.0),), ()])
def test_export_says_whether_probabilities_and_names_keep_the_limits_of_the_model(limits, tmp_path, capsys):
    need("avr-gcc")
    chosen = replace(LOST, deployment=Deployment("atmega328p", "int8", "code", "float"), device_limits=limits)
    chosen.save(tmp_path / "chosen.json")
    export = ["export", str(tmp_path / "chosen.json"), "--to", "c", "-o", str(tmp_path / "model.h")]
    assert cli.main(export) == 0
    assert "With" not in capsys.readouterr().err  # it is as it was chosen
    assert cli.main([*export, "--probabilities", "--class-names"]) == 0
    said = capsys.readouterr().err
    spent = cost(chosen, "atmega328p", "int8", probabilities=True, class_names=True)
    assert f"With probabilities and class names: {spent.summary}. That is " in said
    if len(limits) == 2:
        assert "more than 100 bytes of flash and 1 µs, under which the model was chosen." in said
    else:
        assert "within the limits under which the model was chosen." in said


def test_without_a_compiler_export_says_that_the_limits_were_not_looked_at(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(devices._cost, "available", lambda _: "avr-gcc is not installed")
    chosen = replace(LOST, deployment=Deployment("atmega328p", "int8", "code", "float"))
    chosen.save(tmp_path / "chosen.json")
    assert cli.main(["export", str(tmp_path / "chosen.json"), "--to", "c", "--class-names"]) == 0
    said = capsys.readouterr().err
    assert "The limits of the chip do not count class names, and what these cost was not measured:" in said
    assert "avr-gcc is not installed" in said


@pytest.mark.parametrize("given", [["--max-changed", "3"], ["DATA"]])
def test_rows_and_limits_go_with_number_formats_alone(saved, tmp_path, given, capsys):
    rows = tmp_path / "rows.csv"
    rows.write_text("a,b\n1,2\n")
    given = [str(rows) if part == "DATA" else part for part in given]
    assert cli.main(["export", str(saved), *given, "--to", "sql"]) == 1
    assert "does not go with --to sql, which has no number formats" in capsys.readouterr().err


def as_rule(model, *, name="rule"):
    return f"{name}: {model.rule}\n"


def as_bytes(model):
    return model.rule.encode()


def as_folder(model, folder):
    folder.mkdir()
    (folder / "rule.txt").write_text(model.rule)
    return folder


@pytest.fixture
def added(monkeypatch):
    """More targets."""
    monkeypatch.setattr("smallearn.export.TARGETS", dict(TARGETS))
    for name, function in (("rule", as_rule), ("bytes", as_bytes), ("folder", as_folder)):
        register(name, function)


@pytest.mark.usefixtures("added")
def test_a_target_that_was_added_is_offered_with_the_options_of_its_function(saved, monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "200")
    with pytest.raises(SystemExit):
        cli.main(["export", "--help"])
    assert ", ".join(sorted([*TARGETS, "bytes", "folder", "rule"])) in capsys.readouterr().out
    assert cli.main(["export", str(saved), "--to", "rule", "--name", "card"]) == 0
    assert capsys.readouterr().out == f"card: {CARD.rule}\n"
    assert cli.main(["export", str(saved), "--to", "rule", "--form", "c"]) == 1
    assert "--form does not go with --to rule; it takes --name." in capsys.readouterr().err
    assert cli.main(["export", str(saved), "--to", "bytes", "--form", "c"]) == 1
    assert "--form does not go with --to bytes; it takes none of these options." in capsys.readouterr().err


@pytest.mark.usefixtures("added")
@pytest.mark.parametrize(("target", "file"), [("rule", "new"), ("bytes", "new"), ("folder", "new/rule.txt")])
def test_a_target_that_was_added_may_be_text_bytes_or_a_folder(saved, tmp_path, target, file, capsys):
    assert cli.main(["export", str(saved), "--to", target, "-o", str(tmp_path / "new")]) == 0
    assert CARD.rule in (tmp_path / file).read_text()
    assert str(tmp_path / "new") in capsys.readouterr().err
    if target != "rule":
        assert cli.main(["export", str(saved), "--to", target]) == 1
        assert f"--to {target} needs -o: it is not text" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--to", "python", "--number", "int8"], "--number does not go with --to python; it takes --inputs"),
        (["--to", "sql", "--class-names"], "--class-names does not go with --to sql"),
        (["--to", "c", "--number", "int7"], "--number int7"),
        (["--to", "sql", "--dialect", "access"], "access"),
        (["--to", "onnx"], "--to onnx needs -o"),
        (["--to", "c", "-o", "nowhere/at/all.h"], "there is no folder"),
        (["--to", "c", "--name", "1 x"], "--name '1 x' is not a C name"),
        (["--to", "c", "--name", "1x"], "--name 1x is not a C name"),
    ],
)
def test_export_says_in_one_sentence_what_is_wrong(saved, arguments, words, capsys):
    assert cli.main(["export", str(saved), *arguments]) == 1
    output = capsys.readouterr()
    assert words in output.err
    assert output.out == ""


def test_source_that_stdout_cannot_print_is_an_error(saved, monkeypatch, capsys):
    replace(CARD, classes=("no", "Ω")).save(saved)
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.BytesIO(), encoding="cp1252"))
    assert cli.main(["export", str(saved), "--to", "sql"]) == 1
    assert "the output's encoding, cp1252, has no '" in capsys.readouterr().err
