"""The chips whose costs are known.

To add a chip whose architecture is in `ARCHITECTURES`: add one record to `CHIPS`. Its costs can then be measured; there
is no estimate where its compiler is missing until ``python -m benchmarks.devices --fit --chips NAME`` has fitted one,
unless it takes those of another (``like``). The tests want an estimate for every chip in `CHIPS`.

A new architecture is one more record in `ARCHITECTURES`, a module like ``_avr.py`` with functions ``simulate`` and
``check``, and its line in ``_measure.SIMULATORS``; for bounds, a module like ``_worst/_avr.py`` and its line in
``_worst.CODES``.
"""

from dataclasses import dataclass

from smallearn._errors import check_choice
from smallearn._text import show


@dataclass(frozen=True)
class Architecture:
    """What chips with the same compiler share: its Debian packages, and the name of the simulator for people."""

    packages: str
    simulator: str


ARCHITECTURES = {
    "avr-": Architecture(packages="gcc-avr avr-libc", simulator="simavr"),
    "arm-none-eabi-": Architecture(packages="gcc-arm-none-eabi libnewlib-arm-none-eabi", simulator="unicorn"),
    "riscv64-unknown-elf-": Architecture(
        packages="gcc-riscv64-unknown-elf picolibc-riscv64-unknown-elf", simulator="unicorn"
    ),
}  # by the prefix of the compiler's name


@dataclass(frozen=True)
class Chip:
    """A chip and how code is compiled for it.

    Parameters
    ----------
    name : str
        Its name in `CHIPS`.
    title : str
        Its name for people.
    flash, ram : int
        Bytes.
    clock : int
        Hertz.
    prefix : str
        What the names of its compiler's programs begin with: "avr-", "arm-none-eabi-" or "riscv64-unknown-elf-".
    flags : tuple of str
        Options of the compiler.
    counts : {"cycles", "instructions"}
        What its simulator counts.
    script : str, default=""
        The linker script; empty for the linker's own.
    cpu : str, default=""
        What its simulator calls it: simavr the chip, unicorn the CPU (one of its constants ``UC_CPU_ARM_…``; RISC-V
        needs none). Empty if that is ``name``, for unicorn in capitals with underscores after ``UC_CPU_ARM_``.
    short_title : str, default=""
        Its name in tables; empty if that is ``title``.
    like : str, default=""
        The chip whose estimates are its own, but for the clock: the same code takes as many cycles there. Empty: it has
        estimates of its own.

    Examples
    --------
    >>> from dataclasses import replace
    >>> from smallearn.devices import CHIPS
    >>> slow = replace(CHIPS["atmega328p"], clock=8_000_000)
    >>> slow.flash
    32768
    """

    name: str
    title: str
    flash: int
    ram: int
    clock: int
    prefix: str
    flags: tuple[str, ...]
    counts: str
    script: str = ""
    cpu: str = ""
    short_title: str = ""
    like: str = ""


ARM = ("--specs=nano.specs", "-nostartfiles", "-mthumb")
# The "a" of atomic instructions, which the ESP32-C3 does not have, is for the libraries' sake: only with it Debian has
# them in compressed code. C without atomics compiles to none, and the proof of a bound refuses them.
RISCV = ("--specs=picolibc.specs", "-nostartfiles", "-march=rv32imac", "-mabi=ilp32")
# Code and constants at 0x08000000, variables at 0x20000000. Interrupt vectors and start-up code are left out: they are
# not part of the model.
SCRIPT = """\
ENTRY(main)
MEMORY
{
    flash (rx) : ORIGIN = 0x08000000, LENGTH = 1M
    ram (rwx) : ORIGIN = 0x20000000, LENGTH = 128K
}
SECTIONS
{
    .text : { *(.text*) *(.rodata* .srodata*) *(.ARM.ex*) } > flash
    .data : { *(.data* .sdata*) } > ram AT > flash
    .bss (NOLOAD) : { *(.bss* .sbss*) *(COMMON) } > ram
    end = .;
}
"""

CHIPS = {
    chip.name: chip
    for chip in (
        Chip(
            name="atmega328p",
            title="ATmega328P (Arduino Uno) at 16 MHz",
            short_title="ATmega328P (Arduino Uno), 16 MHz",
            flash=32 * 1024,
            ram=2 * 1024,
            clock=16_000_000,
            prefix="avr-",
            flags=("-mmcu=atmega328p",),
            counts="cycles",
        ),
        Chip(
            name="cortex-m0",
            title="Cortex-M0 at 48 MHz, as in the STM32F030",
            short_title="Cortex-M0, 48 MHz",
            flash=16 * 1024,
            ram=4 * 1024,
            clock=48_000_000,
            prefix="arm-none-eabi-",
            flags=(*ARM, "-mcpu=cortex-m0"),
            counts="instructions",
            script=SCRIPT,
            cpu="UC_CPU_ARM_CORTEX_M0",
        ),
        Chip(
            name="cortex-m4",
            title="Cortex-M4 with FPU at 84 MHz, as in the STM32F401",
            short_title="Cortex-M4 with FPU, 84 MHz",
            flash=256 * 1024,
            ram=64 * 1024,
            clock=84_000_000,
            prefix="arm-none-eabi-",
            flags=(*ARM, "-mcpu=cortex-m4", "-mfloat-abi=hard", "-mfpu=fpv4-sp-d16"),
            counts="instructions",
            script=SCRIPT,
            cpu="UC_CPU_ARM_CORTEX_M4",
        ),
        Chip(
            name="attiny85",
            title="ATtiny85 at 8 MHz",
            short_title="ATtiny85, 8 MHz",
            flash=8 * 1024,
            ram=512,
            clock=8_000_000,
            prefix="avr-",
            flags=("-mmcu=attiny85",),
            counts="cycles",
        ),
        Chip(
            name="rp2040",
            title="RP2040 (Raspberry Pi Pico), Cortex-M0+ at 125 MHz",
            short_title="RP2040, 125 MHz",
            flash=2 * 1024 * 1024,
            ram=264 * 1024,
            clock=125_000_000,
            prefix="arm-none-eabi-",
            flags=(*ARM, "-mcpu=cortex-m0plus"),
            counts="instructions",
            script=SCRIPT,
            cpu="UC_CPU_ARM_CORTEX_M0",
            like="cortex-m0",
        ),
        Chip(
            name="esp32-c3",
            title="ESP32-C3 (RV32IMC) at 160 MHz",
            short_title="ESP32-C3, 160 MHz",
            flash=4 * 1024 * 1024,
            ram=400 * 1024,
            clock=160_000_000,
            prefix="riscv64-unknown-elf-",
            flags=RISCV,
            counts="instructions",
            script=SCRIPT,
        ),
    )
}


def find_chip(chip: str | Chip) -> Chip:
    """The chip of that name, or the chip itself."""
    if isinstance(chip, Chip):
        return chip
    check_choice("chip", chip, tuple(CHIPS))
    return CHIPS[chip]


def architecture_of(chip: Chip) -> Architecture:
    """The architecture of a chip."""
    if chip.prefix not in ARCHITECTURES:
        raise ValueError(
            f"prefix={show(chip.prefix)} of {show(chip.name)} is not one of {', '.join(map(repr, ARCHITECTURES))}."
        )
    return ARCHITECTURES[chip.prefix]
