"""Tables to learn from: which columns tell rows apart, of what kind they are, and the classes."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from smallearn._learn.data.encoding import MOST_CATEGORIES
from smallearn._text import count, show
from smallearn.cli.common import CommandError, tell
from smallearn.cli.io import cells
from smallearn.cli.io.sources import Source, open_source
from smallearn.cli.io.tables import is_number, is_text, numbers_in

FEWEST = 5  # rows of a class: with fewer there is none to hold out in every fold
FEW_ROWS = 10  # up to here numbers that follow each other may be chance
ID_NAME = re.compile(
    r"(?i:(row ?|case ?|record ?|sample ?)?(id|ids|idx|index|nr|no|num|number|key|uuid|guid|rowid|#))"
    r"|.*[ _.-](?i:id|idx|index|nr|no|number|key)|(?i:id|nr|index)[ _.-].*|.*[a-z](Id|ID|Nr|No)"
)


@dataclass(frozen=True)
class TrainingTable:
    """Rows to learn from. ``X`` is a pandas table of float64, and of objects in the columns ``text``: categories, or
    booleans. ``y`` are the classes; ``left_out`` the columns that are not in ``X``, each with the reason."""

    X: Any
    y: np.ndarray
    text: list[str]
    left_out: dict[str, str]

    @property
    def most_frequent(self) -> tuple[Any, float]:
        """The class that most rows have, and their share: what a model has to beat."""
        label, number = Counter(self.y.tolist()).most_common(1)[0]
        return label, number / len(self.y)


def read_training(
    path: Path,
    target: str,
    drop: Sequence[str] = (),
    keep: Sequence[str] = (),
    encoding: str = "utf-8",
    missing: Sequence[str] = (),
) -> TrainingTable:
    """Read a table to learn the classes in column ``target`` from the others, without those to ``drop``.

    Numbers are numbers, true and false booleans, other text categories. Left out, and told of: rows without a class or
    of one with fewer than five; dates; columns of one value; and columns that name the rows, unless they are to
    ``keep``: those without a title, text that differs in every row, whole numbers that do and either follow each
    other or have a name like an id. ``missing`` are further texts that mean a missing value.
    """
    source = open_source(path, encoding, missing)
    _check_names(source, target, drop, keep)
    table = source.read([name for name in source.names if name not in drop])
    y, labelled = _classes(source, target, table.column(target))
    rows = np.flatnonzero(labelled)
    table, y = table.drop_columns([target]).take(rows), y[rows]
    if y.dtype.kind in "UO":
        _tell_of_case(target, set(y.tolist()), "classes")
    kept = _frequent(y)
    sorter = _Sorter(source, rows[kept], set(keep))
    sorter.sort(table.take(np.flatnonzero(kept)))
    left_out = {**dict.fromkeys(drop, "as asked"), **sorter.left_out}
    return TrainingTable(sorter.table(), y[kept], sorter.text, left_out)


def read_like(table: TrainingTable, path: Path, rows: np.ndarray, encoding: str, missing: Sequence[str]) -> Any:
    """The rows of a file, by their numbers, with the columns of another table and the types that they have there. What
    cannot be read so is missing: models that do not insist on a column can do without."""
    import pandas as pd

    source = open_source(path, encoding, missing)
    here = source.read([name for name in table.X.columns if name in source.names]).take(rows)
    sorter = _Sorter(source, rows, set())
    found = {name: sorter.like(table.X[name].to_numpy(), name, here.column(name)) for name in here.column_names}
    none = {"f": np.full(len(rows), np.nan), "O": np.full(len(rows), None)}
    columns = {name: found.get(name, none[table.X[name].dtype.kind]) for name in table.X.columns}
    return pd.DataFrame({name: pd.Series(values, dtype=values.dtype) for name, values in columns.items()})


def _check_names(source: Source, target: str, drop: Sequence[str], keep: Sequence[str]) -> None:
    unknown = [name for name in (target, *drop, *keep) if name not in source.names]
    if unknown:
        source.lacks(unknown[:1], "this command")
    needed = [name for name in drop if name == target or name in keep]
    if needed:
        raise CommandError(f"column {show(needed[0])} is to be dropped, but also to be the target or kept")


# --- classes ---------------------------------------------------------------------------------------------------------


def _classes(source: Source, target: str, column: Any) -> tuple[np.ndarray, np.ndarray]:
    """The class of each row as a whole number, boolean or text, and which rows have one."""
    y, present = _labels(source, target, column)
    lacking = int((~present).sum())
    if lacking == len(y):
        raise CommandError(f"{source.shown}: no row has a class in column {show(target)}")
    if lacking:
        tell(f"{count(lacking, 'row')} without a class left out.")
    found = Counter(y[present].tolist())
    rows, some = len(y) - lacking, ", ".join(show(label) for label in list(found)[:3])
    if y.dtype.kind == "f" or len(found) > 100 or (len(found) > 20 and len(found) > rows / 10):
        raise CommandError(
            f"column {show(target)} has {len(found)} different values in {count(rows, 'row')} ({some}, …): a quantity "
            "or a name, not a class. Cut it into a few classes, such as low and high, or choose another --target"
        )
    if len(found) < 2:
        raise CommandError(f"column {show(target)} has one class only, {some}: there is nothing to tell apart")
    return y, present


def _labels(source: Source, target: str, column: Any) -> tuple[np.ndarray, np.ndarray]:
    """Labels of the plainest type that holds them all, floats only if some are not whole; as text, if that would write
    them otherwise than the table does (TRUE, 01)."""
    import pyarrow as pa

    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    if pa.types.is_boolean(kind):
        values = numbers_in(column)
        return values == 1.0, ~np.isnan(values)
    if is_number(kind):
        return _plainest(source.without_missing(numbers_in(column)))
    if not is_text(kind):
        raise CommandError(f"column {show(target)} holds values of type {kind}, which are no classes")
    text = cells.trimmed(column, missing=source.missing)
    if source.is_text and cells.are_truths(text):
        values = cells.truths_of(text)
        if not _spelled_otherwise(text, values):
            return values == True, values != None  # noqa: E711, E712  # element by element
    numbers, bad = cells.numbers_of(text, source.comma)
    if source.is_text and not bad.any() and text.null_count < len(text):
        values, present = _plainest(source.without_missing(numbers))
        if values.dtype.kind == "f" or not _spelled_otherwise(text, values):
            return values, present
    objects = cells.objects_of(text)
    present = np.array([value is not None for value in objects])
    return np.array([value or "" for value in objects]), present


def _spelled_otherwise(text: Any, values: np.ndarray) -> bool:
    """Whether each value has one spelling in the table, and some another than Python's; 1.0 may be 1."""
    pairs = {(word, value) for word, value in zip(text.to_pylist(), values.tolist(), strict=True) if word is not None}
    one_each = len(pairs) == len({value for _, value in pairs})
    return one_each and any(re.sub(r"[.,]0*$", "", word) != str(value) for word, value in pairs)


