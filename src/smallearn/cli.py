"""The command ``smallearn``: parse, call, print."""

import argparse
import sys
from collections.abc import Sequence

from smallearn.commands import cost, export, fit, paper
from smallearn.commands.common import INTERRUPTED, PROBLEM, CommandError
from smallearn.commands.terminal import complain, set_quiet
from smallearn.version import __version__

COMMANDS = (fit, export, cost, paper)


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command; the exit code is 0 if it succeeded."""
    given = _parser().parse_args(argv)
    set_quiet(getattr(given, "quiet", False))
    try:
        return given.run(given)
    except CommandError as problem:
        complain(f"smallearn {given.command}: {str(problem).rstrip('.')}.")
        return PROBLEM
    except KeyboardInterrupt:
        kept = " What is finished is kept; the same command goes on from there." if given.command == "paper" else ""
        complain(f"\nInterrupted.{kept}")
        return INTERRUPTED
    except BrokenPipeError:
        sys.stderr.close()
        return PROBLEM


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="smallearn", description="Classifiers small enough to read and to run on the smallest chips."
    )
    parser.add_argument("--version", action="version", version=f"smallearn {__version__}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND", dest="command")
    for command in COMMANDS:
        command.add(commands)
    return parser
