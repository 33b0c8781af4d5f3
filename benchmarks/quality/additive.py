"""Boosting, and explainable boosting machines at their smallest."""

import time

import numpy as np
from sklearn.feature_selection import f_classif

from benchmarks.quality.search import WIDE, Fitted, Found, Method, Searched, dense


class Boosting(Searched):
    """Gradient boosting without a bound. Parameters: size and number of trees.

    With histograms; on few rows or many columns with exact splits among √d columns, which is better and faster there.
    """

    bounded = False
    TREES = (25, 50, 100, 200)

    def candidates(self, X, y, held, most, seed):
        result = {}
        exact = self._exact(X)
        for leaves in (4, 16):
            model = self._model(exact, leaves, self.TREES[-1], seed).fit(X if exact else dense(X), y)
            stages = list(model.staged_predict_proba(held if exact else dense(held)))
            for n in self.TREES:
                result[0, (exact, leaves, n)] = stages[min(n, len(stages)) - 1]
        return result

    def fit(self, X, y, choice, seed):
        _, (exact, leaves, n) = choice
        rows = (lambda X: X) if exact else dense
        model = self._model(exact, leaves, n, seed).fit(rows(X), y)
        return Fitted(lambda X: model.predict(rows(X)), lambda X: model.predict_proba(rows(X)), None, None)

    @staticmethod
    def _exact(X) -> bool:
        return X.shape[0] < 400 or X.shape[1] > WIDE

    @staticmethod
    def _model(exact, leaves, n, seed):
        from sklearn.ensemble import GradientBoostingClassifier, HistGradientBoostingClassifier

        if exact:
            return GradientBoostingClassifier(
                n_estimators=n, max_leaf_nodes=leaves, max_depth=None, max_features="sqrt", random_state=seed
            )
        return HistGradientBoostingClassifier(
            max_iter=n, max_leaf_nodes=leaves, early_stopping=False, random_state=seed
        )


class DefaultBoosting(Method):
    """`HistGradientBoostingClassifier` with its defaults, nothing chosen."""

    bounded = False

    def fits(self, X, y, terms, seed):
        from sklearn.ensemble import HistGradientBoostingClassifier

        start = time.process_time()
        model = HistGradientBoostingClassifier(random_state=seed).fit(dense(X), y)
        seconds = time.process_time() - start
        for T in terms:
            fitted = Fitted(lambda X: model.predict(dense(X)), lambda X: model.predict_proba(dense(X)), None, None)
            yield Found(T, fitted, None, seconds)


class Constant(Method):
    """The most frequent class, for comparison."""

    bounded = False

    def fits(self, X, y, terms, seed):
        share = np.bincount(y) / len(y)
        for T in terms:
            fitted = Fitted(
                lambda X: np.full(X.shape[0], share.argmax()),
                lambda X: np.tile(share, (X.shape[0], 1)),
                0,
                0,
                lambda: 0,
            )
            yield Found(T, fitted, float(share.max()), 0.0)


class ExplainableBoosting(Searched):
    """An explainable boosting machine without pairs, at its smallest. A term is a step of a shape function.

    Parameter: the steps of each function. With s steps, T terms are T / s columns: the most important of a first model
    of all columns (on wide data, of the 200 columns that separate the classes best).
    """

    STEPS = (1, 2, 4)
    SIZES = (3, 6, 10, 16)
    COLUMNS = 200

    def candidates(self, X, y, held, most, seed):
        X, held = dense(X), dense(held)
        result = {}
        for steps in self.STEPS:
            order = self._order(X, y, steps, seed)
            for size in sorted({min(size, most) for size in self.SIZES}):
                columns = order[: size // steps]
                if len(columns):
                    model = self._model(steps, seed).fit(X[:, columns], y)
                    result[size, steps] = model.predict_proba(held[:, columns])
        return result

    def fit(self, X, y, choice, seed):
        size, steps = choice
        X = dense(X)
        columns = self._order(X, y, steps, seed)[: size // steps]
        model = self._model(steps, seed).fit(X[:, columns], y)
        used = sum(int(np.count_nonzero(np.diff(scores[1:-1]))) for scores in model.term_scores_)  # ends: missing, new
        return Fitted(
            lambda X: model.predict(dense(X)[:, columns]),
            lambda X: model.predict_proba(dense(X)[:, columns]),
            used,
            used,
        )

    def _order(self, X, y, steps, seed) -> np.ndarray:
        """The columns, the most important first."""
        columns = np.flatnonzero(np.ptp(X, axis=0) > 0.0)
        if len(columns) > self.COLUMNS:
            columns = np.sort(columns[np.argsort(-f_classif(X[:, columns], y)[0], kind="stable")[: self.COLUMNS]])
        model = self._model(steps, seed).fit(X[:, columns], y)
        return columns[np.argsort(-model.term_importances(), kind="stable")]

    @staticmethod
    def _model(steps, seed):
        from interpret.glassbox import ExplainableBoostingClassifier

        return ExplainableBoostingClassifier(
            interactions=0,
            max_bins=steps + 3,  # a bin more than steps, one for missing and one for unseen values
            outer_bags=1,
            n_jobs=1,
            random_state=seed,
        )
