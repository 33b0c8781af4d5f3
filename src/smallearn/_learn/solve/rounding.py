"""From the relaxed optimum to a model that keeps the budget: round the mask, refit the weights on the support."""

from itertools import pairwise

import numpy as np
from scipy import optimize

from smallearn._learn.kernels import NO_CHOICE, PADDING
from smallearn._learn.solve import geometry
from smallearn._learn.solve.group_limit import GroupLimit
from smallearn._learn.solve.objective import Objective, Relaxed

MOST_UNKNOWNS = 256  # with more, a Hessian costs too much and L-BFGS is used
MAX_NEWTON = 100
TINY = float(np.finfo(float).tiny)
DIGITS = 9  # to which entries are compared when a mask is rounded
# Newton's method ends with the step whose decrement is below this share of the objective. By quadratic convergence that
# is the minimum to nearly machine precision …
PRECISE = 1e-14
CLOSE = 1e-6  # … or to six digits of the weights and twelve of the objective, where a pass takes long …
ROUGH = 1e-5  # … or close enough to move rows by, before the next refit


def round_support(objective: Objective, relaxed: Relaxed) -> np.ndarray:
    """The largest entries of the mask that the budget pays for, and all that are always in (p × d).

    Each pool takes its items in the order of their mask, ties in the order of gain per cost, and skips those that no
    longer fit. For a count these are the k largest of each prototype. With a limit on groups of features, the items of
    all pools are taken in one order, and those that would break it are skipped too.
    """
    pools = objective.penalty.pools(len(relaxed.mask))
    d = relaxed.mask.shape[1]
    per_cost = geometry.sizes(-relaxed.gradient, pools)
    share = relaxed.mask.ravel()[pools.entry]
    support = pools.base > 0.0
    flat = support.reshape(-1)
    if objective.penalty.groups is not None:
        return _round_in_groups(objective.penalty.groups, pools, support, share, per_cost)
    for pool, (first, last) in enumerate(pairwise(pools.start)):
        gain, most = per_cost[first:last], per_cost[first:last].max(initial=0.0)
        ties = (
            np.round(gain / most, DIGITS) if most > 0.0 else gain
        )  # literals that agree on all rows, but for rounding
        order = first + np.lexsort((-ties, -np.round(share[first:last], DIGITS)))
        fits = (
            slice(pools.choice) if pools.choice != NO_CHOICE else geometry.fill(pools.cost[order], pools.budget[pool])
        )
        chosen = pools.entry[order[fits]]
        for copy in range(pools.copies):
            flat[chosen + copy * d] = True
    return support


def _round_in_groups(
    groups: GroupLimit, pools: geometry.Pools, support: np.ndarray, share: np.ndarray, per_cost: np.ndarray
) -> np.ndarray:
    """`round_support` under a limit on groups, from the ``support`` of what is always in."""
    d, flat = support.shape[1], support.reshape(-1)
    pool_of = np.repeat(np.arange(len(pools.budget)), np.diff(pools.start))
    left = np.array(pools.budget, dtype=float) * (1.0 + geometry.ROUNDING)
    gain = np.round(per_cost / max(per_cost.max(initial=0.0), TINY), DIGITS)
    for item in np.lexsort((-gain, -np.round(share, DIGITS))).tolist():
        entry, pool = int(pools.entry[item]), pool_of[item]
        if pools.cost[item] > left[pool] or groups.closed(np.flatnonzero(support.any(axis=0)))[entry % d]:
            continue
        left[pool] -= pools.cost[item]
        flat[entry + d * np.arange(pools.copies)] = True
    return support


def from_dual(objective: Objective, relaxed: Relaxed, support: np.ndarray) -> tuple[np.ndarray, float]:
    """The paper's weights on the rounded support, ``W = -G⊙ε/λ`` with the G of the relaxation; and their objective."""
    W = objective.penalty.clip(np.where(support, -relaxed.gradient / objective.penalty.alpha, 0.0))
    return W, objective.sparse_primal(W)


def refit(
    objective: Objective, support: np.ndarray, start: np.ndarray, precision: float = PRECISE
) -> tuple[np.ndarray, float]:
    """Minimise ``loss + λ/2 ‖W‖²`` over the weights on the support, with the required signs.

    Returns W and the minimum. ``precision`` is `PRECISE`, `CLOSE` or `ROUGH`.
    """
    columns = np.flatnonzero(support.any(axis=0))
    small = objective if len(columns) == objective.rows.n_columns else objective.restrict(columns)
    W = np.zeros(support.shape)
    support, start = support[:, columns], np.where(support, start, 0.0)[:, columns]
    if _unknowns(support) > MOST_UNKNOWNS:
        W[:, columns], value = _lbfgs(small, support, start)
    elif small.penalty.sign.any():
        W[:, columns], value = _with_signs(small, support, start)
    else:
        W[:, columns], value = _newton(small, support, start, precision)
    return W, value


def _unknowns(support: np.ndarray) -> int:
    """The number of unknowns of Newton's method, which gives every prototype as many as the largest has."""
    return support.shape[0] * int(support.sum(axis=1).max())


