"""``smallearn export``: a model as source, query or graph."""

import argparse
import sys
from typing import Any

from smallearn._text import show
from smallearn.cli.arguments import add_command, add_model, add_path, add_printing
from smallearn.cli.console import Console
from smallearn.cli.errors import CommandError, ExitCode, library_errors
from smallearn.cli.io.files import check_output, read_model, write_file

DESCRIPTION = """\
Write a model in another language, so that predictions need neither Python nor smallearn.
"""
EXAMPLES = """\
smallearn export model.json --to c --number int8 -o model.h
smallearn export model.json --to sql --dialect duckdb --table patients
smallearn export model.json --to arduino -o TumourModel
"""
# The options of each target.
OPTIONS = {
    "c": ("number", "layout", "name", "form"),
    "arduino": ("number", "layout", "name"),
    "sql": ("dialect", "table", "form", "view"),
    "onnx": ("inputs",),
    "python": ("inputs",),
    "javascript": ("inputs",),
    "rust": ("inputs",),
}


def add(commands) -> argparse.ArgumentParser:
    """Add the command's parser."""
    parser = add_command(
        commands,
        "export",
        summary="a model as C, Arduino library, Python, JavaScript, Rust, SQL or ONNX",
        description=DESCRIPTION,
        examples=EXAMPLES,
    )
    add_model(parser)
    parser.add_argument(
        "--to", required=True, choices=sorted(OPTIONS), metavar="TARGET", help=", ".join(sorted(OPTIONS))
    )
    add_path(
        parser, "-o", "--output", metavar="FILE", help="the file to write, for arduino the folder (default: print it)"
    )
    parser.add_argument(
        "--number",
        metavar="TYPE",
        help="C, Arduino: float32, float64, int8, int16 or int32 (default: float32, for Arduino int16)",
    )
    parser.add_argument("--layout", metavar="KIND", help="C, Arduino: code or table (default: code)")
    parser.add_argument("--name", metavar="NAME", help="C, Arduino: prefix of all names (default: model)")
    parser.add_argument(
        "--form",
        metavar="FORM",
        help="C: header, h or c (default: header); SQL: select, view or expression (default: select)",
    )
    parser.add_argument("--dialect", metavar="NAME", help="SQL: postgresql, duckdb or sqlite (default: postgresql)")
    parser.add_argument("--table", metavar="NAME", help="SQL: the table to score (default: data)")
    parser.add_argument("--view", metavar="NAME", help="SQL: the view to create (default: scored)")
    parser.add_argument(
        "--inputs",
        metavar="WHICH",
        help="Python, JavaScript, Rust, ONNX: a row has all features, or only those used (default: all)",
    )
    add_printing(parser, json=False)
    return parser


def run(arguments: argparse.Namespace, console: Console) -> int:
    """Export and write, or print."""
    options = _target_options(arguments)
    if arguments.output is not None and arguments.to != "arduino":
        check_output(arguments.output, arguments.model)
    model = read_model(arguments)
    if arguments.to in ("arduino", "onnx") and arguments.output is None:
        raise CommandError(f"--to {arguments.to} needs -o: it is not text")
    from smallearn.export import TARGETS

    folder = (arguments.output,) if arguments.to == "arduino" else ()
    with library_errors(arguments, TypeError, ImportError):
        exported = TARGETS[arguments.to](model, *folder, **options)
    if arguments.to == "arduino":
        console.note(f"Wrote an Arduino library to {exported}.")
    elif arguments.output is None:
        _print(exported)
    else:
        write_file(exported if isinstance(exported, str) else exported.SerializeToString(), arguments.output)
        console.note(f"Wrote {arguments.output}.")
    return ExitCode.DONE


def _target_options(arguments: argparse.Namespace) -> dict[str, Any]:
    """The options that the user set, all of which the target must know."""
    names = sorted({name for names in OPTIONS.values() for name in names})
    options = {name: getattr(arguments, name) for name in names if getattr(arguments, name) is not None}
    unknown = [f"--{name}" for name in options if name not in OPTIONS[arguments.to]]
    if unknown:
        known = ", ".join(f"--{name}" for name in OPTIONS[arguments.to])
        raise CommandError(f"{', '.join(unknown)} does not go with --to {arguments.to}; it takes {known}")
    return options


def _print(text: str) -> None:
    """Print text as it is or not at all: with escapes it would be another program."""
    encoding = sys.stdout.encoding or "utf-8"
    try:
        text.encode(encoding)
    except UnicodeEncodeError as error:
        sign = show(text[error.start])
        raise CommandError(f"the output's encoding, {encoding}, has no {sign}: write a file with -o") from None
    print(text, end="" if text.endswith("\n") else "\n")
