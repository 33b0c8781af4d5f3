"""Cells: one data set, one method, one split. Each that is finished is a line of a CSV file, written in one piece.

A second run goes on where the first stopped. A cell that fails is told and leaves no line, so it is tried again.
"""

import multiprocessing
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any

import pandas as pd
from threadpoolctl import threadpool_limits

from smallearn.progress import Bar


class ForeignFileError(ValueError):
    """Where results should go there is a file of something else."""


class Scores:
    """A CSV file of results: ``key`` are the columns that name a cell, ``columns`` all of them."""

    def __init__(self, path: Path, columns: tuple[str, ...], key: tuple[str, ...]):
        self.path, self.columns, self.key = path, columns, key

    def read(self) -> pd.DataFrame:
        """The results so far, the last of each cell; a line that was not written to its end is not one."""
        if not self.path.exists():
            return pd.DataFrame(columns=list(self.columns))
        whole = self.path.read_text().rpartition("\n")[0]
        lines = [line.split(",") for line in whole.splitlines()[1:]]
        frame = pd.DataFrame([line for line in lines if len(line) == len(self.columns)], columns=list(self.columns))
        for name in frame.columns:
            try:
                frame[name] = pd.to_numeric(frame[name])
            except ValueError:
                continue  # words
        return frame.drop_duplicates(list(self.key), keep="last").reset_index(drop=True)

    def done(self) -> set[tuple]:
        """The cells that have a result."""
        return set(self.read()[list(self.key)].itertuples(index=False, name=None))

    def prepare(self) -> None:
        """A file with a header and without a torn last line."""
        if not self.path.exists():
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self.path.write_text(",".join(self.columns) + "\n")
            return
        head, _, _ = self.path.read_text().partition("\n")
        if head != ",".join(self.columns):
            raise ForeignFileError(
                f"{self.path} is not a file of these results (its first line is {head!r}); move it away."
            )
        whole, newline, torn = self.path.read_bytes().rpartition(b"\n")
        if torn:
            with self.path.open("r+b") as file:
                file.truncate(len(whole) + len(newline))

    def append(self, rows: list[dict[str, Any]]) -> None:
        """All rows in one write to the end of the file."""
        lines = [",".join(_text(row[name]) for name in self.columns) + "\n" for row in rows]
        with self.path.open("ab", buffering=0) as file:
            file.write("".join(lines).encode())
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
    with Bar(len(tasks), "fits") as bar:
        for name, future in _finished(tasks, jobs):
            try:
                scores.append(future.result())
            except BrokenProcessPool:
                failures.append("A process died (out of memory?); what was left was not run.")
                break
            except Exception as error:  # whatever goes wrong in one cell, the others are still wanted
                failures.append(f"{name}: {type(error).__name__}: {error}")
                print(f"Failed: {failures[-1]}", file=sys.stderr, flush=True)
            bar.step()
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
    pool = ProcessPoolExecutor(jobs, mp_context=multiprocessing.get_context("spawn"))
    try:
        running = {pool.submit(_alone, task): name for name, task in tasks.items()}
        left = set(running)
        while left:
            done, left = wait(left, return_when=FIRST_COMPLETED)
            for future in done:
                yield running[future], future
    finally:
        pool.shutdown(cancel_futures=True)  # when interrupted, what waits is not begun


def _alone(task: Callable[[], Any]) -> Any:
    with threadpool_limits(1):
        return task()
