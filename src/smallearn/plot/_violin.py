"""What each term adds to its score, class by class, and the score that decides."""

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from smallearn.model import Prototype, SMaLLModel, Term
from smallearn.model._rows import codes
from smallearn.model._rule import class_scores, leads
from smallearn.plot._canvas import (
    axes_for,
    fitting,
    inches,
    label_axes,
    legend_above,
    model_of,
    name_of,
    sample,
    settle,
    signed,
    size_for,
    term_text,
    tidy,
)
from smallearn.plot._colours import GREY, INK, NOBODY, SKY, Style, style_of
from smallearn.plot._rows import additions, n_rows_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_STICKS = 12  # different values that are drawn one by one; more become a density
MOST_VALUES = 2000  # that a density is made of: of more rows, so many quantiles
HALF = 0.42  # the height of half a line
WIDE = 0.018  # a bar, of what the axis reaches over


class Line(NamedTuple):
    """One line of the picture: the values of the rows, or the two ends of what can be; neither for a heading."""

    label: str
    values: np.ndarray | None = None
    ends: tuple[float, float] | None = None
    literal: bool = False

    @property
    def is_heading(self) -> bool:
        return self.values is None and self.ends is None


def violins(model: Any, X: Any = None, y: Any = None, *, ax: "Axes | None" = None) -> "Axes":
    """What each term adds to its score, in points: a pair of violins for each term of each prototype, one for a class.

    Below them is the score that decides, with the line at 0; with more than two classes, the lead of each class over
    the best of the others. Where a term takes few values, as a literal does, there is a bar for each, as high as its
    share of the class (the highest of a line is drawn whole); where it takes one, a marker. Short lines are medians.

    Parameters
    ----------
    model : SMaLLModel or fitted classifier
    X : array or table, rows × features, default=None
        None: the ends of what each term can add over the training ranges, as far as the model knows them.
    y : labels, default=None
        None: the rows are not told apart.
    ax : matplotlib Axes, default=None
        None: a new figure.
    """
    model = model_of(model)
    if X is None and y is not None:
        raise ValueError("y came without X; violins takes both, X alone or neither.")
    lines = _possible_lines(model) if X is None else _measured_lines(model, X)
    code = None if X is None or y is None else codes(model, y, n_rows_of(X))
    new = ax is None
    ax = axes_for(ax, 1.1 + (0.36 if code is None or len(model.classes) == 2 else 0.5) * len(lines))
    _name_lines(ax, lines)
    settle(ax, new)
    ax.axvline(0.0, color=INK, linewidth=1.0, linestyle="--", zorder=1)
    _draw(ax, model, lines, code)
    _write_headings(ax, lines)
    over = " over the training ranges" if X is None else ""
    label_axes(ax, f"points added to the score{over}")
    if code is not None:
        shown = [number for number in range(len(model.classes)) if (code == number).any()]
        names = [f"{name_of(model.classes[number])} ({int((code == number).sum())})" for number in shown]
        legend_above(ax, [sample(style_of(number)) for number in shown], names)
    ax.locator_params(axis="x", nbins=8)
    tidy(ax)
    return ax


# --- the lines -------------------------------------------------------------------------------------------------------


def _heading(model: SMaLLModel, number: int) -> Line:
    owner = model.prototypes[number].owner
    of_class = f", for {name_of(model.classes[owner])}" if len(model.classes) > 2 else ""
    return Line(f"prototype {number + 1}{of_class}: constant {signed(model.prototypes[number].intercept)}")


def _deciding(model: SMaLLModel, suffix: str = "") -> list[str]:
    """The heading of the last lines, and their labels."""
    if len(model.classes) > 2:
        return [
            "lead over the next class: predicted if above 0",
            *(f"{name_of(label)}{suffix}" for label in model.classes),
        ]
    owner = model.prototypes[0].owner
    bar = "above 0" if owner == 1 else "0 or more"
    return [f"score that decides: {name_of(model.classes[owner])} if {bar}", f"score{suffix}"]


