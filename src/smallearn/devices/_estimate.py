"""Estimates of what a model costs, from how many terms of each kind it has: for machines without the chip's compiler.

The weights of these numbers are in estimates.json, fitted to measurements of random models
(``python -m benchmarks.devices --fit``).
"""

import functools
import json
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files

import numpy as np

from smallearn.devices._chips import Chip
from smallearn.export._c.card import FEW, Card
from smallearn.export._c.code import adds_together
from smallearn.export._c.columns import Columns
from smallearn.export._c.differences import Differences
from smallearn.export._c.model import CModel
from smallearn.export._fixed.codes import FloatBits, Shifted
from smallearn.export._fixed.numbers import TargetModel
from smallearn.export._fixed.quantise import IntegerModel

FEW_LITERALS = 8  # of a prototype without raw terms: their sum is compiled as a condition
MOST_LITERALS = 12  # of a prototype whose subsets of literals are enumerated
QUANTITIES = ("flash", "ram", "count", "mean", "cycles")


@dataclass(frozen=True)
class Estimate:
    """An estimate of `Measured`: the greatest ``count`` and ``cycles`` over the rows, and the mean of the first.

    ``errors`` has, for each of QUANTITIES, the relative error that nine in ten models did not exceed, each estimated
    with weights that were fitted to others.
    """

    flash: int
    ram: int
    count: int
    mean: float
    cycles: int
    errors: dict[str, float]


def counts_of(target: TargetModel, layout: str) -> dict[str, float]:
    """The numbers that a cost is estimated from, in the order of the weights.

    Code that adds up all scores together has nothing in common with code that adds up one after the other: one of both
    groups of numbers is 0.
    """
    apart, together = _apart(target), _together(target, layout)
    found = (dict.fromkeys(apart, 0.0) | together) if any(together.values()) else apart | together
    return found | _read(target) | {"any product": any(term.kind == "raw" for term in target.terms)}


def _read(target: TargetModel) -> dict[str, float]:
    """How whole-number code reads floats: what is multiplied is shifted by a function, what is compared is looked at in
    16 or 32 bits. All 0 for other code."""
    coders = target.coders if isinstance(target, IntegerModel) and target.readings == "float" else ()
    shifted = sum(isinstance(coder, Shifted) for coder in coders)
    wide = sum(isinstance(coder, FloatBits) and coder.width == 32 for coder in coders)
    narrow = len(coders) - shifted - wide
    return {
        "any shifted input": shifted > 0,
        "shifted inputs": shifted,
        "any input of 16 bits": narrow > 0,
        "inputs of 16 bits": narrow,
        "any input of 32 bits": wide > 0,
        "inputs of 32 bits": wide,
    }


def _together(target: TargetModel, layout: str) -> dict[str, float]:
    """What a model has whose scores are added up together; all 0 if they are added up one after the other."""
    rows, size, bits, by_class = _card(target, layout)
    products = [weights for kind, weights in rows if kind == "raw"]
    literals = [weights for kind, weights in rows if kind != "raw"]
    n_columns = max((len(weights) for _, weights in rows), default=0)
    cells = len(rows) * n_columns if layout == "table" else 0
    few = n_columns <= FEW and not by_class
    gaps = [row for row in target.rows if any(term is not None and term.instead is not None for term in row)]
    return {
        "together": bool(rows),
        "products": len(products),
        "literals": len(literals),
        "products and literals": bool(products and literals),
        "weights of products": sum(map(np.count_nonzero, products)),
        "weights of literals": sum(map(np.count_nonzero, literals)),
        "products that may be missing": len(gaps) if rows else 0,
        "bytes of the table": size,
        "bytes of few sums": n_columns * bits // 8 if few else 0,
        "bytes of one of many sums": bits // 8 if n_columns > FEW and not by_class else 0,
        "many sums": n_columns if n_columns > FEW and not by_class else 0,
        "differences": n_columns if by_class else 0,
        "any difference": by_class,
        "cells of few sums": cells if few else 0,
        "cells of many sums": cells if n_columns > FEW and not by_class else 0,
        "cells of differences": cells if by_class else 0,
    }


