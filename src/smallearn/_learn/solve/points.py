r"""Whole-number weights (a score card), found by search and not by rounding alone.

The scores are ``z_j = scale · (Σ_l points_jl · b_l / unit_l + intercept_j)``: whole points and constants, one scale for
all, units that are powers of ten for numbers and 1 for literals. The search minimises over all of these

.. math:: \sum_i weight_i\, loss_i(z) + \tfrac{\lambda}{2} \sum_{jl} (scale \cdot points_{jl}\, deviation_l / unit_l)^2

with the loss of `objective`; ``λ`` is 0 by default. The weights are rounded at several scales, and from each rounding a
local search moves one or two whole numbers at a time. A quadratic model of the objective, in the points and the scale
together, ranks the moves; a move is made only if it lowers the objective itself. So the result is never worse than the
best rounding.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from smallearn._learn.data.labels import Roles
from smallearn._learn.kernels import NO_PROTOTYPE

SCALES = 24  # scales to round at: how many points the largest weight becomes
STARTS = 6  # roundings that the search starts from
TRIES = 12  # least number of moves tried, the most promising first
EXACT_WORK = 20_000  # rows times moves tried at their best scale before a card counts as a local minimum
MOST_MOVES = 200
MOST_WHOLE = 2.0**53  # points of a constant
SCALE_RANGE = 20.0  # the scale stays within this factor of its start: on separable rows it has no minimum


@dataclass(frozen=True)
class Points:
    """A score card: ``points`` (p × t) and ``intercepts`` (p) are whole numbers, ``units`` (t) powers of ten.

    ``loss`` is the mean loss, ``objective`` adds the penalty. The weight of a term in raw units, before the scale, is
    ``points / units``.
    """

    points: np.ndarray
    units: np.ndarray
    intercepts: np.ndarray
    scale: float
    loss: float
    objective: float


@dataclass(frozen=True)
class _Rows:
    """What the loss needs of the rows. Scores are p × m; if there is a prototype frozen at zero, it is a last row."""

    B: np.ndarray
    code: np.ndarray
    weight: np.ndarray
    owner: np.ndarray
    has_zero: bool
    own: np.ndarray  # the position of each row's own prototype
    excluded: np.ndarray  # p × m: the other prototypes of the row's class, which are not in its loss

    def scores(self, u: np.ndarray, scale: float) -> np.ndarray:
        z = np.zeros((len(u) + self.has_zero, u.shape[1]))
        z[: len(u)] = scale * u
        z[: len(u)][self.excluded] = -np.inf
        return z

    def loss(self, u: np.ndarray, scale: float) -> float:
        z = self.scores(u, scale)
        top = z.max(axis=0)
        of_own = z[self.own, np.arange(len(self.own))]
        return float(self.weight @ (np.log(np.exp(z - top).sum(axis=0)) + top - of_own))

    def residual(self, u: np.ndarray, scale: float) -> tuple[np.ndarray, np.ndarray]:
        """The probabilities ``π`` of the prototypes and ``s = π - [own]``, both without the prototype at zero."""
        z = self.scores(u, scale)
        pi = np.exp(z - z.max(axis=0))
        pi /= pi.sum(axis=0)
        s = pi.copy()
        s[self.own, np.arange(len(self.own))] -= 1.0
        return pi[: len(u)], s[: len(u)]


@dataclass(frozen=True)
class _Terms:
    """Which points may differ from 0 (``support``, p × t), how large they may be, and the penalty's λ and moments."""

    support: np.ndarray
    max_points: int
    alpha: float
    deviation: np.ndarray
    mean: np.ndarray


class _Card(NamedTuple):
    """Whole numbers ``theta`` with the scale that is best for them, and the objective there."""

    theta: np.ndarray
    scale: float
    objective: float


