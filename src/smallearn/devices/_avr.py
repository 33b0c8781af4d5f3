"""ATmega programs run on simavr, by a small host in C that is compiled on first use and kept."""

import functools
import os
import shutil
import tempfile
from importlib.resources import files
from pathlib import Path

import numpy as np

from smallearn._run.hashing import hex_digest
from smallearn.devices._chips import Chip
from smallearn.devices._toolchain import Call, Image, ToolchainError, run

DATA = 0x800000  # where avr-gcc puts RAM in its one space of addresses
MOST_CYCLES = 5_000_000  # of a call: 0.3 s on the chip


def simulate(image: Image, chip: Chip, rows: np.ndarray) -> list[Call]:
    """Call the function once for each row, on the simulated chip."""
    rows = rows.astype(np.float32) if rows.dtype == np.float64 else rows  # double has 32 bits in avr-gcc
    flash = bytearray(image.flash)
    for address, _, data in image.pieces:
        flash[address : address + len(data)] = data
    command = [
        str(host()),
        chip.name,
        *map(
            str,
            (
                chip.clock,
                len(flash),
                image.symbols["smallearn_call"],
                image.symbols["smallearn_x"] - DATA,
                image.symbols["_end"] - DATA,
                rows.shape[1] * rows.itemsize,
                len(rows),
                MOST_CYCLES,
            ),
        ),
    ]
    calls = []
    for line in run(command, bytes(flash) + rows.tobytes()).splitlines():
        answer, cycles, stack = map(int, line.split())
        calls.append(Call(answer, cycles, cycles, stack))
    return calls


@functools.lru_cache(maxsize=1)
def host() -> Path:
    """The compiled host: from the cache, or made now."""
    source = files(__package__).joinpath("simavr_host.c").read_bytes()
    kept = _folder() / f"simavr-host-{hex_digest(source, 16)}"
    if os.access(kept, os.X_OK):
        return kept
    compiler = shutil.which("gcc")
    if compiler is None:
        raise ToolchainError("gcc is not installed (Debian: gcc libc6-dev libsimavr-dev).")
    with tempfile.TemporaryDirectory(prefix="smallearn-", dir=kept.parent) as folder:
        text, made = Path(folder, "host.c"), Path(folder, "host")
        text.write_bytes(source)
        try:
            run([compiler, "-O2", text, "-o", made, "-lsimavr"])
        except ToolchainError as problem:
            raise ToolchainError(f"simavr cannot be used (Debian: libsimavr-dev): {problem}") from None
        made.replace(kept)  # whole or not at all, should two processes make it
    return kept


def _folder() -> Path:
    """Where the host is kept: the user's cache, or a folder that is removed when Python ends."""
    try:
        kept = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "smallearn")
        kept.mkdir(parents=True, exist_ok=True)
        if os.access(kept, os.W_OK):
            return kept
    except (OSError, RuntimeError):  # nobody's home, or not to be written to
        pass
    return Path(_temporary().name)


@functools.lru_cache(maxsize=1)
def _temporary() -> tempfile.TemporaryDirectory:
    return tempfile.TemporaryDirectory(prefix="smallearn-")
