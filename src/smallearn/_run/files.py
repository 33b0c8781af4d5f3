"""Files that are written whole or not at all, and what is written to that is no file."""

import os
import secrets
import shutil
import stat
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

DRAFT = ".smallearn-"  # how the names of drafts begin


@contextmanager
def draft_of(path: str | os.PathLike) -> Iterator[Path]:
    """An empty file to write to, which takes the place of ``path`` when all is written; if anything goes wrong before,
    an interruption included, nothing of it is left.

    A link stays a link, and a file that is replaced keeps its mode. A pipe, a device and standard output are not
    replaced but written into, at the end.
    """
    target = Path(os.path.realpath(path))
    old = os.stat(path) if os.path.exists(path) else None
    through = old is not None and (not stat.S_ISREG(old.st_mode) or _descriptor(old) is not None)
    folder = Path(tempfile.gettempdir()) if through else target.parent
    draft = folder / f"{DRAFT}{secrets.token_hex(8)}.tmp"
    try:
        draft.touch(0o666 if old is None else 0o600, exist_ok=False)
        yield draft
        if old is not None and through:
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
    """The draft's bytes into what is no file. Standard output is not opened anew: it may be a file that has a place
    to go on at."""
    number = _descriptor(old)
    sys.stdout.flush()  # what was printed before comes before
    with draft.open("rb") as source, open(path if number is None else number, "wb", closefd=number is None) as into:
        shutil.copyfileobj(source, into)


def _descriptor(old: os.stat_result) -> int | None:
    """The number of standard output or error, if it is what is there."""
    for number in (1, 2):
        with suppress(OSError):
            if os.path.samestat(old, os.fstat(number)):
                return number
    return None
