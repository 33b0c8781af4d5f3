r"""The mathematics, in one place.

Letters: rows ``i`` of ``m`` with weights that sum to 1, columns ``l`` of ``d``, prototypes ``j`` of ``p``; weights
``W`` and mask ``ε`` (both p × d), dual ``S`` (m × p), budget ``k``, ridge weight ``λ``. With ``s_i = ∂loss_i/∂z_i``
and ``G_j = Σ_i weight_i s_ij x_i``:

.. math::
    P(W) &= \sum_i weight_i\, loss_i(W x_i) + \tfrac{\lambda}{2} \sum_j \|w_j\|_{ksup}^2

    D(S) &= -\sum_i weight_i\, loss_i^*(s_i) - \tfrac{1}{2\lambda} \sum_j (\text{sum of the k largest } G_{jl}^2)

    loss_i(z) &= \log\bigl(1 + \sum_{j: owner(j) \ne class(i)} \exp(z_j - z_{own(i)})\bigr)

``D ≤ min P``, and ``min P`` is at most the objective of every W with k terms a prototype, whose penalty is the plain
``λ/2 ‖W‖²``. Columns that are always in (the intercept) count in full in both, outside the budget. Other budgets than a
count for each prototype change the two sums over ``j``, and nothing else: see `Penalty`.
"""

from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from smallearn._learn import kernels
from smallearn._learn.data.blocks import Assignment, Curvature, Rows, Sums
from smallearn._learn.solve import geometry

DUAL_FLOOR = 1e-12  # below which the logarithms of dual variables are clipped

Pooling = Literal["prototype", "total", "shared"]


@dataclass(frozen=True, eq=False)
class Penalty:
    """``λ/2 min_ε Σ_jl w_jl²/ε_jl`` over the masks ``ε ∈ [0,1]`` that keep the budget, with the signs that are due.

    - ``cost`` of each column (d), or of each entry (p × d): what ``ε = 1`` costs. At cost 0 an entry is always in,
      outside the budget (the intercept); at more than the budget it is never in.
    - ``pooling``: ``Σ_l c_l ε_jl ≤ budget`` for each "prototype", ``Σ_jl c_l ε_jl ≤ budget`` in "total", or one ε_l
      "shared" by all prototypes with ``Σ_l c_l ε_l ≤ budget``. The budget may differ by prototype (p).
    - ``sign`` of the weights of each column: +1, -1, or 0 for either.
    """

    alpha: float
    budget: float | np.ndarray
    cost: np.ndarray
    sign: np.ndarray
    pooling: Pooling = "prototype"
    _made: dict[int, geometry.Pools] = field(default_factory=dict, init=False, repr=False)

    @staticmethod
    def count(alpha: float, k: int, n_free: int, n_always: int) -> "Penalty":
        """``λ/2 Σ_j ‖w_j‖²_ksup``: at most ``k`` of ``n_free`` columns in each prototype; ``n_always`` more are in."""
        cost = np.concatenate([np.ones(n_free), np.zeros(n_always)])
        return Penalty(alpha, float(k), cost, np.zeros(n_free + n_always, dtype=np.int8))

    def pools(self, p: int) -> geometry.Pools:
        """The allowed masks of ``p`` prototypes, laid out for the kernels."""
        if p not in self._made:
            self._made[p] = geometry.make_pools(self.pooling, self.budget, self.cost, self.sign, p)
        return self._made[p]

    def prox(self, V: np.ndarray, step: float) -> tuple[np.ndarray, np.ndarray, float]:
        """``argmin ½‖W - V‖² + step · penalty(W)``, its mask and its penalty."""
        W, mask, half_square = geometry.prox(V, self.pools(len(V)), self.alpha * step)
        return W, mask, self.alpha * half_square

    def value(self, W: np.ndarray) -> float:
        """The penalty of a ``W`` that has the signs due."""
        return self.alpha * geometry.norm(W, self.pools(len(W)))[1]

    def mask(self, W: np.ndarray) -> np.ndarray:
        return geometry.norm(W, self.pools(len(W)))[0]

    def conjugate(self, G: np.ndarray) -> float:
        """``(1/2λ) max_ε Σ_jl ε_jl G_jl²`` over the allowed masks: for a count, the k largest G_jl² of each prototype
        and all those always in. Where a sign is due, ``max(0, -σ_l G_jl)²`` stands for ``G_jl²``."""
        return geometry.most_gain(G, self.pools(len(G))) / (2.0 * self.alpha)

    def clip(self, W: np.ndarray) -> np.ndarray:
        """The nearest W with the signs due and nothing where nothing may be."""
        return np.where((self.sign * W < 0.0) | self._never(len(W)), 0.0, W)

    def restrict(self, columns: np.ndarray) -> "Penalty":
        """The same on some of the columns."""
        return replace(self, cost=self.cost[..., columns], sign=self.sign[columns])

    # Supports, p × d of bool: masks of 0 and 1.

    def spent(self, support: np.ndarray) -> np.ndarray:
        """What a support costs, for each pool: one per prototype, or a single one."""
        if self.pooling == "shared":
            return np.array([self.cost[support.any(axis=0)].sum()])
        each = np.where(support, self.cost, 0.0).sum(axis=1)
        return each if self.pooling == "prototype" else np.array([each.sum()])

    def allows(self, support: np.ndarray) -> bool:
        """Whether a support keeps the budget."""
        return bool(np.all(self.spent(support) <= self._ample))

    def affordable(self, support: np.ndarray) -> np.ndarray:
        """Which entries may be added to a support, one at a time, within the budget (p × d; none that it has already).

        Shared, a column that another prototype uses costs nothing more.
        """
        price = np.broadcast_to(self.cost, support.shape)
        if self.pooling == "shared":
            price = np.where(support.any(axis=0), 0.0, price)
        left = np.reshape(self._ample - self.spent(support), (-1, 1))
        return ~support & ((price <= left) | (price == 0.0))

    @property
    def _ample(self) -> float | np.ndarray:
        return self.budget * (1.0 + geometry.ROUNDING)

    def _never(self, p: int) -> np.ndarray:
        return np.broadcast_to(self.cost > np.reshape(self._ample, (-1, 1)), (p, len(self.sign)))


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
        """The same problem on some columns, in upward order."""
        return replace(self, rows=self.rows.restrict(columns), penalty=self.penalty.restrict(columns))

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
        kernels.conjugate_slope_rows(S, *self._roles(), DUAL_FLOOR, out)
        return out

    def dual_step(self, S: np.ndarray, slope: np.ndarray, step: float) -> np.ndarray:
        """The Euclidean projection of ``S + step · slope`` onto the dual set."""
        out = np.empty_like(S)
        kernels.dual_step_rows(S, slope, step, *self._roles(), out)
        return out

    def free_coordinates(self, S: np.ndarray) -> np.ndarray:
        """``S`` without the entry of the own prototype where that follows from the others (no frozen zero)."""
        if self.rows.labels.has_zero:
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
        return self.assignment.own, labels.code, self.assignment.owner, labels.has_zero


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
