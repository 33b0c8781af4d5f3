"""Completion of arguments in shells."""

import subprocess

import pytest

from smallearn import cli
from tests.helpers.tools import need

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
    output = subprocess.run([bash, "-c", COMPLETE], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    first, *answers = output.stdout.splitlines()
    assert first.endswith("-F _shtab_smallearn smallearn")
    assert answers == ["predict", "model.json", "--max-terms --max-time-us", "--to"]


@pytest.mark.parametrize("shell", ["zsh", "tcsh"])
def test_other_shells_have_completions_too(shell, capsys):
    with pytest.raises(SystemExit) as left:
        cli.main(["--print-completion", shell])
    assert left.value.code == 0
    assert "smallearn" in capsys.readouterr().out
