"""``smallearn app``: a local page from a table to a model."""

import argparse

from smallearn.cli.arguments import add_command, add_data, add_printing, positive_number, whole_number
from smallearn.cli.console import Console
from smallearn.cli.errors import ExitCode, not_installed
from smallearn.cli.io.tables import ReadOptions, check_table

DESCRIPTION = """\
A page in the browser: choose a table and a target, see what is ignored and why, watch the fit, change the size and the
threshold of the model, forbid features, compare models, export them and save the report.

The page is served by this command, on this machine only and to no other program: its address has a random token. It
makes no requests to anywhere else. It can read DATA and what is uploaded to it; uploads are removed when the command
ends, at Ctrl-C.
"""
EXAMPLES = """\
smallearn app
smallearn app data.csv --limit 120
smallearn app data.csv --port 8765 --no-browser
"""
LIMIT = 600.0  # seconds of a fit


def add(commands) -> argparse.ArgumentParser:
    """Add the command's parser."""
    parser = add_command(
        commands,
        "app",
        summary="a local page in the browser, from a table to a model and its exports",
        description=DESCRIPTION,
        examples=EXAMPLES,
    )
    add_data(parser, optional=True)
    parser.add_argument("--port", type=port, default=0, metavar="N", help="the port to use (default: one that is free)")
    parser.add_argument("--no-browser", action="store_true", help="print the address of the page, and do not open it")
    parser.add_argument(
        "--limit",
        type=positive_number,
        default=LIMIT,
        metavar="SECONDS",
        help=f"the most seconds that a fit may take; it then ends with the best result so far (default: {LIMIT:g})",
    )
    add_printing(parser, json=False)
    return parser


def run(arguments: argparse.Namespace, console: Console) -> int:
    """Serve the page until the process is interrupted."""
    if arguments.data is not None:
        check_table(arguments.data)
    need_server()
    from smallearn.cli.app.serve import serve

    serve(
        arguments.data,
        ReadOptions.of(arguments),
        port=arguments.port,
        limit=arguments.limit,
        opens_browser=not arguments.no_browser,
        console=console,
    )
    return ExitCode.DONE


def need_server() -> None:
    """Check that the libraries which serve the page are installed."""
    for name in ("starlette", "uvicorn", "pandas", "jinja2"):
        try:
            __import__(name)
        except ModuleNotFoundError:
            raise not_installed("smallearn app", name, "app") from None


def port(text: str) -> int:
    """A number of a port; 0 for any that is free."""
    return whole_number(text, 0, 65535)
