"""First assignments of rows to prototypes: propose several kinds, compare them cheaply, keep the best few.

k-means sees neither the labels nor which features matter. Cutting the owning class at quantiles of one feature that
matters gives better starts where a single feature separates the groups. Random starts add what neither finds.
"""

from collections.abc import Callable, Iterator
from itertools import islice

import numpy as np
from sklearn.utils import check_random_state

from smallearn._learn.data.blocks import TrainingRows
from smallearn._learn.data.labels import Assignment
from smallearn._learn.data.problem import Problem
from smallearn._learn.kernels import NO_PROTOTYPE
from smallearn._learn.solve import assignment as assignments
from smallearn._learn.solve.objective import Penalty
from smallearn._learn.solve.support_search import SupportSearch, most_of_a_class
from smallearn._learn.solve.support_state import ColumnCache
from smallearn._run.deadline import present

POOL = 4  # starts proposed for each one that is kept
TRIAL_TERMS = 2  # terms for each prototype, of a class if they are shared, when starts are compared
RANDOM_COLUMNS = 20  # columns that a random direction lies in, at most


def best(
    problem: Problem,
    rows: TrainingRows,
    penalty: Penalty,
    counts: dict[int, int],
    *,
    kind: str,
    n_init: int,
    random_state: int | np.random.RandomState | None,
    pool: int = POOL,
    columns: ColumnCache | None = None,
) -> list[Assignment]:
    """The ``n_init`` best starts of ``kind`` ("kmeans", "splits", "random", or "auto": all), of ``pool`` times as many.

    ``counts`` has the number of prototypes of each class that owns any. With one prototype for each class there is only
    one start.
    """
    if all(count == 1 for count in counts.values()):
        return [assignments.single(problem.code, list(counts))]
    rng = check_random_state(random_state)
    if kind == "kmeans" and n_init == 1:
        return by_kmeans(problem, counts, 1, rng)
    proposed = propose(problem, rows, penalty, counts, kind=kind, count=pool * n_init, rng=rng)
    return screen(rows, penalty, proposed, n_init, columns)


def propose(
    problem: Problem,
    rows: TrainingRows,
    penalty: Penalty,
    counts: dict[int, int],
    *,
    kind: str,
    count: int,
    rng: np.random.RandomState,
) -> list[Assignment]:
    """About ``count`` starts, all different."""
    kinds = ("kmeans", "splits", "random") if kind == "auto" else (kind,)
    each = -(-count // len(kinds))
    proposed: list[Assignment] = []
    if "kmeans" in kinds:
        proposed += by_kmeans(problem, counts, each, rng)
    if "splits" in kinds:
        columns = _informative_columns(problem, rows, penalty, counts, each)
        proposed += [_split(rows, problem, counts, column) for column in columns]
    if "random" in kinds or not proposed:
        proposed += [_random(rows, counts, rng) for _ in range(each)]
    return different(proposed)


def by_kmeans(problem: Problem, counts: dict[int, int], count: int, rng: np.random.RandomState) -> list[Assignment]:
    """The different results of ``count`` runs of k-means."""
    return different(list(islice(kmeans_runs(problem, counts, rng), count)))


def kmeans_runs(problem: Problem, counts: dict[int, int], rng: np.random.RandomState) -> Iterator[Assignment]:
    """The results of one run of k-means after the other, without end."""
    centred = problem.centred_rows()
    while True:
        yield assignments.by_kmeans(centred, counts, problem.sample_weight, rng)


def different(proposed: list[Assignment]) -> list[Assignment]:
    """Without those that occurred before."""
    unique: dict[bytes, Assignment] = {}
    for start in proposed:
        unique.setdefault(start.own.tobytes(), start)
    return list(unique.values())


def screen(
    rows: TrainingRows,
    penalty: Penalty,
    proposed: list[Assignment],
    n_init: int,
    columns: ColumnCache | None = None,
) -> list[Assignment]:
    """The ``n_init`` starts with the lowest objective after a few terms are added and a few rows moved.

    When time is up, the best of those compared so far; if there are none, the first.
    """
    if len(proposed) <= n_init:
        return proposed
    search = SupportSearch(rows, penalty, columns=columns)
    fixed = search.fixed()
    size = TRIAL_TERMS * (most_of_a_class(proposed[0]) if penalty.pooling == "shared" else len(proposed[0].owner))
    reached = []
    for start in proposed:
        if present().stops("the comparison of starts"):
            break
        empty = fixed.start(assignments.drop_empty(start)[0])
        reached.append(search.reassign(fixed.grow_to(empty, size)).value)
    order = np.argsort(np.round(reached, 9), kind="stable")  # so that ties are ties
    return [proposed[a] for a in order[:n_init]] or proposed[:1]


def _informative_columns(
    problem: Problem, rows: TrainingRows, penalty: Penalty, counts: dict[int, int], count: int
) -> list[int]:
    """The best column of each of the ``count`` features that separate the classes best, each taken alone."""
    search = SupportSearch(rows, penalty)
    start = search.start(assignments.single(problem.code, list(counts)))
    gain = search.single_gains(start).max(axis=0)[: len(problem.candidates)]
    best_of: dict[int, int] = {}
    for column in np.argsort(-gain, kind="stable"):
        if not gain[column] > 0.0 or len(best_of) == count:
            break
        best_of.setdefault(int(problem.candidates.feature[column]), int(column))
    return list(best_of.values())


def _split(rows: TrainingRows, problem: Problem, counts: dict[int, int], column: int) -> Assignment:
    """Each owning class cut into groups of about equal weight along the feature of one column."""
    feature = problem.candidates.feature[column]
    raw = np.flatnonzero(problem.candidates.feature[: problem.candidates.n_raw] == feature)
    x = rows.columns(raw[:1] if len(raw) else np.array([column]))[:, 0]

    def groups(members: np.ndarray, count: int) -> np.ndarray:
        _, position = np.unique(x[members], return_inverse=True)
        mass = np.cumsum(np.bincount(position, weights=problem.sample_weight[members]))
        group = np.minimum((count * (mass - 1e-9 * mass[-1]) / mass[-1]).astype(int), count - 1)
        return group[position]

    return _stack_groups(problem.code, counts, groups)


def _random(rows: TrainingRows, counts: dict[int, int], rng: np.random.RandomState) -> Assignment:
    """Groups by the largest of several random directions in the space of the columns.

    Equal rows stay together, whatever their order or weight.
    """
    some = np.sort(rng.choice(rows.n_columns, min(rows.n_columns, RANDOM_COLUMNS), replace=False))
    x = rows.columns(some) @ rng.standard_normal((len(some), max(counts.values())))
    return _stack_groups(rows.labels.code, counts, lambda members, count: x[members, :count].argmax(axis=1))


def _stack_groups(
    code: np.ndarray, counts: dict[int, int], groups: Callable[[np.ndarray, int], np.ndarray]
) -> Assignment:
    """The assignment in which ``groups(members, count)`` numbers the groups of each owning class; empty ones go."""
    own = np.full(len(code), NO_PROTOTYPE)
    owner: list[int] = []
    for label, count in counts.items():
        members = np.flatnonzero(code == label)
        own[members] = groups(members, count) + len(owner)
        owner.extend([label] * count)
    return assignments.drop_empty(Assignment(own=own, owner=np.array(owner)))[0]
