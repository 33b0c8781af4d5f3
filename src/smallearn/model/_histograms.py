"""Histograms of the training rows that a model keeps, against which new rows are compared. Frozen data, no rows."""

import math
from dataclasses import dataclass
from operator import le, lt

from smallearn.model._limits import LARGEST
from smallearn.model._term import Category


@dataclass(frozen=True)
class Histogram:
    """How the score, or a feature, was distributed over the training rows.

    Parameters
    ----------
    counts : tuple of float
        The weight of the rows in each bin; without weights their number.
    edges : tuple of float or None, default=None
        Of numbers: the smallest value, the cuts between bins, the largest value. A value that equals a cut is in the
        bin below it. Empty if no row has a value.
    categories : tuple of str, int, float or bool, or None, default=None
        Of categories: the one of each bin.
    missing : float, default=0.0
        The weight of the rows without a value.
    other : float, default=0.0
        The weight of the rows with categories that have no bin, because they are too many.
    feature : int or None, default=None
        The position of the feature in the training data; None for a score.

    Examples
    --------
    >>> from smallearn.model import Histogram
    >>> ages = Histogram(counts=(30.0, 10.0), edges=(18.0, 40.5, 90.0), missing=2.0, feature=0)
    >>> ages.total, ages.cuts
    (42.0, (40.5,))
    """

    counts: tuple[float, ...]
    edges: tuple[float, ...] | None = None
    categories: tuple[Category, ...] | None = None
    missing: float = 0.0
    other: float = 0.0
    feature: int | None = None

    def __post_init__(self):
        if (self.edges is None) == (self.categories is None):
            raise ValueError("A histogram has either edges or categories.")
        bins = _n_bins(self.edges) if self.categories is None else len(self.categories)
        if len(self.counts) != bins:
            raise ValueError(f"A histogram of {bins} bins has as many counts, not {len(self.counts)}.")
        if not all(0.0 <= count < math.inf for count in (*self.counts, self.missing, self.other)):
            raise ValueError("The counts of a histogram are finite and not below 0.")
        if sum((*self.counts, self.missing, self.other)) > LARGEST:
            raise ValueError(f"The counts of a histogram add up to at most {LARGEST:g}.")
        if any(abs(edge) > LARGEST for edge in self.edges or ()):
            raise ValueError(f"The edges of a histogram are at most {LARGEST:g} in size.")
        if self.edges:
            cuts = self.edges[1:-1]
            if not (all(map(le, self.edges, self.edges[1:])) and all(map(lt, cuts, cuts[1:]))):
                raise ValueError("The edges of a histogram ascend, and its cuts differ.")
        if self.categories is not None and len(set(self.categories)) < len(self.categories):
            raise ValueError("A histogram has a category twice.")

    @property
    def cuts(self) -> tuple[float, ...]:
        """The numbers between two bins.

        Returns
        -------
        tuple of float
            Ascending; empty for categories.
        """
        return self.edges[1:-1] if self.edges else ()

    @property
    def total(self) -> float:
        """The weight of all rows.

        Returns
        -------
        float
            With the rows without a value.
        """
        return math.fsum((*self.counts, self.missing, self.other))


@dataclass(frozen=True)
class Reference:
    """What the training rows looked like: histograms, from which no row can be read.

    Parameters
    ----------
    n_rows : int
        The number of rows that were counted: all training rows, or of many a sample.
    scores : tuple of Histogram
        With two classes the log-odds of ``classes[1]``; with more those of each class against the others.
    predicted : tuple of float
        The weight of the rows predicted to be of each class.
    features : tuple of Histogram
        The features in use, in their order, as far as they could be read.
    scored_by, decided_by : str
        Hashes of the scores, and of these with the threshold or costs. A model that was changed since then is noticed.

    Examples
    --------
    >>> from smallearn import SMaLLClassifier
    >>> classifier = SMaLLClassifier(1, 1).fit([[20.0], [30.0], [50.0], [60.0]], ["no", "no", "yes", "yes"])
    >>> classifier.model_.reference.features[0].edges
    (20.0, 25.0, 40.0, 55.0, 60.0)
    """

    n_rows: int
    scores: tuple[Histogram, ...]
    predicted: tuple[float, ...]
    features: tuple[Histogram, ...]
    scored_by: str
    decided_by: str


def _n_bins(edges: tuple[float, ...] | None) -> int:
    return max(0, len(edges) - 1) if edges else 0