def _card(target: TargetModel, layout: str) -> tuple[list[tuple[str, Sequence[float]]], int, int, bool]:
    """The rows of the card, each a kind and its weights, the size of its table, the width of a sum, and whether the
    table has the differences between neighbours.

    No rows if scores are added up one after the other.
    """
    c = CModel(prefix="model", target=target, arguments=False)
    rows = [(next(term.kind for term in row if term is not None), row) for row in target.rows]
    if layout == "code" and adds_together(c):
        columns = Columns.of(c, 0 if c.is_float else target.sum_bits)  # type: ignore[attr-defined]
        bits = 32 if c.is_float else columns.bits
        return [(kind, [columns.weights(row)[j] for j in columns.others]) for kind, row in rows], 0, bits, False
    found = Differences.of(c) if layout == "table" else None
    if found is not None:
        kinds = ["raw" if row.above is None else "above" for row in found.rows]
        weights = [list(row) for row in zip(*found.columns, strict=True)]
        return list(zip(kinds, weights[:-1], strict=True)), found.bytes, found.bits, True
    card = Card.of(c) if layout == "table" else None
    if card is not None:
        kinds = ["raw" if row.above is None else "above" for row in card.rows]
        weights = [card.in_table(row)[1:] for row in card.rows]
        return list(zip(kinds, weights, strict=True)), card.bytes, card.bits, False
    if layout == "table" and c.is_float and target.shares_terms:
        n_columns = len(target.intercepts)
        return [(kind, [1.0] * n_columns) for kind, _ in rows], 4 * len(rows) * (1 + n_columns), 32, False
    return [], 0, 0, False


def _apart(target: TargetModel) -> dict[str, float]:
    """What a model has whose scores are added up one after the other."""
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
    prototypes, several = len(target.intercepts), not target.flat.has_one_owner
    return {
        "one": 1.0,
        "prototypes": prototypes,
        "more than one prototype": prototypes > 1,
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
        "inputs": len({term.input for term in target.terms}),
        "more than two classes": several,
        "prototypes of more than two classes": prototypes if several else 0,
    }


def _deciding(target: TargetModel, prototype: int) -> int:
    """How many of a prototype's literals can change the sign of its score: a compiler removes the others."""
    weights = [term.weight for term in target.of(prototype)]
    if not target.flat.has_one_owner or len(weights) > MOST_LITERALS:
        return len(weights)
    holds = np.indices((2,) * len(weights)).astype(bool)
    score = target.intercepts[prototype] + sum(w * h for w, h in zip(weights, holds, strict=True))
    predicted = score > target.cut if target.flat.owners[0] == 1 else score >= target.cut
    return sum(bool((predicted.take(0, axis) != predicted.take(1, axis)).any()) for axis in range(len(weights)))


def has_estimate(chip: Chip) -> bool:
    """Whether there are weights for a chip."""
    return (chip.like or chip.name) in _tables()


def estimate(target: TargetModel, chip: Chip, layout: str) -> Estimate:
    """Weighted sums of the counts, rounded."""
    tables = _tables()
    if not has_estimate(chip):
        raise ValueError(
            f"There is no estimate for {chip.name}, only for {', '.join(tables)}: install its compiler and simulator."
        )
    readings = target.readings if isinstance(target, IntegerModel) else "float"
    table = tables[chip.like or chip.name][target.number][entry_of(target.number, layout, readings)]
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


def entry_of(number: str, layout: str, readings: str) -> str:
    """The name of a table: whole-number code that takes floats has one of its own."""
    return f"{layout}, from floats" if readings == "float" and number != "float32" else layout


@functools.lru_cache(maxsize=1)
def _tables() -> dict:
    return json.loads(files(__package__).joinpath("estimates.json").read_text(encoding="utf-8"))
