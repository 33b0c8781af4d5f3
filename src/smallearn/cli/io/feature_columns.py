"""Columns to learn from: of which type each is, and which are ignored because they cannot help."""

import re
import shlex
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from smallearn._learn.data.encoding import MOST_CATEGORIES
from smallearn._text import show
from smallearn.cli.console import Console
from smallearn.cli.io import cells
from smallearn.cli.io.tables import TableFile

FEW_ROWS = 10  # in so few, consecutive numbers may be chance
ID_NAME = re.compile(
    r"(?i:(row ?|case ?|record ?|sample ?)?(id|ids|idx|index|nr|no|num|number|key|uuid|guid|rowid|#))"
    r"|.*[ _.-](?i:id|idx|index|nr|no|number|key)|(?i:id|nr|index)[ _.-].*|.*[a-z](Id|ID|Nr|No)"
)
ID = "looks like an ID"


@dataclass(frozen=True)
class Ignored:
    """A column that is not used, and why.

    ``may_keep``: ``--keep`` would use it. ``row_numbers``: its values, if they only look like row numbers; they are
    used if there is no other column.
    """

    reason: str
    may_keep: bool = False
    row_numbers: np.ndarray | None = None


@dataclass(frozen=True)
class FeatureReader:
    """Reads columns of a file. ``rows`` are the numbers in the file of the rows looked at, from 0; ``keep`` the columns
    that the user wants to use in any case."""

    file: TableFile
    rows: np.ndarray
    keep: frozenset[str]
    console: Console

    def read_all(self, columns: Any) -> tuple[dict[str, np.ndarray], dict[str, str]]:
        """The columns to learn from, and for each ignored one the reason: two dicts by name."""
        read = {name: self._read(name, columns.column(name)) for name in columns.column_names}
        only = self._only_row_numbers(read)
        features, ignored = {}, {}
        for name, column in read.items():
            if isinstance(column, np.ndarray):
                features[name] = column
            elif name == only and column.row_numbers is not None:
                features[name] = column.row_numbers
                self.console.note(f"Column {show(name)} looks like row numbers, but there is no other: used.")
            else:
                ignored[name] = column.reason
                hint = f"; --keep {shlex.quote(name)} to use it" if column.may_keep else ""
                self.console.note(f"Column {show(name)} {column.reason}: ignored{hint}.")
        return features, ignored

    def _only_row_numbers(self, read: dict[str, np.ndarray | Ignored]) -> str | None:
        """The one column of row numbers, if there is nothing else to learn from and it is not called an ID."""
        if any(isinstance(column, np.ndarray) for column in read.values()):
            return None
        names = [
            name for name, column in read.items() if isinstance(column, Ignored) and column.row_numbers is not None
        ]
        return names[0] if len(names) == 1 and ID_NAME.fullmatch(names[0]) is None else None

    def _read(self, name: str, column: Any) -> np.ndarray | Ignored:
        import pyarrow as pa

        kind = cells.type_of(column)
        if name in self.file.untitled and name not in self.keep:
            return Ignored("has no title", may_keep=True)
        if pa.types.is_null(kind):
            return Ignored("is empty")
        if cells.is_number_type(kind):
            values = self.file.without_missing(cells.numbers_in(column))
            if np.isinf(values).any():
                row = int(self.rows[int(np.isinf(values).argmax())])
                self.file.refuse_cell(row, name, "infinity cannot be learned from")
            return self._numbers(name, cells.booleans_in(values) if pa.types.is_boolean(kind) else values)
        if cells.is_text_type(kind) or (pa.types.is_temporal(kind) and name in self.keep):
            return self._text(name, cells.trimmed(column, missing=self.file.missing))
        return Ignored("holds dates or times" if pa.types.is_temporal(kind) else f"holds values of type {kind}")

    def _numbers(self, name: str, values: np.ndarray) -> np.ndarray | Ignored:
        missing = _missing(values)
        if missing.all():
            return Ignored("is empty")
        if not missing.any() and (values == values[0]).all():
            return Ignored("has only one value")
        if values.dtype.kind == "f" and name not in self.keep and _are_row_numbers(name, values):
            return Ignored(ID, may_keep=True, row_numbers=values)
        return values

    def _text(self, name: str, text: Any) -> np.ndarray | Ignored:
        if self.file.is_text:
            inner = cells.without(text, cells.MISSING_NUMBER)
            if cells.are_booleans(inner):
                return self._numbers(name, cells.booleans_of(inner))
            numbers, bad = self.numbers_of(name, inner)
            if not bad.any() and (inner.null_count < len(inner) or text.null_count == len(text)):
                return self._numbers(name, self.file.without_missing(numbers))
        values = cells.objects_of(text)
        different = set(values.tolist()) - {None}
        if not different:
            return Ignored("is empty")
        if len(different) == 1 and text.null_count == 0:
            return Ignored("has only one value")
        if name not in self.keep and cells.are_dates(text):
            return Ignored("holds dates", may_keep=True)
        if name not in self.keep and len(different) == len(values) > 2:
            return Ignored(self._why_id(text), may_keep=True)
        if len(different) > MOST_CATEGORIES:
            return Ignored(f"has {len(different)} different texts")
        self._note_numbers(name, text)
        note_case(name, different, "categories", self.console)
        return values

    def _why_id(self, text: Any) -> str:
        if not (self.file.is_text and cells.look_like_numbers(text)):
            return ID
        row = int(cells.numbers_of(text, self.file.may_have_commas)[1].argmax())
        return f"looks like numbers, but {self._quoted(text, row)} cannot be read as one"

    def _quoted(self, text: Any, row: int) -> str:
        """A cell and its place. The place is looked up in the file, which only a note to the user is worth."""
        place = "" if self.console.quiet else f" in {self.file.place(int(self.rows[row]))}"
        return f"{show(text[row].as_py())}{place}"

    def numbers_of(self, name: str, text: Any) -> tuple[np.ndarray, np.ndarray]:
        """As `cells.numbers_of`, with grouped thousands if every cell can be read so."""
        comma = self.file.may_have_commas
        grouped = cells.groups_thousands(text, comma) if cells.has_group_signs(text, comma) else False
        if grouped or (grouped is None and self.file.has_commas):
            numbers, bad = cells.numbers_of(text, comma, grouped=True)
            if not bad.any():
                if grouped is None:
                    self.console.note(f"Column {show(name)}: points group thousands, as the table has decimal commas.")
                return numbers, bad
        return cells.numbers_of(text, comma)

    def _note_numbers(self, name: str, text: Any) -> None:
        """A note on text that is mostly numbers: the other cells may mean a missing value."""
        if not self.file.is_text:
            return
        inner = cells.without(text, cells.MISSING_NUMBER)
        bad = self.numbers_of(name, inner)[1]
        share = 1.0 - bad.sum() / max(1, len(inner) - inner.null_count)
        if share > 0.5:
            cell = self._quoted(text, int(bad.argmax()))
            self.console.note(
                f"Column {show(name)} is read as text: {share:.0%} of its values are numbers, but {cell} is not. If it "
                "means a missing value, use --missing TEXT."
            )


