"""Limits on what compiled code may cost on a chip."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from smallearn.devices._chips import find_chip
from smallearn.devices._cost import Cost

NUMBERS = ("float32", "int16", "int8x16", "int8")  # the most exact first
UNITS = {"max_flash": "bytes of flash", "max_ram": "bytes of RAM", "max_cycles": "cycles", "max_time_us": "µs"}


@dataclass(frozen=True)
class Limits:
    """What compiled code may cost on a chip, the whole way from a reading to the decision; None: all that the chip has.
    ``readings`` and ``counts`` are as in `to_c`."""

    device: str
    max_flash: float | None = None
    max_ram: float | None = None
    max_cycles: float | None = None
    max_time_us: float | None = None
    readings: str = "float"
    counts: Mapping[str, tuple[float, float, int, int]] | None = None

    @property
    def asked(self) -> tuple[tuple[str, float], ...]:
        """The limits that the user set."""
        return tuple((name, float(getattr(self, name))) for name in UNITS if getattr(self, name) is not None)

    @property
    def numbers(self) -> Sequence[str]:
        """The number formats that may be tried, the most exact first."""
        return NUMBERS if self.readings == "float" else tuple(name for name in NUMBERS if name != "float32")

    def exceeded(self, spent: Cost) -> list[str]:
        """The limits that a cost exceeds, by name."""
        return [name for name, value in cost_by_limit(spent).items() if value > self.limit(name)]

    def excess(self, spent: Cost) -> float:
        """How many times too large a cost is. A model of the same shape has to have at least so many times fewer terms:
        what a model costs is something for each term and something besides."""
        return max(value / self.limit(name) for name, value in cost_by_limit(spent).items())

    def limit(self, name: str) -> float:
        """The limit that the user set, or else what the chip has."""
        chip = find_chip(self.device)
        asked = getattr(self, name)
        return {"max_flash": chip.flash, "max_ram": chip.ram}.get(name, np.inf) if asked is None else asked

    def sentence(self, name: str) -> str:
        """A limit in words: "200 bytes of flash"."""
        return f"{self.limit(name):g} {UNITS[name]}"


def cost_by_limit(spent: Cost) -> dict[str, float]:
    """A cost by the names of the limits. Where a chip counts instructions, these are compared with max_cycles."""
    by_limit = {"max_flash": spent.flash, "max_ram": spent.ram, "max_cycles": spent.count, "max_time_us": spent.time_us}
    return {name: float(value) for name, value in by_limit.items()}
