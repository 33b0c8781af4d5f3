"""The methods: each gets training rows and numbers of terms, and returns a model for every number.

All but smallearn, which has its own search, share one inner search: 5-fold stratified cross-validation of the accuracy,
the best choice with at most T terms (ties go to the smaller), and a final fit on all training rows. One run over the
folds serves every T, because most methods give a whole path of sizes in one fit.

A term is a non-zero coefficient of a linear model and a split of a tree.
"""

import inspect
import time
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.special import expit
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import StandardScaler
from sklearn.svm import l1_min_c
from sklearn.tree import DecisionTreeClassifier

FOLDS = 5
SIZES = (1, 2, 3, 4, 5, 6, 8, 10, 13, 16, 20, 25, 32)
WIDE = 1_000  # with more columns, a grid is smaller or a method is replaced by a faster one

Choice = tuple[int, Any]  # the number of terms, and the other parameters of the method
Labels = Callable[[Any], np.ndarray]


class Fitted(NamedTuple):
    """A fitted model: labels of rows, P(y = 1) of rows, number of terms (None: without a bound)."""

    labels: Labels
    probability: Callable[[Any], np.ndarray]
    terms: int | None


class Method(ABC):
    """A method that fits models with at most T terms."""

    bounded = True

    @abstractmethod
    def fits(self, X, y, terms: Sequence[int], seed: int) -> Iterator[tuple[int, Fitted, float]]:
        """Yield T, a model with at most T terms, and its seconds, for each T in ``terms``."""


class Searched(Method):
    """A method whose parameters are chosen by the inner search."""

    @abstractmethod
    def candidates(self, X, y, held, most: int, seed: int) -> dict[Choice, np.ndarray]:
        """For each choice with at most ``most`` terms, smaller ones first: P(y = 1) of the held-out rows."""

    @abstractmethod
    def fit(self, X, y, choice: Choice, seed: int) -> Fitted:
        """The model of this choice."""

    def fits(self, X, y, terms: Sequence[int], seed: int) -> Iterator[tuple[int, Fitted, float]]:
        """The seconds are those of the search, which all T share, plus those of the final fit."""
        start = time.perf_counter()
        scores = self._search(X, y, max(terms), seed)
        searched = time.perf_counter() - start
        made: dict[Choice, tuple[Fitted, float]] = {}
        for T in terms:
            choice = max((c for c in scores if c[0] <= T), key=scores.__getitem__)  # max keeps the first of equals
            if choice not in made:
                start = time.perf_counter()
                made[choice] = self.fit(X, y, choice, seed), time.perf_counter() - start
            fitted, seconds = made[choice]
            yield T, fitted, searched + seconds

    def _search(self, X, y, most: int, seed: int) -> dict[Choice, float]:
        folds = StratifiedKFold(min(FOLDS, np.bincount(y).min()), shuffle=True, random_state=seed)
        scores: dict[Choice, list[float]] = {}
        for train, held in folds.split(y[:, None], y):
            for choice, p in self.candidates(X[train], y[train], X[held], most, seed).items():
                scores.setdefault(choice, []).append(float(np.mean((p > 0.5) == y[held])))
        in_all = {choice: s for choice, s in scores.items() if len(s) == folds.n_splits}
        return {choice: float(np.mean(s)) for choice, s in sorted(in_all.items(), key=lambda item: item[0][0])}


class Standard:
    """Standardised columns without constant ones. With ``keep_sparse``, sparse rows stay sparse and are not centred."""

    def __init__(self, X, keep_sparse: bool = False):
        self.dense = not keep_sparse
        X = self._rows(X)
        self.scaler = StandardScaler(with_mean=not sparse.issparse(X)).fit(X)
        self.varying = np.flatnonzero(self.scaler.var_ > 1e-12)

    def __call__(self, X) -> Any:
        return self.scaler.transform(self._rows(X))[:, self.varying]

    def _rows(self, X) -> Any:
        return dense(X) if self.dense else X


def dense(X) -> np.ndarray:
    """Sparse rows as an ordinary array; there are few enough of them."""
    return X.toarray() if sparse.issparse(X) else X


def sizes_up_to(most: int) -> list[int]:
    """The sizes that are tried, up to and including ``most``."""
    return sorted({s for s in SIZES if s <= most} | {most})


def linear(coef: np.ndarray, intercept: float, prepare: Callable[[Any], Any]) -> Fitted:
    """A linear model of prepared rows; coefficients that are not finite are an error."""
    if not (np.isfinite(coef).all() and np.isfinite(intercept)):
        raise ArithmeticError("the coefficients are not finite")

    def score(X):
        return prepare(X) @ coef + intercept

    return Fitted(lambda X: score(X) > 0.0, lambda X: expit(score(X)), int(np.count_nonzero(coef)))


