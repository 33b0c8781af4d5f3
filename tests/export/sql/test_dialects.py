"""What a new dialect can write its own way."""

import numpy as np
import pytest

from smallearn.export import to_sql
from smallearn.export._sql.dialects import DIALECTS, Dialect
from tests.helpers.models import YES


class Other(Dialect):
    """A database with backticks, CONCAT and no VALUES."""

    name = "Other"

    def identifier(self, name):
        return f"`{name}`"

    def number(self, value):
        return f"{value!r}e0"

    def joined(self, texts, gap=" "):
        return f"CONCAT({', '.join(texts)})"

    def table_of_rows(self, table, columns, rows):
        selected = " UNION ALL ".join(f"SELECT {', '.join(row)}" for row in rows)
        return f"{table} ({', '.join(columns)}) AS ({selected})"


@pytest.fixture
def other(monkeypatch):
    monkeypatch.setitem(DIALECTS, "other", Other())
    return "other"


def test_a_dialect_quotes_names_and_joins_text_its_own_way(other):
    query = to_sql(YES, other, table="cases")
    assert "FROM `cases` AS t" in query
    assert "CONCAT('prototype 1: constant" in query
    assert "||" not in query


def test_a_dialect_writes_the_table_of_test_vectors_its_own_way(other):
    query = to_sql(YES, other, conformance=np.zeros((2, YES.n_features)))
    assert "\nWITH `rows` (`row`, " in query
    assert query.count("UNION ALL") == 1
    assert "FROM `rows` AS t" in query
    assert "VALUES" not in query
    assert '"' not in query
