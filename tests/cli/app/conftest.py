"""A visit that has a table and a model of it."""

import pytest

from tests.helpers.app import Visit, people


@pytest.fixture(scope="session")
def visit(tmp_path_factory):
    made = Visit(tmp_path_factory.mktemp("app"))
    yield made
    made.worker.stop()


@pytest.fixture(scope="session")
def table(visit):
    """The number of a table that was uploaded."""
    return visit.upload(people().to_csv(index=False).encode())


@pytest.fixture(scope="session")
def model(visit, table):
    """What the page is told of a model of it."""
    options = {"max-terms": "3", "prototypes": "1"}
    return visit.work("/api/fit", table=table, target="answer", test_size=0.3, options=options)
