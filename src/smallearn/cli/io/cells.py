"""What the cells of a table mean: numbers, booleans, dates or text. Training and predictions follow the same rules.

Columns are those of pyarrow. Spaces around a cell do not count. A missing value is an empty cell, ``?``, or what pandas
takes for one: NA, N/A, NaN, null, None and the like; among numbers also a dash, a point or "none"; and whatever the
user names. Numbers have a decimal point, or a decimal comma unless commas separate the columns. Thousands may be
grouped with the other sign of the two. Where the cells of a column prove the opposite, it is read the opposite way:
``"1.234,50"`` between commas, ``1,234.50`` elsewhere. `units` says what percentages and amounts of money mean.
"""

from typing import Any, NamedTuple

import numpy as np

MISSING = (
    *("", "?", "NA", "N/A", "n/a", "NaN", "nan", "-NaN", "-nan", "null", "NULL", "None", "<NA>"),
    *("#N/A", "#N/A N/A", "#NA", "1.#IND", "-1.#IND", "1.#QNAN", "-1.#QNAN"),
)
MISSING_NUMBER = ("-", "--", "---", "–", "—", ".", "none", "NONE")  # missing if the other cells are numbers
NUMBER = r"^[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?$"
DECIMAL_COMMA = r"^[+-]?[0-9]*,[0-9]+$"
# Thousands are grouped strictly by three digits. With points, "1.234" alone is ambiguous: it is 1234 beside "1,5" or
# "1.234.567", and 1.234 beside "0.123" or "12.34".
GROUPED_BY_POINTS = r"^[+-]?([0-9]*|[1-9][0-9]{0,2}([.][0-9]{3})+)(,[0-9]+)?$"
SURELY_BY_POINTS = r"^[+-]?(([0-9]*|[1-9][0-9]{0,2}([.][0-9]{3})+),[0-9]+|[1-9][0-9]{0,2}([.][0-9]{3}){2,})$"
PERHAPS_BY_POINTS = r"^[+-]?[1-9][0-9]{0,2}[.][0-9]{3}$"
GROUPED_BY_COMMAS = r"^[+-]?[1-9][0-9]{0,2}(,[0-9]{3})+([.][0-9]+)?$"
# What proves that a column is written the other way, and what rules it out; first decimal commas in a file with commas
# between the columns, then thousands that are grouped by commas in another file.
PROVES_OTHER = {
    False: r"^[+-]?([0-9]*,([0-9]{1,2}|[0-9]{4,})|[1-9][0-9]{0,2}(([.][0-9]{3})+,[0-9]+|([.][0-9]{3}){2,}))$",
    True: r"^[+-]?[1-9][0-9]{0,2}((,[0-9]{3})+[.][0-9]+|(,[0-9]{3}){2,})$",
}
REFUTES_OTHER = {
    False: r"^[+-]?(\d*[.](\d{1,2}|[0-9]{4,})|0?[.]\d+|[1-9]\d{0,2}((,\d{3})+[.]\d+|(,\d{3}){2,}))$",
    True: r"^[+-]?([0-9]*,([0-9]{1,2}|[0-9]{4,})|0?,[0-9]+|[1-9][0-9]{0,2}([.][0-9]{3})+,[0-9]+)$",
}
INFINITE = r"^[+-]?((?i:inf|infinity)|∞)$"
LIKE_A_NUMBER = r"^[^\pL#]{0,3}[0-9]+([.,'’  ][0-9]+)*[^\pL#]{0,3}$"
DATE = (
    r"^([0-9]{4}-[0-9]{1,2}-[0-9]{1,2}|[0-9]{1,2}[./-][0-9]{1,2}[./-]([0-9]{4}|[0-9]{2})|[0-9]{4}/[0-9]{1,2}/[0-9]{1,2})"
    r"([T ][0-9]{1,2}:[0-9]{2}(:[0-9]{2}([.,][0-9]+)?)?( ?(Z|UTC|[+-][0-9]{2}:?[0-9]{2}))?)?$"
)
BOOLEANS = {"true": True, "false": False}


# --- types -----------------------------------------------------------------------------------------------------------


def type_of(column: Any) -> Any:
    """The type of a column's values, that of its categories if it has some."""
    import pyarrow as pa

    return column.type.value_type if pa.types.is_dictionary(column.type) else column.type


def is_text_type(kind: Any) -> bool:
    """Whether a type of pyarrow's is text."""
    return str(kind) in ("string", "large_string", "string_view")


def is_number_type(kind: Any) -> bool:
    """Whether a type of pyarrow's is a number or a boolean."""
    import pyarrow as pa

    types = pa.types
    return types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind) or types.is_decimal(kind)


def one_array(column: Any) -> Any:
    """A column as one array instead of chunks; what is too long for that stays in chunks."""
    import pyarrow as pa

    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column


