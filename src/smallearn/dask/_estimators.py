"""The estimators for Dask collections: those in memory, with another way to read rows and to predict."""

import inspect
from copy import copy
from functools import partial
from typing import Any, Self

import dask
import numpy as np
from sklearn.metrics import accuracy_score
from sklearn.utils.validation import check_is_fitted, validate_data

from smallearn import estimator, selection
from smallearn._base import SMaLLBase, TrainingData
from smallearn._learn.data.many_rows import Large
from smallearn._learn.data.source import pool_rows
from smallearn._learn.data.table import readable
from smallearn._learn.data_parameters import Features, check_cut_points
from smallearn.dask._cluster import Cluster
from smallearn.dask._partitions import Partitions, is_delayed_list, is_lazy, partitions_of, stack
from smallearn.dask._source import DaskSource, Survey
from smallearn.model import SMaLLModel
from smallearn.model._lazy import by_block

FITTED = ("model_", "classes_", "n_features_in_", "feature_names_in_")  # what a prediction needs
ATTRIBUTES = "\n    Attributes\n"
CLIENT = """    client : distributed.Client or None, default=None
        Whose workers do the work. None: the current client; without one, Dask's default scheduler, which reads the rows
        anew in every pass. It is left out of pickles.
"""


class DaskRows(SMaLLBase):
    """The part that differs: rows are read and predictions made by Dask. In front of an estimator's class."""

    client: Any
    _plain: type[SMaLLBase]

    def __init_subclass__(cls) -> None:
        """The constructor of the class in memory, and ``client``; in the documentation too."""
        signature = inspect.signature(cls.__init__)
        client = inspect.Parameter("client", inspect.Parameter.KEYWORD_ONLY, default=None)

        def __init__(self, *values, client=None, **parameters):  # noqa: N807
            super(cls, self).__init__(*values, **parameters)
            self.client = client

        constructor: Any = __init__
        constructor.__signature__ = signature.replace(parameters=[*signature.parameters.values(), client])
        cls.__init__ = constructor  # type: ignore[method-assign]
        cls.__doc__ = with_parameters(cls.__doc__, cls._plain.__doc__)
        super().__init_subclass__()

    def __getstate__(self) -> dict[str, Any]:
        """Without the client, which belongs to this process."""
        return {**super().__getstate__(), "client": None}

    def __sklearn_clone__(self) -> Self:
        alone = copy(self)  # without the client, of which there is no copy
        cloned = super(DaskRows, alone).__sklearn_clone__()
        cloned.client = self.client
        return cloned

    # --- training --------------------------------------------------------------------------------------------------

    def fit(self, X, y=None, sample_weight=None) -> Self:
        """Train a model on the workers' rows.

        Parameters
        ----------
        X : Dask array, Dask dataframe or list of delayed blocks (CSR matrices, arrays, tables)
            The training rows. Anything else is trained on in memory.
        y : Dask array or series, list of delayed blocks, or str
            The class of each row, in the partitions of X; or the name of that column of X.
        sample_weight : Dask array or series, list of delayed blocks, or str, default=None
            The weight of each row, in the same way.

        Returns
        -------
        SMaLLClassifier or SMaLLClassifierCV
            The fitted estimator. If training fails, an earlier fit is left as it was.

        Raises
        ------
        ValueError
            If a parameter, X, y or a weight is not allowed.
        RuntimeError
            If the cluster cannot do the work: no worker, another version of the library, the scheduler is gone.
        """
        if not is_lazy(X):
            return super().fit(X, y, sample_weight)
        with Cluster(self.client) as cluster:
            return super().fit(partitions_of(X, y, sample_weight, cluster))

    def _read(self, X, y, sample_weight, literals: str, *, sampled: bool) -> TrainingData:
        if not isinstance(X, Partitions):
            return super()._read(X, y, sample_weight, literals, sampled=sampled)
        survey = Survey.of(X, self.categorical_features)
        most = pool_rows(survey.width)
        if survey.n_kept <= most:
            return super()._read(*survey.load(), literals, sampled=sampled)
        source = survey.source()
        reader = copy(self)
        if not survey.is_sparse:
            validate_data(reader, survey.facts[0].head, skip_check_array=True)
        names = getattr(reader, "feature_names_in_", None)
        features = Features(source.n_features, names)
        cuts = check_cut_points(features, self.cut_points, survey.is_sparse, source.categories)
        large = Large.read(source, most, **self._choices(literals, cuts))
        return TrainingData(
            X=readable(large.pool.X, source.categories),
            y=source.classes[large.pool.code],
            weight=large.pool.weight * large.share,
            feature_names=names,
            problem=large.problem(),
            large=large,
        )

    def _remember(self, model: SMaLLModel, data: TrainingData) -> SMaLLModel:
        if data.large is None or not isinstance(data.large.source, DaskSource):
            return super()._remember(model, data)
        return data.large.source.remember(model)

    # --- predictions -----------------------------------------------------------------------------------------------

    def predict(self, X) -> Any:
        """Predict the class of each row, as in memory; for Dask collections, a Dask array that is not computed yet.

        Parameters
        ----------
        X : Dask array, Dask dataframe, list of delayed blocks, or rows in memory
            Rows with the features of the training data.

        Returns
        -------
        Dask array or ndarray of shape (n_samples,)
            Class labels.
        """
        return self._by_block("predict", X)

    def predict_proba(self, X) -> Any:
        """Predict the probability of each class, as in memory; for Dask collections, a Dask array.

        Parameters
        ----------
        X : Dask array, Dask dataframe, list of delayed blocks, or rows in memory
            Rows with the features of the training data.

        Returns
        -------
        Dask array or ndarray of shape (n_samples, n_classes)
            In the order of ``classes_``.
        """
        return self._by_block("predict_proba", X)

    def decision_function(self, X) -> Any:
        """Class scores, in log-odds, as in memory; for Dask collections, a Dask array.

        Parameters
        ----------
        X : Dask array, Dask dataframe, list of delayed blocks, or rows in memory
            Rows with the features of the training data.

        Returns
        -------
        Dask array or ndarray of shape (n_samples,) or (n_samples, n_classes)
            With two classes, positive values are for ``classes_[1]``; with more, the score of each class.
        """
        return self._by_block("decision_function", X)

    def score(self, X, y, sample_weight=None) -> float:
        """Accuracy.

        Parameters
        ----------
        X : Dask array, Dask dataframe, list of delayed blocks, or rows in memory
            Rows with the features of the training data.
        y : array-like, Dask array or series, or list of delayed blocks
            The class of each row.
        sample_weight : as y, default=None
            The weight of each row.

        Returns
        -------
        float
            The share of rows, by weight, whose class is predicted.
        """
        predicted = self.predict(X)
        given = [predicted, *(stack_lazily(values) for values in (y, sample_weight))]
        lazy = [values for values in given if dask.is_dask_collection(values)]
        with Cluster(self.client) as cluster:
            computed = iter(cluster.compute(lazy) if lazy else ())
        predicted, y, weight = (next(computed) if dask.is_dask_collection(values) else values for values in given)
        return float(accuracy_score(y, predicted, sample_weight=weight))

    def _by_block(self, method: str, X: Any) -> Any:
        check_is_fitted(self, "model_")
        if not is_lazy(X):
            return getattr(super(), method)(X)
        model: SMaLLModel = self.model_
        n_classes = len(model.classes)
        if method == "predict":
            dtype, n_columns = np.dtype(model.class_dtype), None
        else:
            dtype = np.dtype(float)
            n_columns = None if method == "decision_function" and n_classes == 2 else n_classes
        answer = partial(answer_block, self._in_memory(), method)
        if not is_delayed_list(X):
            return by_block(X, answer, dtype, n_columns)
        import dask.array as da

        shape = (np.nan,) if n_columns is None else (np.nan, n_columns)
        return da.concatenate([da.from_delayed(dask.delayed(answer)(part), shape, dtype) for part in X])

    def _in_memory(self) -> SMaLLBase:
        """The estimator in memory, with no more than what a prediction needs: it goes to the workers."""
        parameters = self.get_params(deep=False)
        del parameters["client"]
        plain = self._plain(**{**parameters, "n_jobs": 1})
        for name in FITTED:
            if name in vars(self):
                setattr(plain, name, vars(self)[name])
        return plain


