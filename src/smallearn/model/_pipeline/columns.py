"""A column that reaches the classifier, as a function of one column of the raw table.

Every value of the raw column has an output. Most outputs are given by ``other``: a `Curve`, which computes what the
pipeline computes, in the same arithmetic, or `Steps`. Single values and missing ones may have outputs of their own.
"""

import math
import struct
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any, NoReturn

import numpy as np

from smallearn.model._columns import is_missing
from smallearn.model._term import Category


class Special(Enum):
    """What a value becomes, if neither a number nor a category."""

    MISSING = "missing"  # NaN or None
    REFUSED = "refused"  # an error of the pipeline


Output = Category | Special
MISSING, REFUSED = Special.MISSING, Special.REFUSED
LARGEST = float(np.finfo(np.float64).max)


def output_of(value: Any) -> Output:
    """A value of a transformed table as an output: a plain Python value, or MISSING."""
    if is_missing(value):
        return MISSING
    return value.item() if isinstance(value, np.generic) else value


@dataclass(frozen=True)
class Curve:
    """A number as a function of the raw number, which never falls: the steps of a pipeline one after the other.

    Each step is the arithmetic of a transformer, so that comparisons come out as in the pipeline, to the last bit.
    ``slope`` and ``offset`` are those of the straight line, unless a step has ``bent`` it; that is then said here.
    """

    steps: tuple[Callable[[np.float64], Any], ...] = ()
    slope: float = 1.0
    offset: float = 0.0
    bent: str | None = None

    def __call__(self, x: float) -> float:
        value = np.float64(x)
        with np.errstate(all="ignore"):
            for step in self.steps:
                value = step(value)
        return float(value)

    @property
    def is_identity(self) -> bool:
        """Whether values, text among them, are as they were."""
        return not self.steps

    def last(self, holds: Callable[[float], bool]) -> float:
        """The greatest raw number whose output ``holds``, which is true up to some number; inf if all, -inf if none."""
        if holds(self(LARGEST)):
            return math.inf
        if not holds(self(-LARGEST)):
            return -math.inf
        low, high = _place(-LARGEST), _place(LARGEST)
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if holds(self(_at(middle))) else (low, middle)
        return _at(low)

    def last_at_most(self, bound: float) -> float:
        """The greatest raw number whose output is at most ``bound``."""
        return bound if self.is_identity else self.last(lambda z: z <= bound)

    def last_below(self, bound: float) -> float:
        """The greatest raw number whose output is below ``bound``."""
        return math.nextafter(bound, -math.inf) if self.is_identity else self.last(lambda z: z < bound)

    def origin(self, output: float) -> float:
        """A raw number with this output on the straight line: of those that it may be, one of few digits."""
        x = (output - self.offset) / self.slope
        shorter = (float(f"{x:.{digits}g}") for digits in (12, 14, 15, 16, 17))
        return next((number for number in shorter if self(number) == output), x)


@dataclass(frozen=True)
class Steps:
    """Outputs that change at some cuts: ``outputs[i]`` above ``cuts[i - 1]`` and up to ``cuts[i]``."""

    cuts: tuple[float, ...]
    outputs: tuple[Output, ...]

    def __call__(self, x: float) -> Output:
        return self.outputs[sum(x > cut for cut in self.cuts)]


def constant(output: Output) -> Steps:
    """One output for all values."""
    return Steps((), (output,))


def steps(pieces: Iterable[tuple[float, Output]]) -> Steps:
    """From the last number of each piece, in order, and its output; empty pieces are left out, equal ones joined."""
    cuts: list[float] = []
    outputs: list[Output] = []
    for end, output in pieces:
        if end == -math.inf or (cuts and end <= cuts[-1]):
            continue
        if outputs and outputs[-1] == output:
            cuts[-1] = end
        else:
            cuts.append(end)
            outputs.append(output)
    return Steps(tuple(cuts[:-1]), tuple(outputs))


@dataclass(frozen=True)
class Column:
    """A column as a function of feature ``feature`` of the raw table.

    ``special`` has the outputs of single values, ``missing`` that of a missing value, ``other`` those of all others.
    ``extent`` is the range of the raw numbers in training, where a transformer knows it.
    """

    feature: int
    special: Mapping[Category, Output] = field(default_factory=dict)
    missing: Output = MISSING
    other: Curve | Steps = field(default_factory=Curve)
    extent: tuple[float, float] | None = None

    def mapped(self, output: Callable[[Output], Output], other: Curve | Steps | None = None) -> "Column":
        """Every output changed by ``output``; a curve becomes ``other``."""
        if isinstance(self.other, Steps):
            pieces = zip((*self.other.cuts, math.inf), map(output, self.other.outputs), strict=True)
            other = steps(pieces)
        return replace(
            self,
            special={value: output(found) for value, found in self.special.items()},
            missing=output(self.missing),
            other=self.other if other is None else other,
        )

    def moved(
        self, step: Callable[[np.float64], Any], slope: float, offset: float, bent: str | None = None
    ) -> "Column":
        """Every number put through ``step``, which is ``slope · z + offset`` but for rounding, unless ``bent``."""

        def output(found: Output) -> Output:
            if isinstance(found, Special):
                return found
            with np.errstate(all="ignore"):
                return float(step(np.float64(found)))

        curve = self.other
        if isinstance(curve, Curve):
            curve = Curve((*curve.steps, step), curve.slope * slope, curve.offset * slope + offset, curve.bent or bent)
        return self.mapped(output, curve)

    @property
    def refuses(self) -> bool:
        """Whether a value of the raw column is an error."""
        outputs = self.other.outputs if isinstance(self.other, Steps) else ()
        return REFUSED in (self.missing, *self.special.values(), *outputs)


@dataclass(frozen=True)
class Table:
    """The columns between two steps of a pipeline.

    ``sparse``: they are a sparse matrix, ``single``: they are float32; with both, transformers compute differently.
    ``guards`` are columns, used or not, for which some rows are an error.
    """

    columns: tuple[Column, ...]
    sparse: bool = False
    single: bool = False
    guards: tuple[Column, ...] = ()

    def becomes(self, columns: Iterable[Column]) -> "Table":
        """The table of these columns; those that refuse rows are among the guards from now on."""
        columns = tuple(columns)
        return replace(self.guarded(*columns), columns=columns)

    def in_double(self, step: str) -> "Table":
        """The same table, for a step that computes with its numbers, which has to be in float64."""
        if self.single:
            cannot(step, "it computes in float32, because an earlier step has dtype float32; leave that out")
        return self

    def guarded(self, *columns: Column) -> "Table":
        """The same table, with those of these columns that refuse rows among its guards."""
        return replace(self, guards=(*self.guards, *(column for column in columns if column.refuses)))


def is_single(dtype: Any) -> bool:
    """Whether numbers of a type are kept in fewer bits than float64 has, and are not whole."""
    return np.dtype(dtype).kind == "f" and np.dtype(dtype).itemsize < 8


# --- float64 in order ------------------------------------------------------------------------------------------------


def _place(x: float) -> int:
    """The place of a number among all of float64."""
    (bits,) = struct.unpack("<q", struct.pack("<d", x))
    return bits if bits >= 0 else -(bits & 0x7FFFFFFFFFFFFFFF)


def _at(place: int) -> float:
    """The number at a place."""
    return math.copysign(struct.unpack("<d", struct.pack("<q", abs(place)))[0], place)


# --- errors ----------------------------------------------------------------------------------------------------------


def cannot(step: str, why: str) -> NoReturn:
    """Raise the error of a step that cannot be folded."""
    raise ValueError(f"{step} cannot be folded into the model: {why}.")
