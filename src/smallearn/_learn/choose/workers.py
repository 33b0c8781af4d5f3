"""Processes that share the work of a choice. They end with this process, however it ends; Ctrl-C is for it alone."""

import os
import signal
import threading
from collections.abc import Callable, Iterable
from contextlib import suppress
from multiprocessing import resource_tracker
from typing import Any

from joblib.parallel import get_active_backend
from sklearn.utils.parallel import Parallel
from sklearn.utils.parallel import delayed as delayed_with_settings

from smallearn._run.processes import begin_worker

LOKY = "LokyBackend"  # the one whose workers are ours; users may choose others with `joblib.parallel_config`
_started = False
_is_worker = False


def delayed(function: Callable[..., Any]) -> Callable[..., Any]:
    """Work for `in_processes`: ``delayed(function)(*arguments)``."""
    return lambda *arguments: delayed_with_settings(_do)(os.getpid(), function, *arguments)


def in_processes(n_jobs: int | None, work: Iterable[Any]) -> list[Any]:
    """The results of some `delayed` calls, in order."""
    parallel = Parallel(n_jobs=n_jobs)
    if type(get_active_backend()[0]).__name__ == LOKY:
        _start(parallel)
    return list(parallel(work))


def _do(parent: int, function: Callable[..., Any], *arguments: Any) -> Any:
    """Do some work, in a process that ``parent`` started as its worker.

    Not by an initializer: joblib before 1.5 takes none, and all processes would be started anew whenever work of the
    user's own, which has none, comes between.
    """
    global _is_worker
    if not _is_worker and os.getppid() == parent and threading.current_thread() is threading.main_thread():
        _is_worker = True
        begin_worker(parent)
    return function(*arguments)


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
