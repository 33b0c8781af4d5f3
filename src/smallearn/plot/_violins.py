"""What each term adds to its score, class by class, and the score."""

from typing import TYPE_CHECKING, Any

import numpy as np

from smallearn.model import SMaLLModel, as_model, read_rows
from smallearn.plot._canvas import (
    axes_for,
    label_axes,
    label_lines,
    lay_out,
    legend_above,
    legend_patch,
    line_height,
    need_matplotlib,
    tidy,
)
from smallearn.plot._colours import GREY, INK, SKY, UNLABELLED, Style, style_of
from smallearn.plot._heat_map import MOST_VIOLINS, heat_map
from smallearn.plot._lines import Line, measured_lines, possible_lines, write_headings
from smallearn.plot._rows import CUT, SQUASHED, middle, optional_codes, target_of
from smallearn.plot._text import name_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_BARS = 24  # distinct values of a term that are drawn as bars; more are drawn as a density
MOST_VALUES = 2000  # that a density is estimated from: of more rows, this many quantiles
HALF = 0.42  # the height of half a line
BAR_WIDTH = 0.018  # of the range of the axis
THINNEST = 0.25  # bar, relative to that
LARGEST = 1e100  # value that is drawn


def violins(model: Any, X: Any = None, y: Any = None, *, ax: "Axes | None" = None) -> "Axes":
    """Draw what each term adds to its score, class by class, and the score that decides.

    Each term of each prototype has a violin for each class. The last lines show the score, with the threshold at 0;
    with more than two classes, how far each class is above the best of the others. A term with few distinct values,
    such as a literal, has bars instead, as high as the share of the class; a single value is a marker. Short lines
    are medians.

    More than three classes are drawn as a heat map with a column for each: what each term adds in the rows of the
    class, on average and relative to all rows, then the mean lead of each class over the next.

    Parameters
    ----------
    model : SMaLLModel or fitted estimator
        The model.
    X : array, sparse matrix, table or Rows of shape (n_rows, n_features), default=None
        The rows. None for the range of what each term can add over the ranges in training, where these are known.
    y : array-like of shape (n_rows,), default=None
        Their classes. None to draw all rows alike.
    ax : matplotlib Axes, default=None
        Where to draw. None for a new figure.

    Returns
    -------
    matplotlib Axes
        Those with the violins or the heat map.

    Examples
    --------
    >>> import numpy as np
    >>> from smallearn import SMaLLClassifier, plot
    >>> X = np.random.default_rng(0).normal(size=(50, 3))
    >>> clf = SMaLLClassifier(n_nonzero=2, random_state=0).fit(X, X[:, 0] > X[:, 1])
    >>> plot.violins(clf, X, X[:, 0] > X[:, 1]).get_xlabel()
    'contribution to the score'
    """
    need_matplotlib()
    model = as_model(model)
    code = optional_codes(model, X, y)
    lines = [
        _clipped(line) for line in (possible_lines(model) if X is None else measured_lines(model, read_rows(model, X)))
    ]
    if code is not None and len(np.unique(code)) > MOST_VIOLINS:
        return heat_map(model, lines, code, ax)
    new = ax is None
    labels = [None if line.is_heading else line.label for line in lines]
    least = 0.36 if code is None or model.sole_owner is not None else 0.5
    ax = axes_for(ax, 1.1 + line_height(labels, least) * len(lines))
    label_lines(ax, labels)
    if new:
        lay_out(ax)
    ax.axvline(0.0, color=INK, linewidth=1.0, linestyle="--", zorder=1)
    is_cut = _draw(ax, model, lines, code)
    write_headings(ax, lines)
    over = " over the ranges in training" if X is None else ""
    label_axes(ax, f"contribution to the score{over}{CUT if is_cut else ''}")
    if code is not None:
        shown = [number for number in range(len(model.classes)) if (code == number).any()]
        names = [f"{name_of(model.classes[number])} ({int((code == number).sum())})" for number in shown]
        legend_above(ax, [legend_patch(style_of(number)) for number in shown], names, target_of(model))
    ax.locator_params(axis="x", nbins=8)
    tidy(ax)
    return ax


def _clipped(line: Line) -> Line:
    """The line without values that are too large to be drawn: the width of the picture would overflow."""
    values = None if line.values is None else np.clip(line.values, -LARGEST, LARGEST)
    ends = None if line.ends is None else tuple(np.clip(line.ends, -LARGEST, LARGEST).tolist())
    return line._replace(values=values, ends=ends)


# --- drawing ---------------------------------------------------------------------------------------------------------


def _draw(ax: "Axes", model: SMaLLModel, lines: list[Line], code: np.ndarray | None) -> bool:
    """Draw all lines; returns whether the axis is cut, since a few extreme values would squash the others."""
    lines, is_cut = _without_tails(lines)
    every = np.concatenate([np.ravel(part) for line in lines for part in line[1:3] if part is not None] + [np.zeros(1)])
    reach = float(np.ptp(every)) or 1.0
    for place, line in enumerate(lines):
        if line.ends is not None:
            _draw_ends(ax, place, line)
        elif line.values is not None:
            _draw_values(ax, place, line.values, code, len(model.classes), BAR_WIDTH * reach)
    ax.set_xlim(every.min() - 0.03 * reach, every.max() + 0.03 * reach)
    return is_cut


