"""What the code of 32-bit cores shares: numbers, programs in flash, loads and stores."""

from collections.abc import Callable
from typing import Any, ClassVar

from smallearn.devices import _unicorn
from smallearn.devices._toolchain import Image
from smallearn.devices._unicorn import FLASH, FLASH_SIZE, TOP
from smallearn.devices._worst._paths import (
    SP,
    Flow,
    Instruction,
    Spent,
    UnprovenError,
    Values,
    assign,
    load,
    store,
)

FULL = 0xFFFFFFFF
JUMP = (0, _unicorn.JUMP)  # what a jump costs besides
COMPUTED = "a jump goes to an address that is computed"


def to_signed(number: int, bits: int) -> int:
    """The number that these bits stand for if the highest is the sign."""
    return number - (1 << bits) if number >> (bits - 1) & 1 else number


def extend(value: int, bits: int, signed: bool) -> int:
    """The lowest bits of a word as a word."""
    value &= (1 << bits) - 1
    return to_signed(value, bits) & FULL if signed else value


class WordCode:
    """The code of a program in flash."""

    argument: ClassVar[int]  # the register of a function's first argument

    def __init__(self, image: Image):
        in_flash = [(place, data) for _, place, data in image.pieces if FLASH <= place < FLASH + FLASH_SIZE]
        self.flash = {place + i: byte for place, data in in_flash for i, byte in enumerate(data)}
        self.main, self.entry = image.symbols["main"] & ~1, image.symbols["smallearn_call"] & ~1
        self.input = image.symbols["smallearn_x"]

    def decode(self, address: int) -> Instruction:
        """The instruction at an address."""
        raise NotImplementedError

    def start(self) -> tuple[int, Values]:
        """The call in main, and what is known before it: the input's address."""
        address = self.main
        while (found := self.decode(address)).kind != "call" or found.target != self.entry:
            address += found.size
        return address, {self.argument: self.input, SP: TOP}

    def read(self, address: int, size: int) -> int | None:
        """A number in flash; None if there is none."""
        found = [self.flash.get(address + i) for i in range(size)]
        return None if None in found else int.from_bytes(bytes(found), "little")  # type: ignore[arg-type]

    def half(self, address: int) -> int:
        """Two bytes of code."""
        found = self.read(address, 2)
        if found is None:
            raise UnprovenError("a jump leaves the code")
        return found

    def loaded(self, values: Values, address: int | None, bytes_: int, signed: bool) -> Any:
        """What is read at an address; None if it is not known."""
        if address is None:
            return None
        found = self.read(address, bytes_)
        if found is None:
            return load(values, address) if bytes_ == 4 else None
        return extend(found, 8 * bytes_, signed)

    def access(
        self,
        size: int,
        cost: Spent,
        name: Any,
        pointers: set,
        way: tuple,
        address: Callable[[Values], int | None],
        bytes_: int,
        *,
        stores: bool,
        signed: bool,
    ) -> Instruction:
        """One load or store of a register."""

        def run(values: Values) -> None:
            place = address(values)
            if stores:
                store(values, None if place is None else place & ~3, way, values.get(name) if bytes_ == 4 else None)
            else:
                assign(values, name, self.loaded(values, place, bytes_, signed))

        writes, reads = (way, name) if stores else (name, way)
        return Instruction(size, cost, (Flow(frozenset({writes}), frozenset({*pointers, reads})),), run)
