"""The compiler's instructions of `kernels`, in NumPy: for runs without the compiler (``NUMBA_DISABLE_JIT=1``).

Slow, but a debugger and a coverage tool see the kernels run. Each function has the name and the arguments of the one
that it stands for, and its results but for rounding; `compiling.instructions` chooses between them.
"""

import numpy as np

from smallearn._learn.kernels import LANES, LEAST_EXPONENT, ROWS, STEEP


def prefetch(_array, _offset):
    """Nothing: only the processor would notice."""


def exp_number(x):
    """``exp(x)``, 0 below `LEAST_EXPONENT`."""
    return 0.0 if x < LEAST_EXPONENT else np.exp(x)


def log_number(x):
    """``log(x)``."""
    return np.log(x)


def score_rows(X, i, V, j, z, r, _ahead):
    """Fill ``z[j : j + 2, r : r + ROWS]`` with ``V x``, for the rows of X from ``i`` on."""
    z[j : j + 2, r : r + ROWS] = V[j : j + 2] @ _whole_vectors(X, i).T


def add_rows(X, i, G, j, s, r, _ahead):
    """Add ``Σ_i s_ij x_i`` to rows ``j`` and ``j + 1`` of G, for the rows of X from ``i`` on."""
    G[j : j + 2] += s[j : j + 2, r : r + ROWS] @ _whole_vectors(X, i)


def _whole_vectors(X, i):
    """`ROWS` rows of X from ``i`` on, past the end the last one again, as whole vectors; the last one ends a row."""
    m, n = X.shape
    rows = np.minimum(np.arange(i, i + ROWS), m - 1)
    starts = np.minimum(np.arange(0, n, LANES), n - LANES)
    columns = (starts[:, None] + np.arange(LANES)).ravel()
    return X[rows[:, None], columns].astype(np.float64)


def softmax_rows(z, s, sums, offset, own, code, weight, begin, owner, has_zero, r):
    """`kernels.softmax_tile` for one vector of rows, from ``r`` on in the tile."""
    p, m = len(owner), len(own)
    number = begin + r + np.arange(LANES)
    rows = np.minimum(number, m - 1)
    weight = np.where(number < m, weight[rows], 0.0)
    mine = own[rows] == np.arange(p)[:, None]
    takes_part = mine | (code[rows] != owner[:, None])
    score = z[:p, r : r + LANES] + offset[:, None]
    own_score = np.where(mine, score, 0.0).sum(axis=0)
    frozen = np.zeros(LANES)
    if not (np.abs(score) <= STEEP).all():  # relative to the largest, so that nothing overflows
        top = np.where(takes_part, score, -np.inf).max(axis=0, initial=0.0 if has_zero else -np.inf)
        score, frozen = np.maximum(score - top, LEAST_EXPONENT), np.maximum(-top, LEAST_EXPONENT)
        own_score = own_score - top
    zero = np.exp(frozen) if has_zero else np.zeros(LANES)
    share = np.where(takes_part, np.exp(np.where(takes_part, score, 0.0)), 0.0)
    total = zero + share.sum(axis=0)
    mean = zero * frozen + np.where(takes_part, share * score, 0.0).sum(axis=0)
    share /= total
    residual = weight * (share - mine)
    z[:p, r : r + LANES] = share
    s[:p, r : r + LANES] = residual
    sums[:p] += residual
    sums[p] += weight * (np.log(total) - own_score)
    sums[p + 1] += weight * (mean / total - np.log(total))
