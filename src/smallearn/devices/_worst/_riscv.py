"""Instructions of RV32IMC, with the count and the time of ``devices/_riscv.py``.

Those of two bytes are decoded as the one of four bytes that they stand for.
"""

from collections.abc import Callable
from typing import Any

from smallearn.devices._chips import Chip
from smallearn.devices._riscv import contents
from smallearn.devices._toolchain import Image
from smallearn.devices._worst._paths import (
    MEMORY,
    PC,
    SP,
    Flow,
    Instruction,
    Spent,
    UnprovenError,
    Values,
    back_to,
    calculation,
    conditional,
    forget,
    known,
)
from smallearn.devices._worst._words import COMPUTED, FULL, JUMP, WordCode, to_signed

RA, STACK = 1, 2
LUI, AUIPC, JAL, JALR, BRANCH, LOAD, STORE, IMMEDIATE, REGISTERS = 0x37, 0x17, 0x6F, 0x67, 0x63, 0x03, 0x23, 0x13, 0x33
WIDTHS = {0: (1, True), 1: (2, True), 2: (4, False), 4: (1, False), 5: (2, False)}  # bytes, signed: of loads, stores


def _less(a: int, b: int) -> bool:
    return to_signed(a, 32) < to_signed(b, 32)


CONDITIONS: dict[int, Callable[[int, int], bool]] = {
    0: lambda a, b: a == b,
    1: lambda a, b: a != b,
    4: _less,
    5: lambda a, b: not _less(a, b),
    6: lambda a, b: a < b,
    7: lambda a, b: a >= b,
}
# By the numbers in the instruction that tell them apart; shifts look at five bits of the second operand.
OPERATIONS: dict[tuple[int, int], Callable[[int, int], int]] = {
    (0, 0): lambda a, b: a + b,
    (0x20, 0): lambda a, b: a - b,
    (0, 1): lambda a, b: a << (b & 31),
    (0, 2): _less,
    (0, 3): lambda a, b: a < b,
    (0, 4): lambda a, b: a ^ b,
    (0, 5): lambda a, b: a >> (b & 31),
    (0x20, 5): lambda a, b: to_signed(a, 32) >> (b & 31),
    (0, 6): lambda a, b: a | b,
    (0, 7): lambda a, b: a & b,
    (1, 0): lambda a, b: a * b,
    (1, 1): lambda a, b: to_signed(a, 32) * to_signed(b, 32) >> 32,
    (1, 2): lambda a, b: to_signed(a, 32) * b >> 32,
    (1, 3): lambda a, b: a * b >> 32,
}
SHIFTS = (1, 5)


class RiscvCode(WordCode):
    """The code of a RISC-V program."""

    argument = 10

    def __init__(self, image: Image, chip: Chip):
        del chip
        super().__init__(image)

    def decode(self, address: int) -> Instruction:
        """The instruction at an address."""
        code, size = self.half(address), 2
        if code & 3 == 3:
            code, size = code | self.half(address + 2) << 16, 4
        count, more = contents(code.to_bytes(size, "little"))
        long = code if size == 4 else expanded(code)
        found = None if long is None else _Decoder(self, (count, count + more), address, size, long).decode()
        if found is None:
            raise UnprovenError(f"the instruction {code:0{2 * size}x} is not known")
        return found


def _name(register: int) -> Any:
    return SP if register == STACK else register


