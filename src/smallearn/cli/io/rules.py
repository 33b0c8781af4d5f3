"""What of a table is learned from: which columns, which classes, which rows."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from smallearn._text import show
from smallearn.cli.errors import CommandError
from smallearn.cli.io import cells
from smallearn.cli.io.class_names import ClassNames
from smallearn.cli.io.tables import TableFile

FEWEST_ROWS = 5  # of a class to train on: with fewer, some folds would have none


@dataclass(frozen=True)
class Share:
    """The share of the rows that is to be held out, and the seed that says which."""

    size: float
    seed: int = 0


@dataclass(frozen=True)
class TrainingRules:
    """What the user says of the table to train on.

    Parameters
    ----------
    drop, ids : tuple of str
        Columns that are not learned from; the latter identify a row.
    keep : tuple of str
        Columns that are learned from in any case.
    weights : str or None
        The column with the weight of each row.
    names : ClassNames
        Other names for the classes.
    many_classes : bool
        Whether classes may be many, or numbers that look like a measurement.
    share : Share or None
        The rows that are held out from training.
    """

    drop: tuple[str, ...] = ()
    keep: tuple[str, ...] = ()
    ids: tuple[str, ...] = ()
    weights: str | None = None
    names: ClassNames = field(default_factory=ClassNames)
    many_classes: bool = False
    share: Share | None = None

    @property
    def others(self) -> dict[str, str]:
        """The columns that are not learned from, each with the reason."""
        weights = {} if self.weights is None else {self.weights: "has the weights of the rows"}
        return {**dict.fromkeys(self.drop, "as asked"), **dict.fromkeys(self.ids, "identifies a row"), **weights}

    def features(self, file: TableFile, target: str) -> list[str]:
        """The columns that may be learned from."""
        return [name for name in file.names if name != target and name not in self.others]

    def check(self, file: TableFile, target: str) -> None:
        """Check that the file has the columns that the user named, and that each has one role."""
        unknown = [name for name in (target, *self.others, *self.keep) if name not in file.names]
        if unknown:
            file.refuse_names(unknown[:1], "this command")
        needed = [name for name in self.drop if name == target or name in self.keep]
        if needed:
            raise CommandError(f"column {show(needed[0])} is to be dropped, but is also the target or to be kept")
        for name in (*self.ids, *filter(None, [self.weights])):
            if name == target or name in self.keep:
                option = "--weights" if name == self.weights else "--id"
                raise CommandError(f"{option} {show(name)}: this column is also the target or to be kept")

    @property
    def options(self) -> dict[str, Any]:
        """What the rows depend on, for the name of a conversion."""
        return {
            "drop": sorted((*self.drop, *self.ids)),
            "keep": sorted(self.keep),
            "weights": self.weights,
            "labels": self.names.pairs,
            "many": self.many_classes,
            "share": None if self.share is None else (self.share.size, self.share.seed),
        }


def weights_in(file: TableFile, name: str, column: Any, rows: np.ndarray) -> np.ndarray:
    """A column, or a chunk of it, as weights of rows, which have these numbers in the file."""
    kind = cells.type_of(column)
    if cells.is_number_type(kind):
        values = file.without_missing(cells.numbers_in(column))
    elif cells.is_text_type(kind):
        text = cells.without(cells.trimmed(column, missing=file.missing), cells.MISSING_NUMBER)
        values, _ = cells.numbers_of(text, cells.Style(file.may_have_commas))
        values = file.without_missing(values)
    else:
        raise CommandError(f"--weights {show(name)}: the column holds values of type {kind}, which are no weights")
    bad = ~(np.isfinite(values) & (values >= 0.0))
    for row in _first(bad):
        file.refuse_cell(int(rows[row]), name, f"{show(column[row].as_py())} is not a weight, a number from 0")
    return values


def _first(flags: np.ndarray) -> Iterator[int]:
    if flags.any():
        yield int(flags.argmax())
