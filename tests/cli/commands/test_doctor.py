"""``smallearn doctor``: what is installed, and whether it works."""

import json
from contextlib import contextmanager

import pytest

from smallearn import __version__, cli, estimator
from smallearn.cli.commands import doctor


def test_doctor_prints_what_is_installed_and_that_it_works(capsys):
    assert cli.main(["doctor"]) == 0
    output = capsys.readouterr().out
    assert f"smallearn {__version__}, Python " in output
    assert "fit and predict    works" in output
    assert cli.main(["doctor", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert set(found["packages"]) == {"numpy", "scipy", "scikit-learn", "numba"}
    assert set(found["extras"]) == {"app", "cli", "plot", "report", "paper", "onnx", "devices", "dask", "excel"}
    assert found["test"]["works"]


def test_doctor_names_what_is_missing_and_fails_if_the_fit_does(monkeypatch, capsys):
    def broken(*_):
        raise RuntimeError("no such luck")

    monkeypatch.setattr(doctor, "_has", lambda module: module != "unicorn")
    monkeypatch.setattr(doctor.shutil, "which", lambda _: None)
    monkeypatch.setattr("smallearn.estimator.SMaLLClassifier.fit", broken)
    assert cli.main(["doctor"]) == 1
    output = capsys.readouterr().out
    assert "lacks unicorn: pip install 'smallearn[devices]'" in output
    assert "avr-gcc            not found (bytes and cycles on ATmega and ATtiny)" in output
    assert "FAILED: RuntimeError: no such luck" in output


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
