"""Slow, obvious transcriptions of the formulas: what the tests compare against. Loops and bisection, no tricks."""

import itertools

import numpy as np
from scipy import optimize, special

from smallearn._learn.kernels import NO_PROTOTYPE


def loss(z, own, code, owner, zero_owner):
    """``log(1 + Σ_{j: owner(j) ≠ class} exp(z_j - z_own))``, the frozen zero a prototype like the others."""
    z_own = 0.0 if own == NO_PROTOTYPE else z[own]
    rivals = [z[j] for j in range(len(z)) if owner[j] != code]
    if zero_owner is not None and code != zero_owner:
        rivals.append(0.0)
    return float(np.log1p(sum(np.exp(value - z_own) for value in rivals)))


def row_loss(z, i, roles):
    """The loss of row ``i`` at the scores ``z``."""
    return loss(z, roles.own[i], roles.code[i], roles.owner, roles.zero_owner)


def mean_loss(X, W, roles):
    return sum(roles.weight[i] * row_loss(W @ X[i], i, roles) for i in range(len(X)))


def probabilities(Z, roles):
    """The probability of each prototype in the loss of each row at the scores ``Z`` (m × p): 0 for the others of the
    row's own class."""
    PI = np.zeros(Z.shape)
    for i, z in enumerate(Z):
        inside = [j for j in range(len(z)) if j == roles.own[i] or roles.owner[j] != roles.code[i]]
        scores = np.append(z[inside], 0.0 if roles.zero_owner is not None else -np.inf)
        PI[i, inside] = special.softmax(scores)[:-1]
    return PI


def hessian(X, Z, roles):
    """That of `mean_loss` in all entries of W, row by row: p·d × p·d."""
    size = Z.shape[1] * X.shape[1]
    total = np.zeros((size, size))
    for x, pi, weight in zip(X, probabilities(Z, roles), roles.weight, strict=True):
        total += weight * np.kron(np.diag(pi) - np.outer(pi, pi), np.outer(x, x))
    return total


def numerical_gradient(function, point, step=1e-6):
    point = np.asarray(point, dtype=float)
    gradient = np.empty(point.shape)
    for index in np.ndindex(*point.shape):
        shift = np.zeros(point.shape)
        shift[index] = step
        gradient[index] = (function(point + shift) - function(point - shift)) / (2.0 * step)
    return gradient


def project_capped_simplex(v, budget):
    """Bisection for the threshold, far beyond float precision."""
    if np.clip(v, 0.0, 1.0).sum() <= budget:
        return np.clip(v, 0.0, 1.0)
    low, high = 0.0, float(np.max(v))
    for _ in range(2000):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if np.clip(v - middle, 0.0, 1.0).sum() > budget else (low, middle)
    return np.clip(v - 0.5 * (low + high), 0.0, 1.0)


def k_support_square(w, k):
    """The formula of Argyriou, Foygel and Srebro, for the one ``r`` that fits."""
    sizes = np.sort(np.abs(w))[::-1]
    n = len(sizes)
    if k >= n:
        return float(sizes @ sizes)
    values = []
    for r in range(k):
        tail = sizes[k - r - 1 :].sum()
        before = np.inf if k - r - 2 < 0 else sizes[k - r - 2]
        level = tail / (r + 1)  # at a tie two values of r fit, and give the same
        if before * (1.0 + 1e-12) >= level and level * (1.0 + 1e-12) >= sizes[k - r - 1]:
            values.append(float(sizes[: k - r - 1] @ sizes[: k - r - 1] + tail**2 / (r + 1)))
    assert values or not sizes.any()
    return values[0] if values else 0.0


def prox_k_support(v, k, rho):
    """``w = v ε/(ε + ρ)`` with ``ε = clip(a|v| - ρ, 0, 1)``, ``a`` by bisection until ``Σ ε = k``."""
    sizes = np.abs(v)
    if k >= len(v) or np.count_nonzero(sizes) <= k:
        mask = np.ones(len(v)) if k >= len(v) else (sizes > 0.0).astype(float)
    else:
        low, high = 0.0, (1.0 + rho) / np.sort(sizes)[-k]
        for _ in range(2000):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if np.clip(middle * sizes - rho, 0.0, 1.0).sum() < k else (low, middle)
        mask = np.clip(0.5 * (low + high) * sizes - rho, 0.0, 1.0)
    return v * mask / (mask + rho), mask