class _Decoder:
    """One instruction."""

    def __init__(self, program: WordCode, cost: Spent, address: int, size: int, code: int):
        self.program, self.cost, self.address, self.size, self.code = program, cost, address, size, code
        self.after = address + size
        self.to, self.first, self.second = (code >> place & 31 for place in (7, 15, 20))
        self.kind, self.function = code >> 12 & 7, code >> 25
        self.constant = to_signed(code >> 20, 12)

    def decode(self) -> Instruction | None:
        code, opcode = self.code, self.code & 0x7F
        if opcode in (LUI, AUIPC):
            value = (code & 0xFFFFF000) + (self.address if opcode == AUIPC else 0)
            return self._calculate((), lambda: value)
        if opcode == JAL:
            offset = code >> 20 & 0x7FE | code >> 9 & 0x800 | code & 0xFF000 | code >> 11 & 0x100000
            return self._jump(self.address + to_signed(offset, 21))
        if opcode == JALR:
            return self._return()
        if opcode == BRANCH:
            offset = code >> 7 & 0x1E | code >> 20 & 0x7E0 | code << 4 & 0x800 | code >> 19 & 0x1000
            return self._branch(self.address + to_signed(offset, 13))
        if opcode == LOAD and self.kind in WIDTHS:
            return self._access(self.to, self.constant)
        if opcode == STORE and self.kind < 3:
            return self._access(self.second, to_signed(self.to | self.function << 5, 12), stores=True)
        if opcode == IMMEDIATE:
            operation = OPERATIONS.get((self.function if self.kind in SHIFTS else 0, self.kind))
            return operation and self._calculate((self.first,), lambda a: operation(a, self.constant & FULL))
        return self._of_registers() if opcode == REGISTERS else None

    def _of_registers(self) -> Instruction | None:
        if self.function == 1 and self.kind >= 4:  # quotients and remainders
            return forget(self.size, self.cost, [_name(self.to)] if self.to else [])
        operation = OPERATIONS.get((self.function, self.kind))
        return operation and self._calculate((self.first, self.second), operation)

    def _calculate(self, sources: tuple[int, ...], compute: Callable[..., int]) -> Instruction:
        """A calculation; register 0 is 0 and stays so."""
        if self.to == 0:
            return Instruction(self.size, self.cost)
        if sources[1:] == (0,) or sources == (0,):
            return self._calculate(sources[:-1], lambda *operands: compute(*operands, 0))
        if sources[:1] == (0,):
            return self._calculate(sources[1:], lambda *operands: compute(0, *operands))
        names = [_name(source) for source in sources]
        return calculation(
            self.size, self.cost, _name(self.to), names, "", lambda *operands: (int(compute(*operands)) & FULL, {})
        )

    def _jump(self, target: int) -> Instruction | None:
        """``jal``: a jump, or a call."""
        if self.to == RA:
            return self._call(target)
        if self.to:
            return None
        return Instruction(
            self.size, self.cost, kind="jump", target=target, jump=(0, 0) if target == self.after else JUMP
        )

    def _call(self, target: int) -> Instruction:
        def run(values: Values) -> None:
            values[RA] = back_to(self.after)

        return Instruction(self.size, self.cost, (Flow(frozenset({RA}), frozenset()),), run, "call", target, JUMP)

    def _return(self) -> Instruction:
        if (self.to, self.first, self.constant) != (0, RA, 0):
            raise UnprovenError(COMPUTED)

        def run(values: Values) -> None:
            values[PC] = values.get(RA)

        return Instruction(self.size, self.cost, (), run, "return", jump=JUMP)

    def _branch(self, target: int) -> Instruction | None:
        if self.kind not in CONDITIONS:
            return None
        first, second = self.first, self.second

        def test(values: Values) -> bool | None:
            a, b = (known(values, _name(register)) if register else 0 for register in (first, second))
            return None if a is None or b is None else CONDITIONS[self.kind](a, b)

        extra = (0, 0) if target == self.after else JUMP
        jump = Instruction(self.size, self.cost, kind="jump", target=target, jump=extra)
        return conditional(jump, test, {_name(register) for register in (first, second) if register})

    def _access(self, register: int, offset: int, *, stores: bool = False) -> Instruction:
        pointer, (bytes_, signed) = _name(self.first), WIDTHS[self.kind]

        def address(values: Values) -> int | None:
            start = known(values, pointer) if self.first else 0
            return None if start is None else start + offset & FULL

        if not register and not stores:
            return Instruction(self.size, self.cost)
        # A 0 that is stored is not followed: register 0 has no value.
        way = ("sp", offset) if self.first == STACK else MEMORY
        return self.program.access(
            self.size, self.cost, _name(register), {pointer}, way, address, bytes_, stores=stores, signed=signed
        )


# --- instructions of two bytes ---------------------------------------------------------------------------------------


def _with_constant(opcode: int, kind: int, to: int, first: int, constant: int) -> int:
    return opcode | to << 7 | kind << 12 | first << 15 | (constant & 0xFFF) << 20


def _of_registers(function: int, kind: int, to: int, first: int, second: int) -> int:
    return REGISTERS | to << 7 | kind << 12 | first << 15 | second << 20 | function << 25


def _stored(second: int, first: int, constant: int) -> int:
    return STORE | (constant & 31) << 7 | 2 << 12 | first << 15 | second << 20 | constant >> 5 << 25


