"""Proven bounds: never below a measured row, exact where there is one path, and refused where there is no proof."""

import functools
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from smallearn.devices import CHIPS
from smallearn.devices._cost import LAYOUTS, NUMBERS, readings_of
from smallearn.devices._measure import Bound, Measured, bound, measure
from smallearn.devices._rows import encode
from smallearn.devices._toolchain import Program
from smallearn.devices._worst._paths import SP
from smallearn.devices._worst._riscv import RiscvCode, expanded
from smallearn.export._c.model import CModel
from smallearn.export._c.writer import c_text
from smallearn.export._fixed.quantise import target_of
from smallearn.export._fixed.typical import typical_rows
from tests.helpers.exports import MODELS, edge_rows, full_table
from tests.helpers.tools import MARKED_CHIPS, need_chip

ROWS = np.array([[1, 2, 3], [-100, 50, 7], [127, -128, 0], [-1, -2, -3]])
LOOP = "a loop has a number of turns that depends on the row"
PATHS = "there are too many paths"


@pytest.fixture(params=MARKED_CHIPS)
def chip(request):
    """Every chip whose tools are there."""
    need_chip(request.param)
    return CHIPS[request.param]


@pytest.fixture(scope="module")
def random_model():
    """Random models by their seed."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(Path(__file__).parents[2])
        from benchmarks.devices.fit import random_model as made
    return made


def both(chip, body, source="", number="int8", rows=ROWS) -> tuple[Bound, Measured]:
    """The bound of a program, and what it takes on rows."""
    program = Program(source, body, number, rows.shape[1])
    return bound(program, chip), measure(program, chip, rows)


def assert_exact(found: Bound, measured: Measured) -> None:
    assert found.missing is None
    assert found.count == max(measured.counts)
    assert found.cycles == max(measured.cycles)
    assert 0 <= found.ram - measured.ram <= 20  # what is reserved on the stack and not written is not measured


# --- programs whose bound is reached ---------------------------------------------------------------------------------

CONSTANT = """
#ifdef __AVR__
#include <avr/pgmspace.h>
#define CONSTANT(type, name, ...) static const type name[] PROGMEM = {__VA_ARGS__}
#define AT(name, i) ((sizeof(name[0]) == 1) ? pgm_read_byte(&name[i]) : (sizeof(name[0]) == 2) ? \\
    pgm_read_word(&name[i]) : pgm_read_dword(&name[i]))
