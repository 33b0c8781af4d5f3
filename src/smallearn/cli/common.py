"""What several commands do alike."""

import argparse
import json
import os
import shlex
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from smallearn._run import files
from smallearn._text import show
from smallearn.cli.terminal import tell
from smallearn.model import SMaLLModel, load_model

__all__ = [
    "INTERRUPTED",
    "NOBODY_READS",
    "PROBLEM",
    "CommandError",
    "as_text",
    "check_input",
    "check_output",
    "draft_of",
    "file_name",
    "looks_like_table",
    "print_json",
    "read_model",
    "tell",
    "write_file",
]

PROBLEM, INTERRUPTED, NOBODY_READS = 1, 130, 141
TABLES = (".csv", ".tsv", ".txt", ".parquet", ".pq", ".arrow", ".feather", ".ipc")


class CommandError(Exception):
    """What a user did, or a file holds, that a command can do nothing with: one sentence."""


def read_model(given: argparse.Namespace) -> SMaLLModel:
    """The model that a command was given; its other file, if it has one, is there too."""
    path, data = given.model, getattr(given, "data", None)
    check_input(path)
    if looks_like_table(path) and not _begins_json(path):
        cure = "train one: smallearn fit"
        if data is not None:
            cure = f"the model comes first: smallearn {given.command} {_word(data)} {_word(path)}"
        raise CommandError(f"{show(str(path), quote=False, most=200)} is a table, not a model; {cure}")
    for other in filter(None, (data, getattr(given, "train", None))):
        check_input(other)
    try:
        return load_model(path)
    except (OSError, ValueError) as problem:
        raise CommandError(str(problem)) from None


def looks_like_table(path: Path) -> bool:
    """Whether a file's ending is that of a table."""
    return Path(path.stem if path.suffix.lower() == ".gz" else path.name).suffix.lower() in TABLES


def _begins_json(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(100).lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{")
    except OSError as problem:
        raise CommandError(f"{show(str(path))} cannot be read: {problem.strerror}") from None


def _word(path: Path) -> str:
    """A path as a word of the shell, on one line."""
    return show(shlex.quote(str(path)), quote=False, most=200)


def print_json(facts: Any) -> None:
    """One JSON document on stdout, in escapes where that is not UTF-8."""
    encoding = (getattr(sys.stdout, "encoding", None) or "").lower().replace("-", "")
    print(json.dumps(facts, indent=1, ensure_ascii=encoding != "utf8"))


def write_file(content: str | bytes, path: Path) -> None:
    """Write a file whole or not at all; bytes of names that are no text become question marks."""
    with draft_of(path) as draft:
        draft.write_bytes(content if isinstance(content, bytes) else as_text(content).encode())


def file_name(path: Path) -> str:
    """A file's name as text that can be written anywhere, whatever bytes it has."""
    return as_text(path.name)


def as_text(words: str) -> str:
    """What the user typed, with question marks for bytes that are no text."""
    return words.encode(errors="replace").decode()


@contextmanager
def draft_of(path: Path) -> Iterator[Path]:
    """As `files.draft_of`, where what goes wrong is told in a sentence, and a request to end leaves nothing."""
    _check_folder(path)
    try:
        with _orderly_end(), files.draft_of(path) as draft:
            yield draft
    except OSError as problem:
        about = path if problem.filename is None else Path(problem.filename)
        if about != path and not about.name.startswith(files.DRAFT):
            raise
        raise CommandError(f"{show(str(path))} cannot be written: {problem.strerror or problem}") from None


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


def check_input(path: Path) -> None:
    """A file that is to be read is there: said before any work is done."""
    if path.is_dir():
        raise CommandError(f"{show(str(path))} is a folder; name a file")
    if not path.exists():
        raise CommandError(f"there is no file {show(str(path))}")


def check_output(path: Path, *inputs: Path | None) -> None:
    """A file can be written to a folder only, and not over what is read: said before any work is done."""
    _check_folder(path)
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise CommandError(f"{show(str(path))} cannot be written: that is not permitted")
    for other in filter(None, inputs):
        if path.exists() and other.exists() and os.path.samefile(path, other):
            raise CommandError(f"{show(str(path))} is also the input: name another file to write")


def _check_folder(path: Path) -> None:
    if not path.parent.is_dir():
        raise CommandError(f"there is no folder {show(str(path.parent))} to write {show(path.name)} in")
    if path.is_dir():
        raise CommandError(f"{show(str(path))} is a folder; name a file")
