"""What the tests of Dask share: few rows that count as many, and a cluster of two workers."""

import pytest

from smallearn import estimator
from smallearn._learn.data import source
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
