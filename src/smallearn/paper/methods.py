"""The classifiers that are compared, each with the paper's grid, searched by 5-fold cross-validation."""

from collections.abc import Callable
from dataclasses import dataclass
from inspect import signature
from typing import Any

import numpy as np
from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis
from sklearn.ensemble import AdaBoostClassifier, GradientBoostingClassifier, RandomForestClassifier
from sklearn.feature_selection import SelectFromModel
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.gaussian_process.kernels import RBF, DotProduct
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from smallearn import SMaLLClassifier, SMaLLClassifierCV, SMaLLModel

FOLDS = 5


@dataclass(frozen=True)
class Method:
    """A classifier of the comparison.

    ``make(n, seed, owner)`` returns it, unfitted, for n features; ``owner`` is the label that is +1 in the paper and
    owns the prototypes of SMaLL. ``count_features(fitted, n)`` is the number of features it uses; one that appears in
    two prototypes counts twice.
    """

    name: str
    description: str
    make: Callable[..., Any]
    count_features: Callable[[Any, int], int]


def _searched(name: str, description: str, classifier: Callable[[int], Any], grid: Any) -> Method:
    """A classifier on all features, standardised, with a grid that may depend on their number."""

    def make(n: int, seed: int, owner: int = 1) -> GridSearchCV:
        steps = Pipeline([("scale", StandardScaler()), ("classify", classifier(seed))])
        return GridSearchCV(steps, grid(n) if callable(grid) else grid, cv=_folds(seed))

    return Method(name=name, description=description, make=make, count_features=_features_used)


def _features_used(fitted: Any, n: int) -> int:
    """The number of features that a fitted rival uses: for trees those that they split on, otherwise all."""
    importances = getattr(fitted.best_estimator_[-1], "feature_importances_", None)
    return n if importances is None else int(np.sum(importances > 0.0))


def _folds(seed: int) -> StratifiedKFold:
    return StratifiedKFold(FOLDS, shuffle=True, random_state=seed)


def _forests(n: int) -> dict[str, list[Any]]:
    """√n or log n features at a split. Where both are the same number, one is enough."""
    features = {max(1, int(np.sqrt(n))): "sqrt", max(1, int(np.log2(n))): "log2"}
    return {**TREES, "classify__max_features": list(features.values())}


def _discriminants() -> list[QuadraticDiscriminantAnalysis]:
    """Without shrinkage as in the paper and, where scikit-learn has it, with shrinkage.

    Newer versions of scikit-learn refuse the first where a class has fewer rows than features; shrinkage also handles
    collinear columns.
    """
    choices = [QuadraticDiscriminantAnalysis()]
    if {"solver", "shrinkage"} <= signature(QuadraticDiscriminantAnalysis).parameters.keys():
        choices += [QuadraticDiscriminantAnalysis(solver="eigen", shrinkage=amount) for amount in ("auto", 0.1, 0.5)]
    return choices


# --- Table 1: all features -------------------------------------------------------------------------------------------

C = [0.1, 1.0, 10.0, 100.0]
TREES = {"classify__n_estimators": [10, 20, 50]}
RIVALS = (
    _searched("LSVM", "linear SVM", lambda seed: SVC(kernel="linear"), {"classify__C": C}),
    _searched(
        "RF",
        "random forest",
        lambda seed: RandomForestClassifier(random_state=seed),
        _forests,
    ),
    _searched("AB", "AdaBoost", lambda seed: AdaBoostClassifier(random_state=seed), TREES),
    _searched("LR", "logistic regression", lambda seed: LogisticRegression(max_iter=1000), {"classify__C": C}),
    _searched(
        "DT",
        "decision tree",
        lambda seed: DecisionTreeClassifier(random_state=seed),
        {"classify__criterion": ["gini", "entropy"]},
    ),
    _searched(
        "kNN", "k nearest neighbours", lambda seed: KNeighborsClassifier(), {"classify__n_neighbors": [1, 3, 5, 7]}
    ),
    _searched(
        "RSVM",
        "SVM with a kernel",
        lambda seed: SVC(),
        [
            {"classify__C": [0.01, *C], "classify__kernel": ["rbf", "sigmoid"]},
            {"classify__C": [0.01, *C], "classify__kernel": ["poly"], "classify__degree": [2, 3]},
        ],
    ),
    _searched("GB", "gradient boosting", lambda seed: GradientBoostingClassifier(random_state=seed), TREES),
    _searched(
        "QDA",
        "quadratic discriminant analysis, with or without shrinkage",
        lambda seed: QuadraticDiscriminantAnalysis(),
        {"classify": _discriminants()},
    ),
    _searched(
        "GP",
        "Gaussian process",
        lambda seed: GaussianProcessClassifier(random_state=seed),
        {"classify__kernel": [*(c * RBF(1.0) for c in (0.1, 1.0, 5.0)), DotProduct(1.0)]},
    ),
)


# --- SMaLL -----------------------------------------------------------------------------------------------------------


