"""A Dask cluster on the loopback: a scheduler and workers, each a process of its own, started here."""

import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager, suppress

from distributed import Client

PATIENCE = 60  # seconds until a process has started


class Processes:
    """The processes of a cluster, and a client for it."""

    def __init__(self, folder):
        self._folder, self._file, self.workers = folder, folder / "scheduler.json", []
        self.scheduler = self._start("scheduler", "--host", "127.0.0.1", "--port", "0", "--no-show")
        wait_until(self._file.is_file)
        self.client = None

    def add_worker(self, *options):
        """Start a worker."""
        process = self._start("worker", "--nthreads", "1", "--no-nanny", "--host", "127.0.0.1", *options)
        self.workers.append(process)
        return process

    def connect(self):
        """Wait for the workers and connect to them."""
        self.client = Client(scheduler_file=str(self._file), set_as_default=False)
        self.client.wait_for_workers(len(self.workers), timeout=PATIENCE)
        return self.client

    def close(self):
        """End all that was started."""
        if self.client is not None:
            with suppress(Exception):
                self.client.close(timeout=2)
        for process in [*self.workers, self.scheduler]:
            kill(process)

    def _start(self, role, *options):
        command = [sys.executable, "-m", "dask", role, "--scheduler-file", str(self._file), "--dashboard-address", ":0"]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "OMP_NUM_THREADS": "1"}
        with (self._folder / "log").open("ab") as log:
            return subprocess.Popen([*command, *options], stdout=log, stderr=log, env=environment, cwd=self._folder)


@contextmanager
def running(folder, n_workers=2):
    """A cluster with workers, and a client that is connected."""
    processes = Processes(folder)
    try:
        for _ in range(n_workers):
            processes.add_worker()
        processes.connect()
        yield processes
    finally:
        processes.close()


def kill(process):
    """End a process at once."""
    with suppress(ProcessLookupError):
        process.send_signal(signal.SIGKILL)
    process.wait()


def wait_until(condition):
    """Wait for something that happens in another process."""
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, "it took too long"
        time.sleep(0.05)
