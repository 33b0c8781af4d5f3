"""Cells: what is measured. A cell is one method on one data set, fitted once in a process of its own."""

from dataclasses import dataclass
from typing import NamedTuple

MADE = "made"  # data with a known signal; other data are real sets, by name
UNBOUNDED = 0  # the number of terms of methods that take none


@dataclass(frozen=True)
class Cell:
    """One method on one data set; the size of a real one is that of its file, and 0 here."""

    data: str
    rows: int
    columns: int
    classes: int
    terms: int
    method: str

    def at_least(self, other: "Cell") -> bool:
        """Whether this cell is the other one or a larger one of the same method."""
        same = (self.data, self.method) == (other.data, other.method)
        mine, theirs = ((one.rows, one.columns, one.classes, one.terms) for one in (self, other))
        return same and all(a >= b for a, b in zip(mine, theirs, strict=True))

    def __str__(self) -> str:
        size = f" {self.rows} × {self.columns}, {self.classes} classes" if self.data == MADE else ""
        return f"{self.method} on {self.data}{size}" + (f", {self.terms} terms" if self.terms else "")


class Axis(NamedTuple):
    """One size that grows while the others stay; ``first`` is the size from which growth is measured."""

    name: str
    sizes: tuple[int, ...]
    base: dict[str, int]
    first: int = 0

    def cell(self, size: int, method: str, bounded: bool) -> Cell:
        """The cell of a size."""
        sizes = {**self.base, self.name: size}
        return Cell(data=MADE, method=method, **{**sizes, "terms": sizes["terms"] if bounded else UNBOUNDED})


BASE = {"rows": 10_000, "columns": 30, "classes": 2, "terms": 6}
SMALL = {**BASE, "rows": 500, "columns": 10}
AXES = (
    Axis("rows", (1_000, 10_000, 100_000, 1_000_000), BASE, first=10_000),
    Axis("columns", (10, 30, 100, 300, 1_000), BASE),
    Axis("terms", (3, 6, 12, 24, 48), BASE),
    Axis("classes", (2, 5, 10, 26), {**BASE, "terms": 26}),
)
QUICK_AXES = (
    Axis("rows", (500, 1_000, 2_000), SMALL),
    Axis("columns", (10, 30), SMALL),
    Axis("terms", (3, 6), SMALL),
    Axis("classes", (2, 3), SMALL),
)


class RealSet(NamedTuple):
    """A real data set: the terms allowed, and other parameters of `SMaLLClassifierCV`."""

    terms: int = 6
    parameters: tuple[tuple[str, int], ...] = ()


DIGITS = "digits"  # comes with scikit-learn
REAL_SETS = {
    **dict.fromkeys(("wdbc", "credit-g", "compas-two-years", "spambase"), RealSet()),
    **dict.fromkeys(("MagicTelescope", "heloc", "covertype_20k"), RealSet()),
    "classes/texture": RealSet(12),
    DIGITS: RealSet(12),
    "classes/letter": RealSet(52),
    "adult": RealSet(24),
    "usps_odd_even": RealSet(160, (("n_prototypes", 4),)),
}


def real_cell(name: str, method: str, bounded: bool) -> Cell:
    """The cell of a real set."""
    terms = REAL_SETS[name].terms if bounded else UNBOUNDED
    return Cell(data=name, rows=0, columns=0, classes=0, terms=terms, method=method)
