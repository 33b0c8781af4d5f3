"""Start the server, open the page, and leave nothing behind."""

import socket
import webbrowser
from pathlib import Path
from typing import Any

from smallearn._run.files import scratch_folder
from smallearn.cli.app.guard import Keys
from smallearn.cli.app.jobs import Worker
from smallearn.cli.app.session import Session
from smallearn.cli.console import Console
from smallearn.cli.errors import CommandError
from smallearn.cli.io.files import file_name, signals_as_exits
from smallearn.cli.io.tables import ReadOptions

HOST = "127.0.0.1"  # this machine alone, never a network


def serve(
    table: Path | None, options: ReadOptions, *, port: int, limit: float, opens_browser: bool, console: Console
) -> None:
    """Answer until the process is interrupted; uploads are removed at the end."""
    import uvicorn

    from smallearn.cli.app.routes import make_app

    listening = _listen(port)
    keys = Keys(port=listening.getsockname()[1])
    worker = Worker()
    with signals_as_exits(), scratch_folder() as folder:
        try:
            session = Session(folder, options, limit)
            if table is not None:
                session.add_table(table, file_name(table))
            worker.start()
            config = uvicorn.Config(
                make_app(session, worker, keys), log_level="error", access_log=False, lifespan="off", ws="none"
            )
            server: Any = uvicorn.Server(config)
            print(f"Open {keys.address()}", flush=True)
            console.note("The page is for this machine only. Stop it with Ctrl-C.")
            if opens_browser:
                webbrowser.open(keys.address())
            server.run(sockets=[listening])
        except KeyboardInterrupt:
            pass
        finally:
            worker.stop()
            listening.close()
    console.note("Stopped; uploaded tables are removed.")


def _listen(port: int) -> socket.socket:
    """A socket on this machine's own address; port 0: any that is free."""
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        listening.bind((HOST, port))
        listening.listen()
    except OSError as error:
        listening.close()
        raise CommandError(
            f"port {port} of {HOST} cannot be used ({error.strerror}): choose another --port, or none for a free one"
        ) from None
    return listening
