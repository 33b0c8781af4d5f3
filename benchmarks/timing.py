"""Timing of alternatives, and the verdict on a target."""

import statistics
import time
from collections.abc import Callable

from threadpoolctl import threadpool_limits


def interleaved(
    runs: dict[str, Callable[[], object]],
    repeats: int,
    clock: Callable[[], float] = time.perf_counter,
    threads: int | None = 1,
) -> dict[str, float]:
    """Median seconds of each run. Runs alternate, so that a slow moment of the machine affects all of them.

    On one thread: on data this small more threads do not help, and those still spinning after one run slow the next.
    ``threads=None`` leaves their number as it is; ``clock=time.process_time`` then counts what all of them do.
    """
    seconds: dict[str, list[float]] = {name: [] for name in runs}
    with threadpool_limits(limits=threads):
        for run in runs.values():
            run()  # fill caches, compile
        for _ in range(repeats):
            for name, run in runs.items():
                start = clock()
                run()
                seconds[name].append(clock() - start)
    return {name: statistics.median(values) for name, values in seconds.items()}


def verdict(text: str, met: bool) -> None:
    """Print whether a target is met."""
    print(f"  [{'met' if met else 'MISSED'}] {text}")
