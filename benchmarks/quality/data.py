"""Data sets from a folder: MANIFEST.csv, tables with the label in the last column, svmlight files.

MANIFEST.csv needs the columns ``file``, ``n_samples``, ``n_features`` and ``n_positive``; others are ignored. A CSV
file (gzipped or not) has a header, numeric columns and, last, the column ``target`` with 0 and 1; ``.svm.gz`` is
svmlight text.

Missing values are replaced with the median of the training rows, for every method, including smallearn.
"""

import sys
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.datasets import load_svmlight_file
from sklearn.model_selection import StratifiedShuffleSplit, train_test_split

from smallearn.paper.data import impute_median

MAX_ROWS = 5_000
HELD_OUT = 0.3

# fmt: off
SETS = (
    "fri_c0_1000_50", "fri_c1_1000_50", "fri_c2_1000_50", "fri_c3_1000_50", "fri_c4_1000_50", "fri_c1_500_50",
    "fri_c2_500_50", "ionosphere", "sonar", "spambase", "diabetes", "credit-g", "heart-statlog", "mammographic_masses",
    "compas-two-years", "heloc", "qsar-biodeg", "tecator", "splice", "cpu_act", "2dplanes", "pol", "kr-vs-kp",
    "tic-tac-toe", "riskslim_mushroom", "wdbc", "madelon", "basehock", "pcmac", "colon_alon", "leukemia", "dhfr",
)
# fmt: on


@dataclass(frozen=True)
class Entry:
    """One line of the manifest."""

    name: str
    file: str
    rows: int
    columns: int
    smallest_class: int

    @property
    def splits(self) -> int:
        """Small data sets get more splits, because their scores vary more."""
        return 5 if self.rows < 500 else 3

    @property
    def suitable(self) -> bool:
        """Part of ``--full``: not a second encoding or test part, enough rows of each class, not too wide."""
        twin = self.name.endswith(("__intcoded", ".t"))
        return not twin and self.smallest_class >= 15 and self.columns <= 13_000


@dataclass(frozen=True)
class Split:
    """Training and test rows without missing values; X is a float array or CSR."""

    X: np.ndarray | sparse.csr_matrix
    y: np.ndarray
    X_test: np.ndarray | sparse.csr_matrix
    y_test: np.ndarray


def manifest(folder: Path) -> dict[str, Entry]:
    """What the folder holds, by name (the file's, without its endings)."""
    path = folder / "MANIFEST.csv"
    if not path.is_file():
        sys.exit(f"{path} does not exist; DATA must be a folder with MANIFEST.csv and the data files it lists.")
    entries = {}
    for line in pd.read_csv(path).itertuples():
        name = line.file.removesuffix(".gz").removesuffix(".csv").removesuffix(".svm")
        smallest = min(line.n_positive, line.n_samples - line.n_positive)
        entries[name] = Entry(
            name=name,
            file=line.file,
            rows=int(line.n_samples),
            columns=int(line.n_features),
            smallest_class=int(smallest),
        )
    return entries


@lru_cache(maxsize=1)
def load(folder: Path, file: str) -> tuple[np.ndarray | sparse.csr_matrix, np.ndarray]:
    """Rows and labels 0 and 1; larger sets are sampled to 5,000 rows, stratified, always the same."""
    if ".svm" in file:
        X, y = load_svmlight_file(str(folder / file))
    else:
        table = pd.read_csv(folder / file)
        if table.columns[-1] != "target":
            raise ValueError(f"{file}: the last column is {table.columns[-1]!r}, not 'target'; move the labels there.")
        X, y = table.iloc[:, :-1].to_numpy(np.float64), table["target"].to_numpy()
    if not np.array_equal(np.unique(y), [0, 1]):
        raise ValueError(f"{file}: labels are {np.unique(y)[:5]}, not 0 and 1; recode them.")
    y = y.astype(np.int64)
    if len(y) > MAX_ROWS:
        kept, _ = train_test_split(np.arange(len(y)), train_size=MAX_ROWS, stratify=y, random_state=0)
        X, y = X[np.sort(kept)], y[np.sort(kept)]
    return X, y


@lru_cache(maxsize=1)
def split(folder: Path, file: str, number: int) -> Split:
    """The ``number``-th stratified 70/30 split: the same for every method, whatever the number of splits."""
    X, y = load(folder, file)
    train, test = next(StratifiedShuffleSplit(1, test_size=HELD_OUT, random_state=number).split(y[:, None], y))
    X_train, X_test = (X[train], X[test]) if sparse.issparse(X) else impute_median(X[train], X[test])
    return Split(X=X_train, y=y[train], X_test=X_test, y_test=y[test])
