"""From Parquet, CSV or Arrow batches to mapped files, in one reading and without holding more than a batch in memory.

Text becomes codes in the order in which values appear; once all are known, the codes are rewritten in sorted order.
"""

import hashlib
import os
import re
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from smallearn._learn.data.encoding import MOST_CATEGORIES
from smallearn._learn.data.table import Table
from smallearn._run.files import parquet_files
from smallearn._run.parquet import open_parquet, parquet_batches
from smallearn._text import listed, show
from smallearn.tables._cache import FORMAT, cache_folder, kept

ROWS_TOGETHER = 65_536  # in a batch, at most …
CELLS_TOGETHER = 1 << 19  # … so that it has no more cells than about these
REWRITTEN = 1 << 20  # numbers at a time
DTYPES = ("float64", "float32")
HASHED = 1 << 20  # bytes at a time
_MONEY = r"(?:[A-Z]{0,2}[$€£¥₩₹₺₽]|[A-Z]{3})"
WITH_UNIT = re.compile(rf"[+-]?(?:{_MONEY}\s?[+-]?\d[\d.,'’\s]*|\d[\d.,'’\s]*(?:%|{_MONEY}))")


def open_table(
    source: str | os.PathLike | Iterable[Any],
    target: str,
    *,
    weight: str | None = None,
    ignore: Sequence[str] = (),
    dtype: str = "float64",
    cache: str | os.PathLike | None = None,
) -> Table:
    """Open a table that need not fit in memory, for ``fit``.

    The first time it is converted to files that are mapped into memory, in a cache folder; as long as the content is
    the same, these are used again.

    Parameters
    ----------
    source : path or iterable of pyarrow.RecordBatch
        A Parquet or CSV file, a folder of Parquet files, or batches of rows.
    target : str
        The name of the column of classes.
    weight : str, default=None
        The name of a column of weights.
    ignore : sequence of str, default=()
        Names of columns to leave out.
    dtype : {"float64", "float32"}, default="float64"
        The type of the numbers in the files: float32 takes half the space.
    cache : path, default=None
        The cache folder. None: that of the environment variable ``SMALLEARN_CACHE``, or the system's.

    Returns
    -------
    Table
        Pass it to ``fit`` in place of X and y. Columns of text, booleans and dictionaries are categorical.

    Raises
    ------
    ValueError
        If a column is missing, or holds neither numbers nor categories.

    Warns
    -----
    UserWarning
        If all texts of a column are numbers with a unit, such as ``13.2%``.

    Examples
    --------
    >>> import tempfile
    >>> import pandas as pd
    >>> import pyarrow as pa
    >>> from smallearn import SMaLLClassifier
    >>> batch = pa.RecordBatch.from_pydict({"x": [1.0, 2.0, 8.0, 9.0], "y": ["no", "no", "yes", "yes"]})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     table = open_table([batch], target="y", cache=folder)
    ...     SMaLLClassifier(1, 1).fit(table).predict(pd.DataFrame({"x": [0.0, 10.0]}))
    array(['no', 'yes'], dtype=object)
    """
    if dtype not in DTYPES:
        raise ValueError(f"dtype={dtype!r} is not one of {listed(DTYPES)}.")
    try:
        import pyarrow  # noqa: F401
    except ModuleNotFoundError:
        raise ImportError("open_table needs pyarrow: pip install 'smallearn[cli]'") from None
    options: dict[str, Any] = {"target": target, "weight": weight, "ignore": sorted(ignore), "dtype": dtype}
    folder = cache_folder(cache)
    if isinstance(source, str | os.PathLike):
        files = _files(Path(source))
        key = content_key(files, options)
        table = kept(folder, key, partial(convert, batches=_read_files(files), about=str(source), **options))
    else:
        key = f"batches-{os.urandom(8).hex()}"
        table = kept(folder, key, partial(convert, batches=_checked(source), about="batches", **options))
    _warn_of_numbers(table)
    return table


def _warn_of_numbers(table: Table) -> None:
    """Warn of text that is numbers with a unit: every number would be a category."""
    for l, values in (table.categories or {}).items():
        if len(values) and all(isinstance(value, str) and WITH_UNIT.fullmatch(value.strip()) for value in values):
            name = show(str(table.feature_names[l]))
            warnings.warn(
                f"Column {name} is text, although its values are numbers with a unit, such as {show(values[0])}: each "
                "is a category. Convert the column to numbers first, as the command smallearn does for CSV files.",
                UserWarning,
                stacklevel=3,
            )


