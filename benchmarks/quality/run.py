"""Cells: one data set, one method, one number of terms, one split. Each that is finished is a line of results.csv.

A second run goes on where the first stopped. A cell that fails is told and leaves no line, so it is tried again.
"""

import multiprocessing
import os
import sys
import warnings
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.metrics import log_loss

from benchmarks.quality.data import Entry, split
from benchmarks.quality.rivals import METHODS

COLUMNS = ("set", "method", "terms", "split", "accuracy", "log_loss", "used", "seconds")
UNBOUNDED = 0  # the number of terms written where a method has no bound


@dataclass(frozen=True)
class Task:
    """The cells of one set, method and split, which share an inner search."""

    folder: Path
    entry: Entry
    method: str
    number: int
    terms: tuple[int, ...]


@dataclass(frozen=True)
class Plan:
    """Which cells there are."""

    folder: Path
    entries: tuple[Entry, ...]
    methods: tuple[str, ...]
    terms: tuple[int, ...]
    splits: int | None  # None: as many as suit the set

    def numbers(self, entry: Entry) -> range:
        return range(self.splits or entry.splits)

    def terms_of(self, method: str) -> tuple[int, ...]:
        return self.terms if METHODS[method].bounded else (UNBOUNDED,)

    def tasks(self, done: set[tuple]) -> list[Task]:
        """What is left to do; those of one split together, so that its rows are read once."""
        tasks = []
        for entry in self.entries:
            for number in self.numbers(entry):
                for method in self.methods:
                    terms = self.terms_of(method)
                    left = tuple(T for T in terms if (entry.name, method, T, number) not in done)
                    if left:
                        tasks.append(Task(self.folder, entry, method, number, left))
        return tasks


def read(path: Path) -> pd.DataFrame:
    """The results so far, the last of each cell; a line that was not written to its end is not one."""
    if not path.exists():
        return pd.DataFrame(columns=list(COLUMNS))
    whole = path.read_text().rpartition("\n")[0]
    rows = [dict(zip(COLUMNS, line.split(","), strict=True)) for line in whole.splitlines()[1:]]
    frame = pd.DataFrame(rows, columns=list(COLUMNS))
    for name in COLUMNS[2:]:
        frame[name] = pd.to_numeric(frame[name])
    return frame.drop_duplicates(["set", "method", "terms", "split"], keep="last").reset_index(drop=True)


def forget(path: Path, methods: Sequence[str]) -> None:
    """Drop the results of these methods, because they have changed."""
    kept = read(path)
    kept = kept[~kept["method"].isin(methods)]
    new = path.with_suffix(".new")
    kept.to_csv(new, index=False)
    os.replace(new, path)


def run(plan: Plan, path: Path, jobs: int) -> list[str]:
    """Run what is left of the plan. Returns the failures, told as they come."""
    results = read(path)
    done = set(results[["set", "method", "terms", "split"]].itertuples(index=False, name=None))
    tasks = plan.tasks(done)
    failures = []
    _mend(path)
    pool = ProcessPoolExecutor(jobs, mp_context=multiprocessing.get_context("spawn"))
    running = {pool.submit(cells, task): task for task in tasks}
    try:
        for future in _progress(as_completed(running), len(tasks)):
            task = running[future]
            try:
                _append(path, future.result())
            except BrokenProcessPool:
                failures.append("A process died (out of memory?); what was left of the plan was not run.")
                break
            except Exception as error:  # whatever goes wrong in one cell, the others are still wanted
                failures.append(f"{task.entry.name}, {task.method}, split {task.number}: {error!r}")
                print(f"Failed: {failures[-1]}", file=sys.stderr, flush=True)
    finally:
        pool.shutdown(cancel_futures=True)  # when interrupted, what waits is not begun
    return failures


def cells(task: Task) -> list[str]:
    """Train and test; a line for each number of terms."""
    data = split(task.folder, task.entry.file, task.number)
    lines = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a rival that did not converge is judged by its accuracy
        for T, model, seconds in METHODS[task.method].fits(data.X, data.y, task.terms, seed=task.number):
            if METHODS[task.method].bounded and not model.terms <= T:
                raise AssertionError(f"{model.terms} terms where {T} are allowed")
            accuracy = np.mean(model.labels(data.X_test) == data.y_test)
            p = np.clip(model.probability(data.X_test).astype(float), 1e-6, 1.0 - 1e-6)
            loss = log_loss(data.y_test, p, labels=[0, 1])
            used = "" if model.terms is None else model.terms
            lines.append(
                f"{task.entry.name},{task.method},{T},{task.number},{accuracy:.6f},{loss:.6f},{used},{seconds:.3f}\n"
            )
    return lines


def _append(path: Path, lines: Iterable[str]) -> None:
    """All lines in one write to the file's end."""
    with path.open("ab", buffering=0) as file:
        file.write("".join(lines).encode())
        os.fsync(file.fileno())


def _mend(path: Path) -> None:
    """A file with a header and without a torn last line."""
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(",".join(COLUMNS) + "\n")
        return
    whole, newline, torn = path.read_bytes().rpartition(b"\n")
    if torn:
        with path.open("r+b") as file:
            file.truncate(len(whole) + len(newline))


def _progress(items, total: int):
    """A progress line on a terminal, if tqdm is there."""
    if not sys.stderr.isatty():
        return items
    try:
        from tqdm import tqdm
    except ImportError:
        return items
    return tqdm(items, total=total, unit="fit", smoothing=0.05)
