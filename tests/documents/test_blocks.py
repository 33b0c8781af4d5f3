"""Every block of code on every page is run, here or by a test that is named here.

- Blocks of Python run in the order of their page, in one namespace.
- Commands, in blocks of a shell: ``smallearn`` runs, in a folder that has the tables of the page; what ``pip``,
  ``apt``, ``make`` and ``python -m`` are asked for is there.
- All other blocks are in `ELSEWHERE`, with the test that runs them, or in `NO_CODE`.
"""

import importlib.util
import re
import shlex
import shutil

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from smallearn import cli
from smallearn.model import Prototype, Range, SMaLLModel, Term
from tests.helpers import pages
from tests.helpers.pages import ROOT

# Pages whose Python another test runs, and asserts more of.
PYTHON_ELSEWHERE = {
    "README.md": "test_the_python_in_the_readme_runs_and_prints_the_model_below_it",
    "docs/models.md": "test_the_python_in_the_page_on_models_runs",
    "docs/pipelines.md": "test_the_python_in_the_page_on_pipelines_runs",
    "docs/exports.md": "test_the_python_in_the_page_on_exports_runs",
    "docs/explain.md": "test_the_python_in_the_page_on_words_and_pictures_runs",
    "docs/large.md": "test_the_python_in_the_page_on_large_data_runs",
}
# A page, how a block on it begins, and the test that runs it.
CHIP = "test_the_way_from_a_sensor_to_firmware_ends_in_the_decisions_of_predict"
MARIADB = "test_the_way_from_a_table_to_mariadb_ends_in_the_answers_of_predict_and_explain"
SNIPPETS = "test_the_lines_of_other_languages_run"
ELSEWHERE = [
    ("README.md", "SMaLL model: 4 terms in 2", "test_the_python_in_the_readme_runs_and_prints_the_model_below_it"),
    ("README.md", "$ smallearn explain model.json board.csv", "test_the_rule_in_the_readme_is_what_the_demo_prints"),
    (
        "README.md",
        "SMaLL model: 4 terms (12 weights)",
        "test_the_model_of_wine_in_the_readme_is_that_of_the_page_on_models",
    ),
    ("docs/index.md", "SMaLL model: 4 terms in 2", "test_the_first_page_shows_the_model_of_the_readme"),
    (
        "docs/demo.md",
        "In the folder smallearn-demo:",
        "test_the_session_in_the_page_on_the_demo_is_what_the_demo_prints",
    ),
    ("docs/start.md", "$ smallearn demo", "test_the_session_in_the_page_on_the_demo_is_what_the_demo_prints"),
    ("docs/commands.md", "term,words", "test_the_tables_of_the_page_on_commands_are_read"),
    ("docs/commands.md", 'data = "loans.csv"', "test_the_tables_of_the_page_on_commands_are_read"),
    ("docs/commands.md", "true,no,yes", "test_the_tables_of_the_page_on_commands_are_read"),
    ("docs/commands.md", "smallearn --print-completion bash", "test_the_completion_of_the_page_on_commands"),
    *(("docs/exports.md", first, CHIP) for first in ("import csv", "feature,scale,offset", "smallearn fit fan.csv")),
    *(("docs/exports.md", first, CHIP) for first in ("smallearn export model.json --to c -o model.h", "#include <avr")),
    *(
        ("docs/exports.md", first, CHIP)
        for first in ("/* Runs main.elf", "avr-gcc", "gcc -O2", "smallearn cost model.json fan")
    ),
    *(
        ("docs/exports.md", first, MARIADB)
        for first in ("CREATE DATABASE", "mariadb --default-character-set", "folder=$(mktemp")
    ),
    ("docs/exports.md", "smallearn fit loans.csv --target answer --max-terms 6 -o model.json", MARIADB),
    ("docs/exports.md", "smallearn predict model.json loans.csv --score", MARIADB),
    ("CONTRIBUTING.md", "@deprecated", "test_the_deprecated_function_of_the_page_on_contributing_warns"),
    *(("docs/exports.md", first, SNIPPETS) for first in ('#include "model.h"', "uint16_t p =", "import { predict")),
    *(("docs/exports.md", first, SNIPPETS) for first in ('local model = require("model")', "mod model;")),
    ("docs/exports.md", "CASE WHEN", "test_the_expression_of_the_page_on_exports_is_what_is_written"),
    ("docs/large.md", "duckdb people.db", "test_the_commands_for_duckdb_score_parquet"),
    ("docs/large.md", "CREATE TEMPORARY VIEW", "test_the_view_of_spark_is_what_its_dialect_reads"),
    ("docs/large.md", "duckdb -c", "test_the_commands_for_duckdb_score_parquet"),
    (
        "docs/develop/add_a_language.md",
        ".venv/bin/python -m pytest",
        "test_every_language_is_run_here_or_in_a_file_of_its_own",
    ),
]
# Drawings and formulas.
NO_CODE = {"ARCHITECTURE.md": ("X, y ─> data", "cli · paper"), "docs/theory.md": ("loss_i", "Σ_i", "min_W", "D =")}
SHELL = ("", "sh", "console", "text")


