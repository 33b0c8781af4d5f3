"""The decision threshold that a score asks for, of two classes.

A score that depends on the decision (f1, balanced accuracy) is a function of the confusion counts. These are kept for
a grid of thresholds, so that the best threshold on some folds and the score at it on others are sums and look-ups.
"""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy import special
from sklearn import metrics

from smallearn._learn.data.literals import cuts_between

STEP, WIDEST = 0.05, 12.0  # of the grid, in log-odds
GRID = np.arange(-round(WIDEST / STEP), round(WIDEST / STEP) + 1) * STEP
MOST_CALLS = 32  # thresholds that a function which takes one at a time is tried at
TIED = 1e-9  # scores that are so close are equal


SHARES = (
    *(metrics.f1_score, metrics.fbeta_score, metrics.precision_score, metrics.recall_score, metrics.jaccard_score),
    *(metrics.balanced_accuracy_score, metrics.average_precision_score, metrics.roc_auc_score),
)


class Confusion(NamedTuple):
    """The weight of the rows by true class (n: the first, p: the second) and by whether the prediction is right."""

    tn: np.ndarray
    fp: np.ndarray
    fn: np.ndarray
    tp: np.ndarray

    @property
    def turned(self) -> "Confusion":
        """The same with the first class as the positive one."""
        return Confusion(tn=self.tp, fp=self.fn, fn=self.fp, tp=self.tn)


Metric = Callable[[Confusion], np.ndarray]


