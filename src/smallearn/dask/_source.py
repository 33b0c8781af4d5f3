"""`DaskSource`: the rows of a data set on a cluster, encoded once and kept there, in blocks."""

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate
from typing import Any

import numpy as np
from sklearn.utils.multiclass import check_classification_targets

from smallearn._learn.data import source as sources
from smallearn._learn.data.encoding import merge_categories
from smallearn._learn.data.source import Answer, Block
from smallearn._learn.data.table import Table
from smallearn._run.progress import passes
from smallearn.dask._cluster import Cluster
from smallearn.dask._partitions import (
    Encoding,
    Facts,
    Partitions,
    Reading,
    check_alike,
    encode,
    in_memory,
    is_delayed_list,
    stack,
    survey,
)
from smallearn.model import SMaLLModel, Term
from smallearn.model._fingerprint import combined, hash_rows, sum_hashes
from smallearn.model._parts import DataFacts


@dataclass(frozen=True, eq=False)
class Survey:
    """What is known of the partitions, before they are encoded."""

    partitions: Partitions
    reading: Reading
    facts: list[Facts]

    @classmethod
    def of(cls, partitions: Partitions, categorical_features: Any) -> "Survey":
        """Ask every partition what it holds."""
        reading, parts, cluster = partitions.reading(categorical_features), partitions.parts, partitions.cluster
        arguments = [(number, reading) for number in range(len(parts))]
        return cls(partitions, reading, check_alike(cluster.compute(cluster.tasks(survey, parts, arguments))))

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return sum(part.n_rows for part in self.facts)

    @property
    def n_kept(self) -> int:
        """The number of rows of positive weight."""
        return sum(part.n_kept for part in self.facts)

    @property
    def n_features(self) -> int:
        """The number of features."""
        return len(self.facts[0].columns)

    @property
    def is_sparse(self) -> bool:
        """Whether the rows are sparse."""
        return self.facts[0].head is None

    @property
    def width(self) -> int:
        """About how many numbers a row has, as `width_of`."""
        stored = sum(part.n_stored for part in self.facts)
        return stored // max(1, self.n_rows) + 1 if self.is_sparse else self.n_features

    def load(self) -> tuple[Any, Any, Any]:
        """All rows, in memory: X, y and weights."""
        given = [self.partitions.X, self.partitions.y, self.partitions.weight]
        flat = [one for values in given for one in (values if is_delayed_list(values) else [values])]
        lazy = [one for one in flat if hasattr(one, "__dask_graph__")]
        computed = iter(self.partitions.cluster.compute(lazy))
        loaded: list[Any] = []
        for values in given:
            if is_delayed_list(values):
                loaded.append(stack([next(computed) for _ in values]))
            else:
                loaded.append(next(computed) if hasattr(values, "__dask_graph__") else values)
        return in_memory(loaded, self.reading)

    @cached_property
    def classes(self) -> np.ndarray:
        """The classes of rows of positive weight, sorted."""
        labels = [part.labels for part in self.facts if len(part.labels)]
        if len({isinstance(label, str) for part in labels for label in part.tolist()}) > 1:
            raise ValueError("y has text in some rows and numbers in others; its labels must be alike.")
        classes = np.unique(np.concatenate(labels))
        with warnings.catch_warnings():  # that there are as many classes as labels
            warnings.simplefilter("ignore")
            check_classification_targets(classes)
        if len(classes) < 2:
            label = classes.tolist()[0]
            raise ValueError(f"y has one class, {label!r}, among the rows of positive weight; two classes are needed.")
        return classes

    def source(self) -> "DaskSource":
        """Encode the rows and keep them on the workers."""
        seen = [part.seen for part in self.facts if part.seen is not None]
        categories = merge_categories(seen, self.facts[0].columns) if seen else None
        dtype = np.result_type(*(part.dtype for part in self.facts))
        encoding = Encoding(self.reading, categories, dtype, self.classes)
        firsts = [0, *accumulate(part.n_rows for part in self.facts)]
        groups, cluster = self._groups(), self.partitions.cluster
        data = [[self.partitions.parts[i] for i in group] for group in groups]
        arguments = [(encoding, [firsts[i] for i in group]) for group in groups]
        return DaskSource(
            classes=self.classes,
            categories=categories or {},
            n_rows=self.n_rows,
            n_features=self.n_features,
            n_kept=self.n_kept,
            target=self.reading.target,
            _cluster=cluster,
            _blocks=cluster.keep(cluster.tasks(encode, data, arguments)),
        )

    def _groups(self) -> list[list[int]]:
        """The partitions of each block. Small ones share a block, for every task takes some milliseconds more than its
        work; those without rows that count are left out. The blocks depend on the partitions alone."""
        groups: list[list[int]] = []
        room = 0
        for number, part in enumerate(self.facts):
            if part.n_kept == 0:
                continue
            if part.n_stored > room:
                groups.append([])
                room = sources.BLOCK_ENTRIES
            groups[-1].append(number)
            room -= part.n_stored
        return groups


@dataclass(eq=False)
class DaskSource:
    """The `Source` of rows on a cluster."""

    classes: np.ndarray
    categories: Mapping[int, Sequence[Any]]
    n_rows: int
    n_features: int
    n_kept: int
    target: str | None
    _cluster: Cluster
    _blocks: list[Any]

    def map(self, question: Callable[..., Answer], *arguments: Any) -> Iterator[Answer]:
        """``question(block, *arguments)`` for every block, in order."""
        answers = self._answers(question, arguments)
        yield from passes().through(answers, self.n_rows, len(self._blocks))

    def _answers(self, question: Callable[..., Answer], arguments: tuple) -> Iterator[Answer]:
        yield from self._cluster.ask(question, self._blocks, arguments)

    def remember(self, model: SMaLLModel) -> SMaLLModel:
        """The model with a fingerprint of all rows; as it was if some have no weight."""
        if self.n_kept < self.n_rows:
            return model
        answers = list(self.map(rows_of_model, model.features, self.classes, self.categories))
        counts = np.sum([count for _, count in answers], axis=0)
        sums = np.array([hashed for hashed, _ in answers], dtype=np.uint64).sum(axis=0)
        facts = DataFacts(fingerprint=combined(sums), class_counts=tuple(counts.tolist()), target=self.target)
        return replace(model, data=facts)


def rows_of_model(
    block: Block, features: Sequence[Term], classes: np.ndarray, categories: Mapping[int, Sequence[Any]]
) -> tuple[np.ndarray, np.ndarray]:
    """Sums of the hashes of the rows of a block, by the features of a model, and the number of rows of each class."""
    X = _decoded(block, classes, categories) if categories else block.X
    counts = np.bincount(block.code, minlength=len(classes))
    return sum_hashes(hash_rows(features, block.X.shape[1], X, block.code)), counts


def _decoded(block: Block, classes: np.ndarray, categories: Mapping[int, Sequence[Any]]) -> Table:
    names = np.array([f"x{l}" for l in range(block.X.shape[1])], dtype=object)
    return Table(block.X, block.code, classes, feature_names=names, target="", categories=categories)
