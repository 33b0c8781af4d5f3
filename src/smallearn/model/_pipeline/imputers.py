"""`SimpleImputer`: another output where a value is missing, and columns that say where."""

from typing import Any

from smallearn._text import show
from smallearn.model._pipeline.columns import (
    MISSING,
    REFUSED,
    Column,
    Curve,
    Output,
    Special,
    Table,
    cannot,
    constant,
    output_of,
)


def simple_imputer(transformer: Any, table: Table, step: str) -> Table:
    """The imputed columns, without those that had no value in training, then the indicators."""
    fills = [output_of(fill) for fill in transformer.statistics_]
    absent = output_of(transformer.missing_values)
    pairs = list(zip(table.columns, fills, strict=True))
    if not transformer.keep_empty_features:
        pairs = [(column, fill) for column, fill in pairs if fill is not MISSING]
    columns = [_replaced(column, absent, fill, step) for column, fill in pairs]
    if transformer.add_indicator:
        for position in transformer.indicator_.features_:
            column = table.columns[position]
            columns.append(_indicator(_replaced(column, absent, MISSING, step)))
    return table.in_double(step).becomes(columns)


def _replaced(column: Column, absent: Output, fill: Output, step: str) -> Column:
    """The column with ``fill`` in place of ``absent``. If something else than NaN stands for it, NaN is refused."""

    def output(found: Output) -> Output:
        if found is MISSING and absent is not MISSING:
            return REFUSED
        return fill if found == absent else found

    replaced = column.mapped(output)
    if isinstance(absent, Special) or not isinstance(column.other, Curve):
        return replaced
    if not column.other.is_identity:
        cannot(step, f"{show(absent)} stands for a missing value after numbers were scaled; impute first")
    return Column(column.feature, {absent: fill, **replaced.special}, replaced.missing, column.other, column.extent)


def _indicator(column: Column) -> Column:
    def output(found: Output) -> Output:
        return found if found is REFUSED else float(found is MISSING)

    return column.mapped(output, constant(0.0) if isinstance(column.other, Curve) else None)