#else
#define CONSTANT(type, name, ...) static const type name[] = {__VA_ARGS__}
#define AT(name, i) ({ const __typeof__(name[0]) *place = name; __asm__("" : "+r"(place)); place[i]; })
#endif
"""
STRAIGHT = {
    "nothing": "(void)x; return 0;",
    "a product": "return (uint8_t)(x[0] * x[1] + x[2]);",
    "wide products": "return (uint8_t)((int32_t)x[0] * 70000 + (int32_t)x[1] * x[2] >> 8);",
    "shifts": "return (uint8_t)(((int32_t)x[0] * 1000 >> 3) + ((int16_t)x[1] << 5));",
    "the stack": "volatile int8_t a[20]; a[3] = x[0]; a[19] = x[1]; return a[3] + a[19];",
    "a variable": "static volatile int16_t seen; seen = seen + x[0]; return (uint8_t)seen;",
}


@pytest.mark.parametrize("name", STRAIGHT)
def test_without_loops_the_bound_is_what_the_dearest_row_takes(chip, name):
    found, measured = both(chip, STRAIGHT[name])
    if chip.name == "attiny85" and name in ("a product", "wide products", "shifts"):  # it multiplies in a loop
        assert found.missing is None
        assert found.count >= max(measured.counts)
    else:
        assert_exact(found, measured)


PRODUCTS = {
    "int8": "return (uint8_t)(x[0] * x[1] + x[2]);",
    "int16": "return (uint8_t)(x[0] * x[1] + x[2] >> 8);",
    "int32": "return (uint8_t)(x[0] * x[1] + x[2] * 77777 >> 8);",
}


@pytest.mark.tools
@pytest.mark.parametrize("number", PRODUCTS)
def test_products_on_a_chip_without_a_multiplier_have_a_bound_that_no_factor_exceeds(number):
    need_chip("attiny85")
    limits, rng = np.iinfo(number), np.random.default_rng(0)
    anywhere = rng.integers(limits.min, limits.max + 1, size=(300, 3)) >> rng.integers(0, limits.bits, size=(300, 3))
    ends = rng.choice([limits.min, limits.min + 1, -1, 0, 1, limits.max], size=(300, 3))
    found, measured = both(CHIPS["attiny85"], PRODUCTS[number], number=number, rows=np.concatenate([anywhere, ends]))
    assert found.missing is None
    assert max(measured.counts) <= found.count <= 1.2 * max(measured.counts)


# The path of each depends on constants in flash alone: what instructions do is followed, flags and all.
CALCULATED = {
    "halves and triples": """
        uint16_t n = AT(seed, 0), steps = 0;
        while (n != 1) { n = n & 1 ? 3 * n + 1 : n >> 1; steps++; }
        return (uint8_t)steps;""",
    "the greatest common divisor": """
        int32_t a = AT(wide, 0), b = AT(wide, 1);
        while (a != b) { if (a > b) a -= b; else b -= a; }
        return (uint8_t)a;""",
    "bits, with signs": """
        uint8_t n = 0;
        for (uint8_t i = 0; i < 6; i++)
            for (int16_t v = (int16_t)AT(seed, i); v; v = (int16_t)(v < 0 ? v + 4096 : v >> 1)) n++;
        return n;""",
    "a checksum": """
        uint16_t sum = 0xFFFF;
        for (uint8_t i = 0; i < 6; i++) {
            sum ^= AT(seed, i);
            for (uint8_t j = 0; j < 16; j++) sum = sum & 1 ? (sum >> 1) ^ 0xA001 : sum >> 1;
        }
        return (uint8_t)sum;""",
    "a function in a loop": """
        uint8_t n = 0;
        for (uint8_t i = 0; i < 6; i++) n += count(AT(seed, i) & 31);
        return n;""",
}
SOURCE = f"""{CONSTANT}
CONSTANT(uint16_t, seed, 27, 40000, 3, 65535, 512, 129);
CONSTANT(uint32_t, wide, 70000, 42000);
__attribute__((noinline)) static uint8_t count(uint8_t n)
{{
    uint8_t found = 0;
    while (n) {{ found++; n &= n - 1; }}
    return found;
}}
"""


@pytest.mark.parametrize("name", CALCULATED)
def test_loops_over_constants_take_what_the_bound_says(chip, name):
    assert_exact(*both(chip, f"(void)x; {CALCULATED[name]}", SOURCE))


def test_loops_with_a_fixed_number_of_turns_have_a_bound_that_is_reached(chip):
    body = "int16_t z = 0; for (uint8_t i = 0; i < 3; i++) if (x[i] > 5) z += x[i] * 3; return (uint8_t)z;"
    found, measured = both(chip, body, rows=np.array([[9, 9, 9], [0, 0, 0], [9, 0, 9]]))
    assert found.missing is None
    assert found.count == max(measured.counts)


# --- where there is no proof -----------------------------------------------------------------------------------------

UNPROVEN = {
    "a loop": ("uint8_t n = 0; for (int8_t i = x[0]; i > 0; i -= x[1] | 1) n += x[2]; return n;", ("turns",)),
    "recursion": ("return deep(x[0], x);", ("turns", "calls itself")),
    "a pointer to a function": ("return ways[x[0] & 1](x[1]);", ("computed", "not known")),
}
UNPROVEN_SOURCE = """
__attribute__((noinline)) static uint8_t deep(int8_t n, const int8_t *x)
{
    volatile uint8_t kept = n;
    if (n > 0) kept += deep(n - x[1], x) * 3;
    return kept;
}
static uint8_t first(int8_t a) { return a * 3; }
static uint8_t second(int8_t a) { return a + 5; }
static uint8_t (*const volatile ways[2])(int8_t) = {first, second};
"""


@pytest.mark.parametrize("name", UNPROVEN)
def test_where_there_is_no_proof_the_reason_is_given(chip, name):
    body, reasons = UNPROVEN[name]
    found = bound(Program(UNPROVEN_SOURCE, body, "int8", 3), chip)
    assert found.missing is not None
    assert any(reason in found.missing for reason in reasons), found.missing


@pytest.mark.tools
def test_floating_point_on_an_eight_bit_chip_has_no_bound():
    need_chip("atmega328p")
    program = Program("", "return x[0] * x[1] + x[2] > 1.5f;", "float32", 3)
    assert bound(program, CHIPS["atmega328p"]) == Bound(missing=LOOP)


# --- models ----------------------------------------------------------------------------------------------------------


@functools.lru_cache(maxsize=512)
def compiled(target, layout):
    """A model's program, and the type of its inputs."""
    inputs, kind = encode(target, typical_rows(target.flat))
    source = c_text(CModel(prefix="model", target=target, arguments=False), "header", layout, None)
    called = "model_predict" if readings_of(target) == "codes" else "model_predict_readings"
    return Program(source, f"return {called}(x);", kind, inputs.shape[1])


