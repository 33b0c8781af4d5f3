"""Reading X for a model: the columns in use of an array, a sparse matrix or a table, a chunk of rows at a time.

A chunk is small enough for its columns to stay in the cache. `Rows` keeps the columns of a whole table, so that several
functions share one reading. Needs numpy alone: tables are recognised by their methods.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from smallearn._text import listed, show
from smallearn.model._columns import Column
from smallearn.model._decision import scores
from smallearn.model._parts import Prototype
from smallearn.model._term import Term

CHUNK_ROWS = 16_384  # so that a column of one chunk stays in the cache
READ_ROWS = 4096  # so that the columns in use do, while they are copied


def gather(
    X: Any, features: Sequence[Term], n_features: int, chunk_rows: int | None = CHUNK_ROWS
) -> Iterator[tuple[int, dict[int, Column]]]:
    """For each chunk of rows, the number of rows and the columns of ``features``, which has a term for each of them.

    ``X`` is an array, a sparse matrix or a table, or `Rows`, which are a single chunk; so are all rows if
    ``chunk_rows`` is None. The columns of a chunk are valid until the next.
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
    if not hasattr(X, "shape"):  # a list, or a batch of pyarrow before 16
        X = X.to_pandas() if hasattr(X, "column_names") else np.asarray(X)
    if len(X.shape) != 2:
        raise ValueError(
            f"X has shape {X.shape}; the model was trained on {n_features} features. X must be rows × features."
        )
    by_name = hasattr(X, "columns") and all(term.name is not None for term in features)
    read = _named_reader(X, features) if by_name else _position_reader(X, features, n_features)
    names = [(term.feature, term.label) for term in features]
    step = X.shape[0] if chunk_rows is None else chunk_rows
    for begin in range(0, X.shape[0], max(1, step)):
        rows = slice(begin, min(X.shape[0], begin + step))
        columns = zip(names, read(rows), strict=True)
        yield rows.stop - begin, {feature: Column(values, label) for (feature, label), values in columns}


Reader = Callable[[slice], Iterable[np.ndarray]]  # from a range of rows to the columns in use


def _named_reader(X: Any, features: Sequence[Term]) -> Reader:
    names = list(getattr(X, "column_names", X.columns))  # pyarrow has the columns themselves under that name
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
    if hasattr(X, "read_features"):  # a Table in mapped files
        return lambda rows: X.read_features(rows, index)
    if hasattr(X, "iloc") or hasattr(X, "get_columns"):  # a table: its columns have types of their own
        columns = [np.asarray(X.iloc[:, l] if hasattr(X, "iloc") else X.to_series(l)) for l in index]
        return lambda rows: [column[rows] for column in columns]
    if hasattr(X, "tocsr"):
        return _sparse_reader(X, index)
    X = np.asarray(X)
    if X.strides[0] == X.itemsize:  # column by column in memory
        return lambda rows: [X[rows, l] for l in index]
    return _row_reader(X, index)


def _row_reader(X: np.ndarray, index: list[int]) -> Reader:
    """For an array that has its rows one after the other in memory."""
    space = np.empty((len(index), 0), dtype=X.dtype)

    def read(rows: slice) -> np.ndarray:
        nonlocal space
        if space.shape[1] < rows.stop - rows.start:
            space = np.empty((len(index), rows.stop - rows.start), dtype=X.dtype)
        for begin in range(rows.start, rows.stop, READ_ROWS):
            end = min(begin + READ_ROWS, rows.stop)
            # take reads the memory of each row once; X[begin:end, index] would read it once for each column
            space[:, begin - rows.start : end - rows.start] = X[begin:end].take(index, axis=1).T
        return space[:, : rows.stop - rows.start]

    return read


def _sparse_reader(X: Any, index: list[int]) -> Reader:
    X = X if X.format == "csc" else X.tocsr()
    chosen = X[:, index].tocsr()
    return lambda rows: np.ascontiguousarray(chosen[rows].toarray().T)


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
        nothing = (0, {term.feature: Column(np.empty(0), term.label) for term in features})
        self.n_rows, columns = next(gather(X, features, n_features, chunk_rows=None), nothing)
        self.shape = (self.n_rows, n_features)
        self.columns = {feature: Column(column.values.copy(), column.label) for feature, column in columns.items()}
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
