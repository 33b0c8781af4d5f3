"""Errors that end a command with one sentence, and the exit codes."""

import argparse
import shlex
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from enum import IntEnum

from smallearn._errors import Parameter, ParameterError
from smallearn._text import show

LIBRARY_ERRORS = (ValueError, OSError, RuntimeError)
OUT_OF_MEMORY = "there is too little memory for this: use fewer rows or columns, or a computer with more"


class ExitCode(IntEnum):
    """What the process returns; argparse itself returns 2 for wrong arguments, and so does a wrong ``--config``."""

    DONE = 0
    FAILED = 1
    WRONG_ARGUMENTS = 2
    SHIFTED = 3
    INTERRUPTED = 130
    BROKEN_PIPE = 141


class CommandError(Exception):
    """What the user asked for cannot be done, or a file cannot be used. The message is one sentence."""


@contextmanager
def library_errors(arguments: argparse.Namespace, *kinds: type[Exception]) -> Iterator[None]:
    """Turn errors of the library into a `CommandError` that names options where the library names parameters."""
    caught: tuple[type[Exception], ...] = (*LIBRARY_ERRORS, *kinds)
    try:
        yield
    except caught as error:
        raise CommandError(message_of(error, arguments.options)) from None


def message_of(error: Exception, options: Mapping[str, str]) -> str:
    """The message of an error; ``options`` are the options of the command, by parameter."""
    if not isinstance(error, ParameterError):
        return str(error)
    return error.message(lambda parameter: _as_option(parameter, options))


def _as_option(parameter: Parameter, options: Mapping[str, str]) -> str:
    """``--max-flash 2`` for ``max_flash=2``, as a shell takes it; a parameter without an option as Python writes it."""
    option = options.get(parameter.name)
    if option is None or not parameter.has_value:
        return option or str(parameter)
    value = parameter.value
    return f"{option} {value:g}" if isinstance(value, float) else f"{option} {shlex.quote(str(value))}"


def not_installed(user: str, module: str | None, extra: str) -> CommandError:
    """The error that ``user``, a command or an option, needs a module that is not installed."""
    return CommandError(f"{user} needs {module}, which is not installed: pip install 'smallearn[{extra}]'")


def not_imported(error: ImportError) -> str:
    """A sentence about a module that cannot be imported: it is missing, or the system could not load it."""
    text = str(error).strip()
    if "pip install" in text:  # the library's own message
        return text
    name = error.name or "a library"
    if isinstance(error, ModuleNotFoundError):
        return f"{name} is not installed: pip install {name.partition('.')[0]}"
    reason = show(text.rpartition("\n")[2], quote=False, most=200)
    return f"{name} cannot be loaded ({reason}): there may be too little memory, or the installation is damaged"
