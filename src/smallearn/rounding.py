"""From the relaxed optimum to a model that keeps the budget: round the mask, refit the weights on the support."""

import numpy as np
from scipy import optimize

from smallearn import geometry
from smallearn.objective import Objective, Relaxed

MOST_UNKNOWNS = 256  # beyond it a Hessian is too dear and L-BFGS takes over
MAX_NEWTON = 100


def round_support(objective: Objective, relaxed: Relaxed) -> np.ndarray:
    """Keep the ``k`` largest entries of the mask in each prototype, and the columns that are always in (p × d)."""
    n_free, k = objective.penalty.n_free, objective.penalty.k
    support = np.ones(relaxed.mask.shape, dtype=bool)
    support[:, :n_free] = geometry.largest_first(relaxed.mask[:, :n_free], np.abs(relaxed.gradient[:, :n_free]), k)
    return support


def from_dual(objective: Objective, relaxed: Relaxed, support: np.ndarray) -> tuple[np.ndarray, float]:
    """The paper's weights on the rounded support, ``W = -G⊙ε/λ`` with G still that of the relaxation."""
    W = np.where(support, -relaxed.gradient / objective.penalty.alpha, 0.0)
    return W, objective.sparse_primal(W)


def refit(objective: Objective, support: np.ndarray, start: np.ndarray) -> tuple[np.ndarray, float]:
    """Minimise ``loss + λ/2 ‖W‖²`` over the weights on the support; returns W and the minimum."""
    columns = np.flatnonzero(support.any(axis=0))
    small = objective if len(columns) == objective.rows.n_columns else objective.restrict(columns)
    width = int(support.sum(axis=1).max())
    solve = _newton if support.shape[0] * width <= MOST_UNKNOWNS else _lbfgs
    W = np.zeros(support.shape)
    W[:, columns], value = solve(small, support[:, columns], np.where(support, start, 0.0)[:, columns])
    return W, value


def _newton(objective: Objective, support: np.ndarray, W: np.ndarray) -> tuple[np.ndarray, float]:
    """Newton's method with backtracking, in p·(k + 1) unknowns. Ends one full step after the decrement is negligible,
    which by quadratic convergence leaves the minimiser to nearly machine precision."""
    p = support.shape[0]
    width = int(support.sum(axis=1).max())
    column = np.full((p, width), -1)
    for j in range(p):
        column[j, : support[j].sum()] = np.flatnonzero(support[j])
    real = column >= 0
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
        length = 1.0
        trial, at_trial = evaluate(theta + step)
        # Close to the minimum the full step is right, though the fall it brings drowns in rounding.
        while decrement > 1e-10 * value and trial > value - 1e-4 * length * decrement and length > 1e-8:
            length *= 0.5
            trial, at_trial = evaluate(theta + length * step)
        if not trial <= value * (1.0 + 1e-12):
            break  # no step helps, however short
        theta, value, at = theta + length * step, trial, at_trial
        if decrement <= 1e-14 * value:
            break
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
    alpha = objective.penalty.alpha

    def evaluate(theta):
        full = np.zeros(support.shape)
        full[support] = theta
        at = objective.sums(full)
        return at.loss + 0.5 * alpha * float(theta @ theta), at.gradient[support] + alpha * theta

    options = {"maxiter": 5000, "ftol": 0.0, "gtol": 1e-9}
    found = optimize.minimize(evaluate, W[support], jac=True, method="L-BFGS-B", options=options)
    refitted = np.zeros(support.shape)
    refitted[support] = found.x
    return refitted, float(found.fun)
