"""The column of classes: as the classes of a model, or as the labels to train on."""

import re
from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np

from smallearn._text import count, listed, show
from smallearn.cli.console import Console
from smallearn.cli.errors import CommandError
from smallearn.cli.io import cells
from smallearn.cli.io.tables import Table

MANY_CLASSES, SOME_CLASSES = 100, 20  # more are a quantity or a name; some are, if they are a tenth of the rows


# --- the classes of a model ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ModelLabels:
    """The class of each row, by its position in the model's classes, and which rows have no class that it knows.

    ``code`` is 0 for these; ``unknown`` are the labels that the model does not know, by row.
    """

    code: np.ndarray
    is_missing: np.ndarray
    is_unknown: np.ndarray
    unknown: list[Any]

    @property
    def is_known(self) -> np.ndarray:
        """Which rows have a class of the model."""
        return ~(self.is_missing | self.is_unknown)


def model_labels(table: Table, target: str, classes: tuple[Any, ...]) -> ModelLabels:
    """Read the column ``target`` as classes of a model."""
    import pyarrow as pa

    column = cells.one_array(table.columns.column(target))
    encoded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    values = encoded.dictionary.to_pylist()
    # One entry for each different value, and one for null.
    missing = np.array([*(_is_missing(value, classes, table.file.missing) for value in values), True])
    position = [None if gone else _position(value, classes) for value, gone in zip(values, missing, strict=False)]
    unknown = np.array([*(at is None for at in position), False]) & ~missing
    index = encoded.indices.fill_null(len(values)).to_numpy(zero_copy_only=False)
    return ModelLabels(
        code=np.array([*(at or 0 for at in position), 0])[index],
        is_missing=missing[index],
        is_unknown=unknown[index],
        unknown=[values[at] for at in index[unknown[index]]],
    )


def keep_known(
    labels: ModelLabels, table: Table, target: str, classes: tuple[Any, ...], console: Console
) -> np.ndarray:
    """Which rows have a class that the model knows; a note or an error about the others."""
    file, rows = table.file, np.flatnonzero(labels.is_unknown)
    some = bool(labels.is_known.any())
    if len(rows):
        if not some:
            reason = f"class {show(labels.unknown[0])} is not a class of the model ({listed(classes)})"
            file.refuse_cell(int(rows[0]), target, reason)
        others = sorted({show(label) for label in labels.unknown})
        which = ", ".join(others[:5]) + (", …" if len(others) > 5 else "")
        console.note(
            f"{count(len(rows), 'row')} ignored: the model does not know the class ({which}; first in "
            f"{file.place(int(rows[0]))})."
        )
    note_missing(int(labels.is_missing.sum()), console)
    if not some:
        raise _no_class(table, target)
    return labels.is_known


def _is_missing(value: Any, classes: tuple[Any, ...], missing: tuple[str, ...]) -> bool:
    """Whether a cell has no class: it is empty or means a missing value, and is not itself a class of the model."""
    if value is None or value != value:
        return True
    text = str(value).strip()
    return text in missing or (text in cells.MISSING and _position(value, classes) is None)


def _position(value: Any, classes: tuple[Any, ...]) -> int | None:
    """The position of the class that a cell names: as it stands, without spaces, or by its value as a number."""
    text = str(value)
    for spelling in (text, text.strip()):
        for position, label in enumerate(classes):
            if isinstance(label, str) and label == spelling:
                return position
    number = _number(value)
    for position, label in enumerate(classes):
        if number is not None and number == _number(label):
            return position
    return None


def _number(value: Any) -> float | int | None:
    """The number that a class stands for; true and false are 1 and 0."""
    if not isinstance(value, str):
        return value
    word = value.strip().lower()
    if word in cells.BOOLEANS:
        return cells.BOOLEANS[word]
    for kind in (int, float):
        try:
            return kind(word)
        except ValueError:
            pass
    return None


# --- labels to train on ----------------------------------------------------------------------------------------------


def training_labels(table: Table, target: str, console: Console) -> tuple[np.ndarray, np.ndarray]:
    """The label of each row, as whole number, boolean or text, and which rows have one."""
    y, present = _read_labels(table, target)
    n_missing = int((~present).sum())
    if n_missing == len(y):
        raise _no_class(table, target)
    note_missing(n_missing, console)
    counts = Counter(y[present].tolist())
    n_rows, some = len(y) - n_missing, ", ".join(show(label) for label in list(counts)[:3])
    many = len(counts) > MANY_CLASSES or (len(counts) > SOME_CLASSES and len(counts) > n_rows / 10)
    if y.dtype.kind == "f" or many:
        raise CommandError(
            f"column {show(target)} has {len(counts)} different values in {count(n_rows, 'row')} ({some}, …): a "
            "quantity or a name, not a class. Cut it into a few classes, such as low and high, or choose another "
            "--target"
        )
    if len(counts) < 2:
        raise CommandError(f"column {show(target)} has only one class, {some}: there is nothing to learn")
    return y, present


def note_missing(n_rows: int, console: Console) -> None:
    """Tell the user that rows without a class are ignored."""
    if n_rows:
        console.note(f"{count(n_rows, 'row')} without a class ignored.")


def _no_class(table: Table, target: str) -> CommandError:
    return CommandError(f"{table.file.shown}: no row has a class in column {show(target)}")


def _read_labels(table: Table, target: str) -> tuple[np.ndarray, np.ndarray]:
    """Labels of the simplest type that holds them all; text if another type would change their spelling (TRUE, 01).

    They are floats only if some are not whole numbers, which `training_labels` refuses.
    """
    import pyarrow as pa

    file, column = table.file, table.columns.column(target)
    kind = cells.type_of(column)
    if pa.types.is_boolean(kind):
        values = cells.numbers_in(column)
        return values == 1.0, ~np.isnan(values)
    if cells.is_number_type(kind):
        return _whole_if_possible(file.without_missing(cells.numbers_in(column)))
    if not cells.is_text_type(kind):
        raise CommandError(f"column {show(target)} holds values of type {kind}, which cannot be classes")
    text = cells.trimmed(column, missing=file.missing)
    if file.is_text and cells.are_booleans(text):
        values = cells.booleans_of(text)
        if not _changes_spelling(text, values):
            return values == True, values != None  # noqa: E711, E712  # element by element
    numbers, bad = cells.numbers_of(text, file.may_have_commas)
    if file.is_text and not bad.any() and text.null_count < len(text):
        values, present = _whole_if_possible(file.without_missing(numbers))
        if values.dtype.kind == "f" or not _changes_spelling(text, values):
            return values, present
    objects = cells.objects_of(text)
    present = np.array([value is not None for value in objects])
    return np.array([value or "" for value in objects]), present


def _changes_spelling(text: Any, values: np.ndarray) -> bool:
    """Whether each value has one spelling in the table, and some differ from Python's; 1.0 may be 1."""
    pairs = {(cell, value) for cell, value in zip(text.to_pylist(), values.tolist(), strict=True) if cell is not None}
    one_each = len(pairs) == len({value for _, value in pairs})
    return one_each and any(re.sub(r"[.,]0*$", "", cell) != str(value) for cell, value in pairs)


def _whole_if_possible(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Numbers as whole numbers if all are, and which are not missing."""
    present = ~np.isnan(values)
    known = values[present]
    if len(known) == 0 or not (np.abs(known) < 2**53).all() or not (known == np.floor(known)).all():
        return values, present
    return np.where(present, values, 0.0).astype(np.int64), present
