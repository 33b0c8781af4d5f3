"""Experiments that can be interrupted and resumed. Each finished trial (one data set, one method, one split) is a line
of a CSV file, appended in a single write.

A second run skips the trials that have a line. A trial that fails is reported and leaves no line, so the next run
tries it again.
"""

import multiprocessing
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
from threadpoolctl import threadpool_limits

from smallearn._run.files import draft_of, write_whole
from smallearn._run.processes import begin_spawned_worker
from smallearn._run.progress import Bar

Row = dict[str, Any]
Trials = Mapping[str, Callable[[], list[Row]]]


class ForeignFileError(ValueError):
    """The file where results should be written holds something else."""


@dataclass(frozen=True)
class Scores:
    """A CSV file of results.

    ``columns`` are all columns, ``key`` those that identify a trial, ``text`` those that are never numbers, even if
    they look like numbers.
    """

    path: Path
    columns: tuple[str, ...]
    key: tuple[str, ...]
    text: tuple[str, ...] = ()

    def read(self) -> pd.DataFrame:
        """The results so far, the last one of each trial. An incomplete last line does not count."""
        lines = [line.split(",") for line in self._complete_lines().decode().split("\n")[1:]]
        frame = pd.DataFrame([line for line in lines if len(line) == len(self.columns)], columns=list(self.columns))
        for name in frame.columns.difference(list(self.text)):
            try:
                frame[name] = pd.to_numeric(frame[name])
            except ValueError:
                continue  # text
        return frame.drop_duplicates(list(self.key), keep="last").reset_index(drop=True)

    def _complete_lines(self) -> bytes:
        """The file up to the end of its last complete line: a run may have been killed while it wrote."""
        return self.path.read_bytes().rpartition(b"\n")[0] if self.path.exists() else b""

    def done(self) -> set[tuple[Any, ...]]:
        """The keys of the trials that have a result."""
        return set(self.read()[list(self.key)].itertuples(index=False, name=None))

    def prepare(self) -> None:
        """Create the file with its header, or cut off an incomplete last line."""
        header = ",".join(self.columns)
        if not self.path.exists() or self.path.stat().st_size == 0:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(self.path, f"{header}\n")
            return
        with self.path.open("r+b") as file:
            first = file.readline().decode(errors="replace").rstrip("\n")
            if first != header:
                raise ForeignFileError(
                    f"{self.path} does not hold these results (its first line is {first[:80]!r}, not {header!r}); "
                    "move it away, or write the results elsewhere."
                )
            file.truncate(len(self._complete_lines()) + 1)

    def append(self, rows: list[Row]) -> None:
        """Append all rows in one write."""
        lines = "".join(",".join(_cell(row[name]) for name in self.columns) + "\n" for row in rows).encode()
        with self.path.open("ab", buffering=0) as file:
            end = file.tell()
            if file.write(lines) != len(lines):  # the disk is full: leave no partial line for others to follow
                file.truncate(end)
                raise OSError(f"{self.path} could not be written completely; is the disk full?")
            os.fsync(file.fileno())

    def forget(self, column: str, values: list[Any]) -> None:
        """Remove the rows that have one of these values in the column."""
        results = self.read()
        with draft_of(self.path) as draft:
            results[~results[column].isin(values)].to_csv(draft, index=False)


def _cell(value: Any) -> str:
    """A value as a cell of the CSV file, which has no quotes."""
    text = "" if value is None else f"{value:.6f}" if isinstance(value, float) else str(value)
    if "," in text or "\n" in text:
        raise ValueError(f"{text!r} contains a comma or a line break, which a line of results cannot hold.")
    return text


def run(trials: Trials, scores: Scores, jobs: int) -> list[str]:
    """Run the trials, by name, each on one thread in one of ``jobs`` processes; append their rows to ``scores``.

    Returns a line for each failure; failures are also printed when they happen.
    """
    scores.prepare()
    failures: list[str] = []
    with Bar(len(trials), "fits") as bar:
        for name, future in _completed(trials, jobs):
            try:
                scores.append(future.result())
            except BrokenProcessPool:
                failures.append(f"a worker process died (out of memory?); {len(trials) - bar.done} fits were not run")
                break
            except Exception as error:  # whatever goes wrong in one trial, the others are still wanted
                failures.append(f"{name}: {type(error).__name__}: {error}")
                print(f"Failed: {failures[-1]}", file=sys.stderr, flush=True)
            bar.step()
    return failures


def _completed(trials: Trials, jobs: int) -> Iterator[tuple[str, Future[list[Row]]]]:
    """Each trial as it completes. With one job, in this process."""
    if jobs == 1:
        for name, trial in trials.items():
            future: Future[list[Row]] = Future()
            try:
                future.set_result(_on_one_thread(trial))
            except Exception as error:
                future.set_exception(error)
            yield name, future
        return
    pool = ProcessPoolExecutor(jobs, mp_context=multiprocessing.get_context("spawn"), initializer=begin_spawned_worker)
    try:
        names = {pool.submit(_on_one_thread, trial): name for name, trial in trials.items()}
        pending = set(names)
        while pending:
            completed, pending = wait(pending, return_when=FIRST_COMPLETED)
            for future in completed:
                yield names[future], future
    except BaseException:  # interrupted: give up what is running
        for process in multiprocessing.active_children():
            process.terminate()
        raise
    finally:
        pool.shutdown(cancel_futures=True)


def _on_one_thread(trial: Callable[[], list[Row]]) -> list[Row]:
    with threadpool_limits(1):
        return trial()
