"""Which prototype each row belongs to: by k-means within every class that owns prototypes, by index, or by best score.

Everything here asks `TrainingRows` for scores and sums only, so that it works wherever the rows are. No choice depends
on the order of the rows, and a row of weight 2 counts as two rows.
"""

from typing import Any, NamedTuple

import numpy as np

from smallearn._learn import search_kernels
from smallearn._learn.data.blocks import DenseRows, TrainingRows
from smallearn._learn.data.labels import Assignment
from smallearn._learn.data.many_rows import ManyRows, best_prototypes
from smallearn._learn.kernels import NO_PROTOTYPE

N_INIT = 3
MOST_POINTS = 8_000  # rows that are clustered
OFFSET = 0.618  # of the first step along an order: no step falls on the edge of a row of whole weight
MAX_ROUNDS = 30  # only a start is needed, not the optimum of k-means


def by_index(index: np.ndarray, code: np.ndarray, owners: list[int], count: int) -> Assignment:
    """Row ``i`` belongs to prototype ``index[i]`` of its class, from 0 to ``count - 1``.

    Rows of a class without prototypes are ignored. Every class in ``owners`` gets ``count`` prototypes, also those
    without rows.
    """
    own = np.full(len(code), NO_PROTOTYPE)
    owner: list[int] = []
    for label in owners:
        member = code == label
        if index[member].min() < 0 or index[member].max() >= count:
            raise ValueError(
                f"assignment has prototype indices from {index[member].min()} to {index[member].max()} in a class with "
                f"{count} prototypes; they must lie in 0..{count - 1}."
            )
        own[member] = index[member] + len(owner)
        owner.extend([label] * count)
    return Assignment(own=own, owner=np.array(owner))


def single(code: np.ndarray, owners: list[int]) -> Assignment:
    """One prototype for each class in ``owners``, to which all rows of the class belong."""
    return by_index(np.zeros(len(code), dtype=int), code, owners, 1)


def by_kmeans(rows: TrainingRows, counts: dict[int, int], weight: np.ndarray, rng: np.random.RandomState) -> Assignment:
    """k-means in standardised space, for all classes in ``counts`` at once; fewer clusters where rows coincide.

    Of many rows only a sample is clustered; the others then join the nearest centre of their class.
    """
    code = rows.labels.code
    if all(count == 1 for count in counts.values()):
        return single(code, list(counts))
    # Rows are drawn in the order of a random projection, in which equal rows are neighbours. So the draw does not
    # depend on the order of the rows, nor on whether a row occurs twice or has weight 2.
    order = np.argsort(rows.scores(rng.standard_normal((1, rows.n_columns)))[:, 0], kind="stable")
    sampled = max(len(order), weight.sum()) > MOST_POINTS
    chosen = rows
    if sampled:
        weight = _thinned(order, code, weight, list(counts))
        few = np.flatnonzero(weight)
        chosen, weight, order = rows.take(few), weight[few], np.argsort(np.argsort(order)[few])
    points = _DensePoints(chosen) if isinstance(chosen, DenseRows) else _SparsePoints(chosen)
    draws = _Draws(counts=counts, code=points.code, weight=weight, norms=points.norms, order=order)
    best: _Clusters | None = None
    # Each class has a random stream of its own, so that the draws of one do not depend on those of another.
    stream = np.random.RandomState(0)  # seeded anew for each: to make one takes far longer
    for seeds in rng.randint(2**31, size=(N_INIT, len(counts))):
        clusters = points.lloyd(*_seed(points, draws, stream, seeds), weight)
        if best is None or clusters.between > best.between * (1.0 + 1e-9):
            best = clusters
    assert best is not None
    if not sampled:
        return best.assignment
    affinity = rows.scores(best.centres) - 0.5 * np.sum(best.centres**2, axis=1)
    return Assignment(own=_nearest(affinity, code, best.assignment.owner), owner=best.assignment.owner)


def _thinned(order: np.ndarray, code: np.ndarray, weight: np.ndarray, labels: list[int]) -> np.ndarray:
    """New weights, most of them 0: each class in ``labels`` keeps its weight on about an equal share of `MOST_POINTS`
    rows, at even steps of weight along the order. A rare class keeps all its rows."""
    thinned = np.zeros(len(weight))
    each = MOST_POINTS // len(labels)
    for label in labels:
        mine = order[code[order] == label]
        mass = np.cumsum(weight[mine])
        if max(len(mine), mass[-1]) <= each:
            thinned[mine] = weight[mine]
        else:
            ticks = (np.arange(each) + OFFSET) * (mass[-1] / each)
            np.add.at(thinned, mine[np.searchsorted(mass, ticks, side="right")], mass[-1] / each)
    return thinned


def _nearest(affinity: np.ndarray, code: np.ndarray, owner: np.ndarray) -> np.ndarray:
    """The first prototype of each row's class whose affinity is highest but for rounding."""
    affinity = np.where(owner[None, :] == code[:, None], affinity, -np.inf)
    highest = affinity.max(axis=1, keepdims=True)
    first = np.argmax(affinity >= highest - search_kernels.ROUNDING * (1.0 + np.abs(highest)), axis=1)
    return np.where(np.isfinite(highest[:, 0]), first, NO_PROTOTYPE)


