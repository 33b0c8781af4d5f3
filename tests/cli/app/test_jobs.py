"""Jobs run in a process of their own: one at a time, with progress, and they can be cancelled."""

import os
import signal
import time

import pytest

from smallearn.cli.app.jobs import ENDED, Worker
from smallearn.cli.errors import CommandError
from tests.helpers.app import Visit, many_rows


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """A visit with a table that takes a while to be fitted, and the number of the table."""
    made = Visit(tmp_path_factory.mktemp("app"))
    yield made, made.upload(many_rows(5000).to_csv(index=False).encode(), "many.csv")
    made.worker.stop()


def begun(visit, **content):
    answer = visit.client.post("/api/fit", json=content)
    assert answer.status_code == 202
    return answer.json()["number"]


def until(visit, number, condition):
    """The job, once a condition is met or it has ended."""
    for _ in range(2400):
        job = visit.client.get(f"/api/jobs/{number}").json()
        if job["state"] != "running" or condition(job):
            return job
        time.sleep(0.05)
    raise AssertionError(job)


def test_a_fit_tells_how_far_it_is_and_can_be_cancelled(large):
    visit, table = large
    number = begun(visit, table=table, target="bought")
    job = until(visit, number, lambda job: job["progress"].get("done", 0) > 0)
    assert job["state"] == "running"
    assert job["progress"]["stage"] == "Comparing models by cross-validation"
    assert 0 < job["progress"]["done"] < job["progress"]["total"]
    refused = visit.client.post("/api/read", json={"table": table})
    assert (refused.status_code, refused.text) == (400, "another job is running: wait for it, or cancel it.\n")
    process = visit.worker._process
    assert visit.client.delete(f"/api/jobs/{number}").json()["state"] == "cancelled"
    assert not process.is_alive()
    assert visit.work("/api/read", table=table)["n_rows"] == 5000  # in a new process
    assert visit.session.models == {}


def test_a_process_that_ends_is_told_and_replaced(large):
    visit, table = large
    number = begun(visit, table=table, target="bought")
    until(visit, number, lambda job: job["progress"])
    os.kill(visit.worker._process.pid, signal.SIGKILL)
    job = until(visit, number, lambda _: False)
    assert (job["state"], job["result"]) == ("failed", ENDED)
    assert visit.work("/api/read", table=table)["n_rows"] == 5000


def test_a_time_limit_ends_a_fit_with_the_best_model_so_far(large):
    visit, table = large
    options = {"max-terms": "60"}
    made = visit.work("/api/fit", table=table, target="bought", time_limit=1.0, options=options)
    assert any("Time was up after 1 seconds" in note for note in made["notes"])
    assert 1 <= made["n_terms"] <= 60


def test_an_unknown_job_cannot_be_cancelled(large):
    visit, _ = large
    assert visit.client.delete("/api/jobs/9999").status_code == 404


def test_what_is_unexpected_is_told_without_details(capfd):
    worker = Worker()
    job = worker.submit("no such job")
    while job.state == "running":
        time.sleep(0.05)
    worker.stop()
    assert (job.state, "the terminal in which smallearn app runs" in job.result) == ("failed", True)
    assert "AttributeError" in capfd.readouterr().err


def test_a_result_that_cannot_be_kept_is_a_failure(large):
    visit, table = large

    def broken(_):
        raise CommandError("no room")

    job = visit.worker.submit("read", broken, table=visit.session.table(table))
    while job.state == "running":
        time.sleep(0.05)
    assert (job.state, job.result) == ("failed", "no room")
