"""``smallearn export``: a model as source, query or graph."""

import argparse
import sys
import warnings
from collections.abc import Mapping
from inspect import Parameter, signature
from pathlib import Path
from typing import Any

from smallearn._text import show
from smallearn.cli.arguments import (
    DIALECT_NAMES,
    TARGET_NAMES,
    add_command,
    add_data,
    add_model,
    add_named,
    add_path,
    add_printing,
    add_readings,
)
from smallearn.cli.console import Console
from smallearn.cli.errors import CommandError, ExitCode, library_errors
from smallearn.cli.io.counts import read_counts
from smallearn.cli.io.files import check_output, read_model, write_file
from smallearn.cli.limits import note_limits
from smallearn.cli.reason_codes import add_reason_codes, note_wordless, reason_codes_of
from smallearn.cli.rounding import check_loss
from smallearn.model import SMaLLModel

DESCRIPTION = """\
Write a model in another language, so that predictions need neither Python nor smallearn. Whole numbers (--number int8,
int16 …) are rounded: it is told how many decisions that changes, on the rows of DATA if they are given, otherwise on
random rows within the training ranges. More than --max-changed percent of them is an error, and nothing is written.
"""
EXAMPLES = """\
smallearn export model.json --to c --number int8 --readings float -o model.h
smallearn export model.json data.csv --to c --number int8 --max-changed 1 -o model.h
smallearn export model.json --to c --form c -o model.c
smallearn export model.json --to sql --dialect duckdb --table patients
smallearn export model.json --to sql --reason-codes 2 --wording wording.csv --favourable no
smallearn export model.json --to arduino -o TumourModel
smallearn export model.json --to sql --form view --schema clinic --view scored --reason -o scored.sql
smallearn export model.json --to c --form c --layout table --name risk --probabilities --class-names -o risk.c
smallearn export model.json --to c --number int16 --readings counts --counts counts.csv -o model.h
smallearn export model.json --to python --inputs used -o model.py
smallearn export model.json data.xlsx --sheet May --to rust --number int16 -o model.rs
smallearn export model.json data.csv --encoding cp1252 --missing 999 --quiet --to c --number int8 -o model.h
"""
# Each sets the parameter of that name of the target's function, if it has one; ``schema`` sets two.
OPTIONS: tuple[str, ...] = ("number", "layout", "name", "form", "dialect", "schema", "table", "view", "reason")
OPTIONS += ("reason_codes", "wording", "favourable", "inputs", "readings", "counts", "probabilities", "class_names")


def add(commands) -> argparse.ArgumentParser:
    """Add the command's parser."""
    parser = add_command(
        commands,
        "export",
        summary="a model as C, Arduino library, Python, JavaScript, Lua, Rust, SQL, ONNX or PMML",
        description=DESCRIPTION,
        examples=EXAMPLES,
    )
    add_model(parser)
    add_data(parser, optional=True)
    add_named(parser, "--to", TARGET_NAMES, required=True, choices=TARGET_NAMES, metavar="TARGET", help="%(names)s")
    add_path(
        parser, "-o", "--output", metavar="FILE", help="the file to write, for arduino the folder (default: print it)"
    )
    code = parser.add_argument_group("code")
    code.add_argument(
        "--number",
        metavar="TYPE",
        help="C, Arduino, Rust: float32, float64, int8, int8x16, int16 or int32 (default: float32, for Arduino int16, "
        "for Rust float64, or what the model was chosen for); ONNX: float32 or float64 (default: float32)",
    )
    code.add_argument("--layout", metavar="KIND", help="C, Arduino: auto, code or table (default: auto)")
    code.add_argument(
        "--name",
        metavar="NAME",
        help="C, Arduino: prefix of all names (default: model; for Arduino the name of the folder)",
    )
    code.add_argument(
        "--form",
        metavar="FORM",
        help="C: header, or the pair h and c, of which c includes the .h of its own name (default: header); SQL: "
        "select, view or expression (default: select); "
        "JavaScript: module, commonjs or types (default: module)",
    )
    code.add_argument(
        "--inputs",
        metavar="WHICH",
        help="programming languages, ONNX: a row has all features, or only those used (default: all, for Rust used)",
    )
    add_readings(code, None, "C, Arduino, Rust: what the program passes: float, counts (see --counts) or codes")
    code.add_argument(
        "--probabilities",
        action="store_true",
        default=None,
        help="C, Arduino, Rust: a function for probabilities too, in whole numbers by a small table",
    )
    code.add_argument(
        "--class-names",
        action="store_true",
        default=None,
        help="C, Arduino: a function from the position of a class to its name",
    )
    code.add_argument(
        "--max-changed",
        type=float,
        metavar="PERCENT",
        help="C, Arduino, Rust: how many of the decisions whole numbers may change (default: 2; no limit for a model "
        "that fit chose for a chip, in the number chosen with it)",
    )
    sql = parser.add_argument_group("SQL and PMML")
    add_named(
        sql,
        "--dialect",
        DIALECT_NAMES,
        metavar="NAME",
        help="SQL: %(names)s; mysql is for MariaDB too (default: postgresql)",
    )
    sql.add_argument("--schema", metavar="NAME", help="SQL: the schema of the table and of the view (default: none)")
    sql.add_argument("--table", metavar="NAME", help="SQL: the table to score (default: data)")
    sql.add_argument("--view", metavar="NAME", help="SQL: the view to create (default: scored)")
    sql.add_argument("--reason", action="store_true", default=None, help="SQL: a column that says what each term added")
    add_reason_codes(sql, "SQL, PMML: ", "columns reason_1 to reason_N,")
    add_printing(parser, json=False)
    return parser


