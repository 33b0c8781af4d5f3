"""From rows to the histograms that a model keeps of them, and the bin of each value. Needs numpy alone.

The histograms depend on the rows alone, not on their order, and a row of weight 2 counts as the row twice: cuts are
taken from sorted values, and weights are added up exactly.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from smallearn._run.hashing import hex_digest
from smallearn.model._histograms import Histogram, Reference
from smallearn.model._rows import Rows
from smallearn.model._term import Category, Term

if TYPE_CHECKING:
    from smallearn.model._model import SMaLLModel

BINS = 10  # of about the same number of rows
MOST_VALUES = 20  # of a number: each has a bin
MOST_CATEGORIES = 50  # that have a bin, the most common ones
MOST_FEATURES = 100  # in use, of a model that keeps histograms of its training rows
LONGEST_CATEGORY = 200  # characters
HASH_DIGITS = 16
TOLERANCE = 1e-9  # of a share of the rows, so that it is the same however weights are added up


def reference_of(
    model: "SMaLLModel", X: Any, weight: Any = None, known: Mapping[int, Sequence[Any]] | None = None
) -> Reference:
    """The histograms of some rows. ``known`` are categories by feature that need not occur in these rows."""
    rows = X if isinstance(X, Rows) else Rows(X, model.features, model.n_features)
    weights = _weights(rows.n_rows, weight)
    z = model.scores(rows)
    code = model.decide(z)
    known = known or {}
    features = (feature_histogram(model, term, rows, weights, known.get(term.feature, ())) for term in model.features)
    scored_by, decided_by = hashes_of(model)
    return Reference(
        n_rows=rows.n_rows if weights is None else _n_rows(weights),
        scores=tuple(numbers_histogram(values, weights) for values in log_odds(model, z).T),
        predicted=tuple(_weight_of(code == label, weights) for label in range(len(model.classes))),
        features=tuple(found for found in features if found is not None),
        scored_by=scored_by,
        decided_by=decided_by,
    )


def _weights(n_rows: int, weight: Any) -> np.ndarray | None:
    """The weights of the rows; None if all are 1."""
    if n_rows == 0:
        raise ValueError("X has no rows; a model is compared with at least one.")
    if weight is None:
        return None
    weights = np.asarray(weight, dtype=float)
    if weights.shape != (n_rows,) or not np.all((weights >= 0.0) & np.isfinite(weights)) or not weights.any():
        raise ValueError(
            f"sample_weight must have one finite number of at least 0 for each of the {n_rows} rows, and one above 0."
        )
    return None if np.all(weights == 1.0) else weights


def _n_rows(weights: np.ndarray) -> int:
    """The number of rows that weights stand for: their sum if they are whole numbers."""
    whole = bool(np.all(weights == np.floor(weights)))
    return int(weights.sum()) if whole else int(np.count_nonzero(weights))


def log_odds(model: "SMaLLModel", z: np.ndarray) -> np.ndarray:
    """The score that is compared, rows × 1 or classes: log-odds of the second class, or of each against the others."""
    decision = model._decisions(z)
    if decision.shape[1] == 2:
        return (decision[:, 1] - decision[:, 0])[:, None]
    shifted = decision - decision.max(axis=1, keepdims=True)
    chance = np.exp(shifted)
    others = chance.sum(axis=1, keepdims=True) - chance
    every, best = np.arange(len(z)), chance.argmax(axis=1)
    chance[every, best] = 0.0
    others[every, best] = chance.sum(axis=1)  # of small numbers alone, where the difference would have no digits left
    return shifted - np.log(np.maximum(others, np.finfo(float).tiny))


def hashes_of(model: "SMaLLModel") -> tuple[str, str]:
    """Hashes of what gives the scores, and of what decides; names do not matter."""
    scores = repr((float(model.scale), *(_prototype_key(one) for one in model.prototypes)))
    decision = repr(
        (float(model.decision_threshold), model.cost_matrix and np.array(model.cost_matrix, float).tolist())
    )
    return hex_digest(scores, HASH_DIGITS), hex_digest(scores + decision, HASH_DIGITS)


def _prototype_key(prototype: Any) -> tuple:
    return prototype.owner, float(prototype.intercept), *map(_term_key, prototype.terms)


def _term_key(term: Term) -> tuple:
    value = float(term.value) if term.kind in ("at_most", "above") else term.value  # type: ignore[arg-type]
    return term.feature, float(term.weight), term.kind, value, None if term.mean is None else float(term.mean)


def carried_over(before: "SMaLLModel", after: "SMaLLModel", features: Iterable[Histogram]) -> Reference | None:
    """The histograms of a model for another that scores and decides the same, with those of its ``features``."""
    reference = before.reference
    if reference is None:
        return None
    old, new = hashes_of(before), hashes_of(after)
    return replace(
        reference,
        features=tuple(features),
        scored_by=new[0] if reference.scored_by == old[0] else reference.scored_by,
        decided_by=new[1] if reference.decided_by == old[1] else reference.decided_by,
    )


# --- histograms ------------------------------------------------------------------------------------------------------


def is_number(model: "SMaLLModel", term: Term) -> bool:
    """Whether the feature of a term is compared as a number, by the model or in its ranges."""
    kinds = {one.kind for one in model.terms if one.feature == term.feature}
    return bool(kinds & {"raw", "at_most", "above"}) or any(one.feature == term.feature for one in model.ranges)


def feature_histogram(
    model: "SMaLLModel", term: Term, rows: Rows, weights: np.ndarray | None, known: Sequence[Any] = ()
) -> Histogram | None:
    """The histogram of a term's feature; None if a model's file cannot hold its categories."""
    column = rows.column(term)
    gaps = column.missing
    missing = _weight_of(gaps, weights)
    if not is_number(model, term):
        found = categories_histogram(column.values[~gaps].tolist(), _of_rows(~gaps, weights), known)
        return None if found is None else replace(found, missing=missing, feature=term.feature)
    values = column.numbers
    found = numbers_histogram(*((values, weights) if not gaps.any() else (values[~gaps], _of_rows(~gaps, weights))))
    extent = next((one for one in model.ranges if one.feature == term.feature), None)
    if extent is not None and found.edges:  # of all rows, where these are a sample
        low, *cuts, high = found.edges
        found = replace(found, edges=(min(low, extent.low), *cuts, max(high, extent.high)))
    return replace(found, missing=missing, feature=term.feature)


def numbers_histogram(values: np.ndarray, weights: np.ndarray | None = None) -> Histogram:
    """A bin for each value, if these are few; else bins of about the same weight. Cuts are between two values."""
    if weights is not None:
        order = np.lexsort((weights, values))
        order = order[weights[order] > 0.0]
        values, weights = values[order], weights[order]
    else:
        values = np.sort(values)
    if not len(values):
        return Histogram(counts=(), edges=())
    ends = np.flatnonzero(values[1:] != values[:-1])  # the last of each run of equal values, but for the last run
    if len(ends) >= MOST_VALUES:
        share = np.arange(1, BINS) / BINS - TOLERANCE
        if weights is None:
            at = np.ceil(share * len(values)).astype(np.int64) - 1
        else:
            reached = np.cumsum(weights)
            at = np.searchsorted(reached, share * reached[-1])
        runs = np.searchsorted(ends, at)
        ends = ends[np.unique(runs[runs < len(ends)])]
    cuts = [_between(float(values[end]), float(values[end + 1])) for end in ends]
    if weights is None:
        counts = np.diff([0, *(ends + 1), len(values)]).astype(float).tolist()
    else:
        counts = [exact_sum(part) for part in np.split(weights, ends + 1)]
    low, high = float(values[0]) + 0.0, float(values[-1]) + 0.0  # -0.0 is 0.0
    return Histogram(counts=tuple(counts), edges=(low, *cuts, high))


def _between(low: float, high: float) -> float:
    """A number of few digits between two values, about in the middle: rounding one of them crosses no cut."""
    middle = 0.5 * low + 0.5 * high
    shorter = (float(f"{middle:.{digits}g}") for digits in range(1, 18))
    return next((number for number in shorter if low < number < high), low)


def categories_histogram(
    values: Sequence[Any], weights: np.ndarray | None, known: Sequence[Any] = ()
) -> Histogram | None:
    """A bin for each of the most common categories; None if one is neither text nor a number."""
    place: dict[Any, int] = {}
    part = np.fromiter((place.setdefault(value, len(place)) for value in values), dtype=np.int64, count=len(values))
    for value in known:
        place.setdefault(value, len(place))
    if not all(isinstance(value, str | bool | int | float) for value in place):
        return None
    counted = [
        (value, float(count)) for value, count in zip(place, np.bincount(part, minlength=len(place)), strict=True)
    ]
    if weights is not None:
        order = np.argsort(part, kind="stable")
        parts = np.split(weights[order], np.searchsorted(part[order], np.arange(1, len(place))))
        counted = [(value, exact_sum(own)) for value, own in zip(place, parts, strict=bool(place))]
        counted = [(value, count) for value, count in counted if count > 0.0 or value in known]
    listed = sorted((one for one in counted if _can_be_written(one[0])), key=_rank)[:MOST_CATEGORIES]
    shown = {value for value, _ in listed}
    return Histogram(
        counts=tuple(count for _, count in listed),
        categories=tuple(value for value, _ in listed),
        other=math.fsum(count for value, count in counted if value not in shown),
    )


def _rank(counted: tuple[Category, float]) -> tuple:
    """The most common first; then numbers before text, ascending."""
    value, count = counted
    return -count, isinstance(value, str), value


def _can_be_written(value: Category) -> bool:
    """Whether a model's file holds a category, and a person would read it."""
    if not isinstance(value, str):
        return math.isfinite(value)
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return len(value) <= LONGEST_CATEGORY


