"""Accelerated proximal gradient on the k-support form of the relaxation, in few passes over the rows.

Three nested loops, each much cheaper than the one around it:

1. `solve` works on a small set of columns and adds those that the gradient over all columns calls for.
2. `_by_models` replaces the loss on those columns by its quadratic model: one pass over few columns each time.
3. `kernels.model_rows` runs accelerated proximal gradient on the model, with backtracking and restart, without rows.

With too many unknowns for a Hessian, `_by_passes` runs the same accelerated iteration on the loss itself. Every loop
over passes stops on the relative duality gap.
"""

import numpy as np

from smallearn._learn import kernels
from smallearn._learn.solve import geometry
from smallearn._learn.solve.objective import RELAXATION, Relaxation, Relaxed
from smallearn._run.deadline import present

MOST_UNKNOWNS = 300  # with more, a Hessian costs more than the passes that it saves
FEW_PRODUCTS = 1 << 20  # up to so many in a Hessian of all columns, choosing among the columns costs more than it saves
PATIENCE = 200  # passes without a smaller gap after which only rounding is left
STALLED = 10  # models in which the gap must at least halve
INNER = 0.3  # the working set is solved to this share of ``tol``; the rest is for the other columns …
EARLY = 0.01  # … and to no less than this share of the present gap, as more columns may come
SMALLEST, STEEPEST = 1e-290, 1e300  # of squares of steps, and of curvatures
CLEARLY = 0.1  # ``enough`` is out of reach once the gap is below this share of what the bound still has to rise


def solve(
    relaxation: Relaxation,
    start: np.ndarray | None,
    tol: float,
    max_iter: int,
    enough: float = np.inf,
    work: str = RELAXATION,
) -> Relaxed:
    """Minimise the relaxed objective to a relative duality gap of ``tol``.

    Stops earlier after ``max_iter`` iterations, when the lower bound reaches ``enough``, or when it is clear that it
    will not (see `_decided`). Also stops at the deadline, which cuts short ``work``.
    """
    p, d = relaxation.shape
    penalty = relaxation.penalty
    W = np.zeros((p, d)) if start is None else penalty.clip(start)
    sums = relaxation.sums(W)
    upper, lower = sums.loss + penalty.value(W), relaxation.dual(sums.conjugate, sums.gradient)
    columns = np.array([], dtype=int)
    inner = INNER * tol
    n_iter = 0
    last_gap = np.inf
    while upper - lower > tol * upper and n_iter < max_iter and not _decided(upper, lower, enough):
        if present().stops(work):
            break
        if relaxation.n_rows * (p * d) ** 2 <= FEW_PRODUCTS:
            wanted = np.arange(d)
        else:
            wanted = _columns(relaxation, W, sums.gradient, columns)
        if len(wanted) == len(columns):  # no column is missing: the gap is inside the working set …
            if upper - lower > 0.9 * last_gap:
                break  # … or it is rounding
            inner *= 0.1
        columns, last_gap = wanted, upper - lower
        small = relaxation if len(columns) == d else relaxation.restrict(columns)
        descend = _by_models if p * len(columns) <= MOST_UNKNOWNS else _by_passes
        close = inner if len(columns) == d else max(inner, EARLY * (upper - lower) / upper)
        W[:, columns], steps, stalled = descend(small, W[:, columns], close, max_iter - n_iter, enough)
        n_iter += steps
        if stalled and descend is _by_models:  # columns of very different scale defeat the models
            W[:, columns], steps, _ = _by_passes(small, W[:, columns], close, min(max_iter - n_iter, 5 * PATIENCE))
            n_iter += steps
        sums = relaxation.sums(W)
        upper = sums.loss + penalty.value(W)
        lower = max(lower, relaxation.dual(sums.conjugate, sums.gradient))
    return Relaxed(
        W=W,
        mask=penalty.mask(W),
        gradient=sums.gradient,
        primal=upper,
        dual=lower,
        n_iter=max(1, n_iter),
        converged=upper - lower <= tol * upper,
    )


def _decided(upper: float, lower: float, enough: float) -> bool:
    """Whether the bound has reached ``enough``, or the optimum is so far below it that the bound never will."""
    return lower >= enough or upper - lower < CLEARLY * (enough - upper) < np.inf


