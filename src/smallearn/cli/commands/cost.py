"""``smallearn cost``: what a model takes on a chip."""

import argparse
from dataclasses import asdict
from itertools import groupby
from operator import attrgetter
from typing import Any

from smallearn.cli.arguments import CHIP_NAMES, add_command, add_data, add_model, add_named, add_printing, add_readings
from smallearn.cli.console import Console
from smallearn.cli.errors import CommandError, ExitCode, library_errors
from smallearn.cli.io.counts import read_counts
from smallearn.cli.io.files import print_json, read_model
from smallearn.cli.rounding import note_beyond, read_rows
from smallearn.model import Deployment

DESCRIPTION = """\
Bytes of flash and RAM, and cycles or instructions of one prediction: compiled and simulated if the chip's compiler
and simulator are installed, else estimated. "At most" holds for any row: it is the longest path through the machine
code. Where that cannot be found, the rows of the table are run, or typical ones. It is also told how many decisions
each number format changes.
"""
EXAMPLES = """\
smallearn cost model.json --chip atmega328p
smallearn cost model.json --chip cortex-m0 --number int16 --json
smallearn cost model.json --number int8 --readings codes
smallearn cost model.json data.csv --number float32
smallearn cost model.json --number int16 --layout table --readings counts --counts counts.csv
smallearn cost model.json data.xlsx --sheet May --number float32
smallearn cost model.json data.csv --encoding cp1252 --missing 999 --number int8 --quiet
"""
NUMBERS = ("float32", "int16", "int8x16", "int8")  # printed unless one is asked for


def add(commands) -> argparse.ArgumentParser:
    """Add the command's parser."""
    parser = add_command(
        commands,
        "cost",
        summary="bytes and cycles of a model on a chip",
        description=DESCRIPTION,
        examples=EXAMPLES,
    )
    add_model(parser)
    add_data(parser, optional=True)
    add_named(
        parser,
        "--chip",
        CHIP_NAMES,
        metavar="CHIP",
        help="%(names)s (default: the one that the model was chosen for, else atmega328p)",
    )
    parser.add_argument(
        "--number",
        metavar="TYPE",
        help="float32, int8, int8x16, int16 or int32 (default: one after another, first the one chosen for a chip)",
    )
    parser.add_argument(
        "--layout", default="best", metavar="KIND", help="code, table, or best, the smaller of the two (default: best)"
    )
    add_readings(
        parser,
        None,
        "what the chip reads: float, counts (see --counts), or codes; the cost is that of the whole way from there to "
        "the decision (default: what the model was chosen for, else float)",
    )
    add_printing(parser)
    return parser


def run(arguments: argparse.Namespace, console: Console) -> int:
    """Measure in each number format and print."""
    model = read_model(arguments)
    from smallearn.devices import cost
    from smallearn.export import format_loss
    from smallearn.export._fixed.quantise import target_of

    if arguments.number == "float64":
        raise CommandError("chips have no float64: --number is float32, int8, int8x16, int16 or int32")
    chosen = model.deployment
    chip = arguments.chip or ("atmega328p" if chosen is None else chosen.chip)
    readings = arguments.readings or ("float" if chosen is None else chosen.readings)
    counts = None if arguments.counts is None else read_counts(arguments.counts)
    if readings == "counts" and counts is None:
        counts = None if chosen is None else chosen.counts_by_label
        if counts is None:
            raise CommandError("--readings counts needs --counts FILE: what the counts of each feature mean")
    numbers = [arguments.number] if arguments.number is not None else _numbers(chosen, readings)
    inputs: dict[str, Any] = {"readings": readings, "counts": counts}
    rows = read_rows(arguments, model, console)
    with library_errors(arguments):
        note_beyond(target_of(model, numbers[-1], **inputs), rows, console)
        costs = [cost(model, chip, number, rows, layout=arguments.layout, **inputs) for number in numbers]
        losses = [format_loss(model, number, rows, **inputs) for number in numbers]
    if arguments.json:
        print_json([asdict(one) | {"format_loss": asdict(loss)} for one, loss in zip(costs, losses, strict=True)])
    else:
        print(_as_text(costs))
        print("\n".join(f"{loss}." for loss in losses))
    return ExitCode.DONE


def _numbers(chosen: Deployment | None, readings: str) -> list[str]:
    """The number formats, the chosen one first."""
    possible = [name for name in NUMBERS if readings == "float" or name != "float32"]
    first = [] if chosen is None else [chosen.number]
    return first + [name for name in possible if name not in first]


def _as_text(costs: list[Any]) -> str:
    """Each cost; how it was found only after the last of those found in the same way."""
    return "\n".join(
        line
        for how, alike in groupby(costs, key=attrgetter("how"))
        for line in (*(one.summary for one in alike), f"({how})")
    )