def counts_above(margin: np.ndarray, code: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """The weight of each class (2 × thresholds) with log-odds above each threshold of the grid, after its total."""
    n_below = np.clip(np.ceil((margin - GRID[0]) / STEP), 0, len(GRID)).astype(np.intp)
    n = len(GRID) + 1
    mass = np.bincount(n_below + n * code, weights=weight, minlength=2 * n).reshape(2, n)
    return mass[:, ::-1].cumsum(axis=1)[:, ::-1]


def confusion(above: np.ndarray) -> Confusion:
    """The counts at each threshold, from those of `counts_above` (… × 2 × thresholds)."""
    total, over = above[..., :1], above[..., 1:]
    return Confusion(
        tn=total[..., 0, :] - over[..., 0, :],
        fp=over[..., 0, :],
        fn=total[..., 1, :] - over[..., 1, :],
        tp=over[..., 1, :],
    )


@dataclass(frozen=True)
class Sweep:
    """A score as a function of confusion counts; ``tries`` is the number of thresholds to try, None for all."""

    metric: Metric
    tries: int | None = None

    def best(self, above: np.ndarray) -> np.ndarray:
        """The position in the grid of the best threshold for each of some counts (… × 2 × thresholds).

        It is the middle of the first thresholds that are best together.
        """
        first, last = self._best_together(above)
        return (first + last + 1) // 2

    def _best_together(self, above: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The first and the last position of the first thresholds that are best together."""
        at = self._positions(above)
        score = self.metric(confusion(above[..., np.concatenate([[0], 1 + at])]))
        best = score >= score.max(axis=-1, keepdims=True) - TIED
        first = best.argmax(axis=-1)
        later = ~best & (np.arange(len(at)) > first[..., None])
        end = np.where(later.any(axis=-1), later.argmax(axis=-1), len(at))
        return at[first], at[end - 1]

    def across(self, folds: list[np.ndarray]) -> np.ndarray:
        """The score on each fold at the threshold that is best on the others; with a single fold, on that one."""
        above = np.stack(folds)
        others = above.sum(axis=0) - above if len(folds) > 1 else above
        chosen = 1 + self.best(np.maximum(others, 0.0))
        at = np.stack([np.zeros_like(chosen), chosen], axis=-1)[:, None, :]
        return self.metric(confusion(np.take_along_axis(above, np.broadcast_to(at, (len(folds), 2, 2)), axis=-1)))[:, 0]

    def threshold(self, folds: list[np.ndarray]) -> float:
        """The threshold that is best on all folds, as a probability with few digits."""
        first, last = (int(position) for position in self._best_together(np.sum(folds, axis=0)))
        beyond = 0.5 * STEP if first == last else 0.0
        low, high = special.expit(np.array([[GRID[first] - beyond], [GRID[last] + beyond]]))
        return float(cuts_between(low, high, whole=False)[0])

    def _positions(self, above: np.ndarray) -> np.ndarray:
        """The thresholds to try: all, or some with about as many rows between each two."""
        if self.tries is None:
            return np.arange(len(GRID))
        share = above.reshape(-1, above.shape[-1]).sum(axis=0)[1:]
        levels = np.linspace(share[0], share[-1], self.tries)
        return np.unique([0, *np.searchsorted(-share, -levels), len(GRID) // 2]).clip(0, len(GRID) - 1)


def sweep_of(scorer: Any, classes: np.ndarray) -> Sweep | None:
    """The score of a scorer of scikit-learn's that depends on predictions alone; None for any other."""
    function, response = getattr(scorer, "_score_func", None), getattr(scorer, "_response_method", None)
    if function is None or response not in ("predict", ("predict",)) or function is metrics.accuracy_score:
        return None
    options, sign = dict(scorer._kwargs), float(scorer._sign)
    known = _known(function, options, classes.tolist())
    if known is not None:
        return Sweep(partial(_signed, known, sign))
    called = partial(_called, partial(function, **options), classes, takes_weights(function))
    return Sweep(partial(_signed, called, sign), tries=MOST_CALLS)


def takes_weights(function: Any) -> bool:
    """Whether a metric is one of scikit-learn's that takes `sample_weight`."""
    own = getattr(function, "__module__", "") or ""
    return own.startswith("sklearn.metrics") and "sample_weight" in inspect.signature(function).parameters


def scorer_name(scorer: Any) -> str:
    """``f1`` for a scorer of scikit-learn's `f1_score`; other functions have no name that tells much."""
    function = getattr(scorer, "_score_func", None)
    own = (getattr(function, "__module__", "") or "").startswith("sklearn.metrics")
    if function is None or not own:
        return "own scorer"
    return ("neg_" if scorer._sign < 0 else "") + function.__name__.removesuffix("_score")


def is_share(scorer: Any) -> bool:
    """Whether a scorer is one of scikit-learn's whose values are from 0 to 1, the higher the better."""
    return getattr(scorer, "_score_func", None) in SHARES and scorer._sign > 0


# --- scores of confusion counts --------------------------------------------------------------------------------------


def _known(function: Any, options: dict[str, Any], classes: list) -> Metric | None:
    """A usual metric of scikit-learn's for many thresholds at once."""
    if function is metrics.balanced_accuracy_score and not options:
        return _balanced_accuracy
    if function is metrics.matthews_corrcoef and not options:
        return _matthews
    by_label: dict[Any, tuple[Metric, set[str]]] = {
        metrics.f1_score: (_f_beta, set()),
        metrics.fbeta_score: (partial(_f_beta, beta=options.get("beta", 1.0)), {"beta"}),
        metrics.precision_score: (_precision, set()),
        metrics.recall_score: (_recall, set()),
        metrics.jaccard_score: (_jaccard, set()),
    }
    average, positive = options.get("average", "binary"), options.get("pos_label", 1)
    if options.get("zero_division") in ("warn", 0):  # 0 divided by 0 is then 0, as here
        options = {name: value for name, value in options.items() if name != "zero_division"}
    if function not in by_label or not set(options) <= {"average", "pos_label"} | by_label[function][1]:
        return None
    metric = by_label[function][0]
    if average == "binary":
        return partial(_turned, metric) if positive == classes[0] else metric if positive == classes[1] else None
    return {"macro": partial(_macro, metric), "weighted": partial(_weighted, metric)}.get(average)


def _called(function: Any, classes: np.ndarray, weighted: bool, counts: Confusion) -> np.ndarray:
    """Any metric, one threshold after the other: on four weighted rows, or on as many rows as are counted."""
    truth, predicted = classes[[0, 0, 1, 1]], classes[[0, 1, 0, 1]]
    values = np.empty(counts.tn.shape)
    for at in np.ndindex(values.shape):
        mass = np.array([count[at] for count in counts])
        if weighted:
            some = mass > 0.0
            values[at] = function(truth[some], predicted[some], sample_weight=mass[some])
        else:
            rows = np.repeat(np.arange(4), np.rint(mass).astype(np.int64))
            values[at] = function(truth[rows], predicted[rows])
    return values


def _ratio(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    """Their ratio; 0 if both are 0."""
    return np.divide(part, whole, out=np.zeros(np.shape(whole)), where=np.asarray(whole) > 0.0)


def _signed(metric: Metric, sign: float, counts: Confusion) -> np.ndarray:
    return sign * metric(counts)


def _turned(metric: Metric, counts: Confusion) -> np.ndarray:
    return metric(counts.turned)


def _macro(metric: Metric, counts: Confusion) -> np.ndarray:
    return 0.5 * (metric(counts) + metric(counts.turned))


def _weighted(metric: Metric, counts: Confusion) -> np.ndarray:
    first, second = counts.tn + counts.fp, counts.fn + counts.tp
    return _ratio(first * metric(counts.turned) + second * metric(counts), first + second)


def _f_beta(counts: Confusion, beta: float = 1.0) -> np.ndarray:
    hits = (1.0 + beta * beta) * counts.tp
    return _ratio(hits, hits + beta * beta * counts.fn + counts.fp)


def _precision(counts: Confusion) -> np.ndarray:
    return _ratio(counts.tp, counts.tp + counts.fp)


def _recall(counts: Confusion) -> np.ndarray:
    return _ratio(counts.tp, counts.tp + counts.fn)


def _jaccard(counts: Confusion) -> np.ndarray:
    return _ratio(counts.tp, counts.tp + counts.fp + counts.fn)


def _balanced_accuracy(counts: Confusion) -> np.ndarray:
    """The mean recall of the classes that have rows."""
    present = (counts.tn + counts.fp > 0.0) * 1.0 + (counts.fn + counts.tp > 0.0)
    return _ratio(_recall(counts) + _recall(counts.turned), present)


def _matthews(counts: Confusion) -> np.ndarray:
    tn, fp, fn, tp = counts
    return _ratio(tp * tn - fp * fn, np.sqrt((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn)))
