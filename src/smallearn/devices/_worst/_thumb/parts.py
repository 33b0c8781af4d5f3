"""What Thumb's instructions of two and of four bytes share."""

from collections.abc import Callable, Iterable
from typing import Any

from smallearn.devices._worst._paths import (
    MEMORY,
    PC,
    SP,
    Compute,
    Flow,
    Instruction,
    Spent,
    UnprovenError,
    Values,
    assign,
    calculation,
    conditional,
    forget,
    known,
    store,
)
from smallearn.devices._worst._words import COMPUTED, FULL, JUMP, WordCode, to_signed

LR = 14
ALWAYS = 14
FLAGS = "NZCV"


class ConditionalCode(WordCode):
    """A program of which some instructions are conditional."""

    def begin_conditional(self, address: int, code: int) -> None:
        """Note the conditions of the instructions after ``it``."""
        raise NotImplementedError


def condition_of(code: int) -> tuple[Callable[[Values], bool | None], str]:
    """A test of flags, and the flags."""
    names, holds = (
        ("Z", lambda z: z),
        ("C", lambda c: c),
        ("N", lambda n: n),
        ("V", lambda v: v),
        ("CZ", lambda c, z: c and not z),
        ("NV", lambda n, v: n == v),
        ("NVZ", lambda n, v, z: n == v and not z),
    )[code >> 1]

    def test(values: Values) -> bool | None:
        flags = [values.get(name) for name in names]
        return None if None in flags else bool(holds(*flags)) != bool(code & 1)

    return test, names


def name_of(register: int) -> Any:
    return SP if register == 13 else register


# --- calculations ----------------------------------------------------------------------------------------------------


def add(a: int, b: int, carry: int = 0) -> tuple[int, dict[str, int]]:
    total = a + b + carry
    overflow = (a ^ total) & (b ^ total) & 0x80000000 != 0
    return total & FULL, {**sign(total & FULL), "C": int(total > FULL), "V": int(overflow)}


def subtract(a: int, b: int, carry: int = 1) -> tuple[int, dict[str, int]]:
    return add(a, ~b & FULL, carry)


def sign(value: int) -> dict[str, int]:
    return {"N": value >> 31, "Z": int(value == 0)}


def plain(value: int) -> tuple[int, dict[str, int]]:
    """A result whose carry is not followed."""
    return value & FULL, sign(value & FULL)


def shifted(value: int, kind: int, by: int) -> int:
    """A value shifted by a constant, as instructions with an immediate have it."""
    if kind == 0:
        return value << by & FULL
    if kind == 3:
        raise ValueError("rotations are not followed")
    return (to_signed(value, 32) if kind == 2 else value) >> (by or 32) & FULL


# What ``and``, ``bic`` … do, by their number in Thumb-2.
OPERATIONS: dict[int, Compute] = {
    0: lambda a, b: plain(a & b),
    1: lambda a, b: plain(a & ~b),
    2: lambda a, b: plain(a | b),
    3: lambda a, b: plain(a | ~b),
    4: lambda a, b: plain(a ^ b),
    8: add,
    10: add,  # adc: with the carry
    11: subtract,  # sbc: with the carry
    13: subtract,
    14: lambda a, b: subtract(b, a),
}
WITH_CARRY = (10, 11)


