"""The columns that a model uses, from an array, a sparse matrix or a table, and the value of a term on them.

Rows are read in chunks, so that the columns of one chunk stay in the cache. `Column.factor` and `factor_of_one` are the
same rule, for many rows and for one. Needs numpy alone: tables are recognised by their methods.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from numbers import Number
from typing import Any, NoReturn

import numpy as np

from smallearn._text import listed, show
from smallearn.model._parts import Prototype
from smallearn.model._rule import scores
from smallearn.model._term import Category, Term

CHUNK_ROWS = 4096  # so that the columns gathered for one chunk stay in the cache
TEXT = (str, bytes, bytearray)


def is_missing(value: Any) -> bool:
    """Whether a value is None, NaN, or pandas' NA or NaT; polars converts its nulls to None or NaN."""
    if value is None:
        return True
    if isinstance(value, TEXT):
        return False
    try:
        return bool(value != value)
    except (TypeError, ValueError):  # pandas' NA has no truth value; neither has an array in a cell
        return type(value).__name__ == "NAType"


# --- the value of a term ---------------------------------------------------------------------------------------------


class Column:
    """The values of one feature in some rows, of any type."""

    def __init__(self, values: np.ndarray, label: str):
        self.label = label
        self.values = values.astype(object) if values.dtype.kind in "UST" else values

    def factor(self, term: Term) -> np.ndarray:
        """What the term's weight is multiplied by, for each row."""
        if term.kind == "raw":
            return self._raw(term.mean)
        if term.kind == "missing":
            return self.missing
        if term.kind == "equals":
            return self._equals(term.value)
        with np.errstate(invalid="ignore"):  # a comparison with NaN is false, as it should be
            return self.numbers <= term.value if term.kind == "at_most" else self.numbers > term.value

    @cached_property
    def numbers(self) -> np.ndarray:
        """The values as float64, NaN for missing; dates, complex numbers and text are refused."""
        text = []
        if self.values.dtype.kind == "O":
            text = [value for value in self.values if isinstance(value, TEXT)]
        if text or self.values.dtype.kind not in "biufO":
            self._refuse(f"text ({show(text[0])})" if text else f"values of type {self.values.dtype}", "numbers")
        values = self.values
        if values.dtype.kind == "O":
            values = values.copy()
            values[self._is_missing] = np.nan
        try:
            with np.errstate(over="ignore"):
                numbers = values.astype(np.float64, copy=False)
        except (TypeError, ValueError, OverflowError) as error:
            raise ValueError(
                f"The features that the model uses are not all numbers ({show(self.label)}): {error}."
            ) from None
        if np.isinf(numbers).any():
            self._refuse("NaN or infinity", "finite numbers")
        return numbers

    @cached_property
    def missing(self) -> np.ndarray:
        """Which values are missing. Objects that are neither numbers nor text, such as dates, are refused."""
        if self.values.dtype.kind != "O":
            return self._is_nan
        for value, is_absent in zip(self.values, self._is_missing, strict=True):
            if is_absent or isinstance(value, str):
                continue
            if not isinstance(value, Number | np.bool_):
                self._refuse(f"a value of type {type(value).__name__}", "numbers or text")
            if value in (math.inf, -math.inf):
                self._refuse("NaN or infinity", "finite numbers")
        return self._is_missing

    @cached_property
    def _is_nan(self) -> np.ndarray:
        return np.isnan(self.numbers)

    @cached_property
    def _is_missing(self) -> np.ndarray:
        """Which values of a column of objects are missing."""
        return np.fromiter((is_missing(value) for value in self.values), dtype=bool, count=len(self.values))

    def _raw(self, mean: float | None) -> np.ndarray:
        """The numbers, with the mean for missing values; these are refused if there is no mean."""
        if not self._is_nan.any():
            return self.numbers
        if mean is None:
            self._refuse("NaN or infinity", "finite numbers")
        return np.where(self._is_nan, mean, self.numbers)

    def _equals(self, category: Category | None) -> np.ndarray:
        """Where a value equals the category exactly: no whole number beyond 2⁵³ is rounded, nor the category."""
        none = np.zeros_like(self.missing)
        if self.values.dtype.kind == "O":
            return np.array([_same(value, category) for value in self.values], dtype=bool)
        if isinstance(category, str) or category is None:
            return none
        if self.values.dtype.kind in "biu":
            if category != int(category):
                return none
            limits = np.iinfo(self.values.dtype) if self.values.dtype.kind != "b" else None
            low, high = (0, 1) if limits is None else (limits.min, limits.max)
            return self.values == self.values.dtype.type(int(category)) if low <= category <= high else none
        nearest = float(category)
        return self.numbers == nearest if nearest == category else none

    def _refuse(self, what: str, needed: str) -> NoReturn:
        raise ValueError(f"The features that the model uses contain {what}; it needs {needed} for {show(self.label)}.")


