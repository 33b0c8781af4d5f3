"""The examples of the gallery run, draw, and need nothing but what is here."""

import ast

import matplotlib.pyplot as plt
import pytest

from tests.helpers.pages import ROOT

EXAMPLES = sorted((ROOT / "docs" / "examples").glob("plot_*.py"))
ALLOWED = {"matplotlib", "numpy", "pandas", "sklearn", "smallearn", "warnings"}


def test_there_are_a_dozen():
    assert len(EXAMPLES) >= 12


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_has_a_title_and_needs_no_files_and_no_network(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    title, line, *text = ast.get_docstring(tree).splitlines()
    assert set(line) == {"="}
    assert len(line) >= len(title)
    assert any(text)
    imported = [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]
    names = [node.module if isinstance(node, ast.ImportFrom) else node.names[0].name for node in imported]
    assert {name.partition(".")[0] for name in names} <= ALLOWED
    assert not [
        name for node in imported for name in (one.name for one in node.names) if name.startswith(("fetch", "read"))
    ]


@pytest.mark.slow  # make docs runs them too
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_runs_and_draws(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    plt.close("all")
    exec(compile(path.read_text(encoding="utf-8"), str(path), "exec"), {"__name__": "example"})
    assert plt.get_fignums()
    plt.close("all")
