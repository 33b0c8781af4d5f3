"""Small C programs for a chip: written, compiled, linked, and their sizes read. Nothing is run here.

Everything that is measured is one function in the same program, so that costs can be compared. The function has a file
of its own, so that the compiler cannot inline the call.
"""

import functools
import importlib
import os
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from smallearn._run.files import scratch_folder
from smallearn.devices._chips import Chip, architecture_of

SECONDS = 120  # time limit of a compiler or a simulator
FLAGS = ("-Os", "-ffunction-sections", "-fdata-sections", "-Wl,--gc-sections")
CPP_FLAGS = ("-fno-exceptions", "-fno-rtti", "-fno-threadsafe-statics")  # as Arduino compiles
TYPES = {"float32": "float", "float64": "double"} | {
    f"{sign}int{bits}": f"{sign}int{bits}_t" for sign in ("", "u") for bits in (8, 16, 32)
}
TOO_LARGE = ("will not fit in region", "overflowed by", "relocation truncated")  # what the linker says then
EXTRA = "pip install 'smallearn[devices]'"

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
    """A compiler, a simulator or a package is missing or failed.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from smallearn import SMaLLClassifier
    >>> from smallearn.devices import ToolchainError, cost
    >>> clf = SMaLLClassifier(1, 2, random_state=0).fit(*load_breast_cancer(return_X_y=True))
    >>> try:
    ...     found = cost(clf, "atmega328p", method="measure")
    ... except ToolchainError:
    ...     found = cost(clf, "atmega328p", method="estimate")
    >>> found.flash < 200
    True
    """


class TooLargeError(ToolchainError):
    """The program does not fit the chip."""


@dataclass(frozen=True)
class Program:
    """A function to measure.

    ``source`` defines what ``body`` calls: statements that return the class of ``x``, an array of ``n_inputs`` numbers
    of type ``number``. ``flags`` are further options of the compiler, ``cpp`` is for C++.
    """

    source: str
    body: str
    number: str
    n_inputs: int
    flags: tuple[str, ...] = ()
    cpp: bool = False


@dataclass(frozen=True)
class Call:
    """One call of a program's function.

    ``answer`` is the class, ``count`` what the simulator counts, ``cycles`` the time (an estimate if instructions are
    counted), ``stack`` the bytes of stack used.
    """

    answer: int
    count: int
    cycles: int
    stack: int


@dataclass(frozen=True)
class Image:
    """A linked program.

    ``flash`` is its size there (code, constants and initial values of variables), ``ram`` that of its variables,
    ``pieces`` what is loaded: address in flash, address at run time, bytes.
    """

    flash: int
    ram: int
    symbols: dict[str, int]
    pieces: tuple[tuple[int, int, bytes], ...]


def compiler(chip: Chip, cpp: bool = False) -> str:
    """The path of the cross compiler."""
    name = f"{chip.prefix}{'g++' if cpp else 'gcc'}"
    path = shutil.which(name)
    if path is None:
        raise ToolchainError(f"{name} is not installed (Debian: {architecture_of(chip).packages}).")
    return path


def module(name: str) -> ModuleType:
    """A module of the extra ``devices``."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise ToolchainError(f"The package {name.split('.')[0]} cannot be imported ({error}): {EXTRA}.") from None


def run(command: Sequence[str | Path], standard_input: bytes = b"") -> bytes:
    """What a command prints. The message of an error has the first lines of its standard error."""
    environment = {**os.environ, "LC_ALL": "C"}
    name = Path(command[0]).name
    try:
        done = subprocess.run(
            command, input=standard_input, capture_output=True, timeout=SECONDS, env=environment, check=False
        )
    except subprocess.TimeoutExpired:
        raise ToolchainError(f"{name} did not end within {SECONDS} s.") from None
    except OSError as error:
        raise ToolchainError(f"{name} cannot be run: {error}.") from None
    if done.returncode:
        message = "\n".join(done.stderr.decode(errors="replace").splitlines()[:12])
        raise ToolchainError(f"{name} failed with code {done.returncode}:\n{message}")
    return done.stdout


def build(program: Program, chip: Chip) -> Image:
    """Compile and link, in a temporary folder."""
    kind = TYPES[program.number]
    width = max(program.n_inputs, 1)  # C has no empty arrays
    linkage = 'extern "C" ' if program.cpp else ""
    text = FUNCTION.format(source=program.source, type=kind, body=program.body, linkage=linkage)
    main = _compiled(chip, MAIN.format(type=kind, width=width), program.flags)
    with scratch_folder() as folder:
        paths = [folder / name for name in ("main.o", "function.o", "chip.ld", "program.elf")]
        contents = (main, _object(chip, text, program.flags, program.cpp), chip.script.encode())
        for path, content in zip(paths, contents, strict=False):
            path.write_bytes(content)
        script = ["-T", str(paths[2])] if chip.script else []
        flags = [*chip.flags, *FLAGS, *program.flags]
        try:
            run([compiler(chip), *flags, *paths[:2], "-lm", "-o", paths[3], *script])
        except ToolchainError as error:
            if any(said in str(error) for said in TOO_LARGE):
                raise TooLargeError(f"the program does not fit the flash of {chip.name}") from None
            raise
        return read_elf(paths[3])


def _object(chip: Chip, text: str, flags: tuple[str, ...], cpp: bool = False) -> bytes:
    """The object file of a source file."""
    with scratch_folder() as folder:
        source, compiled = folder / ("source.cpp" if cpp else "source.c"), folder / "source.o"
        source.write_text(text, encoding="utf-8")
        options = [*chip.flags, *FLAGS, *flags, *(CPP_FLAGS if cpp else ())]
        run([compiler(chip, cpp), *options, "-c", source, "-o", compiled])
        return compiled.read_bytes()


_compiled = functools.lru_cache(maxsize=256)(_object)  # the loop around the function is the same for many models


def read_elf(path: Path) -> Image:
    """A linked program, its sizes as the program ``size`` gives them: flash is text and data, RAM is data and bss."""
    with path.open("rb") as file:
        elf = module("elftools.elf.elffile").ELFFile(file)
        flash = ram = 0
        for section in elf.iter_sections():
            kind, flags = section["sh_type"], section["sh_flags"]
            if not flags & 2:  # takes no memory
                continue
            loaded, writable = kind != "SHT_NOBITS", bool(flags & 1)
            flash += section["sh_size"] if loaded else 0
            ram += section["sh_size"] if writable else 0
        table = elf.get_section_by_name(".symtab")
        symbols = {symbol.name: symbol["st_value"] for symbol in table.iter_symbols()}
        pieces = tuple(
            (segment["p_paddr"], segment["p_vaddr"], segment.data())
            for segment in elf.iter_segments()
            if segment["p_type"] == "PT_LOAD" and segment["p_filesz"]
        )
    return Image(flash=flash, ram=ram, symbols=symbols, pieces=pieces)
