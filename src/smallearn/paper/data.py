"""The paper's data sets: from OpenML, or from a folder with one CSV file each whose last column is ``target``.

A nominal column is coded by whole numbers, in the order in which its values are listed, as OpenML stores them; one with
a different value in every row names the rows and is dropped. Labels are 1 (OpenML's "P") and 0.
"""

import os
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.datasets import fetch_openml, load_breast_cancer
from sklearn.model_selection import StratifiedShuffleSplit

from smallearn._run.hashing import hex_digest

FOLDER_VARIABLE = "SMALLEARN_DATA"
HELD_OUT = 0.3
MOST_ROWS = 5000  # of more, a stratified sample, always the same


class DataError(Exception):
    """A data set cannot be had; the message says what to do."""


@dataclass(frozen=True)
class Source:
    """Where a set comes from: ``name`` as the paper has it, ``stem`` as OpenML and files have it. In a file whose
    nominal columns are coded already, ``identifier`` is the column that names the rows. ``positive`` is the label that
    becomes 1; by default the last of the two, as in "N" and "P" or 0 and 1. ``owner`` is the one that is 1 in OpenML's
    own numbers: mostly 0 here, for most sets there have the values P and N, in this order. What is ``bundled`` comes
    with scikit-learn."""

    name: str
    stem: str
    openml: int = 0
    identifier: str | None = None
    positive: str | None = None
    owner: int = 0
    bundled: bool = False


@dataclass(frozen=True)
class Table:
    """Numbers with labels 0 and 1."""

    X: np.ndarray
    y: np.ndarray
    names: tuple[str, ...]

    @cached_property
    def fingerprint(self) -> str:
        """Tells one version of a set from another."""
        return hex_digest(np.ascontiguousarray(self.X).tobytes() + self.y.tobytes(), 12)


@dataclass(frozen=True)
class Split:
    """Rows to learn from and rows to test on; empty cells are filled with the median of the former."""

    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray


TABLE1 = (
    Source("bankruptcy", "analcatdata_bankruptcy", 476, "Company", owner=1),
    Source("vineyard", "vineyard", 713),
    Source("pwLinear", "pwLinear", 721),
    Source("sleuth1714", "sleuth_ex1714", 777),
    Source("sleuth1605", "sleuth_ex1605", 755),
    Source("sleuth1201", "sleuth_case1201", 892, "state"),
    Source("rabe266", "rabe_266", 782),
    Source("rabe148", "rabe_148", 894),
    Source("vis_env", "visualizing_environmental", 736),
    Source("hutsof99", "hutsof99_logis", 804),
    Source("human_dev", "humandevel", 924, "country"),
    Source("fri_c0_100_10", "fri_c0_100_10", 808),
    Source("elusage", "elusage", 790),
    Source("diggle_table", "diggle_table_a1", 817),
    Source("baskball", "baskball", 731),
    Source("michiganacc", "analcatdata_michiganacc", 771),
    Source("election2000", "analcatdata_election2000", 758, "County"),
)
BREAST_CANCER = Source("breast_cancer", "breast_cancer", owner=1, bundled=True)
FUNDS = Source("chscase_funds", "chscase_funds", 801, "col_1")
FRIEDMAN = Source("fri_c0_1000_50", "fri_c0_1000_50", 904)
WIDE = (
    FRIEDMAN,
    Source("fri_c1_1000_50", "fri_c1_1000_50", 837),
    Source("fri_c2_1000_50", "fri_c2_1000_50", 866),
    Source("fri_c3_1000_50", "fri_c3_1000_50", 806),
    Source("fri_c4_1000_50", "fri_c4_1000_50", 797),
    Source("spambase", "spambase", 44, owner=1),
    Source("sonar", "sonar", 40, positive="Mine", owner=1),
    Source("triazines", "triazines", 788),
    Source("optdigits", "optdigits", 980),
    Source("authorship", "analcatdata_authorship", 970),
    Source("ozone", "ozone-level-8hr", 1487, owner=1),
    Source("tecator", "tecator", 851),
)


def folder_given(named: Path | None) -> Path | None:
    """The folder that was named, or that of the environment; None for OpenML."""
    text = os.environ.get(FOLDER_VARIABLE)
    folder = named if named is not None else Path(text) if text else None
    if folder is not None and not folder.is_dir():
        raise DataError(f"{folder} is not a folder; give one with a CSV file for each set, or none to use OpenML.")
    return folder


