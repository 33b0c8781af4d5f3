"""What a new dialect can write its own way."""

import numpy as np
import pytest

from smallearn.export import to_sql
from smallearn.export._flat import flatten
from smallearn.export._sql.dialect import Dialect
from smallearn.export._sql.dialects import DIALECTS, PARSED
from tests.helpers.exports import MODELS, edge_rows, full_table
from tests.helpers.models import YES
from tests.helpers.tools import need_module


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
    query = to_sql(YES, other, table="cases", reason=True)
    assert "FROM `cases` t" in query
    assert "CONCAT('prototype 1: constant" in query
    assert "||" not in query


def test_a_dialect_writes_the_table_of_test_vectors_its_own_way(other):
    query = to_sql(YES, other, conformance=np.zeros((2, YES.n_features)))
    assert "\nWITH `rows` (`row`, " in query
    assert query.count("UNION ALL") == 1
    assert "FROM `rows` t" in query
    assert "VALUES" not in query
    assert '"' not in query


@pytest.mark.parametrize(("name", "dialect"), [("mariadb", "mysql"), ("postgres", "postgresql")])
def test_a_database_has_its_other_name_too(name, dialect):
    assert to_sql(YES, name) == to_sql(YES, dialect)
    assert name not in DIALECTS


@pytest.mark.parametrize("dialect", PARSED)
@pytest.mark.parametrize("name", ["mixed", "shared, few columns", "offsets of shared terms", "threshold of a card"])
def test_what_is_not_run_is_parsed_in_its_own_dialect(dialect, name):
    sqlglot = need_module("sqlglot")
    model = MODELS[name]
    flat = flatten(model)
    rows = [
        row
        for row in edge_rows(flat, 3)
        if all(isinstance(row[l], str | None) or not flat.inputs[l].is_text for l in range(len(row)))
    ]
    options = {"reason": True, "reason_codes": 2, "favourable": model.classes[0]}
    written = [
        to_sql(model, dialect, **options),
        to_sql(model, dialect, form="view", **options),
        f"SELECT {to_sql(model, dialect, form='expression')} FROM data",
        to_sql(model, dialect, conformance=full_table(flat, rows)),
    ]
    read = {"sqlserver": "tsql"}.get(dialect, dialect)
    for query in written:
        (tree,) = sqlglot.parse(query, read=read, error_level=sqlglot.ErrorLevel.RAISE)
        assert not list(tree.find_all(sqlglot.exp.Command))  # what the parser does not understand is kept as it is
        labels = {given.label for given in flat.inputs}
        assert labels <= {column.name for column in tree.find_all(sqlglot.exp.Column)}
