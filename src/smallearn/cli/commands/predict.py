"""``smallearn predict``: the class of every row of a table."""

import argparse
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from smallearn._text import count, listed, show
from smallearn.cli.arguments import (
    add_command,
    add_data,
    add_model,
    add_path,
    add_printing,
    positive_integer,
    probability,
)
from smallearn.cli.console import Console
from smallearn.cli.errors import CommandError, ExitCode
from smallearn.cli.io.files import check_output, read_model
from smallearn.model import SMaLLModel

if TYPE_CHECKING:
    from smallearn.cli.io.tables import TableFile

DESCRIPTION = """\
Copy a table and add columns: prediction; probability, that of the predicted class; prototype, the number of the
prototype with the highest score; with --score the score; and probability_LABEL for every class. Other columns are
copied unchanged; in Parquet and Arrow, cells of a CSV file remain text. Rows are read and written in chunks, so that a
table may be larger than memory. The output file appears when it is complete. In Excel files cells are what they were,
and what is plainly a number in a CSV file is one; the extra excel is needed.

--only-new leaves the other columns out, but for those of --id. Without --id it copies the columns that have the name of
an ID, such as customer_id, and that the model does not use; if there are none, it adds the number of the row, from 1.

--rank-by yes makes a ranked list: the rows most likely of class yes first; with --top 500 only the first 500 of them.
"""
EXAMPLES = """\
smallearn predict model.json data.csv -o scored.csv
smallearn predict model.json data.csv --threshold 0.3 --suffix _2 -o scored.parquet
smallearn predict model.json data.csv --only-new --id colour -o scores.csv
smallearn predict model.json data.csv --score -o scored.csv
smallearn predict model.json data.csv --rank-by yes --top 10 -o ranked.csv
smallearn predict model.json data.csv --defuse-formulas -o for_spreadsheet.csv
smallearn predict model.json data.csv -o scored.xlsx
smallearn predict model.json data.csv | head -n 5
smallearn predict model.json data.xlsx --sheet May -o scored.csv
smallearn predict model.json data.csv --encoding cp1252 --missing 999 --quiet -o scored.csv
"""
ADDED = ("prediction", "probability", "prototype")
OF_CLASS = "probability_"
SCORE = "score"
ROW = "row"  # the column of row numbers


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
        help="CSV or TSV (also .gz), Parquet, Arrow or Excel, by its ending (default: print CSV)",
    )
    parser.add_argument(
        "--threshold",
        type=probability,
        metavar="P",
        help="with two classes, predict the second where its probability exceeds P (default: as the model was trained)",
    )
    parser.add_argument(
        "--score",
        action="store_true",
        help="also add the column score, as in SQL: positive for the second of two classes; of more classes, that of "
        "the predicted one",
    )
    parser.add_argument("--only-new", action="store_true", help="write the new columns and the ID, not the whole table")
    parser.add_argument(
        "--id",
        action="append",
        metavar="COLUMN",
        help="with --only-new: a column that tells the rows apart, to be copied; repeatable",
    )
    parser.add_argument(
        "--rank-by",
        metavar="LABEL",
        help="sort the rows by the probability of this class, the likeliest first (needs memory for the whole table)",
    )
    parser.add_argument("--top", type=positive_integer, metavar="N", help="with --rank-by: write the first N rows only")
    parser.add_argument("--suffix", default="", metavar="TEXT", help="append TEXT to the names of the new columns")
    parser.add_argument(
        "--defuse-formulas",
        action="store_true",
        help="in CSV and TSV, put ' before text that a spreadsheet would run as a formula (=, +, -, @)",
    )
    add_printing(parser, json=False)
    return parser


def run(arguments: argparse.Namespace, console: Console) -> int:
    """Read, predict and write, chunk by chunk."""
    from smallearn.cli.io.model_rows import ModelReader
    from smallearn.cli.io.output import Layout, check_ending, is_text_output, open_output
    from smallearn.cli.io.ranking import Ranking
    from smallearn.cli.io.tables import ReadOptions, open_table

    model = _with_threshold(read_model(arguments), arguments.threshold)
    ranked = _ranked_class(arguments, model)
    if arguments.id and not arguments.only_new:
        raise CommandError("--id is for --only-new: without it all columns are copied")
    if arguments.output is not None:
        check_ending(arguments.output)
        check_output(arguments.output, arguments.model, arguments.data)
    if arguments.defuse_formulas and not is_text_output(arguments.output):
        raise CommandError("--defuse-formulas is for CSV and TSV: in other files text is never run as a formula")
    source = open_table(arguments.data, ReadOptions.of(arguments, model))
    reader = ModelReader(model, source, console=console)
    copied = _ids(arguments, model, source, console) if arguments.only_new else source.names
    numbered = arguments.only_new and not copied
    names = [f"{name}{arguments.suffix}" for name in ([ROW] if numbered else []) + _added(model, arguments.score)]
    taken = [name for name in names if name in copied]
    if taken:
        raise CommandError(f"{source.shown} already has {listed(taken)}: choose other names with --suffix _2")
    n_rows, n_written, ranking = 0, 0, Ranking(arguments.top)
    layout = Layout(copied=copied, added=names, defuse=arguments.defuse_formulas)
    with open_output(arguments.output, source, layout) as output:
        for chunk, X in reader.chunks(console, columns={*copied, *reader.columns}):
            numbers = [_row_numbers(X)] if numbered else []
            added = numbers + _columns(model, X, arguments.score)
            n_rows += len(chunk)
            if ranked is None:
                output.write(chunk.select(copied), added)
                n_written += len(chunk)
            else:
                chances = added[ranked - len(model.classes)]
                ranking.add(chunk.select(copied), added, chances.to_numpy(zero_copy_only=False))
        if n_rows == 0:
            raise CommandError(f"{source.shown} has no rows")
        for part, added in ranking.parts():
            output.write(part, added)
            n_written += len(added[0])
    if arguments.output is not None:
        console.note(f"Wrote {arguments.output}: {_what_was_written(arguments, n_written)}.")
    return ExitCode.DONE


