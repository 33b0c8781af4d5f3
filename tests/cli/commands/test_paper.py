"""``smallearn paper``: experiments, their errors and exit codes."""

import sys

from smallearn import cli
from smallearn.paper import experiments
from smallearn.paper.claims import HOLDS, Claim, Outcome


def test_missing_data_are_an_error_with_a_message_and_an_exit_code(tmp_path, capsys):
    code = cli.main(["paper", "table1", "--data", str(tmp_path), "--output", str(tmp_path / "out")])
    assert code == 1
    output = capsys.readouterr()
    assert "has no analcatdata_bankruptcy.csv" in output.err
    assert output.out == ""
    assert not (tmp_path / "out").exists()


def test_a_foreign_file_in_the_output_folder_is_left_alone(tmp_path, capsys):
    (tmp_path / "chscase_funds.csv").write_text("a,b,target\n" + "".join(f"{i},{i % 7},{i % 2}\n" for i in range(30)))
    (tmp_path / "scores.csv").write_text("mine\n1\n")
    assert cli.main(["paper", "surfaces", "--data", str(tmp_path), "--output", str(tmp_path), "--splits", "1"]) == 1
    assert "move it away, or write the results elsewhere" in capsys.readouterr().err
    assert (tmp_path / "scores.csv").read_text() == "mine\n1\n"


def test_all_gives_the_large_sets_a_quarter_of_the_splits(monkeypatch, capsys, tmp_path):
    asked = {}

    def run(name, settings):
        asked[name] = settings.splits
        return Outcome(f"did {name}", [Claim(f"claim of {name}", "1", "2", HOLDS, "it does")], settings)

    monkeypatch.setattr(experiments, "run", run)
    monkeypatch.setattr(experiments, "check", lambda *_: None)
    assert cli.main(["paper", "all", "--splits", "40", "--output", str(tmp_path)]) == 0
    assert asked == {"table1": 40, "surfaces": 40, "breast-cancer": 40, "sparse": 10, "big-picture": 10}
    assert cli.main(["paper", "all", "--splits", "2", "--output", str(tmp_path)]) == 0
    assert set(asked.values()) == {2}
    output = capsys.readouterr().out
    assert "did sparse" in output
    assert f"See {tmp_path / 'table1' / 'table.md'}." in output
    assert f"The paper's claims: {tmp_path / 'claims.md'}." in output
    assert "| 5 | claim of big-picture | 1 | 2 | holds | it does |" in (tmp_path / "claims.md").read_text()


def test_an_experiment_that_is_incomplete_does_not_stop_the_others(monkeypatch, capsys, tmp_path):
    def run(name, settings):
        if name == "surfaces":
            raise experiments.IncompleteError("1 of 2 fits failed")
        return Outcome(f"did {name}", [Claim(f"claim of {name}", "1", "2", HOLDS, "it does")], settings)

    monkeypatch.setattr(experiments, "run", run)
    monkeypatch.setattr(experiments, "check", lambda *_: None)
    assert cli.main(["paper", "all", "--output", str(tmp_path)]) == 1
    output = capsys.readouterr()
    assert "smallearn paper surfaces: 1 of 2 fits failed" in output.err
    assert "did big-picture" in output.out
    assert "claim of surfaces" not in (tmp_path / "claims.md").read_text()


def test_an_interruption_says_that_the_same_command_continues(monkeypatch, capsys):
    def run(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(experiments, "run", run)
    monkeypatch.setattr(experiments, "check", lambda *_: None)
    assert cli.main(["paper", "table1"]) == 130
    assert "the same command continues from there" in capsys.readouterr().err


def test_a_missing_extra_is_named(monkeypatch, capsys):
    monkeypatch.delattr("smallearn.paper.experiments")  # imported again, without the module that it needs
    monkeypatch.delitem(sys.modules, "smallearn.paper.experiments")
    monkeypatch.setitem(sys.modules, "scikit_posthocs", None)
    assert cli.main(["paper", "table1"]) == 1
    words = "needs scikit_posthocs, which is not installed: pip install 'smallearn[paper]'"
    assert words in capsys.readouterr().err
