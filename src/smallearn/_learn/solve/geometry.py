r"""Projections and proximal steps: pure functions, exact by sorting.

Matrices have one prototype per row. A budget pays for items: entries of such a matrix, or columns if all prototypes
share their support. Each pool of items has a budget; see `Pools`.
"""

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from smallearn._learn import kernels
from smallearn._learn.kernels import NO_CHOICE

ROUNDING = 1e-12  # costs are sums of floats: a total above the budget by this share still keeps it
FEW_ITEMS = 128  # up to this many are sorted in the kernel


class Pools(NamedTuple):
    """The allowed masks: ``Σ cost_i ε_i ≤ budget[q]`` over the items ``start[q] … start[q + 1] - 1`` of pool ``q``.

    ``entry[i]`` is the position of item ``i`` in the flattened p × d matrix; with ``copies > 1`` the item is the whole
    column. ``root`` is √cost. Entries that are no item have the fixed mask ``base``, 1 (always in) or 0 (never);
    ``always`` lists the first kind. ``sign`` (d) is the sign that the weights of a column must have, 0 for either;
    ``signed``: whether any column has one. ``choice`` is k if every pool is a choice of k out of equally many items at
    cost 1, else `NO_CHOICE`.
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

    ``pooling`` says what shares a budget: "prototype" (a pool for each), "total" (one pool of all entries) or "shared"
    (one pool, whose items are columns, in or out for all prototypes at once). ``cost`` is d or p × d; ``budget`` is a
    number or one for each pool. Entries that cost nothing are always in, entries that cost more than the budget never;
    if a pool can pay for all of its items, they are always in too.
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
    return Pools(
        sign=sign,
        entry=entry,
        start=start,
        budget=limit,
        cost=price,
        root=np.sqrt(price),
        copies=copies,
        base=base,
        always=always,
        choice=choice,
        signed=bool(sign.any()),
    )


def sizes(V: np.ndarray, pools: Pools) -> np.ndarray:
    """``size/√cost`` of each item, on which the mask depends; a ``V`` of the wrong sign counts as 0."""
    u = np.empty(len(pools.entry))
    kernels.pool_sizes(np.ascontiguousarray(V), tuple(pools), np.empty(V.shape), u)
    return u


def prox(V: np.ndarray, pools: Pools, rho: float) -> tuple[np.ndarray, np.ndarray, float]:
    r"""Proximal step of half the squared norm that the masks induce (one prototype, a count: the k-support norm).

    .. math:: \arg\min_{w, \epsilon} \tfrac12 \|w - v\|^2 + \tfrac{\rho}{2} \sum_l w_l^2 / \epsilon_l
              \quad\text{with}\quad \epsilon \in [0,1]^d,\; \sum_l c_l \epsilon_l \le B,\; \sigma_l w_l \ge 0

    For a given mask ``w = v ε/(ε + ρ)``, which leaves ``½ ρ v²/(ε + ρ)``; there ``ρ v²/(ε + ρ)²`` is to be the same
    multiple of ``c`` wherever ``0 < ε < 1``, so that ``ε = clip(a |v|/√c - ρ, 0, 1)``, with ``a`` such that the
    budget is spent. A ``v`` of the wrong sign counts as 0; if prototypes share an item, ``|v|`` is the norm over them.

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

    This is the proximal step at ``ρ = 0``, which does not change ``w``. O(n log n).
    """
    _, mask, value = prox(W, pools, 0.0)
    return mask, value


def most_gain(G: np.ndarray, pools: Pools) -> float:
    r"""The largest gain of any mask: the square of the dual norm.

    .. math:: \max_{\epsilon \in [0,1]^d,\; \sum_l c_l \epsilon_l \le B} \sum_l \epsilon_l \gamma_l, \qquad
              \gamma = G^2, \text{ or } \max(0, -\sigma G)^2 \text{ if the column has a sign}

    A fractional knapsack: the items in the order of ``γ/c`` until the budget is spent. For a count these are the k
    largest of each pool, which need no sorting: O(n).
    """
    squares = gains(G, pools)
    always = float(squares.take(pools.always).sum())
    items = (squares.sum(axis=0) if pools.copies > 1 else squares).take(pools.entry)
    if pools.choice != NO_CHOICE:
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
    """``G²``, or ``max(0, -σ G)²`` in columns with a sign."""
    return np.where(pools.sign * G > 0.0, 0.0, G) ** 2 if pools.signed else G * G


def outrunners(G: np.ndarray, pools: Pools, inside: np.ndarray) -> np.ndarray:
    """Mark the columns (d, bool) that the knapsack of `most_gain` prefers to some it takes from ``inside`` (d, bool).

    If there are none, the knapsack over the columns ``inside`` is the knapsack over all columns. At most about twice as
    many as the budget pays for are marked, the best first; the others get their turn later.
    """
    d = G.shape[1]
    u = sizes(-G, pools)
    marked = np.zeros(d, dtype=bool)
    for pool, (first, last) in enumerate(pairwise(pools.start)):
        if first == last:
            continue
        size, cost, column = u[first:last], pools.cost[first:last], pools.entry[first:last] % d
        room = 2 * pools.choice + 2
        if pools.choice != NO_CHOICE and room < len(size):
            best = np.argpartition(-size, room - 1)[:room]
        else:
            best = np.argsort(-size)
            best = best[: 3 + np.searchsorted(np.cumsum(cost[best]), 2.0 * pools.budget[pool])]
        order = np.flatnonzero(inside[column])
        if len(order):
            order = order[np.argsort(-size[order])]
            last_in = np.searchsorted(np.cumsum(cost[order]), pools.budget[pool])
            least = size[order[last_in]] if last_in < len(order) else 0.0
            best = best[size[best] > least]
        marked[column[best]] = True
    return marked


def sum_of_largest(V: np.ndarray, k: int) -> float:
    """The sum of the ``k`` largest entries of each row, O(n) for each."""
    if k < V.shape[1]:
        V = np.partition(V, V.shape[1] - k, axis=1)[:, V.shape[1] - k :]
    return float(V.sum())


def fill(cost: np.ndarray, budget: float) -> np.ndarray:
    """Mark the items that a budget pays for when they are offered in this order: each that still fits is taken.

    O(n) for each run of items that do not fit; a count needs one pass.
    """
    taken = np.zeros(len(cost), dtype=bool)
    left = budget * (1.0 + ROUNDING)
    begin = 0
    while begin < len(cost):
        fits = cost[begin:] <= left
        begin += int(np.argmax(fits)) if fits.any() else len(fits)
        end = begin + int(np.searchsorted(np.cumsum(cost[begin:]), left, side="right"))
        taken[begin:end] = True
        left -= float(cost[begin:end].sum())
        begin = end
    return taken
