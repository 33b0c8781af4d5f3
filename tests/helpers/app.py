"""The app as tests use it: a visit without a network, and a server as a process of its own."""

import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pandas as pd
from starlette.testclient import TestClient

from smallearn.cli.app.guard import HEADER, Keys
from smallearn.cli.app.jobs import Worker
from smallearn.cli.app.routes import make_app
from smallearn.cli.app.session import Session
from smallearn.cli.io.tables import ReadOptions

PORT = 8000
HERE = f"http://127.0.0.1:{PORT}"


def people(n_rows=240):
    """Rows with an ID, a constant, gaps and text; who answers yes depends on age and colour."""
    rng = np.random.default_rng(0)
    age, colour = rng.integers(18, 90, n_rows), rng.choice(["red", "green", "blue"], n_rows)
    size = np.where(rng.random(n_rows) < 0.1, np.nan, rng.normal(5.0, 2.0, n_rows).round(2))
    answer = (age > 50) ^ (colour == "red") ^ (rng.random(n_rows) < 0.05)
    columns = {"id": 1000 + np.arange(n_rows), "age": age, "size": size, "colour": colour, "always": 7}
    return pd.DataFrame(columns).assign(answer=np.where(answer, "yes", "no"))


def many_rows(n_rows=50_000):
    """A table of 20 columns and a class that depends on some of them."""
    rng = np.random.default_rng(0)
    columns = {f"number {i}": rng.normal(size=n_rows).round(3) for i in range(15)}
    columns |= {f"kind {i}": rng.choice(["red", "green", "blue"], n_rows) for i in range(5)}
    table = pd.DataFrame(columns)
    score = 1.5 * (table["number 0"] > 0.3) + table["number 1"] - 1.2 * (table["kind 0"] == "red") - 1.5
    return table.assign(bought=np.where(score + rng.logistic(size=n_rows) > 0.0, "yes", "no"))


class Visit:
    """A visit to the page: its server, and a client that has the cookie and the header."""

    def __init__(self, folder: Path, limit: float = 60.0):
        self.session = Session(folder, ReadOptions(), limit)
        self.worker, self.keys = Worker(), Keys(PORT)
        self.app = make_app(self.session, self.worker, self.keys)
        self.client = self.new_client()
        self.client.cookies.set(self.keys.cookie_name, self.keys.cookie)
        self.client.headers[HEADER] = self.keys.header

    def new_client(self, base_url=HERE):
        """A client that has nothing yet."""
        return TestClient(self.app, base_url=base_url, raise_server_exceptions=False)

    def upload(self, content: bytes, name="people.csv"):
        """The number of the table that is made of an upload."""
        answer = self.client.put("/api/tables", params={"name": name}, content=content)
        assert answer.status_code == 200, answer.text
        return answer.json()["number"]

    def work(self, path, **content):
        """The result of a job, which must succeed."""
        job = self.begin(path, **content)
        assert job["state"] == "done", job["result"]
        return job["result"]

    def begin(self, path, **content):
        """A job, once it has ended."""
        answer = self.client.post(path, json=content)
        assert answer.status_code == 202, answer.text
        job = answer.json()
        while job["state"] == "running":
            time.sleep(0.05)
            job = self.client.get(f"/api/jobs/{job['number']}").json()
        return job


@contextmanager
def served(*arguments: str, **environment: str):
    """The address that a server prints, which is interrupted at the end; and the process."""
    command = [sys.executable, "-m", "smallearn", "app", "--no-browser", *arguments]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=os.environ | environment
    ) as process:
        try:
            line = process.stdout.readline()
            assert line.startswith("Open http://127.0.0.1:"), (line, process.stderr.read())
            yield line.split()[1], process
        finally:
            if process.poll() is None:
                process.send_signal(signal.SIGINT)
