"""``smallearn export``: every target, printed or written."""

import io
import sys
from dataclasses import replace

import pytest

from smallearn import cli
from smallearn.export import to_c
from tests.helpers.models import CARD


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
