"""``python -m benchmarks.large.plan``: what a fit of 10⁹ rows × 10⁴ features would take on a cluster.

A pass sends the weights with every task, reads every row once where it is, and adds up sums of shape p × n:

    compute = numbers of X / threads · seconds a number · sharing
    seconds = compute + tasks · (seconds a task + bytes there and back / bandwidth)

The constants are measured. Threads of one machine share its memory: ``sharing`` is how much longer a number takes each
of them when all are busy, measured in memory, without Dask. It stops scaling when the tasks, whose number grows with
the threads, take as long as the rows do.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

CONSTANTS_ROWS, CONSTANTS_COLUMNS = 2_000_000, 100
PARTITIONS_EACH = 4  # of a worker's thread
PROTOTYPES = 2
WITHIN = 0.3  # of what is measured, for 1 and 2 workers on one machine
ROWS, COLUMNS, PASSES = 10**9, 10**4, 30  # of the plan
WORKERS = (8, 32, 128, 512, 2048)


@dataclass(frozen=True)
class Constants:
    """What was measured on one machine: seconds for one number of X on one thread, seconds for an empty task, how many
    times as long a number takes when all threads are busy, bytes a second."""

    seconds_per_number: float
    seconds_per_task: float
    sharing: float = 1.0
    bandwidth: float = 1e9

    @classmethod
    def measured(cls, n_rows: int, *, one_thread: float, two_threads: float, empty: float, n_tasks: int) -> "Constants":
        """From the seconds of a pass in memory, on one and on two threads, and of an empty pass with so many tasks."""
        return cls(
            seconds_per_number=one_thread / (n_rows * CONSTANTS_COLUMNS),
            seconds_per_task=empty / n_tasks,
            sharing=2.0 * two_threads / one_thread,
        )


@dataclass(frozen=True)
class Pass:
    """What one pass takes."""

    n_tasks: int
    compute: float
    overhead: float
    answers: float

    @property
    def seconds(self) -> float:
        """All together."""
        return self.compute + self.overhead + self.answers


def simulate(constants: Constants, n_rows: int, n_columns: int, n_threads: int) -> Pass:
    """One pass on ``n_threads`` threads, wherever they are. The scheduler hands out tasks one after the other."""
    n_tasks = PARTITIONS_EACH * n_threads
    numbers = n_rows * n_columns / n_threads
    answer = 8.0 * PROTOTYPES * (n_columns + 1)
    return Pass(
        n_tasks=n_tasks,
        compute=numbers * constants.seconds_per_number * (constants.sharing if n_threads > 1 else 1.0),
        overhead=n_tasks * constants.seconds_per_task,
        answers=2.0 * n_tasks * answer / constants.bandwidth,  # the weights there, the sums back
    )


def check_plan(constants: Constants, n_rows: int, measured: Mapping[int, float]) -> Iterator[tuple[str, bool]]:
    """Whether the simulation agrees with what was measured, for each number of workers."""
    for n_workers, seconds in measured.items():
        expected = simulate(constants, n_rows, CONSTANTS_COLUMNS, n_workers).seconds
        off = expected / seconds - 1.0
        times = f"{1e3 * expected:.0f} ms expected, {1e3 * seconds:.0f} ms measured"
        yield f"plan for {n_workers} of Dask's workers: {times} ({off:+.0%})", abs(off) <= WITHIN


def main() -> None:
    """The plan, with constants that were measured by ``python -m benchmarks.large --full``."""
    constants = Constants(seconds_per_number=7.8e-10, seconds_per_task=2.0e-3, sharing=1.17)
    bytes_of_x = 4.0 * ROWS * COLUMNS
    print(f"{ROWS:,} rows × {COLUMNS:,} features of float32 ({bytes_of_x / 1e12:.0f} TB), {PASSES} passes")
    heads = ("threads", "GB a thread", "compute s", "tasks s", "answers s", "a pass s", "fit, min")
    print("".join(f"{head:>13}" for head in heads))
    for n_threads in WORKERS:
        one = simulate(constants, ROWS, COLUMNS, n_threads)
        share, fit = bytes_of_x / n_threads / 1e9, PASSES * one.seconds / 60.0
        cells = (share, one.compute, one.overhead, one.answers, one.seconds, fit)
        print(f"{n_threads:>13}" + "".join(f"{cell:>13,.1f}" for cell in cells))


if __name__ == "__main__":
    main()
