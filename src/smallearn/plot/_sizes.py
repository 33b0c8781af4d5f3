"""The frontier: what each further term buys."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from smallearn._text import count, show
from smallearn.model import SMaLLModel
from smallearn.plot._canvas import axes_for, label_axes, model_of, need_matplotlib, plain_legend, small_letters, tidy
from smallearn.plot._colours import BLUE, INK, ORANGE

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BY = ("terms", "bytes")
SAME = 1e-9  # scores nearer than this are one


def frontier(
    points: Any,
    *,
    by: str = "terms",
    chip: str = "atmega328p",
    number: str = "int8",
    layout: str = "code",
    ax: "Axes | None" = None,
) -> "Axes":
    """The score by cross-validation of the best model of each size; bars are standard errors, a star the model chosen.

    Parameters
    ----------
    points : list of FrontierPoint, SMaLLModel or fitted SMaLLClassifierCV
        A list is what `smallearn.frontier` returns; a model has its own if it was chosen by cross-validation.
    by : {"terms", "bytes"}, default="terms"
        Size is the number of terms, or bytes of flash on ``chip``: this takes points with models.
    chip, number, layout : str, default="atmega328p", "int8", "code"
        As in `smallearn.devices.cost`.
    ax : matplotlib Axes, default=None
        None: a new figure.
    """
    if by not in BY:
        raise ValueError(f"by={by!r} is not one of {', '.join(map(repr, BY))}.")
    need_matplotlib()
    model = None if _is_list(points) else model_of(points)
    points = list(points) if model is None else _steps_of(model)
    metric = _metric(model if model is not None else getattr(points[0], "model", None))
    sizes, unit = [point.n_terms for point in points], "terms"
    if by == "bytes":
        sizes, unit = _bytes(points, chip, number, layout)
    ax = axes_for(ax, 4.2)
    order = sorted(range(len(points)), key=lambda at: sizes[at])
    xs, ys = [sizes[at] for at in order], [points[at].score for at in order]
    ax.errorbar(
        xs, ys, [points[at].spread for at in order], marker="o", color=BLUE, ecolor=INK, markeredgecolor=INK,
        linewidth=1.4, elinewidth=1.0, capsize=3, markersize=6, zorder=2,
    )  # fmt: skip
    if model is not None:
        _star(ax, model)
    label_axes(ax, unit, f"{show(metric, quote=False, most=30)} by cross-validation, ± standard error")
    _ticks(ax, metric, whole=by == "terms")
    ax.grid(axis="y", color="#DDDDDD", linewidth=0.6)
    ax.set_axisbelow(True)
    tidy(ax)
    return ax


def _metric(model: SMaLLModel | None) -> str:
    return "score" if model is None or model.selection is None else model.selection.metric


def _is_list(points: Any) -> bool:
    if not isinstance(points, Sequence) or isinstance(points, str | bytes):
        return False
    if not points:
        raise ValueError("points is empty; it takes one point at least.")
    for point in points:
        if not all(hasattr(point, name) for name in ("n_terms", "score", "spread")):
            raise TypeError(
                f"points has a {type(point).__name__}; it may be a list of FrontierPoint, a model or a fitted "
                "SMaLLClassifierCV."
            )
    return True


def _steps_of(model: SMaLLModel) -> list[Any]:
    if model.selection is None or not model.selection.frontier:
        raise ValueError(
            "The model knows no frontier, for it was not chosen by cross-validation; fit a SMaLLClassifierCV, or call "
            "smallearn.frontier(X, y)."
        )
    return list(model.selection.frontier)


def _bytes(points: list[Any], chip: str, number: str, layout: str) -> tuple[list[float], str]:
    """What each model takes on the chip, and what that is called."""
    from smallearn.devices import CHIPS, cost

    if not all(isinstance(getattr(point, "model", None), SMaLLModel) for point in points):
        raise ValueError(
            "by='bytes' takes the model of each point, which a single model does not keep; draw the list that "
            "smallearn.frontier(X, y) returns, or by='terms'."
        )
    found = [cost(point.model, chip, number, layout=layout) for point in points]
    about = "" if all(one.measured for one in found) else ", estimated"
    name = CHIPS[found[0].chip].title if found[0].chip in CHIPS else found[0].chip
    return [one.flash for one in found], f"bytes of flash ({name}, {found[0].number}{about})"


def _star(ax: "Axes", model: SMaLLModel) -> None:
    """The model itself, at the step that has its score, if one has."""
    chosen = model.selection
    assert chosen is not None
    near = [step.n_terms for step in chosen.frontier if abs(step.score - chosen.score) <= SAME]
    size = min(near, key=lambda n: abs(n - len(model.terms)), default=len(model.terms))
    star = ax.plot(
        size, chosen.score, marker="*", color=ORANGE, markeredgecolor=INK, markersize=17, linestyle="none", zorder=3
    )
    score = f"{chosen.score:.1%}" if chosen.metric == "accuracy" else f"{chosen.score:.4g}"
    prototypes = count(len(model.prototypes), "prototype")
    words = f"chosen: {count(len(model.terms), 'term')} in {prototypes}, {score}"
    plain_legend(ax, star, [words], loc="lower right", fontsize=small_letters(ax), markerscale=0.7)


def _ticks(ax: "Axes", metric: str, whole: bool) -> None:
    from matplotlib.ticker import MaxNLocator, PercentFormatter

    if whole:
        ax.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
    if metric == "accuracy":
        ax.yaxis.set_major_formatter(PercentFormatter(1.0))
