"""Pictures of the page as SVG text: axes, marks and labels. Colours are classes of style.css, so that dark mode works.

Pictures are small (``WIDTH`` units wide) and shown at about that many pixels, so that their text can be read on phones.
"""

import math
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from html import escape

WIDTH, HEIGHT = 340, 210
LEFT, RIGHT, TOP, BOTTOM = 46, 12, 12, 40
LETTER, WIDE_LETTER = 6.1, 11.0  # about the width of a letter, and of one of Chinese, Japanese or Korean
MOST_PLAIN = 1e6  # numbers below it are written without an exponent, as the script of the page does
Point = tuple[float, float]


@dataclass(frozen=True)
class Picture:
    """SVG text with its text alternative inside, and a caption."""

    svg: str
    caption: str


def number_text(value: float, digits: int = 4) -> str:
    """A number on an axis or in a tooltip, with a minus sign."""
    short = float(f"{value:.{digits}g}")
    written = f"{short:z.15g}" if abs(short) < MOST_PLAIN else f"{short:.{digits}g}"
    return written.replace("e+0", "e").replace("e-0", "e-").replace("-", "\N{MINUS SIGN}")


def width_of(text: str) -> float:
    """About how many units a text is wide."""
    return sum(WIDE_LETTER if unicodedata.east_asian_width(sign) in "WF" else LETTER for sign in text)


def shortened(text: str, width: float) -> str:
    """The text; without its middle where it would be wider than so many units."""
    if width_of(text) <= width:
        return text
    left, right = text[: (len(text) + 1) // 2], text[(len(text) + 1) // 2 :]
    while len(left) + len(right) > 3 and width_of(left + "…" + right) > width:
        left, right = (left[:-1], right) if width_of(left) >= width_of(right) else (left, right[1:])
    return f"{left}…{right}"


def percent_text(share: float) -> str:
    """A share on an axis in percent, in as many digits as the axis has: ``97.5%``."""
    return f"{100 * share:.6g}%"


def ticks(low: float, high: float, most: int = 5) -> list[float]:
    """Round numbers from ``low`` to ``high``, about ``most`` of them."""
    extent = high - low
    if not math.isfinite(extent) or extent <= 0.0:
        return [low]
    raw = extent / most
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(power * one for one in (1.0, 2.0, 2.5, 5.0, 10.0) if power * one >= raw * 0.999)
    first = math.ceil(low / step - 1e-9)
    last = math.floor(high / step + 1e-9)
    return [float(f"{n * step:.12g}") for n in range(first, last + 1)][:12] or [low]


@dataclass
class Chart:
    """A picture with a horizontal axis from ``x[0]`` to ``x[1]`` and a vertical one from ``y[0]`` to ``y[1]``."""

    alt: str
    x: tuple[float, float]
    y: tuple[float, float]
    height: int = HEIGHT
    left: int = LEFT
    right: int = RIGHT
    parts: list[str] = field(default_factory=list)
    focusable: bool = False

    def at_x(self, value: float) -> float:
        low, high = self.x
        share = (value - low) / (high - low) if high > low else 0.5
        return self.left + min(max(share, -0.02), 1.02) * (WIDTH - self.left - self.right)

    def at_y(self, value: float) -> float:
        low, high = self.y
        share = (value - low) / (high - low) if high > low else 0.5
        return self.height - BOTTOM - min(max(share, -0.02), 1.02) * (self.height - TOP - BOTTOM)

    def axes(self, x_name: str, y_name: str, *, percent: str = "", x_ticks: Sequence[float] | None = None) -> "Chart":
        """Grid lines, numbers and names of both axes; ``percent`` names the axes that are shares: "x", "y", "xy"."""
        bottom = self.height - BOTTOM
        for value in ticks(*self.y, most=4):
            y = self.at_y(value)
            text = percent_text(value) if "y" in percent else number_text(value)
            self.add(f'<path class="grid" d="M{self.left} {y:.1f}H{WIDTH - self.right}"/>')
            self.add(f'<text x="{self.left - 5}" y="{y + 3.5:.1f}" class="end">{text}</text>')
        for value in ticks(*self.x, most=4) if x_ticks is None else x_ticks:
            x = self.at_x(value)
            text = percent_text(value) if "x" in percent else number_text(value)
            self.add(f'<path class="tick" d="M{x:.1f} {bottom}v4"/>')
            self.add(f'<text x="{x:.1f}" y="{bottom + 16}" class="middle">{text}</text>')
        wide = WIDTH - self.left - self.right
        middle = self.left + wide / 2
        name = escape(shortened(x_name, wide))
        self.add(f'<text x="{middle:.1f}" y="{self.height - 7}" class="middle name">{name}</text>')
        if y_name:
            self.add(f'<text x="{self.left}" y="{TOP - 3}" class="name">{escape(y_name)}</text>')
        self.add(f'<path class="axis" d="M{self.left} {bottom}H{WIDTH - self.right}"/>')
        return self

    def add(self, part: str) -> "Chart":
        self.parts.append(part)
        return self

    def line(self, points: Iterable[Point], kind: str, title: str = "") -> "Chart":
        """A line through points."""
        places = [f"{self.at_x(x):.1f} {self.at_y(y):.1f}" for x, y in points]
        if not places:
            return self
        return self.add(f'<path class="{kind}" d="M{"L".join(places)}">{_title(title)}</path>')

    def bar(self, low: float, high: float, bottom: float, top: float, kind: str, title: str = "") -> "Chart":
        """A bar from ``low`` to ``high``, as high as ``top``."""
        x, right = self.at_x(low), self.at_x(high)
        y, base = self.at_y(top), self.at_y(bottom)
        shape = (
            f'x="{x:.1f}" y="{min(y, base):.1f}" width="{max(right - x - 0.6, 0.6):.1f}" height="{abs(base - y):.1f}"'
        )
        return self.add(f'<rect class="{kind}" {shape}>{_title(title)}</rect>')

    def dot(self, x: float, y: float, kind: str, title: str, *, focusable: bool = False, more: str = "") -> "Chart":
        """A point with a tooltip; a ``focusable`` one can be reached with the keyboard."""
        self.focusable = self.focusable or focusable
        reached = f' tabindex="0" role="img" aria-label="{escape(title)}"' if focusable else ""
        place = f'cx="{self.at_x(x):.1f}" cy="{self.at_y(y):.1f}" r="4"'
        return self.add(f'<circle class="{kind}" {place}{reached}{more}>{_title(title)}</circle>')

    def svg(self, kind: str = "") -> str:
        """The picture."""
        role = "group" if self.focusable else "img"
        head = f'<svg class="chart {kind}" viewBox="0 0 {WIDTH} {self.height}" role="{role}" '
        return f'{head}aria-label="{escape(self.alt)}">{"".join(self.parts)}</svg>'


def _title(text: str) -> str:
    return f"<title>{escape(text)}</title>" if text else ""
