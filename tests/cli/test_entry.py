"""The command ``smallearn``: what it says, to whom, and with which exit code."""

import json
import subprocess
import sys

import pytest

from smallearn import __version__, cli
from smallearn.cli.commands import doctor, paper
from smallearn.paper import experiments
from smallearn.paper.claims import HOLDS, Claim, Outcome
from tests.helpers.tools import need


def test_the_version_and_the_help_of_every_command_are_told(capsys):
    names = [module.__name__.rpartition(".")[2] for module in cli.COMMANDS]
    for arguments in (["--version"], ["--help"], *([name, "--help"] for name in names)):
        with pytest.raises(SystemExit) as left:
            cli.main(arguments)
        assert left.value.code == 0
    told = capsys.readouterr().out
    assert f"smallearn {__version__}" in told
    assert all(name in told for name in (*paper.PAPER, *names))
    assert "130  interrupted" in told


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "COMMAND"),
        (["paper"], "EXPERIMENT"),
        (["paper", "table2"], "invalid choice: 'table2'"),
        (["paper", "table1", "--splits", "0"], "'0' is not a whole number from 1"),
        (["paper", "table1", "--jobs", "two"], "'two' is not a whole number from 1"),
        (["paper", "table1", "--seed", "-1"], "is not a whole number from 0"),
        (["fit", "data.csv", "-o", "m.json"], "--target"),
        (["fit", "data.csv", "--target", "y", "-o", "m.json", "--max-terms", "0"], "'0' is not a whole number from 1"),
        (["fit", "data.csv", "--target", "y", "-o", "m.json", "--max-flash", "-2"], "'-2' is not a number above 0"),
        (["fit", "data.csv", "--target", "y", "-o", "m.json", "--literals", "any"], "invalid choice: 'any'"),
        (["fit", "data.csv", "--target", "y", "-o", "m.json", "--seed", "x"], "'x' is not a whole number from 0"),
        (["explain", "m.json", "data.csv", "--row", "0"], "rows are counted from 1, the first below the header"),
        (["--print-completion", "fish"], "invalid choice: 'fish'"),
    ],
)
def test_bad_arguments_are_told(arguments, words, capsys):
    with pytest.raises(SystemExit) as left:
        cli.main(arguments)
    assert left.value.code == 2
    assert words in capsys.readouterr().err


def test_data_that_cannot_be_had_are_a_message_and_a_code(tmp_path, capsys):
    code = cli.main(["paper", "table1", "--data", str(tmp_path), "--output", str(tmp_path / "out")])
    assert code == 1
    told = capsys.readouterr()
    assert "has no analcatdata_bankruptcy.csv" in told.err
    assert told.out == ""
    assert not (tmp_path / "out").exists()


def test_a_file_of_something_else_in_the_output_is_a_message_and_a_code(tmp_path, capsys):
    (tmp_path / "chscase_funds.csv").write_text("a,b,target\n" + "".join(f"{i},{i % 7},{i % 2}\n" for i in range(30)))
    (tmp_path / "scores.csv").write_text("mine\n1\n")
    assert cli.main(["paper", "surfaces", "--data", str(tmp_path), "--output", str(tmp_path), "--splits", "1"]) == 1
    assert "is not a file of these results" in capsys.readouterr().err
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
    told = capsys.readouterr().out
    assert "did sparse" in told
    assert f"See {tmp_path / 'table1' / 'table.md'}." in told
    assert f"The paper's claims: {tmp_path / 'claims.md'}." in told
    assert "| 5 | claim of big-picture | 1 | 2 | holds | it does |" in (tmp_path / "claims.md").read_text()


def test_an_experiment_that_is_incomplete_does_not_stop_the_others(monkeypatch, capsys, tmp_path):
    def run(name, settings):
        if name == "surfaces":
            raise experiments.IncompleteError("1 of 2 fits failed")
        return Outcome(f"did {name}", [Claim(f"claim of {name}", "1", "2", HOLDS, "it does")], settings)

    monkeypatch.setattr(experiments, "run", run)
    monkeypatch.setattr(experiments, "check", lambda *_: None)
    assert cli.main(["paper", "all", "--output", str(tmp_path)]) == 1
    told = capsys.readouterr()
    assert "smallearn paper surfaces: 1 of 2 fits failed" in told.err
    assert "did big-picture" in told.out
    assert "claim of surfaces" not in (tmp_path / "claims.md").read_text()


def test_an_interruption_says_that_the_same_command_goes_on(monkeypatch, capsys):
    def run(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(experiments, "run", run)
    monkeypatch.setattr(experiments, "check", lambda *_: None)
    assert cli.main(["paper", "table1"]) == 130
    assert "the same command goes on from there" in capsys.readouterr().err


def test_a_missing_extra_is_named(tmp_path):
    code = (
        "import sys; sys.modules['scikit_posthocs'] = None; from smallearn.cli import main; "
        "sys.exit(main(['paper', 'table1']))"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path, timeout=120)
    assert told.returncode == 1
    assert "needs scikit_posthocs, which is not installed: pip install 'smallearn[paper]'" in told.stderr


def test_help_and_version_import_nothing_heavy():
    code = """
import sys
from smallearn import cli
for arguments in (["--version"], ["--help"], ["fit", "--help"]):
    try:
        cli.main(arguments)
    except SystemExit:
        pass
heavy = ("sklearn", "pandas", "numba", "scipy", "pyarrow", "matplotlib", "shtab")
print([name for name in heavy if name in sys.modules])
"""
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert told.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize(
    ("module", "arguments"),
    [("pandas", ["fit", "d.csv", "--target", "y", "-o", "m.json"]), ("shtab", ["--print-completion", "bash"])],
)
def test_a_missing_part_of_the_extra_of_the_command_line_is_named(module, arguments, tmp_path):
    (tmp_path / "d.csv").write_text("a,y\n1,2\n")
    code = f"import sys; sys.modules[{module!r}] = None; from smallearn.cli import main; sys.exit(main({arguments!r}))"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path, timeout=120)
    assert told.returncode == 1
    assert f"{module}, which is not installed: pip install 'smallearn[cli]'" in told.stderr
    assert "Traceback" not in told.stderr


