"""Databases that tests run SQL in, and the comparison of their answers with a model's."""

import re
import sqlite3
import warnings
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import replace

import numpy as np
import pytest

from smallearn.export._flat import flatten
from smallearn.export._sql.dialects import EXECUTED
from smallearn.export._sql.writer import to_sql
from smallearn.model._decision import class_scores
from tests.helpers import mariadb, postgres
from tests.helpers.exports import full_table, magnitudes
from tests.helpers.tools import need, need_module, require_mark

ID = "number of the row in this test"
SPARK = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.shuffle.partitions": "1",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
}


class Database:
    """A connection, the types of columns that tests ask for, and more types in which numbers are found."""

    double, text, sign, quote = "double precision", "text", "%s", '"'
    types = ("smallint", "integer", "bigint", "numeric", "numeric(12, 3)", "real", "text", "varchar(9)")
    schema = "main"
    has_nan = True

    def __init__(self, dialect, connection):
        self.dialect, self.connection = dialect, connection

    def quoted(self, name):
        return self.quote + name.replace(self.quote, self.quote * 2) + self.quote

    def run(self, query):
        return self.connection.execute(query)

    def rows(self, query):
        return [list(row) for row in self.run(query).fetchall()]

    def fill(self, columns, rows, table="data"):
        """A new table: ``columns`` are names and types, quoted here by hand."""
        declared = ", ".join(f"{self.quoted(name)} {kind}" for name, kind in columns)
        self.run(f"DROP TABLE IF EXISTS {self.quoted(table)}")
        self.run(f"CREATE TABLE {self.quoted(table)} ({declared})")
        signs = ", ".join([self.sign] * len(columns))
        if rows:
            into = self.quoted(table).replace("%", "%%") if self.sign == "%s" else self.quoted(table)
            self.connection.cursor().executemany(f"INSERT INTO {into} VALUES ({signs})", rows)


class PostgreSQLDatabase(Database):
    schema = "public"


class SQLiteDatabase(Database):
    double, text, sign = "", "", "?"  # columns that keep whatever type a value has
    types = ("integer", "real", "numeric", "text", "blob", "varchar(9)")
    has_nan = False  # it is stored as NULL


class DuckDatabase(Database):
    text, sign = "varchar", "?"
    types = ("tinyint", "uinteger", "bigint", "hugeint", "decimal(12, 3)", "real", "varchar")


class MariaDatabase(Database):
    text, quote = "varchar(400) character set utf8mb4", "`"
    types = ("tinyint", "smallint", "bigint", "decimal(12, 3)", "float", "double", "text", "varchar(9)")
    schema = "test"
    has_nan = False

    def run(self, query):
        cursor = self.connection.cursor()
        cursor.execute(query)
        return cursor

    def fill(self, columns, rows, table="data"):
        super().fill(columns, [[None if cell != cell else cell for cell in row] for row in rows], table)


class ClickHouseDatabase(Database):
    """In this process; ``connection`` is a session of chdb."""

    double, text, quote = "Float64", "String", "`"
    types = ("Int8", "UInt32", "Int64", "Decimal(12, 3)", "Float32", "String", "LowCardinality(String)")
    schema = "test"

    def quoted(self, name):
        return super().quoted(name.replace("\\", "\\\\"))

    def run(self, query):
        return ArrowResult(self.connection.query(query, "ArrowTable"))

    def fill(self, columns, rows, table="data"):
        declared = ", ".join(f"{self.quoted(name)} {self._nullable(kind)}" for name, kind in columns)
        self.run(f"DROP TABLE IF EXISTS {self.quoted(table)}")
        self.run(f"CREATE TABLE {self.quoted(table)} ({declared}) ENGINE = Memory")
        if rows:
            listing = ", ".join(f"({', '.join(map(self._literal, row))})" for row in rows)
            self.run(f"INSERT INTO {self.quoted(table)} VALUES {listing}")

    @staticmethod
    def _nullable(kind):
        inner = re.fullmatch(r"LowCardinality\((.*)\)", kind)
        return f"LowCardinality(Nullable({inner[1]}))" if inner else f"Nullable({kind})"

    @staticmethod
    def _literal(cell):
        if cell is None:
            return "NULL"
        return "'" + cell.replace("\\", "\\\\").replace("'", "\\'") + "'" if isinstance(cell, str) else repr(cell)


class ArrowResult:
    """A table of Arrow as the result of a query."""

    def __init__(self, table):
        self.table = table

    @property
    def description(self):
        return [(name,) for name in self.table.column_names]

    def fetchall(self):
        return list(zip(*(column.to_pylist() for column in self.table.columns), strict=True))


class SparkDatabase(Database):
    """Tables are temporary views; ``connection`` is a session."""

    double, text, quote = "double", "string", "`"
    types = ("tinyint", "bigint", "decimal(12, 3)", "float", "string")

    def rows(self, query):
        return [list(row) for row in self.connection.sql(query).collect()]

    def fill(self, columns, rows, table="data"):
        declared = ", ".join(f"{self.quoted(name)} {kind}" for name, kind in columns)
        self.connection.createDataFrame(rows, declared).createOrReplaceTempView(table)


# For pytest.fixture(params=…) and @pytest.mark.parametrize: SQLite and DuckDB come with the tests, the others are
# programs or large. Spark, the last, takes a second for a query: few tests run it.
TOOLS = ("postgresql", "mysql", "clickhouse", "spark")
POSTGRESQL = pytest.param("postgresql", marks=pytest.mark.tools)
EVERY_DIALECT = [
    pytest.param(dialect, marks=pytest.mark.tools) if dialect in TOOLS else dialect for dialect in EXECUTED
]
MARKED_DIALECTS = EVERY_DIALECT[:-1]


