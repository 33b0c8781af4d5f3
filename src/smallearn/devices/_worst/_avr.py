"""Instructions of AVR with their cycles, as the data sheets of the ATmega328P and the ATtiny85 (and simavr) have them.

Chips without a multiplier multiply in a loop that shifts one factor to the right until nothing is left of it: so of an
unknown byte that was shifted, its number of bits is known (`Below`), and the loop has an end.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace

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
    UnprovenError,
    Values,
    assign,
    back_to,
    calculation,
    forget,
    known,
    load,
    store,
)

DATA = 0x800000  # where RAM begins in avr-gcc's single address space
LARGEST = 128 * 1024  # bytes of flash: from there on, addresses on the stack have three bytes
SPL, SPH = 0x3D, 0x3E
SREG = 0x3F
X, Y, Z = 26, 28, 30
FLAGS = "CZNVS"


@dataclass(frozen=True)
class Below:
    """A number that is not known, but how many bits it has at most."""

    bits: int


class AvrCode:
    """The code of an AVR program."""

    def __init__(self, image: Image, chip: Chip):
        if chip.flash > LARGEST:
            raise UnprovenError(f"cycles are known for chips of up to {LARGEST // 1024} KB of flash")
        self.flash = {address + i: byte for address, _, data in image.pieces for i, byte in enumerate(data)}
        self.main, self.entry = image.symbols["main"], image.symbols["smallearn_call"]
        self.input = image.symbols["smallearn_x"] - DATA
        self.size = chip.flash
        self.top = image.symbols["__stack"] & 0xFFFF

    def start(self) -> tuple[int, Values]:
        """The call in main, and what is known before it: the input's address in r24 and r25, 0 in r1."""
        address = self.main
        while (found := self.decode(address)).kind != "call" or found.target != self.entry:
            address += found.size
        return address, {1: 0, 24: self.input & 255, 25: self.input >> 8, SP: self.top}

    def word(self, address: int) -> int:
        """Two bytes of code."""
        try:
            return self.flash[address] | self.flash[address + 1] << 8
        except KeyError:
            raise UnprovenError("a jump leaves the code") from None

    def decode(self, address: int) -> Instruction:
        """The instruction at an address."""
        code = self.word(address)
        for decode in (_of_two_registers, _of_a_constant, _of_one_register, _of_words):
            found = decode(code)
            if found is not None:
                return found
        found = self._of_memory(code, address) or self._control(code, address)
        if found is None:
            raise UnprovenError(f"the instruction {code:04x} is not known")
        return found

    # --- where control goes ------------------------------------------------------------------------------------------

    def _control(self, code: int, address: int) -> Instruction | None:
        after = address + 2
        if code & 0xE000 == 0xC000:  # rjmp, rcall
            target = (after + 2 * _signed(code & 0xFFF, 12)) % self.size  # from one end of the flash to the other
            return _jump(2, 2, target) if code < 0xD000 else _call(2, 3, target, after)
        if code & 0xFE0C == 0x940C:  # jmp, call
            target = 2 * (self.word(after) | (code & 1) << 16 | (code & 0x1F0) << 13)
            return _call(4, 4, target, after + 2) if code & 2 else _jump(4, 3, target)
        if code & 0xF800 == 0xF000:  # a branch on a flag
            name, set_ = "CZNVSHTI"[code & 7], not code & 0x400
            target = after + 2 * _signed(code >> 3 & 0x7F, 7)
            found = _branch(1, target, 1, lambda values: _flag(values, name, set_), {name})
            return replace(found, learn=lambda values, holds: values.update({name: int(holds == set_)}))
        if code == 0x9508:
            return Instruction(2, (4, 4), (), _return, "return")
        return self._skip(code, after)

    def _skip(self, code: int, after: int) -> Instruction | None:
        """An instruction that may skip the next."""
        if code & 0xFC00 == 0x1000:
            d, r = _registers(code)

            def test(values: Values) -> bool | None:
                a, b = known(values, d), known(values, r)
                return None if a is None or b is None else a == b

            reads = {d, r}
        elif code & 0xFC08 == 0xFC00:
            d, mask, wanted = code >> 4 & 31, 1 << (code & 7), bool(code & 0x200)

            def test(values: Values) -> bool | None:
                value = known(values, d)
                return None if value is None else bool(value & mask) == wanted

            reads = {d}
        else:
            return None
        words = 2 if _has_two_words(self.word(after)) else 1
        return _branch(1, after + 2 * words, words, test, reads)

    # --- memory ------------------------------------------------------------------------------------------------------

    def _of_memory(self, code: int, address: int) -> Instruction | None:
        d = code >> 4 & 31
        if code & 0xD000 == 0x8000:  # ldd, std, and ld and st without a change of the pointer
            offset = code & 7 | code >> 7 & 0x18 | code >> 8 & 0x20
            return _access(d, bool(code & 0x200), Y if code & 8 else Z, offset)
        if code & 0xFC00 == 0x9000:
            stores, how = bool(code & 0x200), code & 15
            if how in (0, 0xF):
                return _access_at(d, self.word(address + 2), stores) if how == 0 else (_push if stores else _pop)(d)
            if how in (4, 5) and not stores:
                return self._lpm(d, increment=how == 5)
            steps = {1: (Z, 0, 1), 2: (Z, -1, -1), 9: (Y, 0, 1), 10: (Y, -1, -1)}
            steps |= {12: (X, 0, 0), 13: (X, 0, 1), 14: (X, -1, -1)}
            return _access(d, stores, *steps[how]) if how in steps else None
        if code == 0x95C8:
            return self._lpm(0, increment=False)
        if code & 0xF000 == 0xB000:  # in, out
            return _port(code & 15 | code >> 5 & 0x30, d, bool(code & 0x800))
        return None

    def _lpm(self, d: int, increment: bool) -> Instruction:
        def run(values: Values) -> None:
            address = _pair(values, Z)
            assign(values, d, None if address is None else self.flash.get(address))
            if increment:
                _set_pair(values, Z, address, 1)

        pointer = frozenset({Z, Z + 1})
        return Instruction(2, (3, 3), (Flow(frozenset({d}), pointer), *([Flow(pointer, pointer)] * increment)), run)


