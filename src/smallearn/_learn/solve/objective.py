r"""The mathematics, in one place.

Letters: rows ``i`` of ``m`` with weights that sum to 1, columns ``l`` of ``d``, prototypes ``j`` of ``p``; weights
``W`` and mask ``ε`` (both p × d), dual ``S`` (m × p), budget ``k``, ridge weight ``λ``. With ``s_i = ∂loss_i/∂z_i``
and ``G_j = Σ_i weight_i s_ij x_i``:

.. math::
    P(W) &= \sum_i weight_i\, loss_i(W x_i) + \tfrac{\lambda}{2} \sum_j \|w_j\|_{ksup}^2

    D(S) &= -\sum_i weight_i\, loss_i^*(s_i) - \tfrac{1}{2\lambda} \sum_j (\text{sum of the k largest } G_{jl}^2)

    loss_i(z) &= \log\bigl(1 + \sum_{j: owner(j) \ne class(i)} \exp(z_j - z_{own(i)})\bigr)

``D ≤ min P``, and ``min P`` is at most the objective of every W with k terms in each prototype, whose penalty is the
plain ``λ/2 ‖W‖²``. Columns that are always in (the intercept) count in full in both, outside the budget. Budgets other
than a count for each prototype change only the two sums over ``j``: see `Penalty`.

`Objective` knows the rows. A solver is given it as a `Relaxation`, which does not show them.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, NamedTuple, Protocol, Self

import numpy as np

from smallearn._learn import kernels
from smallearn._learn.data.blocks import Curvature, Sums
from smallearn._learn.data.labels import Assignment, Roles
from smallearn._learn.data.many_rows import Placement
from smallearn._learn.solve import geometry
from smallearn._learn.solve.group_limit import GroupLimit

DUAL_FLOOR = 1e-12  # below which the logarithms of dual variables are clipped
RELAXATION = "the relaxation"  # what is cut short when time is up

Pooling = Literal["prototype", "total", "shared"]


@dataclass(frozen=True, eq=False)
class Penalty:
    """``λ/2 min_ε Σ_jl w_jl²/ε_jl`` over the masks ``ε ∈ [0,1]`` that keep the budget, with the required signs.

    - ``cost`` of each column (d), or of each entry (p × d): what ``ε = 1`` costs. At cost 0 an entry is always in,
      outside the budget (the intercept); at more than the budget it is never in.
    - ``pooling``: ``Σ_l c_l ε_jl ≤ budget`` for each "prototype", ``Σ_jl c_l ε_jl ≤ budget`` in "total", or one ε_l
      "shared" by all prototypes with ``Σ_l c_l ε_l ≤ budget``. The budget may differ by prototype (p).
    - ``sign`` of the weights of each column: +1, -1, or 0 for either.
    - ``groups`` limits supports further; values, masks and bounds are those without it.
    """

    alpha: float
    budget: float | np.ndarray
    cost: np.ndarray
    sign: np.ndarray
    pooling: Pooling = "prototype"
    groups: GroupLimit | None = None
    _pools: dict[int, geometry.Pools] = field(default_factory=dict, init=False, repr=False)

    @staticmethod
    def count(alpha: float, k: int, n_free: int, n_always: int) -> "Penalty":
        """``λ/2 Σ_j ‖w_j‖²_ksup``: at most ``k`` of ``n_free`` columns in each prototype; ``n_always`` more are in."""
        cost = np.concatenate([np.ones(n_free), np.zeros(n_always)])
        sign = np.zeros(n_free + n_always, dtype=np.int8)
        return Penalty(alpha=alpha, budget=float(k), cost=cost, sign=sign)

    @cached_property
    def signed(self) -> bool:
        """Whether the weights of any column must have a certain sign."""
        return bool(np.any(self.sign))

    def pools(self, p: int) -> geometry.Pools:
        """The allowed masks of ``p`` prototypes, laid out for the kernels."""
        if p not in self._pools:
            self._pools[p] = geometry.make_pools(self.pooling, self.budget, self.cost, self.sign, p)
        return self._pools[p]

    def prox(self, V: np.ndarray, step: float) -> tuple[np.ndarray, np.ndarray, float]:
        """``argmin ½‖W - V‖² + step · penalty(W)``, its mask and its penalty."""
        W, mask, half_square = geometry.prox(V, self.pools(len(V)), self.alpha * step)
        return W, mask, self.alpha * half_square

    def value(self, W: np.ndarray) -> float:
        """The penalty of a ``W`` with the required signs."""
        return self.alpha * geometry.norm(W, self.pools(len(W)))[1]

    def mask(self, W: np.ndarray) -> np.ndarray:
        """The mask that attains the penalty of ``W``."""
        return geometry.norm(W, self.pools(len(W)))[0]

    def conjugate(self, G: np.ndarray) -> float:
        """``(1/2λ) max_ε Σ_jl ε_jl G_jl²`` over the allowed masks: for a count, the k largest G_jl² of each prototype
        and all those always in. In columns with a sign, ``max(0, -σ_l G_jl)²`` replaces ``G_jl²``."""
        return geometry.most_gain(G, self.pools(len(G))) / (2.0 * self.alpha)

    def clip(self, W: np.ndarray) -> np.ndarray:
        """The nearest W with the required signs and zeros where an entry is never in."""
        return np.where((self.sign * W < 0.0) | self._never(len(W)), 0.0, W)

    def restrict(self, columns: np.ndarray) -> "Penalty":
        """The penalty on some of the columns."""
        groups = None if self.groups is None else self.groups.restrict(columns)
        return replace(self, cost=self.cost[..., columns], sign=self.sign[columns], groups=groups)

    # Supports, p × d of bool: masks of 0 and 1.

    def spent(self, support: np.ndarray) -> np.ndarray:
        """The cost of a support, for each pool: one per prototype, or a single one."""
        if self.pooling == "shared":
            return np.array([self.cost[support.any(axis=0)].sum()])
        each = np.where(support, self.cost, 0.0).sum(axis=1)
        return each if self.pooling == "prototype" else np.array([each.sum()])

    def allows(self, support: np.ndarray) -> bool:
        """Whether a support keeps the budget and the limit on groups."""
        if self.groups is not None and not self.groups.allows(np.flatnonzero(support.any(axis=0))):
            return False
        return bool(np.all(self.spent(support) <= self._limit_with_rounding))

    def affordable(self, support: np.ndarray) -> np.ndarray:
        """The entries that may be added to a support, one at a time, within the budget (p × d, without those it has).

        If the support is shared, a column that another prototype uses costs nothing more.
        """
        price = np.broadcast_to(self.cost, support.shape)
        if self.pooling == "shared":
            price = np.where(support.any(axis=0), 0.0, price)
        left = np.reshape(self._limit_with_rounding - self.spent(support), (-1, 1))
        return ~support & ((price <= left) | (price == 0.0))

    @property
    def _limit_with_rounding(self) -> float | np.ndarray:
        return self.budget * (1.0 + geometry.ROUNDING)

    def _never(self, p: int) -> np.ndarray:
        return np.broadcast_to(self.cost > np.reshape(self._limit_with_rounding, (-1, 1)), (p, len(self.sign)))


class StepSizes(NamedTuple):
    """The step sizes of Mirror-Prox, scaled as in the paper: ``alpha`` for the mask, ``beta`` for the dual variable."""

    alpha: float
    beta: float

    def times(self, factor: float) -> "StepSizes":
        return StepSizes(alpha=factor * self.alpha, beta=factor * self.beta)


class Saddle(NamedTuple):
    """A point ``(ε, S)`` of the saddle problem."""

    mask: np.ndarray
    S: np.ndarray


class Relaxation(Protocol):
    """What a solver may ask of the problem that it solves. X is not part of it."""

    @property
    def shape(self) -> tuple[int, int]:
        """The shape of W, p × d."""

    @property
    def n_rows(self) -> int:
        """The number of rows, m."""

    @property
    def total_weight(self) -> float:
        """What the weights of the rows sum to, before they are scaled."""

    @property
    def penalty(self) -> Penalty:
        """The penalty on W."""

    def restrict(self, columns: np.ndarray) -> Self:
        """The same problem on some of the columns, in ascending order."""

    def sums(self, W: np.ndarray) -> Sums:
        """Loss, conjugate and gradient at ``W``, in one pass over the rows."""

    def curvature(self, theta: np.ndarray, column: np.ndarray) -> Curvature:
        """Loss, conjugate, gradient and Hessian in the entries of W that ``column`` names (see `TrainingRows`)."""

    def loss(self, W: np.ndarray) -> float:
        """The weighted loss."""

    def primal(self, W: np.ndarray) -> float:
        """``P(W)``."""

    def dual(self, conjugate: float, G: np.ndarray) -> float:
        """The lower bound ``D`` at a point of the dual set, from the two sums that it needs; never below 0."""

    def scores(self, W: np.ndarray) -> np.ndarray:
        """``Z = X Wᵀ``, m × p."""

    def gather(self, S: np.ndarray) -> np.ndarray:
        """``G = Σ_i weight_i s_i x_iᵀ``."""

    def residual(self, Z: np.ndarray) -> np.ndarray:
        """``S = ∇loss(Z)``."""

    def mean_conjugate(self, S: np.ndarray) -> float:
        """``Σ_i weight_i loss_i*(s_i)`` anywhere in the dual set."""

    def mean_product(self, A: np.ndarray, B: np.ndarray) -> float:
        """``Σ_i weight_i a_i·b_i``."""

    def conjugate_slope(self, S: np.ndarray) -> np.ndarray:
        """``∇loss*(S)``. The logarithm is clipped: exact projections reach the boundary of the dual set."""

    def dual_step(self, S: np.ndarray, slope: np.ndarray, step: float) -> np.ndarray:
        """The Euclidean projection of ``S + step · slope`` onto the dual set."""

    def free_coordinates(self, S: np.ndarray) -> np.ndarray:
        """``S`` without the entry of the own prototype where it follows from the others (no prototype at zero)."""

    def euclidean_steps(self, last: Saddle, mean: Saddle, steps: StepSizes, *, done: int, count: int) -> None:
        """``count`` Euclidean steps of Mirror-Prox of fixed size, in one kernel.

        ``last`` and ``mean`` change in place: the iterate, and the mean of the extragradient points, of which there
        were ``done`` before.
        """


@dataclass(frozen=True)
class Objective:
    """The relaxed problem for one assignment. Implements `Relaxation`, whose docstrings say what the methods return."""

    rows: Any
    """`TrainingRows`; `SummedRows` will do for a solver that asks for sums alone."""
    assignment: Assignment | Placement
    penalty: Penalty

    @cached_property
    def roles(self) -> Any:
        """What the loss needs to know of the rows."""
        return self.rows.labels.roles(self.assignment)

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.assignment.owner), self.rows.n_columns

    @property
    def n_rows(self) -> int:
        return self.rows.labels.n_rows

    @property
    def total_weight(self) -> float:
        return self.rows.labels.total

    def restrict(self, columns: np.ndarray) -> Self:
        return replace(self, rows=self.rows.narrow(columns), penalty=self.penalty.restrict(columns))

    def sums(self, W: np.ndarray) -> Sums:
        return self.rows.sums(W, self.roles)

    def curvature(self, theta: np.ndarray, column: np.ndarray) -> Curvature:
        return self.rows.curvature(theta, column, self.roles)

    def loss(self, W: np.ndarray) -> float:
        return self.rows.sums(W, self.roles, gradient=False).loss

    def primal(self, W: np.ndarray) -> float:
        return self.loss(W) + self.penalty.value(W)

    def sparse_primal(self, W: np.ndarray) -> float:
        """The objective of a W that keeps the budget, ``loss + λ/2 ‖W‖²``."""
        return self.loss(W) + 0.5 * self.penalty.alpha * float(np.sum(W * W))

    def dual(self, conjugate: float, G: np.ndarray) -> float:
        return max(0.0, -conjugate - self.penalty.conjugate(G))

    def scores(self, W: np.ndarray) -> np.ndarray:
        return self.rows.scores(W)

    def gather(self, S: np.ndarray) -> np.ndarray:
        return self.rows.combine(S * self.roles.weight[:, None])

    # The dual variable, row by row, for Mirror-Prox.

    def residual(self, Z: np.ndarray) -> np.ndarray:
        return residual(Z, self.roles)

    def mean_conjugate(self, S: np.ndarray) -> float:
        return kernels.conjugate_rows(S, self.roles.flat())

    def mean_product(self, A: np.ndarray, B: np.ndarray) -> float:
        return float(self.roles.weight @ np.einsum("ij,ij->i", A, B))

    def conjugate_slope(self, S: np.ndarray) -> np.ndarray:
        out = np.empty_like(S)
        kernels.conjugate_slope_rows(S, self.roles.flat(), DUAL_FLOOR, out)
        return out

    def dual_step(self, S: np.ndarray, slope: np.ndarray, step: float) -> np.ndarray:
        out = np.empty_like(S)
        kernels.dual_step_rows(S, slope, step, self.roles.flat(), out)
        return out

    def free_coordinates(self, S: np.ndarray) -> np.ndarray:
        if self.roles.has_zero:
            return S
        free = S.copy()
        free[np.arange(len(S)), self.roles.own] = 0.0
        return free

    def euclidean_steps(self, last: Saddle, mean: Saddle, steps: StepSizes, *, done: int, count: int) -> None:
        penalty = self.penalty
        kernels.euclidean_steps(
            self._columns,
            self.roles.flat(),
            penalty.alpha,
            float(penalty.budget),
            np.flatnonzero(penalty.cost > 0.0),
            steps.alpha * self.total_weight / (2.0 * penalty.alpha),
            steps.beta,
            DUAL_FLOOR,
            count,
            *last,
            *mean,
            done,
        )

    @cached_property
    def _columns(self) -> np.ndarray:
        """All columns, standardised, in memory."""
        return self.rows.columns(np.arange(self.rows.n_columns))


def residual(Z: np.ndarray, roles: Roles) -> np.ndarray:
    """``S = ∇loss(Z)``, m × p: the probability ``π`` of each prototype in the loss of a row, less 1 for its own."""
    S = np.empty_like(Z)
    kernels.residual_rows(Z, roles.flat(), S)
    return S


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


Solver = Callable[[Relaxation, np.ndarray | None], Relaxed]
"""Solves a relaxation from a start, W of an earlier solution or None."""
