"""Where a model parts the classes, over two features."""

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from smallearn.columns import is_missing
from smallearn.model import SMaLLModel
from smallearn.plot.canvas import axes_for, inches, legend_above, model_of, name_of
from smallearn.plot.colours import INK, NOBODY, Style, lighter, style_of
from smallearn.plot.rows import codes, column, compact, leads, n_rows_of
from smallearn.terms import Term
from smallearn.words import listed, show, show_category

if TYPE_CHECKING:
    from matplotlib.axes import Axes

GRID = 241  # places along each axis
ROOM = 0.05  # of the range, on either side
MOST_POINTS = 2000  # of more rows, so many are drawn, evenly spaced
MOST_CATEGORIES = 12  # along an axis
MOST_HELD = 3  # features held that are named


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


def decision_surface(
    model: Any, X: Any = None, y: Any = None, *, features: Any = None, ax: "Axes | None" = None
) -> "Axes":
    """The probability of the second class over two features, or the regions of more classes, and where they part.

    Features in use that are no axis are held at the median of the rows, or their most frequent category; without rows
    in the middle of their training range. So a point may be decided otherwise than the place where it stands. Rows with
    a gap in either feature are not drawn, and at most 2,000 rows are.

    Parameters
    ----------
    model : SMaLLModel or fitted classifier
    X : array or table, rows × features, default=None
        None: no points, and axes over the training ranges.
    y : labels, default=None
        None: the points are not told apart.
    features : pair of names or positions, default=None
        None: the two that the model uses.
    ax : matplotlib Axes, default=None
        None: a new figure.
    """
    model = model_of(model)
    if X is None and y is not None:
        raise ValueError("y came without X; decision_surface takes both, X alone or neither.")
    n_rows = 0 if X is None else n_rows_of(X)
    code = None if y is None else codes(model, y, n_rows)
    across, up = (_side(model, term, X) for term in _two_terms(model, X, features))
    held = {
        term.feature: _typical(model, term, X)
        for term in model.features
        if term.feature not in (across.term.feature, up.term.feature)
    }
    ax = axes_for(ax, 5.0)
    rows = _rows(model, across, up, held)
    if len(model.classes) == 2:
        handles = _two_classes(ax, model, rows, across, up)
    else:
        handles = _regions(ax, model, rows, across, up)
    if X is not None:
        handles += _points(ax, model, X, code, across, up)
    _name_axes(ax, model, across, up, held)
    if handles:
        legend_above(ax, [handle for handle, _ in handles], [label for _, label in handles])
    return ax


# --- which two features ----------------------------------------------------------------------------------------------


def _two_terms(model: SMaLLModel, X: Any, features: Any) -> list[Term]:
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


def _side(model: SMaLLModel, term: Term, X: Any) -> Side:
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


def _typical(model: SMaLLModel, term: Term, X: Any) -> Any:
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


def _rows(model: SMaLLModel, across: Side, up: Side, held: dict[int, Any]) -> np.ndarray:
    """A row for each place of the grid, of the features in use: first along the bottom line."""
    shape = (GRID * GRID, len(model.features))
    axes = {across.term.feature: np.tile(across.values, GRID), up.term.feature: np.repeat(up.values, GRID)}
    parts = {**held, **axes}
    rows = np.empty(shape, dtype=object)
    for place, term in enumerate(model.features):
        rows[:, place] = parts[term.feature]
    numbers = all(isinstance(value, float) for value in held.values())
    return rows.astype(float) if numbers and across.categories is None and up.categories is None else rows


# --- drawing ---------------------------------------------------------------------------------------------------------


def _two_classes(ax: "Axes", model: SMaLLModel, rows: np.ndarray, across: Side, up: Side) -> list[tuple[Any, str]]:
    """Shades of the probability, a hatch where the second class is predicted, and the line between."""
    from matplotlib.colors import LinearSegmentedColormap
    from matplotlib.ticker import PercentFormatter

    small = compact(model)
    chance = small.predict_proba(rows)[:, 1].reshape(GRID, GRID)
    ahead = small.decision_function(rows).reshape(GRID, GRID)
    first, second = (lighter(style_of(number).colour, 0.25) for number in (0, 1))
    shades = LinearSegmentedColormap.from_list("probability", [first, "#FFFFFF", second])
    mesh = ax.pcolormesh(
        across.places, up.places, chance, cmap=shades, vmin=0.0, vmax=1.0, shading="nearest", rasterized=True
    )
    bar = ax.get_figure().colorbar(mesh, ax=ax, format=PercentFormatter(1.0), fraction=0.05, pad=0.02)  # type: ignore[union-attr]
    bar.set_label(f"probability of {name_of(model.classes[1])}", parse_math=False)
    bar.outline.set_linewidth(0.6)
    _hatch(ax, across, up, ahead, style_of(1))
    predicted = [(_region(style_of(1), 1.0), f"{name_of(model.classes[1])} predicted")]
    return _boundary(ax, across, up, ahead) + (predicted if ahead.max() > 0.0 else [])


