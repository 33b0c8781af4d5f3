"""What every picture needs: Axes, legends and labels that are never read as formulas and that fit."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from smallearn import _text
from smallearn._text import typeset
from smallearn.plot._colours import INK, Style
from smallearn.plot._glyphs import families, make_readable, readable
from smallearn.plot._text import fitted, n_lines, name_of, width_of, wrapped

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WIDTH = 7.0  # inches of a new figure: 700 pixels at 100 dpi


def need_matplotlib() -> None:
    """Raise an error that says what to install, if matplotlib is missing."""
    try:
        import matplotlib.axes  # noqa: F401
    except ModuleNotFoundError:
        raise ImportError(
            "smallearn.plot needs matplotlib, which is not installed: pip install 'smallearn[plot]'"
        ) from None


def axes_for(ax: Any, height: float, width: float = WIDTH) -> "Axes":
    """``ax``, or the Axes of a new figure of this size in inches."""
    need_matplotlib()
    from matplotlib.axes import Axes

    if ax is None:
        import matplotlib.pyplot as plt

        figure, ax = plt.subplots(figsize=(width, height), layout="constrained")
        figure.get_layout_engine().set(w_pad=0.08, h_pad=0.08)
        lay_out(ax)
        return ax
    if not isinstance(ax, Axes):
        raise TypeError(f"ax is a {type(ax).__name__}; pass a matplotlib Axes, or None for a new figure.")
    return ax


def lay_out(ax: "Axes") -> None:
    """Make room for the labels of a new figure now, since font sizes depend on the room that is left."""
    figure: Any = ax.get_figure()
    figure.draw_without_rendering()


# --- text ------------------------------------------------------------------------------------------------------------


def signed(number: float) -> str:
    """``+58.79``, ``−1.5``, and a plain ``0``."""
    return typeset(_text.signed(number)) if number else "0"


def plain_legend(ax: "Axes", handles: Sequence[Any], labels: Sequence[str], **options: Any) -> Any:
    """A legend whose labels are never read as formulas; matplotlib would drop those that begin with an underscore."""
    legend = ax.legend(handles, ["label"] * len(labels), **options)
    for text, label in zip(legend.get_texts(), labels, strict=True):
        text.set(text=readable(label), **families([label]))
        text.set_parse_math(False)
    return legend


def legend_above(ax: "Axes", handles: Sequence[Any], labels: Sequence[str], target: str | None = None) -> Any:
    """A legend above the Axes, where it covers nothing, in as many columns as fit; ``target`` is what it is about."""
    size = legend_font_size(ax)
    widest = max(width_of(label, size) for label in labels) + 4.5 * size / 72  # with its handle and the space between
    columns = max(1, min(len(labels), int((inches(ax)[0] + 2 * size / 72) / widest)))
    look: dict[str, Any] = {"frameon": False, "borderaxespad": 0.2, "handlelength": 1.6, "columnspacing": 1.5}
    legend = plain_legend(
        ax, handles, labels, loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=columns, fontsize=size, **look
    )
    if target is not None:
        title = name_of(target)
        legend.set_title(readable(title), prop={"size": size})
        legend.get_title().set(parse_math=False, **families([title]))
        legend.set_alignment("left")
    return legend


def label_axes(ax: "Axes", x: str = "", y: str = "") -> None:
    """Label the axes, in a font that fits, on several lines if it must."""
    for text, axis, length in zip((x, y), (ax.xaxis, ax.yaxis), inches(ax), strict=True):
        if text:
            text, size = fitted(readable(text), length, 10.0)
            axis.set_label_text(text, parse_math=False, fontsize=size, **families([text]))


def title_axes(ax: "Axes", title: str) -> None:
    """A title that fits, on several lines if it must."""
    text, size = fitted(readable(title), inches(ax)[0], 11.0, 9.0)
    ax.set_title(text, fontsize=size, parse_math=False, loc="left", **families([text]))


def line_height(labels: Sequence[str | None], least: float, each: float = 0.16) -> float:
    """The height of a line in inches, at least ``least``, so that each label has room, with ``each`` for its lines."""
    return max(least, 0.08 + each * _most_lines(labels))


def label_lines(ax: "Axes", labels: Sequence[str | None], largest: float = 9.5) -> float:
    """Label horizontal lines at y = 0, 1, …, from top to bottom; None leaves a line without a label.

    Long labels are wrapped. Returns the font size, by the room there is.
    """
    size = font_for_lines(ax, 1.05 * len(labels) * _most_lines(labels), largest)
    labelled = [place for place, label in enumerate(labels) if label is not None]
    texts = [wrapped(label) for label in labels if label is not None]
    ax.set_yticks(labelled, texts, parse_math=False, fontsize=size, linespacing=1.1, **families(texts))
    ax.set_ylim(len(labels) - 0.4, -0.6)
    ax.tick_params(axis="y", length=0)
    return size


def _most_lines(labels: Sequence[str | None]) -> int:
    return max((n_lines(wrapped(label)) for label in labels if label is not None), default=1)


def legend_patch(style: Style) -> Any:
    """The patch that represents a class in a legend."""
    from matplotlib.patches import Patch

    return Patch(facecolor=style.colour, edgecolor=INK, hatch=style.hatch, linewidth=0.8)


# --- sizes -----------------------------------------------------------------------------------------------------------


def inches(ax: "Axes") -> tuple[float, float]:
    """Width and height of the Axes."""
    figure: Any = ax.get_figure()
    return ax.bbox.width / figure.dpi, ax.bbox.height / figure.dpi


def font_for_lines(ax: "Axes", lines: float, largest: float = 10.0) -> float:
    """The font size at which this many lines fit into the height of the Axes."""
    return float(min(largest, max(4.0, inches(ax)[1] * 72 / (1.25 * max(lines, 1.0)))))


def legend_font_size(ax: "Axes") -> float:
    """The font size of a legend, by the width of the Axes."""
    return float(min(9.0, max(5.5, 2.2 * inches(ax)[0])))


def tidy(ax: "Axes") -> None:
    """Remove the frame at the top and on the right, and let every text be readable."""
    make_readable(ax)
    ax.spines[["top", "right"]].set_visible(False)
