"""Files that commands read and write: checks before any work is done, and writing whole files."""

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
from smallearn.cli.errors import CommandError
from smallearn.model import SMaLLModel, load_model

TABLE_ENDINGS = (".csv", ".tsv", ".txt", ".parquet", ".pq", ".arrow", ".feather", ".ipc", ".xlsx", ".xlsm")


# --- reading ---------------------------------------------------------------------------------------------------------


def read_model(arguments: argparse.Namespace) -> SMaLLModel:
    """The model in ``arguments.model``. That the tables of the command exist is checked too."""
    path, data = arguments.model, getattr(arguments, "data", None)
    check_input(path)
    if looks_like_table(path) and not _begins_like_json(path):
        advice = "train one: smallearn fit"
        if data is not None:
            advice = f"the model comes first: smallearn {arguments.command} {_quoted(data)} {_quoted(path)}"
        raise CommandError(f"{shown(path)} is a table, not a model; {advice}")
    for table in filter(None, (data, getattr(arguments, "train", None), getattr(arguments, "monitor", None))):
        if not files.parquet_files(table):
            check_input(table)
    try:
        return load_model(path)
    except (OSError, ValueError) as error:
        raise CommandError(str(error)) from None


def check_input(path: Path) -> None:
    """Check, before any work is done, that a file to read exists."""
    if path.is_dir():
        raise CommandError(f"{show(str(path))} is a folder; name a file")
    if not path.exists():
        raise CommandError(f"there is no file {show(str(path))}")


def looks_like_table(path: Path) -> bool:
    """Whether a file's name ends like that of a table."""
    return Path(path.stem if path.suffix.lower() == ".gz" else path.name).suffix.lower() in TABLE_ENDINGS


def _begins_like_json(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(100).lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{")
    except OSError as error:
        raise CommandError(f"{show(str(path))} cannot be read: {error.strerror}") from None


def _quoted(path: Path) -> str:
    """A path as a shell takes it, on one line."""
    return show(shlex.quote(str(path)), quote=False, most=200)


# --- writing ---------------------------------------------------------------------------------------------------------


def check_output(path: Path, *inputs: Path | None) -> None:
    """Check, before any work is done, that a file can be written and is none of the ``inputs``."""
    _check_folder(path)
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise CommandError(f"{show(str(path))} cannot be written: permission denied")
    for other in filter(None, inputs):
        if path.exists() and other.exists() and os.path.samefile(path, other):
            raise CommandError(f"{show(str(path))} is also the input: name another file to write")


def _check_folder(path: Path) -> None:
    if not path.parent.is_dir():
        raise CommandError(f"there is no folder {show(str(path.parent))} to write {show(path.name)} in")
    if path.is_dir():
        raise CommandError(f"{show(str(path))} is a folder; name a file")


def write_file(content: str | bytes, path: Path) -> None:
    """Write a file whole or not at all."""
    with draft_of(path) as draft:
        draft.write_bytes(content if isinstance(content, bytes) else as_text(content).encode())


@contextmanager
def draft_of(path: Path) -> Iterator[Path]:
    """`files.draft_of` with errors in one sentence; a signal to end removes the draft too."""
    _check_folder(path)
    try:
        with signals_as_exits(), files.draft_of(path) as draft:
            yield draft
    except OSError as error:
        about = path if error.filename is None else Path(error.filename)
        if about != path and not about.name.startswith(files.DRAFT):
            raise
        raise CommandError(f"{show(str(path))} cannot be written: {error.strerror or error}") from None


@contextmanager
def signals_as_exits() -> Iterator[None]:
    """SIGTERM and SIGHUP raise SystemExit, so that unfinished files are removed."""

    def leave(number: int, _: object) -> None:
        raise SystemExit(128 + number)

    if threading.current_thread() is not threading.main_thread():  # other threads receive no signals
        yield
        return
    numbers = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    before = {number: signal.signal(number, leave) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def print_json(document: Any) -> None:
    """Print one JSON document, with escapes unless stdout is UTF-8."""
    encoding = (getattr(sys.stdout, "encoding", None) or "").lower().replace("-", "")
    print(json.dumps(document, indent=1, ensure_ascii=encoding != "utf8"))


# --- names -----------------------------------------------------------------------------------------------------------


def shown(path: Path) -> str:
    """A file's path in a sentence, on one line."""
    return show(str(path), quote=False, most=200)


def file_name(path: Path) -> str:
    """A file's name as text; see `as_text`."""
    return as_text(path.name)


def as_text(text: str) -> str:
    """Text from the operating system, with question marks for bytes that could not be decoded."""
    return text.encode(errors="replace").decode()


def size_text(n_bytes: float) -> str:
    """A number of bytes for people: ``2.9 GB``."""
    for unit, factor in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if n_bytes >= factor:
            return f"{n_bytes / factor:.3g} {unit}"
    return f"{n_bytes:.0f} bytes"
