r"""The mathematics, in one place.

Letters: rows ``i`` of ``m`` with weights that sum to 1, columns ``l`` of ``d``, prototypes ``j`` of ``p``; weights
``W`` and mask ``ε`` (both p × d), dual ``S`` (m × p), budget ``k``, ridge weight ``λ``. With ``s_i = ∂loss_i/∂z_i``
and ``G_j = Σ_i weight_i s_ij x_i``:

.. math::
    P(W) &= \sum_i weight_i\, loss_i(W x_i) + \tfrac{\lambda}{2} \sum_j \|w_j\|_{ksup}^2

    D(S) &= -\sum_i weight_i\, loss_i^*(s_i) - \tfrac{1}{2\lambda} \sum_j (\text{sum of the k largest } G_{jl}^2)

    loss_i(z) &= \log\bigl(1 + \sum_{j: owner(j) \ne class(i)} \exp(z_j - z_{own(i)})\bigr)

``D ≤ min P``, and ``min P`` is at most the objective of every W with k terms a prototype, whose penalty is the plain
``λ/2 ‖W‖²``. Columns that are always in (the intercept) count in full in both, outside the budget.
"""

from dataclasses import dataclass, replace

import numpy as np

from smallearn import geometry, kernels
from smallearn.blocks import Assignment, Curvature, Rows, Sums


@dataclass(frozen=True)
class Penalty:
    """``λ/2 Σ_j ‖w_j‖²_ksup`` with at most ``k`` of the leading ``n_free`` columns in each prototype."""

    alpha: float
    k: int
    n_free: int

    def prox(self, V: np.ndarray, step: float) -> tuple[np.ndarray, np.ndarray, float]:
        """``argmin ½‖W - V‖² + step · penalty(W)``, its mask and its penalty."""
        W, mask, half_square = geometry.prox_k_support(V, self.k, self.alpha * step, self.n_free)
        return W, mask, self.alpha * half_square

    def value(self, W: np.ndarray) -> float:
        return self.alpha * geometry.k_support(W, self.k, self.n_free)[1]

    def mask(self, W: np.ndarray) -> np.ndarray:
        return geometry.k_support(W, self.k, self.n_free)[0]

    def conjugate(self, G: np.ndarray) -> float:
        """``(1/2λ) Σ_j (sum of the k largest G_jl² + all those always in)``."""
        squares = G * G
        largest = geometry.sum_of_largest(squares[:, : self.n_free], self.k)
        return (largest + float(squares[:, self.n_free :].sum())) / (2.0 * self.alpha)


@dataclass(frozen=True)
class Objective:
    """The relaxed problem for one assignment: what a solver is given."""

    rows: Rows
    assignment: Assignment
    penalty: Penalty

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.assignment.owner), self.rows.n_columns

    def sums(self, W: np.ndarray) -> Sums:
        """Loss, conjugate and gradient at ``W``, in one pass over the rows."""
        return self.rows.sums(W, self.assignment)

    def curvature(self, theta: np.ndarray, column: np.ndarray) -> Curvature:
        """Loss, conjugate, gradient and Hessian in the entries of W that ``column`` names (see `Rows`)."""
        return self.rows.curvature(theta, column, self.assignment)

    def loss(self, W: np.ndarray) -> float:
        return self.rows.sums(W, self.assignment, gradient=False).loss

    def primal(self, W: np.ndarray) -> float:
        return self.loss(W) + self.penalty.value(W)

    def sparse_primal(self, W: np.ndarray) -> float:
        """The objective of a W that keeps the budget, ``loss + λ/2 ‖W‖²``."""
        return self.loss(W) + 0.5 * self.penalty.alpha * float(np.sum(W * W))

    def dual(self, conjugate: float, G: np.ndarray) -> float:
        """The lower bound D from a point of the dual set, through the two sums that it needs; 0 bounds P too."""
        return max(0.0, -conjugate - self.penalty.conjugate(G))

    def restrict(self, columns: np.ndarray) -> "Objective":
        """The same problem on some columns, the ones always in last."""
        n_free = int(np.sum(columns < self.penalty.n_free))
        return replace(self, rows=self.rows.restrict(columns), penalty=replace(self.penalty, n_free=n_free))

    # The dual variable, row by row, for Mirror-Prox.

    def residual(self, Z: np.ndarray) -> np.ndarray:
        """``S = ∇loss(Z)``."""
        S = np.empty_like(Z)
        kernels.residual_rows(Z, *self._roles(), S)
        return S

    def mean_conjugate(self, S: np.ndarray) -> float:
        """``Σ_i weight_i loss_i*(s_i)`` anywhere in the dual set."""
        return kernels.conjugate_rows(S, *self._roles(), self.rows.labels.weight)

    def conjugate_slope(self, S: np.ndarray) -> np.ndarray:
        """``∇loss*(S)``; the logarithm is clipped where exact projections land on the boundary of the dual set."""
        out = np.empty_like(S)
        kernels.conjugate_slope_rows(S, *self._roles(), 1e-12, out)
        return out

    def dual_step(self, S: np.ndarray, slope: np.ndarray, step: float) -> np.ndarray:
        """The Euclidean projection of ``S + step · slope`` onto the dual set."""
        out = np.empty_like(S)
        kernels.dual_step_rows(S, slope, step, *self._roles(), out)
        return out

    def free_coordinates(self, S: np.ndarray) -> np.ndarray:
        """``S`` without the entry of the own prototype where that follows from the others (no frozen zero)."""
        if self.rows.labels.zero_owner >= 0:
            return S
        free = S.copy()
        free[np.arange(len(S)), self.assignment.own] = 0.0
        return free

    def mean_product(self, A: np.ndarray, B: np.ndarray) -> float:
        """``Σ_i weight_i a_i·b_i``."""
        return float(self.rows.labels.weight @ np.einsum("ij,ij->i", A, B))

    def gather(self, S: np.ndarray) -> np.ndarray:
        """``G = Σ_i weight_i s_i x_iᵀ``."""
        return self.rows.combine(S * self.rows.labels.weight[:, None])

    def _roles(self):
        labels = self.rows.labels
        return self.assignment.own, labels.code, self.assignment.owner, labels.zero_owner


@dataclass(frozen=True)
class Relaxed:
    """What a solver returns: the relaxed optimum as far as it got, with the bound that says how far."""

    W: np.ndarray
    mask: np.ndarray
    gradient: np.ndarray
    primal: float
    dual: float
    n_iter: int
    converged: bool

    @property
    def gap(self) -> float:
        """``(P - D)/P``, relative."""
        return max(0.0, (self.primal - self.dual) / self.primal)
