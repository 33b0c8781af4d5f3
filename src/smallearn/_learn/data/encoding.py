"""Training data with columns of any kind as one matrix: numbers as they are, categories as codes, NaN for missing.

The caller says which columns are categorical, as with ``categorical_features`` of scikit-learn's
`HistGradientBoostingClassifier`. Needs only numpy: pandas and polars tables are recognised by their methods.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Number
from typing import Any, NoReturn

import numpy as np

from smallearn._text import listed, show
from smallearn.model._columns import TEXT, is_missing
from smallearn.model._parts import Category

MOST_CATEGORIES = 10_000  # in one column: with more it is an ID, from which nothing can be learnt


@dataclass(frozen=True)
class EncodedTable:
    """``values`` (rows × columns, float64, C order) has the position of the category in the columns of ``categories``.

    Missing values are NaN. ``categories[l]`` are those that occur, sorted: numbers and booleans, then text.
    """

    values: np.ndarray
    categories: dict[int, tuple[Category, ...]]


def encode_table(X: Any, categorical_features: Any = None, feature_names: Sequence[str] | None = None) -> EncodedTable:
    """Encode an array, or a pandas or polars table, with text, categories, booleans and missing values.

    ``categorical_features``: None (no column), ``"from_dtype"`` (columns of text or of a categorical type), or an array
    of booleans, positions or names. ``feature_names`` are the names of the columns, also in messages; None: those of
    the table. Categories that are numbers keep their value; text that looks like a number stays text.
    """
    X = _checked(X)
    columns = _columns(X)
    names = _names(X, feature_names, len(columns))
    mask = _categorical(categorical_features, X, columns, feature_names if feature_names is not None else names)
    values = np.empty((X.shape[0], len(columns)))
    categories = {}
    for l, (column, name) in enumerate(zip(columns, names, strict=True)):
        if mask[l]:
            values[:, l], categories[l] = _codes(column, name)
        else:
            values[:, l] = _numbers(column, name)
    return EncodedTable(values=values, categories=categories)


def _checked(X: Any) -> Any:
    """A table or an array of two dimensions."""
    check_evaluated(X)
    if not hasattr(X, "shape"):
        X = np.asarray(X)
    if hasattr(X, "tocsr"):
        raise ValueError("X is a sparse matrix; categorical_features needs an array or a table.")
    if len(X.shape) != 2:
        raise ValueError(
            f"Expected 2D array, got {len(X.shape)}D array instead: X has shape {X.shape}. Reshape your data to rows × "
            "columns."
        )
    return X


def check_evaluated(X: Any) -> None:
    """Refuse a lazy table."""
    if hasattr(X, "collect") and not hasattr(X, "shape"):
        raise ValueError(f"X is a {type(X).__name__}, which is not evaluated yet; call its collect() first.")


# --- a table in parts -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class SeenColumns:
    """The columns of some rows of a table. ``values[l]`` are the categories that occur in column ``l``, if it is
    categorical (``is_category``) or may turn out to be so; None if its values are no categories."""

    is_category: np.ndarray
    values: dict[int, tuple[Category, ...] | None]


def see_columns(X: Any, categorical_features: Any) -> SeenColumns:
    """What one part of a table has in its columns. The parameters are those of `encode_table`."""
    X = _checked(X)
    columns = _columns(X)
    names = _names(X, None, len(columns))
    mask = _categorical(categorical_features, X, columns, names)
    values: dict[int, tuple[Category, ...] | None] = {}
    for l, (column, name) in enumerate(zip(columns, names, strict=True)):
        if mask[l]:
            values[l] = _codes(column, name)[1]
        elif isinstance(categorical_features, str) and column.dtype.kind == "O":  # there may be text in another part
            try:
                values[l] = _codes(column, name)[1]
            except ValueError:
                values[l] = None
    return SeenColumns(is_category=mask, values=values)


def merge_categories(parts: Sequence[SeenColumns], names: Sequence[Any]) -> dict[int, tuple[Category, ...]]:
    """The categories of a table, from those of its parts, as in `EncodedTable`. A column is categorical if it is so in
    one of the parts."""
    merged = {}
    for l in np.flatnonzero(np.any([part.is_category for part in parts], axis=0)).tolist():
        found = [part.values.get(l, ()) for part in parts]
        if any(values is None for values in found):
            raise ValueError(f"Column {show(names[l])} has text in one part of the table and other values in another.")
        merged[l] = _ordered((value for values in found for value in values or ()), names[l])
    return merged


def encode_part(X: Any, categories: Mapping[int, Sequence[Category]]) -> np.ndarray:
    """The values of a part of a table, as in `EncodedTable`, with the categories of the whole."""
    X = _checked(X)
    columns = _columns(X)
    names = _names(X, None, len(columns))
    values = np.empty((X.shape[0], len(columns)))
    for l, (column, name) in enumerate(zip(columns, names, strict=True)):
        if l not in categories:
            values[:, l] = _numbers(column, name)
            continue
        codes, present = _codes(column, name)
        place = {value: float(position) for position, value in enumerate(categories[l])}
        new = np.array([*(place[value] for value in present), math.nan])
        values[:, l] = new[np.where(np.isnan(codes), len(present), codes).astype(np.int64)]
    return values


# --- columns and their names ------------------------------------------------------------------------------------------


def _columns(X: Any) -> list[np.ndarray]:
    if hasattr(X, "iloc"):
        columns = [np.asarray(X.iloc[:, l]) for l in range(X.shape[1])]
    elif hasattr(X, "get_columns"):
        columns = list(map(np.asarray, X.get_columns()))
    else:
        columns = list(np.asarray(X).T)
    return [column.astype(object) if column.dtype.kind in "UST" else column for column in columns]


def _names(X: Any, feature_names: Sequence[str] | None, n: int) -> list[Any]:
    if feature_names is not None:
        if len(feature_names) != n:
            raise ValueError(f"There are {len(feature_names)} feature names for {n} columns.")
        return list(feature_names)
    return list(X.columns) if hasattr(X, "columns") else [f"x{l}" for l in range(n)]


def _categorical(chosen: Any, X: Any, columns: list[np.ndarray], names: Sequence[Any]) -> np.ndarray:
    """Which columns are categorical, as a mask."""
    n = len(columns)
    if chosen is None:
        return np.zeros(n, dtype=bool)
    if isinstance(chosen, str):
        if chosen != "from_dtype":
            raise ValueError(
                f"categorical_features={chosen!r} is not None, 'from_dtype' or an array of booleans, positions or "
                "names."
            )
        return np.array([_has_category_type(X, l) or _text_in(column) is not None for l, column in enumerate(columns)])
    listed_features = np.asarray(chosen)
    if listed_features.ndim != 1:
        raise ValueError(f"categorical_features has shape {listed_features.shape}; it must have one dimension.")
    kind = listed_features.dtype.kind
    mask = np.zeros(n, dtype=bool)
    if len(listed_features) == 0:
        return mask
    if kind == "b":
        if len(listed_features) != n:
            raise ValueError(f"categorical_features has {len(listed_features)} booleans for {n} columns.")
        return listed_features.copy()
    if kind in "iu":
        outside = [position for position in listed_features.tolist() if not 0 <= position < n]
        if outside:
            raise ValueError(f"categorical_features has the position {outside[0]}; X has columns 0 to {n - 1}.")
        mask[listed_features] = True
        return mask
    if not all(isinstance(name, str) for name in listed_features.tolist()):
        raise ValueError(f"categorical_features={show(chosen)} is not an array of booleans, positions or names.")
    unknown = [name for name in listed_features.tolist() if name not in list(names)]
    if unknown:
        raise ValueError(
            f"categorical_features names {listed(unknown)}; X has no such column. It has {_first_few(names)}."
        )
    return np.array([name in listed_features.tolist() for name in names])


def _has_category_type(X: Any, l: int) -> bool:
    """Whether the type is pandas' category, polars' Categorical or Enum, whatever the values."""
    if not hasattr(X, "dtypes"):
        return False
    dtype = X.dtypes.iloc[l] if hasattr(X.dtypes, "iloc") else X.dtypes[l]
    return type(dtype).__name__ in ("CategoricalDtype", "Categorical", "Enum")


def _text_in(column: np.ndarray) -> Any:
    """The first value of a column that is text, or None."""
    if column.dtype.kind != "O":
        return None
    return next((value for value in column if isinstance(value, TEXT)), None)


def _first_few(names: Sequence[Any], most: int = 10) -> str:
    return listed(list(names)[:most]) + (", …" if len(names) > most else "")


# --- one column ------------------------------------------------------------------------------------------------------


def _numbers(column: np.ndarray, name: Any) -> np.ndarray:
    """The column as float64, NaN where a value is missing."""
    text = _text_in(column)
    if text is not None:
        raise ValueError(
            f"Column {show(name)} contains text ({show(text)}), not numbers; pass categorical_features='from_dtype', "
            "or list the categorical columns in categorical_features."
        )
    _check_type(column, name)
    if column.dtype.kind == "O":
        column = column.copy()
        column[[is_missing(value) for value in column]] = np.nan
    try:
        with np.errstate(over="ignore"):
            numbers = column.astype(np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"Column {show(name)} contains a value that is not a number: {error}.") from None
    if np.isinf(numbers).any():
        _refuse_infinity(name)
    return numbers


def _codes(column: np.ndarray, name: Any) -> tuple[np.ndarray, tuple[Category, ...]]:
    """The position of each value among the categories that occur (NaN where it is missing), and these categories."""
    _check_type(column, name)
    if column.dtype.kind != "O":
        if column.dtype.kind == "f" and np.isinf(column).any():
            _refuse_infinity(name)
        present = column == column  # all but NaN
        categories, codes = np.unique(column[present], return_inverse=True)
        _check_number(len(categories), name)
        values = np.full(len(column), np.nan)
        values[present] = codes
        return values, tuple(categories.tolist())
    plain = [None if is_missing(value) else _plain(value, name) for value in column]
    ordered = _ordered((value for value in plain if value is not None), name)
    code = {value: float(position) for position, value in enumerate(ordered)}
    return np.array([math.nan if value is None else code[value] for value in plain]), ordered


def _ordered(values: Iterable[Category], name: Any) -> tuple[Category, ...]:
    """The different categories, sorted. 1, 1.0 and True are one category; which of them represents it does not depend
    on the order of the rows."""
    representative: dict[Category, Category] = {}
    for value in values:
        other = representative.setdefault(value, value)
        if type(value).__name__ < type(other).__name__:
            representative[value] = value
    _check_number(len(representative), name)
    return tuple(sorted(representative.values(), key=lambda value: (isinstance(value, str), value)))


def _plain(value: Any, name: Any) -> Category:
    """The category as a Python str, int, float or bool."""
    if isinstance(value, str):
        return str(value)
    value = value.item() if isinstance(value, np.generic) else value
    if isinstance(value, Number) and not isinstance(value, bool | int | float | complex):
        value = float(value)  # type: ignore[arg-type]  # Decimal, Fraction
    if not isinstance(value, bool | int | float):
        raise ValueError(
            f"Column {show(name)} contains {show(value)} of type {type(value).__name__}; a category is text, a number "
            "or a boolean."
        )
    if isinstance(value, float) and math.isinf(value):
        _refuse_infinity(name)
    return value


def _check_type(column: np.ndarray, name: Any) -> None:
    if column.dtype.kind == "c":
        raise ValueError(f"Complex data not supported: column {show(name)} is of type {column.dtype}.")
    if column.dtype.kind in "mM":
        raise ValueError(
            f"Column {show(name)} contains dates or times ({column.dtype}); turn them into numbers, such as days since "
            "a fixed date."
        )
    if column.dtype.kind not in "biufO":
        raise ValueError(f"Column {show(name)} contains values of type {column.dtype}, not numbers, text or booleans.")


def _check_number(number: int, name: Any) -> None:
    if number > MOST_CATEGORIES:
        raise ValueError(
            f"Column {show(name)} has {number} categories, more than {MOST_CATEGORIES}: if it is an ID, drop it; if "
            "its values are quantities, do not list it in categorical_features."
        )


def _refuse_infinity(name: Any) -> NoReturn:
    raise ValueError(f"Column {show(name)} contains infinity; X must hold finite numbers, or NaN where one is missing.")
