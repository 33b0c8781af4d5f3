"""Text that fits: long names wrapped or cut in the middle, and font sizes by the width that a text really has."""

import re
import unicodedata
from typing import Any

from smallearn._text import show
from smallearn.model import Term
from smallearn.model._term import term_text
from smallearn.plot._glyphs import families, readable

LONGEST_LABEL = 60  # characters of a term beside a line, beyond which its middle is left out
LONGEST_NAME = 40  # characters of a class or a feature within a sentence or a legend
WRAP = 30  # characters of a line of a label
READ = 400  # characters of a name that are read at all
SMALLEST = 5.0  # points
HINTED = 1.08  # how much wider text may be drawn at low resolutions


def name_of(label: Any, longest: int = LONGEST_NAME) -> str:
    """The name of a feature or a class, on one line, in signs that can be drawn."""
    return shortened(readable(show(label, quote=False, most=READ)), longest)


def label_of(term: Term, longest: int = LONGEST_LABEL) -> str:
    """A term, in signs that can be drawn; its end, which often tells it from others, is kept."""
    return shortened(readable(term_text(term, longest=READ)), longest)


def shortened(text: str, longest: int) -> str:
    """The text without its middle if it is longer: names often differ only in their ends."""
    if len(text) <= longest:
        return text
    tail = (longest - 1) // 2
    return f"{text[: longest - 1 - tail]}…{text[-tail:]}"


def wrapped(text: str, most: int = WRAP) -> str:
    """The text in lines of at most ``most`` characters, broken after blanks and underscores where possible."""
    lines = [""]
    for word in re.split(r"(?<=[\s_/])", text):
        if lines[-1] and _cells(lines[-1] + word.rstrip()) > most:
            lines.append("")
        for sign in word:
            if _cells(lines[-1] + sign) > most and not sign.isspace():
                lines.append("")
            lines[-1] += sign
    return "\n".join(line.rstrip() for line in lines)


def n_lines(text: str) -> int:
    """The number of lines of a text."""
    return text.count("\n") + 1


def _cells(text: str) -> int:
    """The width of a text in letters; signs of East Asian scripts are as wide as two."""
    return sum(2 if unicodedata.east_asian_width(sign) in "WF" else 1 for sign in text)


def width_of(text: str, size: float, weight: str = "normal") -> float:
    """The width of the longest line in inches."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    fonts = families([text])
    properties = FontProperties(family=fonts.get("fontfamily"), size=size, weight=weight)
    widths = [
        text_to_path.get_text_width_height_descent(line, properties, ismath=False)[0] for line in text.split("\n")
    ]
    return float(max(widths)) / 72


def font_for_text(text: str, length: float, largest: float, weight: str = "normal") -> float:
    """The font size at which the text fits into ``length`` inches, at least `SMALLEST`."""
    return float(min(largest, max(SMALLEST, largest * length / max(width_of(text, largest, weight), 1e-6))))


def fitted(text: str, length: float, largest: float, smallest: float = 7.5) -> tuple[str, float]:
    """The text and its font size, wrapped if it would not fit into ``length`` inches at the smallest readable size."""
    size = font_for_text(text, length, largest)
    if size >= smallest:
        return text, size
    letters = max(12, int(_cells(text) * length / width_of(text, smallest)) - 1)
    text = "\n".join(wrapped(line, letters) for line in text.split("\n"))
    return text, font_for_text(text, length, smallest)
