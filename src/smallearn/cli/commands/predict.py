"""``smallearn predict``: the class of every row of a table."""

import argparse
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from smallearn._text import count, listed
from smallearn.cli.arguments import add_command, add_data, add_model, add_path, add_printing
from smallearn.cli.console import Console
from smallearn.cli.errors import CommandError, ExitCode
from smallearn.cli.io.files import check_output, read_model
from smallearn.model import SMaLLModel

DESCRIPTION = """\
Copy a table and add three columns: prediction; probability, that of the predicted class; and prototype, the number of
the prototype with the highest score. Other columns are copied unchanged; in Parquet and Arrow, cells of a CSV file
remain text. Rows are read and written in chunks, so that a table may be larger than memory. The output file appears
when it is complete.
"""
EXAMPLES = """\
smallearn predict model.json data.csv -o scored.csv
smallearn predict model.json data.csv --suffix _2 -o scored.parquet
smallearn predict model.json data.csv | head -n 5
"""
ADDED = ("prediction", "probability", "prototype")


def add(commands) -> argparse.ArgumentParser:
    """Add the command's parser."""
    parser = add_command(
        commands,
        "predict",
        summary="the class of every row of a table",
        description=DESCRIPTION,
        examples=EXAMPLES,
    )
    add_model(parser)
    add_data(parser)
    add_path(
        parser,
        "-o",
        "--output",
        metavar="FILE",
        help="CSV or TSV (also .gz), Parquet or Arrow, by its ending (default: print CSV)",
    )
    parser.add_argument("--suffix", default="", metavar="TEXT", help="append TEXT to the names of the three columns")
    add_printing(parser, json=False)
    return parser


def run(arguments: argparse.Namespace, console: Console) -> int:
    """Read, predict and write, chunk by chunk."""
    from smallearn.cli.io.model_rows import ModelReader
    from smallearn.cli.io.output import check_ending, open_output
    from smallearn.cli.io.tables import ReadOptions, open_table

    model = read_model(arguments)
    if arguments.output is not None:
        check_ending(arguments.output)
        check_output(arguments.output, arguments.model, arguments.data)
    source = open_table(arguments.data, ReadOptions.of(arguments))
    names = [f"{name}{arguments.suffix}" for name in ADDED]
    taken = [name for name in names if name in source.names]
    if taken:
        raise CommandError(f"{source.shown} already has {listed(taken)}: choose other names with --suffix _2")
    reader = ModelReader(model, source)
    n_rows = 0
    with open_output(arguments.output, source, names) as output:
        for chunk, X in reader.chunks(console):
            output.write(chunk, _columns(model, X))
            n_rows += len(chunk)
        if n_rows == 0:
            raise CommandError(f"{source.shown} has no rows")
    if arguments.output is not None:
        console.note(f"Wrote {arguments.output}: {count(n_rows, 'row')}.")
    return ExitCode.DONE


def _columns(model: SMaLLModel, X: Any) -> Sequence[Any]:
    """Class, probability and prototype of each row, as columns of pyarrow."""
    import pyarrow as pa

    try:
        found = predictions(model, X)
    except ValueError as error:
        raise CommandError(f"rows {X.index[0] + 1} to {X.index[-1] + 1}: {error}") from None
    one_type = len({type(label) for label in model.classes}) == 1
    labels = pa.array([label if one_type else str(label) for label in model.classes])
    return [labels.take(pa.array(found.code)), pa.array(found.probability), pa.array(found.prototype + 1)]


class Predictions(NamedTuple):
    """For each row the position of its class, the probability of that class, and the prototype that decided, from 0."""

    code: np.ndarray
    probability: np.ndarray
    prototype: np.ndarray


def predictions(model: SMaLLModel, X: Any) -> Predictions:
    """Predict. At a tie, the first class wins, and of its prototypes the first."""
    z = model.scores(X)
    code = model.decide(z)
    probability = model.chances(z)[np.arange(len(z)), code]
    return Predictions(code=code, probability=probability, prototype=model.winners(z))