def all_blocks():
    return [block for page in pages.pages() for block in pages.blocks(page)]


def commands(block):
    """The commands of a block of a shell, without comments; None if it is none."""
    if block.language not in SHELL:
        return None
    lines = re.sub(r"\\\n", " ", block.text).splitlines()
    if block.language == "console":
        lines = [line.removeprefix("$ ") for line in lines if line.startswith("$ ")]
    lines = [re.sub(r"(^|\s+)#.*$", "", line) for line in lines]
    lines = [line for line in lines if line.strip()]
    known = ("smallearn ", "pip install ", "sudo apt install ", "make ", "python -m ")
    return lines if lines and all(line.startswith(known) for line in lines) else None


def elsewhere(block):
    """The test that runs a block, if it is not run here."""
    return next((test for page, start, test in ELSEWHERE if page == block.page and block.first.startswith(start)), None)


def name_of(block):
    return f"{block.page}:{block.line}"


@pytest.mark.parametrize("block", all_blocks(), ids=name_of)
def test_every_block_of_code_is_run(block):
    if block.language == "python":
        return  # by its page, below
    if block.first.startswith(NO_CODE.get(block.page, ())):
        return
    assert elsewhere(block) or commands(block), (
        f"{name_of(block)} ({block.first!r}) is run by no test: make it commands of smallearn, or write a test "
        "and name it in ELSEWHERE"
    )


def test_every_test_that_is_named_here_is_there():
    names = {*PYTHON_ELSEWHERE.values(), *(test for _, _, test in ELSEWHERE)}
    text = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("test_*.py"))
    assert [name for name in sorted(names) if f"def {name}(" not in text] == []


def test_every_entry_of_the_table_is_of_a_block():
    found = [(block.page, block.first) for block in all_blocks()]
    lost = [
        (page, start) for page, start, _ in ELSEWHERE if not any(p == page and f.startswith(start) for p, f in found)
    ]
    assert lost == []
    assert {*PYTHON_ELSEWHERE} <= {block.page for block in all_blocks() if block.language == "python"}


# --- Python ----------------------------------------------------------------------------------------------------------

PYTHON_PAGES = sorted({block.page for block in all_blocks() if block.language == "python"} - {*PYTHON_ELSEWHERE})


