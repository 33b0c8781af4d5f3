"""`TrainingRows` of a `Source`: loss and gradient of all rows, block by block, without anything kept for each row.

Which prototype a row belongs to follows from the weights of the prototypes: a `Placement` takes the place of an
`Assignment`. A few questions that need a number for each row are not answered; what asks them works on a sample.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from smallearn._learn.data.blocks import Curvature, DenseRows, RemembersColumns, Sums, TrainingRows, running_sum
from smallearn._learn.data.content import FEW_COLUMNS, hash_values, is_drawn, is_even, sample_limits, sample_sizes
from smallearn._learn.data.labels import Assignment
from smallearn._learn.data.problem import Problem
from smallearn._learn.data.source import Block, Source, pick
from smallearn._learn.data.summary import Summary, summarise
from smallearn._learn.kernels import NO_PROTOTYPE
from smallearn._run.progress import passes


class View(NamedTuple):
    """How rows are looked at: what is known of them all, which class owns the prototypes (None: every class does),
    whether there is an intercept, and which columns are used (None: all)."""

    summary: Summary
    owner: int | None
    intercept: bool
    columns: np.ndarray | None = None

    @property
    def n_columns(self) -> int:
        """The number of columns, with that of the intercept."""
        return len(self.summary.candidates) + self.intercept if self.columns is None else len(self.columns)

    def take(self, columns: np.ndarray) -> "View":
        """Some of the columns, in ascending order."""
        if self.summary.is_sparse:
            return self._replace(columns=columns if self.columns is None else self.columns[columns])
        features = columns[columns < len(self.summary.candidates)]
        return self._replace(summary=self.summary.take(features), intercept=len(features) < len(columns))

    def rows(self, block: Block) -> TrainingRows:
        """The rows of a block."""
        rows = self.summary.problem(block).rows(self.owner, self.intercept, 1)
        return rows if self.columns is None else rows.restrict(self.columns)


@dataclass(frozen=True)
class Placement:
    """Each row belongs to the prototype of its class that scores it best under ``W``, or to none if its class has none.

    In place of an `Assignment`, where there are too many rows to keep a number for each.
    """

    view: View
    W: np.ndarray
    owner: np.ndarray
    ask: Callable[..., Any]

    def sizes(self) -> np.ndarray:
        """The number of rows of each prototype."""
        return self._sizes

    @cached_property
    def _sizes(self) -> np.ndarray:
        (sizes,) = running_sum(self.ask(count_rows, self.question))
        return sizes

    @property
    def question(self) -> "Rule":
        """What a block needs to know."""
        return Rule(self.view, self.W, self.owner)

    @property
    def one_per_class(self) -> bool:
        """Whether no class has more than one prototype: rows have no other to move to."""
        return len(set(self.owner.tolist())) == len(self.owner)

    def keep(self, kept: np.ndarray) -> "Placement":
        """Without prototypes (p, bool) that have no rows."""
        return replace(self, W=self.W[kept], owner=self.owner[kept])


class Rule(NamedTuple):
    """The part of a `Placement` that is sent to where the rows are."""

    view: View
    W: np.ndarray
    owner: np.ndarray

    def assign(self, block: Block, view: View | None = None, rows: TrainingRows | None = None) -> Assignment:
        """The prototype of each row of a block; ``rows`` are those of ``view``."""
        n_classes = len(self.view.summary.classes)
        if len(set(self.owner.tolist())) == len(self.owner):  # one for each class: no score decides
            of_class = np.full(n_classes, NO_PROTOTYPE)
            of_class[self.owner] = np.arange(len(self.owner))
            return Assignment(own=of_class[block.code], owner=self.owner)
        seen = rows if rows is not None and view is self.view else self.view.rows(block)
        return Assignment(own=best_prototypes(seen, self.W, self.owner), owner=self.owner)


@dataclass(frozen=True)
class ManyLabels:
    """What is known of the rows before they are assigned: as `Labels`, without what there is for each row."""

    n_rows: int
    total: float
    zero_owner: int | None

    def roles(self, placement: Placement) -> Placement:
        """All that the loss needs to know."""
        return placement


class ManyRows(RemembersColumns):
    """The rows of a source, seen through a view."""

    def __init__(self, source: Source, view: View):
        self._source, self._view = source, view
        zero_owner = None if view.owner is None else 1 - view.owner
        self.labels = ManyLabels(n_rows=view.summary.n_rows, total=view.summary.total, zero_owner=zero_owner)
        self.n_columns = view.n_columns

    def sums(self, W: np.ndarray, roles: Placement, *, gradient: bool = True) -> Sums:
        """Loss, conjugate and, if wanted, the gradient at ``W``, in one pass over the rows."""
        sums = running_sum(self._ask(sums_of_rows, W, roles.question, gradient))
        passes().reached(float(sums.loss))
        return sums

    def curvature(self, theta: np.ndarray, column: np.ndarray, roles: Placement) -> Curvature:
        """Loss, conjugate, gradient and Hessian, as `TrainingRows.curvature`."""
        curvature = running_sum(self._ask(curvature_of_rows, theta, column, roles.question))
        passes().reached(float(curvature.loss))
        return curvature

    def _ask(self, question: Callable[..., Any], *arguments: Any) -> Any:
        passes().begin("settling the weights")
        return self._source.map(question, self._view, *arguments)

    def place(self, W: np.ndarray, owner: np.ndarray) -> Placement:
        """Each row belongs to the prototype of its class that scores it best."""
        return Placement(view=self._view, W=W, owner=owner, ask=self._source.map)

    def restrict(self, columns: np.ndarray) -> "ManyRows":
        """The same rows with some of the columns, in ascending order."""
        return ManyRows(self._source, self._view.take(columns))


@dataclass(frozen=True)
class Large:
    """Many rows: where they are, what is known of them all, and a sample of them, the ``pool``, on which models are
    chosen."""

    source: Source
    summary: Summary
    pool: Block
    share: np.ndarray
    """What the weights of the pool's rows are multiplied by, so that each class keeps its weight."""

    @classmethod
    def read(cls, source: Source, most: int, **choices: Any) -> "Large":
        """Read all rows a few times; a pool of about ``most``. ``choices`` are those of `summarise`."""
        passes().begin("reading")
        large = cls(source, *summarise(source, most, **choices))
        passes().begin("choosing on a sample")
        return large

    def glance(self, most: int) -> tuple[Block, np.ndarray]:
        """About ``most`` rows of the pool, and weights with which they stand for all rows. See `content.sample`."""
        pool, weight = self.pool, self.pool.weight * self.share
        sizes = np.bincount(pool.code)
        drawn = np.flatnonzero(is_drawn(hash_values(pool.X, FEW_COLUMNS), sample_limits(sizes, most)[pool.code]))
        found = np.bincount(pool.code[drawn], minlength=len(sizes))
        if len(pool.code) <= most or not is_even(found, sample_sizes(sizes, most)):
            return pool, weight
        return pick(pool, drawn), (weight * (sizes / np.maximum(found, 1))[pool.code])[drawn]

    def problem(self) -> Problem:
        """The pool, to choose a model on: the same to the last bit, however the rows are cut into blocks."""
        rows = self.pool._replace(weight=self.pool.weight * self.share)
        return replace(self.summary.steady().problem(rows), total=None)

    def exact(self, problem: Problem) -> Problem:
        """The pool with the scaling and weights of `rows`, to which the weights of a model trained on these belong."""
        known = self.summary
        return replace(
            problem, scaling=known.scaling, column_scaling=known.column_scaling, class_weight=known.class_weight
        )

    def rows(self, owner: int | None, intercept: bool) -> ManyRows:
        """All rows. Class ``owner`` of two owns the prototypes, or every class does (None)."""
        return ManyRows(self.source, View(self.summary, owner, intercept))


