"""What the documents show is what happens."""

import re
import subprocess
import sys
from pathlib import Path

import matplotlib.pyplot as plt
import pytest

from tests.helpers.tools import need

ROOT = Path(__file__).parents[1]


def code_blocks(name, language):
    text = (ROOT / name).read_text(encoding="utf-8")
    blocks = re.findall(r"^```(\w*)\n(.*?)^```$", text, flags=re.DOTALL | re.MULTILINE)
    return [block for found, block in blocks if found == language]


def test_the_python_in_the_page_on_models_runs(capsys):
    names: dict = {}
    for block in code_blocks("docs/models.md", "python"):
        exec(block, names)  # the page's own code
    assert len(names["best"].model_.terms) <= 4
    assert names["proven"].optimality_gap_ <= 1e-4
    assert names["card"].model_.is_score_card
    assert len(re.findall(r"^\d [0-9.]+% ±", capsys.readouterr().out, flags=re.MULTILINE)) == 4


def test_the_python_in_the_page_on_pipelines_runs(capsys):
    names: dict = {}
    for block in code_blocks("docs/pipelines.md", "python"):
        exec(block, names)  # the page's own code
    assert "[ward = 'north']" in capsys.readouterr().out
    assert "prediction" in names["query"]


@pytest.mark.tools
def test_the_python_in_the_page_on_exports_runs(capsys):
    need("avr-gcc")
    names: dict = {}
    for block in code_blocks("docs/exports.md", "python"):
        exec(block, names)  # the page's own code
    assert names["fitting"].device_cost_.flash <= 200
    assert "prediction" in names["query"]
    agreement, *costs = capsys.readouterr().out.splitlines()
    assert float(agreement) > 0.98
    assert sum("bytes of flash" in line for line in costs) == 2


def test_the_python_in_the_page_on_words_and_pictures_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    names: dict = {}
    for block in code_blocks("docs/explain.md", "python"):
        exec(block, names)  # the page's own code
    plt.close("all")
    assert names["rule"].exact
    found = {frozenset((one.feature, int(not one.text.startswith("not "))) for one in c) for c in names["rule"].clauses}
    assert found == {frozenset(clause) for clause in names["hidden"].concept}
    assert names["judged"].is_training_data
    assert 10_000 < (tmp_path / "report.html").stat().st_size < 1_000_000
    assert "Rank correlation" in capsys.readouterr().out


def test_the_python_in_the_readme_runs_and_prints_the_model_below_it(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    first, *others = code_blocks("README.md", "python")
    names: dict = {}
    exec(first, names)  # the README's own code
    shown = next(block for block in code_blocks("README.md", "") if block.startswith("SMaLL model"))
    assert capsys.readouterr().out == shown
    assert (tmp_path / "model.json").exists()
    for block in others:
        exec(block, names)
    assert "bytes of flash" in capsys.readouterr().out


def demo(folder, *journey):
    """What ``smallearn demo`` prints, without the notice of a first fit and lines about progress."""
    command = [sys.executable, "-m", "smallearn", "demo", *journey]
    done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=600)
    assert done.returncode == 0, done.stdout
    return re.sub(r"^smallearn: .*\n", "", done.stdout, flags=re.MULTILINE)


def test_the_session_in_the_page_on_the_demo_is_what_the_demo_prints(tmp_path):
    printed = demo(tmp_path).strip()
    (shown,) = code_blocks("docs/demo.md", "")
    assert [steady(line) for line in printed.splitlines()] == [steady(line) for line in shown.strip().splitlines()]
    files = {path.name for path in (tmp_path / "smallearn-demo").iterdir()}
    assert files == {"train.csv", "test.csv", "model.json", "model.h", "model.sql", "report.html"}
    pattern = r"^([0-9.]+)% \(.*are predicted correctly\.$"
    accuracy = float(re.search(pattern, printed, flags=re.MULTILINE).group(1))
    assert accuracy > 90.0


def steady(line):
    """A line without figures of other libraries' models, which differ from release to release, and sizes of files."""
    if re.match(r"  (logistic regression|decision tree|random forest|gradient boosting) ", line):
        return line.split()[:2]
    if line.startswith("  majority class "):
        return line.split()[:-1]  # without its CPU seconds
    return re.sub(r"\(\d+ kB\)", "", line)


def tic_tac_toe_rule():
    """The rule that the README shows."""
    return next(block for block in code_blocks("README.md", "") if "top-left = 'x'" in block).strip()


@pytest.mark.slow  # test_estimator.py and tests/explain learn the same rule and write it down
def test_the_rule_in_the_readme_is_what_the_demo_prints(tmp_path):
    assert tic_tac_toe_rule() in demo(tmp_path, "tic-tac-toe")


def test_the_rule_in_the_readme_is_that_of_tic_tac_toe():
    shown = tic_tac_toe_rule()
    lines = {tuple(re.findall(r"([a-z]+-[a-z]+) = 'x'", line)) for line in shown.splitlines() if " = 'x'" in line}
    rows, columns = ("top", "middle", "bottom"), ("left", "middle", "right")
    straight = [tuple(f"{row}-{column}" for column in columns) for row in rows]
    straight += [tuple(f"{row}-{column}" for row in rows) for column in columns]
    diagonals = [("top-left", "middle-middle", "bottom-right"), ("top-right", "middle-middle", "bottom-left")]
    assert lines == {*straight, *diagonals}


def test_no_document_has_a_placeholder_left():
    for path in [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")]:
        assert not re.search(r"^[A-Z]{4,}$", path.read_text(encoding="utf-8"), flags=re.MULTILINE), path


def test_every_slip_of_the_paper_has_a_line_and_a_test():
    slips = (ROOT / "docs" / "paper.md").read_text(encoding="utf-8").partition("## Slips")[2]
    lines = re.findall(r"^\| (\d+) \|", slips, flags=re.MULTILINE)
    tests = re.findall(r"def test_(\d+)_", (ROOT / "tests" / "paper" / "test_slips.py").read_text(encoding="utf-8"))
    assert lines == tests == [str(number) for number in range(1, 13)]