def adversarial_rows(target, seed, n_rows=600):
    """Inputs: typical rows, and others anywhere in the range of their type, many at its ends."""
    rng = np.random.default_rng(seed)
    typical, _ = encode(target, typical_rows(target.flat))
    if typical.dtype.kind in "iu":
        limits = np.iinfo(typical.dtype)
        anywhere = rng.integers(limits.min, limits.max + 1, size=(n_rows, typical.shape[1]))
        ends = rng.choice([limits.min, limits.min + 1, 0, limits.max], size=anywhere.shape)
    else:
        anywhere = rng.normal(size=(n_rows, typical.shape[1])) * 10.0 ** rng.integers(-30, 30, (n_rows, 1))
        ends = rng.choice([0.0, -0.0, 1e-45, -3e38, 3e38, np.nan, 1.0], size=anywhere.shape)
    mixed = np.where(rng.random(anywhere.shape) < 0.3, ends, anywhere)
    return np.concatenate([typical, mixed.astype(typical.dtype)])


def assert_bound_holds(target, chip, layout, rows):
    program = compiled(target, layout)
    found = bound(program, chip)
    if found.missing is not None:
        large = chip.name == "attiny85" and found.missing == PATHS  # with a loop for each product
        assert target.number == "float32" or layout == "table" or large, found.missing
        return None
    measured = measure(program, chip, rows)
    assert found.count >= max(measured.counts)
    assert found.cycles >= max(measured.cycles)
    assert found.ram >= measured.ram
    return found.count / max(measured.counts)


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    seed=st.integers(0, 10**6),
    number=st.sampled_from(NUMBERS),
    layout=st.sampled_from(LAYOUTS[:2]),
    readings=st.sampled_from([None, "float"]),
)
def test_no_row_takes_more_than_the_bound(chip, random_model, seed, number, layout, readings):
    target = target_of(random_model(seed), number, readings=readings)
    assert_bound_holds(target, chip, layout, adversarial_rows(target, seed))


@pytest.mark.parametrize("layout", LAYOUTS[:2])
@pytest.mark.parametrize("number", ["float32", "int16"])
def test_no_edge_takes_more_than_the_bound(chip, number, layout):
    for name in sorted(MODELS)[::3]:
        model = MODELS[name]
        try:
            target = target_of(model, number)
        except (ValueError, OverflowError):  # no ranges: no whole numbers
            continue
        edges, _ = encode(target, full_table(target.flat, edge_rows(target.flat, 20)))
        assert_bound_holds(target, chip, layout, edges)


def test_bounds_are_not_far_from_what_rows_take(chip, random_model):
    ratios = []
    for seed in range(5):
        for number in ("int8", "int16"):
            target = target_of(random_model(seed), number)
            ratios.append(assert_bound_holds(target, chip, "code", adversarial_rows(target, seed)))
    if chip.name == "attiny85":  # the dearest factors of all products are no row that is met
        assert None not in ratios
        assert np.mean(ratios) <= 1.5
    else:
        assert np.median(ratios) <= 1.05
        assert np.mean(ratios) <= 1.1


# --- instructions of RISC-V, compared with unicorn -------------------------------------------------------------------


