"""Values of a model's file, checked: each function returns the value or raises ValueError with its place."""

from collections.abc import Sequence
from typing import Any

from smallearn._text import listed, show
from smallearn.model._parts import BUDGETS, Category


def fields_of(entry: Any, where: str, names: Sequence[str]) -> dict[str, Any]:
    """An object of exactly these fields."""
    if not isinstance(entry, dict):
        raise ValueError(f"{where}: expected an object, found {show(entry)}.")
    missing, unknown = set(names) - set(entry), set(entry) - set(names)
    if missing or unknown:
        raise ValueError(f"{where}: missing fields {sorted(missing)}, unknown fields {sorted(unknown)}.")
    return entry


def of_type(value: Any, kind: type, where: str) -> Any:
    """A value of this type."""
    if not isinstance(value, kind):
        raise ValueError(f"{where}: expected {kind.__name__}, found {show(value)}.")
    return value


def whole_number(value: Any, where: str, low: int, high: int | None = None) -> int:
    """A whole number from ``low`` to ``high``; None for no upper limit."""
    if not isinstance(value, int) or isinstance(value, bool) or value < low or (high is not None and value > high):
        limits = f"of at least {low}" if high is None else f"from {low} to {high}"
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
    if not isinstance(value, str | bool):
        if not isinstance(value, int | float):
            raise ValueError(f"{where}: expected text, a finite number or a boolean, found {show(value)}.")
        finite_number(value, where)
    return value


def budget(value: Any, where: str) -> str:
    """One of the ways in which a budget counts."""
    if value not in BUDGETS:
        raise ValueError(f"{where}: expected one of {listed(BUDGETS)}, found {show(value)}.")
    return value


def no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object whose fields all differ, for `json.loads`."""
    content = dict(pairs)
    if len(content) < len(pairs):
        raise ValueError("Not a smallearn model: an object has the same field twice.")
    return content


def no_constant(name: str) -> None:
    """Refuse NaN and infinities, for `json.loads`."""
    raise ValueError(f"Not a smallearn model: {name} is not a finite number.")
