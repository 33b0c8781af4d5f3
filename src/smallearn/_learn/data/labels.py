"""What the loss knows of the training rows: their classes, their weights, and the prototype that each belongs to."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from smallearn._learn.kernels import NO_PROTOTYPE

LOG_LOSS, SPHERICAL = 1.0, 2.0  # the sharpness of a loss
MOST_SPREAD = 1 << 12  # of whole numbers for which a table of all between them is made …
SAFE = 1 << 62  # … if none is so large that a difference may overflow


@dataclass(frozen=True)
class Assignment:
    """Which prototype each row belongs to.

    ``owner[j]`` is the class of prototype ``j``; ``own[i]`` is the prototype of row ``i``, or `NO_PROTOTYPE` if the
    class of the row owns the prototype frozen at zero.
    """

    own: np.ndarray
    owner: np.ndarray

    def __iter__(self) -> Iterator[np.ndarray]:
        return iter((self.own, self.owner))

    def members(self) -> np.ndarray:
        """The rows that belong to a prototype."""
        return np.flatnonzero(self.own != NO_PROTOTYPE)

    def sizes(self) -> np.ndarray:
        """The number of rows of each prototype."""
        return np.bincount(self.own[self.members()], minlength=len(self.owner))

    @property
    def one_per_class(self) -> bool:
        """Whether no class has more than one prototype: rows have no other to move to."""
        return len(set(self.owner.tolist())) == len(self.owner)

    def keep(self, kept: np.ndarray) -> "Assignment":
        """The assignment to some of the prototypes (p, bool), renumbered. No row may belong to another."""
        return Assignment(own=renumber(kept)[self.own], owner=self.owner[kept])


def renumber(kept: np.ndarray) -> np.ndarray:
    """The new number of each prototype that is kept; a last entry maps `NO_PROTOTYPE` to itself."""
    return np.append(np.cumsum(kept) - 1, NO_PROTOTYPE)


def class_codes(y: np.ndarray, counts: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
    """The different labels, sorted, and the position of each label among them; that of rows that do not count, if there
    are any, means nothing where no other row has their label.

    Without a hash or a sort where labels are whole numbers that lie close together, as they mostly do.
    """
    counted = y if counts is None or counts.all() else y[counts]
    if y.dtype.kind in "iu" and len(counted):
        low, high = int(counted.min()), int(counted.max())
        if high - low < MOST_SPREAD and low > -SAFE and high < SAFE:
            occurs = np.bincount(counted.astype(np.int64, copy=False) - low) > 0
            position = (np.cumsum(occurs) - 1).take(y.astype(np.int64, copy=False) - low, mode="clip")
            return (low + np.flatnonzero(occurs)).astype(y.dtype), position
    classes = np.unique(counted)
    return classes, np.searchsorted(classes, y).astype(np.int64)  # quicker than the sort behind return_inverse


@dataclass(frozen=True)
class Roles:
    """What the loss needs to know besides the scores, for one assignment.

    For each row its class ``code``, its ``weight`` and its ``own`` prototype; for each prototype its ``owner``; and the
    class that owns the prototype frozen at zero (``zero_owner``; None: every class has prototypes of its own).
    """

    own: np.ndarray
    owner: np.ndarray
    code: np.ndarray
    weight: np.ndarray
    zero_owner: int | None

    @property
    def has_zero(self) -> bool:
        return self.zero_owner is not None

    @property
    def n_classes(self) -> int:
        """The number of classes, as far as the rows and prototypes show."""
        return 1 + int(max(self.code.max(), self.owner.max(), self.zero_owner or 0))

    def flat(self, block: slice = slice(None)) -> tuple:
        """The tuple that the kernels take: ``(own, code, weight, owner, has_zero)``, for a block of the rows."""
        return self.own[block], self.code[block], self.weight[block], self.owner, self.has_zero


@dataclass(frozen=True)
class Labels:
    """What is known of the rows before they are assigned.

    ``code`` is the class of each row, ``weight`` its weight, scaled to sum to 1; ``total`` is what the weights summed
    to. ``zero_owner`` is the class that owns the prototype frozen at zero (None: every class has prototypes).
    ``sharpness`` is that of the loss of a search over supports: 1 for the log loss (see `search_kernels`).
    """

    code: np.ndarray
    weight: np.ndarray
    total: float
    zero_owner: int | None
    sharpness: float = LOG_LOSS

    @property
    def n_rows(self) -> int:
        return len(self.code)

    @cached_property
    def frozen(self) -> np.ndarray:
        """``exp 0`` for each row if there is a prototype frozen at zero, else 0: its part in the loss of the row."""
        return np.full(len(self.code), 0.0 if self.zero_owner is None else 1.0)

    def take(self, rows: np.ndarray) -> "Labels":
        """Those of some of the rows."""
        weight = self.weight[rows]
        return Labels(
            code=self.code[rows],
            weight=weight / weight.sum(),
            total=self.total * float(weight.sum()),
            zero_owner=self.zero_owner,
            sharpness=self.sharpness,
        )

    def flat(self, own: np.ndarray, owner: np.ndarray) -> tuple:
        """The tuple that the kernels of the search take: ``(own, code, weight, owner, frozen, sharpness)``."""
        return own, self.code, self.weight, owner, self.frozen, self.sharpness

    def roles(self, assignment: Assignment) -> Roles:
        """All that the loss needs to know, once the rows are assigned."""
        return Roles(
            own=assignment.own,
            owner=assignment.owner,
            code=self.code,
            weight=self.weight,
            zero_owner=self.zero_owner,
        )
