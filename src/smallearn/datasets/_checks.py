"""Checks of the parameters of generators."""

from numbers import Integral, Real
from typing import Any


def is_integer(value: Any) -> bool:
    """Whether a value is a whole number, and not True or False."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def check_integers(least: int = 1, **values: Any) -> None:
    """Raise unless each value is a whole number of at least ``least``."""
    for name, value in values.items():
        if not is_integer(value) or value < least:
            raise ValueError(f"{name}={value!r} is not an integer of at least {least}.")


def check_range(low: float, high: float, allowed: str, **values: Any) -> None:
    """Raise unless each value is a number from ``low`` to ``high``."""
    for name, value in values.items():
        if not isinstance(value, Real) or not low <= float(value) <= high:
            raise ValueError(f"{name}={value!r} is not {allowed}.")
