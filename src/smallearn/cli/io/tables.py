"""Table files, whatever their format: CSV and TSV (plain or gzip), Parquet, Arrow, Excel.

A `TableFile` is read in chunks, or loaded once as a `Table` from which rows for a model and rows to train on are both
made. Chunks and columns are those of pyarrow. Cells of CSV are text here, as they stand in the file; `cells` says what
they mean. An error names a cell's place as the user sees it: by line in text files, by row elsewhere.
"""

import argparse
import difflib
import os
import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from smallearn._run.files import parquet_files
from smallearn._text import listed, show
from smallearn.cli.console import Console
from smallearn.cli.errors import CommandError, not_installed
from smallearn.cli.io.files import check_input, shown

CHUNK_CELLS = 250_000  # some 50 MB of memory
PARQUET, ARROW, EXCEL = (".parquet", ".pq"), (".arrow", ".feather", ".ipc"), (".xlsx", ".xlsm")
NOT_READABLE = {
    ".xls": "save it as .xlsx or CSV in the spreadsheet",
    ".ods": "save it as .xlsx or CSV in the spreadsheet",
    ".json": "save it as CSV or Parquet",
    ".zip": "unpack it first",
}


@dataclass(frozen=True)
class ReadOptions:
    """How a table file is to be read: the encoding of text, further texts that mean a missing value, and the sheet."""

    encoding: str = "utf-8"
    missing: tuple[str, ...] = ()
    sheet: str | None = None

    @classmethod
    def of(cls, arguments: argparse.Namespace) -> "ReadOptions":
        """The options that `arguments.add_data` added."""
        missing = tuple(text.strip() for text in arguments.missing)
        return cls(encoding=arguments.encoding, missing=missing, sheet=arguments.sheet)


def open_table(path: Path | Sequence[Path], options: ReadOptions | None = None) -> "TableFile":
    """The table in a file, by its ending; what is neither Parquet nor Arrow nor Excel is CSV. Several paths, and
    folders, are those of Parquet files that make one table."""
    from smallearn.cli.io.arrow_tables import ArrowFile, ParquetFile
    from smallearn.cli.io.csv_tables import CsvFile
    from smallearn.cli.io.excel_tables import ExcelFile

    options = options or ReadOptions()
    paths = paths_of(path)
    files = check_tables(paths)
    need_tables()
    suffix = paths[0].suffix.lower()
    if options.sheet is not None and suffix not in EXCEL:
        raise CommandError(f"--sheet is for Excel files, which {show(str(paths[0]))} is not")
    if len(files) > 1 or paths[0].is_dir():
        return ParquetFile(paths[0], options, files)
    kinds = {
        **dict.fromkeys(PARQUET, ParquetFile),
        **dict.fromkeys(ARROW, ArrowFile),
        **dict.fromkeys(EXCEL, ExcelFile),
    }
    return kinds.get(suffix, CsvFile)(paths[0], options)


def paths_of(path: Path | Sequence[Path]) -> list[Path]:
    """One path or several, as a list."""
    return [Path(path)] if isinstance(path, str | os.PathLike) else [Path(one) for one in path]


def check_tables(paths: Sequence[Path]) -> list[Path]:
    """The files of a table in one file, or in several of Parquet and in folders of these, checked like one."""
    files: list[Path] = []
    for path in paths:
        if path.is_dir():
            inside = parquet_files(path)
            if not inside:
                raise CommandError(f"the folder {show(str(path))} has no file that ends in .parquet")
            files += inside
        else:
            check_table(path)
            files.append(path)
    if len(paths) > 1:
        other = next((file for file in files if file.suffix.lower() not in PARQUET), None)
        if other is not None:
            raise CommandError(f"{show(str(other))} is not Parquet, and only a table in Parquet may have several files")
    return files


def check_table(path: Path) -> None:
    """Check, before any work is done, that a table exists and is of a kind that can be read."""
    check_input(path)
    if not path.is_file():
        raise CommandError(f"{show(str(path))} is not a plain file, and a table is read more than once: save it first")
    if path.suffix.lower() in NOT_READABLE:
        raise CommandError(f"{show(str(path))} is not a table in a known format: {NOT_READABLE[path.suffix.lower()]}")


def need_tables() -> None:
    """Check that the libraries which read tables are installed."""
    for name in ("pandas", "pyarrow"):
        try:
            __import__(name)
        except ModuleNotFoundError:
            raise not_installed("reading tables", name, "cli") from None


