"""The model as a card: its rule, the terms of each prototype, and the probability of each total."""

import math
from typing import TYPE_CHECKING, Any, NamedTuple

from smallearn._text import percent, typeset
from smallearn.model import SMaLLModel, as_model
from smallearn.model._sentences import card_lines, score_title
from smallearn.plot._canvas import WIDTH, axes_for, inches, need_matplotlib, signed
from smallearn.plot._colours import BLUE, GREY, INK, lighter
from smallearn.plot._glyphs import make_readable, readable
from smallearn.plot._text import READ, name_of, shortened, width_of, wrapped

if TYPE_CHECKING:
    from matplotlib.axes import Axes

TALL = 26  # lines of a column; more are set in two columns, and still more in three
CELLS = 13  # totals side by side
STRIP = 2.2  # lines of one strip of totals
DARKEST = 0.7  # of the colour, so that black text can be read on it
LETTER = 0.54  # width of a letter relative to the font size, about
GAP = 2.5  # letters between two columns
SMALLEST_OF_MANY = 7.5  # font size of several columns
LONGEST_LINE, LONGEST_HEADING = 64, 50  # characters, beyond which the middle is left out
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
    need_matplotlib()
    model = as_model(model)
    blocks = [_block(model, number) for number in range(len(model.prototypes))]
    totals = model.totals()
    width = WIDTH if ax is None else inches(axes_for(ax, 0.0))[0]
    columns = _columns(blocks, width)
    characters = min(80, max(36, int(72 * width / (LETTER * READABLE))))
    rule = wrapped(readable(model.rule), characters).split("\n")
    body = max(sum(block.height for block in column) for column in columns)
    strips = math.ceil(len(totals) / CELLS)
    lines = len(rule) + 0.8 + body + (1.3 + STRIP * strips if totals else 0.0)
    ax = axes_for(ax, max(1.5, 0.2 + 0.23 * lines))
    size = _font_size(ax, lines, columns, rule)
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
    return Block(
        heading=shortened(readable(score_title(model, number, quote=False, longest=READ)), LONGEST_HEADING),
        lines=[
            (typeset(line.number), shortened(readable(line.text), LONGEST_LINE))
            for line in card_lines(model, number, longest=READ)
        ],
    )


# --- layout ----------------------------------------------------------------------------------------------------------


def _columns(blocks: list[Block], width: float) -> list[list[Block]]:
    """One column, or up to three of about the same height, if they can be read side by side in ``width`` inches."""
    total = sum(block.height for block in blocks)
    fitting = max(1, int(width / _width(blocks, SMALLEST_OF_MANY)))
    number = min(3, len(blocks), math.ceil(total / TALL), fitting)
    columns: list[list[Block]] = [[] for _ in range(number)]
    above = 0.0
    for block in blocks:
        columns[min(number - 1, int(number * above / total))].append(block)
        above += block.height
    return [column for column in columns if column]


def _font_size(ax: "Axes", lines: float, columns: list[list[Block]], rule: list[str]) -> float:
    """The largest font that fits in width and height."""
    width, height = inches(ax)
    at = 10.0  # points, at which widths are measured
    widths = [max(_width(column, at) for column in columns) * len(columns), *(width_of(line, at) for line in rule)]
    return min(11.0, 72 * height / (lines * LEADING), at * width / max(widths))


def _width(blocks: list[Block], size: float) -> float:
    """The width of a column of these blocks in inches, with the space after it."""
    letter = size * LETTER / 72
    headings = max(width_of(block.heading, size, "bold") for block in blocks)
    lines = max(width_of(text, size) for block in blocks for _, text in block.lines)
    return GAP * letter + max(headings, (3 + _digits(blocks)) * letter + lines)


def _digits(blocks: list[Block]) -> int:
    """The characters of the longest weight."""
    return max(len(weight) for block in blocks for weight, _ in block.lines)


def _write(ax: "Axes", x: float, y: float, text: str, size: float, **options: Any) -> None:
    look = {"ha": "left", "va": "center", "color": INK, "fontsize": size, "parse_math": False, **options}
    ax.text(x, y, text, **look)


def _draw_column(ax: "Axes", blocks: list[Block], left: float, top: float, width: float, size: float) -> None:
    letter = size * LETTER / (72 * inches(ax)[0])  # its width relative to the Axes
    right = left + width - (GAP * letter if left + width < 0.999 else 0.0)
    middle = left + (_digits(blocks) + 3) * letter
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
    label = name_of(model.classes[owner])
    label = f"'{label}'" if isinstance(model.classes[owner], str) else label
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
