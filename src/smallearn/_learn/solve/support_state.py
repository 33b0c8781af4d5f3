"""A support with its best weights, and how it is fitted: the points that `support_search` moves between."""

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from scipy import special

from smallearn._learn import search_kernels
from smallearn._learn.data.blocks import TrainingRows
from smallearn._learn.data.labels import Assignment, Labels
from smallearn._learn.solve.objective import Penalty

PRECISE = 1e-5  # the relative decrement at which Newton stops; the model that is kept is refitted further
ROUGH = 1e-3  # … and for a state that is only compared
MOST_NEWTON = 50
MANY_ENTRIES = 16  # from which on an approximate inverse Hessian is used, where there is one
REASSIGNMENTS = 3  # rounds of moving rows after a change of the support
CACHED_ENTRIES = 1 << 24  # numbers that a `ColumnCache` holds, unless more columns are needed at once
FEWEST_CACHED = 24  # columns
MOST_TEMPERING, TEMPERED = 60, 1e-10  # steps to the factor of the scores, and its relative precision


class Entries(NamedTuple):
    """The entries of W that may differ from 0: ``theta[e]`` is the weight of column ``column[e]`` in prototype
    ``prototype[e]``. Those of one prototype come together, in the order of the prototypes."""

    prototype: np.ndarray
    column: np.ndarray
    theta: np.ndarray

    def take(self, chosen: np.ndarray) -> "Entries":
        """Some of the entries, by mask or by ascending index."""
        return Entries(prototype=self.prototype[chosen], column=self.column[chosen], theta=self.theta[chosen])

    def with_column(self, prototypes: np.ndarray, column: int) -> "Entries":
        """With one column more in some prototypes, at weight 0."""
        prototype = np.concatenate([self.prototype, prototypes])
        added = len(prototypes)
        order = prototype.argsort(kind="stable")
        return Entries(
            prototype=prototype[order],
            column=np.concatenate([self.column, np.full(added, column)])[order],
            theta=np.concatenate([self.theta, np.zeros(added)])[order],
        )


