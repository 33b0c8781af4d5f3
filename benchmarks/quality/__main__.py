"""``make bench-quality DATA=folder``: run the trials that are missing, then write the tables and the pictures.

By default: 32 data sets with two classes at 3, 6, 10 and 16 terms; and those of DATA/classes and of scikit-learn with
more classes at 8, 12 and 20; three splits, or five below 500 rows. Use ``--again smallearn`` after a change of the
library, ``--report`` to write the tables from existing results, ``--bytes`` to compare bytes on a chip as well.
"""

import argparse
import sys
from collections.abc import Collection, Iterable
from pathlib import Path

from benchmarks.quality import data, report, run
from benchmarks.quality.methods import NAMES
from benchmarks.quality.verdicts import verdicts
from benchmarks.timing import verdict
from smallearn.devices import available


def parse(argv: list[str]) -> argparse.Namespace:
    """The arguments of the command."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.quality", description=__doc__)
    parser.add_argument("data", type=Path, metavar="DATA", help="folder with MANIFEST.csv and the files it lists")
    kinds = parser.add_mutually_exclusive_group()
    kinds.add_argument("--two-classes", action="store_true", help="only data sets with two classes")
    kinds.add_argument("--classes", action="store_true", help="only data sets with more than two classes")
    parser.add_argument("--sets", type=names, help="data sets, separated by commas (default: a selection)")
    parser.add_argument("--full", action="store_true", help="all suitable data sets of the folder, 10 splits")
    parser.add_argument("--methods", type=names, default=list(NAMES), help=f"methods (default: {', '.join(NAMES)})")
    parser.add_argument(
        "--budgets", type=names, help="numbers of terms (default: 3,6,10,16; with more than two classes 8,12,20)"
    )
    parser.add_argument("--splits", type=int, help="number of splits (default: 3, or 5 below 500 rows)")
    parser.add_argument("--bytes", action="store_true", help="measure bytes on a Cortex-M0 (needs its compiler)")
    parser.add_argument("--jobs", type=int, default=1, help="number of processes, each on one thread (default: 1)")
    parser.add_argument(
        "--output", type=Path, default=Path("benchmarks/results/quality"), help="folder for the results"
    )
    parser.add_argument("--again", type=names, default=[], help="methods whose earlier results are discarded first")
    parser.add_argument("--report", action="store_true", help="run no trials, only write the tables and the pictures")
    return parser.parse_args(argv)


def names(text: str) -> list[str]:
    """Names separated by commas."""
    return [name.strip() for name in text.split(",") if name.strip()]


def plan_of(arguments: argparse.Namespace) -> run.Plan:
    """The trials that the arguments ask for."""
    entries = data.manifest(arguments.data)
    check_names("data set", arguments.sets or [], entries)
    check_names("method", [*arguments.methods, *arguments.again], NAMES)
    budgets = arguments.budgets
    if budgets is not None and not (budgets and all(text.isdigit() and int(text) > 0 for text in budgets)):
        sys.exit(f"--budgets {','.join(budgets)}: give positive whole numbers, for example --budgets 3,6,10,16.")
    chosen = [entries[name] for name in arguments.sets] if arguments.sets else default_sets(entries, arguments.full)
    if arguments.classes or arguments.two_classes:
        chosen = [entry for entry in chosen if entry.several == arguments.classes]
    return run.Plan(
        folder=arguments.data,
        entries=tuple(chosen),
        methods=tuple(arguments.methods),
        budgets=None if budgets is None else tuple(sorted({int(text) for text in budgets})),
        splits=arguments.splits or (10 if arguments.full else None),
        flash=arguments.bytes,
    )


def default_sets(entries: dict[str, data.Entry], full: bool) -> list[data.Entry]:
    """The selection with two classes and every set with more; with ``full`` all that are suitable."""
    if full:
        return [entry for entry in entries.values() if entry.suitable]
    check_names("data set", data.SETS, entries)
    return [*(entries[name] for name in data.SETS), *(entry for entry in entries.values() if entry.several)]


def check_names(kind: str, names: Iterable[str], known: Collection[str]) -> None:
    """Exit with a message if a name is unknown."""
    unknown = [name for name in names if name not in known]
    if unknown:
        sys.exit(f"Unknown {kind} {', '.join(unknown)}; choose from {', '.join(known)}.")


def main(argv: list[str]) -> None:
    """Run the command."""
    arguments = parse(argv)
    plan = plan_of(arguments)
    missing = available("cortex-m0") if arguments.bytes and not arguments.report else None
    if missing is not None:
        sys.exit(f"--bytes: {missing}")
    results = run.scores(arguments.output)
    if arguments.again:
        results.forget("method", arguments.again)
    failures = [] if arguments.report else run.run(plan, results, arguments.jobs)
    found = report.sections(plan, run.read(results))
    print(report.write(found, arguments.output))
    for section in found:
        print(f"\n{report.TITLES[section.several]}:")
        for text, met in verdicts(section):
            verdict(text, met)
    if failures:
        sys.exit(f"{len(failures)} fits failed; run the command again to retry them:\n  " + "\n  ".join(failures))


if __name__ == "__main__":
    main(sys.argv[1:])
