r"""Projections and proximal steps: pure functions, exact by sorting.

Matrices have one prototype per row. What a budget pays for is an item: an entry of such a matrix, or a column if all
prototypes share their support. Items stand in pools, each with a budget of its own; see `Pools`.
"""

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from smallearn._learn import kernels

ROUNDING = 1e-12  # costs are added up in floats: so much more than the budget, relative, still keeps it
FEW_ITEMS = 128  # so many are sorted in the kernel


class Pools(NamedTuple):
    """Which masks are allowed: ``Σ cost_i ε_i ≤ budget`` over the items ``start[q] … start[q + 1] - 1`` of pool ``q``.

    ``entry[i]`` is where item ``i`` stands in the flattened p × d matrix; with ``copies > 1`` it stands for the whole
    column below. ``root`` is √cost. Entries that are no item have the fixed mask ``base``, 1 (always in) or 0 (never).
    ``always`` lists those that are. ``sign`` (d) is that of the weights of a column, 0 for either; ``signed``: whether
    one is due anywhere. ``choice`` is k where every pool is a choice of k out of equally many items at cost 1, else 0.
    """

    sign: np.ndarray
    entry: np.ndarray
    start: np.ndarray
    budget: np.ndarray
    cost: np.ndarray
    root: np.ndarray
    copies: int
    base: np.ndarray
    always: np.ndarray
    choice: int
    signed: bool


def project_mask(V: np.ndarray, budget: float) -> np.ndarray:
    r"""Project each row of ``V`` onto the masks that spend at most ``budget``.

    .. math:: \arg\min_{e \in [0,1]^n,\; \sum_l e_l \le k} \|e - v\|_2

    Exact: the answer is ``clip(v - t, 0, 1)`` and ``t`` is found among the sorted breakpoints, O(n log n).
    """
    if budget < V.shape[1]:
        thresholds = [kernels.capping_threshold(u, float(budget)) for u in np.sort(V, axis=1)]
        V = V - np.reshape(thresholds, (-1, 1))
    return np.minimum(np.maximum(V, 0.0), 1.0)


def make_pools(pooling: str, budget: float | np.ndarray, cost: np.ndarray, sign: np.ndarray, p: int) -> Pools:
    """Lay out the items of ``p`` prototypes.

    ``pooling`` says who shares a budget: "prototype" (a pool each), "total" (one pool of all entries) or "shared" (one
    pool, whose items are columns, in or out for all prototypes at once). ``cost`` is d or p × d; ``budget`` is a number
    or one for each pool. What costs nothing is always in; what costs more than the whole budget is never in; and where
    a pool can pay for all of its items, so are they.
    """
    d = cost.shape[-1]
    copies = p if pooling == "shared" else 1
    table = np.atleast_2d(cost) if copies > 1 or p == 1 else np.broadcast_to(cost, (p, d))
    if pooling == "total":
        table = table.reshape(1, -1)
    limit = np.empty(len(table))
    limit[:] = budget
    table = np.ascontiguousarray(table)
    entry, price = np.empty(table.size, dtype=np.int64), np.empty(table.size)
    start, base = np.empty(len(table) + 1, dtype=np.int64), np.empty(table.shape)
    choice = kernels.lay_out(table, limit, limit * (1.0 + ROUNDING), entry, price, start, base)
    entry, price = entry[: start[-1]], price[: start[-1]]
    base = np.repeat(base, copies, axis=0) if copies > 1 else base.reshape(p, d)
    always = base.ravel().nonzero()[0]
    return Pools(sign, entry, start, limit, price, np.sqrt(price), copies, base, always, choice, bool(sign.any()))


def sizes(V: np.ndarray, pools: Pools) -> np.ndarray:
    """``size/√cost`` of each item, where a ``V`` of the wrong sign is as good as 0: what the mask goes by."""
    u = np.empty(len(pools.entry))
    kernels.pool_sizes(np.ascontiguousarray(V), tuple(pools), np.empty(V.shape), u)
    return u


def prox(V: np.ndarray, pools: Pools, rho: float) -> tuple[np.ndarray, np.ndarray, float]:
    r"""Proximal step of half the squared norm that the masks induce (one prototype, a count: the k-support norm).

    .. math:: \arg\min_{w, \epsilon} \tfrac12 \|w - v\|^2 + \tfrac{\rho}{2} \sum_l w_l^2 / \epsilon_l
              \quad\text{with}\quad \epsilon \in [0,1]^d,\; \sum_l c_l \epsilon_l \le B,\; \sigma_l w_l \ge 0

    For a given mask ``w = v ε/(ε + ρ)``, which leaves ``½ ρ v²/(ε + ρ)``; there ``ρ v²/(ε + ρ)²`` is to be the same
    multiple of ``c`` wherever ``0 < ε < 1``, so that ``ε = clip(a |v|/√c - ρ, 0, 1)``, with ``a`` such that the
    budget is spent. A ``v`` of the wrong sign is as good as 0; where prototypes share an item, ``|v|`` is the norm over
    them.

    Returns ``w``, the mask and ``½ Σ w²/ε``. Exact, O(n log n).
    """
    W, mask, u = np.empty(V.shape), np.empty(V.shape), np.empty(len(pools.entry))
    V = np.ascontiguousarray(V)
    order = np.arange(len(u))
    if len(u) > FEW_ITEMS:
        kernels.pool_sizes(V, tuple(pools), W, u)
        for first, last in pairwise(pools.start):
            order[first:last] = first + np.argsort(u[first:last])
    value = kernels.prox_rows(V, tuple(pools), float(rho), order, u, W, mask)
    return W, mask, value


