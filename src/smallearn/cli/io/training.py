"""Rows to train on: features and labels of a loaded table."""

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from smallearn.cli.console import Console
from smallearn.cli.errors import CommandError
from smallearn.cli.io import cells
from smallearn.cli.io.feature_columns import FeatureReader, Reading, numbers_like_training
from smallearn.cli.io.labels import LabelReader
from smallearn.cli.io.rules import TrainingRules, weights_in
from smallearn.cli.io.tables import ReadOptions, Table, TableFile, open_table
from smallearn.model import HeldOut, SMaLLModel


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
    may_keep : set of str
        Those of them that ``--keep`` would use.
    numbers : ndarray
        The number of each row in the file, from 1.
    weight : ndarray or None
        The weight of each row, if they have any.
    held_out : HeldOut or None
        How many rows of the file are held out.
    missing : dict from str to tuple of str
        The texts that are read as missing values, by column, as in `FeatureReader`.
    """

    X: Any
    y: np.ndarray
    ignored: dict[str, str]
    may_keep: Set[str]
    numbers: np.ndarray
    weight: np.ndarray | None = None
    held_out: HeldOut | None = None
    missing: dict[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def features(self) -> list[str]:
        """The names of the features."""
        return list(self.X.columns)

    @property
    def categorical(self) -> list[str]:
        """The names of the categorical features."""
        return [name for name in self.X.columns if self.X[name].dtype.kind == "O"]

    @property
    def classes(self) -> list[Any]:
        """The different labels, sorted."""
        return np.unique(self.y).tolist()

    @property
    def class_counts(self) -> tuple[int, ...]:
        """The number of rows of each class."""
        return tuple(np.unique(self.y, return_counts=True)[1].tolist())

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return len(self.y)

    def fitted(self, selector: Any) -> Any:
        """Train a `SMaLLClassifierCV` on the rows."""
        return selector.fit(self.X, self.y, sample_weight=self.weight)

    def confusion(self, model: SMaLLModel) -> np.ndarray | None:
        """The confusion matrix of a model on the rows."""
        return confusion_of(model, self.X, model.codes(self.y))

    def remembered_by(self, model: SMaLLModel, target: str, source: str) -> SMaLLModel:
        """The model with what it has to know of the rows to recognise them."""
        return model.trained_on(self.X, self.y, target=target, source=source)


def confusion_of(model: SMaLLModel, X: Any, code: np.ndarray) -> np.ndarray:
    """The number of rows by the position of their class (lines) and of the predicted one (columns)."""
    n_classes = len(model.classes)
    cells = np.bincount(code * n_classes + model.codes(model.predict(X)), minlength=n_classes**2)
    return cells.reshape(n_classes, n_classes)


def read_for_training(
    path: Path | Sequence[Path],
    target: str,
    *,
    rules: TrainingRules | None = None,
    options: ReadOptions | None = None,
    console: Console,
) -> TrainingTable:
    """Read a file once; see `convert_for_training`."""
    rules = rules or TrainingRules()
    file = open_table(path, options)
    rules.check(file, target)
    unread = {*rules.drop, *rules.ids}
    table = file.load(console, [name for name in file.names if name not in unread])
    return convert_for_training(table, target, rules=rules, console=console)


def convert_for_training(
    table: Table, target: str, *, rules: TrainingRules | None = None, console: Console
) -> TrainingTable:
    """The features and the labels in a loaded table: the column ``target`` has the labels, the others are features.

    Numbers are numbers, true and false booleans, other text categories. Ignored, with a note: rows without a class and
    rows of a class with fewer than five; columns of dates or of one value; and columns that look like an ID unless they
    are to be kept: those without a title, text that differs in every row, whole numbers that do and are consecutive or
    have the name of an ID. Columns that the ``rules`` drop are ignored without one. Rows that are held out are neither
    converted nor looked at, but for their classes.
    """
    rules = rules or TrainingRules()
    rules.check(table.file, target)
    labels = LabelReader(table.file, target, console, rules)
    labels.look(table.columns.column(target))
    classes = labels.decide()
    codes = labels.codes(table.columns.column(target))
    split = labels.split()
    rows = np.flatnonzero(codes >= 0 if split is None else (codes >= 0) & ~split.holds_out(codes))
    features = table.columns.select(rules.features(table.file, target)).take(rows)
    reader = FeatureReader(table.file, features.column_names, rules.keep, console)
    reader.look(features, rows)
    readings, ignored = decide_features(reader, rules)
    columns = {name: reader.convert(features.column(name), reading) for name, reading in readings.items()}
    weight = None
    if rules.weights is not None:
        weight = weights_in(table.file, rules.weights, table.columns.column(rules.weights).take(rows), rows)
    return TrainingTable(
        X=frame_of(columns),
        y=classes[codes[rows]],
        ignored=ignored,
        may_keep=reader.may_keep,
        numbers=rows + 1,
        weight=weight,
        held_out=labels.held_out,
        missing=reader.missing,
    )


def frame_of(columns: Mapping[str, np.ndarray]) -> Any:
    """A table of pandas with these columns, whose types are kept."""
    import pandas as pd

    return pd.DataFrame({name: pd.Series(values, dtype=values.dtype) for name, values in columns.items()})


def decide_features(reader: FeatureReader, rules: TrainingRules) -> tuple[dict[str, Reading], dict[str, str]]:
    """How each feature is read, and why the other columns are ignored."""
    readings, ignored = reader.decide()
    if not readings:
        raise CommandError("no column is left to learn from")
    return readings, {**rules.others, **ignored}


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
