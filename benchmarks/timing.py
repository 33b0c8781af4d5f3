"""Timing side by side, and the verdict on a target."""

import statistics
import time
from collections.abc import Callable

from threadpoolctl import threadpool_limits


def interleaved(runs: dict[str, Callable[[], object]], repeats: int) -> dict[str, float]:
    """Median seconds of each run. They take turns, so that a slow spell of the machine falls on all of them.

    One thread each: on data this small more of them only wait, and those left spinning by one run slow the next.
    """
    seconds: dict[str, list[float]] = {name: [] for name in runs}
    with threadpool_limits(limits=1):
        for run in runs.values():
            run()  # warms compilers and caches
        for _ in range(repeats):
            for name, run in runs.items():
                begin = time.perf_counter()
                run()
                seconds[name].append(time.perf_counter() - begin)
    return {name: statistics.median(values) for name, values in seconds.items()}


def verdict(text: str, met: bool) -> None:
    """One line for one target."""
    print(f"  [{'met' if met else 'MISSED'}] {text}")