class Databases(dict):
    """A connection to each database by dialect, opened when it is first asked for."""

    def __init__(self, stack: ExitStack) -> None:
        self.stack = stack

    def __missing__(self, dialect: str) -> Database:
        self[dialect] = getattr(self, f"_{dialect}")()
        return self[dialect]

    def _sqlite(self) -> Database:
        connection = sqlite3.connect(":memory:", isolation_level=None)
        return SQLiteDatabase("sqlite", self.stack.enter_context(closing(connection)))

    def _duckdb(self) -> Database:
        connection = need_module("duckdb").connect(config={"threads": 1})
        return DuckDatabase("duckdb", self.stack.enter_context(closing(connection)))

    def _postgresql(self) -> Database:
        address = self.stack.enter_context(postgres.server())
        connection = need_module("psycopg").connect(address, autocommit=True, prepare_threshold=None)
        return PostgreSQLDatabase("postgresql", self.stack.enter_context(connection))

    def _mysql(self) -> Database:
        socket = self.stack.enter_context(mariadb.server())
        connection = mariadb.connect(socket)
        return MariaDatabase("mysql", self.stack.enter_context(closing(connection)))

    def _clickhouse(self) -> Database:
        require_mark("chdb")
        session = self.stack.enter_context(closing(need_module("chdb.session").Session()))
        session.query("CREATE DATABASE test")
        session.query("USE test")
        return ClickHouseDatabase("clickhouse", session)

    def _spark(self) -> Database:
        need("java")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            builder = need_module("pyspark.sql").SparkSession.builder.master("local[1]")
            for name, value in SPARK.items():
                builder = builder.config(name, value)
            session = builder.getOrCreate()
        self.stack.callback(session.stop)
        session.sparkContext.setLogLevel("OFF")
        return SparkDatabase("spark", session)


@contextmanager
def opened() -> Iterator[Databases]:
    """Yield the databases, and close those that were opened."""
    with ExitStack() as stack:
        yield Databases(stack)


# --- agreement -------------------------------------------------------------------------------------------------------


def storable(db, flat, rows):
    """Columns have one type but in SQLite: no number in a column of text."""
    if db.dialect == "sqlite":
        return rows
    texts = [position for position, given in enumerate(flat.inputs) if given.is_text]
    return [row for row in rows if all(row[l] is None or isinstance(row[l], str) for l in texts)]


def check(db, model, rows, *, expression=True):
    """The database gives the model's answers to ``rows`` of the inputs in use; NaN is a missing value."""
    flat = flatten(model)
    rows = storable(db, flat, rows)
    assert rows
    columns = [(given.label, db.text if given.is_text else db.double) for given in flat.inputs]
    db.fill([*columns, (ID, "integer")], [[*row, i] for i, row in enumerate(rows)])
    found = db.rows(f"SELECT * FROM ({to_sql(model, db.dialect, reason=True)}) AS found ORDER BY {db.quoted(ID)}")
    plain = db.rows(f"SELECT * FROM ({to_sql(model, db.dialect)}) AS found ORDER BY {db.quoted(ID)}")
    width = len(columns)  # NaN does not equal NaN, so that only answers are compared
    assert [row[width:] for row in plain] == [row[width:-1] for row in found]
    classes = [row[width + 1] for row in found]
    if expression:
        query = f"SELECT {to_sql(model, db.dialect, form='expression')} FROM data ORDER BY {db.quoted(ID)}"
        classes = [row[0] for row in db.rows(query)]
    absent = [[None if cell != cell else cell for cell in row] for row in rows]
    agree(model, flat, absent, found, classes)


def agree(model, flat, rows, found, classes):
    X = full_table(flat, rows)
    width = len(flat.inputs)
    assert [row[width] for row in found] == list(range(len(rows)))
    prediction, score, probability, reason = zip(*(row[width + 1 :] for row in found), strict=True)
    expected = labels(model, X)
    assert list(prediction) == list(classes) == expected
    assert {type(label) for label in prediction} <= {type(label) for label in expected} | {int}  # SQLite's booleans
    size = magnitudes(flat, rows)
    z = model.scores(X)
    decision, code = model.decision_function(X), model.decide(z)
    at = np.arange(len(rows))
    if model.sole_owner is None:
        decision = model.scale * class_scores(z, model.owners, len(model.classes))[at, code]
    bound = 1e-12 * model.scale * size.max(axis=1)
    assert (np.abs(np.array(score) - decision) <= bound).all()
    assert (np.abs(np.array(probability) - model.predict_proba(X)[at, code]) <= 1e-12 + 2.0 * bound).all()
    named = np.array([int(text.split(":")[0].removeprefix("prototype ")) - 1 for text in reason])
    assert (z[at, model.winners(z)] - z[at, named] <= 1e-12 * size.max(axis=1)).all()
    assert all(text.startswith(f"prototype {j + 1}: constant ") for text, j in zip(reason, named, strict=True))


def labels(model, X):
    """Of one type as they are, of several as text."""
    positions = replace(model, classes=tuple(range(len(model.classes))), class_dtype="<i8").predict(X)
    mixed = len({type(label) for label in model.classes}) > 1 or any(
        isinstance(label, int) and not -(2**63) <= label < 2**63 for label in model.classes
    )
    return [str(model.classes[place]) if mixed else model.classes[place] for place in positions]
