"""Cells: one data set, one method, one split. Each that is finished is a line of a CSV file, written in one piece.

A second run goes on where the first stopped. A cell that fails is told and leaves no line, so it is tried again.
"""

import multiprocessing
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any

import pandas as pd
from threadpoolctl import threadpool_limits

from smallearn._run.progress import Bar

TELL_EVERY = 60.0  # seconds between two lines about progress where there is no terminal for a bar


class ForeignFileError(ValueError):
    """Where results should go there is a file of something else."""


class Scores:
    """A CSV file of results: ``key`` are the columns that name a cell, ``columns`` all of them, ``words`` those that
    are never numbers, whatever they look like."""

    def __init__(self, path: Path, columns: tuple[str, ...], key: tuple[str, ...], words: tuple[str, ...] = ()):
        self.path, self.columns, self.key, self.words = path, columns, key, words

    def read(self) -> pd.DataFrame:
        """The results so far, the last of each cell; a line that was not written to its end is not one."""
        lines = [line.split(",") for line in self._whole().decode().split("\n")[1:]]
        frame = pd.DataFrame([line for line in lines if len(line) == len(self.columns)], columns=list(self.columns))
        for name in frame.columns.difference(list(self.words)):
            try:
                frame[name] = pd.to_numeric(frame[name])
            except ValueError:
                continue  # words
        return frame.drop_duplicates(list(self.key), keep="last").reset_index(drop=True)

    def _whole(self) -> bytes:
        """What is in the file up to the last end of a line: a run may have died while it wrote."""
        return self.path.read_bytes().rpartition(b"\n")[0] if self.path.exists() else b""

    def done(self) -> set[tuple]:
        """The cells that have a result."""
        return set(self.read()[list(self.key)].itertuples(index=False, name=None))

    def prepare(self) -> None:
        """A file with a header and without a torn last line."""
        header = ",".join(self.columns)
        if not self.path.exists() or self.path.stat().st_size == 0:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            new = self.path.with_suffix(".new")
            new.write_bytes(f"{header}\n".encode())
            os.replace(new, self.path)
            return
        with self.path.open("r+b") as file:
            first = file.readline().decode(errors="replace").rstrip("\n")
            if first != header:
                raise ForeignFileError(
                    f"{self.path} is not a file of these results (its first line is {first[:80]!r}, not {header!r}); "
                    "move it away, or write the results elsewhere."
                )
            file.truncate(len(self._whole()) + 1)

    def append(self, rows: list[dict[str, Any]]) -> None:
        """All rows in one write to the end of the file."""
        lines = "".join(",".join(_text(row[name]) for name in self.columns) + "\n" for row in rows).encode()
        with self.path.open("ab", buffering=0) as file:
            before = file.tell()
            if file.write(lines) != len(lines):  # a full disk: no half a line is left for others to be written behind
                file.truncate(before)
                raise OSError(f"{self.path} could not be written to its end; is the disk full?")
            os.fsync(file.fileno())

    def forget(self, column: str, values: list[Any]) -> None:
        """Drop the rows that have one of these values."""
        kept = self.read()
        kept = kept[~kept[column].isin(values)]
        new = self.path.with_suffix(".new")
        kept.to_csv(new, index=False)
        os.replace(new, self.path)


def _text(value: Any) -> str:
    text = "" if value is None else f"{value:.6f}" if isinstance(value, float) else str(value)
    if "," in text or "\n" in text:
        raise ValueError(f"{text!r} cannot stand in a line of results.")
    return text


def run(tasks: Mapping[str, Callable[[], list[dict[str, Any]]]], scores: Scores, jobs: int) -> list[str]:
    """Run the tasks, by name, each on one thread in one of ``jobs`` processes. Returns the failures, told as they
    come."""
    scores.prepare()
    failures: list[str] = []
    told = time.monotonic()
    with Bar(len(tasks), "fits") as bar:
        for name, future in _finished(tasks, jobs):
            try:
                scores.append(future.result())
            except BrokenProcessPool:
                failures.append(f"a process died (out of memory?), and {len(tasks) - bar.done} were not run")
                break
            except Exception as error:  # whatever goes wrong in one cell, the others are still wanted
                failures.append(f"{name}: {type(error).__name__}: {error}")
                print(f"Failed: {failures[-1]}", file=sys.stderr, flush=True)
            bar.step()
            if not sys.stderr.isatty() and time.monotonic() - told > TELL_EVERY:
                told = time.monotonic()
                print(f"{bar.done} of {bar.total} fits done", file=sys.stderr, flush=True)
    return failures


def _finished(tasks: Mapping[str, Callable], jobs: int) -> Iterator[tuple[str, Future]]:
    """Each task when it is done. Where there is one job, in this process."""
    if jobs == 1:
        for name, task in tasks.items():
            future: Future = Future()
            try:
                future.set_result(_alone(task))
            except Exception as error:
                future.set_exception(error)
            yield name, future
        return
    pool = ProcessPoolExecutor(jobs, mp_context=multiprocessing.get_context("spawn"), initializer=_leave_interrupts)
    try:
        running = {pool.submit(_alone, task): name for name, task in tasks.items()}
        left = set(running)
        while left:
            done, left = wait(left, return_when=FIRST_COMPLETED)
            for future in done:
                yield running[future], future
    except BaseException:  # interrupted: what is under way is given up
        for process in multiprocessing.active_children():
            process.terminate()
        raise
    finally:
        pool.shutdown(cancel_futures=True)


def _leave_interrupts() -> None:
    """Ctrl-C reaches all processes of a terminal; the one that started the others sees to it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _alone(task: Callable[[], Any]) -> Any:
    with threadpool_limits(1):
        return task()
