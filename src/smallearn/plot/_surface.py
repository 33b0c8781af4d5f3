"""Where a model parts the classes, over two features."""

import textwrap
from typing import TYPE_CHECKING, Any

import numpy as np

from smallearn._text import show, show_category
from smallearn.model import SMaLLModel
from smallearn.model._rows import codes
from smallearn.model._rule import leads
from smallearn.plot._canvas import axes_for, inches, label_axes, legend_above, model_of, name_of
from smallearn.plot._colours import INK, NOBODY, Style, lighter, style_of
from smallearn.plot._rows import column, compact, n_rows_of
from smallearn.plot._sides import GRID, Side, grid_rows, side_of, two_terms, typical

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_POINTS = 2000  # of more rows, so many are drawn, evenly spaced
MOST_HELD = 3  # features held that are named
SHADE, TINT = 0.25, 0.6  # the share of white in the colours behind points: of two classes, of more


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
    across, up = (side_of(model, term, X) for term in two_terms(model, X, features))
    shown = (across.term.feature, up.term.feature)
    held = {term.feature: typical(model, term, X) for term in model.features if term.feature not in shown}
    ax = axes_for(ax, 5.0)
    rows = grid_rows(model, across, up, held)
    areas = (_two_classes if len(model.classes) == 2 else _more_classes)(ax, model, rows, across, up)
    dots = {} if X is None else _points(ax, model, X, code, across, up)
    _name_axes(ax, model, across, up, held)
    _legend(ax, model, areas, dots)
    return ax


def _two_classes(ax: "Axes", model: SMaLLModel, rows: np.ndarray, across: Side, up: Side) -> dict[int, Any]:
    """Shades of the probability, a hatch where the second class is predicted, and the line between."""
    from matplotlib.colors import LinearSegmentedColormap
    from matplotlib.ticker import PercentFormatter

    small = compact(model)
    chance = small.predict_proba(rows)[:, 1].reshape(GRID, GRID)
    ahead = small.decision_function(rows).reshape(GRID, GRID)
    first, second = (lighter(style_of(number).colour, SHADE) for number in (0, 1))
    shades = LinearSegmentedColormap.from_list("probability", [first, "#FFFFFF", second])
    look: dict[str, Any] = {"cmap": shades, "vmin": 0.0, "vmax": 1.0, "shading": "nearest", "rasterized": True}
    mesh = ax.pcolormesh(across.places, up.places, chance, **look)
    figure: Any = ax.get_figure()
    bar = figure.colorbar(mesh, ax=ax, format=PercentFormatter(1.0), fraction=0.05, pad=0.02)
    bar.outline.set_linewidth(0.6)
    label_axes(bar.ax, y=f"probability of {name_of(model.classes[1])}")
    wins = ahead > 0.0
    _part(ax, across, up, ahead, wins, style_of(1))
    return {number: _area(style_of(number), SHADE) for number in (0, 1) if (wins == number).any()}


def _more_classes(ax: "Axes", model: SMaLLModel, rows: np.ndarray, across: Side, up: Side) -> dict[int, Any]:
    """The class that wins, by tint and hatch, and the lines between."""
    from matplotlib.colors import ListedColormap

    ahead = leads(compact(model).decision_function(rows)).reshape(GRID, GRID, -1)
    winner = ahead.argmax(axis=2)
    number_of = len(model.classes)
    tints = ListedColormap([lighter(style_of(number).colour, TINT) for number in range(number_of)])
    look: dict[str, Any] = {"cmap": tints, "vmin": -0.5, "vmax": number_of - 0.5, "shading": "nearest"}
    ax.pcolormesh(across.places, up.places, winner, rasterized=True, **look)
    winners = [number for number in range(number_of) if (winner == number).any()]
    for number in winners:
        _part(ax, across, up, ahead[:, :, number], winner == number, style_of(number))
    return {number: _area(style_of(number), TINT) for number in winners}


