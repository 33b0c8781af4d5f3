"""The training rows behind one question: what are the loss and its gradient at W?

A solver never sees X. It passes ``W`` (p × d, in standardised space) and the roles of the rows, and gets sums of shape
p × d back. So rows in memory, in a file or on a cluster differ only in where their blocks are.

Standardising copies nothing: the scale is folded into ``W``, and the mean is corrected by a matrix of rank one,
``G = (SᵀX - (Sᵀ1) μᵀ) / σ``. Dense rows whose columns are far from 0 are centred as they are read.
"""

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any, NamedTuple, Protocol, Self

import numpy as np
from scipy import sparse

from smallearn._learn import kernels, search_kernels
from smallearn._learn.data.labels import Labels, Roles

# Rows go through the kernels in blocks of about this many numbers. The blocks depend on the data alone, so that the
# sums, and with them the model, are the same to the last bit for any number of threads.
BLOCK_ENTRIES = 1 << 18
MOST_BLOCKS = 64
# Up to this many columns of a sparse matrix are made dense when they are restricted to; more stay sparse.
MOST_DENSE_COLUMNS = 100
# Sets of columns that rows in memory are remembered for: those of the solver and those of the refit.
MOST_REMEMBERED = 2
# Rows are standardised for BLAS in chunks that stay in the cache.
CHUNK_ENTRIES = 1 << 16
# What `screen_pass` is told about literals where there are none: bins, first, low, high, n_bins.
NO_LITERALS = (np.empty((0, 0), dtype=np.uint8), *(np.empty(0, dtype=np.int64) for _ in range(3)), 0)


class Scaling(NamedTuple):
    """How columns are standardised: ``(x - mean) * inverse_scale``. A column that does not vary has inverse scale 0."""

    mean: np.ndarray
    inverse_scale: np.ndarray

    @classmethod
    def none(cls, n: int) -> Self:
        """The scaling that leaves ``n`` columns as they are."""
        return cls(mean=np.zeros(n), inverse_scale=np.ones(n))

    @property
    def changes_nothing(self) -> bool:
        """Whether columns are left as they are."""
        return not self.mean.any() and bool((self.inverse_scale == 1.0).all())

    def take(self, columns: np.ndarray | slice) -> "Scaling":
        """The scaling of some of the columns."""
        return Scaling(mean=self.mean[columns], inverse_scale=self.inverse_scale[columns])


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


class Kinds(NamedTuple):
    """Which kinds of columns are wanted."""

    raw: bool
    literals: bool


ALL_KINDS = Kinds(raw=True, literals=True)


class SummedRows(Protocol):
    """What may be asked of any rows, however many: sums over all of them. ``n_columns`` counts the intercept's column
    of ones, which comes last. ``roles`` are those that ``labels`` makes of an assignment of rows to prototypes."""

    labels: Any
    n_columns: int

    def sums(self, W: np.ndarray, roles: Any, *, gradient: bool = True) -> Sums:
        """Loss, conjugate and, if wanted, the gradient at ``W``, in one pass over the rows."""

    def curvature(self, theta: np.ndarray, column: np.ndarray, roles: Any) -> Curvature:
        """Loss, conjugate, gradient and Hessian in one pass, in the entries of W that ``column`` names: ``theta[j, a]``
        is the weight of column ``column[j, a]`` in prototype ``j``; `kernels.PADDING` is no entry."""

    def narrow(self, columns: np.ndarray) -> "SummedRows":
        """The same rows with some of the columns, in ascending order."""


class TrainingRows(Protocol):
    """What may be asked of the rows in memory: `SummedRows`, and numbers for each row."""

    labels: Labels
    n_columns: int

    def sums(self, W: np.ndarray, roles: Roles, *, gradient: bool = True) -> Sums:
        """As `SummedRows.sums`."""

    def curvature(self, theta: np.ndarray, column: np.ndarray, roles: Roles) -> Curvature:
        """As `SummedRows.curvature`."""

    def scores(self, W: np.ndarray) -> np.ndarray:
        """``Z = X Wᵀ``, m × p."""

    def combine(self, S: np.ndarray) -> np.ndarray:
        """``Sᵀ X``, p × d."""

    def square_norms(self) -> np.ndarray:
        """``‖x_i‖²``."""

    def take(self, rows: np.ndarray) -> "TrainingRows":
        """Some of the rows."""

    def restrict(self, columns: np.ndarray) -> "TrainingRows":
        """The same rows with some of the columns (in ascending order), in memory."""

    def narrow(self, columns: np.ndarray) -> "TrainingRows":
        """As ``restrict``; for the same columns as lately, the same rows again."""

    def columns(self, columns: np.ndarray) -> np.ndarray:
        """Some of the columns (in ascending order), standardised, as an array."""

    def read_columns(self, columns: np.ndarray, out: np.ndarray) -> None:
        """As `columns`, into the rows of ``out``: each column is contiguous there."""

    def kinds(self, usable: np.ndarray) -> Kinds:
        """The kinds of columns that some of the ``usable`` ones belong to."""

    def screen(self, V: np.ndarray, kinds: Kinds) -> tuple[np.ndarray, np.ndarray]:
        """Gradient and curvature of every column, both p × d: ``Σ_i S_ij x_i`` and ``Σ_i C_ij x_i²``, where ``V`` is
        ``S`` and ``C`` side by side (m × 2p). Columns of other ``kinds`` may be left at 0."""


