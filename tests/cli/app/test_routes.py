"""What the server answers to the page, from a table to a model, and what it says to requests that make no sense."""

import json

import numpy as np
import pandas as pd
import pytest

from smallearn.cli.app.work import Workshop, _split
from smallearn.evaluation import evaluate
from smallearn.model import SMaLLModel
from tests.helpers.app import people


def refused(visit, path, status=400, **content):
    answer = visit.client.post(path, json=content)
    assert answer.status_code == status, answer.text
    assert "Traceback" not in answer.text
    return answer.text


# --- tables ----------------------------------------------------------------------------------------------------------


def test_a_table_is_read_with_its_columns_and_first_rows(visit, table):
    facts = visit.work("/api/read", table=table)
    assert facts["n_rows"] == 240
    columns = {column["name"]: column for column in facts["columns"]}
    assert [name for name, column in columns.items() if column["may_be_classes"]] == ["colour", "answer"]
    assert columns["size"]["n_missing"] == people()["size"].isna().sum()
    counts = people()["answer"].value_counts()
    assert columns["answer"]["common"] == [[label, int(number)] for label, number in counts.items()]
    assert [row[1] for row in facts["preview"]] == people()["age"][:5].astype(str).tolist()


def test_how_a_table_is_read_can_be_changed(visit):
    rows = people().assign(colour=lambda table: table["colour"].replace("red", "grün"))
    number = visit.upload(rows.to_csv(index=False).encode("cp1252"), "people2.csv")
    job = visit.begin("/api/read", table=number)
    assert job["state"] == "failed"
    assert "--encoding cp1252" in job["result"]
    facts = visit.work("/api/read", table=number, encoding="cp1252", missing=["blue"])
    colour = next(column for column in facts["columns"] if column["name"] == "colour")
    assert {value for value, _ in colour["common"]} == {"grün", "green"}
    assert colour["n_missing"] == (people()["colour"] == "blue").sum()


@pytest.mark.parametrize(
    ("name", "ending"),
    [("a.csv", ".csv"), ("A.CSV.GZ", ".csv.gz"), ("x.parquet", ".parquet"), ("../../etc/passwd.tsv", ".tsv")],
)
def test_an_upload_is_kept_in_the_folder_under_a_name_of_its_own(visit, name, ending):
    number = visit.upload(b"a,b\n1,2\n", name)
    path = visit.session.tables[number].path
    assert path.parent == visit.session.folder
    assert path.name == f"table-{number}{ending}"
    assert visit.session.tables[number].name == name.rpartition("/")[2]


@pytest.mark.parametrize("name", ["", "passwd", "a.xls", "a.csv.exe", "..", ".csv/", "a.gz", "C:\\a.json"])
def test_other_files_are_refused(visit, name):
    before = sorted(visit.session.folder.iterdir())
    answer = visit.client.put("/api/tables", params={"name": name}, content=b"a,b\n1,2\n")
    assert answer.status_code == 400
    assert "is not a table in a known format; the page takes files that end in .csv, .tsv" in answer.text
    assert sorted(visit.session.folder.iterdir()) == before


@pytest.mark.parametrize("number", [0, 99, "1", None, True, [1], "/etc/passwd", {"path": "/etc/passwd"}])
def test_only_tables_that_were_given_are_read(visit, number):
    assert refused(visit, "/api/read", table=number).startswith("there is no table")


def test_a_file_that_is_no_table_is_refused_in_one_sentence(visit):
    number = visit.upload(b"\x00\x01\x02" * 100, "noise.parquet")
    job = visit.begin("/api/read", table=number)
    assert job["state"] == "failed"
    assert "Traceback" not in job["result"]


# --- what is learned from --------------------------------------------------------------------------------------------


def test_ignored_columns_are_named_with_the_reason_and_may_be_used_nevertheless(visit, table):
    chosen = visit.work("/api/choose", table=table, target="answer", drop=["size"])
    assert chosen["classes"] == [["no", 120], ["yes", 120]] or sum(number for _, number in chosen["classes"]) == 240
    assert [(one["name"], one["kind"]) for one in chosen["features"]] == [("age", "number"), ("colour", "category")]
    assert chosen["ignored"] == [
        {"name": "size", "reason": "as asked", "may_keep": False},
        {"name": "id", "reason": "looks like an ID", "may_keep": True},
        {"name": "always", "reason": "has only one value", "may_keep": False},
    ]
    assert chosen["notes"] == []
    again = visit.work("/api/choose", table=table, target="answer", keep=["id"])
    assert [one["name"] for one in again["features"]] == ["id", "age", "size", "colour"]


