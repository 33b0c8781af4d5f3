"""The notice that the first fit compiles the kernels, which takes a while."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from numba.core import event

from smallearn._learn import kernels


class _Notice(event.Listener):
    """Print one line when a kernel is compiled; a kernel that is read from the cache raises no event."""

    def __init__(self) -> None:
        self.printed = False

    def on_start(self, event: Any) -> None:
        dispatcher = event.data["dispatcher"]
        if self.printed or dispatcher.py_func.__module__ != kernels.__name__:
            return
        self.printed = True
        if dispatcher.stats.cache_path is None:
            line = "Setup, about 15 s in each process. To do it only once, set NUMBA_CACHE_DIR to a writable folder."
        else:
            line = "One-time setup, about 15 s."
        print(f"smallearn: {line}", file=sys.stderr)

    def on_end(self, event: Any) -> None:
        pass


@contextmanager
def notice_of_compiling(shown: bool = True) -> Iterator[None]:
    """Tell the user, once and only if ``shown``, if anything in this block has to be compiled first."""
    if not shown:
        yield
        return
    with event.install_listener("numba:compile", _Notice()):
        yield
