"""Measure cells, each in a new process: wall and CPU seconds, and the rise of memory above that of the data.

The processes are copies of one that has imported all libraries and run nothing. What waits for another thread does not
count as work (OMP_WAIT_POLICY), so CPU seconds mean the same on a busy machine.
"""

import multiprocessing
import os
import resource
import signal
import sys
import time
import warnings
from contextlib import suppress
from dataclasses import asdict, fields
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from benchmarks.scale.cells import MADE, REAL_SETS, Cell
from smallearn._run import resumable
from smallearn._run.resumable import Scores

KEY = tuple(field.name for field in fields(Cell))
COLUMNS = (*KEY, "wall", "cpu", "megabytes", "limit")
LIBRARIES = ["benchmarks.scale.data", "benchmarks.scale.methods", "abess", "interpret.glassbox"]
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
UNIT = 1e6 if sys.platform == "darwin" else 1e3  # of ru_maxrss, in a megabyte


class Settings(NamedTuple):
    """How cells are measured: the folder of real sets, CPU seconds that a fit may take, and cores."""

    folder: Path | None
    limit: float
    cores: int


def scores(folder: Path) -> Scores:
    """The file of results in a folder. A fit that was stopped has a limit but no seconds."""
    return Scores(path=folder / "results.csv", columns=COLUMNS, key=KEY, text=("data",))


def run(cells: list[Cell], results: Scores, settings: Settings) -> list[str]:
    """Measure the cells that are not done, smaller ones first. Returns a line for each failure."""
    os.environ.update(dict.fromkeys(THREADS, str(settings.cores)), OMP_WAIT_POLICY="passive")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(LIBRARIES)
    done = _finished(results.read(), settings.limit)
    trials = {str(cell): partial(_trial, cell, results, settings) for cell in cells if cell not in done}
    return resumable.run(trials, results, jobs=1)


def cell_of(line: Any) -> Cell:
    """The cell of a line of the results."""
    return Cell(*(getattr(line, name) for name in KEY))


def _finished(found: pd.DataFrame, limit: float) -> set[Cell]:
    """Cells that were measured, or stopped after no less than the limit."""
    kept = found[found["cpu"].notna() | (found["limit"] >= limit)]
    return {cell_of(line) for line in kept.itertuples()}


def _trial(cell: Cell, results: Scores, settings: Settings) -> list[dict[str, Any]]:
    """One line of results; none where a smaller cell of the method was stopped."""
    found = results.read()
    stopped = found[found["cpu"].isna() & (found["limit"] >= settings.limit)]
    if any(cell.at_least(cell_of(line)) for line in stopped.itertuples()):
        return []
    measured = _in_a_process(cell, settings)
    return [{**asdict(cell), **measured, "limit": settings.limit}]


def _in_a_process(cell: Cell, settings: Settings) -> dict[str, float | None]:
    context = multiprocessing.get_context("forkserver")
    receive, send = context.Pipe(duplex=False)
    process = context.Process(target=_measure, args=(cell, settings, send))
    process.start()
    send.close()
    try:
        answer = receive.recv()
    except EOFError:
        process.join()
        if process.exitcode != -signal.SIGPROF:
            raise RuntimeError(f"the process died with exit code {process.exitcode} (out of memory?)") from None
        return {"wall": None, "cpu": None, "megabytes": None}
    finally:
        process.kill()
        process.join()
    if isinstance(answer, Exception):
        raise answer
    return answer


def _measure(cell: Cell, settings: Settings, send: Connection) -> None:
    """Fit, in the new process, and send what it took."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent handles it
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: settings.cores])
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # rivals that stop early
            send.send(_fit(cell, settings))
    except Exception as error:
        send.send(RuntimeError(f"{type(error).__name__}: {error}"))


def _fit(cell: Cell, settings: Settings) -> dict[str, float | None]:
    from benchmarks.scale import data
    from benchmarks.scale.methods import METHODS, OURS

    method = METHODS[cell.method]
    if cell.data == MADE:
        X, y = data.make(cell.rows, cell.columns, cell.classes)
    else:
        assert settings.folder is not None
        X, y = data.read(settings.folder, cell.data)
    terms = (cell.terms,) if method.bounded else ()
    parameters = dict(REAL_SETS[cell.data].parameters) if cell.method == OURS and cell.data != MADE else {}
    if method.compiles:
        classes = int(y.max()) + 1
        method.fit(*data.make(40 * classes, 6, classes), max(6, classes))
    _forget_peak()
    before, start = _used(), time.perf_counter()
    signal.setitimer(signal.ITIMER_PROF, settings.limit)  # its signal ends the process
    method.fit(X, y, *terms, **parameters)
    wall, after = time.perf_counter() - start, _used()
    return {"wall": wall, "cpu": after[0] - before[0], "megabytes": after[1] - before[1]}


def _forget_peak() -> None:
    """Let the largest memory so far be that of now, where the system can: on Linux."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def _used() -> tuple[float, float]:
    """CPU seconds of this process and its children, and its largest memory in megabytes."""
    own, children = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    cpu = own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime
    return cpu, own.ru_maxrss / UNIT
