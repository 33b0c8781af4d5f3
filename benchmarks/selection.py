"""Cross-validated selection on the breast cancer data against a grid search over l1 logistic regression."""

import time
import warnings

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from benchmarks.fits import l1_logistic
from benchmarks.timing import verdict
from smallearn import SMaLLClassifierCV

TERMS, FOLDS = 6, 5


def main() -> None:
    """On one thread, after compilation. A candidate fit is one row of `cv_results_` on one fold."""
    warnings.simplefilter("ignore", ConvergenceWarning)
    X, y = load_breast_cancer(return_X_y=True)
    standard = StandardScaler().fit_transform(X)
    with threadpool_limits(1):
        SMaLLClassifierCV(2, cv=2, random_state=0, verbose=-1).fit(X, y)
        start = time.perf_counter()
        chosen = SMaLLClassifierCV(TERMS, cv=FOLDS, random_state=0, verbose=-1).fit(X, y)
        ours = time.perf_counter() - start
        scores = [value for name, value in chosen.cv_results_.items() if name.startswith("split")]
        fits = int(np.sum(~np.isnan(scores)))
        grid = {"C": np.geomspace(1e-3, 1e2, max(1, fits // FOLDS))}
        folds = StratifiedKFold(FOLDS, shuffle=True, random_state=0)
        start = time.perf_counter()
        GridSearchCV(l1_logistic(), grid, cv=folds, n_jobs=1).fit(standard, y)
        theirs = time.perf_counter() - start
    print(f"\nSelection of at most {TERMS} terms on breast cancer, {fits} candidate fits each, {FOLDS} folds")
    print(f"  {'SMaLLClassifierCV':<36} {ours:>8.2f} s {ours / theirs:>7.2f}×")
    print(f"  {'GridSearchCV, l1 by saga, tol 1e-4':<36} {theirs:>8.2f} s {1.0:>7.2f}×")
    verdict(f"no slower than the grid search ({ours / theirs:.2f}×)", ours <= theirs)
