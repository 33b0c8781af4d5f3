"""The model as a card: its rule, the terms of each prototype, and the probability of each total."""

import math
import textwrap
from typing import TYPE_CHECKING, Any, NamedTuple

from smallearn._text import percent, show, typeset
from smallearn.model import SMaLLModel, as_model
from smallearn.model._sentences import card_lines, score_title
from smallearn.plot._canvas import WIDTH, axes_for, inches, signed
from smallearn.plot._colours import BLUE, GREY, INK, lighter
from smallearn.plot._glyphs import make_readable

if TYPE_CHECKING:
    from matplotlib.axes import Axes

TALL = 26  # lines of a column; more are set in two columns, and still more in three
CELLS = 13  # totals side by side
STRIP = 2.2  # lines of one strip of totals
DARKEST = 0.7  # of the colour, so that black text can be read on it
LETTER = 0.54  # width of a letter relative to the font size, about
LEADING = 1.5
READABLE = 9.5  # font size of the rule, if the width allows
SHADE = "#F1F1F1"


class Block(NamedTuple):
    """A prototype: its heading, and for each line the weight and what it is multiplied by."""

    heading: str
    lines: list[tuple[str, str]]

    @property
    def height(self) -> float:
        """In lines, with its heading."""
        return len(self.lines) + 1.7


def score_card(model: Any, *, ax: "Axes | None" = None) -> "Axes":
    """Draw a model as a card: the rule, and the terms of each prototype with their points or weights.

    For a score card of literals with two classes, the probability of each total is listed below.

    Parameters
    ----------
    model : SMaLLModel or fitted estimator
        The model. `smallearn.explain.rounded` gives one with fewer digits.
    ax : matplotlib Axes, default=None
        Where to draw, in a font as large as fits. None for a new figure.

    Returns
    -------
    matplotlib Axes
        Those with the card.

    Examples
    --------
    >>> from smallearn import SMaLLClassifier, explain, plot
    >>> rows = [[30.0], [35.0], [45.0], [60.0]]
    >>> clf = SMaLLClassifier(n_nonzero=1, literals="thresholds").fit(rows, ["no", "no", "yes", "yes"])
    >>> ax = plot.score_card(explain.rounded(clf, rows))
    """
    model = as_model(model)
    blocks = [_block(model, number) for number in range(len(model.prototypes))]
    totals = model.totals()
    columns = _columns(blocks)
    width = WIDTH if ax is None else inches(axes_for(ax, 0.0))[0]
    characters = min(80, max(36, int(72 * width / (LETTER * READABLE))))
    rule = textwrap.wrap(model.rule, characters)
    body = max(sum(block.height for block in column) for column in columns)
    strips = math.ceil(len(totals) / CELLS)
    lines = len(rule) + 0.8 + body + (1.3 + STRIP * strips if totals else 0.0)
    ax = axes_for(ax, max(1.5, 0.2 + 0.23 * lines))
    size = _font_size(ax, lines, columns, characters)
    ax.set(xlim=(0.0, 1.0), ylim=(lines, 0.0))
    ax.set_axis_off()
    for at, text in enumerate(rule):
        _write(ax, 0.0, at + 0.5, text, size)
    for number, column in enumerate(columns):
        _draw_column(ax, column, number / len(columns), len(rule) + 0.8, 1.0 / len(columns), size)
    if totals:
        _draw_totals(ax, model, totals, len(rule) + 0.8 + body, size)
    make_readable(ax)
    return ax


# --- text ------------------------------------------------------------------------------------------------------------


def _block(model: SMaLLModel, number: int) -> Block:
    """The heading and the lines of a prototype."""
    lines = card_lines(model, number, longest=30)
    return Block(
        heading=score_title(model, number, quote=False, longest=20),
        lines=[(typeset(line.number), line.text) for line in lines],
    )


# --- layout ----------------------------------------------------------------------------------------------------------


def _columns(blocks: list[Block]) -> list[list[Block]]:
    """One column, or up to three of about the same height."""
    total = sum(block.height for block in blocks)
    number = min(3, len(blocks), math.ceil(total / TALL))
    columns: list[list[Block]] = [[] for _ in range(number)]
    above = 0.0
    for block in blocks:
        columns[min(number - 1, int(number * above / total))].append(block)
        above += block.height
    return [column for column in columns if column]


def _font_size(ax: "Axes", lines: float, columns: list[list[Block]], characters: int) -> float:
    """The largest font that fits in width and height."""
    width, height = inches(ax)
    longest = max(len(weight) + len(text) + 5 for column in columns for block in column for weight, text in block.lines)
    most = max(characters, longest * len(columns))
    return min(11.0, 72 * height / (lines * LEADING), 72 * width / (most * LETTER))


def _write(ax: "Axes", x: float, y: float, text: str, size: float, **options: Any) -> None:
    look = {"ha": "left", "va": "center", "color": INK, "fontsize": size, "parse_math": False, **options}
    ax.text(x, y, text, **look)


def _draw_column(ax: "Axes", blocks: list[Block], left: float, top: float, width: float, size: float) -> None:
    letter = size * LETTER / (72 * inches(ax)[0])  # its width relative to the Axes
    right = left + width - (2.5 * letter if left + width < 0.999 else 0.0)
    weights = max(len(weight) for block in blocks for weight, _ in block.lines)
    middle = left + (weights + 3) * letter
    for block in blocks:
        _write(ax, left, top + 0.6, block.heading, size, fontweight="bold")
        ax.plot([left, right], [top + 1.15] * 2, color=INK, linewidth=1.0)
        for at, (weight, text) in enumerate(block.lines):
            y = top + 1.7 + at
            if at % 2 == 0:
                ax.fill_between([left, right], y - 0.5, y + 0.5, color=SHADE, linewidth=0, zorder=0)
            _write(ax, middle - 1.2 * letter, y, weight, size, ha="right")
            _write(ax, middle, y, text, size)
        top += block.height


def _draw_totals(ax: "Axes", model: SMaLLModel, totals: list[tuple[int, float]], top: float, size: float) -> None:
    """Strips of cells: the total above, its probability below, darker if higher; a bar where the decision changes."""
    owner = model.prototypes[0].owner
    label = show(model.classes[owner], most=30)
    _write(ax, 0.0, top + 0.6, f"Points and probability of {label}", size, fontweight="bold")
    top += 1.3
    strips = math.ceil(len(totals) / CELLS)
    across = math.ceil(len(totals) / strips)
    width = 1.0 / max(across, 8)
    letters = min(size, 72 * inches(ax)[0] * width / (7.5 * LETTER))
    for number, (total, chance) in enumerate(totals):
        x, y = number % across * width, top + number // across * STRIP
        shade = lighter(BLUE, 1.0 - DARKEST * chance)
        ax.fill_between([x, x + width], y, y + 1.9, facecolor=shade, edgecolor=GREY, linewidth=0.6)
        _write(ax, x + width / 2, y + 0.55, signed(total), letters, ha="center", fontweight="bold")
        _write(ax, x + width / 2, y + 1.4, percent(chance), letters, ha="center")
        before = totals[number - 1][0] if number else None
        if before is not None and _predicts_owner(model, total) and not _predicts_owner(model, before):
            ax.plot([x, x], [y - 0.1, y + 2.0], color="black", linewidth=3.0, solid_capstyle="butt")


def _predicts_owner(model: SMaLLModel, total: int) -> bool:
    """Whether the class that owns the prototypes is predicted: a tie goes to the first of the two."""
    return total > model.cut or (total == model.cut and model.prototypes[0].owner == 0)
