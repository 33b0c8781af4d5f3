"""Search over supports: add a term, drop a term, swap two, move rows between prototypes, while the objective falls.

Which terms to try is read off the gradient and the curvature of *all* candidate terms, in one pass over the rows; only
the few most promising are refitted. Everything is in standardised space. Columns of cost 0 (the constant) are part of
every support.
"""

from collections import deque
from collections.abc import Iterator
from copy import copy
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from smallearn._learn import search_kernels
from smallearn._learn.data.blocks import TrainingRows
from smallearn._learn.data.labels import LOG_LOSS, Assignment, renumber
from smallearn._learn.kernels import NO_PROTOTYPE
from smallearn._learn.solve import assignment as assignments
from smallearn._learn.solve import geometry
from smallearn._learn.solve.objective import Penalty
from smallearn._learn.solve.scoring import blend, right
from smallearn._learn.solve.support_state import (
    MANY_ENTRIES,
    PRECISE,
    REASSIGNMENTS,
    ROUGH,
    ColumnCache,
    Entries,
    State,
    fit,
    tempered,
    weighted_sums,
)
from smallearn._run.deadline import present
from smallearn.model._decision import class_scores

SHORTLIST = 12  # candidate terms whose gain is computed with the present weights free to change
FEWEST_JOINT = 3  # the same, of terms that all prototypes share, where there are many prototypes …
MOST_JOINT_WORK = 4_000_000  # … and about this many multiplications
MANY_SHARED, SHARED_PRECISION = 160, 1e-4  # entries of shared terms, from which on refits are less precise
MOST_TILTED = 300  # entries, up to which the inverse Hessian at another λ is worth its time
SWAPS = "the swaps of terms"  # what is cut short when time is up
SMALL = 24  # terms, up to which models of every size are found
REMOVALS = 4  # the least useful terms, which are tried for a swap
LEAST_FALL = 1e-4  # a swap must lower the objective by this share of it
MOST_REFITS = 20  # rounds of moving rows and refitting
MANY_PROTOTYPES = 4  # of a class, from which on only swaps show what a start is worth
EASILY_STUCK = 3  # from this number of prototypes of a class on, each is tried from new rows
MOST_THOROUGH = SMALL  # terms, up to which a search may be thorough: with more, swaps do as well
LEAST_RISE = 1e-3  # in merit, for a prototype that was started again to stay
WORTH_SWAPS = 0.02  # in merit: a restarted model that is further behind before its swaps is dropped


NO_STEP = np.empty(0)


class Addition(NamedTuple):
    """A term that may be added: its expected gain, the prototype (None: all of them, which share it) and the column.

    ``step`` is by how much the weights are expected to change: those of the support, then that of the new term.
    ``curvature`` is what `State.with_shared` needs to know, if the term is shared.
    """

    gain: float
    prototype: int | None
    column: int
    step: np.ndarray = NO_STEP
    curvature: tuple[np.ndarray, ...] = ()


