"""Tables, models and folders for the tests of commands."""

import numpy as np
import pandas as pd
import pytest

from smallearn import cli
from smallearn.evaluation import _comparison
from tests.helpers.commands import messy_table
from tests.helpers.models import CARD


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    """A folder for converted tables, not the user's own."""
    monkeypatch.setenv("SMALLEARN_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def saved(tmp_path):
    CARD.save(tmp_path / "model.json")
    return tmp_path / "model.json"


@pytest.fixture
def few_standard_models(monkeypatch):
    """Only the two quick ones of the standard models, where a test is about something else."""
    every = _comparison._classifiers
    monkeypatch.setattr(_comparison, "_classifiers", lambda *given: every(*given)[:2])


@pytest.fixture
def table():
    return messy_table()


@pytest.fixture
def simple(table, tmp_path):
    """A file of one number, one text and the class."""
    table[["Größe, cm", "colour", "result"]].to_csv(tmp_path / "data.csv", index=False)
    return tmp_path / "data.csv"


@pytest.fixture(scope="session")
def people(tmp_path_factory):
    """train.csv, test.csv, and a model of the first."""
    path = tmp_path_factory.mktemp("people")
    rng = np.random.default_rng(0)
    age, size = rng.integers(18, 90, 300), rng.normal(5.0, 2.0, 300).round(2)
    colour = rng.choice(["red", "green", "blue"], 300)
    table = pd.DataFrame({"age": age, "size": size, "colour": colour})
    table["y"] = np.where(((age > 50) & (size > 4.0)) ^ (rng.random(300) < 0.05), "yes", "no")
    table[:200].to_csv(path / "train.csv", index=False)
    table[200:].to_csv(path / "test.csv", index=False)
    arguments = ["--target", "y", "--max-terms", "3", "--prototypes", "1", "-o", str(path / "model.json")]
    assert cli.main(["fit", str(path / "train.csv"), *arguments, "--quiet"]) == 0
    return path
