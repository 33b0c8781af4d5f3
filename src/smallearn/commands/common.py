"""What several commands do alike."""

import os
import secrets
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from smallearn.commands.terminal import tell
from smallearn.model import SMaLLModel, load_model
from smallearn.words import show

__all__ = ["INTERRUPTED", "PROBLEM", "CommandError", "check_folder", "draft_of", "read_model", "tell", "write_file"]

PROBLEM, INTERRUPTED = 1, 130


class CommandError(Exception):
    """What a user did, or a file holds, that a command can do nothing with: one sentence."""


def read_model(path: Path) -> SMaLLModel:
    """The model in a file."""
    try:
        return load_model(path)
    except FileNotFoundError:
        raise CommandError(f"there is no file {show(str(path))}") from None
    except (OSError, ValueError) as problem:
        raise CommandError(str(problem)) from None


def write_file(content: str | bytes, path: Path) -> None:
    """Write a file whole or not at all."""
    with draft_of(path) as draft:
        draft.write_bytes(content if isinstance(content, bytes) else content.encode())


@contextmanager
def draft_of(path: Path) -> Iterator[Path]:
    """A file beside ``path`` to write to. It takes its place when all is written; if anything goes wrong before, an
    interruption included, nothing of it is left."""
    check_folder(path)
    draft = path.with_name(f".smallearn-{secrets.token_hex(8)}.tmp")
    try:
        with _orderly_end():
            yield draft
        os.replace(draft, path)
    except OSError as problem:
        if problem.filename not in (None, str(draft), draft):
            raise
        raise CommandError(f"{show(str(path))} cannot be written: {problem.strerror or problem}") from None
    finally:
        draft.unlink(missing_ok=True)


@contextmanager
def _orderly_end() -> Iterator[None]:
    """A request to end, or a terminal that is closed, is an exception, so that what was begun is cleared away."""

    def end(number: int, _: object) -> None:
        raise SystemExit(128 + number)

    if threading.current_thread() is not threading.main_thread():  # where signals do not arrive
        yield
        return
    numbers = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    before = {number: signal.signal(number, end) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def check_folder(path: Path) -> None:
    """A file can be written to a folder only: said before any work is done."""
    if not path.parent.is_dir():
        raise CommandError(f"there is no folder {show(str(path.parent))} to write {show(path.name)} in")
    if path.is_dir():
        raise CommandError(f"{show(str(path))} is a folder; name a file")
