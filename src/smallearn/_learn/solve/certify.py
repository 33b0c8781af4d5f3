r"""Which support is best at a fixed assignment, and the proof: branch and bound on the mask.

A node fixes some items of the mask at 1 ("in") and some at 0 ("out"). Its relaxation is that of the whole problem with
other costs: 0 for what is in, the budget less by what that cost, and infinity for what is out. So every node has the
same solver, and any point of the dual set gives a lower bound on all supports below it:

.. math:: D = -\sum_i weight_i\, loss_i^*(s_i) - \tfrac{1}{2\lambda}
              \max_{\epsilon \text{ of the node}} \sum_{jl} \epsilon_{jl} G_{jl}^2

A node whose bound reaches the value of the best model so far is done with. From the same dual point, let ``τ`` be the
price at which the budget is spent (the least ``G²/c`` among the items that the knapsack takes, or the greatest among
those it leaves): forcing item ``i`` in raises the bound by at least ``(τ c_i - G_i²)/2λ``, forcing it out by at least
``(G_i² - τ c_i)/2λ``. Where that alone is enough, the item is fixed the other way, which costs nothing.
"""

import heapq
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import count, pairwise
from math import comb, inf

import numpy as np

from smallearn._learn.solve import geometry, rounding
from smallearn._learn.solve.objective import Objective, Penalty, Relaxed
from smallearn._learn.solve.solvers import accelerated

LEAST_TOL = 1e-9  # closer than that, rounding decides
CLOSE = 0.25  # a node is relaxed to this share of the gap that ends the proof
MAX_ITER = 500

FREE, IN, OUT = 0, 1, 2


@dataclass(frozen=True)
class Proof:
    """The best model found (``W`` and ``support``, p × d, and its objective) and a lower bound on that of every support
    which keeps the budget, after relaxations of ``nodes`` out of ``supports_total`` (None: not counted, with costs).

    ``complete``: the two are within the tolerance.
    """

    W: np.ndarray
    support: np.ndarray
    value: float
    lower_bound: float
    nodes: int
    supports_total: int | None
    complete: bool

    @property
    def optimality_gap(self) -> float:
        """``(value - lower_bound)/value``."""
        return (self.value - self.lower_bound) / self.value


def certify(
    objective: Objective,
    incumbent: tuple[np.ndarray, np.ndarray, float],
    tol: float = 1e-4,
    time_limit: float | None = None,
    progress: Callable[[Proof], None] | None = None,
) -> Proof:
    """Prove that no support is better than the best found by more than ``tol``, relative, or find a better one.

    Starts from ``incumbent``, a model ``(W, support, value)`` that keeps the budget. Takes the open node of the least
    bound, splits it at the item whose mask is farthest from 0 and 1, and relaxes both halves from its weights. Ends
    when no node is open, or after about ``time_limit`` seconds with the least bound of those that are. ``progress`` is
    told the state of the proof before each split.
    """
    search = _Search(objective, incumbent, max(tol, LEAST_TOL))
    ends = inf if time_limit is None else time.monotonic() + time_limit
    search.visit(np.zeros(len(search.items), dtype=np.int8), incumbent[0])
    while search.open and time.monotonic() < ends:
        node = search.next()
        if node is None:
            break
        if progress is not None:
            progress(search.proof(node.bound))
        for state in (IN, OUT):
            search.visit(_set(node.state, node.split, state), node.W, node.bound)
    return search.proof()


@dataclass(frozen=True)
class _Node:
    """An open node: what is fixed, its relaxed weights and bound, and the item to split it at."""

    state: np.ndarray
    W: np.ndarray
    bound: float
    split: int