def norm(W: np.ndarray, pools: Pools) -> tuple[np.ndarray, float]:
    r"""The best mask for given weights, and half the squared norm.

    .. math:: \min_{\epsilon \in [0,1]^d,\; \sum_l c_l \epsilon_l \le B} \tfrac12 \sum_l w_l^2 / \epsilon_l

    This is the proximal step at ``ρ = 0``, which leaves ``w`` alone. O(n log n).
    """
    _, mask, value = prox(W, pools, 0.0)
    return mask, value


def most_gain(G: np.ndarray, pools: Pools) -> float:
    r"""The most that a mask can collect, half the square of the dual norm twice over.

    .. math:: \max_{\epsilon \in [0,1]^d,\; \sum_l c_l \epsilon_l \le B} \sum_l \epsilon_l \gamma_l, \qquad
              \gamma = G^2, \text{ or } \max(0, -\sigma G)^2 \text{ where a sign is due}

    A fractional knapsack: the items in the order of ``γ/c`` until the budget is spent. For a count these are the k
    largest of each pool, which need no sorting: O(n).
    """
    squares = gains(G, pools)
    always = float(squares.take(pools.always).sum())
    items = (squares.sum(axis=0) if pools.copies > 1 else squares).take(pools.entry)
    if pools.choice:
        return sum_of_largest(items.reshape(len(pools.budget), -1), pools.choice) + always
    total = 0.0
    for pool, (first, last) in enumerate(pairwise(pools.start)):
        cost, gain = pools.cost[first:last], items[first:last]
        order = np.argsort(-gain / cost, kind="stable")
        cost, gain = cost[order], gain[order]
        left = pools.budget[pool] - (np.cumsum(cost) - cost)
        total += float(gain @ np.clip(left / cost, 0.0, 1.0))
    return total + always


def gains(G: np.ndarray, pools: Pools) -> np.ndarray:
    """``G²``, or ``max(0, -σ G)²`` where a sign is due."""
    return np.where(pools.sign * G > 0.0, 0.0, G) ** 2 if pools.signed else G * G


def outrunners(G: np.ndarray, pools: Pools, inside: np.ndarray) -> np.ndarray:
    """Mark columns (d) with an item that the knapsack of `most_gain` takes before the last of those it would take from
    the columns ``inside`` alone (d, bool): if there are none, ``inside`` gives the knapsack over all columns.

    No more of them than about twice the budget pays for, the best first: the rest can wait their turn.
    """
    d = G.shape[1]
    u = sizes(-G, pools)
    found = np.zeros(d, dtype=bool)
    for pool, (first, last) in enumerate(pairwise(pools.start)):
        if first == last:
            continue
        size, cost, column = u[first:last], pools.cost[first:last], pools.entry[first:last] % d
        room = 2 * pools.choice + 2
        if pools.choice and room < len(size):
            best = np.argpartition(-size, room - 1)[:room]
        else:
            best = np.argsort(-size)
            best = best[: 3 + np.searchsorted(np.cumsum(cost[best]), 2.0 * pools.budget[pool])]
        order = np.flatnonzero(inside[column])
        if len(order):
            order = order[np.argsort(-size[order])]
            last_in = np.searchsorted(np.cumsum(cost[order]), pools.budget[pool])
            bar = size[order[last_in]] if last_in < len(order) else 0.0
            best = best[size[best] > bar]
        found[column[best]] = True
    return found


def sum_of_largest(V: np.ndarray, k: int) -> float:
    """The sum over rows of the ``k`` largest entries of each, O(n) a row."""
    if k < V.shape[1]:
        V = np.partition(V, V.shape[1] - k, axis=1)[:, V.shape[1] - k :]
    return float(V.sum())


def fill(cost: np.ndarray, budget: float) -> np.ndarray:
    """Mark what a budget pays for when things are offered in this order: each that still fits is taken.

    One pass for a run that fits, so a count takes one: O(n) for each run of things that are too dear.
    """
    taken = np.zeros(len(cost), dtype=bool)
    left = budget * (1.0 + ROUNDING)
    at = 0
    while at < len(cost):
        fits = cost[at:] <= left
        at += int(np.argmax(fits)) if fits.any() else len(fits)
        run = int(np.searchsorted(np.cumsum(cost[at:]), left, side="right"))
        taken[at : at + run] = True
        left -= float(cost[at : at + run].sum())
        at += run
    return taken
