"""The databases that the tests of SQL share: each is started once, when a test first asks for it."""

import pytest

from tests.helpers.databases import opened


@pytest.fixture(scope="session")
def databases():
    with opened() as found:
        yield found
