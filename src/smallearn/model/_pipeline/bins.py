"""`KBinsDiscretizer`: the number of a bin, or a column for each bin. `Binarizer`: whether a number is above another."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from smallearn.model._pipeline.columns import REFUSED, Column, Curve, Output, Special, Table, is_single, steps


def bins(transformer: Any, table: Table, step: str) -> Table:
    """Numbers equal to an edge belong to the bin above it; a missing value is refused."""
    columns: list[Column] = []
    for before, edges, n_bins in zip(table.columns, transformer.bin_edges_, transformer.n_bins_, strict=True):
        ends = [float(edge) for edge in edges]
        column = before
        if transformer.dtype is not None:
            column = before.moved(transformer.dtype, 1.0, 0.0)  # values are rounded before they are compared
        number = _counted(column, ends[1:-1], [_last_below(column, edge) for edge in ends[1:-1]])
        number = replace(number, extent=_extent(before, ends[0], ends[-1]))
        if transformer.encode == "ordinal":
            columns.append(number)
        else:
            columns += [_indicator(number, float(position)) for position in range(n_bins)]
    single = table.single if transformer.dtype is None else is_single(transformer.dtype)
    return replace(table.becomes(columns), sparse=transformer.encode == "onehot", single=single)


def binarizer(transformer: Any, table: Table, step: str) -> Table:
    """1 above the threshold, else 0; a missing value is refused."""
    threshold = float(transformer.threshold)
    above = math.nextafter(threshold, math.inf)
    return table.becomes(
        _counted(
            column, [above], [column.other.last_at_most(threshold) if isinstance(column.other, Curve) else threshold]
        )
        for column in table.columns
    )


def _last_below(column: Column, edge: float) -> float:
    """The last raw number below an edge; of steps, whatever."""
    return column.other.last_below(edge) if isinstance(column.other, Curve) else edge


def _counted(column: Column, edges: Sequence[float], cuts: Sequence[float]) -> Column:
    """How many edges a number reaches. ``cuts`` are the last raw numbers below each edge."""

    def output(found: Output) -> Output:
        return REFUSED if isinstance(found, Special) else float(np.searchsorted(edges, found, side="right"))

    return column.mapped(output, steps((cut, float(place)) for place, cut in enumerate((*cuts, math.inf))))


def _extent(column: Column, low: float, high: float) -> tuple[float, float] | None:
    """The range of the raw numbers in training."""
    if column.extent is not None or not isinstance(column.other, Curve) or column.other.bent is not None:
        return column.extent
    return column.other.origin(low), column.other.origin(high)


def _indicator(column: Column, number: float) -> Column:
    """1 in one bin, 0 elsewhere."""
    return column.mapped(lambda found: found if found is REFUSED else float(found == number))
