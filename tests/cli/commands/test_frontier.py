"""``smallearn frontier``: a model of each size."""

import json

import pytest

from smallearn import cli, load_model


def test_frontier_prints_each_size_as_text_and_as_json(simple, tmp_path, capsys):
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
        (["--number", "foo"], "--number is for a chip: name one with --chip"),
        (["--number", "int8"], "--number is for a chip: name one with --chip"),
        (["--save", "data.csv"], "--save 'data.csv' must be a folder, but 'data.csv' is a file"),
        (["--save", "data.csv/models"], "--save 'data.csv/models' must be a folder, but 'data.csv' is a file"),
    ],
)
def test_frontier_says_what_is_wrong_before_it_searches(wrong, words, simple, monkeypatch, capsys):
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
