"""Tables in Parquet and in Arrow's own formats."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from pathlib import Path
from typing import Any, NamedTuple

from smallearn._run.parquet import open_parquet, parquet_batches
from smallearn._text import count, show
from smallearn.cli.errors import CommandError
from smallearn.cli.io.files import shown
from smallearn.cli.io.tables import ReadOptions, TableFile


class RowGroup(NamedTuple):
    """A part of a Parquet file that is read at once."""

    file: Path
    number: int
    n_rows: int


class ParquetFile(TableFile):
    """A table in Parquet: one file, or several with the same columns, whose rows follow each other."""

    def __init__(self, path: Path, options: ReadOptions, files: Sequence[Path] | None = None):
        files = [path] if files is None else files
        self._groups: list[RowGroup] = []
        self._first_rows: list[tuple[int, Path]] = []  # of each file
        self._n_files = len(files)
        schemas = []
        for name in files:
            with _reading(name), open_parquet(name) as file:
                about = file.metadata
                sizes = [about.row_group(number).num_rows for number in range(about.num_row_groups)]
                schemas.append(file.schema_arrow.remove_metadata())
            self._first_rows.append((self.size, name))
            self._groups += [RowGroup(name, number, n_rows) for number, n_rows in enumerate(sizes)]
            self.size += sum(sizes)
        self._schema = _common_schema(files, schemas)
        super().__init__(path, options, schemas[0].names, files)

    @property
    def shown(self) -> str:
        """See `TableFile.shown`."""
        others = 0 if self.path.is_dir() else self._n_files - 1
        return f"{shown(self.path)} and {count(others, 'more file')}" if others else shown(self.path)

    def about_rows(self) -> int:
        """See `TableFile.about_rows`: here it is the exact number."""
        return self.size

    def split(self, cells_together: int) -> list["ParquetFile"]:
        """The table in parts of about so many cells, or more: a row group is read at once."""
        parts: list[ParquetFile] = []
        most, begin = max(1, cells_together // max(1, len(self.names))), self.begin
        for group in self._groups:
            if not parts or parts[-1].size + group.n_rows > most:
                part = copy(self)
                part._groups, part.size, part.begin = [], 0, begin
                parts.append(part)
            parts[-1]._groups.append(group)
            parts[-1].size += group.n_rows
            begin += group.n_rows
        for part in parts:  # they are sent to workers
            part.files = list(part._groups_by_file())
            part._first_rows = [(first, path) for first, path in self._first_rows if path in part.files]
        return parts

    def place(self, row: int) -> str:
        """See `TableFile.place`."""
        if self._n_files == 1:
            return super().place(row)
        first, path = next((first, path) for first, path in reversed(self._first_rows) if first <= row)
        return f"{super().place(row - first)} of {shown(path)}"

    def _chunks(self, rows: int, columns: Sequence[str]) -> Iterator[tuple[Any, int]]:
        import pyarrow as pa

        done = 0
        titles = [self.titles[self.names.index(name)] for name in columns]
        for path, groups in self._groups_by_file().items():
            with _reading(path), open_parquet(path) as file:
                for batch in parquet_batches(file, rows, titles, groups):
                    done += len(batch)
                    chunk = pa.Table.from_batches([batch])
                    if self._schema is not None:
                        chunk = chunk.select(titles).cast(pa.schema([self._schema.field(name) for name in titles]))
                    yield chunk.rename_columns(list(columns)), done

    def _groups_by_file(self) -> dict[Path, list[int]]:
        found: dict[Path, list[int]] = {}
        for group in self._groups:
            found.setdefault(group.file, []).append(group.number)
        return found


def _common_schema(files: Sequence[Path], schemas: Sequence[Any]) -> Any:
    """The columns of a table in several files with the types that hold them all; None if all are the same."""
    import pyarrow as pa

    first = schemas[0]
    common = first
    for path, schema in zip(files, schemas, strict=True):
        if sorted(schema.names) != sorted(first.names):
            odd = next(
                name for name in [*first.names, *schema.names] if (name in first.names) != (name in schema.names)
            )
            one, other = (path, files[0]) if odd in first.names else (files[0], path)
            raise CommandError(f"{shown(one)} lacks the column {show(odd)}, which {shown(other)} has")
        try:
            common = pa.unify_schemas([common, schema], promote_options="permissive")
        except (pa.ArrowInvalid, pa.ArrowTypeError):
            odd = next(name for name in first.names if not _may_join(first.field(name), schema.field(name)))
            one, other = first.field(odd).type, schema.field(odd).type
            raise CommandError(
                f"column {show(odd)} is of type {one} in {shown(files[0])}, but of type {other} in {shown(path)}"
            ) from None
    return None if all(schema.equals(first) for schema in schemas) else common


def _may_join(one: Any, other: Any) -> bool:
    import pyarrow as pa

    try:
        pa.unify_schemas([pa.schema([one]), pa.schema([other])], promote_options="permissive")
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        return False
    return True


class ArrowFile(TableFile):
    """A table in Arrow's format, file or stream; Feather is the same."""

    unit = "record batches"

    def __init__(self, path: Path, options: ReadOptions):
        with _reading(path), _opened(path) as file:
            self.size = getattr(file, "num_record_batches", 1)
            titles = file.schema.names
        super().__init__(path, options, titles)

    @property
    def is_stream(self) -> bool:
        """Whether it is a stream, in which each batch may have categories of its own."""
        with self.path.open("rb") as file:
            return file.read(6) != b"ARROW1"

    def about_rows(self) -> int:
        """See `TableFile.about_rows`: as if every cell took 8 bytes."""
        return self.path.stat().st_size // (8 * max(1, len(self.names)))

    def _chunks(self, rows: int, columns: Sequence[str]) -> Iterator[tuple[Any, int]]:
        import pyarrow as pa

        with _reading(self.path), _opened(self.path) as file:
            counted = hasattr(file, "num_record_batches")
            batches = (file.get_batch(i) for i in range(file.num_record_batches)) if counted else iter(file)
            for done, batch in enumerate(batches, start=1):
                table = pa.Table.from_batches([batch]).rename_columns(self.names).select(list(columns))
                for begin in range(0, len(table), rows):
                    yield table.slice(begin, rows), done


@contextmanager
def _opened(path: Path) -> Iterator[Any]:
    import pyarrow as pa

    with pa.memory_map(str(path)) as mapped:
        magic = mapped.read(6)
        mapped.seek(0)
        with (pa.ipc.open_file if magic == b"ARROW1" else pa.ipc.open_stream)(mapped) as file:
            yield file


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    """Turn pyarrow's errors into one sentence."""
    try:
        yield
    except (ValueError, OSError) as error:  # the base classes of pyarrow's errors
        reason = show(str(error).strip(), quote=False, most=200)
        raise CommandError(f"{shown(path)} cannot be read: {reason}") from None
