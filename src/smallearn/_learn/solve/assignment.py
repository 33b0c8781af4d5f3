"""Which prototype each row belongs to: by k-means within every class that owns prototypes, by index, or by best score.

Everything here asks `TrainingRows` for scores and sums only, so that it works wherever the rows are. No choice depends
on the order of the rows, and a row of weight 2 counts as two rows.
"""

from typing import NamedTuple

import numpy as np

from smallearn._learn.data.blocks import TrainingRows
from smallearn._learn.data.labels import Assignment
from smallearn._learn.kernels import NO_PROTOTYPE

N_INIT = 3
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
    """k-means in standardised space, for all classes in ``counts`` at once; fewer clusters where rows coincide."""
    code = rows.labels.code
    if all(count == 1 for count in counts.values()):
        return single(code, list(counts))
    norms = rows.square_norms()
    # Rows are drawn in the order of a random projection, in which equal rows are neighbours. So the draw does not
    # depend on the order of the rows, nor on whether a row occurs twice or has weight 2.
    order = np.argsort(rows.scores(rng.standard_normal((1, rows.n_columns)))[:, 0], kind="stable")
    best: _Clusters | None = None
    # Each class has a random stream of its own, so that the draws of one do not depend on those of another.
    for seeds in rng.randint(2**31, size=(N_INIT, len(counts))):
        streams = [np.random.RandomState(seed) for seed in seeds]
        draws = _Draws(counts=counts, weight=weight, norms=norms, order=order, streams=streams)
        clusters = _lloyd(rows, *_seed(rows, draws), weight)
        if best is None or clusters.between > best.between * (1.0 + 1e-9):
            best = clusters
    assert best is not None
    return best.assignment


def best_scoring(Z: np.ndarray, code: np.ndarray, assignment: Assignment) -> Assignment:
    """``own(i) ← argmax_j z_ij`` over the prototypes of the row's class; a row moves only for a better score."""
    own, owner = assignment.own, assignment.owner
    scores = np.where(owner[None, :] == code[:, None], Z, -np.inf)
    members = assignment.members()
    best = scores[members].argmax(axis=1)
    moved = own.copy()
    moved[members] = np.where(scores[members, best] > scores[members, own[members]], best, own[members])
    return Assignment(own=moved, owner=owner)


def drop_empty(assignment: Assignment) -> tuple[Assignment, np.ndarray]:
    """The assignment without prototypes that have no rows, and which prototypes are kept (p, bool)."""
    kept = assignment.sizes() > 0
    return keep_prototypes(assignment, kept), kept


def keep_prototypes(assignment: Assignment, kept: np.ndarray) -> Assignment:
    """The assignment to some of the prototypes (p, bool), renumbered. No row may belong to another."""
    return Assignment(own=renumber(kept)[assignment.own], owner=assignment.owner[kept])


def renumber(kept: np.ndarray) -> np.ndarray:
    """The new number of each prototype that is kept; a last entry maps `NO_PROTOTYPE` to itself."""
    return np.append(np.cumsum(kept) - 1, NO_PROTOTYPE)


class _Draws(NamedTuple):
    """What k-means++ draws from: ``counts`` of centres by class, the rows' weights and ``‖x_i‖²``, the order in which
    they are drawn, and a random stream for each class."""

    counts: dict[int, int]
    weight: np.ndarray
    norms: np.ndarray
    order: np.ndarray
    streams: list[np.random.RandomState]


class _Clusters(NamedTuple):
    """An assignment and ``between = Σ_j N_j ‖c_j‖²``, which grows as the inertia of k-means falls."""

    assignment: Assignment
    between: float


def _seed(rows: TrainingRows, draws: _Draws) -> tuple[np.ndarray, np.ndarray]:
    """k-means++ within each class: each next centre is a row drawn with probability weight × squared distance.

    Returns the centres and the class of each.
    """
    code = rows.labels.code
    weight, norms, order = draws.weight, draws.norms, draws.order
    centres: list[np.ndarray] = []
    owner: list[int] = []
    for (label, count), stream in zip(draws.counts.items(), draws.streams, strict=True):
        nearest = np.where(code == label, 1.0, 0.0)
        for _ in range(count):
            mass = np.cumsum((weight * nearest)[order])
            chosen = order[min(np.searchsorted(mass, stream.random_sample() * mass[-1], side="right"), len(order) - 1)]
            if nearest[chosen] == 0.0:
                break  # every row of the class is a centre already
            pick = np.zeros((len(code), 1))
            pick[chosen] = 1.0
            centre = rows.combine(pick)
            distance = norms - 2.0 * rows.scores(centre)[:, 0] + float(np.vdot(centre, centre))
            distance[distance <= 1e-12 * (1.0 + norms)] = 0.0
            distance[code != label] = 0.0
            nearest = distance if len(owner) == 0 or owner[-1] != label else np.minimum(nearest, distance)
            centres.append(centre[0])
            owner.append(label)
    return np.array(centres), np.array(owner)


def _lloyd(rows: TrainingRows, centres: np.ndarray, owner: np.ndarray, weight: np.ndarray) -> _Clusters:
    """Lloyd's algorithm from ``centres``."""
    code = rows.labels.code
    foreign = owner[None, :] != code[:, None]
    member = np.isin(code, owner)
    own = np.full(len(code), NO_PROTOTYPE)
    between = 0.0
    for _ in range(MAX_ROUNDS):
        affinity = rows.scores(centres) - 0.5 * np.sum(centres * centres, axis=1)
        affinity[foreign] = -np.inf
        nearest = np.where(member, affinity.argmax(axis=1), NO_PROTOTYPE)
        if np.array_equal(nearest, own):
            break
        own = nearest
        shares = np.where(own[:, None] == np.arange(len(owner)), weight[:, None], 0.0)
        mass = shares.sum(axis=0)
        filled = mass > 0.0
        centres = centres.copy()
        centres[filled] = (rows.combine(shares) / np.maximum(mass, 1e-300)[:, None])[filled]
        between = float(mass @ np.sum(centres * centres, axis=1))
    return _Clusters(assignment=Assignment(own=own, owner=owner), between=between)