def numbers_in(column: Any) -> np.ndarray:
    """A column of numbers or booleans as float64, NaN where a value is missing."""
    import pyarrow as pa

    column = one_array(column)
    column = column.dictionary_decode() if pa.types.is_dictionary(column.type) else column
    column = column.cast(pa.uint8()) if pa.types.is_boolean(column.type) else column
    return column.cast(pa.float64(), safe=False).fill_null(np.nan).to_numpy(zero_copy_only=False)


# --- text ------------------------------------------------------------------------------------------------------------


def as_text(column: Any) -> Any:
    """Any column as one array of text."""
    import pyarrow as pa

    column = one_array(column)
    if isinstance(column, pa.ChunkedArray):
        column = pa.concat_arrays(column.cast(pa.large_string()).chunks)
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    return column.cast(pa.large_string())


def trimmed(column: Any, verbatim: tuple[str, ...] = (), missing: tuple[str, ...] = ()) -> Any:
    """Text without spaces around it, null where a value is missing.

    One of the ``verbatim`` texts stays as it is, unless the user named it among the ``missing`` ones.
    """
    import pyarrow.compute as pc

    text = as_text(column)
    inner = pc.utf8_trim_whitespace(text)
    present = without(inner, (*MISSING, *missing))
    if not verbatim:
        return present
    return pc.if_else(pc.and_(_is_one_of(text, verbatim), pc.invert(_is_one_of(inner, missing))), text, present)


def count_padded(column: Any, text: Any) -> int:
    """How many cells of a column have spaces around them; ``text`` is the column `trimmed`, missing values apart."""
    import pyarrow.compute as pc

    return pc.sum(pc.not_equal(as_text(column), text)).as_py() or 0


def texts_lost(before: Any, after: Any) -> set[str]:
    """The different texts, trimmed and not empty, of the cells that are null only ``after``."""
    import pyarrow.compute as pc

    if after.null_count == before.null_count:
        return set()
    lost = as_text(before).filter(pc.is_null(after)).drop_null()
    return set(pc.unique(pc.utf8_trim_whitespace(lost)).to_pylist()) - {""}


def without(text: Any, texts: tuple[str, ...]) -> Any:
    """Text with null in place of these texts."""
    import pyarrow.compute as pc

    return pc.if_else(_is_one_of(text, texts), None, text)


def _is_one_of(text: Any, texts: tuple[str, ...]) -> Any:
    import pyarrow as pa
    import pyarrow.compute as pc

    return pc.is_in(text, value_set=pa.array(texts, pa.large_string()))


def objects_of(text: Any) -> np.ndarray:
    """Text as an array of Python's strings, None where a value is missing; equal texts are one object."""
    encoded = text.dictionary_encode()
    values = _objects([*encoded.dictionary.to_pylist(), None])
    return values[encoded.indices.fill_null(len(values) - 1).to_numpy(zero_copy_only=False)]


# --- numbers ---------------------------------------------------------------------------------------------------------


class Style(NamedTuple):
    """How the numbers of a column are written: perhaps with decimal commas, and with grouped thousands."""

    commas: bool
    grouped: bool = False