def _without_tails(lines: list[Line]) -> tuple[list[Line], bool]:
    """The lines with their extreme values moved to the ends of an axis that is cut, and whether it is."""
    values = [line.values for line in lines if line.values is not None]
    ends = [middle(part) or (float(part.min()), float(part.max())) for part in values if len(part)]
    if not any(middle(part) for part in values):
        return lines, False
    low, high = min(0.0, *(low for low, _ in ends)), max(0.0, *(high for _, high in ends))
    if float(np.ptp(np.concatenate(values))) <= SQUASHED * (high - low):
        return lines, False
    return [
        line if line.values is None else line._replace(values=np.clip(line.values, low, high)) for line in lines
    ], True


def _draw_values(
    ax: "Axes", place: int, values: np.ndarray, code: np.ndarray | None, n_classes: int, width: float
) -> None:
    """One shape for each class. Bars are as high as the share of rows of the class; the highest fills the line."""
    if code is None:
        lanes = [(values, (float(place), (HALF, HALF)), UNLABELLED)]
    else:
        styled = enumerate(_lanes(place, n_classes))
        lanes = [(values[code == number], lane, style_of(number)) for number, lane in styled]
    lanes = [lane for lane in lanes if len(lane[0])]
    most = max(np.unique(mine, return_counts=True)[1].max() / len(mine) for mine, _, _ in lanes)
    width = _bar_width(values, width)
    for mine, (base, reach), style in lanes:
        _shape(ax, mine, base, reach, style, width, most)


def _bar_width(values: np.ndarray, widest: float) -> float:
    """The width of a bar for each value; 0 if there are too many, or too close together, to be told apart."""
    different = np.unique(values)
    if len(different) == 1:
        return widest
    width = min(widest, 0.8 * float(np.diff(different).min()))
    return width if len(different) <= MOST_BARS and width >= THINNEST * widest else 0.0


def _lanes(place: float, n_classes: int) -> list[tuple[float, tuple[float, float]]]:
    """The base line of each class's violin, and how far it reaches up and down; two classes are drawn back to back."""
    if n_classes == 2:
        return [(place, (HALF, 0.0)), (place, (0.0, HALF))]
    room = HALF / n_classes
    return [(place - HALF + room * (2 * number + 1), (0.92 * room, 0.92 * room)) for number in range(n_classes)]


def _shape(
    ax: "Axes", values: np.ndarray, base: float, reach: tuple[float, float], style: Style, width: float, most: float
) -> None:
    """A marker for one distinct value, bars for few, a violin for many. Up is towards smaller y."""
    up, down = reach
    different, counts = np.unique(values, return_counts=True)
    if len(different) == 1:
        middle = base + 0.5 * (down - up)
        ax.plot(different, [middle], style.marker, color=style.colour, markeredgecolor=INK, markersize=6, zorder=3)
        return
    look: dict[str, Any] = {"facecolor": style.colour, "edgecolor": INK, "hatch": style.hatch, "linewidth": 0.6}
    if width:
        share = counts / counts.sum() / most
        ax.bar(different, (up + down) * share, width, base - up * share, zorder=2, **look)
        return
    at, density = _density(values)
    ax.fill_between(at, base - up * density, base + down * density, zorder=2, **look)
    middle = float(np.median(values))
    tall = float(np.interp(middle, at, density))
    ax.plot([middle, middle], [base - up * tall, base + down * tall], color="white", linewidth=3.0, zorder=3)
    ax.plot([middle, middle], [base - up * tall, base + down * tall], color=INK, linewidth=1.5, zorder=3)


def _density(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A Gaussian kernel density by Silverman's rule, from the least to the greatest value, scaled to a maximum of 1."""
    if len(values) > MOST_VALUES:
        values = np.quantile(values, np.linspace(0.0, 1.0, MOST_VALUES))
    low, high = np.quantile(values, [0.25, 0.75])
    deviation = min(float(values.std()), (high - low) / 1.34) or float(values.std())
    width = 0.9 * deviation * len(values) ** -0.2
    at = np.linspace(values.min(), values.max(), 120)
    density = np.exp(-0.5 * ((at[:, None] - values) / width) ** 2).sum(axis=1)
    return at, density / density.max()


def _draw_ends(ax: "Axes", place: float, line: Line) -> None:
    """A bar over the range; for a literal two dots, since nothing in between is possible."""
    low, high = line.ends or (0.0, 0.0)
    if line.literal:
        ax.plot([low, high], [place, place], color=GREY, linestyle=":", linewidth=1.2, zorder=1)
        ax.plot([low, high], [place, place], "o", color=SKY, markeredgecolor=INK, markersize=7, zorder=3)
    elif low == high:
        ax.plot(low, place, "|", color=INK, markersize=10, zorder=3)
    else:
        ax.barh(place, high - low, 0.5, low, facecolor=SKY, edgecolor=INK, linewidth=0.8, zorder=2)
