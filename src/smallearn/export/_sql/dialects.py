"""What databases do differently: how they write numbers and text, what they take for missing, what they refuse.

To add a database: write a subclass of `Dialect` and add one line to `DIALECTS`. ``name`` and ``number`` have to be
written. The rest is what PostgreSQL and DuckDB have in common, which is not all standard SQL: ``NULLIF(…, 'NaN')``,
``COLLATE "C"``, ``LATERAL``, ``printf``. Override what the database does differently. No dialect can change what is
common to all: ``CASE``, ``COALESCE``, ``abs``, ``exp``, ``WITH``, ``CREATE VIEW``. Every expression is in double
precision, and a numeric input is NULL where the value is missing or NaN.
"""

import math
import re
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from smallearn._errors import check_choice
from smallearn._text import show

MOST = 700.0  # exp(±700) neither overflows nor underflows; in PostgreSQL that would be an error
POWER = 2**62  # the greatest power of two that every database holds as a whole number


class Dialect:
    """SQL as PostgreSQL and DuckDB have it, but for literals.

    ``double`` and ``string`` are types, ``greatest`` and ``least`` functions of several values. ``lateral``: FROM may
    have a LATERAL subquery. ``typed_columns``: all values of a column have one type. ``empty_names``: a column or table
    may have an empty name.
    """

    name = ""
    double = "double precision"
    string = "text"
    greatest = "GREATEST"
    least = "LEAST"
    lateral = True
    typed_columns = True
    empty_names = False

    def identifier(self, name: str) -> str:
        """A name in quotes, where only the quote itself has a meaning: it is doubled."""
        if not name and not self.empty_names:
            raise ValueError(
                f"A column or table of {self.name} cannot have an empty name; rename it with model.with_feature_names."
            )
        return '"' + self._storable(name).replace('"', '""') + '"'

    def unqualified(self, name: str) -> str:
        """The name of a column without its table."""
        return self.identifier(name)

    def key(self, name: str) -> str:
        """What the database compares of a name: names with the same key are the same column."""
        return re.sub("[A-Z]+", lambda capitals: capitals[0].lower(), name)

    def text(self, value: str) -> str:
        """A text literal."""
        return "'" + self._storable(value).replace("'", "''") + "'"

    def number(self, value: float) -> str:
        """A literal that the database reads as exactly this double."""
        raise NotImplementedError

    def whole(self, value: int) -> str:
        """A whole-number literal."""
        return str(value) if abs(value) < 2**31 else f"CAST({value} AS bigint)"

    def truth(self, value: bool) -> str:
        """A boolean literal."""
        return "TRUE" if value else "FALSE"

    def numeric_input(self, column: str, is_boolean: bool) -> str:
        """A column as a double; NULL where it is missing. ``is_boolean``: the model compares it with True or False."""
        return f"NULLIF(CAST({column} AS {self.double}), 'NaN')"

    def text_input(self, column: str) -> str:
        """A column as text."""
        return f"CAST({column} AS {self.string})"

    def refused(self, column: str) -> str | None:
        """The condition that a numeric column holds no number; None if the database raises an error there."""
        return None

    def same_text(self, x: str, category: str) -> str:
        """The condition that a text equals a category, character by character, whatever the column's collation."""
        return f'{x} COLLATE "C" = {self.text(category)}'

    def same_number_in_text(self, x: str, value: float) -> str | None:
        """The condition that a text input holds this number; None if it cannot, as columns have one type."""
        return None

    def product(self, weight: float, x: str) -> str:
        """The product of a weight and an expression."""
        return f"{self.number(weight)} * {x}"

    def decimals(self, x: str) -> str:
        """A number as text, with four decimals."""
        return f"printf('%.4f', {x})"

    def joined(self, texts: Sequence[str], gap: str = " ") -> str:
        """Texts one after another, as one text. ``gap``: white space between one and the next."""
        return f"{gap}|| ".join(texts)

    def table_of_rows(self, table: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
        """What comes after WITH: a table of these rows. All names and values are SQL already."""
        listing = ",\n".join(f"    ({', '.join(row)})" for row in rows)
        return f"{table} ({', '.join(columns)}) AS (VALUES\n{listing}\n)"

    def _storable(self, text: str) -> str:
        """The text, unless the database cannot hold it."""
        if "\x00" in text:
            raise ValueError(f"{show(text)} has the character NUL, which {self.name} cannot hold: rename it.")
        if any("\ud800" <= sign <= "\udfff" for sign in text):
            raise ValueError(f"{show(text)} has half a surrogate pair, which {self.name} cannot hold: rename it.")
        return text


class PostgreSQL(Dialect):
    """Strict about types and about overflow."""

    name = "PostgreSQL"

    def key(self, name: str) -> str:
        return name.encode(errors="replace")[:63].decode(errors="ignore")  # PostgreSQL cuts names to 63 bytes

    def text(self, value: str) -> str:
        plain = super().text(value)  # whether a backslash is plain depends on the server; after E it is an escape
        return "E" + plain.replace("\\", "\\\\") if "\\" in plain else plain

    def number(self, value: float) -> str:
        return f"float8 '{value!r}'"  # a bare literal would be of type numeric, whose sums are rounded differently

    def numeric_input(self, column: str, is_boolean: bool) -> str:
        if is_boolean:  # PostgreSQL has no cast from boolean to double, but the column may hold numbers as well
            text = f"CAST({column} AS text)"
            column = f"CASE {text} WHEN 'true' THEN '1' WHEN 'false' THEN '0' ELSE {text} END"
        return super().numeric_input(column, is_boolean)

    def product(self, weight: float, x: str) -> str:
        """PostgreSQL raises an error where a product of numbers other than 0 rounds to 0."""
        least = _rounds_to_zero(abs(weight))
        plain = super().product(weight, x)
        return plain if least == 0.0 else f"CASE WHEN abs({x}) <= {self.number(least)} THEN 0 ELSE {plain} END"

    def decimals(self, x: str) -> str:
        return f"round(CAST({x} AS numeric), 4)"


class DuckDB(Dialect):
    """Like PostgreSQL, but a bare literal with an exponent is a double."""

    name = "DuckDB"
    double = "DOUBLE"
    string = "VARCHAR"

    def number(self, value: float) -> str:
        text = repr(value)
        return text if "e" in text else f"{text}e0"  # without an exponent it would be a decimal


class Spark(DuckDB):
    """Names in backticks, a backslash is an escape, text is compared byte by byte, and what is no number is NULL."""

    name = "Spark SQL"
    string = "STRING"

    def identifier(self, name: str) -> str:
        return "`" + super().identifier(name)[1:-1].replace('""', '"').replace("`", "``") + "`"

    def key(self, name: str) -> str:
        return name.lower()

    def text(self, value: str) -> str:
        return "'" + self._storable(value).replace("\\", "\\\\").replace("'", "\\'") + "'"

    def refused(self, column: str) -> str | None:
        return f"({column} IS NOT NULL AND TRY_CAST({column} AS {self.double}) IS NULL)"

    def numeric_input(self, column: str, is_boolean: bool) -> str:
        return f"NULLIF(TRY_CAST({column} AS {self.double}), 'NaN')"

    def same_text(self, x: str, category: str) -> str:
        return f"{x} = {self.text(category)}"


class SQLite(Dialect):
    """Values have types, columns do not: one column may hold numbers and text."""

    name = "SQLite"
    double = "REAL"
    greatest = "max"
    least = "min"
    lateral = False
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

    def same_text(self, x: str, category: str) -> str:
        return f"typeof({x}) = 'text' AND {x} = {self.text(category)} COLLATE BINARY"

    def same_number_in_text(self, x: str, value: float) -> str | None:
        return f"typeof({x}) <> 'text' AND {x} = {self.number(value)}"


# A new dialect is one more entry here.
DIALECTS: dict[str, Dialect] = {"postgresql": PostgreSQL(), "duckdb": DuckDB(), "sqlite": SQLite(), "spark": Spark()}


def dialect_of(name: Any) -> Dialect:
    """The dialect of that name."""
    check_choice("dialect", name, tuple(DIALECTS))
    return DIALECTS[name]


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
