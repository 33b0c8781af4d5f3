"""Thumb's instructions of two bytes."""

from smallearn.devices._worst._paths import Instruction, UnprovenError, Values, conditional, known
from smallearn.devices._worst._thumb.parts import (
    FLAGS,
    LR,
    OPERATIONS,
    WITH_CARRY,
    Decoder,
    add,
    plain,
    shifted,
    subtract,
)
from smallearn.devices._worst._words import COMPUTED, extend, to_signed

# The operations of `OPERATIONS` by their number in instructions of two bytes.
NARROW = {0: 0, 1: 4, 5: 10, 6: 11, 8: 0, 10: 13, 11: 8, 12: 2, 14: 1}
COMPARE = (8, 10, 11)  # tst, cmp, cmn


class Narrow(Decoder):
    """Instructions of two bytes."""

    size = 2

    def decode(self) -> Instruction | None:
        code = self.first
        flags = FLAGS if self.sets_flags else ""
        low, middle, high = code & 7, code >> 3 & 7, code >> 6 & 7
        group = code >> 11
        if group < 3:  # lsl, lsr, asr by a constant
            by = code >> 6 & 31
            return self.calculate(low, (middle,), lambda a: plain(shifted(a, group, by)), flags and "NZC")
        if group == 3:  # add, sub
            compute = subtract if code & 0x200 else add
            if code & 0x400:
                return self.calculate(low, (middle,), lambda a: compute(a, high), flags)
            return self.calculate(low, (middle, high), compute, flags)
        if group < 8:  # mov, cmp, add, sub of a constant
            to, value = code >> 8 & 7, code & 255
            if group == 4:
                return self.calculate(to, (), lambda: plain(value), flags and "NZ")
            compute = add if group == 6 else subtract
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
            return self.jump(self.address + 4 + 2 * to_signed(code & 255, 8), code >> 8 & 15)
        return self.jump(self.address + 4 + 2 * to_signed(code & 0x7FF, 11)) if group == 28 else None

    def _operation(self, number: int, to: int, other: int, flags: str) -> Instruction:
        """A calculation with two low registers."""
        if number == 9:  # the negative
            return self.calculate(to, (other,), lambda a: subtract(0, a), flags)
        if number == 15:  # not
            return self.calculate(to, (other,), lambda a: plain(~a), flags and "NZ")
        if number == 13:
            return self.calculate(to, (to, other), lambda a, b: plain(a * b), flags and "NZ")
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
            return self.calculate(None, (to, other), subtract, FLAGS)
        return self.calculate(to, (to, other), add)

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
                value = known(values, low)
                return None if value is None else (value == 0) == wanted

            return conditional(self.jump(target), test, {low})
        if kind == 2:  # sxth, sxtb, uxth, uxtb
            bits, signed = (16, 8)[code >> 6 & 1], not code & 0x80
            return self.calculate(low, (middle,), lambda a: plain(extend(a, bits, signed)))
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
