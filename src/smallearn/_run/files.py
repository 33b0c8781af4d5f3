"""Files that are written whole or not at all, and folders of files. Uses the standard library alone, as models do."""

import os
import shutil
import stat
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

from smallearn._run.leftovers import DRAFT, OLD, locked_draft

__all__ = ["DRAFT", "draft_of", "folder_draft_of", "parquet_files", "scratch_folder", "write_whole"]


def write_whole(path: str | os.PathLike, content: str | bytes) -> None:
    """Write text (as UTF-8, line ends unchanged) or bytes to ``path``, whole or not at all; see `draft_of`."""
    with draft_of(path) as draft:
        draft.write_bytes(content.encode() if isinstance(content, str) else content)


@contextmanager
def draft_of(path: str | os.PathLike) -> Iterator[Path]:
    """Yield an empty file to write to, which replaces ``path`` when the block ends.

    If the block raises, also on an interrupt, the draft is removed and ``path`` stays as it was. A symbolic link stays
    a link to the file that is replaced, and that file keeps its mode. Pipes, devices and standard output are not
    replaced: the draft is copied into them when the block ends. Drafts that killed processes left in the folder are
    removed.
    """
    target = Path(os.path.realpath(path))
    old = os.stat(path) if os.path.exists(path) else None
    copied = old is not None and (not stat.S_ISREG(old.st_mode) or _standard_stream(old) is not None)
    folder = Path(tempfile.gettempdir()) if copied else target.parent
    with locked_draft(folder, partial(Path.touch, mode=0o666 if old is None else 0o600, exist_ok=False)) as draft:
        try:
            yield draft
            if old is not None and copied:
                _copy(draft, path, old)
                return
            with draft.open("r+b") as file:
                os.fsync(file.fileno())
            if old is not None:
                draft.chmod(old.st_mode & 0o777)
            os.replace(draft, target)
        finally:
            draft.unlink(missing_ok=True)


def _copy(draft: Path, path: str | os.PathLike, old: os.stat_result) -> None:
    """Copy the draft into a pipe, a device or a standard stream.

    A standard stream is written through its descriptor, not opened again: it may be a file with a position.
    """
    descriptor = _standard_stream(old)
    sys.stdout.flush()  # earlier output comes first
    target = path if descriptor is None else descriptor
    with draft.open("rb") as source, open(target, "wb", closefd=descriptor is None) as sink:
        shutil.copyfileobj(source, sink)


def _standard_stream(status: os.stat_result) -> int | None:
    """The descriptor of standard output (1) or standard error (2), if the file is one of them."""
    for descriptor in (1, 2):
        with suppress(OSError):
            if os.path.samestat(status, os.fstat(descriptor)):
                return descriptor
    return None


@contextmanager
def folder_draft_of(path: str | os.PathLike) -> Iterator[Path]:
    """Yield an empty folder that takes the place of ``path`` once the block ends; if it raises, nothing is changed."""
    place = Path(path)
    place.parent.mkdir(parents=True, exist_ok=True)
    with locked_draft(place.parent, partial(Path.mkdir, mode=0o700)) as work:
        try:
            new, old = work / "new", work / OLD / place.name
            new.mkdir()
            old.parent.mkdir()
            yield new
            if place.exists():
                place.rename(old)
            try:
                new.rename(place)
            except OSError:
                if old.exists():
                    old.rename(place)
                raise
        finally:
            shutil.rmtree(work, ignore_errors=True)


@contextmanager
def scratch_folder(place: Path | None = None) -> Iterator[Path]:
    """An empty folder, in ``place`` or among the temporary ones, until the block ends. Clears those of the killed."""
    with locked_draft(place or Path(tempfile.gettempdir()), partial(Path.mkdir, mode=0o700)) as folder:
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def parquet_files(path: Path) -> list[Path]:
    """The Parquet files in a folder and below it, by name; none if it is no folder."""
    return sorted(path.glob("**/*.parquet")) if path.is_dir() else []
