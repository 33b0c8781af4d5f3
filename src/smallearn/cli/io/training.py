"""Rows to train on: features and labels of a loaded table."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from smallearn._text import show
from smallearn.cli.console import Console
from smallearn.cli.errors import CommandError
from smallearn.cli.io import cells
from smallearn.cli.io.feature_columns import FeatureReader, Reading, numbers_like_training
from smallearn.cli.io.labels import LabelReader
from smallearn.cli.io.tables import ReadOptions, Table, TableFile, open_table
from smallearn.model import SMaLLModel


@dataclass(frozen=True)
class TrainingTable:
    """Rows to train on.

    Parameters
    ----------
    X : pandas DataFrame
        The features: numbers as float64; categories and booleans as objects, None where a value is missing.
    y : ndarray
        The labels.
    ignored : dict from str to str
        The columns of the file that are not used, each with the reason.
    """

    X: Any
    y: np.ndarray
    ignored: dict[str, str]

    @property
    def categorical(self) -> list[str]:
        """The names of the categorical features."""
        return [name for name in self.X.columns if self.X[name].dtype.kind == "O"]

    @property
    def classes(self) -> list[Any]:
        """The different labels, sorted."""
        return np.unique(self.y).tolist()

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return len(self.y)

    def fitted(self, selector: Any) -> Any:
        """Train a `SMaLLClassifierCV` on the rows."""
        return selector.fit(self.X, self.y)

    def remembered_by(self, model: SMaLLModel, target: str, source: str) -> SMaLLModel:
        """The model with what it has to know of the rows to recognise them."""
        return model.trained_on(self.X, self.y, target=target, source=source)


def read_for_training(
    path: Path | Sequence[Path],
    target: str,
    *,
    drop: Sequence[str] = (),
    keep: Sequence[str] = (),
    options: ReadOptions | None = None,
    console: Console,
) -> TrainingTable:
    """Read a file once; see `convert_for_training`."""
    file = open_table(path, options)
    check_names(file, target, drop, keep)
    table = file.load(console, [name for name in file.names if name not in drop])
    return convert_for_training(table, target, drop=drop, keep=keep, console=console)


def convert_for_training(
    table: Table, target: str, *, drop: Sequence[str] = (), keep: Sequence[str] = (), console: Console
) -> TrainingTable:
    """The features and the labels in a loaded table: the column ``target`` has the labels, the others are features.

    Numbers are numbers, true and false booleans, other text categories. Ignored, with a note: rows without a class and
    rows of a class with fewer than five; columns of dates or of one value; and columns that look like an ID unless they
    are to ``keep``: those without a title, text that differs in every row, whole numbers that do and are consecutive or
    have the name of an ID. Columns to ``drop`` are ignored without one.
    """
    check_names(table.file, target, drop, keep)
    labels = LabelReader(table.file, target, console)
    labels.look(table.columns.column(target))
    classes = labels.decide()
    codes = labels.codes(table.columns.column(target))
    rows = np.flatnonzero(codes >= 0)
    features = table.columns.drop_columns([target, *(name for name in drop if name in table.columns.column_names)])
    features = features.take(rows)
    reader = FeatureReader(table.file, features.column_names, keep, console)
    reader.look(features, rows)
    readings, ignored = decide_features(reader, drop)
    columns = {name: reader.convert(features.column(name), reading) for name, reading in readings.items()}
    return TrainingTable(X=frame_of(columns), y=classes[codes[rows]], ignored=ignored)


def frame_of(columns: Mapping[str, np.ndarray]) -> Any:
    """A table of pandas with these columns, whose types are kept."""
    import pandas as pd

    return pd.DataFrame({name: pd.Series(values, dtype=values.dtype) for name, values in columns.items()})


def decide_features(reader: FeatureReader, drop: Sequence[str]) -> tuple[dict[str, Reading], dict[str, str]]:
    """How each feature is read, and why the other columns are ignored."""
    readings, ignored = reader.decide()
    if not readings:
        raise CommandError("no column is left to learn from")
    return readings, {**dict.fromkeys(drop, "as asked"), **ignored}


def convert_like(training: TrainingTable, table: Table, rows: np.ndarray) -> Any:
    """The features of ``training`` in the ``rows`` of another table, with the types that they have there.

    A value that cannot be read as such is missing, and so is a column that the table does not have.
    """
    here = table.columns.take(rows)
    columns = {}
    for name in training.X.columns:
        like = training.X[name].to_numpy()
        if name in here.column_names:
            columns[name] = _read_like(like, here.column(name), table.file)
        else:
            columns[name] = np.full(len(rows), np.nan if like.dtype.kind == "f" else None)
    return frame_of(columns)


def _read_like(like: np.ndarray, column: Any, file: TableFile) -> np.ndarray:
    """A column with the type of the values ``like``."""
    text = cells.trimmed(column, missing=file.missing)
    booleans = like.dtype.kind == "O" and any(isinstance(value, bool) for value in like)
    if like.dtype.kind == "O" and not booleans:
        return cells.objects_of(text)
    if cells.is_number_type(cells.type_of(column)):
        values = file.without_missing(cells.numbers_in(column))
    else:
        values = numbers_like_training(file, text)
    return cells.booleans_in(values) if booleans else np.where(np.isinf(values), np.nan, values)


def check_names(file: TableFile, target: str, drop: Sequence[str], keep: Sequence[str]) -> None:
    """Check that the file has the columns that the user named."""
    unknown = [name for name in (target, *drop, *keep) if name not in file.names]
    if unknown:
        file.refuse_names(unknown[:1], "this command")
    needed = [name for name in drop if name == target or name in keep]
    if needed:
        raise CommandError(f"column {show(needed[0])} is to be dropped, but is also the target or to be kept")
