"""What a model reads: the columns in use of an array, a sparse matrix or a table, and the value of a term on them.

A chunk of rows at a time, so that the columns of one chunk stay in the cache. `Column.factor` and `factor_of_one` are
the same rule for many rows and for one. Needs numpy alone: tables are known by their methods.
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
    """None, NaN, pandas' NA and NaT; polars hands its nulls over as None or NaN."""
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
    """The values of one feature in one chunk of rows, of any type."""

    def __init__(self, values: np.ndarray, label: str):
        self.label = label
        self.values = values.astype(object) if values.dtype.kind in "UST" else values

    def factor(self, term: Term) -> np.ndarray:
        """What the term's weight is multiplied by, row by row."""
        if term.kind == "raw":
            return self._raw(term.mean)
        if term.kind == "missing":
            return self.missing
        if term.kind == "equals":
            return self._equals(term.value)
        with np.errstate(invalid="ignore"):  # a comparison with NaN is false, as wanted
            return self.numbers <= term.value if term.kind == "at_most" else self.numbers > term.value

    @cached_property
    def numbers(self) -> np.ndarray:
        """As float64 with NaN for missing, from numbers only: dates, complex numbers and text are refused."""
        text = []
        if self.values.dtype.kind == "O":
            text = [value for value in self.values if isinstance(value, TEXT)]
        if text or self.values.dtype.kind not in "biufO":
            self._refuse(f"text ({show(text[0])})" if text else f"values of type {self.values.dtype}", "numbers")
        values = self.values
        if values.dtype.kind == "O":
            values = values.copy()
            values[self._absent] = np.nan
        try:
            with np.errstate(over="ignore"):
                numbers = values.astype(np.float64, copy=False)
        except (TypeError, ValueError, OverflowError) as problem:
            raise ValueError(
                f"The features that the model uses are not all numbers ({show(self.label)}): {problem}."
            ) from None
        if np.isinf(numbers).any():
            self._refuse("NaN or infinity", "finite numbers")
        return numbers

    @cached_property
    def missing(self) -> np.ndarray:
        """Where there is no value. Objects are checked: a date is not merely unequal to every category."""
        if self.values.dtype.kind != "O":
            return self._gaps
        for value, absent in zip(self.values, self._absent, strict=True):
            if absent or isinstance(value, str):
                continue
            if not isinstance(value, Number | np.bool_):
                self._refuse(f"a value of type {type(value).__name__}", "numbers or text")
            if value in (math.inf, -math.inf):
                self._refuse("NaN or infinity", "finite numbers")
        return self._absent

    @cached_property
    def _gaps(self) -> np.ndarray:
        return np.isnan(self.numbers)

    @cached_property
    def _absent(self) -> np.ndarray:
        """Where an object column has no value."""
        return np.fromiter((is_missing(value) for value in self.values), dtype=bool, count=len(self.values))

    def _raw(self, mean: float | None) -> np.ndarray:
        if not self._gaps.any():
            return self.numbers
        if mean is None:
            self._refuse("NaN or infinity", "finite numbers")
        return np.where(self._gaps, mean, self.numbers)

    def _equals(self, category: Category | None) -> np.ndarray:
        """By value and exactly: whole numbers beyond 2⁵³ are not the nearest float, float32 is not rounded to."""
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
    """`Column.factor` for one value. An infinity gives NaN: a score that is refused, whatever the term."""
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
    """What the term's weight is multiplied by, row by row, given the column of each feature."""
    return columns[term.feature].factor(term)


def factor_in_row(values: Mapping[int, Any], term: Term) -> float:
    """What the term's weight is multiplied by in one row, given the value of each feature."""
    return factor_of_one(term, values[term.feature])


def _same(value: Any, category: Category | None) -> bool:
    """Text equals text and a number a number: ``"1"`` is not 1, but 1, 1.0 and True are one category."""
    if isinstance(value, str) or isinstance(category, str):
        return isinstance(value, str) and isinstance(category, str) and value == category
    value = value.item() if isinstance(value, np.generic) else value  # else numpy would round the category
    return not is_missing(value) and bool(value == category)


# --- gathering the columns in use ------------------------------------------------------------------------------------


def gather(X: Any, features: Sequence[Term], n_features: int) -> Iterator[tuple[int, dict[int, Column]]]:
    """Chunk after chunk: its number of rows, and the column of each of ``features``, one term for each in use.

    ``X`` is an array, a sparse matrix or a table, or the `Rows` that were read from one before: these are one chunk.
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
        raise ValueError(f"X has shape {X.shape}; the model was trained on {n_features} features, rows × features.")
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
        raise ValueError(f"The table lacks the columns {listed(missing)} that the model uses.")
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
    >>> rows = read_rows(model, [[5.0, 1.0, 0.0], [5.0, 2.0, 0.0]])
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
            A term of the model that the rows were read for.

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
            A term of the model that the rows were read for.

        Returns
        -------
        bool
            False for a literal, and for a raw term without a mean.
        """
        return term.mean is not None and bool(self.column(term).missing.any())


def _joined(chunks: Sequence[Column], label: str) -> Column:
    values = np.concatenate([chunk.values for chunk in chunks]) if chunks else np.empty(0)
    return Column(values, label)
