"""What is counted of new rows, block by block, for `monitor`: histograms over the bins of the model's reference."""

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np

from smallearn._text import show
from smallearn.evaluation._stability import (
    ANY,
    MISSING,
    NEW,
    OTHER,
    Bin,
    Drift,
    stability,
    texts_of_categories,
    texts_of_numbers,
    texts_of_probabilities,
)
from smallearn.model import Histogram, SMaLLModel
from smallearn.model._reference import bins_of_categories, bins_of_numbers, hashes_of, log_odds
from smallearn.model._rows import Rows

MOST_NEW, SHOWN_NEW = 1000, 10  # new categories that are counted one by one, and that are told
AFTER = 3  # bins after those of the histogram: missing, new categories, other categories


@dataclass(frozen=True)
class Seen:
    """The rows of some periods."""

    n_rows: int
    scores: tuple[Drift, ...]
    features: tuple[Drift, ...]
    predicted: tuple[int, ...]
    confusion: np.ndarray


class _Tally:
    """The counts of one score or feature: for each period a row of bins, with the rows outside the range at the end."""

    def __init__(self, name: str, histogram: Histogram):
        self.name, self.histogram = name, histogram
        self.n_bins = len(histogram.counts)
        self.counts = np.zeros((0, self.n_bins + AFTER), dtype=np.int64)
        self.outside = np.zeros(0, dtype=np.int64)
        self.new: dict[int, Counter] = {}

    def grow(self, n_periods: int) -> None:
        """Make room for further periods."""
        more = n_periods - len(self.counts)
        if more:
            self.counts = np.vstack([self.counts, np.zeros((more, self.counts.shape[1]), dtype=np.int64)])
            self.outside = np.concatenate([self.outside, np.zeros(more, dtype=np.int64)])

    def add_numbers(self, values: np.ndarray, missing: np.ndarray | None, period: np.ndarray) -> None:
        bins = bins_of_numbers(self.histogram, values)
        edges = self.histogram.edges
        outside = np.zeros(len(values), dtype=bool)
        if edges:
            with np.errstate(invalid="ignore"):
                outside = (values < edges[0]) | (values > edges[-1])
        else:
            bins = np.full(len(values), self.n_bins + 2)  # no training row has a value
        if missing is not None and missing.any():
            bins = np.where(missing, self.n_bins, bins)
        self._count(bins, period)
        self.outside += np.bincount(period[outside], minlength=len(self.outside))

    def add_categories(self, values: np.ndarray, missing: np.ndarray, period: np.ndarray) -> None:
        bins = np.full(len(values), self.n_bins)
        there = np.flatnonzero(~missing)
        found = bins_of_categories(self.histogram, values[there].tolist())
        unlisted = found < 0
        found[unlisted] = self.n_bins + (2 if self.histogram.other else 1)
        bins[there] = found
        self._count(bins, period)
        if not self.histogram.other:
            for value, own in zip(values[there[unlisted]].tolist(), period[there[unlisted]].tolist(), strict=True):
                counter = self.new.setdefault(own, Counter())
                if value in counter or len(counter) < MOST_NEW:
                    counter[value] += 1

    def _count(self, bins: np.ndarray, period: np.ndarray) -> None:
        width = self.counts.shape[1]
        self.counts += np.bincount(period * width + bins, minlength=self.counts.size).reshape(self.counts.shape)

    def drift(self, periods: list[int], n_reference: int) -> Drift:
        """How far the rows of some periods have moved."""
        known, now = self.histogram, self.counts[periods].sum(axis=0)
        before = np.array([*known.counts, known.missing, 0.0, known.other])
        psi, by_chance = stability(before, now, n_reference)
        n_rows, total = int(now.sum()), before.sum()
        new = sum((self.new.get(one, Counter()) for one in periods), Counter())
        is_score, numbers = known.feature is None, known.edges is not None
        bins = zip(self._texts(), before / total, now / max(1, n_rows), strict=True)
        shown = [Bin(text, float(p), float(q)) for text, p, q in bins]
        return Drift(
            name=self.name,
            is_score=is_score,
            n_rows=n_rows,
            psi=psi,
            by_chance=by_chance,
            bins=tuple(one for one in shown if one.before or one.now),
            outside=int(self.outside[periods].sum()) / max(1, n_rows) if numbers and not is_score else None,
            new_categories=tuple(sorted(new.items(), key=lambda one: (-one[1], str(one[0])))[:SHOWN_NEW]),
            n_new=int(now[self.n_bins + 1]),
        )

    def _texts(self) -> list[str]:
        known = self.histogram
        if known.categories is not None:
            return [*texts_of_categories(known.categories), MISSING, NEW, OTHER]
        texts = texts_of_probabilities if known.feature is None else texts_of_numbers
        return [*texts(known.edges or ()), MISSING, NEW, ANY]


