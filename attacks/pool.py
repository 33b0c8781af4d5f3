"""Many inputs, each by its number, in processes that may crash, hang or need too much memory.

An input is made from the seed and its number, so that it can be repeated alone. A process that dies, or stays at one
input for too long, is a finding; another goes on behind that input.
"""

import multiprocessing
import multiprocessing.connection
import random
import signal
import sys
import time
import traceback
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from attacks.findings import Finding, complaint

SECONDS = 10.0  # of processor time that one input may take
SILENCE = 120.0  # seconds by the clock after which a process that says nothing is stopped
MEMORY = 2**30  # bytes that a process may need above what it has when it starts


class TooSlow(BaseException):
    """An input took longer than `SECONDS`. No Exception, so that nobody takes it for an error of the input."""


@dataclass
class Outcome:
    """What became of one input: how far it came, and what is wrong."""

    reached: tuple[str, ...] = ()
    findings: tuple[tuple[str, str], ...] = ()  # what, and details


Attempt = Callable[[random.Random, int], Outcome]


@dataclass
class Tally:
    """What became of many inputs."""

    tried: int = 0
    reached: dict[str, int] = field(default_factory=dict)
    findings: list[tuple[int, str, str]] = field(default_factory=list)  # number, what, details
    peak: int = 0  # bytes of memory, of the greatest process
    slowest: float = 0.0  # seconds of processor time
    is_complete: bool = True

    def include(self, number: int, outcome: Outcome) -> None:
        """Add one input."""
        self.tried += 1
        for reached in outcome.reached:
            self.reached[reached] = self.reached.get(reached, 0) + 1
        self.findings += [(number, *found) for found in outcome.findings]

    def merge(self, other: "Tally") -> None:
        """Add those of another tally."""
        self.tried += other.tried
        for reached, count in other.reached.items():
            self.reached[reached] = self.reached.get(reached, 0) + count
        self.findings += other.findings
        self.peak, self.slowest = max(self.peak, other.peak), max(self.slowest, other.slowest)


def dice(seed: int, number: int) -> random.Random:
    """The random numbers of one input."""
    return random.Random(f"{seed}/{number}")


@contextmanager
def guarded(seconds: float = SECONDS):
    """Raise `TooSlow` in the block when it has used this much processor time. Windows has no signal for that."""
    if not hasattr(signal, "setitimer"):
        yield
        return

    def stop(*_: Any) -> None:
        raise TooSlow

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        signal.signal(signal.SIGPROF, before)


def attempt_one(attempt: Attempt, seed: int, number: int, seconds: float = SECONDS) -> Outcome:
    """One input; what it raises, and that it is slow, is a finding."""
    try:
        with guarded(seconds):
            return attempt(dice(seed, number), number)
    except TooSlow as error:
        return Outcome(findings=((complaint(error, f"over {seconds:g} seconds"), traceback.format_exc(limit=-3)),))
    except Exception as error:
        return Outcome(findings=((complaint(error, "unexpected"), traceback.format_exc(limit=-3)),))


def _limit_memory(allowed: int) -> None:
    """Let this process have so many bytes more."""
    import resource

    with open("/proc/self/statm") as file:
        now = int(file.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (now + allowed, now + allowed))


def _peak() -> int:
    """The most bytes of memory that this process had; 0 where the system does not tell (Windows)."""
    try:
        import resource
    except ModuleNotFoundError:
        return 0
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def _work(prepare, seed, numbers, position, results, memory, seconds) -> None:
    """Attempt the numbers from ``position`` on, with the tally sent from time to time."""
    attempt = prepare()
    if memory:
        _limit_memory(memory)
    tally, sent = Tally(), time.monotonic()
    for k in range(position.value, len(numbers)):
        position.value = k
        begin = time.process_time()
        outcome = attempt_one(attempt, seed, numbers[k], seconds)
        tally.slowest = max(tally.slowest, time.process_time() - begin)
        tally.include(numbers[k], outcome)
        if time.monotonic() - sent > 2.0:
            position.value = k + 1
            tally.peak = _peak()
            results.send(tally)
            tally, sent = Tally(), time.monotonic()
    position.value = len(numbers)
    tally.peak = _peak()
    results.send(tally)


@dataclass
class _Worker:
    process: Any
    position: Any
    results: Any
    numbers: range
    seen: float
    last: int = -1


def _start(context, prepare, seed, numbers, first, memory, seconds) -> _Worker:
    position = context.Value("q", first, lock=False)
    results, there = context.Pipe(duplex=False)
    options = (prepare, seed, numbers, position, there, memory, seconds)
    process = context.Process(target=_work, args=options, daemon=True)
    process.start()
    there.close()
    return _Worker(process, position, results, numbers, time.monotonic())


def attempt_all(
    prepare: Callable[[], Attempt],
    seed: int,
    numbers: range,
    jobs: int,
    memory: int = MEMORY,
    seconds: float = SECONDS,
    progress: Callable[[Tally], None] | None = None,
) -> Tally:
    """What becomes of the inputs with these numbers.

    ``prepare`` is called once in each process and returns the function that attempts an input. In one process (``jobs``
    is 0) a crash or a lot of memory ends this one. An interrupt ends the attack with what was tried so far.
    """
    total = Tally()
    if jobs == 0:
        attempt = prepare()
        for number in numbers:
            total.include(number, attempt_one(attempt, seed, number, seconds))
        return total
    context = multiprocessing.get_context("spawn")
    workers = [_start(context, prepare, seed, numbers[part::jobs], 0, memory, seconds) for part in range(jobs)]
    try:
        while workers:
            multiprocessing.connection.wait([worker.results for worker in workers], timeout=5.0)
            for worker in list(workers):
                if not _listen(worker, total):
                    workers.remove(worker)
                    worker.process.join()
                    at = worker.position.value
                    if at < len(worker.numbers):  # it died
                        cause = f"the process ended with {worker.process.exitcode}"
                        total.include(worker.numbers[at], Outcome(findings=((cause, ""),)))
                        workers.append(_start(context, prepare, seed, worker.numbers, at + 1, memory, seconds))
            if progress is not None:
                progress(total)
    except KeyboardInterrupt:  # what was tried so far is told
        total.is_complete = False
        for worker in workers:
            worker.process.kill()
    return total


def _listen(worker: _Worker, total: Tally) -> bool:
    """Take what a worker has to say; False if it has ended. One that hangs is ended."""
    try:
        while worker.results.poll():
            total.merge(worker.results.recv())
    except EOFError:
        return False
    at = worker.position.value
    if at != worker.last:
        worker.last, worker.seen = at, time.monotonic()
    elif time.monotonic() - worker.seen > SILENCE:
        worker.process.kill()
    return True


def as_findings(tally: Tally, repeat: Callable[[int], str]) -> list[Finding]:
    """The findings, each with how to repeat it."""
    return [Finding(what, repeat(number), detail) for number, what, detail in sorted(tally.findings)]