def numbers_of(text: Any, style: Style) -> tuple[np.ndarray, np.ndarray]:
    """Trimmed text as float64, NaN where it is missing or not a number; and where it is text but not a number.

    True and false are 1 and 0; a number beyond float64 is not a number. Units are not read: see `units.bare`.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if style.grouped:
        text = _ungrouped(text, style.commas)
    elif style.commas and _any(pc.match_substring(text, ",")):
        dotted = pc.replace_substring(text, ",", ".")
        text = pc.if_else(pc.match_substring_regex(text, DECIMAL_COMMA), dotted, text)
    good = pc.match_substring_regex(text, NUMBER)
    if not _all(good):
        lower = pc.utf8_lower(text)
        for word, value in BOOLEANS.items():
            text = pc.if_else(pc.equal(lower, word), f"{value:d}", text)
        good = pc.match_substring_regex(text, NUMBER)
    plain = pc.utf8_ltrim(pc.if_else(good, text, None), "+")
    values = plain.cast(pa.float64()).fill_null(np.nan).to_numpy(zero_copy_only=False).astype(np.float64)
    bad = ~good.fill_null(True).to_numpy(zero_copy_only=False) | np.isinf(values)
    return np.where(bad, np.nan, values), bad


def first_infinite(text: Any, bad: np.ndarray) -> tuple[int, int | None]:
    """How many of the cells that are no numbers are infinite or too large for one, and the first such cell."""
    import pyarrow as pa
    import pyarrow.compute as pc

    rows = np.flatnonzero(bad)
    if len(rows) == 0:
        return 0, None
    there = text.take(pa.array(rows))
    infinite = pc.or_(pc.match_substring_regex(there, INFINITE), pc.match_substring_regex(there, NUMBER))
    found = rows[infinite.to_numpy(zero_copy_only=False)]
    return len(found), int(found[0]) if len(found) else None


class Evidence(NamedTuple):
    """What the cells of a column say of how its numbers are written; None if they leave it open.

    ``grouped``: whether the sign that may group thousands does. ``other``: whether points and commas have the opposite
    meaning.
    """

    grouped: bool | None = None
    other: bool | None = None

    def joined(self, later: "Evidence") -> "Evidence":
        """With what further cells say: a refutation stands."""
        return Evidence(_either(self.grouped, later.grouped), _either(self.other, later.other))

    def style(self, may_have_commas: bool, by_default: bool) -> Style:
        """How the column is written; ``by_default`` is whether thousands are grouped if that is open."""
        if self.other:
            return Style(not may_have_commas, grouped=True)
        return Style(may_have_commas, grouped=by_default if self.grouped is None else self.grouped)


def _either(one: bool | None, other: bool | None) -> bool | None:
    return False if one is False or other is False else one or other


def has_signs(text: Any) -> bool:
    """Whether points or commas occur."""
    import pyarrow.compute as pc

    return _any(pc.match_substring_regex(text, "[.,]"))


def has_group_signs(text: Any, may_have_commas: bool) -> bool:
    """Whether the sign occurs that could group thousands: a point beside decimal commas, else a comma."""
    import pyarrow.compute as pc

    return _any(pc.match_substring(text, "." if may_have_commas else ","))


def evidence_of(text: Any, may_have_commas: bool) -> Evidence:
    """What the cells of a column, or some of them, say of how its numbers are written."""
    import pyarrow.compute as pc

    refuted = _any(pc.match_substring_regex(text, REFUTES_OTHER[may_have_commas]))
    proven = not refuted and _any(pc.match_substring_regex(text, PROVES_OTHER[may_have_commas]))
    return Evidence(_groups_thousands(text, may_have_commas), False if refuted else proven or None)


def _groups_thousands(text: Any, may_have_commas: bool) -> bool | None:
    """Whether that sign groups thousands in a column; None if the cells leave it open."""
    import pyarrow.compute as pc

    if not may_have_commas:
        return True
    with_point = pc.and_(pc.match_substring(text, "."), pc.match_substring_regex(text, NUMBER))
    if _any(pc.and_(with_point, pc.invert(pc.match_substring_regex(text, PERHAPS_BY_POINTS)))):
        return False
    return True if _any(pc.match_substring_regex(text, SURELY_BY_POINTS)) else None


def _ungrouped(text: Any, may_have_commas: bool) -> Any:
    """Numbers with grouped thousands as plain ones with a decimal point; other text as it is."""
    import pyarrow.compute as pc

    plain = pc.replace_substring(text, "." if may_have_commas else ",", "")
    plain = pc.replace_substring(plain, ",", ".") if may_have_commas else plain
    # A point that groups nothing makes the cell no number.
    other = pc.replace_substring(text, ".", " ") if may_have_commas else text
    pattern = GROUPED_BY_POINTS if may_have_commas else GROUPED_BY_COMMAS
    return pc.if_else(pc.match_substring_regex(text, pattern), plain, other)


def count_like_numbers(text: Any) -> int:
    """How many cells are digits with signs between them, whether or not they can be read as numbers."""
    import pyarrow.compute as pc

    return pc.sum(pc.match_substring_regex(text, LIKE_A_NUMBER)).as_py() or 0


# --- booleans and dates ----------------------------------------------------------------------------------------------


def are_booleans(text: Any) -> bool:
    """Whether every value is true or false."""
    import pyarrow.compute as pc

    return text.null_count < len(text) and _all(_is_one_of(pc.utf8_lower(text.drop_null()), tuple(BOOLEANS)))


def booleans_of(text: Any) -> np.ndarray:
    """True, False or None for each cell of true and false."""
    return _objects([None if cell is None else BOOLEANS[cell.lower()] for cell in text.to_pylist()])


def booleans_in(values: np.ndarray) -> np.ndarray:
    """Numbers as booleans: False for 0, None where they are missing."""
    return _objects([None if value != value else bool(value) for value in values.tolist()])


def are_dates(text: Any) -> bool:
    """Whether every value is a date, with or without a time."""
    import pyarrow.compute as pc

    return text.null_count < len(text) and _all(pc.match_substring_regex(text, DATE))


def _objects(values: list[Any]) -> np.ndarray:
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def _all(mask: Any) -> bool:
    """Whether a mask is true wherever there is a value."""
    import pyarrow.compute as pc

    return pc.all(mask, min_count=0).as_py() is not False


def _any(mask: Any) -> bool:
    import pyarrow.compute as pc

    return pc.any(mask, min_count=0).as_py() is True
