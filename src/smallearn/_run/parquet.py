"""Parquet files, read batch by batch within little memory."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any


def open_parquet(path: Path) -> Any:
    """A Parquet file, for `parquet_batches`: mapped, and no group of rows is read ahead as a whole."""
    import pyarrow.parquet as pq

    return pq.ParquetFile(path, memory_map=True, pre_buffer=False)


def parquet_batches(
    file: Any, n_rows: int, columns: Sequence[str] | None = None, groups: Sequence[int] | None = None
) -> Iterator[Any]:
    """Batches of ``n_rows``, of these groups of rows; on one thread, so that memory holds one batch and not some for
    each thread."""
    yield from file.iter_batches(n_rows, row_groups=groups, columns=columns, use_threads=False)
