"""Mirror-Prox: Algorithm 1 of the paper on its saddle point, with the printed slips mended.

The saddle function is the paper's, with ``Ω`` (the sum of the row weights, ``m`` if all are 1) in the place of ``m``,
``s = ∂loss/∂z`` and ``G`` divided by ``Ω``:

    φ(ε, S) = -(Ω/2λ) Σ G_jl² ε_jl - Σ_i ω_i loss_i*(s_i),    W = -G⊙ε/λ,    Z = X Wᵀ
    ∇_ε φ = -(Ω/2λ) G⊙G,    ∇_{s_i} φ / ω_i = z_i - ∇loss_i*(s_i)

Dividing by ``ω_i`` makes a row of weight 2 move as two rows would.
"""

from dataclasses import dataclass
from typing import Literal, NamedTuple, Protocol

import numpy as np

from smallearn._learn import kernels
from smallearn._learn.solve import geometry
from smallearn._learn.solve.objective import DUAL_FLOOR, Objective, Penalty, Relaxed

GROW, SHRINK = 1.1, 0.6
CHECK_EVERY = 20  # steps between two looks at the gap, which cost about as much as a step
UNCHECKED = 200  # steps at a time where nobody looks at the gap
SMALL = 1 << 20  # so many entries of X may be laid out for a loop of steps in one kernel


class Geometry(Protocol):
    """How the dual variable moves; ``T`` is its coordinate, ``S`` the point of the dual set that it stands for.

    ``first_steps`` (Ωα, β) start the adaptive rule. Only their length adapts: with a constant ratio averages keep
    their meaning. These ratios served best on the breast cancer data.
    """

    first_steps: tuple[float, float]
    least_pace: float

    def coordinate(self, objective: Objective, Z: np.ndarray) -> np.ndarray:
        """``T`` with ``S = ∇loss(Z)``."""

    def dual(self, objective: Objective, T: np.ndarray) -> np.ndarray:
        """``S`` at ``T``."""

    def slope(self, objective: Objective, S: np.ndarray, Z: np.ndarray) -> np.ndarray:
        """The part of ``∇_S φ`` that a step linearises."""

    def step(self, objective: Objective, T: np.ndarray, slope: np.ndarray, beta: float) -> np.ndarray:
        """``T`` after a step of length ``beta``."""

    def distance(self, objective: Objective, S: np.ndarray, T: np.ndarray, origin: np.ndarray) -> float:
        """The Bregman distance of ``S`` from ``origin``, whose coordinate is ``T``."""


class Entropy:
    """The mirror map of S is ``loss*`` itself: with ``s = ∇loss(t)`` a step is ``t ← (t + β z)/(1 + β)``. It needs no
    projection, meets no logarithm of zero, and takes ``loss*`` exactly instead of linearising it."""

    first_steps = (20.0, 0.1)
    least_pace = 1e-12  # shorter than that is no step; numbers beyond floating point would shrink it for ever

    def coordinate(self, objective, Z):
        return Z

    def dual(self, objective, T):
        return objective.residual(T)

    def slope(self, objective, S, Z):
        return Z

    def step(self, objective, T, slope, beta):
        return (T + beta * slope) / (1.0 + beta)

    def distance(self, objective, S, T, origin):
        rise = objective.mean_conjugate(S) - objective.mean_conjugate(origin)
        return rise - objective.mean_product(T, S - origin)


class Euclidean:
    """The steps of Algorithm 1, with exact projections; the coordinate is ``S``."""

    first_steps = (60.0, 0.001)
    least_pace = 0.1  # near the boundary ∇loss* has no Lipschitz constant, and no step is short enough for it

    def coordinate(self, objective, Z):
        return objective.residual(Z)

    def dual(self, objective, T):
        return T

    def slope(self, objective, S, Z):
        return Z - objective.conjugate_slope(S)

    def step(self, objective, T, slope, beta):
        return objective.dual_step(T, slope, beta)

    def distance(self, objective, S, T, origin):
        step = objective.free_coordinates(S - origin)
        return 0.5 * objective.mean_product(step, step)


GEOMETRIES: dict[str, Geometry] = {"entropy": Entropy(), "euclidean": Euclidean()}


