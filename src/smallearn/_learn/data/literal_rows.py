"""`Rows` whose columns are candidate terms: raw features, then literals, then the constant.

A literal is an interval of bins (see `literals`), so that scores are read from a table by bin and gradients from a
histogram by bin, both turned into literals by running sums. A pass costs one column a feature, however many literals.
"""

import numpy as np

from smallearn._learn import kernels
from smallearn._learn.data.blocks import (
    CHUNK_ENTRIES,
    Assignment,
    Curvature,
    DenseRows,
    Labels,
    Sums,
    _add,
    _cut,
    _read_only,
)
from smallearn._learn.data.literals import Candidates
from smallearn._learn.kernels import PADDING


class LiteralRows:
    """``X`` holds the raw features (gaps filled), ``bins`` one column for each feature with literals. ``mean`` and
    ``inverse`` standardise all candidate terms."""

    def __init__(self, X, bins, candidates: Candidates, mean, inverse, constant: bool, labels: Labels, n_jobs: int = 1):
        self._X, self._bins, self._candidates = _read_only(X), _read_only(bins), candidates
        self._mean, self._inverse, self._constant = mean, inverse, constant
        self.labels = labels
        self.n_columns = len(candidates) + constant
        self._n_jobs = n_jobs
        self._blocks = _cut(X.shape[0], X.shape[1] + bins.shape[1])
        self._slot = np.searchsorted(candidates.first, candidates.low, side="right") - 1  # the feature of each literal

    def sums(self, W: np.ndarray, assignment: Assignment, gradient: bool = True) -> Sums:
        labels, found = self.labels, self._candidates
        p, r = len(W), found.n_raw
        table, offset = self._table(W)
        raw = np.ascontiguousarray(W[:, :r])

        def one(block: slice) -> Sums:
            G = np.zeros((p, r + found.n_bins + 1) if gradient else (0, r + found.n_bins + 1))
            total = np.zeros(p)
            loss, conjugate = kernels.literal_pass(
                self._X[block],
                self._mean[:r],
                self._inverse[:r],
                raw,
                self._bins[block],
                found.first,
                table,
                offset,
                assignment.own[block],
                labels.code[block],
                labels.weight[block],
                assignment.owner,
                labels.has_zero,
                G[:, :r],
                G[:, r:-1],
                total,
            )
            if gradient:
                G[:, -1] = total
            return Sums(loss, conjugate, G)

        loss, conjugate, G = _add(one, self._blocks, self._n_jobs)
        if not gradient:
            return Sums(loss, conjugate, G)
        literal = self._by_literal(G[:, r:-1], G[:, -1])
        parts = [G[:, :r], literal] + ([G[:, -1:]] if self._constant else [])
        return Sums(loss, conjugate, np.hstack(parts))

    def screen(self, S: np.ndarray, bend: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        found = self._candidates
        p, r = S.shape[1], found.n_raw
        G, H = np.zeros((p, r)), np.zeros((p, r))
        hist, bend_hist = np.zeros((p, found.n_bins)), np.zeros((p, found.n_bins))
        total, bend_total = np.zeros(p), np.zeros(p)
        kernels.screen_pass(
            self._X,
            self._mean[:r],
            self._inverse[:r],
            self._bins,
            found.first,
            S,
            bend,
            G,
            hist,
            H,
            bend_hist,
            total,
            bend_total,
        )
        mean, inverse = self._mean[r:], self._inverse[r:]
        inside = _intervals(bend_hist, found)
        square = (inside * (1.0 - 2.0 * mean) + bend_total[:, None] * mean**2) * inverse**2
        constant = self._constant
        last, bend_last = total[:, None][:, :constant], bend_total[:, None][:, :constant]
        return np.hstack([G, self._by_literal(hist, total), last]), np.hstack([H, square, bend_last])

    def curvature(self, theta: np.ndarray, column: np.ndarray, assignment: Assignment) -> Curvature:
        used = np.unique(column[column != PADDING])
        place = np.where(column != PADDING, np.searchsorted(used, column), PADDING)
        return self.restrict(used).curvature(theta, place, assignment)

    def scores(self, W: np.ndarray) -> np.ndarray:
        columns = np.flatnonzero(np.any(W != 0.0, axis=0))
        if len(columns) <= 32:
            return self.columns(columns) @ W[:, columns].T
        found = self._candidates
        table, offset = self._table(W)
        Z = (self._X - self._mean[: found.n_raw]) * self._inverse[: found.n_raw] @ W[:, : found.n_raw].T + offset
        for f in range(self._bins.shape[1]):
            Z += table[:, found.first[f] + self._bins[:, f].astype(np.int64)].T
        return Z

    def combine(self, S: np.ndarray) -> np.ndarray:
        return self.screen(S, np.zeros(S.shape))[0]

    def square_norms(self) -> np.ndarray:
        total = np.zeros(len(self.labels.code))
        step = max(1, CHUNK_ENTRIES // max(1, len(total)))
        for begin in range(0, self.n_columns, step):
            x = self.columns(np.arange(begin, min(self.n_columns, begin + step)))
            total += np.einsum("il,il->i", x, x)
        return total

    def restrict(self, columns: np.ndarray) -> DenseRows:
        n = len(columns)
        return DenseRows(self.columns(columns), np.zeros(n), np.ones(n), False, self.labels, self._n_jobs)

    def columns(self, columns: np.ndarray) -> np.ndarray:
        """Some of the columns, standardised, dense."""
        found = self._candidates
        B = np.ones((len(self.labels.code), len(columns)))
        for a, l in enumerate(columns):
            if l < found.n_raw:
                B[:, a] = (self._X[:, l] - self._mean[l]) * self._inverse[l]
            elif l < len(found):
                f = self._slot[l - found.n_raw]
                bins = self._bins[:, f]
                low, high = found.low[l - found.n_raw] - found.first[f], found.high[l - found.n_raw] - found.first[f]
                true = (bins >= low) & (bins < high)
                B[:, a] = np.where(true, (1.0 - self._mean[l]) * self._inverse[l], -self._mean[l] * self._inverse[l])
        return B

    def _table(self, W: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """What the literals add to each prototype's score by bin, and the constants."""
        found = self._candidates
        r, n = found.n_raw, len(found)
        V = W[:, r:n] * self._inverse[r:]
        edge = np.zeros((len(W), found.n_bins + 1))
        for j in range(len(W)):
            active = np.flatnonzero(V[j])
            np.add.at(edge[j], found.low[active], V[j, active])
            np.add.at(edge[j], found.high[active], -V[j, active])
        offset = -(V @ self._mean[r:])
        if self._constant:
            offset = offset + W[:, -1]
        return np.cumsum(edge, axis=1)[:, :-1].copy(), offset

    def _by_literal(self, hist: np.ndarray, total: np.ndarray) -> np.ndarray:
        r = self._candidates.n_raw
        inside = _intervals(hist, self._candidates)
        return (inside - total[:, None] * self._mean[r:]) * self._inverse[r:]


def _intervals(hist: np.ndarray, found: Candidates) -> np.ndarray:
    """The sum of the histogram over the bins of each literal, p × literals."""
    running = np.concatenate([np.zeros((len(hist), 1)), np.cumsum(hist, axis=1)], axis=1)
    return running[:, found.high] - running[:, found.low]


def literal_moments(bins: np.ndarray, weight: np.ndarray, found: Candidates) -> tuple[np.ndarray, np.ndarray]:
    """Mean and standard deviation of every literal; ``weight`` sums to 1. Where a literal is the same on all rows, as a
    user's cut point beyond the data makes it, the deviation is 0 and no rounding."""
    mass, count = np.zeros((2, 1, found.n_bins))
    for f in range(bins.shape[1]):
        here = slice(found.first[f], found.first[f] + int(bins[:, f].max()) + 1)
        mass[0, here] = np.bincount(bins[:, f], weights=weight)
        count[0, here] = np.bincount(bins[:, f])
    mean, rows = np.clip(_intervals(mass, found)[0], 0.0, 1.0), _intervals(count, found)[0]
    mean = np.where(rows == 0.0, 0.0, np.where(rows == len(weight), 1.0, mean))
    return mean, np.sqrt(mean * (1.0 - mean))
