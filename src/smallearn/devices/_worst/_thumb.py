"""Instructions of Thumb and Thumb-2, with the count and the time of ``_arm.py``."""

from collections.abc import Callable, Iterable
from typing import Any

from smallearn.devices._arm import FLASH, FLASH_SIZE, TOP, contents
from smallearn.devices._chips import Chip
from smallearn.devices._toolchain import Image
from smallearn.devices._worst._paths import (
    MEMORY,
    PC,
    SP,
    Back,
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
    load,
    store,
)

LR = 14
FULL = 0xFFFFFFFF
JUMP = (0, 2)  # what a jump costs besides
ALWAYS = 14
FLAGS = "NZCV"
COMPUTED = "a jump goes to an address that is computed"


class ThumbCode:
    """The code of a Cortex-M program."""

    def __init__(self, image: Image, chip: Chip):
        del chip
        in_flash = [(place, data) for _, place, data in image.pieces if FLASH <= place < FLASH + FLASH_SIZE]
        self.flash = {place + i: byte for place, data in in_flash for i, byte in enumerate(data)}
        self.main, self.entry = image.symbols["main"] & ~1, image.symbols["smallearn_call"] & ~1
        self.input = image.symbols["smallearn_x"]
        self.conditions: dict[int, int] = {}  # of instructions in conditional blocks ("it")

    def start(self) -> tuple[int, Values]:
        """The call in main, and what is known before it: the input's address in r0."""
        address = self.main
        while (found := self.decode(address)).kind != "call" or found.target != self.entry:
            address += found.size
        return address, {0: self.input, SP: TOP}

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

    def decode(self, address: int) -> Instruction:
        """The instruction at an address."""
        first = self.half(address)
        condition = self.conditions.get(address, ALWAYS)
        if first < 0xE800:
            count, words = contents(first.to_bytes(2, "little"))
            found = _Narrow(self, (count, count + words), address, first, 0, condition == ALWAYS).decode()
        else:
            second = self.half(address + 2)
            count, words = contents((first | second << 16).to_bytes(4, "little"))
            found = _Wide(self, (count, count + words), address, first, second).decode()
        if found is None:
            raise UnprovenError(f"the instruction {first:04x} is not known")
        return found if condition == ALWAYS else conditional(found, *_condition(condition))

    def begin_conditional(self, address: int, code: int) -> None:
        """Note the conditions of the instructions after ``it``."""
        first, mask = code >> 4 & 15, code & 15
        conditions = [first] + [first & 14 | mask >> j & 1 for j in (3, 2, 1) if mask & ((1 << j) - 1)]
        address += 2
        for condition in conditions:
            self.conditions[address] = condition
            address += 2 if self.half(address) < 0xE800 else 4


def _condition(code: int) -> tuple[Callable[[Values], bool | None], str]:
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


def _signed(number: int, bits: int) -> int:
    return number - (1 << bits) if number >> (bits - 1) & 1 else number


def _known(values: Values, name: Any) -> int | None:
    """A number, and no address to return to."""
    value = values.get(name)
    return None if isinstance(value, Back) else value


def _name(register: int) -> Any:
    return SP if register == 13 else register


# --- calculations ----------------------------------------------------------------------------------------------------


def _add(a: int, b: int, carry: int = 0) -> tuple[int, dict[str, int]]:
    total = a + b + carry
    overflow = (a ^ total) & (b ^ total) & 0x80000000 != 0
    return total & FULL, {**_sign(total & FULL), "C": int(total > FULL), "V": int(overflow)}


def _subtract(a: int, b: int, carry: int = 1) -> tuple[int, dict[str, int]]:
    return _add(a, ~b & FULL, carry)


def _sign(value: int) -> dict[str, int]:
    return {"N": value >> 31, "Z": int(value == 0)}


def _plain(value: int) -> tuple[int, dict[str, int]]:
    """A result whose carry is not followed."""
    return value & FULL, _sign(value & FULL)


