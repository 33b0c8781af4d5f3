"""Tables that are written as Excel workbooks (.xlsx), row by row."""

import datetime
import decimal
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from smallearn.cli.errors import CommandError
from smallearn.cli.io import cells
from smallearn.cli.io.excel_tables import LARGEST_WHOLE
from smallearn.cli.io.tables import TableFile

MOST_ROWS = 1_048_575  # below the titles
LONGEST = 32_767  # characters in a cell
PLAIN = re.compile(r"-?(0|[1-9][0-9]{0,14})(\.[0-9]{1,15})?")  # text that a sheet would show the same as a number


class ExcelWriter:
    """Writes rows as cells that are what they were: numbers, text, dates, booleans or empty.

    In text files numbers are text; what is plainly a number becomes one. No text becomes a formula.
    """

    def __init__(self, path: Path, source: TableFile, copied: Sequence[str], added: Sequence[str]):
        from openpyxl import Workbook

        self.path, self.source = path, source
        self._book = Workbook(write_only=True)
        self._sheet = self._book.create_sheet(title="Sheet1")
        self._n_rows = 0
        title = dict(zip(source.names, source.titles, strict=True))
        self._append([*(title[name] for name in copied), *added])

    def write(self, chunk: Any, added: Sequence[Any]) -> None:
        """Write a chunk of the source with the columns added to it."""
        self._n_rows += len(chunk)
        if self._n_rows > MOST_ROWS:
            raise CommandError(f"an Excel sheet holds at most {MOST_ROWS:,} rows: write CSV or Parquet")
        columns = [self._of_source(column) for column in chunk.columns] + [column.to_pylist() for column in added]
        for row in zip(*columns, strict=True):
            self._append(row)

    def _of_source(self, column: Any) -> list[Any]:
        values = column.to_pylist()
        if self.source.is_text and cells.is_text_type(cells.type_of(column)):
            return [_number_or_text(value, self.source.has_commas) for value in values]
        return values

    def _append(self, row: Sequence[Any]) -> None:
        from openpyxl.cell import WriteOnlyCell

        found = []
        for value in map(_cell_value, row):
            if isinstance(value, str) and value[:1] == "=":
                cell = WriteOnlyCell(self._sheet, value)
                cell.data_type = "s"
                found.append(cell)
            else:
                found.append(value)
        self._sheet.append(found)

    def close(self) -> None:
        """Finish the file."""
        self._book.save(self.path)


def _number_or_text(value: str | None, has_commas: bool) -> Any:
    """A cell of a text file: a number if it is plainly one."""
    if value is None or value == "":
        return None
    plain = value.replace(",", ".") if has_commas and "." not in value else value
    if PLAIN.fullmatch(plain) is None:
        return value
    return float(plain) if "." in plain else int(plain)


def _cell_value(value: Any) -> Any:
    """A value as a cell can hold it."""
    from openpyxl.cell.cell import ILLEGAL_CHARACTERS_RE

    if value is None or value != value:
        return None
    if isinstance(value, str):
        return ILLEGAL_CHARACTERS_RE.sub("\ufffd", value)[:LONGEST]
    if isinstance(value, bool | float):
        return value if abs(value) != float("inf") else str(value)
    if isinstance(value, int):
        return value if abs(value) <= LARGEST_WHOLE else str(value)
    if isinstance(value, datetime.datetime):
        return value.isoformat(" ") if value.tzinfo is not None else value
    return value if isinstance(value, datetime.date | datetime.time | decimal.Decimal) else str(value)