# --- helpers ---------------------------------------------------------------------------------------------------------


def _signed(number: int, bits: int) -> int:
    return number - (1 << bits) if number >> (bits - 1) else number


def _registers(code: int) -> tuple[int, int]:
    return code >> 4 & 31, code & 15 | code >> 5 & 16


def _has_two_words(code: int) -> bool:
    """Whether it is jmp, call, lds or sts."""
    return code & 0xFE0C == 0x940C or code & 0xFC0F == 0x9000


def _pair(values: Values, low: int) -> int | None:
    first, second = known(values, low), known(values, low + 1)
    return None if first is None or second is None else first | second << 8


def _set_pair(values: Values, low: int, value: int | None, step: int = 0) -> None:
    assign(values, low, None if value is None else value + step & 255)
    assign(values, low + 1, None if value is None else value + step >> 8 & 255)


def _flag(values: Values, name: str, wanted: bool) -> bool | None:
    return bool(values[name]) == wanted if name in values else None


def _jump(size: int, cycles: int, target: int) -> Instruction:
    return Instruction(size, (cycles, cycles), kind="jump", target=target)


def _branch(cycles: int, target: int, more: int, test, reads: Iterable) -> Instruction:
    return Instruction(2, (cycles, cycles), (), None, "jump", target, (more, more), test, frozenset(reads))


def _call(size: int, cycles: int, target: int, after: int) -> Instruction:
    def run(values: Values) -> None:
        values["m", values[SP] - 1] = back_to(after)
        values.pop(("m", values[SP]), None)
        values[SP] -= 2

    return Instruction(size, (cycles, cycles), (), run, "call", target)