def _measured_lines(model: SMaLLModel, X: Any) -> list[Line]:
    n_rows_of(X)
    best = class_scores(model.scores(X), model.owners, len(model.classes))  # first, for it says what is wrong with X
    lines = []
    for number, (prototype, added) in enumerate(zip(model.prototypes, additions(model, X), strict=True)):
        lines.append(_heading(model, number))
        for place, term in enumerate(prototype.terms):
            lines.append(Line(term_text(term), values=added[:, place], literal=term.kind != "raw"))
    owner = model.prototypes[0].owner
    decides = best[:, [owner]] if len(model.classes) == 2 else leads(best)
    heading, *labels = _deciding(model)
    return [*lines, Line(heading), *(Line(label, values=decides[:, at]) for at, label in enumerate(labels))]


def _possible_lines(model: SMaLLModel) -> list[Line]:
    lines = []
    for number, prototype in enumerate(model.prototypes):
        lines.append(_heading(model, number))
        for term in prototype.terms:
            ends = _ends(model, term)
            unknown = "" if ends else f" ({signed(term.weight)} a unit, range unknown)"
            lines.append(Line(term_text(term) + unknown, ends=ends or (0.0, 0.0), literal=term.kind != "raw"))
    spans = [_span(model, prototype) for prototype in model.prototypes]
    if any(span is None for span in spans):
        return lines
    scores = np.array([span for span in spans if span]).T  # the least of each prototype, the greatest
    low, high = class_scores(scores, model.owners, len(model.classes))
    heading, *labels = _deciding(model, " (limits)")
    if len(model.classes) == 2:
        owner = model.prototypes[0].owner
        ends_of = [(float(low[owner]), float(high[owner]))]
    else:
        others = [np.delete(np.arange(len(low)), label) for label in range(len(low))]
        ends_of = [
            (float(low[label] - high[rest].max()), float(high[label] - low[rest].max()))
            for label, rest in enumerate(others)
        ]
    return [*lines, Line(heading), *(Line(label, ends=ends) for label, ends in zip(labels, ends_of, strict=True))]


def _ends(model: SMaLLModel, term: Term) -> tuple[float, float] | None:
    """The least and the most that a term can add."""
    if term.kind != "raw":
        return min(0.0, term.weight), max(0.0, term.weight)
    for extent in model.ranges:
        if extent.feature == term.feature:
            ends = sorted((term.weight * extent.low, term.weight * extent.high))
            return (ends[0], ends[1]) if np.isfinite(ends).all() else None
    return None


def _span(model: SMaLLModel, prototype: Prototype) -> tuple[float, float] | None:
    """Limits of a prototype's score, each feature on its own."""
    ends = [_ends(model, term) for term in prototype.terms]
    if any(pair is None for pair in ends):
        return None
    return tuple(prototype.intercept + sum(pair[end] for pair in ends if pair) for end in (0, 1))  # type: ignore[return-value]


# --- drawing ---------------------------------------------------------------------------------------------------------


def _draw(ax: "Axes", model: SMaLLModel, lines: list[Line], code: np.ndarray | None) -> None:
    every = np.concatenate([np.ravel(part) for line in lines for part in line[1:3] if part is not None] + [np.zeros(1)])
    reach = float(np.ptp(every)) or 1.0
    for place, line in enumerate(lines):
        if line.ends is not None:
            _draw_ends(ax, place, line)
        elif line.values is not None:
            _draw_values(ax, place, line.values, code, len(model.classes), WIDE * reach)
    ax.set_xlim(every.min() - 0.03 * reach, every.max() + 0.03 * reach)


def _draw_values(
    ax: "Axes", place: int, values: np.ndarray, code: np.ndarray | None, n_classes: int, width: float
) -> None:
    """One shape for each class. Bars are as high as the share of the class's rows, the highest of the line whole."""
    if code is None:
        lanes = [(values, (float(place), (HALF, HALF)), NOBODY)]
    else:
        styled = enumerate(_lanes(place, n_classes))
        lanes = [(values[code == number], lane, style_of(number)) for number, lane in styled]
    lanes = [lane for lane in lanes if len(lane[0])]
    most = max(np.unique(mine, return_counts=True)[1].max() / len(mine) for mine, _, _ in lanes)
    for mine, (base, reach), style in lanes:
        _shape(ax, mine, base, reach, style, width, most)


