"""The two features of a surface: which they are, the places along each axis, and where the others are held."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from smallearn._text import listed, show
from smallearn.model import SMaLLModel, Term
from smallearn.model._columns import is_missing
from smallearn.plot._rows import column

GRID = 241  # places along each axis
ROOM = 0.05  # of the range, on either side
MOST_CATEGORIES = 12  # along an axis


class Side(NamedTuple):
    """One axis: its feature, the places along it, the feature's value at each, and its categories if it has any."""

    term: Term
    places: np.ndarray
    values: np.ndarray
    categories: list[Any] | None

    def place_of(self, values: np.ndarray) -> np.ndarray:
        """Where the values of rows stand; NaN where they stand nowhere."""
        if self.categories is None:
            return _numbers(values)
        known = {value: float(at) for at, value in enumerate(self.categories)}
        return np.array([np.nan if is_missing(value) else known.get(value, np.nan) for value in values.tolist()])


# --- which two features ----------------------------------------------------------------------------------------------


def two_terms(model: SMaLLModel, X: Any, features: Any) -> list[Term]:
    used = list(model.features)
    if features is None:
        if len(used) == 2:
            return used
        if X is not None and model.n_features == 2:
            return [_find(model, X, position) for position in (0, 1)]
        names = listed([term.label for term in used]) or "none"
        more = "" if len(used) > 2 else ", another of X if you like"
        raise ValueError(
            f"A surface takes two features and the model uses {len(used)} ({names}): "
            f"name two with features=(…, …){more}."
        )
    if isinstance(features, str) or not isinstance(features, Sequence | np.ndarray) or len(features) != 2:
        raise ValueError(f"features={show(features)} is not a pair of names or positions.")
    found = [_find(model, X, feature) for feature in features]
    if found[0].feature == found[1].feature:
        raise ValueError(f"features={show(features)} names one feature twice.")
    return found


def _find(model: SMaLLModel, X: Any, feature: Any) -> Term:
    """The term of a feature in use, or a stand-in for another column of X."""
    columns = [] if X is None or not hasattr(X, "columns") else list(X.columns)
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
            f"There is no feature {show(feature)}; the model uses {names} of {model.n_features} "
            "and knows the others by position only."
        )
    if X is None:
        raise ValueError(f"The model does not use feature {show(feature)} and knows no range of it: give X.")
    named = bool(model.features) and model.features[0].name is not None
    return _stand_in(model, position, str(columns[position]) if named and columns else None)


def _stand_in(model: SMaLLModel, position: int, name: str | None) -> Term:
    """A term for a column of X that is not in use. A table's columns may stand in another order than in training: then
    a number is taken that no feature in use has."""
    taken = {term.feature for term in model.features}
    number = position if name is None or position not in taken else model.n_features + position
    return Term(number, 0.0, name)


def _is_position(feature: Any) -> bool:
    return isinstance(feature, int | np.integer) and not isinstance(feature, bool)


# --- axes ------------------------------------------------------------------------------------------------------------


def side_of(model: SMaLLModel, term: Term, X: Any) -> Side:
    mine = [other for other in model.terms if other.feature == term.feature]
    named = list(dict.fromkeys(other.value for other in mine if other.kind == "equals"))
    if X is None:
        low, high = _known_range(model, term, mine) if not named else (0.0, 0.0)
        return _categories(term, named) if named else _line(term, low, high)
    values = column(X, term, model.n_features)
    if named or not _are_numbers(values):
        return _categories(term, _most_frequent(values, named))
    numbers = _numbers(values)
    numbers = numbers[np.isfinite(numbers)]
    if len(numbers) == 0:
        raise ValueError(f"All values of {show(term.label)} in X are missing, so that it has no axis.")
    return _line(term, float(numbers.min()), float(numbers.max()))


def _known_range(model: SMaLLModel, term: Term, mine: list[Term]) -> tuple[float, float]:
    """The training range, or a little more than the thresholds."""
    for extent in model.ranges:
        if extent.feature == term.feature:
            return extent.low, extent.high
    cuts = [float(other.value) for other in mine if other.kind in ("at_most", "above")]  # type: ignore[arg-type]
    if not cuts:
        raise ValueError(f"The model does not know the range of {show(term.label)}: give X.")
    room = (max(cuts) - min(cuts)) or abs(cuts[0]) or 1.0
    return min(cuts) - room, max(cuts) + room


def _line(term: Term, low: float, high: float) -> Side:
    room = ROOM * (high - low) or 0.5 * max(1.0, abs(low))
    places = np.linspace(low - room, high + room, GRID)
    return Side(term, places, places, None)


def _categories(term: Term, categories: list[Any]) -> Side:
    places = np.linspace(-0.5, len(categories) - 0.5, GRID)
    values = np.empty(len(categories), dtype=object)
    values[:] = categories
    nearest = np.clip(np.rint(places), 0, len(categories) - 1).astype(int)
    return Side(term, places, values[nearest], categories)


def _most_frequent(values: np.ndarray, named: list[Any]) -> list[Any]:
    """The categories that the model names, and the others of the rows, the most frequent first."""
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


def typical(model: SMaLLModel, term: Term, X: Any) -> Any:
    """What a feature that is no axis is held at."""
    mine = [other for other in model.terms if other.feature == term.feature]
    named = [other.value for other in mine if other.kind == "equals"]
    if X is None:
        if named:
            return named[0]
        mean = next((other.mean for other in mine if other.mean is not None), None)
        if mean is not None and not any(extent.feature == term.feature for extent in model.ranges):
            return mean
        if all(other.kind == "missing" for other in mine):
            return 0.0
        return sum(_known_range(model, term, mine)) / 2
    values = column(X, term, model.n_features)
    if named or not _are_numbers(values):
        rows = [value for value in values.tolist() if not is_missing(value)]
        return max(dict.fromkeys(rows), key=rows.count, default=None)
    numbers = _numbers(values)
    return float(np.nanmedian(numbers)) if np.isfinite(numbers).any() else None


def grid_rows(model: SMaLLModel, across: Side, up: Side, held: dict[int, Any]) -> np.ndarray:
    """A row for each place of the grid, of the features in use: first along the bottom line."""
    shape = (GRID * GRID, len(model.features))
    axes = {across.term.feature: np.tile(across.values, GRID), up.term.feature: np.repeat(up.values, GRID)}
    parts = {**held, **axes}
    rows = np.empty(shape, dtype=object)
    for place, term in enumerate(model.features):
        rows[:, place] = parts[term.feature]
    numbers = all(isinstance(value, float) for value in held.values())
    return rows.astype(float) if numbers and across.categories is None and up.categories is None else rows
