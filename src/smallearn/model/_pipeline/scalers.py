"""Scalers: straight lines, which ``clip`` bends. Of a sparse matrix they multiply by the reciprocal of the scale."""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from smallearn.model._pipeline.columns import Column, Table, cannot


def standard(transformer: Any, table: Table, step: str) -> Table:
    """`StandardScaler`: minus the mean, divided by the deviation."""
    means = transformer.mean_ if transformer.with_mean else None
    return _divided(table.in_double(step), means, transformer.scale_ if transformer.with_std else None)


def robust(transformer: Any, table: Table, step: str) -> Table:
    """`RobustScaler`: minus the median, divided by the distance of quartiles."""
    centres = transformer.center_ if transformer.with_centering and not table.sparse else None
    return _divided(table.in_double(step), centres, transformer.scale_ if transformer.with_scaling else None)


def max_abs(transformer: Any, table: Table, step: str) -> Table:
    """`MaxAbsScaler`: divided by the greatest distance from 0."""
    divided = _divided(table.in_double(step), None, transformer.scale_)
    return _clipped(divided, -1.0, 1.0, step) if getattr(transformer, "clip", False) else divided


def min_max(transformer: Any, table: Table, step: str) -> Table:
    """`MinMaxScaler`: times the scale, plus the minimum."""
    moved = [
        _times(column, factor).moved(_minus(-term), 1.0, float(term))
        for column, factor, term in zip(table.columns, transformer.scale_, transformer.min_, strict=True)
    ]
    scaled = table.in_double(step).becomes(moved)
    low, high = transformer.feature_range
    return _clipped(scaled, low, high, step) if transformer.clip else scaled


def times(table: Table, weight: float | None, step: str) -> Table:
    """A weight of a `ColumnTransformer` or `FeatureUnion`, if there is one."""
    if weight is None:
        return table
    if not weight > 0.0:
        cannot(step, f"its weight is {weight:g}; only a positive weight keeps the order of values")
    return table.in_double(step).becomes(_times(column, np.float64(weight)) for column in table.columns)


def _divided(table: Table, centres: Iterable[Any] | None, scales: Iterable[Any] | None) -> Table:
    columns: Iterable[Column] = table.columns
    if centres is not None:
        centred = zip(columns, centres, strict=True)
        columns = [column.moved(_minus(centre), 1.0, -float(centre)) for column, centre in centred]
    if scales is not None:
        scaled = list(zip(columns, scales, strict=True))
        if table.sparse:
            columns = [_times(column, 1.0 / np.float64(scale)) for column, scale in scaled]
        else:
            columns = [column.moved(_over(scale), 1.0 / float(scale), 0.0) for column, scale in scaled]
    return table.becomes(columns)


def _clipped(table: Table, low: float, high: float, step: str) -> Table:
    def clip(z: np.float64) -> Any:
        return np.clip(z, low, high)

    return table.becomes(column.moved(clip, 1.0, 0.0, bent=f"{step} clips") for column in table.columns)


def _minus(centre: Any) -> Callable[[np.float64], Any]:
    return lambda z: z - np.float64(centre)


def _over(scale: Any) -> Callable[[np.float64], Any]:
    return lambda z: z / np.float64(scale)


def _times(column: Column, factor: Any) -> Column:
    return column.moved(lambda z: z * np.float64(factor), float(factor), 0.0)
