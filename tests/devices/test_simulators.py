"""Programs whose cost is known by hand, compiled for each chip and run on its simulator."""

import os
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from smallearn.devices import CHIPS, _unicorn, available
from smallearn.devices import _avr as avr
from smallearn.devices._arm import CortexM
from smallearn.devices._chips import ARCHITECTURES
from smallearn.devices._measure import DTYPES, SIMULATORS, measure
from smallearn.devices._riscv import DIVISION, RiscV
from smallearn.devices._toolchain import Program, ToolchainError, build
from tests.helpers.tools import MARKED_CHIPS, need_chip

ROW = np.array([[1, 2, 3]])
NOTHING = "(void)x; return 0;"


@pytest.fixture(params=MARKED_CHIPS)
def chip(request):
    """Every chip whose tools are there."""
    need_chip(request.param)
    return CHIPS[request.param]


def program(body, source="", number="int8", n_inputs=3, **more):
    return Program(source, body, number, n_inputs, **more)


def test_an_empty_function_costs_no_bytes_and_its_call(chip):
    found = measure(program(NOTHING), chip, ROW)
    assert found.flash == 0
    assert found.answers == (0,)
    # AVR: call 4 (rcall 3 on an ATtiny), ldi 1, ret 4, the address of 2 bytes on the stack. ARM: bl, movs, bx; RISC-V
    # likewise.
    cycles = 8 if chip.name == "attiny85" else 9
    assert (found.counts, found.ram) == (((cycles,), 2) if chip.counts == "cycles" else ((3,), 0))


def test_instructions_are_counted_one_by_one(chip):
    nops = program('__asm__ volatile("nop\\n\\tnop\\n\\tnop\\n\\tnop"); (void)x; return 0;')
    found, without = measure(nops, chip, ROW), measure(program(NOTHING), chip, ROW)
    assert found.counts[0] - without.counts[0] == 4
    assert found.cycles[0] - without.cycles[0] == 4
    assert found.flash == 8


@pytest.mark.tools
def test_the_time_on_arm_has_a_cycle_for_each_word_and_two_for_each_jump():
    need_chip("cortex-m0")
    loads = program('__asm__ volatile("ldr r1, [%0]\\n\\tldr r1, [%0]\\n\\tb 1f\\n1:" :: "r"(x) : "r1"); return 0;')
    found, without = measure(loads, "cortex-m0", ROW), measure(program(NOTHING), "cortex-m0", ROW)
    assert found.counts[0] - without.counts[0] == 3
    assert found.cycles[0] - without.cycles[0] == 3 + 2  # the branch goes to what follows it: no jump


@pytest.mark.tools
def test_the_time_on_riscv_has_a_cycle_for_each_word_two_for_each_jump_and_more_for_a_division():
    need_chip("esp32-c3")
    code = "lw a1, 0(%0)\\n\\tsb a1, 0(%0)\\n\\tdiv a2, a1, a1\\n\\tmul a2, a2, a1\\n\\tj 1f\\n1:"
    steps = program(f'__asm__ volatile("{code}" :: "r"(x) : "a1", "a2", "memory"); return 0;')
    found, without = measure(steps, "esp32-c3", ROW), measure(program(NOTHING), "esp32-c3", ROW)
    assert found.counts[0] - without.counts[0] == 5
    assert found.cycles[0] - without.cycles[0] == 5 + 2 + DIVISION  # the jump goes to what follows it


TREE = """
__attribute__((noinline)) static int32_t tree(const int16_t *x)
{
    if (x[0] < 5432) {
        if (x[1] < 6543)
            return 1;
        else
            return 0;
    }
    if (x[2] < 1814)
        return 1;
    else
        return 0;
}
static int32_t vote(const int16_t *x)
{
    int32_t votes[2] = {0, 0};
    votes[tree(x)] += 1;
    votes[tree(x + 1)] += 2;
    votes[tree(x + 2)] += 4;
    return votes[1];
}
"""


def test_conditional_instructions_do_what_they_should(chip):
    # A function that loads in one of Thumb's conditional blocks and returns from another; its caller goes on.
    rows = np.random.default_rng(1).integers(-10_000, 20_000, size=(200, 5))
    trees = [np.where(rows[:, i] < 5432, rows[:, i + 1] < 6543, rows[:, i + 2] < 1814) for i in range(3)]
    found = measure(program("return vote(x);", TREE, "int16", 5), chip, rows)
    assert found.answers == tuple(trees[0] + 2 * trees[1] + 4 * trees[2])