def factor_of_one(term: Term, value: Any) -> float:
    """`Column.factor` for one value. An infinity gives NaN, and so a score that is refused."""
    missing = is_missing(value)
    if missing and term.kind != "raw":
        return float(term.kind == "missing")
    if missing and term.mean is not None:
        return term.mean
    if term.kind in ("equals", "missing"):
        if not isinstance(value, str | Number | np.bool_):
            raise TypeError(f"{value!r} is neither a number nor text")
        if not isinstance(value, str) and value in (math.inf, -math.inf):
            return math.nan
        return float(term.kind == "equals" and _same(value, term.value))
    if isinstance(value, TEXT):
        raise TypeError(f"{value!r} is text")
    number = float(value)
    if term.kind == "raw":
        return number
    if math.isinf(number):
        return math.nan
    return float(number <= term.value if term.kind == "at_most" else number > term.value)  # type: ignore[operator]


def factor_in(columns: Mapping[int, Column], term: Term) -> np.ndarray:
    """What the term's weight is multiplied by, for each row, from the column of each feature."""
    return columns[term.feature].factor(term)


def factor_in_row(values: Mapping[int, Any], term: Term) -> float:
    """What the term's weight is multiplied by in one row, from the value of each feature."""
    return factor_of_one(term, values[term.feature])


def _same(value: Any, category: Category | None) -> bool:
    """Text equals text and a number equals a number: ``"1"`` is not 1, but 1, 1.0 and True are the same category."""
    if isinstance(value, str) or isinstance(category, str):
        return isinstance(value, str) and isinstance(category, str) and value == category
    value = value.item() if isinstance(value, np.generic) else value  # else numpy would round the category
    return not is_missing(value) and bool(value == category)


# --- gathering the columns in use ------------------------------------------------------------------------------------


def gather(X: Any, features: Sequence[Term], n_features: int) -> Iterator[tuple[int, dict[int, Column]]]:
    """For each chunk of rows, the number of rows and the columns of ``features``, which has a term for each of them.

    ``X`` is an array, a sparse matrix or a table, or `Rows`, which are a single chunk.
    """
    if isinstance(X, Rows):
        if X.shape[1] != n_features:
            raise ValueError(
                f"These rows have {X.shape[1]} features; the model was trained on {n_features}. "
                "Read the table again for this model."
            )
        if X.n_rows:
            yield X.n_rows, {term.feature: X.column(term) for term in features}
        return
    if not hasattr(X, "shape"):
        X = np.asarray(X)
    if len(X.shape) != 2:
        raise ValueError(
            f"X has shape {X.shape}; the model was trained on {n_features} features. X must be rows × features."
        )
    by_name = hasattr(X, "columns") and all(term.name is not None for term in features)
    read = _named_reader(X, features) if by_name else _position_reader(X, features, n_features)
    for begin in range(0, X.shape[0], CHUNK_ROWS):
        rows = slice(begin, min(X.shape[0], begin + CHUNK_ROWS))
        columns = zip(features, read(rows), strict=True)
        yield rows.stop - begin, {term.feature: Column(values, term.label) for term, values in columns}


Reader = Callable[[slice], Iterable[np.ndarray]]  # from a range of rows to the columns in use


def _named_reader(X: Any, features: Sequence[Term]) -> Reader:
    names = list(X.columns)
    missing = [term.name for term in features if term.name not in names]
    if missing:
        raise ValueError(
            f"The table lacks the columns {listed(missing)} that the model uses; its first are {listed(names[:5])}."
        )
    twice = [term.name for term in features if names.count(term.name) > 1]
    if twice:
        raise ValueError(f"The table has more than one column called {listed(twice)}, which the model uses.")
    columns = [np.asarray(X[term.name]) for term in features]
    return lambda rows: [column[rows] for column in columns]


