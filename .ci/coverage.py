"""Fails unless enough lines and enough branches have run, kernels included: the end of `make test-all`.

coverage's own percentage counts both together, and has to be 97% as well (pyproject.toml).
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

REQUIRED = {"lines": 97.0, "branches": 94.0}  # percent; branches should reach 97, too


def percentages(totals: dict) -> dict[str, float]:
    """Of the lines and of the branches."""
    pairs = {
        "lines": (totals["covered_lines"], totals["num_statements"]),
        "branches": (totals["covered_branches"], totals["num_branches"]),
    }
    return {name: 100.0 * covered / total for name, (covered, total) in pairs.items()}


def main() -> None:
    """Read what `coverage run` left behind."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "coverage.json")
        subprocess.run([sys.executable, "-m", "coverage", "json", "-q", "--fail-under=0", "-o", file], check=True)
        found = percentages(json.loads(file.read_text(encoding="utf-8"))["totals"])
    for name, percent in found.items():
        print(f"{percent:.2f}% of the {name} (at least {REQUIRED[name]:g}%)")
    sys.exit(any(percent < REQUIRED[name] for name, percent in found.items()))


if __name__ == "__main__":
    main()
