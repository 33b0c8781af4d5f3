"""What is known of a column after some chunks: its numbers, its texts, and how they are written."""

import re
from typing import Any

import numpy as np

from smallearn._learn.data.encoding import MOST_CATEGORIES
from smallearn.cli.io import cells, units
from smallearn.cli.io.special_codes import SpecialCodes
from smallearn.cli.io.tables import TableFile

FEW_ROWS = 10  # in so few, consecutive numbers may be chance
MANY_ROWS = 1_000_000  # of later chunks it is not asked whether numbers differ from those in other chunks
ID_NAME = re.compile(
    r"(?i:(row ?|case ?|record ?|sample ?)?(id|ids|idx|index|nr|no|num|number|key|uuid|guid|rowid|#))"
    r"|.*[ _.-](?i:id|idx|index|nr|no|number|key)|(?i:id|nr|index)[ _.-].*|.*[a-z](Id|ID|Nr|No)"
)


class Column:
    """A column, of whichever type."""

    def __init__(self, name: str, file: TableFile, kept: bool):
        self.name, self.file, self._kept = name, file, kept
        self.kind: Any = None
        self.text, self.numbers = Text(), TextNumbers(file)
        # Texts that are missing values, and those that are so among numbers; without what the user named.
        self.missing: set[str] = set()
        self.missing_numbers: set[str] = set()

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
            self.missing |= cells.texts_lost(column, text).difference(self.file.missing)
            if self.file.is_text:
                inner = cells.without(text, cells.MISSING_NUMBER)
                self.missing_numbers |= cells.texts_lost(text, inner)
                self.numbers.look(inner, rows)

    def add(self, later: "Column") -> None:
        self.kind = self.kind if later.kind is None else later.kind
        self.text.add(later.text)
        self.missing |= later.missing
        self.numbers.plain.add(later.numbers.plain)


class Numbers:
    """Numbers, and cells that are none. The first ``compared`` are kept as long as they may be an ID."""

    def __init__(self, compared: int) -> None:
        self._compared = compared
        self.n_rows = self.n_missing = self.n_bad = 0
        self.low, self.high = np.inf, -np.inf
        self.first_bad: tuple[int, str] | None = None  # row and cell
        self._may_be_ids = True  # whole numbers that have not occurred twice yet
        self._first: list[np.ndarray] = []
        self.codes = SpecialCodes()

    def look(self, values: np.ndarray) -> None:
        missing = np.isnan(values)
        self.n_rows += len(values)
        self.n_missing += int(missing.sum())
        known = values[~missing]
        if len(known):
            self.low, self.high = min(self.low, float(known.min())), max(self.high, float(known.max()))
        self.codes.look(known)
        self._may_be_ids = self._may_be_ids and self.n_missing == 0 and self.n_bad == 0 and _are_different(values)
        if not self._may_be_ids:
            self._first = []
        elif sum(map(len, self._first)) < self._compared:
            self._first.append(values)

    def add(self, later: "Numbers") -> None:
        self.n_rows += later.n_rows
        self.n_missing += later.n_missing
        self.low, self.high = min(self.low, later.low), max(self.high, later.high)
        self.codes.add(later.codes)
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


class TextNumbers:
    """Numbers that are text, read in every way in which they may be written."""

    def __init__(self, file: TableFile):
        self.file = file
        comma, compared = file.may_have_commas, MANY_ROWS - file.begin
        self.plain = Numbers(compared)
        # With grouped thousands; and the other way, whose first cell that is no number rules it out.
        self._by_style = {
            cells.Style(comma): self.plain,
            cells.Style(comma, grouped=True): Numbers(compared),
            cells.Style(not comma, grouped=True): Numbers(compared),
        }
        self.evidence = cells.Evidence()
        self.units = units.UnitsSeen()
        self.n_values = self.n_infinite = 0
        self.first_infinite: tuple[int, str] | None = None
        self._has_signs, self._other_text = False, False

    def look(self, text: Any, rows: np.ndarray) -> None:
        comma = self.file.may_have_commas
        n_values = len(text) - text.null_count
        self._other_text = self._other_text or (n_values > 0 and not cells.are_booleans(text))
        self.n_values += n_values
        numbers, of_cells = units.bare(text)
        signs = cells.has_signs(numbers)
        self._has_signs = self._has_signs or cells.has_group_signs(numbers, comma)
        if signs:
            self.evidence = self.evidence.joined(cells.evidence_of(numbers, comma))
        plain = cells.numbers_of(numbers, cells.Style(comma))
        for style, seen in self._by_style.items():
            ruled_out = self.evidence.grouped is False if style.commas == comma else self.evidence.other is False
            if seen is not self.plain and ruled_out:
                continue
            values, bad = cells.numbers_of(numbers, style) if signs and style.grouped else plain
            seen.note_bad(bad, text, rows)
            seen.look(self.file.without_missing(values))
        self._note_infinite(numbers, plain[1], text, rows)
        self.units.look(text, of_cells, plain[0] == 0.0, rows)
        if signs or numbers is not text:
            self.units.look_for_groups(text, rows)

    def _note_infinite(self, numbers: Any, bad: np.ndarray, text: Any, rows: np.ndarray) -> None:
        """Remember numbers that are too large, and infinity."""
        n_infinite, first = cells.first_infinite(numbers, bad)
        self.n_infinite += n_infinite
        if first is not None and self.first_infinite is None:
            self.first_infinite = int(rows[first]), text[first].as_py()

    @property
    def are_booleans(self) -> bool:
        """Whether every value is true or false."""
        return self.n_values > 0 and not self._other_text

    @property
    def style(self) -> cells.Style:
        """How the numbers are written: with grouped thousands or the other way only if every cell can be read so."""
        comma = self.file.may_have_commas
        style = self.evidence.style(comma, self._has_signs and self.file.has_commas)
        may = style.commas != comma or self._has_signs
        return style if may and self._by_style[style].n_bad == 0 else cells.Style(comma)

    @property
    def best(self) -> Numbers:
        """The numbers as they are to be read."""
        return self._by_style[self.style]


class Text:
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

    def add(self, later: "Text") -> None:
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
