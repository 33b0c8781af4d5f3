"""The column that dates the rows of a table, as days."""

import re
from typing import Any

import numpy as np

from smallearn._text import show
from smallearn.cli.errors import CommandError
from smallearn.cli.io import cells
from smallearn.cli.io.tables import TableFile

# Year first, as 2024-03-31, 2024/3/31, 20240331 and 2024-03; and day first with points, as 31.3.2024. What follows a
# whole date, such as a time, does not matter.
YEAR_FIRST = re.compile(r"(\d{4})(?:([-/.])(\d{1,2})(?:\2(\d{1,2}))?|(\d{2})(\d{2}))(?=$|[T\s])")
DAY_FIRST = re.compile(r"(\d{1,2})\.(\d{1,2})\.(\d{4})(?=$|\s)")


def days_in(file: TableFile, name: str, column: Any, begin: int) -> np.ndarray:
    """The day of each cell of a chunk that begins at row ``begin``; NaT where it is empty."""
    import pyarrow as pa

    kind = cells.type_of(column)
    if pa.types.is_date(kind) or pa.types.is_timestamp(kind):
        values = cells.one_array(column)
        values = values.cast(values.type.value_type) if pa.types.is_dictionary(values.type) else values
        return values.to_numpy(zero_copy_only=False).astype("datetime64[D]")
    encoded = cells.one_array(column)
    encoded = encoded if pa.types.is_dictionary(encoded.type) else encoded.dictionary_encode()
    different = [_day(value, file.missing) for value in encoded.dictionary.to_pylist()]
    index = encoded.indices.fill_null(len(different)).to_numpy(zero_copy_only=False)
    bad = np.array([*(day is None for day in different), False])[index]
    if bad.any():
        row = int(bad.argmax())
        file.refuse_cell(
            begin + row,
            name,
            f"{show(column[row].as_py())} is not a date that can be told for sure; write it as 2024-03-31",
        )
    days = [np.datetime64("NaT") if day is None else day for day in different]
    return np.array([*days, np.datetime64("NaT")], dtype="datetime64[D]")[index]


def _day(value: Any, missing: tuple[str, ...]) -> np.datetime64 | None:
    """The day that a cell names; NaT if it is empty, None if it cannot be told."""
    if value is None or value != value:
        return np.datetime64("NaT")
    text = str(int(value)) if isinstance(value, float) and value.is_integer() else str(value).strip()
    if text in cells.MISSING or text in missing:
        return np.datetime64("NaT")
    if found := YEAR_FIRST.match(text):
        year, _, month, day, short_month, short_day = found.groups()
        parts = year, month or short_month, day or short_day or "1"
    elif found := DAY_FIRST.match(text):
        parts = found[3], found[2], found[1]
    else:
        return None
    try:
        return np.datetime64(f"{parts[0]}-{int(parts[1]):02d}-{int(parts[2]):02d}", "D")
    except ValueError:  # such as the 31st of February
        return None


def check_date_column(file: TableFile, name: str) -> None:
    """Check that the file has the column that the user named."""
    if name not in file.names:
        file.refuse_names([name], "--date")


def no_dates(file: TableFile, name: str) -> CommandError:
    """The error that no row has a date."""
    return CommandError(f"{file.shown}: no row has a date in column {show(name)}")
