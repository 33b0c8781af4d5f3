"""The axes of a decision surface: which features they are, their ticks, and the values of the other features."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from smallearn._text import listed, show
from smallearn.model import Rows, SMaLLModel, Term
from smallearn.model._columns import is_missing
from smallearn.plot._rows import CUT, middle

GRID = 241  # grid points along each axis
ROOM = 0.05  # of the range, left free at either end
MOST_CATEGORIES = 12  # along an axis
JITTER = 0.28  # of categories and whole numbers, to either side
MOST_WHOLE = 30  # different whole numbers that are jittered


class Side(NamedTuple):
    """One axis: its feature, the grid points, the feature's value at each, and its categories (None for a number)."""

    term: Term
    places: np.ndarray
    values: np.ndarray
    categories: list[Any] | None
    note: str = ""
    is_whole: bool = False  # few different values, all whole: points would hide one another

    def place_of(self, values: np.ndarray) -> np.ndarray:
        """The position of each value along the axis; NaN for a missing value or a category that is not shown."""
        if self.categories is None:
            return _numbers(values)
        known = {value: float(at) for at, value in enumerate(self.categories)}
        return np.array([np.nan if is_missing(value) else known.get(value, np.nan) for value in values.tolist()])


# --- which two features ----------------------------------------------------------------------------------------------


def two_terms(model: SMaLLModel, X: Any, features: Any) -> list[Term]:
    """A term for each of the two features; ``features`` names them, None for the two in use."""
    used = list(model.features)
    if features is None:
        if len(used) == 2:
            return used
        if X is not None and model.n_features == 2:
            return [_find(model, X, position) for position in (0, 1)]
        names = listed([term.label for term in used]) or "none"
        raise ValueError(
            f"A decision surface has two features and the model uses {len(used)} ({names}): choose two with "
            "features=(…, …)."
        )
    if isinstance(features, str) or not isinstance(features, Sequence | np.ndarray) or len(features) != 2:
        raise ValueError(f"features={show(features)} is not a pair of names or positions.")
    terms = [_find(model, X, feature) for feature in features]
    if terms[0].feature == terms[1].feature:
        raise ValueError(f"features={show(features)} names one feature twice.")
    return terms


def _find(model: SMaLLModel, X: Any, feature: Any) -> Term:
    """A term of a feature in use, or one of weight 0 for another column of X."""
    columns = [] if isinstance(X, Rows) or not hasattr(X, "columns") else list(X.columns)
    for term in model.features:
        if feature == term.label or (_is_position(feature) and feature == term.feature):
            return term
    position = None
    if isinstance(feature, str) and feature in columns:
        position = columns.index(feature)
    elif isinstance(feature, str) and feature[:1] == "x" and feature[1:].isdecimal():
        position = int(feature[1:])
    elif _is_position(feature):
        position = int(feature)
    if position is None or not 0 <= position < model.n_features:
        names = listed([term.label for term in model.features])
        raise ValueError(
            f"There is no feature {show(feature)}; the model uses {names}. Other features are given by position, below "
            f"{model.n_features}, or by their name in a table."
        )
    if X is None:
        raise ValueError(f"The model does not use feature {show(feature)} and has no range for it; pass X.")
    named = bool(model.features) and model.features[0].name is not None
    return _stand_in(model, position, str(columns[position]) if named and columns else None)


def _stand_in(model: SMaLLModel, position: int, name: str | None) -> Term:
    """A term of weight 0 for a column of X that is not in use.

    The columns of a table may be in another order than in training; then the term gets a number that no feature in use
    has.
    """
    taken = {term.feature for term in model.features}
    number = position if name is None or position not in taken else model.n_features + position
    return Term(number, 0.0, name)


def _is_position(feature: Any) -> bool:
    return isinstance(feature, int | np.integer) and not isinstance(feature, bool)


# --- axes ------------------------------------------------------------------------------------------------------------


def side_of(model: SMaLLModel, term: Term, rows: Rows | None) -> Side:
    """The axis of a feature: over the values in the rows; without rows, over its range in training."""
    own = _terms_of(model, term)
    named = _categories_in(own)
    if rows is None:
        return _category_side(term, named) if named else _number_side(term, *_known_range(model, term, own))
    values = rows.column(term).values
    if values.dtype.kind == "b":
        return _category_side(term, [False, True])
    if named or not _are_numbers(values):
        return _category_side(term, _most_frequent(values, named))
    numbers = _numbers(values)
    numbers = numbers[np.isfinite(numbers)]
    if len(numbers) == 0:
        raise ValueError(f"All values of {show(term.label)} in X are missing; choose another feature.")
    ends = middle(numbers)
    low, high = (float(numbers.min()), float(numbers.max())) if ends is None else ends
    is_whole = _are_few_whole(numbers)
    side = _number_side(term, low - JITTER, high + JITTER) if is_whole else _number_side(term, low, high)
    return side._replace(note="" if ends is None else CUT, is_whole=is_whole)


