"""Cells of a table as numbers, booleans, dates or text: one rule for training and for predictions. Columns are those
of pyarrow.

Spaces around a cell do not count. A missing value is an empty cell, ``?``, or what pandas takes for one: NA, N/A, NaN,
null, None and their like; among numbers also a dash, a point or "none"; and what the user says. Numbers have a decimal
point, or a comma where commas do not part the columns. Thousands may be set off by the other sign of the two.
"""

from typing import Any

import numpy as np

MISSING = (
    *("", "?", "NA", "N/A", "n/a", "NaN", "nan", "-NaN", "-nan", "null", "NULL", "None", "<NA>"),
    *("#N/A", "#N/A N/A", "#NA", "1.#IND", "-1.#IND", "1.#QNAN", "-1.#QNAN"),
)
NO_NUMBER = ("-", "--", "---", "–", "—", ".", "none", "NONE")  # missing, where the other cells are numbers
NUMBER = r"^[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?$"
WITH_COMMA = r"^[+-]?[0-9]*,[0-9]+$"
# With thousands set off: strictly groups of three. By points, "1.234" alone may be meant otherwise; not beside "1,5" or
# "1.234.567", and not as 1234 beside "0.123" or "12.34".
BY_POINTS = r"^[+-]?([0-9]*|[1-9][0-9]{0,2}([.][0-9]{3})+)(,[0-9]+)?$"
SURELY_BY_POINTS = r"^[+-]?(([0-9]*|[1-9][0-9]{0,2}([.][0-9]{3})+),[0-9]+|[1-9][0-9]{0,2}([.][0-9]{3}){2,})$"
PERHAPS_BY_POINTS = r"^[+-]?[1-9][0-9]{0,2}[.][0-9]{3}$"
BY_COMMAS = r"^[+-]?[1-9][0-9]{0,2}(,[0-9]{3})+([.][0-9]+)?$"
LIKE_A_NUMBER = r"^[^\pL#]{0,3}[0-9]+([.,'’  ][0-9]+)*[^\pL#]{0,3}$"
DATE = (
    r"^([0-9]{4}-[0-9]{1,2}-[0-9]{1,2}|[0-9]{1,2}[./-][0-9]{1,2}[./-]([0-9]{4}|[0-9]{2})|[0-9]{4}/[0-9]{1,2}/[0-9]{1,2})"
    r"([T ][0-9]{1,2}:[0-9]{2}(:[0-9]{2}([.,][0-9]+)?)?( ?(Z|UTC|[+-][0-9]{2}:?[0-9]{2}))?)?$"
)
TRUTH = {"true": 1.0, "false": 0.0}


def as_text(column: Any) -> Any:
    """Any column as text, an array without nulls in place of missing values yet."""
    import pyarrow as pa

    column = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    if isinstance(column, pa.ChunkedArray):  # too long for one array of its type
        column = pa.concat_arrays(column.cast(pa.large_string()).chunks)
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    return column.cast(pa.large_string())


def trimmed(column: Any, verbatim: tuple[str, ...] = (), missing: tuple[str, ...] = ()) -> Any:
    """Text without spaces around it, null where a value is missing; what is one of ``verbatim`` stays as it is, unless
    the user calls it ``missing``."""
    import pyarrow.compute as pc

    text = as_text(column)
    inner = pc.utf8_trim_whitespace(text)
    found = without(inner, (*MISSING, *missing))
    if not verbatim:
        return found
    return pc.if_else(pc.and_(_among(text, verbatim), pc.invert(_among(inner, missing))), text, found)


def without(text: Any, words: tuple[str, ...]) -> Any:
    """Text with null in place of these words."""
    import pyarrow.compute as pc

    return pc.if_else(_among(text, words), None, text)


def _among(text: Any, words: tuple[str, ...]) -> Any:
    import pyarrow as pa
    import pyarrow.compute as pc

    return pc.is_in(text, value_set=pa.array(words, pa.large_string()))


def have_groups(text: Any, comma: bool) -> bool:
    """Whether the sign is there at all that would set off thousands: points where there are decimal commas, else
    commas."""
    import pyarrow.compute as pc

    return _any(pc.match_substring(text, "." if comma else ","))


