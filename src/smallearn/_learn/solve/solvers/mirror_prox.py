"""Mirror-Prox: Algorithm 1 of the paper on its saddle point, with the misprints corrected.

The saddle function is the paper's, with ``Ω`` (the sum of the row weights, ``m`` if all are 1) in place of ``m``,
``s = ∂loss/∂z`` and ``G`` divided by ``Ω``:

    φ(ε, S) = -(Ω/2λ) Σ G_jl² ε_jl - Σ_i ω_i loss_i*(s_i),    W = -G⊙ε/λ,    Z = X Wᵀ
    ∇_ε φ = -(Ω/2λ) G⊙G,    ∇_{s_i} φ / ω_i = z_i - ∇loss_i*(s_i)

Dividing by ``ω_i`` makes a row of weight 2 move as two rows would.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np

from smallearn._errors import Parameter, ParameterError
from smallearn._learn.parameters import LARGEST, check_bool, is_number
from smallearn._learn.solve import geometry
from smallearn._learn.solve.objective import RELAXATION, Penalty, Relaxation, Relaxed, Saddle, StepSizes
from smallearn._run.deadline import present

GROW, SHRINK = 1.1, 0.6
CHECK_EVERY = 20  # steps between two checks of the gap, each of which costs about as much as a step
UNCHECKED = 200  # steps in one call of the kernel if the gap is not checked
SMALL = 1 << 20  # up to this many entries of X the fixed steps run in one kernel, on a copy


class Geometry(Protocol):
    """How the dual variable moves. ``T`` is its coordinate, ``S`` the point of the dual set at ``T``.

    ``first_steps`` (Ωα, β) start the adaptive rule, which changes both by the same factor: averages need a constant
    ratio. The ratios were chosen on the breast cancer data.
    """

    first_steps: StepSizes
    least_pace: float

    def coordinate(self, relaxation: Relaxation, Z: np.ndarray) -> np.ndarray:
        """``T`` with ``S = ∇loss(Z)``."""

    def dual(self, relaxation: Relaxation, T: np.ndarray) -> np.ndarray:
        """``S`` at ``T``."""

    def slope(self, relaxation: Relaxation, S: np.ndarray, Z: np.ndarray) -> np.ndarray:
        """The part of ``∇_S φ`` that a step linearises."""

    def step(self, relaxation: Relaxation, T: np.ndarray, slope: np.ndarray, beta: float) -> np.ndarray:
        """``T`` after a step of length ``beta``."""

    def distance(self, relaxation: Relaxation, S: np.ndarray, T: np.ndarray, origin: np.ndarray) -> float:
        """The Bregman distance of ``S`` from ``origin``, whose coordinate is ``T``."""


class Entropy:
    """The mirror map of S is ``loss*`` itself: with ``s = ∇loss(t)`` a step is ``t ← (t + β z)/(1 + β)``.

    This needs no projection, takes no logarithm of zero, and treats ``loss*`` exactly instead of linearising it.
    """

    first_steps = StepSizes(alpha=20.0, beta=0.1)
    least_pace = 1e-12  # steps this short do nothing; values that overflow would shrink them indefinitely

    def coordinate(self, relaxation: Relaxation, Z: np.ndarray) -> np.ndarray:
        return Z

    def dual(self, relaxation: Relaxation, T: np.ndarray) -> np.ndarray:
        return relaxation.residual(T)

    def slope(self, relaxation: Relaxation, S: np.ndarray, Z: np.ndarray) -> np.ndarray:
        return Z

    def step(self, relaxation: Relaxation, T: np.ndarray, slope: np.ndarray, beta: float) -> np.ndarray:
        return (T + beta * slope) / (1.0 + beta)

    def distance(self, relaxation: Relaxation, S: np.ndarray, T: np.ndarray, origin: np.ndarray) -> float:
        rise = relaxation.mean_conjugate(S) - relaxation.mean_conjugate(origin)
        return rise - relaxation.mean_product(T, S - origin)


class Euclidean:
    """The steps of Algorithm 1, with exact projections; the coordinate is ``S``."""

    first_steps = StepSizes(alpha=60.0, beta=0.001)
    least_pace = 0.1  # near the boundary ∇loss* has no Lipschitz constant: no step is short enough

    def coordinate(self, relaxation: Relaxation, Z: np.ndarray) -> np.ndarray:
        return relaxation.residual(Z)

    def dual(self, relaxation: Relaxation, T: np.ndarray) -> np.ndarray:
        return T

    def slope(self, relaxation: Relaxation, S: np.ndarray, Z: np.ndarray) -> np.ndarray:
        return Z - relaxation.conjugate_slope(S)

    def step(self, relaxation: Relaxation, T: np.ndarray, slope: np.ndarray, beta: float) -> np.ndarray:
        return relaxation.dual_step(T, slope, beta)

    def distance(self, relaxation: Relaxation, S: np.ndarray, T: np.ndarray, origin: np.ndarray) -> float:
        step = relaxation.free_coordinates(S - origin)
        return 0.5 * relaxation.mean_product(step, step)


GEOMETRIES: dict[str, Geometry] = {"entropy": Entropy(), "euclidean": Euclidean()}


@dataclass(frozen=True)
class StepOptions:
    """``step_sizes`` is a pair (α, β) on φ as the paper scales it, or "adaptive"."""

    geometry: str = "entropy"
    step_sizes: Literal["adaptive"] | tuple[float, float] = "adaptive"
    average: bool = True


class Iterate(NamedTuple):
    """A point ``(ε, S)`` and what a step from it needs; ``T`` is the coordinate of ``S``."""

    mask: np.ndarray
    T: np.ndarray
    S: np.ndarray
    G: np.ndarray
    slope: np.ndarray

    @property
    def saddle(self) -> Saddle:
        return Saddle(mask=self.mask, S=self.S)


@dataclass(frozen=True)
class Average:
    """The weighted mean of the extragradient points: the O(1/t) bound holds for it, not for the last iterate."""

    saddle: Saddle
    weight: float = 0.0

    def with_point(self, point: Iterate, weight: float) -> "Average":
        """The mean once ``point`` is added with that weight."""
        total = self.weight + weight
        mask, S = self.saddle
        mean = Saddle(
            mask=mask + (weight / total) * (point.mask - mask),
            S=S + (weight / total) * (point.S - S),
        )
        return Average(saddle=mean, weight=total)


def solve(relaxation: Relaxation, start: np.ndarray | None, tol: float, max_iter: int, options: StepOptions) -> Relaxed:
    """Run to a relative gap of ``tol``, of the average or of the last iterate, or for ``max_iter`` steps, or until
    the deadline."""
    check_budget(relaxation.penalty)
    space = GEOMETRIES[options.geometry]
    adaptive = isinstance(options.step_sizes, str)
    # As floats: for a whole number, numba would compile the kernels once more.
    steps = space.first_steps if isinstance(options.step_sizes, str) else StepSizes(*map(float, options.step_sizes))
    if isinstance(space, Euclidean) and not adaptive and relaxation.n_rows * relaxation.shape[1] <= SMALL:
        return _in_one_kernel(relaxation, start, steps, tol=tol, max_iter=max_iter, average=options.average)
    if adaptive:
        steps = steps._replace(alpha=steps.alpha / relaxation.total_weight)
    point = _start(relaxation, space, start)
    average = Average(point.saddle)
    window = 2 * CHECK_EVERY
    pace = 1.0
    for n_iter in range(1, max_iter + 1):
        ahead, following = _extragradient(relaxation, space, point, steps.times(pace))
        while adaptive and not _holds(relaxation, space, point, ahead, following, steps.times(pace)):
            if pace <= space.least_pace:
                break
            pace = max(SHRINK * pace, space.least_pace)
            ahead, following = _extragradient(relaxation, space, point, steps.times(pace))
        average = average.with_point(ahead, pace)
        point = following
        if adaptive:
            pace *= GROW
        late = n_iter < max_iter and present().passed()
        if late or n_iter % CHECK_EVERY == 0 or n_iter == max_iter:
            relaxed = _relaxed(relaxation, average.saddle if options.average else point.saddle, n_iter, tol)
            if relaxed.converged or (late and present().stops(RELAXATION)):
                break
        if adaptive and n_iter == window:
            # The average of the last half obeys the same bound and forgets where it started.
            average, window = Average(point.saddle), 2 * window
    return relaxed


def _in_one_kernel(
    relaxation: Relaxation, start: np.ndarray | None, steps: StepSizes, *, tol: float, max_iter: int, average: bool
) -> Relaxed:
    """The same for fixed steps in the Euclidean geometry, where a call for each step would cost more than the step."""
    first = _start(relaxation, GEOMETRIES["euclidean"], start).saddle
    last = Saddle(mask=first.mask.copy(), S=first.S.copy())
    mean = Saddle(mask=np.zeros_like(first.mask), S=np.zeros_like(first.S))
    at_a_time = CHECK_EVERY if tol > 0.0 else UNCHECKED
    for done in range(0, max_iter, at_a_time):
        count = min(at_a_time, max_iter - done)
        relaxation.euclidean_steps(last, mean, steps, done=done, count=count)
        late = done + count < max_iter and present().passed()
        if late or tol > 0.0 or done + count == max_iter:
            relaxed = _relaxed(relaxation, mean if average else last, done + count, tol)
            if relaxed.converged or (late and present().stops(RELAXATION)):
                break
    return relaxed


def check_parameters(parameters: Mapping[str, Any]) -> None:
    """Refuse options that are not allowed, and parameters that only the accelerated solver can use."""
    options = parameters["solver_options"] or {}
    geometry = options.get("geometry", StepOptions.geometry)
    if not isinstance(geometry, str) or geometry not in GEOMETRIES:
        raise ValueError(f"solver_options: geometry={geometry!r} is neither {' nor '.join(map(repr, GEOMETRIES))}.")
    check_bool("solver_options: average", options.get("average", StepOptions.average))
    _check_step_sizes(options.get("step_sizes", StepOptions.step_sizes))
    others = [Parameter(name, parameters[name]) for name in ("max_cost", "always_in", "monotonic_cst")]
    others = [parameter for parameter in others if parameter.value is not None]
    if parameters["budget"] != "prototype":
        others.insert(0, Parameter("budget", parameters["budget"]))
    if others:
        solver, instead = Parameter("solver", "mirror-prox"), Parameter("solver", "accelerated")
        raise ParameterError(solver, " cannot be combined with ", others[0], "; use ", instead, ".")


def _check_step_sizes(steps: Any) -> None:
    """Refuse what is neither "adaptive" nor a pair of positive numbers."""
    if isinstance(steps, np.ndarray):
        steps = steps.tolist()
    if isinstance(steps, str) and steps == "adaptive":
        return
    pair = isinstance(steps, tuple | list) and len(steps) == 2 and all(map(is_number, steps))
    if not pair or not all(0.0 < step <= LARGEST for step in steps):
        raise ValueError(
            f"solver_options: step_sizes={steps!r} is neither 'adaptive' nor a pair of positive numbers (α, β)."
        )


def check_budget(penalty: Penalty) -> None:
    """Refuse budgets other than a count in each prototype, for which the steps of the mask are written."""
    counts = penalty.cost.ndim == 1 and np.ndim(penalty.budget) == 0 and np.isin(penalty.cost, (0.0, 1.0)).all()
    if penalty.pooling != "prototype" or not counts or penalty.sign.any():
        raise ValueError(
            "solver='mirror-prox' supports only budget='prototype', without feature_costs, max_cost or monotonic_cst; "
            "use solver='accelerated'."
        )


def _start(relaxation: Relaxation, space: Geometry, W: np.ndarray | None) -> Iterate:
    """The uniform mask and the dual point of zero scores, or those that belong to ``W``."""
    p, d = relaxation.shape
    penalty = relaxation.penalty
    if W is None:
        mask = np.ones((p, d))
        free = penalty.cost > 0.0
        mask[:, free] = min(1.0, float(penalty.budget) / max(1, free.sum()))
        Z = np.zeros((relaxation.n_rows, p))
    else:
        mask, Z = penalty.mask(W), relaxation.scores(W)
    return _iterate(relaxation, space, mask, space.coordinate(relaxation, Z))


def _iterate(relaxation: Relaxation, space: Geometry, mask: np.ndarray, T: np.ndarray) -> Iterate:
    S = space.dual(relaxation, T)
    G = relaxation.gather(S)
    Z = relaxation.scores(-G * mask / relaxation.penalty.alpha)
    return Iterate(mask=mask, T=T, S=S, G=G, slope=space.slope(relaxation, S, Z))


def _extragradient(
    relaxation: Relaxation, space: Geometry, point: Iterate, steps: StepSizes
) -> tuple[Iterate, Iterate]:
    """The gradient step from ``point``, and the step from ``point`` with the gradient found there."""
    ahead = _move(relaxation, space, point, point, steps)
    return ahead, _move(relaxation, space, point, ahead, steps)


def _move(relaxation: Relaxation, space: Geometry, origin: Iterate, along: Iterate, steps: StepSizes) -> Iterate:
    """One step from ``origin``, with the gradient at ``along``."""
    penalty = relaxation.penalty
    mask = origin.mask.copy()
    free = penalty.cost > 0.0
    rise = (steps.alpha * relaxation.total_weight / (2.0 * penalty.alpha)) * along.G[:, free] ** 2
    mask[:, free] = geometry.project_mask(origin.mask[:, free] + rise, float(penalty.budget))
    return _iterate(relaxation, space, mask, space.step(relaxation, origin.T, along.slope, steps.beta))


def _holds(
    relaxation: Relaxation, space: Geometry, point: Iterate, ahead: Iterate, following: Iterate, steps: StepSizes
) -> bool:
    """The extragradient inequality, divided by Ω: ``<F(ahead) - F(point), ahead - following>`` is at most the distance
    from ``point`` to ``ahead`` and on to ``following``."""
    free = relaxation.penalty.cost > 0.0
    turn = (point.G**2 - ahead.G**2)[:, free] / (2.0 * relaxation.penalty.alpha)
    product = float(np.vdot(turn, (ahead.mask - following.mask)[:, free]))
    product -= relaxation.mean_product(ahead.slope - point.slope, ahead.S - following.S)
    squares = np.sum((ahead.mask - point.mask) ** 2) + np.sum((following.mask - ahead.mask) ** 2)
    distance = float(squares) / (2.0 * steps.alpha * relaxation.total_weight)
    distance += space.distance(relaxation, ahead.S, point.T, point.S) / steps.beta
    distance += space.distance(relaxation, following.S, ahead.T, ahead.S) / steps.beta
    return product <= distance + 1e-13  # near the optimum both sides are rounding


def _relaxed(relaxation: Relaxation, saddle: Saddle, n_iter: int, tol: float) -> Relaxed:
    """The certificate of ``(ε, S)``: P at ``W = -G⊙ε/λ`` and D at ``S``."""
    G = relaxation.gather(saddle.S)
    W = -G * saddle.mask / relaxation.penalty.alpha
    upper = relaxation.primal(W)
    lower = relaxation.dual(relaxation.mean_conjugate(saddle.S), G)
    return Relaxed(
        W=W,
        mask=saddle.mask,
        gradient=G,
        primal=upper,
        dual=lower,
        n_iter=n_iter,
        converged=upper - lower <= tol * upper,
    )
