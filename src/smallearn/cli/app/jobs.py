"""Work that takes time, in a process of its own, so that the page answers meanwhile and a job can be cancelled."""

import multiprocessing
import threading
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from typing import Any

from smallearn.cli.app import work
from smallearn.cli.errors import CommandError

ENDED = "the process that did the work ended; if the table is large, there may have been too little memory"


@dataclass
class Job:
    """One piece of work. ``state`` is running, done, failed or cancelled; ``result`` is the answer or what is wrong."""

    number: int
    kind: str
    state: str = "running"
    progress: dict[str, Any] = field(default_factory=dict)
    result: Any = None
    began: float = field(default_factory=time.monotonic)

    def facts(self) -> dict[str, Any]:
        """What the page is told of it."""
        return {
            "number": self.number,
            "kind": self.kind,
            "state": self.state,
            "progress": self.progress,
            "result": self.result,
            "seconds": round(time.monotonic() - self.began, 1),
        }


class Worker:
    """The process, and the job that it does; one at a time."""

    def __init__(self) -> None:
        self._context = multiprocessing.get_context("spawn")
        self._lock = threading.Lock()
        self._process: Any = None
        self._connection: Connection | None = None
        self._numbers = 0
        self.job: Job | None = None

    def start(self) -> None:
        """Start the process, unless it runs."""
        if self._process is not None and self._process.is_alive():
            return
        here, there = self._context.Pipe()
        self._process = self._context.Process(target=work.run, args=(there,), name="smallearn app", daemon=False)
        self._process.start()
        there.close()
        self._connection = here

    def submit(self, kind: str, finish: Callable[[Any], Any] = lambda answer: answer, **request: Any) -> Job:
        """Begin a job: a method of `work.Workshop`. ``finish`` makes the result of its answer."""
        with self._lock:
            if self.job is not None and self.job.state == "running":
                raise CommandError("another job is running: wait for it, or cancel it")
            self.start()
            assert self._connection is not None
            self._numbers += 1
            job = self.job = Job(number=self._numbers, kind=kind)
            self._connection.send((kind, request))
            threading.Thread(
                target=self._listen, args=(job, self._connection, self._process, finish), daemon=True
            ).start()
        return job

    def cancel(self, number: int) -> None:
        """End a job, and the process with it; the next job starts another."""
        with self._lock:
            if self.job is None or self.job.number != number or self.job.state != "running":
                return
            self.job.state = "cancelled"
            self._end()

    def stop(self) -> None:
        """End the process."""
        with self._lock:
            if self.job is not None and self.job.state == "running":
                self.job.state = "cancelled"
            self._end()

    def _end(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.join()
        self._process = self._connection = None

    def _listen(self, job: Job, connection: Connection, process: Any, finish: Callable[[Any], Any]) -> None:
        """Take what the process says of a job, until there is an answer or no process any more."""
        word: str
        said: Any
        while job.state == "running":
            try:
                if not connection.poll(1.0) and process.is_alive():
                    continue
                word, said = connection.recv() if connection.poll() else ("failed", ENDED)
            except (EOFError, OSError):
                word, said = "failed", ENDED
            if word == "progress":
                job.progress = said
                continue
            with self._lock:
                if job.state == "running":
                    job.result, job.state = _finished(word, said, finish)


def _finished(word: str, said: Any, finish: Callable[[Any], Any]) -> tuple[Any, str]:
    """The result and the state of a job that has ended."""
    if word != "done":
        return said, word
    try:
        return finish(said), "done"
    except (CommandError, OSError, ValueError) as error:
        return str(error), "failed"
    except Exception:
        traceback.print_exc()
        return work.UNEXPECTED, "failed"
