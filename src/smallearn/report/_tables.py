"""Tables of the page, and numbers as it prints them."""

import re
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Table:
    """A table of the page; ``numbers`` are the columns set flush right, ``own`` the line to stand out; one that is
    ``narrow`` is no wider than it must be."""

    name: str
    head: Sequence[str]
    lines: Sequence[Sequence[str]]
    numbers: Sequence[int] = ()
    own: int | None = None
    narrow: bool = False


def typeset(number: str) -> str:
    """A number, or a sentence with numbers, with a minus that is as wide as a plus."""
    return re.sub(r"(?<!\w)-(?=[\d.])", "−", number)
