"""Compilers, interpreters, databases and the browser that tests run.

A test that needs one is marked ``tools``, or ``browser`` for Chromium: `need` fails in a test without the mark, so that
``make test`` never depends on a program. In a marked test, a missing program skips the test and says what to install;
where SMALLEARN_REQUIRE_TOOLS is set, as in CI, the test fails instead.
"""

import glob
import importlib
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

from smallearn.devices import CHIPS, available

# For @pytest.mark.parametrize and pytest.fixture(params=…): every chip that is not like another, with the mark.
MARKED_CHIPS = [pytest.param(name, marks=pytest.mark.tools) for name, chip in CHIPS.items() if not chip.like]
DEBIAN = {
    "gcc": "gcc",
    "g++": "g++",
    **dict.fromkeys(("avr-gcc", "avr-g++"), "gcc-avr avr-libc"),
    **dict.fromkeys(("avr-nm", "avr-ar", "avr-size"), "binutils-avr"),
    "arm-none-eabi-nm": "binutils-arm-none-eabi",
    "riscv64-unknown-elf-nm": "binutils-riscv64-unknown-elf",
    "arm-none-eabi-gcc": "gcc-arm-none-eabi libnewlib-arm-none-eabi",
    "riscv64-unknown-elf-gcc": "gcc-riscv64-unknown-elf picolibc-riscv64-unknown-elf",
    "node": "nodejs",
    "npm": "npm",
    "rustc": "rustc",
    "lua5.4": "lua5.4",
    "initdb": "postgresql",
    **dict.fromkeys(("mariadbd", "mariadb-install-db"), "mariadb-server"),
    "mariadb": "mariadb-client",
    "java": "default-jre-headless",
    "chromium": "chromium",
}

# The marks of the test that is running, kept up to date by conftest.py.
marks: set[str] = set()


def need(program: str) -> str:
    """Return the path of a program."""
    require_mark(program)
    postgresql = glob.glob("/usr/lib/postgresql/*/bin")  # Debian keeps the server's programs off the PATH
    path = shutil.which(program) or shutil.which(program, path=os.pathsep.join(postgresql))
    if path is None:
        missing(f"{program} is not installed (Debian: {DEBIAN.get(program, program)})")
    return path


def need_chip(name: str) -> None:
    """Require the compiler and the simulator of a chip."""
    require_mark(f"the compiler for {name}")
    reason = available(name)
    if reason is not None:
        missing(reason)


def need_package(package: str) -> Path:
    """Return the folder of a package for node, ``name@version``, installed by npm once in a folder of its own."""
    need("node")
    npm = need("npm")
    cache = Path(os.environ.get("SMALLEARN_TOOLS") or Path.home() / ".cache" / "smallearn-tools")
    folder = cache / package.replace("/", "_")
    if not folder.exists():
        cache.mkdir(parents=True, exist_ok=True)
        draft = tempfile.mkdtemp(dir=cache)  # and renamed when complete: several tests may want it at once
        command = [npm, "install", "--no-audit", "--no-fund", "--prefix", draft, package]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            shutil.rmtree(draft)
            missing(f"npm cannot install {package}: {done.stderr[-300:]}")
        try:
            os.rename(draft, folder)
        except OSError:  # another was faster
            shutil.rmtree(draft)
    return folder / "node_modules" / package.rpartition("@")[0]


def require_mark(program: str) -> None:
    """Fail unless the running test is marked as one that needs programs."""
    mark = "browser" if program == "chromium" else "tools"
    if mark not in marks:
        pytest.fail(f"this test needs {program}: mark it with @pytest.mark.{mark}")


def need_module(name: str):
    """Import a module that the dependency group ``test`` installs."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        missing(f"{name} cannot be imported ({error}): pip install . --group test")


def missing(reason: str) -> None:
    """Skip the test, or fail it where everything must be installed."""
    if os.environ.get("SMALLEARN_REQUIRE_TOOLS"):
        pytest.fail(reason)
    pytest.skip(reason)
