"""``smallearn fit --dask``: the command on a cluster of a scheduler and two workers, each a process."""

import json
import os
import signal
import subprocess
import sys
import threading

import numpy as np
import pandas as pd
import pytest

from smallearn import cli
from smallearn.cli.io import clustered
from tests.cli.commands.test_fit import approximately
from tests.dask.test_cluster import n_tasks
from tests.helpers import dask_clusters
from tests.helpers.dask_rows import N_ROWS, table

pytestmark = pytest.mark.usefixtures("few_are_many")
QUICK = ["--target", "target", "--max-terms", "3", "--prototypes", "1", "--literals", "both"]


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("SMALLEARN_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def folder(tmp_path):
    """A table in three files, with gaps, text, an ID, a constant and rows without a class."""
    X, y = table()
    rows = X.assign(target=y, number=np.arange(N_ROWS), always=1, name=[f"n{i}" for i in range(N_ROWS)])
    rows["kind"] = rows["kind"].astype(int)
    rows.loc[rows.index % 500 == 3, "target"] = None
    path = tmp_path / "parts"
    path.mkdir()
    for number, (begin, end) in enumerate([(0, 1400), (1400, 1401), (1401, N_ROWS)]):
        rows[begin:end].to_parquet(path / f"{number}.parquet", row_group_size=400, index=False)
    return path


def fit(tmp_path, *arguments):
    """The exit code of a fit, and the model's file."""
    output = tmp_path / "model.json"
    code = cli.main(["fit", *map(str, arguments), *QUICK, "-o", str(output)])
    return code, json.loads(output.read_text(encoding="utf-8")) if output.exists() else None


def notes_in(text):
    """What the command notes, without progress."""
    return [line for line in text.splitlines() if not line.startswith("smallearn: ")]


def test_the_model_file_is_that_of_the_table_on_disk(folder, tmp_path, cluster, capsys):
    code, here = fit(tmp_path, folder, "--on-disk")
    assert code == 0
    _, *notes = notes_in(capsys.readouterr().err)
    code, there = fit(tmp_path, folder, "--dask", cluster.client.scheduler.address)
    assert code == 0
    first, *same_notes = notes_in(capsys.readouterr().err)
    assert "3,000 rows × 12 columns, is read by 2 workers of the Dask cluster at tcp://127" in first
    assert same_notes == notes
    assert "Column 'name' looks like an ID: ignored; --keep name to use it." in notes
    assert there == approximately(here)
    dask_clusters.wait_until(lambda: n_tasks(cluster.client) == 0)


def test_several_paths_are_one_table(folder, tmp_path, cluster):
    paths = sorted(folder.iterdir())
    code, here = fit(tmp_path, *paths, "--in-memory")
    assert code == 0
    code, there = fit(tmp_path, *paths, "--dask", cluster.client.scheduler.address)
    assert code == 0
    assert there == approximately(here)
    assert there["data"]["source"] == "0.parquet and 2 more files"


def test_every_command_takes_a_folder(folder, tmp_path, capsys):
    assert fit(tmp_path, folder, "--in-memory")[0] == 0
    model, scored = str(tmp_path / "model.json"), tmp_path / "scored.parquet"
    assert cli.main(["predict", model, str(folder), "-o", str(scored)]) == 0
    assert len(pd.read_parquet(scored)) == N_ROWS
    capsys.readouterr()
    assert cli.main(["evaluate", model, str(folder), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["is_training_data"]
    (tmp_path / "empty").mkdir()
    assert fit(tmp_path, tmp_path / "empty")[0] == 1
    assert "has no file that ends in .parquet" in capsys.readouterr().err


def test_files_that_are_not_one_table_are_refused(folder, tmp_path, capsys):
    rows = pd.read_parquet(folder / "2.parquet")
    rows.assign(a="text").to_parquet(folder / "2.parquet")
    assert fit(tmp_path, folder)[0] == 1
    assert "column 'a' is of type double in" in capsys.readouterr().err
    rows.drop(columns="a").to_parquet(folder / "2.parquet")
    assert fit(tmp_path, folder)[0] == 1
    assert "2.parquet lacks the column 'a', which" in capsys.readouterr().err
    rows.assign(kind=rows["kind"] + 0.5, always=None).to_parquet(folder / "2.parquet")  # other types that go together
    assert fit(tmp_path, folder)[0] == 0


def test_a_local_cluster_is_started_and_ended(folder, tmp_path):
    command = [sys.executable, "-m", "smallearn", "fit", folder, *QUICK, "-o", tmp_path / "model.json"]
    ended = subprocess.run([*command, "--dask", "local", "--jobs", "1"], capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    assert "is read by 1 worker of the Dask cluster at" in ended.stderr
    assert "Traceback" not in ended.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--dask", "tcp://127.0.0.1:9"], "no Dask scheduler answered at tcp://127.0.0.1:9 within 1 seconds"),
        (["--dask", "carrier://pigeon"], "is no address of a scheduler, such as tcp://scheduler:8786"),
        (["--dask", "local", "--float32"], "--float32 is not possible with --dask"),
        (["--dask", "local", "--device", "cortex-m0"], "--device is not possible with --dask"),
    ],
)
def test_what_is_wrong_is_said_in_a_sentence(folder, tmp_path, monkeypatch, capsys, arguments, message):
    monkeypatch.setattr(clustered, "PATIENCE", 1)
    assert fit(tmp_path, folder, *arguments) == (1, None)
    assert message in capsys.readouterr().err


def test_what_is_wrong_with_the_table_is_said_by_the_workers(folder, tmp_path, cluster, capsys):
    address = ["--dask", cluster.client.scheduler.address]
    rows = pd.read_parquet(folder / "2.parquet")
    rows.loc[299, "a"] = np.inf
    rows.to_parquet(folder / "2.parquet", row_group_size=400)
    assert fit(tmp_path, folder, *address) == (1, None)
    assert "2.parquet, column 'a': infinity cannot be learned from" in (printed := capsys.readouterr().err)
    assert f"parts, row 300 of {folder}" in printed
    rows.to_csv(tmp_path / "data.csv")
    assert fit(tmp_path, tmp_path / "data.csv", *address) == (1, None)
    assert "--dask reads Parquet" in capsys.readouterr().err
    part = clustered.open_table(folder).split(10_000)[0]
    part.files[0].unlink()
    with pytest.raises(clustered.CommandError, match="every worker has to see the table under the same path"):
        clustered.look_at_labels(part, "target")


@pytest.mark.parametrize("step", [1, 2, 6])
def test_interrupting_the_command_cancels_the_remote_work(folder, tmp_path, cluster, at_step, step, capsys):
    paused = [process.pid for process in cluster.workers]

    def pause():
        for pid in paused:
            os.kill(pid, signal.SIGSTOP)
        threading.Timer(1.0, signal.raise_signal, [signal.SIGINT]).start()

    at_step(step, pause)
    try:
        assert fit(tmp_path, folder, "--dask", cluster.client.scheduler.address) == (130, None)
    finally:
        for pid in paused:
            os.kill(pid, signal.SIGCONT)
    assert "Interrupted." in capsys.readouterr().err
    dask_clusters.wait_until(lambda: n_tasks(cluster.client) == 0)


def test_without_dask_the_extra_is_named(folder, tmp_path, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    assert fit(tmp_path, folder, "--dask", "local") == (1, None)
    assert "pip install 'smallearn[dask]'" in capsys.readouterr().err
