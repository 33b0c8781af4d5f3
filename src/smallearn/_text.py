"""Values as text for people: on one line, without control characters, in as few digits as will do."""

import math
import re
from collections.abc import Sequence
from typing import Any


def show(value: Any, quote: bool = True, most: int = 60) -> str:
    """A value on one line: control characters escaped, text in quotes, without its middle beyond ``most`` characters.

    Long names often differ at their ends.
    """
    text = value if isinstance(value, str) else repr(value)
    if len(text) > 2 * most:
        text = text[:most] + text[-most:]
    text = "".join(sign if sign.isprintable() else sign.encode("unicode_escape").decode() for sign in text)
    if len(text) > most:
        end = most // 3
        text = f"{text[: most - 1 - end]}…{text[len(text) - end :]}"
    return f"'{text}'" if quote and isinstance(value, str) else text


def show_category(value: Any, most: int = 60) -> str:
    """A category: text in quotes, a float in six digits, or in all of them if it takes more to identify it."""
    if isinstance(value, float):
        short = f"{value:.6g}"
        return short if float(short) == value else exact(value)
    return show(value, most=most)


def listed(values: Sequence[Any]) -> str:
    """``'a', 'b', 3``."""
    return ", ".join(show(value) for value in values)


def joined(parts: Sequence[str]) -> str:
    """``a``, ``a and b``, ``a, b and c``."""
    return " and ".join(filter(None, (", ".join(parts[:-1]), *parts[-1:])))


def count(number: int, thing: str) -> str:
    """``1 row``, ``2 rows``, ``12,300 rows``."""
    return f"{number} {thing}" if number == 1 else f"{number:,} {thing}s"


def of_unit(unit: str | None) -> str:
    """What follows a number: a blank and its unit, or nothing."""
    return f" {show(unit, quote=False)}" if unit else ""


def exact(value: Any, sign: str = "") -> str:
    """A number in 15 digits, or in as many as it takes to read the same number again."""
    value = float(value)
    short = f"{value:{sign}.15g}"
    return short if float(short) == value else f"{value:{sign}}"


def signed(value: float, *, whole: bool = False, digits: int | None = 4) -> str:
    """``+58.79``: a number with its sign, never −0; ``whole`` without a point, None for all digits."""
    if whole:
        return f"{round(value):+d}"
    return exact(value, "+") if digits is None else f"{value:+z.{digits}g}"


def percent_up(share: float) -> str:
    """A share in percent with one digit, rounded up: an upper bound may not be rounded down."""
    tenths = float(f"{1000.0 * share:.12g}")  # without the last digits: 0.1 is not a little more than 10.0%
    return f"{math.ceil(tenths) / 10.0:.1f}%"


def percent(probability: float) -> str:
    """A probability in percent with one digit, never 0% or 100% unless it is."""
    if 0.0 < probability < 0.0005:
        return "<0.1%"
    if 0.9995 <= probability < 1.0:
        return ">99.9%"
    return f"{probability:.1%}"


def typeset(text: str) -> str:
    """The text with a minus sign, which is as wide as a plus, in place of the hyphen before a number."""
    return re.sub(r"(?<!\w)-(?=[\d.])", "\N{MINUS SIGN}", text)
