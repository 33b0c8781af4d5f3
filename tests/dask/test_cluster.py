"""Real distributed runs: a scheduler and two workers, each a process, started here."""

import signal
import threading
import time

import dask
import numpy as np
import pytest
from distributed import Client, LocalCluster

import smallearn
import smallearn.dask
from smallearn.dask import _cluster
from tests.dask.test_estimators import assert_same, classifier, selector
from tests.helpers import dask_clusters
from tests.helpers.dask_rows import lazy, lazy_list, numbers, table, words

pytestmark = pytest.mark.usefixtures("few_are_many")


def remote_classifier(client):
    return classifier(smallearn.dask, client=client)


@pytest.fixture(scope="module")
def rows():
    return numbers()


def test_the_model_is_that_in_memory(cluster, rows):
    X, y = rows
    there = remote_classifier(cluster.client).fit(lazy(X), lazy(y))
    assert_same(classifier(smallearn).fit(X, y), there)
    assert there.score(lazy(X), lazy(y)) == classifier(smallearn).fit(X, y).score(X, y)


def test_the_selection_is_that_in_memory(cluster):
    X, y = table()
    here = selector(smallearn, categorical_features="from_dtype").fit(X, y)
    there = selector(smallearn.dask, categorical_features="from_dtype", client=cluster.client).fit(lazy(X), lazy(y))
    assert_same(here, there)
    predicted = there.predict(lazy(X))
    assert (cluster.client.compute(predicted).result() == here.predict(X)).all()
    lazily = here.model_.predict_proba(lazy(X))
    np.testing.assert_array_equal(cluster.client.compute(lazily).result(), here.predict_proba(X))


def test_delayed_sparse_blocks_and_the_current_client(cluster):
    X, y = words()
    with cluster.client.as_current():
        assert _cluster.current_client() is cluster.client
        there = classifier(smallearn.dask).fit(lazy(X), lazy_list(y))
    assert_same(classifier(smallearn).fit(X, y), there)


def n_tasks(client):
    return client.run_on_scheduler(lambda dask_scheduler: len(dask_scheduler.tasks))


def test_nothing_is_left_on_the_workers(cluster, rows):
    remote_classifier(cluster.client).fit(*map(lazy, rows))
    dask_clusters.wait_until(lambda: n_tasks(cluster.client) == 0)


@pytest.mark.parametrize(("step", "seconds"), [(1, 0.5), (4, 0.0)])  # workers keep blocks: later steps are short
def test_interrupting_cancels_the_remote_work(cluster, rows, at_step, step, seconds):
    at_step(step, lambda: threading.Timer(seconds, signal.raise_signal, [signal.SIGINT]).start())
    X, y = (lazy_list(values) for values in rows)
    slow = [dask.delayed(_slowly)(part) for part in X]
    with pytest.raises(KeyboardInterrupt):
        remote_classifier(cluster.client).fit(slow, y)
    dask_clusters.wait_until(lambda: n_tasks(cluster.client) == 0)


def _slowly(part):
    time.sleep(0.4)
    return part


def test_an_error_on_a_worker_comes_back(cluster, rows):
    X, y = rows
    with pytest.raises(ValueError, match="Partition 3: X has 450 rows and y has 449"):
        remote_classifier(cluster.client).fit(
            lazy_list(X), [part if i != 3 else part[:-1] for i, part in enumerate(lazy_list(y))]
        )
    dask_clusters.wait_until(lambda: n_tasks(cluster.client) == 0)


# --- a cluster that cannot do the work --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("import sys; sys.modules['smallearn'] = None", "lacks smallearn; install smallearn=="),
        ("import smallearn; smallearn.__version__ = '0.0'", "has smallearn 0.0, not"),
    ],
)
def test_a_worker_without_the_library_or_with_another_version_is_named(tmp_path, cluster, rows, line, message):
    (tmp_path / "before.py").write_text(line)
    worker = cluster.add_worker("--preload", str(tmp_path / "before.py"))
    try:
        cluster.client.wait_for_workers(3, timeout=dask_clusters.PATIENCE)
        with pytest.raises(RuntimeError, match=f"The Dask worker tcp://.*{message}"):
            remote_classifier(cluster.client).fit(*map(lazy, rows))
    finally:
        dask_clusters.kill(worker)
        cluster.workers.remove(worker)
        dask_clusters.wait_until(lambda: len(cluster.client.scheduler_info(n_workers=-1)["workers"]) == 2)


def test_a_client_that_is_closed_or_asynchronous_is_refused(cluster, rows):
    client = Client(cluster.client.scheduler.address, set_as_default=False)
    client.close()
    with pytest.raises(RuntimeError, match=r"client is closed.*start another one"):
        remote_classifier(client).fit(*map(lazy, rows))


# --- workers and schedulers die ---------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("restarted", [True, False])
@pytest.mark.parametrize("step", [1, 2, 3, 9, 20])
def test_a_worker_is_killed_in_the_middle_of_a_fit(tmp_path, rows, at_step, step, restarted):
    X, y = rows
    with dask_clusters.running(tmp_path) as processes:
        undisturbed = remote_classifier(processes.client).fit(lazy(X), lazy(y))

        def disturb():
            dask_clusters.kill(processes.workers[0])
            if restarted:
                processes.add_worker()

        steps = at_step(step, disturb)
        there = remote_classifier(processes.client).fit(lazy(X), lazy(y))
        assert len(steps) >= step
        assert there.model_ == undisturbed.model_  # to the last bit
    assert_same(classifier(smallearn).fit(X, y), there)


@pytest.mark.slow
@pytest.mark.parametrize("step", [1, 6])
def test_the_scheduler_is_killed_in_the_middle_of_a_fit(tmp_path, rows, at_step, step):
    X, y = rows
    with dask_clusters.running(tmp_path) as processes:
        killed = []

        def disturb():
            dask_clusters.kill(processes.scheduler)
            killed.append(time.monotonic())

        at_step(step, disturb)
        there = remote_classifier(processes.client)
        with pytest.raises(RuntimeError, match=r"The Dask scheduler at tcp://.* is gone"):
            there.fit(lazy(X), lazy(y))
        assert time.monotonic() - killed[0] < 60
        assert not hasattr(there, "model_")


# --- too little memory -----------------------------------------------------------------------------------------------


def hungry(block):
    """A block that takes more memory to read than the worker has, for as long as it takes to notice."""
    too_much = np.ones(1 << 27)
    time.sleep(10)
    return block[: len(too_much)]


def impossible(block):
    return np.ones(1 << 50)[: len(block)]


def blocks(function, rows):
    X, y = rows
    half = len(X) // 2
    parts = [slice(0, half), slice(half, None)]
    return [dask.delayed(function)(X[part]) for part in parts], [dask.delayed(y[part]) for part in parts]


@pytest.mark.slow
def test_workers_that_die_for_want_of_memory_end_the_fit_with_advice(rows):
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 0}),
        LocalCluster(
            n_workers=1, threads_per_worker=1, memory_limit="600MB", dashboard_address=":0", silence_logs=50
        ) as cluster,
        Client(cluster, set_as_default=False) as client,
        pytest.raises(RuntimeError, match=r"1 of the workers .* want of memory: give the workers more memory"),
    ):
        remote_classifier(client).fit(*blocks(hungry, rows))


def test_a_task_without_memory_ends_the_fit_with_advice(cluster, rows):
    with pytest.raises(MemoryError, match=r"lacks memory .* smaller partitions"):
        remote_classifier(cluster.client).fit(*blocks(impossible, rows))
