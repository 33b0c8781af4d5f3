"""Answers for rows that are not computed yet: a Dask array or dataframe, recognised by its methods."""

from collections.abc import Callable
from typing import Any

import numpy as np


def by_block(X: Any, answer: Callable[[Any], np.ndarray], dtype: Any, n_columns: int | None) -> Any:
    """``answer`` for every block of rows, as a Dask array that is not computed yet; None if X is nothing of the kind.

    An answer has one number for each row (``n_columns=None``) or so many.
    """
    if not hasattr(X, "__dask_graph__"):
        return None
    meta = np.empty((0,) if n_columns is None else (0, n_columns), dtype=dtype)
    if hasattr(X, "map_partitions"):
        return X.map_partitions(answer, meta=meta, enforce_metadata=False)
    if not hasattr(X, "rechunk") or X.ndim != 2:  # xarray is read as an array
        return None
    X = X.rechunk({1: -1})
    if n_columns is None:
        return X.map_blocks(answer, dtype=meta.dtype, drop_axis=1, meta=meta)
    return X.map_blocks(answer, dtype=meta.dtype, chunks=(X.chunks[0], (n_columns,)), meta=meta)
