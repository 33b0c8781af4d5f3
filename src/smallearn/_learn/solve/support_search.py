"""Search over supports: add a term, drop a term, swap two, move rows between prototypes, while the objective falls.

A state holds a support, the weights that minimise the objective on it, and each row's own prototype. Which terms to try
is read off the gradient and the curvature of *all* candidates, in one pass over the rows; only the few most promising
are refitted. Everything is in standardised space. Columns of cost 0 (the constant) are part of every support.
"""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from smallearn._learn import kernels
from smallearn._learn.data.blocks import Assignment, Rows
from smallearn._learn.kernels import NO_PROTOTYPE
from smallearn._learn.solve import assignment as assignments
from smallearn._learn.solve.objective import Penalty
from smallearn._learn.solve.scoring import blend
from smallearn.model._rule import class_scores

PRECISE = 1e-5  # the relative decrement at which Newton stops; the model that is kept is refitted further
ROUGH = 1e-3  # … and where the state is only to be looked at
SETTLE = 3  # rounds of moving rows after a change of the support
SHORTLIST = 12  # candidates whose gain is worked out with the weights at hand giving way
REMOVALS = 4  # the cheapest terms, which are tried for a swap
LEAST_FALL = 1e-4  # a swap must lower the objective by this share of it
EASILY_STUCK = 3  # so many prototypes
LEAST_RISE = 1e-3  # in merit, for a prototype begun anew to stay
WORTH_SWAPS = 0.02  # in merit: a model begun anew that is further behind before its swaps is given up


@dataclass(frozen=True)
class State:
    """Entry ``e`` is the weight ``theta[e]`` of column ``column[e]`` in prototype ``prototype[e]``, in the order of the
    prototypes. ``used`` are the columns, each once, and ``place[e]`` is where among them ``column[e]`` is. ``Z`` holds
    the scores (m × p), ``inverse`` the inverse Hessian on the entries."""

    assignment: Assignment
    prototype: np.ndarray
    column: np.ndarray
    used: np.ndarray
    place: np.ndarray
    theta: np.ndarray
    value: float
    Z: np.ndarray
    inverse: np.ndarray

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