class Watch:
    """Counts of the rows of each period."""

    FEW = 30  # rows of a period, below which a note says so

    def __init__(self, model: SMaLLModel):
        reference = model.reference
        if reference is None:
            raise ValueError(
                "The model has no histograms of its training rows, with which new rows are compared. Train it again "
                "with this version of smallearn, or take them from a table: model.with_reference(X)."
            )
        self._model, self._n_reference = model, reference.n_rows
        scored_by, decided_by = hashes_of(model)
        self.scores_as_trained = scored_by == reference.scored_by
        self.decides_as_trained = decided_by == reference.decided_by
        several = len(model.classes) > 2
        names = [f"score of {show(label)}" if several else "score" for label in model.classes]
        known = {one.feature: one for one in reference.features}
        self._scores = [_Tally(*pair) for pair in zip(names, reference.scores, strict=False) if self.scores_as_trained]
        terms = [term for term in model.features if term.feature in known]
        self._features = [(term, _Tally(term.label, known[term.feature])) for term in terms]
        self._place: dict[Any, int] = {}
        self._n_rows = np.zeros(0, dtype=np.int64)
        self._predicted = np.zeros((0, len(model.classes)), dtype=np.int64)
        self._confusion = np.zeros((0, len(model.classes), len(model.classes)), dtype=np.int64)

    @property
    def periods(self) -> list[Any]:
        """The periods so far; None for rows without one."""
        return list(self._place)

    @property
    def n_small(self) -> int:
        """The number of periods with few rows."""
        return 0 if self.periods == [None] else int(np.sum(self._n_rows < self.FEW))

    def add(self, rows: Rows, code: np.ndarray | None, periods: np.ndarray | None) -> None:
        """Add some rows."""
        model = self._model
        period = self._places(rows.n_rows, periods)
        z = model.scores(rows)
        for tally, values in zip(self._scores, log_odds(model, z).T, strict=bool(self._scores)):
            tally.add_numbers(values, None, period)
        for term, tally in self._features:
            column = rows.column(term)
            if tally.histogram.edges is not None:
                tally.add_numbers(column.numbers, column.missing, period)
            else:
                tally.add_categories(column.values, column.missing, period)
        predicted, n_classes = model.decide(z), len(model.classes)
        shape = self._confusion.shape
        self._n_rows += np.bincount(period, minlength=shape[0])
        cells = period * n_classes + predicted
        self._predicted += np.bincount(cells, minlength=shape[0] * n_classes).reshape(shape[:2])
        if code is not None:
            there = code >= 0
            cells = (period[there] * n_classes + code[there]) * n_classes + predicted[there]
            self._confusion += np.bincount(cells, minlength=self._confusion.size).reshape(shape)

    def _places(self, n_rows: int, periods: np.ndarray | None) -> np.ndarray:
        """The position of each row's period."""
        values = [None] * n_rows if periods is None else periods.tolist()
        found = [self._place.setdefault(value, len(self._place)) for value in values]
        more = len(self._place) - len(self._n_rows)
        if more:
            for tally in (*self._scores, *(tally for _, tally in self._features)):
                tally.grow(len(self._place))
            self._n_rows, self._predicted, self._confusion = (
                np.concatenate([counts, np.zeros((more, *counts.shape[1:]), dtype=np.int64)])
                for counts in (self._n_rows, self._predicted, self._confusion)
            )
        return np.array(found, dtype=np.int64)

    def seen(self, periods: Any) -> Seen:
        """The rows of some periods together."""
        at = [self._place[name] for name in periods]
        return Seen(
            n_rows=int(self._n_rows[at].sum()),
            scores=tuple(tally.drift(at, self._n_reference) for tally in self._scores),
            features=tuple(tally.drift(at, self._n_reference) for _, tally in self._features),
            predicted=tuple(self._predicted[at].sum(axis=0).tolist()),
            confusion=self._confusion[at].sum(axis=0),
        )
