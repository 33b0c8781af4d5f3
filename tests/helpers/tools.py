"""Compilers, interpreters and databases that tests run exports with. One that is missing skips the test and says what
to install; where SMALLEARN_REQUIRE_TOOLS is set, as in CI, it fails instead."""

import glob
import importlib
import os
import shutil

import pytest

DEBIAN = {
    "gcc": "gcc",
    "g++": "g++",
    **dict.fromkeys(("avr-gcc", "avr-g++"), "gcc-avr avr-libc"),
    **dict.fromkeys(("avr-nm", "avr-ar", "avr-size"), "binutils-avr"),
    "arm-none-eabi-nm": "binutils-arm-none-eabi",
    "arm-none-eabi-gcc": "gcc-arm-none-eabi libnewlib-arm-none-eabi",
    "node": "nodejs",
    "npm": "npm",
    "rustc": "rustc",
    "initdb": "postgresql",
    "chromium": "chromium",
}


def need(program: str) -> str:
    """The path of a program."""
    beside = glob.glob("/usr/lib/postgresql/*/bin")  # where Debian keeps the server's programs
    found = shutil.which(program) or shutil.which(program, path=os.pathsep.join(beside))
    if found is None:
        missing(f"{program} is not installed (Debian: {DEBIAN.get(program, program)})")
    return found


def need_module(name: str):
    """A module of an extra."""
    try:
        return importlib.import_module(name)
    except ImportError as problem:
        missing(f"{name} cannot be imported ({problem}): pip install '.[test]'")


def missing(what: str) -> None:
    """Skip, or fail where everything must be there."""
    if os.environ.get("SMALLEARN_REQUIRE_TOOLS"):
        pytest.fail(what)
    pytest.skip(what)
