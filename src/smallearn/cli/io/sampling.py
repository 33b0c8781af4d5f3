"""A random sample of rows that come in chunks: all of them, if they are few."""

from typing import Any

import numpy as np

SEED = 0
MOST_PARTS = 1000  # are kept apart

Part = tuple[Any, np.ndarray, np.ndarray]  # rows, the position of each class, and a random number for each, its lot


class Sample:
    """At most so many rows, each as likely as any other: all get random numbers, and those with the least are kept.

    Which ones depends on their positions alone, not on the chunks.
    """

    def __init__(self, most: int | None):
        self._most = most
        self.n_rows, self._n_kept = 0, 0
        self._rng = np.random.default_rng(SEED)
        self._parts: list[Part] = []
        self._limit = 1.0

    def add(self, X: Any, code: np.ndarray) -> None:
        """Add some rows, a pandas table, and the position of each class."""
        lots = self._rng.random(len(code))
        self.n_rows += len(code)
        self._parts.append((X, code, lots))
        self._parts[-1] = _below(self._parts[-1], self._limit)
        self._n_kept += len(self._parts[-1][1])
        if (self._most is not None and self._n_kept > 2 * self._most) or len(self._parts) > MOST_PARTS:
            self._join()

    def _join(self) -> None:
        """Make one part of all, with no more rows than the most, those of the least lots."""
        tables, codes, lots = map(list, zip(*self._parts, strict=True))
        self._parts.clear()
        part = stacked(tables), np.concatenate(codes), np.concatenate(lots)
        if self._most is not None and len(part[2]) > self._most:
            self._limit = float(np.partition(part[2], self._most - 1)[self._most - 1])
            part = _below(part, self._limit)
        self._parts, self._n_kept = [part], len(part[1])

    def rows(self) -> tuple[Any, np.ndarray]:
        """The rows that are kept, in their order, and their codes."""
        self._join()
        X, code, _ = self._parts[0]
        return X, code


def _below(part: Part, limit: float) -> Part:
    """The rows of a part whose lots are at most ``limit``."""
    X, code, lots = part
    kept = lots <= limit
    return part if kept.all() else (X[kept], code[kept], lots[kept])


def stacked(parts: list[Any]) -> Any:
    """Pandas tables of the same columns, one below the other. Column by column: there are never two copies of all."""
    import pandas as pd

    if len(parts) == 1:
        return parts[0]
    names, index = list(parts[0].columns), np.concatenate([part.index.to_numpy() for part in parts])
    arrays = [{name: part[name].to_numpy() for name in names} for part in parts]
    parts.clear()
    in_order = len(index) > 0 and index[0] == 0 and index[-1] == len(index) - 1  # numbers of rows: they ascend
    rows = pd.RangeIndex(len(index)) if in_order else pd.Index(index)
    columns = {}
    for name in names:
        values = np.concatenate([part.pop(name) for part in arrays])
        columns[name] = pd.Series(values, index=rows, dtype=values.dtype)
    return pd.DataFrame(columns, index=rows, copy=False)
