"""RISC-V programs (RV32IMC): what unicorn needs to know of them, and how many instructions there are in their code."""

import functools
from typing import Any

import numpy as np

from smallearn.devices._chips import Chip
from smallearn.devices._toolchain import Call, Image, module
from smallearn.devices._unicorn import Core, check

__all__ = ["check", "contents", "simulate"]
DIVISION = 32  # cycles of a division, besides one: a bit of the quotient in each


def simulate(image: Image, chip: Chip, rows: np.ndarray) -> list[Call]:
    """Call the function once for each row.

    The time is that of a simple pipeline whose code and data are in fast memory or in the cache: one cycle for each
    instruction, one more for each word that is read or written, two more for each jump that is taken, 32 more for a
    division.
    """
    core = RiscV(image, chip)
    return [core.call(row.tobytes()) for row in rows]


class RiscV(Core):
    """A RISC-V core of 32 bits."""

    def made(self, chip: Chip) -> Any:
        """The emulator: of any core, for the compiler keeps to the chip's instructions."""
        del chip
        return self.unicorn.Uc(self.unicorn.UC_ARCH_RISCV, self.unicorn.UC_MODE_RISCV32)

    def registers(self) -> tuple[int, int, int, int]:
        """Those of the calling convention."""
        const = module("unicorn.riscv_const")
        return const.UC_RISCV_REG_A0, const.UC_RISCV_REG_SP, const.UC_RISCV_REG_RA, const.UC_RISCV_REG_PC

    def code(self, address: int) -> int:
        """The address."""
        return address

    def contents(self, code: bytes) -> tuple[int, int]:
        """The instructions of a block, and the cycles besides."""
        return contents(code)


@functools.lru_cache(maxsize=65536)
def contents(code: bytes) -> tuple[int, int]:
    """How many instructions there are, and how many cycles they take besides one each, jumps aside.

    Instructions have four bytes if their last two bits are 11, else two.
    """
    count = more = place = 0
    while place < len(code):
        first = int.from_bytes(code[place : place + 2], "little")
        count += 1
        if first & 3 == 3:
            more += _of_four_bytes(int.from_bytes(code[place : place + 4], "little"))
            place += 4
        else:
            more += first & 1 == 0 and first >> 13 in (2, 6)  # lw, sw, also relative to the stack pointer
            place += 2
    return count, more


def _of_four_bytes(code: int) -> int:
    if code & 0x7F in (0x03, 0x23):  # loads, stores
        return 1
    return DIVISION if code & 0xFE00407F == 0x02004033 else 0
