"""Files of tables, read a piece at a time: CSV and TSV (plain or gzip), Parquet, Arrow. The pieces are pyarrow tables.

The cells of CSV are text here, as they stand in the file; `cells` says what they mean. A place in a file is told as its
user sees it: by line in text, also where a quoted cell goes over several, and by row elsewhere.
"""

import codecs
import csv
import difflib
import gzip
import io
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn, TextIO

import numpy as np

from smallearn._run.progress import Bar
from smallearn._text import count, listed, show
from smallearn.cli.common import CommandError, check_input
from smallearn.cli.terminal import is_quiet

LOOKED_AT = 100_000  # signs of a file, to see how its columns are parted
CELLS = 250_000  # in a piece: some 50 MB of memory
SEPARATORS = ";\t|,"  # of two that would do alike, commas are rather part of the text
PARQUET, ARROW = (".parquet", ".pq"), (".arrow", ".feather", ".ipc")
DECIMAL_COMMA = re.compile(r"[+-]?([0-9]*|[1-9][0-9]{0,2}([.][0-9]{3})+),[0-9]+")
DECIMAL_POINT = re.compile(r"(?![+-]?[1-9][0-9]{0,2}[.][0-9]{3}$)[+-]?[0-9]*[.][0-9]+")  # 1.234 may be 1234
NO_TABLES = {
    ".xlsx": "save it as CSV in the spreadsheet",
    ".xls": "save it as CSV in the spreadsheet",
    ".ods": "save it as CSV in the spreadsheet",
    ".json": "save it as CSV or Parquet",
    ".zip": "unpack it first",
}


def open_source(path: Path, encoding: str = "utf-8", missing: Sequence[str] = ()) -> "Source":
    """The table in a file, by its ending; what is neither Parquet nor Arrow is CSV. See `Source.missing`."""
    source = _open(path, encoding)
    source.missing = tuple(text.strip() for text in missing)
    return source


def _open(path: Path, encoding: str) -> "Source":
    path = Path(path)
    check_table(path)
    need_tables()
    suffix = path.suffix.lower()
    if suffix in PARQUET:
        return ParquetSource(path)
    return ArrowSource(path) if suffix in ARROW else CsvSource(path, encoding)


def check_table(path: Path) -> None:
    """A table that is to be read is there, and of no kind that cannot be read: said before any work is done."""
    check_input(path)
    if not path.is_file():
        raise CommandError(f"{show(str(path))} is not a plain file, and a table is read more than once: save it first")
    if path.suffix.lower() in NO_TABLES:
        raise CommandError(f"{show(str(path))} is no table that can be read here: {NO_TABLES[path.suffix.lower()]}")


def need_tables() -> None:
    """An error if what reads tables is not installed."""
    for name in ("pandas", "pyarrow"):
        try:
            __import__(name)
        except ImportError:
            raise CommandError(f"tables need {name}, which is not installed: pip install 'smallearn[cli]'") from None