def best_scoring(Z: np.ndarray, code: np.ndarray, assignment: Assignment) -> Assignment:
    """``own(i) ← argmax_j z_ij`` over the prototypes of the row's class; a row moves only for a better score."""
    own = assignment.own.copy()
    search_kernels.move_rows(Z.T, own, code, assignment.owner)
    return Assignment(own=own, owner=assignment.owner)


def place(rows: Any, W: np.ndarray, owner: np.ndarray) -> Any:
    """Each row belongs to the prototype of its class that scores it best, or to none if its class has none: an
    `Assignment`, or a `Placement` of many rows."""
    if isinstance(rows, ManyRows):
        return rows.place(W, owner)
    return Assignment(own=best_prototypes(rows, W, owner), owner=owner)


def drop_empty(assignment: Any) -> tuple[Any, np.ndarray]:
    """The assignment without prototypes that have no rows, and which prototypes are kept (p, bool)."""
    kept = assignment.sizes() > 0
    return assignment.keep(kept), kept


class _Draws(NamedTuple):
    """What k-means++ draws from: ``counts`` of centres by class, the rows' classes, weights and ``‖x_i‖²``, and the
    order in which they are drawn."""

    counts: dict[int, int]
    code: np.ndarray
    weight: np.ndarray
    norms: np.ndarray
    order: np.ndarray


class _Clusters(NamedTuple):
    """An assignment, its centres, and ``between = Σ_j N_j ‖c_j‖²``, which grows as the inertia of k-means falls."""

    assignment: Assignment
    centres: np.ndarray
    between: float


class _DensePoints:
    """Rows for k-means as an array."""

    def __init__(self, rows: DenseRows):
        self.code = rows.labels.code
        self._A = rows.columns(np.arange(rows.n_columns))
        self.norms = np.einsum("il,il->i", self._A, self._A)

    def row(self, i: int) -> np.ndarray:
        return self._A[i]

    def scores(self, centre: np.ndarray) -> np.ndarray:
        return np.einsum("il,l->i", self._A, centre)

    def lloyd(self, centres: np.ndarray, owner: np.ndarray, weight: np.ndarray) -> _Clusters:
        """Lloyd's algorithm from ``centres``."""
        own = np.full(len(self.code), NO_PROTOTYPE)
        between = search_kernels.lloyd(self._A, self.code, weight, centres, owner, MAX_ROUNDS, own)
        return _Clusters(assignment=Assignment(own=own, owner=owner), centres=centres, between=between)


class _SparsePoints:
    """Rows for k-means that are only scored and summed, never made dense."""

    def __init__(self, rows: TrainingRows):
        self._rows, self.code, self.norms = rows, rows.labels.code, rows.square_norms()

    def row(self, i: int) -> np.ndarray:
        pick = np.zeros((len(self.code), 1))
        pick[i] = 1.0
        return self._rows.combine(pick)[0]

    def scores(self, centre: np.ndarray) -> np.ndarray:
        return self._rows.scores(centre[None, :])[:, 0]

    def lloyd(self, centres: np.ndarray, owner: np.ndarray, weight: np.ndarray) -> _Clusters:
        """As `search_kernels.lloyd`."""
        own = np.full(len(self.code), NO_PROTOTYPE)
        between = 0.0
        for _ in range(MAX_ROUNDS):
            affinity = self._rows.scores(centres) - 0.5 * np.sum(centres * centres, axis=1)
            nearest = _nearest(affinity, self.code, owner)
            if np.array_equal(nearest, own):
                break
            own = nearest
            shares = np.where(own[:, None] == np.arange(len(owner)), weight[:, None], 0.0)
            mass = shares.sum(axis=0)
            filled = mass > 0.0
            centres = centres.copy()
            centres[filled] = (self._rows.combine(shares) / np.maximum(mass, 1e-300)[:, None])[filled]
            between = float(mass @ np.sum(centres * centres, axis=1))
        return _Clusters(assignment=Assignment(own=own, owner=owner), centres=centres, between=between)


def _seed(
    points: _DensePoints | _SparsePoints, draws: _Draws, stream: np.random.RandomState, seeds: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """k-means++ within each class: each next centre is a row drawn with probability weight × squared distance.

    ``seeds`` has one of the stream for each class. Returns the centres and the class of each.
    """
    counts, code, weight, norms, order = draws
    centres: list[np.ndarray] = []
    owner: list[int] = []
    for (label, count), seed in zip(counts.items(), seeds, strict=True):
        stream.seed(seed)
        mine = code == label
        nearest = np.where(mine, 1.0, 0.0)
        for _ in range(count):
            mass = np.cumsum((weight * nearest)[order])
            chosen = order[min(np.searchsorted(mass, stream.random_sample() * mass[-1], side="right"), len(order) - 1)]
            if nearest[chosen] == 0.0:
                break  # every row of the class is a centre already
            centre = points.row(chosen)
            distance = norms - 2.0 * points.scores(centre) + float(np.vdot(centre, centre))
            distance[(distance <= 1e-12 * (1.0 + norms)) | ~mine] = 0.0
            nearest = distance if len(owner) == 0 or owner[-1] != label else np.minimum(nearest, distance)
            centres.append(centre)
            owner.append(label)
    return np.array(centres), np.array(owner)
