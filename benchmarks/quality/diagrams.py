"""Pictures: mean accuracy against the number of terms, and critical-difference diagrams (Demšar 2006)."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import friedmanchisquare, studentized_range

from benchmarks.quality.methods import BOOSTING, CONSTANT, EVERY_WEIGHT, OURS, TREE
from benchmarks.quality.tables import ranks

LEVEL = 0.05
BLACK, GREY = "#000000", "#555555"
# Distinct without colour: marker and line style differ; the colours are Okabe and Ito's.
STYLES = {
    OURS: (BLACK, "o", "-"),
    EVERY_WEIGHT: (GREY, "o", "--"),
    "abess": ("#0072B2", "s", "--"),
    "l1 logistic": ("#E69F00", "^", "-."),
    TREE: ("#009E73", "D", ":"),
    "optimal tree": ("#56B4E9", "P", (0, (3, 1))),
    "FIGS": ("#CC79A7", "v", (0, (5, 1, 1, 1, 1, 1))),
    "EBM": ("#D55E00", "X", (0, (1, 1))),
    BOOSTING: (GREY, "", (0, (8, 4))),
}


def critical_difference(n_methods: int, n_sets: int) -> float:
    """The least difference of two mean ranks that Nemenyi's test calls significant."""
    q = studentized_range.ppf(1.0 - LEVEL, n_methods, np.inf) / np.sqrt(2.0)
    return float(q * np.sqrt(n_methods * (n_methods + 1) / (6.0 * n_sets)))


def groups(mean_ranks: pd.Series, difference: float) -> list[tuple[float, float]]:
    """The largest groups of methods that do not differ significantly: their least and greatest mean rank."""
    ordered = np.sort(mean_ranks.to_numpy())
    spans = [(low, ordered[ordered <= low + difference][-1]) for low in ordered]
    return [
        span for place, span in enumerate(spans) if span[1] > span[0] and all(span[1] > one[1] for one in spans[:place])
    ]


def friedman(accuracy: pd.DataFrame) -> float:
    """The p-value of Friedman's test that all methods have the same mean rank; NaN for fewer than three."""
    if accuracy.shape[1] < 3 or len(accuracy) < 2:
        return np.nan
    return float(friedmanchisquare(*(accuracy[name] for name in accuracy.columns)).pvalue)


def draw_ranks(accuracy: Mapping[int, pd.DataFrame], folder: Path, name: str) -> None:
    """A critical-difference diagram for each number of terms, one above the other, as PNG and SVG."""
    pyplot = _pyplot()
    n_methods = next(iter(accuracy.values())).shape[1]
    height = 0.9 + 0.2 * n_methods
    figure, panels = pyplot.subplots(
        len(accuracy), figsize=(8.0, height * len(accuracy)), squeeze=False, layout="constrained"
    )
    for axes, (T, table) in zip(panels[:, 0], accuracy.items(), strict=True):
        _draw_panel(axes, table, f"at most {T} terms")
    _save(figure, folder, name)


def _draw_panel(axes, accuracy: pd.DataFrame, title: str) -> None:
    """One diagram: an axis of ranks, each method on it with its name at a side, bars over groups."""
    mean_ranks = ranks(accuracy).sort_values(kind="stable")
    n = len(mean_ranks)
    difference = critical_difference(n, len(accuracy))
    bars = groups(mean_ranks, difference)
    top = 0.45 * len(bars) + 0.5  # the first name is below the bars
    depth = top + (n + 1) // 2
    axes.set(xlim=(0.5 - 0.35 * (n - 1), n + 0.5 + 0.35 * (n - 1)), ylim=(depth, -1.3))
    axes.axis("off")
    axes.plot([1, n], [0, 0], color=BLACK, linewidth=1)
    for rank in range(1, n + 1):
        axes.plot([rank, rank], [0, -0.2], color=BLACK, linewidth=1)
        axes.text(rank, -0.3, str(rank), ha="center", va="bottom", fontsize=9)
    for place, (name, rank) in enumerate(mean_ranks.items()):
        left = place < (n + 1) // 2
        y = top + (place if left else n - 1 - place)
        end = 0.8 if left else n + 0.2
        colour, width = (BLACK, 1.6) if name == OURS else (GREY, 0.9)
        axes.plot([rank, rank, end], [0, y, y], color=colour, linewidth=width)
        axes.plot(rank, 0, "o", color=colour, markersize=4)
        text = f"{name}  {rank:.2f}" if left else f"{rank:.2f}  {name}"
        weight = "bold" if name == OURS else "normal"
        axes.text(end + (-0.08 if left else 0.08), y, text, ha="right" if left else "left", va="center", weight=weight)
    for place, (low, high) in enumerate(bars):
        y = 0.35 + 0.45 * place
        axes.plot([low - 0.04, high + 0.04], [y, y], color="#0072B2", linewidth=3.5, solid_capstyle="round")
    p_value = friedman(accuracy)
    found = "" if np.isnan(p_value) else f"; Friedman's test: p = {p_value:.1g}"
    axes.set_title(
        f"Mean ranks of the accuracy on {len(accuracy)} data sets, {title}. Bars: no difference at {LEVEL:.0%}\n"
        f"by Nemenyi's test (critical difference {difference:.2f}){found}",
        fontsize=9,
        loc="left",
    )


def draw_accuracy(per_set: pd.DataFrame, methods: Sequence[str], bounded: Sequence[str], folder: Path, name: str):
    """Mean accuracy against the number of terms."""
    pyplot = _pyplot()
    terms = sorted(per_set["terms"].unique())
    mean = 100 * per_set.groupby("terms")[list(methods)].mean()
    figure, axes = pyplot.subplots(figsize=(8.0, 4.2), layout="constrained")
    for method in methods:
        if method == CONSTANT:
            continue
        colour, marker, style = STYLES[method]
        axes.plot(
            terms,
            mean[method],
            color=colour,
            marker=marker,
            linestyle=style,
            linewidth=2.2 if method == OURS else 1.4,
            markersize=6,
            label=method if method in bounded else f"{method} (no bound)",
        )
    axes.set_xticks(terms)
    axes.set_xlabel("terms allowed")
    axes.set_ylabel(f"mean accuracy on {per_set.index.nunique()} data sets, %")
    axes.grid(axis="y", color="#dddddd", linewidth=0.6)
    axes.spines[["top", "right"]].set_visible(False)
    figure.legend(loc="outside center right", frameon=False, handlelength=4.5)
    _save(figure, folder, name)


def _pyplot():
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    return pyplot


def _save(figure, folder: Path, name: str) -> None:
    for ending in ("png", "svg"):
        figure.savefig(folder / f"{name}.{ending}", dpi=150)
    _pyplot().close(figure)