class Source:
    """A table in a file.

    ``names`` are its columns, in order and all different; ``titles`` the same as the file has them, where a column
    without a name has an empty one; ``unnamed`` the names of these. ``done`` of ``size`` is how far it was read, in
    ``unit``. ``comma`` tells whether numbers may have decimal commas, ``has_commas`` whether more have them than have
    points, at the beginning; ``missing`` are texts that mean a missing value here, beside the usual ones.
    """

    size, done, unit, comma, is_text = 0, 0, "rows", True, False
    missing: tuple[str, ...] = ()
    has_commas = False

    def __init__(self, path: Path, titles: Sequence[str]):
        self.path, self.titles = path, list(titles)
        twice = [name for name, times in Counter(self.titles).items() if times > 1 and name]
        if twice:
            raise CommandError(f"{self.shown} has more than one column called {listed(twice)}: rename them")
        self.names = [title or f"Unnamed: {position}" for position, title in enumerate(self.titles)]
        if len(set(self.names)) < len(self.names):
            raise CommandError(f"{self.shown} has columns without a name, and others called Unnamed: rename them")
        self.unnamed = [name for name in self.names if re.fullmatch(r"Unnamed: \d+|__index_level_\d+__", name)]

    @property
    def shown(self) -> str:
        """The file's name in a sentence."""
        return show(str(self.path), quote=False, most=200)

    def chunks(self, rows: int | None = None, columns: Sequence[str] | None = None) -> Iterator[Any]:
        """The table piece by piece, with ``names`` for names; of all ``columns`` or some, in the file's order."""
        raise NotImplementedError

    def shown_chunks(self, rows: int | None = None, columns: Sequence[str] | None = None) -> Iterator[Any]:
        """The same with a bar of progress, on a terminal, if it takes its time."""
        with Bar(self.size, self.unit, not is_quiet()) as bar:
            for piece in self.chunks(rows, columns):
                yield piece
                if self.done > bar.done:
                    bar.step(self.done - bar.done)

    def read(self, columns: Sequence[str] | None = None) -> Any:
        """The table at once."""
        import pyarrow as pa

        pieces = list(self.shown_chunks(columns=columns))
        if sum(len(piece) for piece in pieces) == 0:
            raise CommandError(f"{self.shown} has no rows")
        return pa.concat_tables(pieces)

    def rows_at_once(self) -> int:
        """Rows of a piece, so that pieces of wide tables take no more memory than those of narrow ones."""
        return max(100, CELLS // max(1, len(self.names)))

    def place(self, row: int) -> str:
        """Where row number ``row``, from 0, is in the file."""
        return f"row {row + 1}"

    def without_missing(self, values: np.ndarray) -> np.ndarray:
        """Numbers with NaN in place of those that mean a missing value."""
        codes = [float(text) for text in self.missing if _is_number(text)]
        return np.where(np.isin(values, codes), np.nan, values) if codes else values

    def refuse(self, row: int, column: str, words: str) -> NoReturn:
        """An error about one cell."""
        raise CommandError(f"{self.shown}, {self.place(row)}, column {show(column)}: {words}")

    def lacks(self, names: Sequence[str], who: str) -> NoReturn:
        """An error about columns that are not there."""
        has = listed(self.names[:20]) + (", …" if len(self.names) > 20 else "")
        what = f"columns {listed(names)}, which {who} reads" if len(names) > 1 else f"column {listed(names)}"
        nameless = ": the first line has to name the columns" if all(map(_is_number, self.names)) else ""
        near = list(dict.fromkeys(other for name in names for other in _near(name, self.names)))
        meant = f"did you mean {' or '.join(map(show, near[:5]))}? It" if near else "it"
        raise CommandError(f"{self.shown} has no {what}; {meant} has {has}{nameless}")


class CsvSource(Source):
    """A table as text."""

    unit, is_text = "MB", True

    def __init__(self, path: Path, encoding: str):
        self.path, self.encoding = path, _codec(encoding)
        self.size = max(1, path.stat().st_size // 1_000_000)
        text = self._beginning()
        self.separator = _separator(path, text)
        self.comma = self.separator != ","
        # Cells verbatim, unless a space stands between a separator and a quotation mark.
        self.spaced = re.search(re.escape(self.separator) + ' +"', text) is not None
        header = next((row for row in self._records(io.StringIO(text, newline="")) if row), None)
        if header is None:
            raise CommandError(f"{self.shown} is empty")
        super().__init__(path, [title.strip() for title in header])
        self.has_commas = self.comma and self._has_commas(text)

    def chunks(self, rows: int | None = None, columns: Sequence[str] | None = None) -> Iterator[Any]:
        """See `Source.chunks`."""
        import pandas as pd
        import pyarrow as pa

        self.done, begin = 0, 1  # the first record is the header
        options: dict[str, Any] = {"header": None, "dtype": str, "na_filter": False, "sep": self.separator}
        options |= {"skipinitialspace": self.spaced, "chunksize": rows or self.rows_at_once()}
        with self._told_problems(), self._opened() as (file, raw):
            # All columns are read, or pandas would not notice a row that has too many.
            for frame in pd.read_csv(file, **options):
                self.done = raw.tell() // 1_000_000
                piece, begin = frame.iloc[begin:], 0
                used = [(piece.iloc[:, self.names.index(name)], name) for name in _in_order(self, columns)]
                yield pa.table({name: pa.array(cells, pa.large_string(), from_pandas=True) for cells, name in used})

    def _has_commas(self, text: str) -> bool:
        """Whether numbers at the beginning have decimal commas rather than points."""
        cells = [cell.strip() for record in self._records(io.StringIO(text, newline="")) for cell in record]
        return sum(map(_is_like(DECIMAL_COMMA), cells)) > sum(map(_is_like(DECIMAL_POINT), cells))

    def is_marked(self) -> bool:
        """Whether the file begins with the mark of UTF-8, as some spreadsheets write it."""
        with self.path.open("rb") as file:
            return file.read(3) == codecs.BOM_UTF8

    def place(self, row: int) -> str:
        """See `Source.place`: the line in which the row begins."""
        with self._told_problems(), self._opened() as (file, _):
            for number, (line, _) in enumerate(self._numbered(file)):
                if number == row + 1:
                    return f"line {line}"
        return super().place(row)

    def _numbered(self, file: TextIO) -> Iterator[tuple[int, list[str]]]:
        """The records that are not blank, and the line in which each begins; the header is the first."""
        records = self._records(file)
        before = 0
        for row in records:
            if row and (len(row) > 1 or not row[0].isspace()):  # as pandas does
                yield before + 1, row
            before = records.line_num

    def _records(self, file: TextIO) -> Any:
        csv.field_size_limit(sys.maxsize)
        return csv.reader(file, delimiter=self.separator, skipinitialspace=self.spaced)

    @contextmanager
    def _opened(self) -> Iterator[tuple[TextIO, Any]]:
        """The text, and the file below it, which knows how far it was read."""
        with self.path.open("rb") as raw:
            plain = gzip.GzipFile(fileobj=raw) if self.path.suffix.lower() == ".gz" else raw
            yield io.TextIOWrapper(plain, encoding=self.encoding, newline=""), raw

    def _beginning(self) -> str:
        with self._told_problems(), self._opened() as (file, _):
            self._check_text(file.buffer.read(LOOKED_AT // 10))
        with self._told_problems(), self._opened() as (file, _):
            return file.read(LOOKED_AT)

    @contextmanager
    def _told_problems(self) -> Iterator[None]:
        try:
            yield
        except UnicodeError:
            raise CommandError(self._not_text()) from None
        except (OSError, EOFError) as problem:
            raise CommandError(f"{self.shown} cannot be read: {problem}") from None
        except ValueError as problem:
            if "Calling read(nbytes) on source failed" in str(problem):  # so pandas calls an interruption
                raise KeyboardInterrupt from None
            raise CommandError(self._not_parsed(problem)) from None

    def _check_text(self, start: bytes) -> None:
        """An error about a file that is no text: zeros are in none, but in UTF-16 and its like."""
        wide = start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) or self.encoding.startswith(
            ("utf-16", "utf-32")
        )
        if wide or b"\0" not in start:
            return
        for name, zeros in (("utf-16-le", start[1::2]), ("utf-16-be", start[::2])):
            if zeros.count(0) > 0.8 * len(zeros):
                raise CommandError(f"{self.shown} is not UTF-8 text: save it as UTF-8, or try --encoding {name}")
        raise CommandError(f"{self.shown} is not a text file: tables are CSV, TSV, Parquet or Arrow, by their ending")

    def _not_text(self) -> str:
        with self.path.open("rb") as file:
            wide = file.read(2) in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
        if self.encoding != "utf-8-sig":
            return f"{self.shown} is not {self.encoding} text: try another --encoding, or none"
        return f"{self.shown} is not UTF-8 text: save it as UTF-8, or try --encoding {'utf-16' if wide else 'cp1252'}"

    def _not_parsed(self, problem: ValueError) -> str:
        """The row that cannot be read, by its line."""
        last = 1
        with self._opened() as (file, _):
            for line, row in self._numbered(file):
                if len(row) > len(self.names):
                    found = f"line {line} has {count(len(row), 'cell')}, the header {len(self.names)}"
                    return f"{self.shown}, {found}: is a quotation mark missing?"
                last = line
        if "EOF inside string" in str(problem):
            return f"{self.shown}: a quotation mark that opens in line {last} is never closed"
        return f"{self.shown} cannot be read: {show(str(problem).strip(), quote=False, most=200)}"


class ParquetSource(Source):
    """A table in Parquet."""

    def __init__(self, path: Path):
        import pyarrow.parquet as pq

        self.path = path
        with told_problems(self):
            file = pq.ParquetFile(path)
        self.size = file.metadata.num_rows
        super().__init__(path, file.schema_arrow.names)
        file.close()

    def chunks(self, rows: int | None = None, columns: Sequence[str] | None = None) -> Iterator[Any]:
        """See `Source.chunks`."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        self.done = 0
        used = None if columns is None else [self.titles[self.names.index(name)] for name in _in_order(self, columns)]
        with told_problems(self), pq.ParquetFile(self.path) as file:
            for batch in file.iter_batches(rows or self.rows_at_once(), columns=used):
                self.done += len(batch)
                yield pa.Table.from_batches([batch]).rename_columns(_in_order(self, columns))


class ArrowSource(Source):
    """A table in Arrow's own format, file or stream; Feather is the same."""

    def __init__(self, path: Path):
        self.path = path
        with told_problems(self), self._opened() as file:
            self.size = getattr(file, "num_record_batches", 1)
            super().__init__(path, file.schema.names)

    unit = "pieces"

    def chunks(self, rows: int | None = None, columns: Sequence[str] | None = None) -> Iterator[Any]:
        """See `Source.chunks`."""
        import pyarrow as pa

        self.done = 0
        with told_problems(self), self._opened() as file:
            known = hasattr(file, "num_record_batches")
            batches = (file.get_batch(i) for i in range(file.num_record_batches)) if known else iter(file)
            for batch in batches:
                self.done += 1
                table = pa.Table.from_batches([batch]).rename_columns(self.names).select(_in_order(self, columns))
                step = rows or self.rows_at_once()
                for begin in range(0, len(table), step):
                    yield table.slice(begin, step)

    @contextmanager
    def _opened(self) -> Iterator[Any]:
        import pyarrow as pa

        with pa.memory_map(str(self.path)) as mapped:
            begins = mapped.read(6)
            mapped.seek(0)
            with (pa.ipc.open_file if begins == b"ARROW1" else pa.ipc.open_stream)(mapped) as file:
                yield file


@contextmanager
def told_problems(source: Source) -> Iterator[None]:
    """What pyarrow cannot read, in a sentence."""
    try:
        yield
    except (ValueError, OSError) as problem:  # pyarrow's errors are these
        words = show(str(problem).strip(), quote=False, most=200)
        raise CommandError(f"{source.shown} cannot be read: {words}") from None


def _in_order(source: Source, columns: Sequence[str] | None) -> list[str]:
    """The columns to read; the first where none is wanted, so that there are rows."""
    wanted = set(source.names if columns is None else columns or source.names[:1])
    return [name for name in source.names if name in wanted]


def _is_like(pattern: re.Pattern[str]) -> Callable[[str], bool]:
    return lambda text: pattern.fullmatch(text) is not None


def _near(name: str, names: Sequence[str]) -> list[str]:
    """Names that were perhaps meant: those that differ in case or spaces only, else the closest."""
    same = [other for other in names if _plain(other) == _plain(name)]
    return same or difflib.get_close_matches(name, names, n=3, cutoff=0.7)


def _plain(name: str) -> str:
    return "".join(name.casefold().split())


def _is_number(title: str) -> bool:
    try:
        float(title)
    except ValueError:
        return False
    return True


def _codec(encoding: str) -> str:
    try:
        name = codecs.lookup(encoding).name
    except LookupError:
        raise CommandError(f"there is no encoding {show(encoding)}; usual are utf-8, cp1252, latin-1, utf-16") from None
    return "utf-8-sig" if name == "utf-8" else name


def _separator(path: Path, text: str) -> str:
    """The sign that parts the columns: a tab in TSV, else the one by which the first lines have as many columns each,
    and most of them."""
    if ".tsv" in [suffix.lower() for suffix in path.suffixes]:
        return "\t"
    found = {}
    for sign in SEPARATORS:
        rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=sign))
        widths = {len(row) for row in (rows[:-1] if len(text) == LOOKED_AT else rows) if row}
        found[sign] = (len(widths) == 1 and widths != {1}, max(widths, default=0))
    best = max(found, key=lambda sign: found[sign])
    return best if found[best][1] > 1 else ","
