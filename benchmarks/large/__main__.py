"""``python -m benchmarks.large``: passes in memory, mapped and on Dask, and fits from Parquet.

By default with a tenth of the rows; ``--full`` has those of the targets: passes over 2·10⁶ × 100 float32, fits of up to
10⁷ × 30, of which the largest takes 5 GB in the folder for temporary files. Each is measured in a process of its own.
``--limit`` fits 4 GB of rows in a process that is allowed 1 GB, and in another one that has them in memory; files take
8 GB.
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.large.data import ROWS_TOGETHER, in_memory, nothing, one_block, write_parquet
from benchmarks.large.limit import (
    ALLOWED,
    CLOSE,
    COLUMNS,
    ROWS,
    difference,
    fit_in_memory,
    fit_limited,
    own_memory,
)
from benchmarks.large.plan import PARTITIONS_EACH, Constants, check_plan
from benchmarks.timing import verdict
from smallearn import SMaLLClassifierCV
from smallearn._learn.data.many_rows import Large, ManyRows
from smallearn._learn.data.source import ArraySource, Source
from smallearn.tables import open_table

PASS_ROWS, PASS_COLUMNS = 2_000_000, 100
FIT_ROWS, FIT_COLUMNS, TERMS = (100_000, 1_000_000, 10_000_000), 30, 6
REPEATS = 5
MAPPED_MOST, DASK_MOST, FIT_SECONDS = 1.5, 2.0, 300.0
CLASSES = np.array([0, 1])
PLACES = ("memory, 1 thread", "memory", "mapped", "Dask, 1 worker", "Dask")


def one_pass(rows: ManyRows) -> Callable[[], object]:
    """Loss and gradient of two prototypes."""
    W = np.zeros((2, rows.n_columns))
    W[0, :3], W[1, 3:6] = 0.5, -0.5
    placement = rows.place(W, np.array([1, 1]))
    return lambda: rows.sums(W, placement)


@contextmanager
def source_of(place: str, n_rows: int) -> Iterator[Source]:
    """The rows in one of `PLACES`."""
    if place.startswith("Dask"):
        with dask_source(1 if "1 worker" in place else 2, n_rows) as source:
            yield source
        return
    X, y = in_memory(n_rows, PASS_COLUMNS)
    with tempfile.TemporaryDirectory() as folder:
        if place == "mapped":
            X.tofile(Path(folder, "X"))
            X = np.memmap(Path(folder, "X"), dtype=X.dtype, mode="r", shape=X.shape)
        yield ArraySource(X, y, None, CLASSES, n_jobs=1 if "1 thread" in place else 2)


@contextmanager
def dask_source(n_workers: int, n_rows: int) -> Iterator[Source]:
    """The rows on Dask, four partitions for each worker of one thread."""
    import dask
    import dask.array as da
    from distributed import Client, LocalCluster

    from smallearn.dask._cluster import Cluster
    from smallearn.dask._partitions import partitions_of
    from smallearn.dask._source import Survey

    sizes = [min(ROWS_TOGETHER, n_rows - first) for first in range(0, n_rows, ROWS_TOGETHER)]
    pairs = [dask.delayed(one_block, nout=2)(number, size, PASS_COLUMNS) for number, size in enumerate(sizes)]
    X = da.concatenate(
        [da.from_delayed(x, (m, PASS_COLUMNS), np.float32) for (x, _), m in zip(pairs, sizes, strict=True)]
    )
    y = da.concatenate([da.from_delayed(labels, (m,), np.int64) for (_, labels), m in zip(pairs, sizes, strict=True)])
    chunk = -(-n_rows // (PARTITIONS_EACH * n_workers))
    with (
        LocalCluster(n_workers=n_workers, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        parts = partitions_of(X.rechunk((chunk, -1)), y.rechunk(chunk), None, Cluster(client))
        yield Survey.of(parts, None).source()


def measure_passes(place: str, n_rows: int) -> dict[str, float]:
    """Seconds of a pass and of an empty one, and the peak of memory in MB, in this process and in Dask's workers."""
    with source_of(place, n_rows) as source:
        rows = Large.read(source, 1 << 17, literals="raw").rows(1, True)
        ask = one_pass(rows)
        seconds, empty = timed(ask), timed(lambda: list(source.map(nothing)))
        peak = peak_memory() + (sum(memory_of_workers()) if place.startswith("Dask") else 0.0)
    return {"pass": seconds, "empty": empty, "peak": peak}


def memory_of_workers() -> list[float]:
    """The peak of memory of each worker of the current client, in MB."""
    from distributed import get_client

    return list(get_client().run(peak_memory).values())


def measure_fit(path: str, n_rows: int) -> dict[str, float]:
    """Seconds to convert a Parquet file and to choose a model from it; MB of its own memory, without that of joblib."""
    with tempfile.TemporaryDirectory() as cache:
        small = in_memory(3_000, FIT_COLUMNS)
        SMaLLClassifierCV(TERMS, random_state=0, verbose=-1).fit(*small)  # compiles
        with own_memory() as memory:
            start = time.perf_counter()
            table = open_table(path, "y", dtype="float32", cache=cache)
            converted = time.perf_counter()
            clf = SMaLLClassifierCV(TERMS, random_state=0, n_jobs=2, verbose=-1).fit(table)
            done = time.perf_counter()
        X, y = in_memory(min(n_rows, 100_000), FIT_COLUMNS)
        accuracy = float(np.mean(clf.model_.predict(X) == y))
    return {"convert": converted - start, "fit": done - converted, "accuracy": accuracy, "peak": memory["resident"]}


