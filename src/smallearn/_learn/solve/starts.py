"""First assignments of rows to prototypes: proposed by several means, looked at cheaply, the best few kept.

k-means is blind to the labels and to which features matter. Cutting the owning class at quantiles of a single feature
that matters finds better starts where one feature parts the cases; random ones are there for what neither sees.
"""

import numpy as np

from smallearn._learn.data.blocks import Assignment, Rows
from smallearn._learn.data.problem import Problem
from smallearn._learn.kernels import NO_PROTOTYPE
from smallearn._learn.solve import assignment as assignments
from smallearn._learn.solve.objective import Penalty
from smallearn._learn.solve.support_search import Search

POOL = 4  # starts looked at for each one that is kept
GLANCE = 2  # terms a prototype gets for the look


def best(
    problem: Problem,
    rows: Rows,
    penalty: Penalty,
    counts: dict[int, int],
    kind: str,
    n_init: int,
    rng: np.random.RandomState,
    pool: int = POOL,
) -> list[Assignment]:
    """The ``n_init`` best starts of ``kind`` ("kmeans", "splits", "random" or "auto": all of them), of ``pool`` times
    as many.

    ``counts`` has the number of prototypes for each class that owns any. One prototype a class leaves no choice.
    """
    if all(count == 1 for count in counts.values()):
        return [assignments.given(np.zeros(len(problem.code), dtype=int), problem.code, list(counts), 1)]
    if kind == "kmeans" and n_init == 1:
        return [assignments.by_kmeans(problem.centred_rows(), counts, problem.sample_weight, rng)]
    proposed = propose(problem, rows, penalty, counts, kind, pool * n_init, rng)
    return screen(rows, penalty, proposed, n_init)


def propose(problem, rows, penalty, counts, kind, count, rng) -> list[Assignment]:
    """Different starts, about ``count`` of them."""
    kinds = ("kmeans", "splits", "random") if kind == "auto" else (kind,)
    each = -(-count // len(kinds))
    found: list[Assignment] = []
    if "kmeans" in kinds:
        centred = problem.centred_rows()
        found += [assignments.by_kmeans(centred, counts, problem.sample_weight, rng) for _ in range(each)]
    if "splits" in kinds:
        columns = _telling_columns(problem, rows, penalty, counts, each)
        found += [_split(rows, problem, counts, column) for column in columns]
    if "random" in kinds or not found:
        found += [_random(rows, counts, rng) for _ in range(each)]
    unique: dict[bytes, Assignment] = {}
    for start in found:
        unique.setdefault(start.own.tobytes(), start)
    return list(unique.values())


def screen(rows: Rows, penalty: Penalty, proposed: list[Assignment], n_init: int) -> list[Assignment]:
    """The ``n_init`` starts from which a few terms and a few moves of rows get furthest."""
    if len(proposed) <= n_init:
        return proposed
    search = Search(rows, penalty)
    still = search.fixed()
    reached = []
    for start in proposed:
        first = still.start(assignments.drop_empty(start)[0])
        reached.append(search.settle(still.grown(first, GLANCE * len(start.owner))).value)
    return [proposed[a] for a in np.argsort(reached, kind="stable")[:n_init]]


def _telling_columns(problem, rows, penalty, counts, count) -> list[int]:
    """The best column of each of the features that tell the classes apart most, taken singly."""
    search = Search(rows, penalty)
    single = assignments.given(np.zeros(len(problem.code), dtype=int), problem.code, list(counts), 1)
    gain = search.single_gains(search.start(single)).max(axis=0)[: len(problem.candidates)]
    chosen: list[int] = []
    seen: set[int] = set()
    for column in np.argsort(-gain, kind="stable"):
        feature = int(problem.candidates.feature[column])
        if feature not in seen and gain[column] > 0.0:
            seen.add(feature)
            chosen.append(int(column))
        if len(chosen) == count:
            break
    return chosen


def _split(rows: Rows, problem: Problem, counts: dict[int, int], column: int) -> Assignment:
    """Each owning class cut into groups of about equal weight along one column's feature."""
    code = problem.code
    feature = problem.candidates.feature[column]
    raw = np.flatnonzero(problem.candidates.feature[: problem.candidates.n_raw] == feature)
    x = rows.columns(raw[:1] if len(raw) else np.array([column]))[:, 0]
    own = np.full(len(code), NO_PROTOTYPE)
    owner: list[int] = []
    for label, count in counts.items():
        member = np.flatnonzero(code == label)
        _, place = np.unique(x[member], return_inverse=True)
        mass = np.cumsum(np.bincount(place, weights=problem.sample_weight[member]))
        group = np.minimum((count * (mass - 1e-9 * mass[-1]) / mass[-1]).astype(int), count - 1)
        own[member] = group[place] + len(owner)
        owner.extend([label] * count)
    return assignments.drop_empty(Assignment(own, np.array(owner)))[0]


def _random(rows: Rows, counts: dict[int, int], rng: np.random.RandomState) -> Assignment:
    """Cut along a random direction in the space of the columns, so that equal rows stay together whatever their order
    or weight; which group is which class's prototype is random too."""
    code = rows.labels.code
    own = np.full(len(code), NO_PROTOTYPE)
    owner: list[int] = []
    some = np.sort(rng.choice(rows.n_columns, min(rows.n_columns, 20), replace=False))
    x = rows.columns(some) @ rng.standard_normal((len(some), max(counts.values())))
    for label, count in counts.items():
        member = np.flatnonzero(code == label)
        own[member] = x[member, :count].argmax(axis=1) + len(owner)
        owner.extend([label] * count)
    return assignments.drop_empty(Assignment(own, np.array(owner)))[0]
