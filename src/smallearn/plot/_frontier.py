"""The frontier: accuracy against size."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from smallearn._text import count
from smallearn.model import SMaLLModel, as_model
from smallearn.plot._canvas import axes_for, label_axes, legend_font_size, need_matplotlib, plain_legend, tidy
from smallearn.plot._colours import BLUE, INK, ORANGE
from smallearn.plot._text import name_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BY = ("terms", "bytes")
SAME = 1e-9  # scores that differ by less are equal


def frontier(
    points: Any,
    *,
    by: str = "terms",
    chip: str = "atmega328p",
    number: str = "int8",
    layout: str = "code",
    ax: "Axes | None" = None,
) -> "Axes":
    """Draw accuracy against size: the cross-validated score of the best model of each size.

    Bars are standard errors; a star marks the chosen model.

    Parameters
    ----------
    points : list of FrontierPoint, SMaLLModel or fitted SMaLLClassifierCV
        A list as `smallearn.frontier` returns it. A model has a frontier of its own if it was chosen by
        cross-validation.
    by : {"terms", "bytes"}, default="terms"
        Size is the number of terms, or bytes of flash on ``chip``. For bytes, pass a list.
    chip : str, default="atmega328p"
        As in `smallearn.devices.cost`.
    number : str, default="int8"
        As in `smallearn.devices.cost`.
    layout : str, default="code"
        As in `smallearn.devices.cost`.
    ax : matplotlib Axes, default=None
        Where to draw. None for a new figure.

    Returns
    -------
    matplotlib Axes
        Those with the frontier.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from smallearn import SMaLLClassifierCV, plot
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> search = SMaLLClassifierCV(2, literals="raw", n_prototypes=1, cv=3, random_state=0)
    >>> plot.frontier(search.fit(X, y)).get_ylabel()
    'cross-validated accuracy (± standard error)'
    """
    if by not in BY:
        raise ValueError(f"by={by!r} is not one of {', '.join(map(repr, BY))}.")
    need_matplotlib()
    model = None if _is_list(points) else as_model(points)
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
    label_axes(ax, unit, f"cross-validated {name_of(metric, 60)} (± standard error)")
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
        raise ValueError("points is empty; pass at least one FrontierPoint.")
    for point in points:
        if not all(hasattr(point, name) for name in ("n_terms", "score", "spread")):
            raise TypeError(
                f"points has a {type(point).__name__}; pass a list of FrontierPoint, a model or a fitted "
                "SMaLLClassifierCV."
            )
    return True


def _steps_of(model: SMaLLModel) -> list[Any]:
    if model.selection is None or not model.selection.frontier:
        raise ValueError(
            "The model has no frontier, since it was not chosen by cross-validation; fit a SMaLLClassifierCV, or pass "
            "what smallearn.frontier(X, y) returns."
        )
    return list(model.selection.frontier)


def _bytes(points: list[Any], chip: str, number: str, layout: str) -> tuple[list[float], str]:
    """The flash that each model takes on the chip, and the label of the axis."""
    from smallearn.devices import CHIPS, cost

    if not all(isinstance(getattr(point, "model", None), SMaLLModel) for point in points):
        raise ValueError(
            "by='bytes' needs the model of each point; pass the list that smallearn.frontier(X, y) returns, or use "
            "by='terms'."
        )
    costs = [cost(point.model, chip, number, layout=layout) for point in points]
    estimated = "" if all(one.measured for one in costs) else ", estimated"
    name = CHIPS[costs[0].chip].title if costs[0].chip in CHIPS else costs[0].chip
    return [one.flash for one in costs], f"bytes of flash ({name}, {costs[0].number}{estimated})"


def _star(ax: "Axes", model: SMaLLModel) -> None:
    """A star for the chosen model, at the step that has its score, if any."""
    chosen = model.selection
    assert chosen is not None
    near = [step.n_terms for step in chosen.frontier if abs(step.score - chosen.score) <= SAME]
    size = min(near, key=lambda n: abs(n - model.n_terms), default=model.n_terms)
    star = ax.plot(
        size, chosen.score, marker="*", color=ORANGE, markeredgecolor=INK, markersize=17, linestyle="none", zorder=3
    )
    score = f"{chosen.score:.1%}" if chosen.metric == "accuracy" else f"{chosen.score:.4g}"
    prototypes = count(len(model.prototypes), "prototype")
    label = f"chosen: {count(model.n_terms, 'term')} in {prototypes}, {score}"
    plain_legend(
        ax,
        star,
        [label],
        loc="lower right",
        bbox_to_anchor=(1.0, 1.0),
        frameon=False,
        fontsize=legend_font_size(ax),
        markerscale=0.7,
    )


def _ticks(ax: "Axes", metric: str, whole: bool) -> None:
    from matplotlib.ticker import MaxNLocator, PercentFormatter

    if whole:
        ax.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
    if metric == "accuracy":
        ax.yaxis.set_major_formatter(PercentFormatter(1.0))
