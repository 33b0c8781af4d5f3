"""Installs each extra alone in an empty environment and imports what it is for: `make extras`."""

import os
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# Every package of the extra can be imported, and with it the rooms that need it.
ROOMS = {
    "app": "smallearn.cli.app.serve",
    "cli": "smallearn.cli",
    "dask": "smallearn.dask",
    "devices": "smallearn.devices",
    "onnx": "smallearn.export",
    "paper": "smallearn.paper.experiments",
    "plot": "smallearn.plot",
    "report": "smallearn.report",
}
CHECK = """
import importlib, sys
from smallearn.cli.commands.doctor import EXTRAS
extra, room = sys.argv[1:]
for name in EXTRAS if extra == "all" else [extra]:
    for module in EXTRAS[name][0]:
        importlib.import_module(module)
importlib.import_module(room)
"""


def run(*command: str | Path) -> None:
    """Run a command; its output is shown if it fails."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(command, cwd=tempfile.gettempdir(), env=environment, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))} failed:\n{done.stdout}{done.stderr}")


def main() -> None:
    """Every extra, or those that are named."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    for extra in sys.argv[1:] or project["optional-dependencies"]:
        with tempfile.TemporaryDirectory() as folder:
            run(sys.executable, "-m", "venv", "--without-pip", folder)
            python = Path(folder, "Scripts" if os.name == "nt" else "bin", "python")
            run(sys.executable, "-m", "uv", "pip", "install", "--python", python, f"{ROOT}[{extra}]")
            run(python, "-c", CHECK, extra, ROOMS.get(extra, "smallearn"))
        print(f"{extra}: installs alone, and its packages are there", flush=True)


if __name__ == "__main__":
    main()
