"""The methods: ours with its defaults, rivals as people use them. Columns are standardised for those that need it."""

import inspect
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegressionCV
from sklearn.model_selection import GridSearchCV
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from smallearn import SMaLLClassifierCV

FOLDS = 5


class Method(NamedTuple):
    """A function that fits, whether it takes a number of terms, and whether it compiles something first."""

    fit: Callable[..., Any]
    bounded: bool
    compiles: bool = False


def small(X: np.ndarray, y: np.ndarray, terms: int, **parameters: Any) -> None:
    """`SMaLLClassifierCV` with its defaults."""
    SMaLLClassifierCV(max_terms=terms, random_state=0, verbose=-1, **parameters).fit(X, y)


def tree(X: np.ndarray, y: np.ndarray, terms: int) -> None:
    """A decision tree: 12 settings, 5 folds. With two classes a term is a split, with more it is a leaf."""
    leaves = terms + (y.max() == 1)
    grid = {
        "max_leaf_nodes": [max(2, leaves // 2), leaves],
        "min_samples_leaf": [1, 5, 20],
        "criterion": ["gini", "entropy"],
    }
    GridSearchCV(DecisionTreeClassifier(random_state=0), grid, cv=FOLDS).fit(X, y)


def best_subset(X: np.ndarray, y: np.ndarray, terms: int) -> None:
    """All sizes up to the number of terms by abess, 5 folds."""
    from abess import LogisticRegression, MultinomialRegression

    method = LogisticRegression if y.max() == 1 else MultinomialRegression
    sizes = range(min(terms, X.shape[1]) + 1)
    method(support_size=sizes, cv=FOLDS, thread=0).fit(StandardScaler().fit_transform(X), y)


def l1_logistic(X: np.ndarray, y: np.ndarray) -> None:
    """l1 logistic regression: 10 penalties, 5 folds; by liblinear, or with more classes by saga."""
    known = inspect.signature(LogisticRegressionCV).parameters
    spelling: dict[str, Any] = {"penalty": "l1"}
    if "use_legacy_attributes" in known:  # scikit-learn 1.8
        spelling = {"l1_ratios": (1.0,), "use_legacy_attributes": False}
    solver = "liblinear" if y.max() == 1 else "saga"
    model = LogisticRegressionCV(solver=solver, cv=FOLDS, scoring="neg_log_loss", random_state=0, **spelling)
    model.fit(StandardScaler().fit_transform(X), y)


def boosting(X: np.ndarray, y: np.ndarray) -> None:
    """One fit of gradient boosting with its defaults."""
    HistGradientBoostingClassifier(random_state=0).fit(X, y)


def explainable_boosting(X: np.ndarray, y: np.ndarray) -> None:
    """One fit of an explainable boosting machine with its defaults."""
    from interpret.glassbox import ExplainableBoostingClassifier

    ExplainableBoostingClassifier(random_state=0).fit(X, y)


OURS, TREE, BOOSTING, EBM = "smallearn", "tree grid", "HGB", "EBM"
METHODS = {
    OURS: Method(small, bounded=True, compiles=True),
    TREE: Method(tree, bounded=True),
    BOOSTING: Method(boosting, bounded=False),
    "l1 logistic": Method(l1_logistic, bounded=False),
    "abess": Method(best_subset, bounded=True),
    EBM: Method(explainable_boosting, bounded=False),
}
