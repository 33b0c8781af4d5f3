"""Cells of a table as numbers, booleans, dates or text: one rule for training and for predictions. Columns are those
of pyarrow.

Spaces around a cell do not count. A missing value is an empty cell, ``?``, or what pandas takes for one: NA, N/A, NaN,
null, None and their like. Numbers have a decimal point, or a comma where commas do not part the columns.
"""

from typing import Any

import numpy as np

MISSING = (
    *("", "?", "NA", "N/A", "n/a", "NaN", "nan", "-NaN", "-nan", "null", "NULL", "None", "<NA>"),
    *("#N/A", "#N/A N/A", "#NA", "1.#IND", "-1.#IND", "1.#QNAN", "-1.#QNAN"),
)
NUMBER = r"^[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?$"
WITH_COMMA = r"^[+-]?[0-9]*,[0-9]+$"
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


def trimmed(column: Any, verbatim: tuple[str, ...] = ()) -> Any:
    """Text without spaces around it, null where a value is missing; what is one of ``verbatim`` stays as it is."""
    import pyarrow as pa
    import pyarrow.compute as pc

    text = as_text(column)
    inner = pc.utf8_trim_whitespace(text)
    inner = pc.if_else(pc.is_in(inner, value_set=pa.array(MISSING, pa.large_string())), None, inner)
    if not verbatim:
        return inner
    return pc.if_else(pc.is_in(text, value_set=pa.array(verbatim, pa.large_string())), text, inner)


def numbers_of(text: Any, comma: bool) -> tuple[np.ndarray, np.ndarray]:
    """Trimmed text as float64, NaN where it is missing or none; and where it is neither a number nor missing.

    True and false are 1 and 0; what is too large for a float64 is no number.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if comma and _any(pc.match_substring(text, ",")):
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


def _all(mask: Any) -> bool:
    """Whether it holds of every value that there is."""
    import pyarrow.compute as pc

    return pc.all(mask, min_count=0).as_py() is not False


def _any(mask: Any) -> bool:
    import pyarrow.compute as pc

    return pc.any(mask, min_count=0).as_py() is True
