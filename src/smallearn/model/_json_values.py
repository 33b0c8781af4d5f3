"""Values of a model's file, checked: each function returns the value or raises ValueError with its place."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from smallearn._text import listed, show
from smallearn.model._parts import BUDGETS, Category

LARGEST_WHOLE = 2**53  # to which floats count
MOST_DIGITS = 640  # of a whole number; Python reads at least so many, and a float has 309 before the point


def fields_of(entry: Any, where: str, names: Sequence[str]) -> dict[str, Any]:
    """An object of exactly these fields."""
    if not isinstance(entry, dict):
        raise ValueError(f"{where}: expected an object, found {show(entry)}.")
    missing, unknown = set(names) - set(entry), set(entry) - set(names)
    if missing or unknown:
        raise ValueError(f"{where}: missing fields {sorted(missing)}, unknown fields {sorted(unknown)}.")
    return entry


def of_type(value: Any, kind: type, where: str) -> Any:
    """A value of this type; no text that UTF-8 cannot hold."""
    if isinstance(value, str):
        check_text(value, where)
    if not isinstance(value, kind):
        raise ValueError(f"{where}: expected {kind.__name__}, found {show(value)}.")
    return value


def check_text(value: str, where: str) -> None:
    """Raise ValueError if text has half of a surrogate pair, which UTF-8 has not."""
    if not value.isascii() and any("\ud800" <= sign <= "\udfff" for sign in value):
        raise ValueError(f"{where}: {show(value)} is no Unicode text, for it has half of a surrogate pair.")


def whole_number(value: Any, where: str, low: int, high: int = LARGEST_WHOLE) -> int:
    """A whole number from ``low`` to ``high``."""
    if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
        open_ended = high >= LARGEST_WHOLE and not (isinstance(value, int) and value > high)
        limits = f"of at least {low}" if open_ended else f"from {low} to {high}"
        raise ValueError(f"{where}: expected a whole number {limits}, found {show(value)}.")
    return value


def finite_number(value: Any, where: str) -> float:
    """A finite number, as a float."""
    if not isinstance(value, int | float) or isinstance(value, bool) or not abs(value) <= 1.7976931348623157e308:
        raise ValueError(f"{where}: expected a finite number, found {show(value)}.")
    return float(value)


def positive_number(value: Any, where: str) -> float:
    """A positive finite number."""
    number = finite_number(value, where)
    if number <= 0.0:
        raise ValueError(f"{where}: expected a positive number, found {show(value)}.")
    return number


def category(value: Any, where: str) -> Category:
    """A category, as it is: True is not 1 and 1 is not 1.0, although they compare equal."""
    if isinstance(value, str):
        check_text(value, where)
    elif not isinstance(value, bool):
        if not isinstance(value, int | float):
            raise ValueError(f"{where}: expected text, a finite number or a boolean, found {show(value)}.")
        finite_number(value, where)
    return value


def budget(value: Any, where: str) -> str:
    """One of the ways in which a budget counts."""
    if value not in BUDGETS:
        raise ValueError(f"{where}: expected one of {listed(BUDGETS)}, found {show(value)}.")
    return value


@dataclass(frozen=True)
class TooLong:
    """A whole number of so many digits that no field can have it. It stands in its place until the field is read."""

    n_digits: int

    def __repr__(self) -> str:
        return f"a whole number of {self.n_digits:,} digits"


def short_whole(text: str) -> int | TooLong:
    """A whole number, for `json.loads`; Python itself refuses long ones in words of its own."""
    n_digits = len(text.lstrip("-"))
    return int(text) if n_digits <= MOST_DIGITS else TooLong(n_digits)


def no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object whose fields all differ, for `json.loads`."""
    content = dict(pairs)
    if len(content) < len(pairs):
        raise ValueError("Not a smallearn model: an object has the same field twice.")
    return content


def no_constant(name: str) -> None:
    """Refuse NaN and infinities, for `json.loads`."""
    raise ValueError(f"Not a smallearn model: {name} is not a finite number.")
