r"""Weights refitted while others are held: what is left of training once a person has changed a model.

The unknowns are weights and constants in raw units, so that what is held is held exactly. They are those of

.. math:: \sum_i weight_i\, loss_i(z) + \tfrac{\lambda}{2} \|W\|^2

of `objective`, with ``W = A w`` the standardised weights for the raw ones. If none is held, the minimum is that of
`rounding.refit`.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from smallearn._learn.data.blocks import DenseRows, Scaling
from smallearn._learn.data.labels import Assignment, Labels
from smallearn._learn.data.many_rows import best_prototypes
from smallearn._learn.kernels import PADDING
from smallearn._learn.solve.rounding import MAX_NEWTON, PRECISE, ROUGH

MOST_MOVES = 20  # rounds in which rows join other prototypes


@dataclass(frozen=True)
class Weighed:
    """Raw weights (p × t + 1, the constant is last), their objective, and the rows of each prototype."""

    weights: np.ndarray
    objective: float
    assignment: Assignment


@dataclass(frozen=True)
class HeldProblem:
    """Rows that are the values of terms (m × t), and the prototypes that weigh some of these terms.

    ``used`` (p × t + 1) says which term is in which prototype; the last column is the constant, which all have.
    """

    values: np.ndarray
    labels: Labels
    owner: np.ndarray
    used: np.ndarray
    alpha: float

    @cached_property
    def _moments(self) -> tuple[np.ndarray, np.ndarray]:
        """The mean and the deviation of each term."""
        mean = self.labels.weight @ self.values
        return mean, np.sqrt(self.labels.weight @ (self.values - mean) ** 2)

    @cached_property
    def varies(self) -> np.ndarray:
        """Which terms vary (t + 1): the weights of the others say nothing. The constant counts as one that does."""
        mean, deviation = self._moments
        return np.append(deviation > 1e-12 * (1.0 + np.abs(mean)), True)

    @cached_property
    def _scale(self) -> np.ndarray:
        return np.where(self.varies[:-1], self._moments[1], 1.0)

    @cached_property
    def _rows(self) -> DenseRows:
        standardised = np.ascontiguousarray((self.values - self._moments[0]) / self._scale)
        scaling = Scaling.none(standardised.shape[1])
        return DenseRows(standardised, scaling, intercept=True, labels=self.labels)

    def fit(self, start: np.ndarray, free: np.ndarray) -> Weighed:
        """The best weights where ``free``, and those of ``start`` elsewhere. Rows join their best prototype."""
        free = free & self.used & self.varies
        assignment = self._assigned(start)
        found = self._newton(start, free, assignment, PRECISE if assignment.one_per_class else ROUGH)
        for _ in range(0 if assignment.one_per_class else MOST_MOVES):
            moved = self._assigned(found.weights)
            if np.array_equal(moved.own, found.assignment.own):
                break
            following = self._newton(found.weights, free, moved, ROUGH)
            if not following.objective < found.objective:
                break
            found = following
        return found if assignment.one_per_class else self._newton(found.weights, free, found.assignment, PRECISE)

    def fit_rounded(self, start: np.ndarray, free: np.ndarray, unit: np.ndarray) -> Weighed:
        """As `fit`, but each free weight becomes a multiple of its ``unit`` and no term's becomes 0: one after the
        other, the nearest first, while the others are refitted."""
        free = free & self.used & self.varies
        found = self.fit(start, free)
        while free.any():
            whole = np.rint(found.weights / unit)
            whole[:, :-1] = np.where(whole[:, :-1] == 0.0, np.sign(found.weights[:, :-1]), whole[:, :-1])
            away = np.where(free, np.abs(found.weights / unit - whole), np.inf)
            nearest = np.unravel_index(np.argmin(away), away.shape)
            weights = found.weights.copy()
            weights[nearest] = whole[nearest] * unit[nearest]
            free = free.copy()
            free[nearest] = False
            found = self.fit(weights, free)
        return found

    def scores(self, weights: np.ndarray) -> np.ndarray:
        """The score of every prototype on every row, m × p."""
        return self.values @ weights[:, :-1].T + weights[:, -1]

    def _standardised(self, weights: np.ndarray) -> np.ndarray:
        return np.column_stack([weights[:, :-1] * self._scale, weights[:, -1] + weights[:, :-1] @ self._moments[0]])

    def _assigned(self, weights: np.ndarray) -> Assignment:
        own = best_prototypes(self._rows, self._standardised(weights), self.owner)
        return Assignment(own=own, owner=self.owner)

    def _newton(self, start: np.ndarray, free: np.ndarray, assignment: Assignment, precision: float) -> Weighed:
        """Newton's method with backtracking in the free weights."""
        p, width = self.used.shape
        column = np.where(self.used, np.arange(width), PADDING)
        roles = self.labels.roles(assignment)
        turn = self._turn()
        place = np.flatnonzero(free.ravel())

        def evaluate(weights):
            theta = np.where(self.used, self._standardised(weights), 0.0)
            at = self._rows.curvature(theta, column, roles)
            return at.loss + 0.5 * self.alpha * float(np.vdot(theta, theta)), theta, at

        weights = start.copy()
        value, theta, at = evaluate(weights)
        for _ in range(MAX_NEWTON if len(place) else 0):
            slope = (turn.T @ (at.gradient + self.alpha * theta).ravel())[place]
            hessian = (turn.T @ (at.hessian + self.alpha * np.eye(p * width)) @ turn)[np.ix_(place, place)]
            step = np.zeros(p * width)
            step[place] = -_solved(hessian, slope)
            decrement = -float(slope @ step[place])
            if decrement <= precision * value:
                break
            length = 1.0
            while True:
                tried = weights + length * step.reshape(weights.shape)
                trial = evaluate(tried)
                if trial[0] <= value - 1e-4 * length * decrement or length < 1e-8 or decrement <= 1e-10 * value:
                    break
                length *= 0.5
            if not trial[0] <= value * (1.0 + 1e-12):
                break
            weights = tried
            value, theta, at = trial
        return Weighed(weights=weights, objective=value, assignment=assignment)

    def _turn(self) -> np.ndarray:
        """``A`` of ``W = A w``, for all prototypes."""
        one = np.diag(np.append(self._scale, 1.0))
        one[-1, :-1] = self._moments[0]
        return np.kron(np.eye(len(self.used)), one)


def _solved(hessian: np.ndarray, slope: np.ndarray) -> np.ndarray:
    """``H⁻¹ slope`` with the diagonal scaled to 1."""
    scale = 1.0 / np.sqrt(np.maximum(np.diagonal(hessian), 1e-300))
    scaled = hessian * scale[:, None] * scale
    scaled.flat[:: len(slope) + 1] += 1e-12
    return scale * np.linalg.solve(scaled, scale * slope)
