"""What single pages show is what happens: blocks that need files, programs or servers of their own."""

import os
import re
import subprocess
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_wine

from smallearn import SMaLLClassifierCV, cli
from smallearn._deprecation import deprecated
from smallearn.export import export, to_sql
from smallearn.model import Prototype, Range, SMaLLModel, Term
from tests.helpers import dask_clusters, databases, pages, postgres
from tests.helpers.tools import need, need_module

MODEL = SMaLLModel(
    ("no", "yes"),
    "<U3",
    3,
    (
        Prototype(
            1,
            -2.0,
            (Term(0, 2.0, "age", "above", 40.0), Term(1, 3.0, "colour", "equals", "red"), Term(2, 0.5, "member")),
        ),
    ),
    ranges=(Range(0, 18.0, 90.0), Range(2, 0.0, 1.0)),
)


def block(page, first):
    """The text of the block that begins so."""
    return next(one.text for one in pages.blocks(page) if one.text.startswith(first))


# --- models that are printed -----------------------------------------------------------------------------------------


def test_the_first_page_shows_the_model_of_the_readme():
    shown = block("docs/index.md", "SMaLL model")
    assert block("README.md", "SMaLL model: 4 terms in 2").startswith(shown.rstrip("\n"))


def test_the_model_of_wine_in_the_readme_is_that_of_the_page_on_models():
    wine = SMaLLClassifierCV(max_terms=4, random_state=0).fit(*load_wine(return_X_y=True, as_frame=True))
    assert str(wine.model_).startswith(block("README.md", "SMaLL model: 4 terms (12").rstrip("\n"))


# --- commands --------------------------------------------------------------------------------------------------------


