"""Tables in Parquet and in Arrow's own formats."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from smallearn._run.parquet import open_parquet, parquet_batches
from smallearn._text import show
from smallearn.cli.errors import CommandError
from smallearn.cli.io.files import shown
from smallearn.cli.io.tables import ReadOptions, TableFile


class ParquetFile(TableFile):
    """A table in Parquet."""

    def __init__(self, path: Path, options: ReadOptions):
        with _reading(path), open_parquet(path) as file:
            self.size = file.metadata.num_rows
            titles = file.schema_arrow.names
        super().__init__(path, options, titles)

    def about_rows(self) -> int:
        """See `TableFile.about_rows`: here it is the exact number."""
        return self.size

    def _chunks(self, rows: int, columns: Sequence[str]) -> Iterator[tuple[Any, int]]:
        import pyarrow as pa

        done = 0
        titles = [self.titles[self.names.index(name)] for name in columns]
        with _reading(self.path), open_parquet(self.path) as file:
            for batch in parquet_batches(file, rows, titles):
                done += len(batch)
                yield pa.Table.from_batches([batch]).rename_columns(list(columns)), done


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