def _are_few_whole(values: np.ndarray) -> bool:
    different = np.unique(values)
    return len(different) <= MOST_WHOLE and bool(np.all(different == np.rint(different)))


def _terms_of(model: SMaLLModel, term: Term) -> list[Term]:
    """The terms of the model that use the same feature."""
    return [other for other in model.terms if other.feature == term.feature]


def _categories_in(terms: list[Term]) -> list[Any]:
    return list(dict.fromkeys(term.value for term in terms if term.kind == "equals"))


def _known_range(model: SMaLLModel, term: Term, own: list[Term]) -> tuple[float, float]:
    """The range in training, or one around the thresholds."""
    for extent in model.ranges:
        if extent.feature == term.feature:
            return extent.low, extent.high
    thresholds = [float(other.value) for other in own if other.kind in ("at_most", "above")]  # type: ignore[arg-type]
    if not thresholds:
        raise ValueError(f"The model does not know the range of {show(term.label)}; pass X.")
    room = (max(thresholds) - min(thresholds)) or abs(thresholds[0]) or 1.0
    return min(thresholds) - room, max(thresholds) + room


def _number_side(term: Term, low: float, high: float) -> Side:
    room = ROOM * (high - low) or 0.5 * max(1.0, abs(low))
    places = np.linspace(low - room, high + room, GRID)
    return Side(term, places, places, None)


def _category_side(term: Term, categories: list[Any]) -> Side:
    places = np.linspace(-0.5, len(categories) - 0.5, GRID)
    values = np.empty(len(categories), dtype=object)
    values[:] = categories
    nearest = np.clip(np.rint(places), 0, len(categories) - 1).astype(int)
    return Side(term, places, values[nearest], categories)


def _most_frequent(values: np.ndarray, named: list[Any]) -> list[Any]:
    """The categories in the model, then the others in the rows, the most frequent first."""
    count: dict[Any, int] = dict.fromkeys(named, 0)
    for value in values.tolist():
        if not is_missing(value):
            count[value] = count.get(value, 0) + 1
    others = sorted((value for value in count if value not in named), key=lambda value: (-count[value], str(value)))
    return [*named, *others][: max(MOST_CATEGORIES, len(named))]


def _are_numbers(values: np.ndarray) -> bool:
    return values.dtype.kind in "biuf" or not any(isinstance(v, str) for v in values.tolist() if not is_missing(v))


def _numbers(values: np.ndarray) -> np.ndarray:
    return np.array([np.nan if is_missing(value) else float(value) for value in values.tolist()])


def typical(model: SMaLLModel, term: Term, rows: Rows | None) -> Any:
    """The value at which a feature that is not an axis is fixed; None for missing."""
    own = _terms_of(model, term)
    named = _categories_in(own)
    if rows is None:
        return _typical_without_rows(model, term, own, named)
    values = rows.column(term).values
    if named or values.dtype.kind == "b" or not _are_numbers(values):
        present = [value for value in values.tolist() if not is_missing(value)]
        return max(dict.fromkeys(present), key=present.count, default=None)
    numbers = _numbers(values)
    return float(np.nanmedian(numbers)) if np.isfinite(numbers).any() else None


def _typical_without_rows(model: SMaLLModel, term: Term, own: list[Term], named: list[Any]) -> Any:
    """The first category in the model, the mean, or the middle of the range."""
    if named:
        return named[0]
    mean = next((other.mean for other in own if other.mean is not None), None)
    if mean is not None and not any(extent.feature == term.feature for extent in model.ranges):
        return mean
    if all(other.kind == "missing" for other in own):
        return 0.0
    return sum(_known_range(model, term, own)) / 2


def grid_rows(model: SMaLLModel, across: Side, up: Side, fixed: dict[int, Any]) -> np.ndarray:
    """A row for each point of the grid, line by line from the bottom; a column for each feature in use."""
    shape = (GRID * GRID, len(model.features))
    axes = {across.term.feature: np.tile(across.values, GRID), up.term.feature: np.repeat(up.values, GRID)}
    parts = {**fixed, **axes}
    rows = np.empty(shape, dtype=object)
    for place, term in enumerate(model.features):
        rows[:, place] = parts[term.feature]
    numbers = all(isinstance(value, float) for value in fixed.values())
    return rows.astype(float) if numbers and across.categories is None and up.categories is None else rows