def _ranked_class(arguments: argparse.Namespace, model: SMaLLModel) -> int | None:
    """The position of the class that rows are ranked by; None if they keep their order."""
    if arguments.rank_by is None:
        if arguments.top is not None:
            raise CommandError(f"--top is for ranked rows: add --rank-by with one of {listed(model.classes)}")
        return None
    names = list(map(str, model.classes))
    if arguments.rank_by not in names:
        raise CommandError(f"--rank-by {show(arguments.rank_by)} is not one of the classes: {listed(model.classes)}")
    return names.index(arguments.rank_by)


def _what_was_written(arguments: argparse.Namespace, n_rows: int) -> str:
    ranked = "" if arguments.rank_by is None else f", the most likely {show(arguments.rank_by)} first"
    return f"{count(n_rows, 'row')}{ranked}"


def _with_threshold(model: SMaLLModel, threshold: float | None) -> SMaLLModel:
    """The model with another decision threshold, if there is one."""
    if threshold is None:
        return model
    if len(model.classes) != 2:
        raise CommandError(f"--threshold is for two classes; the model has {len(model.classes)}")
    return replace(model, decision_threshold=threshold)


def _ids(arguments: argparse.Namespace, model: SMaLLModel, source: "TableFile", console: Console) -> list[str]:
    """The columns that tell the rows apart: those of ``--id``, else those whose name is that of an ID."""
    if arguments.id:
        unknown = [name for name in arguments.id if name not in source.names]
        if unknown:
            source.refuse_names(unknown, "--id")
        return list(dict.fromkeys(arguments.id))
    from smallearn.cli.io.column_facts import ID_NAME
    from smallearn.cli.io.model_rows import target_of

    used = {term.label for term in model.features} | {target_of(model)}
    found = [name for name in source.names if ID_NAME.fullmatch(name) and name not in used]
    which = f"the column {listed(found)}" if len(found) == 1 else f"the columns {listed(found)}"
    console.note(f"Rows are identified by {which if found else 'their numbers'}; --id COLUMN chooses another column.")
    return found


def _added(model: SMaLLModel, with_score: bool) -> list[str]:
    """The names of the columns that are added, without a suffix."""
    labels = list(map(str, model.classes))
    if len(set(labels)) < len(labels):  # 1 and '1'
        labels = list(map(repr, model.classes))
    return [*ADDED, *([SCORE] if with_score else []), *(f"{OF_CLASS}{label}" for label in labels)]


def _row_numbers(X: Any) -> Any:
    """The number of each row, from 1, as a column of pyarrow."""
    import pyarrow as pa

    return pa.array(X.index.to_numpy() + 1)


def _columns(model: SMaLLModel, X: Any, with_score: bool) -> list[Any]:
    """Class, probability and prototype of each row, the score if asked for, and the probability of every class, as
    columns of pyarrow."""
    import pyarrow as pa

    try:
        found = predictions(model, X)
    except ValueError as error:
        raise CommandError(f"rows {X.index[0] + 1} to {X.index[-1] + 1}: {error}") from None
    one_type = len({type(label) for label in model.classes}) == 1
    labels = pa.array([label if one_type else str(label) for label in model.classes])
    facts = [labels.take(pa.array(found.code)), pa.array(found.probability), pa.array(found.prototype + 1)]
    facts += [pa.array(found.score)] if with_score else []
    return facts + [pa.array(np.ascontiguousarray(chance)) for chance in found.chances.T]


class Predictions(NamedTuple):
    """For each row the position of its class, the probability of that class, the prototype that decided, from 0, the
    probability of every class, and the score: the decision function, of more than two classes that of its class."""

    code: np.ndarray
    probability: np.ndarray
    prototype: np.ndarray
    chances: np.ndarray
    score: np.ndarray


def predictions(model: SMaLLModel, X: Any) -> Predictions:
    """Predict. At a tie, the first class wins, and of its prototypes the first."""
    z = model.scores(X)
    code = model.decide(z)
    chances = model.chances(z)
    each, odds = np.arange(len(z)), model._log_odds(z)
    return Predictions(
        code=code,
        probability=chances[each, code],
        prototype=model.winners(z),
        chances=chances,
        score=odds if odds.ndim == 1 else odds[each, code],
    )
