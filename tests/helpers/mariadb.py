"""A private MariaDB server for the tests: in a temporary folder, on a socket in it, gone at the end."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

from tests.helpers.postgres import unprivileged, wait
from tests.helpers.tools import need, need_module

QUICK = ["--innodb-flush-log-at-trx-commit=0", "--innodb-buffer-pool-size=16M", "--innodb-log-file-size=8M"]


@contextmanager
def server() -> Iterator[str]:
    """Yields the socket."""
    install, mariadbd = need("mariadb-install-db"), need("mariadbd")
    folder = tempfile.mkdtemp(prefix="maria-")
    who = unprivileged("mysql")
    if who:
        shutil.chown(folder, who)
    try:
        data, socket, log = (os.path.join(folder, name) for name in ("data", "socket", "log"))
        common = ["--no-defaults", f"--datadir={data}", *([f"--user={who}"] if who else [])]
        make = [install, *common, "--auth-root-authentication-method=normal", "--skip-test-db"]
        subprocess.run(make, check=True, capture_output=True, cwd=folder)
        command = [mariadbd, *common, f"--socket={socket}", "--skip-networking", f"--pid-file={folder}/pid", *QUICK]
        with open(log, "wb") as said:
            running = subprocess.Popen(command, stdout=said, stderr=said, cwd=folder)
        try:
            wait(running, lambda: os.stat(socket), FileNotFoundError, log)
            with connect(socket, database=None) as connection:
                connection.cursor().execute("CREATE DATABASE test")
            yield socket
        finally:
            running.terminate()
            running.wait(timeout=120)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def connect(socket: str, database: str | None = "test"):
    """A connection to the server."""
    user = {"user": "root", "charset": "utf8mb4", "autocommit": True}
    return need_module("pymysql").connect(unix_socket=socket, database=database, **user)
