"""Tables that commands write: the rows of a file with columns added, in chunks, in the format of the file's ending."""

import csv
import gzip
import io
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

from smallearn._text import show
from smallearn.cli.errors import CommandError
from smallearn.cli.io import cells
from smallearn.cli.io.arrow_tables import ArrowFile
from smallearn.cli.io.csv_tables import CsvFile
from smallearn.cli.io.excel_output import ExcelWriter
from smallearn.cli.io.excel_tables import need_excel
from smallearn.cli.io.files import draft_of, shown
from smallearn.cli.io.tables import ARROW, EXCEL, PARQUET, TableFile

TEXT = (".csv", ".tsv", ".txt")
# What spreadsheets take for the beginning of a formula, also in full width and after blanks; and what is no more than a
# number with a sign.
FORMULA = r"^[\s\x{00A0}]*[=+\-@＝＋－＠]|^[\t\r\n]"
SIGNED_NUMBER = r"^[+-][\pZ]?\p{Sc}?[\pZ]?[0-9.,'’\pZ]*[0-9][.,]?([eE][+-]?[0-9]+)?[\pZ]?[%\p{Sc}]?$"


@dataclass(frozen=True)
class Layout:
    """The columns of a table that is written.

    Parameters
    ----------
    copied : sequence of str
        The names of the columns that come from the source, in its order or another.
    added : sequence of str
        The titles of the columns that follow.
    defuse : bool, default=False
        Whether to write text so that no spreadsheet runs it as a formula; in CSV alone.
    """

    copied: Sequence[str]
    added: Sequence[str]
    defuse: bool = False


@contextmanager
def open_output(
    path: Path | None, source: TableFile, layout: Layout
) -> Iterator["CsvWriter | ArrowWriter | ExcelWriter"]:
    """A writer for columns of ``source`` and those that are added; without a path, of CSV to stdout.

    The file appears when all is written, and not before.
    """
    if path is None:
        sys.stdout.flush()
        with _stdout_as_utf8() as file:
            yield CsvWriter(file, source, layout, _separator(None, source))
            file.flush()
        return
    ending = check_ending(path)
    with draft_of(path) as draft, ExitStack() as closing:
        if ending in TEXT:
            file = closing.enter_context(_text_file(draft, path, source))
            yield CsvWriter(file, source, layout, _separator(ending, source))
        else:
            writer: ArrowWriter | ExcelWriter
            if ending in EXCEL:
                writer = ExcelWriter(draft, source, layout.copied, layout.added)
            else:
                writer = ArrowWriter(draft, ending in PARQUET, source, layout)
            closing.callback(writer.close)
            yield writer


def is_text_output(path: Path | None) -> bool:
    """Whether the output is CSV or TSV; without a path it is."""
    return path is None or check_ending(path) in TEXT


def check_ending(path: Path) -> str:
    """The ending that tells the format, in lower case, without a ``.gz`` after it."""
    endings = [suffix.lower() for suffix in path.suffixes]
    packed = bool(endings) and endings[-1] == ".gz"
    ending = endings[-2] if packed and len(endings) > 1 else endings[-1] if endings else ""
    if ending not in (*TEXT, *PARQUET, *ARROW, EXCEL[0]) or (packed and ending not in TEXT):
        known = ", ".join((*TEXT, *PARQUET, *ARROW, EXCEL[0]))
        raise CommandError(f"the ending of {show(path.name)} is not that of a known format; known are {known}, .csv.gz")
    if ending in EXCEL:
        need_excel(f"writing {shown(path)}")
    return ending


def _separator(ending: str | None, source: TableFile) -> str:
    if ending == ".tsv":
        return "\t"
    return source.separator if isinstance(source, CsvFile) else ","


@contextmanager
def _stdout_as_utf8() -> Iterator[TextIO]:
    """Standard output in UTF-8 with line ends as they are; a stand-in without bytes below is used as it is."""
    if not hasattr(sys.stdout, "buffer"):
        yield sys.stdout
        return
    file = io.TextIOWrapper(sys.stdout.buffer, encoding="utf-8", newline="", write_through=False)
    try:
        yield file
    finally:
        file.detach()


@contextmanager
def _text_file(draft: Path, path: Path, source: TableFile) -> Iterator[TextIO]:
    """Text in the encoding of the source, with a byte-order mark if that has one."""
    encoding = "utf-8"
    if isinstance(source, CsvFile) and (source.encoding != "utf-8-sig" or source.has_byte_order_mark()):
        encoding = source.encoding
    with ExitStack() as closing:
        raw: Any = closing.enter_context(draft.open("wb"))
        if path.suffix.lower() == ".gz":
            raw = closing.enter_context(gzip.GzipFile(filename="", fileobj=raw, mode="wb", compresslevel=6))
        yield closing.enter_context(io.TextIOWrapper(raw, encoding=encoding, newline=""))


