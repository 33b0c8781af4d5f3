r"""Whole-number weights, a score card, found by search and not by rounding alone.

The scores are ``z_j = scale · (Σ_l points_jl · b_l / unit_l + intercept_j)``: whole points and constants, one scale for
all, units that are powers of ten for numbers and 1 for literals. Minimised over all of these is

.. math:: \sum_i weight_i\, loss_i(z) + \tfrac{\lambda}{2} \sum_{jl} (scale \cdot points_{jl}\, spread_l / unit_l)^2

with the loss of `objective` and ``λ = 0`` unless asked for. From a few scales the weights are rounded, and from each
rounding a local search moves one or two whole numbers at a time. A quadratic model of the objective, in the points and
the scale together, says which moves are worth trying; only a move that lowers the objective itself is made. So the
result is never worse than the best rounding.
"""

import math
from dataclasses import dataclass, replace

import numpy as np

from smallearn._learn.kernels import NO_PROTOTYPE

SCALES = 24  # tried: how many points the largest weight becomes
STARTS = 6  # roundings from which the search goes on
TRIES = 12  # moves tried at least, the most promising first
EXACT_WORK = 20_000  # rows times moves tried, each at its best scale, before a place counts as a minimum
MOST_MOVES = 200
SCALE_RANGE = 20.0  # the scale stays within this factor of the one of the weights: of separable rows it has no limit


@dataclass(frozen=True)
class Points:
    """``points`` (p × t) and ``intercepts`` (p) are whole numbers, ``units`` (t) powers of ten; ``loss`` is the mean
    loss and ``objective`` adds the penalty. A term's weight in raw units, before the scale, is ``points / units``."""

    points: np.ndarray
    units: np.ndarray
    intercepts: np.ndarray
    scale: float
    loss: float
    objective: float


@dataclass(frozen=True)
class _Rows:
    """What the loss needs of the rows. Scores are p × m, the frozen zero, if there is one, as a row more."""

    B: np.ndarray
    code: np.ndarray
    weight: np.ndarray
    owner: np.ndarray
    has_zero: bool
    own: np.ndarray  # the place of the row's own prototype
    barred: np.ndarray  # p × m: the other prototypes of its class, which take no part

    def scores(self, u: np.ndarray, scale: float) -> np.ndarray:
        z = np.zeros((len(u) + self.has_zero, u.shape[1]))
        z[: len(u)] = scale * u
        z[: len(u)][self.barred] = -np.inf
        return z

    def loss(self, u: np.ndarray, scale: float) -> float:
        z = self.scores(u, scale)
        top = z.max(axis=0)
        of_own = z[self.own, np.arange(len(self.own))]
        return float(self.weight @ (np.log(np.exp(z - top).sum(axis=0)) + top - of_own))

    def residual(self, u: np.ndarray, scale: float) -> tuple[np.ndarray, np.ndarray]:
        """The probabilities ``π`` of the prototypes and ``s = π - [own]``, both without the frozen zero."""
        z = self.scores(u, scale)
        pi = np.exp(z - z.max(axis=0))
        pi /= pi.sum(axis=0)
        s = pi.copy()
        s[self.own, np.arange(len(self.own))] -= 1.0
        return pi[: len(u)], s[: len(u)]


def _placed(rows: _Rows, own: np.ndarray) -> _Rows:
    place = np.arange(len(rows.owner))[:, None]
    return replace(rows, own=own, barred=(rows.owner[:, None] == rows.code[None, :]) & (place != own[None, :]))


