"""A private PostgreSQL server for the tests: in a temporary folder, on a socket in it, gone at the end."""

import os
import pwd
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from tests.helpers.tools import need, need_module

QUICK = ["fsync=off", "synchronous_commit=off", "full_page_writes=off", "shared_buffers=16MB", "max_connections=5"]


@contextmanager
def server() -> Iterator[str]:
    """Yields what psycopg connects to."""
    initdb, postgres, psycopg = need("initdb"), need("postgres"), need_module("psycopg")
    folder = tempfile.mkdtemp(prefix="pg-")
    who = unprivileged("postgres")
    if who:
        shutil.chown(folder, who)
    try:
        data = os.path.join(folder, "data")
        make = [initdb, "-D", data, "--no-sync", "-A", "trust", "-U", "tester", "-E", "UTF8", "--locale=C.UTF-8"]
        subprocess.run(make, check=True, capture_output=True, user=who, cwd=folder, extra_groups=[] if who else None)
        options = [part for setting in [*QUICK, "listen_addresses="] for part in ("-c", setting)]
        with open(os.path.join(folder, "log"), "wb") as said:
            command = [postgres, "-D", data, "-k", folder, *options]
            running = subprocess.Popen(
                command, stdout=said, stderr=said, user=who, cwd=folder, extra_groups=[] if who else None
            )
        try:
            address = f"host={folder} user=tester dbname=postgres"
            log = os.path.join(folder, "log")
            wait(running, lambda: psycopg.connect(address).close(), psycopg.OperationalError, log)
            yield address
        finally:
            running.terminate()
            running.wait(timeout=30)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def unprivileged(preferred: str) -> str | None:
    """Servers refuse to run as root: whom they run as then."""
    if os.geteuid() != 0:
        return None
    names = {entry.pw_name for entry in pwd.getpwall()}
    return preferred if preferred in names else "nobody"


def wait(running: subprocess.Popen, attempt: Callable[[], object], refused: type[Exception], log: str) -> None:
    """Until an attempt to connect is not refused."""
    for _ in range(300):
        try:
            attempt()
        except refused:
            if running.poll() is not None:
                break
            time.sleep(0.1)
        else:
            return
    with open(log) as said:
        raise RuntimeError(f"The server did not start: {said.read()}")
