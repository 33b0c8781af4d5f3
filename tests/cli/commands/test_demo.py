"""``smallearn demo``: the data that it writes and the commands that it runs; test_documents.py runs it whole."""

import shlex

import pandas as pd
import pytest

from smallearn.cli import entry
from smallearn.cli.commands.demo import JOURNEYS
from tests.helpers.commands import run


@pytest.fixture
def commands(monkeypatch, tmp_path):
    """The commands that the demo runs, which do nothing here but leave what they write with ``-o``."""
    monkeypatch.chdir(tmp_path)
    lines, whole = [], entry.main

    def main(arguments):
        if arguments[0] == "demo":
            return whole(arguments)
        lines.append(shlex.join(arguments))
        if "-o" in arguments:
            open(arguments[arguments.index("-o") + 1], "w").close()
        return 1 if arguments[0] == "export" else 0

    monkeypatch.setattr("smallearn.cli.entry.main", main)
    return lines


def test_the_tumours_are_split_and_a_command_that_fails_ends_the_demo(commands, tmp_path, capsys):
    output = run(capsys, "demo", code=1)
    assert commands == JOURNEYS["breast-cancer"][:4]
    assert [f"$ smallearn {line}" in output.out for line in JOURNEYS["breast-cancer"]] == [True] * 4 + [False] * 2
    train, test = (pd.read_csv(tmp_path / "smallearn-demo" / name) for name in ("train.csv", "test.csv"))
    assert (len(train), len(test)) == (398, 171)


def test_tic_tac_toe_is_written_as_a_board_of_text(commands, tmp_path, capsys):
    run(capsys, "demo", "tic-tac-toe", "-o", "here")
    assert commands == JOURNEYS["tic-tac-toe"]
    assert len(pd.read_csv(tmp_path / "here" / "board.csv")) == 958


def test_the_report_is_named_at_the_end(commands, monkeypatch, capsys):
    monkeypatch.setitem(JOURNEYS, "breast-cancer", ["report model.json test.csv -o report.html"])
    assert "The report is" in run(capsys, "demo", "-o", "here").err
    assert len(commands) == 1


def test_a_folder_that_cannot_be_written_is_an_error(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("")
    assert "'file' cannot be written to: File exists" in run(capsys, "demo", "-o", "file", code=1).err