@pytest.mark.parametrize("arguments", ["--print-completion bash", "--help", "fit --help", "doctor --json"])
def test_a_reader_that_leaves_early_is_no_trouble(arguments, tmp_path):
    command = f"{sys.executable} -m smallearn {arguments} | true; exit ${{PIPESTATUS[0]}}"
    told = subprocess.run(["bash", "-c", command], capture_output=True, text=True, cwd=tmp_path, timeout=120)
    assert told.stderr == ""
    assert told.returncode in (0, 141)  # all was written before, or not


def test_output_that_cannot_be_written_is_a_sentence_and_closed_output_no_trouble(tmp_path):
    for redirect, code, words in (("> /dev/full", 1, "smallearn doctor: No space left on device.\n"), (">&-", 0, "")):
        command = f"{sys.executable} -m smallearn doctor --quiet {redirect}"
        told = subprocess.run(["bash", "-c", command], capture_output=True, text=True, cwd=tmp_path, timeout=120)
        assert (told.returncode, told.stderr) == (code, words)


# --- colour ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("terminal", "variables", "colour"),
    [(True, {}, True), (False, {}, False), (True, {"NO_COLOR": "1"}, False), (True, {"TERM": "dumb"}, False)],
)
def test_errors_are_red_on_a_terminal_alone(terminal, variables, colour, monkeypatch, capsys):
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: terminal, raising=False)
    assert cli.main(["cost", "none.json"]) == 1
    told = capsys.readouterr().err
    assert ("\x1b[31m" in told) == colour
    assert "smallearn cost: there is no file 'none.json'." in told


# --- doctor ----------------------------------------------------------------------------------------------------------


def test_the_doctor_tells_what_is_there_and_that_it_works(capsys):
    assert cli.main(["doctor"]) == 0
    told = capsys.readouterr().out
    assert f"smallearn {__version__}, Python " in told
    assert "fit and predict    works" in told
    assert cli.main(["doctor", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert set(found["packages"]) == {"numpy", "scipy", "scikit-learn", "numba"}
    assert set(found["extras"]) == {"cli", "plot", "report", "paper", "onnx", "devices"}
    assert found["test"]["works"]


def test_the_doctor_names_what_is_missing_and_fails_if_the_core_does(monkeypatch, capsys):
    def broken(*_):
        raise RuntimeError("no such luck")

    monkeypatch.setattr(doctor, "_has", lambda module: module != "unicorn")
    monkeypatch.setattr(doctor.shutil, "which", lambda _: None)
    monkeypatch.setattr("smallearn.estimator.SMaLLClassifier.fit", broken)
    assert cli.main(["doctor"]) == 1
    told = capsys.readouterr().out
    assert "lacks unicorn: pip install 'smallearn[devices]'" in told
    assert "avr-gcc            not found (bytes and cycles on the ATmega328P)" in told
    assert "FAILED: RuntimeError: no such luck" in told


# --- completion ------------------------------------------------------------------------------------------------------

COMPLETE = """
source completion.bash
complete -p smallearn
ask() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=(); _shtab_smallearn; echo "${COMPREPLY[@]}"; }
ask smallearn pred
ask smallearn predict mod
ask smallearn fit --max-t
ask smallearn export model.json --to
"""


@pytest.mark.tools
def test_bash_completes_commands_options_and_files(tmp_path, capsys):
    with pytest.raises(SystemExit) as left:
        cli.main(["--print-completion", "bash"])
    assert left.value.code == 0
    (tmp_path / "completion.bash").write_text(capsys.readouterr().out)
    (tmp_path / "model.json").write_text("{}")
    bash = need("bash")
    subprocess.run([bash, "-n", "completion.bash"], cwd=tmp_path, check=True, timeout=60)
    told = subprocess.run([bash, "-c", COMPLETE], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    first, *answers = told.stdout.splitlines()
    assert first.endswith("-F _shtab_smallearn smallearn")
    assert answers == ["predict", "model.json", "--max-terms --max-time-us", "--to"]


@pytest.mark.parametrize("shell", ["zsh", "tcsh"])
def test_other_shells_have_completions_too(shell, capsys):
    with pytest.raises(SystemExit) as left:
        cli.main(["--print-completion", shell])
    assert left.value.code == 0
    assert "smallearn" in capsys.readouterr().out


def test_it_is_a_module_too():
    told = subprocess.run([sys.executable, "-m", "smallearn", "--version"], capture_output=True, text=True, timeout=120)
    assert told.stdout == f"smallearn {__version__}\n"


def test_a_question_has_one_mark(tmp_path, capsys):
    (tmp_path / "ragged.csv").write_text("a,y\n1,2\n1,2,3\n")
    assert cli.main(["fit", str(tmp_path / "ragged.csv"), "--target", "y", "-o", str(tmp_path / "m.json")]) == 1
    assert capsys.readouterr().err.endswith("is a quotation mark missing?\n")
