"""``make bench-quality DATA=folder``: run what is missing, then write the tables and the plot.

By default 32 data sets, 3, 6, 10 and 16 terms, and three splits (five below 500 rows). ``--again smallearn`` after a
change of the library; ``--report`` to write the tables of what there is.
"""

import argparse
import sys
from pathlib import Path

from benchmarks.quality import data, report, rivals, run


def arguments(argv: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.quality", description=__doc__)
    parser.add_argument("data", type=Path, metavar="DATA", help="folder with MANIFEST.csv and the files it lists")
    parser.add_argument("--sets", type=names, help="data sets, by comma (default: 32 of them)")
    parser.add_argument("--full", action="store_true", help="all suitable sets of the folder, 10 splits")
    parser.add_argument("--methods", type=names, default=list(rivals.METHODS), help=f"of {', '.join(rivals.METHODS)}")
    parser.add_argument("--terms", type=names, default=["3", "6", "10", "16"], help="numbers of terms (3,6,10,16)")
    parser.add_argument("--splits", type=int, help="splits of every set (3, or 5 below 500 rows)")
    parser.add_argument("--jobs", type=int, default=1, help="processes, each on one thread (1)")
    parser.add_argument("--output", type=Path, default=Path("benchmarks/results/quality"), help="folder of the results")
    parser.add_argument("--again", type=names, default=[], help="methods whose results are thrown away first")
    parser.add_argument("--report", action="store_true", help="run nothing, only write the tables and the plot")
    return parser.parse_args(argv)


def names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def plan_of(given: argparse.Namespace) -> run.Plan:
    entries = data.manifest(given.data)
    default = [name for name, entry in entries.items() if entry.suitable] if given.full else data.SETS
    sets = given.sets or default
    known("data set", sets, entries)
    known("method", [*given.methods, *given.again], rivals.METHODS)
    if not all(text.isdigit() and int(text) > 0 for text in given.terms):
        sys.exit(f"--terms {','.join(given.terms)}: give positive whole numbers, for example --terms 3,6,10,16.")
    return run.Plan(
        folder=given.data,
        entries=tuple(entries[name] for name in sets),
        methods=tuple(given.methods),
        terms=tuple(sorted({int(text) for text in given.terms})),
        splits=given.splits or (10 if given.full else None),
    )


def known(kind: str, wanted, there) -> None:
    missing = [name for name in wanted if name not in there]
    if missing:
        sys.exit(f"No {kind} called {', '.join(missing)}; there are {', '.join(there)}.")


def main(argv: list[str]) -> None:
    given = arguments(argv)
    plan = plan_of(given)
    results = run.scores(given.output)
    if given.again:
        results.forget("method", given.again)
    failures = [] if given.report else run.run(plan, results, given.jobs)
    print(report.write(plan, results.read(), given.output))
    if failures:
        sys.exit(f"{len(failures)} fits failed; run again to retry them:\n  " + "\n  ".join(failures))


if __name__ == "__main__":
    main(sys.argv[1:])
