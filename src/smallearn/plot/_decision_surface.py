"""The regions in which a model predicts each class, over two features."""

import textwrap
from typing import TYPE_CHECKING, Any

import numpy as np

from smallearn._text import show_category
from smallearn.model import Rows, SMaLLModel, Term, as_model
from smallearn.model._decision import leads
from smallearn.plot._canvas import axes_for, inches, label_axes, legend_above
from smallearn.plot._colours import INK, UNLABELLED, Style, lighter, style_of
from smallearn.plot._glyphs import families
from smallearn.plot._rows import compact, optional_codes, target_of
from smallearn.plot._sides import GRID, JITTER, Side, grid_rows, side_of, two_terms, typical
from smallearn.plot._text import name_of, width_of, wrapped

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_POINTS = 2000  # of more rows, this many are drawn, evenly spaced
MOST_FIXED = 3  # features that are named with their fixed values
SHADE, TINT = 0.25, 0.6  # the share of white in the colours behind points: of two classes, of more
NO_CLASS = -1  # the key of rows whose class is not given


def decision_surface(
    model: Any, X: Any = None, y: Any = None, *, features: Any = None, ax: "Axes | None" = None
) -> "Axes":
    """Draw where each class is predicted, over two features.

    With two classes, shades show the probability of the second class. A line marks where the decision changes. Other
    features in use are fixed at their median or most frequent category in the rows; without rows, in the middle of
    their range in training. So a row can be predicted differently from the place where it is drawn. Rows with a missing
    value in either feature are not drawn, and at most 2,000 rows are.

    Parameters
    ----------
    model : SMaLLModel or fitted estimator
        The model.
    X : array, sparse matrix, table or Rows of shape (n_rows, n_features), default=None
        Rows to draw as points. None for none; the axes then cover the ranges in training.
    y : array-like of shape (n_rows,), default=None
        Their classes. None to draw all points alike.
    features : pair of names or positions, default=None
        The features of the two axes. None for the two that the model uses.
    ax : matplotlib Axes, default=None
        Where to draw. None for a new figure.

    Returns
    -------
    matplotlib Axes
        Those with the surface.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from smallearn import SMaLLClassifier, plot
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> petals = X.columns[2:].tolist()
    >>> clf = SMaLLClassifier(n_nonzero=2, random_state=0).fit(X[petals], y)
    >>> plot.decision_surface(clf, X[petals], y, features=petals).get_ylabel()
    'petal width (cm)'
    """
    model = as_model(model)
    code = optional_codes(model, X, y)
    terms = two_terms(model, X, features)
    rows = None if X is None else _read(model, X, terms)
    across, up = (side_of(model, term, rows) for term in terms)
    shown = (across.term.feature, up.term.feature)
    fixed = {term.feature: typical(model, term, rows) for term in model.features if term.feature not in shown}
    ax = axes_for(ax, 5.0)
    grid = grid_rows(model, across, up, fixed)
    regions = (_more_classes if model.sole_owner is None else _two_classes)(ax, model, grid, across, up)
    points = {} if rows is None else _points(ax, rows, code, across, up)
    _name_axes(ax, model, across, up, fixed)
    _legend(ax, model, regions, points)
    return ax


def _read(model: SMaLLModel, X: Any, terms: list[Term]) -> Rows:
    """The columns in use and those of the axes, read once."""
    if isinstance(X, Rows):
        return X
    used = {term.feature for term in model.features}
    return Rows(X, [*model.features, *(term for term in terms if term.feature not in used)], model.n_features)


def _two_classes(ax: "Axes", model: SMaLLModel, rows: np.ndarray, across: Side, up: Side) -> dict[int, Any]:
    """Shades of the probability, a hatch where the second class is predicted, and the boundary."""
    from matplotlib.colors import LinearSegmentedColormap
    from matplotlib.ticker import PercentFormatter

    small = compact(model)
    chance = small.predict_proba(rows)[:, 1].reshape(GRID, GRID)
    ahead = leads(small.compared(small.scores(rows)))[:, 1].reshape(GRID, GRID)
    first, second = (lighter(style_of(number).colour, SHADE) for number in (0, 1))
    shades = LinearSegmentedColormap.from_list("probability", [first, "#FFFFFF", second])
    look: dict[str, Any] = {"cmap": shades, "vmin": 0.0, "vmax": 1.0, "shading": "nearest", "rasterized": True}
    mesh = ax.pcolormesh(across.places, up.places, chance, **look)
    figure: Any = ax.get_figure()
    bar = figure.colorbar(mesh, ax=ax, format=PercentFormatter(1.0), fraction=0.05, pad=0.02)
    bar.outline.set_linewidth(0.6)
    label_axes(bar.ax, y=f"probability of {name_of(model.classes[1])}")
    wins = small.decide(small.scores(rows)).reshape(GRID, GRID) == 1
    _region(ax, across, up, ahead, wins, style_of(1))
    return {number: _region_patch(style_of(number), SHADE) for number in (0, 1) if (wins == number).any()}


def _more_classes(ax: "Axes", model: SMaLLModel, rows: np.ndarray, across: Side, up: Side) -> dict[int, Any]:
    """A tint and a hatch for each predicted class, and the boundaries."""
    from matplotlib.colors import ListedColormap

    small = compact(model)
    z = small.scores(rows)
    ahead = leads(small.compared(z)).reshape(GRID, GRID, -1)
    winner = small.decide(z).reshape(GRID, GRID)
    number_of = len(model.classes)
    tints = ListedColormap([lighter(style_of(number).colour, TINT) for number in range(number_of)])
    look: dict[str, Any] = {"cmap": tints, "vmin": -0.5, "vmax": number_of - 0.5, "shading": "nearest"}
    ax.pcolormesh(across.places, up.places, winner, rasterized=True, **look)
    winners = [number for number in range(number_of) if (winner == number).any()]
    for number in winners:
        _region(ax, across, up, ahead[:, :, number], winner == number, style_of(number))
    return {number: _region_patch(style_of(number), TINT) for number in winners}