def find_points(
    B: np.ndarray,
    weights: np.ndarray,
    intercepts: np.ndarray,
    own: np.ndarray,
    code: np.ndarray,
    owner: np.ndarray,
    zero_owner: int | None,
    row_weight: np.ndarray,
    raw: np.ndarray,
    max_points: int,
    alpha: float = 0.0,
    spread: np.ndarray | None = None,
    mean: np.ndarray | None = None,
) -> Points:
    """The score card nearest in objective to real-valued ``weights`` (p × t) and ``intercepts`` (p), in raw units.

    ``B`` (m × t) holds the terms' values, nothing missing: 0 or 1 for literals, numbers where ``raw``. ``own``,
    ``code``, ``owner``, ``zero_owner`` are those of `Labels` and `Assignment`; ``row_weight`` sums to 1. No prototype
    gets a term whose weight is zero, and |points| ≤ ``max_points``; a term may get 0 points where that is better.
    ``spread`` (t) is the standard deviation of each term and ``mean`` its mean, for the penalty ``alpha``; None: those
    of ``B``.
    """
    rows = _rows(B, own, code, owner, zero_owner, row_weight, merge=not raw.any())
    mean = row_weight @ B if mean is None else mean
    if spread is None:
        spread = np.sqrt(row_weight @ (B - mean) ** 2)
    found: dict[bytes, _Search] = {}
    for scale in _scales(weights, intercepts, raw, spread, max_points):
        units = _units(weights, raw, scale, max_points)
        for keep in (False, True):  # plain rounding, and rounding in which no term is lost
            points = _rounded(weights * units / scale, max_points, keep)
            start = _Search(rows, weights != 0.0, units, max_points, alpha, spread, mean, points, intercepts, scale)
            found.setdefault(start.key, start)
    ranked = sorted(found.values(), key=lambda search: search.objective)
    of_units: dict[bytes, _Search] = {}  # other units cannot be reached from a start, so the best start of each goes on
    for search in ranked:
        of_units.setdefault(search.units.tobytes(), search)
    chosen = [*list(of_units.values())[:STARTS], *ranked[:STARTS]]
    for search in chosen:
        search.run()
    return min(chosen, key=lambda search: search.objective).result()


def _rows(B, own, code, owner, zero_owner, row_weight, merge: bool) -> _Rows:
    """The rows; equal ones, of which literals have many, as one of their weights together."""
    if merge:
        key = np.column_stack([B.astype(np.int8), own.astype(np.int32), code.astype(np.int32)])
        _, first, group = np.unique(key, axis=0, return_index=True, return_inverse=True)
        row_weight = np.bincount(group.ravel(), row_weight)
        B, own, code = B[first], own[first], code[first]
    has_zero = zero_owner is not None
    rows = _Rows(np.asarray(B, dtype=float), code, row_weight, np.asarray(owner), has_zero, own, np.empty((0, 0), bool))
    return _placed(rows, np.where(own == NO_PROTOTYPE, len(owner), own))


# --- where to begin --------------------------------------------------------------------------------------------------


def _scales(weights, intercepts, raw, spread, max_points: int) -> np.ndarray:
    """Worths of one point: the largest weight of a literal, divided by 1 … max_points.

    Numbers alone set no such limit, for their units adapt to any scale: there it is the largest effect of a standard
    deviation, by 1 … 100, and small scales serve the constant.
    """
    sizes = np.abs(weights)
    largest = float(sizes[:, ~raw].max(initial=0.0)) or float((sizes * spread).max(initial=0.0))
    most = max_points + 0.49 if sizes[:, ~raw].any() else 100.0
    largest = largest or float(np.abs(intercepts).max(initial=0.0)) or 1.0
    whole = np.arange(1.0, 1.0 + min(max_points, SCALES))
    return largest / np.unique(np.concatenate([np.geomspace(1.0, most, SCALES), whole, [float(max_points)]]))


def _units(weights, raw, scale: float, max_points: int) -> np.ndarray:
    """The largest power of ten that leaves every weight of a number at most ``max_points``."""
    units = np.ones(weights.shape[1])
    largest = np.abs(weights).max(axis=0) / scale
    for l in np.flatnonzero(raw & (largest > 0.0)):
        power = math.floor(math.log10((max_points + 0.49) / largest[l]))
        units[l] = 10.0 ** min(max(power, -300), 300)
    return units


def _rounded(weights, max_points: int, keep: bool) -> np.ndarray:
    points = np.rint(weights)
    if keep:
        points = np.where((points == 0.0) & (weights != 0.0), np.sign(weights), points)
    return np.clip(points, -max_points, max_points)


# --- the search ------------------------------------------------------------------------------------------------------