def run(arguments: argparse.Namespace, console: Console) -> int:
    """Export and write, or print."""
    from smallearn.export import TARGETS, FormatLossWarning

    function = TARGETS[arguments.to]
    parameters = signature(function).parameters
    options = _target_options(arguments, parameters)
    writes_folder = "folder" in parameters
    if arguments.output is not None and not writes_folder:
        check_output(arguments.output, arguments.model)
    model = read_model(arguments)
    codes = reason_codes_of(arguments, model)
    options |= codes
    if arguments.to == "c" and arguments.form == "c" and arguments.output is not None:
        options["header"] = arguments.output.with_suffix(".h").name  # which --form h -o writes beside it
    if writes_folder:
        options["folder"] = _output(arguments)
    with library_errors(arguments, TypeError, ImportError):
        check_loss(arguments, model, options, console)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FormatLossWarning)
            exported = function(model, **options)
        note_limits(arguments, model, options, console)
        note_wordless(arguments, model, codes, console)
        if arguments.to == "sql":
            _note_missing_texts(model, console)
    if writes_folder:
        console.note(f"Wrote the folder {exported}.")
    elif isinstance(exported, str) and arguments.output is None:
        _print(exported)
    else:
        content = exported if isinstance(exported, str | bytes) else exported.SerializeToString()
        write_file(content, _output(arguments))
        console.note(f"Wrote {arguments.output}.")
    return ExitCode.DONE


def _output(arguments: argparse.Namespace) -> Path:
    """The file or folder to write, for a target that cannot be printed."""
    if arguments.output is None:
        raise CommandError(f"--to {arguments.to} needs -o: it is not text")
    return arguments.output


def _target_options(arguments: argparse.Namespace, parameters: Mapping[str, Parameter]) -> dict[str, Any]:
    """The options that the user set; each must be one of the parameters of the target's function."""
    options = {name: getattr(arguments, name) for name in OPTIONS if getattr(arguments, name) is not None}
    takes = {*parameters, "schema"} if "table" in parameters else set(parameters)
    unknown = [_option(name) for name in options if name not in takes]
    if unknown:
        known = ", ".join(_option(name) for name in OPTIONS if name in takes) or "none of these options"
        raise CommandError(f"{', '.join(unknown)} does not go with --to {arguments.to}; it takes {known}")
    if "counts" in options:
        options["counts"] = read_counts(options["counts"])
    if "schema" in options:
        schema, places = options.pop("schema"), [name for name in ("table", "view") if name in parameters]
        options |= {name: (schema, options.get(name, parameters[name].default)) for name in places}
    return options


def _note_missing_texts(model: SMaLLModel, console: Console) -> None:
    """A note on texts that a database keeps, but which were missing values in training."""
    from smallearn.cli.io.missing_texts import note_of
    from smallearn.export import flatten

    text = note_of(flatten(model).missing_by_column)
    if text is not None:
        console.note(text)


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _print(text: str) -> None:
    """Print text as it is or not at all: with escapes it would be another program."""
    encoding = sys.stdout.encoding or "utf-8"
    try:
        text.encode(encoding)
    except UnicodeEncodeError as error:
        sign = show(text[error.start])
        raise CommandError(f"the output's encoding, {encoding}, has no {sign}: write a file with -o") from None
    print(text, end="" if text.endswith("\n") else "\n")
