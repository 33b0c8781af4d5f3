"""Linear models. A term is a non-zero coefficient; with several classes, a column with one."""

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.special import expit, softmax
from sklearn.linear_model import LogisticRegression
from sklearn.svm import l1_min_c

from benchmarks.quality.search import WIDE, Fitted, Searched, Standard, dense, sizes_up_to, two_columns


def linear(coef: np.ndarray, intercept: float, prepare: Callable[[Any], Any]) -> Fitted:
    """A linear model of prepared rows; coefficients that are not finite are an error."""
    if not (np.isfinite(coef).all() and np.isfinite(intercept)):
        raise ArithmeticError("the coefficients are not finite")

    def score(X):
        return prepare(X) @ coef + intercept

    used = int(np.count_nonzero(coef))
    return Fitted(lambda X: score(X) > 0.0, lambda X: two_columns(expit(score(X))), used, used)


class Abess(Searched):
    """Best subset selection by abess. Parameters: size and ridge penalty (alpha = 1 / 2C)."""

    def candidates(self, X, y, held, most, seed):
        standard = Standard(X)
        X, held = standard(X), standard(held)
        alphas = (0.01, 1.0) if X.size > 500_000 else (0.01, 1.0, 10.0)
        sizes = [s for s in sizes_up_to(most) if s not in ((2, 5, 8, 13) if X.shape[1] > WIDE else (5,))]
        result = {}
        for alpha in alphas:
            for size in sizes:
                if size <= X.shape[1]:
                    coef, intercept = self._best_subset(X, y, size, alpha)
                    result[size, alpha] = two_columns(expit(held @ coef + intercept))
        return result

    def fit(self, X, y, choice, seed):
        size, alpha = choice
        standard = Standard(X)
        return linear(*self._best_subset(standard(X), y, size, alpha), standard)

    @staticmethod
    def _best_subset(X, y, size, alpha):
        from abess import LogisticRegression as BestSubset

        model = BestSubset(support_size=size, alpha=alpha, thread=1).fit(X, y)
        return np.atleast_1d(model.coef_), float(model.intercept_)


class L1(Searched):
    """l1 logistic regression. Parameters: a point of its path, and the C of a ridge refit of its columns, if any.

    A size s stands for the last point of the path with at most s non-zeros. The path goes from the first C with a
    non-zero to where there are more than the most allowed. liblinear penalises the intercept too; a large constant
    instead of 1 makes that negligible.
    """

    REFITS = (None, 0.1, 1.0, 10.0, 100.0)

    def candidates(self, X, y, held, most, seed):
        standard = Standard(X, keep_sparse=True)
        X, held = standard(X), standard(held)
        made: dict[tuple, np.ndarray] = {}  # several sizes may share a point
        result = {}
        path = self._path(X, y, most)
        for size in range(1, min(most, X.shape[1]) + 1):
            point = max(n for n in path if n <= size)
            for C in self.REFITS:
                if (point, C) not in made:
                    coef, intercept = self._refitted(X, y, *path[point], C)
                    made[point, C] = two_columns(expit(held @ coef + intercept))
                result[size, C] = made[point, C]
        return result

    def fit(self, X, y, choice, seed):
        size, C = choice
        standard = Standard(X, keep_sparse=True)
        rows = standard(X)
        path = self._path(rows, y, size)
        return linear(*self._refitted(rows, y, *path[max(n for n in path if n <= size)], C), standard)

    @staticmethod
    def _path(X, y, most) -> dict[int, tuple[np.ndarray, float]]:
        """Number of non-zeros → coefficients and intercept, of the largest C with this number."""
        model = LogisticRegression(
            solver="liblinear",
            intercept_scaling=10.0,
            random_state=0,
            max_iter=200,
            **l1_penalty(),
        )
        share = np.clip(np.mean(y), 1e-3, 1.0 - 1e-3)
        points = {0: (0.0, np.zeros(X.shape[1]), float(np.log(share / (1.0 - share))))}

        def at(C: float) -> int:
            model.set_params(C=C).fit(X, y)
            used = int(np.count_nonzero(model.coef_))
            if used <= most and points.get(used, (0.0,))[0] < C:
                points[used] = C, model.coef_[0].copy(), float(model.intercept_[0])
            return used

        def between(C: float, used: int, next_C: float, next_used: int, halvings: int) -> None:
            """Look for sizes that a step has skipped: correlated columns enter close together."""
            if halvings and used < most and next_used > used + 1:
                middle = float(np.sqrt(C * next_C))
                middle_used = at(middle)
                between(C, used, middle, middle_used, halvings - 1)
                between(middle, middle_used, next_C, next_used, halvings - 1)

        first = l1_min_c(X, y, loss="log")
        C, used, beyond = first, 0, 0
        for next_C in first * np.geomspace(1.05, 1e4, 60):
            next_used = at(next_C)
            between(C, used, next_C, next_used, halvings=4)
            C, used = next_C, next_used
            beyond += used > most
            if beyond == 2:
                break
        return {n: (coef, intercept) for n, (_, coef, intercept) in points.items()}

    @staticmethod
    def _refitted(X, y, coef, intercept, C):
        used = np.flatnonzero(coef)
        if C is None or not used.size:
            return coef, intercept
        ridge = LogisticRegression(C=C, max_iter=300).fit(dense(X[:, used]), y)
        coef = np.zeros_like(coef)
        coef[used] = ridge.coef_[0]
        return coef, float(ridge.intercept_[0])


