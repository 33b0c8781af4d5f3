"""``smallearn cost``: what a model takes on a chip."""

import argparse
from dataclasses import asdict
from typing import Any

from smallearn.cli.arguments import CHIPS, add_command, add_model, add_talk
from smallearn.cli.common import CommandError, print_json, read_model
from smallearn.cli.search import message_of

EXAMPLES = """\
smallearn cost model.json --chip atmega328p
smallearn cost model.json --chip cortex-m0 --number int16 --json
"""
NUMBERS = ("float32", "int16", "int8")  # that are told of unless one is asked for


def add(commands) -> None:
    """The command's arguments."""
    parser = add_command(
        commands,
        "cost",
        "bytes and cycles of a model on a chip",
        "Bytes of flash and RAM, and cycles or instructions of one prediction: compiled and simulated\n"
        "where the chip's compiler and simulator are installed, else estimated.",
        EXAMPLES,
    )
    add_model(parser)
    parser.add_argument("--chip", default="atmega328p", metavar="CHIP", help=f"{CHIPS} (atmega328p)")
    parser.add_argument("--number", metavar="TYPE", help="float32, int8, int16 or int32 (all but the last)")
    parser.add_argument(
        "--layout", default="best", metavar="KIND", help="code, table, or the smaller of them, best (best)"
    )
    add_talk(parser)
    parser.set_defaults(run=run)


def run(given: argparse.Namespace) -> int:
    """Measure in each format and print."""
    model = read_model(given)
    from smallearn.devices import ToolchainError, cost

    if given.number == "float64":
        raise CommandError("chips have no float64: --number is float32, int8, int16 or int32")
    numbers = NUMBERS if given.number is None else (given.number,)
    try:
        found = [cost(model, given.chip, number, layout=given.layout) for number in numbers]
    except (ValueError, ToolchainError) as problem:
        raise CommandError(message_of(problem)) from None
    if given.json:
        print_json([asdict(one) for one in found])
    else:
        print(_as_words(found))
    return 0


def _as_words(found: list[Any]) -> str:
    """Each cost; how it was found only where that differs from the next."""
    follow = [*found[1:], None]
    return "\n".join(
        str(one).removesuffix(f"\n({one.how})" if after is not None and after.how == one.how else "")
        for one, after in zip(found, follow, strict=True)
    )
