"""Settings and data of the tests of the paper's experiments."""

import pytest

from smallearn.paper import methods
from tests.helpers.paper_sets import write_sets


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with small data sets; methods are searched with two folds."""
    monkeypatch.setattr(methods, "FOLDS", 2)
    made = tmp_path / "data"
    made.mkdir()
    write_sets(made)
    return made
