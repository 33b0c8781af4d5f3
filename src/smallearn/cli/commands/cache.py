"""``smallearn cache``: the tables that ``fit`` converted to files, and removing them."""

import argparse
from dataclasses import asdict
from typing import Any

from smallearn._text import count
from smallearn.cli.arguments import add_command, add_printing
from smallearn.cli.console import Console, heading
from smallearn.cli.errors import ExitCode, library_errors
from smallearn.cli.io.files import print_json, shown, size_text

DESCRIPTION = """\
Tables that are too large for memory are converted once, by fit or by smallearn.tables.open_table, to files that are
used again as long as the table is the same. List them, with their folder, what they were made of, their rows and
features and their size; or remove them all. They lie in the folder that the environment variable SMALLEARN_CACHE
names, or else in that of the system for caches.
"""
EXAMPLES = """\
smallearn cache
smallearn cache --json
smallearn cache --clear
smallearn cache --clear --quiet
"""


def add(commands) -> argparse.ArgumentParser:
    """Add the command's parser."""
    parser = add_command(
        commands,
        "cache",
        summary="list or remove the tables that were converted to files",
        description=DESCRIPTION,
        examples=EXAMPLES,
    )
    parser.add_argument("--clear", action="store_true", help="remove them all")
    add_printing(parser)
    return parser


def run(arguments: argparse.Namespace, console: Console) -> int:
    """List, or list and remove."""
    from smallearn.tables import cached_tables, clear_cache
    from smallearn.tables._cache import cache_folder

    folder = cache_folder()
    with library_errors(arguments):
        tables = cached_tables(folder)
        freed = clear_cache(folder) if arguments.clear else 0
    if arguments.json:
        listed = [{**asdict(table), "path": str(table.path)} for table in tables]
        print_json({"folder": str(folder), "tables": listed, "cleared": arguments.clear})
    elif arguments.clear:
        print(f"Removed {count(len(tables), 'table')} from {shown(folder)}: {size_text(freed)} freed.")
    elif not tables:
        print(f"There are no converted tables in {shown(folder)}.")
    else:
        total = size_text(sum(table.n_bytes for table in tables))
        print(heading(f"{count(len(tables), 'table')} in {shown(folder)}, {total}"))
        print("\n".join(_line(table) for table in tables))
    return ExitCode.DONE


def _line(table: Any) -> str:
    shape = f"{table.n_rows:,} × {table.n_features:,}"
    return f"  {table.source}: {shape}, {size_text(table.n_bytes)}\n    {shown(table.path)}"