def knapsack_mask(size, cost, budget, rho):
    """``ε = clip(a size/√cost - ρ, 0, 1)``, ``a`` by bisection until ``Σ cost ε = budget``; cost 0 is always in, and a
    cost above the budget never. With ``ρ = 0`` this is the best mask for weights of that size."""
    mask = np.zeros(len(size))
    mask[cost == 0.0] = 1.0
    items = (cost > 0.0) & (cost <= budget)
    if cost[items].sum() <= budget:
        mask[items] = 1.0
        return mask
    items &= size > 0.0
    if cost[items].sum() <= budget:
        mask[items] = 1.0
        return mask
    u = size[items] / np.sqrt(cost[items])
    low, high = 0.0, (1.0 + rho) / u.min()
    for _ in range(2000):
        middle = 0.5 * (low + high)
        spent = cost[items] @ np.clip(middle * u - rho, 0.0, 1.0)
        low, high = (middle, high) if spent < budget else (low, middle)
    mask[items] = np.clip(high * u - rho, 0.0, 1.0)
    return mask


def prox_budget(V, cost, sign, pooling, budget, rho):
    """``(W, mask)`` of the proximal step under any budget, pool by pool."""
    V = np.where(sign * V < 0.0, 0.0, V)
    p, d = V.shape
    if pooling == "shared":
        mask = np.tile(knapsack_mask(np.sqrt((V**2).sum(axis=0)), cost, budget, rho), (p, 1))
    elif pooling == "total":
        mask = knapsack_mask(np.abs(V).ravel(), np.tile(cost, p), budget, rho).reshape(p, d)
    else:
        mask = np.array([knapsack_mask(np.abs(v), cost, budget, rho) for v in V])
    return np.where(mask > 0.0, V * mask / np.where(mask > 0.0, mask + rho, 1.0), 0.0), mask


def supports(p, cost, pooling, budget):
    """Every support of p × d that keeps the budget and cannot be added to, those always in included."""
    d = len(cost)

    def of(items, n):
        return np.isin(np.arange(n), items)

    price = np.tile(cost, p) if pooling == "total" else cost
    n = len(price)
    subsets = [
        of(chosen, n)
        for r in range(n + 1)
        for chosen in itertools.combinations(range(n), r)
        if price[list(chosen)].sum() <= budget * (1.0 + 1e-12) and set(np.flatnonzero(price == 0.0)) <= set(chosen)
    ]
    maximal = [a for a in subsets if not any(np.all(a <= b) and np.any(a != b) for b in subsets)]
    if pooling == "prototype":
        return [np.array(rows) for rows in itertools.product(maximal, repeat=p)]
    return [np.tile(row, (p, 1)) if pooling == "shared" else row.reshape(p, d) for row in maximal]


def best_support(X, roles, sign, alpha, candidates):
    """The least objective over those supports, with the signs due, by bounded quasi-Newton from zero."""
    p, d = len(roles.owner), X.shape[1]
    best = np.inf
    for support in candidates:
        if not support.any():  # every column is too dear
            best = min(best, mean_loss(X, np.zeros((p, d)), roles))
            continue
        bounds = [(0.0 if s > 0 else None, 0.0 if s < 0 else None) for s in np.tile(sign, p)[support.ravel()]]

        def value(theta, support=support):
            W = np.zeros((p, d))
            W[support] = theta
            return mean_loss(X, W, roles) + 0.5 * alpha * theta @ theta

        found = optimize.minimize(value, np.zeros(support.sum()), method="L-BFGS-B", bounds=bounds)
        best = min(best, found.fun)
    return best


def best_subset(X, y, k, alpha):
    """The least objective over all supports of ``k`` columns, one prototype, y in {0, 1}; the last column of X is a
    constant that is always in."""
    signs = 2.0 * y - 1.0
    n = X.shape[1] - 1

    def value_and_slope(w, columns):
        margin = signs * (columns @ w)
        value = np.logaddexp(0.0, -margin).mean() + 0.5 * alpha * (w @ w)
        return value, -(columns.T @ (signs / (1.0 + np.exp(margin)))) / len(y) + alpha * w

    best = np.inf
    for support in itertools.combinations(range(n), min(k, n)):
        columns = X[:, [*support, n]]
        found = optimize.minimize(
            value_and_slope,
            np.zeros(columns.shape[1]),
            args=(columns,),
            jac=True,
            method="BFGS",
            options={"gtol": 1e-9},
        )
        best = min(best, found.fun)
    return best
