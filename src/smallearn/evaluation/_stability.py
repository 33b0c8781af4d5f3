"""The population stability index: how far the distribution of a score or feature has moved, and how far by chance."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from scipy import stats

from smallearn._text import percent, show_category

MODERATE, LARGE = 0.1, 0.25  # of the index: the usual reading
CHANCE = 0.95  # of samples of the same population have a lower index than `Drift.by_chance`
EMPTY = 0.5  # rows, in place of none, in a bin that is empty before or now
STABLE, SHIFT, LARGE_SHIFT = "stable", "moderate shift", "large shift"


@dataclass(frozen=True)
class Bin:
    """One bin of a histogram, in training and now.

    Parameters
    ----------
    text : str
        The values in it: ``"above 40, up to 55"``, ``"'red'"``, ``"missing"``.
    before, now : float
        The share of the training rows and of the new rows.

    Examples
    --------
    >>> from smallearn.evaluation import Bin
    >>> Bin(text="missing", before=0.02, now=0.31).now
    0.31
    """

    text: str
    before: float
    now: float


@dataclass(frozen=True)
class Drift:
    """How far the distribution of a score or of a feature has moved since training.

    Parameters
    ----------
    name : str
        The feature, ``"score"``, or with more than two classes ``"score of 'red'"``.
    is_score : bool
        Whether it is a score.
    n_rows : int
        The number of new rows.
    psi : float
        The population stability index, ``Σ (now - before) · ln(now / before)`` over the bins. A missing value has a bin
        of its own, and so have new categories. A bin that is empty before or now counts half a row.
    by_chance : float
        What 95% of samples of this size from the training rows stay below.
    bins : tuple of Bin
        The histogram, with the outer bins open.
    outside : float or None
        The share of rows beyond the smallest and largest training value; None for categories.
    new_categories : tuple of (category, int)
        Categories that no training row has, with their rows, the most common first; at most ten.
    n_new : int
        The number of rows with new categories.

    Examples
    --------
    >>> from smallearn.evaluation import Bin, Drift
    >>> bins = (Bin("up to 40", 0.5, 0.8), Bin("above 40", 0.5, 0.2))
    >>> Drift("age", False, 1000, 0.416, 0.006, bins, outside=0.0, new_categories=(), n_new=0).reading
    'large shift'
    """

    name: str
    is_score: bool
    n_rows: int
    psi: float
    by_chance: float
    bins: tuple[Bin, ...]
    outside: float | None
    new_categories: tuple[tuple[Any, int], ...]
    n_new: int

    @property
    def reading(self) -> str:
        """What the index says.

        Returns
        -------
        str
            ``"stable"`` below 0.1 or where chance explains the index, ``"moderate shift"`` up to 0.25, else
            ``"large shift"``.
        """
        return reading_of(self.psi, self.by_chance)

    @property
    def missing(self) -> tuple[float, float]:
        """The share of rows without a value, in training and now.

        Returns
        -------
        tuple of (float, float)
        """
        found = next((one for one in self.bins if one.text == MISSING), None)
        return (0.0, 0.0) if found is None else (found.before, found.now)

    def exceeds(self, limit: float) -> bool:
        """Whether the index is above a limit, and above what chance explains.

        Parameters
        ----------
        limit : float
            A value of the index.

        Returns
        -------
        bool
        """
        return self.psi > max(limit, self.by_chance)

    def moved(self, most: int = 2) -> tuple[Bin, ...]:
        """The bins that add most to the index.

        Parameters
        ----------
        most : int, default=2
            How many.

        Returns
        -------
        tuple of Bin
            The largest change first.
        """
        changed = [one for one in self.bins if one.before != one.now]
        tiny = EMPTY / max(1, self.n_rows)
        return tuple(sorted(changed, key=lambda one: -float(_parts(one.before, one.now, tiny)))[:most])


MISSING, NEW, OTHER, ANY = "missing", "new categories", "other categories", "any value"


def reading_of(psi: float, by_chance: float) -> str:
    """The usual reading of an index, unless chance explains it."""
    if psi < MODERATE or psi <= by_chance:
        return STABLE
    return SHIFT if psi <= LARGE else LARGE_SHIFT


def stability(before: np.ndarray, now: np.ndarray, n_before: int) -> tuple[float, float]:
    """The index of two histograms over the same bins, and what chance explains.

    ``before`` are weights, which stand for ``n_before`` rows. The index of samples of one population is distributed as
    ``(1 / n_before + 1 / n_now) · χ²`` with one degree of freedom fewer than bins, if these have several rows each.
    """
    n_now, used = float(now.sum()), (before > 0.0) | (now > 0.0)
    if n_now == 0.0 or used.sum() < 2:
        return 0.0, 0.0
    p, q = before[used] / before.sum(), now[used] / n_now
    p = np.where(p > 0.0, p, EMPTY / n_before)
    q = np.where(q > 0.0, q, EMPTY / n_now)
    limit = stats.chi2.ppf(CHANCE, int(used.sum()) - 1) * (1.0 / n_before + 1.0 / n_now)
    return float(np.sum((q - p) * np.log(q / p))), float(limit)


def _parts(before: float, now: float, tiny: float) -> float:
    p, q = max(before, tiny), max(now, tiny)
    return float((q - p) * np.log(q / p))


def texts_of_numbers(edges: Sequence[float]) -> list[str]:
    """The values of each bin; the outer ones are open."""
    cuts = [f"{cut:.6g}" for cut in edges[1:-1]]
    if not cuts:
        return [ANY] if edges else []
    between = [f"above {low}, up to {high}" for low, high in pairwise(cuts)]
    return [f"up to {cuts[0]}", *between, f"above {cuts[-1]}"]


def texts_of_probabilities(edges: Sequence[float]) -> list[str]:
    """The same for log-odds, as probabilities."""
    cuts = [percent(float(1.0 / (1.0 + np.exp(-np.clip(cut, -700.0, 700.0))))) for cut in edges[1:-1]]
    if not cuts:
        return [ANY] if edges else []
    between = [f"{low} to {high}" for low, high in pairwise(cuts)]
    return [f"up to {cuts[0]}", *between, f"above {cuts[-1]}"]


def texts_of_categories(categories: Sequence[Any]) -> list[str]:
    """The category of each bin."""
    return [show_category(value) for value in categories]
