"""The most accurate model that fits a chip: limits on the compiled code, and the number format that keeps them."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing

from smallearn._errors import Parameter, ParameterError
from smallearn._text import count, listed
from smallearn.devices import Cost, cost
from smallearn.devices._chips import find_chip
from smallearn.export._fixed.quantise import quantise
from smallearn.model import SMaLLModel

NUMBERS = ("float32", "int16", "int8")  # the most exact first
LAYOUTS = ("code", "table")
ROWS = 100  # of each class that the model predicts, on which time is measured: a "no" takes longest
UNITS = {"max_flash": "bytes of flash", "max_ram": "bytes of RAM", "max_cycles": "cycles", "max_time_us": "µs"}


@dataclass(frozen=True)
class Limits:
    """What compiled code may cost on a chip; None: anything that the chip has."""

    device: str
    max_flash: float | None
    max_ram: float | None
    max_cycles: float | None
    max_time_us: float | None

    def broken(self, found: Cost) -> list[str]:
        """The limits that a cost exceeds."""
        spent = spending(found)
        return [name for name, value in spent.items() if value > self.of(name)]

    def of(self, name: str) -> float:
        """A limit: the one asked for, or what there is on the chip."""
        chip = find_chip(self.device)
        whole = {"max_flash": float(chip.flash), "max_ram": float(chip.ram)}
        asked = getattr(self, name)
        return whole.get(name, np.inf) if asked is None else float(asked)


def spending(found: Cost) -> dict[str, float]:
    """A cost by the name of the limit that it is held against; where instructions are counted, these for cycles."""
    spent = {"max_flash": found.flash, "max_ram": found.ram, "max_cycles": found.count, "max_time_us": found.time_us}
    return {name: float(value) for name, value in spent.items()}


@dataclass(frozen=True)
class Deployed:
    """A model in one number format: what it costs, which limits it breaks, and the share of the training rows that
    the format gets wrong beyond those that the model does."""

    model: SMaLLModel
    number: str
    cost: Cost
    broken: list[str]
    loss: float


def deploy(model: SMaLLModel, limits: Limits, X: Any, y: np.ndarray, weight: np.ndarray) -> list[Deployed]:
    """The model in every format and layout, compiled and measured."""
    found = []
    position = {label: place for place, label in enumerate(model.classes)}
    truth = np.array([position.get(label, -1) for label in y.tolist()])
    predicted = model.predict(X)
    right = predicted == y
    some = [np.flatnonzero(predicted == label)[:ROWS] for label in np.unique(predicted)]
    rows = _safe_indexing(X, np.sort(np.concatenate(some)))
    for number in NUMBERS:
        loss = 0.0
        if number != "float32":
            whole = quantise(model, number)
            loss = float(np.average(right.astype(float) - (whole.predict(whole.codes(X)) == truth), weights=weight))
        for layout in LAYOUTS:
            spent = cost(model, limits.device, number, rows, layout=layout)
            found.append(Deployed(model, number, spent, limits.broken(spent), loss))
    return found


def too_tight(limits: Limits, smallest: list[Deployed]) -> ParameterError:
    """The error that no model keeps the limits: which ones, and what the smallest model costs."""
    always = [name for name in UNITS if all(name in one.broken for one in smallest)]
    names = always or sorted({name for one in smallest for name in one.broken})
    asked = [part for name in names for part in (Parameter(name, limits.of(name)), ", ")][:-1]
    least = {name: min(spending(one.cost).get(name, np.inf) for one in smallest) for name in UNITS}
    needs = ", ".join(f"{value:g} {UNITS[name]}" for name, value in least.items() if np.isfinite(value))
    terms = count(len(smallest[0].model.terms), "term")
    return ParameterError(
        "No model keeps ",
        *asked,
        f" on {limits.device}: the smallest, of {terms}, takes at least {needs} (formats tried: {listed(NUMBERS)}). "
        "Raise the limits, or choose another chip.",
    )
