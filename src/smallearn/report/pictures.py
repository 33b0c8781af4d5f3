"""Pictures as text for a page: SVG, with points as a bitmap within it where they are many."""

import io
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from smallearn.plot.canvas import need_matplotlib

WIDTH = 7.2  # inches; a page shows them at its own width
MANY_POINTS = 80  # beyond these, dots become a bitmap
OUTER = re.compile(r"^.*?(?=<svg)", flags=re.DOTALL)
NAMES = re.compile(r'(\bid="|xlink:href="#|href="#|url\(#)')
SIZE = re.compile(r'(<svg[^>]*?) width="[^"]*"([^>]*?)', flags=re.DOTALL)
HEIGHT = re.compile(r'(<svg[^>]*?) height="[^"]*"', flags=re.DOTALL)
METADATA = re.compile(r"<metadata>.*?</metadata>", flags=re.DOTALL)


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
    return Picture(_for_page(content.getvalue(), name), words, caption)


def _for_page(svg: str, name: str) -> str:
    """The SVG element alone, as wide as its place, its names its own."""
    svg = METADATA.sub("", OUTER.sub("", svg))
    svg = NAMES.sub(rf"\g<1>{name}-", svg)
    svg = HEIGHT.sub(r"\1", SIZE.sub(r"\1\2", svg, count=1), count=1)
    return svg.replace("<svg", '<svg aria-hidden="true" focusable="false"', 1).strip()
