"""Tables to write: the rows of a file with columns added, piece by piece, in the format that the ending asks for."""

import csv
import gzip
import io
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, TextIO

from smallearn._text import show
from smallearn.cli.common import CommandError, draft_of
from smallearn.cli.io.sources import ARROW, PARQUET, ArrowSource, CsvSource, Source

TEXT = (".csv", ".tsv", ".txt")


@contextmanager
def open_results(path: Path | None, source: Source, added: Sequence[str]) -> Iterator["CsvResults | ArrowResults"]:
    """What takes the rows of ``source`` with the columns ``added``; None is stdout, as CSV. The file is there when all
    is written, and not before."""
    with ExitStack() as closing:
        if path is None:
            sys.stdout.flush()
            with _taken_stdout() as file:
                yield CsvResults(file, source, added, _separator(None, source))
                file.flush()
            return
        ending = check_ending(path)
        draft = closing.enter_context(draft_of(path))
        if ending in TEXT:
            file = closing.enter_context(_text_file(draft, path, source))
            yield CsvResults(file, source, added, _separator(ending, source))
        else:
            results = ArrowResults(draft, ending in PARQUET, source, added)
            closing.callback(results.close)
            yield results


def check_ending(path: Path) -> str:
    """The ending that tells the format, in lower case, without a ``.gz`` after it."""
    endings = [suffix.lower() for suffix in path.suffixes]
    packed = bool(endings) and endings[-1] == ".gz"
    ending = endings[-2] if packed and len(endings) > 1 else endings[-1] if endings else ""
    if ending not in (*TEXT, *PARQUET, *ARROW) or (packed and ending not in TEXT):
        known = ", ".join((*TEXT, *PARQUET, *ARROW))
        raise CommandError(f"the ending of {show(path.name)} does not tell a format; known are {known}, .csv.gz")
    return ending


def _separator(ending: str | None, source: Source) -> str:
    if ending == ".tsv":
        return "\t"
    return source.separator if isinstance(source, CsvSource) else ","


@contextmanager
def _taken_stdout() -> Iterator[TextIO]:
    """Standard output for text that has its own line ends; a stand-in that has no bytes below is taken as it is."""
    if not hasattr(sys.stdout, "buffer"):
        yield sys.stdout
        return
    file = io.TextIOWrapper(sys.stdout.buffer, encoding="utf-8", newline="", write_through=False)
    try:
        yield file
    finally:
        file.detach()


@contextmanager
def _text_file(draft: Path, path: Path, source: Source) -> Iterator[TextIO]:
    """Text of the same encoding as the source, with a mark at its beginning if that has one."""
    encoding = "utf-8"
    if isinstance(source, CsvSource):
        encoding = source.encoding if source.encoding != "utf-8-sig" or source.is_marked() else "utf-8"
    with ExitStack() as closing:
        raw: Any = closing.enter_context(draft.open("wb"))
        if path.suffix.lower() == ".gz":
            raw = closing.enter_context(gzip.GzipFile(filename="", fileobj=raw, mode="wb", compresslevel=6))
        yield closing.enter_context(io.TextIOWrapper(raw, encoding=encoding, newline=""))


class CsvResults:
    """Rows as text: cells of text as they were, what is added with decimal commas if the source has them."""

    def __init__(self, file: TextIO, source: Source, added: Sequence[str], separator: str):
        self.file, self.separator = file, separator
        self.commas = isinstance(source, CsvSource) and source.has_commas
        titles = [*source.titles, *added]
        self._write_rows([titles], any("\r" in title for title in titles))

    def write(self, piece: Any, added: Sequence[Any]) -> None:
        """A piece of the source, and the columns added to it."""
        columns = [*piece.columns, *(map(_with_comma, added) if self.commas else added)]
        rows = zip(*(column.to_pylist() for column in columns), strict=True)
        self._write_rows(rows, any(map(_has_returns, columns)))

    def _write_rows(self, rows: Iterable[Sequence[Any]], in_quotes: bool) -> None:
        style: Any = {"quoting": csv.QUOTE_ALL if in_quotes else csv.QUOTE_MINIMAL}
        writer = csv.writer(self.file, delimiter=self.separator, lineterminator="\n", **style)
        try:
            writer.writerows(rows)
        except UnicodeEncodeError as problem:
            sign = show(problem.object[problem.start : problem.end])
            raise CommandError(f"{problem.encoding} has no {sign}: write Parquet, or save the table as UTF-8") from None


def _with_comma(column: Any) -> Any:
    """Fractions as text with a decimal comma, to the last digit; other columns as they are."""
    import pyarrow as pa

    if not pa.types.is_floating(column.type):
        return column
    return pa.array([repr(value).replace(".", ",") for value in column.to_pylist()], pa.large_string())


class ArrowResults:
    """Rows in Parquet or Arrow, with the types that they had; but see `_keeps_categories`."""

    def __init__(self, path: Path, parquet: bool, source: Source, added: Sequence[str]):
        self.path, self.parquet = path, parquet
        self.names = [title or name for title, name in zip(source.titles, source.names, strict=True)]
        self.added = list(added)
        self.writer: Any = None
        self.decodes = not (parquet or _keeps_categories(source))

    def write(self, piece: Any, added: Sequence[Any]) -> None:
        """A piece of the source, and the columns added to it."""
        import pyarrow as pa

        table = piece.rename_columns(self.names)
        for name, values in zip(self.added, added, strict=True):
            table = table.append_column(name, values)
        table = _decoded(table) if self.decodes else table
        if self.writer is None:
            if self.parquet:
                import pyarrow.parquet as pq

                self.writer = pq.ParquetWriter(self.path, table.schema)
            else:
                self.writer = pa.ipc.new_file(str(self.path), table.schema)
        try:
            self.writer.write_table(table)
        except pa.ArrowInvalid as problem:
            words = show(str(problem), quote=False, most=200)
            raise CommandError(f"{'Parquet' if self.parquet else 'Arrow'} cannot hold the table: {words}") from None

    def close(self) -> None:
        """No more rows."""
        if self.writer is not None:
            self.writer.close()


def _keeps_categories(source: Source) -> bool:
    """Whether a column has one dictionary of its categories, as Arrow's file must have: in its stream, and in Parquet,
    every piece may have another."""
    if not isinstance(source, ArrowSource):
        return False
    with source.path.open("rb") as file:
        return file.read(6) == b"ARROW1"


def _decoded(table: Any) -> Any:
    """Categories as the values that they stand for."""
    import pyarrow as pa

    for at, field in enumerate(table.schema):
        if pa.types.is_dictionary(field.type):
            table = table.set_column(at, field.name, table.column(at).cast(field.type.value_type))
    return table


def _has_returns(column: Any) -> bool:
    """Whether text has a carriage return, which Python's CSV writer does not know to quote."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not (pa.types.is_large_string(column.type) or pa.types.is_string(column.type)):
        cells = [] if pa.types.is_primitive(column.type) else column.to_pylist()
        return any(isinstance(cell, str) and "\r" in cell for cell in cells)
    return pc.any(pc.match_substring(column, "\r"), min_count=0).as_py() is True