class CsvWriter:
    """Writes rows as text: cells of text as they were, added numbers with decimal commas if the source has them."""

    def __init__(self, file: TextIO, source: TableFile, layout: Layout, separator: str):
        self.file, self.separator, self.defuse = file, separator, layout.defuse
        self.has_commas = source.has_commas
        title = dict(zip(source.names, source.titles, strict=True))
        titles = [*(title[name] for name in layout.copied), *layout.added]
        if self.defuse:
            import pyarrow as pa

            titles = defused(pa.array(titles, pa.large_string())).to_pylist()
        self._write_rows([titles], any("\r" in title for title in titles))

    def write(self, chunk: Any, added: Sequence[Any]) -> None:
        """Write a chunk of the source with the columns added to it."""
        columns = [*chunk.columns, *(map(_with_comma, added) if self.has_commas else added)]
        columns = list(map(defused, columns)) if self.defuse else columns
        rows = zip(*(column.to_pylist() for column in columns), strict=True)
        self._write_rows(rows, any(map(_has_returns, columns)))

    def _write_rows(self, rows: Iterable[Sequence[Any]], quote_all: bool) -> None:
        style: Any = {"quoting": csv.QUOTE_ALL if quote_all else csv.QUOTE_MINIMAL}
        writer = csv.writer(self.file, delimiter=self.separator, lineterminator="\n", **style)
        try:
            writer.writerows(rows)
        except UnicodeEncodeError as error:
            sign = show(error.object[error.start : error.end])
            raise CommandError(f"{error.encoding} has no {sign}: write Parquet, or save the table as UTF-8") from None


def defused(column: Any) -> Any:
    """Text with ``'`` before what a spreadsheet would run as a formula, as OWASP advises; numbers as they are."""
    import pyarrow.compute as pc

    if not cells.is_text_type(cells.type_of(column)):
        return column
    text = cells.as_text(column)
    runs = pc.and_(pc.match_substring_regex(text, FORMULA), pc.invert(pc.match_substring_regex(text, SIGNED_NUMBER)))
    return pc.if_else(runs, pc.replace_substring_regex(text, r"\A", "'", max_replacements=1), text)


def _with_comma(column: Any) -> Any:
    """Fractions as text with a decimal comma and all digits; other columns as they are."""
    import pyarrow as pa

    if not pa.types.is_floating(column.type):
        return column
    return pa.array([repr(value).replace(".", ",") for value in column.to_pylist()], pa.large_string())


class ArrowWriter:
    """Writes rows in Parquet or Arrow with the types that they had; but see `_keeps_categories`."""

    def __init__(self, path: Path, parquet: bool, source: TableFile, layout: Layout):
        self.path, self.parquet = path, parquet
        titles = {name: title or name for title, name in zip(source.titles, source.names, strict=True)}
        self.names = [*(titles[name] for name in layout.copied), *layout.added]
        self.writer: Any = None
        self.decodes = not (parquet or _keeps_categories(source))

    def write(self, chunk: Any, added: Sequence[Any]) -> None:
        """Write a chunk of the source with the columns added to it."""
        import pyarrow as pa

        table = pa.Table.from_arrays([*chunk.columns, *added], names=self.names)
        table = _decoded(table) if self.decodes else table
        if self.writer is None:
            if self.parquet:
                import pyarrow.parquet as pq

                self.writer = pq.ParquetWriter(self.path, table.schema)
            else:
                self.writer = pa.ipc.new_file(str(self.path), table.schema)
        try:
            self.writer.write_table(table)
        except pa.ArrowInvalid as error:
            reason = show(str(error), quote=False, most=200)
            raise CommandError(f"{'Parquet' if self.parquet else 'Arrow'} cannot hold the table: {reason}") from None

    def close(self) -> None:
        """Finish the file."""
        if self.writer is not None:
            self.writer.close()


def _keeps_categories(source: TableFile) -> bool:
    """Whether each column has one set of categories, which Arrow's file format demands.

    In Arrow's streams and in Parquet, every chunk may have another.
    """
    return isinstance(source, ArrowFile) and not source.is_stream


def _decoded(table: Any) -> Any:
    """Categories as the values that they stand for."""
    import pyarrow as pa

    for at, field in enumerate(table.schema):
        if pa.types.is_dictionary(field.type):
            table = table.set_column(at, field.name, table.column(at).cast(field.type.value_type))
    return table


def _has_returns(column: Any) -> bool:
    """Whether text has a carriage return, which Python's CSV writer does not quote by itself."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not (pa.types.is_large_string(column.type) or pa.types.is_string(column.type)):
        cells = [] if pa.types.is_primitive(column.type) else column.to_pylist()
        return any(isinstance(cell, str) and "\r" in cell for cell in cells)
    return pc.any(pc.match_substring(column, "\r"), min_count=0).as_py() is True
