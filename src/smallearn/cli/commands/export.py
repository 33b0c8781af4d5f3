"""``smallearn export``: a model as source, query or graph."""

import argparse
import sys
from typing import Any

from smallearn._text import listed, show
from smallearn.cli.arguments import add_command, add_model, add_path, add_talk
from smallearn.cli.common import CommandError, check_output, read_model, tell, write_file
from smallearn.cli.search import message_of

EXAMPLES = """\
smallearn export model.json --to c --number int8 -o model.h
smallearn export model.json --to sql --dialect duckdb --table patients
smallearn export model.json --to arduino -o TumourModel
"""
# What each target can be told, beside the model.
OPTIONS = {
    "c": ("number", "layout", "name", "form"),
    "arduino": ("number", "layout", "name"),
    "sql": ("dialect", "table", "form", "view"),
    "onnx": ("inputs",),
    "python": ("inputs",),
    "javascript": ("inputs",),
    "rust": ("inputs",),
}


def add(commands) -> None:
    """The command's arguments."""
    parser = add_command(
        commands,
        "export",
        "a model as C, Arduino library, Python, JavaScript, Rust, SQL or ONNX",
        "Write a model in the language of where predictions are made.",
        EXAMPLES,
    )
    add_model(parser)
    parser.add_argument(
        "--to", required=True, choices=sorted(OPTIONS), metavar="TARGET", help=", ".join(sorted(OPTIONS))
    )
    add_path(parser, "-o", "--output", metavar="FILE", help="where to (a folder for arduino); else printed")
    parser.add_argument(
        "--number", metavar="TYPE", help="C, Arduino: float32, float64, int8, int16, int32 (float32; Arduino int16)"
    )
    parser.add_argument("--layout", metavar="KIND", help="C: code or table (code)")
    parser.add_argument("--name", metavar="NAME", help="C: prefix of all names (model)")
    parser.add_argument(
        "--form", metavar="FORM", help="C: header, h, c (header); SQL: select, view, expression (select)"
    )
    parser.add_argument("--dialect", metavar="NAME", help="SQL: postgresql, duckdb, sqlite (postgresql)")
    parser.add_argument("--table", metavar="NAME", help="SQL: the table to score (data)")
    parser.add_argument("--view", metavar="NAME", help="SQL: the view to create (scored)")
    parser.add_argument(
        "--inputs",
        metavar="WHICH",
        help="Python, JavaScript, Rust, ONNX: rows of all features, or of those in use: all or used",
    )
    add_talk(parser, json=False)
    parser.set_defaults(run=run)


def run(given: argparse.Namespace) -> int:
    """Export and write, or print."""
    every = sorted({name for names in OPTIONS.values() for name in names})
    options: dict[str, Any] = {name: getattr(given, name) for name in every if getattr(given, name) is not None}
    strange = [f"--{name}" for name in options if name not in OPTIONS[given.to]]
    if strange:
        raise CommandError(f"{', '.join(strange)} does not go with --to {given.to}; it takes {_flags(given.to)}")
    if given.output is not None and given.to != "arduino":
        check_output(given.output, given.model)
    model = read_model(given)
    if given.to in ("arduino", "onnx") and given.output is None:
        raise CommandError(f"--to {given.to} needs -o: it is not text")
    from smallearn.export import TARGETS

    try:
        if given.to == "arduino":
            made = TARGETS["arduino"](model, given.output, **options)
        else:
            made = TARGETS[given.to](model, **options)
    except (ValueError, TypeError, OSError, ImportError) as problem:
        raise CommandError(message_of(problem)) from None
    if given.to == "arduino":
        tell(f"An Arduino library is in {made}.")
    elif given.output is None:
        _print(made)
    else:
        write_file(made if isinstance(made, str) else made.SerializeToString(), given.output)
        tell(f"Wrote {given.output}.")
    return 0


def _print(text: str) -> None:
    """On stdout as it is or not at all: source with other signs than it has would be another program."""
    encoding = sys.stdout.encoding or "utf-8"
    try:
        text.encode(encoding)
    except UnicodeEncodeError as problem:
        sign = show(text[problem.start])
        raise CommandError(f"the output's encoding, {encoding}, has no {sign}: write a file with -o") from None
    print(text, end="" if text.endswith("\n") else "\n")


def _flags(target: str) -> str:
    return listed([f"--{name}" for name in OPTIONS[target]]).replace("'", "")