@dataclass(frozen=True)
class State:
    """A support, the weights that minimise the objective on it, and each row's own prototype.

    The entries are in the order of the prototypes (see `Entries`); ``begin`` is `begin_of` them. ``Z`` holds the scores
    (p × m), ``inverse_hessian`` is that on the entries.
    """

    assignment: Assignment
    entries: Entries
    begin: np.ndarray
    value: float
    Z: np.ndarray
    inverse_hessian: np.ndarray

    @property
    def prototype(self) -> np.ndarray:
        return self.entries.prototype

    @property
    def column(self) -> np.ndarray:
        return self.entries.column

    @property
    def theta(self) -> np.ndarray:
        return self.entries.theta

    def with_entry(self, prototype: int, column: int, step: np.ndarray, gain: float) -> tuple[Entries, np.ndarray]:
        """One more entry, at the minimum of the quadratic model: ``step`` is the change of the weights, the new one
        last, and ``gain`` that of the objective. Also returns the inverse Hessian of that model."""
        place, size = int(self.begin[prototype + 1]), len(self.theta)
        entries = Entries(
            prototype=_insert(self.prototype, place, prototype),
            column=_insert(self.column, place, column),
            theta=_insert(self.theta + step[:-1], place, step[-1]),
        )
        if size + 1 < MANY_ENTRIES:
            return entries, self.inverse_hessian
        order = np.concatenate([np.arange(place), [size], np.arange(place, size)])
        curvature = 2.0 * gain / step[-1] ** 2  # of the new entry, when the others change with it
        direction = step / step[-1]
        inverse = np.outer(direction, direction) / curvature
        inverse[:size, :size] += self.inverse_hessian
        return entries, inverse[np.ix_(order, order)]

    def with_shared(
        self, column: int, step: np.ndarray, complement: np.ndarray, follow: np.ndarray
    ) -> tuple[Entries, np.ndarray]:
        """As `with_entry`, with one more entry for each prototype.

        ``complement`` is the inverse of the Schur complement (p × p), ``follow`` by how much the present weights follow
        those of the new entries (p × entries).
        """
        p, size = len(complement), len(self.theta)
        prototype = np.concatenate([self.prototype, np.arange(p)])
        order = prototype.argsort(kind="stable")
        entries = Entries(
            prototype=prototype[order],
            column=np.concatenate([self.column, np.full(p, column)])[order],
            theta=(np.concatenate([self.theta, np.zeros(p)]) + step)[order],
        )
        if size + p < MANY_ENTRIES:
            return entries, self.inverse_hessian
        return entries, search_kernels.border(self.inverse_hessian, complement, follow)[np.ix_(order, order)]

    def without(self, dropped: np.ndarray) -> tuple[Entries, np.ndarray]:
        """Without some entries, at the minimum of the quadratic model; also returns the inverse Hessian of that."""
        inverse, theta = self.inverse_hessian, self.theta
        for e in dropped:
            row, pivot = inverse[e], inverse[e, e]
            theta = theta - row * (theta[e] / pivot)
            inverse = inverse - row[:, None] * (row / pivot)
        kept = np.ones(len(theta), dtype=bool)
        kept[dropped] = False
        return self.entries._replace(theta=theta).take(kept), inverse[kept][:, kept]

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
    """Columns of the rows, standardised, each contiguous and read once. All searches on the same rows can share it."""

    def __init__(self, rows: TrainingRows):
        self._rows = rows
        self._m = len(rows.labels.code)
        self._most = max(FEWEST_CACHED, CACHED_ENTRIES // max(1, self._m))
        self._slot = np.full(rows.n_columns, -1)
        self._held = 0
        self.K = np.empty((0, self._m))

    def slots(self, columns: np.ndarray) -> np.ndarray:
        """The row of ``K`` that holds each column. Valid until the next call."""
        slots = self._slot[columns]
        if min(slots.tolist(), default=0) < 0:
            self._read(columns)
            slots = self._slot[columns]
        return slots

    def _read(self, columns: np.ndarray) -> None:
        missing = np.array(sorted({l for l in columns.tolist() if self._slot[l] < 0}))
        if self._held + len(missing) > self._most:  # forget all but what is asked for now
            missing = np.unique(columns)
            self._slot[:] = -1
            self._held = 0
        end = self._held + len(missing)
        if end > len(self.K):
            grown = np.empty((max(end, min(2 * end, self._most)), self._m))
            grown[: self._held] = self.K[: self._held]
            self.K = grown
        self._rows.read_columns(missing, self.K[self._held : end])
        self._slot[missing] = np.arange(self._held, end)
        self._held = end


def fit(
    columns: ColumnCache,
    labels: Labels,
    penalty: Penalty,
    assignment: Assignment,
    entries: Entries,
    *,
    precision: float,
    rounds: int,
    inverse_hessian: np.ndarray | None = None,
) -> State:
    """Newton's method on the entries, then rows move to their best prototype, in turn, at most ``rounds`` times.

    An entry whose weight gets a sign that is not allowed is dropped. With many entries an approximate
    ``inverse_hessian`` saves most of the work.
    """
    while True:
        own = assignment.own.copy() if rounds else assignment.own  # rows move in place
        theta, at = entries.theta.copy(), columns.slots(entries.column)
        size, begin = len(theta), begin_of(entries.prototype, len(assignment.owner))
        known = False
        inverse = np.empty((size, size))
        if inverse_hessian is not None and size >= MANY_ENTRIES and len(inverse_hessian) == size:
            known, inverse = True, inverse_hessian.copy()
        value, Z = search_kernels.fit_entries(
            columns.K,
            at,
            begin,
            theta,
            labels.flat(own, assignment.owner),
            penalty.alpha,
            precision,
            MOST_NEWTON,
            0 if penalty.signed else rounds,
            inverse,
            known,
        )
        entries = Entries(prototype=entries.prototype, column=entries.column, theta=theta)
        if not penalty.signed:
            break
        signed = penalty.sign[entries.column] * theta
        if signed.min(initial=0.0) < 0.0:
            entries = entries.take(np.arange(len(theta)) != signed.argmin())
        elif rounds == 0 or search_kernels.move_rows(Z, own, labels.code, assignment.owner) == 0:
            break
        else:
            assignment, rounds = Assignment(own=own, owner=assignment.owner), rounds - 1
    return State(
        assignment=Assignment(own=own, owner=assignment.owner) if rounds else assignment,
        entries=entries,
        begin=begin,
        value=value,
        Z=Z,
        inverse_hessian=inverse,
    )


def tempered(state: State, labels: Labels, alpha: float) -> State:
    """The weights times the factor at which the log loss, with the penalty, is least: the decisions stay the same.

    Every row has a prototype of its own. Newton's method for a convex function of one variable, between bounds that
    close in on the minimum.
    """
    (own, owner), rows = state.assignment, np.arange(state.Z.shape[1])
    scores = state.Z[own, rows]
    among = (owner[:, None] != labels.code) | (np.arange(len(owner))[:, None] == own)
    gaps = np.where(among, state.Z - scores, -np.inf)
    square = alpha * float(np.sum(state.theta**2))
    low, high, factor = 0.0, np.inf, 1.0
    for _ in range(MOST_TEMPERING):
        share = special.softmax(factor * gaps, axis=0)
        finite = np.where(among, gaps, 0.0)
        mean = np.sum(share * finite, axis=0)
        slope = float(np.sum(labels.weight * mean)) + square * factor
        bend = float(np.sum(labels.weight * (np.sum(share * finite**2, axis=0) - mean**2))) + square
        low, high = (factor, high) if slope < 0.0 else (low, factor)
        following = factor - slope / bend if bend > 0.0 else factor
        if not low < following < high:
            following = 0.5 * (low + high) if high < np.inf else 2.0 * factor
        done = abs(following - factor) <= TEMPERED * factor
        factor = following
        if done:
            break
    return replace(state, entries=state.entries._replace(theta=factor * state.theta), Z=factor * state.Z)


def begin_of(prototype: np.ndarray, p: int) -> np.ndarray:
    """Where the entries of each prototype begin, and their number, if they are in the order of the prototypes."""
    return prototype.searchsorted(np.arange(p + 1))


def weighted_sums(columns: ColumnCache, state: State) -> np.ndarray:
    """The scores of other rows, p × m, by the weights of a state."""
    at = columns.slots(state.column)
    Z = np.zeros((len(state.assignment.owner), columns.K.shape[1]))
    for j, slot, weight in zip(state.prototype.tolist(), at.tolist(), state.theta.tolist(), strict=True):
        Z[j] += weight * columns.K[slot]
    return Z


def _insert(values: np.ndarray, place: int, value: float) -> np.ndarray:
    """The values with one more at ``place``."""
    return np.concatenate((values[:place], (value,), values[place:]))
