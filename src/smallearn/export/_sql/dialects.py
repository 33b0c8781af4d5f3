"""What databases do differently: how they write numbers and text, what they take for missing, what they refuse.

Every expression is in double precision. A numeric input is NULL where the value is missing, NaN included.
"""

import math
import re
from fractions import Fraction
from typing import Any

from smallearn._errors import check_choice
from smallearn._text import show

MOST = 700.0  # exp(±700) neither overflows nor underflows, which PostgreSQL would make an error of
FOUR_EXA = 2**62  # a power of two that every database holds as a whole number


class Dialect:
    """What the three have in common."""

    name = ""
    double = "double precision"
    string = "text"
    greatest = "GREATEST"
    least = "LEAST"
    lateral = True
    empty_names = False

    def identifier(self, name: str) -> str:
        """A name in quotes: no sign in it has a meaning there but the quote, which is doubled."""
        if not name and not self.empty_names:
            raise ValueError(f"A column or table of {self.name} cannot have an empty name; see with_feature_names.")
        return '"' + self._storable(name).replace('"', '""') + '"'

    def unqualified(self, name: str) -> str:
        """A column of whatever table the user asks."""
        return self.identifier(name)

    def key(self, name: str) -> str:
        """Names with one key are one column."""
        return re.sub("[A-Z]+", lambda found: found[0].lower(), name)

    def text(self, value: str) -> str:
        return "'" + self._storable(value).replace("'", "''") + "'"

    def number(self, value: float) -> str:
        """A literal that the database reads as exactly this double."""
        raise NotImplementedError

    def whole(self, value: int) -> str:
        return str(value) if abs(value) < 2**31 else f"CAST({value} AS bigint)"

    def truth(self, value: bool) -> str:
        return "TRUE" if value else "FALSE"

    def numeric_input(self, column: str, is_boolean: bool) -> str:
        return f"NULLIF(CAST({column} AS {self.double}), 'NaN')"

    def text_input(self, column: str) -> str:
        return f"CAST({column} AS {self.string})"

    def refused(self, column: str) -> str | None:
        """Where a numeric input holds something that is no number; None if the database raises an error there."""
        return None

    def same_text(self, x: str, category: str) -> str:
        """Sign by sign, whatever the collation of the column."""
        return f'{x} COLLATE "C" = {self.text(category)}'

    def same_number_in_text(self, x: str, value: float) -> str | None:
        """A number in an input that holds text otherwise; None if columns have one type, so that there is none."""
        return None

    def product(self, weight: float, x: str) -> str:
        return f"{self.number(weight)} * {x}"

    def decimals(self, x: str) -> str:
        """A number as text, four digits after the point."""
        return f"printf('%.4f', {x})"

    def _storable(self, text: str) -> str:
        if "\x00" in text:
            raise ValueError(f"{show(text)} has the character NUL, which {self.name} cannot hold.")
        if any("\ud800" <= sign <= "\udfff" for sign in text):
            raise ValueError(f"{show(text)} has half a surrogate pair, which {self.name} cannot hold.")
        return text


class PostgreSQL(Dialect):
    name = "PostgreSQL"

    def key(self, name: str) -> str:
        return name.encode(errors="replace")[:63].decode(errors="ignore")  # what it keeps of a name

    def text(self, value: str) -> str:
        plain = super().text(value)  # a backslash is plain text or not, as the server is set; after E it never is
        return "E" + plain.replace("\\", "\\\\") if "\\" in plain else plain

    def number(self, value: float) -> str:
        return f"float8 '{value!r}'"  # a bare literal would be of type numeric, with sums of its own

    def numeric_input(self, column: str, is_boolean: bool) -> str:
        if is_boolean:  # there is no cast from boolean to double; as text it may be a number as well
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
    name = "DuckDB"
    double = "DOUBLE"
    string = "VARCHAR"

    def number(self, value: float) -> str:
        text = repr(value)
        return text if "e" in text else f"{text}e0"  # without an exponent it would be a decimal


class SQLite(Dialect):
    """Values have types of their own here, whatever the column's: text may hold a number and a column both."""

    name = "SQLite"
    double = "REAL"
    greatest = "max"
    least = "min"
    lateral = False
    empty_names = True

    def unqualified(self, name: str) -> str:
        """In backticks: what is in double quotes would be text if there were no such column."""
        return "`" + self._storable(name).replace("`", "``") + "`"

    def number(self, value: float) -> str:
        """SQLite reads decimals to about 15 digits: so many, and what they lack; or a fraction, which is exact."""
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


DIALECTS: dict[str, Dialect] = {"postgresql": PostgreSQL(), "duckdb": DuckDB(), "sqlite": SQLite()}


def dialect_of(name: Any) -> Dialect:
    check_choice("dialect", name, tuple(DIALECTS))
    return DIALECTS[name]


def _rounds_to_zero(weight: float) -> float:
    """The greatest x for which the double nearest to ``weight · x`` is 0."""
    if weight > 0.5:
        return 0.0
    x = 5e-324 / weight * 0.5
    while weight * x > 0.0:
        x = math.nextafter(x, 0.0)
    while weight * math.nextafter(x, math.inf) == 0.0:
        x = math.nextafter(x, math.inf)
    return x


def _is_safe(decimal: str) -> bool:
    """Whether a reader that is precise to a hundredth of a unit in the last place gives the nearest double."""
    nearest = abs(float(decimal))
    unit = Fraction(nearest) - Fraction(math.nextafter(nearest, 0.0))
    return abs(abs(Fraction(decimal)) - Fraction(nearest)) < unit * Fraction(49, 100)


def _fraction(value: float) -> str:
    """Products and quotients of whole numbers, all exact: ``(1.0 * 3 / 8)``."""
    over, under = value.as_integer_ratio()
    shift = (over & -over).bit_length() - 1
    steps = [f"1.0 * {over >> shift}"]
    for sign, power in (("*", shift), ("/", under.bit_length() - 1)):
        steps += [f"{sign} {FOUR_EXA}"] * (power // 62)
        steps += [f"{sign} {2 ** (power % 62)}"] if power % 62 else []
    return f"({' '.join(steps)})"
