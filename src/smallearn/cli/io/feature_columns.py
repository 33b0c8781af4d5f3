"""Columns to learn from: of which type each is, and which are ignored because they cannot help.

A `FeatureReader` looks at the columns, in one chunk or in many, then decides how each is read, and then converts them.
Parts of a typed table can be looked at apart, each by a reader of its own; `FeatureReader.add` adds up what they saw.
"""

import re
import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from smallearn._learn.data.encoding import MOST_CATEGORIES
from smallearn._text import count, show
from smallearn.cli.console import Console
from smallearn.cli.io import cells
from smallearn.cli.io.tables import TableFile

FEW_ROWS = 10  # in so few, consecutive numbers may be chance
MANY_ROWS = 1_000_000  # of later chunks it is not asked whether numbers differ from those in other chunks
MOST_NAMED = 10  # texts of a column that differ only in case
ID_NAME = re.compile(
    r"(?i:(row ?|case ?|record ?|sample ?)?(id|ids|idx|index|nr|no|num|number|key|uuid|guid|rowid|#))"
    r"|.*[ _.-](?i:id|idx|index|nr|no|number|key)|(?i:id|nr|index)[ _.-].*|.*[a-z](Id|ID|Nr|No)"
)
ID = "looks like an ID"


@dataclass(frozen=True)
class Reading:
    """How a column is read: as numbers, with grouped thousands or not, as booleans or as text."""

    kind: Literal["numbers", "booleans", "text"]
    grouped: bool = False


@dataclass(frozen=True)
class Ignored:
    """A column that is not used, and why.

    ``may_keep``: ``--keep`` would use it. ``row_numbers``: how it is read, if it only looks like row numbers; it is
    used if there is no other column.
    """

    reason: str
    may_keep: bool = False
    row_numbers: Reading | None = None


