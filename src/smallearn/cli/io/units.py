"""Numbers as people write them: percentages, amounts of money, thousands grouped by blanks or apostrophes.

What is read is the number that is written: 13.2 for ``13.2%``, 3371 for ``$3,371.00``. So a table that has the plain
number, as a database would, means the same. A column in several units is no number.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from smallearn._text import count, joined, show

PERCENT = "%"
PLAIN = ""  # the unit of a number without one
CURRENCIES = (
    *("AUD", "BRL", "CAD", "CHF", "CLP", "CNY", "COP", "CZK", "DKK", "EUR", "GBP", "HKD", "HUF", "IDR", "ILS", "INR"),
    *("JPY", "KRW", "MXN", "MYR", "NOK", "NZD", "PHP", "PLN", "RON", "RUB", "SEK", "SGD", "THB", "TRY", "TWD", "USD"),
    *("VND", "ZAR", "kr", "zł", "Kč", "Ft", r"Fr\."),
)
_MONEY = rf"[A-Z]{{0,2}}\p{{Sc}}|{'|'.join(CURRENCIES)}"
_DIGITS = r"[0-9][0-9.,'’\pZ]*|[.,][0-9]+"
BEFORE = rf"^(?P<sign>[+-]?)\pZ*(?P<unit>{_MONEY})\pZ*(?P<inner>[+-]?)(?P<number>{_DIGITS})$"
AFTER = rf"^(?P<sign>[+-]?)(?P<number>{_DIGITS})(?P<unit>{_MONEY}|%)$"
GROUPED_BY_BLANKS = r"^[+-]?[1-9][0-9]{0,2}([\pZ'’][0-9]{3})+([.,][0-9]+)?$"
NUMBER = r"^[+-]?[0-9]*[.]?[0-9]*$"  # what needs no closer look
MOST_SHOWN = 4  # columns in a note
GROUPED = r"[0-9][.,'’\pZ][0-9]{3}"


def bare(text: Any) -> tuple[Any, Any | None]:
    """Trimmed text with the number alone where a cell is a number with a unit; and the unit of each cell, or None.

    The unit is null where there is none; None in place of all units: no cell has one.
    """
    import pyarrow.compute as pc

    if pc.all(pc.match_substring_regex(text, NUMBER), min_count=0).as_py() is not False:
        return text, None
    encoded = text.dictionary_encode()
    values, units = _bare(encoded.dictionary)
    found = values.take(encoded.indices)
    return found, None if units.null_count == len(units) else units.take(encoded.indices)


def _bare(values: Any) -> tuple[Any, Any]:
    """The same for different values."""
    import pyarrow as pa
    import pyarrow.compute as pc

    units = pa.nulls(len(values), pa.large_string())
    numbers = values
    for pattern in (BEFORE, AFTER):
        parts = pc.extract_regex(values, pattern)
        cast = {name: pc.struct_field(parts, name).cast(pa.large_string()) for name in ("sign", "number", "unit")}
        sign = cast["sign"]
        if pattern is BEFORE:  # -$5 or $-5
            inner = pc.struct_field(parts, "inner").cast(pa.large_string())
            sign = pc.if_else(pc.equal(sign, ""), inner, sign)
        whole = pc.binary_join_element_wise(sign, pc.utf8_trim_whitespace(cast["number"]), pa.scalar("", sign.type))
        numbers = pc.coalesce(whole, numbers)
        units = pc.coalesce(cast["unit"], units)
    blanks = pc.replace_substring_regex(numbers, r"[\pZ'’]", "")
    return pc.if_else(pc.match_substring_regex(numbers, GROUPED_BY_BLANKS), blanks, numbers), units


def reading_note(read: Sequence[tuple[str, str, str]]) -> str:
    """A sentence about columns whose numbers have units: the name of each, a cell as it is quoted, and its number."""
    if len(read) == 1:
        ((name, cell, number),) = read
        return f"Column {show(name)}: {cell} is read as the number {number}, and the others likewise."
    shown = [f"{cell} of column {show(name)} as {number}" for name, cell, number in read[:MOST_SHOWN]]
    if len(read) > MOST_SHOWN:
        shown.append(f"{count(len(read) - MOST_SHOWN, 'more column')} likewise")
    return f"Read as plain numbers: {joined(shown)}."


@dataclass
class UnitsSeen:
    """The units of a column after some chunks, each with the first cell that has it: its row and its text.

    A plain 0 has any unit.
    """

    first: dict[str, tuple[int, str]] = field(default_factory=dict)
    grouped: tuple[int, str] | None = None  # the first cell that groups thousands

    def look(self, text: Any, units: Any | None, is_zero: np.ndarray, rows: np.ndarray) -> None:
        """Look at the cells of a chunk, their units, and which are 0; ``rows`` are their numbers in the file."""
        import pyarrow.compute as pc

        present = text.is_valid().to_numpy(zero_copy_only=False)
        if units is None:
            self._keep(PLAIN, present & ~is_zero, text, rows)
            return
        for unit in pc.unique(units).to_pylist():
            same = units.is_null() if unit is None else pc.equal(units, unit).fill_null(False)
            here = present & same.to_numpy(zero_copy_only=False)
            self._keep(PLAIN if unit is None else unit, here & ~is_zero if unit is None else here, text, rows)

    def look_for_groups(self, text: Any, rows: np.ndarray) -> None:
        """Look for the first cell that groups thousands."""
        import pyarrow.compute as pc

        if self.grouped is None:
            matches = pc.match_substring_regex(text, GROUPED).fill_null(False).to_numpy(zero_copy_only=False)
            if matches.any():
                at = int(matches.argmax())
                self.grouped = int(rows[at]), text[at].as_py()

    def _keep(self, unit: str, here: np.ndarray, text: Any, rows: np.ndarray) -> None:
        if unit not in self.first and here.any():
            at = int(here.argmax())
            self.first[unit] = int(rows[at]), text[at].as_py()

    @property
    def clash(self) -> tuple[tuple[int, str], tuple[int, str]] | None:
        """Two cells, by row and text, whose numbers cannot be compared; money may be without its currency."""
        named = [unit for unit in self.first if unit != PLAIN]
        if len(named) > 1:
            return self.first[named[0]], self.first[named[1]]
        if named == [PERCENT] and PLAIN in self.first:
            return self.first[PERCENT], self.first[PLAIN]
        return None

    @property
    def example(self) -> tuple[int, str] | None:
        """The first cell with a unit; None if there is none."""
        return next((cell for unit, cell in self.first.items() if unit != PLAIN), None)
