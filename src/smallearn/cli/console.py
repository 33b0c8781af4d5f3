"""What a command tells the user besides its result: notes, errors and progress, all on stderr."""

import logging
import os
import shlex
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TextIO

from smallearn._run.progress import Bar
from smallearn._text import show

BOLD, RED = "1", "31"


@dataclass(frozen=True)
class Console:
    """Where a command writes notes and progress; `entry.main` makes one for each command.

    Parameters
    ----------
    quiet : bool, default=False
        Whether only errors are written.
    """

    quiet: bool = False

    @property
    def verbose(self) -> int:
        """The parameter ``verbose`` of the estimators that goes with it."""
        return -1 if self.quiet else 0

    def note(self, text: str) -> None:
        """Write an informational message."""
        if not self.quiet:
            sys.stdout.flush()  # where both streams end in one place, lines stay in order
            print(text, file=sys.stderr, flush=True)

    def note_ignored(self, column: str, reason: str, may_keep: bool) -> None:
        """Tell that a column is not learned from, and why; ``may_keep``: the user may have it used nevertheless."""
        hint = f"; --keep {shlex.quote(column)} to use it" if may_keep else ""
        self.note(f"Column {show(column)} {reason}: ignored{hint}.")

    @contextmanager
    def warnings_as_notes(self) -> Iterator[None]:
        """Write the warnings of the library as notes, without the line of code that they come from."""
        with warnings.catch_warnings():
            warnings.simplefilter("always", UserWarning)
            warnings.showwarning = lambda message, *_, **__: self.note(str(message))
            yield

    @contextmanager
    def quiet_libraries(self) -> Iterator[None]:
        """If quiet, keep matplotlib from telling about its fonts and its folder, which may not be writable."""
        logger = logging.getLogger("matplotlib")
        before = logger.level
        if self.quiet:
            logger.setLevel(logging.ERROR)
        try:
            yield
        finally:
            logger.setLevel(before)

    def error(self, text: str) -> None:
        """Write an error message, in red on a terminal."""
        print(coloured(text, RED, sys.stderr), file=sys.stderr, flush=True)

    def progress(self, total: int, unit: str) -> Bar:
        """A progress bar, or lines about progress where there is no terminal."""
        return Bar(total, unit, not self.quiet)


SILENT = Console(quiet=True)


def heading(text: str) -> str:
    """A heading for stdout: bold on a terminal."""
    return coloured(text, BOLD, sys.stdout)


def coloured(text: str, code: str, stream: TextIO) -> str:
    """The text in a colour if the stream is a terminal and NO_COLOR is not set (see no-color.org)."""
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb" or not stream.isatty()
    return text if plain else f"\x1b[{code}m{text}\x1b[0m"