def note_case(column: str, values: Iterable[str], kind: str, console: Console) -> None:
    """A note on texts that differ only in case: they are likely meant to be one."""
    spellings: dict[str, list[str]] = {}
    for value in sorted(values):
        spellings.setdefault(value.casefold(), []).append(value)
    alike = [group for group in spellings.values() if len(group) > 1]
    for group in alike[:3]:
        names = f"{', '.join(map(show, group[:-1]))} and {show(group[-1])}"
        console.note(f"{names} in column {show(column)} differ only in case: they are {len(group)} {kind}.")
    if len(alike) > 3:
        console.note(f"So do {len(alike) - 3} more in that column.")


def _are_row_numbers(name: str, values: np.ndarray) -> bool:
    """Whether whole numbers, different in every row, are consecutive or have the name of an ID."""
    if len(values) < 2 or np.isnan(values).any() or (values != np.floor(values)).any():
        return False
    if len(np.unique(values)) < len(values):
        return False
    consecutive = len(values) > FEW_ROWS and values.max() - values.min() == len(values) - 1
    return bool(consecutive) or ID_NAME.fullmatch(name) is not None


def _missing(values: np.ndarray) -> np.ndarray:
    if values.dtype.kind == "f":
        return np.isnan(values)
    return np.array([value is None for value in values.tolist()])
