"""A `Table`: rows that lie in mapped files, encoded as numbers, so that they need not fit in memory."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from smallearn.model._parts import Category


@dataclass(frozen=True, eq=False)
class Table:
    """Training rows in mapped files. `smallearn.tables.open_table` makes it; pass it to ``fit`` in place of X and y.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features)
        The features. NaN is missing; categorical features have codes.
    code : ndarray of shape (n_rows,)
        The position of the class of each row in ``classes``.
    classes : ndarray
        The classes, sorted.
    feature_names : ndarray of str
        The names of the columns of X.
    target : str
        The name of the column of classes.
    weight : ndarray of shape (n_rows,), default=None
        The weight of each row; None: all are 1.
    categories : dict, default={}
        The categories of each categorical feature, by its position.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from smallearn import SMaLLClassifier
    >>> from smallearn.tables import Table
    >>> X, y = load_iris(return_X_y=True)
    >>> names = np.array(["a", "b", "c", "d"], dtype=object)
    >>> table = Table(X=X, code=y, classes=np.arange(3), feature_names=names, target="species")
    >>> SMaLLClassifier(1, 2).fit(table).classes_
    array([0, 1, 2])
    """

    X: np.ndarray
    code: np.ndarray
    classes: np.ndarray
    feature_names: np.ndarray
    target: str
    weight: np.ndarray | None = None
    categories: Mapping[int, Sequence[Category]] | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """The number of rows and of features."""
        return self.X.shape[0], self.X.shape[1]

    @property
    def y(self) -> np.ndarray:
        """The class of each row, in memory."""
        return self.classes[np.asarray(self.code)]

    def read_features(self, rows: slice, features: Sequence[int]) -> list[np.ndarray]:
        """Read some features of some rows, as they were before they were encoded.

        Parameters
        ----------
        rows : slice
            Which rows.
        features : sequence of int
            The positions of the features.

        Returns
        -------
        list of ndarray
            A column for each feature.
        """
        return [_decoded(np.asarray(self.X[rows, l]), (self.categories or {}).get(l)) for l in features]


def readable(X: Any, categories: Mapping[int, Sequence[Category]]) -> Any:
    """Encoded rows as an array that a model reads: categories are themselves again. Sparse rows have none."""
    if not categories:
        return X
    return np.array([_decoded(X[:, l], categories.get(l)).astype(object) for l in range(X.shape[1])], dtype=object).T


def _decoded(column: np.ndarray, categories: Sequence[Category] | None) -> np.ndarray:
    if categories is None:
        return column
    values: Any = np.array([*categories, None], dtype=object)
    return values[np.where(np.isnan(column), len(values) - 1, column).astype(np.int64)]