@lru_cache(maxsize=32)
def load(source: Source, folder: Path | None) -> Table:
    """The set from the folder, or from OpenML (kept in scikit-learn's cache)."""
    if source.bundled:
        bunch = load_breast_cancer()
        return Table(bunch.data, bunch.target, tuple(map(str, bunch.feature_names)))
    frame, target = _from_folder(source, folder) if folder is not None else _from_openml(source)
    columns = {}
    for name, column in frame.items():
        if isinstance(column.dtype, pd.CategoricalDtype):
            coded = column.cat.codes.to_numpy(float)
        elif not pd.api.types.is_numeric_dtype(column):
            coded = pd.Categorical(column).codes.astype(float)
        else:
            columns[str(name)] = column.to_numpy(float)
            continue
        coded[coded < 0] = np.nan
        if len(np.unique(coded)) < len(coded):
            columns[str(name)] = coded
    if not columns:
        raise DataError(f"{source.name}: there is no column to learn from beside the labels.")
    X, y = np.column_stack(list(columns.values())), _labels(source, target)
    if len(y) > MOST_ROWS:
        few = StratifiedShuffleSplit(1, train_size=MOST_ROWS, random_state=0)
        kept = np.sort(next(few.split(y[:, None], y))[0])
        X, y = X[kept], y[kept]
    return Table(X, y, tuple(columns))


def missing(sources: Iterable[Source], folder: Path | None) -> list[str]:
    """Why sets cannot be had: a line for each. Without a folder the first is enough: the network is there or not."""
    told = []
    for source in sources:
        try:
            load(source, folder)
        except DataError as problem:
            told.append(str(problem))
            if folder is None:
                break
    return told


def _from_folder(source: Source, folder: Path) -> tuple[pd.DataFrame, pd.Series]:
    tried = [f"{source.stem}{coding}.csv{packed}" for coding in ("__intcoded", "") for packed in ("", ".gz")]
    for file in tried:
        path = folder / file
        if path.is_file():
            try:
                frame = pd.read_csv(path)
            except (ValueError, OSError) as problem:  # empty, not text, not a table
                raise DataError(f"{path} cannot be read as a CSV file: {problem}") from problem
            if frame.columns[-1] != "target":
                raise DataError(f"{path}: the last column is {frame.columns[-1]!r}; labels must be there, as 'target'.")
            named = [source.identifier] if source.identifier in frame.columns else []
            return frame.drop(columns=["target", *named]), frame["target"]
    raise DataError(
        f"{folder} has no {source.stem}.csv (or .csv.gz). Put it there, with the labels in the last column, 'target'; "
        "or leave out --data to fetch it from OpenML."
    )


def _from_openml(source: Source) -> tuple[pd.DataFrame, pd.Series]:
    try:
        bunch = fetch_openml(data_id=source.openml, as_frame=True, parser="liac-arff")
    except Exception as problem:  # no network, no such set, a server that is down: the way out is the same
        raise DataError(
            f"{source.name} could not be fetched from OpenML ({type(problem).__name__}: {problem}). Connect to the "
            f"network, or name a folder with {source.stem}.csv in it, labels in the last column, 'target': "
            f"--data FOLDER, or {FOLDER_VARIABLE}=FOLDER in the environment."
        ) from problem
    return bunch.data, bunch.target


def _labels(source: Source, target: pd.Series) -> np.ndarray:
    """1 for the positive label, 0 for the other."""
    values = sorted(target.dropna().unique().tolist(), key=str)
    if len(values) != 2 or target.isna().any():
        raise DataError(
            f"{source.name}: the labels are {values[:5]}…, {len(values)} values; two are needed, none empty."
        )
    positive = source.positive if source.positive in values else values[1]
    return (target == positive).to_numpy().astype(np.int64)


@lru_cache(maxsize=1)
def split(source: Source, folder: Path | None, seed: int, number: int) -> Split:
    """The ``number``-th stratified 70/30 split, the same for every method."""
    table = load(source, folder)
    drawn = StratifiedShuffleSplit(1, test_size=HELD_OUT, random_state=1000 * seed + number)
    train, test = next(drawn.split(table.y[:, None], table.y))
    X, X_test = table.X[train], table.X[test]
    if np.isnan(table.X).any():
        with np.errstate(all="ignore"):
            median = np.nan_to_num(np.nanmedian(X, axis=0))
        X, X_test = (np.where(np.isnan(part), median, part) for part in (X, X_test))
    return Split(X, table.y[train], X_test, table.y[test])