@dataclass(frozen=True)
class Options:
    """``step_sizes`` is a pair (α, β) on φ as the paper scales it, or "adaptive"."""

    geometry: str = "entropy"
    step_sizes: Literal["adaptive"] | tuple[float, float] = "adaptive"
    average: bool = True


class Saddle(NamedTuple):
    """One point ``(ε, S)`` with what a step from it needs; ``T`` is the coordinate of ``S``."""

    mask: np.ndarray
    T: np.ndarray
    S: np.ndarray
    G: np.ndarray
    slope: np.ndarray


@dataclass
class Average:
    """The weighted mean of the extragradient points, which the O(1/t) bound speaks of (not of the last iterate)."""

    mask: np.ndarray
    S: np.ndarray
    weight: float = 0.0

    def add(self, point: Saddle, weight: float) -> None:
        self.weight += weight
        self.mask = self.mask + (weight / self.weight) * (point.mask - self.mask)
        self.S = self.S + (weight / self.weight) * (point.S - self.S)


def solve(objective: Objective, start: np.ndarray | None, tol: float, max_iter: int, options: Options) -> Relaxed:
    """Run to a relative gap of ``tol``, of the average or of the last iterate, or for ``max_iter`` steps."""
    check_budget(objective.penalty)
    space = GEOMETRIES[options.geometry]
    adaptive = isinstance(options.step_sizes, str)
    alpha, beta = space.first_steps if isinstance(options.step_sizes, str) else options.step_sizes
    if isinstance(space, Euclidean) and not adaptive and len(objective.assignment.own) * objective.shape[1] <= SMALL:
        return _in_one_kernel(objective, start, tol, max_iter, alpha, beta, options.average)
    if adaptive:
        alpha /= objective.rows.labels.total
    point = _start(objective, space, start)
    average = Average(point.mask, point.S)
    window = 2 * CHECK_EVERY
    pace = 1.0
    for n_iter in range(1, max_iter + 1):
        ahead, mask, T = _extragradient(objective, space, point, pace * alpha, pace * beta)
        following = _saddle(objective, space, mask, T)
        while adaptive and not _holds(objective, space, point, ahead, following, pace * alpha, pace * beta):
            if pace <= space.least_pace:
                break
            pace = max(SHRINK * pace, space.least_pace)
            ahead, mask, T = _extragradient(objective, space, point, pace * alpha, pace * beta)
            following = _saddle(objective, space, mask, T)
        average.add(ahead, pace)
        point = following
        if adaptive:
            pace *= GROW
        if n_iter % CHECK_EVERY == 0 or n_iter == max_iter:
            mask, S = (average.mask, average.S) if options.average else (point.mask, point.S)
            relaxed = _relaxed(objective, mask, S, n_iter, tol)
            if relaxed.converged:
                break
        if adaptive and n_iter == window:
            # The average of the last half obeys the same bound and forgets where it started.
            average, window = Average(point.mask, point.S), 2 * window
    return relaxed


def _in_one_kernel(
    objective: Objective, start: np.ndarray | None, tol: float, max_iter: int, alpha: float, beta: float, average: bool
) -> Relaxed:
    """The same for fixed steps in the Euclidean geometry: each is so little work that calling it would be most."""
    penalty, labels = objective.penalty, objective.rows.labels
    point = _start(objective, GEOMETRIES["euclidean"], start)
    last = (point.mask.copy(), point.S.copy())
    mean = (np.zeros_like(point.mask), np.zeros_like(point.S))
    X = objective.rows.columns(np.arange(objective.shape[1]))
    at_a_time = CHECK_EVERY if tol > 0.0 else UNCHECKED
    for done in range(0, max_iter, at_a_time):
        count = min(at_a_time, max_iter - done)
        kernels.euclidean_steps(
            X,
            objective.assignment.own,
            labels.code,
            labels.weight,
            objective.assignment.owner,
            labels.has_zero,
            penalty.alpha,
            float(penalty.budget),
            np.flatnonzero(penalty.cost > 0.0),
            alpha * labels.total / (2.0 * penalty.alpha),
            beta,
            DUAL_FLOOR,
            count,
            *last,
            *mean,
            done,
        )
        if tol > 0.0 or done + count == max_iter:
            relaxed = _relaxed(objective, *(mean if average else last), done + count, tol)
            if relaxed.converged:
                break
    return relaxed