class TableFile:
    """A table in a file.

    Parameters
    ----------
    path : Path
        The file.
    options : ReadOptions
        How to read it.
    titles : sequence of str
        The titles of the columns as the file has them; a column without a title has an empty one.
    files : sequence of Path, default=None
        The files that it is in, if there are several; ``path`` is then the first, or their folder.

    Attributes
    ----------
    names : list of str
        The names of the columns, in order and all different: the titles, or ``Unnamed: 3``.
    untitled : list of str
        The names of the columns that have no title.
    size, unit
        How much there is to read, for the progress bar.
    is_text : bool
        Whether cells are text whose type has to be found out.
    begin : int
        The number of the first row: above 0 in a part of a table.
    may_have_commas, has_commas : bool
        Whether numbers may have decimal commas, and whether more of the first ones have a comma than a point.
    after_reading : str or None
        What to tell the user once the file was read to its end.
    """

    size, unit, is_text, begin = 0, "rows", False, 0
    may_have_commas, has_commas = True, False
    after_reading: str | None = None
    _is_told = False

    def __init__(self, path: Path, options: ReadOptions, titles: Sequence[str], files: Sequence[Path] | None = None):
        self.path, self.missing, self.titles = path, options.missing, list(titles)
        self.files = [path] if files is None else list(files)
        twice = [name for name, times in Counter(self.titles).items() if times > 1 and name]
        if twice:
            raise CommandError(f"{self.shown} has more than one column called {listed(twice)}: rename them")
        self.names = [title or f"Unnamed: {position}" for position, title in enumerate(self.titles)]
        if len(set(self.names)) < len(self.names):
            raise CommandError(f"{self.shown} has columns without a name, and others called Unnamed: rename them")
        self.untitled = [name for name in self.names if re.fullmatch(r"Unnamed: \d+|__index_level_\d+__", name)]

    @property
    def shown(self) -> str:
        """The file's path in a sentence."""
        return shown(self.path)

    def _chunks(self, rows: int, columns: Sequence[str]) -> Iterator[tuple[Any, int]]:
        """Chunks of ``columns``, in the file's order, and how much of ``size`` is read after each."""
        raise NotImplementedError

    def about_rows(self) -> int:
        """About how many rows there are, without reading them."""
        raise NotImplementedError

    def chunks(
        self, console: Console, *, rows: int | None = None, columns: Collection[str] | None = None
    ) -> Iterator[Any]:
        """The table in chunks of some ``rows``, with all ``columns`` or some, and a progress bar."""
        wanted = set(self.names if columns is None else columns or self.names[:1])  # a column at least, to have rows
        in_order = [name for name in self.names if name in wanted]
        with console.progress(self.size, self.unit) as bar:
            for chunk, done in self._chunks(rows or self._chunk_rows(), in_order):
                yield chunk
                if done > bar.done:
                    bar.step(done - bar.done)
        if self.after_reading and not self._is_told and not console.quiet:
            self._is_told = True
            console.note(self.after_reading)

    def _chunk_rows(self) -> int:
        """Rows of a chunk, so that chunks of wide tables take no more memory than those of narrow ones."""
        return max(100, CHUNK_CELLS // max(1, len(self.names)))

    def load(self, console: Console, columns: Sequence[str] | None = None) -> "Table":
        """Read all ``columns``, or some, into memory."""
        import pyarrow as pa

        chunks = list(self.chunks(console, columns=columns))
        if sum(len(chunk) for chunk in chunks) == 0:
            raise CommandError(f"{self.shown} has no rows")
        return Table(file=self, columns=pa.concat_tables(chunks))

    def place(self, row: int) -> str:
        """Where row number ``row``, from 0, is in the file."""
        return f"row {row + 1}"

    def without_missing(self, values: np.ndarray) -> np.ndarray:
        """Numbers, with NaN in place of those that mean a missing value."""
        codes = [float(text) for text in self.missing if _is_number(text)]
        return np.where(np.isin(values, codes), np.nan, values) if codes else values

    def refuse_cell(self, row: int, column: str, reason: str) -> NoReturn:
        """Raise an error about one cell."""
        raise CommandError(f"{self.shown}, {self.place(row)}, column {show(column)}: {reason}")

    def refuse_names(self, names: Sequence[str], reader: str) -> NoReturn:
        """Raise an error about columns that the ``reader`` needs and the file does not have."""
        has = listed(self.names) if len(self.names) <= 20 else f"{listed(self.names[:19])}, …, {show(self.names[-1])}"
        lacking = f"columns {listed(names)}, which {reader} needs" if len(names) > 1 else f"column {listed(names)}"
        header = ": the first line has to name the columns" if all(map(_is_number, self.names)) else ""
        near = list(dict.fromkeys(other for name in names for other in similar(name, self.names)))
        meant = f"did you mean {' or '.join(map(show, near[:5]))}? It" if near else "it"
        raise CommandError(f"{self.shown} has no {lacking}; {meant} has {has}{header}")


@dataclass(frozen=True)
class Table:
    """A table in memory: a pyarrow table with some columns of a file, or all."""

    file: TableFile
    columns: Any


def similar(name: str, names: Sequence[str]) -> list[str]:
    """Names that may be meant: those that differ in case or spaces only, else the closest."""
    same = [other for other in names if _folded(other) == _folded(name)]
    return same or difflib.get_close_matches(name, names, n=3, cutoff=0.7)


def _folded(name: str) -> str:
    return "".join(name.casefold().split())


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
