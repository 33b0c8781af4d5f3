"""The model as a card: its rule, the terms of each prototype with their weights or points, and what totals mean."""

import math
import textwrap
from typing import TYPE_CHECKING, Any, NamedTuple

from smallearn._text import percent, show
from smallearn.model import Prototype, SMaLLModel, Term
from smallearn.plot._canvas import WIDTH, axes_for, inches, model_of, name_of, signed, term_text
from smallearn.plot._colours import BLUE, GREY, INK, lighter

if TYPE_CHECKING:
    from matplotlib.axes import Axes

TALL = 26  # lines of a column; more are set in two columns, and more again in three
CELLS = 13  # totals side by side
STRIP = 2.2  # lines of one strip of totals
DARKEST = 0.7  # of the colour, so that black is read on it
LETTER = 0.54  # width of a letter to its size, about
LEADING = 1.5
READABLE = 9.5  # letters of the rule, as far as the width allows
SHADE = "#F1F1F1"


class Block(NamedTuple):
    """A prototype: heading, and a weight and what it is multiplied by on each line."""

    heading: str
    lines: list[tuple[str, str]]

    @property
    def tall(self) -> float:
        return len(self.lines) + 1.7


def score_card(model: Any, *, ax: "Axes | None" = None) -> "Axes":
    """The model as a table: the rule, and the terms of each prototype with their points or weights.

    If it counts whole points for literals and has two classes, a strip says what each total means.

    Parameters
    ----------
    model : SMaLLModel or fitted classifier
    ax : matplotlib Axes, default=None
        None: a new figure. Letters are as large as the Axes allow.
    """
    model = model_of(model)
    blocks = [_block(model, number, prototype) for number, prototype in enumerate(model.prototypes, start=1)]
    totals = model.totals()
    columns = _columns(blocks)
    width = WIDTH if ax is None else inches(axes_for(ax, 0.0))[0]
    signs = min(80, max(36, int(72 * width / (LETTER * READABLE))))
    rule = textwrap.wrap(model.rule, signs)
    body = max(sum(block.tall for block in column) for column in columns)
    strips = math.ceil(len(totals) / CELLS)
    lines = len(rule) + 0.8 + body + (1.3 + STRIP * strips if totals else 0.0)
    ax = axes_for(ax, max(1.5, 0.2 + 0.23 * lines))
    size = _size(ax, lines, columns, signs)
    ax.set(xlim=(0.0, 1.0), ylim=(lines, 0.0))
    ax.set_axis_off()
    for at, text in enumerate(rule):
        _write(ax, 0.0, at + 0.5, text, size)
    for number, column in enumerate(columns):
        _draw_column(ax, column, number / len(columns), len(rule) + 0.8, 1.0 / len(columns), size)
    if totals:
        _draw_totals(ax, model, totals, len(rule) + 0.8 + body, size)
    return ax


# --- what it says ----------------------------------------------------------------------------------------------------


def _block(model: SMaLLModel, number: int, prototype: Prototype) -> Block:
    card = model.is_score_card
    heading = "Score" if len(model.prototypes) == 1 else f"Prototype {number}"
    if len(model.classes) > 2:
        heading += f", for {name_of(model.classes[prototype.owner], 20)}"
    lines = [_line(term, card) for term in prototype.terms]
    return Block(heading, [*lines, (_number(prototype.intercept, card), "constant")])


def _line(term: Term, card: bool) -> tuple[str, str]:
    text = term_text(term, 30)
    if term.kind != "raw":
        return _number(term.points, card), text
    per = "" if not card or term.unit in (None, 1.0) else f"per {term.unit:.15g} "
    return _number(term.points if card else term.weight, card), f"{per}× {text}"


def _number(points: float, card: bool) -> str:
    return (f"{round(points):+d}" if card else f"{points:+.4g}").replace("-", "\u2212")


# --- where it stands -------------------------------------------------------------------------------------------------


def _columns(blocks: list[Block]) -> list[list[Block]]:
    """One column, or up to three of about the same height."""
    total = sum(block.tall for block in blocks)
    number = min(3, len(blocks), math.ceil(total / TALL))
    columns: list[list[Block]] = [[] for _ in range(number)]
    above = 0.0
    for block in blocks:
        columns[min(number - 1, int(number * above / total))].append(block)
        above += block.tall
    return [column for column in columns if column]


def _size(ax: "Axes", lines: float, columns: list[list[Block]], signs: int) -> float:
    """Letters that fit both ways."""
    width, height = inches(ax)
    longest = max(len(weight) + len(text) + 5 for column in columns for block in column for weight, text in block.lines)
    most = max(signs, longest * len(columns))
    return min(11.0, 72 * height / (lines * LEADING), 72 * width / (most * LETTER))


def _write(ax: "Axes", x: float, y: float, text: str, size: float, **options: Any) -> None:
    look = {"ha": "left", "va": "center", "color": INK, "fontsize": size, "parse_math": False, **options}
    ax.text(x, y, text, **look)


def _draw_column(ax: "Axes", blocks: list[Block], left: float, top: float, width: float, size: float) -> None:
    sign = size * LETTER / (72 * inches(ax)[0])  # the width of a letter, of that of the Axes
    right = left + width - (2.5 * sign if left + width < 0.999 else 0.0)
    weights = max(len(weight) for block in blocks for weight, _ in block.lines)
    middle = left + (weights + 3) * sign
    for block in blocks:
        _write(ax, left, top + 0.6, block.heading, size, fontweight="bold")
        ax.plot([left, right], [top + 1.15] * 2, color=INK, linewidth=1.0)
        for at, (weight, text) in enumerate(block.lines):
            y = top + 1.7 + at
            if at % 2 == 0:
                ax.fill_between([left, right], y - 0.5, y + 0.5, color=SHADE, linewidth=0, zorder=0)
            _write(ax, middle - 1.2 * sign, y, weight, size, ha="right")
            _write(ax, middle, y, text, size)
        top += block.tall


def _draw_totals(ax: "Axes", model: SMaLLModel, totals: list[tuple[int, float]], top: float, size: float) -> None:
    """Strips of cells: the total above, its probability below, darker the higher; a bar where the decision turns."""
    owner = model.prototypes[0].owner
    label = show(model.classes[owner], most=30)
    _write(ax, 0.0, top + 0.6, f"Points, and the probability of {label}", size, fontweight="bold")
    top += 1.3
    strips = math.ceil(len(totals) / CELLS)
    across = math.ceil(len(totals) / strips)
    width = 1.0 / max(across, 8)
    letters = min(size, 72 * inches(ax)[0] * width / (7.5 * LETTER))
    for number, (total, chance) in enumerate(totals):
        x, y = number % across * width, top + number // across * STRIP
        shade = lighter(BLUE, 1.0 - DARKEST * chance)
        ax.fill_between([x, x + width], y, y + 1.9, facecolor=shade, edgecolor=GREY, linewidth=0.6)
        points = signed(total)
        _write(ax, x + width / 2, y + 0.55, points, letters, ha="center", fontweight="bold")
        _write(ax, x + width / 2, y + 1.4, percent(chance), letters, ha="center")
        before = totals[number - 1][0] if number else None
        if before is not None and _says_yes(total, owner) and not _says_yes(before, owner):
            ax.plot([x, x], [y - 0.1, y + 2.0], color="black", linewidth=3.0, solid_capstyle="butt")


def _says_yes(total: int, owner: int) -> bool:
    """Whether the class that owns the prototypes is predicted: a tie goes to the first of the two."""
    return total > 0 or (total == 0 and owner == 0)
