"""Data sets: those of a folder, those of scikit-learn with several classes, and generated ones.

The folder has a MANIFEST.csv with the columns ``file``, ``n_samples``, ``n_features`` and ``n_positive``; its subfolder
``classes``, for sets with more than two classes, has one with ``n_classes`` and ``smallest_class`` instead of
``n_positive``. Other columns are ignored. A CSV file (gzipped or not) has a header, numeric columns and, last, the
column ``target`` with 0, 1, …; ``.svm.gz`` is svmlight text.

Missing values are replaced with the median of the training rows, for every method, including smallearn.
"""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.datasets import load_digits, load_iris, load_svmlight_file, load_wine
from sklearn.model_selection import StratifiedShuffleSplit, train_test_split

from benchmarks.quality import generated
from smallearn.paper.data import impute_median

MAX_ROWS = 5_000
FEWEST = 10  # rows of a class that sampling keeps, if there are as many
HELD_OUT = 0.3
CLASSES = "classes"  # the subfolder of sets with more than two classes

# fmt: off
SETS = (  # with two classes
    "fri_c0_1000_50", "fri_c1_1000_50", "fri_c2_1000_50", "fri_c3_1000_50", "fri_c4_1000_50", "fri_c1_500_50",
    "fri_c2_500_50", "ionosphere", "sonar", "spambase", "diabetes", "credit-g", "heart-statlog", "mammographic_masses",
    "compas-two-years", "heloc", "qsar-biodeg", "tecator", "splice", "cpu_act", "2dplanes", "pol", "kr-vs-kp",
    "tic-tac-toe", "riskslim_mushroom", "wdbc", "madelon", "basehock", "pcmac", "colon_alon", "leukemia", "dhfr",
)
# fmt: on

Rows = np.ndarray | sparse.csr_matrix
BUNDLED: dict[str, Callable[[], tuple[np.ndarray, np.ndarray]]] = {
    "iris": lambda: load_iris(return_X_y=True),
    "wine": lambda: load_wine(return_X_y=True),
    "digits": lambda: load_digits(return_X_y=True),
    "boxes": generated.boxes,
    "scores": generated.scores,
}
GENERATED = frozenset({"boxes", "scores"})


@dataclass(frozen=True)
class Entry:
    """A data set; ``file`` is its path in the folder, empty for a set of `BUNDLED`."""

    name: str
    file: str
    rows: int
    columns: int
    classes: int
    smallest_class: int

    @property
    def splits(self) -> int:
        """Small data sets get more splits, because their scores vary more."""
        return 5 if self.rows < 500 else 3

    @property
    def several(self) -> bool:
        """Whether it has more than two classes."""
        return self.classes > 2

    @property
    def generated(self) -> bool:
        """Whether it is to be kept out of means."""
        return self.name in GENERATED

    @property
    def suitable(self) -> bool:
        """Part of ``--full``: not a second encoding or test part, enough rows of each class, not too wide."""
        twin = self.name.endswith(("__intcoded", ".t"))
        return self.several or (not twin and self.smallest_class >= 15 and self.columns <= 13_000)


@dataclass(frozen=True)
class Split:
    """Training and test rows without missing values; X is a float array or CSR."""

    X: Rows
    y: np.ndarray
    X_test: Rows
    y_test: np.ndarray


def manifest(folder: Path) -> dict[str, Entry]:
    """Every set, by name: a file's path without its endings, or the name in `BUNDLED`."""
    path = folder / "MANIFEST.csv"
    if not path.is_file():
        sys.exit(f"{path} does not exist; DATA must be a folder with MANIFEST.csv and the data files it lists.")
    entries = [
        _entry(line, line.file, 2, min(line.n_positive, line.n_samples - line.n_positive))
        for line in pd.read_csv(path).itertuples()
    ]
    path = folder / CLASSES / "MANIFEST.csv"
    if path.is_file():
        entries += [
            _entry(line, f"{CLASSES}/{line.file}", line.n_classes, line.smallest_class)
            for line in pd.read_csv(path).itertuples()
        ]
    return {entry.name: entry for entry in [*entries, *_bundled()]}


def _entry(line, file: str, classes: int, smallest_class: int) -> Entry:
    return Entry(
        name=file.removesuffix(".gz").removesuffix(".csv").removesuffix(".svm"),
        file=file,
        rows=int(line.n_samples),
        columns=int(line.n_features),
        classes=int(classes),
        smallest_class=int(smallest_class),
    )


def _bundled() -> list[Entry]:
    entries = []
    for name, read in BUNDLED.items():
        X, y = read()
        counts = np.bincount(y)
        entries.append(Entry(name, "", *X.shape, classes=len(counts), smallest_class=int(counts.min())))
    return entries


@lru_cache(maxsize=1)
def load(folder: Path, entry: Entry) -> tuple[Rows, np.ndarray]:
    """Rows and labels 0, 1, …; larger sets are sampled to 5,000 rows, stratified, always the same."""
    X, y = _read(folder / entry.file) if entry.file else BUNDLED[entry.name]()
    if not np.array_equal(np.unique(y), np.arange(entry.classes)):
        raise ValueError(f"{entry.name}: labels are {np.unique(y)[:5]}, not 0 to {entry.classes - 1}; recode them.")
    y = y.astype(np.int64)
    if len(y) > MAX_ROWS:
        kept = _sample(y)
        X, y = X[kept], y[kept]
    return X, y


def _read(path: Path) -> tuple[Rows, np.ndarray]:
    if ".svm" in path.name:
        return load_svmlight_file(str(path))
    table = pd.read_csv(path)
    if table.columns[-1] != "target":
        raise ValueError(f"{path}: the last column is {table.columns[-1]!r}, not 'target'; move the labels there.")
    return table.iloc[:, :-1].to_numpy(np.float64), table["target"].to_numpy()


def _sample(y: np.ndarray) -> np.ndarray:
    """5,000 rows, stratified, and as many more of rare classes as it takes to have ten of each, or all there are."""
    kept, others = train_test_split(np.arange(len(y)), train_size=MAX_ROWS, stratify=y, random_state=0)
    for label, count in enumerate(np.bincount(y[kept], minlength=y.max() + 1)):
        kept = np.append(kept, others[y[others] == label][: max(FEWEST - count, 0)])
    return np.sort(kept)


@lru_cache(maxsize=1)
def split(folder: Path, entry: Entry, number: int) -> Split:
    """The ``number``-th stratified 70/30 split: the same for every method, whatever the number of splits."""
    X, y = load(folder, entry)
    train, test = next(StratifiedShuffleSplit(1, test_size=HELD_OUT, random_state=number).split(y[:, None], y))
    X_train, X_test = (X[train], X[test]) if sparse.issparse(X) else impute_median(X[train], X[test])
    return Split(X=X_train, y=y[train], X_test=X_test, y_test=y[test])