def _lanes(place: float, n_classes: int) -> list[tuple[float, tuple[float, float]]]:
    """Where the violin of each class stands, and how far it reaches up and down: two share a line back to back."""
    if n_classes == 2:
        return [(place, (HALF, 0.0)), (place, (0.0, HALF))]
    room = HALF / n_classes
    return [(place - HALF + room * (2 * number + 1), (0.92 * room, 0.92 * room)) for number in range(n_classes)]


def _shape(
    ax: "Axes", values: np.ndarray, base: float, reach: tuple[float, float], style: Style, width: float, most: float
) -> None:
    """A marker for one value, bars for few, a violin for many. Up is towards smaller y."""
    up, down = reach
    different, counts = np.unique(values, return_counts=True)
    if len(different) == 1:
        middle = base + 0.5 * (down - up)
        ax.plot(different, [middle], style.marker, color=style.colour, markeredgecolor=INK, markersize=6, zorder=3)
        return
    look: dict[str, Any] = {"facecolor": style.colour, "edgecolor": INK, "hatch": style.hatch, "linewidth": 0.6}
    if len(different) <= MOST_STICKS:
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
    """Gaussian kernels of Silverman's width, the highest point 1, between the least value and the greatest."""
    if len(values) > MOST_VALUES:
        values = np.quantile(values, np.linspace(0.0, 1.0, MOST_VALUES))
    low, high = np.quantile(values, [0.25, 0.75])
    spread = min(float(values.std()), (high - low) / 1.34) or float(values.std())
    width = 0.9 * spread * len(values) ** -0.2
    at = np.linspace(values.min(), values.max(), 120)
    density = np.exp(-0.5 * ((at[:, None] - values) / width) ** 2).sum(axis=1)
    return at, density / density.max()


def _draw_ends(ax: "Axes", place: float, line: Line) -> None:
    low, high = line.ends or (0.0, 0.0)
    if line.literal:  # nothing in between
        ax.plot([low, high], [place, place], color=GREY, linestyle=":", linewidth=1.2, zorder=1)
        ax.plot([low, high], [place, place], "o", color=SKY, markeredgecolor=INK, markersize=7, zorder=3)
    elif low == high:
        ax.plot(low, place, "|", color=INK, markersize=10, zorder=3)
    else:
        ax.barh(place, high - low, 0.5, low, facecolor=SKY, edgecolor=INK, linewidth=0.8, zorder=2)


def _name_lines(ax: "Axes", lines: list[Line]) -> None:
    named = [place for place, line in enumerate(lines) if not line.is_heading]
    size = size_for(ax, len(lines), 9.5)
    ax.set_yticks(named, [lines[place].label for place in named], parse_math=False, fontsize=size)
    ax.set_ylim(len(lines) - 0.4, -0.6)
    ax.tick_params(axis="y", length=0)


def _write_headings(ax: "Axes", lines: list[Line]) -> None:
    """Inside the Axes, where their line is empty."""
    longest = max(len(line.label) for line in lines if line.is_heading)
    size = fitting(inches(ax)[0], round(1.15 * longest), size_for(ax, len(lines), 9.5))
    behind = {"boxstyle": "square,pad=0.15", "facecolor": "white", "edgecolor": "none"}
    look: dict[str, Any] = {"va": "center", "fontweight": "bold", "fontsize": size, "parse_math": False, "zorder": 2}
    for place, line in enumerate(lines):
        if line.is_heading:
            where: dict[str, Any] = {"transform": ax.get_yaxis_transform(), "in_layout": False}
            ax.text(0.012, place, line.label, bbox=behind, **where, **look)
            if place:
                ax.axhline(place - 0.5, color=GREY, linewidth=0.6)
