"""Rows of a table as a model reads them: the columns that it uses, converted, and the classes if there are any.

`read_for_model` serves commands that need all rows at once, `ModelReader.chunks` those that do not.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any, Literal

import numpy as np

from smallearn._text import show
from smallearn.cli.console import SILENT, Console
from smallearn.cli.errors import CommandError
from smallearn.cli.io import cells
from smallearn.cli.io.labels import keep_known, model_labels
from smallearn.cli.io.tables import ReadOptions, Table, TableFile, open_table
from smallearn.model import SMaLLModel


class Labels(Enum):
    """Whether a command needs the classes of the rows."""

    IGNORED = "ignored"
    OPTIONAL = "optional"
    REQUIRED = "required"


@dataclass(frozen=True)
class ModelRows:
    """Rows as a model reads them.

    Parameters
    ----------
    X : pandas DataFrame
        The columns that the model uses: numbers as float64 and text as objects, NaN or None where a value is missing.
        The index is the number of each row in the file, from 0. A model without feature names gets all its columns, in
        order, those that it does not use empty.
    y : ndarray or None
        The class of each row, with the types of ``model.classes``.
    table : Table
        The table that they come from.
    """

    X: Any
    y: np.ndarray | None
    table: Table

    @property
    def numbers(self) -> list[int]:
        """The number of each row in the file, from 1."""
        return (self.X.index + 1).tolist()


def read_for_model(
    model: SMaLLModel,
    path: Path,
    *,
    target: str | None = None,
    labels: Labels = Labels.IGNORED,
    options: ReadOptions | None = None,
    all_columns: bool = False,
    console: Console,
) -> ModelRows:
    """Read a file once and convert its rows for ``model``; with ``all_columns`` the table has the others too.

    See `convert_for_model` for ``target``, ``labels`` and what is raised.
    """
    file = open_table(path, options)
    named = _find_target(file, model, target, labels)
    columns = None if all_columns else [*ModelReader(model, file).columns, *([] if named is None else [named])]
    table = file.load(console, columns)
    return convert_for_model(model, table, target=target, labels=labels, console=console)


def convert_for_model(
    model: SMaLLModel, table: Table, *, target: str | None = None, labels: Labels = Labels.IGNORED, console: Console
) -> ModelRows:
    """Convert the rows of a loaded table for ``model``.

    Classes come from the column ``target``, by default the one that the model was trained on. If they are OPTIONAL, the
    column may be missing or empty, unless the user named it. Rows without a class that the model knows are left out,
    with a note.

    Raises `CommandError`, with a sentence for the user, if a column is missing or a cell is not what the model needs.
    """
    named = _find_target(table.file, model, target, labels)
    X = ModelReader(model, table.file, loaded=table).convert(table.columns, 0)
    if named is None:
        return ModelRows(X=X, y=None, table=table)
    read = model_labels(table, named, model.classes)
    if labels is Labels.OPTIONAL and read.is_missing.all():
        return ModelRows(X=X, y=None, table=table)
    known = keep_known(read, table, named, model.classes, console)
    return ModelRows(X=X[known], y=model.labels(read.code[known]), table=table)


def target_of(model: SMaLLModel, named: str | None = None) -> str | None:
    """The column of classes: the one that the user named, or that of the training data; None if unknown."""
    return named if named is not None or model.data is None else model.data.target


def required_target(model: SMaLLModel, named: str | None) -> str:
    """The column of classes; an error if it is unknown."""
    target = target_of(model, named)
    if target is None:
        raise CommandError("the model does not know which column has the classes: name it with --target")
    return target


def _find_target(file: TableFile, model: SMaLLModel, named: str | None, labels: Labels) -> str | None:
    """The column of classes in a file; None if there is none or none is needed."""
    if labels is Labels.IGNORED:
        return None
    target = required_target(model, named) if labels is Labels.REQUIRED else target_of(model, named)
    if target is None or target in file.names:
        return target
    if labels is Labels.REQUIRED or named is not None:
        file.refuse_names([target], "this command")
    return None


# --- columns ---------------------------------------------------------------------------------------------------------

Kind = Literal["numbers", "booleans", "text", "presence"]


@dataclass(frozen=True)
class _Need:
    """What a model reads from a column.

    ``kind`` "presence": only whether a value is there. ``complete``: no value may be missing. ``categories``: the texts
    that the model compares with.
    """

    label: str
    column: str
    kind: Kind
    complete: bool
    categories: tuple[str, ...]


class ModelReader:
    """Converts chunks of a table for a model.

    Parameters
    ----------
    model : SMaLLModel
    file : TableFile
    loaded : Table, optional
        The table, if it is in memory; else questions about a whole column are answered from the file.

    Attributes
    ----------
    columns : list of str
        The columns of the file that the model needs.
    """

    def __init__(self, model: SMaLLModel, file: TableFile, loaded: Table | None = None):
        self.model, self.file, self.loaded = model, file, loaded
        self._needs = _needs(model, file)
        self.columns = [need.column for need in self._needs]
        self._grouped: dict[str, bool] = {}

    def chunks(self, console: Console, rows: int | None = None) -> Iterator[tuple[Any, Any]]:
        """Each chunk of the file, with all its columns, and what the model reads of it."""
        begin = 0
        for chunk in self.file.chunks(console, rows=rows):
            yield chunk, self.convert(chunk, begin)
            begin += len(chunk)

    def convert(self, chunk: Any, begin: int) -> Any:
        """A chunk that begins at row ``begin`` of the file, as a pandas table that the model takes."""
        import pandas as pd

        index = pd.RangeIndex(begin, begin + len(chunk))
        values = {need.label: self._column(chunk.column(need.column), need, begin) for need in self._needs}
        columns = {label: pd.Series(column, index, column.dtype) for label, column in values.items()}
        if not any(term.name is None for term in self.model.features):
            return pd.DataFrame(columns, index=index)
        return pd.DataFrame(columns, index=index, columns=[f"x{l}" for l in range(self.model.n_features)])

    def _column(self, column: Any, need: _Need, begin: int) -> np.ndarray:
        import pyarrow as pa

        kind = cells.type_of(column)
        is_text = cells.is_text_type(kind)
        if not is_text and not cells.is_number_type(kind) and not pa.types.is_null(kind):
            raise CommandError(
                f"{self.file.shown}: column {show(need.column)} holds values of type {kind}, which no model can read"
            )
        if need.kind == "presence" and not is_text:
            values = cells.numbers_in(column)
            return cells.booleans_in(values) if pa.types.is_boolean(kind) else values
        if need.kind in ("text", "presence"):
            return self._text(column if is_text else _as_categories(column), need)
        values = self._numbers(column, need, begin, is_text)
        return values if need.kind == "numbers" else self._booleans(values, column, need, begin)

    def _text(self, column: Any, need: _Need) -> np.ndarray:
        text = cells.trimmed(column, need.categories, self.file.missing)
        inner = cells.without(text, cells.MISSING_NUMBER)
        if need.kind == "presence" and self.file.is_text and cells.are_booleans(inner):
            return cells.booleans_of(inner)
        return cells.objects_of(text)

    def _numbers(self, column: Any, need: _Need, begin: int, is_text: bool) -> np.ndarray:
        if is_text:
            text = cells.without(cells.trimmed(column, missing=self.file.missing), cells.MISSING_NUMBER)
            grouped = self._is_grouped(need.column, text)
            values, bad = cells.numbers_of(text, self.file.may_have_commas, grouped)
        else:
            values = cells.numbers_in(column)
            bad = np.isinf(values)
        values = self.file.without_missing(values)
        self._refuse_first(bad, column, need, begin, "is not a number, but the model needs one here")
        if need.complete and np.isnan(values).any():
            row = begin + int(np.isnan(values).argmax())
            self.file.refuse_cell(row, need.column, "the value is missing, but the model needs one here")
        return values

    def _booleans(self, values: np.ndarray, column: Any, need: _Need, begin: int) -> np.ndarray:
        bad = ~np.isnan(values) & (values != 0.0) & (values != 1.0)
        self._refuse_first(bad, column, need, begin, "is neither true nor false")
        return cells.booleans_in(values)

    def _refuse_first(self, bad: np.ndarray, column: Any, need: _Need, begin: int, reason: str) -> None:
        """Raise an error about the first bad cell, if there is one."""
        if bad.any():
            row = int(bad.argmax())
            self.file.refuse_cell(begin + row, need.column, f"{show(column[row].as_py())} {reason}")

    def _is_grouped(self, name: str, text: Any) -> bool:
        """Whether thousands are grouped in a column; if this chunk leaves it open, the whole column decides."""
        if not cells.has_group_signs(text, self.file.may_have_commas):
            return False
        if name not in self._grouped:
            grouped = cells.groups_thousands(text, self.file.may_have_commas)
            self._grouped[name] = self._is_grouped_anywhere(name) if grouped is None else grouped
        return self._grouped[name]

    def _is_grouped_anywhere(self, name: str) -> bool:
        chunks: Iterable[Any] = (
            self.file.chunks(SILENT, columns=[name]) if self.loaded is None else [self.loaded.columns]
        )
        comma = self.file.may_have_commas
        answers = (cells.groups_thousands(cells.trimmed(chunk.column(name)), comma) for chunk in chunks)
        return next((answer for answer in answers if answer is not None), self.file.has_commas)


def _needs(model: SMaLLModel, file: TableFile) -> list[_Need]:
    column = _columns(model, file)
    lacking = [term.label for term in model.features if column[term.feature] is None]
    if lacking:
        file.refuse_names(lacking, "the model")
    needs = []
    for feature in model.features:
        terms = [term for term in model.terms if term.feature == feature.feature]
        categories = [term.value for term in terms if term.kind == "equals"]
        is_number = any(term.kind in ("raw", "at_most", "above") for term in terms)
        is_number = is_number or any(extent.feature == feature.feature for extent in model.ranges)
        needs.append(
            _Need(
                label=feature.label,
                column=str(column[feature.feature]),
                kind="numbers" if is_number else _kind_of(categories),
                complete=any(term.kind == "raw" and term.mean is None for term in terms),
                categories=tuple(value for value in categories if isinstance(value, str)),
            )
        )
    return needs


def _kind_of(categories: Sequence[Any]) -> Kind:
    if any(isinstance(value, str) for value in categories):
        return "text"
    if categories:
        return "booleans" if all(isinstance(value, bool) for value in categories) else "numbers"
    return "presence"


def _columns(model: SMaLLModel, file: TableFile) -> dict[int, str | None]:
    """The file's column for each feature in use: by name, or by position if the model has no names."""
    names = set(file.names)
    by_name = {term.feature: term.label if term.label in names else None for term in model.features}
    nameless = any(term.name is None for term in model.features)
    features = [name for name in file.names if name != target_of(model)]
    if nameless and None in by_name.values() and len(features) == model.n_features:
        return {term.feature: features[term.feature] for term in model.features}
    return by_name


def _as_categories(column: Any) -> Any:
    """Numbers as text, whole ones without a point, as a category would be written."""
    import pyarrow as pa

    def written(value: Any) -> str | None:
        if value is None or value != value:
            return None
        return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)

    return pa.array([written(value) for value in column.to_pylist()], pa.large_string())