def _of_rows(rows: np.ndarray, weights: np.ndarray | None) -> np.ndarray | None:
    """The weights of some rows."""
    return None if weights is None else weights[rows]


def _weight_of(rows: np.ndarray, weights: np.ndarray | None) -> float:
    """The weight of some rows together."""
    return float(np.count_nonzero(rows)) if weights is None else exact_sum(weights[rows])


def exact_sum(weights: np.ndarray) -> float:
    """The sum, rounded once: the same in any order."""
    if not len(weights):
        return 0.0
    total = float(weights.sum())
    whole = total < 2.0**53 and bool(np.all(weights == np.floor(weights)))
    return total if whole else math.fsum(weights.tolist())


# --- the bin of each value -------------------------------------------------------------------------------------------


def bins_of_numbers(histogram: Histogram, values: np.ndarray) -> np.ndarray:
    """The bin of each number; the outer bins have what is beyond the edges too."""
    return np.searchsorted(np.array(histogram.cuts), values)


def bins_of_categories(histogram: Histogram, values: Sequence[Any]) -> np.ndarray:
    """The bin of each category; -1 for one that has none."""
    place = {value: position for position, value in enumerate(histogram.categories or ())}
    return np.fromiter((place.get(value, -1) for value in values), dtype=np.int64, count=len(values))
