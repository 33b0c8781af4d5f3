"""``smallearn doctor``: what is installed, what it is for, and whether it works."""

import argparse
import os
import platform
import shutil
import time
from importlib import metadata, util
from pathlib import Path
from typing import Any

from smallearn._version import __version__
from smallearn.cli.arguments import add_command, add_printing
from smallearn.cli.console import Console, heading
from smallearn.cli.errors import ExitCode
from smallearn.cli.io.files import print_json

DESCRIPTION = """\
Print the versions in use, which extras and tools are installed and what each is needed for, and try a small fit. The
exit code is 0 if the fit works; extras and tools may be missing.
"""
EXAMPLES = """\
smallearn doctor
smallearn doctor --json
smallearn doctor --quiet
"""
CORE = ("numpy", "scipy", "scikit-learn", "numba")
# The modules of each extra, and its purpose.
EXTRAS = {
    "cli": (("pandas", "pyarrow", "shtab"), "tables from files, completion in shells"),
    "plot": (("matplotlib",), "plots"),
    "report": (("jinja2",), "reports"),
    "app": (("starlette", "uvicorn", "pandas", "jinja2"), "smallearn app"),
    "paper": (("pandas", "scikit_posthocs", "matplotlib"), "smallearn paper"),
    "onnx": (("onnx", "skl2onnx"), "export to ONNX"),
    "devices": (("elftools", "unicorn"), "measuring on chips"),
    "dask": (("dask", "distributed"), "training on a cluster"),
    "excel": (("openpyxl",), "Excel files, in and out"),
}
TOOLS = {
    "gcc": "compiling exported C; simulating ATmega and ATtiny",
    "avr-gcc": "bytes and cycles on ATmega and ATtiny",
    "arm-none-eabi-gcc": "bytes and instructions on Cortex-M, RP2040",
    "riscv64-unknown-elf-gcc": "bytes and instructions on ESP32-C3",
    "node": "running exported JavaScript",
    "lua5.4": "running exported Lua",
    "rustc": "compiling exported Rust",
    "psql": "running exported SQL on PostgreSQL",
    "mariadb": "running exported SQL on MariaDB",
    "java": "running exported SQL on Spark",
}
HEADERS = {"simavr": ("simavr/sim_avr.h", "cycles on ATmega and ATtiny")}


def add(commands) -> argparse.ArgumentParser:
    """Add the command's parser."""
    parser = add_command(
        commands,
        "doctor",
        summary="what is installed, what it is for, and whether it works",
        description=DESCRIPTION,
        examples=EXAMPLES,
    )
    add_printing(parser)
    return parser


def run(arguments: argparse.Namespace, console: Console) -> int:
    """Look, try, print."""
    tools = {name: shutil.which(name) for name in TOOLS}
    headers = {name: _header(path) for name, (path, _) in HEADERS.items()}
    facts: dict[str, Any] = {
        "smallearn": __version__,
        "python": platform.python_version(),
        "platform": platform.platform(),
        "packages": {name: _version(name) for name in CORE},
        "extras": {name: [module for module in modules if not _has(module)] for name, (modules, _) in EXTRAS.items()},
        "tools": tools | headers,
        "test": _try_fit(console),
    }
    if arguments.json:
        print_json(facts)
    else:
        print(_as_text(facts))
    return ExitCode.DONE if facts["test"]["works"] else ExitCode.FAILED


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _has(module: str) -> bool:
    return util.find_spec(module) is not None


def _header(name: str) -> str | None:
    """Where a library's header file is, among the usual places."""
    places = (Path(folder, name) for folder in ("/usr/include", "/usr/local/include", "/opt/homebrew/include"))
    return next((str(place) for place in places if place.is_file()), None)


def _try_fit(console: Console) -> dict[str, Any]:
    """Train and predict on twenty rows, which compiles the kernels if that was not done before."""
    begin = time.perf_counter()
    try:
        import numpy as np

        from smallearn import SMaLLClassifier

        X = np.arange(20.0)[:, None]
        y = (X[:, 0] > 9).astype(int)
        model = SMaLLClassifier(1, 1, verbose=console.verbose).fit(X, y).model_
        problem = None if (model.predict(X) == y).all() else "the predictions are wrong"
    except Exception as error:  # whatever is broken, this command is to report it
        problem = f"{type(error).__name__}: {error}"
    seconds = time.perf_counter() - begin
    return {"works": problem is None, "problem": problem, "seconds": round(seconds, 2), "cache": _cache()}


def _cache() -> dict[str, Any]:
    """Where numba stores compiled kernels, and whether it can."""
    import smallearn

    chosen = os.environ.get("NUMBA_CACHE_DIR")
    folder = Path(chosen) if chosen else Path(smallearn.__file__).parent / "__pycache__"
    nearest = next(place for place in (folder, *folder.parents) if place.exists())
    return {"folder": str(folder), "writable": nearest.is_dir() and os.access(nearest, os.W_OK)}


def _as_text(facts: dict[str, Any]) -> str:
    lines = [heading(f"smallearn {facts['smallearn']}, Python {facts['python']}, {facts['platform']}")]
    for name, version in facts["packages"].items():
        lines.append(f"  {name:<18} {version or 'MISSING: pip install smallearn'}")
    lines.append(heading("\nExtras"))
    for name, lacking in facts["extras"].items():
        state = f"lacks {', '.join(lacking)}: pip install 'smallearn[{name}]'" if lacking else "installed"
        lines.append(f"  {name:<18} {state} ({EXTRAS[name][1]})")
    lines.append(heading("\nTools"))
    for name, path in facts["tools"].items():
        purpose = TOOLS[name] if name in TOOLS else HEADERS[name][1]
        lines.append(f"  {name:<18} {path or 'not found'} ({purpose})")
    lines.append(heading("\nTest"))
    test, cache = facts["test"], facts["test"]["cache"]
    state = "works" if test["works"] else f"FAILED: {test['problem']}"
    lines.append(f"  fit and predict    {state}, {test['seconds']:.1f} s")
    where = f"stored in {cache['folder']}"
    if not cache["writable"]:
        where = f"not stored: {cache['folder']} is not writable; set NUMBA_CACHE_DIR to a folder that is"
    lines.append(f"  compiled kernels   {where}")
    return "\n".join(lines)
