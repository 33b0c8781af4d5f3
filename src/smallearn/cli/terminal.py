"""What a command says to whoever sits in front of it: on stderr, in colour on a terminal, and little if asked to."""

import os
import sys
from typing import TextIO

BOLD, RED = "1", "31"
_settings = {"quiet": False}


def set_quiet(quiet: bool) -> None:
    """Whether `tell` keeps silent; errors are told all the same."""
    _settings["quiet"] = quiet


def is_quiet() -> bool:
    """Whether the user asked for silence."""
    return _settings["quiet"]


def tell(text: str) -> None:
    """A word to the user, not into a pipe; none with ``--quiet``."""
    if not _settings["quiet"]:
        sys.stdout.flush()  # in the order of what happened, where both end in one place
        print(text, file=sys.stderr, flush=True)


def complain(text: str) -> None:
    """An error, in red on a terminal; never silenced."""
    print(coloured(text, RED, sys.stderr), file=sys.stderr, flush=True)


def heading(text: str) -> str:
    """A heading for stdout: bold on a terminal."""
    return coloured(text, BOLD, sys.stdout)


def coloured(text: str, code: str, stream: TextIO) -> str:
    """The text in a colour if the stream is a terminal and NO_COLOR is not set (see no-color.org)."""
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb" or not stream.isatty()
    return text if plain else f"\x1b[{code}m{text}\x1b[0m"