def _plainest(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    present = ~np.isnan(values)
    known = values[present]
    if len(known) == 0 or not (np.abs(known) < 2**53).all() or not (known == np.floor(known)).all():
        return values, present
    return np.where(present, values, 0.0).astype(np.int64), present


def _frequent(y: np.ndarray) -> np.ndarray:
    """Which rows are of a class that has enough of them; a word on the others."""
    found = Counter(y.tolist())
    rare = {label: number for label, number in found.items() if number < FEWEST}
    if len(found) - len(rare) < 2:
        each = ", ".join(f"{show(label)} {number}" for label, number in found.items())
        raise CommandError(f"two classes need {FEWEST} rows each at least, to hold some out; there are: {each}")
    for label, number in rare.items():
        tell(f"Class {show(label)} has {count(number, 'row')}, too few to hold any out: left out.")
    return np.array([label not in rare for label in y.tolist()])


# --- columns ---------------------------------------------------------------------------------------------------------


@dataclass
class _Sorter:
    """Columns to learn from and columns left out. ``rows`` are the numbers in the file of the rows looked at."""

    source: Source
    rows: np.ndarray
    keep: set[str]
    columns: dict[str, np.ndarray] = field(default_factory=dict)
    text: list[str] = field(default_factory=list)
    left_out: dict[str, str] = field(default_factory=dict)
    running: dict[str, np.ndarray] = field(default_factory=dict)

    def sort(self, table: Any) -> None:
        """Every column to its place; running numbers are kept if there is nothing else."""
        for name in table.column_names:
            self._place(name, table.column(name))
        only = not self.columns and len(self.running) == 1
        for name, values in self.running.items():
            if only and ID_NAME.fullmatch(name) is None:
                self.columns[name] = values
                tell(f"Column {show(name)} looks like running numbers, but is the only one to learn from: kept.")
            else:
                self._leave(name, "names the rows", name)

    def table(self) -> Any:
        """The columns to learn from."""
        import pandas as pd

        if not self.columns:
            raise CommandError("no column is left to learn from")
        return pd.DataFrame({name: pd.Series(values, dtype=values.dtype) for name, values in self.columns.items()})

    def like(self, model: np.ndarray, name: str, column: Any) -> np.ndarray:
        """A column of the type of other values."""
        import pyarrow as pa

        kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
        text = cells.trimmed(column, missing=self.source.missing)
        truths = model.dtype.kind == "O" and any(isinstance(value, bool) for value in model)
        if model.dtype.kind == "O" and not truths:
            return cells.objects_of(text)
        if is_number(kind):
            values = self.source.without_missing(numbers_in(column))
        else:
            values = self.source.without_missing(self._numbers(name, cells.without(text, cells.NO_NUMBER))[0])
        return cells.truths_in(values) if truths else np.where(np.isinf(values), np.nan, values)

    def _place(self, name: str, column: Any) -> None:
        import pyarrow as pa

        kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
        if name in self.source.unnamed and name not in self.keep:
            self._leave(name, "has no title", name)
        elif pa.types.is_null(kind):
            self._leave(name, "is empty")
        elif is_number(kind):
            values = self.source.without_missing(numbers_in(column))
            if np.isinf(values).any():
                row = int(self.rows[int(np.isinf(values).argmax())])
                self.source.refuse(row, name, "infinity is no number to learn from")
            truths = pa.types.is_boolean(kind)
            self._number(name, cells.truths_in(values) if truths else values)
        elif is_text(kind) or (pa.types.is_temporal(kind) and name in self.keep):
            self._text(name, cells.trimmed(column, missing=self.source.missing))
        else:
            what = "holds dates or times" if pa.types.is_temporal(kind) else f"holds values of type {kind}"
            self._leave(name, what)

    def _number(self, name: str, values: np.ndarray) -> None:
        absent = _absent(values)
        if absent.all():
            self._leave(name, "is empty")
        elif not absent.any() and (values == values[0]).all():
            self._leave(name, "has one value only")
        elif values.dtype.kind == "f" and name not in self.keep and _counts_rows(name, values):
            self.running[name] = values
        else:
            self.columns[name] = values
            if values.dtype.kind == "O":
                self.text.append(name)

    def _text(self, name: str, text: Any) -> None:
        if self.source.is_text:
            inner = cells.without(text, cells.NO_NUMBER)
            if cells.are_truths(inner):
                return self._number(name, cells.truths_of(inner))
            numbers, bad = self._numbers(name, inner)
            if not bad.any() and (inner.null_count < len(inner) or text.null_count == len(text)):
                return self._number(name, self.source.without_missing(numbers))
        values = cells.objects_of(text)
        different = set(values.tolist()) - {None}
        if not different:
            self._leave(name, "is empty")
        elif len(different) == 1 and text.null_count == 0:
            self._leave(name, "has one value only")
        elif name not in self.keep and cells.are_dates(text):
            self._leave(name, "holds dates", name)
        elif name not in self.keep and len(different) == len(values) > 2:
            self._leave(name, self._why_names(text), name)
        elif len(different) > MOST_CATEGORIES:
            self._leave(name, f"has {len(different)} different texts")
        else:
            self.columns[name] = values
            self.text.append(name)
            self._tell_of_numbers(name, text)
            _tell_of_case(name, different, "categories")
        return None

    def _why_names(self, text: Any) -> str:
        if not (self.source.is_text and cells.look_like_numbers(text)):
            return "names the rows"
        row = int(cells.numbers_of(text, self.source.comma)[1].argmax())
        place = self.source.place(int(self.rows[row]))
        return f"looks like numbers, but {show(text[row].as_py())} in {place} cannot be read as one"

    def _numbers(self, name: str, text: Any) -> tuple[np.ndarray, np.ndarray]:
        """See `cells.numbers_of`: with thousands set off, if every cell can be read so."""
        comma = self.source.comma
        grouped = cells.are_grouped(text, comma) if cells.have_groups(text, comma) else False
        if grouped or (grouped is None and self.source.has_commas):
            numbers, bad = cells.numbers_of(text, comma, grouped=True)
            if not bad.any():
                if grouped is None:
                    tell(f"Column {show(name)}: points set off thousands, for the table has decimal commas.")
                return numbers, bad
        return cells.numbers_of(text, comma)

    def _tell_of_numbers(self, name: str, text: Any) -> None:
        """A word on text of which most is numbers: likely something else was meant."""
        if not self.source.is_text:
            return
        inner = cells.without(text, cells.NO_NUMBER)
        bad = self._numbers(name, inner)[1]
        share = 1.0 - bad.sum() / max(1, len(inner) - inner.null_count)
        if share > 0.5:
            row = int(bad.argmax())
            odd, place = show(text[row].as_py()), self.source.place(int(self.rows[row]))
            tell(
                f"Column {show(name)} is text, for {odd} in {place} is no number; {share:.0%} of its values are. "
                "--missing TEXT if that means no value."
            )

    def _leave(self, name: str, why: str, keep: str | None = None) -> None:
        import shlex

        self.left_out[name] = why
        hint = "" if keep is None else f"; --keep {shlex.quote(keep)} to keep it"
        tell(f"Column {show(name)} {why}: left out{hint}.")


def _tell_of_case(column: str, values: set[Any], what: str) -> None:
    """A word on texts that differ only in case: likely one thing was meant."""
    same: dict[str, list[str]] = {}
    for value in sorted(values):
        same.setdefault(value.casefold(), []).append(value)
    alike = [group for group in same.values() if len(group) > 1]
    for group in alike[:3]:
        words = f"{', '.join(map(show, group[:-1]))} and {show(group[-1])}"
        tell(f"{words} in column {show(column)} differ only in case: they are {len(group)} {what}.")
    if len(alike) > 3:
        tell(f"So do {len(alike) - 3} more in that column.")


def _counts_rows(name: str, values: np.ndarray) -> bool:
    """Whether whole numbers, different in every row, follow each other or are called like an id."""
    if len(values) < 2 or np.isnan(values).any() or (values != np.floor(values)).any():
        return False
    if len(np.unique(values)) < len(values):
        return False
    follow = len(values) > FEW_ROWS and values.max() - values.min() == len(values) - 1
    return bool(follow) or ID_NAME.fullmatch(name) is not None


def _absent(values: np.ndarray) -> np.ndarray:
    if values.dtype.kind == "f":
        return np.isnan(values)
    return np.array([value is None for value in values.tolist()])
