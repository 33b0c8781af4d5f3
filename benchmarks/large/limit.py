"""A fit within a limit of memory: 4 GB of rows from Parquet in a process that is allowed 1 GB.

The limit is RLIMIT_DATA, on what a process has of its own; pages of mapped files, which the system may take back at any
time, do not count. One process does all (n_jobs=1), so that it is the limit of the whole fit.
"""

import resource
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.large.data import in_memory
from smallearn import SMaLLClassifierCV
from smallearn.tables import open_table

ROWS, COLUMNS, TERMS = 10_000_000, 100, 6  # 4 GB of float32
ALLOWED = 1_000_000_000  # bytes
CLOSE = 1e-8  # as weights may differ
EVERY = 0.02  # seconds between two looks at the memory


def fit_limited(path: str, allowed: float) -> dict[str, Any]:
    """The model of a Parquet file, chosen in this process, which from now on is allowed so many bytes."""
    resource.setrlimit(resource.RLIMIT_DATA, (int(allowed), int(allowed)))
    with tempfile.TemporaryDirectory() as cache, own_memory() as memory:
        found = answer(open_table(path, "y", dtype="float32", cache=cache))
    return found | memory


def fit_in_memory(n_rows: int, n_columns: int = COLUMNS) -> dict[str, Any]:
    """The model of the same rows in memory."""
    with own_memory() as memory:
        found = answer(*in_memory(n_rows, n_columns))
    return found | memory


def answer(*rows: Any) -> dict[str, Any]:
    """The classes, features and weights of the model that is chosen."""
    model = SMaLLClassifierCV(TERMS, random_state=0, n_jobs=1, verbose=-1).fit(*rows).model_
    prototypes = model.prototypes
    return {
        "support": [[one.owner, *((term.feature, term.kind, term.value) for term in one.terms)] for one in prototypes],
        "weights": [[one.intercept, *(term.weight for term in one.terms)] for one in prototypes],
    }


def difference(one: dict[str, Any], other: dict[str, Any]) -> float:
    """The largest difference of two models' weights, as a share of the largest weight; infinite if terms differ."""
    if one["support"] != other["support"]:
        return np.inf
    a, b = (np.concatenate(found["weights"]) for found in (one, other))
    return float(np.max(np.abs(a - b)) / np.max(np.abs(b)))


@contextmanager
def own_memory() -> Iterator[dict[str, float]]:
    """The most memory that this process has of its own meanwhile, in MB: "resident", and "reserved" (what counts for
    RLIMIT_DATA). Linux only."""
    most = {"resident": 0.0, "reserved": 0.0}
    done = threading.Event()

    def look() -> None:
        for name, line in (("resident", "RssAnon:"), ("reserved", "VmData:")):
            most[name] = max(most[name], status(line))

    def watch() -> None:
        while not done.wait(EVERY):
            look()

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield most
    finally:
        done.set()
        watcher.join()
        look()


def status(name: str) -> float:
    """A line of what Linux says about this process, in MB."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return next(float(line.split()[1]) for line in lines if line.startswith(name)) / 1024.0
