"""How classes are drawn: each has a colour, a marker, a hatch and a line style, so that colour is never needed."""

from typing import NamedTuple

# Okabe and Ito's palette, which is safe for the colour-blind.
ORANGE, SKY, GREEN, YELLOW, BLUE, RED, PINK, GREY = (
    "#E69F00", "#56B4E9", "#009E73", "#F0E442", "#0072B2", "#D55E00", "#CC79A7", "#777777",
)  # fmt: skip
INK = "#222222"

# The first four differ in grey as well.
_COLOURS = (BLUE, ORANGE, YELLOW, "#000000", GREEN, PINK, RED, SKY)
_MARKERS = ("o", "^", "s", "D", "v", "P", "X", "<", ">", "p", "h")
_HATCHES = ("", "///", "...", "xxx", "\\\\\\", "+++", "ooo", "---", "|||")
_LINES = ("-", "--", ":", "-.")


class Style(NamedTuple):
    """How one class is drawn."""

    colour: str
    marker: str
    hatch: str
    line: str


def style_of(number: int) -> Style:
    """The style of class ``number``; the first 88 classes differ in colour or marker."""
    lists = (_COLOURS, _MARKERS, _HATCHES, _LINES)
    return Style(*(choices[number % len(choices)] for choices in lists))


UNLABELLED = Style("#BBBBBB", "o", "", "-")  # rows whose class is not given


def lighter(colour: str, white: float) -> str:
    """The colour mixed with a share of white, from 0 to 1."""
    parts = [int(colour[at : at + 2], 16) for at in (1, 3, 5)]
    return "#" + "".join(f"{round(part + (255 - part) * white):02X}" for part in parts)