class SupportSearch:
    """The moves for one set of rows under one penalty.

    ``allowed`` (d) marks the columns that may be used. ``moving=False`` keeps every row with its prototype.
    ``sharpness`` is that of the loss: 1 for the log loss (see `search_kernels`).
    """

    def __init__(
        self,
        rows: TrainingRows,
        penalty: Penalty,
        allowed: np.ndarray | None = None,
        *,
        moving: bool = True,
        columns: ColumnCache | None = None,
        sharpness: float = LOG_LOSS,
    ):
        self.rows, self.penalty, self.allowed, self.moving = rows, penalty, allowed, moving
        self.labels = replace(rows.labels, sharpness=sharpness)
        self.columns = ColumnCache(rows) if columns is None else columns
        self._free = penalty.cost > 0.0
        self._usable = self._free if allowed is None else self._free & allowed
        self._kinds = rows.kinds(self._usable)
        self._shared = penalty.pooling == "shared"
        self._by_prototype = penalty.pooling == "prototype"
        self._last: tuple[Assignment, int, State] | None = None

    def fixed(self) -> "SupportSearch":
        """The same search with every row kept where it is."""
        search = copy(self)
        search.moving = False
        return search

    def with_penalty(self, penalty: Penalty) -> "SupportSearch":
        """The same search under another penalty."""
        sharpness = self.labels.sharpness
        return SupportSearch(
            self.rows, penalty, self.allowed, moving=self.moving, columns=self.columns, sharpness=sharpness
        )

    # --- states ----------------------------------------------------------------------------------------------------

    def start(self, assignment: Assignment) -> State:
        """The state without terms: only the columns that are always in."""
        p, always = len(assignment.owner), np.flatnonzero(~self._free)
        entries = Entries(
            prototype=np.repeat(np.arange(p), len(always)), column=np.tile(always, p), theta=np.zeros(p * len(always))
        )
        return self._fit(assignment, entries)

    def resume(self, assignment: Assignment, support: np.ndarray, W: np.ndarray) -> State:
        """The state of a support found elsewhere, from the weights ``W``."""
        prototype, column = np.nonzero(support)
        return self._fit(assignment, Entries(prototype=prototype, column=column, theta=W[prototype, column]))

    def refit(self, state: State, alpha: float | None = None) -> State:
        """The same support under this search's penalty; rows may move. ``alpha`` is the λ of the state, if another."""
        inverse = state.inverse_hessian
        if alpha is not None and MANY_ENTRIES <= len(inverse) <= MOST_TILTED:
            inverse = search_kernels.at_other_alpha(inverse, self.penalty.alpha - alpha)
        return self._fit(state.assignment, state.entries, inverse)

    def refit_at(self, assignment: Assignment, entries: Entries) -> State:
        """The best weights of a support, at an assignment; rows may move."""
        return self._fit(assignment, entries)

    def place(self, state: State) -> State:
        """A state of a search on other rows, on these: each row starts at the prototype with the highest score."""
        owner, entries = state.assignment.owner, state.entries
        own = np.full(len(self.labels.code), NO_PROTOTYPE)
        for j in range(len(owner) - 1, -1, -1):
            own[self.labels.code == owner[j]] = j
        Z = weighted_sums(self.columns, state)
        search_kernels.move_rows(Z, own, self.labels.code, owner)
        return self._fit(Assignment(own=own, owner=owner), entries)

    def calibrated(self, state: State) -> State:
        """The model with probabilities as the log loss wants them, by a factor, if the search has another loss."""
        return state if self.labels.sharpness == LOG_LOSS else tempered(state, self.labels, self.penalty.alpha)

    def size(self, state: State) -> int:
        """The number of terms, without those always in; shared terms count once."""
        free = self._free[state.column]
        return len(np.unique(state.column[free])) if self._shared else int(np.count_nonzero(free))

    def _fit(
        self,
        assignment: Assignment,
        entries: Entries,
        inverse_hessian: np.ndarray | None = None,
        precision: float = PRECISE,
    ) -> State:
        moving = self.moving and precision < ROUGH and not assignment.one_per_class
        if self._shared and len(entries.theta) >= MANY_SHARED:
            precision = max(precision, SHARED_PRECISION)
        return fit(
            self.columns,
            self.labels,
            self.penalty,
            assignment,
            entries,
            precision=precision,
            rounds=REASSIGNMENTS if moving else 0,
            inverse_hessian=inverse_hessian,
        )

    # --- what to try -----------------------------------------------------------------------------------------------

    def shortlist(self, state: State, count: int = SHORTLIST) -> list[Addition]:
        """The ``count`` affordable additions with the largest expected gain, best first.

        First by the gain of the term alone, ``g²/2(h + λ)``, over all columns. The best few are then ranked by the gain
        when the present weights change with it, ``g²/2(h + λ - h_S H_S⁻¹ h_S)``.
        """
        alpha, d = self.penalty.alpha, self.rows.n_columns
        PI, bend, G, H = self._slopes(state)
        best, gain = search_kernels.promising(
            G,
            H,
            alpha,
            self._open(state.column),
            self.penalty.sign,
            *self._room(state),
            *state.entries[:2],
            self._shared,
            max(SHORTLIST, 2 * count) if count > 1 else SHORTLIST,
        )
        if self._shared:
            return self._shared_additions(state, PI, bend, G, best, gain)[:count]
        size = len(state.theta)
        slots = self.columns.slots(np.concatenate([state.column, best % d]))
        gain, step, order = search_kernels.joint_gains(
            self.columns.K,
            slots[:size],
            state.begin,
            PI,
            bend,
            self.labels.flat(*state.assignment),
            state.inverse_hessian,
            G,
            H,
            alpha,
            best,
            slots[size:],
        )
        return [
            Addition(gain=float(gain[a]), prototype=int(best[a]) // d, column=int(best[a]) % d, step=step[a])
            for a in order[:count].tolist()
        ]

    def _shared_additions(
        self, state: State, PI: np.ndarray, bend: np.ndarray, G: np.ndarray, best: np.ndarray, gain: np.ndarray
    ) -> list[Addition]:
        """The additions of columns ``best``, by the gain when the present weights change with them, best first."""
        p, size = len(PI), len(state.theta)
        used = np.isin(best, state.column)  # by some of the prototypes
        work = p * p * (size // p + 1) * PI.shape[1]
        new = best[~used][: max(FEWEST_JOINT, MOST_JOINT_WORK // work)]
        slots = self.columns.slots(np.concatenate([state.column, new]))
        gains, step, complement, follow, order = search_kernels.shared_gains(
            self.columns.K,
            slots[:size],
            state.begin,
            PI,
            bend,
            state.inverse_hessian,
            G,
            self.penalty.alpha,
            new,
            slots[size:],
        )
        joint = [
            Addition(
                gain=float(gains[a]),
                prototype=None,
                column=int(new[a]),
                step=step[a],
                curvature=(complement[a], follow[a]),
            )
            for a in order.tolist()
        ]
        pairs = zip(gain[used].tolist(), best[used].tolist(), strict=True)
        partly = [Addition(gain=value, prototype=None, column=l) for value, l in pairs]
        return sorted(joint + partly, key=lambda addition: -addition.gain)

    def single_gains(self, state: State) -> np.ndarray:
        """The expected gain of each entry alone, ``g²/2(h + λ)``, p × d."""
        *_, G, H = self._slopes(state)
        return np.where(self._free, 0.5 * G * G / (H + self.penalty.alpha), 0.0)

    def cheapest(self, state: State) -> list[np.ndarray]:
        """The terms that may be dropped, each as a list of entries, by the expected loss ``w²/2[H⁻¹]``, least first."""
        free = np.flatnonzero(self._free[state.column])
        if not self._shared:
            cost = 0.5 * state.theta**2 / np.diagonal(state.inverse_hessian)
            return list(free[cost[free].argsort(kind="stable")][:, None])
        columns = np.unique(state.column[free])
        losses = search_kernels.losses_without(state.theta, state.inverse_hessian, state.column, columns)
        return [np.flatnonzero(state.column == columns[a]) for a in np.argsort(losses, kind="stable")]

    def _slopes(self, state: State) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """The probability of each prototype in the loss of each row (p × m), the weight of each row in second
        derivatives (m), and gradient and curvature of the loss in every entry (both p × d)."""
        p, m = state.Z.shape
        PI, V, bend = np.empty((p, m)), np.empty((m, 2 * p)), np.empty(m)
        search_kernels.shares(state.Z, self.labels.flat(*state.assignment), PI, V, bend)
        return PI, bend, *self.rows.screen(V, self._kinds)

    def _open(self, columns: np.ndarray) -> np.ndarray:
        """The columns that may be used beside these."""
        groups = self.penalty.groups
        return self._usable if groups is None else self._usable & ~groups.closed(columns)

    def _room(self, state: State) -> tuple[np.ndarray, np.ndarray]:
        """What one more entry of each column costs (d), and what each prototype may still spend (p)."""
        p, cost = len(state.assignment.owner), self.penalty.cost
        limit = self.penalty.budget * (1.0 + geometry.ROUNDING)
        if self._shared:
            used = np.unique(state.column)
            price = cost.copy()
            price[used] = 0.0
            return price, np.full(p, limit - cost[used].sum())
        spent = cost[state.column]
        return cost, np.full(p, limit - (np.bincount(state.prototype, spent, p) if self._by_prototype else spent.sum()))

    # --- moves -----------------------------------------------------------------------------------------------------

    def add(self, state: State, addition: Addition) -> State:
        """One more entry, or one for each prototype that does not have the column."""
        entries, (_, prototype, column, step, curvature) = state.entries, addition
        if curvature:
            return self._fit(state.assignment, *state.with_shared(column, step, *curvature))
        if prototype is None:
            having = state.prototype[state.column == column]
            missing = np.setdiff1d(np.arange(len(state.assignment.owner)), having)
            return self._fit(state.assignment, entries.with_column(missing, column))
        return self._fit(state.assignment, *state.with_entry(prototype, column, step, addition.gain))

    def drop(self, state: State, entries: np.ndarray, precision: float = PRECISE) -> State:
        """Without some entries; the others start from the minimum of the quadratic model."""
        return self._fit(state.assignment, *state.without(entries), precision)

    def grow(self, state: State, count: int = 1, apart: bool = False) -> State | None:
        """With the ``count`` most promising additions, as far as the budget allows; None if there is none.

        If they are to be ``apart``, each prototype gets one at most.
        """
        best = self.shortlist(state, count)
        if not best:
            return None
        if apart:
            best = list({addition.prototype: addition for addition in reversed(best)}.values())[::-1]
        if len(best) == 1 or self._shared:
            return self.add(state, best[0])
        entries, (price, left) = state.entries, self._room(state)
        for _, j, l, *_ in best:
            if price[l] <= left[j] and self._open(entries.column)[l]:
                entries = entries.with_column(np.array([j]), l)
                left[j if self._by_prototype else slice(None)] -= price[l]
        return self._fit(state.assignment, entries)

    def shrink(self, state: State, count: int = 1) -> State:
        """Without the ``count`` least useful terms, by the quadratic model."""
        return self.drop(state, np.concatenate(self.cheapest(state)[:count]))

    def swap(self, state: State, removals: int, tries: int = 1) -> State | None:
        """The first exchange of one of the ``removals`` cheapest terms for another that lowers the objective; None if
        there is none, or if time is up before one is found."""
        for entries in self.cheapest(state)[:removals]:
            if present().stops(SWAPS):
                break
            without = self.drop(state, entries, ROUGH)
            need = without.value - state.value
            dropped = {(int(state.prototype[e]), int(state.column[e])) for e in entries}
            for addition in self.shortlist(without, tries):
                gain, j, l, *_ = addition
                same = l == state.column[entries[0]] if j is None else (j, l) in dropped
                if same or gain < 0.5 * need:
                    continue
                trial = self.add(without, addition)
                if trial.value < state.value * (1.0 - LEAST_FALL):
                    return trial
        return None

    def polish(self, state: State, removals: int, tries: int = 1, most: int = 50) -> State:
        """Swap until no swap among the ``removals`` cheapest terms helps, or time is up."""
        for _ in range(most):
            better = self.swap(state, removals, tries)
            if better is None:
                break
            state = better
        return state

    def reassign(self, state: State) -> State:
        """Move rows and refit until the objective no longer falls."""
        for _ in range(MOST_REFITS):
            following = self.refit(state)
            fell = following.value < state.value * (1.0 - LEAST_FALL)
            state = following if following.value <= state.value else state
            if not fell:
                break
        return state

    def drop_unused(self, state: State) -> State:
        """Without prototypes that have no rows, or that have no terms while another prototype of their class has."""
        owner = state.assignment.owner
        rows = state.assignment.sizes()
        terms = np.bincount(state.prototype[self._free[state.column]], minlength=len(owner))
        useful = (rows > 0) & (terms > 0)
        if useful.all():
            return state
        for label in np.unique(owner):  # each class keeps at least one: the one with most rows
            mine = np.flatnonzero(owner == label)
            if not useful[mine].any():
                useful[mine[rows[mine].argmax()]] = True
        if useful.all():
            return state
        Z = np.where(useful[:, None], state.Z, -np.inf)
        moved = assignments.best_scoring(Z.T, self.labels.code, state.assignment)
        entries = state.entries.take(useful[state.prototype])
        entries = entries._replace(prototype=renumber(useful)[entries.prototype])
        return self._fit(moved.keep(useful), entries)

    # --- prototypes that are stuck ---------------------------------------------------------------------------------

    def merit(self, state: State) -> float:
        """How well the model classifies the rows by the greatest score, which is how it is used: the objective, which
        sums over prototypes, favours few of them on noisy labels. Rounded, so that ties are ties."""
        decision = class_scores(state.Z.T, state.assignment.owner, self.labels.roles(state.assignment).n_classes)
        each = blend(right(decision, self.labels.code), decision, self.labels.code)
        return round(float(np.sum(self.labels.weight * each)), 9)

    def reseed(self, state: State, size: int) -> State:
        """Start each prototype again from other rows, one after the other, where that makes a better model."""
        merit, j = self.merit(state), 0
        while j < len(state.assignment.owner) and not present().stops(SWAPS):
            trial = self._restarted(state, j, size)
            if trial is not None and (reached := self.merit(trial)) > merit + LEAST_RISE:
                state, merit, j = trial, reached, 0
            else:
                j += 1
        return state

    def _restarted(self, state: State, j: int, size: int) -> State | None:
        """Prototype ``j`` loses its terms, gets the rows that the others of its class score worst, and grows again.
        None if there are no others, or if the result is far behind."""
        own, owner = state.assignment.own.copy(), state.assignment.owner
        others = np.flatnonzero((owner == owner[j]) & (np.arange(len(owner)) != j))
        if len(others) == 0:
            return None
        mine = np.flatnonzero(self.labels.code == owner[j])
        scores = state.Z[np.ix_(others, mine)]
        best = scores.max(axis=0)
        order = np.argsort(best, kind="stable")
        mass = np.cumsum(self.labels.weight[mine[order]])
        share = 0.5 * (1.0 - search_kernels.ROUNDING) / (len(others) + 1)  # rounded sums decide nothing at the edge
        threshold = best[order[np.searchsorted(mass, share * mass[-1])]]
        own[mine] = np.where(best <= max(threshold, 0.0), j, others[scores.argmax(axis=0)])
        kept = (state.prototype != j) | ~self._free[state.column]
        entries = state.entries._replace(theta=np.where(state.prototype == j, 0.0, state.theta)).take(kept)
        restarted = self.fixed()._fit(Assignment(own=own, owner=owner), entries)
        grown = self._grow_and_reassign(restarted, size)
        if self.merit(grown) < self.merit(state) - WORTH_SWAPS:
            return None
        return self._fill_and_swap(grown, size)

    # --- paths -----------------------------------------------------------------------------------------------------

    def upward(self, state: State, size: int, removals: int) -> Iterator[State]:
        """Term by term up to ``size`` or what the budget pays for, polished at each step. Above `SMALL` terms in larger
        steps (see `step_at`); while rows stay where they are, half of the prototypes then grow at once."""
        by_one = self.moving or self._shared or size <= SMALL
        while (present := self.size(state)) < size:
            together = 1 if by_one else len(state.assignment.owner) // 2
            step = next_above(present) - present
            grown = self.grow(state, min(size - present, max(step, together)), apart=step < together)
            if grown is None or self.size(grown) <= self.size(state):
                return
            state = self.polish(grown, removals) if removals else grown
            yield state

    def grow_to(self, state: State, size: int) -> State:
        """The last state of the path upward, without polishing."""
        return deque([state, *self.upward(state, size, 0)], maxlen=1)[0]

    def downward(self, state: State, size: int, removals: int) -> Iterator[State]:
        """Term by term down to ``size``, polished at each step. Above `SMALL` terms in larger steps."""
        while (present := self.size(state)) > size:
            smaller = self.shrink(state, present - max(size, next_below(present)))
            state = self.drop_unused(self.polish(smaller, removals))
            yield state

    def shrink_to(self, state: State, size: int) -> State:
        """The cheapest terms dropped until ``size`` are left."""
        while (present := self.size(state)) > size:
            state = self.shrink(state, present - max(size, next_below(present)))
        return state

    def descend(self, assignment: Assignment, size: int) -> State:
        """From an assignment: grow while rows stay where they are, then let them move, and swap."""
        return self._fill_and_swap(self._from_start(assignment, size), size)

    def _from_start(self, assignment: Assignment, size: int) -> State:
        """From an assignment: grow while rows stay where they are, then let them move.

        The last result is kept: a search begins with the start that the quick look before it was at.
        """
        if self._last is None or self._last[0] is not assignment or self._last[1] != size:
            self._last = assignment, size, self._grow_and_reassign(self.fixed().start(assignment), size)
        return self._last[2]

    def _grow_and_reassign(self, state: State, size: int) -> State:
        return self.drop_unused(self.reassign(self.fixed().grow_to(state, size)))

    def _fill_and_swap(self, state: State, size: int) -> State:
        return self.drop_unused(self.polish(self.grow_to(state, size), REMOVALS))

    def trace(self, starts: list[Assignment], least: int, most: int, thorough: bool = False) -> dict[int, State]:
        """A model of each size up to ``most``.

        With one prototype for each class the path goes upward; there is only one start. With more, it goes downward to
        ``least`` from the best of the models of full size. If the search is ``thorough`` or has many prototypes, not
        many terms, terms are swapped from every start, not the best alone, and prototypes that are stuck start again.
        """
        if starts[0].one_per_class:
            path = list(self.upward(self.start(starts[0]), most, 2)) or [self.start(starts[0])]
            return {self.size(state): state for state in path}
        thorough = (thorough or most_of_a_class(starts[0]) >= MANY_PROTOTYPES) and most <= MOST_THOROUGH
        if thorough:
            full = max((self.descend(start, most) for start in starts), key=self.merit)
        else:
            grown = (self._from_start(start, most) for start in starts)
            full = self._fill_and_swap(max(grown, key=self.merit), most)
        if thorough and most_of_a_class(full.assignment) >= EASILY_STUCK:
            full = self.reseed(full, most)
        path = [full, *self.downward(full, max(1, least), 1)]
        return {self.size(state): state for state in path}

    def look(self, start: Assignment, most: int) -> dict[int, State]:
        """A quick look at what models of up to ``most`` terms can reach: with more than one prototype for a class only
        at full size, and without swaps unless there are many prototypes."""
        if start.one_per_class:
            path = list(self.upward(self.start(start), most, 0)) or [self.start(start)]
            return {self.size(state): state for state in path}
        if most_of_a_class(start) >= MANY_PROTOTYPES and most <= MOST_THOROUGH:
            full = self.descend(start, most)
        else:
            full = self.drop_unused(self.grow_to(self._from_start(start, most), most))
        return {self.size(full): full}


def most_of_a_class(assignment: Assignment) -> int:
    """The largest number of prototypes that a class owns."""
    return int(np.bincount(assignment.owner).max())


def step_at(size: int) -> int:
    """The step between the sizes of models around ``size``: 1 up to `SMALL`, and twice as much for each doubling."""
    step = 1
    while size > SMALL * step:
        step *= 2
    return step


def next_above(size: int) -> int:
    """The next larger size: a multiple of the step there."""
    step = step_at(size + 1)
    return step * (size // step + 1)


def next_below(size: int) -> int:
    """The next smaller size: a multiple of the step there."""
    step = step_at(size)
    return step * ((size - 1) // step)
