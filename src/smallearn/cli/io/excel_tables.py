"""Tables in Excel's format (.xlsx): a sheet whose first row that is not empty names the columns.

A cell is what it is in the sheet: a number, text, a date, a boolean or empty. A column of several kinds is text, unless
the text among its numbers means a missing value. The sheet is read once, row by row, and kept as columns of pyarrow.
"""

import datetime
import math
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from smallearn._text import exact, listed, show
from smallearn.cli.errors import CommandError, not_installed
from smallearn.cli.io import cells
from smallearn.cli.io.files import shown
from smallearn.cli.io.tables import ReadOptions, TableFile

ROWS_TOGETHER = 10_000
FORMATS_SEEN = 100  # rows whose formats are looked at
NAMES = {"number": "numbers", "text": "text", "date": "dates", "boolean": "true and false"}
LARGEST_WHOLE = 2**53  # beyond it, floats do not hold every whole number


def need_excel(user: str) -> None:
    """Check that the library for Excel is installed."""
    try:
        import openpyxl  # noqa: F401
    except ModuleNotFoundError:
        raise not_installed(user, "openpyxl", "excel") from None


class ExcelFile(TableFile):
    """A table in a sheet of a workbook."""

    def __init__(self, path: Path, options: ReadOptions):
        need_excel(f"reading {shown(path)}")
        about = path.stat()
        self._sheet = _read_sheet(path, options.sheet, options.missing, (about.st_mtime_ns, about.st_size))
        super().__init__(path, options, self._sheet.titles)
        self.size = len(self._sheet.rows)
        self._table, mixed = _as_table(self._sheet, self.names)
        self.after_reading = "\n".join(self._notes(mixed)) or None

    def about_rows(self) -> int:
        """See `TableFile.about_rows`: here it is the exact number."""
        return self.size

    def place(self, row: int) -> str:
        """See `TableFile.place`: the row of the sheet."""
        return f"row {self._sheet.rows[row]} of the sheet"

    def _chunks(self, rows: int, columns: Sequence[str]) -> Iterator[tuple[Any, int]]:
        table = self._table.select(list(columns))
        for begin in range(0, self.size, rows):
            yield table.slice(begin, rows), min(self.size, begin + rows)

    def _notes(self, mixed: dict[str, str]) -> list[str]:
        """What the user should know of the sheet."""
        notes = []
        if self._sheet.others:
            others = listed(self._sheet.others[:5])
            notes.append(f"{self.shown}: the sheet {show(self._sheet.name)} is read; --sheet names another: {others}.")
        for name, most in mixed.items():
            notes.append(f"Column {show(name)} has cells of several kinds, mostly {most}: it is read as text.")
        percent = [name for at, name in enumerate(self.names) if at in self._sheet.percent]
        if percent:
            notes.append(
                f"Percentages in {listed(percent[:5])} are read as the sheet stores them, 13.2% as 0.132; "
                "in CSV, 13.2% is read as 13.2."
            )
        return notes


# --- the sheet -------------------------------------------------------------------------------------------------------


@dataclass
class _Sheet:
    """What was read of a sheet.

    Parameters
    ----------
    name, others : str, list of str
        Its name, and those of the other sheets, unless the user chose.
    titles : list of str
        The titles of the columns.
    rows : list of int
        The number in the sheet of each row of the table.
    pieces : list of list of _Piece
        Groups of rows, each in columns.
    percent : set of int
        The positions of columns whose first numbers are formatted as percentages.
    """

    name: str
    others: list[str]
    titles: list[str] = field(default_factory=list)
    rows: list[int] = field(default_factory=list)
    pieces: list[list["_Piece"]] = field(default_factory=list)
    percent: set[int] = field(default_factory=set)


@lru_cache(maxsize=2)  # commands open a table more than once
def _read_sheet(path: Path, name: str | None, missing: tuple[str, ...], _stamp: tuple[int, int]) -> _Sheet:
    """Read a sheet row by row."""
    from openpyxl import load_workbook

    with _reading(path), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of what is in the workbook besides cells
        book = load_workbook(path, read_only=True, data_only=True)
        try:
            chosen = _choose_sheet(book, path, name)
            others = [other.title for other in book.worksheets if other.title != chosen] if name is None else []
            found = _Sheet(chosen, others)
            book[chosen].reset_dimensions()  # what a file says of its size may be wrong
            _read_rows(book[chosen], found, frozenset((*cells.MISSING, *cells.MISSING_NUMBER, *missing)))
        finally:
            book.close()
    if not found.titles:
        raise CommandError(f"{shown(path)}: the sheet {show(chosen)} is empty")
    return found


def _read_rows(sheet: Any, found: _Sheet, missing: frozenset[str]) -> None:
    """Read titles, from the first row that is not empty, and rows."""
    kept: list[list[Any]] = []
    titles = found.titles
    for number, row in enumerate(sheet.iter_rows(), start=1):
        values = [_value(cell) for cell in row]
        while values and values[-1] is None:
            values.pop()
        if not values:
            continue
        if not titles:
            titles += ["" if value is None else _as_text(value).strip() for value in values]
            continue
        titles += [""] * (len(values) - len(titles))
        if len(found.rows) < FORMATS_SEEN:
            numbers = [at for at, value in enumerate(values) if _is_number(value)]
            found.percent |= {at for at in numbers if "%" in (row[at].number_format or "")}
        found.rows.append(number)
        kept.append(values)
        if len(kept) == ROWS_TOGETHER:
            found.pieces.append(_pieces_of(kept, len(titles), missing))
            kept = []
    found.pieces.append(_pieces_of(kept, len(titles), missing))


