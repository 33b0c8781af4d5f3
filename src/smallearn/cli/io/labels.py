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
from smallearn.cli.io.class_names import ClassNames
from smallearn.cli.io.feature_columns import note_case
from smallearn.cli.io.held_out import Split, held_out_of
from smallearn.cli.io.rules import FEWEST_ROWS, TrainingRules
from smallearn.cli.io.tables import TableFile
from smallearn.model import HeldOut

MANY_CLASSES, SOME_CLASSES = 50, 20  # more are a quantity or a name; some are, if they are a tenth of the rows
MANY_NUMBERS = 15  # more whole numbers are a measurement
MANY_VALUES = 1_000_000  # so many are not even counted


# --- the classes of a model ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ModelLabels:
    """The class of each row, by its position in the model's classes, and which rows have no class that it knows.

    ``code`` is 0 for these; ``unknown`` are the different labels that the model does not know.
    """

    code: np.ndarray
    is_missing: np.ndarray
    is_unknown: np.ndarray
    unknown: list[Any]

    @property
    def is_known(self) -> np.ndarray:
        """Which rows have a class of the model."""
        return ~(self.is_missing | self.is_unknown)


class LabelTally:
    """What is known of the labels of all rows, after some chunks."""

    def __init__(self) -> None:
        self.n_rows, self.n_missing, self.n_unknown = 0, 0, 0
        self.first_unknown: int | None = None
        self.unknown: dict[Any, None] = {}

    def add(self, labels: ModelLabels) -> None:
        """Add those of the next chunk."""
        rows = np.flatnonzero(labels.is_unknown)
        if len(rows) and self.first_unknown is None:
            self.first_unknown = self.n_rows + int(rows[0])
        self.n_rows += len(labels.code)
        self.n_missing += int(labels.is_missing.sum())
        self.n_unknown += len(rows)
        if len(self.unknown) < MANY_CLASSES:  # a few of them are shown
            self.unknown |= dict.fromkeys(labels.unknown)

    @property
    def only_missing(self) -> bool:
        """Whether no row has a label so far."""
        return self.n_missing == self.n_rows


def model_labels(
    file: TableFile, column: Any, classes: tuple[Any, ...], names: ClassNames | None = None
) -> ModelLabels:
    """Read a column, or a chunk of it, as classes of a model; ``names`` are those that classes have there."""
    names = names or ClassNames()
    encoded = _encoded(column)
    values = encoded.dictionary.to_pylist()
    # One entry for each different value, and one for null.
    missing = np.array([*(_is_missing(value, classes, file.missing) for value in values), True])
    position = [
        None if gone else _named_position(value, classes, names) for value, gone in zip(values, missing, strict=False)
    ]
    unknown = np.array([*(at is None for at in position), False]) & ~missing
    index = encoded.indices.fill_null(len(values)).to_numpy(zero_copy_only=False)
    different, first = np.unique(index[unknown[index]], return_index=True)
    return ModelLabels(
        code=np.array([*(at or 0 for at in position), 0], dtype=np.int32)[index],
        is_missing=missing[index],
        is_unknown=unknown[index],
        unknown=[values[at] for at in different[np.argsort(first)]],
    )


def check_known(tally: LabelTally, file: TableFile, target: str, classes: tuple[Any, ...], console: Console) -> None:
    """A note or an error about the rows that have no class that the model knows."""
    some = tally.n_missing + tally.n_unknown < tally.n_rows
    if tally.first_unknown is not None:
        if not some:
            reason = f"class {show(next(iter(tally.unknown)))} is not a class of the model ({listed(classes)})"
            file.refuse_cell(tally.first_unknown, target, reason)
        others = sorted({show(label) for label in tally.unknown})
        which = ", ".join(others[:5]) + (", …" if len(others) > 5 else "")
        console.note(
            f"{count(tally.n_unknown, 'row')} ignored: the model does not know the class ({which}; first in "
            f"{file.place(tally.first_unknown)})."
        )
    note_missing(tally.n_missing, console)
    if not some:
        raise no_class(file, target)


