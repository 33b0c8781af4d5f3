"""The command ``smallearn``: what it prints, where, and its exit codes."""

import io
import os
import subprocess
import sys

import pytest

from smallearn import __version__, cli
from smallearn.cli import entry
from smallearn.cli.commands import COMMANDS, doctor, paper


def test_the_version_and_the_help_of_every_command_are_printed(capsys):
    names = [module.__name__.rpartition(".")[2] for module in COMMANDS]
    for arguments in (["--version"], ["--help"], *([name, "--help"] for name in names)):
        with pytest.raises(SystemExit) as left:
            cli.main(arguments)
        assert left.value.code == 0
    output = capsys.readouterr().out
    assert f"smallearn {__version__}" in output
    assert all(name in output for name in (*paper.EXPERIMENTS, *names))
    assert "130  interrupted" in output


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
def test_wrong_arguments_are_named(arguments, words, capsys):
    with pytest.raises(SystemExit) as left:
        cli.main(arguments)
    assert left.value.code == 2
    assert words in capsys.readouterr().err


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
    output = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert output.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize(
    ("module", "arguments"),
    [("pandas", ["fit", "d.csv", "--target", "y", "-o", "m.json"]), ("shtab", ["--print-completion", "bash"])],
)
def test_a_module_of_the_extra_that_is_missing_is_named(module, arguments, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "d.csv").write_text("a,y\n1,2\n")
    monkeypatch.setitem(sys.modules, module, None)  # as if it were not installed
    try:
        code = cli.main(arguments)
    except SystemExit as left:
        code = left.code
    assert code == 1
    assert f"{module}, which is not installed: pip install 'smallearn[cli]'" in capsys.readouterr().err


@pytest.mark.parametrize("arguments", ["--print-completion bash", "--help", "fit --help", "doctor --json --quiet"])
def test_a_closed_pipe_is_no_error(arguments, tmp_path):
    command = f"{sys.executable} -m smallearn {arguments} | true; exit ${{PIPESTATUS[0]}}"
    output = subprocess.run(["bash", "-c", command], capture_output=True, text=True, cwd=tmp_path, timeout=120)
    assert output.stderr == ""
    assert output.returncode in (0, 141)  # all was written before, or not


def test_a_full_output_is_an_error_in_one_sentence_and_a_closed_one_is_none(saved, tmp_path):
    for redirect, code, words in (("> /dev/full", 1, "smallearn export: No space left on device.\n"), (">&-", 0, "")):
        command = f"{sys.executable} -m smallearn export {saved} --to c --quiet {redirect}"
        output = subprocess.run(["bash", "-c", command], capture_output=True, text=True, cwd=tmp_path, timeout=120)
        assert (output.returncode, output.stderr) == (code, words)


def test_the_package_can_be_run_as_a_module():
    output = subprocess.run(
        [sys.executable, "-m", "smallearn", "--version"], capture_output=True, text=True, timeout=120
    )
    assert output.stdout == f"smallearn {__version__}\n"


def test_a_question_ends_with_one_mark(tmp_path, capsys):
    (tmp_path / "ragged.csv").write_text("a,y\n1,2\n1,2,3\n")
    assert cli.main(["fit", str(tmp_path / "ragged.csv"), "--target", "y", "-o", str(tmp_path / "m.json")]) == 1
    assert capsys.readouterr().err.endswith("is a quotation mark missing?\n")


@pytest.mark.parametrize(
    ("error", "code", "words"),
    [
        (BrokenPipeError(), 141, ""),
        (OSError(28, "No space left on device"), 1, "smallearn doctor: No space left on device.\n"),
        (OSError(2, "No such file", "gone.csv"), 1, "smallearn doctor: 'gone.csv': No such file.\n"),
        (KeyboardInterrupt(), 130, "\nInterrupted.\n"),
    ],
)
def test_errors_of_the_system_have_an_exit_code_and_a_sentence(error, code, words, monkeypatch, capsys):
    def run(*_):
        raise error

    discarded = []
    monkeypatch.setattr(doctor, "run", run)
    monkeypatch.setattr(entry, "_discard_stdout", lambda: discarded.append(True))
    assert cli.main(["doctor"]) == code
    assert capsys.readouterr().err == words
    assert discarded == ([] if code == 130 else [True])