# --- reading ----------------------------------------------------------------------------------------------------------


def _files(path: Path) -> list[Path]:
    """The files of a table, by name."""
    if path.is_dir():
        files = parquet_files(path)
        if not files:
            raise ValueError(f"The folder {show(str(path))} has no file that ends in .parquet.")
        return files
    if not path.is_file():
        raise FileNotFoundError(f"There is no file {show(str(path))}.")
    return [path]


def content_key(files: list[Path], options: dict[str, Any]) -> str:
    """A name for the content of some files and for the options."""
    hashed = hashlib.blake2b(repr((FORMAT, sorted(options.items()))).encode(), digest_size=16)
    for path in files:
        with path.open("rb") as file:
            while chunk := file.read(HASHED):
                hashed.update(chunk)
    return hashed.hexdigest()


def _read_files(files: list[Path]) -> Iterator[Any]:
    import pyarrow.csv as csv

    for path in files:
        if path.suffix.lower() in (".parquet", ".pq"):
            with open_parquet(path) as file:
                yield from parquet_batches(file, rows_together(len(file.schema_arrow.names)))
        else:
            with csv.open_csv(path, convert_options=csv.ConvertOptions(strings_can_be_null=True)) as batches:
                yield from batches


def rows_together(n_columns: int) -> int:
    """The rows of a batch; fewer, if they are long."""
    return max(1, min(ROWS_TOGETHER, CELLS_TOGETHER // max(1, n_columns)))


def _checked(batches: Iterable[Any]) -> Iterator[Any]:
    import pyarrow as pa

    for batch in batches:
        if isinstance(batch, pa.Table):
            yield from batch.to_batches(rows_together(batch.num_columns))
        elif isinstance(batch, pa.RecordBatch):
            yield batch
        else:
            raise ValueError(f"A batch is a {type(batch).__name__}; open_table needs pyarrow.RecordBatch or Table.")


# --- writing ----------------------------------------------------------------------------------------------------------


class _Codes:
    """Codes of values in the order in which they appear; missing values have none."""

    def __init__(self, name: str):
        self._name = name
        self._code: dict[Any, int] = {}

    def of(self, column: Any) -> np.ndarray:
        """The codes of a column, NaN where a value is missing."""
        import pyarrow as pa

        if not pa.types.is_dictionary(column.type):
            column = column.dictionary_encode()
        values = [None if value != value else value for value in column.dictionary.to_pylist()]
        for value in values:
            if value is not None:
                self._code.setdefault(value, len(self._code))
        if len(self._code) > MOST_CATEGORIES:
            raise ValueError(
                f"Column {show(self._name)} has more than {MOST_CATEGORIES} categories: if it is an ID, ignore it."
            )
        table = np.array([np.nan if value is None else self._code[value] for value in values] + [np.nan])
        position = column.indices.fill_null(len(table) - 1).to_numpy(zero_copy_only=False)
        return table[position]

    def sorted(self) -> tuple[list[Any], np.ndarray]:
        """The values, sorted, and the new code for each old one."""
        odd = next((value for value in self._code if not isinstance(value, str | int | float)), None)
        if odd is not None:
            raise ValueError(f"Column {show(self._name)} has values of type {type(odd).__name__}, not numbers or text.")
        ordered = sorted(self._code, key=lambda value: (isinstance(value, str), value))
        new = {value: position for position, value in enumerate(ordered)}
        return ordered, np.array([new[value] for value in self._code], dtype=float)


def convert(
    folder: Path,
    *,
    batches: Iterator[Any],
    about: str,
    target: str,
    weight: str | None,
    ignore: Sequence[str],
    dtype: str,
) -> dict[str, Any]:
    """Write the files of a table into a folder; returns the facts about it."""
    n_rows, names = 0, None
    codes: dict[str, _Codes] = {}
    with ExitStack() as files:
        X, code, weights = (files.enter_context((folder / name).open("wb")) for name in ("X", "code", "weight"))
        for batch in batches:
            if names is None:
                names = _features(batch.schema, target, weight, ignore)
                kinds = {name: batch.schema.field(name).type for name in batch.schema.names}
                codes = {name: _Codes(name) for name in [*names, target] if name == target or _is_category(kinds[name])}
            _check_schema(batch.schema, kinds)
            values = np.empty((len(batch), len(names)), dtype=dtype)
            with np.errstate(over="ignore"):
                for l, name in enumerate(names):
                    column = batch.column(name)
                    values[:, l] = codes[name].of(column) if name in codes else _numbers(column, name)
            if np.isinf(values).any():
                infinite = names[int(np.isinf(values).any(axis=0).argmax())]
                raise ValueError(f"Column {show(infinite)} has infinite values, or values too large for {dtype}.")
            labels = codes[target].of(batch.column(target))
            if np.isnan(labels).any():
                raise ValueError(f"Column {show(target)}, the classes, has missing values; leave those rows out.")
            values.tofile(X)
            labels.astype(np.int32).tofile(code)
            if weight is not None:
                _weights(batch.column(weight), weight).tofile(weights)
            n_rows += len(batch)
    if names is None or n_rows == 0:
        raise ValueError("The table has no rows.")
    classes, new = codes.pop(target).sorted()
    _rewrite(np.memmap(folder / "code", dtype=np.int32, mode="r+", shape=(n_rows, 1)), {0: new})
    categories = {names.index(name): known.sorted() for name, known in codes.items()}
    mapped = np.memmap(folder / "X", dtype=dtype, mode="r+", shape=(n_rows, len(names)))
    _rewrite(mapped, {l: new for l, (_, new) in categories.items()})
    return {
        "source": about,
        "n_rows": n_rows,
        "features": list(names),
        "target": target,
        "dtype": dtype,
        "weight": weight is not None,
        "classes": classes,
        "class_type": np.asarray(classes).dtype.name if not isinstance(classes[0], str) else "object",
        "categories": {str(l): values for l, (values, _) in categories.items()},
    }


def _features(schema: Any, target: str, weight: str | None, ignore: Sequence[str]) -> list[str]:
    asked = [name for name in (target, weight, *ignore) if name is not None]
    missing = [name for name in asked if name not in schema.names]
    if missing:
        raise ValueError(f"The table has no column {listed(missing)}; it has {listed(schema.names[:10])}.")
    features = [name for name in schema.names if name not in asked]
    if not features:
        raise ValueError(f"The table has no column besides {listed(asked)}.")
    return features


def _check_schema(schema: Any, kinds: dict[str, Any]) -> None:
    """Refuse a batch with other columns than the first."""
    for name, kind in kinds.items():
        if name not in schema.names:
            raise ValueError(f"A part of the table lacks the column {show(name)}.")
        other = schema.field(name).type
        if _is_category(other) != _is_category(kind):
            raise ValueError(
                f"Column {show(name)} has the type {kind} in one part of the table and {other} in another."
            )


def _is_category(kind: Any) -> bool:
    import pyarrow as pa

    types = pa.types
    text = types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind)
    return text or types.is_dictionary(kind) or types.is_boolean(kind)


def _numbers(column: Any, name: str) -> np.ndarray:
    """A column of numbers, NaN where one is missing."""
    import pyarrow as pa

    kind = column.type
    if not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)):
        raise ValueError(f"Column {show(name)} has the type {kind}, not numbers or text; list it in ignore.")
    return column.cast(pa.float64()).to_numpy(zero_copy_only=False)


def _weights(column: Any, name: str) -> np.ndarray:
    values = _numbers(column, name)
    if not np.all(np.isfinite(values) & (values >= 0.0)):
        raise ValueError(f"Column {show(name)}, the weights, has values that are missing, infinite or negative.")
    return np.ascontiguousarray(values)


def _rewrite(mapped: np.memmap, new: dict[int, np.ndarray]) -> None:
    """Replace the codes in some columns of a mapped file."""
    if not new:
        return
    step = max(1, REWRITTEN // mapped.shape[1])
    for begin in range(0, len(mapped), step):
        rows = slice(begin, begin + step)
        for l, table in new.items():
            old = np.asarray(mapped[rows, l], dtype=float)
            known = ~np.isnan(old)
            old[known] = table[old[known].astype(np.int64)]
            mapped[rows, l] = old
    mapped.flush()