@pytest.fixture
def loans(tmp_path, monkeypatch):
    """A folder with ``loans.csv``."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    age, income = rng.integers(18, 70, 80), rng.integers(1000, 5000, 80)
    answer = np.where((age > 40) & (income > 1500), 1, 0)
    columns = {
        "age": age,
        "income": income,
        "branch": 1,
        "clerk": rng.integers(0, 3, 80),
        "late": rng.integers(0, 3, 80),
    }
    pd.DataFrame({**columns, "answer": answer}).to_csv("loans.csv", index=False)


@pytest.mark.usefixtures("loans")
def test_the_tables_of_the_page_on_commands_are_read(capsys):
    options = block("docs/commands.md", 'data = "loans.csv"').replace("income = -1", "income = 1")  # as it is here
    Path("fit.toml").write_text(options, encoding="utf-8")
    assert cli.main(["fit", "--config", "fit.toml", "--no-frontier"]) == 0
    fit = ["fit", "loans.csv", "--target", "answer", "--labels", "0=no,1=yes", "--max-terms", "2", "--drop", "clerk"]
    Path("costs.csv").write_text(block("docs/commands.md", "true,no,yes"), encoding="utf-8")
    assert cli.main([*fit, "--cost-matrix", "costs.csv", "-o", "costly.json"]) == 0
    terms = (Term(0, 1.0, "age"), Term(4, -1.0, "late", "above", 0.0))
    ranges = (Range(0, 18.0, 70.0), Range(4, 0.0, 2.0))
    SMaLLModel(("no", "yes"), "<U3", 5, (Prototype(1, 0.0, terms),), ranges=ranges).save("model.json")
    Path("wording.csv").write_text(block("docs/commands.md", "term,words"), encoding="utf-8")
    capsys.readouterr()
    asked = ["--row", "1", "--reason-codes", "2", "--wording", "wording.csv"]
    assert cli.main(["explain", "model.json", "loans.csv", *asked]) == 0
    printed = capsys.readouterr().out
    assert "Account too young" in printed or "Paid late" in printed


def test_the_completion_of_the_page_on_commands(capsys):
    line = block("docs/commands.md", "smallearn --print-completion")
    with pytest.raises(SystemExit) as ended:
        cli.main(line.split(">")[0].split()[1:])
    assert ended.value.code == 0
    assert "complete" in capsys.readouterr().out


def test_the_deprecated_function_of_the_page_on_contributing_warns():
    names = {"deprecated": deprecated}
    exec(block("CONTRIBUTING.md", "@deprecated"), names)
    with pytest.warns(FutureWarning, match="frontier"):
        assert names["curve"](None, None) is None


# --- large data ------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.usefixtures("few_are_many")
def test_the_python_in_the_page_on_large_data_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    rows = pd.DataFrame({"age": rng.normal(50, 15, 3000), "ward": rng.choice(["north", "south"], 3000)})
    target = np.where(rows["age"] + 20 * (rows["ward"] == "north") > 60, "ill", "well")
    rows.assign(y=target).to_parquet("rows.parquet")
    Path("rows").mkdir()
    for number in range(4):
        rows.assign(target=target)[number::4].to_parquet(f"rows/{number}.parquet")
    rows[:100].to_parquet("new")
    mapped, clustered = (one.text for one in pages.blocks("docs/large.md") if one.language == "python")
    names: dict = {}
    exec(mapped, names)
    assert names["classifier"].score(rows, target) > 0.95
    with dask_clusters.running(tmp_path) as processes:
        names = {}
        exec(clustered.replace("scheduler:8786", processes.client.scheduler.address), names)
        assert names["classifier"].score(rows, target) > 0.95
        names["client"].close()
    assert "[ward = 'north']" in capsys.readouterr().out


@pytest.fixture
def people(tmp_path, monkeypatch):
    """A folder with rows in ``people/*.parquet`` and the model of them, exported to ``scored.sql`` as the page says."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    rows = pd.DataFrame(
        {"id": np.arange(400), "age": rng.normal(45, 15, 400), "colour": rng.choice(["red", "blue"], 400)}
    )
    rows["member"] = rng.integers(0, 2, 400).astype(float)
    Path("people").mkdir()
    for number in range(2):
        rows[number::2].to_parquet(f"people/{number}.parquet", index=False)
    MODEL.save("model.json")
    return rows


def export_as_shown(dialect):
    command = block("docs/large.md", "smallearn export").partition("#")[0].replace("duckdb", dialect)
    assert cli.main(command.split()[1:]) == 0


def duckdb_lines(first):
    """The commands of a block: the database, and what it is to do."""
    for line in block("docs/large.md", first).splitlines():
        found = re.fullmatch(r'duckdb (?:-c|(\w+\.db)) (?:"(.*)"|< (\S+))', line)
        if found:
            yield found[1] or ":memory:", found[2] or Path(found[3]).read_text(encoding="utf-8")


def test_the_commands_for_duckdb_score_parquet(people):
    duckdb = need_module("duckdb")
    export_as_shown("duckdb")
    ran = 0
    for database, query in [*duckdb_lines("duckdb people.db"), *duckdb_lines("duckdb -c")]:
        with duckdb.connect(database) as connection:
            connection.execute(query)
        ran += 1
    assert ran == 4
    scored = pd.read_parquet("scored.parquet").sort_values("id")
    X = people.drop(columns="id")
    assert scored["prediction"].tolist() == MODEL.predict(X).tolist()
    np.testing.assert_allclose(scored["probability"], MODEL.predict_proba(X).max(axis=1), rtol=1e-12)
    assert len(pd.read_csv("people.csv")) == len(people)


@pytest.mark.tools
def test_the_command_for_postgresql_scores_the_rows_of_parquet(people):
    psql, duckdb = need("psql"), need_module("duckdb")
    export_as_shown("postgresql")
    ((_, query),) = duckdb_lines("duckdb -c")
    duckdb.execute(query)
    (command,) = (line for line in block("docs/large.md", "duckdb -c").splitlines() if line.startswith("psql"))
    with postgres.server() as address:
        facts = dict(part.split("=") for part in address.split())
        environment = os.environ | {f"PG{key.upper()}": value for key, value in facts.items() if key != "dbname"}
        environment |= {"PGDATABASE": facts["dbname"]}
        made = "CREATE TABLE people (id bigint, age double precision, colour text, member double precision)"
        subprocess.run([psql, "-q", "-c", made], env=environment, check=True)
        subprocess.run(
            ["bash", "-c", command.replace("psql", psql, 1)], env=environment, check=True, capture_output=True
        )
        asked = [psql, "-At", "-c", "SELECT prediction FROM scored ORDER BY id"]
        answers = subprocess.run(asked, env=environment, check=True, capture_output=True, text=True).stdout.split()
    assert answers == MODEL.predict(people.drop(columns="id")).tolist()


@pytest.mark.tools
def test_the_view_of_spark_is_what_its_dialect_reads(people):
    with databases.opened() as opened:
        session = opened["spark"].connection
        session.sql(
            block("docs/large.md", "CREATE TEMPORARY VIEW").replace("'people'", f"'{Path('people').resolve()}'")
        )
        session.sql("CREATE TEMPORARY VIEW scored AS " + to_sql(MODEL, "spark", table="people"))
        answers = [row[0] for row in session.sql("SELECT prediction FROM scored ORDER BY id").collect()]
        for view in ("scored", "people"):
            session.sql(f"DROP VIEW {view}")
    assert answers == MODEL.predict(people.drop(columns="id")).tolist()


# --- other languages -------------------------------------------------------------------------------------------------


def test_the_expression_of_the_page_on_exports_is_what_is_written():
    terms = MODEL.prototypes[0].terms[:2]
    model = SMaLLModel(("no", "yes"), "<U3", 2, (Prototype(1, -2.0, terms),))
    stamp, _, expression = to_sql(model, "duckdb", form="expression").partition(" */ ")
    assert stamp.startswith("/* smallearn")
    assert expression.strip() == block("docs/exports.md", "CASE WHEN").strip()


