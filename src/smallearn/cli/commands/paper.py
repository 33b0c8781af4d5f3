"""``smallearn paper``: the tables and figures of the paper, measured anew."""

import argparse
import sys
from pathlib import Path

from smallearn.cli.common import PROBLEM

PAPER = {
    "table1": "Table 1: 17 low-dimensional sets, SMaLL against ten classifiers",
    "surfaces": "Figure 1: decision surfaces on a set of two features",
    "breast-cancer": "the violin figure: breast cancer, two prototypes of three terms",
    "sparse": "Figure 3: many features, six terms against l1 and elastic nets",
    "big-picture": "all methods on fri_c0_1000_50",
    "all": "all of them",
}
EXAMPLES = """\
examples:
  smallearn paper table1 --data folder --splits 20 --jobs 2
  smallearn paper all
"""


def add(commands) -> None:
    """The command's arguments."""
    paper = commands.add_parser(
        "paper",
        help="the tables and figures of the paper, measured anew",
        description="The tables and figures of the paper, measured anew. Each experiment leaves scores.csv,\n"
        "table.md and the figure as SVG and PNG in a folder of its own. A run that was\n"
        "interrupted goes on where it stopped.",
        epilog="\n".join(["experiments:", *(f"  {name:<14} {words}" for name, words in PAPER.items()), "", EXAMPLES]),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    paper.add_argument("experiment", choices=list(PAPER), metavar="EXPERIMENT", help="which one; see below")
    paper.add_argument(
        "--data",
        type=Path,
        metavar="FOLDER",
        help="folder with a CSV file for each set, labels last in the column 'target' (default: the environment "
        "variable SMALLEARN_DATA, else OpenML)",
    )
    paper.add_argument(
        "--output", type=Path, metavar="FOLDER", default=Path("paper-results"), help="where results go (paper-results)"
    )
    paper.add_argument(
        "--splits",
        type=_count,
        metavar="N",
        default=5,
        help="train-test splits (5, as in the paper; 20 for a verdict). With 'all', sparse and big-picture, whose sets "
        "are ten times as large, use a quarter of them, or five if that is more",
    )
    paper.add_argument("--jobs", type=_count, metavar="N", default=1, help="processes, each on one thread (1)")
    paper.add_argument("--seed", type=_seed, metavar="N", default=0, help="of the splits (0)")
    paper.set_defaults(run=run)


def _count(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= 1000:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 1 to 1000")
    return int(text)


def _seed(text: str) -> int:
    if not text.isdecimal() or int(text) > 4_000_000:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 0 to 4000000")
    return int(text)


def run(given: argparse.Namespace) -> int:
    """Run the experiments that were asked for."""
    try:
        from smallearn.paper import experiments
    except ImportError as problem:
        print(
            f"smallearn paper needs {problem.name}, which is not installed: pip install 'smallearn[paper]'",
            file=sys.stderr,
        )
        return PROBLEM
    names = [name for name in PAPER if name != "all"] if given.experiment == "all" else [given.experiment]
    outcomes = {}
    try:
        settings = experiments.settings(given.output, given.data, given.splits, given.jobs, given.seed)
        experiments.check(names, settings)
        for name in names:
            at = settings if given.experiment != "all" else experiments.reduced(name, settings)
            try:
                outcomes[name] = experiments.run(name, at)
            except experiments.IncompleteError as problem:
                print(f"smallearn paper {name}: {problem}\n", file=sys.stderr, flush=True)
                continue
            print(outcomes[name].summary, flush=True)
            print(f"See {given.output / name / 'table.md'}.\n", flush=True)
        if given.experiment == "all":
            print(f"The paper's claims: {experiments.write_claims(outcomes, given.output)}.")
    except experiments.ERRORS as problem:
        print(f"smallearn paper: {problem}", file=sys.stderr)
        return PROBLEM
    return 0 if len(outcomes) == len(names) else PROBLEM
