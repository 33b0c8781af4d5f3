"""Estimates of what a model costs, from how many terms of each kind it has: for machines without the chip's compiler.

The weights of these numbers are in estimates.json, fitted to measurements of random models
(``python -m benchmarks.devices --fit``).
"""

import functools
import json
from dataclasses import dataclass
from importlib.resources import files

import numpy as np

from smallearn.devices._chips import Chip
from smallearn.export._c.card import FEW, Card
from smallearn.export._c.code import adds_together
from smallearn.export._c.columns import Columns
from smallearn.export._c.model import CModel
from smallearn.export._fixed.numbers import TargetModel

FEW_LITERALS = 8  # of a prototype without raw terms: their sum is compiled as a condition
MOST_LITERALS = 12  # of a prototype whose subsets of literals are enumerated
QUANTITIES = ("flash", "ram", "count", "mean", "cycles")


@dataclass(frozen=True)
class Estimate:
    """An estimate of `Measured`: the greatest ``count`` and ``cycles`` over the rows, and the mean of the first.

    ``errors`` has, for each of QUANTITIES, the relative error that nine in ten models did not exceed when the weights
    were fitted.
    """

    flash: int
    ram: int
    count: int
    mean: float
    cycles: int
    errors: dict[str, float]


def counts_of(target: TargetModel, layout: str) -> dict[str, float]:
    """The numbers that a cost is estimated from, in the order of the weights."""
    shared = _shared(target, layout)
    if any(shared.values()):
        return dict.fromkeys(_apart(target), 0.0) | _of_all(target) | shared
    return _apart(target) | _of_all(target) | shared


def _of_all(target: TargetModel) -> dict[str, float]:
    """What every model has."""
    prototypes, several = len(target.intercepts), not target.flat.is_binary
    return {
        "one": 1.0,
        "prototypes": prototypes,
        "more than one prototype": prototypes > 1,
        "inputs": len({term.input for term in target.terms}),
        "more than two classes": several,
        "prototypes of more than two classes": prototypes if several else 0,
    }


def _shared(target: TargetModel, layout: str) -> dict[str, float]:
    """What a model has whose scores are added up together; all 0 if they are added up one after the other."""
    rows, size = _rows_and_bytes(target, layout)
    weights = [sum(map(bool, weights)) for _, weights in rows]
    gaps = [row for row in target.rows if any(term is not None and term.instead is not None for term in row)]
    return {
        "shared": bool(rows),
        "rows": len(rows),
        "literals": sum(kind != "raw" for kind, _ in rows),
        "weights of literals": sum(n for (kind, _), n in zip(rows, weights, strict=True) if kind != "raw"),
        "weights of products": sum(n for (kind, _), n in zip(rows, weights, strict=True) if kind == "raw"),
        "rows that may be missing": len(gaps) if rows else 0,
        "bytes": size,
        "columns": max([0, *(len(weights) - FEW for _, weights in rows)]),
    }


def _rows_and_bytes(target: TargetModel, layout: str) -> tuple[list[tuple[str, list[float]]], int]:
    """The rows of the card, each a kind and its weights, and the size of its table; none if there is no card."""
    c = CModel(prefix="model", target=target, arguments=False)
    rows = [(next(term.kind for term in row if term is not None), row) for row in target.rows]
    if layout == "code":
        if not adds_together(c):
            return [], 0
        columns = Columns.of(c, 0 if c.is_float else target.sum_bits)  # type: ignore[attr-defined]
        return [(kind, [columns.weights(row)[j] for j in columns.others]) for kind, row in rows], 0
    card = Card.of(c)
    if card is not None:
        kinds = ["raw" if row.above is None else "above" for row in card.rows]
        return [
            (k, list(map(float, card.in_table(row)[1:]))) for k, row in zip(kinds, card.rows, strict=True)
        ], card.bytes
    if c.is_float and target.shares_terms:
        n_columns = len(target.intercepts)
        return [(kind, [1.0] * n_columns) for kind, _ in rows], 4 * len(rows) * (1 + n_columns)
    return [], 0


def _apart(target: TargetModel) -> dict[str, float]:
    """What is counted prototype by prototype."""
    raw = [term for term in target.terms if term.kind == "raw"]
    n_raw, n_terms = len(raw), len(target.terms)
    beside = together = alone = idle = of_literals = most = 0
    for prototype in range(len(target.intercepts)):
        terms = target.of(prototype)
        literals = sum(term.kind != "raw" for term in terms)
        if literals < len(terms):
            beside += literals
        elif literals:
            deciding = _deciding(target, prototype)
            of_literals += 1
            most = max(most, literals)
            idle += literals - deciding
            alone += deciding == 1
            together += deciding if deciding > 1 else 0
    several = not target.flat.is_binary
    return {
        "any sum": n_raw > 0 or most > FEW_LITERALS or (several and n_terms > 0),
        "any raw term": n_raw > 0,
        "any literal": n_raw < n_terms,
        "raw terms and literals": 0 < n_raw < n_terms,
        "raw terms": n_raw,
        "raw terms that may be missing": sum(term.instead is not None for term in raw),
        "literals beside raw terms": beside,
        "literals that decide together": together,
        "literals that decide alone": alone,
        "literals that change nothing": idle,
        "literals of two ends": sum(term.kind == "between" for term in target.terms),
        "prototypes of literals": of_literals,
    }


def _deciding(target: TargetModel, prototype: int) -> int:
    """How many of a prototype's literals can change the sign of its score: a compiler removes the others."""
    weights = [term.weight for term in target.of(prototype)]
    if not target.flat.is_binary or len(weights) > MOST_LITERALS:
        return len(weights)
    holds = np.indices((2,) * len(weights)).astype(bool)
    score = target.intercepts[prototype] + sum(w * h for w, h in zip(weights, holds, strict=True))
    predicted = score > target.cut if target.flat.owners[0] == 1 else score >= target.cut
    return sum(bool((predicted.take(0, axis) != predicted.take(1, axis)).any()) for axis in range(len(weights)))


def estimate(target: TargetModel, chip: Chip, layout: str) -> Estimate:
    """Weighted sums of the counts, rounded."""
    tables = _tables()
    if chip.name not in tables:
        raise ValueError(
            f"There is no estimate for {chip.name}, only for {', '.join(tables)}: install its compiler and simulator."
        )
    table = tables[chip.name][target.number][layout]
    counts = counts_of(target, layout).values()
    sums = {
        quantity: sum(weight * count for weight, count in zip(table["weights"][quantity], counts, strict=True))
        for quantity in QUANTITIES
    }
    count = round(sums["count"])
    return Estimate(
        flash=round(sums["flash"]),
        ram=round(sums["ram"]),
        count=count,
        mean=min(sums["mean"], count),
        cycles=round(sums["cycles"]),
        errors=table["errors"],
    )


@functools.lru_cache(maxsize=1)
def _tables() -> dict:
    return json.loads(files(__package__).joinpath("estimates.json").read_text(encoding="utf-8"))
