"""Which prototype each row belongs to: by k-means within every class that owns prototypes, given, or by the best score.

Everything here asks `Rows` for scores and sums only, so that it works wherever the rows live. No choice depends on the
order of the rows, and a row of weight 2 counts as two rows.
"""

import numpy as np

from smallearn._learn.data.blocks import Assignment, Rows
from smallearn._learn.kernels import NO_PROTOTYPE

N_INIT = 3
MAX_ROUNDS = 30  # a start is wanted, not the optimum of k-means


def given(index: np.ndarray, code: np.ndarray, owners: list[int], count: int) -> Assignment:
    """The user's own: ``index`` counts within the class of the row, from 0 to ``count - 1``; rows of a class without
    prototypes are ignored. The prototypes without rows are there too."""
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
    return Assignment(own, np.array(owner))


def by_kmeans(rows: Rows, counts: dict[int, int], weight: np.ndarray, rng: np.random.RandomState) -> Assignment:
    """k-means in standardised space, for all classes in ``counts`` at once; fewer clusters where rows coincide."""
    code = rows.labels.code
    if all(count == 1 for count in counts.values()):
        return given(np.zeros(len(code), dtype=int), code, list(counts), 1)
    norms = rows.square_norms()
    # Random draws walk the rows in the order of a random projection, in which equal rows are neighbours: the draw is
    # then the same however the rows are ordered, and whether a row stands there twice or weighs double.
    order = np.argsort(rows.scores(rng.standard_normal((1, rows.n_columns)))[:, 0], kind="stable")
    best, best_spread = Assignment(np.array([]), np.array([])), -np.inf
    # Each class draws from a stream of its own, so that it does not matter how many draws another one needed.
    for seeds in rng.randint(2**31, size=(N_INIT, len(counts))):
        streams = [np.random.RandomState(seed) for seed in seeds]
        centres, owner = _seed(rows, counts, weight, norms, order, streams)
        own, spread = _lloyd(rows, centres, owner, weight)
        if best_spread < 0.0 or spread > best_spread * (1.0 + 1e-9):
            best, best_spread = Assignment(own, owner), spread
    return best


def best_scoring(Z: np.ndarray, code: np.ndarray, assignment: Assignment) -> np.ndarray:
    """``j(i) ← argmax_j z_ij`` over the prototypes of the row's own class; a row moves only for a better score."""
    own, owner = assignment.own, assignment.owner
    rivals = np.where(owner[None, :] == code[:, None], Z, -np.inf)
    member = own != NO_PROTOTYPE
    index = np.flatnonzero(member)
    best = rivals[index].argmax(axis=1)
    moved = own.copy()
    moved[index] = np.where(rivals[index, best] > rivals[index, own[index]], best, own[index])
    return moved


def drop_empty(assignment: Assignment) -> tuple[Assignment, np.ndarray]:
    """The assignment without prototypes that have no rows, and which prototypes are left."""
    p = len(assignment.owner)
    alive = np.bincount(assignment.own[assignment.own != NO_PROTOTYPE], minlength=p) > 0
    renumber = np.append(np.cumsum(alive) - 1, NO_PROTOTYPE)  # the last entry is that of NO_PROTOTYPE
    return Assignment(renumber[assignment.own], assignment.owner[alive]), alive


def _seed(rows, counts, weight, norms, order, streams):
    """k-means++ within each class: every next centre is a row drawn with probability weight × squared distance."""
    code = rows.labels.code
    centres: list[np.ndarray] = []
    owner: list[int] = []
    for (label, count), stream in zip(counts.items(), streams, strict=True):
        nearest = np.where(code == label, 1.0, 0.0)
        for _ in range(count):
            draw = np.cumsum((weight * nearest)[order])
            chosen = order[min(np.searchsorted(draw, stream.random_sample() * draw[-1], side="right"), len(order) - 1)]
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


def _lloyd(rows, centres, owner, weight):
    """Lloyd's rounds from ``centres``; returns the assignment and ``Σ_j N_j ‖c_j‖²``, which grows as inertia falls."""
    code = rows.labels.code
    foreign = owner[None, :] != code[:, None]
    member = np.isin(code, owner)
    own = np.full(len(code), NO_PROTOTYPE)
    spread = 0.0
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
        spread = float(mass @ np.sum(centres * centres, axis=1))
    return own, spread