class _Search:
    """A score card that is being improved. Its unknowns are the whole numbers ``theta``, those of prototype ``j`` on
    the rows ``A_j = b_l / unit_l`` (one for each term, then a constant; by m), and the scale."""

    def __init__(self, rows: _Rows, support, units, max_points, alpha, spread, mean, points, intercepts, scale):
        self.rows, self.support, self.units, self.alpha = rows, support, units, alpha
        self.lowest, self.highest = scale / SCALE_RANGE, scale * SCALE_RANGE
        self.scale = float(scale)
        p, t = support.shape
        scaled = np.vstack([(rows.B / units).T, np.ones(len(rows.B))])
        columns = [np.append(np.flatnonzero(support[j]), t) for j in range(p)]
        self.A = [scaled[chosen] for chosen in columns]
        self.home = np.concatenate([np.full(len(chosen), j) for j, chosen in enumerate(columns)])
        self.column = np.concatenate(columns)
        self.limit = np.where(self.column < t, float(max_points), np.inf)
        # The penalty at scale 1 is ½ θᵀ ridge θ: of each weight, and of the constant about the means of the terms.
        about = np.append(mean / units, 1.0)[self.column]
        self.ridge = alpha * np.where(self.home[:, None] == self.home, np.outer(about, about), 0.0)
        self.ridge[np.diag_indices(len(about))] += np.append(alpha * (spread / units) ** 2, 0.0)[self.column]
        self.theta = np.column_stack([points, np.rint(intercepts / scale)])[self.home, self.column]
        self.key = np.concatenate([units, self.theta]).tobytes()
        self._settle()

    def run(self) -> None:
        """Improve until no move that looks promising helps. Rows keep their prototype: the bound is for these."""
        for _ in range(MOST_MOVES):
            if not self._move():
                return

    def result(self) -> Points:
        theta, scale = self.theta, self.scale
        common = np.gcd.reduce(np.abs(theta).astype(np.int64)) or 1
        theta, scale = np.rint(theta / common).astype(np.int64), scale * float(common)
        p, t = self.support.shape
        table = np.zeros((p, t + 1), dtype=np.int64)
        table[self.home, self.column] = theta
        loss = self.rows.loss(self._sums(theta), scale)
        return Points(table[:, :t], self.units, table[:, t], scale, loss, self.objective)

    def _sums(self, theta: np.ndarray) -> np.ndarray:
        """Points of every prototype and row, p × m."""
        return np.array([theta[self.home == j] @ A for j, A in enumerate(self.A)])

    def _value(self, theta: np.ndarray, u: np.ndarray, scale: float) -> float:
        return self.rows.loss(u, scale) + 0.5 * scale * scale * float(theta @ self.ridge @ theta)

    def _settle(self) -> None:
        self.scale, self.objective = self._best_scale(self.theta, self._sums(self.theta), self.scale)

    def _best_scale(self, theta: np.ndarray, u: np.ndarray, scale: float) -> tuple[float, float]:
        """The best scale for these points and its objective, by Newton's method: the objective is convex in it."""
        ridge = float(theta @ self.ridge @ theta)
        value = self._value(theta, u, scale)
        for _ in range(30):
            pi, s = self.rows.residual(u, scale)
            mean = (pi * u).sum(axis=0)
            slope = float((s * u).sum(axis=0) @ self.rows.weight) + scale * ridge
            curvature = float(((pi * u * u).sum(axis=0) - mean * mean) @ self.rows.weight) + ridge
            step = -slope / curvature if curvature > 0.0 else -math.copysign(scale, slope)
            low, high = max(self.lowest, scale / 3.0), min(self.highest, scale * 3.0)
            while True:
                tried = min(max(scale + step, low), high)
                new = self._value(theta, u, tried)
                if new <= value or abs(step) < 1e-9 * scale:
                    break
                step *= 0.25
            if new > value:
                break
            moved, fell = abs(tried - scale), value - new
            scale, value = tried, new
            if moved <= 1e-7 * scale or fell <= 1e-12 * value:
                break
        return scale, value

    def _move(self) -> bool:
        """Make the first of the promising moves that lowers the objective, first at the scale that the model foresees.

        Where none does, each is tried at its own best scale, also from the same card written with twice or three times
        the points, which has neighbours between those of the first.
        """
        if self._step(self.theta, self.scale, exact=False) or self._step(self.theta, self.scale, exact=True):
            return True
        return any(
            self._step(self.theta * times, self.scale / times, exact=True)
            for times in (2, 3)
            if np.all(np.abs(self.theta * times) <= self.limit) and self.scale / times >= self.lowest
        )

    def _step(self, start: np.ndarray, begin: float, exact: bool) -> bool:
        g, H = self._model(start, begin)
        tries = max(TRIES, min(EXACT_WORK // len(self.rows.weight), 60)) if exact else TRIES
        for a, b, by_a, by_b in self._candidates(start, g, H, tries):
            theta = start.copy()
            theta[a] += by_a
            theta[b] += by_b
            u = self._sums(theta)
            shift = -(g[-1] + H[-1, a] * by_a + H[-1, b] * by_b) / H[-1, -1]
            scale = min(max(begin * math.exp(min(max(shift, -1.0), 1.0)), self.lowest), self.highest)
            if exact:
                scale, value = self._best_scale(theta, u, scale)
            else:
                value = self._value(theta, u, scale)
            if value < self.objective - 1e-10 * abs(self.objective):
                self.theta = theta
                self.scale, self.objective = self._best_scale(theta, u, scale)
                return True
        return False

    def _model(self, theta: np.ndarray, scale: float) -> tuple[np.ndarray, np.ndarray]:
        """Gradient and Hessian of the objective in ``theta`` and the logarithm of the scale, which comes last."""
        u = self._sums(theta)
        pi, s = self.rows.residual(u, scale)
        d, weight = len(theta), self.rows.weight
        u = np.where(self.rows.barred, 0.0, u)
        g, H = np.zeros(d + 1), np.zeros((d + 1, d + 1))
        mean = (pi * u).sum(axis=0)
        places = [np.flatnonzero(self.home == j) for j in range(len(self.A))]
        for j, A in enumerate(self.A):
            g[places[j]] = scale * (A @ (weight * s[j]))
            # ∂²/∂θ∂log(scale): the slope once more, for z is a product, and the curvature along z.
            H[places[j], d] = g[places[j]] + scale * scale * (A @ (weight * pi[j] * (u[j] - mean)))
            for other in range(j + 1):
                share = weight * pi[j] * ((1.0 if other == j else 0.0) - pi[other])
                # Not a product of matrices: too small to be worth the threads that BLAS would start for it.
                block = scale * scale * np.einsum("ai,bi->ab", A * share, self.A[other])
                H[np.ix_(places[j], places[other])] = block
                H[np.ix_(places[other], places[j])] = block.T
        pull = scale * scale * (self.ridge @ theta)
        g[:d] += pull
        H[:d, :d] += scale * scale * self.ridge
        H[:d, d] += 2.0 * pull
        H[d, :d] = H[:d, d]
        slope = scale * float((s * u).sum(axis=0) @ weight)
        square = scale * scale * float(((pi * u * u).sum(axis=0) - mean * mean) @ weight)
        g[d] = slope + pull @ theta
        H[d, d] = max(slope + square + 2.0 * float(pull @ theta), 1e-300)
        return g, H

    def _candidates(self, theta, g: np.ndarray, H: np.ndarray, most: int) -> list[tuple[int, int, int, int]]:
        """Moves ``(a, b, δ_a, δ_b)``, by the change that the model foresees with the scale at its best for each.

        One number by 1 or 2 (then ``b = a`` and ``δ_b = 0``), or two by 1 each.
        """
        d = len(theta)
        first, second = np.triu_indices(d, 1)
        alone = np.arange(d)
        a = np.concatenate([np.tile(alone, 4), np.tile(first, 4)])
        b = np.concatenate([np.tile(alone, 4), np.tile(second, 4)])
        by_a = np.concatenate([np.repeat([1, -1, 2, -2], d), np.repeat([1, 1, -1, -1], len(first))])
        by_b = np.concatenate([np.zeros(4 * d, dtype=int), np.repeat([1, -1, 1, -1], len(first))])
        slope = g[a] * by_a + g[b] * by_b
        bend = H[a, a] * by_a**2 + H[b, b] * by_b**2 + 2.0 * H[a, b] * by_a * by_b
        pull = g[d] + H[a, d] * by_a + H[b, d] * by_b
        gain = slope + 0.5 * bend - 0.5 * pull * pull / H[d, d]
        outside = (np.abs(theta[a] + by_a) > self.limit[a]) | (np.abs(theta[b] + by_b) > self.limit[b])
        inside = np.flatnonzero(~outside)
        order = inside[np.argsort(gain[inside], kind="stable")[:most]]
        return [(int(a[i]), int(b[i]), int(by_a[i]), int(by_b[i])) for i in order]
