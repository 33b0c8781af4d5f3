"""The rows that families of models are trained on, with what their searches share."""

from collections.abc import Callable, Hashable, Iterator
from functools import cached_property
from itertools import islice

import numpy as np

from smallearn._learn.data.blocks import TrainingRows
from smallearn._learn.data.labels import Assignment
from smallearn._learn.data.problem import Problem
from smallearn._learn.solve import starts
from smallearn._learn.solve.support_search import SupportSearch
from smallearn._learn.solve.support_state import ColumnCache


class TrainingSet:
    """Some training rows. Searches of all families share the columns that they read and the runs of k-means.

    Parameters
    ----------
    problem : Problem
        The rows, sorted by class: on such rows the search is fastest.
    make_rows : callable
        From the problem and the class that owns the prototypes (None: every class does) to `TrainingRows`.
    seed : int
        Of k-means.
    """

    def __init__(self, problem: Problem, make_rows: Callable[[Problem, int | None], TrainingRows], seed: int):
        self.problem, self.seed = problem, seed
        self._make_rows = make_rows
        self._rows: dict[int | None, TrainingRows] = {}
        self._runs: dict[tuple, tuple[Iterator[Assignment], list[Assignment]]] = {}
        self.searches: dict[Hashable, SupportSearch] = {}
        """By family, for its next search."""

    def rows(self, owner: int | None) -> TrainingRows:
        """The rows as a search sees them, where class ``owner`` has the prototypes."""
        if owner not in self._rows:
            self._rows[owner] = self._make_rows(self.problem, owner)
        return self._rows[owner]

    @cached_property
    def columns(self) -> ColumnCache:
        """The columns, which are the same whoever owns the prototypes."""
        return ColumnCache(self.rows(None))

    def by_kmeans(self, counts: dict[int, int], count: int) -> list[Assignment]:
        """The different results of ``count`` runs of k-means; ``counts`` has the number of prototypes by class."""
        key = tuple(counts.items())
        if key not in self._runs:
            self._runs[key] = starts.kmeans_runs(self.problem, counts, np.random.RandomState(self.seed)), []
        following, done = self._runs[key]
        done.extend(islice(following, max(0, count - len(done))))
        return starts.different(done[:count])
