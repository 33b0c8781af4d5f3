"""What is in the wheel, and that package, documents and lists of extras agree."""

import ast
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from email.parser import Parser
from pathlib import Path

import pytest

import smallearn
from smallearn.cli.commands.doctor import EXTRAS
from tests.helpers import tools

ROOT = Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
OPTIONAL = PROJECT["optional-dependencies"]
# The distribution that has a module, where the names differ.
DISTRIBUTIONS = {"elftools": "pyelftools", "scikit_posthocs": "scikit-posthocs"}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    builder = tools.need_module("hatchling.builders.wheel").WheelBuilder(str(ROOT))
    (path,) = builder.build(directory=str(tmp_path_factory.mktemp("dist")), versions=["standard"])
    with zipfile.ZipFile(path) as file:
        yield file


def test_the_wheel_has_every_file_of_the_package_and_nothing_else(wheel):
    source = ROOT / "src"
    expected = {
        str(path.relative_to(source).as_posix())
        for path in (source / "smallearn").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    found = {name for name in wheel.namelist() if ".dist-info/" not in name}
    assert found == expected
    endings = {name.rpartition(".")[2] for name in found}
    assert endings == {"py", "typed", "css", "js", "html", "json", "c"}
    for name in (
        "py.typed",
        "cli/app/app.css",
        "cli/app/app.js",
        "cli/app/page.html",
        "devices/estimates.json",
        "devices/simavr_host.c",
        "report/script/what_if.js",
        "report/style.css",
        "report/templates/page.html",
    ):
        assert wheel.getinfo(f"smallearn/{name}").file_size == (source / "smallearn" / name).stat().st_size, name


def test_the_wheel_is_for_every_system_and_knows_its_command_licence_and_extras(wheel):
    (folder,) = {name.partition("/")[0] for name in wheel.namelist() if ".dist-info/" in name}
    assert folder == f"smallearn-{smallearn.__version__}.dist-info"
    assert "Tag: py3-none-any" in wheel.read(f"{folder}/WHEEL").decode()
    assert "smallearn = smallearn.cli:main" in wheel.read(f"{folder}/entry_points.txt").decode()
    assert wheel.read(f"{folder}/licenses/LICENSE") == (ROOT / "LICENSE").read_bytes()
    about = Parser().parsestr(wheel.read(f"{folder}/METADATA").decode())
    assert set(about.get_all("Provides-Extra")) == set(OPTIONAL)
    required = [text for text in about.get_all("Requires-Dist") if "extra ==" not in text]
    assert sorted(re.match(r"[\w-]+", text).group() for text in required) == ["numba", "numpy", "scikit-learn", "scipy"]


def packages(extra):
    """The distributions that an extra installs by name, those of the extras in it too."""
    found = set()
    for text in OPTIONAL[extra]:
        name, inner = re.match(r"([\w-]+)(?:\[([\w,]+)\])?", text).groups()
        found |= set().union(*map(packages, inner.split(","))) if name == "smallearn" else {name}
    return found


def test_the_extra_all_installs_every_other_one():
    assert packages("all") == set().union(*(packages(name) for name in OPTIONAL if name != "all"))


def test_doctor_asks_each_extra_for_what_it_installs():
    assert set(EXTRAS) == set(OPTIONAL) - {"all"}
    for extra, (modules, _) in EXTRAS.items():
        assert {DISTRIBUTIONS.get(name, name) for name in modules} <= packages(extra), extra


def test_an_error_about_a_missing_package_names_an_extra_that_installs_it():
    """Of every ``pip install 'smallearn[…]'`` in the package, the extra exists; so it does in the documents."""
    named = set()
    for path in [*(ROOT / "src").rglob("*.py"), *ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")]:
        text = path.read_text(encoding="utf-8")
        for extras in re.findall(r"smallearn\[([a-z,]+)\]", text):
            named |= set(extras.split(","))
        named |= set(re.findall(r"raise not_installed\(.*\"(\w+)\"\)", text))
    assert named <= set(OPTIONAL)
    assert {"cli", "plot", "report", "app", "paper", "onnx", "devices", "dask", "excel"} <= named


def top_level_imports(path):
    """The packages that a module imports when it is imported, without those for type checkers alone."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in tree.body:
        if isinstance(node, ast.Import):
            yield from (name.name.partition(".")[0] for name in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            yield node.module.partition(".")[0]


def test_what_an_extra_installs_is_not_needed_to_import_the_library():
    """Modules that import a package of an extra at once are imported on use, by these rooms alone."""
    optional = {name for modules, _ in EXTRAS.values() for name in modules}
    rooms = set()
    for path in (ROOT / "src" / "smallearn").rglob("*.py"):
        if optional & set(top_level_imports(path)):
            rooms.add(path.relative_to(ROOT / "src" / "smallearn").parts[0])
    assert rooms <= {"cli", "paper", "dask", "_run"}


def test_citation_and_package_have_the_same_version():
    text = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert re.search(r"^version: (.+)$", text, re.MULTILINE).group(1) == smallearn.__version__


def test_versions_are_semantic_and_the_changelog_begins_with_the_present_one():
    assert re.fullmatch(r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)((a|b|rc)\d+)?", smallearn.__version__)
    heading = re.search(r"^## (.+)$", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE).group(1)
    assert re.fullmatch(r"(\S+) \((unreleased|\d{4}-\d\d-\d\d)\)", heading).group(1) == smallearn.__version__


def test_the_lock_file_has_a_hash_for_every_package_and_names_no_index():
    text = (ROOT / ".ci" / "lock.txt").read_text(encoding="utf-8")
    entries = re.split(r"\n(?=\S)", re.sub(r"^#.*\n", "", text, flags=re.MULTILINE).strip())
    assert len(entries) > 80
    for entry in entries:
        assert re.match(r"[\w.-]+(\[[\w,-]+\])?==[\w.!+]+", entry), entry[:100]
        assert "--hash=sha256:" in entry, entry[:100]
    assert not re.search(r"https?:|index-url|find-links|file:", text)
    locked = {re.match(r"[\w.-]+", entry).group().lower() for entry in entries}
    wanted = {re.match(r"[\w.-]+", text).group().lower() for text in PROJECT["dependencies"]} | packages("all")
    assert wanted <= locked


@pytest.mark.skipif(not (ROOT / ".github").is_dir(), reason="a source distribution has no workflows")
def test_the_workflows_use_actions_by_their_commit():
    for path in sorted((ROOT / ".github" / "workflows").glob("*.yml")):
        text = path.read_text(encoding="utf-8")
        uses = re.findall(r"uses: (\S+)", text)
        assert uses
        assert [name for name in uses if not re.fullmatch(r"[\w.-]+/[\w.-]+@[0-9a-f]{40}", name)] == [], path.name
        assert re.search(r"^permissions:\n  contents: read$|^permissions: \{\}$", text, re.MULTILINE), path.name


def test_the_recipe_has_the_requirements_of_the_package():
    text = (ROOT / "recipe" / "recipe.yaml").read_text(encoding="utf-8")
    found = dict(re.findall(r"^    - ([\w-]+) >=([\d.]+)$", text, re.MULTILINE))
    names = {"matplotlib-base": "matplotlib", "dask-core": "dask"}
    expected = {}
    for requirement in [*PROJECT["dependencies"], *(text for extra in OPTIONAL.values() for text in extra)]:
        if ">=" in requirement:
            name, bound = requirement.split(">=")
            expected[name.partition("[")[0]] = bound
    assert {names.get(name, name): bound for name, bound in found.items() if name != "hatchling"} == expected


def test_a_release_whose_versions_disagree_is_refused(tmp_path):
    for name in (".ci/version.py", "src/smallearn/_version.py", "CITATION.cff", "recipe/recipe.yaml"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)

    def answer(tag, changelog):
        (tmp_path / "CHANGELOG.md").write_text(f"# Changelog\n\n## {changelog}\n", encoding="utf-8")
        done = subprocess.run([sys.executable, ".ci/version.py", tag], cwd=tmp_path, capture_output=True, text=True)
        return done.returncode, done.stdout

    version = smallearn.__version__
    assert answer(f"v{version}", f"{version} (2026-12-01)") == (0, "")
    assert answer(f"v{version}", f"{version} (unreleased)") == (
        1,
        f"CHANGELOG.md has no version with a date, the tag is v{version}\n",
    )
    code, words = answer("v99.0.0", f"{version} (2026-12-01)")
    assert code == 1
    assert words.count(f"has {version}, the tag is v99.0.0") == 4
