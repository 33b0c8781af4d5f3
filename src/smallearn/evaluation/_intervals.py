"""Confidence intervals: Wilson's for a proportion; else the bootstrap, and normal approximations for many rows."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import stats

LEVEL = 0.95
RESAMPLES, MANY_ROWS = 1000, 5000  # of the bootstrap; with more rows a fifth of the resamples will do
MOST_RESAMPLED = 50_000  # rows; with more the bootstrap takes long and says what a normal approximation says


@dataclass(frozen=True)
class Interval:
    """An estimate with its 95% confidence interval.

    Parameters
    ----------
    value : float
        The estimate.
    low, high : float
        The ends of the interval.

    Examples
    --------
    >>> from smallearn.evaluation import Interval
    >>> print(f"{Interval(value=0.947, low=0.903, high=0.972):.1%}")
    94.7% (90.3% to 97.2%)
    """

    value: float
    low: float
    high: float

    def __format__(self, spec: str) -> str:
        """``94.7% (90.3% to 97.2%)``; ``spec`` formats each of the three numbers, by default in percent."""
        spec = spec or ".1%"
        return f"{self.value:{spec}} ({self.low:{spec}} to {self.high:{spec}})"


def wilson(hits: int, n: int) -> Interval:
    """Return a proportion with its 95% Wilson score interval.

    The interval stays within 0 and 1 and is accurate for small ``n``.

    Parameters
    ----------
    hits : int
        The number of successes.
    n : int
        The number of trials, at least 1.

    Returns
    -------
    Interval
        ``hits / n`` and its interval.

    Examples
    --------
    >>> from smallearn.evaluation import wilson
    >>> print(f"{wilson(3, 3):.1%}")
    100.0% (43.9% to 100.0%)
    """
    interval = stats.binomtest(hits, n).proportion_ci(LEVEL, method="wilson")
    return Interval(value=hits / n, low=float(interval.low), high=float(interval.high))


def normal(value: float, spread: float, highest: float = np.inf) -> Interval:
    """An estimate that varies about the truth with a standard deviation of ``spread``, and is 0 to ``highest``."""
    width = float(stats.norm.ppf(0.5 + LEVEL / 2)) * spread
    return Interval(value=value, low=max(value - width, 0.0), high=min(value + width, highest))


def bootstrap(code: np.ndarray, rng: np.random.Generator, statistic: Callable[[np.ndarray], float]) -> Interval:
    """The percentile bootstrap of ``statistic(rows)``, stratified by class so that every resample has every class."""
    classes = [np.flatnonzero(code == c) for c in np.unique(code)]
    n_resamples = RESAMPLES if len(code) <= MANY_ROWS else RESAMPLES // 5
    resampled = [
        statistic(np.concatenate([rng.choice(members, len(members)) for members in classes]))
        for _ in range(n_resamples)
    ]
    low, high = np.quantile(resampled, [0.5 - LEVEL / 2, 0.5 + LEVEL / 2])
    return Interval(value=statistic(np.arange(len(code))), low=float(low), high=float(high))