def test_a_target_that_is_a_quantity_is_refused_with_what_to_do(visit, table):
    job = visit.begin("/api/choose", table=table, target="size")
    assert job["state"] == "failed"
    assert "not a class" in job["result"]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ({}, "choose the target"),
        ({"target": 3}, "choose the target"),
        ({"target": "answer", "drop": "size"}, "drop is not a list of texts"),
        ({"target": "answer", "test_size": 0.9}, "is a number from 0 to 0.5, not 0.9"),
        ({"target": "answer", "time_limit": 1e9}, "the time limit is a number from 1 to 60"),
        ({"target": "answer", "time_limit": True}, "the time limit is a number"),
        ({"target": "answer", "options": {"output": "/tmp/x"}}, "this page has no option 'output'"),
        ({"target": "answer", "options": {"max-terms": "0"}}, "'0' is not a whole number from 1"),
        ({"target": "answer", "options": {"literals": "round"}}, "invalid choice"),
        ({"target": "answer", "options": [1]}, "the options are not a JSON object"),
    ],
)
def test_a_request_that_makes_no_sense_is_refused_with_what_is_allowed(visit, table, content, words):
    assert words in refused(visit, "/api/fit", table=table, **content)


@pytest.mark.parametrize("body", [b"", b"[1]", b"{", b"\xff"])
def test_what_is_no_json_is_refused(visit, body):
    answer = visit.client.post("/api/fit", content=body)
    assert answer.status_code == 400
    assert answer.text.startswith("the request is not")


# --- models ----------------------------------------------------------------------------------------------------------


def test_a_fit_makes_a_model_that_was_tested_on_rows_it_did_not_see(visit, model):
    made = visit.session.models[model["number"]].model
    assert model["n_tested"] == 72
    assert sum(made.data.class_counts) == 168
    assert (made.data.target, made.data.source) == ("answer", "people.csv")
    assert model["features"] == [term.label for term in made.features]
    assert {name: value for name, value, _ in model["figures"]}["accuracy"].endswith("%)")
    assert model["command"].startswith("smallearn fit people.csv --target=answer --max-terms=3 --prototypes=1")
    assert model["sizes"][-1] >= model["n_terms"]


def test_the_page_about_a_model_is_the_report_and_tells_what_is_set_on_it(visit, model):
    shown = visit.client.get(f"/models/{model['number']}/page")
    kept = visit.client.get(f"/models/{model['number']}/report.html")
    assert shown.headers["content-security-policy"].startswith("sandbox allow-scripts")
    assert "default-src 'none'" in shown.headers["content-security-policy"]
    assert "unsafe-inline" not in shown.headers["content-security-policy"]
    assert "Content-Security-Policy" not in shown.text  # of two policies both would have to allow a script
    assert "Content-Security-Policy" in kept.text
    assert kept.headers["content-disposition"] == 'attachment; filename="report.html"'
    assert "postMessage" in shown.text
    assert "postMessage" not in kept.text
    assert kept.text.startswith("<!doctype html>")
    assert "72 rows of people.csv" in kept.text


def test_a_new_search_without_a_feature_is_a_model_that_can_be_compared(visit, model):
    forbidden = model["features"][0]
    made = visit.work("/api/shape", model=model["number"], forbid=[forbidden], anew=True)
    assert made["parent"] == model["number"]
    assert forbidden not in made["features"]
    assert f"without {forbidden}" in made["name"]
    assert f"--drop={forbidden}" in made["command"]
    assert made["figures"] != model["figures"]
    compared = visit.work("/api/compare", models=[model["number"], made["number"]])
    _check_comparison(visit, model, made, compared)


def test_what_is_changed_by_hand_is_refitted_and_remembered(visit, table):
    options = {"max-terms": "4", "prototypes": "1", "literals": "thresholds"}
    first = visit.work("/api/fit", table=table, target="answer", test_size=0.3, options=options)
    term = next(term for term in first["terms"][str(first["n_terms"])] if term["cut"] is not None)
    new = term["cut"] + 3.0
    cuts = [[term["feature"], term["cut"], new]]
    made = visit.work("/api/shape", model=first["number"], cuts=cuts)
    changed = visit.session.models[made["number"]].model
    assert new in [one.value for one in changed.terms]
    assert (made["parent"], made["sizes"]) == (first["number"], [made["n_terms"]])
    assert made["changed"] == [edit.text for edit in changed.edits if edit.action == "cut"]
    assert made["name"].startswith(f"{made['number']}: ")
    expected = evaluate(changed, *_held_out(visit, changed)).accuracy
    assert {name: value for name, value, _ in made["figures"]}["accuracy"] == f"{expected}"
    dropped = visit.work("/api/shape", model=first["number"], drop=[term["text"]], replaces=True)
    assert dropped["n_terms"] <= first["n_terms"]
    smallest = first["sizes"][0]
    of_size = visit.work(
        "/api/shape", model=first["number"], size=smallest, forbid=[first["terms"][str(smallest)][0]["feature"]]
    )
    assert of_size["n_terms"] < smallest


