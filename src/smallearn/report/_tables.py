"""Tables of the page."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Table:
    """A table of the page.

    ``numbers`` are the columns that are aligned right, ``own`` the line that is set in bold. One that is ``narrow`` is
    no wider than its content.
    """

    name: str
    head: Sequence[str]
    lines: Sequence[Sequence[str]]
    numbers: Sequence[int] = ()
    own: int | None = None
    narrow: bool = False
