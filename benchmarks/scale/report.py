"""The table of all cells, the growth of each method, and the figure."""

from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from benchmarks.scale.cells import REAL_SETS, Axis, Cell, real_cell
from benchmarks.scale.methods import METHODS, OURS
from benchmarks.scale.run import cell_of

WIDTH = 23  # of a method's columns

# Distinct without colour: marker and line style differ; the colours are Okabe and Ito's.
STYLES = {
    "smallearn": ("#000000", "o", "-"),
    "tree grid": ("#009E73", "D", ":"),
    "HGB": ("#555555", "x", (0, (8, 4))),
    "l1 logistic": ("#E69F00", "^", "-."),
    "abess": ("#0072B2", "s", "--"),
    "EBM": ("#CC79A7", "v", (0, (5, 1, 1, 1, 1, 1))),
}


class Measured(NamedTuple):
    """What one fit took; without ``cpu`` it was stopped after ``limit`` CPU seconds."""

    wall: float
    cpu: float
    megabytes: float
    limit: float

    @property
    def least_cpu(self) -> float:
        """The CPU seconds, or for a fit that was stopped those that it took at least."""
        return self.limit if np.isnan(self.cpu) else self.cpu


class Results:
    """What was measured, by cell."""

    def __init__(self, frame: pd.DataFrame):
        self._by_cell = {
            cell_of(line): Measured(*map(float, (line.wall, line.cpu, line.megabytes, line.limit)))
            for line in frame.itertuples()
        }

    def get(self, cell: Cell) -> Measured | None:
        """What the cell took, if it was run."""
        return self._by_cell.get(cell)

    def along(self, axis: Axis, method: str) -> dict[int, Measured | None]:
        """The cells of a method along an axis, by size."""
        return {size: self.get(axis.cell(size, method, METHODS[method].bounded)) for size in axis.sizes}

    def seconds(self, axis: Axis, method: str) -> dict[int, float]:
        """The CPU seconds of the fits that finished, by size."""
        return {size: one.cpu for size, one in self.along(axis, method).items() if one and one.cpu > 0.0}

    def growth(self, axis: Axis, method: str) -> float:
        """The exponent of the CPU seconds: their slope in logarithms, by least squares. NaN: fewer than two sizes."""
        finished = self.seconds(axis, method)
        sizes = [size for size in finished if size >= axis.first]
        if len(sizes) < 2:
            return np.nan
        return float(np.polyfit(np.log(sizes), np.log([finished[size] for size in sizes]), 1)[0])


def made_table(results: Results, axes: tuple[Axis, ...], methods: list[str]) -> list[str]:
    """A line for each size of each axis, then the exponents."""
    lines = _head("", methods)
    for axis in axes:
        others = ", ".join(f"{size:,} {name}" for name, size in axis.base.items() if name != axis.name)
        lines += [f"{axis.name} ({others})"]
        along = {method: results.along(axis, method) for method in methods}
        lines += [_line(f"{size:,}", [along[method][size] for method in methods]) for size in axis.sizes]
        growth = [results.growth(axis, method) for method in methods]
        lines += [f"{'  exponent':<22}" + "".join(f"{_number(one):>{WIDTH}}" for one in growth)]
    return lines


def real_table(results: Results, methods: list[str]) -> list[str]:
    """A line for each real set, with the ratio of our CPU seconds to those of each rival below."""
    lines = _head("70% of the rows", methods)
    for name, settings in REAL_SETS.items():
        found = {method: results.get(real_cell(name, method, METHODS[method].bounded)) for method in methods}
        lines += [_line(f"{name}, {settings.terms}", list(found.values()))]
        ours = found.get(OURS)
        if ours is not None:
            ratios = [ratio(ours, found[method]) if method != OURS else "" for method in methods]
            lines += [f"{'  ours to theirs':<22}" + "".join(f"{text:>{WIDTH}}" for text in ratios)]
    return lines


def ratio(ours: Measured, theirs: Measured | None) -> str:
    """Our CPU seconds to theirs: ``1.30×``, ``< 0.1×`` where theirs was stopped."""
    if theirs is None or (np.isnan(ours.cpu) and np.isnan(theirs.cpu)):
        return "-"
    sign = "> " if np.isnan(ours.cpu) else "< " if np.isnan(theirs.cpu) else ""
    return f"{sign}{ours.least_cpu / theirs.least_cpu:.2f}×"


def _head(text: str, methods: list[str]) -> list[str]:
    return [
        f"{text:<22}" + "".join(f"{name:>{WIDTH}}" for name in methods),
        f"{'':<22}" + f"{'wall s   CPU s     MB':>{WIDTH}}" * len(methods),
    ]


def _line(label: str, found: list[Measured | None]) -> str:
    return f"  {label:<20}" + "".join(f"{_cell(one):>{WIDTH}}" for one in found)


def _cell(one: Measured | None) -> str:
    """Wall seconds, CPU seconds and megabytes; ``> limit`` where it was stopped, ``-`` where it was not run."""
    if one is None:
        return "-"
    if np.isnan(one.cpu):
        return f"> {one.limit:.0f}       "
    return f"{_number(one.wall):>7} {_number(one.cpu):>7} {one.megabytes:>6.0f}"


def _number(value: float) -> str:
    return "-" if np.isnan(value) else f"{value:.2f}" if value < 1000.0 else f"{value:.0f}"


def draw(results: Results, axes: tuple[Axis, ...], methods: list[str], path: Path) -> None:
    """CPU seconds against each size, in logarithms, as SVG."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, panels = pyplot.subplots(1, len(axes), figsize=(3.2 * len(axes), 3.6), sharey=True, layout="constrained")
    for axis, panel in zip(axes, panels, strict=True):
        for method in methods:
            points = results.seconds(axis, method)
            colour, marker, style = STYLES[method]
            width = 2.2 if method == OURS else 1.4
            panel.plot(
                list(points), list(points.values()), color=colour, marker=marker, linestyle=style, linewidth=width,
                label=method,
            )  # fmt: skip
        panel.set(xscale="log", xlabel=axis.name)
        panel.set_xticks(
            axis.sizes, [f"{size:,}" if size < 10_000 else f"$10^{{{np.log10(size):.0f}}}$" for size in axis.sizes]
        )
        panel.minorticks_off()
        panel.grid(axis="y", color="#dddddd", linewidth=0.6)
        panel.spines[["top", "right"]].set_visible(False)
    if any(results.seconds(axis, method) for axis in axes for method in methods):
        panels[0].set_yscale("log")
    panels[0].set_ylabel("CPU seconds of a fit")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside center right", frameon=False, handlelength=4.5)
    figure.savefig(path)
    pyplot.close(figure)