class Decoder:
    """What both lengths of instructions share."""

    size: int

    def __init__(
        self, code: ConditionalCode, cost: Spent, address: int, first: int, second: int = 0, sets_flags: bool = True
    ):
        self.code, self.cost, self.address = code, cost, address
        self.first, self.second, self.sets_flags = first, second, sets_flags
        self.after = address + self.size

    def calculate(self, to: int | None, sources: Iterable, compute: Compute, flags: str = "") -> Instruction:
        """A calculation with registers; one that writes the program counter is a jump that is not followed."""
        if to == 15:
            raise UnprovenError(COMPUTED)
        return calculation(
            self.size,
            self.cost,
            None if to is None else name_of(to),
            [name_of(source) if isinstance(source, int) else source for source in sources],
            flags,
            lambda *operands: _only(flags, *compute(*operands)),
        )

    def move(self, to: int, source: int) -> Instruction:
        """A register's value, which may be an address to return to."""
        if to == 15:
            if source != LR:
                raise UnprovenError(COMPUTED)
            return self.go_back(lambda values: values.get(LR))
        name, origin = name_of(to), name_of(source)

        def run(values: Values) -> None:
            assign(values, name, self.address + 4 if source == 15 else values.get(origin))

        return Instruction(self.size, self.cost, (Flow(frozenset({name}), frozenset({origin})),), run)

    def forget(self, *registers: int, flags: str = "") -> Instruction:
        if 15 in registers:
            raise UnprovenError(COMPUTED)
        return forget(self.size, self.cost, [*map(name_of, registers), *flags])

    def jump(self, target: int, condition: int = ALWAYS) -> Instruction:
        extra = (0, 0) if target == self.after else JUMP
        found = Instruction(self.size, self.cost, kind="jump", target=target, jump=extra)
        return found if condition == ALWAYS else conditional(found, *condition_of(condition))

    def go_back(self, where: Callable[[Values], Any]) -> Instruction:
        def run(values: Values) -> None:
            values[PC] = where(values)

        return Instruction(self.size, self.cost, (), run, "return", jump=JUMP)

    def access(
        self, register: int, base: int, offset: int, bytes_: int, *, stores: bool, signed: bool = False, step: int = 0
    ) -> Instruction:
        """One load or store at a register plus an offset; afterwards the base moves by ``step``."""
        pointer, way = name_of(base), ("sp", offset) if base == 13 else MEMORY

        def start(values: Values) -> int | None:
            return self.address + 4 & ~3 if base == 15 else known(values, pointer)

        def address(values: Values) -> int | None:
            found = start(values)
            return None if found is None else found + offset & FULL

        found = self._access(register, {pointer}, way, address, bytes_, stores=stores, signed=signed)
        if not step:
            return found
        return both([found, self.calculate(base, (base,), lambda a: (a + step & FULL, {}))])

    def indexed(
        self, register: int, base: int, index: int, shift: int, bytes_: int, *, stores: bool, signed: bool
    ) -> Instruction:
        """One load or store at the sum of two registers."""
        pointer, other = name_of(base), name_of(index)

        def address(values: Values) -> int | None:
            start, more = known(values, pointer), known(values, other)
            return None if start is None or more is None else start + (more << shift) & FULL

        return self._access(register, {pointer, other}, MEMORY, address, bytes_, stores=stores, signed=signed)

    def _access(
        self,
        register: int,
        pointers: set,
        way: tuple,
        address: Callable[[Values], int | None],
        bytes_: int,
        *,
        stores: bool,
        signed: bool,
    ) -> Instruction:
        if register == 15:
            raise UnprovenError(COMPUTED)
        return self.code.access(
            self.size, self.cost, name_of(register), pointers, way, address, bytes_, stores=stores, signed=signed
        )

    def many(self, base: int, registers: int, *, loads: bool, down: bool, back: bool) -> Instruction:
        """ldm, stm, push and pop: registers, by their bits, at and above an address or below it."""
        listed = [register for register in range(16) if registers >> register & 1]
        pointer, size = name_of(base), 4 * len(listed)

        def run(values: Values) -> None:
            start = known(values, pointer)
            lowest = start - size if start is not None and down else start
            for i, register in enumerate(listed):
                place = None if lowest is None else lowest + 4 * i
                if loads:
                    value = self.code.loaded(values, place, 4, False)
                    assign(values, PC if register == 15 else name_of(register), value)
                else:
                    store(values, place, ("pushed", register), values.get(name_of(register)))
            if back:
                assign(values, pointer, None if start is None else start + (-size if down else size))

        at = frozenset({pointer})
        flows = [
            Flow(frozenset({name_of(r)}), at | {("pushed", r)}) if loads else Flow(frozenset({("pushed", r)}), at | {r})
            for r in listed
        ]
        flows += [Flow(at, at)] if back else []
        if loads and 15 in listed:
            return Instruction(self.size, self.cost, tuple(flows), run, "return", jump=JUMP)
        return Instruction(self.size, self.cost, tuple(flows), run)


def _only(flags: str, result: int, found: dict[str, int]) -> tuple[int, dict[str, int]]:
    return result, {name: value for name, value in found.items() if name in flags}


def both(steps: list[Instruction]) -> Instruction:
    """One instruction that does several things, one after the other."""

    def run(values: Values) -> None:
        for step in steps:
            if step.run is not None:
                step.run(values)

    return Instruction(steps[0].size, steps[0].cost, tuple(flow for step in steps for flow in step.flows), run)
