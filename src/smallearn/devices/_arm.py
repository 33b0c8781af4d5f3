"""Cortex-M programs: what unicorn needs to know of them, and how many instructions there are in their code."""

import functools
from typing import Any

import numpy as np

from smallearn._text import show
from smallearn.devices._chips import Chip
from smallearn.devices._toolchain import Call, Image, ToolchainError, module
from smallearn.devices._unicorn import Core, check

__all__ = ["check", "contents", "simulate"]


def simulate(image: Image, chip: Chip, rows: np.ndarray) -> list[Call]:
    """Call the function once for each row.

    An instruction whose condition fails counts too. The time is about that of a Cortex-M0 without wait states: one
    cycle for each instruction, one more for each word that is read or written, two more for each jump that is taken. A
    Cortex-M0+ takes one less for most jumps.
    """
    core = CortexM(image, chip)
    return [core.call(row.tobytes()) for row in rows]


class CortexM(Core):
    """A Cortex-M."""

    def made(self, chip: Chip) -> Any:
        """The emulator."""
        const = module("unicorn.arm_const")
        emulator = self.unicorn.Uc(self.unicorn.UC_ARCH_ARM, self.unicorn.UC_MODE_THUMB | self.unicorn.UC_MODE_MCLASS)
        name = chip.cpu or f"UC_CPU_ARM_{chip.name.upper().replace('-', '_')}"
        cpu = getattr(const, name, None)
        if cpu is None:
            raise ToolchainError(f"Unicorn has no CPU {show(name)}: set the chip's cpu to one of its UC_CPU_ARM_….")
        emulator.ctl_set_cpu_model(cpu)
        return emulator

    def registers(self) -> tuple[int, int, int, int]:
        """Those of the calling convention."""
        const = module("unicorn.arm_const")
        return const.UC_ARM_REG_R0, const.UC_ARM_REG_SP, const.UC_ARM_REG_LR, const.UC_ARM_REG_PC

    def code(self, address: int) -> int:
        """The last bit says that it is Thumb."""
        return address | 1

    def contents(self, code: bytes) -> tuple[int, int]:
        """The instructions and words of a block."""
        return contents(code)


@functools.lru_cache(maxsize=65536)
def contents(code: bytes) -> tuple[int, int]:
    """How many instructions there are, and how many words they read and write.

    Thumb instructions have two bytes, or four if the first five bits are 11101, 11110 or 11111.
    """
    count = words = place = 0
    while place < len(code):
        first, second = (int.from_bytes(code[at : at + 2], "little") for at in (place, place + 2))
        count += 1
        if first < 0xE800:
            words += _words_of_two_bytes(first)
            place += 2
        else:
            words += _words_of_four_bytes(first, second)
            place += 4
    return count, words


def _words_of_two_bytes(code: int) -> int:
    if code >> 12 in (5, 6, 7, 8, 9) or code >> 11 == 0b01001:  # ldr, str and variants
        return 1
    if code & 0xF600 == 0xB400:  # push, pop
        return (code & 0x1FF).bit_count()
    return (code & 0xFF).bit_count() if code >> 12 == 0xC else 0  # ldm, stm


def _words_of_four_bytes(first: int, second: int) -> int:
    if first & 0xFE00 == 0xF800:  # ldr, str and variants
        return 1
    if first & 0xFE00 == 0xE800:  # ldm, stm; ldrd, strd
        return 2 if first & 0x40 else second.bit_count()
    if first & 0xFE00 == 0xEC00:  # vldr, vstr; vldm, vstm, vpush, vpop
        return 1 if first & 0x120 == 0x100 else second & 0xFF
    return 0
