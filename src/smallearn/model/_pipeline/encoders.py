"""One-hot and ordinal encoders. What they make of a category is asked of them, so that every option is theirs."""

import math
import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from smallearn.model._columns import is_missing
from smallearn.model._pipeline.columns import (
    MISSING,
    REFUSED,
    Column,
    Curve,
    Output,
    Special,
    Steps,
    Table,
    cannot,
    constant,
    is_single,
    output_of,
    steps,
)

UNKNOWN = "\0 a category that no table has"


def encoder(transformer: Any, table: Table, step: str) -> Table:
    """`OneHotEncoder` and `OrdinalEncoder`."""
    encoded: list[Column] = []
    widths = getattr(transformer, "_n_features_outs", [1] * len(table.columns))  # only of a one-hot encoder
    for position, (column, width) in enumerate(zip(table.columns, widths, strict=True)):
        answers = _answers(transformer, position, step)
        table = table.guarded(_encoded(column, answers, None, step))
        begin = len(encoded)
        encoded += [_encoded(column, answers, place, step) for place in range(begin, begin + width)]
    sparse, single = bool(getattr(transformer, "sparse_output", False)), is_single(transformer.dtype)
    return replace(table.becomes(encoded), sparse=sparse, single=single)


@dataclass(frozen=True)
class _Answers:
    """The row of output that an encoder returns for each category of a column, and for others; None if it refuses."""

    known: dict[Output, np.ndarray | None]
    unknown: np.ndarray | None

    def output(self, found: Output, place: int | None) -> Output:
        """In one column of output; 0 in column None, unless the value is refused."""
        row = None if found is REFUSED else self.known.get(found, self.unknown)
        if row is None:
            return REFUSED
        return 0.0 if place is None else output_of(row[place])


def _answers(transformer: Any, position: int, step: str) -> _Answers:
    """What an encoder makes of the values of one column, while all others have their first category."""
    categories = list(transformer.categories_[position])
    absent = [category for category in categories if is_missing(category)]
    present: list[Any] = [output_of(category) for category in categories if not is_missing(category)]
    if len(absent) > 1:
        cannot(step, "it has None and NaN as different categories, and a model has one kind of missing value")
    only_numbers = not any(isinstance(category, str) for category in present)
    unknown = 1.0 + 2.0 * max((abs(float(number)) for number in present), default=0.0) if only_numbers else UNKNOWN
    rows = [_ask(transformer, position, category) for category in present]
    known: dict[Output, np.ndarray | None] = dict(zip(present, rows, strict=True))
    known[MISSING] = _ask(transformer, position, absent[0] if absent else math.nan)
    return _Answers(known, _ask(transformer, position, unknown))


def _ask(transformer: Any, position: int, value: Any) -> np.ndarray | None:
    """The row of output for one value; None if it is refused."""
    row = np.empty((1, len(transformer.categories_)), dtype=object)
    row[0] = [categories[0] for categories in transformer.categories_]
    row[0, position] = value
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # no names of features, an unknown category
        try:
            encoded = transformer.transform(row)
        except ValueError:
            return None
    return np.asarray(encoded.toarray() if hasattr(encoded, "toarray") else encoded)[0]


def _encoded(column: Column, answers: _Answers, place: int | None, step: str) -> Column:
    """One column of output, as a function of the raw column."""

    def output(found: Output) -> Output:
        return answers.output(found, place)

    if isinstance(column.other, Steps):
        encoded = column.mapped(output)
    elif column.other.is_identity:
        mapped = column.mapped(output, constant(output(UNKNOWN)))
        special = {value: output(value) for value in answers.known if not isinstance(value, Special)}
        encoded = Column(column.feature, {**special, **mapped.special}, mapped.missing, mapped.other, column.extent)
    else:
        encoded = column.mapped(output, _intervals(column.other, answers, place))
    if isinstance(encoded.other, Steps) and encoded.other.cuts and REFUSED in encoded.other.outputs:
        cannot(step, "it refuses numbers between others, and a model cannot; encode before scaling")
    return encoded


def _intervals(curve: Curve, answers: _Answers, place: int | None) -> Steps:
    """The raw numbers that become a category after scaling are an interval."""
    pieces: list[tuple[float, Output]] = []
    other = answers.output(UNKNOWN, place)
    for category in sorted(number for number in answers.known if isinstance(number, int | float)):
        pieces.append((curve.last_below(category), other))
        pieces.append((curve.last_at_most(category), answers.output(category, place)))
    return steps([*pieces, (math.inf, other)])
