"""The command ``smallearn``: parse the arguments, run a command, return its exit code."""

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from smallearn._text import show
from smallearn._version import __version__
from smallearn.cli.arguments import option_names
from smallearn.cli.commands import COMMANDS
from smallearn.cli.completion import SHELLS, PrintCompletion
from smallearn.cli.config import with_config
from smallearn.cli.console import Console
from smallearn.cli.errors import OUT_OF_MEMORY, CommandError, ExitCode, not_imported
from smallearn.cli.io.files import as_text

EPILOG = """\
exit codes:
  0    done
  1    the data or the model cannot be used, or the request cannot be met; stderr says why
  2    wrong arguments
  3    monitor: the score or a feature has shifted
  130  interrupted
  141  output pipe closed

`smallearn COMMAND --help` has examples. Set NO_COLOR to turn colours off.
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command.

    Parameters
    ----------
    argv : sequence of str, optional
        The arguments; those of the process if there are none.

    Returns
    -------
    int
        The exit code: 0 if the command succeeded.
    """
    _prepare_streams()
    try:
        arguments = _parsed(argv)
    except BrokenPipeError:
        _discard_stdout()
        return ExitCode.BROKEN_PIPE
    except CommandError as error:  # in the file of --config
        Console().error(f"smallearn: {_sentence(str(error))}")
        return ExitCode.WRONG_ARGUMENTS
    console = Console(quiet=getattr(arguments, "quiet", False))
    try:
        with console.quiet_libraries():
            code = arguments.run(arguments, console)
        sys.stdout.flush()  # a closed pipe is noticed here
        return code
    except CommandError as error:
        console.error(f"smallearn {arguments.command}: {_sentence(str(error))}")
        return ExitCode.FAILED
    except KeyboardInterrupt:
        console.error(f"\nInterrupted.{getattr(arguments, 'after_interruption', '')}")
        return ExitCode.INTERRUPTED
    except BrokenPipeError:
        _discard_stdout()
        return ExitCode.BROKEN_PIPE
    except MemoryError:
        console.error(f"smallearn {arguments.command}: {OUT_OF_MEMORY}.")
        return ExitCode.FAILED
    except ImportError as error:
        console.error(f"smallearn {arguments.command}: {_sentence(not_imported(error))}")
        return ExitCode.FAILED
    except OSError as error:  # a full disk, a file that was removed
        _discard_stdout()
        where = "" if error.filename is None else f"{show(str(error.filename))}: "
        console.error(f"smallearn {arguments.command}: {where}{error.strerror or error}.")
        return ExitCode.FAILED


def make_parser() -> argparse.ArgumentParser:
    """Make the parser of ``smallearn`` with all its commands.

    Returns
    -------
    argparse.ArgumentParser
        The parser. What it parses has ``run``, the command's function.
    """
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
        help=f"print a script that completes arguments in {', '.join(SHELLS)}, and exit",
    )
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND", dest="command")
    for command in COMMANDS:
        added = command.add(commands)
        added.set_defaults(run=command.run, options=option_names(added))
    return parser


def _parsed(argv: Sequence[str] | None) -> argparse.Namespace:
    """The arguments. ``--help`` and its like have printed everything before they exit."""
    try:
        parser = make_parser()
        arguments, left = parser.parse_known_args(with_config(sys.argv[1:] if argv is None else argv, _commands))
        if len(left) == 1 and not left[0].startswith("-") and getattr(arguments, "data", "") is None:
            arguments.data, left = Path(left.pop()), []  # a table that follows options
        if left:
            parser.error(f"unrecognized arguments: {' '.join(left)}")
    finally:
        sys.stdout.flush()
    for name, value in vars(arguments).items():
        if isinstance(value, str):  # paths stay as they are: they may have any bytes
            setattr(arguments, name, as_text(value))
    return arguments


def _commands() -> dict[str, argparse.ArgumentParser]:
    """New parsers of the commands, by name."""
    return next(dict(action.choices or {}) for action in make_parser()._actions if action.dest == "command")


def _sentence(message: str) -> str:
    return message if message.endswith("?") else message.rstrip(".") + "."


def _prepare_streams() -> None:
    """Print characters that a stream's encoding lacks as escapes; discard what is printed to a closed stream."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115  # open as long as the process
        stream = getattr(sys, name)
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def _discard_stdout() -> None:
    """Discard what is still to be printed; otherwise Python would complain when it flushes at exit."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (OSError, ValueError):
        sys.stderr.close()
