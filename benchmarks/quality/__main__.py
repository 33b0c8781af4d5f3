"""``make bench-quality DATA=folder``: run the trials that are missing, then write the tables and the plot.

By default: 32 data sets; 3, 6, 10 and 16 terms; three splits, or five below 500 rows. Use ``--again smallearn`` after a
change of the library, ``--report`` to write the tables from existing results.
"""

import argparse
import sys
from collections.abc import Collection, Iterable
from pathlib import Path

from benchmarks.quality import data, report, rivals, run


def parse(argv: list[str]) -> argparse.Namespace:
    """The arguments of the command."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.quality", description=__doc__)
    parser.add_argument("data", type=Path, metavar="DATA", help="folder with MANIFEST.csv and the files it lists")
    parser.add_argument("--sets", type=names, help="data sets, separated by commas (default: a selection of 32)")
    parser.add_argument("--full", action="store_true", help="all suitable data sets of the folder, 10 splits")
    parser.add_argument(
        "--methods", type=names, default=list(rivals.METHODS), help=f"methods (default: {', '.join(rivals.METHODS)})"
    )
    parser.add_argument(
        "--terms", type=names, default=["3", "6", "10", "16"], help="numbers of terms (default: 3,6,10,16)"
    )
    parser.add_argument("--splits", type=int, help="number of splits (default: 3, or 5 below 500 rows)")
    parser.add_argument("--jobs", type=int, default=1, help="number of processes, each on one thread (default: 1)")
    parser.add_argument(
        "--output", type=Path, default=Path("benchmarks/results/quality"), help="folder for the results"
    )
    parser.add_argument("--again", type=names, default=[], help="methods whose earlier results are discarded first")
    parser.add_argument("--report", action="store_true", help="run no trials, only write the tables and the plot")
    return parser.parse_args(argv)


def names(text: str) -> list[str]:
    """Names separated by commas."""
    return [name.strip() for name in text.split(",") if name.strip()]


def plan_of(arguments: argparse.Namespace) -> run.Plan:
    """The trials that the arguments ask for."""
    entries = data.manifest(arguments.data)
    default = [name for name, entry in entries.items() if entry.suitable] if arguments.full else data.SETS
    sets = arguments.sets or default
    check_names("data set", sets, entries)
    check_names("method", [*arguments.methods, *arguments.again], rivals.METHODS)
    if not all(text.isdigit() and int(text) > 0 for text in arguments.terms):
        sys.exit(f"--terms {','.join(arguments.terms)}: give positive whole numbers, for example --terms 3,6,10,16.")
    return run.Plan(
        folder=arguments.data,
        entries=tuple(entries[name] for name in sets),
        methods=tuple(arguments.methods),
        terms=tuple(sorted({int(text) for text in arguments.terms})),
        splits=arguments.splits or (10 if arguments.full else None),
    )


def check_names(kind: str, names: Iterable[str], known: Collection[str]) -> None:
    """Exit with a message if a name is unknown."""
    unknown = [name for name in names if name not in known]
    if unknown:
        sys.exit(f"Unknown {kind} {', '.join(unknown)}; choose from {', '.join(known)}.")


def main(argv: list[str]) -> None:
    """Run the command."""
    arguments = parse(argv)
    plan = plan_of(arguments)
    results = run.scores(arguments.output)
    if arguments.again:
        results.forget("method", arguments.again)
    failures = [] if arguments.report else run.run(plan, results, arguments.jobs)
    print(report.write(plan, results.read(), arguments.output))
    if failures:
        sys.exit(f"{len(failures)} fits failed; run the command again to retry them:\n  " + "\n  ".join(failures))


if __name__ == "__main__":
    main(sys.argv[1:])