class _Search:
    """The tree so far: the best model, the open nodes by their bounds, and the least bound of what was closed."""

    def __init__(self, objective: Objective, incumbent: tuple[np.ndarray, np.ndarray, float], tol: float):
        self.objective, self.tol = objective, tol
        self.best, self.support, self.value = incumbent
        self.pools = objective.penalty.pools(objective.shape[0])
        self.items = self.pools.entry
        self.pool_of = np.repeat(np.arange(len(self.pools.budget)), np.diff(self.pools.start))
        self.place = np.zeros(self.pools.base.size, dtype=np.int64)
        self.place[self.items] = np.arange(len(self.items))
        self.table = np.where(self.pools.base > 0.0, 0.0, inf)  # of costs: an item has its own, the rest is fixed
        self.open: list[tuple[float, int, _Node]] = []
        self.closed = inf
        self.nodes = 0
        self.tried = {self.support.tobytes()}
        self.ticket = count()  # breaks ties between bounds

    @property
    def enough(self) -> float:
        """A bound that closes a node."""
        return self.value * (1.0 - self.tol)

    def next(self) -> _Node | None:
        """The open node of the least bound, or None if all that are open may be closed."""
        bound, _, node = self.open[0]
        if bound >= self.enough:
            return None
        heapq.heappop(self.open)
        return node

    def visit(self, state: np.ndarray, start: np.ndarray, inherited: float = 0.0) -> None:
        """Relax a node, round it for a better model, and close it or leave it open."""
        if np.any(self.spent(state) > self.pools.budget * (1.0 + geometry.ROUNDING)):
            return  # what is in costs more than there is: no support is here
        penalty = self.penalty(state)
        objective = replace(self.objective, penalty=penalty)
        self.nodes += 1
        relaxed = accelerated.solve(objective, start, CLOSE * self.tol, MAX_ITER, self.enough)
        bound = max(relaxed.dual, inherited)
        if bound < self.enough:
            self.improve(objective, relaxed)
        if bound < self.enough and _settled(relaxed.mask) and not relaxed.converged:
            relaxed = accelerated.solve(objective, relaxed.W, CLOSE * self.tol, MAX_ITER)
            bound = max(bound, relaxed.dual)
        if bound >= self.enough or _settled(relaxed.mask):
            self.closed = min(self.closed, bound)
            return
        state = self.fix(state, objective, relaxed)
        share = relaxed.mask.ravel()[self.items]
        doubt = np.where(state == FREE, np.minimum(share, 1.0 - share), -1.0)
        split = int(np.argmax(doubt))
        if doubt[split] <= 0.0:  # all that was in doubt has been fixed
            self.visit(state, relaxed.W, bound)
            return
        heapq.heappush(self.open, (bound, next(self.ticket), _Node(state, relaxed.W, bound, split)))

    def spent(self, state: np.ndarray) -> np.ndarray:
        """What is in, by cost, for each pool."""
        return np.bincount(self.pool_of, self.pools.cost * (state == IN), len(self.pools.budget))

    def penalty(self, state: np.ndarray) -> Penalty:
        """The penalty of a node: what is in costs nothing more, what is out more than there is."""
        pools = self.pools
        price = np.where(state == FREE, pools.cost, np.where(state == IN, 0.0, inf))
        cost = self.table.copy()
        budget = np.maximum(pools.budget - self.spent(state), 0.0)
        if pools.copies > 1:
            cost[:, self.items] = price
            cost = cost[0]
        else:
            cost.flat[self.items] = price
        scalar = float(budget[0]) if len(budget) == 1 else budget
        return replace(self.objective.penalty, budget=scalar, cost=cost)

    def improve(self, objective: Objective, relaxed: Relaxed) -> None:
        """Round and refit; keep the model if it is the best so far."""
        support = rounding.round_support(objective, relaxed)
        if support.tobytes() in self.tried:
            return
        self.tried.add(support.tobytes())
        W, value = rounding.refit(objective, support, relaxed.W)
        if value < self.value:
            self.best, self.support, self.value = W, support, value

    def fix(self, state: np.ndarray, objective: Objective, relaxed: Relaxed) -> np.ndarray:
        """Fix the items of a node that its dual point decides by itself (see the head of this file)."""
        penalty = objective.penalty
        pools = penalty.pools(objective.shape[0])
        G = relaxed.gradient
        # loss + loss* = <G, W> at the gradient of the loss, so that D needs no further pass over the rows.
        bound = relaxed.primal - penalty.value(relaxed.W) - float(np.vdot(G, relaxed.W)) - penalty.conjugate(G)
        worth = geometry.sizes(-G, pools) ** 2  # G²/c
        state = state.copy()
        for pool, (first, last) in enumerate(pairwise(pools.start)):
            if first == last:
                continue
            ratio, cost = worth[first:last], pools.cost[first:last]
            order = np.argsort(-ratio, kind="stable")
            reached = np.cumsum(cost[order])
            taken = ratio[order[np.searchsorted(reached, pools.budget[pool])]]
            after = np.searchsorted(reached, pools.budget[pool], side="right")
            left = ratio[order[after]] if after < len(order) else 0.0
            unit = cost / (2.0 * penalty.alpha)
            if_in, if_out = bound + (taken - ratio) * unit, bound + (ratio - left) * unit
            item = self.place[pools.entry[first:last]]
            state[item[if_in >= self.enough]] = OUT
            state[item[if_out >= self.enough]] = IN
            for fixed in (if_in, if_out):
                self.closed = min(self.closed, np.min(fixed[fixed >= self.enough], initial=inf))
        return state

    def proof(self, bound: float = inf) -> Proof:
        """What is known; ``bound`` is that of a node taken from the open ones."""
        least = min(bound, self.closed, self.open[0][0] if self.open else inf, self.value)
        complete = self.value - least <= self.tol * self.value
        return Proof(self.best, self.support, self.value, least, self.nodes, self._supports_total(), complete)

    def _supports_total(self) -> int | None:
        if not self.pools.choice:
            return 1 if len(self.items) == 0 else None
        return comb(len(self.items) // len(self.pools.budget), self.pools.choice) ** len(self.pools.budget)


def _set(state: np.ndarray, item: int, value: int) -> np.ndarray:
    state = state.copy()
    state[item] = value
    return state


def _settled(mask: np.ndarray) -> bool:
    """Whether a mask is that of a support."""
    return bool(np.all((mask == 0.0) | (mask == 1.0)))
