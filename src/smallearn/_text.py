"""Values in words: whatever a name or label holds, it takes one line and no control characters."""

import decimal
from collections.abc import Sequence
from typing import Any


def show(value: Any, quote: bool = True, most: int = 60) -> str:
    """A value on one line: control characters escaped, long text cut."""
    text = value if isinstance(value, str) else repr(value)
    text = "".join(sign if sign.isprintable() else sign.encode("unicode_escape").decode() for sign in text[: most + 1])
    if len(text) > most:
        text = text[: most - 1] + "…"
    return f"'{text}'" if quote and isinstance(value, str) else text


def show_category(value: Any) -> str:
    """A category as a reader knows it: text in quotes, a number with as few digits as tell it from another."""
    if isinstance(value, float):
        short = f"{value:.6g}"
        return short if float(short) == value else repr(value)
    return show(value)


def listed(values: Sequence[Any]) -> str:
    return ", ".join(show(value) for value in values)


def count(number: int, thing: str) -> str:
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"


def rounded_down(value: float) -> str:
    """Four digits, none of them too high: a bound may not be rounded up."""
    down = decimal.Context(prec=4, rounding=decimal.ROUND_FLOOR)
    return f"{float(down.create_decimal_from_float(value)):.4g}"


def percent(probability: float) -> str:
    """One digit after the point, and never a certainty that is none."""
    if 0.0 < probability < 0.0005:
        return "<0.1%"
    if 0.9995 <= probability < 1.0:
        return ">99.9%"
    return f"{probability:.1%}"
