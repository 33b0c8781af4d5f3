"""`TrainingRows` whose columns are candidate terms: raw features, then literals, then the intercept's column of ones.

A literal is true on an interval of bins (see `literals`). So scores are read from a table by bin, and gradients from a
histogram by bin; running sums turn both into literals. However many literals there are, a pass costs as much as one
column for each feature.
"""

from typing import NamedTuple

import numpy as np

from smallearn._learn import kernels, search_kernels
from smallearn._learn.data.blocks import (
    ALL_KINDS,
    CHUNK_ENTRIES,
    Curvature,
    DenseRows,
    Kinds,
    RemembersColumns,
    Scaling,
    Sums,
    add_blocks,
    cut_blocks,
    in_memory,
    read_only,
)
from smallearn._learn.data.labels import Labels, Roles
from smallearn._learn.data.literals import Candidates
from smallearn._learn.kernels import PADDING

FEW_COLUMNS = 32  # that scores are computed from column by column


class LiteralRows(RemembersColumns):
    """``X`` holds the raw features (no value missing), ``bins`` one column for each feature with literals. ``scaling``
    is that of all candidate terms."""

    def __init__(
        self,
        X: np.ndarray,
        bins: np.ndarray,
        candidates: Candidates,
        scaling: Scaling,
        *,
        intercept: bool,
        labels: Labels,
        n_jobs: int = 1,
    ):
        self._X, self._bins, self._candidates = read_only(np.ascontiguousarray(X)), read_only(bins), candidates
        self._raw, self._literal = scaling.take(slice(candidates.n_raw)), scaling.take(slice(candidates.n_raw, None))
        self._scaling, self._intercept, self._n_jobs = scaling, intercept, n_jobs
        self.labels = labels
        self.n_columns = len(candidates) + intercept
        self._blocks = cut_blocks(X.shape[0], X.shape[1] + bins.shape[1])

    def sums(self, W: np.ndarray, roles: Roles, *, gradient: bool = True) -> Sums:
        candidates = self._candidates
        p, r = len(W), candidates.n_raw
        table, offset = self._table(W)
        raw = np.ascontiguousarray(W[:, :r])

        def of_block(block: slice) -> Sums:
            G = np.zeros((p if gradient else 0, r + candidates.n_bins + 1))
            total = np.zeros(p)
            loss, conjugate = kernels.literal_pass(
                self._X[block],
                *self._raw,
                raw,
                self._bins[block],
                candidates.first,
                table,
                offset,
                roles.flat(block),
                G[:, :r],
                G[:, r:-1],
                total,
            )
            if gradient:
                G[:, -1] = total
            return Sums(loss=loss, conjugate=conjugate, gradient=G)

        by_bin = add_blocks(of_block, self._blocks, self._n_jobs)
        if not gradient:
            return by_bin
        G = by_bin.gradient
        literal = self._by_literal(G[:, r:-1], G[:, -1])
        parts = [G[:, :r], literal] + ([G[:, -1:]] if self._intercept else [])
        return by_bin._replace(gradient=np.hstack(parts))

    def kinds(self, usable: np.ndarray) -> Kinds:
        r, n = self._candidates.n_raw, len(self._candidates)
        return Kinds(raw=bool(usable[:r].any()), literals=bool(usable[r:n].any()))

    def screen(self, V: np.ndarray, kinds: Kinds = ALL_KINDS) -> tuple[np.ndarray, np.ndarray]:
        n_bins = self._candidates.n_bins

        def of_block(block: slice) -> tuple[np.ndarray]:
            sums = np.zeros((2, V.shape[1] // 2, self.n_columns))
            search_kernels.screen_pass(*self._arrays(block), n_bins, V[block], *kinds, *sums)
            return (sums,)

        return tuple(add_blocks(of_block, self._blocks, self._n_jobs)[0])

    def read_columns(self, columns: np.ndarray, out: np.ndarray) -> None:
        search_kernels.read_columns(*self._arrays(), columns, out)

    def _arrays(self, block: slice = slice(None)) -> tuple[np.ndarray, ...]:
        """What kernels take for the columns of a block of rows."""
        candidates = self._candidates
        return (
            self._X[block],
            *self._scaling,
            self._bins[block],
            candidates.first,
            candidates.low,
            candidates.high,
        )

    def curvature(self, theta: np.ndarray, column: np.ndarray, roles: Roles) -> Curvature:
        used = np.unique(column[column != PADDING])
        position = np.where(column != PADDING, np.searchsorted(used, column), PADDING)
        return self.restrict(used).curvature(theta, position, roles)

    def scores(self, W: np.ndarray) -> np.ndarray:
        columns = np.flatnonzero(np.any(W != 0.0, axis=0))
        if len(columns) <= FEW_COLUMNS:
            return self.columns(columns) @ W[:, columns].T
        candidates = self._candidates
        table, offset = self._table(W)
        Z = (self._X - self._raw.mean) * self._raw.inverse_scale @ W[:, : candidates.n_raw].T + offset
        for f in range(self._bins.shape[1]):
            Z += table[:, candidates.first[f] + self._bins[:, f].astype(np.int64)].T
        return Z

    def combine(self, S: np.ndarray) -> np.ndarray:
        return self.screen(np.hstack([S, np.zeros(S.shape)]))[0]

    def square_norms(self) -> np.ndarray:
        total = np.zeros(len(self._X))
        step = max(1, CHUNK_ENTRIES // max(1, len(total)))
        for begin in range(0, self.n_columns, step):
            x = self.columns(np.arange(begin, min(self.n_columns, begin + step)))
            total += np.einsum("il,il->i", x, x)
        return total

    def take(self, rows: np.ndarray) -> "LiteralRows":
        """Some of the rows."""
        return LiteralRows(
            self._X[rows],
            self._bins[rows],
            self._candidates,
            self._scaling,
            intercept=self._intercept,
            labels=self.labels.take(rows),
            n_jobs=self._n_jobs,
        )

    def restrict(self, columns: np.ndarray) -> DenseRows:
        return in_memory(self.columns(columns), self.labels, self._n_jobs)

    def columns(self, columns: np.ndarray) -> np.ndarray:
        out = np.empty((len(columns), len(self._X)))
        self.read_columns(columns, out)
        return np.ascontiguousarray(out.T)

    def _table(self, W: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """What the literals add to each prototype's score, by bin (p × bins), and the constants of the scores."""
        candidates = self._candidates
        r, n = candidates.n_raw, len(candidates)
        V = W[:, r:n] * self._literal.inverse_scale
        edge = np.zeros((len(W), candidates.n_bins + 1))
        for j in range(len(W)):
            active = np.flatnonzero(V[j])
            np.add.at(edge[j], candidates.low[active], V[j, active])
            np.add.at(edge[j], candidates.high[active], -V[j, active])
        offset = -(V @ self._literal.mean)
        if self._intercept:
            offset = offset + W[:, -1]
        return np.cumsum(edge, axis=1)[:, :-1].copy(), offset

    def _by_literal(self, hist: np.ndarray, total: np.ndarray) -> np.ndarray:
        """Sums over standardised literals, from sums by bin and the sum ``total`` over all rows."""
        inside = _intervals(hist, self._candidates)
        return (inside - total[:, None] * self._literal.mean) * self._literal.inverse_scale


class LiteralMasses(NamedTuple):
    """The weight of the rows in each bin and their number, both 1 × bins, and the weight and number of all rows."""

    mass: np.ndarray
    number: np.ndarray
    weight: float
    n_rows: int


def literal_masses(bins: np.ndarray, weight: np.ndarray, candidates: Candidates) -> LiteralMasses:
    """The weight and the number of some rows in each bin."""
    mass, count = np.zeros((2, 1, candidates.n_bins))
    for f in range(bins.shape[1]):
        column = bins[:, f].astype(np.intp)  # the type that bincount counts
        own_bins = slice(candidates.first[f], candidates.first[f] + int(column.max()) + 1)
        mass[0, own_bins] = np.bincount(column, weights=weight)
        count[0, own_bins] = np.bincount(column)
    return LiteralMasses(mass=mass, number=count, weight=float(weight.sum()), n_rows=len(weight))


def literal_moments(masses: LiteralMasses, candidates: Candidates) -> tuple[np.ndarray, np.ndarray]:
    """Mean and standard deviation of every literal.

    A literal that is the same on all rows, as with a user's cut point beyond the data, has deviation 0 exactly.
    """
    rows = _intervals(masses.number, candidates)[0]
    mean = np.clip(_intervals(masses.mass, candidates)[0] / masses.weight, 0.0, 1.0)
    mean = np.where(rows == 0.0, 0.0, np.where(rows == masses.n_rows, 1.0, mean))
    return mean, np.sqrt(mean * (1.0 - mean))


def _intervals(hist: np.ndarray, candidates: Candidates) -> np.ndarray:
    """The sum of the histogram over the bins of each literal, p × literals."""
    running = np.concatenate([np.zeros((len(hist), 1)), np.cumsum(hist, axis=1)], axis=1)
    return running[:, candidates.high] - running[:, candidates.low]
