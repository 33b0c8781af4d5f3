"""Rows of a table as a model reads them: the columns that it uses, converted, and the classes if there are any.

`read_for_model` serves commands that need rows at once, all or a sample; `ModelReader.chunks` those that do not. Both
read the file in chunks; only the columns in use are held in memory, unless a command needs the other columns too.
"""

import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path
from typing import Any, Literal

import numpy as np

from smallearn._text import exact, show
from smallearn.cli.console import SILENT, Console
from smallearn.cli.errors import CommandError
from smallearn.cli.io import cells, units
from smallearn.cli.io.class_names import ClassNames
from smallearn.cli.io.held_out import Split
from smallearn.cli.io.labels import LabelTally, check_known, model_labels
from smallearn.cli.io.sampling import Sample
from smallearn.cli.io.tables import ReadOptions, Table, TableFile, open_table
from smallearn.model import SMaLLModel, Term, read_rows

MOST_ROWS = 200_000  # of more, commands that need rows at once get a random sample of so many

Watch = Callable[[Any, np.ndarray, np.ndarray], None]
"""Is shown rows, the position of each class, and the number of each row in the file, from 0."""


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
    n_rows : int
        The number of rows that there are; ``X`` has all of them, or a random sample.
    table : Table or None
        The table that they come from, if all its columns were read.
    is_held_out : bool
        Whether these are the rows of the table that were held out from training, and no others.
    """

    X: Any
    y: np.ndarray | None
    n_rows: int
    table: Table | None = None
    is_held_out: bool = False

    @property
    def is_sample(self) -> bool:
        """Whether there are more rows than these."""
        return len(self.X) < self.n_rows

    @property
    def numbers(self) -> Sequence[int]:
        """The number in the file, from 1, of each row by its position; if there are more rows than these, by its
        position in the file, which is what a `Watch` is told."""
        return range(1, sys.maxsize) if self.is_sample else self.X.index.to_numpy() + 1


def read_for_model(
    model: SMaLLModel,
    path: Path,
    *,
    target: str | None = None,
    labels: Labels = Labels.IGNORED,
    options: ReadOptions | None = None,
    all_columns: bool = False,
    watch: Watch | None = None,
    split: Split | None = None,
    console: Console,
) -> ModelRows:
    """Read a file once and convert its rows for ``model``. Of more than `MOST_ROWS` a random sample is kept. With a
    ``split`` only the rows are read that it holds out.

    ``watch`` is shown all rows that have a class, chunk by chunk, or all if classes are IGNORED. With ``all_columns``
    the table has the other columns too, and all rows are kept. See `convert_for_model` for ``target``, ``labels`` and
    what is raised.
    """
    file = open_table(path, options)
    if all_columns:
        table = file.load(console)
        return convert_for_model(model, table, target=target, labels=labels, split=split, console=console)
    reader = ModelReader(model, file, console=console)
    chunks = file.chunks(console, columns=reader.with_target(target, labels))
    return _model_rows(reader, chunks, target, labels, console, most=MOST_ROWS, watch=watch, split=split)


def convert_for_model(
    model: SMaLLModel,
    table: Table,
    *,
    target: str | None = None,
    labels: Labels = Labels.IGNORED,
    split: Split | None = None,
    console: Console,
) -> ModelRows:
    """Convert the rows of a loaded table for ``model``.

    Classes come from the column ``target``, by default the one that the model was trained on. If they are OPTIONAL, the
    column may be missing or empty, unless the user named it. Rows without a class that the model knows are left out,
    with a note.

    Raises `CommandError`, with a sentence for the user, if a column is missing or a cell is not what the model needs.
    """
    reader = ModelReader(model, table.file, loaded=table, console=console)
    return replace(_model_rows(reader, [table.columns], target, labels, console, split=split), table=table)


def _model_rows(
    reader: "ModelReader",
    chunks: Iterable[Any],
    target: str | None,
    labels: Labels,
    console: Console,
    most: int | None = None,
    watch: Watch | None = None,
    split: Split | None = None,
) -> ModelRows:
    """The rows in the chunks of a table, or a sample of them, and their classes."""
    model, file = reader.model, reader.file
    named = find_target(file, model, target, labels)
    names = ClassNames(model.table.renamed)
    known, unlabelled = Sample(most), Sample(most)
    tally, n_rows = LabelTally(), 0
    for chunk in chunks:
        X, code = reader.convert(chunk, n_rows), np.zeros(len(chunk), dtype=np.int32)
        if named is None:
            unlabelled.add(X, code)
            if watch is not None and labels is Labels.IGNORED and len(code):
                watch(X, code, X.index.to_numpy())
        else:
            found = model_labels(file, chunk.column(named), model.classes, names)
            tally.add(found)
            if labels is Labels.OPTIONAL and tally.only_missing:
                unlabelled.add(X, code)
            is_known = found.is_known
            if split is not None:
                is_known &= split.holds_out(np.where(is_known, found.code, -1))
            X, code = (X, found.code) if is_known.all() else (X[is_known], found.code[is_known])
            known.add(X, code)
            if watch is not None and len(code):
                watch(X, code, X.index.to_numpy())
        n_rows += len(chunk)
    if n_rows == 0:
        raise CommandError(f"{file.shown} has no rows")
    if named is None or (labels is Labels.OPTIONAL and tally.only_missing):
        return ModelRows(X=unlabelled.rows()[0], y=None, n_rows=n_rows)
    check_known(tally, file, named, model.classes, console)
    X, code = known.rows()
    return ModelRows(X=X, y=model.labels(code), n_rows=known.n_rows, is_held_out=split is not None)


def known_split(
    model: SMaLLModel, path: Path, *, target: str | None = None, options: ReadOptions | None = None
) -> Split | None:
    """What tells which rows were held out, if a model was trained on the other rows of this very table; else None.

    The table is read once for that, if the model was trained on a part of any.
    """
    split = Split.of_model(model)
    if split is None:
        return None
    from smallearn.evaluation._tally import Recognition  # scikit-learn takes long to import

    recognition, file = Recognition(model), open_table(path, options)
    reader, n_rows = ModelReader(model, file, console=SILENT), 0
    try:
        named = str(find_target(file, model, target, Labels.REQUIRED))
        for chunk in file.chunks(SILENT, columns=[*reader.columns, named]):
            found = model_labels(file, chunk.column(named), model.classes, ClassNames(model.table.renamed))
            trained = found.is_known & ~split.holds_out(np.where(found.is_known, found.code, -1))
            recognition.add(read_rows(model, reader.convert(chunk, n_rows)[trained]), found.code[trained])
            n_rows += len(chunk)
    except (CommandError, ValueError):  # whoever reads the rows after this says what is wrong
        return None
    return Split.of_model(model) if recognition.is_training_data else None


def target_of(model: SMaLLModel, named: str | None = None) -> str | None:
    """The column of classes: the one that the user named, or that of the training data; None if unknown."""
    return named if named is not None or model.data is None else model.data.target


def required_target(model: SMaLLModel, named: str | None) -> str:
    """The column of classes; an error if it is unknown."""
    target = target_of(model, named)
    if target is None:
        raise CommandError("the model does not know which column has the classes: name it with --target")
    return target


def find_target(file: TableFile, model: SMaLLModel, named: str | None, labels: Labels) -> str | None:
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
    console : Console, default=SILENT
        Where notes go on how numbers are read.

    Attributes
    ----------
    columns : list of str
        The columns of the file that the model needs.
    """

    def __init__(self, model: SMaLLModel, file: TableFile, loaded: Table | None = None, console: Console = SILENT):
        self.model, self.file, self.loaded, self.console = model, file, loaded, console
        self._needs = _needs(model, file)
        self.columns = [need.column for need in self._needs]
        self._whole: dict[str, tuple[cells.Style, bool]] | None = None
        self._units: dict[str, units.UnitsSeen] = {}
        self._with_units: list[tuple[str, str, str]] = []  # columns to tell of, each with a cell and its number

    def with_target(self, target: str | None, labels: Labels) -> list[str]:
        """The columns that the model needs, and that of the classes if there is one."""
        named = find_target(self.file, self.model, target, labels)
        return [*self.columns, *([] if named is None else [named])]

    def chunks(
        self, console: Console, rows: int | None = None, columns: Collection[str] | None = None
    ) -> Iterator[tuple[Any, Any]]:
        """Each chunk of the file, with all its columns or at least those that the model needs, and what it reads."""
        begin = 0
        for chunk in self.file.chunks(console, rows=rows, columns=columns):
            yield chunk, self.convert(chunk, begin)
            begin += len(chunk)

    def convert(self, chunk: Any, begin: int) -> Any:
        """A chunk that begins at row ``begin`` of the file, as a pandas table that the model takes."""
        import pandas as pd

        index = pd.RangeIndex(begin, begin + len(chunk))
        values = {need.label: self._column(chunk.column(need.column), need, begin) for need in self._needs}
        if self._with_units:
            self.console.note(units.reading_note(self._with_units))
            self._with_units = []
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
        if need.kind == "presence" and self.file.is_text and _may_be_booleans(inner):
            only_booleans = self._of_whole_columns()[need.column][1]
            return cells.booleans_of(inner) if only_booleans else cells.objects_of(text)
        return cells.objects_of(text)

    def _numbers(self, column: Any, need: _Need, begin: int, is_text: bool) -> np.ndarray:
        if is_text:
            text = cells.without(cells.trimmed(column, missing=self.file.missing), cells.MISSING_NUMBER)
            numbers, of_cells = units.bare(text)
            values, bad = cells.numbers_of(numbers, self._style(need.column, numbers))
            if of_cells is not None or need.column in self._units:
                self._check_units(need.column, text, of_cells, values, begin)
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

    def _check_units(self, name: str, text: Any, of_cells: Any, values: np.ndarray, begin: int) -> None:
        """Keep the first number with a unit in a column, to be told of; raise an error about one in another unit."""
        seen = self._units.setdefault(name, units.UnitsSeen())
        is_first = seen.example is None
        seen.look(text, of_cells, values == 0.0, np.arange(begin, begin + len(text)))
        if seen.clash is not None:
            (_, one), (row, other) = sorted(seen.clash)
            self.file.refuse_cell(row, name, f"{show(other)} is in another unit than {show(one)} before it")
        if is_first and seen.example is not None:
            row, cell = seen.example
            self._with_units.append((name, show(cell), exact(values[row - begin])))

    def _style(self, name: str, text: Any) -> cells.Style:
        """How the numbers of a column are written; unless this chunk leaves no choice, the whole column decides."""
        comma = self.file.may_have_commas
        if not cells.has_signs(text):
            return cells.Style(comma)
        here = cells.evidence_of(text, comma)
        if here.other is False and (here.grouped is False or not cells.has_group_signs(text, comma)):
            return cells.Style(comma)
        return self._of_whole_columns()[name][0]

    def _of_whole_columns(self) -> dict[str, tuple[cells.Style, bool]]:
        """How the numbers in each column are written, and whether it holds true and false alone.

        The file is read once more for that, which few files make necessary.
        """
        if self._whole is None:
            seen = {name: _TextColumn() for name in self.columns}
            chunks: Iterable[Any] = (
                self.file.chunks(SILENT, columns=self.columns) if self.loaded is None else [self.loaded.columns]
            )
            for chunk in chunks:
                for name, column in seen.items():
                    if cells.is_text_type(cells.type_of(chunk.column(name))):
                        column.look(cells.trimmed(chunk.column(name), missing=self.file.missing), self.file)
            self._whole = {
                name: (column.evidence.style(self.file.may_have_commas, self.file.has_commas), column.only_booleans)
                for name, column in seen.items()
            }
        return self._whole


