"""``smallearn predict``: the class of every row of a table."""

import argparse
from collections.abc import Sequence
from typing import Any

import numpy as np

from smallearn._text import count, listed
from smallearn.cli.arguments import add_command, add_data, add_model, add_path, add_talk
from smallearn.cli.common import CommandError, check_output, read_model, tell
from smallearn.model import SMaLLModel
from smallearn.model._rule import decide, winners

EXAMPLES = """\
smallearn predict model.json data.csv -o scored.csv
smallearn predict model.json data.csv --suffix _2 -o scored.parquet
smallearn predict model.json data.csv | head -n 5
"""
ANSWERS = ("prediction", "probability", "prototype")


def add(commands) -> None:
    """The command's arguments."""
    parser = add_command(
        commands,
        "predict",
        "the class of every row of a table",
        "Write a table anew with three columns more: prediction; probability, that of the predicted class; and\n"
        "prototype, the number of the one with the greatest score, as the printed model counts them. Other\n"
        "columns stay as they are; those that the model does not use may be anything. Rows are read and written a\n"
        "piece at a time, so that the table may be larger than memory. The file is there when it is complete.\n"
        "Cells of CSV stay text in Parquet and Arrow, so that nothing in them changes.",
        EXAMPLES,
    )
    add_model(parser)
    add_data(parser)
    add_path(
        parser,
        "-o",
        "--output",
        metavar="FILE",
        help="CSV, TSV (.gz too), Parquet or Arrow, by its ending; else printed as CSV",
    )
    parser.add_argument("--suffix", default="", metavar="TEXT", help="after the names of the three columns")
    add_talk(parser, json=False)
    parser.set_defaults(run=run)


def run(given: argparse.Namespace) -> int:
    """Read, predict and write, piece by piece."""
    from smallearn.cli.io.results import check_ending, open_results
    from smallearn.cli.io.sources import open_source
    from smallearn.cli.io.tables import ModelReader

    model = read_model(given)
    if given.output is not None:
        check_ending(given.output)
        check_output(given.output, given.model, given.data)
    source = open_source(given.data, given.encoding, given.missing)
    names = [f"{name}{given.suffix}" for name in ANSWERS]
    taken = [name for name in names if name in source.names]
    if taken:
        raise CommandError(f"{source.shown} has {listed(taken)} already: name the new ones otherwise with --suffix _2")
    reader = ModelReader(model, source)
    rows = 0
    with open_results(given.output, source, names) as results:
        for piece, X in reader.pieces():
            results.write(piece, _answers(model, X))
            rows += len(piece)
        if rows == 0:
            raise CommandError(f"{source.shown} has no rows")
    if given.output is not None:
        tell(f"Wrote {given.output}: {count(rows, 'row')}.")
    return 0


def _answers(model: SMaLLModel, X: Any) -> Sequence[Any]:
    """Class, probability and prototype of each row, as columns."""
    import pyarrow as pa

    try:
        code, probability, prototype = answers(model, X)
    except ValueError as problem:
        raise CommandError(f"rows {X.index[0] + 1} to {X.index[-1] + 1}: {problem}") from None
    plain = len({type(label) for label in model.classes}) == 1
    labels = pa.array([label if plain else str(label) for label in model.classes])
    return [labels.take(pa.array(code)), pa.array(probability), pa.array(prototype + 1)]


def answers(model: SMaLLModel, X: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """For each row the number of its class, the probability of that, and the prototype of the greatest score, from 0:
    at a tie the one of the first class, and of these the first."""
    z = model.scores(X)
    code = decide(z, model.owners, len(model.classes))
    return code, model.chances(z)[np.arange(len(z)), code], winners(z, model.owners)
