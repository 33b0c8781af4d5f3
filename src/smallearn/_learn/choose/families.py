"""What cross-validation compares: families of models, and the candidate models of each.

A *family* is what cannot be had from a neighbour: which literals, how many prototypes, which class owns them, about how
large a λ. One search on some rows gives a model of every size and, by warm starts, at each λ of the family.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from smallearn._learn.assemble import AssembleOptions
from smallearn._learn.choose.folds import NO_UNITS, Units
from smallearn._learn.choose.scores import CostScore, Scoring
from smallearn._learn.choose.training_set import TrainingSet
from smallearn._learn.data.blocks import TrainingRows
from smallearn._learn.data.content import row_counts
from smallearn._learn.data.labels import LOG_LOSS, SPHERICAL
from smallearn._learn.data.literals import ABOVE, AT_MOST, RAW
from smallearn._learn.data.many_rows import Large
from smallearn._learn.data.problem import Problem
from smallearn._learn.solve import starts
from smallearn._learn.solve.budgets import Budget
from smallearn._learn.solve.objective import Penalty, Pooling
from smallearn._learn.solve.support_search import SupportSearch
from smallearn._learn.solve.support_state import ColumnCache, State
from smallearn._run.deadline import NEVER, Deadline

ROWS_EACH = 10  # rows of a class for each of its prototypes, unless the user says how many prototypes to try
FEW_ROWS, ROWS_PER_TERM, ROWS_PER_CLASS = 1600, 16, 200  # at least so many are trained on in a fold, if there are more
SEARCHED_ROWS = 8000  # … and when the chosen model is searched for
MOST_PROTOTYPES = 8  # to try, unless the user says how many
MOST_SHARING = 24  # … for all classes, if they share their terms
FEWEST_SHARED, MOST_WEIGHTS = 8, 520  # terms that all classes share: those always tried, and weights in all above them
NEIGHBOURS = 2  # values of λ that share a search


@dataclass(frozen=True)
class Family:
    """``owner`` is the code of the class that owns the prototypes; None: every class does. ``alphas`` are neighbouring
    values of λ: the search is run at one of them. ``pooling`` is how terms are counted. If it is ``one_sided``, every
    term speaks for the owner and the constant against it: any of some words, or else the other class. ``sharpness`` is
    that of the loss (see `search_kernels`). ``without`` lists features that are left out."""

    literals: str
    n_prototypes: int
    owner: int | None
    alphas: tuple[float, ...]
    pooling: Pooling = "total"
    one_sided: bool = False
    sharpness: float = LOG_LOSS
    without: tuple[int, ...] = ()


class CandidateModel(NamedTuple):
    """A family at one λ with at most ``n_terms`` terms: a line of `cv_results_`."""

    family: Family
    alpha: float
    n_terms: int

    @property
    def shape(self) -> tuple[str, int, Pooling]:
        """Literals, number of prototypes and how terms are counted: models of one shape grow with their number."""
        return self.family.literals, self.family.n_prototypes, self.family.pooling


class RowLimits(NamedTuple):
    """How many rows are trained on, about; None: all.

    ``first``: when all families are compared on the first folds. ``folds``: when the best of them are compared on every
    fold. ``search``: when the chosen model is searched for, before it is fitted to all rows.
    """

    first: int | None
    folds: int | None
    search: int | None

    @classmethod
    def automatic(cls, n_rows: int, n_classes: int, max_terms: int) -> "RowLimits":
        """More rows for more classes and more terms, and on large data, most of all for the few families left there."""
        least = max(FEW_ROWS, ROWS_PER_TERM * max_terms, ROWS_PER_CLASS * n_classes)
        first = max(least, min(4 * least, n_rows // 32))
        folds = max(first, min(8 * least, n_rows // 16))
        return cls(first=first, folds=folds, search=max(SEARCHED_ROWS, folds))


ALL_ROWS = RowLimits(first=None, folds=None, search=None)


@dataclass(frozen=True)
class Task:
    """What is to be chosen: the training data, the budget and the options of every model. Sent to each worker."""

    problem: Problem
    budget: Budget
    min_terms: int
    max_terms: int
    scoring: Scoring
    seed: int
    threshold: float | None = None
    """The decision threshold; None: chosen with the model, or that of the weighted classes."""
    fit_intercept: bool = True
    max_points: int | None = None
    feature_names: np.ndarray | None = None
    fills_gaps: bool = False
    units: Units = NO_UNITS
    """Those of all rows, from which samples are drawn."""
    limits: RowLimits = ALL_ROWS
    large: Large | None = None
    """All rows, if there are so many that ``problem`` is a sample of them."""
    n_threads: int = 1
    """For passes over all rows."""
    deadline: Deadline = NEVER
    certificate_share: float = 0.0
    """How much work the certificate may take, as a share of the search's; infinity: any."""

    def options(self, alpha: float, threshold: float | None = None) -> AssembleOptions:
        """How a solution at this λ becomes a model; ``threshold`` is the one that was chosen with it."""
        several = len(self.problem.classes) > 2
        return AssembleOptions(
            alpha=alpha,
            decision_threshold=self.threshold if threshold is None else threshold,
            cost_matrix=self.scoring.matrix if several and isinstance(self.scoring, CostScore) else None,
            fit_intercept=self.fit_intercept,
            max_points=self.max_points,
            feature_names=self.feature_names,
            fills_gaps=self.fills_gaps,
        )

    def rows(self, problem: Problem, owner: int | None) -> TrainingRows:
        """The rows of the problem, or of a part of it, as a solver sees them if class ``owner`` has the prototypes."""
        return problem.rows(owner, self.fit_intercept, self.n_threads)

    def training_set(self, problem: Problem) -> TrainingSet:
        """Some of the rows, for training."""
        return TrainingSet(problem, self.rows, self.seed)

    def search(
        self, rows: TrainingRows, family: Family, alpha: float, columns: ColumnCache | None = None
    ) -> SupportSearch:
        """The search within a family at one λ."""
        penalty = self.penalty(family, alpha, self.family_budget(family))
        allowed = _allowed(self.problem.candidates.kind, family.literals, rows.n_columns)
        if family.without:
            candidates = self.problem.candidates
            allowed[: len(candidates)] &= ~np.isin(candidates.feature, family.without)
        return SupportSearch(rows, penalty, allowed, columns=columns, sharpness=family.sharpness)

    def penalty(self, family: Family, alpha: float, budget: Budget) -> Penalty:
        """The penalty on the candidate terms of a family at one λ."""
        penalty = budget.penalty(alpha, self.problem.candidates, self.fit_intercept, family.owner)
        if not family.one_sided:
            return penalty
        return replace(penalty, sign=(penalty.cost > 0.0).astype(penalty.sign.dtype))

    def family_budget(self, family: Family) -> Budget:
        """The budget, counted as the family does; if by prototype, each gets an equal share of the terms."""
        budget = replace(self.budget, pooling=family.pooling)
        if budget.costs is not None or budget.pooling != "prototype":
            return budget
        owners = len(self.problem.classes) if family.owner is None else 1
        return replace(budget, limit=max(1, self.max_terms // (family.n_prototypes * owners)))

    def most_terms(self, family: Family) -> int:
        """The largest number of terms to try: those that all classes share have many weights."""
        if family.pooling != "shared" or family.owner is not None:
            return self.max_terms
        weights = len(self.problem.classes) * family.n_prototypes  # of each term
        return min(self.max_terms, max(FEWEST_SHARED, MOST_WEIGHTS // weights))

    def counts(self, family: Family, code: np.ndarray) -> dict[int, int]:
        """The number of prototypes of each class that owns any: no more than the class has rows."""
        owners = range(len(self.problem.classes)) if family.owner is None else [family.owner]
        return {label: min(family.n_prototypes, int(np.sum(code == label))) for label in owners}


def list_families(
    problem: Problem,
    max_terms: int,
    *,
    n_prototypes: Sequence[int] | None,
    alphas: Sequence[float],
    literals: Sequence[str],
    owners: Sequence[int] | Sequence[None],
    poolings: Sequence[Pooling] = ("total",),
    one_sided: bool = False,
    spherical: bool = False,
) -> list[Family]:
    """Every combination to compare. ``n_prototypes=None`` tries the numbers of `_default_prototypes`, which leave each
    prototype two terms and ten rows. ``one_sided`` adds families of that kind, with one prototype, and ``spherical``
    those whose loss is the spherical score, at the smaller half of λ: a bounded loss needs less of a penalty."""
    tried = {
        pooling: _default_prototypes(problem, max_terms, pooling)
        if n_prototypes is None
        else sorted({int(p) for p in n_prototypes})
        for pooling in poolings
    }
    kinds = list(dict.fromkeys(literals))
    if not problem.candidates.cuts_more_than_once():  # a literal is then as good as the feature
        kinds = kinds[:1]
    ordered = sorted({float(alpha) for alpha in alphas}, reverse=True)
    neighbours = [tuple(ordered[at : at + NEIGHBOURS]) for at in range(0, len(ordered), NEIGHBOURS)]
    families = [
        Family(literals=kind, n_prototypes=p, owner=owner, alphas=near, pooling=pooling)
        for pooling in poolings
        for p in tried[pooling]
        for near in neighbours
        for kind in kinds
        for owner in (owners[:1] if p == 1 else owners)  # with one prototype, either owner gives the same model
    ]
    if one_sided:
        families += [
            replace(family, owner=owner, one_sided=True)
            for family in families
            for owner in owners
            if family.n_prototypes == 1 and family.literals == kinds[-1]
        ]
    if spherical:
        smaller = neighbours[len(neighbours) // 2 :]
        families += [
            replace(family, sharpness=SPHERICAL)
            for family in families
            if family.n_prototypes == 1 and family.alphas in smaller
        ]
    return families


def _default_prototypes(problem: Problem, max_terms: int, pooling: Pooling) -> list[int]:
    """1, and of 2, 3, 4 and ``max_terms // 3``, up to 8, every number that leaves each prototype two terms and ten
    rows. Where all classes share their terms, 2 and 3, as long as there are not too many prototypes in all."""
    n_classes = len(problem.classes)
    rows = int(np.bincount(problem.code, weights=row_counts(problem.sample_weight)).min()) // ROWS_EACH
    numbers, most = [2, 3, 4, min(MOST_PROTOTYPES, max_terms // 3)], (max_terms + 1) // 2
    if n_classes > 2 and pooling == "shared":
        numbers, most = [2, 3], min(most, MOST_SHARING // n_classes)
    elif n_classes > 2:
        most = (max_terms // n_classes + 1) // 2
    return sorted({1, *(p for p in numbers if 1 < p <= min(most, rows))})


def _allowed(kind: Sequence[str], literals: str, n_columns: int) -> np.ndarray:
    """Which columns a family may use; the constant column, if there is one, comes last."""
    names = np.array([*kind, *["constant"] * (n_columns - len(kind))])
    cut = (names == AT_MOST) | (names == ABOVE)
    return ~cut if literals == "raw" else names != RAW if literals == "thresholds" else np.ones(n_columns, dtype=bool)


Models = dict[tuple[float, int], State]
"""Trained models by λ and number of terms."""


def train_family(
    task: Task,
    training: TrainingSet,
    family: Family,
    n_init: int,
    *,
    thorough: bool = False,
    every_kind: bool = False,
) -> Models:
    """A model of every size at every λ of the family.

    One λ starts afresh, the others from its models. ``thorough`` is that of `SupportSearch.trace`. ``every_kind`` tries
    starts of every kind, not k-means alone.
    """
    search = _search(task, training, family)
    counts = task.counts(family, training.problem.code)
    if every_kind:
        assignments = starts.best(
            training.problem,
            search.rows,
            search.penalty,
            counts,
            kind="auto",
            n_init=n_init,
            random_state=task.seed,
            columns=training.columns,
        )
    else:
        assignments = training.by_kmeans(counts, n_init)
    return _at_each_alpha(search, family, search.trace(assignments, task.min_terms, task.most_terms(family), thorough))


def look_at_family(task: Task, training: TrainingSet, family: Family) -> Models:
    """A quick look at some models of a family: from one start, without swaps."""
    search = _search(task, training, family)
    start = training.by_kmeans(task.counts(family, training.problem.code), 1)[0]
    return _at_each_alpha(search, family, search.look(start, task.most_terms(family)))


def _search(task: Task, training: TrainingSet, family: Family) -> SupportSearch:
    """The search at the λ that starts afresh."""
    if family not in training.searches:
        first = family.alphas[len(family.alphas) // 2]
        training.searches[family] = task.search(training.rows(family.owner), family, first, training.columns)
    return training.searches[family]


def _at_each_alpha(search: SupportSearch, family: Family, path: dict[int, State]) -> Models:
    """The models of a search, and refitted at the other values of λ."""
    first = search.penalty.alpha
    models = {(first, size): search.calibrated(state) for size, state in path.items()}
    for alpha in family.alphas:
        if alpha != first:
            neighbour = search.with_penalty(replace(search.penalty, alpha=alpha))
            refitted = {size: neighbour.refit(state, first) for size, state in path.items()}
            models.update({(alpha, size): neighbour.calibrated(state) for size, state in refitted.items()})
    return models
