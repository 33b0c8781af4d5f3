"""``python -m benchmarks``: run them all, or those named (solvers, fits, certificates, selection, startup)."""

import sys

from benchmarks import certificates, fits, selection, solvers, startup

PARTS = {
    "solvers": solvers.main,
    "fits": fits.main,
    "certificates": certificates.main,
    "selection": selection.main,
    "startup": startup.main,
}


def main(names: list[str]) -> None:
    """Run the parts named, by default all."""
    unknown = [name for name in names if name not in PARTS]
    if unknown:
        sys.exit(f"No benchmark called {', '.join(unknown)}; there are {', '.join(PARTS)}.")
    for name in names or PARTS:
        PARTS[name]()


if __name__ == "__main__":
    main(sys.argv[1:])
