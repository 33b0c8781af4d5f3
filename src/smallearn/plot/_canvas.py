"""What every picture needs: Axes, texts that are taken as they are, sizes that fit."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from smallearn._text import show
from smallearn.model import SMaLLModel, Term
from smallearn.plot._colours import INK, Style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WIDTH = 7.0  # inches of a new figure: 700 pixels at 100 dpi
NAME = 26  # signs of a name, beyond which it is cut


def need_matplotlib() -> None:
    """An error that says what to install, where it is missing."""
    try:
        import matplotlib.axes  # noqa: F401
    except ImportError:
        raise ImportError(
            "smallearn.plot needs matplotlib, which is not installed: pip install 'smallearn[plot]'"
        ) from None


def axes_for(ax: Any, height: float, width: float = WIDTH) -> "Axes":
    """The Axes given, or those of a new figure of pyplot's."""
    need_matplotlib()
    from matplotlib.axes import Axes

    if ax is None:
        import matplotlib.pyplot as plt

        figure, ax = plt.subplots(figsize=(width, height), layout="constrained")
        figure.get_layout_engine().set(w_pad=0.08, h_pad=0.08)
        settle(ax, True)
        return ax
    if not isinstance(ax, Axes):
        raise TypeError(f"ax is a {type(ax).__name__}; it may be a matplotlib Axes, or None for a new figure.")
    return ax


def settle(ax: "Axes", new: bool) -> None:
    """Give the Axes of a new figure their place beside their labels: letters are chosen by the room that is left."""
    if new:
        figure: Any = ax.get_figure()
        figure.draw_without_rendering()


def model_of(given: Any) -> SMaLLModel:
    """A model, or that of a fitted classifier."""
    if isinstance(given, SMaLLModel):
        return given
    found = getattr(given, "model_", None)
    if isinstance(found, SMaLLModel):
        return found
    kind = type(given).__name__
    if hasattr(given, "get_params") and hasattr(given, "fit"):
        raise ValueError(f"This {kind} has no model_: fit it first (with refit=True, if it chooses).")
    raise TypeError(f"A {kind} came; it may be a SMaLLModel or a fitted classifier of smallearn.")


# --- words -----------------------------------------------------------------------------------------------------------


def name_of(label: Any, most: int = NAME) -> str:
    """A feature's name or a class, on one line and not too long."""
    return show(label, quote=False, most=most)


def term_text(term: Term, most: int = NAME) -> str:
    """`Term.text` with name and category cut, so that the threshold is always read."""
    if isinstance(term.value, str):
        most = 2 * most // 3
        term = replace(term, value=show(term.value, quote=False, most=most))
    return replace(term, name=name_of(term.label, most)).text


def signed(number: float) -> str:
    """Four digits with a sign, and a plain 0."""
    return f"{number:+.4g}".replace("-", "\u2212") if number else "0"


def plain_legend(ax: "Axes", handles: Sequence[Any], labels: Sequence[str], **options: Any) -> Any:
    """A legend whose labels are no formulas, and none left out for its first letter."""
    legend = ax.legend(handles, ["label"] * len(labels), **options)
    for text, label in zip(legend.get_texts(), labels, strict=True):
        text.set_text(label)
        text.set_parse_math(False)
    return legend


def legend_above(ax: "Axes", handles: Sequence[Any], labels: Sequence[str]) -> Any:
    """A legend in lines above the Axes, where it covers nothing."""
    size = small_letters(ax)
    columns = max(1, min(len(labels), int(inches(ax)[0] * 72 / (size * (0.58 * max(map(len, labels)) + 4.5)))))
    look: dict[str, Any] = {"frameon": False, "borderaxespad": 0.2, "handlelength": 1.6, "columnspacing": 1.5}
    return plain_legend(
        ax, handles, labels, loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=columns, fontsize=size, **look
    )


def label_axes(ax: "Axes", x: str = "", y: str = "") -> None:
    """What the axes show, in letters no larger than fit."""
    for text, axis, length in zip((x, y), (ax.xaxis, ax.yaxis), inches(ax), strict=True):
        if text:
            longest = max(map(len, text.splitlines()))
            axis.set_label_text(text, parse_math=False, fontsize=fitting(length, longest, 10.0))


def sample(style: Style) -> Any:
    """The patch that stands for a class in a legend."""
    from matplotlib.patches import Patch

    return Patch(facecolor=style.colour, edgecolor=INK, hatch=style.hatch, linewidth=0.8)


# --- sizes -----------------------------------------------------------------------------------------------------------


def inches(ax: "Axes") -> tuple[float, float]:
    """Width and height of the Axes."""
    figure: Any = ax.get_figure()
    return ax.bbox.width / figure.dpi, ax.bbox.height / figure.dpi


def size_for(ax: "Axes", lines: float, most: float = 10.0) -> float:
    """The size of letters at which so many lines fit one above another."""
    return float(min(most, max(4.0, inches(ax)[1] * 72 / (1.25 * max(lines, 1.0)))))


def fitting(length: float, signs: int, most: float) -> float:
    """The size of letters at which so many signs fit into so many inches, and not too small to read."""
    return float(min(most, max(5.0, length * 72 / (0.56 * max(signs, 1)))))


def small_letters(ax: "Axes") -> float:
    """The size of a legend's letters."""
    return float(min(9.0, max(5.5, 2.2 * inches(ax)[0])))


def tidy(ax: "Axes") -> None:
    """No frame at the top and on the right."""
    ax.spines[["top", "right"]].set_visible(False)
