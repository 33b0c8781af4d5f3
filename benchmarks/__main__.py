"""``python -m benchmarks [NAME …]``: run all or some of the parts below."""

import sys

from benchmarks import certificates, fits, passes, prediction, selection, solvers, startup

PARTS = {
    "solvers": solvers.main,
    "fits": fits.main,
    "passes": passes.main,
    "certificates": certificates.main,
    "selection": selection.main,
    "prediction": prediction.main,
    "startup": startup.main,
}


def main(names: list[str]) -> None:
    """Run the benchmarks with these names, by default all."""
    unknown = [name for name in names if name not in PARTS]
    if unknown:
        sys.exit(f"Unknown benchmark {', '.join(unknown)}; choose from {', '.join(PARTS)}.")
    for name in names or PARTS:
        PARTS[name]()


if __name__ == "__main__":
    main(sys.argv[1:])
