"""The data of a cell: training rows and labels 0, 1, …"""

from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from benchmarks.scale.cells import DIGITS
from smallearn.paper.data import impute_median

SIGNAL = 3  # columns that tell of a class
NOISE = 0.5
TRAINING = 0.7  # share of the rows of a real set


def make(rows: int, columns: int, classes: int) -> tuple[np.ndarray, np.ndarray]:
    """Normal rows. The class is the greatest of as many scores, each a sum of three columns, of ten at most, and noise.

    The noise is Gumbel's: this is multinomial logistic regression with known, sparse weights.
    """
    rng = np.random.default_rng([rows, columns, classes])
    X = rng.standard_normal((rows, columns))
    weights = np.zeros((min(columns, 10), classes))
    for label in range(classes):
        weights[rng.choice(len(weights), SIGNAL, replace=False), label] = rng.choice([-1.0, 1.0], SIGNAL)
    scores = X[:, : len(weights)] @ weights
    scores += NOISE * rng.gumbel(size=scores.shape)
    return X, scores.argmax(axis=1)


def read(folder: Path, name: str) -> tuple[np.ndarray, np.ndarray]:
    """70% of the rows of a real set, stratified, missing values replaced with medians."""
    if name == DIGITS:
        X, y = load_digits(return_X_y=True)
    else:
        table = pd.read_csv(path_of(folder, name))
        X, y = table.drop(columns="target").to_numpy(np.float64), table["target"].to_numpy(np.int64)
    X, X_test, y, _ = train_test_split(X, y, train_size=TRAINING, stratify=y, random_state=0)
    return impute_median(X, X_test)[0], y


def path_of(folder: Path, name: str) -> Path:
    """The file of a real set, gzipped or not."""
    paths = [folder / f"{name}{ending}" for ending in (".csv", ".csv.gz")]
    found = next((path for path in paths if path.is_file()), None)
    if found is None:
        raise FileNotFoundError(f"there is neither {paths[0]} nor {paths[1]}: a table whose column target has 0, 1, …")
    return found
