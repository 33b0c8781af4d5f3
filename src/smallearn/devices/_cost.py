"""`cost`: bytes and time of a model on a chip."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from smallearn._errors import check_choice
from smallearn._text import count
from smallearn.devices._chips import CHIPS, Chip, find_chip
from smallearn.devices._estimate import estimate
from smallearn.devices._measure import available, measure
from smallearn.devices._rows import encode, target_of, typical_rows
from smallearn.devices._toolchain import Program, ToolchainError
from smallearn.export._c.writer import to_c
from smallearn.model import SMaLLModel

NUMBERS = ("float32", "int8", "int16", "int32")
METHODS = ("auto", "measure", "estimate")
LAYOUTS = ("code", "table", "best")


@dataclass(frozen=True)
class Cost:
    """What a model's ``predict`` costs on a chip.

    ``flash`` is in bytes: code and constants, with the helpers of the compiler's library that the program would
    otherwise not have (floating point, say). ``ram`` is in bytes: variables, and the stack at its deepest; the input is
    the caller's. ``cycles`` (ATmega) or ``instructions`` (Cortex-M; the other is None) is the most that any row took
    from the call to the return, ``mean`` the average over the rows. ``time_us`` is the most in microseconds at the
    chip's clock, on a Cortex-M an estimate from instructions, words read and written, and jumps. ``how`` says in words
    where the numbers come from, ``measured`` whether the code was compiled and run.
    """

    chip: str
    number: str
    layout: str
    flash: int
    ram: int
    cycles: int | None
    instructions: int | None
    mean: float
    time_us: float
    measured: bool
    how: str

    @property
    def count(self) -> int:
        """Cycles or instructions, whichever the chip has."""
        return self.instructions if self.cycles is None else self.cycles  # type: ignore[return-value]

    def __str__(self) -> str:
        unit = "instructions" if self.cycles is None else "cycles"
        about = "" if self.measured else "about "
        return (
            f"{CHIPS[self.chip].title if self.chip in CHIPS else self.chip}, {self.number}: "
            f"{about}{self.flash} bytes of flash, {self.ram} of RAM, "
            f"at most {self.count} {unit} ({self.mean:.0f} on average), {self.time_us:.3g} µs\n({self.how})"
        )


def cost(
    model: SMaLLModel,
    chip: str | Chip = "atmega328p",
    number: str = "int8",
    rows: Any = None,
    method: str = "auto",
    layout: str = "code",
    *,
    ranges: Mapping[str, tuple[float, float]] | None = None,
    counts: Mapping[str, tuple[float, float, int, int]] | None = None,
) -> Cost:
    """Flash, RAM and time of a model on a chip.

    Parameters
    ----------
    model : SMaLLModel
    chip : {"atmega328p", "cortex-m0", "cortex-m4"}
    number : {"float32", "int8", "int16", "int32"}
    rows : array or table, rows × features, default=None
        What time and stack are measured on. None: 200 rows over the range of each input.
    method : {"auto", "measure", "estimate"}
        Compile and simulate, which needs the chip's tools (see `available`), or estimate from the number of terms.
        "auto": measure if that is possible.
    layout : {"code", "table", "best"}
        As in `to_c`. "best": the one with less flash, and of equals the faster.
    ranges, counts
        As in `to_c`: how features become whole numbers.
    """
    chip = find_chip(chip)
    check_choice("number", number, NUMBERS)
    check_choice("method", method, METHODS)
    check_choice("layout", layout, LAYOUTS)
    options = {"ranges": ranges, "counts": counts}
    if layout == "best":
        both = [cost(model, chip, number, rows, method, one, **options) for one in LAYOUTS[:2]]  # type: ignore[arg-type]
        return min(both, key=lambda found: (found.flash, found.count))
    lacking = None if method == "estimate" else available(chip)
    if method == "measure" and lacking is not None:
        raise ToolchainError(f"The cost cannot be measured: {lacking}")
    if method == "estimate" or lacking is not None:
        return _estimated(model, chip, number, layout, options, lacking)
    return _measured(model, chip, number, rows, layout, options)


def _without(number: str) -> str:
    """What is the caller's, and not in a cost."""
    return "" if number.startswith("float") else "; making codes of readings is the caller's"


def _measured(model: SMaLLModel, chip: Chip, number: str, rows: Any, layout: str, options: dict) -> Cost:
    target = target_of(model, number, options)
    inputs, kind = encode(target, typical_rows(target.flat, options) if rows is None else rows)
    source = to_c(model, number, name="model", form="header", layout=layout, **options)
    found = measure(Program(source, "return model_predict(x);", kind, inputs.shape[1]), chip, inputs)
    simulator = "simavr" if chip.counts == "cycles" else "unicorn"
    what = count(len(inputs), "typical row" if rows is None else "row")
    return Cost(
        chip.name,
        number,
        layout,
        found.flash,
        found.ram,
        *_both(chip, max(found.counts)),
        float(np.mean(found.counts)),
        max(found.cycles) / chip.clock * 1e6,
        True,
        f"measured: {layout} compiled with {chip.prefix}gcc -Os, {what} run on {simulator}{_without(number)}",
    )


def _estimated(model: SMaLLModel, chip: Chip, number: str, layout: str, options: dict, lacking: str | None) -> Cost:
    guess = estimate(target_of(model, number, options), chip, layout)
    near = ", ".join(
        f"{name} within {100 * guess.errors[key]:.0f}%" for name, key in (("flash", "flash"), (chip.counts, "count"))
    )
    why = "" if lacking is None else f"; {lacking}"
    return Cost(
        chip.name,
        number,
        layout,
        guess.flash,
        guess.ram,
        *_both(chip, guess.count),
        guess.mean,
        guess.cycles / chip.clock * 1e6,
        False,
        f"estimated from the number of terms, not measured; of random models nine in ten had {near}{why}",
    )


def _both(chip: Chip, count: int) -> tuple[int | None, int | None]:
    return (count, None) if chip.counts == "cycles" else (None, count)
