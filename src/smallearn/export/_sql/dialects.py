"""The dialects of SQL by name.

To add a database: write a subclass of `Dialect` in `databases`, or in `warehouses` if the tests cannot run it, and
add one line here. ``name`` and ``number`` have to be written; the rest is standard SQL where there is one: override
what the database does differently. No dialect can change what is common to all: ``CASE``, ``COALESCE``, ``abs``,
``exp``, ``WITH``, ``CREATE VIEW``. Every expression is in double precision, and a numeric input is NULL where the
value is missing or NaN.
"""

from typing import Any

from smallearn._errors import check_choice
from smallearn.export._sql.databases import ClickHouse, DuckDB, MySQL, PostgreSQL, Spark, SQLite
from smallearn.export._sql.dialect import Dialect
from smallearn.export._sql.warehouses import BigQuery, Oracle, Redshift, Snowflake, SQLServer, Trino

EXECUTED: dict[str, Dialect] = {
    "postgresql": PostgreSQL(),
    "duckdb": DuckDB(),
    "sqlite": SQLite(),
    "mysql": MySQL(),
    "clickhouse": ClickHouse(),
    "spark": Spark(),
}
PARSED: dict[str, Dialect] = {
    "sqlserver": SQLServer(),
    "bigquery": BigQuery(),
    "snowflake": Snowflake(),
    "oracle": Oracle(),
    "redshift": Redshift(),
    "trino": Trino(),
}
DIALECTS: dict[str, Dialect] = {**EXECUTED, **PARSED}
OTHER_NAMES = {"mariadb": "mysql", "postgres": "postgresql"}


def dialect_of(name: Any) -> Dialect:
    """The dialect of that name."""
    name = OTHER_NAMES.get(name, name) if isinstance(name, str) else name
    check_choice("dialect", name, tuple(DIALECTS))
    return DIALECTS[name]