def answer_block(plain: SMaLLBase, method: str, block: Any) -> np.ndarray:
    """The predictions for some rows, on a worker."""
    if block.shape[0] == 0:  # which scikit-learn refuses
        return getattr(plain.model_, method)(block)
    return getattr(plain, method)(block)


def stack_lazily(values: Any) -> Any:
    """One delayed array of a list of delayed blocks; other values are left as they are."""
    return dask.delayed(stack)(list(values)) if is_delayed_list(values) else values


def with_parameters(doc: str | None, plain: str | None) -> str | None:
    """The documentation of a class, with the parameters and attributes of that in memory before its examples."""
    if doc is None or plain is None:  # python -OO
        return doc
    before, examples = doc.split("    Examples\n", 1)
    sections = plain[plain.index("    Parameters\n") : plain.index("    See Also\n")]
    return f"{before}{sections.replace(ATTRIBUTES, CLIENT + ATTRIBUTES, 1)}    Examples\n{examples}"


class SMaLLClassifier(DaskRows, estimator.SMaLLClassifier):
    """`smallearn.SMaLLClassifier` for rows in Dask collections.

    Up to about 130,000 rows are trained on in memory. Of more, the rows are encoded once and kept on the workers; a
    sample of them chooses the terms, and all rows decide the weights. The model is that of the same rows in memory.

    Examples
    --------
    >>> import dask.array as da
    >>> from sklearn.datasets import load_iris
    >>> from smallearn.dask import SMaLLClassifier
    >>> X, y = (da.from_array(values, chunks=50) for values in load_iris(return_X_y=True))
    >>> clf = SMaLLClassifier(1, 2, random_state=0).fit(X, y)
    >>> clf.predict(X)[::60].compute()
    array([0, 1, 2])
    """

    _plain = estimator.SMaLLClassifier


class SMaLLClassifierCV(DaskRows, selection.SMaLLClassifierCV):
    """`smallearn.SMaLLClassifierCV` for rows in Dask collections.

    Up to about 130,000 rows are trained on in memory. Of more, the rows are encoded once and kept on the workers; a
    sample of them chooses the model here, and all rows decide its weights. The model is that of the same rows in
    memory.

    Examples
    --------
    >>> import dask.array as da
    >>> from sklearn.datasets import load_iris
    >>> from smallearn.dask import SMaLLClassifierCV
    >>> X, y = (da.from_array(values, chunks=50) for values in load_iris(return_X_y=True))
    >>> clf = SMaLLClassifierCV(max_terms=2, cv=2, random_state=0).fit(X, y)
    >>> clf.n_terms_ <= 2
    True
    """

    _plain = selection.SMaLLClassifierCV