class FeatureReader:
    """Reads columns of a file.

    Parameters
    ----------
    file : TableFile
        The file.
    names : sequence of str
        The columns.
    keep : collection of str
        Those that the user wants to use in any case.
    console : Console
        Where notes go.
    """

    def __init__(self, file: TableFile, names: Sequence[str], keep: Iterable[str], console: Console):
        self.file, self.keep, self.console = file, frozenset(keep), console
        self._columns = {name: _Column(name, file, name in self.keep) for name in names}

    def look(self, chunk: Any, rows: np.ndarray) -> None:
        """Look at a chunk; ``rows`` are the numbers of its rows in the file, from 0."""
        for name, column in self._columns.items():
            column.look(chunk.column(name), rows)

    def add(self, later: "FeatureReader") -> None:
        """Add what another reader saw, in the part of a typed table that follows."""
        for name, column in self._columns.items():
            column.add(later._columns[name])

    def decide(self) -> tuple[dict[str, Reading], dict[str, str]]:
        """How each column to learn from is read, and for each ignored one the reason: two dicts by name."""
        decided = {name: self._decide(column) for name, column in self._columns.items()}
        only = _only_row_numbers(decided)
        features, ignored = {}, {}
        for name, found in decided.items():
            if isinstance(found, Reading):
                features[name] = found
            elif name == only and found.row_numbers is not None:
                features[name] = found.row_numbers
                self.console.note(f"Column {show(name)} looks like row numbers, but there is no other: used.")
            else:
                ignored[name] = found.reason
                hint = f"; --keep {shlex.quote(name)} to use it" if found.may_keep else ""
                self.console.note(f"Column {show(name)} {found.reason}: ignored{hint}.")
        return features, ignored

    def _decide(self, column: "_Column") -> Reading | Ignored:
        import pyarrow as pa

        kind, kept = column.kind, column.name in self.keep
        if column.name in self.file.untitled and not kept:
            return Ignored("has no title", may_keep=True)
        if pa.types.is_null(kind):
            return Ignored("is empty")
        if cells.is_number_type(kind):
            reading = Reading("booleans" if pa.types.is_boolean(kind) else "numbers")
            return self._numbers(column.name, column.numbers.plain, reading)
        if cells.is_text_type(kind) or (pa.types.is_temporal(kind) and kept):
            return self._text(column)
        return Ignored("holds dates or times" if pa.types.is_temporal(kind) else f"holds values of type {kind}")

    def _numbers(self, name: str, seen: "_Numbers", reading: Reading) -> Reading | Ignored:
        if seen.n_missing == seen.n_rows:
            return Ignored("is empty")
        if seen.n_missing == 0 and seen.low == seen.high:
            return Ignored("has only one value")
        if reading.kind == "numbers" and name not in self.keep and seen.are_row_numbers(name):
            return Ignored(ID, may_keep=True, row_numbers=reading)
        return reading

    def _text(self, column: "_Column") -> Reading | Ignored:
        name, text, numbers = column.name, column.text, column.numbers
        if self.file.is_text:
            if numbers.are_booleans:
                return self._numbers(name, numbers.plain, Reading("booleans"))
            seen = numbers.best
            if seen.n_bad == 0 and (numbers.n_values > 0 or text.n_missing == text.n_rows):
                if numbers.grouped and numbers.groups is None:
                    self.console.note(f"Column {show(name)}: points group thousands, as the table has decimal commas.")
                return self._numbers(name, seen, Reading("numbers", numbers.grouped))
        if not text.different:
            return Ignored("is empty")
        if len(text.different) == 1 and text.n_missing == 0:
            return Ignored("has only one value")
        if name not in self.keep and text.are_dates:
            return Ignored("holds dates", may_keep=True)
        if name not in self.keep and text.all_differ and text.n_rows > 2:
            return Ignored(self._why_id(column), may_keep=True)
        if len(text.different) > MOST_CATEGORIES:
            return Ignored(f"has more than {MOST_CATEGORIES} different texts")
        self._note_numbers(column)
        note_case(name, text.different, "categories", self.console)
        if text.n_padded:
            have = "have blanks around them; they are" if text.n_padded > 1 else "has blanks around it; it is"
            self.console.note(
                f"{count(text.n_padded, 'cell')} of column {show(name)} {have} read without. A database compares with "
                "the blanks: TRIM the column there."
            )
        return Reading("text")

    def _why_id(self, column: "_Column") -> str:
        bad = column.numbers.plain.first_bad
        like_numbers = column.text.n_like_numbers > 0.5 * (column.text.n_rows - column.text.n_missing)
        if not (self.file.is_text and like_numbers and bad is not None):
            return ID
        return f"looks like numbers, but {self._quoted(*bad)} cannot be read as one"

    def _quoted(self, row: int, cell: str) -> str:
        """A cell and its place. The place is looked up in the file, which only a note to the user is worth."""
        place = "" if self.console.quiet else f" in {self.file.place(row)}"
        return f"{show(cell)}{place}"

    def _note_numbers(self, column: "_Column") -> None:
        """A note on text that is mostly numbers: the other cells may mean a missing value."""
        plain = column.numbers.plain
        share = 1.0 - plain.n_bad / max(1, column.numbers.n_values)
        if self.file.is_text and share > 0.5 and plain.first_bad is not None:
            self.console.note(
                f"Column {show(column.name)} is read as text: {share:.0%} of its values are numbers, but "
                f"{self._quoted(*plain.first_bad)} is not. If it means a missing value, use --missing TEXT."
            )

    def convert(self, column: Any, reading: Reading) -> np.ndarray:
        """A column, or a chunk of it: numbers as float64, NaN where one is missing; others as objects, with None."""
        if cells.is_number_type(cells.type_of(column)):
            values = self.file.without_missing(cells.numbers_in(column))
            return cells.booleans_in(values) if reading.kind == "booleans" else values
        text = cells.trimmed(column, missing=self.file.missing)
        if reading.kind == "text":
            return cells.objects_of(text)
        inner = cells.without(text, cells.MISSING_NUMBER)
        if reading.kind == "booleans":
            return cells.booleans_of(inner)
        return self.file.without_missing(cells.numbers_of(inner, self.file.may_have_commas, reading.grouped)[0])


def numbers_like_training(file: TableFile, text: Any) -> np.ndarray:
    """Trimmed text of a whole column as numbers, with grouped thousands if every cell can be read so; else NaN."""
    inner = cells.without(text, cells.MISSING_NUMBER)
    seen = _TextNumbers(file)
    seen.look(inner, np.arange(len(inner)))
    return file.without_missing(cells.numbers_of(inner, file.may_have_commas, seen.grouped)[0])


