"""``smallearn doctor``: what is installed, what for, and whether it works."""

import argparse
import os
import platform
import shutil
import time
from importlib import metadata, util
from pathlib import Path
from typing import Any

from smallearn._version import __version__
from smallearn.cli.arguments import add_command, add_talk
from smallearn.cli.common import PROBLEM, print_json
from smallearn.cli.terminal import heading

EXAMPLES = """\
smallearn doctor
smallearn doctor --json
"""
CORE = ("numpy", "scipy", "scikit-learn", "numba")
# The modules of each extra, and what it is for.
EXTRAS = {
    "cli": (("pandas", "pyarrow", "shtab"), "tables from files, completion in shells"),
    "plot": (("matplotlib",), "pictures"),
    "report": (("jinja2", "matplotlib"), "reports"),
    "paper": (("pandas", "scikit_posthocs", "matplotlib"), "smallearn paper"),
    "onnx": (("onnx", "skl2onnx"), "export to ONNX"),
    "devices": (("elftools", "unicorn"), "measuring on chips"),
}
TOOLS = {
    "gcc": "compiling exported C; the simulator of the ATmega",
    "avr-gcc": "bytes and cycles on the ATmega328P",
    "arm-none-eabi-gcc": "bytes and instructions on Cortex-M",
    "node": "running exported JavaScript",
    "rustc": "compiling exported Rust",
    "psql": "running exported SQL on PostgreSQL",
}
HEADERS = {"simavr": ("simavr/sim_avr.h", "cycles on the ATmega328P")}


def add(commands) -> None:
    """The command's arguments."""
    parser = add_command(
        commands,
        "doctor",
        "what is installed, what for, and whether it works",
        "Tell the versions in use, which extras and tools are there and what each is needed for, and try a small\n"
        "fit and its predictions. The exit code is 0 if the core works; extras and tools may be missing.",
        EXAMPLES,
    )
    add_talk(parser)
    parser.set_defaults(run=run)


def run(given: argparse.Namespace) -> int:
    """Look, try, tell."""
    found: dict[str, Any] = {
        "smallearn": __version__,
        "python": platform.python_version(),
        "platform": platform.platform(),
        "packages": {name: _version(name) for name in CORE},
        "extras": {name: [module for module in modules if not _has(module)] for name, (modules, _) in EXTRAS.items()},
        "tools": {name: shutil.which(name) for name in TOOLS}
        | {name: _header(path) for name, (path, _) in HEADERS.items()},
        "test": _try_a_fit(given.quiet),
    }
    if given.json:
        print_json(found)
    else:
        print(_in_words(found))
    return 0 if found["test"]["works"] else PROBLEM


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _has(module: str) -> bool:
    return util.find_spec(module) is not None


def _header(name: str) -> str | None:
    """Where a library's header is, among the usual places."""
    places = (Path(folder, name) for folder in ("/usr/include", "/usr/local/include", "/opt/homebrew/include"))
    return next((str(place) for place in places if place.is_file()), None)


def _try_a_fit(quiet: bool) -> dict[str, Any]:
    """Train and predict on twenty rows; kernels are compiled if they were not before."""
    begin = time.perf_counter()
    try:
        import numpy as np

        from smallearn import SMaLLClassifier

        X = np.arange(20.0)[:, None]
        y = (X[:, 0] > 9).astype(int)
        model = SMaLLClassifier(1, 1, verbose=-1 if quiet else 0).fit(X, y).model_
        problem = None if (model.predict(X) == y).all() else "the predictions are wrong"
    except Exception as failure:  # whatever is broken is what this command is to tell
        problem = f"{type(failure).__name__}: {failure}"
    seconds = time.perf_counter() - begin
    return {"works": problem is None, "problem": problem, "seconds": round(seconds, 2), "cache": _cache()}


def _cache() -> dict[str, Any]:
    """Where numba keeps compiled kernels, and whether it can."""
    import smallearn

    chosen = os.environ.get("NUMBA_CACHE_DIR")
    folder = Path(chosen) if chosen else Path(smallearn.__file__).parent / "__pycache__"
    nearest = next(place for place in (folder, *folder.parents) if place.exists())
    return {"folder": str(folder), "writable": nearest.is_dir() and os.access(nearest, os.W_OK)}


def _in_words(found: dict[str, Any]) -> str:
    lines = [heading(f"smallearn {found['smallearn']}, Python {found['python']}, {found['platform']}")]
    lines += [
        f"  {name:<18} {version or 'MISSING: pip install smallearn'}" for name, version in found["packages"].items()
    ]
    lines.append(heading("\nExtras"))
    for name, lacking in found["extras"].items():
        state = f"lacks {', '.join(lacking)}: pip install 'smallearn[{name}]'" if lacking else "installed"
        lines.append(f"  {name:<18} {state} ({EXTRAS[name][1]})")
    lines.append(heading("\nTools"))
    for name, path in found["tools"].items():
        purpose = TOOLS[name] if name in TOOLS else HEADERS[name][1]
        lines.append(f"  {name:<18} {path or 'not found'} ({purpose})")
    lines.append(heading("\nTest"))
    test, cache = found["test"], found["test"]["cache"]
    state = "works" if test["works"] else f"FAILED: {test['problem']}"
    lines.append(f"  fit and predict    {state}, {test['seconds']:.1f} s")
    kept = "kept in" if cache["writable"] else "not kept; set NUMBA_CACHE_DIR to a folder that can be written, not"
    lines.append(f"  compiled kernels   {kept} {cache['folder']}")
    return "\n".join(lines)