def _jumping(to: int, offset: int) -> int:
    offset &= 0x1FFFFF
    return JAL | to << 7 | offset & 0xFF000 | (offset >> 11 & 1) << 20 | (offset & 0x7FE) << 20 | offset >> 20 << 31


def _branching(kind: int, first: int, offset: int) -> int:
    offset &= 0x1FFF
    low = (offset & 0x1E) << 7 | (offset >> 11 & 1) << 7
    return BRANCH | low | kind << 12 | first << 15 | (offset >> 5 & 0x3F) << 25 | offset >> 12 << 31


def _bits(code: int, *places: tuple[int, int, int]) -> int:
    """A number from pieces: from this bit of the code, so many bits, to that place."""
    return sum((code >> start & (1 << width) - 1) << to for start, width, to in places)


def expanded(code: int) -> int | None:
    """The instruction of four bytes that one of two bytes stands for; None if it is not known."""
    return (_of_pointers, _of_constants, _of_any_register)[code & 3](code, code >> 13) if code & 3 < 3 else None


def _of_pointers(code: int, group: int) -> int | None:
    low, high = 8 + (code >> 2 & 7), 8 + (code >> 7 & 7)
    if group == 0:
        constant = _bits(code, (5, 1, 3), (6, 1, 2), (7, 4, 6), (11, 2, 4))
        return _with_constant(IMMEDIATE, 0, low, STACK, constant) if constant else None
    offset = _bits(code, (5, 1, 6), (6, 1, 2), (10, 3, 3))
    if group == 2:
        return _with_constant(LOAD, 2, low, high, offset)
    return _stored(low, high, offset) if group == 6 else None


def _of_constants(code: int, group: int) -> int | None:
    register, short = code >> 7 & 31, 8 + (code >> 7 & 7)
    constant = to_signed(_bits(code, (2, 5, 0), (12, 1, 5)), 6)
    if group in (0, 2):  # addi, li
        return _with_constant(IMMEDIATE, 0, register, register if group == 0 else 0, constant)
    if group in (1, 5):  # jal, j
        pieces = ((2, 1, 5), (3, 3, 1), (6, 1, 7), (7, 1, 6), (8, 1, 10), (9, 2, 8), (11, 1, 4), (12, 1, 11))
        return _jumping(RA if group == 1 else 0, to_signed(_bits(code, *pieces), 12))
    if group == 3:
        if register == STACK:
            moved = to_signed(_bits(code, (2, 1, 5), (3, 2, 7), (5, 1, 6), (6, 1, 4), (12, 1, 9)), 10)
            return _with_constant(IMMEDIATE, 0, STACK, STACK, moved) if moved else None
        return LUI | register << 7 | constant << 12 & 0xFFFFF000 if constant else None
    if group == 4:
        return _of_short_registers(code, short, constant)
    offset = _bits(code, (2, 1, 5), (3, 2, 1), (5, 2, 6), (10, 2, 3), (12, 1, 8))
    return _branching(group & 1, short, to_signed(offset, 9))


def _of_short_registers(code: int, register: int, constant: int) -> int | None:
    kind = code >> 10 & 3
    if kind == 2:
        return _with_constant(IMMEDIATE, 7, register, register, constant)
    if code & 0x1000:
        return None
    if kind < 2:  # srli, srai
        return _with_constant(IMMEDIATE, 5, register, register, constant | kind << 10)
    function, operation = ((0x20, 0), (0, 4), (0, 6), (0, 7))[code >> 5 & 3]
    return _of_registers(function, operation, register, register, 8 + (code >> 2 & 7))


def _of_any_register(code: int, group: int) -> int | None:
    register, other = code >> 7 & 31, code >> 2 & 31
    if group == 0 and not code & 0x1000:  # slli
        return _with_constant(IMMEDIATE, 1, register, register, other)
    if group == 2 and register:
        return _with_constant(LOAD, 2, register, STACK, _bits(code, (2, 2, 6), (4, 3, 2), (12, 1, 5)))
    if group == 6:
        return _stored(other, STACK, _bits(code, (7, 2, 6), (9, 4, 2)))
    if group != 4 or not register:
        return None
    if other:
        return _of_registers(0, 0, register, register if code & 0x1000 else 0, other)
    return _with_constant(JALR, 0, RA if code & 0x1000 else 0, register, 0)
