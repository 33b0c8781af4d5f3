"""Pictures as SVG text; many points become a bitmap within it, and so does a picture that would be too long."""

import base64
import io
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from smallearn.plot._canvas import need_matplotlib

WIDTH = 7.2  # inches; the page shows pictures at its own width
MANY_POINTS = 80  # beyond which points become a bitmap
LONGEST, DPI, COLOURS = 250_000, 100, 16  # characters, beyond which a picture becomes a bitmap; its resolution, colours
OUTER = re.compile(r"^.*?(?=<svg)", flags=re.DOTALL)
NAMES = re.compile(r'(\bid="|xlink:href="#|href="#|url\(#)')
SIZE = re.compile(r'(<svg[^>]*?) width="[^"]*"([^>]*?)', flags=re.DOTALL)
HEIGHT = re.compile(r'(<svg[^>]*?) height="[^"]*"', flags=re.DOTALL)
DIGITS = re.compile(r"(?<=\.\d\d)\d+")  # beyond a hundredth of a point, which no screen can show
PATHS = re.compile(r' d="[^"]*"')
UNSEEN = re.compile(r"<metadata>.*?</metadata>|<!--.*?-->\n?", flags=re.DOTALL)


@dataclass(frozen=True)
class Picture:
    """SVG text, a text alternative for screen readers, and a caption."""

    svg: str
    alt: str
    caption: str


def draw(
    paint: Callable[[Any], Any], *, name: str, alt: str, caption: str, height: float, width: float = WIDTH
) -> Picture:
    """What ``paint`` draws into the Axes that it is given. ``name`` makes the ids within the SVG unique on the page."""
    need_matplotlib()
    from matplotlib import rc_context
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.collections import PathCollection
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasSVG(figure)
    axes = figure.subplots()
    paint(axes)
    for points in axes.findobj(PathCollection):
        points.set_rasterized(np.shape(points.get_offsets())[0] > MANY_POINTS)
    content = io.StringIO()
    with rc_context({"svg.hashsalt": name}):  # the same ids each time
        figure.savefig(content, format="svg", dpi=150, metadata={"Date": None, "Creator": None})
    svg = _for_page(content.getvalue(), name)
    return Picture(svg=svg if len(svg) <= LONGEST else _as_bitmap(figure), alt=alt, caption=caption)


def _as_bitmap(figure: Any) -> str:
    """The figure as a PNG of few colours, which is a fifth as long, within an SVG."""
    from PIL import Image  # a dependency of matplotlib

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
    """The SVG element alone, as wide as its container, with unique ids."""
    svg = _short(UNSEEN.sub("", OUTER.sub("", svg)))
    svg = NAMES.sub(rf"\g<1>{name}-", svg)
    svg = HEIGHT.sub(r"\1", SIZE.sub(r"\1\2", svg, count=1), count=1)
    return svg.replace("<svg", '<svg aria-hidden="true" focusable="false"', 1).strip()


def _short(svg: str) -> str:
    """Fewer digits in paths. Glyphs are defined large and scaled down, and keep theirs."""
    return PATHS.sub(lambda path: DIGITS.sub("", path[0]), svg)