def check_budget(penalty: Penalty) -> None:
    """The steps of the mask are projections that are written for a count in each prototype."""
    counts = penalty.cost.ndim == 1 and np.ndim(penalty.budget) == 0 and np.isin(penalty.cost, (0.0, 1.0)).all()
    if penalty.pooling != "prototype" or not counts or penalty.sign.any():
        raise ValueError(
            "solver='mirror-prox' knows budget='prototype' only, without costs and signs; use solver='accelerated'."
        )


def _start(objective: Objective, space: Geometry, W: np.ndarray | None) -> Saddle:
    """The uniform mask and the dual point of zero scores, or those that belong to ``W``."""
    p, d = objective.shape
    penalty = objective.penalty
    if W is None:
        mask = np.ones((p, d))
        free = penalty.cost > 0.0
        mask[:, free] = min(1.0, float(penalty.budget) / max(1, free.sum()))
        Z = np.zeros((len(objective.assignment.own), p))
    else:
        mask, Z = penalty.mask(W), objective.rows.scores(W)
    return _saddle(objective, space, mask, space.coordinate(objective, Z))


def _saddle(objective: Objective, space: Geometry, mask: np.ndarray, T: np.ndarray) -> Saddle:
    S = space.dual(objective, T)
    G = objective.gather(S)
    Z = objective.rows.scores(-G * mask / objective.penalty.alpha)
    return Saddle(mask, T, S, G, space.slope(objective, S, Z))


def _extragradient(objective: Objective, space: Geometry, point: Saddle, alpha: float, beta: float):
    """The gradient step from ``point``, and where the step from ``point`` with the gradient found there leads."""
    ahead = _saddle(objective, space, *_move(objective, space, point, point, alpha, beta))
    return ahead, *_move(objective, space, point, ahead, alpha, beta)


def _move(objective: Objective, space: Geometry, origin: Saddle, along: Saddle, alpha: float, beta: float):
    """From ``origin``, with the gradient at ``along``: the mask and the dual coordinate after one step."""
    penalty = objective.penalty
    mask = origin.mask.copy()
    free = penalty.cost > 0.0
    rise = (alpha * objective.rows.labels.total / (2.0 * penalty.alpha)) * along.G[:, free] ** 2
    mask[:, free] = geometry.project_mask(origin.mask[:, free] + rise, float(penalty.budget))
    return mask, space.step(objective, origin.T, along.slope, beta)


def _holds(
    objective: Objective, space: Geometry, point: Saddle, ahead: Saddle, following: Saddle, alpha: float, beta: float
) -> bool:
    """The extragradient inequality, divided by Ω: ``<F(ahead) - F(point), ahead - following>`` is at most the distance
    from ``point`` to ``ahead`` and on to ``following``."""
    free = objective.penalty.cost > 0.0
    turn = (point.G**2 - ahead.G**2)[:, free] / (2.0 * objective.penalty.alpha)
    product = float(np.vdot(turn, (ahead.mask - following.mask)[:, free]))
    product -= objective.mean_product(ahead.slope - point.slope, ahead.S - following.S)
    squares = np.sum((ahead.mask - point.mask) ** 2) + np.sum((following.mask - ahead.mask) ** 2)
    distance = float(squares) / (2.0 * alpha * objective.rows.labels.total)
    distance += space.distance(objective, ahead.S, point.T, point.S) / beta
    distance += space.distance(objective, following.S, ahead.T, ahead.S) / beta
    return product <= distance + 1e-13  # near the optimum both sides are rounding


def _relaxed(objective: Objective, mask: np.ndarray, S: np.ndarray, n_iter: int, tol: float) -> Relaxed:
    """The certificate of ``(ε, S)``: P at ``W = -G⊙ε/λ`` and D at ``S``."""
    G = objective.gather(S)
    W = -G * mask / objective.penalty.alpha
    upper = objective.primal(W)
    lower = objective.dual(objective.mean_conjugate(S), G)
    return Relaxed(W, mask, G, upper, lower, n_iter, upper - lower <= tol * upper)
