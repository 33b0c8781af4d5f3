"""Internal: the command ``smallearn``.

`main` imports the rest, so that an interruption or a lack of memory while the command starts ends it as it does later.
"""

import atexit
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from smallearn.cli.entry import make_parser

FAILED, INTERRUPTED = 1, 130  # as in `errors.ExitCode`, which may not be there yet

__all__ = ["main", "make_parser"]


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command; see `entry.main`. Without arguments it is the process that was started, which it ends if need be.

    The code of an interrupted process would be lost otherwise: Python takes an interruption of text that it executes,
    as dataclasses do, for one that nobody handled.
    """
    code = _run(argv)
    if code == INTERRUPTED and argv is None:
        with suppress(BaseException):  # another interruption, or a closed pipe
            atexit._run_exitfuncs()
            sys.stdout.flush()
        os._exit(code)
    return code


def _run(argv: Sequence[str] | None) -> int:
    try:
        from smallearn.cli import entry

        return entry.main(argv)
    except KeyboardInterrupt:
        print("\nInterrupted.", file=sys.stderr)
        return INTERRUPTED
    except MemoryError:
        print("smallearn: there is too little memory to start.", file=sys.stderr)
        return FAILED


def __getattr__(name: str) -> Any:
    """Import the parser on first use."""
    if name != "make_parser":
        raise AttributeError(f"module 'smallearn.cli' has no attribute {name!r}")
    from smallearn.cli.entry import make_parser

    return make_parser