def are_grouped(text: Any, comma: bool) -> bool | None:
    """Whether that sign sets off thousands in a column; None if what there is can be meant either way."""
    import pyarrow.compute as pc

    if not comma:
        return True
    pointed = pc.and_(pc.match_substring(text, "."), pc.match_substring_regex(text, NUMBER))
    if _any(pc.and_(pointed, pc.invert(pc.match_substring_regex(text, PERHAPS_BY_POINTS)))):
        return False
    return True if _any(pc.match_substring_regex(text, SURELY_BY_POINTS)) else None


def _ungrouped(text: Any, comma: bool) -> Any:
    """Numbers in which nothing sets off the thousands, with a decimal point; other text as it is."""
    import pyarrow.compute as pc

    plain = pc.replace_substring(text, "." if comma else ",", "")
    plain = pc.replace_substring(plain, ",", ".") if comma else plain
    kept = pc.replace_substring(text, ".", " ") if comma else text  # a point that parts no groups makes no number
    return pc.if_else(pc.match_substring_regex(text, BY_POINTS if comma else BY_COMMAS), plain, kept)


def numbers_of(text: Any, comma: bool, grouped: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """Trimmed text as float64, NaN where it is missing or none; and where it is neither a number nor missing.

    True and false are 1 and 0; what is too large for a float64 is no number. ``grouped``: thousands are set off.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if grouped:
        text = _ungrouped(text, comma)
    elif comma and _any(pc.match_substring(text, ",")):
        dotted = pc.replace_substring(text, ",", ".")
        text = pc.if_else(pc.match_substring_regex(text, WITH_COMMA), dotted, text)
    good = pc.match_substring_regex(text, NUMBER)
    if not _all(good):
        lower = pc.utf8_lower(text)
        for word, value in TRUTH.items():
            text = pc.if_else(pc.equal(lower, word), f"{value:.0f}", text)
        good = pc.match_substring_regex(text, NUMBER)
    plain = pc.utf8_ltrim(pc.if_else(good, text, None), "+")
    values = plain.cast(pa.float64()).fill_null(np.nan).to_numpy(zero_copy_only=False).astype(np.float64)
    bad = ~good.fill_null(True).to_numpy(zero_copy_only=False) | np.isinf(values)
    return np.where(bad, np.nan, values), bad


def are_truths(text: Any) -> bool:
    """Whether there is nothing but true and false."""
    import pyarrow as pa
    import pyarrow.compute as pc

    words = pa.array(tuple(TRUTH), pa.large_string())
    return text.null_count < len(text) and _all(pc.is_in(pc.utf8_lower(text.drop_null()), value_set=words))


def are_dates(text: Any) -> bool:
    """Whether there is nothing but dates, with or without a time."""
    import pyarrow.compute as pc

    return text.null_count < len(text) and _all(pc.match_substring_regex(text, DATE))


def look_like_numbers(text: Any) -> bool:
    """Whether most of it is digits with signs between them, though it cannot be read as numbers."""
    import pyarrow.compute as pc

    found = pc.sum(pc.match_substring_regex(text, LIKE_A_NUMBER)).as_py() or 0
    return found > 0.5 * (len(text) - text.null_count)


def objects_of(text: Any) -> np.ndarray:
    """Text as Python's own, None where it is missing."""
    values = np.empty(len(text), dtype=object)
    values[:] = text.to_pylist()
    return values


def truths_of(text: Any) -> np.ndarray:
    """True, False or None for each cell of true and false."""
    words = {"true": True, "false": False}
    values = np.empty(len(text), dtype=object)
    values[:] = [None if cell is None else words[cell.lower()] for cell in text.to_pylist()]
    return values


def truths_in(values: np.ndarray) -> np.ndarray:
    """Numbers as True, False where they are 0, or None where they are missing."""
    found = np.empty(len(values), dtype=object)
    found[:] = [None if value != value else bool(value) for value in values.tolist()]
    return found


def _all(mask: Any) -> bool:
    """Whether it holds of every value that there is."""
    import pyarrow.compute as pc

    return pc.all(mask, min_count=0).as_py() is not False


def _any(mask: Any) -> bool:
    import pyarrow.compute as pc

    return pc.any(mask, min_count=0).as_py() is True