MEASURES: dict[str, Callable[[str, int], dict[str, Any]]] = {
    "passes": measure_passes,
    "fit": measure_fit,
    "limited": lambda path, _: fit_limited(path, ALLOWED),
    "unlimited": lambda _, n_rows: fit_in_memory(n_rows),
}


def timed(call: Callable[[], object]) -> float:
    """The least of some times, in seconds, after one that is not counted."""
    call()
    times = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times)


def peak_memory() -> float:
    """The most memory that this process had, in MB; pages of mapped files count, too."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0


def in_process(*arguments: Any) -> dict[str, Any]:
    """A measurement in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.large", "--measure", *map(str, arguments)]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout.splitlines()[-1])


def passes(n_rows: int) -> None:
    """A line for each place, the targets, and the plan."""
    print(f"One pass over {n_rows:,} × {PASS_COLUMNS} float32, two prototypes, two threads or workers")
    print(f"  {'':<18}{'ms a pass':>11}{'empty pass':>12}{'peak MB':>10}")
    found = {}
    for place in PLACES:
        found[place] = in_process("passes", place, n_rows)
        cells = found[place]
        print(
            f"  {place:<18}{1e3 * cells['pass']:>11.1f}{1e3 * cells['empty']:>12.2f}{cells['peak']:>10.0f}", flush=True
        )
    memory = found["memory"]["pass"]
    for place, most in (("mapped", MAPPED_MOST), ("Dask", DASK_MOST)):
        ratio = found[place]["pass"] / memory
        verdict(f"{place}: at most {most:g} times the pass in memory ({ratio:.2f}×)", ratio <= most)
    constants = Constants.measured(
        n_rows,
        one_thread=found["memory, 1 thread"]["pass"],
        two_threads=memory,
        empty=found["Dask"]["empty"],
        n_tasks=8,
    )
    for text, met in check_plan(constants, n_rows, {1: found["Dask, 1 worker"]["pass"], 2: found["Dask"]["pass"]}):
        verdict(text, met)


def fits(sizes: tuple[int, ...]) -> None:
    """A line for each number of rows."""
    print(f"\nSMaLLClassifierCV({TERMS}) from a Parquet file of float32, {FIT_COLUMNS} columns, n_jobs=2")
    print(f"  {'rows':>12}{'convert s':>11}{'fit s':>9}{'accuracy':>10}{'own MB':>10}{'file MB':>10}")
    found = []
    for n_rows in sizes:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "rows.parquet")
            write_parquet(path, n_rows, FIT_COLUMNS)
            cells = in_process("fit", path, n_rows)
            size = path.stat().st_size / 2**20
        found.append(cells)
        times = f"{cells['convert']:>11.1f}{cells['fit']:>9.1f}"
        print(f"  {n_rows:>12,}{times}{cells['accuracy']:>10.4f}{cells['peak']:>10.0f}{size:>10.0f}", flush=True)
    total, first = (one["convert"] + one["fit"] for one in (found[-1], found[0]))
    growth = f"{total / first:.1f} times the time and {found[-1]['peak'] / found[0]['peak']:.1f} times the memory"
    print(f"  {sizes[-1] // sizes[0]} times the rows: {growth}")
    verdict(f"{sizes[-1]:,} rows in at most {FIT_SECONDS:.0f} s ({total:.0f} s)", total <= FIT_SECONDS)


def limit() -> None:
    """A fit of 4 GB of rows with 1 GB of memory, and the same in memory."""
    print(f"\nSMaLLClassifierCV({TERMS}) of {ROWS:,} × {COLUMNS} float32 ({4e-9 * ROWS * COLUMNS:.1f} GB), n_jobs=1")
    print(f"  {'':<30}{'own MB':>10}{'reserved MB':>13}{'seconds':>9}")
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "rows.parquet")
        write_parquet(path, ROWS, COLUMNS)
        size = path.stat().st_size
        for name, what, where in (
            (f"Parquet, {ALLOWED / 1e9:g} GB allowed", "limited", path),
            ("in memory", "unlimited", "memory"),
        ):
            start = time.perf_counter()
            found[name] = cells = in_process(what, where, ROWS)
            seconds = time.perf_counter() - start
            print(f"  {name:<30}{cells['resident']:>10.0f}{cells['reserved']:>13.0f}{seconds:>9.0f}", flush=True)
    within, free = found.values()
    verdict(f"a file of {size / ALLOWED:.1f} times the memory that is allowed", size >= 4 * ALLOWED)
    verdict(f"the same terms, weights to {CLOSE:g} ({difference(within, free):.1e})", difference(within, free) <= CLOSE)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.large", description=__doc__)
    parser.add_argument("--full", action="store_true", help="the sizes of the targets")
    parser.add_argument("--limit", action="store_true", help="4 GB of rows in 1 GB of memory, and nothing else")
    parser.add_argument("--measure", nargs=3, metavar=("WHAT", "WHERE", "ROWS"), help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.measure:
        what, where, n_rows = given.measure
        print(json.dumps(MEASURES[what](where, int(n_rows))))
        return
    if given.limit:
        limit()
        return
    share = 1 if given.full else 10
    passes(PASS_ROWS // share)
    fits(tuple(n_rows // share for n_rows in FIT_ROWS))


if __name__ == "__main__":
    main()
