"""One case: from the constant, term by term, to the score that decided."""

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from smallearn._text import show
from smallearn.model import SMaLLModel, Term, _rule
from smallearn.model._columns import factor_in_row, is_missing
from smallearn.model._rows import as_row, values_of
from smallearn.model._rule import score, winners
from smallearn.plot._canvas import (
    axes_for,
    fitting,
    inches,
    label_axes,
    model_of,
    name_of,
    settle,
    signed,
    size_for,
    term_text,
    tidy,
)
from smallearn.plot._colours import GREY, INK

if TYPE_CHECKING:
    from matplotlib.axes import Axes
UP, DOWN = "#8C8C8C", "#F2F2F2"  # neither is a class's colour


def contributions(model: Any, row: Any, *, ax: "Axes | None" = None) -> "Axes":
    """A waterfall of one case: the constant, what each term adds, and the score of the prototype that decided.

    That is the prototype with the highest score. With more than two classes a dotted line marks the best score of the
    other classes.

    Parameters
    ----------
    model : SMaLLModel or fitted classifier
    row : mapping, sequence, or array or table of one row
        A mapping from feature names (``x0``, ``x1``, … if the data had none) needs only those in use.
    ax : matplotlib Axes, default=None
        None: a new figure.
    """
    model = model_of(model)
    values = values_of(model, row)
    decision = model.predict_one(as_row(model, values))
    factor = partial(factor_in_row, values)
    scores = [float(score(prototype, factor)) for prototype in model.prototypes]
    number = int(winners(np.array([scores]), model.owners)[0])
    prototype = model.prototypes[number]
    added = [prototype.intercept, *_rule.contributions(prototype, factor)]
    new = ax is None
    ax = axes_for(ax, 1.4 + 0.42 * (len(prototype.terms) + 2))
    size = size_for(ax, 1.3 * (len(prototype.terms) + 2), 9.5)
    labels = ["constant", *(_with_value(term, values[term.feature]) for term in prototype.terms), "score"]
    ax.set_yticks(range(len(labels)), labels, parse_math=False, fontsize=size)
    ax.set_ylim(len(labels) - 0.4, -0.6)
    ax.tick_params(axis="y", length=0)
    settle(ax, new)
    ax.axvline(0.0, color=INK, linewidth=1.0, linestyle="--", zorder=1)
    _bars(ax, added, size)
    label_axes(ax, "points")
    _rival(ax, model, scores, number)
    which = "score" if len(scores) == 1 else f"prototype {number + 1} scores"
    title = f"{name_of(decision)}: {which} {signed(scores[number])}"
    ax.set_title(title, fontsize=fitting(inches(ax)[0], len(title), 11.0), parse_math=False, loc="left")
    ax.locator_params(axis="x", nbins=8)
    tidy(ax)
    return ax


def _with_value(term: Term, value: Any) -> str:
    if is_missing(value):
        shown = "missing" if term.kind != "raw" or term.mean is None else f"missing, taken as {term.mean:.4g}"
    elif isinstance(value, str):
        shown = show(value, most=18)
    else:
        shown = f"{value:.5g}" if not isinstance(value, bool | np.bool_) else str(value)
    return f"{term_text(term)} = {shown}" if term.kind == "raw" else f"{term_text(term)}: {shown}"


def _bars(ax: "Axes", parts: list[float], size: float) -> None:
    """A bar for each part, from the sum so far to the next, and one for the sum."""
    ends = np.cumsum(parts)
    starts = np.concatenate([[0.0], ends[:-1]])
    heights = [*parts, ends[-1]]
    lefts = [*starts, 0.0]
    for place, (left, height) in enumerate(zip(lefts, heights, strict=True)):
        last = place == len(parts)
        colour, hatch = (UP, "") if height >= 0.0 else (DOWN, "///")
        ax.barh(
            place, height, 0.62, left, facecolor=colour, hatch=hatch, edgecolor=INK, linewidth=1.6 if last else 0.6,
            zorder=2,
        )  # fmt: skip
        if not last:
            ax.plot([ends[place]] * 2, [place, place + 1], color=GREY, linewidth=0.8, zorder=1)
    _room(ax, starts, ends, size)
    for place, (left, height) in enumerate(zip(lefts, heights, strict=True)):
        right = height >= 0.0
        ax.annotate(
            signed(height), (left + height, place), (4 if right else -4, 0), textcoords="offset points", fontsize=size,
            ha="left" if right else "right", va="center", fontweight="bold" if place == len(parts) else "normal",
            bbox={"boxstyle": "square,pad=0.1", "facecolor": "white", "edgecolor": "none", "alpha": 0.8}, zorder=4,
        )  # fmt: skip


def _room(ax: "Axes", starts: np.ndarray, ends: np.ndarray, size: float) -> None:
    """Space for the numbers beside the bars, of up to eight letters."""
    low, high = min(0.0, starts.min(), ends.min()), max(0.0, starts.max(), ends.max())
    share = min(0.3, 9 * 0.6 * size / (72 * inches(ax)[0]))
    room = share / (1.0 - 2.0 * share) * ((high - low) or 1.0)
    ax.set_xlim(low - room, high + room)


def _rival(ax: "Axes", model: SMaLLModel, scores: list[float], number: int) -> None:
    """The best score of another class, where classes compete."""
    if len(model.classes) == 2:
        return
    mine = model.prototypes[number].owner
    owners = model.owners
    score, owner = max((score, -owner) for score, owner in zip(scores, owners, strict=True) if owner != mine)
    low, high = ax.get_xlim()
    ax.set_xlim(min(low, score - 0.05 * (high - low)), max(high, score + 0.05 * (high - low)))
    ax.axvline(score, color=INK, linewidth=1.4, linestyle=":", zorder=1)
    label_axes(ax, f"points (dotted: {name_of(model.classes[-owner])}, the next class, {signed(score)})")