@pytest.mark.tools
@pytest.mark.parametrize(
    ("name", "kind", "least", "words"), [("cortex-m0", CortexM, 300, 30), ("esp32-c3", RiscV, 100, 15)]
)
def test_blocks_hold_as_many_instructions_and_words_as_unicorn_executes_one_by_one(name, kind, least, words):
    need_chip(name)  # which has no conditional instructions, so that unicorn can be asked for each
    chip, rows = CHIPS[name], np.array([[1.5, -2.0, 3.0], [0.0, 7.0, 1e9]], dtype=np.float32)
    source = "return x[0] * x[1] - x[2] / x[1] > 0.0f;" if name == "cortex-m0" else "return x[0] * x[1] - x[2] > 0.0f;"
    image = build(program(source, number="float32"), chip)  # a quotient takes more time than words on RISC-V
    core = kind(image, chip)
    unicorn, seen = core.unicorn, {"instructions": 0, "words": 0}

    def on_instruction(*_):
        seen["instructions"] += 1

    def on_access(*_):
        seen["words"] += 1

    core.emulator.hook_add(unicorn.UC_HOOK_CODE, on_instruction)
    core.emulator.hook_add(unicorn.UC_HOOK_MEM_READ | unicorn.UC_HOOK_MEM_WRITE, on_access)
    for row in rows:
        seen.update(instructions=0, words=0)
        found = core.call(row.tobytes())
        assert found.count == 1 + seen["instructions"]
        assert core.more == seen["words"]
        assert seen["instructions"] > least
        assert seen["words"] > words


@pytest.mark.parametrize("number", DTYPES)
def test_every_row_gets_its_own_answer(chip, number):
    rng = np.random.default_rng(0)
    rows = rng.integers(-100, 100, size=(40, 3)).astype(DTYPES[number])
    found = measure(program("return (uint8_t)(x[0] > x[1]) + 2 * (x[2] < 0);", number=number), chip, rows)
    assert found.answers == tuple((rows[:, 0] > rows[:, 1]) + 2 * (rows[:, 2] < 0))
    assert len(found.counts) == len(found.cycles) == len(rows)


def test_every_class_up_to_255_comes_back(chip):
    rows = np.arange(256).reshape(-1, 1)
    found = measure(program("return (uint8_t)x[0];", number="int16", n_inputs=1), chip, rows)
    assert found.answers == tuple(range(256))


def test_variables_are_ram_and_constants_flash(chip):
    source = "static volatile uint8_t seen[40]; static volatile uint8_t first[40] = {1, 2, 3};"
    plain = measure(program("return x[0];"), chip, ROW)
    found = measure(program("seen[x[0]] = 1; return first[x[1]];", source), chip, ROW)
    assert 80 <= found.ram - plain.ram <= 84
    assert found.flash - plain.flash >= 40
    if chip.counts == "cycles":
        source = "#include <avr/pgmspace.h>\nstatic const uint8_t table[40] PROGMEM = {7, 8, 9};"
        found = measure(program("return pgm_read_byte(table + x[0]);", source), chip, ROW)
    else:
        found = measure(program("return table[x[0]];", "static const uint8_t table[40] = {7, 8, 9};"), chip, ROW)
    assert found.answers == (8,)
    assert found.ram == plain.ram
    assert found.flash - plain.flash >= 40


def test_the_stack_is_measured_at_its_deepest(chip):
    source = """
    __attribute__((noinline)) static uint8_t deep(uint8_t n)
    {
        volatile uint8_t place[64];
        for (uint8_t i = 0; i < 64; i++)
            place[i] = n;
        return place[n];
    }
    """
    shallow = measure(program("return x[0] > 0;", source), chip, ROW)
    found = measure(program("return x[0] > 0 ? deep(x[0]) : 0;", source), chip, np.array([[0, 0, 0], [1, 0, 0]]))
    assert 64 <= found.ram - shallow.ram <= 64 + 24
    unused = measure(program("return x[0] > 0 ? deep(x[0]) : 0;", source), chip, np.array([[0, 0, 0]]))
    assert unused.ram < 64


@pytest.mark.tools
def test_helpers_of_the_compiler_count_as_the_functions():
    for name, least in (("atmega328p", 200), ("attiny85", 200), ("cortex-m0", 400), ("esp32-c3", 400)):
        need_chip(name)
        found = measure(program("return x[0] * x[1] + x[2] > 1.5f;", number="float32"), name, ROW)
        assert found.flash > least
        assert found.answers == (1,)


@pytest.mark.tools
@pytest.mark.parametrize("name", [name for name, chip in CHIPS.items() if not chip.like])
def test_a_simulator_knows_a_chip_by_its_name_if_no_other_is_set(name):
    need_chip(name)
    unnamed, expected = (measure(program("return x[1];"), chip, ROW) for chip in (replace(CHIPS[name], cpu=""), name))
    assert unnamed == expected


@pytest.mark.tools
def test_a_cpu_that_unicorn_does_not_have_is_named():
    need_chip("cortex-m0")
    with pytest.raises(ToolchainError, match="no CPU 'UC_CPU_ARM_CORTEX_M99': set the chip's cpu"):
        measure(program(NOTHING), replace(CHIPS["cortex-m0"], name="cortex-m99", cpu=""), ROW)