def find_points(
    B: np.ndarray,
    weights: np.ndarray,
    intercepts: np.ndarray,
    *,
    roles: Roles,
    raw: np.ndarray,
    max_points: int,
    alpha: float = 0.0,
    deviation: np.ndarray | None = None,
    mean: np.ndarray | None = None,
) -> Points:
    """The score card nearest in objective to real-valued ``weights`` (p × t) and ``intercepts`` (p), in raw units.

    ``B`` (m × t) holds the terms' values, none missing: 0 or 1 for literals, numbers where ``raw`` (t). A term whose
    weight is 0 gets no points, and |points| ≤ ``max_points``; a term may get 0 points where that is better.
    ``deviation`` and ``mean`` (t) of the terms enter the penalty; None: those of ``B``.
    """
    rows = _rows(B, roles, merge=not raw.any())
    mean = roles.weight @ B if mean is None else mean
    if deviation is None:
        deviation = np.sqrt(roles.weight @ (B - mean) ** 2)
    terms = _Terms(support=weights != 0.0, max_points=max_points, alpha=alpha, deviation=deviation, mean=mean)
    spread = _deviation(B, roles.weight)  # of the values; that of the penalty may be 1
    searches: dict[bytes, _Search] = {}
    cards: dict[bytes, _Card] = {}
    for scale in _scales(weights, intercepts, raw, spread, max_points):
        units = _units(weights, raw, scale, max_points)
        for keep in (False, True):  # plain rounding, and rounding in which no term is lost
            points = _rounded(weights * units / scale, max_points, keep)
            search = _Search(rows, terms, units, scale)
            card = search.start(points, intercepts, scale)
            key = units.tobytes() + card.theta.tobytes()
            if key not in cards:
                searches[key], cards[key] = search, card
    ranked = sorted(cards, key=lambda key: cards[key].objective)
    by_units: dict[bytes, bytes] = {}  # a search keeps its units, so the best start of each units goes on
    for key in ranked:
        by_units.setdefault(searches[key].units.tobytes(), key)
    improved = [*list(by_units.values())[:STARTS], *ranked[:STARTS]]
    for key in improved:
        cards[key] = searches[key].improve(cards[key])
    best = min(improved, key=lambda key: cards[key].objective)
    return searches[best].points(cards[best])


def _rows(B: np.ndarray, roles: Roles, merge: bool) -> _Rows:
    """The rows; with ``merge``, equal rows (literals have many) become one row of their total weight."""
    own, code, weight = roles.own, roles.code, roles.weight
    if merge:
        key = np.column_stack([B.astype(np.int8), own.astype(np.int32), code.astype(np.int32)])
        _, first, group = np.unique(key, axis=0, return_index=True, return_inverse=True)
        weight = np.bincount(group.ravel(), weight)
        B, own, code = B[first], own[first], code[first]
    owner = np.asarray(roles.owner)
    own = np.where(own == NO_PROTOTYPE, len(owner), own)
    other = np.arange(len(owner))[:, None] != own[None, :]
    return _Rows(
        B=np.asarray(B, dtype=float),
        code=code,
        weight=weight,
        owner=owner,
        has_zero=roles.has_zero,
        own=own,
        excluded=(owner[:, None] == code[None, :]) & other,
    )


