"""``--labels``: other names for the classes of a table, and names for ranges of numbers."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from smallearn._text import listed, show
from smallearn.cli.errors import CommandError

RANGE = ".."  # 30..50: from 30 to below 50


@dataclass(frozen=True)
class ClassNames:
    """New names of classes. ``pairs`` has each value of the table, or range ``low..high`` of numbers, with its name."""

    pairs: tuple[tuple[str, str], ...] = ()

    def __bool__(self) -> bool:
        return bool(self.pairs)

    def key_of(self, value: Any) -> str | None:
        """The first value or range that a cell of the table is or lies in; None if there is none."""
        text, number = str(value).strip(), _number(value)
        for key, _ in self.pairs:
            if key == text or (number is not None and _holds(key, number)):
                return key
        return None

    def name_of(self, value: Any) -> str | None:
        """The new name of a cell of the table; None if it has none."""
        key = self.key_of(value)
        return None if key is None else dict(self.pairs)[key]

    def renamed(self, values: Sequence[Any], target: str) -> list[Any]:
        """The different values of a column with their new names; those without one as text.

        Every name must be of some value. Where a range is named, every value must have a name.
        """
        used = {self.key_of(value) for value in values}
        unused = [key for key, _ in self.pairs if key not in used]
        has = listed(values[:10]) + (", …" if len(values) > 10 else "")
        if unused:
            raise CommandError(f"--labels names {show(unused[0])}, which column {show(target)} does not have: {has}")
        names = [self.name_of(value) for value in values]
        if None in names and any(RANGE in key for key, _ in self.pairs):
            other = values[names.index(None)]
            raise CommandError(f"--labels has no name for {show(other)} in column {show(target)}: name all values")
        return [str(value) if name is None else name for value, name in zip(values, names, strict=True)]


def check_ranges(keys: Iterable[str]) -> None:
    """Check that what looks like a range of numbers is one."""
    for key in keys:
        if RANGE in key and _ends(key) is None and _looks_numeric(key):
            raise CommandError(f"--labels: {show(key)} is not a range such as 30..50, ..30 or 50..")


def _holds(key: str, number: float) -> bool:
    """Whether a number is the value that a key names, or lies in its range."""
    if RANGE not in key:
        return _number(key) == number
    ends = _ends(key)
    return ends is not None and ends[0] <= number < ends[1]


def _ends(key: str) -> tuple[float, float] | None:
    """The ends of a range; None if it is none."""
    low, _, high = key.partition(RANGE)
    first = -math.inf if not low.strip() else _number(low)
    last = math.inf if not high.strip() else _number(high)
    if first is None or last is None or not first < last or (first, last) == (-math.inf, math.inf):
        return None
    return first, last


def _looks_numeric(key: str) -> bool:
    return all(sign.isdigit() or sign in "+-.,e " for sign in key)


def _number(value: Any) -> float | None:
    try:
        number = float(value)
    except (TypeError, ValueError):
        return None
    return number if math.isfinite(number) else None
