"""Worker processes that do not outlive the process they work for, however it ends; on Windows, if it ends in order."""

import multiprocessing
import os
import signal
import threading
import time

SECONDS = 1.0  # between two looks at the parent


def begin_worker(parent: int) -> None:
    """Begin a process that works for its ``parent``: it ends with it, and Ctrl-C, which reaches both, is for that."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_watch, args=(parent,), name="smallearn: watch of the parent", daemon=True).start()


def begin_spawned_worker() -> None:
    """`begin_worker` in a process that `multiprocessing` started."""
    parent = multiprocessing.parent_process()
    if parent is not None and parent.pid is not None:
        begin_worker(parent.pid)


def _watch(parent: int) -> None:
    """A process whose parent is gone gets another one; not on Windows, where this waits in vain."""
    while os.getppid() == parent:
        time.sleep(SECONDS)
    os._exit(1)