def multinomial(coef: np.ndarray, intercept: np.ndarray, prepare: Callable[[Any], Any]) -> Fitted:
    """A linear score for each class, of prepared rows; ``coef`` has a column for each class."""
    if not (np.isfinite(coef).all() and np.isfinite(intercept).all()):
        raise ArithmeticError("the coefficients are not finite")

    def probability(X):
        return softmax(prepare(X) @ coef + intercept, axis=1)

    return Fitted(
        lambda X: probability(X).argmax(axis=1), probability, len(used_columns(coef)), int(np.count_nonzero(coef))
    )


def used_columns(coef: np.ndarray) -> np.ndarray:
    """The columns that a class weighs."""
    return np.flatnonzero(np.any(coef != 0.0, axis=1))


class AbessMultinomial(Searched):
    """Best subset selection for several classes by abess: all classes share the columns, and a ridge refit weighs them.

    Parameters: the number of columns, and the C of the refit. abess's multinomial regression needs memory for
    (rows × classes)² numbers; where that is too much, its least squares on a column of 0 and 1 for each class selects.
    """

    SIZES = (2, 4, 8, 12, 20)
    REFITS = (0.1, 1.0, 10.0)
    LARGEST = 6_000  # rows × classes

    def candidates(self, X, y, held, most, seed):
        standard = Standard(X)
        X, held = standard(X), standard(held)
        result = {}
        for size in sorted({min(size, most, X.shape[1]) for size in self.SIZES}):
            columns = self._best_subset(X, y, size)
            for C in self.REFITS:
                coef, intercept = ridge_refit(X, y, columns, C)
                result[size, C] = softmax(held @ coef + intercept, axis=1)
        return result

    def fit(self, X, y, choice, seed):
        size, C = choice
        standard = Standard(X)
        rows = standard(X)
        return multinomial(*ridge_refit(rows, y, self._best_subset(rows, y, size), C), standard)

    @classmethod
    def _best_subset(cls, X, y, size) -> np.ndarray:
        from abess import MultinomialRegression, MultiTaskRegression

        n_classes = int(y.max()) + 1
        if len(y) * n_classes <= cls.LARGEST:
            model = MultinomialRegression(support_size=size, alpha=0.01, max_iter=5, thread=1).fit(X, y)
        else:
            model = MultiTaskRegression(support_size=size, thread=1).fit(X, np.eye(n_classes)[y])
        return used_columns(np.asarray(model.coef_))


def ridge_refit(X, y, columns: np.ndarray, C: float) -> tuple[np.ndarray, np.ndarray]:
    """Coefficients (columns × classes) and intercepts of ridge logistic regression on some columns."""
    ridge = LogisticRegression(C=C, max_iter=100).fit(X[:, columns], y)
    coef = np.zeros((X.shape[1], len(ridge.intercept_)))
    coef[columns] = ridge.coef_.T
    return coef, ridge.intercept_


class L1Multinomial(Searched):
    """l1 logistic regression for several classes. Parameters: a point of its path, and the C of a ridge refit, if any.

    A size s stands for the last point of the path with at most s columns in use, however many classes weigh them.
    """

    REFITS = (None, 0.1, 1.0, 10.0)
    POINTS = 40

    def candidates(self, X, y, held, most, seed):
        standard = Standard(X)
        X, held = standard(X), standard(held)
        result = {}
        for size, (coef, intercept) in self._path(X, y, most).items():
            for C in self.REFITS:
                refit, constant = self._refitted(X, y, coef, intercept, C)
                result[size, C] = softmax(held @ refit + constant, axis=1)
        return self._for_every_size(result, min(most, X.shape[1]))

    def fit(self, X, y, choice, seed):
        size, C = choice
        standard = Standard(X)
        rows = standard(X)
        path = self._path(rows, y, size)
        return multinomial(*self._refitted(rows, y, *path[max(path)], C), standard)

    def _for_every_size(self, made, most):
        """Folds may skip different sizes: each size gets the largest that is not larger."""
        points = sorted({size for size, _ in made})
        largest = {size: max(n for n in points if n <= size) for size in range(most + 1)}
        return {(size, C): made[n, C] for size, n in largest.items() for C in self.REFITS}

    def _path(self, X, y, most) -> dict[int, tuple[np.ndarray, np.ndarray]]:
        """Number of columns in use → coefficients and intercepts, of the largest C with this number."""
        share = np.bincount(y) / len(y)
        first = 1.0 / np.abs(X.T @ (np.eye(len(share))[y] - share)).max()  # below it there is no column
        points = {0: (np.zeros((X.shape[1], len(share))), np.log(share))}
        model = LogisticRegression(
            solver="saga", warm_start=True, max_iter=40, tol=1e-2, random_state=0, **l1_penalty()
        )
        for C in first * np.geomspace(1.02, 1e3, self.POINTS):
            model.set_params(C=C).fit(X, y)
            used = len(used_columns(model.coef_.T))
            if used > most:
                break
            points[used] = model.coef_.T.copy(), model.intercept_.copy()
        return points

    @staticmethod
    def _refitted(X, y, coef, intercept, C):
        used = used_columns(coef)
        return (coef, intercept) if C is None or not used.size else ridge_refit(X, y, used, C)


def l1_penalty() -> dict[str, Any]:
    """The argument of `LogisticRegression` that makes the penalty l1, which scikit-learn 1.8 renamed."""
    new_names = inspect.signature(LogisticRegression).parameters["penalty"].default != "l2"
    return {"l1_ratio": 1.0} if new_names else {"penalty": "l1"}
