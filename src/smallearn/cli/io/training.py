"""Rows to train on: features and labels of a loaded table."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from smallearn._text import count, show
from smallearn.cli.console import Console
from smallearn.cli.errors import CommandError
from smallearn.cli.io import cells
from smallearn.cli.io.feature_columns import FeatureReader, note_case
from smallearn.cli.io.labels import training_labels
from smallearn.cli.io.tables import ReadOptions, Table, TableFile, open_table

FEWEST_ROWS = 5  # of a class: with fewer, some folds would have none


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
    def majority(self) -> tuple[Any, float]:
        """The most common class, and its share of the rows."""
        label, number = Counter(self.y.tolist()).most_common(1)[0]
        return label, number / len(self.y)


def read_for_training(
    path: Path,
    target: str,
    *,
    drop: Sequence[str] = (),
    keep: Sequence[str] = (),
    options: ReadOptions | None = None,
    console: Console,
) -> TrainingTable:
    """Read a file once; see `convert_for_training`."""
    file = open_table(path, options)
    _check_names(file, target, drop, keep)
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
    import pandas as pd

    _check_names(table.file, target, drop, keep)
    y, present = training_labels(table, target, console)
    rows = np.flatnonzero(present)
    y = y[rows]
    if y.dtype.kind in "UO":
        note_case(target, set(y.tolist()), "classes", console)
    frequent = _is_frequent(y, console)
    rows, y = rows[frequent], y[frequent]
    features = table.columns.drop_columns([target, *(name for name in drop if name in table.columns.column_names)])
    reader = FeatureReader(file=table.file, rows=rows, keep=frozenset(keep), console=console)
    columns, ignored = reader.read_all(features.take(rows))
    if not columns:
        raise CommandError("no column is left to learn from")
    return TrainingTable(
        X=pd.DataFrame({name: pd.Series(values, dtype=values.dtype) for name, values in columns.items()}),
        y=y,
        ignored={**dict.fromkeys(drop, "as asked"), **ignored},
    )


def convert_like(training: TrainingTable, table: Table, rows: np.ndarray, console: Console) -> Any:
    """The features of ``training`` in the ``rows`` of another table, with the types that they have there.

    A value that cannot be read as such is missing, and so is a column that the table does not have.
    """
    import pandas as pd

    here = table.columns.take(rows)
    reader = FeatureReader(file=table.file, rows=rows, keep=frozenset(), console=console)
    columns = {}
    for name in training.X.columns:
        like = training.X[name].to_numpy()
        if name in here.column_names:
            columns[name] = _read_like(like, name, here.column(name), reader)
        else:
            columns[name] = np.full(len(rows), np.nan if like.dtype.kind == "f" else None)
    return pd.DataFrame({name: pd.Series(values, dtype=values.dtype) for name, values in columns.items()})


def _read_like(like: np.ndarray, name: str, column: Any, reader: FeatureReader) -> np.ndarray:
    """A column with the type of the values ``like``."""
    file = reader.file
    text = cells.trimmed(column, missing=file.missing)
    booleans = like.dtype.kind == "O" and any(isinstance(value, bool) for value in like)
    if like.dtype.kind == "O" and not booleans:
        return cells.objects_of(text)
    if cells.is_number_type(cells.type_of(column)):
        values = file.without_missing(cells.numbers_in(column))
    else:
        values = file.without_missing(reader.numbers_of(name, cells.without(text, cells.MISSING_NUMBER))[0])
    return cells.booleans_in(values) if booleans else np.where(np.isinf(values), np.nan, values)


def _check_names(file: TableFile, target: str, drop: Sequence[str], keep: Sequence[str]) -> None:
    unknown = [name for name in (target, *drop, *keep) if name not in file.names]
    if unknown:
        file.refuse_names(unknown[:1], "this command")
    needed = [name for name in drop if name == target or name in keep]
    if needed:
        raise CommandError(f"column {show(needed[0])} is to be dropped, but is also the target or to be kept")


def _is_frequent(y: np.ndarray, console: Console) -> np.ndarray:
    """Which rows are of a class that has enough rows; a note on the others."""
    counts = Counter(y.tolist())
    rare = {label: number for label, number in counts.items() if number < FEWEST_ROWS}
    if len(counts) - len(rare) < 2:
        each = ", ".join(f"{show(label)} {number}" for label, number in counts.items())
        raise CommandError(f"at least two classes need {FEWEST_ROWS} rows, for cross-validation; there are: {each}")
    for label, number in rare.items():
        console.note(f"Class {show(label)} has {count(number, 'row')}, too few for cross-validation: ignored.")
    return np.array([label not in rare for label in y.tolist()])