class Steps:
    """Unicorn, one instruction at a time: registers before and after."""

    CODE, SIZE = 0x08000000, 0x400000

    def __init__(self):
        unicorn = pytest.importorskip("unicorn")
        self.const = pytest.importorskip("unicorn.riscv_const")
        self.core = unicorn.Uc(unicorn.UC_ARCH_RISCV, unicorn.UC_MODE_RISCV32)
        self.core.mem_map(self.CODE, self.SIZE)

    def run(self, code: bytes, registers: list[int]) -> tuple[list[int], int]:
        """Registers and the next address after the instruction in the middle of the code."""
        place = self.CODE + self.SIZE // 2
        self.core.mem_write(place, code)
        self.core.ctl_remove_cache(place, place + 4)
        for number, value in enumerate(registers):
            self.core.reg_write(self.const.UC_RISCV_REG_X0 + number, value)
        self.core.emu_start(place, self.CODE, count=1)
        found = [self.core.reg_read(self.const.UC_RISCV_REG_X0 + number) for number in range(32)]
        return found, self.core.reg_read(self.const.UC_RISCV_REG_PC)


class Single(RiscvCode):
    """A program of one instruction."""

    def __init__(self, code: bytes):
        place = Steps.CODE + Steps.SIZE // 2
        self.flash = {place + i: byte for i, byte in enumerate(code)}


CALCULATIONS = (0x13, 0x33, 0x37, 0x17, 0x63, 0x6F)  # and branches and jumps


def is_known(word: int) -> bool:
    """Whether there is such an instruction, and it does not keep its address in a register but that of calls."""
    if word & 0x7F == 0x63:
        return word >> 12 & 7 not in (2, 3)
    if word & 0x7F == 0x6F:
        return word >> 7 & 31 in (0, 1)
    subtracts = word >> 25 == 0x20 and (word & 0x7F == 0x33 or word >> 12 & 3 == 1)
    return not subtracts or word >> 12 & 7 == 5 or (word & 0x7F == 0x33 and word >> 12 & 7 == 0)


def random_words(rng, n_words):
    """Instructions of four bytes: calculations and branches."""
    for _ in range(n_words):
        opcode = int(rng.choice(CALCULATIONS))
        word = int(rng.integers(0, 1 << 25)) << 7 | opcode
        if opcode == 0x33 or (opcode == 0x13 and word >> 12 & 3 == 1):
            function = int(rng.choice([0, 0x20, 1] if opcode == 0x33 else [0, 0x20]))
            word = word & 0x01FFFFFF | function << 25
        yield word.to_bytes(4, "little")


def test_instructions_of_riscv_do_what_unicorn_does():
    steps, rng, followed = Steps(), np.random.default_rng(0), 0
    place = Steps.CODE + Steps.SIZE // 2
    halves = [int(half).to_bytes(2, "little") for half in range(1 << 16) if half & 3 != 3][::3]
    for code in [*random_words(rng, 1500), *halves]:
        whole = int.from_bytes(code, "little")
        long = expanded(whole) if len(code) == 2 else whole
        if long is None or long & 0x7F not in CALCULATIONS or not is_known(long):
            continue
        decoded = Single(code).decode(place)
        before = [0, *(int(value) for value in rng.integers(0, 1 << 32, size=31) >> rng.integers(0, 32, size=31))]
        values = {SP if number == 2 else number: value for number, value in enumerate(before) if number}
        if rng.random() < 0.3:
            before[8:16] = [before[8]] * 8
            values.update(dict.fromkeys(range(8, 16), before[8]))
        after, address = steps.run(code, before)
        taken = decoded.kind != "plain" and (decoded.test is None or decoded.test(values))
        assert address == (decoded.target if taken else place + len(code)), code.hex()
        if decoded.run is not None:
            decoded.run(values)
        written = {name for flow in decoded.flows for name in flow.writes}
        for number in range(1, 32):
            name = SP if number == 2 else number
            if name in values and isinstance(values[name], int):
                followed += name in written
                assert values[name] == after[number] & 0xFFFFFFFF, (code.hex(), number)
            else:
                assert name in written
    assert followed > 2500