def _part(ax: "Axes", across: Side, up: Side, ahead: np.ndarray, wins: np.ndarray, style: Style) -> None:
    """A hatch where the class wins, and a line around it. Where a lead is 0, the rule for ties says who wins."""
    least = 1e-9 * (float(np.abs(ahead).max()) or 1.0)
    ahead = np.where(wins, np.maximum(ahead, least), np.minimum(ahead, -least))
    if style.hatch and wins.any():
        levels = [0.0, 2.0 * float(ahead.max())]
        hatched = ax.contourf(across.places, up.places, ahead, levels=levels, colors="none", hatches=[style.hatch[:1]])
        hatched.set(edgecolor="#00000040", linewidth=0.0)
    if wins.any() and not wins.all():
        look: dict[str, Any] = {"colors": "black", "linewidths": 1.8, "linestyles": "solid"}
        ax.contour(across.places, up.places, ahead, levels=[0.0], **look)


def _area(style: Style, white: float) -> Any:
    """What stands for the region of a class in the legend."""
    from matplotlib.patches import Patch

    colour = lighter(style.colour, white)
    return Patch(facecolor=colour, edgecolor="#00000080", hatch=style.hatch[:1] * 2, linewidth=0.6)


def _points(ax: "Axes", model: SMaLLModel, X: Any, code: np.ndarray | None, across: Side, up: Side) -> dict[int, Any]:
    """A marker for each row, of its class (-1: not told); rows of a category are spread a little."""
    rng = np.random.default_rng(0)
    places = []
    for side in (across, up):
        place = side.place_of(column(X, side.term, model.n_features))
        places.append(place + (0.0 if side.categories is None else rng.uniform(-0.28, 0.28, len(place))))
    kept = np.arange(0, len(places[0]), -(-len(places[0]) // MOST_POINTS))
    code = np.full(len(places[0]), -1) if code is None else code
    dots = {}
    for number in np.unique(code[kept]).tolist():
        style = NOBODY if number < 0 else style_of(number)
        mine = kept[code[kept] == number]
        edge = "white" if style.colour == "#000000" else "black"
        look: dict[str, Any] = {"facecolor": style.colour, "edgecolors": edge, "linewidths": 0.7, "zorder": 3}
        dots[number] = ax.scatter(places[0][mine], places[1][mine], s=26, marker=style.marker, **look)
    return dots


def _legend(ax: "Axes", model: SMaLLModel, areas: dict[int, Any], dots: dict[int, Any]) -> None:
    """One entry for each class: its marker on the look of its region."""
    handles, labels = [], []
    for number, label in enumerate(model.classes):
        both = tuple(kind[number] for kind in (areas, dots) if number in kind)
        if both:
            handles.append(both)
            labels.append(name_of(label) if number in dots else f"{name_of(label)} predicted")
    if -1 in dots:
        handles.append((dots[-1],))
        labels.append("rows")
    legend_above(ax, handles, labels)


def _name_axes(ax: "Axes", model: SMaLLModel, across: Side, up: Side, held: dict[int, Any]) -> None:
    label = name_of(across.term.label, 50)
    if held:
        label = "\n".join([label, *textwrap.wrap(_held_text(model, held), int(inches(ax)[0] * 72 / 4.7))])
    label_axes(ax, label, name_of(up.term.label, 40))
    for side, set_ticks in ((across, ax.set_xticks), (up, ax.set_yticks)):
        if side.categories is not None:
            names = [show(value, quote=False, most=14) for value in side.categories]
            set_ticks(range(len(names)), names, parse_math=False)
    if across.categories is None:
        ax.locator_params(axis="x", nbins=8)
    elif sum(min(14, len(str(value))) for value in across.categories) > 50:
        ax.tick_params(axis="x", rotation=30)
    ax.set(xlim=(across.places[0], across.places[-1]), ylim=(up.places[0], up.places[-1]))
    for spine in ax.spines.values():
        spine.set_color(INK)


def _held_text(model: SMaLLModel, held: dict[int, Any]) -> str:
    names = {term.feature: name_of(term.label) for term in model.features}
    parts = [f"{names[feature]} = {_value(value)}" for feature, value in list(held.items())[:MOST_HELD]]
    more = f" and {len(held) - MOST_HELD} more" if len(held) > MOST_HELD else ""
    return f"held: {', '.join(parts)}{more}"


def _value(value: Any) -> str:
    return "missing" if value is None else f"{value:.4g}" if isinstance(value, float) else show_category(value)
