"""What a program costs: compiled for the chip and run on its simulator, less the same program without a model."""

import functools
from dataclasses import dataclass
from types import ModuleType

import numpy as np

from smallearn.devices import _arm as arm
from smallearn.devices import _avr as avr
from smallearn.devices import _riscv as riscv
from smallearn.devices._chips import Chip, architecture_of, find_chip
from smallearn.devices._toolchain import TYPES, Image, Program, ToolchainError, build, compiler, module
from smallearn.devices._worst import UnprovenError, worst_case

DTYPES = {name: np.dtype(name) for name in TYPES}
# By architecture, as in ``_chips.ARCHITECTURES``: a module with ``simulate`` and ``check``.
SIMULATORS = {"avr-": avr, "arm-none-eabi-": arm, "riscv64-unknown-elf-": riscv}


@dataclass(frozen=True)
class Measured:
    """The cost of a program.

    ``flash`` is in bytes: code and constants, with the functions of the compiler's library that it needs. ``ram`` is in
    bytes: variables and the deepest stack, with the return address but without the input, which belongs to the caller.
    ``answers``, ``counts`` (cycles or instructions, as the chip's ``counts`` says) and ``cycles`` (an estimate where
    instructions are counted) have one entry for each row.
    """

    flash: int
    ram: int
    answers: tuple[int, ...]
    counts: tuple[int, ...]
    cycles: tuple[int, ...]


def measure(program: Program, chip: str | Chip, rows: np.ndarray) -> Measured:
    """Compile a program and run it on rows.

    Flash and variables are the difference to the program with an empty function of the same signature; counts and stack
    are those from the call to the return, both included.
    """
    chip = find_chip(chip)
    rows = np.ascontiguousarray(rows, dtype=DTYPES[program.number])
    if rows.ndim != 2 or rows.shape[1] != program.n_inputs or not len(rows):
        raise ValueError(f"Rows have shape {rows.shape}; they must be (n_rows, {program.n_inputs}), n_rows at least 1.")
    image = _built(program, chip)
    empty = _empty(program.number, program.n_inputs, chip)
    calls = _simulator(chip).simulate(image, chip, rows)
    return Measured(
        flash=image.flash - empty.flash,
        ram=image.ram - empty.ram + max(call.stack for call in calls),
        answers=tuple(call.answer for call in calls),
        counts=tuple(call.count for call in calls),
        cycles=tuple(call.cycles for call in calls),
    )


@dataclass(frozen=True)
class Bound:
    """What a program costs at most, for any input: ``ram``, ``count`` and ``cycles`` as in `Measured`.

    ``missing`` says why there is no bound; None if there is one.
    """

    ram: int = 0
    count: int = 0
    cycles: int = 0
    missing: str | None = None


@functools.lru_cache(maxsize=64)
def bound(program: Program, chip: Chip) -> Bound:
    """Prove what a program costs at most, from its machine code."""
    image, empty = _built(program, chip), _empty(program.number, program.n_inputs, chip)
    try:
        worst = worst_case(image, chip)
    except UnprovenError as error:
        return Bound(missing=str(error))
    return Bound(ram=image.ram - empty.ram + worst.stack, count=worst.count, cycles=worst.cycles)


def _simulator(chip: Chip) -> ModuleType:
    """The module that simulates a chip."""
    architecture_of(chip)  # which refuses an unknown prefix
    return SIMULATORS[chip.prefix]


_built = functools.lru_cache(maxsize=64)(build)  # the same program is often run on other rows


@functools.lru_cache(maxsize=256)
def _empty(number: str, n_inputs: int, chip: Chip) -> Image:
    """The program without a model."""
    return build(Program(source="", body="(void)x;\n    return 0;", number=number, n_inputs=n_inputs), chip)


def available(chip: str | Chip) -> str | None:
    """Check whether costs on a chip can be measured here.

    Parameters
    ----------
    chip : str or Chip
        The chip, or its name in `CHIPS`.

    Returns
    -------
    str or None
        What is missing and how to install it; None if nothing is missing.

    Examples
    --------
    >>> from smallearn.devices import available
    >>> reason = available("atmega328p")
    >>> reason is None or "install" in reason or "Debian" in reason
    True
    """
    chip = find_chip(chip)
    try:
        compiler(chip)
        module("elftools.elf.elffile")
        _simulator(chip).check()
    except ToolchainError as error:
        return str(error)
    return None
