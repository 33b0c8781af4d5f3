"""The jobs of the second process, here in this one: what they answer, and what they say where they fail."""

import shlex
import signal
import threading
from dataclasses import replace
from multiprocessing import Pipe

import numpy as np
import pytest

from smallearn import SMaLLModel, cli, load_model
from smallearn.cli.app import work
from smallearn.cli.app.setup import Changes, Setup, TableFacts
from smallearn.cli.errors import CommandError
from smallearn.cli.io.tables import ReadOptions
from smallearn.evaluation import evaluate
from tests.helpers.app import many_rows


@pytest.fixture(scope="module")
def setup(tmp_path_factory):
    path = tmp_path_factory.mktemp("work") / "many.csv"
    rows = many_rows(400)
    rows.to_csv(path, index=False)
    return Setup(
        table=TableFacts(path=path, name="many.csv", options=ReadOptions()),
        target="bought",
        test_size=0.3,
        options=(("max-terms", "3"), ("prototypes", "1")),
    )


@pytest.fixture(scope="module")
def told():
    return []


@pytest.fixture(scope="module")
def workshop(told):
    return work.Workshop(told.append)


@pytest.fixture(scope="module")
def fitted(workshop, setup):
    return workshop.fit(setup)


def test_a_table_and_its_features_are_described(workshop, setup):
    facts = workshop.read(setup.table)
    assert facts["n_rows"] == 400
    chosen = workshop.choose(setup)
    assert chosen["features"]
    assert chosen["notes"] == workshop.choose(setup)["notes"]  # read once


def test_a_fit_is_tested_on_the_rows_held_out_and_tells_its_progress(fitted, told):
    model = SMaLLModel.from_json(fitted["model"])
    assert fitted["n_terms"] == model.n_terms <= 3
    assert fitted["held_out"]
    assert fitted["n_tested"] == pytest.approx(120, abs=2)
    assert "<h1" in fitted["page"]
    stages = list(dict.fromkeys(said["stage"] for said in told))
    assert stages[-2:] == ["Testing the model", "Writing the page"]
    assert "Comparing models by cross-validation" in stages


def test_a_forbidden_feature_leaves_and_two_models_are_compared(workshop, setup, fitted):
    forbidden = fitted["features"][0]
    shaped = workshop.shape(fitted["model"], Changes(forbid=(forbidden,)), setup)
    assert forbidden not in shaped["features"]
    assert shaped["changed"]
    told = workshop.compare(fitted["model"], shaped["model"], setup)
    assert told["n_rows"] == fitted["n_tested"]
    assert 0 <= told["n_differ"] <= told["n_rows"]
    assert len(told["rows"]) == min(10, told["n_differ"])
    assert len(told["rules"]) == 2


def test_too_few_rows_to_hold_out_are_refused(workshop, setup):
    table, _ = workshop._rows(setup)
    few = work._taken(table, np.arange(len(table.y)) < 6)
    with pytest.raises(CommandError, match="too few rows to hold some of each class out"):
        work._split(few, setup)


def test_the_process_answers_until_the_connection_is_closed(setup):
    here, there = Pipe()
    answers = []

    def ask():
        wrong = Setup(table=setup.table, target="nothing")
        for job, request in (("read", {"table": setup.table}), ("choose", {"setup": wrong}), ("nonsense", {})):
            here.send((job, request))
            while (said := here.recv())[0] == "progress":
                pass
            answers.append(said)
        here.close()

    before = signal.getsignal(signal.SIGINT)
    asking = threading.Thread(target=ask)
    asking.start()
    try:
        work.run(there)
    finally:
        signal.signal(signal.SIGINT, before)
        asking.join()
    assert [word for word, _ in answers] == ["done", "failed", "failed"]
    assert "nothing" in answers[1][1]
    assert answers[2][1] == work.UNEXPECTED


def test_the_command_that_the_page_shows_trains_the_same_model(setup, fitted, tmp_path, monkeypatch):
    shown = replace(setup, table=replace(setup.table, name=str(setup.table.path)))
    monkeypatch.chdir(tmp_path)
    assert cli.main([*shlex.split(shown.command())[1:], "--quiet"]) == 0
    here, there = load_model("model.json"), SMaLLModel.from_json(fitted["model"])
    assert here.table == there.table
    assert here.table.held_out.class_counts != (0, 0)
    assert (here.prototypes, here.decision_threshold) == (there.prototypes, there.decision_threshold)
    assert here.data.fingerprint == there.data.fingerprint


def test_codes_come_with_what_was_seen_and_are_missing_once_that_is_asked_for(workshop, setup, tmp_path):
    rows = many_rows(400)
    rows["number 2"] = np.where(np.arange(400) % 3 == 0, 999.0, rows["number 2"])
    rows.to_csv(tmp_path / "codes.csv", index=False)
    coded = replace(setup, table=replace(setup.table, path=tmp_path / "codes.csv"))
    chosen = workshop.choose(coded)
    assert chosen["codes"] == ["999"]
    assert any("999 occurs in 34% of the rows" in note and "--missing" not in note for note in chosen["notes"])
    again = replace(coded, table=replace(coded.table, options=ReadOptions(missing=("999",))))
    assert workshop.choose(again)["codes"] == []


def test_a_change_is_told_beside_the_model_that_was_changed(workshop, setup, fitted):
    model = SMaLLModel.from_json(fitted["model"])
    small = replace(model.frontier_models[0], table=model.table, data=model.data)
    dropped = Changes(drop=(small.terms[0].text,), replaces=True)
    made = workshop.shape(small.to_json(), dropped, setup)
    assert made["before"]["n_terms"] == small.n_terms
    test = work._split(workshop._rows(setup)[0], setup)[1]
    accuracy = {name: value for name, value, _ in made["before"]["figures"]}["accuracy"]
    assert accuracy == f"{evaluate(small, test.X, test.y).accuracy}"
    assert dropped.name == f"without {small.terms[0].text}"
    assert Changes(cuts=(("age", 40.0, 45.0),), forbid=("size",)).name == "without size; age cut at 45, not 40"


def test_a_rare_class_has_figures_of_its_own(workshop, setup, tmp_path):
    rows = many_rows(1000)
    rare = rows[(rows["bought"] == "no") | (rows.index < 150)]
    rare.to_csv(tmp_path / "rare.csv", index=False)
    rarely = replace(setup, table=replace(setup.table, path=tmp_path / "rare.csv"))
    assert [workshop.choose(one)["rare"] for one in (setup, rarely)] == [None, 1]
    made = workshop.fit(replace(rarely, options=(*setup.options, ("metric", "f1"))))
    names = [name for name, _, _ in made["figures"]]
    assert names[-2:] == ["recall of 'yes'", "precision of 'yes'"]
    assert SMaLLModel.from_json(made["model"]).selection.metric == "f1"