class RemembersColumns:
    """Rows that remember what they were last restricted to. A solver works on some columns and a refit on others, in
    turn, and mostly on the same ones as before."""

    _recent: "tuple[tuple[bytes, TrainingRows], ...]" = ()

    def narrow(self, columns: np.ndarray) -> "TrainingRows":
        key = columns.tobytes()
        known = [rows for other, rows in self._recent if other == key]
        rows = known[0] if known else self.restrict(columns)  # type: ignore[attr-defined]
        others = [entry for entry in self._recent if entry[0] != key]
        self._recent = ((key, rows), *others[: MOST_REMEMBERED - 1])
        return rows


class DenseRows(RemembersColumns):
    """Rows of a float array, copied unless in C order: ``x = (X - mean) * inverse_scale``, then a 1 if there is an
    intercept."""

    def __init__(self, X: np.ndarray, scaling: Scaling, *, intercept: bool, labels: Labels, n_jobs: int = 1):
        self._X = read_only(np.ascontiguousarray(X))
        self._scaling, self._intercept, self._n_jobs = scaling, intercept, n_jobs
        self.labels = labels
        self.n_columns = X.shape[1] + intercept
        self._blocks = cut_blocks(X.shape[0], self.n_columns)
        self._single_chunk: np.ndarray | None = None
        self._is_standard = X.dtype == np.float64 and not intercept and scaling.changes_nothing

    def sums(self, W: np.ndarray, roles: Roles, *, gradient: bool = True) -> Sums:
        def of_block(block: slice) -> Sums:
            G = np.zeros(W.shape if gradient else (0, 0))
            loss, conjugate = kernels.dense_pass(self._X[block], *self._scaling, W, roles.flat(block), G)
            return Sums(loss=loss, conjugate=conjugate, gradient=G)

        return add_blocks(of_block, self._blocks, self._n_jobs)

    def curvature(self, theta: np.ndarray, column: np.ndarray, roles: Roles) -> Curvature:
        def of_block(block: slice) -> Curvature:
            return _curvature(self._X[block], self._scaling, theta, column, roles.flat(block))

        return _flat_hessian(add_blocks(of_block, self._blocks, self._n_jobs))

    def scores(self, W: np.ndarray) -> np.ndarray:
        if len(W) == 1:  # for one vector BLAS starts threads, which costs more than the product
            return np.concatenate([np.einsum("il,jl->ij", x, W) for _, x in self._standardised()])
        return np.concatenate([x @ W.T for _, x in self._standardised()])

    def place(self, W: np.ndarray, owner: np.ndarray) -> np.ndarray:
        """The prototype of its class that scores each row best, without an array of scores."""
        own = np.empty(len(self._X), dtype=np.int64)
        kernels.place_pass(self._X, *self._scaling, W, self.labels.code, owner, own)
        return own

    def combine(self, S: np.ndarray) -> np.ndarray:
        total = np.zeros((S.shape[1], self.n_columns))
        for chunk, x in self._standardised():
            total += S[chunk].T @ x
        return total

    def square_norms(self) -> np.ndarray:
        return np.concatenate([np.einsum("il,il->i", x, x) for _, x in self._standardised()])

    def take(self, rows: np.ndarray) -> "DenseRows":
        """Some of the rows."""
        return DenseRows(
            self._X[rows],
            self._scaling,
            intercept=self._intercept,
            labels=self.labels.take(rows),
            n_jobs=self._n_jobs,
        )

    def restrict(self, columns: np.ndarray) -> "DenseRows":
        return in_memory(self.columns(columns), self.labels, self._n_jobs)

    def columns(self, columns: np.ndarray) -> np.ndarray:
        B = np.empty((len(self._X), len(columns)))
        kernels.gather_columns(self._X, *self._scaling, columns, B)
        return read_only(B)

    def read_columns(self, columns: np.ndarray, out: np.ndarray) -> None:
        search_kernels.read_columns(self._X, *self._scaling, *NO_LITERALS[:4], columns, out)

    def kinds(self, usable: np.ndarray) -> Kinds:
        return ALL_KINDS

    def screen(self, V: np.ndarray, kinds: Kinds = ALL_KINDS) -> tuple[np.ndarray, np.ndarray]:
        def of_block(block: slice) -> tuple[np.ndarray]:
            sums = np.zeros((2, V.shape[1] // 2, self.n_columns))
            search_kernels.screen_pass(self._X[block], *self._scaling, *NO_LITERALS, V[block], *kinds, *sums)
            return (sums,)

        return tuple(add_blocks(of_block, self._blocks, self._n_jobs)[0])

    def _standardised(self) -> Iterable[tuple[slice, np.ndarray]]:
        """The standardised rows, chunk by chunk. A single chunk is kept."""
        if self._single_chunk is not None:
            yield slice(0, len(self._single_chunk)), self._single_chunk
            return
        m, n = self._X.shape
        step = max(64, CHUNK_ENTRIES // max(1, n))
        for begin in range(0, m, step):
            chunk = slice(begin, min(m, begin + step))
            if self._is_standard:
                yield chunk, self._X[chunk]
                continue
            x = np.ones((chunk.stop - begin, self.n_columns))
            x[:, :n] = (self._X[chunk] - self._scaling.mean) * self._scaling.inverse_scale
            if step >= m:
                self._single_chunk = x
            yield chunk, x


class SparseRows(RemembersColumns):
    """Rows of a CSR matrix, never made dense: scale and mean act on ``W`` and on the sums."""

    def __init__(self, X: Any, scaling: Scaling, *, intercept: bool, labels: Labels, n_jobs: int = 1):
        self._X, self._scaling, self._intercept, self._n_jobs = X, scaling, intercept, n_jobs
        self.labels = labels
        self.n_columns = X.shape[1] + intercept
        self._blocks = cut_blocks(X.shape[0], max(1, X.nnz // max(1, X.shape[0])))

    def sums(self, W: np.ndarray, roles: Roles, *, gradient: bool = True) -> Sums:
        X = self._X
        V, offset = self._fold(W)

        def of_block(block: slice) -> Sums:
            G = np.zeros((W.shape[0], X.shape[1] + 1) if gradient else (0, 0))
            total = np.zeros(W.shape[0])
            indptr = X.indptr[block.start : block.stop + 1]
            flat = roles.flat(block)
            loss, conjugate = kernels.sparse_pass(X.data, X.indices, indptr, V, offset, flat, G, total)
            if gradient:
                G[:, -1] = total
            return Sums(loss=loss, conjugate=conjugate, gradient=G)

        raw = add_blocks(of_block, self._blocks, self._n_jobs)
        return raw._replace(gradient=self._centred(raw.gradient[:, :-1], raw.gradient[:, -1])) if gradient else raw

    def curvature(self, theta: np.ndarray, column: np.ndarray, roles: Roles) -> Curvature:
        step = max(64, CHUNK_ENTRIES // max(1, self._X.shape[1]))
        blocks = [slice(a, min(a + step, self._X.shape[0])) for a in range(0, self._X.shape[0], step)]

        def of_block(block: slice) -> Curvature:  # one block at a time is dense
            return _curvature(read_only(self._X[block].toarray()), self._scaling, theta, column, roles.flat(block))

        return _flat_hessian(add_blocks(of_block, blocks, self._n_jobs))

    def scores(self, W: np.ndarray) -> np.ndarray:
        V, offset = self._fold(W)
        return self._X @ V.T + offset

    def combine(self, S: np.ndarray) -> np.ndarray:
        return self._centred((self._X.T @ S).T, S.sum(axis=0))

    def square_norms(self) -> np.ndarray:
        # Σ_l (x_l - μ_l)²/σ_l², where most x_l are 0: correct the norm of -μ/σ at the entries that are stored.
        mean, inverse_scale = self._scaling
        shift = mean * inverse_scale
        scaled = self._X.data * inverse_scale[self._X.indices]
        change = scaled * (scaled - 2.0 * shift[self._X.indices])
        by_row = sparse.csr_array((change, self._X.indices, self._X.indptr), shape=self._X.shape).sum(axis=1)
        return np.asarray(by_row) + float(shift @ shift) + self._intercept

    def take(self, rows: np.ndarray) -> "SparseRows":
        """Some of the rows."""
        labels = self.labels.take(rows)
        return SparseRows(self._X[rows], self._scaling, intercept=self._intercept, labels=labels, n_jobs=self._n_jobs)

    def restrict(self, columns: np.ndarray) -> "DenseRows | SparseRows":
        if len(columns) <= MOST_DENSE_COLUMNS:
            return in_memory(self.columns(columns), self.labels, self._n_jobs)
        chosen = columns[columns < self._X.shape[1]]
        return SparseRows(
            self._X[:, chosen],
            self._scaling.take(chosen),
            intercept=len(chosen) < len(columns),
            labels=self.labels,
            n_jobs=self._n_jobs,
        )

    def columns(self, columns: np.ndarray) -> np.ndarray:
        chosen = columns[columns < self._X.shape[1]]
        mean, inverse_scale = self._scaling.take(chosen)
        B = np.ones((self._X.shape[0], len(columns)))
        features = B[:, : len(chosen)]
        features[:] = self._X[:, chosen].toarray()
        features -= mean
        features *= inverse_scale
        return read_only(B)

    def read_columns(self, columns: np.ndarray, out: np.ndarray) -> None:
        out[:] = self.columns(columns).T

    def kinds(self, usable: np.ndarray) -> Kinds:
        return ALL_KINDS

    def screen(self, V: np.ndarray, kinds: Kinds = ALL_KINDS) -> tuple[np.ndarray, np.ndarray]:
        X, (mean, inverse_scale) = self._X, self._scaling
        S, curvature = np.hsplit(V, 2)
        squares = sparse.csr_array((X.data * X.data, X.indices, X.indptr), shape=X.shape)
        total = curvature.sum(axis=0)
        H = (squares.T @ curvature).T - 2.0 * mean * (X.T @ curvature).T + np.outer(total, mean * mean)
        H = np.maximum(H, 0.0) * inverse_scale**2
        return self.combine(S), np.column_stack([H, total]) if self._intercept else H

    def _fold(self, W: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Weights and constants for the raw columns that give the scores of ``W``."""
        V = W[:, : self._X.shape[1]] * self._scaling.inverse_scale
        offset = -(V @ self._scaling.mean)
        return V, offset + W[:, -1] if self._intercept else offset

    def _centred(self, G: np.ndarray, total: np.ndarray) -> np.ndarray:
        """Sums over standardised columns, from sums ``G`` over raw columns and the sum ``total`` of the residuals."""
        G = (G - np.outer(total, self._scaling.mean)) * self._scaling.inverse_scale
        return np.column_stack([G, total]) if self._intercept else G


def make_rows(X: Any, scaling: Scaling, *, intercept: bool, labels: Labels, n_jobs: int) -> TrainingRows:
    """Dense or sparse rows, by the type of ``X``."""
    kind = SparseRows if sparse.issparse(X) else DenseRows
    return kind(X, scaling, intercept=intercept, labels=labels, n_jobs=n_jobs)


def in_memory(X: np.ndarray, labels: Labels, n_jobs: int = 1) -> DenseRows:
    """Rows of an array that is standardised already and has the intercept's column, if any."""
    return DenseRows(X, Scaling.none(X.shape[1]), intercept=False, labels=labels, n_jobs=n_jobs)


def read_only(X: np.ndarray) -> np.ndarray:
    """A read-only view. To numba it is a type of its own: if all arrays have it, one compiled kernel serves all."""
    view = X.view()
    view.flags.writeable = False
    return view


def cut_blocks(m: int, width: int) -> list[slice]:
    """Blocks of ``m`` rows, for rows of ``width`` numbers."""
    pieces = max(1, min(m * width // BLOCK_ENTRIES, MOST_BLOCKS, m))
    if pieces == 1:
        return [slice(0, m)]
    edges = np.linspace(0, m, pieces + 1).astype(int)
    return [slice(a, b) for a, b in pairwise(edges)]


def add_blocks(of_block: Callable[[slice], tuple], blocks: list[slice], n_jobs: int) -> Any:
    """Add up, field by field, what ``of_block`` returns for each block, always in the order of the rows."""
    if len(blocks) == 1:
        return of_block(blocks[0])
    if n_jobs == 1:
        return running_sum(map(of_block, blocks))
    with ThreadPoolExecutor(n_jobs) as pool:
        return running_sum(pool.map(of_block, blocks))


def running_sum(parts: Iterator[Any]) -> Any:
    """The sum of tuples of numbers and arrays, field by field, in order."""
    total = next(parts)
    for part in parts:
        added = (a + b for a, b in zip(total, part, strict=True))
        total = type(total)(*added) if hasattr(total, "_fields") else tuple(added)
    return total


def _curvature(X: np.ndarray, scaling: Scaling, theta: np.ndarray, column: np.ndarray, flat_roles: tuple) -> Curvature:
    """One block's part; the Hessian is still p × w × p × w."""
    g, H = np.zeros(theta.shape), np.zeros(theta.shape + theta.shape)
    loss, conjugate = kernels.curvature_pass(X, *scaling, theta, column, flat_roles, g, H)
    return Curvature(loss=loss, conjugate=conjugate, gradient=g, hessian=H)


def _flat_hessian(total: Curvature) -> Curvature:
    size = total.gradient.size
    return total._replace(hessian=total.hessian.reshape(size, size))
