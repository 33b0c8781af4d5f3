"""What each term adds, for many classes: a heat map with a column for each class."""

from typing import TYPE_CHECKING, Any

import numpy as np

from smallearn._text import typeset
from smallearn.model import SMaLLModel
from smallearn.plot._canvas import axes_for, inches, label_axes, label_lines, lay_out, line_height, tidy
from smallearn.plot._colours import BLUE, INK, ORANGE, lighter
from smallearn.plot._glyphs import families
from smallearn.plot._lines import Line, write_headings
from smallearn.plot._rows import target_of
from smallearn.plot._text import SMALLEST, font_for_text, name_of, width_of, wrapped

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_VIOLINS = 3  # classes; more are drawn as a heat map
PALE = 0.3  # the share of white in the strongest colour, so that numbers can be read on it
FULL = 0.98  # of the terms' cells that are paler than the strongest colour
LONGEST_COLUMN = 26  # characters of a class above its column
LARGEST_NUMBER = 8.5  # font size within a cell


def heat_map(model: SMaLLModel, lines: list[Line], code: np.ndarray, ax: "Axes | None") -> "Axes":
    """A column for each class in the rows: what terms add on average, relative to all rows, then the mean leads."""
    new = ax is None
    labels = [None if line.is_heading else line.label for line in lines]
    ax = axes_for(ax, 1.9 + line_height(labels, 0.27, 0.12) * len(lines))
    label_lines(ax, labels)
    shown = np.unique(code).tolist()
    cells = _cells(lines, code, shown, _first_lead(lines))
    ax.set_xlim(-0.5, len(shown) - 0.5)
    _name_columns(ax, model, code, shown)
    mesh, limit = _colour(ax, cells, _first_lead(lines))
    _explain_colours(ax, mesh, bool(np.nanmax(np.abs(cells)) > limit))
    if new:
        lay_out(ax)
        _name_columns(ax, model, code, shown)
        lay_out(ax)
    _write_numbers(ax, cells)
    _mark_owners(ax, model, shown)
    write_headings(ax, lines)
    tidy(ax)
    ax.spines[["left", "bottom"]].set_visible(False)
    return ax


def _first_lead(lines: list[Line]) -> int:
    """The place of the first line that shows a lead rather than a term."""
    return 1 + max(place for place, line in enumerate(lines) if line.is_heading)


def _cells(lines: list[Line], code: np.ndarray, shown: list[int], first_lead: int) -> np.ndarray:
    """The mean of each line in the rows of each class, a term's relative to its mean in all rows; NaN in headings."""
    cells = np.full((len(lines), len(shown)), np.nan)
    for place, line in enumerate(lines):
        if line.values is not None:
            average = float(line.values.mean()) if place < first_lead else 0.0
            cells[place] = [float(line.values[code == number].mean()) - average for number in shown]
    return cells


def _name_columns(ax: "Axes", model: SMaLLModel, code: np.ndarray, shown: list[int]) -> None:
    """Classes with their numbers of rows above the columns, on a slope if they are too long."""
    names = [
        wrapped(f"{name_of(model.classes[number], LONGEST_COLUMN)} ({int((code == number).sum())})", LONGEST_COLUMN + 8)
        for number in shown
    ]
    upright = [name.replace(" (", "\n(") for name in names]
    size = min(9.0, max(SMALLEST, 2.2 * inches(ax)[0]))
    is_narrow = max(width_of(name, size) for name in upright) > 0.95 * inches(ax)[0] / len(shown)
    texts = names if is_narrow else upright
    ax.xaxis.tick_top()
    look: dict[str, Any] = {"rotation": 40, "ha": "left", "rotation_mode": "anchor"} if is_narrow else {}
    ax.set_xticks(range(len(shown)), texts, parse_math=False, fontsize=size, **look, **families(texts))
    ax.tick_params(axis="x", length=0)
    ax.xaxis.set_label_position("top")
    target = target_of(model)
    label_axes(ax, "class (rows)" if target is None else f"{name_of(target)} (rows)")


def _colour(ax: "Axes", cells: np.ndarray, first_lead: int) -> tuple[Any, float]:
    """Blue above 0, orange below; returns the mesh and the number that has the strongest colour."""
    from matplotlib.colors import LinearSegmentedColormap

    of_terms = np.abs(cells[:first_lead][~np.isnan(cells[:first_lead])])
    limit = float(np.quantile(of_terms, FULL)) if len(of_terms) else 0.0
    limit = limit or float(np.nanmax(np.abs(cells))) or 1.0
    shades = LinearSegmentedColormap.from_list("signed", [lighter(ORANGE, PALE), "#FFFFFF", lighter(BLUE, PALE)])
    columns, places = np.arange(cells.shape[1] + 1) - 0.5, np.arange(len(cells) + 1) - 0.5
    look: dict[str, Any] = {"cmap": shades, "vmin": -limit, "vmax": limit, "edgecolors": "white", "linewidth": 0.8}
    return ax.pcolormesh(columns, places, np.ma.masked_invalid(cells), **look), limit


def _explain_colours(ax: "Axes", mesh: Any, is_cut: bool) -> None:
    figure: Any = ax.get_figure()
    look: dict[str, Any] = {"orientation": "horizontal", "aspect": 40, "pad": 0.01, "fraction": 0.03}
    bar = figure.colorbar(mesh, ax=ax, extend="both" if is_cut else "neither", **look)
    bar.outline.set_linewidth(0.6)
    bar.ax.locator_params(axis="x", nbins=7)
    label_axes(bar.ax, "mean contribution in the rows of the class, relative to all rows")


def _write_numbers(ax: "Axes", cells: np.ndarray) -> None:
    """Each cell's number, if it can be read."""
    texts = [[typeset(f"{value:+z.2g}") if np.isfinite(value) else "" for value in line] for line in cells.tolist()]
    width, height = inches(ax)
    room, tall = 0.92 * width / cells.shape[1], 72 * height / len(cells) / 1.3
    longest = max((text for line in texts for text in line), key=len)
    size = min(font_for_text(longest, room, LARGEST_NUMBER), tall)
    if size < SMALLEST or width_of(longest, size) > room:
        return
    for place, line in enumerate(texts):
        for column, text in enumerate(line):
            if text:
                ax.text(column, place, text, ha="center", va="center", fontsize=size, color=INK, zorder=3)


def _mark_owners(ax: "Axes", model: SMaLLModel, shown: list[int]) -> None:
    """A frame around the column of the class that a score is for."""
    from matplotlib.patches import Rectangle

    place = 1
    for prototype in model.prototypes:
        tall = len(prototype.terms)
        if prototype.owner in shown and tall:
            corner = (shown.index(prototype.owner) - 0.5, place - 0.5)
            ax.add_patch(Rectangle(corner, 1.0, tall, fill=False, edgecolor=INK, linewidth=1.6, zorder=4))
        place += tall + 1
    if model.sole_owner is None:
        for number in range(len(model.classes)):
            if number in shown:
                corner = (shown.index(number) - 0.5, place + number - 0.5)
                ax.add_patch(Rectangle(corner, 1.0, 1.0, fill=False, edgecolor=INK, linewidth=1.6, zorder=4))