def _with_signs(objective: Objective, support: np.ndarray, W: np.ndarray) -> tuple[np.ndarray, float]:
    """Minimise subject to ``σ_l w_jl ≥ 0`` with an active set, as Lawson and Hanson do for least squares.

    Entries are free or held at 0. From a W with the right signs, minimise over the free ones. If a sign turns wrong on
    the way, stop where the first weight reaches 0, hold that entry, and minimise again. If none does, free the held
    entry along which the objective falls fastest; if there is none, W meets the optimality conditions. The objective
    falls from one minimum to the next, so no set of free entries occurs twice.
    """
    sign = np.broadcast_to(objective.penalty.sign, support.shape)
    W = np.where(sign * W < 0.0, 0.0, W)
    free = support & ((sign == 0) | (W != 0.0))
    best, least = W, np.inf
    for _ in range(10 * support.size):
        if free.any():
            target, value = _newton(objective, free, W)
        else:
            target, value = np.zeros(W.shape), objective.loss(np.zeros(W.shape))
        wrong = sign * target < 0.0
        if wrong.any():
            reach = np.full(W.shape, np.inf)
            reach[wrong] = W[wrong] / (W[wrong] - target[wrong])
            free = free & (reach > reach.min())
            W = np.where(free, W + reach.min() * (target - W), 0.0)
            continue
        if not value < least:  # the last entry freed changed nothing but rounding
            break
        W = best = target
        least = value
        fall = np.where(support & ~free, -sign * objective.sums(W).gradient, 0.0)
        if fall.max() <= 1e-10:
            break
        free = free.copy()
        free.flat[np.argmax(fall)] = True
    return best, least


def _newton(
    objective: Objective, support: np.ndarray, W: np.ndarray, precision: float = PRECISE
) -> tuple[np.ndarray, float]:
    """Newton's method with backtracking, in p·(k + 1) unknowns."""
    p = support.shape[0]
    width = int(support.sum(axis=1).max())
    column = np.full((p, width), PADDING)
    for j in range(p):
        column[j, : support[j].sum()] = np.flatnonzero(support[j])
    real = column != PADDING
    alpha = objective.penalty.alpha

    def evaluate(theta):
        at = objective.curvature(theta, column)
        return at.loss + 0.5 * alpha * float(np.vdot(theta, theta)), at

    theta = np.where(real, np.take_along_axis(W, column, axis=1), 0.0)
    value, at = evaluate(theta)
    if not value <= np.log1p(p):  # worse than no weights at all
        theta = np.zeros(theta.shape)
        value, at = evaluate(theta)
    for _ in range(MAX_NEWTON):
        slope = (at.gradient + alpha * theta).ravel()
        step = -_solve_scaled(at.hessian, alpha, slope).reshape(theta.shape)
        decrement = -float(slope @ step.ravel())
        if decrement <= precision * value:  # so close to the minimum the quadratic model needs no check
            theta, value = theta + step, value - 0.5 * decrement
            break
        length = 1.0
        trial, at_trial = evaluate(theta + step)
        # Close to the minimum the full step is right, though the fall is lost in rounding.
        while decrement > 1e-10 * value and trial > value - 1e-4 * length * decrement and length > 1e-8:
            length *= 0.5
            trial, at_trial = evaluate(theta + length * step)
        if not trial <= value * (1.0 + 1e-12):
            break  # no step helps, however short
        theta, value, at = theta + length * step, trial, at_trial
    refitted = np.zeros(support.shape)
    refitted[support] = theta[real]
    return refitted, value


def _solve_scaled(hessian: np.ndarray, ridge: float, slope: np.ndarray) -> np.ndarray:
    """``(H + ridge I)⁻¹ slope`` with the diagonal scaled to 1, for columns that differ by many orders of magnitude."""
    hessian.flat[:: len(slope) + 1] += ridge
    scale = 1.0 / np.sqrt(np.diagonal(hessian))
    scaled = hessian * scale[:, None] * scale
    scaled.flat[:: len(slope) + 1] += 1e-15  # columns that coincide leave it singular to rounding
    return scale * np.linalg.solve(scaled, scale * slope)


def _lbfgs(objective: Objective, support: np.ndarray, W: np.ndarray) -> tuple[np.ndarray, float]:
    """L-BFGS on the weights of the support, with bounds for the signs."""
    alpha = objective.penalty.alpha

    def evaluate(theta):
        full = np.zeros(support.shape)
        full[support] = theta
        at = objective.sums(full)
        return at.loss + 0.5 * alpha * float(theta @ theta), at.gradient[support] + alpha * theta

    sign = np.broadcast_to(objective.penalty.sign, support.shape)[support]
    bounds = optimize.Bounds(np.where(sign > 0, 0.0, -np.inf), np.where(sign < 0, 0.0, np.inf)) if sign.any() else None
    options = {"maxiter": 5000, "ftol": 0.0, "gtol": 1e-9}
    result = optimize.minimize(evaluate, W[support], jac=True, method="L-BFGS-B", bounds=bounds, options=options)
    refitted = np.zeros(support.shape)
    refitted[support] = result.x
    return refitted, float(result.fun)
