"""The training rows behind one question: "loss and gradient at W, please".

A solver never sees X. It hands over ``W`` (p × d, in standardised space) and an assignment, and gets sums of shape
p × d back, so that rows in memory, in a file or on a cluster differ in where the blocks live and in nothing else.

Standardising copies nothing: dense rows are scaled as they are read, sparse ones by folding the scale into ``W`` and
correcting the mean by a matrix of rank one, ``G = (SᵀX - (Sᵀ1) μᵀ) / σ``.
"""

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple, Protocol

import numpy as np
from scipy import sparse

from smallearn._learn import kernels

# Rows go through the kernels in blocks of about this many numbers. The cut depends on the data alone, so that the sums,
# and with them the model, are the same bit for bit whatever the number of threads.
BLOCK_ENTRIES = 1 << 18
MOST_BLOCKS = 64
# So many columns of a sparse matrix may be looked at as dense ones; more stay sparse.
MOST_DENSE_COLUMNS = 100
# Rows are standardised for BLAS in chunks that stay in the cache.
CHUNK_ENTRIES = 1 << 16


@dataclass(frozen=True)
class Assignment:
    """Who belongs to whom: ``owner[j]`` is the class of prototype ``j``, ``own[i]`` the prototype of row ``i``, or
    `NO_PROTOTYPE` for a row of the class that owns the prototype frozen at zero."""

    own: np.ndarray
    owner: np.ndarray


@dataclass(frozen=True)
class Labels:
    """What the loss knows of the rows: the class ``code`` and the ``weight`` of each (scaled to sum to 1; ``total`` is
    what they summed to), and which class owns the prototype frozen at zero (None: every class has
    prototypes of its own)."""

    code: np.ndarray
    weight: np.ndarray
    total: float
    zero_owner: int | None

    @property
    def has_zero(self) -> bool:
        """Whether a class owns the prototype frozen at zero."""
        return self.zero_owner is not None


class Sums(NamedTuple):
    """The weighted loss, its conjugate ``Σ_i weight_i loss_i*(s_i)`` and ``G = Σ_i weight_i s_i x_iᵀ`` at some W."""

    loss: float
    conjugate: float
    gradient: np.ndarray


class Curvature(NamedTuple):
    """`Sums` in some entries of W, with the Hessian of the loss, p·w × p·w."""

    loss: float
    conjugate: float
    gradient: np.ndarray
    hessian: np.ndarray


