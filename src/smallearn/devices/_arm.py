"""Cortex-M programs run on unicorn, which counts instructions; time is estimated from them.

Unicorn is hooked only on whole blocks of instructions. Its hooks on memory leave Thumb's conditional blocks (``it``) in
a wrong state (version 2.1.4); those on single instructions are slow and miss instructions whose condition fails.
"""

import functools
from typing import Any

import numpy as np

from smallearn._text import show
from smallearn.devices._chips import Chip
from smallearn.devices._toolchain import Call, Image, ToolchainError, module

FLASH, FLASH_SIZE = 0x08000000, 1 << 20
RAM, RAM_SIZE = 0x20000000, 1 << 17
TOP = RAM + RAM_SIZE
BACK = FLASH + FLASH_SIZE - 16  # where the function returns to: nothing is there
STACK = 8192  # bytes that are filled with PAINT before a call and inspected after it
PAINT = b"\xa5"
NOWHERE = -1  # no address
MOST_INSTRUCTIONS = 2_000_000  # of one call: about 40 ms on the chip


def simulate(image: Image, chip: Chip, rows: np.ndarray) -> list[Call]:
    """Call the function once for each row.

    The call itself counts as one instruction, and so does an instruction whose condition fails. The time is about that
    of a Cortex-M0 without wait states: one cycle for each instruction, one more for each word that is read or written,
    two more for each jump that is taken.
    """
    core = _Core(image, chip)
    return [core.call(row.tobytes()) for row in rows]


def check() -> None:
    """Raise `ToolchainError` if the simulator is missing."""
    module("unicorn")


class _Core:
    """A chip with a program in it, and the counters of the current call."""

    def __init__(self, image: Image, chip: Chip):
        self.unicorn, self.const = module("unicorn"), module("unicorn.arm_const")
        self.image = image
        self.count = self.words = self.jumps = 0
        self.following = NOWHERE  # the address after the last block
        self.emulator = self._emulator(chip)
        for place, size in ((FLASH, FLASH_SIZE), (RAM, RAM_SIZE)):
            self.emulator.mem_map(place, size)
        for _, place, data in image.pieces:
            self.emulator.mem_write(place, data)
        self.emulator.hook_add(self.unicorn.UC_HOOK_BLOCK, self._on_block)

    def _emulator(self, chip: Chip) -> Any:
        emulator = self.unicorn.Uc(self.unicorn.UC_ARCH_ARM, self.unicorn.UC_MODE_THUMB | self.unicorn.UC_MODE_MCLASS)
        name = chip.cpu or f"UC_CPU_ARM_{chip.name.upper().replace('-', '_')}"
        cpu = getattr(self.const, name, None)
        if cpu is None:
            raise ToolchainError(f"Unicorn has no CPU {show(name)}: set the chip's cpu to one of its UC_CPU_ARM_….")
        emulator.ctl_set_cpu_model(cpu)
        return emulator

    def _on_block(self, emulator: Any, address: int, size: int, _data: Any) -> None:
        """Count a block of consecutive instructions."""
        count, words = contents(bytes(emulator.mem_read(address, size)))
        self.count += count
        self.words += words
        self.jumps += address != self.following
        self.following = address + size

    def call(self, row: bytes) -> Call:
        """One call of the function, from a caller whose stack is empty."""
        registers, write = self.const, self.emulator.reg_write
        self.count, self.words, self.jumps, self.following = 1, 0, 1, NOWHERE  # the call and the jump back
        self.emulator.mem_write(TOP - STACK, PAINT * STACK)
        self.emulator.mem_write(self.image.symbols["smallearn_x"], row)
        write(registers.UC_ARM_REG_R0, self.image.symbols["smallearn_x"])
        write(registers.UC_ARM_REG_SP, TOP)
        write(registers.UC_ARM_REG_LR, BACK | 1)
        try:
            self.emulator.emu_start(self.image.symbols["smallearn_call"] | 1, BACK, count=MOST_INSTRUCTIONS)
        except self.unicorn.UcError as error:
            raise ToolchainError(f"The program failed in unicorn: {error}.") from None
        if self.emulator.reg_read(registers.UC_ARM_REG_PC) != BACK:
            raise ToolchainError(f"A call took more than {MOST_INSTRUCTIONS} instructions.")
        answer = self.emulator.reg_read(registers.UC_ARM_REG_R0) & 0xFF
        stack = len(bytes(self.emulator.mem_read(TOP - STACK, STACK)).lstrip(PAINT))
        cycles = self.count + self.words + 2 * self.jumps
        return Call(answer=answer, count=self.count, cycles=cycles, stack=stack)


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
