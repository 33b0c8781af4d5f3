"""Rows in the order of a number, greatest first: all of them, or the first few, which need little memory."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

ROWS_AT_ONCE = 50_000  # that are written


class Ranking:
    """Collects the chunks of a table with the columns added to it, and gives them back in order.

    Rows with the same number keep their order. With ``most``, a few times as many rows are in memory; else all.
    """

    def __init__(self, most: int | None = None):
        self.most = most
        self._chunks: list[Any] = []
        self._added: list[list[Any]] = []
        self._numbers: list[np.ndarray] = []

    def add(self, chunk: Any, added: Sequence[Any], numbers: np.ndarray) -> None:
        """Add a chunk, as `output` writes it, and the number of each row."""
        self._chunks.append(chunk)
        self._added.append(list(added))
        self._numbers.append(numbers)
        if self.most is not None and sum(map(len, self._numbers)) > 2 * self.most + len(numbers):
            self._sort()

    def parts(self) -> Iterator[tuple[Any, list[Any]]]:
        """The rows in order, in chunks with the columns added to them."""
        if not self._numbers:
            return
        self._sort()
        (chunk,), (added,), (numbers,) = self._chunks, self._added, self._numbers
        for begin in range(0, len(numbers), ROWS_AT_ONCE):
            part = chunk.slice(begin, ROWS_AT_ONCE) if chunk.num_columns else chunk
            yield part, [column.slice(begin, ROWS_AT_ONCE) for column in added]

    def _sort(self) -> None:
        """Put all rows in order, and forget those beyond the most that are wanted."""
        import pyarrow as pa

        numbers = np.concatenate(self._numbers)
        order = np.argsort(-numbers, kind="stable")[: self.most]
        chunk = pa.concat_tables(self._chunks).unify_dictionaries()
        at = pa.array(order)
        added = [pa.concat_arrays(list(columns)).take(at) for columns in zip(*self._added, strict=True)]
        self._chunks = [chunk.take(at) if chunk.num_columns else chunk]
        self._added, self._numbers = [added], [numbers[order]]