@pytest.mark.usefixtures("few_standard_models")
@pytest.mark.parametrize("page", PYTHON_PAGES)
def test_the_python_of_a_page_runs(page, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    names: dict = {}
    for block in pages.blocks(page):
        if block.language == "python":
            exec(compile(block.text, name_of(block), "exec"), names)  # the page's own code
    plt.close("all")
    assert capsys.readouterr().out


# --- commands --------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """What the commands of all pages find: tables and models under the names that the pages use."""
    path = tmp_path_factory.mktemp("pages")
    rng = np.random.default_rng(0)
    n = 60
    age, size = 5 * rng.integers(4, 14, n), rng.normal(5.0, 2.0, n).round()
    table = pd.DataFrame(
        {"age": age, "size": size, "colour": rng.choice(["red", "green"], n), "zip": rng.integers(1, 9, n)}
    )
    table["y"] = np.where((age > 40) ^ (rng.random(n) < 0.1), "yes", "no")
    table.to_csv(path / "data.csv", index=False)
    dated = table.assign(customer_id=[f"c{i}" for i in range(n)], applied="2024-03-31")
    for name in ("new", "march", "year"):
        dated.to_csv(path / f"{name}.csv", index=False)
    ORDINARY.trained_on(table.drop(columns="y"), table["y"], target="y").with_reference(table).save(path / "model.json")
    loans = pd.DataFrame({"age": age, "late": rng.integers(0, 4, n), "answer": np.where(age > 40, "grant", "refuse")})
    loans.to_csv(path / "loans.csv", index=False)
    (path / "wording.csv").write_text("term,words\nage,Account too young\n")
    (path / "words.csv").write_text("term,words\nage,Account too young\n")
    return path


TERMS = (Term(0, 1.5, "age", "above", 40.0), Term(3, 0.5, "zip"), Term(2, 0.2, "colour", "equals", "red"))
ORDINARY = SMaLLModel(
    ("no", "yes"), "<U3", 4, (Prototype(1, -1.0, TERMS),), ranges=(Range(0, 20.0, 65.0), Range(3, 1.0, 8.0))
)
GRANTS = SMaLLModel(("grant", "refuse"), "<U6", 2, (Prototype(0, -1.0, TERMS[:1]),), ranges=ORDINARY.ranges[:1])


@pytest.fixture
def here(folder, tmp_path, monkeypatch):
    """A folder of its own with these files, in which the test runs."""
    shutil.copytree(folder, tmp_path / "here")
    monkeypatch.chdir(tmp_path / "here")


def shell_blocks():
    """Blocks with commands of smallearn that are run here."""
    found = [block for block in all_blocks() if not elsewhere(block) and commands(block)]
    return [block for block in found if any(line.startswith("smallearn ") for line in commands(block))]


# These take too long or need what is not here: the arguments alone are checked.
PARSED = ("paper", "demo", "app")


@pytest.mark.usefixtures("few_standard_models", "here")
@pytest.mark.parametrize("block", shell_blocks(), ids=name_of)
def test_the_commands_of_a_block_run_as_printed(block, capsys):
    if "--favourable grant" in block.text:
        GRANTS.save("model.json")
    for line in commands(block):
        if not line.startswith("smallearn "):
            continue
        words = shlex.split(line)
        arguments = words[1 : next((i for i, word in enumerate(words) if word in ("|", "||", ">")), len(words))]
        if arguments[0] in PARSED:
            assert cli.make_parser().parse_args(arguments).command == arguments[0]
        else:
            code = cli.main(arguments)
            assert code == 0 or (code == 3 and "||" in line), f"{line}\n{capsys.readouterr().err}"


def other_commands(start):
    return [
        pytest.param(line, id=f"{name_of(block)} {line}")
        for block in all_blocks()
        for line in commands(block) or ()
        if line.startswith(start)
    ]


@pytest.mark.parametrize("line", other_commands("pip install "))
def test_what_pip_is_to_install_is_an_extra(line):
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    extras = project.partition("[project.optional-dependencies]")[2].partition("\n[")[0]
    named = re.search(r"'(?:\.|smallearn)\[([\w,]+)\]'", line)
    assert named, line
    assert all(re.search(rf"^{extra} = ", extras, flags=re.MULTILINE) for extra in named[1].split(","))


@pytest.mark.parametrize("line", other_commands("sudo apt install "))
def test_what_apt_is_to_install_is_what_ci_installs(line):
    packages = (ROOT / ".ci" / "packages").read_text(encoding="utf-8").split()
    asked = line.removeprefix("sudo apt install ").split()
    assert asked
    assert [one for one in asked if one not in [*packages, "libc6-dev"]] == []  # gcc brings libc6-dev or knows it


@pytest.mark.parametrize("line", other_commands("make "))
def test_what_make_is_asked_for_is_a_target(line):
    target = line.split()[1]
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert re.search(rf"^{re.escape(target)}:", makefile, flags=re.MULTILINE)


def test_modules_that_are_called_are_there():
    lines = [line for block in all_blocks() for line in commands(block) or () if line.startswith("python -m ")]
    text = "\n".join([*lines, *((ROOT / page).read_text(encoding="utf-8") for page in pages.pages())])
    called = re.findall(r"python -m (\w[\w.]*\w)", text)
    assert called
    ours = [name for name in called if name.partition(".")[0] in ("attacks", "benchmarks", "smallearn")]
    assert [name for name in ours if not importlib.util.find_spec(name)] == []
