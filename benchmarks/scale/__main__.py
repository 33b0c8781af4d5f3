"""``make bench-scale``: how seconds and memory grow with rows, columns, terms and classes.

Cells that are missing are run, on two cores, each in a process of its own; the table, the figure and the verdicts
follow. A fit is stopped after --limit CPU seconds, and larger ones of the same method are left out. The command can be
interrupted and resumed.
"""

import argparse
import sys
from pathlib import Path

from benchmarks.scale import report, run, verdicts
from benchmarks.scale.cells import AXES, DIGITS, QUICK_AXES, REAL_SETS, real_cell
from benchmarks.scale.data import path_of
from benchmarks.scale.methods import METHODS


def parse(argv: list[str]) -> argparse.Namespace:
    """The arguments of the command."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scale", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small sizes and a limit of 5 s, in two minutes")
    parser.add_argument("--data", type=Path, metavar="FOLDER", help=f"real sets instead: {', '.join(REAL_SETS)}")
    parser.add_argument("--methods", type=names, default=list(METHODS), help=f"default: {','.join(METHODS)}")
    parser.add_argument("--limit", type=float, help="CPU seconds that a fit may take (default: 600)")
    parser.add_argument("--cores", type=int, default=2, help="cores that a fit may use (default: 2)")
    parser.add_argument("--output", type=Path, default=Path("benchmarks/results/scale"), help="folder for the results")
    parser.add_argument("--again", type=names, default=[], help="methods whose earlier results are discarded first")
    parser.add_argument("--report", action="store_true", help="run nothing, only print and draw what there is")
    return parser.parse_args(argv)


def names(text: str) -> list[str]:
    """Methods separated by commas."""
    found = [name.strip() for name in text.split(",") if name.strip()]
    unknown = [name for name in found if name not in METHODS]
    if unknown:
        raise argparse.ArgumentTypeError(f"unknown {', '.join(unknown)}; choose from {', '.join(METHODS)}")
    return found


def main(argv: list[str]) -> None:
    """Run the command."""
    arguments = parse(argv)
    axes = QUICK_AXES if arguments.quick else AXES
    if arguments.data is not None:
        check(arguments.data)
        cells = [real_cell(name, one, METHODS[one].bounded) for name in REAL_SETS for one in arguments.methods]
    else:
        sizes = [(axis, size) for axis in axes for size in axis.sizes]
        cells = [axis.cell(size, one, METHODS[one].bounded) for axis, size in sizes for one in arguments.methods]
    results = run.scores(arguments.output)
    if arguments.again:
        results.forget("method", arguments.again)
    limit = arguments.limit or (5.0 if arguments.quick else 600.0)
    settings = run.Settings(folder=arguments.data, limit=limit, cores=arguments.cores)
    failures = [] if arguments.report else run.run(cells, results, settings)
    found = report.Results(results.read())
    if arguments.data is not None:
        print("\n".join(report.real_table(found, arguments.methods)))
        verdicts.real_verdicts(found)
    else:
        figure = arguments.output / "scale.svg"
        print("\n".join(report.made_table(found, axes, arguments.methods)))
        report.draw(found, axes, arguments.methods, figure)
        print(f"Figure: {figure}")
        if not arguments.quick:
            verdicts.made_verdicts(found)
    if failures:
        sys.exit(f"{len(failures)} fits failed; run the command again to retry them:\n  " + "\n  ".join(failures))


def check(folder: Path) -> None:
    """Exit with a message if a real set is missing."""
    try:
        for name in REAL_SETS:
            if name != DIGITS:
                path_of(folder, name)
    except FileNotFoundError as error:
        sys.exit(f"--data {folder}: {error}")


if __name__ == "__main__":
    main(sys.argv[1:])