def _regions(ax: "Axes", model: SMaLLModel, rows: np.ndarray, across: Side, up: Side) -> list[tuple[Any, str]]:
    """The class that wins, by tint and hatch, and the lines between."""
    from matplotlib.colors import ListedColormap

    ahead = leads(compact(model).decision_function(rows)).reshape(GRID, GRID, -1)
    winner = ahead.argmax(axis=2)
    tints = ListedColormap([lighter(style_of(number).colour, 0.6) for number in range(len(model.classes))])
    ax.pcolormesh(
        across.places, up.places, winner, cmap=tints, vmin=-0.5, vmax=len(model.classes) - 0.5, shading="nearest",
        rasterized=True,
    )  # fmt: skip
    handles = []
    for number, label in enumerate(model.classes):
        if (winner == number).any():
            mine = np.where(winner == number, np.maximum(ahead[:, :, number], 0.0), ahead[:, :, number])
            _hatch(ax, across, up, mine, style_of(number))
            _boundary(ax, across, up, mine)
            handles.append((_region(style_of(number), 0.6), f"{name_of(label)} predicted"))
    return handles


def _hatch(ax: "Axes", across: Side, up: Side, ahead: np.ndarray, style: Style) -> None:
    if style.hatch and ahead.max() > 0.0:
        levels = [0.0, float(ahead.max()) * 2.0]
        hatched = ax.contourf(across.places, up.places, ahead, levels=levels, colors="none", hatches=[style.hatch[:1]])
        hatched.set_edgecolor("#00000040")
        hatched.set_linewidth(0.0)


def _boundary(ax: "Axes", across: Side, up: Side, ahead: np.ndarray) -> list[tuple[Any, str]]:
    """The line where the sign turns. A score of 0 is not above 0."""
    ahead = np.where(ahead > 0.0, ahead, np.minimum(ahead, -1e-9 * np.abs(ahead).max()))
    if not ahead.min() < 0.0 < ahead.max():
        return []
    ax.contour(across.places, up.places, ahead, levels=[0.0], colors="black", linewidths=1.8, linestyles="solid")
    from matplotlib.lines import Line2D

    return [(Line2D([], [], color="black", linewidth=1.8), "boundary")]


def _region(style: Style, white: float) -> Any:
    from matplotlib.patches import Patch

    return Patch(
        facecolor=lighter(style.colour, white), edgecolor="#00000080", hatch=style.hatch[:1] * 2, linewidth=0.6
    )


def _points(
    ax: "Axes", model: SMaLLModel, X: Any, code: np.ndarray | None, across: Side, up: Side
) -> list[tuple[Any, str]]:
    """A marker for each row, of its class; rows in a category are spread a little."""
    rng = np.random.default_rng(0)
    places = []
    for side in (across, up):
        place = side.place_of(column(X, side.term, model.n_features))
        places.append(place + (0.0 if side.categories is None else rng.uniform(-0.28, 0.28, len(place))))
    step = -(-len(places[0]) // MOST_POINTS)
    kept = np.arange(0, len(places[0]), step)
    every = [(0, NOBODY, "rows")] if code is None else []
    for number, label in enumerate(model.classes if code is not None else ()):
        every.append((number, style_of(number), name_of(label)))
    handles = []
    for number, style, label in every:
        mine = kept if code is None else kept[code[kept] == number]
        if len(mine):
            dots = ax.scatter(
                places[0][mine], places[1][mine], s=26, marker=style.marker, facecolor=style.colour, edgecolors="white"
                if style.colour == "#000000" else "black", linewidths=0.7, zorder=3,
            )  # fmt: skip
            handles.append((dots, label))
    return handles


def _name_axes(ax: "Axes", model: SMaLLModel, across: Side, up: Side, held: dict[int, Any]) -> None:
    label = name_of(across.term.label, 50)
    if held:
        label = "\n".join([label, *textwrap.wrap(_held_text(model, held), int(inches(ax)[0] * 72 / 5.2))])
    ax.set_xlabel(label, parse_math=False)
    ax.set_ylabel(name_of(up.term.label, 40), parse_math=False)
    for side, set_ticks in ((across, ax.set_xticks), (up, ax.set_yticks)):
        if side.categories is not None:
            names = [show(value, quote=False, most=14) for value in side.categories]
            set_ticks(range(len(names)), names, parse_math=False)
    if across.categories is None:
        ax.locator_params(axis="x", nbins=8)
    ax.set(xlim=(across.places[0], across.places[-1]), ylim=(up.places[0], up.places[-1]))
    for text in ax.get_xticklabels():
        if across.categories is not None and sum(map(len, map(str, across.categories))) > 50:
            text.set(rotation=30, ha="right")
    for spine in ax.spines.values():
        spine.set_color(INK)


def _held_text(model: SMaLLModel, held: dict[int, Any]) -> str:
    names = {term.feature: name_of(term.label) for term in model.features}
    parts = [f"{names[feature]} = {_value(value)}" for feature, value in list(held.items())[:MOST_HELD]]
    more = f" and {len(held) - MOST_HELD} more" if len(held) > MOST_HELD else ""
    return f"held: {', '.join(parts)}{more}"


def _value(value: Any) -> str:
    return "missing" if value is None else f"{value:.4g}" if isinstance(value, float) else show_category(value)
