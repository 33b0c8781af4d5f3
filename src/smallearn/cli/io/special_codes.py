"""Numbers that likely stand for something else, such as a missing value: 999, or -9 among positive numbers."""

from dataclasses import dataclass

import numpy as np

from smallearn._text import joined

LARGE = [float(digit * times) for digit in "789" for times in range(2, 10)]  # 99, 999, 9999 …
NEGATIVE = [-float(digit) for digit in range(1, 10)] + [-code for code in LARGE]
CODES = np.array(sorted([*LARGE, *NEGATIVE]))
MOST_VALUES = 200_000  # that are looked at
FEWEST, SHARE = 5, 0.005  # a code occurs at least so often
LEAST_RANGE = 10.0  # of the other numbers, where a negative one is a code


class SpecialCodes:
    """How often each possible code occurs among the first numbers of a column, and the range of the others."""

    def __init__(self) -> None:
        self.n_values = 0
        self.low, self.high = np.inf, -np.inf
        self.counts = np.zeros(len(CODES), dtype=np.int64)

    def look(self, known: np.ndarray) -> None:
        """Look at numbers, none missing."""
        known = known[: max(0, MOST_VALUES - self.n_values)]
        if len(known) == 0:
            return
        self.n_values += len(known)
        at = np.searchsorted(CODES, known).clip(max=len(CODES) - 1)
        is_code = CODES[at] == known
        self.counts += np.bincount(at[is_code], minlength=len(CODES))
        others = known[~is_code]
        if len(others):
            self.low, self.high = min(self.low, float(others.min())), max(self.high, float(others.max()))

    def add(self, later: "SpecialCodes") -> None:
        """Add what was seen in the part of the table that follows."""
        self.n_values += later.n_values
        self.low, self.high = min(self.low, later.low), max(self.high, later.high)
        self.counts = self.counts + later.counts

    @property
    def found(self) -> tuple[int, ...]:
        """The codes that occur often: far above the other numbers, or below 0 where all others are positive."""
        width = self.high - self.low
        often = self.counts >= max(FEWEST, SHARE * self.n_values)
        if not 0.0 < width < np.inf:
            return ()
        far = CODES - self.high > width
        if self.low >= 0.0 and width >= LEAST_RANGE:
            far |= CODES < 0.0
        return tuple(int(code) for code in CODES[often & far])

    def count(self, code: int) -> int:
        """How often a code occurs."""
        return int(self.counts[np.searchsorted(CODES, code)])


@dataclass(frozen=True)
class CodesHint:
    """Codes that were found in some columns: what was seen, and what to do if they mean a missing value."""

    codes: tuple[int, ...]
    fact: str

    @property
    def text(self) -> str:
        """Both, for the command line."""
        options = " ".join(f"--missing={code}" if code < 0 else f"--missing {code}" for code in self.codes)
        return f"{self.fact} If {'they mean' if len(self.codes) > 1 else 'it means'} a missing value, use {options}."


def hints(columns: dict[str, SpecialCodes]) -> list[CodesHint]:
    """A hint for each group of columns in which the same codes were found."""
    by_codes: dict[tuple[int, ...], list[str]] = {}
    for name, seen in columns.items():
        if seen.found:
            by_codes.setdefault(seen.found, []).append(name)
    return [CodesHint(codes, _fact(codes, names, columns)) for codes, names in by_codes.items()]


def _fact(codes: tuple[int, ...], names: list[str], columns: dict[str, SpecialCodes]) -> str:
    first = columns[names[0]]
    shown = [repr(name) for name in names[:3]] + ([f"{len(names) - 3} more"] if len(names) > 3 else [])
    which = f"Columns {joined(shown)}" if len(names) > 1 else f"Column {shown[0]}"
    share = sum(map(first.count, codes)) / first.n_values
    often = f"in {share:.0%} of the rows" if len(names) == 1 else "often"
    others = f" ({first.low:g} to {first.high:g})" if len(names) == 1 else ""
    occur = "occur" if len(codes) > 1 else "occurs"
    return f"{which}: {joined(list(map(str, codes)))} {occur} {often}, away from all other values{others}."
