r"""The best support at a fixed assignment, with proof: branch and bound on the mask.

A node fixes some items of the mask at 1 ("in") and some at 0 ("out"). Its relaxation is that of the whole problem with
other costs: 0 for items that are in, whose cost is taken from the budget, and infinity for items that are out. So one
solver serves every node, and any point of the dual set gives a lower bound on all supports below the node:

.. math:: D = -\sum_i weight_i\, loss_i^*(s_i) - \tfrac{1}{2\lambda}
              \max_{\epsilon \text{ of the node}} \sum_{jl} \epsilon_{jl} G_{jl}^2

A node is closed once its bound reaches the objective of the best model so far. From the same dual point, let ``τ`` be
the price at which the budget is spent (the least ``G²/c`` of the items that the knapsack takes, or the greatest of
those it leaves): forcing item ``i`` in raises the bound by at least ``(τ c_i - G_i²)/2λ``, forcing it out by at least
``(G_i² - τ c_i)/2λ``. If that alone would close the node, the item is fixed the other way without solving anything.
"""

import heapq
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import count, pairwise
from math import comb, inf

import numpy as np

from smallearn._learn.kernels import NO_CHOICE
from smallearn._learn.solve import geometry, rounding
from smallearn._learn.solve.objective import Objective, Penalty, Relaxed
from smallearn._learn.solve.solvers import accelerated
from smallearn._run.deadline import present

LEAST_TOL = 1e-9  # below this, rounding errors decide
CLOSE = 0.25  # a node is relaxed to this share of the tolerance
MAX_ITER = 500
PROOF = "the proof"  # what is cut short when time is up

FREE, IN, OUT = 0, 1, 2


@dataclass(frozen=True)
class Incumbent:
    """A model that keeps the budget: ``W`` and ``support`` (p × d) and its objective."""

    W: np.ndarray
    support: np.ndarray
    value: float