def _shifted(value: int, kind: int, by: int) -> int:
    """A value shifted by a constant, as instructions with an immediate have it."""
    if kind == 0:
        return value << by & FULL
    if kind == 3:
        raise ValueError("rotations are not followed")
    return (_signed(value, 32) if kind == 2 else value) >> (by or 32) & FULL


# What ``and``, ``bic`` … do, by their number in Thumb-2.
OPERATIONS: dict[int, Compute] = {
    0: lambda a, b: _plain(a & b),
    1: lambda a, b: _plain(a & ~b),
    2: lambda a, b: _plain(a | b),
    3: lambda a, b: _plain(a | ~b),
    4: lambda a, b: _plain(a ^ b),
    8: _add,
    10: _add,  # adc: with the carry
    11: _subtract,  # sbc: with the carry
    13: _subtract,
    14: lambda a, b: _subtract(b, a),
}
WITH_CARRY = (10, 11)
MOVE, MOVE_NOT = 2, 3  # orr and orn of nothing
# The same by their number in Thumb.
NARROW = {0: 0, 1: 4, 5: 10, 6: 11, 8: 0, 10: 13, 11: 8, 12: 2, 14: 1}
COMPARE = (8, 10, 11)  # tst, cmp, cmn


class _Decoder:
    """What both lengths of instructions share."""

    size: int

    def __init__(
        self, code: ThumbCode, cost: Spent, address: int, first: int, second: int = 0, sets_flags: bool = True
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
            None if to is None else _name(to),
            [_name(source) if isinstance(source, int) else source for source in sources],
            flags,
            lambda *operands: _only(flags, *compute(*operands)),
        )

    def move(self, to: int, source: int) -> Instruction:
        """A register's value, which may be an address to return to."""
        if to == 15:
            if source != LR:
                raise UnprovenError(COMPUTED)
            return self.go_back(lambda values: values.get(LR))
        name, origin = _name(to), _name(source)

        def run(values: Values) -> None:
            assign(values, name, self.address + 4 if source == 15 else values.get(origin))

        return Instruction(self.size, self.cost, (Flow(frozenset({name}), frozenset({origin})),), run)

    def forget(self, *registers: int, flags: str = "") -> Instruction:
        if 15 in registers:
            raise UnprovenError(COMPUTED)
        return forget(self.size, self.cost, [*map(_name, registers), *flags])

    def jump(self, target: int, condition: int = ALWAYS) -> Instruction:
        extra = (0, 0) if target == self.after else JUMP
        found = Instruction(self.size, self.cost, kind="jump", target=target, jump=extra)
        return found if condition == ALWAYS else conditional(found, *_condition(condition))

    def go_back(self, where: Callable[[Values], Any]) -> Instruction:
        def run(values: Values) -> None:
            values[PC] = where(values)

        return Instruction(self.size, self.cost, (), run, "return", jump=JUMP)

    def access(
        self, register: int, base: int, offset: int, bytes_: int, *, stores: bool, signed: bool = False, step: int = 0
    ) -> Instruction:
        """One load or store at a register plus an offset; afterwards the base moves by ``step``."""
        pointer, way = _name(base), ("sp", offset) if base == 13 else MEMORY

        def start(values: Values) -> int | None:
            return self.address + 4 & ~3 if base == 15 else _known(values, pointer)

        def address(values: Values) -> int | None:
            found = start(values)
            return None if found is None else found + offset & FULL

        found = self._access(register, {pointer}, way, address, bytes_, stores=stores, signed=signed)
        if not step:
            return found
        return _both([found, self.calculate(base, (base,), lambda a: (a + step & FULL, {}))])

    def indexed(
        self, register: int, base: int, index: int, shift: int, bytes_: int, *, stores: bool, signed: bool
    ) -> Instruction:
        """One load or store at the sum of two registers."""
        pointer, other = _name(base), _name(index)

        def address(values: Values) -> int | None:
            start, more = _known(values, pointer), _known(values, other)
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
        name = _name(register)

        def run(values: Values) -> None:
            place = address(values)
            if stores:
                store(values, None if place is None else place & ~3, way, values.get(name) if bytes_ == 4 else None)
            else:
                assign(values, name, self._loaded(values, place, bytes_, signed))

        writes, reads = (way, name) if stores else (name, way)
        return Instruction(self.size, self.cost, (Flow(frozenset({writes}), frozenset({*pointers, reads})),), run)

    def _loaded(self, values: Values, address: int | None, bytes_: int, signed: bool) -> Any:
        if address is None:
            return None
        found = self.code.read(address, bytes_)
        if found is None:
            return load(values, address) if bytes_ == 4 else None
        return _signed(found, 8 * bytes_) & FULL if signed else found

    def many(self, base: int, registers: int, *, loads: bool, down: bool, back: bool) -> Instruction:
        """ldm, stm, push and pop: registers, by their bits, at and above an address or below it."""
        listed = [register for register in range(16) if registers >> register & 1]
        pointer, size = _name(base), 4 * len(listed)

        def run(values: Values) -> None:
            start = _known(values, pointer)
            lowest = start - size if start is not None and down else start
            for i, register in enumerate(listed):
                place = None if lowest is None else lowest + 4 * i
                if loads:
                    value = self._loaded(values, place, 4, False)
                    assign(values, PC if register == 15 else _name(register), value)
                else:
                    store(values, place, ("pushed", register), values.get(_name(register)))
            if back:
                assign(values, pointer, None if start is None else start + (-size if down else size))

        at = frozenset({pointer})
        flows = [
            Flow(frozenset({_name(r)}), at | {("pushed", r)}) if loads else Flow(frozenset({("pushed", r)}), at | {r})
            for r in listed
        ]
        flows += [Flow(at, at)] if back else []
        if loads and 15 in listed:
            return Instruction(self.size, self.cost, tuple(flows), run, "return", jump=JUMP)
        return Instruction(self.size, self.cost, tuple(flows), run)


