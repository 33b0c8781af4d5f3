"""Training rows in Dask collections: as partitions, and what each of them holds."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import dask
import numpy as np
from dask.delayed import Delayed
from numpy.exceptions import DTypePromotionError
from scipy import sparse
from sklearn.utils import check_array
from sklearn.utils.validation import column_or_1d

from smallearn._learn.data.encoding import SeenColumns, encode_part, see_columns
from smallearn._learn.data.source import Block, join, make_block
from smallearn._learn.data_parameters import check_sample_weight
from smallearn._text import listed, show
from smallearn.dask._cluster import Cluster
from smallearn.model._columns import is_missing
from smallearn.model._parts import Category

NUMBERS = [np.float64, np.float32]


class Reading(NamedTuple):
    """How a partition is read: columns of its table that are no features, if any, and the parameter of that name."""

    target: str | None
    weight: str | None
    categorical_features: Any


@dataclass(frozen=True, eq=False)
class Partitions:
    """Training rows, as they came. ``parts[i]`` are X, y and weights (None: there are none, or they are columns of X)
    of partition ``i``, not computed. ``cluster`` is where they are read."""

    X: Any
    y: Any
    weight: Any
    parts: list[list[Any]]
    cluster: Cluster

    def reading(self, categorical_features: Any) -> Reading:
        """How to read them."""
        target, weight = (values if isinstance(values, str) else None for values in (self.y, self.weight))
        return Reading(target, weight, categorical_features)


def is_lazy(X: Any) -> bool:
    """Whether X is a Dask collection or a list of delayed blocks."""
    return is_delayed_list(X) or dask.is_dask_collection(X)


def is_delayed_list(X: Any) -> bool:
    """Whether X is a list of delayed blocks."""
    return isinstance(X, list | tuple) and len(X) > 0 and all(isinstance(part, Delayed) for part in X)


def partitions_of(X: Any, y: Any, weight: Any, cluster: Cluster) -> Partitions:
    """The training rows; ``y`` and ``weight`` may be columns of X, by name."""
    if y is None:
        raise ValueError("fit needs y: a Dask array or series, delayed blocks, or the name of a column of X.")
    if hasattr(X, "rechunk"):
        if X.ndim != 2:
            raise ValueError(f"Expected 2D array, got {X.ndim}D array instead: X must be rows × features.")
        if np.isnan(X.shape[1]):
            raise ValueError("X does not know how many columns it has; call X.compute_chunk_sizes() first.")
        X = X.rechunk({1: -1})
        blocks = X.to_delayed()[:, 0].tolist()
    elif is_delayed_list(X):
        blocks = list(X)
    elif hasattr(X, "to_delayed") and hasattr(X, "columns"):
        _check_names(list(X.columns), y, weight)
        blocks = list(X.to_delayed())
    else:
        raise ValueError(f"X is a {type(X).__name__}; fit needs a Dask array, a Dask dataframe or delayed blocks.")
    columns = [_blocks(values, name, X, len(blocks)) for values, name in ((y, "y"), (weight, "sample_weight"))]
    return Partitions(X, y, weight, [list(part) for part in zip(blocks, *columns, strict=True)], cluster)


def _check_names(columns: list[Any], *values: Any) -> None:
    missing = [name for name in values if isinstance(name, str) and name not in columns]
    if missing:
        raise ValueError(f"The dataframe has no column {listed(missing)}; it has {listed(columns[:10])}.")


def _blocks(values: Any, name: str, X: Any, n_blocks: int) -> list[Any]:
    """The classes or weights of each partition of X."""
    if values is None or (isinstance(values, str) and hasattr(X, "columns")):
        return [None] * n_blocks
    if is_delayed_list(values):
        blocks = list(values)
    elif not dask.is_dask_collection(values):
        blocks = _cut(values, name, X)
    elif hasattr(values, "rechunk"):
        known = hasattr(X, "rechunk") and not np.isnan([*X.chunks[0], *values.chunks[0]]).any()
        if known and X.shape[0] != values.shape[0]:
            raise ValueError(f"X has {X.shape[0]} rows, and {name} has {values.shape[0]}.")
        values = values.rechunk({0: X.chunks[0]} if known else {}).rechunk({1: -1} if values.ndim > 1 else {})
        blocks = values.to_delayed().ravel().tolist()
    elif hasattr(values, "to_delayed"):
        blocks = list(values.to_delayed())
    else:
        raise ValueError(f"{name} is a {type(values).__name__}; pass a Dask array or series, or delayed blocks.")
    if len(blocks) != n_blocks:
        raise ValueError(
            f"X has {n_blocks} partitions and {name} has {len(blocks)}; they must be cut at the same rows. If their "
            "chunk sizes are not known, call compute_chunk_sizes() or repartition."
        )
    return blocks


def _cut(values: Any, name: str, X: Any) -> list[Any]:
    """Values in memory, cut like X."""
    if not hasattr(X, "rechunk") or np.isnan(X.chunks[0]).any():
        raise ValueError(
            f"{name} is in memory and the chunk sizes of X are not known, so that it cannot be cut alike; pass {name} "
            "as a Dask collection with the partitions of X, or call X.compute_chunk_sizes() first if it is an array."
        )
    values = np.asarray(values)
    if len(values) != X.shape[0]:
        raise ValueError(f"X has {X.shape[0]} rows, and {name} has {len(values)}.")
    return np.split(values, np.cumsum(X.chunks[0])[:-1])


def in_memory(part: list[Any], reading: Reading) -> tuple[Any, Any, Any]:
    """X, y and weights of a partition, or of all rows, that is computed."""
    X, y, weight = part
    if reading.target is not None:
        y = X[reading.target]
    if reading.weight is not None:
        weight = X[reading.weight]
    apart = [name for name in (reading.target, reading.weight) if name is not None]
    return X.drop(columns=apart) if apart else X, y, weight


def stack(parts: Sequence[Any]) -> Any:
    """The rows of delayed blocks that are computed."""
    if sparse.issparse(parts[0]):
        return sparse.vstack(parts, format="csr")
    if hasattr(parts[0], "iloc"):
        from dask.dataframe.dispatch import concat

        return concat(list(parts))
    return np.concatenate([np.asarray(part) for part in parts])


# --- questions about a partition, asked where it is -------------------------------------------------------------------


class Facts(NamedTuple):
    """What a partition holds. ``n_kept`` are its rows of positive weight, ``labels`` their classes."""

    kind: str
    columns: list[Any]
    head: Any
    """No rows, of the same type; None for a sparse matrix."""
    n_rows: int
    n_kept: int
    n_stored: int
    dtype: np.dtype
    labels: np.ndarray
    seen: SeenColumns | None


def survey(part: list[Any], number: int, reading: Reading) -> Facts | ValueError:
    """What partition ``number`` holds, or what is wrong with it."""
    try:
        X, labels, weight = _read(part, reading)
        kept = labels[weight > 0.0]
        seen = None if reading.categorical_features is None else see_columns(X, reading.categorical_features)
        values = _numbers(X) if seen is None else X
        return Facts(
            kind=_kind(X),
            columns=list(X.columns) if hasattr(X, "columns") else list(range(X.shape[1])),
            head=None if sparse.issparse(X) else X[:0],
            n_rows=X.shape[0],
            n_kept=len(kept),
            n_stored=values.nnz if sparse.issparse(values) else X.shape[0] * X.shape[1],
            dtype=values.dtype if seen is None else np.dtype(float),
            labels=_different(kept),
            seen=seen,
        )
    except (ValueError, TypeError) as error:
        return ValueError(f"Partition {number}: {error}")


class Encoding(NamedTuple):
    """How all partitions become numbers; ``categories`` is None if there cannot be any."""

    reading: Reading
    categories: dict[int, tuple[Category, ...]] | None
    dtype: np.dtype
    classes: np.ndarray


def encode(parts: list[list[Any]], encoding: Encoding, firsts: list[int]) -> Block:
    """Some partitions as one block; the first row of each has the position in ``firsts``."""
    return join([_encode(part, encoding, first) for part, first in zip(parts, firsts, strict=True)])


def _encode(part: list[Any], encoding: Encoding, first: int) -> Block:
    X, labels, weight = _read(part, encoding.reading)
    values = _numbers(X) if encoding.categories is None else encode_part(X, encoding.categories)
    code = np.searchsorted(encoding.classes, labels)
    return make_block(values.astype(encoding.dtype, copy=False), code, weight, first)


def _read(part: list[Any], reading: Reading) -> tuple[Any, np.ndarray, np.ndarray]:
    """X, classes and weights of a partition."""
    X, y, weight = in_memory(part, reading)
    X = X if hasattr(X, "shape") else np.asarray(X)
    if len(X.shape) != 2:
        raise ValueError(f"X has shape {X.shape}; it must be rows × features.")
    labels = column_or_1d(y)
    if len(labels) != X.shape[0]:
        raise ValueError(f"X has {X.shape[0]} rows and y has {len(labels)}.")
    if weight is None or X.shape[0] == 0:
        return X, labels, np.ones(X.shape[0])
    weight = np.asarray(weight, dtype=float)
    return X, labels, check_sample_weight(weight, X) if weight.any() else weight


def _numbers(X: Any) -> Any:
    """A partition without categories as numbers, as in memory; they are checked later."""
    try:
        values = check_array(
            X, accept_sparse="csr", dtype=NUMBERS, order="C", ensure_all_finite=False, ensure_min_samples=0
        )
    except DTypePromotionError as error:
        raise ValueError(f"X has columns that are not numbers: {error}") from None
    if sparse.issparse(values) and not np.isfinite(values.data).all():
        raise ValueError("X is sparse and has NaN, for which sparse columns have no term; fill the gaps first.")
    return values


def _kind(X: Any) -> str:
    return "a sparse matrix" if sparse.issparse(X) else "a table" if hasattr(X, "columns") else "an array"


def _different(labels: np.ndarray) -> np.ndarray:
    """The different classes."""
    if labels.dtype.kind == "O":
        missing = any(is_missing(label) for label in labels)
    else:
        missing = labels.dtype.kind == "f" and bool(np.isnan(labels).any())
    if missing:
        raise ValueError("y has missing values; leave those rows out.")
    return np.unique(labels)


# --- all partitions ---------------------------------------------------------------------------------------------------


def check_alike(answers: Sequence[Facts | ValueError]) -> list[Facts]:
    """The facts, unless something is wrong with a partition, or they differ in their type or columns."""
    facts = []
    for answer in answers:
        if isinstance(answer, ValueError):
            raise answer
        facts.append(answer)
    first = facts[0]
    for number, other in enumerate(facts):
        if other.kind != first.kind:
            raise ValueError(f"Partition 0 is {first.kind} and partition {number} is {other.kind}; all must be alike.")
        if len(other.columns) != len(first.columns):
            raise ValueError(
                f"Partition 0 has {len(first.columns)} columns and partition {number} has {len(other.columns)}."
            )
        differ = [pair for pair in zip(first.columns, other.columns, strict=True) if pair[0] != pair[1]]
        if differ:
            one, another = (show(name) for name in differ[0])
            raise ValueError(f"Partition 0 has the column {one} where partition {number} has {another}.")
    return facts
