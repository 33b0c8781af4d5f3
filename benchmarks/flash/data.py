"""Images of digits as two classes: the training and test rows of each split."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.model_selection import train_test_split

USPS, MNIST = "usps_odd_even", "mnist5k_low_high"
GIVEN = {USPS: 7291}  # rows to train on, which come first; the others are the test rows
TRAINING = 3500  # rows to train on where no split is given
SPLITS = 5


@dataclass(frozen=True)
class Split:
    """Pixels between 0 and 1, classes 0 and 1."""

    set: str
    number: int
    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray


def splits(folder: Path, name: str, count: int = SPLITS) -> Iterator[Split]:
    """The given split of a set, or ``count`` random ones."""
    table = pd.read_csv(folder / f"{name}.csv.gz")
    X, y = table.drop(columns="target").to_numpy(np.float64), table["target"].to_numpy(np.int64)
    for number in range(1 if name in GIVEN else count):
        if name in GIVEN:
            train, test = np.split(np.arange(len(y)), [GIVEN[name]])
        else:
            train, test = train_test_split(np.arange(len(y)), train_size=TRAINING, stratify=y, random_state=number)
        brightest = X[train].max()
        yield Split(name, number, X[train] / brightest, y[train], X[test] / brightest, y[test])