def _pieces_of(rows: list[list[Any]], n_columns: int, missing: frozenset[str]) -> list["_Piece"]:
    """Rows as columns."""
    columns = ([row[at] if at < len(row) else None for row in rows] for at in range(n_columns))
    return [_Piece(column, missing) for column in columns]


def _as_table(sheet: _Sheet, names: Sequence[str]) -> tuple[Any, dict[str, str]]:
    """The table with these names of columns, and for each column of several kinds the most frequent one."""
    import pyarrow as pa

    arrays, mixed = {}, {}
    for at, name in enumerate(names):
        # Rows above the first that has a cell in this column do not have it.
        pieces = [group[at] if at < len(group) else _Piece([None] * group[0].n) for group in sheet.pieces]
        kinds: Counter[str] = Counter()
        for piece in pieces:
            kinds.update(piece.kinds)
        kind = _kind_of(kinds)
        if kind == "mixed":
            mixed[name] = NAMES[max(NAMES, key=lambda one: kinds[one])]
        whole = all(piece.is_whole for piece in pieces)
        arrays[name] = pa.chunked_array([piece.array(kind, whole) for piece in pieces])
    return pa.table(arrays), mixed


class _Piece:
    """Some cells of a column, as an array of pyarrow as soon as they are of one kind."""

    def __init__(self, values: list[Any], missing: frozenset[str] = frozenset()):
        self.n = len(values)
        self.kinds = Counter(_kind(value, missing) for value in values)
        self.kinds.pop("missing", None)
        self.is_whole = all(
            isinstance(value, int) and abs(value) <= LARGEST_WHOLE for value in values if _is_number(value)
        )
        self._values: Any = values
        if set(self.kinds) in ({"number"}, {"text"}):
            self._values = self.array(next(iter(self.kinds)), self.is_whole)

    def array(self, kind: str, whole: bool) -> Any:
        """The cells as a column of pyarrow."""
        import pyarrow as pa

        values = self._values if isinstance(self._values, list) else self._values.to_pylist()
        if kind == "number":
            numbers = [value if _is_number(value) else None for value in values]
            return pa.array(numbers, pa.int64() if whole else pa.float64())
        if kind == "boolean":
            return pa.array([value if isinstance(value, bool) else None for value in values], pa.bool_())
        if kind == "date":
            dates = [value if isinstance(value, datetime.date) else None for value in values]
            return pa.array(dates, pa.timestamp("us"))
        texts = [None if value is None else _as_text(value) for value in values]
        return pa.array(texts, pa.null() if kind == "empty" else pa.large_string())


def _choose_sheet(book: Any, path: Path, name: str | None) -> str:
    """The sheet with a name, else the first that can be seen."""
    sheets = {sheet.title: sheet for sheet in book.worksheets}
    if name is not None and name not in sheets:
        raise CommandError(f"{shown(path)} has no sheet {show(name)}; it has {listed(list(sheets))}")
    if not sheets:
        raise CommandError(f"{shown(path)} has no sheet with cells")
    seen = [title for title, sheet in sheets.items() if sheet.sheet_state == "visible"]
    return name if name is not None else (seen or list(sheets))[0]


def _value(cell: Any) -> Any:
    """The value of a cell: None if it is empty or an error such as #DIV/0!."""
    value = cell.value
    if value is None or cell.data_type == "e" or value == "":
        return None
    if isinstance(value, int | float | str | datetime.datetime):
        return value
    return value if isinstance(value, datetime.date) else str(value)  # times and durations


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _kind(value: Any, missing: frozenset[str]) -> str:
    """What a cell is. Text that means a missing value is that among other kinds, and text among text."""
    if value is None:
        return "missing"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int | float):
        return "number"
    if isinstance(value, str):
        return "placeholder" if value.strip() in missing else "text"
    return "date"


def _kind_of(kinds: Counter[str]) -> str:
    """What a column is."""
    real = set(kinds) - {"placeholder"}
    if not real:
        return "text" if kinds else "empty"
    return real.pop() if len(real) == 1 else "mixed"


def _as_text(value: Any) -> str:
    """A cell as text: whole numbers without a point, dates as ISO 8601."""
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, int | float):
        return exact(value) if math.isfinite(value) else str(value)
    return value.isoformat(" ") if isinstance(value, datetime.datetime) else str(value)


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    """Turn the errors of openpyxl, which are of many kinds, into one sentence."""
    try:
        yield
    except (CommandError, KeyboardInterrupt, MemoryError):
        raise
    except Exception as error:
        reason = show(str(error).strip() or type(error).__name__, quote=False, most=200)
        raise CommandError(
            f"{shown(path)} cannot be read as an Excel file: {reason}; is it protected by a password, or damaged?"
        ) from None
