"""Processes that share the work of a choice. They end with this process, however it ends; Ctrl-C is for it alone."""

import os
import signal
import threading
from collections.abc import Iterable
from contextlib import suppress
from multiprocessing import resource_tracker
from typing import Any

from joblib.parallel import get_active_backend
from sklearn.utils.parallel import Parallel, delayed

from smallearn._run.processes import begin_worker

LOKY = "LokyBackend"  # the one whose workers are ours; users may choose others with `joblib.parallel_config`
_started = False


def in_processes(n_jobs: int | None, work: Iterable[Any]) -> list[Any]:
    """The results of some `delayed` calls, in order."""
    if type(get_active_backend()[0]).__name__ != LOKY:
        return list(Parallel(n_jobs=n_jobs)(work))
    parallel = Parallel(n_jobs=n_jobs, initializer=begin_worker, initargs=(os.getpid(),))
    _start(parallel)
    return list(parallel(work))


def _start(parallel: Parallel) -> None:
    """Start the processes, once, with interrupts blocked: while they start they would answer one with a traceback."""
    global _started
    if _started or not hasattr(signal, "pthread_sigmask"):
        return
    if threading.current_thread() is not threading.main_thread():  # others get no interrupts, and block none
        return
    _started = True
    resource_tracker.ensure_running()  # starting the trackers would unblock interrupts
    with suppress(ImportError):
        from joblib.externals.loky.backend import resource_tracker as loky_tracker

        loky_tracker.ensure_running()
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        parallel(delayed(_ready)() for _ in range(2))
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)


def _ready() -> None:
    """Nothing to do."""


__all__ = ["delayed", "in_processes"]
