"""Thumb-2's instructions of four bytes."""

from collections.abc import Callable

from smallearn.devices._worst._paths import (
    MEMORY,
    Flow,
    Instruction,
    UnprovenError,
    Values,
    assign,
    back_to,
    forget,
    known,
    store,
)
from smallearn.devices._worst._thumb.parts import (
    ALWAYS,
    FLAGS,
    LR,
    OPERATIONS,
    WITH_CARRY,
    Decoder,
    both,
    name_of,
    shifted,
)
from smallearn.devices._worst._words import COMPUTED, FULL, JUMP, extend, to_signed

MOVE, MOVE_NOT = 2, 3  # orr and orn of nothing


class Wide(Decoder):
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
            return extend((a >> by | a << (32 - by)) & FULL, bits, signed)

        if source == 15:
            return self.calculate(to, (other,), lambda a: (extended(a), {}))
        return self.calculate(to, (source, other), lambda a, b: (a + extended(b) & FULL, {}))

    def _branch(self) -> Instruction | None:
        first, second = self.first, self.second
        sign = first >> 10 & 1
        if second & 0x1000:  # b.w, bl
            i, j = (not (second >> 13 & 1) ^ sign), (not (second >> 11 & 1) ^ sign)
            offset = sign << 24 | i << 23 | j << 22 | (first & 0x3FF) << 12 | (second & 0x7FF) << 1
            target = self.address + 4 + to_signed(offset, 25)
            return self._call(target) if second & 0x4000 else self.jump(target)
        if second & 0x4000:
            return None  # blx
        condition = first >> 6 & 15
        if condition >= ALWAYS:
            # Special registers and barriers: of those that C compiles to, none changes what is known.
            return Instruction(4, self.cost) if first & 0xFFF0 == 0xF3B0 or first == 0xF3AF else None
        offset = sign << 20 | (second >> 11 & 1) << 19 | (second >> 13 & 1) << 18
        offset |= (first & 0x3F) << 12 | (second & 0x7FF) << 1
        return self.jump(self.address + 4 + to_signed(offset, 21), condition)

    def _call(self, target: int) -> Instruction:
        def run(values: Values) -> None:
            values[LR] = back_to(self.after)

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
            return self.calculate(to, (source,), lambda a: (extend(a >> low, width, number == 20), {}))
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
        operand = (name_of(other),)
        return self._calculation(number, to, source, operand, lambda b: shifted(b, kind, by), bool(first & 0x10))

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
        return both(steps)

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
        pointer = name_of(base)

        def run(values: Values) -> None:
            start = known(values, pointer)
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
