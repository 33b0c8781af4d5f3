"""``python -m benchmarks.rare FOLDER``: rare classes, with thresholds chosen for the score that counts.

FOLDER is that of `benchmarks.quality`. Ten terms, three splits. Every rival has its parameters chosen by 5-fold
cross-validation with the same score, class weights among them, and then its threshold by `TunedThresholdClassifierCV`.
"""

import argparse
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.feature_selection import VarianceThreshold
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import get_scorer
from sklearn.model_selection import GridSearchCV, StratifiedKFold, TunedThresholdClassifierCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier
from threadpoolctl import threadpool_limits

from benchmarks.quality.data import Split, manifest, split
from benchmarks.timing import verdict
from smallearn import SMaLLClassifierCV

TERMS, SPLITS, FOLDS = 10, 3, 5
SETS = ("coil2000", "mammography", "ozone-level-8hr")
METRICS = ("f1", "balanced_accuracy", "average_precision")
MARGIN = 0.03  # that a bounded model may be behind boosting

# --- the methods -----------------------------------------------------------------------------------------------------


def small(metric: str, seed: int, X, y) -> Any:
    """Chosen with its threshold."""
    return SMaLLClassifierCV(TERMS, scoring=metric, random_state=seed, verbose=-1).fit(X, y)


def tree(metric: str, seed: int, X, y) -> Any:
    """A tree with as many splits."""
    grid = {"min_samples_leaf": [1, 5, 20], "criterion": ["gini", "entropy"], "class_weight": [None, "balanced"]}
    return searched(DecisionTreeClassifier(max_leaf_nodes=TERMS + 1, random_state=seed), grid, metric, seed, X, y)


def boosting(metric: str, seed: int, X, y) -> Any:
    """Not bounded."""
    return tuned(HistGradientBoostingClassifier(random_state=seed), metric, seed, X, y)


class Lasso(LogisticRegression):
    """l1 logistic regression with the largest C that leaves at most ten coefficients."""

    def fit(self, X, y):
        """Fit along a path of C."""
        best = None
        for C in np.geomspace(1e-3, 10.0, 17):
            model = LogisticRegression(
                C=C, l1_ratio=1.0, solver="liblinear", class_weight=self.class_weight, random_state=0
            ).fit(X, y)
            if np.count_nonzero(model.coef_) > TERMS:
                break
            best = model
        self.__dict__.update({name: value for name, value in vars(best).items() if name.endswith("_")})
        return self


def l1(metric: str, seed: int, X, y) -> Any:
    """Sparse logistic regression."""
    model = make_pipeline(StandardScaler(), Lasso())
    return searched(model, {"lasso__class_weight": [None, "balanced"]}, metric, seed, X, y)


class BestSubset(LogisticRegression):
    """Best subset selection by abess, with ten coefficients."""

    def fit(self, X, y):
        """Fit, and keep the coefficients."""
        from abess import LogisticRegression as Abess

        found = Abess(support_size=min(TERMS, X.shape[1]), alpha=0.1).fit(X, y)
        self.classes_, self.n_features_in_ = np.unique(y), X.shape[1]
        self.coef_, self.intercept_ = np.reshape(found.coef_, (1, -1)), np.reshape(found.intercept_, 1)
        return self


def best_subset(metric: str, seed: int, X, y) -> Any:
    """Logistic regression with the best ten features, by abess."""
    return tuned(make_pipeline(VarianceThreshold(), StandardScaler(), BestSubset()), metric, seed, X, y)


def searched(model: Any, grid: dict[str, list], metric: str, seed: int, X, y) -> Any:
    """The best of a grid, then its best threshold."""
    best = GridSearchCV(model, grid, scoring=metric, cv=folds(seed), refit=False).fit(X, y).best_params_
    return tuned(clone(model).set_params(**best), metric, seed, X, y)


def tuned(model: Any, metric: str, seed: int, X, y) -> Any:
    """With the best threshold, where the score depends on it."""
    needed = metric != "average_precision"
    return (TunedThresholdClassifierCV(model, scoring=metric, cv=folds(seed)) if needed else model).fit(X, y)


def folds(seed: int) -> StratifiedKFold:
    """The folds of the rivals."""
    return StratifiedKFold(FOLDS, shuffle=True, random_state=seed)


METHODS: dict[str, Callable[..., Any]] = {
    "smallearn": small,
    "tree": tree,
    "l1": l1,
    "best subset": best_subset,
    "boosting": boosting,
}
BOUNDED = [name for name in METHODS if name != "boosting"]

# --- the data --------------------------------------------------------------------------------------------------------


def oil_like(seed: int, number: int) -> Split:
    """900 rows of 48 features to train on, of which 4% are positive."""
    X, y = make_classification(
        n_samples=3_900,
        n_features=48,
        n_informative=10,
        n_redundant=20,
        n_clusters_per_class=2 + seed,
        weights=[0.96],
        flip_y=0.01,
        random_state=seed,
    )
    order = np.random.default_rng(number).permutation(len(y))
    train, test = order[:900], order[900:]
    return Split(X=X[train], y=y[train], X_test=X[test], y_test=y[test])


def problems(folder: Path) -> Iterator[tuple[str, int, Split]]:
    """Every data set and split."""
    entries = manifest(folder)
    for number in range(SPLITS):
        for name in SETS:
            yield name, number, split(folder, entries[name], number)
        for seed in range(2):
            yield f"oil-like {seed + 1}", number, oil_like(seed, number)


# --- results ---------------------------------------------------------------------------------------------------------


def main() -> None:
    """Print the scores of every data set, their means, and whether the targets are met."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="the folder of data sets")
    folder = parser.parse_args().folder
    scores: dict[tuple[str, str, str], list[float]] = {}
    seconds = dict.fromkeys(METHODS, 0.0)
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")
        for name, number, rows in problems(folder):
            for metric in METRICS:
                for method, make in METHODS.items():
                    start = time.process_time()
                    model = make(metric, number, rows.X, rows.y)
                    seconds[method] += time.process_time() - start
                    reached = get_scorer(metric)(model, rows.X_test, rows.y_test)
                    scores.setdefault((metric, method, name), []).append(reached)
            print(f"{name}, split {number + 1}", flush=True)
    for metric in METRICS:
        report(metric, scores)
    print("\nCPU seconds of all fits: " + ", ".join(f"{name} {spent:.0f}" for name, spent in seconds.items()))


def report(metric: str, scores: dict[tuple[str, str, str], list[float]]) -> None:
    """The table of one score, and its verdicts."""
    names = list(dict.fromkeys(name for _, _, name in scores))
    print(f"\n{metric}, {TERMS} terms, mean of {SPLITS} splits\n  {'':<18}" + "".join(f"{m:>13}" for m in METHODS))
    table = np.array([[np.mean(scores[metric, method, name]) for method in METHODS] for name in names])
    for name, line in zip([*names, "mean"], [*table, table.mean(axis=0)], strict=True):
        print(f"  {name:<18}" + "".join(f"{value:>13.3f}" for value in line))
    mean = dict(zip(METHODS, table.mean(axis=0), strict=True))
    best = max(BOUNDED, key=mean.__getitem__)
    verdict(f"best mean of bounded methods ({best} is)", best == "smallearn")
    behind = mean["boosting"] - mean["smallearn"]
    verdict(f"within {100 * MARGIN:.0f} points of boosting ({100 * behind:+.1f} behind)", behind <= MARGIN)


if __name__ == "__main__":
    main()