def _return(values: Values) -> None:
    values[PC] = values.pop(("m", values[SP] + 1), None)
    values[SP] += 2


# --- calculations ----------------------------------------------------------------------------------------------------


def _calculation(d: int | None, sources: Iterable, flags: str, compute: Compute) -> Instruction:
    return calculation(2, (1, 1), d, sources, flags, compute)


def _result(value: int, carry: int | bool, overflow: int | bool, bits: int = 8) -> tuple[int, dict[str, int]]:
    value &= (1 << bits) - 1
    negative = value >> (bits - 1)
    flags = {"C": carry, "Z": value == 0, "N": negative, "V": overflow, "S": negative ^ overflow}
    return value, {name: int(flag) for name, flag in flags.items()}


def _add(a: int, b: int, carry: int = 0) -> tuple[int, dict[str, int]]:
    total = a + b + carry
    return _result(total, total >> 8, (a ^ total) & (b ^ total) & 0x80 != 0)


def _subtract(a: int, b: int, carry: int = 0) -> tuple[int, dict[str, int]]:
    total = a - b - carry
    return _result(total, total < 0, (a ^ b) & (a ^ total) & 0x80 != 0)


def _subtract_on(a: int, b: int, carry: int, zero: int) -> tuple[int, dict[str, int]]:
    """The higher byte of a subtraction: zero only if the lower bytes are zero too."""
    result, flags = _subtract(a, b, carry)
    return result, {**flags, "Z": flags["Z"] & zero}


def _logic(value: int) -> tuple[int, dict[str, int]]:
    return _result(value, 0, 0)


def _of_two_registers(code: int) -> Instruction | None:
    d, r = _registers(code)
    kind = code >> 10
    if code >> 8 == 1:  # movw
        to, source = code >> 3 & 30, code << 1 & 30

        def run(values: Values) -> None:
            assign(values, to, values.get(source))
            assign(values, to + 1, values.get(source + 1))

        flows = tuple(Flow(frozenset({to + i}), frozenset({source + i})) for i in (0, 1))
        return Instruction(2, (1, 1), flows, run)
    if kind == 0b001011:  # mov
        return _calculation(d, (r,), "", lambda a: (a, {}))
    if kind == 0b001001 and d == r:  # clr
        return _calculation(d, (), "ZNVS", lambda: _logic(0))
    if kind in (0b000110, 0b000101) and d == r:  # sub and cp of a register with itself
        return _calculation(d if kind == 0b000110 else None, (), FLAGS, lambda: _subtract(0, 0))
    if kind == 0b000010 and d == r:  # sbc of a register from itself
        return _calculation(d, "CZ", FLAGS, lambda carry, zero: _subtract_on(0, 0, carry, zero))
    table: dict[int, tuple[int | None, tuple, str, Compute]] = {
        0b000001: (None, (d, r, "C", "Z"), FLAGS, _subtract_on),  # cpc
        0b000010: (d, (d, r, "C", "Z"), FLAGS, _subtract_on),  # sbc
        0b000011: (d, (d, r), FLAGS, _add),
        0b000101: (None, (d, r), FLAGS, _subtract),  # cp
        0b000110: (d, (d, r), FLAGS, _subtract),
        0b000111: (d, (d, r, "C"), FLAGS, _add),  # adc
        0b001000: (d, (d, r), "ZNVS", lambda a, b: _logic(a & b)),
        0b001001: (d, (d, r), "ZNVS", lambda a, b: _logic(a ^ b)),
        0b001010: (d, (d, r), "ZNVS", lambda a, b: _logic(a | b)),
    }
    if kind in table:
        return _calculation(*table[kind])
    if kind == 0b100111 or code >> 8 in (2, 3):  # mul, muls, mulsu, fmul …: the product is not followed
        return _forget({0, 1, "C", "Z"}, 2)
    return Instruction(2, (1, 1)) if code == 0 else None  # nop