def preset(k: int | None, steps: list[tuple[float, float]]) -> Callable[..., GridSearchCV]:
    """SMaLL as in the paper with p = 2 and k terms each (None: all); the step sizes (α, β) are cross-validated."""

    def make(n: int, seed: int, owner: int = 1) -> GridSearchCV:
        small = SMaLLClassifier.paper_preset(n_prototypes=2, n_nonzero=k or n, positive_class=owner, random_state=seed)
        options = [{**small.solver_options, "step_sizes": pair} for pair in steps]
        return GridSearchCV(small, {"solver_options": options}, cv=_folds(seed))

    return make


def terms_used(fitted: Any, n: int) -> int:
    """The number of terms of a fitted SMaLL model; a feature in two prototypes counts twice."""
    return len(small_model(fitted).terms)


def small_model(fitted: Any) -> SMaLLModel:
    """The model of a fitted SMaLL classifier, or of the best one of a grid search."""
    return getattr(fitted, "best_estimator_", fitted).model_


def terms_by_prototype(fitted: Any) -> str:
    """The features of each prototype, such as "0 2 7|2 5"; empty for other classifiers."""
    if not isinstance(getattr(fitted, "best_estimator_", fitted), (SMaLLClassifier, SMaLLClassifierCV)):
        return ""
    return "|".join(" ".join(str(term.feature) for term in one.terms) for one in small_model(fitted).prototypes)


DENSE_PRESET = Method(
    name="SMaLL k=n",
    description="SMaLL as in the paper, p = 2, k = n, λ = 0.1",
    make=preset(None, [(0.01, 0.01), (0.01, 0.001)]),
    count_features=terms_used,
)
SPARSE_PRESET = Method(
    name="SMaLL k=3",
    description="SMaLL as in the paper, p = 2, k = 3, λ = 0.1",
    make=preset(3, [(a, b) for a in (0.1, 1e-2, 1e-3) for b in (1e-3, 1e-4)]),
    count_features=terms_used,
)
DENSE_SMALL = Method(
    name="smallearn k=n",
    description="SMaLLClassifierCV with every feature always in; p (1 or 2) and λ (0.3, 0.1 or 0.03) cross-validated",
    make=lambda n, seed, owner=1: SMaLLClassifierCV(
        2 * n,
        n_prototypes=[1, 2],
        alphas=[0.3, 0.1, 0.03],
        literals="raw",
        always_in=list(range(n)),
        random_state=seed,
        verbose=-1,
    ),
    count_features=terms_used,
)
SPARSE_SMALL = Method(
    name="smallearn 2×3",
    description="SMaLLClassifierCV, p = 2, k = 3",
    make=lambda n, seed, owner=1: SMaLLClassifierCV(
        6, n_prototypes=2, budget="prototype", random_state=seed, verbose=-1
    ),
    count_features=terms_used,
)
RAW_SMALL = Method(
    name="smallearn 2×3 raw",
    description="SMaLLClassifierCV, p = 2, k = 3, raw terms only",
    make=lambda n, seed, owner=1: SMaLLClassifierCV(
        6, n_prototypes=2, budget="prototype", literals="raw", random_state=seed, verbose=-1
    ),
    count_features=terms_used,
)


# --- Figure 3: l1 or elastic net selects half of the features, then l2 -----------------------------------------------

ALPHAS = [1e-1, 1e-2, 1e-3, 1e-4]


def _sparse(name: str, description: str, loss: str, penalty: str) -> Method:
    def make(n: int, seed: int, owner: int = 1) -> GridSearchCV:
        first = SGDClassifier(loss=loss, penalty=penalty, l1_ratio=0.5, random_state=seed)
        factor = 2.0 if penalty == "elasticnet" else 1.0  # half of it is l1, and the paper gives the strength of l1
        last = SGDClassifier(loss=loss, penalty="l2", random_state=seed)
        select = SelectFromModel(first, threshold=-np.inf, max_features=n // 2)
        steps = Pipeline([("scale", StandardScaler()), ("select", select), ("classify", last)])
        grid = [{"select__estimator__alpha": [factor * alpha], "classify__alpha": [alpha]} for alpha in ALPHAS]
        return GridSearchCV(steps, grid, cv=_folds(seed))

    return Method(name=name, description=description, make=make, count_features=lambda fitted, n: n // 2)


BASELINES = tuple(
    _sparse(f"{prefix}{suffix}", f"{selection}, {loss_name} loss", loss, penalty)
    for prefix, selection, penalty in (("L1", "l1", "l1"), ("En", "elastic net", "elasticnet"))
    for suffix, loss_name, loss in (
        ("Hi", "hinge", "hinge"),
        ("L", "log", "log_loss"),
        ("Hu", "Huber", "modified_huber"),
    )
)

BY_NAME = {
    method.name: method
    for method in (*RIVALS, *BASELINES, DENSE_PRESET, SPARSE_PRESET, DENSE_SMALL, SPARSE_SMALL, RAW_SMALL)
}
