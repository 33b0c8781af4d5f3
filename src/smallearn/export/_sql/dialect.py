"""SQL as databases have it in common: what a dialect overrides."""

import re
from collections.abc import Sequence

from smallearn._text import show


class Dialect:
    """Standard SQL, as far as databases keep to it.

    ``double``, ``string`` and ``bigint`` are types, ``greatest`` and ``least`` functions of several values;
    ``skips_null``: they leave NULL out, otherwise one NULL makes the result NULL. ``nan`` is a NaN that equals itself;
    empty if there is none or if it does not. ``nan_is_greatest``: it is also above every number, so that few values
    have to be compared with it. ``typed_columns``: all values of a column have one type. ``empty_names``: a column or
    table may have an empty name. ``quote`` is what stands around names, ``nowhere`` what a SELECT without a table ends
    with.

    ``steps``: how a query names what it needs several times. "inline" does not: it repeats the expression, in any
    database. "except" has a subquery with more columns, which ``but`` then leaves out. "lateral" has lateral joins.
    """

    name = ""
    double = "double precision"
    string = "varchar"
    bigint = "bigint"
    greatest = "GREATEST"
    least = "LEAST"
    skips_null = False
    nan = ""
    nan_is_greatest = False
    steps = "inline"
    but = "EXCEPT"
    typed_columns = True
    empty_names = False
    quote = '"'
    nowhere = ""

    def identifier(self, name: str) -> str:
        """A name in quotes, where only the quote itself has a meaning: it is doubled."""
        if not name and not self.empty_names:
            raise ValueError(
                f"A column or table of {self.name} cannot have an empty name; rename it with model.with_feature_names."
            )
        return self.quote + self._storable(name).replace(self.quote, self.quote * 2) + self.quote

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
        return str(value) if abs(value) < 2**31 else f"CAST({value} AS {self.bigint})"

    def truth(self, value: bool) -> str:
        """A boolean literal."""
        return "TRUE" if value else "FALSE"

    def numeric_input(self, column: str, is_boolean: bool) -> str:
        """A column as a double, NaN as it is. ``is_boolean``: the model compares it with True or False."""
        return f"CAST({column} AS {self.double})"

    def without_nan(self, x: str) -> str:
        """A double, but NULL in place of NaN."""
        return f"NULLIF({x}, {self.nan})" if self.nan else x

    def text_input(self, column: str) -> str:
        """A column as text."""
        return f"CAST({column} AS {self.string})"

    def refused(self, column: str) -> str | None:
        """The condition that a numeric column holds no number; None if the database raises an error there."""
        return None

    def same_text(self, x: str, text: str) -> str:
        """The condition that two texts are equal, character by character, whatever the column's collation."""
        return f"{x} = {text}"

    def same_number_in_text(self, x: str, value: float) -> str | None:
        """The condition that a text input holds this number; None if it cannot, as columns have one type."""
        return None

    def product(self, weight: float, x: str) -> str:
        """The product of a weight and an expression."""
        return f"{self.number(weight)} * {x}"

    def joined(self, texts: Sequence[str]) -> str:
        """Texts one after another, as one text."""
        return "\n        || ".join(texts)

    def null(self, is_text: bool) -> str:
        """A missing value, in a table of rows."""
        return f"CAST(NULL AS {self.string if is_text else self.double})"

    def table_of_rows(self, table: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
        """What comes after WITH: a table of these rows. All names and values are SQL already."""
        first = ", ".join(f"{cell} AS {column}" for cell, column in zip(rows[0], columns, strict=True))
        listing = f"{self.nowhere}\n    UNION ALL SELECT ".join([first, *(", ".join(row) for row in rows[1:])])
        return f"{table} AS (\n    SELECT {listing}{self.nowhere}\n)"

    def _storable(self, text: str) -> str:
        """The text, unless the database cannot hold it."""
        if "\x00" in text:
            raise ValueError(f"{show(text)} has the character NUL, which {self.name} cannot hold: rename it.")
        if any("\ud800" <= sign <= "\udfff" for sign in text):
            raise ValueError(f"{show(text)} has half a surrogate pair, which {self.name} cannot hold: rename it.")
        return text

    def _unnamable(self, name: str, why: str) -> ValueError:
        return ValueError(f"{show(name)} {why}, which no name in {self.name} may: rename it.")


def with_exponent(value: float) -> str:
    """A literal that is a double and no decimal."""
    text = repr(value)
    return text if "e" in text else f"{text}e0"


def truth_as_number(column: str, string: str) -> str:
    """A column of booleans or numbers, as text that holds a number, where a boolean cannot be cast to a double."""
    text = f"CAST({column} AS {string})"
    return f"CASE {text} WHEN 'true' THEN '1' WHEN 'false' THEN '0' ELSE {text} END"
