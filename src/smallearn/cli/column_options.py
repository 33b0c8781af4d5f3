"""Values of options that are about columns or classes: ``COLUMN=VALUE``, and lists of such pairs."""

import difflib
import math
from collections.abc import Sequence

from smallearn._text import listed, show
from smallearn.cli.errors import CommandError

DIRECTIONS = {"+1": 1, "1": 1, "+": 1, "-1": -1, "-": -1}
MOST_LISTED = 20


def directions(texts: Sequence[str]) -> dict[str, int]:
    """``age=+1`` of ``--monotone``: 1 or -1 by column."""
    found: dict[str, int] = {}
    for text in texts:
        column, value = _pair("--monotone", text, "COLUMN=+1 or COLUMN=-1, such as age=+1")
        if value not in DIRECTIONS:
            raise CommandError(f"--monotone {show(text)}: {show(value)} is neither +1 (rising) nor -1 (falling)")
        _add("--monotone", found, column, DIRECTIONS[value])
    return found


def cut_points(texts: Sequence[str]) -> int | dict[str, list[float]] | None:
    """``20``, or ``age=30,40`` of ``--cut-points``: a number of cut points, or those of each column; None if not given.

    Other columns keep the number that is the default, or that is given as well.
    """
    found: dict[str, list[float]] = {}
    most: int | None = None
    for text in texts:
        if text.isascii() and text.isdecimal():
            if most is not None:
                raise CommandError(f"--cut-points is given twice as a number, {most} and {text}")
            most = int(text)
            continue
        column, values = _pair("--cut-points", text, "a whole number, or COLUMN=1,2,3, such as age=30,40")
        _add("--cut-points", found, column, [_number(text, value) for value in values.split(",")])
    if found and most is not None:
        raise CommandError("--cut-points is either a number, for all columns, or COLUMN=1,2,3, for some of them")
    return found or most


def renamed_classes(texts: Sequence[str]) -> dict[str, str]:
    """``0=no,1=yes`` of ``--labels``: the new name of each class that has one."""
    found: dict[str, str] = {}
    for part in (part for text in texts for part in text.split(",")):
        old, new = (side.strip() for side in _pair("--labels", part, "CLASS=NAME, such as 0=no,1=yes"))
        if not new:
            raise CommandError(f"--labels {show(part)} gives no name")
        _add("--labels", found, old, new)
    return found


def check_columns(option: str, columns: Sequence[str], features: Sequence[str], ignored: dict[str, str]) -> None:
    """Check that the columns which an option names are learned from."""
    for column in columns:
        if column in ignored:
            raise CommandError(f"{option} {show(column)}: this column is ignored, as it {_why(ignored[column])}")
        if column not in features:
            near = difflib.get_close_matches(column, features, n=3, cutoff=0.6)
            hint = f"; did you mean {' or '.join(map(show, near))}?" if near else f": {shortened(features)}"
            raise CommandError(f"{option} {show(column)} is not a column to learn from{hint}")


def shortened(names: Sequence[str]) -> str:
    """The first names."""
    return listed(names[:MOST_LISTED]) + (", …" if len(names) > MOST_LISTED else "")


def _why(reason: str) -> str:
    return "is dropped" if reason == "as asked" else reason


def _pair(option: str, text: str, form: str) -> tuple[str, str]:
    column, sign, value = text.rpartition("=")
    if not sign or not column:
        raise CommandError(f"{option} {show(text)} is not of the form {form}")
    return column, value


def _add(option: str, found: dict, key: str, value: object) -> None:
    if key in found:
        raise CommandError(f"{option} names {show(key)} twice")
    found[key] = value


def _number(text: str, value: str) -> float:
    try:
        number = float(value)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise CommandError(f"--cut-points {show(text)}: {show(value)} is not a number")
    return number