# --- questions --------------------------------------------------------------------------------------------------------


def sums_of_rows(block: Block, view: View, W: np.ndarray, rule: Rule, gradient: bool) -> Sums:
    """The part of a block in `ManyRows.sums`."""
    rows = view.rows(block)
    return rows.sums(W, rows.labels.roles(rule.assign(block, view, rows)), gradient=gradient)


def curvature_of_rows(block: Block, view: View, theta: np.ndarray, column: np.ndarray, rule: Rule) -> Curvature:
    """The part of a block in `ManyRows.curvature`."""
    rows = view.rows(block)
    return rows.curvature(theta, column, rows.labels.roles(rule.assign(block, view, rows)))


def count_rows(block: Block, rule: Rule) -> tuple[np.ndarray]:
    """The rows of a block that belong to each prototype."""
    return (rule.assign(block).sizes(),)


def best_prototypes(rows: TrainingRows, W: np.ndarray, owner: np.ndarray) -> np.ndarray:
    """The prototype of its class that scores each row best, or `NO_PROTOTYPE` if its class has none."""
    if isinstance(rows, DenseRows):
        return rows.place(W, owner)
    code = rows.labels.code
    scores = np.where(owner[None, :] == code[:, None], rows.scores(W), -np.inf)
    return np.where(np.isin(code, owner), scores.argmax(axis=1), NO_PROTOTYPE)
