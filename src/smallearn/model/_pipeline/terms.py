"""A term on a column of a pipeline as terms on the raw table."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from smallearn.model._columns import _same
from smallearn.model._parts import Prototype, Term
from smallearn.model._pipeline.columns import (
    MISSING,
    REFUSED,
    Column,
    Curve,
    Output,
    Special,
    Steps,
    constant,
    steps,
)
from smallearn.model._term import Category

Key = tuple[str, Category | None]  # the kind and value of a literal


@dataclass
class Gain:
    """What a feature adds to a score: a constant, a slope, what a missing value is worth in the place of the slope
    (None: refused), and literals with their weights."""

    constant: float = 0.0
    slope: float = 0.0
    mean: float | None = None
    unit: float | None = None
    literals: dict[Key, float] = field(default_factory=dict)

    def add(self, key: Key, weight: float) -> None:
        """A literal, unless it weighs nothing."""
        if weight:
            self.literals[key] = weight


def gain_of(term: Term, column: Column) -> Gain:
    """What a term of the classifier adds to a score, as a function of the raw value."""
    values = _values(term, column)
    if isinstance(values.other, Curve):
        return _line(term, values, values.other)
    refused = values.other.outputs == (REFUSED,)
    found = (*values.other.outputs, values.missing, *values.special.values())
    starts = [number for number in dict.fromkeys([0.0, *found]) if not isinstance(number, Special)]
    if not values.other.cuts and not refused:
        starts = [values.other.outputs[0]]  # type: ignore[list-item]
    gains = (_literals(values, values.other, float(start)) for start in starts)
    gain = min(gains, key=lambda gain: len(gain.literals))
    return Gain(
        constant=term.weight * gain.constant,
        literals={key: term.weight * weight for key, weight in gain.literals.items()},
    )


# --- the value of a term ---------------------------------------------------------------------------------------------


def _values(term: Term, column: Column) -> Column:
    """What the term's weight is multiplied by, as a function of the raw value: numbers, or REFUSED."""

    def output(found: Output) -> Output:
        if found is REFUSED:
            return REFUSED
        if term.kind == "raw" and found is MISSING:
            return REFUSED if term.mean is None else term.mean
        if term.kind == "raw":
            return float(found)  # type: ignore[arg-type]
        if term.kind == "missing" or found is MISSING:
            return float(term.kind == "missing" and found is MISSING)
        if term.kind == "equals":
            return float(_same(found, term.value))
        number, bound = float(found), float(term.value)  # type: ignore[arg-type]
        return float(number <= bound if term.kind == "at_most" else number > bound)

    curve = column.other
    if isinstance(curve, Steps):
        return column.mapped(output)
    if term.kind == "raw":
        if curve.bent is not None:
            raise ValueError(
                f"{curve.bent}, and the model has a weight for the number that comes out ({term.text}): no term of a "
                "model is a clipped number. Use literals='thresholds', or do not clip."
            )
        return column.mapped(output)
    if term.kind == "missing":
        return column.mapped(output, constant(0.0))
    if term.kind != "equals":
        bound = float(term.value)  # type: ignore[arg-type]
        below, above = (1.0, 0.0) if term.kind == "at_most" else (0.0, 1.0)
        return column.mapped(output, steps([(curve.last_at_most(bound), below), (math.inf, above)]))
    category = term.value
    assert category is not None
    if curve.is_identity:
        mapped = column.mapped(output, constant(0.0))
        return Column(column.feature, {category: 1.0, **mapped.special}, mapped.missing, mapped.other)
    if isinstance(category, str):
        return column.mapped(output, constant(0.0))
    pieces = [(curve.last_below(category), 0.0), (curve.last_at_most(category), 1.0), (math.inf, 0.0)]
    return column.mapped(output, steps(pieces))


# --- as terms --------------------------------------------------------------------------------------------------------


def _line(term: Term, values: Column, curve: Curve) -> Gain:
    """A weight of a number: a raw term, and literals for single values that become another number."""
    weight = term.weight * curve.slope
    gain = Gain(constant=term.weight * curve.offset, slope=weight)
    if values.missing is not REFUSED:
        gain.mean = curve.origin(float(values.missing))  # type: ignore[arg-type]
    if term.unit is not None and not curve.offset:
        gain.unit = term.unit / curve.slope
    for value, found in values.special.items():
        if found is not REFUSED:
            gain.add(("equals", value), term.weight * (float(found) - curve(float(value))))  # type: ignore[arg-type]
    return gain


def _literals(values: Column, rest: Steps, start: float) -> Gain:
    """Literals that add up to the values, from the constant ``start`` on, which is the value if no literal is true."""
    gain = Gain(constant=start)
    outputs = [start if isinstance(output, Special) else float(output) for output in rest.outputs]
    pivot = outputs.index(start) if start in outputs else None
    if pivot is None:  # both sides of the first cut differ from the constant
        gain.add(("at_most", rest.cuts[0]), outputs[0] - start)
        gain.add(("above", rest.cuts[0]), outputs[1] - start)
    for place, cut in enumerate(rest.cuts):
        change = outputs[place + 1] - outputs[place]
        if pivot is not None and place < pivot:
            gain.add(("at_most", cut), -change)
        elif pivot is not None or place > 0:
            gain.add(("above", cut), change)
    if not isinstance(values.missing, Special):
        gain.add(("missing", None), float(values.missing) - start)
    for value, found in values.special.items():
        if isinstance(found, Special):
            continue
        usual = outputs[0] if isinstance(value, str) else outputs[sum(float(value) > cut for cut in rest.cuts)]
        gain.add(("equals", value), float(found) - usual)
    return gain


# --- prototypes ------------------------------------------------------------------------------------------------------


def folded(
    prototype: Prototype, gains: Sequence[tuple[int, Gain]], names: Sequence[str | None], means: dict[int, float | None]
) -> Prototype:
    """The prototype of the raw table, from the gains of its terms, each with its feature.

    Terms of the same feature, kind and value are added up. All raw terms of a feature have one of ``means`` for a
    missing value; where the pipeline has another, a literal makes up for it.
    """
    weights: dict[tuple[int, str, Category | None], float] = {}
    units: dict[int, float | None] = {}

    def add(feature: int, kind: str, value: Category | None, weight: float) -> None:
        weights[feature, kind, value] = weights.get((feature, kind, value), 0.0) + weight

    for feature, gain in gains:
        if gain.slope:
            units[feature] = None if (feature, "raw", None) in weights else gain.unit
            add(feature, "raw", None, gain.slope)
            mean = means[feature]
            if mean is not None and gain.mean is not None and gain.mean != mean:
                add(feature, "missing", None, gain.slope * (gain.mean - mean))
        for (kind, value), weight in gain.literals.items():
            add(feature, kind, value, weight)
    terms = (
        Term(
            feature=feature,
            weight=weight,
            name=names[feature],
            kind=kind,
            value=value,
            mean=means[feature] if kind == "raw" else None,
            unit=units[feature] if kind == "raw" else None,
        )
        for (feature, kind, value), weight in weights.items()
        if weight
    )
    intercept = math.fsum([prototype.intercept, *(gain.constant for _, gain in gains)])
    return Prototype(owner=prototype.owner, intercept=intercept, terms=tuple(terms))


def shared_means(gains: Iterable[tuple[int, Gain]]) -> dict[int, float | None]:
    """What raw terms use for a missing value, for each feature: None, an error, if one of them does."""
    means: dict[int, float | None] = {}
    for feature, gain in gains:
        if gain.slope:
            known = means.get(feature, gain.mean)
            means[feature] = None if gain.mean is None else known
    return means
