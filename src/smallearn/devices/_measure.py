"""What a program costs: compiled for the chip, run on its simulator, and the program with nothing to do taken away."""

import functools
from dataclasses import dataclass

import numpy as np

from smallearn.devices import _arm as arm
from smallearn.devices import _avr as avr
from smallearn.devices._chips import Chip, find_chip
from smallearn.devices._toolchain import Image, Program, ToolchainError, build, compiler, module

DTYPES = {"float32": np.float32, "float64": np.float64, "int8": np.int8, "int16": np.int16, "int32": np.int32}


@dataclass(frozen=True)
class Measured:
    """``flash`` bytes of code and constants, helpers of the compiler's library included; ``ram`` bytes of variables and
    of stack at its deepest, the return address included and the input, which is the caller's, not; ``answers`` and
    ``counts`` row by row (cycles or instructions, as the chip's ``counts`` says), and ``cycles``, an estimate on ARM.
    """

    flash: int
    ram: int
    answers: tuple[int, ...]
    counts: tuple[int, ...]
    cycles: tuple[int, ...]


def measure(program: Program, chip: str | Chip, rows: np.ndarray) -> Measured:
    """Flash and variables against the program with an empty function of the same signature; counts and stack from the
    call to the return, both included, with nothing taken away."""
    chip = find_chip(chip)
    rows = np.ascontiguousarray(rows, dtype=DTYPES[program.number])
    if rows.ndim != 2 or rows.shape[1] != program.n_inputs or not len(rows):
        raise ValueError(f"Rows have shape {rows.shape}; at least one of {program.n_inputs} inputs is needed.")
    image = build(program, chip)
    without = _empty(program.number, program.n_inputs, chip)
    calls = (avr if chip.counts == "cycles" else arm).simulate(image, chip, rows)
    return Measured(
        image.flash - without.flash,
        image.ram - without.ram + max(call.stack for call in calls),
        tuple(call.answer for call in calls),
        tuple(call.count for call in calls),
        tuple(call.cycles for call in calls),
    )


@functools.lru_cache(maxsize=256)
def _empty(number: str, n_inputs: int, chip: Chip) -> Image:
    return build(Program("", "(void)x;\n    return 0;", number, n_inputs), chip)


def available(chip: str | Chip) -> str | None:
    """What is missing to measure on the chip and how to install it; None if nothing is."""
    chip = find_chip(chip)
    try:
        compiler(chip)
        module("elftools.elf.elffile")
        if chip.counts == "cycles":
            avr.host()
        else:
            module("unicorn")
    except ToolchainError as problem:
        return str(problem)
    return None