def _deviation(B: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """The standard deviation of each term's values; of any size, without overflow."""
    centred = B - weight @ B / weight.sum()
    largest = np.abs(centred).max(axis=0)
    largest[largest == 0.0] = 1.0
    return largest * np.sqrt(weight @ (centred / largest) ** 2 / weight.sum())


# --- where to begin --------------------------------------------------------------------------------------------------


def _scales(weights, intercepts, raw, deviation, max_points: int) -> np.ndarray:
    """What one point may be worth: the largest weight of a literal, divided by 1 … max_points.

    The units of numbers adapt to any scale. Without literals it is therefore the largest effect of a standard
    deviation, divided by 1 … 100; small scales help the constant.
    """
    sizes = np.abs(weights)
    largest = float(sizes[:, ~raw].max(initial=0.0)) or float((sizes * deviation).max(initial=0.0))
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
    """The objective of score cards at fixed units, and the moves between them.

    The unknowns are the scale and the whole numbers ``theta``; those of prototype ``j`` multiply the rows ``A_j = b_l /
    unit_l`` (one for each term, then a constant; by m).
    """

    def __init__(self, rows: _Rows, terms: _Terms, units: np.ndarray, scale: float):
        self.rows, self.support, self.units = rows, terms.support, units
        self.lowest, self.highest = scale / SCALE_RANGE, scale * SCALE_RANGE
        p, t = self.support.shape
        scaled = np.vstack([(rows.B / units).T, np.ones(len(rows.B))])
        columns = [np.append(np.flatnonzero(self.support[j]), t) for j in range(p)]
        self.A = [scaled[chosen] for chosen in columns]
        self.home = np.concatenate([np.full(len(chosen), j) for j, chosen in enumerate(columns)])
        self.column = np.concatenate(columns)
        self.limit = np.where(self.column < t, float(terms.max_points), np.inf)
        # The penalty at scale 1 is ½ θᵀ ridge θ: of each weight, and of the constant about the means of the terms.
        about = np.append(terms.mean / units, 1.0)[self.column]
        self.ridge = terms.alpha * np.where(self.home[:, None] == self.home, np.outer(about, about), 0.0)
        diagonal = np.append(terms.alpha * (terms.deviation / units) ** 2, 0.0)
        self.ridge[np.diag_indices(len(about))] += diagonal[self.column]

    def start(self, points: np.ndarray, intercepts: np.ndarray, scale: float) -> _Card:
        """Whole ``points`` (p × t) with ``intercepts`` (p) rounded at ``scale``, then at the best scale for these."""
        constants = np.clip(np.rint(intercepts / scale), -MOST_WHOLE, MOST_WHOLE)
        theta = np.column_stack([points, constants])[self.home, self.column]
        return self._at_best_scale(theta, self._sums(theta), float(scale))

    def improve(self, card: _Card) -> _Card:
        """Move until no promising move helps. Rows keep their prototype: the certificate is for this assignment."""
        for _ in range(MOST_MOVES):
            better = self._move(card)
            if better is None:
                break
            card = better
        return card

    def points(self, card: _Card) -> Points:
        """The card in lowest terms."""
        common = np.gcd.reduce(np.abs(card.theta).astype(np.int64)) or 1
        theta, scale = np.rint(card.theta / common).astype(np.int64), card.scale * float(common)
        p, t = self.support.shape
        table = np.zeros((p, t + 1), dtype=np.int64)
        table[self.home, self.column] = theta
        return Points(
            points=table[:, :t],
            units=self.units,
            intercepts=table[:, t],
            scale=scale,
            loss=self.rows.loss(self._sums(theta), scale),
            objective=card.objective,
        )

    def _sums(self, theta: np.ndarray) -> np.ndarray:
        """Points of every prototype and row, p × m."""
        return np.array([theta[self.home == j] @ A for j, A in enumerate(self.A)])

    def _value(self, theta: np.ndarray, u: np.ndarray, scale: float) -> float:
        return self.rows.loss(u, scale) + 0.5 * scale * scale * float(theta @ self.ridge @ theta)

    def _at_best_scale(self, theta: np.ndarray, u: np.ndarray, scale: float) -> _Card:
        """The points at their best scale, by Newton's method from ``scale``: the objective is convex in it."""
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
        return _Card(theta=theta, scale=scale, objective=value)

    def _move(self, card: _Card) -> _Card | None:
        """The first of the promising moves that lowers the objective, at the scale that the quadratic model predicts.

        If none does, each is tried at its own best scale, also from the same card written with two or three times the
        points, whose neighbours lie between those of the first. None: a local minimum.
        """
        for times, exact in ((1, False), (1, True), (2, True), (3, True)):
            theta, scale = card.theta * times, card.scale / times
            if times > 1 and (np.any(np.abs(theta) > self.limit) or scale < self.lowest):
                continue
            better = self._step(theta, scale, card.objective, exact)
            if better is not None:
                return better
        return None

    def _step(self, start: np.ndarray, begin: float, objective: float, exact: bool) -> _Card | None:
        """The first move from ``start`` to a card below ``objective``."""
        g, H = self._model(start, begin)
        tries = max(TRIES, min(EXACT_WORK // len(self.rows.weight), 60)) if exact else TRIES
        for a, b, by_a, by_b in self._ranked_moves(start, g, H, tries):
            theta = start.copy()
            theta[a] += by_a
            theta[b] += by_b
            u = self._sums(theta)
            shift = -(g[-1] + H[-1, a] * by_a + H[-1, b] * by_b) / H[-1, -1]
            scale = min(max(begin * math.exp(min(max(shift, -1.0), 1.0)), self.lowest), self.highest)
            if exact:
                trial = self._at_best_scale(theta, u, scale)
            else:
                trial = _Card(theta=theta, scale=scale, objective=self._value(theta, u, scale))
            if trial.objective < objective - 1e-10 * abs(objective):
                return self._at_best_scale(theta, u, trial.scale)
        return None

    def _model(self, theta: np.ndarray, scale: float) -> tuple[np.ndarray, np.ndarray]:
        """Gradient and Hessian of the objective in ``theta`` and the logarithm of the scale, which comes last."""
        u = self._sums(theta)
        pi, s = self.rows.residual(u, scale)
        d, weight = len(theta), self.rows.weight
        u = np.where(self.rows.excluded, 0.0, u)
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

    def _ranked_moves(self, theta, g: np.ndarray, H: np.ndarray, most: int) -> list[tuple[int, int, int, int]]:
        """Moves ``(a, b, δ_a, δ_b)``, best first, by the change that the quadratic model predicts at the best scale.

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
