"""``smallearn paper``: reproduce the tables and figures of the paper."""

import argparse
from functools import partial
from pathlib import Path

from smallearn.cli.arguments import add_command, add_path, whole_number
from smallearn.cli.console import Console
from smallearn.cli.errors import CommandError, ExitCode, not_installed

EXPERIMENTS = {
    "table1": "Table 1: 17 low-dimensional sets, SMaLL against ten classifiers",
    "surfaces": "Figure 1: decision surfaces on a set of two features",
    "breast-cancer": "the violin figure: breast cancer, two prototypes of three terms",
    "sparse": "Figure 3: many features, six terms against l1 and elastic nets",
    "big-picture": "all methods on fri_c0_1000_50",
    "all": "all of them",
}
DESCRIPTION = """\
Run the experiments of the paper. Each writes scores.csv, table.md and a figure (SVG and PNG) to a folder of its own.
An interrupted run continues where it stopped.
"""
EXAMPLES = """\
smallearn paper table1 --data folder --splits 20 --jobs 2
smallearn paper all
"""


def add(commands) -> argparse.ArgumentParser:
    """Add the command's parser."""
    parser = add_command(
        commands,
        "paper",
        summary="reproduce the tables and figures of the paper",
        description=DESCRIPTION,
        examples=EXAMPLES,
        notes="experiments:\n" + "".join(f"  {name:<14} {text}\n" for name, text in EXPERIMENTS.items()),
    )
    parser.add_argument("experiment", choices=list(EXPERIMENTS), metavar="EXPERIMENT", help="which one; see below")
    add_path(
        parser,
        "--data",
        folder=True,
        metavar="FOLDER",
        help="a folder with a CSV file for each set, the classes in the last column, 'target' (default: the "
        "environment variable SMALLEARN_DATA, else OpenML)",
    )
    add_path(
        parser,
        "--output",
        folder=True,
        metavar="FOLDER",
        default=Path("paper-results"),
        help="the folder for the results (default: paper-results)",
    )
    parser.add_argument(
        "--splits",
        type=partial(whole_number, low=1, high=1000),
        metavar="N",
        default=5,
        help="the number of train-test splits (default: 5, as in the paper; use 20 for a reliable comparison). With "
        "'all', sparse and big-picture, whose sets are ten times as large, use a quarter of them, but at least five",
    )
    parser.add_argument(
        "--jobs",
        type=partial(whole_number, low=1, high=1000),
        metavar="N",
        default=1,
        help="the number of processes, each with one thread (default: 1)",
    )
    parser.add_argument(
        "--seed",
        type=partial(whole_number, low=0, high=4_000_000),
        metavar="N",
        default=0,
        help="random seed of the splits (default: 0)",
    )
    parser.set_defaults(after_interruption=" Finished fits are kept; the same command continues from there.")
    return parser


def run(arguments: argparse.Namespace, console: Console) -> int:
    """Run the experiments that were asked for."""
    try:
        from smallearn.paper import experiments
    except ModuleNotFoundError as error:
        raise not_installed("it", error.name, "paper") from None
    every = arguments.experiment == "all"
    names = [name for name in EXPERIMENTS if name != "all"] if every else [arguments.experiment]
    outcomes = {}
    try:
        settings = experiments.settings(
            arguments.output, arguments.data, arguments.splits, arguments.jobs, arguments.seed
        )
        experiments.check(names, settings)
        for name in names:
            try:
                outcomes[name] = experiments.run(name, experiments.reduced(name, settings) if every else settings)
            except experiments.IncompleteError as error:
                console.error(f"smallearn paper {name}: {error}\n")
                continue
            print(outcomes[name].summary, flush=True)
            print(f"See {arguments.output / name / 'table.md'}.\n", flush=True)
        if every:
            print(f"The paper's claims: {experiments.write_claims(outcomes, arguments.output)}.")
    except experiments.ERRORS as error:
        raise CommandError(str(error)) from None
    return ExitCode.DONE if len(outcomes) == len(names) else ExitCode.FAILED
