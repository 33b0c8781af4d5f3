"""``smallearn export``: every target, printed or written."""

import io
import sys
from dataclasses import replace

import pytest

from smallearn import cli
from smallearn.export import TARGETS, register, to_c, to_javascript, to_onnx, to_rust
from tests.helpers.models import CARD


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