def _of_a_constant(code: int) -> Instruction | None:
    d, k = 16 + (code >> 4 & 15), code & 15 | code >> 4 & 0xF0
    table: dict[int, tuple[int | None, tuple, str, Compute]] = {
        3: (None, (d,), FLAGS, lambda a: _subtract(a, k)),  # cpi
        4: (d, (d, "C", "Z"), FLAGS, lambda a, carry, zero: _subtract_on(a, k, carry, zero)),  # sbci
        5: (d, (d,), FLAGS, lambda a: _subtract(a, k)),  # subi
        6: (d, (d,), "ZNVS", lambda a: _logic(a | k)),
        7: (d, (d,), "ZNVS", lambda a: _logic(a & k)),
        14: (d, (), "", lambda: (k, {})),  # ldi
    }
    if code >> 12 == 4 and k == 0:
        return _subtract_carry(d)
    return _calculation(*table[code >> 12]) if code >> 12 in table else None


def _subtract_carry(d: int) -> Instruction:
    """``sbci`` of 0: without a carry it only compares."""
    found = _calculation(d, (d, "C", "Z"), FLAGS, lambda a, carry, zero: _subtract_on(a, 0, carry, zero))

    def run(values: Values) -> None:
        before, carry = values.get(d), values.get("C")
        found.run(values)  # type: ignore[misc]
        if carry == 0:
            assign(values, d, before)

    return replace(found, run=run)


def _shift(value: int, top: int, carry: int) -> tuple[int, dict[str, int]]:
    """A shift to the right by one."""
    result = value >> 1 | top << 7
    return _result(result, carry, (result >> 7) ^ carry)


def _shift_unsigned(d: int, *, carries: bool) -> Instruction:
    """``lsr`` and ``ror``, which shifts in the carry: of a byte that is not known, too, some is known afterwards."""
    sources = (d, "C") if carries else (d,)
    both = _calculation(d, sources, FLAGS, lambda a, carry=0: _shift(a, carry, a & 1))

    def run(values: Values) -> None:
        before, carry = values.get(d), values.get("C") if carries else 0
        both.run(values)  # type: ignore[misc]
        if carry == 0 and not isinstance(before, int):
            left = (before.bits if isinstance(before, Below) else 8) - 1
            values[d] = Below(left) if left else 0

    return replace(both, run=run)


def _of_one_register(code: int) -> Instruction | None:
    if code & 0xFE00 != 0x9400:
        return None
    d = code >> 4 & 31
    table: dict[int, tuple[int | None, tuple, str, Compute]] = {
        0: (d, (d,), FLAGS, lambda a: _result(~a, 1, 0)),  # com
        1: (d, (d,), FLAGS, lambda a: _subtract(0, a)),  # neg
        2: (d, (d,), "", lambda a: (a >> 4 | a << 4 & 0xF0, {})),  # swap
        3: (d, (d,), "ZNVS", lambda a: _result(a + 1, 0, a == 0x7F)),  # inc
        5: (d, (d,), FLAGS, lambda a: _shift(a, a >> 7, a & 1)),  # asr
        10: (d, (d,), "ZNVS", lambda a: _result(a - 1, 0, a == 0x80)),  # dec
    }
    if code & 15 in table:
        return _calculation(*table[code & 15])
    if code & 15 in (6, 7):
        return _shift_unsigned(d, carries=code & 15 == 7)
    if code & 15 == 8 and code < 0x9500:  # a flag is set or cleared
        name, value = "CZNVSHTI"[code >> 4 & 7], int(not code & 0x80)
        if name == "H":  # never followed
            return Instruction(2, (1, 1))
        return _calculation(None, (), name, lambda: (0, {name: value}))
    return None


