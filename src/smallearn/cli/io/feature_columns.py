"""Columns to learn from: of which type each is, and which are ignored because they cannot help.

A `FeatureReader` looks at the columns, in one chunk or in many, then decides how each is read, and then converts them.
Parts of a typed table can be looked at apart, each by a reader of its own; `FeatureReader.add` adds up what they saw.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from smallearn._learn.data.encoding import MOST_CATEGORIES
from smallearn._text import count, exact, joined, show
from smallearn.cli.console import Console
from smallearn.cli.io import cells, missing_texts, special_codes, units
from smallearn.cli.io.column_facts import ID_NAME, Column, Numbers, TextNumbers
from smallearn.cli.io.special_codes import SpecialCodes
from smallearn.cli.io.tables import TableFile

MOST_NAMED = 10  # texts of a column that differ only in case
ID = "looks like an ID"


@dataclass(frozen=True)
class Reading:
    """How a column is read: as numbers, written in some style if they are text, as booleans or as text."""

    kind: Literal["numbers", "booleans", "text"]
    style: cells.Style | None = None


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

    Attributes
    ----------
    may_keep : set of str
        Once it is decided: the ignored columns that can be used if the user wants it.
    missing : dict from str to tuple of str
        Once it is decided: the texts that are read as missing values, by column to learn from, without those that the
        user named.
    """

    def __init__(self, file: TableFile, names: Sequence[str], keep: Iterable[str], console: Console):
        self.file, self.keep, self.console = file, frozenset(keep), console
        self.may_keep: set[str] = set()
        self.missing: dict[str, tuple[str, ...]] = {}
        self._columns = {name: Column(name, file, name in self.keep) for name in names}
        self._with_units: list[tuple[str, str, str]] = []  # columns to tell of, each with a cell and its number
        self._texts_of_numbers: list[tuple[str, str]] = []  # columns, each with a text

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
                self.may_keep |= {name} if found.may_keep else set()
                self.console.note_ignored(name, found.reason, found.may_keep)
        if self._texts_of_numbers:
            self.console.note(_note_texts_of_numbers(self._texts_of_numbers))
        if self._with_units:
            self.console.note(f"{units.reading_note(self._with_units)} Exported code and SQL take the plain number.")
        self._note_codes(features)
        for name, reading in features.items():
            column = self._columns[name]
            texts = column.missing | (column.missing_numbers if reading.kind != "text" else set())
            self.missing |= {name: tuple(sorted(texts))} if texts else {}
        if (text := missing_texts.note_of(self.missing.items())) is not None:
            self.console.note(text)
        return features, ignored

    def _note_codes(self, features: dict[str, Reading]) -> None:
        """A note on numbers that look like codes."""
        numbers = [name for name, reading in features.items() if reading.kind == "numbers"]
        seen: dict[str, SpecialCodes] = {}
        for name in numbers:
            column = self._columns[name]
            seen[name] = (column.numbers.plain if features[name].style is None else column.numbers.best).codes
        for hint in special_codes.hints(seen):
            self.console.note_codes(hint)

    def _decide(self, column: Column) -> Reading | Ignored:
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

    def _numbers(self, name: str, seen: Numbers, reading: Reading) -> Reading | Ignored:
        if seen.n_missing == seen.n_rows:
            return Ignored("is empty")
        if seen.n_missing == 0 and seen.low == seen.high:
            return Ignored("has only one value")
        if reading.kind == "numbers" and name not in self.keep and seen.are_row_numbers(name):
            return Ignored(ID, may_keep=True, row_numbers=reading)
        return reading

    def _text(self, column: Column) -> Reading | Ignored:
        name, text, numbers = column.name, column.text, column.numbers
        if self.file.is_text:
            if numbers.are_booleans:
                return self._numbers(name, numbers.plain, Reading("booleans"))
            self._refuse_infinite(column)
            seen = numbers.best
            if seen.n_bad == 0 and (numbers.n_values > 0 or text.n_missing == text.n_rows):
                if numbers.units.clash is None:
                    reading = Reading("numbers", numbers.style)
                    decided = self._numbers(name, seen, reading)
                    if isinstance(decided, Ignored) and decided.row_numbers and numbers.units.example is not None:
                        decided = reading  # what has a unit is no ID
                    if isinstance(decided, Reading):
                        self._note_style(name, numbers)
                    return decided
                self._note_clash(name, *numbers.units.clash)
        elif self._are_numbers(column):
            self._texts_of_numbers.append((name, min(text.different)))
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

    def _refuse_infinite(self, column: Column) -> None:
        """Raise an error about a number that is too large, which would turn a column of numbers into text."""
        numbers = column.numbers
        if numbers.first_infinite is not None and numbers.n_values > numbers.best.n_bad == numbers.n_infinite:
            row, cell = numbers.first_infinite
            self.file.refuse_cell(
                row,
                column.name,
                f"{show(cell)} is infinite or too large for a number; use --missing={cell} if it means a missing value",
            )

    def _note_style(self, name: str, numbers: TextNumbers) -> None:
        """A note on numbers that are not read as they stand."""
        style, seen = numbers.style, numbers.units
        comma = self.file.may_have_commas
        if style.grouped and style.commas == comma and numbers.evidence.grouped is None:
            self.console.note(f"Column {show(name)}: points group thousands, as the table has decimal commas.")
        elif seen.example is not None:
            row, cell = seen.example
            self._with_units.append((name, self._quoted(row, cell), _read(cell, style)))
        elif style.commas != comma and seen.grouped is not None:
            row, cell = seen.grouped
            self.console.note(
                f"Column {show(name)}: {self._quoted(row, cell)} is read as the number {_read(cell, style)}, as the "
                "column as a whole shows."
            )

    def _note_clash(self, name: str, one: tuple[int, str], other: tuple[int, str]) -> None:
        """A note on numbers in several units."""
        self.console.note(
            f"Column {show(name)} is read as text: its numbers have different units, {self._quoted(*one)} and "
            f"{self._quoted(*other)}. Convert them to one unit."
        )

    def _are_numbers(self, column: Column) -> bool:
        """Whether all texts of a typed table are numbers; asked of those that are kept."""
        import pyarrow as pa

        if not column.text.different:
            return False
        numbers = units.bare(pa.array(sorted(column.text.different), pa.large_string()))[0]
        return any(
            not cells.numbers_of(numbers, cells.Style(commas, grouped))[1].any()
            for commas in (False, True)
            for grouped in (False, True)
        )

    def _why_id(self, column: Column) -> str:
        bad = column.numbers.plain.first_bad
        like_numbers = column.text.n_like_numbers > 0.5 * (column.text.n_rows - column.text.n_missing)
        if not (self.file.is_text and like_numbers and bad is not None):
            return ID
        return f"looks like numbers, but {self._quoted(*bad)} cannot be read as one"

    def _quoted(self, row: int, cell: str) -> str:
        """A cell and its place. The place is looked up in the file, which only a note to the user is worth."""
        place = "" if self.console.quiet else f" in {self.file.place(row)}"
        return f"{show(cell)}{place}"

    def _note_numbers(self, column: Column) -> None:
        """A note on text that is mostly numbers: the other cells may mean a missing value."""
        plain = column.numbers.best
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
        style = reading.style or cells.Style(self.file.may_have_commas)
        return self.file.without_missing(cells.numbers_of(units.bare(inner)[0], style)[0])