class _TextColumn:
    """What is known of a column after some chunks."""

    def __init__(self) -> None:
        self.evidence = cells.Evidence()
        self._has_booleans, self._has_others = False, False

    def look(self, text: Any, file: TableFile) -> None:
        inner = cells.without(text, cells.MISSING_NUMBER)
        self.evidence = self.evidence.joined(cells.evidence_of(units.bare(inner)[0], file.may_have_commas))
        self._has_booleans = self._has_booleans or cells.are_booleans(inner)
        self._has_others = self._has_others or not _may_be_booleans(inner)

    @property
    def only_booleans(self) -> bool:
        """Whether every value is true or false."""
        return self._has_booleans and not self._has_others


def _may_be_booleans(text: Any) -> bool:
    """Whether no value is anything but true or false."""
    return text.null_count == len(text) or cells.are_booleans(text)


def _needs(model: SMaLLModel, file: TableFile) -> list[_Need]:
    column = _columns(model, file)
    lacking = [term.label for term in model.features if column[term.feature] is None]
    if lacking:
        file.refuse_names(lacking, "the model")
    needs = []
    for feature in model.features:
        kind, complete, categories = kind_of(model, feature)
        needs.append(_Need(feature.label, str(column[feature.feature]), kind, complete, categories))
    return needs


def kind_of(model: SMaLLModel, feature: Term) -> tuple[Kind, bool, tuple[str, ...]]:
    """What a model reads from a feature: see `_Need` for kind, complete and categories."""
    terms = [term for term in model.terms if term.feature == feature.feature]
    categories = [term.value for term in terms if term.kind == "equals"]
    is_number = any(term.kind in ("raw", "at_most", "above") for term in terms)
    is_number = is_number or any(extent.feature == feature.feature for extent in model.ranges)
    kind = "numbers" if is_number else _kind_of(categories)
    complete = any(term.kind == "raw" and term.mean is None for term in terms)
    return kind, complete, tuple(value for value in categories if isinstance(value, str))


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
