"""AVR programs run on simavr, by a small program in C ("the host") that is compiled on first use and cached."""

import functools
import os
import shutil
import tempfile
from importlib.resources import files
from pathlib import Path

import numpy as np

from smallearn._run.files import scratch_folder
from smallearn._run.hashing import hex_digest
from smallearn.devices._chips import Chip
from smallearn.devices._toolchain import Call, Image, ToolchainError, run

DATA = 0x800000  # where RAM begins in avr-gcc's single address space
MOST_CYCLES = 5_000_000  # of one call: 0.3 s on the chip


def simulate(image: Image, chip: Chip, rows: np.ndarray) -> list[Call]:
    """Call the function once for each row, on the simulated chip."""
    rows = rows.astype(np.float32) if rows.dtype == np.float64 else rows  # double has 32 bits in avr-gcc
    flash = bytearray(image.flash)
    for address, _, data in image.pieces:
        flash[address : address + len(data)] = data
    numbers = (
        chip.clock,
        len(flash),
        image.symbols["smallearn_call"],
        image.symbols["smallearn_x"] - DATA,
        image.symbols["_end"] - DATA,
        rows.shape[1] * rows.itemsize,
        len(rows),
        MOST_CYCLES,
    )
    command = [str(host()), chip.cpu or chip.name, *map(str, numbers)]
    calls = []
    for line in run(command, bytes(flash) + rows.tobytes()).splitlines():
        answer, cycles, stack = map(int, line.split())
        calls.append(Call(answer=answer, count=cycles, cycles=cycles, stack=stack))
    return calls


def check() -> None:
    """Raise `ToolchainError` if the simulator is missing."""
    host()


@functools.lru_cache(maxsize=1)
def host() -> Path:
    """The compiled host: from the cache, or compiled now."""
    source = files(__package__).joinpath("simavr_host.c").read_bytes()
    cached = _folder() / f"simavr-host-{hex_digest(source, 16)}"
    if os.access(cached, os.X_OK):
        return cached
    compiler = shutil.which("gcc")
    if compiler is None:
        raise ToolchainError("gcc is not installed (Debian: gcc libc6-dev libsimavr-dev).")
    with scratch_folder(cached.parent) as folder:
        text, program = folder / "host.c", folder / "host"
        text.write_bytes(source)
        try:
            run([compiler, "-O2", text, "-o", program, "-lsimavr"])
        except ToolchainError as error:
            raise ToolchainError(f"simavr cannot be used (Debian: libsimavr-dev): {error}") from None
        program.replace(cached)  # atomic: two processes may compile it at once
    return cached


def _folder() -> Path:
    """Where the host is cached: the user's cache, or a folder that is removed when Python ends."""
    try:
        folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "smallearn")
        folder.mkdir(parents=True, exist_ok=True)
        if os.access(folder, os.W_OK):
            return folder
    except (OSError, RuntimeError):  # no home folder, or not writable
        pass
    return Path(_temporary().name)


@functools.lru_cache(maxsize=1)
def _temporary() -> tempfile.TemporaryDirectory:
    return tempfile.TemporaryDirectory(prefix="smallearn-")
