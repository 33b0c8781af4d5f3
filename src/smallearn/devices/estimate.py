"""What a model will cost about, from how many terms of each kind it has: for machines without the chip's tools.

The weights of the counts are in estimates.json, fitted to random models that were measured
(``python -m benchmarks.devices --fit``).
"""

import functools
import json
from dataclasses import dataclass
from importlib.resources import files

from smallearn.devices.chips import Chip
from smallearn.export.numbers import TargetModel

COUNTS = (
    "one",
    "prototypes",
    "any raw term",
    "any literal",
    "raw terms",
    "raw terms that may be missing",
    "literals",
    "literals beside raw terms",
    "literals of two ends",
    "inputs",
    "more than two classes",
    "prototypes of more than two classes",
)
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
    literals = len(target.terms) - len(raw)
    prototypes, several = len(target.intercepts), not target.flat.is_binary
    return [
        1.0,
        prototypes,
        bool(raw),
        literals > 0,
        len(raw),
        sum(term.instead is not None for term in raw),
        literals,
        literals if raw else 0,
        sum(term.kind == "between" for term in target.terms),
        len({term.input for term in target.terms}),
        several,
        prototypes if several else 0,
    ]


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
