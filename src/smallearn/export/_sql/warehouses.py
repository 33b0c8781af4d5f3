"""Databases that the tests have no server of: what is written for them is parsed in their dialect, and never run."""

import re
from collections.abc import Sequence

from smallearn.export._sql.dialect import Dialect, truth_as_number, with_exponent


class SQLServer(Dialect):
    """SQL Server 2022 and Azure SQL: the first that have GREATEST. There are no booleans and no NaN."""

    name = "SQL Server"
    double = "float"
    string = "nvarchar(max)"
    skips_null = True

    def identifier(self, name: str) -> str:
        super().identifier(name)
        return f"[{name.replace(']', ']]')}]"  # double quotes are text by a setting

    def key(self, name: str) -> str:
        return name.lower()

    def text(self, value: str) -> str:
        return f"N{super().text(value)}"

    def number(self, value: float) -> str:
        return with_exponent(value)

    def truth(self, value: bool) -> str:
        return f"CAST({int(value)} AS bit)"

    def same_text(self, x: str, text: str) -> str:
        """As bytes: a comparison of text ignores blanks at the end, whatever the collation."""
        return f"CAST({x} AS varbinary(max)) = CAST(CAST({text} AS {self.string}) AS varbinary(max))"

    def joined(self, texts: Sequence[str]) -> str:
        return "\n        + ".join(texts)


class BigQuery(Dialect):
    """Backslashes are escapes in text and in names."""

    name = "BigQuery"
    double = "FLOAT64"
    string = "STRING"
    bigint = "INT64"
    steps = "except"
    quote = "`"

    def identifier(self, name: str) -> str:
        super().identifier(name)
        return f"`{_escaped(name, '`')}`"

    def text(self, value: str) -> str:
        return f"'{_escaped(self._storable(value), chr(39))}'"

    def number(self, value: float) -> str:
        return with_exponent(value)

    def numeric_input(self, column: str, is_boolean: bool) -> str:
        return super().numeric_input(truth_as_number(column, self.string) if is_boolean else column, is_boolean)

    def without_nan(self, x: str) -> str:
        return f"IF(IS_NAN({x}), NULL, {x})"

    def same_text(self, x: str, text: str) -> str:
        return f"CAST({x} AS BYTES) = CAST({text} AS BYTES)"


class Snowflake(Dialect):
    """Backslashes are escapes in text; names in quotes keep their case."""

    name = "Snowflake"
    double = "DOUBLE"
    nan = "CAST('NaN' AS DOUBLE)"
    steps = "except"
    but = "EXCLUDE"

    def key(self, name: str) -> str:
        return name

    def text(self, value: str) -> str:
        return super().text(value.replace("\\", "\\\\"))

    def number(self, value: float) -> str:
        return f"CAST('{value!r}' AS DOUBLE)"  # a bare literal is a decimal

    def numeric_input(self, column: str, is_boolean: bool) -> str:
        return super().numeric_input(truth_as_number(column, self.string) if is_boolean else column, is_boolean)

    def same_text(self, x: str, text: str) -> str:
        return f"COLLATE({x}, 'utf8') = {text}"


class Oracle(Dialect):
    """Empty text is NULL, and so a missing value. Classes that are booleans come out as 1 and 0."""

    name = "Oracle"
    double = "BINARY_DOUBLE"
    string = "VARCHAR2(4000)"
    nan = "BINARY_DOUBLE_NAN"
    nowhere = " FROM dual"

    def identifier(self, name: str) -> str:
        if '"' in name:
            raise self._unnamable(name, "has a double quote")
        return super().identifier(name)

    def key(self, name: str) -> str:
        return name

    def number(self, value: float) -> str:
        """By way of a decimal, which has 38 digits but not the range of a double."""
        if value == 0.0 or 1e-120 < abs(value) < 1e120:
            return f"CAST({with_exponent(value)} AS BINARY_DOUBLE)"
        return f"TO_BINARY_DOUBLE('{value!r}')"

    def whole(self, value: int) -> str:
        return str(value)

    def truth(self, value: bool) -> str:
        return str(int(value))

    def same_text(self, x: str, text: str) -> str:
        return f"{x} = {text} COLLATE BINARY"


class Redshift(Dialect):
    """Blanks at the end of text are ignored, and names are folded to lower case even in quotes."""

    name = "Redshift"
    string = "varchar(65535)"
    skips_null = True
    nan = "CAST('NaN' AS double precision)"

    def text(self, value: str) -> str:
        """A backslash is an escape or not, by version."""
        return " || CHR(92) || ".join(super(Redshift, self).text(part) for part in value.split("\\"))

    def number(self, value: float) -> str:
        return f"CAST('{value!r}' AS double precision)"  # a bare literal is a decimal

    def numeric_input(self, column: str, is_boolean: bool) -> str:
        return super().numeric_input(truth_as_number(column, self.string) if is_boolean else column, is_boolean)

    def same_text(self, x: str, text: str) -> str:
        return f"COLLATE({x}, 'case_sensitive') || '.' = {text} || '.'"


class Trino(Dialect):
    """Trino and Athena: standard SQL, and names without regard to case."""

    name = "Trino"
    double = "double"

    def number(self, value: float) -> str:
        return with_exponent(value)

    def without_nan(self, x: str) -> str:
        return f"IF(is_nan({x}), NULL, {x})"


def _escaped(text: str, quote: str) -> str:
    """With backslashes before what would end the text, or the line."""
    plain = re.sub(rf"[\\{quote}]", lambda sign: f"\\{sign[0]}", text)
    return plain.replace("\n", "\\n").replace("\r", "\\r")