def _only(flags: str, result: int, found: dict[str, int]) -> tuple[int, dict[str, int]]:
    return result, {name: value for name, value in found.items() if name in flags}


class _Narrow(_Decoder):
    """Instructions of two bytes."""

    size = 2

    def decode(self) -> Instruction | None:
        code = self.first
        flags = FLAGS if self.sets_flags else ""
        low, middle, high = code & 7, code >> 3 & 7, code >> 6 & 7
        group = code >> 11
        if group < 3:  # lsl, lsr, asr by a constant
            by = code >> 6 & 31
            return self.calculate(low, (middle,), lambda a: _plain(_shifted(a, group, by)), flags and "NZC")
        if group == 3:  # add, sub
            compute = _subtract if code & 0x200 else _add
            if code & 0x400:
                return self.calculate(low, (middle,), lambda a: compute(a, high), flags)
            return self.calculate(low, (middle, high), compute, flags)
        if group < 8:  # mov, cmp, add, sub of a constant
            to, value = code >> 8 & 7, code & 255
            if group == 4:
                return self.calculate(to, (), lambda: _plain(value), flags and "NZ")
            compute = _add if group == 6 else _subtract
            if group == 5:
                return self.calculate(None, (to,), lambda a: compute(a, value), FLAGS)
            return self.calculate(to, (to,), lambda a: compute(a, value), flags)
        if code >> 10 == 0b010000:
            return self._operation(code >> 6 & 15, low, middle, flags)
        if code >> 10 == 0b010001:
            return self._of_high_registers(code >> 8 & 3, code & 7 | code >> 4 & 8, code >> 3 & 15)
        if group == 9:
            return self.access(code >> 8 & 7, 15, 4 * (code & 255), 4, stores=False)
        if code >> 12 in (5, 6, 7, 8, 9):
            return self._one_access(code, low, middle)
        if code >> 12 == 10:  # an address: of code, or of the stack
            to, value = code >> 8 & 7, 4 * (code & 255)
            if code & 0x800:
                return self.calculate(to, (13,), lambda a: (a + value, {}))
            place = (self.address + 4 & ~3) + value
            return self.calculate(to, (), lambda: (place, {}))
        if code >> 12 == 11:
            return self._miscellaneous(code, low, middle)
        if code >> 12 == 12:
            base, registers = code >> 8 & 7, code & 255
            loads = bool(code & 0x800)
            return self.many(base, registers, loads=loads, down=False, back=not (loads and registers >> base & 1))
        if code >> 12 == 13 and code >> 8 & 15 < 14:
            return self.jump(self.address + 4 + 2 * _signed(code & 255, 8), code >> 8 & 15)
        return self.jump(self.address + 4 + 2 * _signed(code & 0x7FF, 11)) if group == 28 else None

    def _operation(self, number: int, to: int, other: int, flags: str) -> Instruction:
        """A calculation with two low registers."""
        if number == 9:  # the negative
            return self.calculate(to, (other,), lambda a: _subtract(0, a), flags)
        if number == 15:  # not
            return self.calculate(to, (other,), lambda a: _plain(~a), flags and "NZ")
        if number == 13:
            return self.calculate(to, (to, other), lambda a, b: _plain(a * b), flags and "NZ")
        if number not in NARROW:  # shifts by a register
            return self.forget(to, flags=flags)
        operation = NARROW[number]
        sources = (to, other, "C") if operation in WITH_CARRY else (to, other)
        compares = number in COMPARE
        return self.calculate(None if compares else to, sources, OPERATIONS[operation], FLAGS if compares else flags)

    def _of_high_registers(self, number: int, to: int, other: int) -> Instruction:
        if number == 3:  # bx, blx
            if self.first & 0x80 or other != LR:
                raise UnprovenError(COMPUTED)
            return self.go_back(lambda values: values.get(LR))
        if number == 2:
            return self.move(to, other)
        if 15 in (to, other):
            raise UnprovenError(COMPUTED)
        if number == 1:
            return self.calculate(None, (to, other), _subtract, FLAGS)
        return self.calculate(to, (to, other), _add)

    def _one_access(self, code: int, low: int, middle: int) -> Instruction:
        if code >> 12 == 5:  # at the sum of two registers
            kind = code >> 9 & 7  # str, strh, strb, ldrsb, ldr, ldrh, ldrb, ldrsh
            bytes_ = (4, 2, 1, 1, 4, 2, 1, 2)[kind]
            return self.indexed(low, middle, code >> 6 & 7, 0, bytes_, stores=kind < 3, signed=kind in (3, 7))
        stores, by = not code & 0x800, code >> 6 & 31
        if code >> 12 == 9:
            return self.access(code >> 8 & 7, 13, 4 * (code & 255), 4, stores=stores)
        bytes_ = {6: 4, 7: 1, 8: 2}[code >> 12]
        return self.access(low, middle, bytes_ * by, bytes_, stores=stores)

    def _miscellaneous(self, code: int, low: int, middle: int) -> Instruction | None:
        kind = code >> 8 & 15
        if kind == 0:
            value = 4 * (code & 127) * (-1 if code & 128 else 1)
            return self.calculate(13, (13,), lambda a: (a + value, {}))
        if kind in (1, 3, 9, 11):  # cbz, cbnz
            target = self.address + 4 + (code >> 2 & 0x3E | code >> 3 & 0x40)
            wanted = not code & 0x800

            def test(values: Values) -> bool | None:
                value = _known(values, low)
                return None if value is None else (value == 0) == wanted

            return conditional(self.jump(target), test, {low})
        if kind == 2:  # sxth, sxtb, uxth, uxtb
            bits, signed = (16, 8)[code >> 6 & 1], not code & 0x80
            return self.calculate(low, (middle,), lambda a: _plain(_extended(a, bits, signed)))
        if kind in (4, 5):
            registers = code & 255 | (code & 256) << 6
            return self.many(13, registers, loads=False, down=True, back=True)
        if kind in (12, 13):
            registers = code & 255 | (code & 256) << 7
            return self.many(13, registers, loads=True, down=False, back=True)
        if kind == 10:
            return self.forget(low)
        if kind == 15:  # it, nop
            if code & 15:
                self.code.begin_conditional(self.address, code)
            return Instruction(2, self.cost)
        return None


