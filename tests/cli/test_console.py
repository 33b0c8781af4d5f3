"""Notes and errors on stderr."""

import sys

import pytest

from smallearn import cli


@pytest.mark.parametrize(
    ("terminal", "variables", "colour"),
    [(True, {}, True), (False, {}, False), (True, {"NO_COLOR": "1"}, False), (True, {"TERM": "dumb"}, False)],
)
def test_errors_are_red_only_on_a_terminal(terminal, variables, colour, monkeypatch, capsys):
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: terminal, raising=False)
    assert cli.main(["cost", "none.json"]) == 1
    output = capsys.readouterr().err
    assert ("\x1b[31m" in output) == colour
    assert "smallearn cost: there is no file 'none.json'." in output