class SMaLL(Method):
    """smallearn, which standardises the data and chooses its parameters itself, on one thread."""

    def fits(self, X, y, terms: Sequence[int], seed: int) -> Iterator[tuple[int, Fitted, float]]:
        from smallearn import SMaLLClassifierCV

        for T in terms:
            start = time.perf_counter()
            model = SMaLLClassifierCV(max_terms=T, random_state=seed, n_jobs=1).fit(X, y)
            seconds = time.perf_counter() - start
            small = getattr(model, "best_estimator_", model).model_
            used = sum(len(prototype.terms) for prototype in small.prototypes)
            yield T, Fitted(model.predict, lambda X, model=model: model.predict_proba(X)[:, 1], used), seconds


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
                    result[size, alpha] = expit(held @ coef + intercept)
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
                    made[point, C] = expit(held @ coef + intercept)
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
        new_names = inspect.signature(LogisticRegression).parameters["penalty"].default != "l2"  # scikit-learn 1.8
        model = LogisticRegression(
            solver="liblinear",
            intercept_scaling=10.0,
            random_state=0,
            max_iter=200,
            **({"l1_ratio": 1.0} if new_names else {"penalty": "l1"}),
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


class Tree(Searched):
    """A decision tree grown best first. Parameters: number of leaves, criterion, least number of rows in a leaf.

    Growth adds two nodes per split, so the tree of s splits consists of the first 2s + 1 nodes of a larger tree. One
    fit gives all sizes.
    """

    def candidates(self, X, y, held, most, seed):
        X, held = dense(X), dense(held)
        result = {}
        for criterion in ("gini", "entropy"):
            for fewest in (1, 5, 20):
                tree = self._tree(most, criterion, fewest, seed).fit(X, y)
                nodes = tree.decision_path(held).toarray() * np.arange(tree.tree_.node_count)
                share = tree.tree_.value[:, 0, 1] / tree.tree_.value[:, 0].sum(axis=1)
                for size in range(1, most + 1):
                    result[size, (criterion, fewest)] = share[nodes[:, : 2 * size + 1].max(axis=1)]
        return result

    def fit(self, X, y, choice, seed):
        size, (criterion, fewest) = choice
        tree = self._tree(size, criterion, fewest, seed).fit(dense(X), y)
        return Fitted(
            lambda X: tree.predict(dense(X)),
            lambda X: tree.predict_proba(dense(X))[:, 1],
            int(np.sum(tree.tree_.feature >= 0)),
        )

    @staticmethod
    def _tree(size, criterion, fewest, seed):
        return DecisionTreeClassifier(
            max_leaf_nodes=size + 1, criterion=criterion, min_samples_leaf=fewest, random_state=seed
        )


class FIGS(Searched):
    """Sums of trees by imodels. Parameter: the number of splits."""

    def candidates(self, X, y, held, most, seed):
        stages, last = self._staged(dense(X), y, dense(held), most, seed)
        if not np.array_equal(stages[-1] > 0.5, last > 0.5):
            raise RuntimeError("the last stage of FIGS is not its model; this version of imodels is not supported")
        return {(size, None): stages[min(size, len(stages)) - 1] for size in range(1, most + 1)}

    def fit(self, X, y, choice, seed):
        from imodels import FIGSClassifier

        model = self._fit(FIGSClassifier(max_rules=choice[0]), dense(X), y, seed)
        return Fitted(
            lambda X: model.predict(dense(X)), lambda X: model.predict_proba(dense(X))[:, 1], int(model.complexity_)
        )

    @staticmethod
    def _fit(model, X, y, seed):
        # Its stumps break ties with numpy's global generator and take no seed.
        np.random.seed(seed)  # noqa: NPY002
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return model.fit(X, y)

    @classmethod
    def _staged(cls, X, y, held, most, seed) -> tuple[list[np.ndarray], np.ndarray]:
        """P(y = 1) of the held-out rows after each split, and of the final model.

        The model of s splits is the first part of a larger one; its predictions are recorded when it looks for the
        next split.
        """
        from imodels import FIGSClassifier

        stages = []

        class Watched(FIGSClassifier):
            def _fit_candidate_stumps(self, *args, **kwargs):
                stages.append(np.sum([self._predict_tree(tree, held) for tree in self.trees_], axis=0)[:, -1])
                return super()._fit_candidate_stumps(*args, **kwargs)

        model = cls._fit(Watched(max_rules=most), X, y, seed)
        last = model.predict_proba(held)[:, 1]
        if len(stages) < model.complexity_ or not stages:
            stages.append(last)
        return stages, last


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
                result[0, (exact, leaves, n)] = stages[min(n, len(stages)) - 1][:, 1]
        return result

    def fit(self, X, y, choice, seed):
        _, (exact, leaves, n) = choice
        rows = (lambda X: X) if exact else dense
        model = self._model(exact, leaves, n, seed).fit(rows(X), y)
        return Fitted(lambda X: model.predict(rows(X)), lambda X: model.predict_proba(rows(X))[:, 1], None)

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


METHODS: dict[str, Method] = {
    "smallearn": SMaLL(),
    "abess": Abess(),
    "l1 logistic": L1(),
    "tree": Tree(),
    "FIGS": FIGS(),
    "gradient boosting": Boosting(),
}
