"""``smallearn cost``: what a model takes on a chip."""

import argparse
import json
from dataclasses import asdict
from pathlib import Path

from smallearn.commands.common import CommandError, read_model

EXAMPLES = """\
examples:
  smallearn cost model.json --chip atmega328p
  smallearn cost model.json --chip cortex-m0 --number int16 --json
"""


def add(commands) -> None:
    """The command's arguments."""
    parser = commands.add_parser(
        "cost",
        help="bytes and cycles of a model on a chip",
        description="Bytes of flash and RAM, and cycles or instructions of one prediction: compiled and simulated\n"
        "where the chip's compiler and simulator are installed, else estimated.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("model", type=Path, metavar="MODEL", help="a model file (JSON)")
    parser.add_argument(
        "--chip", default="atmega328p", metavar="CHIP", help="atmega328p, cortex-m0, cortex-m4 (atmega328p)"
    )
    parser.add_argument("--number", metavar="TYPE", help="float32, int8, int16 or int32 (all but the last)")
    parser.add_argument(
        "--layout", default="best", metavar="KIND", help="code, table, or the smaller of them, best (best)"
    )
    parser.add_argument("--json", action="store_true", help="for machines")
    parser.set_defaults(run=run)


def run(given: argparse.Namespace) -> int:
    """Measure in each format and print."""
    from smallearn.devices import ToolchainError, cost

    model = read_model(given.model)
    numbers = ["float32", "int16", "int8"] if given.number is None else [given.number]
    try:
        found = [cost(model, given.chip, number, layout=given.layout) for number in numbers]
    except (ValueError, ToolchainError) as problem:
        raise CommandError(str(problem)) from None
    if given.json:
        print(json.dumps([asdict(one) for one in found], indent=1))
    else:
        print("\n".join(map(str, found)))
    return 0
