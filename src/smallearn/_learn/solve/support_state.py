"""A support with its best weights, and how it is fitted: the points that `support_search` moves between."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from smallearn._learn import kernels
from smallearn._learn.data.blocks import TrainingRows, read_only
from smallearn._learn.data.labels import Assignment
from smallearn._learn.solve import assignment as assignments
from smallearn._learn.solve.objective import Penalty

PRECISE = 1e-5  # the relative decrement at which Newton stops; the model that is kept is refitted further
ROUGH = 1e-3  # … and for a state that is only compared
MOST_NEWTON = 50
REASSIGNMENTS = 3  # rounds of moving rows after a change of the support


class Entries(NamedTuple):
    """The entries of W that may differ from 0: ``theta[e]`` is the weight of column ``column[e]`` in prototype
    ``prototype[e]``."""

    prototype: np.ndarray
    column: np.ndarray
    theta: np.ndarray

    def take(self, chosen: np.ndarray) -> "Entries":
        """Some of the entries, by index or mask."""
        return Entries(prototype=self.prototype[chosen], column=self.column[chosen], theta=self.theta[chosen])

    def with_column(self, prototypes: np.ndarray, column: int) -> "Entries":
        """With one column more in some prototypes, at weight 0."""
        return Entries(
            prototype=np.append(self.prototype, prototypes),
            column=np.append(self.column, np.full(len(prototypes), column)),
            theta=np.append(self.theta, np.zeros(len(prototypes))),
        )


@dataclass(frozen=True)
class State:
    """A support, the weights that minimise the objective on it, and each row's own prototype.

    The entries are in the order of the prototypes (see `Entries`). ``used`` are the columns, each once, and
    ``used[position[e]]`` is ``column[e]``. ``Z`` holds the scores (m × p), ``inverse_hessian`` is that on the entries.
    """

    assignment: Assignment
    prototype: np.ndarray
    column: np.ndarray
    used: np.ndarray
    position: np.ndarray
    theta: np.ndarray
    value: float
    Z: np.ndarray
    inverse_hessian: np.ndarray

    @property
    def entries(self) -> Entries:
        return Entries(prototype=self.prototype, column=self.column, theta=self.theta)

    def weights(self, d: int) -> np.ndarray:
        """W, p × d."""
        W = np.zeros((len(self.assignment.owner), d))
        W[self.prototype, self.column] = self.theta
        return W

    def support(self, d: int) -> np.ndarray:
        """Which entries there are, p × d."""
        support = np.zeros((len(self.assignment.owner), d), dtype=bool)
        support[self.prototype, self.column] = True
        return support


class ColumnCache:
    """Columns of the rows, standardised, each read once."""

    def __init__(self, rows: TrainingRows):
        self._rows = rows
        self.labels = rows.labels
        self._columns: dict[int, np.ndarray] = {}

    def read(self, columns: np.ndarray) -> np.ndarray:
        """Some columns side by side, m × their number, read-only."""
        missing = np.array([l for l in columns if l not in self._columns], dtype=np.int64)
        if len(missing):
            fresh = self._rows.columns(missing)
            for a, l in enumerate(missing):
                self._columns[int(l)] = np.ascontiguousarray(fresh[:, a])
        B = np.empty((len(self.labels.code), len(columns)))
        for a, l in enumerate(columns):
            B[:, a] = self._columns[int(l)]
        return read_only(B)


def fit(
    columns: ColumnCache, penalty: Penalty, assignment: Assignment, entries: Entries, *, precision: float, rounds: int
) -> State:
    """Newton's method on the entries, then rows move to their best prototype, in turn, at most ``rounds`` times.

    An entry whose weight gets a sign that is not allowed is dropped.
    """
    labels, p = columns.labels, len(assignment.owner)
    prototype, column, theta = entries.take(np.argsort(entries.prototype, kind="stable"))
    used, position = distinct(column)
    B = columns.read(used)
    while True:
        theta = theta.copy()
        begin = np.searchsorted(prototype, np.arange(p + 1))
        roles = labels.roles(assignment).flat()
        value, inverse_hessian = kernels.newton_entries(
            B, position, begin, theta, roles, penalty.alpha, precision, MOST_NEWTON
        )
        if penalty.signed and (signed := penalty.sign[column] * theta).min(initial=0.0) < 0.0:
            kept = np.arange(len(theta)) != signed.argmin()
            prototype, column, position, theta = prototype[kept], column[kept], position[kept], theta[kept]
            continue
        W = np.zeros((p, len(used)))
        W[prototype, position] = theta
        Z = B @ W.T
        if rounds == 0:
            break
        rounds -= 1
        moved = assignments.best_scoring(Z, labels.code, assignment)
        if np.array_equal(moved.own, assignment.own):
            break
        assignment = moved
    return State(
        assignment=assignment,
        prototype=prototype,
        column=column,
        used=used,
        position=position,
        theta=theta,
        value=value,
        Z=Z,
        inverse_hessian=inverse_hessian,
    )


def distinct(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """As ``np.unique`` with the inverse; faster for few values."""
    ordered = np.array(sorted(set(values.tolist())), dtype=np.int64)
    return ordered, np.searchsorted(ordered, values)
