"""Tables in CSV and TSV, plain or gzip: separator, header, decimal sign and encoding are detected."""

import codecs
import csv
import gzip
import io
import re
import sys
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

from smallearn._text import count, show
from smallearn.cli.errors import CommandError
from smallearn.cli.io.files import shown
from smallearn.cli.io.tables import ReadOptions, TableFile

SAMPLE = 100_000  # characters at the beginning that show how a file is written
SAMPLE_BYTES = 8_000  # … that show whether it is text
PACKED = 4  # text that gzip makes of a byte, about
TAIL = 100_000  # characters at the end, among which the last line is
SEPARATORS = ";\t|,"  # if two fit equally, the earlier: commas are more often part of the text
UNITS = " %$€£¥\u00a0\u202f"  # around numbers
DECIMAL_COMMA = re.compile(r"[+-]?([0-9]*|[1-9][0-9]{0,2}([.][0-9]{3})+),[0-9]+")
DECIMAL_POINT = re.compile(r"(?![+-]?[1-9][0-9]{0,2}[.][0-9]{3}$)[+-]?[0-9]*[.][0-9]+")  # 1.234 may be 1234


class CsvFile(TableFile):
    """A table as text."""

    unit, is_text = "MB", True

    def __init__(self, path: Path, options: ReadOptions):
        self.text = _TextFile(path, _codec(options.encoding))
        self.size = max(1, path.stat().st_size // 1_000_000)
        sample = self.text.sample()
        self.separator = _separator(path, sample)
        self.may_have_commas = self.separator != ","
        # Cells are taken verbatim, unless a space stands between a separator and a quotation mark.
        self._skips_spaces = re.search(re.escape(self.separator) + ' +"', sample) is not None
        records = [record for record in self._records(io.StringIO(sample, newline="")) if record]
        if not records:
            raise CommandError(f"{shown(path)} is empty")
        super().__init__(path, options, [title.strip() for title in records[0]])
        self._characters_per_row = len(sample) / len(records)
        self.has_commas = self.may_have_commas and _has_decimal_commas(records)

    @property
    def encoding(self) -> str:
        """The codec of the text; ``utf-8-sig`` reads UTF-8 with and without a byte-order mark."""
        return self.text.encoding

    def has_byte_order_mark(self) -> bool:
        """Whether the file begins with the mark of UTF-8, as some spreadsheets write it."""
        with self.path.open("rb") as file:
            return file.read(3) == codecs.BOM_UTF8

    def about_rows(self) -> int:
        """See `TableFile.about_rows`: as if all rows were as long as the first ones."""
        packed = PACKED if self.path.suffix.lower() == ".gz" else 1
        return int(packed * self.path.stat().st_size / self._characters_per_row)

    def _chunks(self, rows: int, columns: Sequence[str]) -> Iterator[tuple[Any, int]]:
        import pandas as pd
        import pyarrow as pa

        header = 1
        options: dict[str, Any] = {"header": None, "dtype": str, "na_filter": False, "sep": self.separator}
        options |= {"skipinitialspace": self._skips_spaces, "chunksize": rows}
        used = [(name, self.names.index(name)) for name in columns]
        with self._reading(), self.text.opened() as (file, raw):
            # All columns are read: pandas would not notice a row with too many cells otherwise.
            # Records of pandas' are complete: it fills short ones up with empty cells.
            for frame in pd.read_csv(file, **options):
                if frame.shape[1] < len(self.names):
                    raise CommandError(f"{self.shown} was changed while it was read; run the command again")
                cells = frame.iloc[header:]
                header = 0
                arrays = {
                    name: pa.array(cells.iloc[:, position], pa.large_string(), from_pandas=True)
                    for name, position in used
                }
                yield pa.table(arrays), raw.tell() // 1_000_000
            self._look_at_end(file.tail)

    def _look_at_end(self, tail: str) -> None:
        """Say so, once, if the last line has fewer cells than the header."""
        last = tail.rstrip("\r\n").rpartition("\n")[2]
        record: list[str] = next(iter(self._records(io.StringIO(last, newline=""))), [])
        if self.after_reading is None and len(record) < len(self.names) > 1:
            line, whole = 0, record  # the line may be a part of a record: only now is it worthwhile to read all
            with self.text.opened() as (file, _):
                for line, whole in self._numbered_records(file):  # noqa: B007  # the last one is meant
                    pass
            if line > 1 and len(whole) < len(self.names):
                has = count(len(whole), "cell")
                self.after_reading = (
                    f"{self.shown}: line {line}, the last, has {has} where the header has {len(self.names)}: the file "
                    "may be incomplete. The others are read as missing."
                )

    def place(self, row: int) -> str:
        """See `TableFile.place`: the line in which the row begins."""
        with self._reading(), self.text.opened() as (file, _):
            for number, (line, _) in enumerate(self._numbered_records(file)):
                if number == row + 1:
                    return f"line {line}"
        return super().place(row)

    def _numbered_records(self, file: TextIO) -> Iterator[tuple[int, list[str]]]:
        """The records that are not blank, and the line in which each begins; the header is the first."""
        records = self._records(file)
        before = 0
        for record in records:
            if record and (len(record) > 1 or not record[0].isspace()):  # as pandas does
                yield before + 1, record
            before = records.line_num

    def _records(self, file: TextIO) -> Any:
        csv.field_size_limit(sys.maxsize)
        return csv.reader(file, delimiter=self.separator, skipinitialspace=self._skips_spaces)

    @contextmanager
    def _reading(self) -> Iterator[None]:
        """Turn pandas' errors into one sentence."""
        try:
            with self.text.reading():
                yield
        except ValueError as error:
            if "Calling read(nbytes) on source failed" in str(error):  # so pandas calls an interruption
                raise KeyboardInterrupt from None
            raise CommandError(self._parser_message(error)) from None

    def _parser_message(self, error: ValueError) -> str:
        """The row that cannot be parsed, by its line."""
        last = 1
        with self.text.opened() as (file, _):
            for line, record in self._numbered_records(file):
                if len(record) > len(self.names):
                    cells = f"line {line} has {count(len(record), 'cell')}, the header {len(self.names)}"
                    return f"{self.shown}, {cells}: is a quotation mark missing?"
                last = line
        if "EOF inside string" in str(error):
            return f"{self.shown}: a quotation mark that opens in line {last} is never closed"
        return f"{self.shown} cannot be read: {show(str(error).strip(), quote=False, most=200)}"


@dataclass(frozen=True)
class _TextFile:
    """A file of text, plain or gzip, in an encoding."""

    path: Path
    encoding: str

    @contextmanager
    def opened(self) -> Iterator[tuple["_Text", Any]]:
        """The text, and the file below it, which knows how far it was read."""
        with self.path.open("rb") as raw:
            plain = gzip.GzipFile(fileobj=raw) if self.path.suffix.lower() == ".gz" else raw
            yield _Text(plain, encoding=self.encoding, newline=""), raw

    def sample(self) -> str:
        """The beginning of the file."""
        with self.reading(), self.opened() as (file, _):
            self._check_bytes(file.buffer.peek(SAMPLE_BYTES)[:SAMPLE_BYTES])  # type: ignore[attr-defined]
            return file.read(SAMPLE)

    def _line_of_nul(self) -> int:
        """The line with the first NUL."""
        with self.opened() as (file, _):
            return next((number for number, line in enumerate(file, start=1) if "\0" in line), 1)

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Turn errors of reading into one sentence; those of parsing pass."""
        try:
            yield
        except UnicodeError:
            raise CommandError(self._encoding_message()) from None
        except _NulError:
            raise CommandError(
                f"{shown(self.path)}, line {self._line_of_nul()}: a NUL byte, which no text has: the file is "
                "damaged, or no table in text"
            ) from None
        except (OSError, EOFError, zlib.error) as error:
            raise CommandError(f"{shown(self.path)} cannot be read: {error}") from None

    def _check_bytes(self, start: bytes) -> None:
        """Raise if the file is not text: text has no zero bytes, except in UTF-16 and UTF-32."""
        if self.encoding.startswith(("utf-16", "utf-32")) or b"\0" not in start:
            return
        if _wide(start) is not None:
            raise CommandError(self._encoding_message())
        thirds = (("utf-32-le", start[3::4] + start[2::4]), ("utf-32-be", start[::4] + start[1::4]))
        for name, zeros in (*thirds, ("utf-16-le", start[1::2]), ("utf-16-be", start[::2])):
            if zeros.count(0) > 0.8 * len(zeros):
                raise CommandError(f"{shown(self.path)} is not UTF-8 text: save it as UTF-8, or try --encoding {name}")
        raise CommandError(
            f"{shown(self.path)} is not a text file; a table in Parquet or Arrow must have the ending of its format"
        )

    def _encoding_message(self) -> str:
        with self.opened() as (file, _):
            wide = _wide(bytes(file.buffer.read(4)))
        name = shown(self.path)
        if self.encoding != "utf-8-sig":
            return f"{name} is not {self.encoding} text: try another --encoding, or none"
        return f"{name} is not UTF-8 text: save it as UTF-8, or try --encoding {wide or 'cp1252'}"


class _NulError(Exception):
    """Text has a NUL."""


class _Text(io.TextIOWrapper):
    """Text that is checked as it is read, and whose end is remembered."""

    tail = ""

    def read(self, size: int | None = -1, /) -> str:
        text = super().read(size)
        if "\0" in text:
            raise _NulError
        self.tail = (self.tail + text)[-TAIL:] if len(text) < TAIL else text[-TAIL:]
        return text


def _wide(start: bytes) -> str | None:
    """The encoding whose byte-order mark begins a file, of those with two and four bytes a sign."""
    marks = {"utf-32": (codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE), "utf-16": (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)}
    return next((name for name, those in marks.items() if start.startswith(those)), None)


def _codec(encoding: str) -> str:
    try:
        name = codecs.lookup(encoding).name
    except LookupError:
        raise CommandError(
            f"there is no encoding {show(encoding)}; common ones are utf-8, cp1252, latin-1, utf-16"
        ) from None
    return "utf-8-sig" if name == "utf-8" else name


def _separator(path: Path, sample: str) -> str:
    """The separator: a tab in TSV, else the one that gives every record equally many cells, and most of them."""
    if ".tsv" in [suffix.lower() for suffix in path.suffixes]:
        return "\t"
    fits = {}
    for sign in SEPARATORS:
        records = list(csv.reader(io.StringIO(sample, newline=""), delimiter=sign))
        widths = {len(record) for record in (records[:-1] if len(sample) == SAMPLE else records) if record}
        fits[sign] = (len(widths) == 1 and widths != {1}, max(widths, default=0))
    best = max(fits, key=lambda sign: fits[sign])
    return best if fits[best][1] > 1 else ","


def _has_decimal_commas(records: Sequence[Sequence[str]]) -> bool:
    """Whether more numbers have decimal commas than points."""
    cells = [cell.strip(UNITS) for record in records for cell in record]
    commas = sum(DECIMAL_COMMA.fullmatch(cell) is not None for cell in cells)
    return commas > sum(DECIMAL_POINT.fullmatch(cell) is not None for cell in cells)