class Rows(Protocol):
    """What a solver may ask. ``n_columns`` counts the intercept's constant column, which comes last."""

    labels: Labels
    n_columns: int

    def sums(self, W: np.ndarray, assignment: Assignment, gradient: bool = True) -> Sums:
        """One fused pass: loss, conjugate and (unless not wanted) gradient at ``W``."""

    def curvature(self, theta: np.ndarray, column: np.ndarray, assignment: Assignment) -> Curvature:
        """Loss, conjugate, gradient and Hessian in one pass, in the entries of W that ``column`` names: ``theta[j, a]``
        is the weight of column ``column[j, a]`` in prototype ``j``; `PADDING` is no entry."""

    def scores(self, W: np.ndarray) -> np.ndarray:
        """``Z = X Wᵀ``, m × p."""

    def combine(self, S: np.ndarray) -> np.ndarray:
        """``Sᵀ X``, p × d."""

    def square_norms(self) -> np.ndarray:
        """``‖x_i‖²``."""

    def restrict(self, columns: np.ndarray) -> "Rows":
        """The same rows with some of the columns only (in upward order), in memory."""

    def columns(self, columns: np.ndarray) -> np.ndarray:
        """Some of the columns (in upward order), standardised, as an array."""

    def screen(self, S: np.ndarray, bend: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """``Σ_i S_ij x_i`` and ``Σ_i bend_ij x_i²``, both p × d: gradient and curvature of every column at once."""


class DenseRows:
    """Rows of a C-ordered float array: ``x = (X - mean) * inverse``, then a constant 1 if there is an intercept."""

    def __init__(self, X, mean, inverse, constant: bool, labels: Labels, n_jobs: int = 1):
        self._X = _read_only(X)
        self._mean, self._inverse, self._constant = mean, inverse, constant
        self.labels = labels
        self.n_columns = X.shape[1] + constant
        self._n_jobs = n_jobs
        self._blocks = _cut(X.shape[0], self.n_columns)
        self._small: np.ndarray | None = None

    def sums(self, W: np.ndarray, assignment: Assignment, gradient: bool = True) -> Sums:
        labels = self.labels

        def one(block: slice) -> Sums:
            G = np.zeros(W.shape if gradient else (0, 0))
            loss, conjugate = kernels.dense_pass(
                self._X[block],
                self._mean,
                self._inverse,
                W,
                assignment.own[block],
                labels.code[block],
                labels.weight[block],
                assignment.owner,
                labels.has_zero,
                G,
            )
            return Sums(loss, conjugate, G)

        return _add(one, self._blocks, self._n_jobs)

    def curvature(self, theta: np.ndarray, column: np.ndarray, assignment: Assignment) -> Curvature:
        def one(block: slice) -> Curvature:
            X = self._X[block]
            return _curvature(X, self._mean, self._inverse, self.labels, block, theta, column, assignment)

        return _flat(_add(one, self._blocks, self._n_jobs))

    def scores(self, W: np.ndarray) -> np.ndarray:
        if len(W) == 1:  # for one vector BLAS wakes threads, which costs more than the product
            return np.concatenate([np.einsum("il,jl->ij", x, W) for _, x in self._standardised()])
        return np.concatenate([x @ W.T for _, x in self._standardised()])

    def combine(self, S: np.ndarray) -> np.ndarray:
        total = np.zeros((S.shape[1], self.n_columns))
        for chunk, x in self._standardised():
            total += S[chunk].T @ x
        return total

    def square_norms(self) -> np.ndarray:
        return np.concatenate([np.einsum("il,il->i", x, x) for _, x in self._standardised()])

    def restrict(self, columns: np.ndarray) -> "DenseRows":
        return _standardise(lambda chosen: self._X[:, chosen], columns, self)

    def columns(self, columns: np.ndarray) -> np.ndarray:
        return self.restrict(columns)._X

    def screen(self, S: np.ndarray, bend: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        G, H = np.zeros((2, S.shape[1], self.n_columns))
        for chunk, x in self._standardised():
            G += S[chunk].T @ x
            H += bend[chunk].T @ (x * x)
        return G, H

    def _standardised(self) -> Iterable[tuple[slice, np.ndarray]]:
        if self._small is not None:
            yield slice(0, len(self._small)), self._small
            return
        m, n = self._X.shape
        step = max(64, CHUNK_ENTRIES // max(1, n))
        for begin in range(0, m, step):
            chunk = slice(begin, min(m, begin + step))
            x = np.ones((chunk.stop - begin, self.n_columns))
            x[:, :n] = (self._X[chunk] - self._mean) * self._inverse
            if step >= m:
                self._small = x  # a single chunk is worth keeping
            yield chunk, x


class SparseRows:
    """Rows of a CSR matrix, never dense: scale and centre act on ``W`` and on the sums."""

    def __init__(self, X, mean, inverse, constant: bool, labels: Labels, n_jobs: int = 1):
        self._X, self._mean, self._inverse, self._constant = X, mean, inverse, constant
        self.labels = labels
        self.n_columns = X.shape[1] + constant
        self._n_jobs = n_jobs
        self._blocks = _cut(X.shape[0], max(1, X.nnz // max(1, X.shape[0])))

    def sums(self, W: np.ndarray, assignment: Assignment, gradient: bool = True) -> Sums:
        labels, X = self.labels, self._X
        V, offset = self._fold(W)

        def one(block: slice) -> Sums:
            G = np.zeros((W.shape[0], X.shape[1] + 1) if gradient else (0, 0))
            total = np.zeros(W.shape[0])
            loss, conjugate = kernels.sparse_pass(
                X.data,
                X.indices,
                X.indptr[block.start : block.stop + 1],
                V,
                offset,
                assignment.own[block],
                labels.code[block],
                labels.weight[block],
                assignment.owner,
                labels.has_zero,
                G,
                total,
            )
            if gradient:
                G[:, -1] = total
            return Sums(loss, conjugate, G)

        loss, conjugate, G = _add(one, self._blocks, self._n_jobs)
        return Sums(loss, conjugate, self._centre(G[:, :-1], G[:, -1]) if gradient else G)

    def curvature(self, theta: np.ndarray, column: np.ndarray, assignment: Assignment) -> Curvature:
        step = max(64, CHUNK_ENTRIES // max(1, self._X.shape[1]))
        blocks = [slice(a, min(a + step, self._X.shape[0])) for a in range(0, self._X.shape[0], step)]

        def one(block: slice) -> Curvature:  # dense for as long as it is looked at
            X = _read_only(self._X[block].toarray())
            return _curvature(X, self._mean, self._inverse, self.labels, block, theta, column, assignment)

        return _flat(_add(one, blocks, self._n_jobs))

    def scores(self, W: np.ndarray) -> np.ndarray:
        V, offset = self._fold(W)
        return self._X @ V.T + offset

    def combine(self, S: np.ndarray) -> np.ndarray:
        return self._centre((self._X.T @ S).T, S.sum(axis=0))

    def square_norms(self) -> np.ndarray:
        # Σ_l (x_l - μ_l)²/σ_l², where most x_l are 0: correct the norm of -μ/σ at the entries that are stored.
        shift = self._mean * self._inverse
        scaled = self._X.data * self._inverse[self._X.indices]
        change = scaled * (scaled - 2.0 * shift[self._X.indices])
        by_row = sparse.csr_array((change, self._X.indices, self._X.indptr), shape=self._X.shape).sum(axis=1)
        return np.asarray(by_row) + float(shift @ shift) + self._constant

    def restrict(self, columns: np.ndarray) -> "DenseRows | SparseRows":
        if len(columns) <= MOST_DENSE_COLUMNS:
            return _standardise(lambda chosen: self._X[:, chosen].toarray(), columns, self)
        chosen = columns[columns < self._X.shape[1]]
        constant = len(chosen) < len(columns)
        X = self._X[:, chosen]
        return SparseRows(X, self._mean[chosen], self._inverse[chosen], constant, self.labels, self._n_jobs)

    def columns(self, columns: np.ndarray) -> np.ndarray:
        return _standardise(lambda chosen: self._X[:, chosen].toarray(), columns, self)._X

    def screen(self, S: np.ndarray, bend: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        X, mean = self._X, self._mean
        squares = sparse.csr_array((X.data * X.data, X.indices, X.indptr), shape=X.shape)
        total = bend.sum(axis=0)
        H = (squares.T @ bend).T - 2.0 * mean * (X.T @ bend).T + np.outer(total, mean * mean)
        H = np.maximum(H, 0.0) * self._inverse**2
        return self.combine(S), np.column_stack([H, total]) if self._constant else H

    def _fold(self, W):
        V = W[:, : self._X.shape[1]] * self._inverse
        offset = -(V @ self._mean)
        return V, offset + W[:, -1] if self._constant else offset

    def _centre(self, G, total):
        G = (G - np.outer(total, self._mean)) * self._inverse
        return np.column_stack([G, total]) if self._constant else G


def make_rows(X, mean, inverse, constant: bool, labels: Labels, n_jobs: int) -> Rows:
    """Dense or sparse rows, by the type of ``X``."""
    kind = SparseRows if sparse.issparse(X) else DenseRows
    return kind(X, mean, inverse, constant, labels, n_jobs)


def _read_only(X: np.ndarray) -> np.ndarray:
    """Read-only arrays are a type of their own to the compiler: showing it no other keeps one kernel for all."""
    view = X.view()
    view.flags.writeable = False
    return view


def _curvature(X, mean, inverse, labels: Labels, block: slice, theta, column, assignment: Assignment) -> Curvature:
    """One block's part, the Hessian still p × w × p × w."""
    g, H = np.zeros(theta.shape), np.zeros(theta.shape + theta.shape)
    loss, conjugate = kernels.curvature_pass(
        X,
        mean,
        inverse,
        theta,
        column,
        assignment.own[block],
        labels.code[block],
        labels.weight[block],
        assignment.owner,
        labels.has_zero,
        g,
        H,
    )
    return Curvature(loss, conjugate, g, H)


def _flat(total: Curvature) -> Curvature:
    size = total.gradient.size
    return total._replace(hessian=total.hessian.reshape(size, size))


def _standardise(read, columns: np.ndarray, rows: "DenseRows | SparseRows") -> DenseRows:
    """Dense, standardised rows of some columns, in upward order (so that the constant comes last)."""
    chosen = columns[columns < len(rows._mean)]
    B = np.ones((len(rows.labels.code), len(columns)))
    inside = B[:, : len(chosen)]
    inside[:] = read(chosen)
    inside -= rows._mean[chosen]
    inside *= rows._inverse[chosen]
    n = len(columns)
    return DenseRows(B, np.zeros(n), np.ones(n), False, rows.labels, rows._n_jobs)


def _cut(m: int, width: int) -> list[slice]:
    pieces = max(1, min(m * width // BLOCK_ENTRIES, MOST_BLOCKS, m))
    if pieces == 1:
        return [slice(0, m)]
    edges = np.linspace(0, m, pieces + 1).astype(int)
    return [slice(a, b) for a, b in pairwise(edges)]


def _add(one: Callable[[slice], tuple], blocks: list[slice], n_jobs: int) -> Any:
    """Add, entry by entry, what ``one`` says of each block, always in the order of the rows."""
    if n_jobs == 1 or len(blocks) == 1:
        return _running_sum(map(one, blocks))
    with ThreadPoolExecutor(n_jobs) as pool:
        return _running_sum(pool.map(one, blocks))


def _running_sum(parts: Iterator[Any]) -> Any:
    total = next(parts)
    for part in parts:
        total = type(total)(*(a + b for a, b in zip(total, part, strict=True)))
    return total