def note_case(column: str, values: Iterable[str], kind: str, console: Console) -> None:
    """A note on texts that differ only in case: they are likely meant to be one."""
    spellings: dict[str, list[str]] = {}
    for value in sorted(values):
        spellings.setdefault(value.casefold(), []).append(value)
    alike = [group for group in spellings.values() if len(group) > 1]
    for group in alike[:MOST_NAMED]:
        names = f"{', '.join(map(show, group[:-1]))} and {show(group[-1])}"
        console.note(f"{names} in column {show(column)} differ only in case: they are {len(group)} {kind}.")
    if len(alike) > MOST_NAMED:
        console.note(f"So do {len(alike) - MOST_NAMED} more in that column.")


def _only_row_numbers(decided: dict[str, Reading | Ignored]) -> str | None:
    """The one column of row numbers, if there is nothing else to learn from and it is not called an ID."""
    if any(isinstance(found, Reading) for found in decided.values()):
        return None
    names = [name for name, found in decided.items() if isinstance(found, Ignored) and found.row_numbers is not None]
    return names[0] if len(names) == 1 and ID_NAME.fullmatch(names[0]) is None else None


# --- what is known of a column after some chunks ----------------------------------------------------------------------


class _Column:
    """A column, of whichever type."""

    def __init__(self, name: str, file: TableFile, kept: bool):
        self.name, self.file, self._kept = name, file, kept
        self.kind: Any = None
        self.text, self.numbers = _Text(), _TextNumbers(file)

    def look(self, column: Any, rows: np.ndarray) -> None:
        import pyarrow as pa

        self.kind = cells.type_of(column)
        if cells.is_number_type(self.kind):
            values = self.file.without_missing(cells.numbers_in(column))
            if np.isinf(values).any():
                row = int(rows[int(np.isinf(values).argmax())])
                self.file.refuse_cell(row, self.name, "infinity cannot be learned from")
            self.numbers.plain.look(values)
        elif cells.is_text_type(self.kind) or (self._kept and pa.types.is_temporal(self.kind)):
            text = cells.trimmed(column, missing=self.file.missing)
            self.text.look(text, cells.count_padded(column, text))
            if self.file.is_text:
                self.numbers.look(cells.without(text, cells.MISSING_NUMBER), rows)

    def add(self, later: "_Column") -> None:
        self.kind = self.kind if later.kind is None else later.kind
        self.text.add(later.text)
        self.numbers.plain.add(later.numbers.plain)


class _Numbers:
    """Numbers, and cells that are none. The first ``compared`` are kept as long as they may be an ID."""

    def __init__(self, compared: int) -> None:
        self._compared = compared
        self.n_rows = self.n_missing = self.n_bad = 0
        self.low, self.high = np.inf, -np.inf
        self.first_bad: tuple[int, str] | None = None  # row and cell
        self._may_be_ids = True  # whole numbers that have not occurred twice yet
        self._first: list[np.ndarray] = []

    def look(self, values: np.ndarray) -> None:
        missing = np.isnan(values)
        self.n_rows += len(values)
        self.n_missing += int(missing.sum())
        known = values[~missing]
        if len(known):
            self.low, self.high = min(self.low, float(known.min())), max(self.high, float(known.max()))
        self._may_be_ids = self._may_be_ids and self.n_missing == 0 and self.n_bad == 0 and _are_different(values)
        if not self._may_be_ids:
            self._first = []
        elif sum(map(len, self._first)) < self._compared:
            self._first.append(values)

    def add(self, later: "_Numbers") -> None:
        self.n_rows += later.n_rows
        self.n_missing += later.n_missing
        self.low, self.high = min(self.low, later.low), max(self.high, later.high)
        self._may_be_ids = self._may_be_ids and later._may_be_ids
        self._first = self._first + later._first if self._may_be_ids else []

    def note_bad(self, bad: np.ndarray, text: Any, rows: np.ndarray) -> None:
        if self.first_bad is None and bad.any():
            first = int(bad.argmax())
            self.first_bad = int(rows[first]), text[first].as_py()
        self.n_bad += int(bad.sum())

    def are_row_numbers(self, name: str) -> bool:
        """Whether whole numbers, different in every row, are consecutive or have the name of an ID."""
        if self.n_rows < 2 or not self._may_be_ids or not _are_different(np.concatenate(self._first)):
            return False
        consecutive = self.n_rows > FEW_ROWS and self.high - self.low == self.n_rows - 1
        return consecutive or ID_NAME.fullmatch(name) is not None


