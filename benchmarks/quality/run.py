"""Trials: one data set, one method, one number of terms, one split."""

import warnings
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics import log_loss

from benchmarks.quality.data import Entry, split
from benchmarks.quality.rivals import METHODS
from smallearn._run import resumable
from smallearn._run.resumable import Scores

COLUMNS = ("set", "method", "terms", "split", "accuracy", "log_loss", "used", "seconds")
UNBOUNDED = 0  # the number of terms in the file of results for methods without a bound


@dataclass(frozen=True)
class Task:
    """The trials of one data set, method and split, which share an inner search."""

    folder: Path
    entry: Entry
    method: str
    number: int
    terms: tuple[int, ...]


@dataclass(frozen=True)
class Plan:
    """Which trials there are."""

    folder: Path
    entries: tuple[Entry, ...]
    methods: tuple[str, ...]
    terms: tuple[int, ...]
    splits: int | None  # None: the default of each data set

    def numbers(self, entry: Entry) -> range:
        """The numbers of the splits of a data set."""
        return range(self.splits or entry.splits)

    def terms_of(self, method: str) -> tuple[int, ...]:
        """The numbers of terms at which a method runs."""
        return self.terms if METHODS[method].bounded else (UNBOUNDED,)

    def tasks(self, done: set[tuple]) -> list[Task]:
        """The tasks that are not done; those of one split come together, so that its rows are read once."""
        tasks = []
        for entry in self.entries:
            for number in self.numbers(entry):
                for method in self.methods:
                    terms = self.terms_of(method)
                    left = tuple(T for T in terms if (entry.name, method, T, number) not in done)
                    if left:
                        tasks.append(Task(folder=self.folder, entry=entry, method=method, number=number, terms=left))
        return tasks


def scores(folder: Path) -> Scores:
    """The file of results in a folder."""
    return Scores(path=folder / "results.csv", columns=COLUMNS, key=COLUMNS[:4])


def run(plan: Plan, results: Scores, jobs: int) -> list[str]:
    """Run what is left of the plan. Returns a line for each failure."""
    tasks = plan.tasks(results.done())
    named = {f"{task.entry.name}, {task.method}, split {task.number}": partial(run_task, task) for task in tasks}
    return resumable.run(named, results, jobs)


def run_task(task: Task) -> list[dict[str, Any]]:
    """Train and test; a row for each number of terms."""
    data, method = split(task.folder, task.entry.file, task.number), METHODS[task.method]
    rows = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a rival that did not converge is judged by its accuracy
        for T, model, seconds in method.fits(data.X, data.y, task.terms, seed=task.number):
            if method.bounded and not model.terms <= T:
                raise AssertionError(f"the model has {model.terms} terms, more than the {T} allowed")
            p = np.clip(model.probability(data.X_test).astype(float), 1e-6, 1.0 - 1e-6)
            trial = {"set": task.entry.name, "method": task.method, "terms": T, "split": task.number}
            accuracy = float(np.mean(model.labels(data.X_test) == data.y_test))
            loss = float(log_loss(data.y_test, p, labels=[0, 1]))
            rows.append({**trial, "accuracy": accuracy, "log_loss": loss, "used": model.terms, "seconds": seconds})
    return rows