def _held_out(visit, model):
    """The rows that were held out of a fit."""
    entry = next(one for one in visit.session.models.values() if one.model is model)
    workshop = Workshop(lambda _: None)
    test = _split(workshop._rows(entry.setup)[0], entry.setup)[1]
    return test.X, test.y


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ({}, "nothing is changed"),
        ({"replaces": True}, "nothing is changed"),
        ({"cuts": [["age", 1]]}, "cuts is not a list"),
        ({"cuts": [["age", 1, "x"]]}, "a cut is a number"),
        ({"drop": ["x"], "anew": True}, "a new search takes features to forbid"),
        ({"forbid": ["age"], "size": 99}, "there is no model of size 99"),
    ],
)
def test_changes_that_make_no_sense_are_refused(visit, model, content, words):
    assert words in refused(visit, "/api/shape", model=model["number"], **content)


def test_a_change_of_what_is_not_there_is_told(visit, model):
    job = visit.begin("/api/shape", model=model["number"], drop=["[weight > 3]"])
    assert job["state"] == "failed"
    assert "There is no term [weight > 3]" in job["result"]


def _check_comparison(visit, first, second, compared):
    """The rows that two models decide differently are those that the models themselves say."""
    rows = people()
    answers = [visit.session.models[one["number"]].model.predict(rows) for one in (first, second)]
    numbers = [one["row"] for one in compared["rows"]]
    assert compared["n_rows"] == 72
    assert 0 < len(numbers) == min(10, compared["n_differ"])
    for one in compared["rows"]:
        at = one["row"] - 1
        assert [one["true"], one["first"], one["second"]] == [rows["answer"][at], answers[0][at], answers[1][at]]
        assert one["first"] != one["second"]
        assert float(one["values"][compared["names"].index("age")]) == rows["age"][at]
    assert sum(compared["n_right"]) == compared["n_differ"]


def test_models_of_different_tables_or_tests_are_not_compared(visit, table, model):
    made = visit.work("/api/fit", table=table, target="answer", options={"max-terms": "1", "prototypes": "1"})
    assert made["held_out"] is False
    assert "there are no rows to compare them on" in refused(
        visit, "/api/compare", models=[model["number"], made["number"]]
    )
    assert refused(visit, "/api/compare", models=[1]).startswith("two models are compared")
    assert refused(visit, "/api/compare", models=[1, 99]).startswith("there is no model 99")


def test_models_that_are_not_there_have_no_page(visit):
    for path in ("page", "report.html", "model.json", "export/c"):
        answer = visit.client.get(f"/models/99/{path}")
        assert (answer.status_code, answer.text) == (400, "there is no model 99.\n")
    assert visit.client.get("/api/jobs/9999").status_code == 404
    assert visit.client.get("/other.js").status_code == 404


def test_the_model_file_is_the_model(visit, model):
    answer = visit.client.get(f"/models/{model['number']}/model.json")
    assert answer.headers["content-disposition"] == 'attachment; filename="model.json"'
    assert SMaLLModel.from_json(answer.text) == visit.session.models[model["number"]].model


def test_a_page_that_is_opened_again_finds_what_there_is(visit, model):
    facts = visit.client.get("/api/state").json()
    assert facts["tables"][0] == {"number": 1, "name": "people.csv"}
    assert model in facts["models"]
    assert {one["target"] for one in facts["exports"]} >= {
        "c",
        "arduino",
        "python",
        "javascript",
        "rust",
        "sql",
        "pmml",
    }


def test_too_few_rows_to_hold_some_out_are_told(visit):
    rows = pd.DataFrame({"a": np.arange(10.0), "y": ["no", "yes"] * 5})
    number = visit.upload(rows.to_csv(index=False).encode(), "few.csv")
    job = visit.begin("/api/fit", table=number, target="y", test_size=0.3)
    assert job["state"] == "failed"
    assert "too few rows to hold some of each class out" in job["result"]


def test_the_page_has_no_address_but_its_own(visit):
    for path in ("/", "/app.js", "/app.css"):
        text = visit.client.get(path).text.replace("http://www.w3.org", "")
        assert "http" not in json.dumps(text).replace("http-equiv", "")