@dataclass(frozen=True)
class Proof:
    """The best model found and a lower bound on the objective of every support that keeps the budget.

    ``nodes`` relaxations were solved; there are ``supports_total`` supports (None: not counted, with costs).
    ``complete``: value and bound are within the tolerance.
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
    incumbent: Incumbent,
    *,
    tol: float = 1e-4,
    progress: Callable[[Proof], None] | None = None,
) -> Proof:
    """Prove that no support is better than the best found by more than ``tol``, relative, or find a better one.

    Starts from ``incumbent``. Takes the open node with the least bound, splits it at the item whose mask is farthest
    from 0 and 1, and relaxes both halves from its weights. Ends when no node is open, or at the deadline; the bound is
    then the least of the open nodes. ``progress`` is called with the present state of the proof before each split.
    """
    tree = _Tree(objective, incumbent, max(tol, LEAST_TOL))
    tree.visit(np.full(len(tree.items), FREE, dtype=np.int8), incumbent.W)
    while tree.unfinished and not present().stops(PROOF):
        node = tree.next()
        if progress is not None:
            progress(tree.proof(node.bound))
        for state in (IN, OUT):
            tree.visit(_set(node.state, node.split, state), node.W, node.bound)
    return tree.proof()


@dataclass(frozen=True)
class _Node:
    """An open node: the state of each item, the relaxed weights, the bound, and the item to split at."""

    state: np.ndarray
    W: np.ndarray
    bound: float
    split: int


class _Tree:
    """The tree so far: the best model, the open nodes by their bounds, and the least bound of the closed ones."""

    def __init__(self, objective: Objective, incumbent: Incumbent, tol: float):
        self.objective, self.best, self.tol = objective, incumbent, tol
        self.pools = objective.penalty.pools(objective.shape[0])
        self.items = self.pools.entry
        self.pool_of = np.repeat(np.arange(len(self.pools.budget)), np.diff(self.pools.start))
        self.position = np.zeros(self.pools.base.size, dtype=np.int64)
        self.position[self.items] = np.arange(len(self.items))
        self.costs = np.where(self.pools.base > 0.0, 0.0, inf)  # of entries that are no item
        self.open: list[tuple[float, int, _Node]] = []
        self.closed = inf
        self.nodes = 0
        self.tried = {incumbent.support.tobytes()}
        self.ticket = count()  # breaks ties between bounds

    @property
    def enough(self) -> float:
        """A bound that closes a node."""
        return self.best.value * (1.0 - self.tol)

    @property
    def unfinished(self) -> bool:
        """Whether some open node cannot be closed."""
        return bool(self.open) and self.open[0][0] < self.enough

    def next(self) -> _Node:
        """The open node with the least bound."""
        return heapq.heappop(self.open)[-1]

    def visit(self, state: np.ndarray, start: np.ndarray, inherited: float = 0.0) -> None:
        """Relax a node, round it to look for a better model, and close it or leave it open."""
        if np.any(self.spent(state) > self.pools.budget * (1.0 + geometry.ROUNDING)):
            return  # the items that are in exceed the budget: no support is below this node
        penalty = self.penalty(state)
        objective = replace(self.objective, penalty=penalty)
        self.nodes += 1
        relaxed = accelerated.solve(objective, start, CLOSE * self.tol, MAX_ITER, self.enough, PROOF)
        bound = max(relaxed.dual, inherited)
        if bound < self.enough:
            self.improve(objective, relaxed)
        if bound < self.enough and _is_support(relaxed.mask) and not relaxed.converged:
            relaxed = accelerated.solve(objective, relaxed.W, CLOSE * self.tol, MAX_ITER, work=PROOF)
            bound = max(bound, relaxed.dual)
        if bound >= self.enough or _is_support(relaxed.mask):
            self.closed = min(self.closed, bound)
            return
        state = self.fix(state, objective, relaxed)
        share = relaxed.mask.ravel()[self.items]
        doubt = np.where(state == FREE, np.minimum(share, 1.0 - share), -inf)
        split = int(np.argmax(doubt))
        if doubt[split] <= 0.0:  # every item in doubt has been fixed
            self.visit(state, relaxed.W, bound)
            return
        heapq.heappush(self.open, (bound, next(self.ticket), _Node(state=state, W=relaxed.W, bound=bound, split=split)))

    def spent(self, state: np.ndarray) -> np.ndarray:
        """The cost of the items that are in, for each pool."""
        return np.bincount(self.pool_of, self.pools.cost * (state == IN), len(self.pools.budget))

    def penalty(self, state: np.ndarray) -> Penalty:
        """The penalty of a node: items that are in cost nothing more, items that are out are never affordable."""
        pools = self.pools
        price = np.where(state == FREE, pools.cost, np.where(state == IN, 0.0, inf))
        cost = self.costs.copy()
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
        if support.tobytes() in self.tried or not self.keeps_groups(support):
            return
        self.tried.add(support.tobytes())
        W, value = rounding.refit(objective, support, relaxed.W)
        if value < self.best.value:
            self.best = Incumbent(W=W, support=support, value=value)

    def keeps_groups(self, support: np.ndarray) -> bool:
        """Whether a support keeps the limit on groups of features, which the items that are in may break."""
        groups = self.objective.penalty.groups
        return groups is None or groups.allows(np.flatnonzero(support.any(axis=0)))

    def fix(self, state: np.ndarray, objective: Objective, relaxed: Relaxed) -> np.ndarray:
        """Fix the items that the dual point of a node decides (see the module's docstring)."""
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
            item = self.position[pools.entry[first:last]]
            state[item[if_in >= self.enough]] = OUT
            state[item[if_out >= self.enough]] = IN
            for fixed in (if_in, if_out):
                self.closed = min(self.closed, np.min(fixed[fixed >= self.enough], initial=inf))
        return state

    def proof(self, bound: float = inf) -> Proof:
        """The present state of the proof; ``bound`` is that of a node just taken from the open ones."""
        best = self.best
        least = min(bound, self.closed, self.open[0][0] if self.open else inf, best.value)
        return Proof(
            W=best.W,
            support=best.support,
            value=best.value,
            lower_bound=least,
            nodes=self.nodes,
            supports_total=self._supports_total(),
            complete=best.value - least <= self.tol * best.value,
        )

    def _supports_total(self) -> int | None:
        if self.pools.choice == NO_CHOICE:
            return 1 if len(self.items) == 0 else None
        return comb(len(self.items) // len(self.pools.budget), self.pools.choice) ** len(self.pools.budget)


def _set(state: np.ndarray, item: int, value: int) -> np.ndarray:
    state = state.copy()
    state[item] = value
    return state


def _is_support(mask: np.ndarray) -> bool:
    """Whether a mask has only zeros and ones."""
    return bool(np.all((mask == 0.0) | (mask == 1.0)))
