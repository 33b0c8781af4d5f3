"""``smallearn report``: one page about a model."""

import json
from pathlib import Path

import pandas as pd
import pytest

from smallearn import cli, load_model
from smallearn.evaluation import monitor
from tests.helpers.commands import run


@pytest.fixture(autouse=True)
def _in_the_folder(people, monkeypatch):
    monkeypatch.chdir(people)


@pytest.mark.usefixtures("few_standard_models")
def test_a_report_is_one_file_under_a_megabyte(capsys):
    output = run(capsys, "report", "model.json", "test.csv", "--train", "train.csv", "-o", "report.html")
    assert "Wrote report.html" in output.err
    page = Path("report.html").read_text(encoding="utf-8")
    assert len(page.encode()) < 1_000_000
    assert "logistic regression" in page
    assert "so the scores on them are optimistic" not in page
    run(capsys, "report", "model.json", "train.csv", "--no-compare", "--title", "A < B", "-o", "report.html")
    page = Path("report.html").read_text(encoding="utf-8")
    assert "<h1>A &lt; B</h1>" in page
    assert "logistic regression" not in page
    assert "so the scores on them are optimistic" in page
    assert f"{load_model('model.json').selection.score:.1%}" in page


def test_a_report_shows_reason_codes_if_they_are_asked_for(capsys, tmp_path):
    feature = next(iter(load_model("model.json").features)).label
    words = tmp_path / "words.csv"
    words.write_text(f"term,words\n{feature},Bad luck\n", encoding="utf-8")
    options = ("--no-compare", "-o", "report.html")
    asked = ("--wording", str(words), "--favourable", "no")
    err = run(capsys, "report", "model.json", "test.csv", *asked, *options).err
    assert "words.csv has no words for: " in err
    page = Path("report.html").read_text(encoding="utf-8")
    assert "What held &#39;no&#39; back most" in page
    assert '"words":"Bad luck"' in page
    run(capsys, "report", "model.json", "test.csv", *options)
    assert "back most" not in Path("report.html").read_text(encoding="utf-8")


def test_a_report_without_classes_has_no_scores(capsys):
    pd.read_csv("test.csv").drop(columns="y").to_csv("unlabelled.csv", index=False)
    output = run(capsys, "report", "model.json", "unlabelled.csv", "-o", "plain.html")
    assert "unlabelled.csv has no classes: the page has no scores." in output.err
    page = Path("plain.html").read_text(encoding="utf-8")
    assert "Table of scores" not in page
    assert "The model" in page


def test_the_page_numbers_errors_by_rows_of_the_file(capsys, tmp_path):
    table = pd.read_csv("test.csv")
    table.loc[:4, "y"] = None
    table.to_csv(tmp_path / "gaps.csv", index=False)
    facts = json.loads(run(capsys, "evaluate", "model.json", str(tmp_path / "gaps.csv"), "--json").out)
    page = tmp_path / "report.html"
    run(capsys, "report", "model.json", str(tmp_path / "gaps.csv"), "-o", str(page), "--no-compare")
    assert all(f">{one['row']}</th>" in page.read_text() for one in facts["mistakes"])


def test_a_large_table_is_not_compared(capsys, monkeypatch):
    monkeypatch.setattr("smallearn.cli.io.stored.LARGE", 1000)
    output = run(capsys, "report", "model.json", "train.csv", "-o", "large.html")
    assert "No standard models for comparison: they need the whole table in memory, 6.4" in output.err
    page = Path("large.html").read_text(encoding="utf-8")
    assert "logistic regression" not in page
    assert "so the scores on them are optimistic" in page


def test_a_report_takes_sections_rows_and_descriptions(capsys, tmp_path):
    feature = next(iter(load_model("model.json").features)).label
    words = tmp_path / "features.csv"
    words.write_text(f"name,words,unit\n{feature},how much there is,litres\n", encoding="utf-8")
    asked = ("--describe", str(words), "--rows", "3", "--sections", "what-if,chips")
    run(capsys, "report", "model.json", "test.csv", "--no-compare", *asked, "-o", "report.html")
    page = Path("report.html").read_text(encoding="utf-8")
    assert "how much there is (litres)" in page
    assert "This page contains 3 rows" in page
    assert "Cost on chips" in page
    assert "On whom it is wrong" not in page
    told = run(capsys, "explain", "model.json", "test.csv", "--describe", str(words)).out
    assert "how much there is" in told


@pytest.mark.parametrize(
    ("option", "told"),
    [
        (("--sections", "errors,nothing"), "'nothing' is no section: errors, what-if"),
        (("--rows", "51"), "'51' is not a whole number from 0 to 50"),
    ],
)
def test_sections_and_rows_that_are_none_are_refused(capsys, option, told):
    with pytest.raises(SystemExit):
        cli.main(["report", "model.json", "test.csv", *option, "-o", "report.html"])
    assert told in capsys.readouterr().err


def test_new_rows_are_a_section_of_the_page(capsys):
    table = pd.read_csv("train.csv").assign(when="2024-03-31")
    table.assign(age=table["age"] + 40).to_csv("new.csv", index=False)
    page = ["report", "model.json", "train.csv", "--no-compare", "-o", "page.html"]
    run(capsys, *page)
    assert "Monitoring" not in Path("page.html").read_text(encoding="utf-8")
    run(capsys, *page, "--monitor", "new.csv", "--date", "when", "--period", "quarter")
    text = Path("page.html").read_text(encoding="utf-8")
    expected = monitor(load_model("model.json"), pd.read_csv("new.csv"))
    assert 'id="monitoring"' in text
    assert "2024-Q1" in text
    assert f"{expected.overall.features[0].psi:.3f}" in text
    assert "--date goes with --monitor" in run(capsys, *page, "--date", "when", code=1).err
    assert "--period goes with --monitor" in run(capsys, *page, "--period", "day", code=1).err
    assert "--period goes with --date" in run(capsys, *page, "--monitor", "new.csv", "--period", "day", code=1).err
