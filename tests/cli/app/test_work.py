"""The jobs of the second process, here in this one: what they answer, and what they say where they fail."""

import signal
import threading
from multiprocessing import Pipe

import numpy as np
import pytest

from smallearn import SMaLLModel
from smallearn.cli.app import work
from smallearn.cli.app.setup import Changes, Setup, TableFacts
from smallearn.cli.errors import CommandError
from smallearn.cli.io.tables import ReadOptions
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
