"""Rows of which six columns matter, made block by block, so that any number of them can be written to a file."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from smallearn._learn.data.source import Block

ROWS_TOGETHER = 200_000


def blocks(n_rows: int, n_columns: int, dtype: str = "float32") -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Rows and their classes: positive, mostly, where one of two half-spaces of three columns each says so."""
    for number, first in enumerate(range(0, n_rows, ROWS_TOGETHER)):
        yield one_block(number, min(ROWS_TOGETHER, n_rows - first), n_columns, dtype)


def one_block(number: int, n_rows: int, n_columns: int, dtype: str = "float32") -> tuple[np.ndarray, np.ndarray]:
    """One of the blocks."""
    rng = np.random.default_rng(number)
    X = rng.standard_normal((n_rows, n_columns), dtype=np.float32).astype(dtype)
    score = 2.0 * np.maximum(X[:, 0] + X[:, 1] - X[:, 2], X[:, 3] - X[:, 4] + X[:, 5]) - 1.0
    return X, (rng.random(n_rows) < 1.0 / (1.0 + np.exp(-score))).astype(np.int64)


def in_memory(n_rows: int, n_columns: int, dtype: str = "float32") -> tuple[np.ndarray, np.ndarray]:
    """All rows as arrays."""
    X, y = np.empty((n_rows, n_columns), dtype=dtype), np.empty(n_rows, dtype=np.int64)
    first = 0
    for some, classes in blocks(n_rows, n_columns, dtype):
        X[first : first + len(some)], y[first : first + len(some)] = some, classes
        first += len(some)
    return X, y


def write_parquet(path: Path, n_rows: int, n_columns: int) -> None:
    """All rows as a Parquet file, with a column ``y``."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    names = [f"x{l}" for l in range(n_columns)]
    schema = pa.schema([*((name, pa.float32()) for name in names), ("y", pa.int64())])
    with pq.ParquetWriter(path, schema, compression="none", use_dictionary=False) as file:
        for X, y in blocks(n_rows, n_columns):
            file.write_table(pa.table([*X.T.copy(), y], schema=schema))


def nothing(block: Block) -> tuple[int]:
    """The question that takes no time."""
    return (len(block.code),)
