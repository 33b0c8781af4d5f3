"""Pictures as text for a page: SVG, with points as a bitmap within it where they are many, and all of it where it would
be too long."""

import base64
import io
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from smallearn.plot._canvas import need_matplotlib

WIDTH = 7.2  # inches; a page shows them at its own width
MANY_POINTS = 80  # beyond these, dots become a bitmap
LONGEST, DPI, COLOURS = 250_000, 100, 16  # signs of a picture, beyond which it becomes a bitmap, and how fine that is
OUTER = re.compile(r"^.*?(?=<svg)", flags=re.DOTALL)
NAMES = re.compile(r'(\bid="|xlink:href="#|href="#|url\(#)')
SIZE = re.compile(r'(<svg[^>]*?) width="[^"]*"([^>]*?)', flags=re.DOTALL)
HEIGHT = re.compile(r'(<svg[^>]*?) height="[^"]*"', flags=re.DOTALL)
DIGITS = re.compile(r"(?<=\.\d\d)\d+")  # beyond a hundredth of a point, which no screen shows
PATHS = re.compile(r' d="[^"]*"')
UNSEEN = re.compile(r"<metadata>.*?</metadata>|<!--.*?-->\n?", flags=re.DOTALL)


@dataclass(frozen=True)
class Picture:
    """SVG text, what it shows for those who do not see it, and a caption."""

    svg: str
    words: str
    caption: str


def draw(
    name: str, height: float, paint: Callable[[Any], Any], words: str, caption: str, width: float = WIDTH
) -> Picture:
    """What ``paint`` draws into the Axes that it is given. ``name`` keeps the picture's parts apart from others'."""
    need_matplotlib()
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.collections import PathCollection
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasSVG(figure)
    axes = figure.subplots()
    paint(axes)
    for dots in axes.findobj(PathCollection):
        dots.set_rasterized(np.shape(dots.get_offsets())[0] > MANY_POINTS)
    content = io.StringIO()
    figure.savefig(content, format="svg", dpi=150, metadata={"Date": None, "Creator": None})
    svg = _for_page(content.getvalue(), name)
    return Picture(svg if len(svg) <= LONGEST else _as_bitmap(figure), words, caption)


def _as_bitmap(figure: Any) -> str:
    """Of few colours: that is a fifth as long."""
    from PIL import Image  # which matplotlib needs, too

    drawn, content = io.BytesIO(), io.BytesIO()
    figure.savefig(drawn, format="png", dpi=DPI)
    picture = Image.open(drawn).convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE)
    picture.save(content, format="png", optimize=True)
    width, height = picture.size
    data = base64.b64encode(content.getvalue()).decode("ascii")
    return (
        f'<svg aria-hidden="true" focusable="false" viewBox="0 0 {width} {height}">'
        f'<image width="{width}" height="{height}" href="data:image/png;base64,{data}"/></svg>'
    )


def _for_page(svg: str, name: str) -> str:
    """The SVG element alone, as wide as its place, its names its own."""
    svg = _short(UNSEEN.sub("", OUTER.sub("", svg)))
    svg = NAMES.sub(rf"\g<1>{name}-", svg)
    svg = HEIGHT.sub(r"\1", SIZE.sub(r"\1\2", svg, count=1), count=1)
    return svg.replace("<svg", '<svg aria-hidden="true" focusable="false"', 1).strip()


def _short(svg: str) -> str:
    """With fewer digits where lines are drawn. Letters are drawn large and made small, and keep theirs."""
    return PATHS.sub(lambda found: DIGITS.sub("", found[0]), svg)
