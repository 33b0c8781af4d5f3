"""One decision: from the constant, term by term, to the score."""

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from smallearn.model import SMaLLModel, Term, _decision, as_model
from smallearn.model._arguments import as_row, values_of
from smallearn.model._columns import factor_in_row, is_missing
from smallearn.model._sentences import score_name, value_text
from smallearn.plot import _canvas as canvas
from smallearn.plot._colours import GREY, INK
from smallearn.plot._glyphs import readable
from smallearn.plot._text import LONGEST_LABEL, READ, label_of, name_of, shortened

if TYPE_CHECKING:
    from matplotlib.axes import Axes

UP, DOWN = "#8C8C8C", "#F2F2F2"  # not the colour of any class


def contributions(model: Any, row: Any, *, ax: "Axes | None" = None) -> "Axes":
    """Draw one decision as a waterfall: the constant, what each term adds, and the score.

    The prototype that decides is drawn. With two classes a dashed line marks the score at which the decision changes,
    with more a dotted line the score of the next class.

    Parameters
    ----------
    model : SMaLLModel or fitted estimator
        The model.
    row : mapping, sequence, or array or table of one row
        The row. A mapping from feature names (``x0``, ``x1``, … if the data had none) needs only the features in use.
    ax : matplotlib Axes, default=None
        Where to draw. None for a new figure.

    Returns
    -------
    matplotlib Axes
        Those with the waterfall.

    See Also
    --------
    smallearn.explain.case : The same as text, and what would change the decision.

    Examples
    --------
    >>> from smallearn import SMaLLClassifier, plot
    >>> clf = SMaLLClassifier(n_nonzero=1).fit([[0.0], [1.0], [2.0], [3.0]], ["no", "no", "yes", "yes"])
    >>> ax = plot.contributions(clf, [2.5])
    >>> [text.get_text() for text in ax.get_yticklabels()]
    ['constant', 'x0 = 2.5', 'score']
    """
    canvas.need_matplotlib()
    model = as_model(model)
    values = values_of(model, row)
    decision = model.predict_one(as_row(model, values))
    factor = partial(factor_in_row, values)
    scores = np.array([[float(_decision.score(prototype, factor)) for prototype in model.prototypes]])
    number = int(model.winners(scores)[0])
    prototype = model.prototypes[number]
    labels = ["constant", *(_with_value(term, values[term.feature]) for term in prototype.terms), "score"]
    new = ax is None
    ax = canvas.axes_for(ax, 1.4 + canvas.line_height(labels, 0.42) * len(labels))
    size = canvas.label_lines(ax, labels)
    if new:
        canvas.lay_out(ax)
    ax.axvline(model.cut, color=INK, linewidth=1.0, linestyle="--", zorder=1)
    _bars(ax, [prototype.intercept, *_decision.contributions(prototype, factor)], size)
    canvas.label_axes(ax, "contribution to the score")
    if model.sole_owner is None:
        _mark_next_class(ax, model, scores, prototype.owner)
    name = shortened(readable(score_name(model, number, quote=False, longest=READ)), LONGEST_LABEL)
    canvas.title_axes(ax, f"{name_of(decision)}: {name} {canvas.signed(scores[0, number])}")
    ax.locator_params(axis="x", nbins=8)
    canvas.tidy(ax)
    return ax


def _with_value(term: Term, value: Any) -> str:
    """``age = 35``, ``[age ≤ 40]: 35``."""
    value = float(f"{value:.6g}") if isinstance(value, float | np.floating) and np.isfinite(value) else value
    text, shown = label_of(term), readable(value_text(value, longest=18))
    if term.kind != "raw":
        return f"{text}: {shown}"
    return (
        f"{text} = {shown}, mean {term.mean:.4g} used"
        if is_missing(value) and term.mean is not None
        else f"{text} = {shown}"
    )


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
    _make_room(ax, starts, ends, size)
    for place, (left, height) in enumerate(zip(lefts, heights, strict=True)):
        right = height >= 0.0
        ax.annotate(
            canvas.signed(height), (left + height, place), (4 if right else -4, 0), textcoords="offset points",
            fontsize=size, fontweight="bold" if place == len(parts) else "normal",
            ha="left" if right else "right", va="center",
            bbox={"boxstyle": "square,pad=0.1", "facecolor": "white", "edgecolor": "none", "alpha": 0.8}, zorder=4,
        )  # fmt: skip


def _make_room(ax: "Axes", starts: np.ndarray, ends: np.ndarray, size: float) -> None:
    """Leave space beside the bars for numbers of up to eight characters."""
    low, high = min(0.0, starts.min(), ends.min()), max(0.0, starts.max(), ends.max())
    share = min(0.3, 9 * 0.6 * size / (72 * canvas.inches(ax)[0]))
    room = share / (1.0 - 2.0 * share) * ((high - low) or 1.0)
    ax.set_xlim(low - room, high + room)


def _mark_next_class(ax: "Axes", model: SMaLLModel, scores: np.ndarray, owner: int) -> None:
    """A dotted line at the score of the class that comes after ``owner``."""
    ahead = model.compared(scores)[0]
    ahead[owner] = -np.inf
    following = int(ahead.argmax())
    score = float(_decision.class_scores(scores, model.owners, len(model.classes))[0, following])
    low, high = ax.get_xlim()
    ax.set_xlim(min(low, score - 0.05 * (high - low)), max(high, score + 0.05 * (high - low)))
    ax.axvline(score, color=INK, linewidth=1.4, linestyle=":", zorder=1)
    name = name_of(model.classes[following])
    canvas.label_axes(ax, f"contribution to the score (dotted: next class {name}, {canvas.signed(score)})")
