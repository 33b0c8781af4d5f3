"""What the documents show is what happens."""

import re
import runpy
from pathlib import Path

from tools import need

ROOT = Path(__file__).parents[1]


def code_blocks(name, language):
    return re.findall(rf"```{language}\n(.*?)```", (ROOT / name).read_text(encoding="utf-8"), flags=re.DOTALL)


def test_the_python_in_the_page_on_models_runs(capsys):
    names: dict = {}
    for block in code_blocks("docs/models.md", "python"):
        exec(block, names)  # the page's own code
    assert len(names["best"].model_.terms) <= 4
    assert names["proven"].optimality_gap_ <= 1e-4
    assert names["card"].model_.is_score_card
    assert len(re.findall(r"^\d [0-9.]+% ±", capsys.readouterr().out, flags=re.MULTILINE)) == 4


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


def test_the_python_in_the_readme_runs_as_printed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocks = code_blocks("README.md", "python")
    assert blocks
    names: dict = {}
    for block in blocks:
        exec(block, names)  # the README's own code
    assert names["clf"].support_.sum(axis=1).max() <= 3
    assert (tmp_path / "model.json").exists()


def test_the_model_in_the_readme_is_the_one_that_the_demo_prints(capsys):
    runpy.run_path(str(ROOT / "examples" / "breast_cancer.py"), run_name="__main__")
    printed = capsys.readouterr().out.strip()
    assert printed in (ROOT / "README.md").read_text(encoding="utf-8")
    accuracy = float(re.search(r"Test accuracy: ([0-9.]+)%", printed).group(1))
    assert accuracy > 94.0
    assert len(re.findall(r"prototype \d\n", printed)) == 2


def test_no_document_has_a_placeholder_left():
    for path in [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")]:
        assert not re.search(r"^[A-Z]{4,}$", path.read_text(encoding="utf-8"), flags=re.MULTILINE), path


def test_every_slip_of_the_paper_has_a_line_and_a_test():
    slips = (ROOT / "docs" / "paper.md").read_text(encoding="utf-8").partition("## Slips")[2]
    lines = re.findall(r"^\| (\d+) \|", slips, flags=re.MULTILINE)
    tests = re.findall(r"def test_(\d+)_", (ROOT / "tests" / "test_paper_slips.py").read_text(encoding="utf-8"))
    assert lines == tests == [str(number) for number in range(1, 13)]