def _region(ax: "Axes", across: Side, up: Side, ahead: np.ndarray, wins: np.ndarray, style: Style) -> None:
    """A hatch where a class is predicted, and a line around it. Where the lead is 0, ``wins`` decides."""
    least = 1e-9 * (float(np.abs(ahead).max()) or 1.0)
    ahead = np.where(wins, np.maximum(ahead, least), np.minimum(ahead, -least))
    if style.hatch and wins.any():
        levels = [0.0, 2.0 * float(ahead.max())]
        hatched = ax.contourf(across.places, up.places, ahead, levels=levels, colors="none", hatches=[style.hatch[:1]])
        hatched.set(edgecolor="#00000040", linewidth=0.0)
    if wins.any() and not wins.all():
        look: dict[str, Any] = {"colors": "black", "linewidths": 1.8, "linestyles": "solid"}
        ax.contour(across.places, up.places, ahead, levels=[0.0], **look)


def _region_patch(style: Style, white: float) -> Any:
    """The patch that represents the region of a class in the legend."""
    from matplotlib.patches import Patch

    colour = lighter(style.colour, white)
    return Patch(facecolor=colour, edgecolor="#00000080", hatch=style.hatch[:1] * 2, linewidth=0.6)


def _points(ax: "Axes", rows: Rows, code: np.ndarray | None, across: Side, up: Side) -> dict[int, Any]:
    """A marker for each row, by class (`NO_CLASS` if not given); jittered along categories and whole numbers."""
    rng = np.random.default_rng(0)
    places = []
    for side in (across, up):
        place = side.place_of(rows.column(side.term).values)
        width = JITTER if side.categories is not None or side.is_whole else 0.0
        places.append(place + rng.uniform(-width, width, len(place)))
    drawn = np.arange(0, rows.n_rows, -(-rows.n_rows // MOST_POINTS))
    code = np.full(rows.n_rows, NO_CLASS) if code is None else code
    points = {}
    for number in np.unique(code[drawn]).tolist():
        style = UNLABELLED if number == NO_CLASS else style_of(number)
        members = drawn[code[drawn] == number]
        edge = "white" if style.colour == "#000000" else "black"
        look: dict[str, Any] = {"facecolor": style.colour, "edgecolors": edge, "linewidths": 0.7, "zorder": 3}
        points[number] = ax.scatter(places[0][members], places[1][members], s=26, marker=style.marker, **look)
    return points


def _legend(ax: "Axes", model: SMaLLModel, regions: dict[int, Any], points: dict[int, Any]) -> None:
    """One entry for each class: its marker on the look of its region."""
    handles, labels = [], []
    for number, label in enumerate(model.classes):
        handle = tuple(kind[number] for kind in (regions, points) if number in kind)
        if handle:
            handles.append(handle)
            labels.append(name_of(label) if number in points else f"predicted {name_of(label)}")
    if NO_CLASS in points:
        handles.append((points[NO_CLASS],))
        labels.append("rows")
    legend_above(ax, handles, labels, target_of(model))


def _name_axes(ax: "Axes", model: SMaLLModel, across: Side, up: Side, fixed: dict[int, Any]) -> None:
    from matplotlib.ticker import MaxNLocator

    label = f"{name_of(across.term.label, 60)}{across.note}"
    if fixed:
        label = "\n".join([label, *textwrap.wrap(_fixed_text(model, fixed), int(inches(ax)[0] * 72 / 4.7))])
    label_axes(ax, label, f"{name_of(up.term.label, 60)}{up.note}")
    ax.set(xlim=(across.places[0], across.places[-1]), ylim=(up.places[0], up.places[-1]))
    for side, axis in ((across, ax.xaxis), (up, ax.yaxis)):
        if side.categories is None:
            axis.set_major_locator(MaxNLocator(8, integer=side.is_whole, steps=[1, 2, 2.5, 5, 10]))
        else:
            names = [wrapped(name_of(value, 30), 16) for value in side.categories]
            axis.set_ticks(range(len(names)), names, parse_math=False, **families(names))
    if across.categories is not None and _are_crowded(ax, across.categories):
        for text in ax.get_xticklabels():
            text.set(rotation=30, ha="right", rotation_mode="anchor")
    for spine in ax.spines.values():
        spine.set_color(INK)


def _are_crowded(ax: "Axes", categories: list[Any]) -> bool:
    """Whether the names of categories would overlap side by side."""
    widest = max(width_of(wrapped(name_of(value, 30), 16), 10.0) for value in categories)
    return widest > 0.95 * inches(ax)[0] / len(categories)


def _fixed_text(model: SMaLLModel, fixed: dict[int, Any]) -> str:
    names = {term.feature: name_of(term.label) for term in model.features}
    parts = [f"{names[feature]} = {_value(value)}" for feature, value in list(fixed.items())[:MOST_FIXED]]
    more = f" and {len(fixed) - MOST_FIXED} more" if len(fixed) > MOST_FIXED else ""
    return f"fixed: {', '.join(parts)}{more}"


def _value(value: Any) -> str:
    return "missing" if value is None else f"{value:.4g}" if isinstance(value, float) else show_category(value)
