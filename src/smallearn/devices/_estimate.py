"""What a model will cost about, from how many terms of each kind it has: for machines without the chip's tools.

The weights of the counts are in estimates.json, fitted to random models that were measured
(``python -m benchmarks.devices --fit``).
"""

import functools
import json
from dataclasses import dataclass
from importlib.resources import files

import numpy as np

from smallearn.devices._chips import Chip
from smallearn.export._fixed.numbers import TargetModel

COUNTS = (
    "one",
    "prototypes",
    "more than one prototype",
    "any sum",
    "any raw term",
    "any literal",
    "raw terms and literals",
    "raw terms",
    "raw terms that may be missing",
    "literals beside raw terms",
    "literals that decide together",
    "literals that decide alone",
    "literals that change nothing",
    "literals of two ends",
    "prototypes of literals",
    "inputs",
    "more than two classes",
    "prototypes of more than two classes",
)
FEW_LITERALS = 8  # in a prototype of nothing else: their sum is written as a condition
MOST_LITERALS = 12  # of a prototype, whose every combination is looked at
QUANTITIES = ("flash", "ram", "count", "mean", "cycles")


@dataclass(frozen=True)
class Estimate:
    """As in `Measured`, the most of ``count`` and ``cycles`` over the rows, and the mean of the first. ``errors`` is
    what nine of ten models kept to when the weights were fitted, as a share of what was measured."""

    flash: int
    ram: int
    count: int
    mean: float
    cycles: int
    errors: dict[str, float]


def counts_of(target: TargetModel) -> list[float]:
    """The numbers of COUNTS."""
    raw = [term for term in target.terms if term.kind == "raw"]
    beside = together = alone = idle = without = most = 0
    for prototype in range(len(target.intercepts)):
        terms = target.of(prototype)
        literals = sum(term.kind != "raw" for term in terms)
        if literals < len(terms):
            beside += literals
        elif literals:
            deciding = _deciding(target, prototype)
            without += 1
            most = max(most, literals)
            idle += literals - deciding
            alone += deciding == 1
            together += deciding if deciding > 1 else 0
    prototypes, several = len(target.intercepts), not target.flat.is_binary
    return [
        1.0,
        prototypes,
        prototypes > 1,
        bool(raw) or most > FEW_LITERALS or (several and bool(target.terms)),
        bool(raw),
        len(raw) < len(target.terms),
        0 < len(raw) < len(target.terms),
        len(raw),
        sum(term.instead is not None for term in raw),
        beside,
        together,
        alone,
        idle,
        sum(term.kind == "between" for term in target.terms),
        without,
        len({term.input for term in target.terms}),
        several,
        prototypes if several else 0,
    ]


def _deciding(target: TargetModel, prototype: int) -> int:
    """How many of a prototype's literals can change the sign of its score: a compiler leaves the others out."""
    weights = [term.weight for term in target.of(prototype)]
    if not target.flat.is_binary or len(weights) > MOST_LITERALS:
        return len(weights)
    holds = np.indices((2,) * len(weights)).astype(bool)
    score = target.intercepts[prototype] + sum(w * h for w, h in zip(weights, holds, strict=True))
    wins = score > 0 if target.flat.owners[0] == 1 else score >= 0
    return sum(bool((wins.take(0, axis) != wins.take(1, axis)).any()) for axis in range(len(weights)))


def estimate(target: TargetModel, chip: Chip, layout: str) -> Estimate:
    """Weighted sums of the counts, rounded."""
    tables = _tables()
    if chip.name not in tables:
        raise ValueError(f"There is no estimate for {chip.name}, only for {', '.join(tables)}.")
    table = tables[chip.name][target.number][layout]
    counts = counts_of(target)
    guess = {
        quantity: sum(weight * count for weight, count in zip(table["weights"][quantity], counts, strict=True))
        for quantity in QUANTITIES
    }
    flash, ram, count, cycles = (round(guess[name]) for name in ("flash", "ram", "count", "cycles"))
    return Estimate(flash, ram, count, min(guess["mean"], count), cycles, table["errors"])


@functools.lru_cache(maxsize=1)
def _tables() -> dict:
    return json.loads(files(__package__).joinpath("estimates.json").read_text(encoding="utf-8"))
