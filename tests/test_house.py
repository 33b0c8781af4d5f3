"""The tree is as ARCHITECTURE.md describes it: few rooms, public names in public packages, tests beside them."""

import ast
import importlib
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "smallearn"
PUBLIC = {
    "smallearn",
    *(
        f"smallearn.{name}"
        for name in (
            *("estimator", "selection", "evaluation", "datasets", "model", "explain", "export", "devices", "plot"),
            *("report", "tables", "dask", "__main__"),
        )
    ),
}


def dotted(path):
    """The name under which a file of the package is imported."""
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {dotted(path): path for path in sorted(PACKAGE.rglob("*.py"))}
FOLDERS = sorted({path.parent for path in MODULES.values()} - {PACKAGE})


def ancestors(name):
    """The packages that a module lies in, and the module itself."""
    parts = name.split(".")
    return [".".join(parts[:end]) for end in range(1, len(parts) + 1)]


def is_internal(name):
    """Whether a name says that it is private, or a package around it says "Internal"."""
    if any(part.startswith("_") for part in name.split(".")):
        return True
    docstrings = (ast.get_docstring(ast.parse(MODULES[one].read_text(encoding="utf-8"))) for one in ancestors(name))
    return any(text is not None and text.startswith("Internal") for text in docstrings)


def test_the_top_of_the_package_can_be_seen_at_a_glance():
    entries = [path for path in PACKAGE.iterdir() if path.name != "__pycache__"]
    assert sum(path.suffix == ".py" for path in entries) <= 12
    assert sum(path.is_dir() for path in entries) <= 14


def test_every_module_is_public_or_says_that_it_is_internal():
    assert [name for name in MODULES if name not in PUBLIC and not is_internal(name)] == []
    assert MODULES.keys() >= PUBLIC


@pytest.mark.parametrize("name", sorted(PUBLIC - {"smallearn.__main__"}))
def test_every_public_module_lists_its_names_and_has_them(name):
    module = importlib.import_module(name)
    assert module.__all__
    assert [one for one in module.__all__ if not hasattr(module, one)] == []


def test_every_module_begins_with_a_docstring():
    texts = {name: path.read_text(encoding="utf-8") for name, path in MODULES.items()}
    assert [name for name, text in texts.items() if text.strip() and not ast.get_docstring(ast.parse(text))] == []


# --- ARCHITECTURE.md -------------------------------------------------------------------------------------------------

ARCHITECTURE = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
QUOTED = re.findall(r"`([^`\n]+)`", ARCHITECTURE)
LINKED = re.findall(r"\]\(([^)#:]+)\)", ARCHITECTURE)


def test_the_page_names_every_room():
    rooms = {folder.relative_to(PACKAGE) for folder in FOLDERS}
    assert sorted(str(room) for room in rooms if not {f"{room}/", f"{room.name}/"} & set(QUOTED)) == []


def test_every_path_on_the_page_exists():
    """From the root of the repository, or from any folder in it: the page says `literal_rows.py` beside its folder."""
    named = [text for text in QUOTED if re.fullmatch(r"[\w./-]+(/|\.(py|md|toml|json|html|css|js|c))", text)]
    there = [
        f"/{path.relative_to(ROOT)}"
        for top in ("src", "tests", "attacks", "benchmarks", "docs")
        for path in (ROOT / top).rglob("*")
    ]
    missing = [text for text in named if not any(path.endswith(f"/{text.rstrip('/')}") for path in there)]
    assert len(named) > 20
    assert [text for text in missing if not (ROOT / text).exists()] == []
    assert [link for link in LINKED if not (ROOT / link).exists()] == []


# --- tests -----------------------------------------------------------------------------------------------------------


def test_every_folder_of_tests_mirrors_a_folder_of_the_package():
    sources = {tuple(part.lstrip("_") for part in folder.relative_to(PACKAGE).parts) for folder in FOLDERS}
    others = {("helpers",), ("attacks",), ("benchmarks",), ("documents",)}
    folders = {path.parent.relative_to(ROOT / "tests").parts for path in (ROOT / "tests").rglob("*.py")} - {()}
    assert sorted(folders - sources - others) == []
