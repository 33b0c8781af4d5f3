"""The command ``smallearn``: parse, call, print."""

import argparse
import os
import sys
from collections.abc import Sequence

from smallearn._text import show
from smallearn._version import __version__
from smallearn.cli.commands import cost, demo, doctor, evaluate, explain, export, fit, frontier, paper, predict, report
from smallearn.cli.common import INTERRUPTED, NOBODY_READS, PROBLEM, CommandError, as_text
from smallearn.cli.completion import SHELLS, PrintCompletion
from smallearn.cli.terminal import complain, set_quiet

# A module has `add`, which adds the command's parser with `run` in its defaults.
COMMANDS = (demo, fit, evaluate, predict, explain, frontier, export, cost, report, paper, doctor)
EPILOG = """\
exit codes:
  0    done
  1    the data, the model or what was asked for cannot be used; stderr says why
  2    wrong arguments
  130  interrupted
  141  whoever read the output has left

`smallearn COMMAND --help` has examples. Colours are off where NO_COLOR is set.
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command; the exit code is 0 if it succeeded."""
    _prepare_streams()
    try:
        given = _parsed(argv)
    except BrokenPipeError:
        _leave_stdout()
        return NOBODY_READS
    given.main = main  # for a command that runs others
    set_quiet(getattr(given, "quiet", False))
    try:
        code = given.run(given)
        sys.stdout.flush()  # so that a reader that has left is noticed here
        return code
    except CommandError as problem:
        words = str(problem)
        complain(f"smallearn {given.command}: {words if words.endswith('?') else words.rstrip('.') + '.'}")
        return PROBLEM
    except KeyboardInterrupt:
        kept = " What is finished is kept; the same command goes on from there." if given.command == "paper" else ""
        complain(f"\nInterrupted.{kept}")
        return INTERRUPTED
    except BrokenPipeError:
        _leave_stdout()
        return NOBODY_READS
    except OSError as problem:  # a disk that is full, a file that went away
        _leave_stdout()
        where = "" if problem.filename is None else f"{show(str(problem.filename))}: "
        complain(f"smallearn {given.command}: {where}{problem.strerror or problem}.")
        return PROBLEM
    finally:
        set_quiet(False)


def _prepare_streams() -> None:
    """Signs that a stream's encoding lacks are printed as escapes, where they would be an error; a stream that is
    closed takes what is printed to nowhere."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115  # as long as the process
        stream = getattr(sys, name)
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def _parsed(argv: Sequence[str] | None) -> argparse.Namespace:
    """The arguments; what ``--help`` and its like print is all out before they leave."""
    try:
        given = make_parser().parse_args(argv)
    finally:
        sys.stdout.flush()
    for name, value in vars(given).items():
        if isinstance(value, str):  # not paths, which may have any bytes
            setattr(given, name, as_text(value))
    return given


def make_parser() -> argparse.ArgumentParser:
    """The parser of the command with all its commands."""
    parser = argparse.ArgumentParser(
        prog="smallearn",
        description="Classifiers small enough to read and to run on the smallest chips.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"smallearn {__version__}")
    parser.add_argument(
        "--print-completion",
        action=PrintCompletion,
        choices=SHELLS,
        metavar="SHELL",
        help=f"print what completes these arguments in {', '.join(SHELLS)}, and leave",
    )
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND", dest="command")
    for command in COMMANDS:
        command.add(commands)
    return parser


def _leave_stdout() -> None:
    """Nobody reads it any more; without this Python would complain when it flushes at the end."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (OSError, ValueError):
        sys.stderr.close()