def _extended(value: int, bits: int, signed: bool) -> int:
    value &= (1 << bits) - 1
    return _signed(value, bits) & FULL if signed else value


class _Wide(_Decoder):
    """Instructions of four bytes."""

    size = 4

    def decode(self) -> Instruction | None:
        first, second = self.first, self.second
        if first >> 11 == 0b11110:
            return self._branch() if second & 0x8000 else self._of_a_constant()
        if first & 0xFE40 == 0xE800:
            base, down = first & 15, first >> 7 & 3 == 2
            return self.many(base, second, loads=bool(first & 0x10), down=down, back=bool(first & 0x20))
        if first & 0xFE40 == 0xE840:
            return self._of_two_words()
        if first & 0xFE00 == 0xEA00:
            return self._of_registers()
        if first & 0xEC00 == 0xEC00:
            return self._of_floats()
        if first & 0xFE00 == 0xF800:
            return self._one_access()
        to = second >> 8 & 15
        if first & 0xFF00 == 0xFA00:
            return self._extension(to) or self.forget(to, flags=FLAGS)  # shifts by a register, and others
        if first & 0xFF80 == 0xFB00 or second >> 12 == 15:  # products, quotients
            return self.forget(to)
        return self.forget(to, second >> 12) if first & 0xFF80 == 0xFB80 else None

    def _extension(self, to: int) -> Instruction | None:
        """sxtb, uxth … of a register, perhaps rotated, perhaps added to another."""
        first, second = self.first, self.second
        kind, source, other = first >> 4 & 15, first & 15, second & 15
        if kind not in (0, 1, 4, 5) or not second & 0x80:
            return None
        bits, signed, by = 8 if kind >= 4 else 16, not kind & 1, 8 * (second >> 4 & 3)

        def extended(a: int) -> int:
            return _extended((a >> by | a << (32 - by)) & FULL, bits, signed)

        if source == 15:
            return self.calculate(to, (other,), lambda a: (extended(a), {}))
        return self.calculate(to, (source, other), lambda a, b: (a + extended(b) & FULL, {}))

    def _branch(self) -> Instruction | None:
        first, second = self.first, self.second
        sign = first >> 10 & 1
        if second & 0x1000:  # b.w, bl
            i, j = (not (second >> 13 & 1) ^ sign), (not (second >> 11 & 1) ^ sign)
            offset = sign << 24 | i << 23 | j << 22 | (first & 0x3FF) << 12 | (second & 0x7FF) << 1
            target = self.address + 4 + _signed(offset, 25)
            return self._call(target) if second & 0x4000 else self.jump(target)
        if second & 0x4000:
            return None  # blx
        condition = first >> 6 & 15
        if condition >= ALWAYS:
            # Special registers and barriers: of those that C compiles to, none changes what is known.
            return Instruction(4, self.cost) if first & 0xFFF0 == 0xF3B0 or first == 0xF3AF else None
        offset = sign << 20 | (second >> 11 & 1) << 19 | (second >> 13 & 1) << 18
        offset |= (first & 0x3F) << 12 | (second & 0x7FF) << 1
        return self.jump(self.address + 4 + _signed(offset, 21), condition)

    def _call(self, target: int) -> Instruction:
        def run(values: Values) -> None:
            values[LR] = Back(self.after)

        return Instruction(4, self.cost, (Flow(frozenset({LR}), frozenset()),), run, "call", target, JUMP)

    def _of_a_constant(self) -> Instruction | None:
        """Calculations with a constant."""
        first, second = self.first, self.second
        to, source = second >> 8 & 15, first & 15
        bits = (first >> 10 & 1) << 11 | second >> 4 & 0x700 | second & 255
        if not first & 0x200:
            value = _expanded(bits)
            return self._calculation(first >> 5 & 15, to, source, (), lambda: value, bool(first & 0x10))
        number = first >> 4 & 31
        whole = (first & 15) << 12 | bits
        if number == 4:  # movw
            return self.calculate(to, (), lambda: (whole, {}))
        if number == 12:  # movt
            return self.calculate(to, (to,), lambda a: (a & 0xFFFF | whole << 16, {}))
        if number in (0, 10):
            sign = 1 if number == 0 else -1
            if source == 15:
                place = (self.address + 4 & ~3) + sign * bits
                return self.calculate(to, (), lambda: (place, {}))
            return self.calculate(to, (source,), lambda a: (a + sign * bits & FULL, {}))
        if number in (20, 28):  # sbfx, ubfx
            low, width = second >> 10 & 0x1C | second >> 6 & 3, (second & 31) + 1
            return self.calculate(to, (source,), lambda a: (_extended(a >> low, width, number == 20), {}))
        return self.forget(to) if number in (16, 18, 22, 24, 26) else None

    def _of_registers(self) -> Instruction | None:
        """Calculations with two registers, of which the second may be shifted."""
        first, second = self.first, self.second
        number, to, source, other = first >> 5 & 15, second >> 8 & 15, first & 15, second & 15
        kind, by = second >> 4 & 3, second >> 10 & 0x1C | second >> 6 & 3
        if kind == 3 or number == 6:  # rotations; halves packed
            return self.forget(*([to] if to != 15 else []), flags=FLAGS if first & 0x10 else "")
        if number == MOVE and source == 15 and kind == by == 0 and not first & 0x10:
            return self.move(to, other)
        if other == 15:
            return None
        operand = (_name(other),)
        return self._calculation(number, to, source, operand, lambda b: _shifted(b, kind, by), bool(first & 0x10))

    def _calculation(
        self, number: int, to: int, source: int, operand: tuple, value: Callable[..., int], sets_flags: bool
    ) -> Instruction | None:
        """A calculation of a register and an operand: a constant or another register."""
        if number not in OPERATIONS:
            return None
        flags = "" if not sets_flags else FLAGS if number >= 8 else "NZC"
        result = None if to == 15 and sets_flags else to
        compute = OPERATIONS[number]
        if source == 15:  # mov, mvn
            if number not in (MOVE, MOVE_NOT):
                return None
            return self.calculate(result, operand, lambda *b: compute(0, value(*b)), flags)
        if number in WITH_CARRY:
            return self.calculate(
                result, (source, "C", *operand), lambda a, carry, *b: compute(a, value(*b), carry), flags
            )
        return self.calculate(result, (source, *operand), lambda a, *b: compute(a, value(*b)), flags)

    def _of_two_words(self) -> Instruction | None:
        """``ldrd`` and ``strd``; ``tbb`` and ``tbh``, which jump to a computed address."""
        first, second = self.first, self.second
        if not first & 0x0120:  # neither an offset nor a changed base
            if first & 0xFFF0 == 0xE8D0 and second & 0xFFE0 == 0xF000:
                raise UnprovenError(COMPUTED)
            return None
        base, stores = first & 15, not first & 0x10
        change = 4 * (second & 255) * (1 if first & 0x80 else -1)
        offset = change if first & 0x100 else 0
        pair = (second >> 12, second >> 8 & 15)
        steps = [self.access(register, base, offset + 4 * i, 4, stores=stores) for i, register in enumerate(pair)]
        if not stores and base == pair[0]:
            steps.reverse()  # the base is overwritten last
        if first & 0x20:
            steps.append(self.calculate(base, (base,), lambda a: (a + change & FULL, {})))
        return _both(steps)

    def _one_access(self) -> Instruction | None:
        first, second = self.first, self.second
        bytes_, stores, base = 1 << (first >> 5 & 3), not first & 0x10, first & 15
        register, signed = second >> 12, bool(first & 0x100)
        if bytes_ == 8:
            return None
        if register == 15 and not stores and bytes_ < 4:  # a hint
            return Instruction(4, self.cost)
        if base == 15:
            offset = (second & 0xFFF) * (1 if first & 0x80 else -1)
            return None if stores else self.access(register, 15, offset, bytes_, stores=False, signed=signed)
        if first & 0x80:
            return self.access(register, base, second & 0xFFF, bytes_, stores=stores, signed=signed)
        if second & 0x800:
            change = (second & 255) * (1 if second & 0x200 else -1)
            offset, step = change if second & 0x400 else 0, change if second & 0x100 else 0
            if register == 15 and not stores and base == 13 and (offset, step) == (0, 4):
                return self.many(13, 1 << 15, loads=True, down=False, back=True)  # pop {pc}
            return self.access(register, base, offset, bytes_, stores=stores, signed=signed, step=step)
        return self.indexed(register, base, second & 15, second >> 4 & 3, bytes_, stores=stores, signed=signed)

    def _of_floats(self) -> Instruction | None:
        """Instructions of the floating-point unit: of them only what reaches memory and other registers matters."""
        first, second = self.first, self.second
        register, base = second >> 12, first & 15
        if first & 0xFF00 == 0xEE00 or first & 0xFF00 == 0xFE00:
            if not second & 0x10 or not first & 0x10:  # calculations, and moves to the unit
                return Instruction(4, self.cost)
            return forget(4, self.cost, FLAGS) if register == 15 else self.forget(register)
        if first & 0xFFE0 == 0xEC40:  # moves of two registers
            return self.forget(register, base) if first & 0x10 else Instruction(4, self.cost)
        if first & 0xFE00 != 0xEC00:
            return None
        stores, up, words = not first & 0x10, bool(first & 0x80), second & 255
        change = 4 * words * (1 if up else -1)
        if first & 0x120 == 0x100:  # vldr, vstr
            lowest, words, change = change, 2 if second & 0x100 else 1, 0
        else:
            lowest = 0 if up else change
            change = change if first & 0x20 else 0
        return self._block(base, lowest, words if stores else 0, change)

    def _block(self, base: int, lowest: int, words: int, change: int) -> Instruction:
        """A block of words with unknown values is written, and the base moves."""
        pointer = _name(base)

        def run(values: Values) -> None:
            start = _known(values, pointer)
            for i in range(words):
                store(values, None if start is None else start + lowest + 4 * i, MEMORY, None)
            if change:
                assign(values, pointer, None if start is None else start + change)

        at = frozenset({pointer})
        flows = (Flow(frozenset({MEMORY}), at),) if words else ()
        return Instruction(4, self.cost, (*flows, *([Flow(at, at)] if change else [])), run)


def _expanded(bits: int) -> int:
    """A constant of Thumb-2: a byte, repeated or rotated."""
    byte = bits & 255
    if bits >> 10 == 0:
        return (byte, byte * 0x10001, byte * 0x1000100, byte * 0x1010101)[bits >> 8]
    rotation, value = bits >> 7, byte | 0x80
    return (value >> rotation | value << (32 - rotation)) & FULL


def _both(steps: list[Instruction]) -> Instruction:
    """One instruction that does several things, one after the other."""

    def run(values: Values) -> None:
        for step in steps:
            if step.run is not None:
                step.run(values)

    return Instruction(steps[0].size, steps[0].cost, tuple(flow for step in steps for flow in step.flows), run)
