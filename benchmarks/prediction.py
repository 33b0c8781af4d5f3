"""Time to predict a million rows of 30 columns: our estimators and models beside scikit-learn's logistic regression.

All of X has to be read, for an estimator refuses what is not finite: the time of a sum is the least it can take.
"""

import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.linear_model import LogisticRegression

from benchmarks.timing import interleaved, verdict
from smallearn import SMaLLClassifier

ROWS, COLUMNS, TRAINING_ROWS = 1_000_000, 30, 3000
TARGET = 3.0  # times as fast as logistic regression, for an estimator of raw terms and dense X
STORED: dict[str, Callable[[np.ndarray], Any]] = {
    "float64": lambda X: X,
    "float32": lambda X: X.astype(np.float32),
    "float64, by column": np.asfortranarray,
    "pandas": lambda X: pd.DataFrame(np.asfortranarray(X)),
    "pandas, by column": lambda X: pd.concat([pd.Series(column.copy()) for column in X.T], axis=1),
    "sparse, a tenth": lambda X: sparse.csr_array(np.where(np.abs(X) > 1.645, X, 0.0)),
}


def main() -> None:
    """Print a line for each way to store X, with ratios to logistic regression."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(ROWS, COLUMNS))
    y = (X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(size=ROWS) > 0.0).astype(int)
    few, labels = X[:TRAINING_ROWS], y[:TRAINING_ROWS]
    rival = LogisticRegression().fit(few, labels)
    raw = SMaLLClassifier(2, 5, random_state=0).fit(few, labels)
    literals = SMaLLClassifier(2, 5, literals="thresholds", random_state=0).fit(few, labels)
    print(
        f"\nPrediction of {ROWS:,} rows × {COLUMNS} columns, one thread: ms, and times as fast as the rival's predict"
    )
    heads = ("rival", "sum of X", "predict", "literals", "log-odds", "probabilities", "model alone")
    print(f"  {'X':<18}{heads[0]:>7}" + "".join(f"{head:>15}" for head in heads[1:]))
    ratios = {}
    for name, store in STORED.items():
        stored: Any = store(X)
        runs: dict[str, Callable[[], object]] = {
            "rival": lambda stored=stored: rival.predict(stored),
            "sum": partial(sum_of, stored),
            "predict": lambda stored=stored: raw.predict(stored),
            "literals": lambda stored=stored: literals.predict(stored),
            "log-odds": lambda stored=stored: raw.decision_function(stored),
            "probabilities": lambda stored=stored: raw.predict_proba(stored),
            "model": lambda stored=stored: raw.model_.predict(stored),
        }
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="X has feature names")
            seconds = interleaved(runs, repeats=9)
        times = {run: seconds["rival"] / own for run, own in seconds.items()}
        cells = "".join(f"{1e3 * seconds[run]:>8.1f} {times[run]:>5.1f}×" for run in runs if run != "rival")
        print(f"  {name:<18}{1e3 * seconds['rival']:>7.1f}{cells}")
        if not sparse.issparse(stored):
            ratios[name] = times
    for name, times in ratios.items():
        reached, bound = times["predict"], times["sum"]
        text = f"{name}: predict at least {TARGET:g} times as fast ({reached:.1f}×; memory bound: {bound:.1f}×)"
        verdict(text, reached >= TARGET)


def sum_of(X: Any) -> float:
    """The sum of all numbers, in one read: the memory bound."""
    if sparse.issparse(X):
        return X.data.sum()
    columns = [X.iloc[:, l].to_numpy() for l in range(X.shape[1])] if hasattr(X, "iloc") else [X]
    return float(sum(column.sum() for column in columns))
