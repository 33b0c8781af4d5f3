"""Where tasks run: on the workers of a client, or without one by Dask's default scheduler.

A task is a plain function of its data, so that it can run again anywhere when a worker is lost. What a task is told
goes with it as bytes: neither state nor messages are kept on workers, only results that can be computed anew.
"""

import pickle
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from threading import Lock
from typing import Any

import dask
from threadpoolctl import ThreadpoolController

from smallearn._version import __version__

MORE_MEMORY = (
    "give the workers more memory or fewer threads, add workers, or cut the rows into smaller partitions "
    "(X.rechunk, or repartition of a dataframe)"
)
START = "from distributed import Client; client = Client()"
WAIT = 60  # seconds for the first worker


class Cluster:
    """Runs tasks for one fit. Leaving the context lets go of what was kept, and after an error cancels what runs."""

    def __init__(self, client: Any = None):
        self._client = current_client() if client is None else client
        self._futures: list[Any] = []

    def __enter__(self) -> "Cluster":
        if self._client is not None:
            check_client(self._client)
        return self

    def __exit__(self, kind: Any, *error: Any) -> None:
        futures, self._futures = self._futures, []
        if kind is not None and futures and self._client.status == "running":
            with suppress(Exception):  # the first error counts
                self._client.cancel(futures, force=True)

    def tasks(self, function: Callable[..., Any], data: Sequence[Any], arguments: Sequence[tuple]) -> list[Any]:
        """``function(data[i], *arguments[i])``, not started."""
        pairs = zip(data, arguments, strict=True)
        return [dask.delayed(answer, pure=False)(one, pickle.dumps((function, told))) for one, told in pairs]

    def compute(self, collections: Any) -> Any:
        """The results, in order."""
        if self._client is None:
            return dask.compute(*collections)
        with clear_errors(self._client):
            return self._gather(self._client.compute(list(collections)))

    def keep(self, tasks: list[Any]) -> list[Any]:
        """Start tasks whose results stay on the workers, for `ask`. Without a client they are computed when needed."""
        if self._client is None:
            return tasks
        with clear_errors(self._client):
            kept = self._client.compute(tasks)
        self._futures += kept
        return kept

    def ask(self, function: Callable[..., Any], kept: list[Any], arguments: tuple) -> Sequence[Any]:
        """``function(result, *arguments)`` for every result that was kept, in order; one graph."""
        if self._client is None:
            return self.compute(self.tasks(function, kept, [arguments] * len(kept)))
        told = pickle.dumps((function, arguments))
        with clear_errors(self._client):
            return self._gather(self._client.map(answer, kept, told=told, pure=False, key=function.__name__))

    def _gather(self, futures: list[Any]) -> Sequence[Any]:
        n_kept = len(self._futures)
        self._futures += futures  # until they are done, in case of an error or Ctrl-C
        results = self._client.gather(futures)
        del self._futures[n_kept:]
        return results


def current_client() -> Any:
    """The client that was started last, or None."""
    try:
        from distributed import get_client

        return get_client()
    except (ImportError, ValueError):
        return None


def check_client(client: Any) -> None:
    """Refuse a client that is closed, has no workers, or has some that cannot do the work."""
    if client.status != "running":
        raise RuntimeError(f"The Dask client is {client.status}, so that it has no workers; start another one: {START}")
    if client.asynchronous:
        raise RuntimeError("The Dask client is asynchronous; fit waits for results and needs one that is not.")
    with clear_errors(client):
        try:
            client.wait_for_workers(1, timeout=WAIT)
        except TimeoutError:
            raise RuntimeError(f"The Dask cluster at {address(client)} has had no worker for {WAIT} s.") from None
        versions = client.run(version_reader(), on_error="ignore")
    for worker, version in sorted(versions.items()):
        if version is None:
            raise RuntimeError(f"The Dask worker {worker} lacks smallearn; install smallearn=={__version__} there.")
        if version != __version__:
            raise RuntimeError(
                f"The Dask worker {worker} has smallearn {version}, not {__version__} as here; install the same."
            )


def version_reader() -> Callable[[], str | None]:
    """A function that returns the version of this library. It is sent by value, for the library may be missing."""

    def version() -> str | None:
        try:
            import smallearn
        except ImportError:
            return None
        return smallearn.__version__

    return version


def address(client: Any) -> str:
    """Where the scheduler is."""
    return getattr(client.scheduler, "address", None) or "an unknown address"


@contextmanager
def clear_errors(client: Any) -> Iterator[None]:
    """Say so if the scheduler is gone, or workers lack memory."""
    from asyncio import CancelledError as TaskCancelled
    from concurrent.futures import CancelledError

    from distributed.scheduler import KilledWorker

    where = address(client)
    try:
        yield
    except KilledWorker as error:
        times = error.allowed_failures + 1
        raise RuntimeError(
            f"{times} of the workers on the Dask cluster at {where} died at work on the same rows, most likely for "
            f"want of memory: {MORE_MEMORY}."
        ) from error
    except MemoryError as error:
        raise MemoryError(f"A worker of the Dask cluster at {where} lacks memory ({error}): {MORE_MEMORY}.") from error
    except (CancelledError, TaskCancelled, OSError) as error:  # the last is that of a closed connection
        if client.status == "running" and not isinstance(error, OSError):
            raise RuntimeError(f"The work was cancelled on the Dask cluster at {where}: {error}") from error
        raise RuntimeError(
            f"The Dask scheduler at {where} is gone, and the training with it; start another cluster: {START}"
        ) from error


# --- on the workers ---------------------------------------------------------------------------------------------------


def answer(data: Any, told: bytes) -> Any:
    """What a function says about some data, both on a worker; ``told`` is the function and its further arguments."""
    function, arguments = pickle.loads(told)
    with ONE_THREAD:
        return function(data, *arguments)


class OneThread:
    """One thread for BLAS in this process, as long as any task of ours runs: the tasks are parallel already."""

    def __init__(self) -> None:
        self._lock, self._inside = Lock(), 0
        self._controller: ThreadpoolController | None = None
        self._limit: Any = None

    def __enter__(self) -> None:
        with self._lock:
            if self._inside == 0:
                self._controller = self._controller or ThreadpoolController()
                self._limit = self._controller.limit(limits=1)
            self._inside += 1

    def __exit__(self, *error: Any) -> None:
        with self._lock:
            self._inside -= 1
            if self._inside == 0:
                self._limit.restore_original_limits()


ONE_THREAD = OneThread()