class Search:
    """The moves for one set of rows under one penalty.

    ``allowed`` (d) marks the columns that may be used. ``moving=False`` keeps every row with its prototype.
    """

    def __init__(self, rows: Rows, penalty: Penalty, allowed: np.ndarray | None = None, moving: bool = True):
        self.rows, self.penalty, self.allowed, self.moving = rows, penalty, allowed, moving
        self.labels = rows.labels
        self._free = penalty.cost > 0.0
        self._shared = penalty.pooling == "shared"
        self._signed = bool(np.any(penalty.sign))
        self._kept: dict[int, np.ndarray] = {}  # columns that were looked at

    def fixed(self) -> "Search":
        """The same search with every row kept where it is."""
        other = Search(self.rows, self.penalty, self.allowed, moving=False)
        other._kept = self._kept
        return other

    def at(self, penalty: Penalty) -> "Search":
        """The same search under another penalty."""
        other = Search(self.rows, penalty, self.allowed, self.moving)
        other._kept = self._kept
        return other

    # --- states ----------------------------------------------------------------------------------------------------

    def start(self, assignment: Assignment) -> State:
        """No terms yet: only what is always in."""
        p = len(assignment.owner)
        always = np.flatnonzero(~self._free)
        return self._fit(
            assignment, np.repeat(np.arange(p), len(always)), np.tile(always, p), np.zeros(p * len(always))
        )

    def resume(self, assignment: Assignment, support: np.ndarray, W: np.ndarray) -> State:
        """A support found elsewhere."""
        prototype, column = np.nonzero(support)
        return self._fit(assignment, prototype, column, W[prototype, column])

    def refit(self, state: State) -> State:
        """The same support under this search's penalty; rows may move."""
        return self._fit(state.assignment, state.prototype, state.column, state.theta)

    def size(self, state: State) -> int:
        """The terms that count: those not always in; shared ones once."""
        column = state.column[self._free[state.column]]
        return len(np.unique(column)) if self._shared else len(column)

    def _fit(self, assignment: Assignment, prototype, column, theta, precise: float = PRECISE) -> State:
        """Newton on the entries, then rows move to their best prototype, in turn. An entry that comes out with a sign
        that is not allowed is dropped."""
        p, labels = len(assignment.owner), self.labels
        order = np.argsort(prototype, kind="stable")
        prototype, column, theta = prototype[order], column[order], theta[order]
        used, place = _distinct(column)
        B = self._columns(used)
        rounds = SETTLE if self.moving and p > len(set(assignment.owner.tolist())) and precise < ROUGH else 0
        while True:
            theta = theta.copy()
            value, inverse = kernels.newton_entries(
                B,
                place,
                np.searchsorted(prototype, np.arange(p + 1)),
                theta,
                assignment.own,
                labels.code,
                labels.weight,
                assignment.owner,
                labels.has_zero,
                self.penalty.alpha,
                precise,
                50,
            )
            if self._signed and (wrong := self.penalty.sign[column] * theta).min(initial=0.0) < 0.0:
                kept = np.arange(len(theta)) != wrong.argmin()
                prototype, column, place, theta = prototype[kept], column[kept], place[kept], theta[kept]
                continue
            W = np.zeros((p, len(used)))
            W[prototype, place] = theta
            Z = B @ W.T
            if rounds == 0:
                break
            rounds -= 1
            own = assignments.best_scoring(Z, labels.code, assignment)
            if np.array_equal(own, assignment.own):
                break
            assignment = Assignment(own, assignment.owner)
        return State(assignment, prototype, column, used, place, theta, value, Z, inverse)

    def _columns(self, used: np.ndarray) -> np.ndarray:
        missing = np.array([l for l in used if l not in self._kept], dtype=np.int64)
        if len(missing):
            fresh = self.rows.columns(missing)
            for a, l in enumerate(missing):
                self._kept[int(l)] = np.ascontiguousarray(fresh[:, a])
        B = np.empty((len(self.labels.code), len(used)))
        for a, l in enumerate(used):
            B[:, a] = self._kept[int(l)]
        B.flags.writeable = False
        return B

    # --- what to try -----------------------------------------------------------------------------------------------

    def shortlist(self, state: State) -> list[tuple[float, int, int]]:
        """The affordable additions that promise most, best first, as (gain, prototype, column).

        First by the gain alone, ``g²/2(h + λ)``, over all columns; the best few then by the gain once the weights at
        hand give way, ``g²/2(h + λ - h_S H_S⁻¹ h_S)``. Where the support is shared the prototype is -1, for all.
        """
        pi = self._shares(state)
        G, H = self._slopes(state, pi)
        gain = 0.5 * G * G / (H + self.penalty.alpha)
        gain[~self._affordable(state)] = 0.0
        if self._signed:
            gain[G * self.penalty.sign > 0.0] = 0.0
        if self._shared:
            gain = gain.sum(axis=0, keepdims=True)
        count = min(SHORTLIST, gain.size)
        flat = np.argpartition(-_blurred(gain.ravel()), count - 1)[:count]
        flat = flat[gain.ravel()[flat] > 0.0]
        J, L = np.unravel_index(flat, gain.shape)
        if self._shared:
            return sorted(((float(gain[0, l]), -1, int(l)) for l in L), reverse=True)
        found: list[tuple[float, int, int]] = []
        B = self._columns(state.used)[:, state.place]
        looked, spot = _distinct(L)
        X = self._columns(looked)
        for j in sorted(set(J.tolist())):
            mine = np.flatnonzero(j == J)
            bend = -pi[:, [j]] * pi * self.labels.weight[:, None]
            bend[:, j] += pi[:, j] * self.labels.weight
            x = X[:, spot[mine]]
            cross = x.T @ (B * bend[:, state.prototype])
            h = H[j, L[mine]] + self.penalty.alpha
            left = h - np.einsum("ce,ef,cf->c", cross, state.inverse, cross)
            better = 0.5 * G[j, L[mine]] ** 2 / np.maximum(left, 1e-3 * h)
            found.extend((float(g), int(j), int(l)) for g, l in zip(better, L[mine], strict=True))
        gains, columns = np.array([g for g, _, _ in found]), np.array([l for _, _, l in found])
        order = np.lexsort((columns, -_blurred(gains)))
        return [found[a] for a in order]

    def single_gains(self, state: State) -> np.ndarray:
        """What each entry would gain alone, ``g²/2(h + λ)``, p × d."""
        G, H = self._slopes(state, self._shares(state))
        return np.where(self._free, 0.5 * G * G / (H + self.penalty.alpha), 0.0)

    def cheapest(self, state: State) -> list[np.ndarray]:
        """What may go, each as a list of entries, in the order of what dropping it would cost, ``w²/2[H⁻¹]``."""
        cost = 0.5 * state.theta**2 / np.diagonal(state.inverse)
        free = np.flatnonzero(self._free[state.column])
        if not self._shared:
            return [free[[e]] for e in np.argsort(cost[free], kind="stable")]
        columns = np.unique(state.column[free])
        total = [cost[state.column == l].sum() for l in columns]
        return [np.flatnonzero(state.column == columns[a]) for a in np.argsort(total, kind="stable")]

    def _shares(self, state: State) -> np.ndarray:
        """``π``: the share of each prototype in the softmax of each row, 0 for those that take no part."""
        labels, own, owner = self.labels, state.assignment.own, state.assignment.owner
        pi = np.empty_like(state.Z)
        kernels.residual_rows(state.Z, own, labels.code, owner, labels.has_zero, pi)
        member = np.flatnonzero(own != NO_PROTOTYPE)
        pi[member, own[member]] += 1.0
        return pi

    def _slopes(self, state: State, pi: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        own, weight = state.assignment.own, self.labels.weight[:, None]
        S = pi.copy()
        member = np.flatnonzero(own != NO_PROTOTYPE)
        S[member, own[member]] -= 1.0
        return self.rows.screen(S * weight, pi * (1.0 - pi) * weight)

    def _affordable(self, state: State) -> np.ndarray:
        mask = self.penalty.affordable(state.support(self.rows.n_columns))
        return mask & self._free if self.allowed is None else mask & self._free & self.allowed

    # --- moves -----------------------------------------------------------------------------------------------------

    def add(self, state: State, j: int, l: int) -> State:
        """One more entry, or one for each prototype that lacks it if ``j`` is -1."""
        having = state.prototype[state.column == l]
        more = np.setdiff1d(np.arange(len(state.assignment.owner)), having) if j < 0 else np.array([j])
        return self._fit(
            state.assignment,
            np.append(state.prototype, more),
            np.append(state.column, np.full(len(more), l)),
            np.append(state.theta, np.zeros(len(more))),
        )

    def drop(self, state: State, entries: np.ndarray, precise: float = PRECISE) -> State:
        """Without some entries; the others move to where the quadratic model has its minimum, then are refitted."""
        kept = np.ones(len(state.theta), dtype=bool)
        kept[entries] = False
        block = state.inverse[np.ix_(entries, entries)]
        theta = state.theta - state.inverse[:, entries] @ np.linalg.solve(block, state.theta[entries])
        return self._fit(state.assignment, state.prototype[kept], state.column[kept], theta[kept], precise)

    def grow(self, state: State) -> State | None:
        """The most promising addition; None if there is none."""
        for _, j, l in self.shortlist(state)[:1]:
            return self.add(state, j, l)
        return None

    def shrink(self, state: State) -> State:
        """Without the term that is missed least, by the quadratic model."""
        return self.drop(state, self.cheapest(state)[0])

    def swap(self, state: State, removals: int, tries: int = 1) -> State | None:
        """The first exchange of a cheap term for a promising one that lowers the objective."""
        for entries in self.cheapest(state)[:removals]:
            without = self.drop(state, entries, ROUGH)
            need = without.value - state.value
            gone = {(int(state.prototype[e]), int(state.column[e])) for e in entries}
            for gain, j, l in self.shortlist(without)[:tries]:
                if (j, l) in gone or (j < 0 and l == state.column[entries[0]]) or gain < 0.5 * need:
                    continue
                trial = self.add(without, j, l)
                if trial.value < state.value * (1.0 - LEAST_FALL):
                    return trial
        return None

    def polish(self, state: State, removals: int, tries: int = 1, most: int = 50) -> State:
        """Swap until no swap among the ``removals`` cheapest terms helps."""
        for _ in range(most):
            better = self.swap(state, removals, tries)
            if better is None:
                break
            state = better
        return state

    def settle(self, state: State) -> State:
        """Move rows and refit until the objective no longer falls."""
        for _ in range(20):
            following = self.refit(state)
            fell = following.value < state.value * (1.0 - LEAST_FALL)
            state = following if following.value <= state.value else state
            if not fell:
                break
        return state

    def tidy(self, state: State) -> State:
        """Without prototypes that have no rows, or no terms beside another prototype of their class that has some."""
        own, owner = state.assignment.own, state.assignment.owner
        p = len(owner)
        rows = np.bincount(own[own != NO_PROTOTYPE], minlength=p)
        terms = np.bincount(state.prototype[self._free[state.column]], minlength=p)
        useful = (rows > 0) & (terms > 0)
        for label in np.unique(owner):  # each class keeps one at least: the one with most rows
            mine = np.flatnonzero(owner == label)
            if not useful[mine].any():
                useful[mine[rows[mine].argmax()]] = True
        if useful.all():
            return state
        Z = np.where(useful, state.Z, -np.inf)
        moved = assignments.best_scoring(Z, self.labels.code, replace(state.assignment, own=own))
        renumber = np.append(np.cumsum(useful) - 1, NO_PROTOTYPE)
        kept = useful[state.prototype]
        assignment = Assignment(renumber[moved], owner[useful])
        return self._fit(assignment, renumber[state.prototype[kept]], state.column[kept], state.theta[kept])

    # --- out of a dead end -----------------------------------------------------------------------------------------

    def merit(self, state: State) -> float:
        """How well the model sorts the rows by the greatest score, which is how it will be used: the objective, which
        sums over prototypes, favours few of them on noisy labels. Rounded, so that equals are equal."""
        labels, owner = self.labels, state.assignment.owner
        decision = class_scores(state.Z, owner, 1 + int(max(labels.code.max(), owner.max(), labels.zero_owner or 0)))
        return round(float(labels.weight @ blend(decision, labels.code)), 9)

    def reseed(self, state: State, size: int) -> State:
        """One prototype after the other begun anew, where that makes a better model."""
        merit, j = self.merit(state), 0
        while j < len(state.assignment.owner):
            trial = self._begun_anew(state, j, size)
            if trial is not None and (reached := self.merit(trial)) > merit + LEAST_RISE:
                state, merit, j = trial, reached, 0
            else:
                j += 1
        return state

    def _begun_anew(self, state: State, j: int, size: int) -> State | None:
        """Prototype ``j`` loses its terms, gets the rows that the others of its class serve worst, and grows again.
        None if there are no others, or if this leads nowhere."""
        own, owner = state.assignment.own.copy(), state.assignment.owner
        others = np.flatnonzero((owner == owner[j]) & (np.arange(len(owner)) != j))
        if len(others) == 0:
            return None
        mine = np.flatnonzero(self.labels.code == owner[j])
        scores = state.Z[np.ix_(mine, others)]
        best = scores.max(axis=1)
        order = np.argsort(best, kind="stable")
        mass = np.cumsum(self.labels.weight[mine[order]])
        share = best[order[np.searchsorted(mass, 0.5 * mass[-1] / (len(others) + 1))]]
        own[mine] = np.where(best <= max(share, 0.0), j, others[scores.argmax(axis=1)])
        kept = (state.prototype != j) | ~self._free[state.column]
        theta = np.where(state.prototype == j, 0.0, state.theta)[kept]
        begun = self.fixed()._fit(Assignment(own, owner), state.prototype[kept], state.column[kept], theta)
        settled = self._grown_and_settled(begun, size)
        if self.merit(settled) < self.merit(state) - WORTH_SWAPS:
            return None
        return self._filled_and_swapped(settled, size)

    # --- paths -----------------------------------------------------------------------------------------------------

    def upward(self, state: State, size: int, removals: int) -> Iterator[State]:
        """One more term at a time, up to ``size`` or what can be paid for, polished at each step."""
        while self.size(state) < size:
            grown = self.grow(state)
            if grown is None or self.size(grown) <= self.size(state):
                return
            state = self.polish(grown, removals) if removals else grown
            yield state

    def grown(self, state: State, size: int) -> State:
        """The end of the way up, without polish."""
        return deque([state, *self.upward(state, size, 0)], maxlen=1)[0]

    def downward(self, state: State, size: int, removals: int) -> Iterator[State]:
        """One term fewer at a time, down to ``size``, polished at each step."""
        while self.size(state) > size:
            state = self.tidy(self.polish(self.shrink(state), removals))
            yield state

    def shortened(self, state: State, size: int) -> State:
        """The cheapest terms dropped until ``size`` are left."""
        while self.size(state) > size:
            state = self.shrink(state)
        return state

    def descend(self, assignment: Assignment, size: int) -> State:
        """From an assignment: grow while rows stay where they are, then let them move, and swap."""
        return self._filled_and_swapped(self._grown_and_settled(self.fixed().start(assignment), size), size)

    def _grown_and_settled(self, state: State, size: int) -> State:
        return self.tidy(self.settle(self.fixed().grown(state, size)))

    def _filled_and_swapped(self, state: State, size: int) -> State:
        return self.tidy(self.polish(self.grown(state, size), REMOVALS))

    def trace(self, starts: list[Assignment], least: int, most: int) -> dict[int, State]:
        """A model of each size up to ``most``: upward with one prototype a class, where the start decides nothing; with
        more, downward to ``least`` from the best of full size. A single start is a quick look."""
        found: dict[int, State] = {}
        if len(np.unique(starts[0].owner)) == len(starts[0].owner):
            for state in self.upward(self.start(starts[0]), most, 2):
                found[self.size(state)] = state
            found = found or {0: self.start(starts[0])}
        else:
            full = max((self.descend(start, most) for start in starts), key=self.merit)
            if len(starts) > 1 and len(full.assignment.owner) >= EASILY_STUCK:
                full = self.reseed(full, most)
            for state in [full, *self.downward(full, max(1, least), 1)]:
                found[self.size(state)] = state
        return found


def _distinct(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """As ``np.unique`` with the inverse; faster for a handful."""
    found = np.array(sorted(set(values.tolist())), dtype=np.int64)
    return found, np.searchsorted(found, values)


def _blurred(gain: np.ndarray) -> np.ndarray:
    """Whole numbers in the order of the gains, in which those that differ by rounding are equal: literals that agree on
    all rows tie, and which of them is taken should not hang on the order or the weights of the rows."""
    most = gain.max(initial=0.0)
    return np.rint(gain * (1e9 / most)) if most > 0.0 else gain