def _position_reader(X: Any, features: Sequence[Term], n_features: int) -> Reader:
    if X.shape[1] != n_features:
        raise ValueError(f"X has shape {X.shape}; the model was trained on {n_features} features.")
    index = [term.feature for term in features]
    if hasattr(X, "iloc") or hasattr(X, "to_series"):  # a table: its columns have types of their own
        columns = [np.asarray(X.iloc[:, l] if hasattr(X, "iloc") else X.to_series(l)) for l in index]
        return lambda rows: [column[rows] for column in columns]
    X = X.tocsr() if hasattr(X, "tocsr") else np.asarray(X)

    def read(rows: slice) -> Iterable[np.ndarray]:
        if not index:
            return []
        chosen = X[rows][:, index]
        return np.ascontiguousarray((chosen.toarray() if hasattr(chosen, "toarray") else chosen).T)

    return read


class Rows:
    """The columns of a table that a model uses, read once.

    A model and every function that takes rows for a model take a `Rows` in place of ``X``. It keeps the value of each
    term and the scores of each model, so that several questions about the same rows compute them once. `read_rows`
    makes one.

    Parameters
    ----------
    X : array, sparse matrix or table
        Rows × features.
    features : sequence of Term
        One term for each feature to read.
    n_features : int
        The number of features that the model was trained on.

    Attributes
    ----------
    n_rows : int
        The number of rows.
    shape : tuple of int
        ``(n_rows, n_features)``.
    columns : dict
        From the position of each feature that was read to its column.

    See Also
    --------
    read_rows : The columns that a model uses.

    Examples
    --------
    >>> from smallearn.model import Prototype, SMaLLModel, Term, read_rows
    >>> prototype = Prototype(owner=1, intercept=-3.0, terms=(Term(feature=1, weight=2.0),))
    >>> model = SMaLLModel(("no", "yes"), "<U3", n_features=3, prototypes=(prototype,))
    >>> rows = read_rows(model, [[0.0, 1.0, 7.0], [0.0, 2.0, 7.0]])
    >>> rows.n_rows, list(rows.columns)
    (2, [1])
    >>> model.predict(rows)
    array(['no', 'yes'], dtype='<U3')
    """

    def __init__(self, X: Any, features: Sequence[Term], n_features: int):
        chunks = list(gather(X, features, n_features))
        self.n_rows = sum(n_rows for n_rows, _ in chunks)
        self.shape = (self.n_rows, n_features)
        self.columns = {
            term.feature: _joined([columns[term.feature] for _, columns in chunks], term.label) for term in features
        }
        self._factors: dict[tuple, np.ndarray] = {}
        self._scores: dict[tuple[Prototype, ...], np.ndarray] = {}

    def column(self, term: Term) -> Column:
        """The column of a term's feature.

        Parameters
        ----------
        term : Term
            A term of the model that the rows were read for.

        Returns
        -------
        Column
            The values of the feature.

        Raises
        ------
        ValueError
            If the feature was not read, or was read under another name.
        """
        column = self.columns.get(term.feature)
        if column is None or column.label != term.label:
            raise ValueError(
                f"These rows were read without feature {show(term.label)}; read the table again for this model."
            )
        return column

    def factor(self, term: Term) -> np.ndarray:
        """What the weight of a term is multiplied by, row by row; kept for the next call.

        Parameters
        ----------
        term : Term
            A term of a feature that was read.

        Returns
        -------
        ndarray of shape (n_rows,)
            The feature's values for a raw term; 0 or 1 for a literal.
        """
        key = (term.feature, term.kind, type(term.value), term.value, term.mean)
        if key not in self._factors:
            self._factors[key] = np.asarray(self.column(term).factor(term), dtype=float)
        return self._factors[key]

    def scores(self, prototypes: tuple[Prototype, ...]) -> np.ndarray:
        """The score of every prototype on every row; kept for the next call.

        Parameters
        ----------
        prototypes : tuple of Prototype
            Those of the model that the rows were read for.

        Returns
        -------
        ndarray of shape (n_rows, n_prototypes)
            In points. It cannot be written to.
        """
        if prototypes not in self._scores:
            z = scores(prototypes, self.factor, self.n_rows)
            z.flags.writeable = False
            self._scores[prototypes] = z
        return self._scores[prototypes]

    def fills_gaps(self, term: Term) -> bool:
        """Whether the term's mean is used for a missing value in any row.

        Parameters
        ----------
        term : Term
            A raw term or a literal.

        Returns
        -------
        bool
            False for a literal, and for a raw term without a mean.
        """
        return term.mean is not None and bool(self.column(term).missing.any())


def _joined(chunks: Sequence[Column], label: str) -> Column:
    values = np.concatenate([chunk.values for chunk in chunks]) if chunks else np.empty(0)
    return Column(values, label)
