"""Cortex-M programs run on unicorn, which counts instructions. Time is estimated from them."""

from typing import Any

import numpy as np

from smallearn.devices.chips import Chip
from smallearn.devices.toolchain import Call, Image, ToolchainError, module

FLASH, FLASH_SIZE = 0x08000000, 1 << 20
RAM, RAM_SIZE = 0x20000000, 1 << 17
TOP = RAM + RAM_SIZE
BACK = FLASH + FLASH_SIZE - 16  # where the function returns to: nothing is there
MOST_INSTRUCTIONS = 2_000_000  # of a call: some 40 ms on the chip


def simulate(image: Image, chip: Chip, rows: np.ndarray) -> list[Call]:
    """Call the function once for each row. The call itself counts as one instruction.

    The time is that of a Cortex-M0 without wait states, but for a cycle here and there: one for each instruction, one
    more for each word that is read or written, two more for each jump that is taken.
    """
    core = _Core(image, chip)
    return [core.call(row.tobytes()) for row in rows]


class _Core:
    """A chip with a program in it, and what was counted in the present call."""

    def __init__(self, image: Image, chip: Chip):
        self.unicorn, self.const = module("unicorn"), module("unicorn.arm_const")
        self.image = image
        self.count = self.words = self.jumps = self.following = self.lowest = 0
        self.emulator = self._made(chip)
        for place, size in ((FLASH, FLASH_SIZE), (RAM, RAM_SIZE)):
            self.emulator.mem_map(place, size)
        for _, place, data in image.pieces:
            self.emulator.mem_write(place, data)
        hooks, add = self.unicorn, self.emulator.hook_add
        add(hooks.UC_HOOK_CODE, self._on_instruction)
        add(hooks.UC_HOOK_MEM_READ | hooks.UC_HOOK_MEM_WRITE, self._on_access)

    def _made(self, chip: Chip) -> Any:
        model = {"cortex-m0": "UC_CPU_ARM_CORTEX_M0", "cortex-m4": "UC_CPU_ARM_CORTEX_M4"}[chip.name]
        emulator = self.unicorn.Uc(self.unicorn.UC_ARCH_ARM, self.unicorn.UC_MODE_THUMB | self.unicorn.UC_MODE_MCLASS)
        emulator.ctl_set_cpu_model(getattr(self.const, model))
        return emulator

    def _on_instruction(self, _emulator: Any, address: int, size: int, _data: Any) -> None:
        self.count += 1
        self.jumps += address != self.following
        self.following = address + size

    def _on_access(self, _emulator: Any, access: int, address: int, size: int, _value: int, _data: Any) -> None:
        self.words += 1 + (size > 4)
        if access == self.unicorn.UC_MEM_WRITE and address >= self.image.symbols["end"]:
            self.lowest = min(self.lowest, address)

    def call(self, row: bytes) -> Call:
        """One call of the function, from a caller whose stack is empty."""
        registers = self.const
        function = self.image.symbols["smallearn_call"]
        self.count, self.words, self.jumps, self.following, self.lowest = 1, 0, 0, -1, TOP
        self.emulator.mem_write(self.image.symbols["smallearn_x"], row)
        self.emulator.reg_write(registers.UC_ARM_REG_R0, self.image.symbols["smallearn_x"])
        self.emulator.reg_write(registers.UC_ARM_REG_SP, TOP)
        self.emulator.reg_write(registers.UC_ARM_REG_LR, BACK | 1)
        try:
            self.emulator.emu_start(function | 1, BACK, count=MOST_INSTRUCTIONS)
        except self.unicorn.UcError as problem:
            raise ToolchainError(f"The program failed in unicorn: {problem}.") from None
        if self.emulator.reg_read(registers.UC_ARM_REG_PC) != BACK:
            raise ToolchainError("A call took more instructions than allowed.")
        answer = self.emulator.reg_read(registers.UC_ARM_REG_R0) & 0xFF
        cycles = self.count + self.words + 2 * (self.jumps + 1)  # and the jump back
        return Call(answer, self.count, cycles, TOP - self.lowest)
