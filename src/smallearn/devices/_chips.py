"""The chips that a cost can be asked for."""

from dataclasses import dataclass

from smallearn._errors import check_choice


@dataclass(frozen=True)
class Chip:
    """A chip: flash and RAM in bytes, the clock in Hz, how code is compiled for it, and what is counted there.

    ``counts`` is "cycles" where the simulator knows the time of every instruction, else "instructions"; ``script`` is
    for the linker, empty for its own.
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


ARM = ("--specs=nano.specs", "-nostartfiles", "-mthumb")
# Code and constants at 0x08000000, variables at 0x20000000; no vectors and no start-up code, which are not the model's.
ARM_SCRIPT = """\
ENTRY(main)
MEMORY
{
    flash (rx) : ORIGIN = 0x08000000, LENGTH = 1M
    ram (rwx) : ORIGIN = 0x20000000, LENGTH = 128K
}
SECTIONS
{
    .text : { *(.text*) *(.rodata*) *(.ARM.ex*) } > flash
    .data : { *(.data*) } > ram AT > flash
    .bss (NOLOAD) : { *(.bss*) *(COMMON) } > ram
    end = .;
}
"""

CHIPS = {
    chip.name: chip
    for chip in (
        Chip(
            "atmega328p",
            "ATmega328P (Arduino Uno) at 16 MHz",
            32 * 1024,
            2 * 1024,
            16_000_000,
            "avr-",
            ("-mmcu=atmega328p",),
            "cycles",
        ),
        Chip(
            "cortex-m0",
            "Cortex-M0 at 48 MHz, as in the STM32F030",
            16 * 1024,
            4 * 1024,
            48_000_000,
            "arm-none-eabi-",
            (*ARM, "-mcpu=cortex-m0"),
            "instructions",
            ARM_SCRIPT,
        ),
        Chip(
            "cortex-m4",
            "Cortex-M4 with FPU at 84 MHz, as in the STM32F401",
            256 * 1024,
            64 * 1024,
            84_000_000,
            "arm-none-eabi-",
            (*ARM, "-mcpu=cortex-m4", "-mfloat-abi=hard", "-mfpu=fpv4-sp-d16"),
            "instructions",
            ARM_SCRIPT,
        ),
    )
}


def find_chip(chip: str | Chip) -> Chip:
    """The chip of that name, or the chip itself."""
    if isinstance(chip, Chip):
        return chip
    check_choice("chip", chip, tuple(CHIPS))
    return CHIPS[chip]
