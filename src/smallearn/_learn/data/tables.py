"""Training data of any columns, as one matrix: numbers as they are, categories as codes, NaN where a value is missing.

Which columns are categories is the caller's to say, in scikit-learn's words (``categorical_features`` of
`HistGradientBoostingClassifier`). Needs numpy alone: tables are known by their methods.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Number
from typing import Any, NoReturn

import numpy as np

from smallearn._text import listed, show
from smallearn.model._columns import TEXT, is_missing
from smallearn.model._parts import Category

MOST_CATEGORIES = 10_000  # in one column: more are an identity, from which nothing can be learnt


@dataclass(frozen=True)
class Table:
    """``values``: rows × columns, float64 in C order; in the columns of ``categories`` the position of the category,
    NaN where it is missing. ``categories[l]`` are those that occur, sorted: plain numbers and booleans, then text."""

    values: np.ndarray
    categories: dict[int, tuple[Category, ...]]


def read_table(X: Any, categorical_features: Any = None, feature_names: Sequence[str] | None = None) -> Table:
    """Read an array, or a pandas or polars table, that may have text, categories, booleans and missing values.

    ``categorical_features``: None (no column), ``"from_dtype"`` (those of text or of a category type), or an array of
    booleans, positions or names. ``feature_names`` are what the columns are called here and in messages; without them
    the table's own names. Numbers that are categories keep their value; text that is a number does not become one.
    """
    if hasattr(X, "collect") and not hasattr(X, "shape"):
        raise ValueError(f"X is a {type(X).__name__}, a table not read yet; collect it first.")
    if not hasattr(X, "shape"):
        X = np.asarray(X)
    if hasattr(X, "tocsr"):
        raise ValueError("X is a sparse matrix; categories and missing values need an array or a table.")
    if len(X.shape) != 2:
        raise ValueError(
            f"Expected 2D array, got {len(X.shape)}D array instead: X has shape {X.shape}. Reshape your data to rows × "
            "columns."
        )
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
    return Table(values, categories)


# --- columns and what they are called --------------------------------------------------------------------------------


def _columns(X: Any) -> list[np.ndarray]:
    if hasattr(X, "iloc"):
        columns = [np.asarray(X.iloc[:, l]) for l in range(X.shape[1])]
    elif hasattr(X, "to_series"):
        columns = [np.asarray(X.to_series(l)) for l in range(X.shape[1])]
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
    """Which columns are categories, as a mask."""
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
        raise ValueError(f"categorical_features names {listed(unknown)}, which X has not; it has {_some(names)}.")
    return np.array([name in listed_features.tolist() for name in names])


def _has_category_type(X: Any, l: int) -> bool:
    """Whether of pandas' category, polars' Categorical and Enum: even if of numbers or all missing."""
    if not hasattr(X, "dtypes"):
        return False
    dtype = X.dtypes.iloc[l] if hasattr(X.dtypes, "iloc") else X.dtypes[l]
    return type(dtype).__name__ in ("CategoricalDtype", "Categorical", "Enum")


def _text_in(column: np.ndarray) -> Any:
    """The first text of a column, or None."""
    if column.dtype.kind != "O":
        return None
    return next((value for value in column if isinstance(value, TEXT)), None)


def _some(names: Sequence[Any], most: int = 10) -> str:
    return listed(list(names)[:most]) + (", …" if len(names) > most else "")


# --- one column ------------------------------------------------------------------------------------------------------


def _numbers(column: np.ndarray, name: Any) -> np.ndarray:
    """As float64, NaN where a value is missing."""
    text = _text_in(column)
    if text is not None:
        raise ValueError(
            f"Column {show(name)} contains text ({show(text)}), not numbers; pass categorical_features='from_dtype', "
            "or name the columns that are categories in categorical_features."
        )
    _check_type(column, name)
    if column.dtype.kind == "O":
        column = column.copy()
        column[[is_missing(value) for value in column]] = np.nan
    try:
        with np.errstate(over="ignore"):
            numbers = column.astype(np.float64)
    except (TypeError, ValueError, OverflowError) as problem:
        raise ValueError(f"Column {show(name)} contains a value that is not a number: {problem}.") from None
    if np.isinf(numbers).any():
        _refuse_infinity(name)
    return numbers


def _codes(column: np.ndarray, name: Any) -> tuple[np.ndarray, tuple[Category, ...]]:
    """The position of each category among those that occur, and these; NaN where it is missing."""
    _check_type(column, name)
    if column.dtype.kind != "O":
        if column.dtype.kind == "f" and np.isinf(column).any():
            _refuse_infinity(name)
        present = column == column  # all but NaN
        found, codes = np.unique(column[present], return_inverse=True)
        _check_number(len(found), name)
        values = np.full(len(column), np.nan)
        values[present] = codes
        return values, tuple(found.tolist())
    plain = [None if is_missing(value) else _plain(value, name) for value in column]
    # 1, 1.0 and True are one category; which of them stands for it must not depend on the order of the rows.
    chosen: dict[Category, Category] = {}
    for value in plain:
        if value is not None:
            other = chosen.setdefault(value, value)
            if type(value).__name__ < type(other).__name__:
                chosen[value] = value
    _check_number(len(chosen), name)
    ordered = sorted(chosen.values(), key=lambda value: (isinstance(value, str), value))
    code = {value: float(position) for position, value in enumerate(ordered)}
    return np.array([math.nan if value is None else code[value] for value in plain]), tuple(ordered)


def _plain(value: Any, name: Any) -> Category:
    """The category as Python's own text, number or boolean."""
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
            f"Column {show(name)} has {number} categories, more than {MOST_CATEGORIES}: if it is an id, drop it; if "
            "its values are quantities, do not list it in categorical_features."
        )


def _refuse_infinity(name: Any) -> NoReturn:
    raise ValueError(f"Column {show(name)} contains infinity; X must hold finite numbers, or NaN where one is missing.")
