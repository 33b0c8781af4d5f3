"""Small C programs for a chip: written, compiled, linked, and their sizes read. Nothing is run here.

A program is the same loop around one function for everything that is measured, so that costs can be compared; a file of
its own for the function, so that the compiler cannot see through the call.
"""

import importlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from smallearn.devices._chips import Chip

SECONDS = 120  # that a compiler or a simulator may take before something must be wrong
FLAGS = ("-Os", "-ffunction-sections", "-fdata-sections", "-Wl,--gc-sections")
CPP_FLAGS = ("-fno-exceptions", "-fno-rtti", "-fno-threadsafe-statics")  # as Arduino compiles
TYPES = {"float32": "float", "int8": "int8_t", "int16": "int16_t", "int32": "int32_t", "float64": "double"}
EXTRA = "pip install 'smallearn[devices]'"
PACKAGES = {"avr-": "gcc-avr avr-libc", "arm-none-eabi-": "gcc-arm-none-eabi libnewlib-arm-none-eabi"}

MAIN = """\
#include <stdint.h>
uint8_t smallearn_call(const {type} *x);
{type} smallearn_x[{width}];
volatile uint8_t smallearn_class;
int main(void)
{{
    for (;;)
        smallearn_class = smallearn_call(smallearn_x);
}}
"""
FUNCTION = """\
#include <stdint.h>
{source}
{linkage}uint8_t smallearn_call(const {type} *x)
{{
    {body}
}}
"""


class ToolchainError(RuntimeError):
    """A compiler, a simulator or a package is missing, or did not do what it should."""


@dataclass(frozen=True)
class Program:
    """Source that defines what ``body`` calls: statements that return the class of ``x``, an array of ``n_inputs``
    numbers. ``number`` is the type of the inputs, ``flags`` are more for the compiler, ``cpp`` is for C++."""

    source: str
    body: str
    number: str
    n_inputs: int
    flags: tuple[str, ...] = ()
    cpp: bool = False


@dataclass(frozen=True)
class Call:
    """One call of a program's function: the class it gave, what was counted, the time in cycles (an estimate where
    instructions are counted) and the bytes of stack."""

    answer: int
    count: int
    cycles: int
    stack: int


@dataclass(frozen=True)
class Image:
    """A linked program: ``flash`` is what it occupies there (code, constants and the first values of variables),
    ``ram`` its variables, ``pieces`` what is loaded (address in flash, address when it runs, bytes)."""

    flash: int
    ram: int
    symbols: dict[str, int]
    pieces: tuple[tuple[int, int, bytes], ...]


def compiler(chip: Chip, cpp: bool = False) -> str:
    """The path of the cross compiler."""
    name = f"{chip.prefix}{'g++' if cpp else 'gcc'}"
    found = shutil.which(name)
    if found is None:
        raise ToolchainError(f"{name} is not installed (Debian: {PACKAGES.get(chip.prefix, name)}).")
    return found


def module(name: str) -> ModuleType:
    """A module of the extra ``devices``."""
    try:
        return importlib.import_module(name)
    except ImportError as problem:
        raise ToolchainError(f"The package {name.split('.')[0]} cannot be imported ({problem}): {EXTRA}.") from None


def run(command: Sequence[str | Path], given: bytes = b"") -> bytes:
    """What a command prints. An error has its first lines."""
    environment = {**os.environ, "LC_ALL": "C"}
    name = Path(command[0]).name
    try:
        done = subprocess.run(command, input=given, capture_output=True, timeout=SECONDS, env=environment, check=False)
    except subprocess.TimeoutExpired:
        raise ToolchainError(f"{name} did not end within {SECONDS} s.") from None
    except OSError as problem:
        raise ToolchainError(f"{name} cannot be run: {problem}.") from None
    if done.returncode:
        said = "\n".join(done.stderr.decode(errors="replace").splitlines()[:12])
        raise ToolchainError(f"{name} failed with code {done.returncode}:\n{said}")
    return done.stdout


def build(program: Program, chip: Chip) -> Image:
    """Compile and link, in a folder that is removed again."""
    kind = TYPES[program.number]
    width = max(program.n_inputs, 1)  # C has no empty arrays
    linkage = 'extern "C" ' if program.cpp else ""
    with tempfile.TemporaryDirectory(prefix="smallearn-") as folder:
        main, function, elf = (
            Path(folder, name) for name in ("main.c", "function.cpp" if program.cpp else "function.c", "program.elf")
        )
        main.write_text(MAIN.format(type=kind, width=width), encoding="utf-8")
        text = FUNCTION.format(source=program.source, type=kind, body=program.body, linkage=linkage)
        function.write_text(text, encoding="utf-8")
        flags = [*chip.flags, *FLAGS, *program.flags]
        linking = ["-lm", "-o", str(elf)]
        if chip.script:
            Path(folder, "chip.ld").write_text(chip.script, encoding="utf-8")
            linking += ["-T", str(Path(folder, "chip.ld"))]
        objects: list[Path] = []
        for source in (main, function):
            objects.append(source.with_suffix(".o"))
            cpp = source.suffix == ".cpp"
            run([compiler(chip, cpp), *flags, *(CPP_FLAGS if cpp else ()), "-c", source, "-o", objects[-1]])
        run([compiler(chip), *flags, *objects, *linking])
        return read_elf(elf)


def read_elf(path: Path) -> Image:
    """Sizes as the program ``size`` gives them: flash is text and data, RAM data and bss."""
    elf = module("elftools.elf.elffile")
    with path.open("rb") as file:
        found = elf.ELFFile(file)
        flash = ram = 0
        for section in found.iter_sections():
            kind, flags = section["sh_type"], section["sh_flags"]
            if not flags & 2:  # not in memory
                continue
            loaded, writable = kind != "SHT_NOBITS", bool(flags & 1)
            flash += section["sh_size"] if loaded else 0
            ram += section["sh_size"] if writable else 0
        table = found.get_section_by_name(".symtab")
        symbols = {symbol.name: symbol["st_value"] for symbol in table.iter_symbols()}
        pieces = tuple(
            (segment["p_paddr"], segment["p_vaddr"], segment.data())
            for segment in found.iter_segments()
            if segment["p_type"] == "PT_LOAD" and segment["p_filesz"]
        )
    return Image(flash, ram, symbols, pieces)
