"""What the tests of Dask share: few rows that count as many, a cluster of two workers, and what disturbs a fit."""

import pytest

from smallearn import estimator
from smallearn._learn.data import source
from smallearn.dask import _cluster
from tests.helpers import dask_clusters


@pytest.fixture
def few_are_many(monkeypatch):
    """Treat a thousand rows as too many for memory."""
    for name, rows in (("POOL_ROWS", 1000), ("LEAST_POOL_ROWS", 1000), ("BLOCK_ENTRIES", 1 << 12)):
        monkeypatch.setattr(source, name, rows)
    for name, rows in (("MANY_ROWS", 800), ("SAMPLE_ROWS", 500)):
        monkeypatch.setattr(estimator, name, rows)


@pytest.fixture(scope="session")
def cluster(tmp_path_factory):
    """A scheduler and two workers, each a process."""
    with dask_clusters.running(tmp_path_factory.mktemp("cluster")) as processes:
        yield processes


@pytest.fixture
def at_step(monkeypatch):
    """Do something in the middle of a fit: when the client has sent so many graphs."""

    def plan(step, action):
        gather, steps = _cluster.Cluster._gather, []

        def wrapped(self, futures):
            steps.append(len(futures))
            if len(steps) == step:
                action()
            return gather(self, futures)

        monkeypatch.setattr(_cluster.Cluster, "_gather", wrapped)
        return steps

    return plan