PAGE = "docs/exports.md"
ROW = {"age": 41, "colour": "red", "member": True}


@pytest.mark.tools
def test_the_lines_of_other_languages_run(tmp_path):
    def run(*command):
        program = command[0] if "/" in command[0] else need(command[0])
        done = subprocess.run([program, *command[1:]], cwd=tmp_path, capture_output=True, text=True, check=True)
        return done.stdout.strip()

    (tmp_path / "model.mjs").write_text(export(MODEL, "javascript"))
    lines = block(PAGE, "import { predict")
    (tmp_path / "main.mjs").write_text(lines.replace("predict({", "console.log(predict({").replace("});", "}));"))
    assert run("node", "main.mjs") == MODEL.predict(pd.DataFrame([ROW]))[0]

    (tmp_path / "model.lua").write_text(export(MODEL, "lua"))
    (tmp_path / "main.lua").write_text(block(PAGE, "local model"))
    assert run("lua5.4", "main.lua") == MODEL.predict(pd.DataFrame([ROW]))[0]

    above = Prototype(1, -2.0, (Term(0, 3.0, "age", "above", 40.0),))
    age = SMaLLModel(("no", "yes"), "<U3", 1, (above,), ranges=(Range(0, 18.0, 90.0),))
    (tmp_path / "model.rs").write_text(export(age, "rust", number="int8", readings="float"))
    module, *lines = block(PAGE, "mod model;").splitlines()
    body = "\n".join([*lines, 'println!("{:?}", answer);'])
    (tmp_path / "main.rs").write_text(f"#![allow(dead_code)]\n{module}\nfn main() {{\n{body}\n}}\n")
    run("rustc", "--edition", "2021", "-o", "main", "main.rs")
    assert run("./main") == 'Some("yes")'

    scores = tuple(Prototype(i, float(i), (Term(0, 1.0 - i, "age"),)) for i in range(3))
    three = SMaLLModel(("a", "b", "c"), "<U1", 1, scores, ranges=age.ranges)
    answer, (one, more) = block(PAGE, '#include "model.h"'), block(PAGE, "uint16_t p =").splitlines()
    for name, model, code in (("one", age, [*answer.splitlines()[1:], one]), ("more", three, [more])):
        header = export(model, "c", number="int8", readings="float", probabilities=True)
        (tmp_path / "model.h").write_text(header)
        declared = "float x[MODEL_INPUTS] = {41.0f}; uint16_t probabilities[MODEL_CLASSES] = {0}; (void)probabilities;"
        used = "return answer == 1 && p > 32767 ? 0 : 1;" if name == "one" else "return probabilities[0] ? 0 : 1;"
        body = "\n".join([declared, *code, used])
        (tmp_path / "main.c").write_text(f'#include "model.h"\nint main(void) {{\n{body}\n}}\n')
        run("gcc", "-std=c99", "-o", name, "main.c")
        run(f"./{name}")
