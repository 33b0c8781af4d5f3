"""What every picture needs: Axes, texts that are taken as they are, sizes that fit."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from smallearn.model import SMaLLModel
from smallearn.plot.colours import INK, Style
from smallearn.terms import Term
from smallearn.words import show

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
        figure.get_layout_engine().set(w_pad=0.08, h_pad=0.08)  # type: ignore[union-attr,call-arg]
        figure.draw_without_rendering()  # so that the Axes have their size, by which letters are chosen
        return ax
    if not isinstance(ax, Axes):
        raise TypeError(f"ax is a {type(ax).__name__}; it may be a matplotlib Axes, or None for a new figure.")
    return ax


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
    value = show(term.value, quote=False, most=most) if isinstance(term.value, str) else term.value
    return replace(term, name=name_of(term.label, most), value=value).text


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
    longest = max(map(len, labels))
    columns = max(1, min(len(labels), int(inches(ax)[0] * 72 / (5.2 * longest + 42))))
    return plain_legend(
        ax, handles, labels, loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=columns, frameon=False,
        fontsize=9, borderaxespad=0.2, handlelength=1.6, columnspacing=1.5,
    )  # fmt: skip


def sample(style: Style) -> Any:
    """The patch that stands for a class in a legend."""
    from matplotlib.patches import Patch

    return Patch(facecolor=style.colour, edgecolor=INK, hatch=style.hatch, linewidth=0.8)


# --- sizes -----------------------------------------------------------------------------------------------------------


def inches(ax: "Axes") -> tuple[float, float]:
    """Width and height of the Axes."""
    dpi = ax.get_figure().dpi  # type: ignore[union-attr]
    return ax.bbox.width / dpi, ax.bbox.height / dpi


def size_for(ax: "Axes", lines: float, most: float = 10.0) -> float:
    """The size of letters at which so many lines fit one above another."""
    return float(min(most, max(4.0, inches(ax)[1] * 72 / (1.25 * max(lines, 1.0)))))


def tidy(ax: "Axes") -> None:
    """No frame at the top and on the right."""
    ax.spines[["top", "right"]].set_visible(False)
