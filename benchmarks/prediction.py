"""Time to predict a million rows of 30 columns: our models against scikit-learn's logistic regression."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.linear_model import LogisticRegression

from benchmarks.timing import interleaved, verdict
from smallearn import SMaLLClassifier

ROWS, COLUMNS, TRAINING_ROWS = 1_000_000, 30, 3000
TARGET = 3.0  # times as fast as logistic regression, for a model of raw terms and dense X
STORED: dict[str, Callable[[np.ndarray], Any]] = {
    "float64": lambda X: X,
    "float32": lambda X: X.astype(np.float32),
    "float64, by column": np.asfortranarray,
    "pandas": lambda X: pd.DataFrame(np.asfortranarray(X)),
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
    print(f"\nPrediction of {ROWS:,} rows × {COLUMNS} columns: ms, and times as fast as LogisticRegression.predict")
    print(f"  {'X':<20}{'rival':>8}{'raw terms':>17}{'estimator':>17}{'literals':>17}{'probabilities':>17}")
    ratios = {}
    for name, store in STORED.items():
        stored: Any = store(X)
        runs: dict[str, Callable[[], object]] = {
            "rival": lambda stored=stored: rival.predict(stored),
            "raw": lambda stored=stored: raw.model_.predict(stored),
            "estimator": lambda stored=stored: raw.predict(stored),
            "literals": lambda stored=stored: literals.model_.predict(stored),
            "probabilities": lambda stored=stored: raw.model_.predict_proba(stored),
        }
        seconds = interleaved(runs, repeats=9)
        others = [seconds[run] for run in runs if run != "rival"]
        cells = "".join(f"{1e3 * own:>9.1f} {seconds['rival'] / own:>6.1f}×" for own in others)
        print(f"  {name:<20}{1e3 * seconds['rival']:>8.1f}{cells}")
        if not sparse.issparse(stored):
            ratios[name] = seconds["rival"] / seconds["raw"]
    for name, ratio in ratios.items():
        verdict(f"{name}: a model of raw terms at least {TARGET:g} times as fast ({ratio:.1f}×)", ratio >= TARGET)
