"""``smallearn frontier``: a model of each size."""

import errno
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from smallearn import cli, load_model
from smallearn.cli.commands import frontier


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


@pytest.mark.parametrize(("flag", "computed"), [("yes", True), ("no", False)])
def test_frontier_computes_certificates_if_asked(simple, tmp_path, flag, computed):
    arguments = ["--target", "result", "--max-terms", "2", "--prototypes", "1", "--save", str(tmp_path)]
    assert cli.main(["frontier", str(simple), *arguments, "--certificate", flag]) == 0
    models = [load_model(tmp_path / f"model-{n_terms}.json") for n_terms in (1, 2)]
    assert [model.training.lower_bound is not None for model in models] == [computed, computed]


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


def lines(*points, **more):
    return [{"terms": n, "prototypes": 1, "accuracy": a, "standard_error": e, **more} for n, a, e in points]


def test_the_smallest_model_within_a_standard_error_is_named_and_estimates_are_called_so():
    text = frontier._as_text(lines((1, 0.70, 0.01), (2, 0.90, 0.02), (3, 0.91, 0.02)))
    assert text.endswith("Best: 3 terms. Within one standard error of it: 2.")
    assert "Best" not in frontier._as_text(lines((1, 0.9, 0.0), (2, 0.9, 0.0)))
    on_chip = frontier._as_text(lines((1, 0.9, 0.0), flash=100, ram=4, time_us=1.5, measured=False))
    assert "Bytes and times are estimates" in on_chip


def test_a_plot_without_matplotlib_says_what_to_install(simple, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(frontier, "_points", lambda *_: [])
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert cli.main(["frontier", str(simple), "--target", "result", "--plot", str(tmp_path / "f.svg")]) == 1
    assert "--plot needs matplotlib, which is not installed: pip install 'smallearn[plot]'" in capsys.readouterr().err


def test_a_folder_for_models_that_cannot_be_written_is_an_error(simple, tmp_path, monkeypatch, capsys):
    def refuse(path, *_, **__):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))

    monkeypatch.setattr(frontier, "_points", lambda *_: [])
    monkeypatch.setattr(Path, "mkdir", refuse)  # also for root, who may write anywhere
    assert cli.main(["frontier", str(simple), "--target", "result", "--save", str(tmp_path / "closed" / "models")]) == 1
    assert "cannot be written: Permission denied" in capsys.readouterr().err


@pytest.mark.parametrize("quiet", [True, False])
def test_a_quiet_picture_says_nothing_of_a_home_that_cannot_be_written_to(people, tmp_path, quiet):
    nowhere = dict.fromkeys(("HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME"), "/proc/none")
    done = subprocess.run(
        [
            *(sys.executable, "-m", "smallearn", "frontier", people / "train.csv", "--target", "y", "--max-terms", "1"),
            *("--plot", tmp_path / "plot.png", *(["--quiet"] if quiet else [])),
        ],
        env={key: value for key, value in os.environ.items() if key != "MPLCONFIGDIR"} | nowhere,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0
    assert (tmp_path / "plot.png").exists()
    assert (done.stderr == "") == quiet
