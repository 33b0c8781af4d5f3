"""What a killed process left behind. A draft is locked while someone writes it; one that is not locked is dead.

The system gives a lock back however its process ends. Where there are no such locks (on Windows, and in file systems
without them) nothing is cleared. Some file systems that machines share keep the locks of each machine apart: a draft
has its machine in its name, and only drafts of this machine are cleared.
"""

import os
import platform
import re
import secrets
import shutil
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from smallearn._run.hashing import hex_digest

fcntl: Any
try:
    import fcntl
except ImportError:  # Windows
    fcntl = None

DRAFT = ".smallearn-"  # names of drafts begin with it
HERE = f"{DRAFT}{hex_digest(platform.node().encode())[:8]}-"  # those of drafts of this machine
NAME = re.compile(re.escape(HERE) + r"[0-9a-f]{16}\.tmp")
OLD = "old"  # the folder inside the draft of a folder for the folder that it replaces
LINKS = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)  # do not follow links, or wait for pipes


@contextmanager
def locked_draft(folder: Path, create: Callable[[Path], None]) -> Iterator[Path]:
    """A new draft in a folder, which ``create`` makes as a file or a folder, and its lock. Clears dead ones first."""
    clear(folder)
    while True:
        draft = folder / f"{HERE}{secrets.token_hex(8)}.tmp"
        create(draft)
        descriptor = _locked(draft, wait=True)
        if draft.exists():
            break
        if descriptor is not None:  # between creating and locking it looked dead to someone, who removed it
            os.close(descriptor)
    try:
        yield draft
    finally:
        if descriptor is not None:
            os.close(descriptor)


def clear(folder: Path) -> None:
    """Remove this machine's drafts in a folder whose process is dead. A folder that one had set aside is put back."""
    if fcntl is None:
        return
    with suppress(OSError), os.scandir(folder) as entries:
        for draft in [Path(entry.path) for entry in entries if NAME.fullmatch(entry.name)]:
            with suppress(OSError):
                _remove_if_dead(draft)


def _remove_if_dead(draft: Path) -> None:
    descriptor = _locked(draft)
    if descriptor is None:
        return
    try:
        status = os.fstat(descriptor)
        if status.st_uid != os.geteuid():
            return
        if stat.S_ISREG(status.st_mode):
            draft.unlink(missing_ok=True)
        elif stat.S_ISDIR(status.st_mode):
            for old in (draft / OLD).glob("*"):
                if not (draft.parent / old.name).exists():
                    old.rename(draft.parent / old.name)
            shutil.rmtree(draft, ignore_errors=True)
    finally:
        os.close(descriptor)


def _locked(draft: Path, wait: bool = False) -> int | None:
    """A descriptor that holds the lock of a draft; None if another process holds it, or there are no locks."""
    if fcntl is None:
        return None
    try:
        descriptor = os.open(draft, os.O_RDONLY | LINKS)
    except OSError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except OSError:
        os.close(descriptor)
        return None
    return descriptor
