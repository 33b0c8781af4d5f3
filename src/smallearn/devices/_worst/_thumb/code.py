"""The code of a Cortex-M program: where its instructions are, and their count and time, those of ``_arm.py``."""

from smallearn.devices._arm import contents
from smallearn.devices._chips import Chip
from smallearn.devices._toolchain import Image
from smallearn.devices._worst._paths import Instruction, UnprovenError, conditional
from smallearn.devices._worst._thumb.narrow import Narrow
from smallearn.devices._worst._thumb.parts import ALWAYS, ConditionalCode, condition_of
from smallearn.devices._worst._thumb.wide import Wide


class ThumbCode(ConditionalCode):
    """The code of a Cortex-M program."""

    argument = 0

    def __init__(self, image: Image, chip: Chip):
        del chip
        super().__init__(image)
        self.conditions: dict[int, int] = {}  # of instructions in conditional blocks ("it")

    def decode(self, address: int) -> Instruction:
        """The instruction at an address."""
        first = self.half(address)
        condition = self.conditions.get(address, ALWAYS)
        if first < 0xE800:
            count, words = contents(first.to_bytes(2, "little"))
            found = Narrow(self, (count, count + words), address, first, 0, condition == ALWAYS).decode()
        else:
            second = self.half(address + 2)
            count, words = contents((first | second << 16).to_bytes(4, "little"))
            found = Wide(self, (count, count + words), address, first, second).decode()
        if found is None:
            raise UnprovenError(f"the instruction {first:04x} is not known")
        return found if condition == ALWAYS else conditional(found, *condition_of(condition))

    def begin_conditional(self, address: int, code: int) -> None:
        """Note the conditions of the instructions after ``it``."""
        first, mask = code >> 4 & 15, code & 15
        conditions = [first] + [first & 14 | mask >> j & 1 for j in (3, 2, 1) if mask & ((1 << j) - 1)]
        address += 2
        for condition in conditions:
            self.conditions[address] = condition
            address += 2 if self.half(address) < 0xE800 else 4
