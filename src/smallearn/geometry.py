r"""Projections and proximal steps: pure functions, exact by sorting.

Matrices have one prototype per row. The leading ``n_free`` columns share the budget ``k`` of each prototype; the
columns after them are always in, outside the budget.
"""

import numpy as np

from smallearn import kernels


def project_mask(V: np.ndarray, budget: float) -> np.ndarray:
    r"""Project each row of ``V`` onto the masks that spend at most ``budget``.

    .. math:: \arg\min_{e \in [0,1]^n,\; \sum_l e_l \le k} \|e - v\|_2

    Exact: the answer is ``clip(v - t, 0, 1)`` and ``t`` is found among the sorted breakpoints, O(n log n).
    """
    thresholds = [kernels.capping_threshold(u, float(budget)) for u in np.sort(V, axis=1)]
    return np.clip(V - np.reshape(thresholds, (-1, 1)), 0.0, 1.0)


def prox_k_support(V: np.ndarray, k: int, rho: float, n_free: int) -> tuple[np.ndarray, np.ndarray, float]:
    r"""Proximal step of half the squared k-support norm, row by row.

    .. math:: \arg\min_w \tfrac12 \|w - v\|^2 + \tfrac{\rho}{2} \|w\|_{ksup}^2
              = \arg\min_{w, \epsilon} \tfrac12 \|w - v\|^2 + \tfrac{\rho}{2} \sum_l w_l^2 / \epsilon_l

    Returns ``w = v ε/(ε + ρ)``, the mask ``ε = clip(a|v| - ρ, 0, 1)`` and the sum over rows of ``½‖w‖²_ksup``.
    Exact, O(n log n) a row.
    """
    W = np.empty_like(V)
    mask = np.empty_like(V)
    sizes = np.sort(np.abs(V[:, :n_free]), axis=1)
    value = kernels.prox_rows(V, sizes, float(k), float(rho), W, mask)
    return W, mask, value


def k_support(W: np.ndarray, k: int, n_free: int) -> tuple[np.ndarray, float]:
    r"""The best mask for given weights, and the sum over rows of half the squared k-support norm.

    .. math:: \tfrac12 \|w\|_{ksup}^2 = \min_{\epsilon \in [0,1]^n,\; \sum_l \epsilon_l \le k}
              \tfrac12 \sum_l w_l^2 / \epsilon_l

    This is the proximal step at ``ρ = 0``, which leaves ``w`` alone. O(n log n) a row.
    """
    _, mask, value = prox_k_support(W, k, 0.0, n_free)
    return mask, value


def sum_of_largest(V: np.ndarray, k: int) -> float:
    """The sum over rows of the ``k`` largest entries of each, O(n) a row."""
    if k < V.shape[1]:
        V = np.partition(V, V.shape[1] - k, axis=1)[:, V.shape[1] - k :]
    return float(V.sum())


def largest_first(V: np.ndarray, tiebreak: np.ndarray, k: int) -> np.ndarray:
    """Mark the ``k`` largest entries of each row of ``V``; equal ones in the order of ``tiebreak``, then of columns."""
    order = np.lexsort((-tiebreak, -V), axis=1)
    chosen = np.zeros(V.shape, dtype=bool)
    np.put_along_axis(chosen, order[:, :k], True, axis=1)
    return chosen