def _columns(relaxation: Relaxation, W: np.ndarray, G: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """The columns to work on next: those so far, those in use, those always in, and those whose gradient is large
    enough for the budget to be spent on them (see `geometry.outrunners`). If that adds none, the bound over the columns
    so far is the bound over all."""
    pools = relaxation.penalty.pools(len(W))
    working = np.zeros(W.shape[1], dtype=bool)
    working[columns] = True
    wanted = geometry.outrunners(G, pools, working) | working | (W != 0.0).any(axis=0)
    wanted[pools.always % W.shape[1]] = True
    return np.flatnonzero(wanted)


def _by_models(
    relaxation: Relaxation, W: np.ndarray, tol: float, max_iter: int, enough: float = np.inf
) -> tuple[np.ndarray, int, bool]:
    """Proximal Newton: minimise a quadratic model of the loss with the penalty, then a line search on the objective.

    Returns W, the number of iterations, and whether the method stalled.
    """
    p, d = W.shape
    penalty = relaxation.penalty
    pools = tuple(penalty.pools(p))
    column = np.tile(np.arange(d), (p, 1))
    W = np.ascontiguousarray(W)
    loss, conjugate, g, H = relaxation.curvature(W, column)
    cost = penalty.value(W)
    lower = -np.inf
    watched = np.inf
    for n_iter in range(max_iter):
        upper = loss + cost
        lower = max(lower, relaxation.dual(conjugate, g))
        if upper - lower <= tol * upper or _decided(upper, lower, enough) or present().passed():
            return W, n_iter, False
        if n_iter % STALLED == STALLED - 1:
            if not upper - lower < 0.5 * watched:
                return W, n_iter, True
            watched = upper - lower
        best, _ = kernels.model_rows(W, g.ravel(), H, pools, penalty.alpha, 0.01, 1000)
        step = best - W
        promised = float(np.vdot(g, step)) + penalty.value(best) - cost
        length = 1.0
        while True:
            new = W + length * step
            cost = penalty.value(new)
            trial = relaxation.curvature(new, column)
            # Near the optimum the objective is flat to rounding while the bound still climbs.
            if trial.loss + cost <= upper * (1.0 + 4e-16) + 1e-4 * length * promised or length < 1e-6:
                break
            length *= 0.5
        if not trial.loss + cost <= upper * (1.0 + 4e-16):  # also if it is NaN
            return W, n_iter + 1, True
        W = new
        loss, conjugate, g, H = trial
    return W, max_iter, False


def _curvature(excess: float, step: np.ndarray) -> float:
    """``2 excess / ‖step‖²``, also for steps whose square underflows: columns of 1e80 have such weights."""
    square = float(np.vdot(step, step))
    if square > SMALLEST:
        return 2.0 * excess / square
    size = float(np.abs(step).max())
    unit = step / size
    return 2.0 * (excess / size) / size / float(np.vdot(unit, unit))


def _by_passes(
    relaxation: Relaxation, W: np.ndarray, tol: float, max_iter: int, enough: float = np.inf
) -> tuple[np.ndarray, int, bool]:
    """Accelerated proximal gradient on the loss itself: one pass for the gradient, one for the backtracking."""
    penalty = relaxation.penalty
    W = np.ascontiguousarray(W)
    point, best, momentum = W, W, 1.0
    upper, lower = np.inf, -np.inf
    least, idle = np.inf, 0
    L = 1.0
    for n_iter in range(max_iter):
        loss, conjugate, G = relaxation.sums(point)
        lower = max(lower, relaxation.dual(conjugate, G))
        idle = 0 if upper - lower < least else idle + 1
        least = min(least, upper - lower)
        if n_iter and (upper - lower <= tol * upper or idle == PATIENCE or _decided(upper, lower, enough)):
            return best, n_iter, idle == PATIENCE
        if n_iter and present().passed():
            return best, n_iter, False
        while True:
            new, _, cost = penalty.prox(point - G / L, 1.0 / L)
            step = new - point
            new_loss = relaxation.loss(new)
            excess = new_loss - loss - float(np.vdot(G, step))
            if excess <= 0.5 * L * float(np.vdot(step, step)) + 1e-14 * loss or not step.any() or L >= STEEPEST:
                break
            L = min(max(1.5 * L, _curvature(excess, step)), STEEPEST)
        if new_loss + cost < upper:
            upper, best = new_loss + cost, new
        if np.vdot(point - new, new - W) > 0.0:  # the momentum points uphill: restart
            point, momentum = new, 1.0
        else:
            following = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * momentum * momentum))
            point = new + ((momentum - 1.0) / following) * (new - W)
            momentum = following
        W = new
        L *= 0.95
    return best, max_iter, False