class _TextNumbers:
    """Numbers that are text: read as they are, and with grouped thousands where signs for that occur."""

    def __init__(self, file: TableFile):
        self.file = file
        compared = MANY_ROWS - file.begin
        self.plain, self._with_groups = _Numbers(compared), _Numbers(compared)
        self.groups: bool | None = None  # whether thousands are grouped; None: the cells leave it open
        self.n_values = 0
        self._has_signs, self._other_text = False, False

    def look(self, text: Any, rows: np.ndarray) -> None:
        comma = self.file.may_have_commas
        n_values = len(text) - text.null_count
        self._other_text = self._other_text or (n_values > 0 and not cells.are_booleans(text))
        self.n_values += n_values
        signs = cells.has_group_signs(text, comma)
        self._has_signs = self._has_signs or signs
        if self.groups is not False:
            answer = cells.groups_thousands(text, comma)
            self.groups = self.groups if answer is None else answer
        values, bad = cells.numbers_of(text, comma)
        self._add(self.plain, values, bad, text, rows)
        if self.groups is not False:
            if signs:
                values, bad = cells.numbers_of(text, comma, grouped=True)
            self._add(self._with_groups, values, bad, text, rows)

    def _add(self, seen: _Numbers, values: np.ndarray, bad: np.ndarray, text: Any, rows: np.ndarray) -> None:
        seen.note_bad(bad, text, rows)
        seen.look(self.file.without_missing(values))

    @property
    def are_booleans(self) -> bool:
        """Whether every value is true or false."""
        return self.n_values > 0 and not self._other_text

    @property
    def grouped(self) -> bool:
        """Whether thousands are grouped, and every cell can be read so."""
        may = self._has_signs and (self.groups is True or (self.groups is None and self.file.has_commas))
        return may and self._with_groups.n_bad == 0

    @property
    def best(self) -> _Numbers:
        """The numbers as they are to be read."""
        return self._with_groups if self.grouped else self.plain


class _Text:
    """Trimmed text."""

    def __init__(self) -> None:
        self.n_rows = self.n_missing = self.n_padded = self.n_like_numbers = 0
        self.different: set[str] = set()  # up to some more than MOST_CATEGORIES
        self.all_differ = True
        self._others_than_dates = False

    def look(self, text: Any, n_padded: int) -> None:
        import pyarrow.compute as pc

        values = text.drop_null()
        self.n_padded += n_padded
        self.n_rows += len(text)
        self.n_missing += text.null_count
        if len(self.different) <= MOST_CATEGORIES:
            self.different |= set(pc.unique(values).to_pylist())
            self.all_differ = len(self.different) == self.n_rows
        elif self.all_differ:
            self.all_differ = pc.count_distinct(values).as_py() == len(text)
        self._others_than_dates = self._others_than_dates or (len(values) > 0 and not cells.are_dates(values))
        if self.all_differ:
            self.n_like_numbers += cells.count_like_numbers(values)

    def add(self, later: "_Text") -> None:
        self.n_rows += later.n_rows
        self.n_missing += later.n_missing
        self.n_padded += later.n_padded
        self.all_differ = self.all_differ and later.all_differ and self.different.isdisjoint(later.different)
        if len(self.different) <= MOST_CATEGORIES:
            self.different |= later.different
        self._others_than_dates = self._others_than_dates or later._others_than_dates

    @property
    def are_dates(self) -> bool:
        """Whether every value is a date."""
        return bool(self.different) and not self._others_than_dates


def _are_different(values: np.ndarray) -> bool:
    """Whether they are whole numbers, all of them different."""
    return bool((values == np.floor(values)).all()) and len(np.unique(values)) == len(values)