def test_a_pipe_that_closes_while_help_is_printed_has_an_exit_code(monkeypatch):
    def closed(_):
        raise BrokenPipeError

    monkeypatch.setattr(entry, "_parsed", closed)
    monkeypatch.setattr(entry, "_discard_stdout", lambda: None)
    assert cli.main(["--help"]) == 141


def test_streams_that_are_closed_discard_what_is_printed(monkeypatch):
    monkeypatch.setattr(sys, "stdout", None)
    assert cli.main(["cost", "none.json"]) == 1
    assert sys.stdout.name == os.devnull
    sys.stdout.close()


def test_without_a_stdout_to_replace_python_is_kept_from_complaining(monkeypatch):
    monkeypatch.setattr(sys, "stdout", io.StringIO())
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    entry._discard_stdout()
    assert sys.stderr.closed


# Raises an error when a module is about to be imported.
STOPPED = """
import signal, sys
class Finder:
    def find_spec(self, name, *_):
        if name == {module!r}:
            {action}
sys.meta_path.insert(0, Finder())
from smallearn.cli import main
sys.exit(main())
"""


def stopped_at(module, action, folder):
    """What a fit prints and returns if something happens when a module is about to be imported."""
    (folder / "d.csv").write_text("a,y\n" + "1,2\n3,4\n" * 20)
    code = STOPPED.format(module=module, action=action)
    arguments = ["fit", "d.csv", "--target", "y", "-o", "m.json"]
    return subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, cwd=folder, timeout=120
    )


@pytest.mark.parametrize("module", ["smallearn.cli.entry", "argparse", "smallearn.model", "pandas", "numba"])
def test_an_interruption_while_a_command_starts_is_one_as_any_other(module, tmp_path):
    done = stopped_at(module, "signal.raise_signal(signal.SIGINT)", tmp_path)
    assert (done.returncode, done.stderr, done.stdout) == (130, "\nInterrupted.\n", "")


def test_an_interruption_of_text_that_is_executed_keeps_its_code(tmp_path):
    """As in dataclasses; Python itself then ends the process by the signal."""
    done = stopped_at("pandas", "exec('signal.raise_signal(signal.SIGINT)')", tmp_path)
    assert (done.returncode, done.stderr) == (130, "\nInterrupted.\n")


@pytest.mark.parametrize(
    ("module", "action", "words"),
    [
        ("smallearn.model", "raise MemoryError", "smallearn: there is too little memory to start."),
        ("pandas", "raise MemoryError", "smallearn fit: there is too little memory for this: use fewer rows"),
        (
            "pandas",
            "raise ImportError('libpandas.so: failed to map segment from shared object', name='pandas')",
            "smallearn fit: pandas cannot be loaded (libpandas.so: failed to map segment from shared object): there",
        ),
        ("numba", "raise ModuleNotFoundError('no numba', name='numba')", "smallearn fit: numba is not installed: pip"),
    ],
)
def test_too_little_memory_is_told_in_a_sentence(module, action, words, tmp_path):
    done = stopped_at(module, action, tmp_path)
    assert done.returncode == 1
    assert done.stderr.startswith(words)
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("command", ["evaluate", "report", "predict", "explain"])
def test_every_command_that_reads_a_table_names_pandas_if_it_is_missing(command, saved, tmp_path, monkeypatch, capsys):
    (tmp_path / "d.csv").write_text("a,y\n1,2\n")
    monkeypatch.setitem(sys.modules, "pandas", None)
    output = ["-o", str(tmp_path / "out.csv")] if command in ("report", "predict") else []
    assert cli.main([command, str(saved), str(tmp_path / "d.csv"), *output]) == 1
    assert capsys.readouterr().err == (
        f"smallearn {command}: reading tables needs pandas, which is not installed: pip install 'smallearn[cli]'.\n"
    )
