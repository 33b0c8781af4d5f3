"""The databases that the tests run."""

import math
from collections.abc import Sequence
from fractions import Fraction

from smallearn.export._sql.dialect import Dialect, truth_as_number, with_exponent

BLANKS = (" ", "\t", "\n", "\v", "\f", "\r")
POWER = 2**62  # the greatest power of two that every database holds as a whole number


class _Listed(Dialect):
    """VALUES in WITH, and no cast for NULL."""

    skips_null = True
    nan = "'NaN'"
    nan_is_greatest = True

    def null(self, is_text: bool) -> str:
        return "NULL"

    def table_of_rows(self, table: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
        listing = ",\n".join(f"    ({', '.join(row)})" for row in rows)
        return f"{table} ({', '.join(columns)}) AS (VALUES\n{listing}\n)"


class PostgreSQL(_Listed):
    """Strict about types and about overflow."""

    name = "PostgreSQL"
    string = "text"
    steps = "lateral"

    def key(self, name: str) -> str:
        return name.encode(errors="replace")[:63].decode(errors="ignore")  # PostgreSQL cuts names to 63 bytes

    def text(self, value: str) -> str:
        plain = super().text(value)  # whether a backslash is plain depends on the server; after E it is an escape
        return "E" + plain.replace("\\", "\\\\") if "\\" in plain else plain

    def number(self, value: float) -> str:
        return f"float8 '{value!r}'"  # a bare literal would be of type numeric, whose sums are rounded differently

    def numeric_input(self, column: str, is_boolean: bool) -> str:
        return super().numeric_input(truth_as_number(column, self.string) if is_boolean else column, is_boolean)

    def same_text(self, x: str, text: str) -> str:
        return f'{x} COLLATE "C" = {text}'

    def product(self, weight: float, x: str) -> str:
        """PostgreSQL raises an error where a product of numbers other than 0 rounds to 0."""
        least = _rounds_to_zero(abs(weight))
        plain = super().product(weight, x)
        return plain if least == 0.0 else f"CASE WHEN abs({x}) <= {self.number(least)} THEN 0 ELSE {plain} END"


class DuckDB(_Listed):
    """Like PostgreSQL, but a bare literal with an exponent is a double."""

    name = "DuckDB"
    double = "DOUBLE"
    string = "VARCHAR"
    steps = "except"
    but = "EXCLUDE"

    def number(self, value: float) -> str:
        return with_exponent(value)  # without one it would be a decimal

    def same_text(self, x: str, text: str) -> str:
        return f'{x} COLLATE "C" = {text}'

    def joined(self, texts: Sequence[str]) -> str:
        listing = ",\n        ".join(texts)
        return f"concat({listing})"


class SQLite(_Listed):
    """Values have types, columns do not: one column may hold numbers and text."""

    name = "SQLite"
    double = "REAL"
    greatest = "max"
    least = "min"
    skips_null = False
    nan = ""
    nan_is_greatest = False
    typed_columns = False
    empty_names = True

    def unqualified(self, name: str) -> str:
        """In backticks: SQLite takes double quotes for text if there is no such column."""
        return "`" + self._storable(name).replace("`", "``") + "`"

    def number(self, value: float) -> str:
        """SQLite reads decimals to about 15 digits: those plus the rest, or a fraction, which is exact."""
        if value == 0.0:
            return "0.0"
        short = f"{value:.15g}"
        if 1e-7 <= abs(value) < 1e15 and _is_safe(short):
            rest = value - float(short)
            short = short if "." in short or "e" in short else f"{short}.0"
            return short if rest == 0.0 else f"({short} + {rest:.3g})"
        return _fraction(value)

    def whole(self, value: int) -> str:
        return str(value)

    def truth(self, value: bool) -> str:
        return str(int(value))

    def numeric_input(self, column: str, is_boolean: bool) -> str:
        return f"CAST({column} AS REAL)"

    def text_input(self, column: str) -> str:
        return column

    def refused(self, column: str) -> str | None:
        return f"(typeof({column}) IN ('text', 'blob') AND {column} <> CAST({column} AS REAL))"

    def same_text(self, x: str, text: str) -> str:
        return f"typeof({x}) = 'text' AND {x} = {text} COLLATE BINARY"

    def same_number_in_text(self, x: str, value: float) -> str | None:
        return f"typeof({x}) <> 'text' AND {x} = {self.number(value)}"


class MySQL(Dialect):
    """MariaDB and MySQL: text is compared without regard to case and blanks, and text that is no number is 0."""

    name = "MySQL"
    double = "DOUBLE"
    string = "CHAR"
    quote = "`"
    number_in_text = "^ *[-+]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][-+]?[0-9]+)? *$"

    def identifier(self, name: str) -> str:
        if len(name) > 64:
            raise self._unnamable(name, "has more than 64 characters")
        if name.endswith(BLANKS) or name.startswith("\ufeff") or any(sign > "\uffff" for sign in name):
            raise self._unnamable(name, "ends with a blank or has a character beyond U+FFFF")
        return super().identifier(name)

    def key(self, name: str) -> str:
        return name.lower()

    def text(self, value: str) -> str:
        """Whether a backslash is plain depends on the server, and what other bytes mean on the connection."""
        if "\\" in value:
            return f"CONVERT(X'{self._storable(value).encode().hex()}' USING utf8mb4)"
        plain = super().text(value)
        return plain if value.isascii() else f"_utf8mb4{plain}"

    def number(self, value: float) -> str:
        return with_exponent(value)

    def whole(self, value: int) -> str:
        return str(value)

    def text_input(self, column: str) -> str:
        return f"CONVERT({column} USING utf8mb4)"

    def refused(self, column: str) -> str | None:
        """COERCIBILITY is 5 for numbers, for which there is nothing to check."""
        return f"(COERCIBILITY({column}) <> 5 AND {column} NOT REGEXP '{self.number_in_text}')"

    def same_text(self, x: str, text: str) -> str:
        return f"CAST({x} AS BINARY) = CAST({text} AS BINARY)"

    def joined(self, texts: Sequence[str]) -> str:
        listing = ",\n        ".join(texts)
        return f"CONCAT({listing})"


class ClickHouse(Dialect):
    """Columns hold no NULL unless they are declared so, and a cast to a type that does turns bad text into NULL."""

    name = "ClickHouse"
    double = "Nullable(Float64)"
    string = "Nullable(String)"
    skips_null = True
    steps = "except"
    quote = "`"

    def identifier(self, name: str) -> str:
        return super().identifier(name.replace("\\", "\\\\"))

    def key(self, name: str) -> str:
        return name

    def text(self, value: str) -> str:
        return super().text(value.replace("\\", "\\\\"))

    def number(self, value: float) -> str:
        return with_exponent(value)

    def whole(self, value: int) -> str:
        return f"toInt64('{value}')"  # the type of a bare literal depends on its value and sign

    def without_nan(self, x: str) -> str:
        return f"if(isNaN({x}), NULL, {x})"

    def refused(self, column: str) -> str | None:
        return f"({column} IS NOT NULL AND CAST({column} AS {self.double}) IS NULL)"


class Spark(Dialect):
    """Spark 4 and Databricks, which have EXCEPT. A cast of bad text is an error or NULL, by a setting."""

    name = "Spark"
    double = "DOUBLE"
    string = "STRING"
    skips_null = True
    nan = "DOUBLE('NaN')"
    nan_is_greatest = True
    steps = "except"
    quote = "`"

    def text(self, value: str) -> str:
        """What a backslash and two quotes mean depends on settings, and ``${`` begins a variable."""
        if any(sign in value for sign in ("'", "\\", "${")):
            return f"decode(X'{self._storable(value).encode().hex()}', 'UTF-8')"
        return super().text(value)

    def number(self, value: float) -> str:
        return f"{value!r}D"

    def numeric_input(self, column: str, is_boolean: bool) -> str:
        return f"TRY_CAST({column} AS {self.double})"

    def refused(self, column: str) -> str | None:
        return f"({column} IS NOT NULL AND TRY_CAST({column} AS {self.double}) IS NULL)"


def _rounds_to_zero(weight: float) -> float:
    """The greatest x for which ``weight · x`` rounds to 0."""
    if weight > 0.5:
        return 0.0
    x = 5e-324 / weight * 0.5
    while weight * x > 0.0:
        x = math.nextafter(x, 0.0)
    while weight * math.nextafter(x, math.inf) == 0.0:
        x = math.nextafter(x, math.inf)
    return x


def _is_safe(decimal: str) -> bool:
    """Whether reading with an error of up to a hundredth of a unit in the last place gives the nearest double."""
    nearest = abs(float(decimal))
    unit = Fraction(nearest) - Fraction(math.nextafter(nearest, 0.0))
    return abs(abs(Fraction(decimal)) - Fraction(nearest)) < unit * Fraction(49, 100)


def _fraction(value: float) -> str:
    """Products and quotients of whole numbers, all exact: ``(1.0 * 3 / 8)``."""
    over, under = value.as_integer_ratio()
    shift = (over & -over).bit_length() - 1
    steps = [f"1.0 * {over >> shift}"]
    for sign, power in (("*", shift), ("/", under.bit_length() - 1)):
        steps += [f"{sign} {POWER}"] * (power // 62)
        steps += [f"{sign} {2 ** (power % 62)}"] if power % 62 else []
    return f"({' '.join(steps)})"
