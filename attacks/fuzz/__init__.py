"""Hostile input by the million: model files, names in exports, tables, numbers to train on.

Every input follows from the seed and its number. Without options for some kinds of input, all are tried.
"""

import argparse
import os

from attacks.fuzz import models, names, problems, tables

KINDS = {
    "models": (models, 1_000_000),
    "names": (names, 100_000),
    "tables": (tables, 2_000),
    "problems": (problems, 10_000),
}


def add(parser: argparse.ArgumentParser) -> None:
    """The options."""
    for name, (kind, count) in KINDS.items():
        parser.add_argument(
            f"--{name}", type=int, metavar="N", help=f"{kind.__doc__.partition('.')[0]} (if none is named: {count:,})"
        )
    parser.add_argument("--seed", type=int, default=0, help="of the random numbers (default 0)")
    parser.add_argument("--first", type=int, default=0, help="number of the first input, to repeat one (default 0)")
    parser.add_argument(
        "--jobs", type=int, default=os.cpu_count(), help="processes; 0 for this one (default all cores)"
    )


def run(arguments: argparse.Namespace) -> int:
    """Attack; 1 if something was found."""
    asked = {name: getattr(arguments, name) for name in KINDS if getattr(arguments, name) is not None}
    counts = asked or {name: count for name, (_, count) in KINDS.items()}
    found = 0
    for name, count in counts.items():
        findings = KINDS[name][0].attack(count, arguments.seed, arguments.first, arguments.jobs)
        found |= findings.report()
    return found
