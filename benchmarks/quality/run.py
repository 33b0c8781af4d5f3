"""Trials: one data set, one method, one number of terms, one split."""

import warnings
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.quality.data import Entry, split
from benchmarks.quality.methods import methods_for
from benchmarks.quality.metrics import METRICS, metrics
from benchmarks.quality.search import Method
from smallearn._run import resumable
from smallearn._run.resumable import Scores

KEY = ("set", "method", "terms", "split")
COLUMNS = (*KEY, *METRICS, "validation", "rows", "weights", "seconds", "bytes")
UNBOUNDED = 0  # the number of terms in the file of results for methods without a bound
TERMS = {False: (3, 6, 10, 16), True: (8, 12, 20)}  # for two classes and for more


@dataclass(frozen=True)
class Task:
    """The trials of one data set, method and split, which share an inner search."""

    folder: Path
    entry: Entry
    method: str
    number: int
    terms: tuple[int, ...]
    flash: bool


@dataclass(frozen=True)
class Plan:
    """Which trials there are."""

    folder: Path
    entries: tuple[Entry, ...]
    methods: tuple[str, ...]
    budgets: tuple[int, ...] | None = None  # None: those of TERMS
    splits: int | None = None  # None: the default of each data set
    flash: bool = False  # whether bytes are measured

    def numbers(self, entry: Entry) -> range:
        """The numbers of the splits of a data set."""
        return range(self.splits or entry.splits)

    def terms(self, several: bool) -> tuple[int, ...]:
        """The numbers of terms that methods are compared at."""
        return self.budgets or TERMS[several]

    def methods_of(self, several: bool) -> dict[str, Method]:
        """The methods that are asked for, for more than two classes or for two."""
        asked = {name: method for name, method in methods_for(several).items() if name in self.methods}
        return {name: method for name, method in asked.items() if self.flash or not method.by_bytes}

    def trials_of(self, entry: Entry, method: Method) -> tuple[int, ...]:
        """The numbers of terms at which a method runs."""
        return self.terms(entry.several) if method.bounded else (UNBOUNDED,)

    def tasks(self, results: pd.DataFrame) -> list[Task]:
        """The tasks that are not done; those of one split come together, so that its rows are read once."""
        done = set(results[list(KEY)].itertuples(index=False, name=None))
        measured = set(results.loc[results["bytes"].notna(), list(KEY)].itertuples(index=False, name=None))
        tasks = []
        for entry in self.entries:
            for number in self.numbers(entry):
                for name, method in self.methods_of(entry.several).items():
                    flash = self.flash and method.on_chip
                    finished = measured if flash else done
                    terms = self.trials_of(entry, method)
                    left = tuple(T for T in terms if (entry.name, name, T, number) not in finished)
                    if left:
                        tasks.append(Task(self.folder, entry, name, number, left, flash))
        return tasks


def scores(folder: Path) -> Scores:
    """The file of results in a folder."""
    return Scores(path=folder / "results.csv", columns=COLUMNS, key=KEY)


def run(plan: Plan, results: Scores, jobs: int) -> list[str]:
    """Run what is left of the plan. Returns a line for each failure."""
    tasks = plan.tasks(read(results))
    named = {f"{task.entry.name}, {task.method}, split {task.number}": partial(run_task, task) for task in tasks}
    return resumable.run(named, results, jobs)


def read(results: Scores) -> pd.DataFrame:
    """The results so far; an empty cell is NaN."""
    frame = results.read()
    numbers = frame.columns.difference(["set", "method"])
    frame[numbers] = frame[numbers].apply(pd.to_numeric)
    return frame


def run_task(task: Task) -> list[dict[str, Any]]:
    """Train and test; a line for each number of terms."""
    data, method = split(task.folder, task.entry, task.number), methods_for(task.entry.several)[task.method]
    lines = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a rival that did not converge is judged by its accuracy
        for found in method.fits(data.X, data.y, task.terms, seed=task.number):
            T, model = found.terms, found.model
            if method.bounded and not method.by_bytes and not getattr(model, method.count) <= T:
                raise AssertionError(f"the model has {getattr(model, method.count)} terms, more than the {T} allowed")
            probability = np.asarray(model.probability(data.X_test), dtype=float)
            lines.append(
                {
                    **{"set": task.entry.name, "method": task.method, "terms": T, "split": task.number},
                    **metrics(data.y_test, model.labels(data.X_test), probability),
                    "validation": found.validation,
                    "rows": model.rows,
                    "weights": model.weights,
                    "seconds": found.seconds,
                    "bytes": model.flash() if task.flash and model.flash is not None else None,
                }
            )
    return lines