@pytest.mark.tools
def test_the_floating_point_unit_of_a_cortex_m4_is_used():
    need_chip("cortex-m4")
    found = measure(program("return x[0] * x[1] + x[2] > 1.5f;", number="float32"), "cortex-m4", ROW)
    assert found.counts[0] < 20
    assert found.flash < 60
    assert found.answers == (1,)


def test_cpp_programs_are_measured_too(chip):
    source = "struct Thing { int predict(const int8_t *x) { return x[0] + 1; } };"
    found = measure(program("Thing thing; return thing.predict(x);", source, cpp=True), chip, ROW)
    assert found.answers == (2,)
    assert measure(program(NOTHING, cpp=True), chip, ROW).flash == 0


# --- what goes wrong -------------------------------------------------------------------------------------------------


def test_an_endless_function_is_stopped(chip, monkeypatch):
    monkeypatch.setattr(avr, "MOST_CYCLES", 10_000)
    monkeypatch.setattr(_unicorn, "MOST_INSTRUCTIONS", 10_000)
    with pytest.raises(ToolchainError, match=r"more (cycles|than 10000 instructions)"):
        measure(program('for (;;) __asm__ volatile(""); (void)x;'), chip, ROW)


def test_a_function_that_jumps_astray_is_an_error(chip):
    with pytest.raises(ToolchainError):
        measure(program("((void (*)(void))0x7ff0)(); return x[0];"), chip, ROW)


def test_source_that_does_not_compile_is_shown_with_its_error(chip):
    with pytest.raises(ToolchainError, match=r"gcc failed(?s:.*)undeclared"):
        measure(program("return undeclared;"), chip, ROW)


def test_nothing_is_left_behind(chip, monkeypatch, tmp_path):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    measure(program(NOTHING), chip, ROW)
    with pytest.raises(ToolchainError):
        measure(program("syntax error"), chip, ROW)
    assert list(tmp_path.iterdir()) == []


def test_a_chip_of_an_unknown_architecture_is_refused_with_those_there_are():
    with pytest.raises(ValueError, match="prefix='' of 'atmega328p' is not one of 'avr-', 'arm-none-eabi-'"):
        available(replace(CHIPS["atmega328p"], prefix=""))


def test_every_architecture_has_a_simulator():
    assert SIMULATORS.keys() == ARCHITECTURES.keys() >= {chip.prefix for chip in CHIPS.values()}


@pytest.mark.parametrize("rows", [np.zeros((0, 3)), np.zeros((2, 4)), np.zeros(3)])
def test_rows_of_another_shape_are_refused(rows):
    with pytest.raises(ValueError, match=r"must be \(n_rows, 3\)"):
        measure(program(NOTHING), "cortex-m0", rows)


@pytest.mark.parametrize("name", ["z80", None, ["atmega328p"]])
def test_an_unknown_chip_is_refused_with_those_there_are(name):
    with pytest.raises(ValueError, match=f"is not one of {', '.join(map(repr, CHIPS))}"):
        available(name)


@pytest.mark.parametrize("name", CHIPS)
def test_what_is_missing_is_named_with_the_package_to_install(name, monkeypatch):
    monkeypatch.setenv("PATH", os.devnull)
    said = available(name)
    assert "is not installed (Debian: gcc-" in said
    with pytest.raises(ToolchainError, match="Debian"):
        measure(program("return x[0] + 77;"), name, ROW)  # no program of another test, which may be kept


def test_a_missing_python_package_is_named_with_its_extra(chip, monkeypatch):
    monkeypatch.setitem(sys.modules, "elftools.elf.elffile", None)
    assert "smallearn[devices]" in available(chip)


@pytest.mark.tools
def test_the_host_of_simavr_is_compiled_once_and_kept(monkeypatch, tmp_path):
    need_chip("atmega328p")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    avr.host.cache_clear()
    made = avr.host()
    assert made.parent == tmp_path / "cache" / "smallearn"
    assert [path.name for path in made.parent.iterdir()] == [made.name]
    when = made.stat().st_mtime_ns
    avr.host.cache_clear()
    assert avr.host().stat().st_mtime_ns == when
    monkeypatch.setenv("XDG_CACHE_HOME", "/dev/null")  # where nothing can be kept
    avr.host.cache_clear()
    assert Path(avr.host()).is_file()
    assert measure(program("return x[2];"), "atmega328p", ROW).answers == (3,)
    avr.host.cache_clear()


@pytest.mark.tools
def test_simavr_without_its_headers_is_named_with_its_package(monkeypatch, tmp_path):
    need_chip("atmega328p")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    fake = tmp_path / "gcc"
    fake.write_text("#!/bin/sh\necho 'sim_avr.h: No such file' >&2\nexit 1\n")
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    avr.host.cache_clear()
    assert "libsimavr-dev" in available("atmega328p")
    avr.host.cache_clear()
