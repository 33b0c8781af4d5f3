"""Programs of 32-bit cores run on unicorn, which counts instructions; time is estimated from them.

Unicorn is hooked only on whole blocks of instructions. Its hooks on memory leave Thumb's conditional blocks (``it``) in
a wrong state (version 2.1.4); those on single instructions are slow and miss instructions whose condition fails.
"""

from abc import ABC, abstractmethod
from typing import Any

from smallearn.devices._chips import Chip
from smallearn.devices._toolchain import Call, Image, ToolchainError, module

FLASH, FLASH_SIZE = 0x08000000, 1 << 20
RAM, RAM_SIZE = 0x20000000, 1 << 17
TOP = RAM + RAM_SIZE
BACK = FLASH + FLASH_SIZE - 16  # where the function returns to: nothing is there
STACK = 8192  # bytes that are filled with PAINT before a call and inspected after it
PAINT = b"\xa5"
NOWHERE = -1  # no address
MOST_INSTRUCTIONS = 2_000_000  # of one call: about 40 ms on a chip of 48 MHz
JUMP = 2  # cycles of a jump that is taken, besides that of the instruction


def check() -> None:
    """Raise `ToolchainError` if the simulator is missing."""
    module("unicorn")


class Core(ABC):
    """A chip with a program in it, and the counters of the current call.

    The call itself counts as one instruction. The time has a cycle for each instruction, the cycles that `contents`
    adds, and `JUMP` for each jump that is taken.
    """

    def __init__(self, image: Image, chip: Chip):
        self.unicorn, self.image = module("unicorn"), image
        self.count = self.more = self.jumps = 0
        self.blocks: dict[tuple[int, int], tuple[int, int]] = {}  # `contents` by address and size
        self.following = NOWHERE  # the address after the last block
        self.emulator = self.made(chip)
        self.argument, self.stack_pointer, self.link, self.program_counter = self.registers()
        for place, size in ((FLASH, FLASH_SIZE), (RAM, RAM_SIZE)):
            self.emulator.mem_map(place, size)
        for _, place, data in image.pieces:
            self.emulator.mem_write(place, data)
        self.emulator.hook_add(self.unicorn.UC_HOOK_BLOCK, self._on_block)

    @abstractmethod
    def made(self, chip: Chip) -> Any:
        """The emulator."""

    @abstractmethod
    def registers(self) -> tuple[int, int, int, int]:
        """The emulator's numbers of the first argument, the stack pointer, where to return to, and the next address."""

    @abstractmethod
    def code(self, address: int) -> int:
        """What a pointer to the code at an address holds."""

    @abstractmethod
    def contents(self, code: bytes) -> tuple[int, int]:
        """How many instructions there are, and the cycles that they take besides one each, jumps aside."""

    def _on_block(self, emulator: Any, address: int, size: int, _data: Any) -> None:
        """Count a block of consecutive instructions."""
        found = self.blocks.get((address, size))
        if found is None:
            found = self.blocks[address, size] = self.contents(bytes(emulator.mem_read(address, size)))
        count, more = found
        self.count += count
        self.more += more
        self.jumps += address != self.following
        self.following = address + size

    def call(self, row: bytes) -> Call:
        """One call of the function, from a caller whose stack is empty."""
        write, read, symbols = self.emulator.reg_write, self.emulator.reg_read, self.image.symbols
        self.count, self.more, self.jumps, self.following = 1, 0, 1, NOWHERE  # the call and the jump back
        self.emulator.mem_write(TOP - STACK, PAINT * STACK)
        self.emulator.mem_write(symbols["smallearn_x"], row)
        write(self.argument, symbols["smallearn_x"])
        write(self.stack_pointer, TOP)
        write(self.link, self.code(BACK))
        try:
            self.emulator.emu_start(self.code(symbols["smallearn_call"]), BACK, count=MOST_INSTRUCTIONS)
        except self.unicorn.UcError as error:
            raise ToolchainError(f"The program failed in unicorn: {error}.") from None
        if read(self.program_counter) != BACK:
            raise ToolchainError(f"A call took more than {MOST_INSTRUCTIONS} instructions.")
        answer = read(self.argument) & 0xFF
        stack = len(bytes(self.emulator.mem_read(TOP - STACK, STACK)).lstrip(PAINT))
        return Call(answer=answer, count=self.count, cycles=self.count + self.more + JUMP * self.jumps, stack=stack)