def _is_missing(value: Any, classes: tuple[Any, ...], missing: tuple[str, ...]) -> bool:
    """Whether a cell has no class: it is empty or means a missing value, and is not itself a class of the model."""
    if value is None or value != value:
        return True
    text = str(value).strip()
    return text in missing or (text in cells.MISSING and _position(value, classes) is None)


def _named_position(value: Any, classes: tuple[Any, ...], names: ClassNames) -> int | None:
    """The position of the class that a cell names, by another name or by its own."""
    name = names.name_of(value)
    return _position(value if name is None else name, classes)


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


class LabelReader:
    """Reads the labels to train on: whole numbers, booleans or text.

    It looks at the column, in one chunk or in many, then decides what its different values mean, and then converts it.
    """

    def __init__(self, file: TableFile, target: str, console: Console, rules: TrainingRules | None = None):
        self.file, self.target, self.console = file, target, console
        self._rules = rules or TrainingRules()
        self._counts: Counter[Any] = Counter()  # of values as they stand in the file
        self._code: dict[Any, int] = {}  # the position of each such value in `classes`
        self.class_counts: tuple[int, ...] = ()  # the number of rows of each class, once they are decided
        self.held_out: HeldOut | None = None  # how many of them are held out from training, then as well
        self._kind: Any = None

    def look(self, column: Any) -> None:
        """Look at the column, or at a chunk of it."""
        encoded = _encoded(column)
        self._kind = encoded.dictionary.type
        values, n = _values_of(encoded), len(encoded.dictionary) + 1
        index = encoded.indices.fill_null(n - 1).to_numpy(zero_copy_only=False)
        for value, number in zip(values, np.bincount(index, minlength=n).tolist(), strict=True):
            if number:
                self._counts[value] += number
        self._check_number()

    def add(self, later: "LabelReader") -> None:
        """Add what another reader saw, in the part of the table that follows."""
        self._counts.update(later._counts)
        self._kind = self._kind if later._kind is None else later._kind
        self._check_number()

    def _check_number(self) -> None:
        if len(self._counts) > MANY_VALUES:
            some = ", ".join(show(value) for value in list(self._counts)[:3])
            first = f"its first {count(self._counts.total(), 'row')}"
            raise self._no_classes(f"more than {MANY_VALUES} different values in {first}", some)

    def decide(self) -> np.ndarray:
        """The classes to learn; notes and errors about the others, and about rows without a class."""
        import pyarrow as pa

        values = list(self._counts)
        labels, present = _read_labels(self.file, self.target, pa.array(values, self._kind))
        labels = self._named(labels, present)
        counts: Counter[Any] = Counter()
        for value, label, there in zip(values, labels.tolist(), present.tolist(), strict=True):
            if there:
                counts[label] += self._counts[value]
        n_rows = counts.total()
        if n_rows == 0:
            raise no_class(self.file, self.target)
        note_missing(self._counts.total() - n_rows, self.console)
        some = ", ".join(show(label) for label in list(counts)[:3])
        if labels.dtype.kind == "f" or self._look_like_no_classes(labels, len(counts), n_rows):
            whole = labels.dtype.kind != "f"
            raise self._no_classes(f"{len(counts)} different values in {count(n_rows, 'row')}", some, may_insist=whole)
        if len(counts) < 2:
            raise CommandError(f"column {show(self.target)} has only one class, {some}: there is nothing to learn")
        if labels.dtype.kind == "U":
            note_case(self.target, counts, "classes", self.console)
        classes = self._frequent(counts)
        self.class_counts = tuple(counts[label] for label in classes)
        if self._rules.share is not None:
            self.held_out = held_out_of(self._rules.share, self.class_counts, classes)
        position = {label: code for code, label in enumerate(classes)}
        pairs = zip(values, labels.tolist(), present.tolist(), strict=True)
        self._code = {value: position[label] for value, label, there in pairs if there and label in position}
        return np.array(classes)

    def _frequent(self, counts: Counter) -> list[Any]:
        """The classes that have enough rows; a note on the others."""
        rare = {label: number for label, number in counts.items() if number < FEWEST_ROWS}
        if len(counts) - len(rare) < 2:
            each = ", ".join(f"{show(label)} {number}" for label, number in counts.items())
            raise CommandError(f"at least two classes need {FEWEST_ROWS} rows, for cross-validation; there are: {each}")
        for label, number in rare.items():
            self.console.note(f"Class {show(label)} has {count(number, 'row')}, too few for cross-validation: ignored.")
        return sorted(label for label in counts if label not in rare)

    def _named(self, labels: np.ndarray, present: np.ndarray) -> np.ndarray:
        """The labels of the different values, with the names that the user gave."""
        if not self._rules.names:
            return labels
        names = self._rules.names.renamed(labels[present].tolist(), self.target)
        named = np.full(len(labels), "", dtype=np.array(names).dtype)
        named[present] = names
        return named

    def _look_like_no_classes(self, labels: np.ndarray, n_classes: int, n_rows: int) -> bool:
        """Whether there are very many classes, or numbers that may be a measurement."""
        if self._rules.many_classes:
            return False
        if labels.dtype.kind in "iu" and n_classes > MANY_NUMBERS:
            return True
        return n_classes > MANY_CLASSES or (n_classes > SOME_CLASSES and n_classes > n_rows / 10)

    def _no_classes(self, many: str, some: str, may_insist: bool = False) -> CommandError:
        numbers = all(_number(value) is not None for value in self._counts if value not in (None, ""))
        example = "..30=low,30..50=middle,50..=high" if numbers else "north=yes,south=yes,east=no"
        insist = "; or add --many-classes to train on each value as a class of its own" if may_insist else ""
        return CommandError(
            f"column {show(self.target)} has {many} ({some}, …): that looks like a measurement or a name, not a class. "
            f"Make a few classes of it, such as --labels {example}; or choose another --target{insist}"
        )

    def split(self) -> Split | None:
        """What tells, in one pass over the rows, which are held out; None if none are."""
        return None if self.held_out is None else Split(self.held_out, self.class_counts)

    def codes(self, column: Any) -> np.ndarray:
        """The position of each row's class; -1 where there is none to learn."""
        encoded = _encoded(column)
        table = np.array([self._code.get(value, -1) for value in _values_of(encoded)])
        return table[encoded.indices.fill_null(len(table) - 1).to_numpy(zero_copy_only=False)]


def _encoded(column: Any) -> Any:
    """A column as one array of positions in its different values."""
    import pyarrow as pa

    column = cells.one_array(column)
    return column if pa.types.is_dictionary(column.type) else column.dictionary_encode()


def _values_of(encoded: Any) -> list[Any]:
    """The different values, None for those that are no number, and None for rows that have none."""
    return [*(None if value != value else value for value in encoded.dictionary.to_pylist()), None]


def note_missing(n_rows: int, console: Console) -> None:
    """Tell the user that rows without a class are ignored."""
    if n_rows:
        console.note(f"{count(n_rows, 'row')} without a class ignored.")


def no_class(file: TableFile, target: str) -> CommandError:
    """The error that no row has a class."""
    return CommandError(f"{file.shown}: no row has a class in column {show(target)}")


def _read_labels(file: TableFile, target: str, column: Any) -> tuple[np.ndarray, np.ndarray]:
    """Labels of the simplest type that holds them all; text if another type would change their spelling (TRUE, 01).

    They are floats only if some are not whole numbers, which `LabelReader` refuses.
    """
    import pyarrow as pa

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
    numbers, bad = cells.numbers_of(text, cells.Style(file.may_have_commas))
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
