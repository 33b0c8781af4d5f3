"""The paper's data sets: from OpenML, or from a folder with one CSV file each whose last column is ``target``.

Nominal columns are coded as whole numbers, in the order in which OpenML lists their values. A nominal column with a
different value in every row identifies the rows and is dropped. Labels are 1 (OpenML's "P") and 0.
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
MAX_ROWS = 5000  # larger sets are sampled, stratified, always the same rows


class DataError(Exception):
    """A data set cannot be loaded; the message says what to do."""


@dataclass(frozen=True)
class Source:
    """Where a data set comes from.

    ``name`` is the paper's name, ``stem`` the name at OpenML and of files, ``openml`` the number at OpenML; None means
    that the set comes with scikit-learn. ``identifier`` is the column that identifies the rows, to be dropped from
    files whose nominal columns are already coded. ``positive`` is the label that becomes 1, by default the second of
    the two, as in "N" and "P" or 0 and 1. ``owner`` is the label, after that, which is 1 in OpenML's own coding: mostly
    0, because most sets there list the values P and N in this order.
    """

    name: str
    stem: str
    openml: int | None = None
    identifier: str | None = None
    positive: str | None = None
    owner: int = 0


@dataclass(frozen=True)
class Table:
    """Numeric features, with labels 0 and 1."""

    X: np.ndarray
    y: np.ndarray
    names: tuple[str, ...]

    @cached_property
    def fingerprint(self) -> str:
        """A hash that distinguishes versions of a data set."""
        return hex_digest(np.ascontiguousarray(self.X).tobytes() + self.y.tobytes(), 12)


@dataclass(frozen=True)
class Split:
    """Training and test rows; missing values are replaced with the median of the training rows."""

    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray


TABLE1 = (
    Source(name="bankruptcy", stem="analcatdata_bankruptcy", openml=476, identifier="Company", owner=1),
    Source(name="vineyard", stem="vineyard", openml=713),
    Source(name="pwLinear", stem="pwLinear", openml=721),
    Source(name="sleuth1714", stem="sleuth_ex1714", openml=777),
    Source(name="sleuth1605", stem="sleuth_ex1605", openml=755),
    Source(name="sleuth1201", stem="sleuth_case1201", openml=892, identifier="state"),
    Source(name="rabe266", stem="rabe_266", openml=782),
    Source(name="rabe148", stem="rabe_148", openml=894),
    Source(name="vis_env", stem="visualizing_environmental", openml=736),
    Source(name="hutsof99", stem="hutsof99_logis", openml=804),
    Source(name="human_dev", stem="humandevel", openml=924, identifier="country"),
    Source(name="fri_c0_100_10", stem="fri_c0_100_10", openml=808),
    Source(name="elusage", stem="elusage", openml=790),
    Source(name="diggle_table", stem="diggle_table_a1", openml=817),
    Source(name="baskball", stem="baskball", openml=731),
    Source(name="michiganacc", stem="analcatdata_michiganacc", openml=771),
    Source(name="election2000", stem="analcatdata_election2000", openml=758, identifier="County"),
)
BREAST_CANCER = Source(name="breast_cancer", stem="breast_cancer", owner=1)
FUNDS = Source(name="chscase_funds", stem="chscase_funds", openml=801, identifier="col_1")
FRIEDMAN = Source(name="fri_c0_1000_50", stem="fri_c0_1000_50", openml=904)
WIDE = (
    FRIEDMAN,
    Source(name="fri_c1_1000_50", stem="fri_c1_1000_50", openml=837),
    Source(name="fri_c2_1000_50", stem="fri_c2_1000_50", openml=866),
    Source(name="fri_c3_1000_50", stem="fri_c3_1000_50", openml=806),
    Source(name="fri_c4_1000_50", stem="fri_c4_1000_50", openml=797),
    Source(name="spambase", stem="spambase", openml=44, owner=1),
    Source(name="sonar", stem="sonar", openml=40, positive="Mine", owner=1),
    Source(name="triazines", stem="triazines", openml=788),
    Source(name="optdigits", stem="optdigits", openml=980),
    Source(name="authorship", stem="analcatdata_authorship", openml=970),
    Source(name="ozone", stem="ozone-level-8hr", openml=1487, owner=1),
    Source(name="tecator", stem="tecator", openml=851),
)


def data_folder(folder: Path | None) -> Path | None:
    """The folder, or that of the environment variable; None means OpenML."""
    text = os.environ.get(FOLDER_VARIABLE)
    folder = folder if folder is not None else Path(text) if text else None
    if folder is not None and not folder.is_dir():
        raise DataError(f"{folder} is not a folder; give one with a CSV file for each data set, or none to use OpenML.")
    return folder


@lru_cache(maxsize=32)
def load(source: Source, folder: Path | None) -> Table:
    """Load a data set from the folder, or from OpenML (through scikit-learn's cache)."""
    if source.openml is None:
        bunch = load_breast_cancer()
        return Table(X=bunch.data, y=bunch.target, names=tuple(map(str, bunch.feature_names)))
    frame, target = _from_folder(source, folder) if folder is not None else _from_openml(source)
    columns = {}
    for name, column in frame.items():
        if isinstance(column.dtype, pd.CategoricalDtype):
            codes = column.cat.codes.to_numpy(float)
        elif not pd.api.types.is_numeric_dtype(column):
            codes = pd.Categorical(column).codes.astype(float)
        else:
            columns[str(name)] = column.to_numpy(float)
            continue
        codes[codes < 0] = np.nan
        if len(np.unique(codes)) < len(codes):
            columns[str(name)] = codes
    if not columns:
        raise DataError(f"{source.name}: there is no feature to learn from, only labels.")
    X, y = np.column_stack(list(columns.values())), _labels(source, target)
    if len(y) > MAX_ROWS:
        sample = StratifiedShuffleSplit(1, train_size=MAX_ROWS, random_state=0)
        kept = np.sort(next(sample.split(y[:, None], y))[0])
        X, y = X[kept], y[kept]
    return Table(X=X, y=y, names=tuple(columns))


def missing(sources: Iterable[Source], folder: Path | None) -> list[str]:
    """Why data sets cannot be loaded, a line each. Without a folder the first is enough: the network is at fault."""
    errors = []
    for source in sources:
        try:
            load(source, folder)
        except DataError as error:
            errors.append(str(error))
            if folder is None:
                break
    return errors


def _from_folder(source: Source, folder: Path) -> tuple[pd.DataFrame, pd.Series]:
    candidates = [f"{source.stem}{coding}.csv{packed}" for coding in ("__intcoded", "") for packed in ("", ".gz")]
    for file in candidates:
        path = folder / file
        if path.is_file():
            try:
                frame = pd.read_csv(path)
            except (ValueError, OSError) as error:  # empty, not text, not a table
                raise DataError(f"{path} cannot be read as a CSV file: {error}") from error
            if frame.columns[-1] != "target":
                raise DataError(f"{path}: the last column is {frame.columns[-1]!r}; it must be 'target', the labels.")
            identifiers = [source.identifier] if source.identifier in frame.columns else []
            return frame.drop(columns=["target", *identifiers]), frame["target"]
    raise DataError(
        f"{folder} has no {source.stem}.csv (or .csv.gz). Put it there, with the labels in the last column, 'target'; "
        "or leave out --data to download it from OpenML."
    )


def _from_openml(source: Source) -> tuple[pd.DataFrame, pd.Series]:
    try:
        bunch = fetch_openml(data_id=source.openml, as_frame=True, parser="liac-arff")
    except Exception as error:  # no network, no such set, a server that is down: the remedy is the same
        raise DataError(
            f"{source.name} could not be downloaded from OpenML ({type(error).__name__}: {error}). Connect to the "
            f"network, or name a folder with {source.stem}.csv in it, labels in the last column, 'target': "
            f"--data FOLDER, or {FOLDER_VARIABLE}=FOLDER in the environment."
        ) from error
    return bunch.data, bunch.target


def _labels(source: Source, target: pd.Series) -> np.ndarray:
    """1 for the positive label, 0 for the other."""
    values = sorted(target.dropna().unique().tolist(), key=str)
    if len(values) != 2 or target.isna().any():
        raise DataError(
            f"{source.name}: the labels have {len(values)} values ({values[:5]}…) and {target.isna().sum()} are "
            "missing; there must be two values and none missing."
        )
    positive = source.positive if source.positive in values else values[1]
    return (target == positive).to_numpy().astype(np.int64)


@lru_cache(maxsize=1)
def split(source: Source, folder: Path | None, seed: int, number: int) -> Split:
    """The ``number``-th stratified 70/30 split, the same for every method."""
    table = load(source, folder)
    splitter = StratifiedShuffleSplit(1, test_size=HELD_OUT, random_state=1000 * seed + number)
    train, test = next(splitter.split(table.y[:, None], table.y))
    X, X_test = impute_median(table.X[train], table.X[test])
    return Split(X=X, y=table.y[train], X_test=X_test, y_test=table.y[test])


def impute_median(X: np.ndarray, X_test: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Replace missing values with the median of the training rows, 0 where all of these are missing."""
    if not (np.isnan(X).any() or np.isnan(X_test).any()):
        return X, X_test
    with np.errstate(all="ignore"):
        median = np.nan_to_num(np.nanmedian(X, axis=0))
    return np.where(np.isnan(X), median, X), np.where(np.isnan(X_test), median, X_test)