def numbers_like_training(file: TableFile, text: Any) -> np.ndarray:
    """Trimmed text of a whole column as numbers, with grouped thousands if every cell can be read so; else NaN."""
    inner = cells.without(text, cells.MISSING_NUMBER)
    seen = TextNumbers(file)
    seen.look(inner, np.arange(len(inner)))
    return file.without_missing(cells.numbers_of(units.bare(inner)[0], seen.style)[0])


def _read(cell: str, style: cells.Style) -> str:
    """A cell as it is read, in a sentence."""
    import pyarrow as pa

    return exact(cells.numbers_of(units.bare(pa.array([cell], pa.large_string()))[0], style)[0][0])


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


def _note_texts_of_numbers(found: Sequence[tuple[str, str]]) -> str:
    """A note on columns of typed tables that are text, although it is numbers; each with such a text."""
    text, end = show(found[0][1]), "to numbers if their size matters."
    if len(found) == 1:
        (which, values), columns = (f"Column {show(found[0][0])} is", "its"), "column"
    else:
        more = [f"{len(found) - MOST_NAMED} more"] if len(found) > MOST_NAMED else []
        names = joined([*(show(name) for name, _ in found[:MOST_NAMED]), *more])
        (which, values), columns = (f"Columns {names} are", "their"), "columns"
    return (
        f"{which} text in the file, although {values} values are numbers, such as {text}: each is a category. "
        f"Convert the {columns} {end}"
    )


def _only_row_numbers(decided: dict[str, Reading | Ignored]) -> str | None:
    """The one column of row numbers, if there is nothing else to learn from and it is not called an ID."""
    if any(isinstance(found, Reading) for found in decided.values()):
        return None
    names = [name for name, found in decided.items() if isinstance(found, Ignored) and found.row_numbers is not None]
    return names[0] if len(names) == 1 and ID_NAME.fullmatch(names[0]) is None else None