def _of_words(code: int) -> Instruction | None:
    """``adiw`` and ``sbiw``; ``bst`` and ``bld``, whose results are not followed."""
    if code & 0xFE00 == 0x9600:
        d, k = 24 + (code >> 3 & 6), code & 15 | code >> 2 & 0x30
        sign = -1 if code & 0x100 else 1
        written = frozenset({*(() if k == 0 else (d, d + 1)), *FLAGS})  # of 0: a comparison

        def run(values: Values) -> None:
            before = _pair(values, d)
            for name in written:
                values.pop(name, None)
            if before is not None:
                total = before + sign * k
                overflow = (~before & total if sign > 0 else before & ~total) & 0x8000 != 0
                result, flags = _result(total, total >> 16 & 1, overflow, 16)
                _set_pair(values, d, result)
                values.update(flags)

        return Instruction(2, (2, 2), (Flow(written, frozenset({d, d + 1})),), run)
    if code & 0xFC08 == 0xF800:
        return _forget({"T"} if code & 0x200 else {code >> 4 & 31}, 1)
    return None


def _forget(names: Iterable, cycles: int) -> Instruction:
    return forget(2, (cycles, cycles), names)


# --- memory and ports ------------------------------------------------------------------------------------------------


def _store(values: Values, address: int | None, way: tuple, value: int | None) -> None:
    """A byte. If it is the second of an address to return to, the first is not known either."""
    if address is not None and isinstance(values.get(("m", address - 1)), Back):
        del values["m", address - 1]
    store(values, address, way, value)


def _load(values: Values, address: int | None) -> int | None:
    value = load(values, address)
    return None if isinstance(value, Back) else value


def _access(d: int, stores: bool, pointer: int, offset: int, step: int = 0) -> Instruction:
    """A byte that a pointer points to, which then moves."""

    def run(values: Values) -> None:
        base = _pair(values, pointer)
        address = None if base is None else base + offset & 0xFFFF
        if stores:
            _store(values, address, way, values.get(d))
        else:
            assign(values, d, _load(values, address))
        if step:
            _set_pair(values, pointer, base, step)

    both, way = frozenset({pointer, pointer + 1}), ("y", offset) if pointer == Y and not step else MEMORY
    flow = Flow(frozenset({way}), both | {d}) if stores else Flow(frozenset({d}), both | {way})
    return Instruction(2, (2, 2), (flow, *([Flow(both, both)] if step else [])), run)


def _access_at(d: int, place: int, stores: bool) -> Instruction:
    """``lds`` and ``sts``."""

    def run(values: Values) -> None:
        if stores:
            _store(values, place, MEMORY, values.get(d))
        else:
            assign(values, d, _load(values, place))

    writes, reads = (MEMORY, d) if stores else (d, MEMORY)
    return Instruction(4, (2, 2), (Flow(frozenset({writes}), frozenset({reads})),), run)


def _push(d: int) -> Instruction:
    def run(values: Values) -> None:
        _store(values, values[SP], ("pushed", d), values.get(d))
        values[SP] -= 1

    return Instruction(2, (2, 2), (Flow(frozenset({("pushed", d)}), frozenset({d})),), run)


def _pop(d: int) -> Instruction:
    def run(values: Values) -> None:
        values[SP] += 1
        assign(values, d, _load(values, values[SP]))

    return Instruction(2, (2, 2), (Flow(frozenset({d}), frozenset({("pushed", d)})),), run)


def _port(port: int, d: int, out: bool) -> Instruction:
    """``in`` and ``out``; of the ports only the stack pointer is followed."""
    if port not in (SPL, SPH):
        if not out:
            return _forget({d}, 1)
        return _forget((*FLAGS, "T"), 1) if port == SREG else Instruction(2, (1, 1))
    shift = 0 if port == SPL else 8

    def run(values: Values) -> None:
        if not out:
            values[d] = values[SP] >> shift & 255
        else:
            value = known(values, d)
            assign(values, SP, None if value is None else values[SP] & (0xFF00 >> shift) | value << shift)

    flow = Flow(frozenset({SP}), frozenset({d})) if out else Flow(frozenset({d}), frozenset({SP}))
    return Instruction(2, (1, 1), (flow,), run)
