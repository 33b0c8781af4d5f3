"""Standard models for comparison, in ``evaluate`` and ``report``, and kept with the model by ``fit``."""

import argparse
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from smallearn.cli.arguments import add_path
from smallearn.cli.console import SILENT, Console
from smallearn.cli.errors import CommandError
from smallearn.cli.io.files import size_text
from smallearn.model import SMaLLModel

if TYPE_CHECKING:
    from smallearn.cli.io.clustered import ClusteredTable
    from smallearn.cli.io.model_rows import ModelRows
    from smallearn.cli.io.rules import TrainingRules
    from smallearn.cli.io.stored import StoredTable
    from smallearn.cli.io.tables import Table, TableFile
    from smallearn.cli.io.training import TrainingTable


def add_comparison(parser: argparse.ArgumentParser, by_default: bool = False) -> None:
    """``--compare`` or ``--no-compare``, and ``--train``."""
    models = "standard models for comparison: logistic regression, tree, forest, boosting"
    if by_default:
        parser.add_argument("--no-compare", dest="compare", action="store_false", help=f"leave out {models}")
    else:
        parser.add_argument("--compare", action="store_true", help=f"train {models} (takes some seconds)")
    parser.add_argument(
        "--compare-all",
        action="store_true",
        help="train them on all rows, which takes long (default: on a random sample of 5,000 rows, if there are more)"
        + ("" if by_default else "; implies --compare"),
    )
    add_path(
        parser,
        "--train",
        metavar="DATA",
        help="the training table of the model: train the standard models on it instead of by cross-validation on DATA"
        + ("" if by_default else "; implies --compare"),
    )


def fits_in_memory(arguments: argparse.Namespace, console: Console) -> bool:
    """Whether the table is small enough for standard models, which need all of it in memory; else a note says so."""
    from smallearn.cli.io.stored import bytes_in_memory, is_large
    from smallearn.cli.io.tables import ReadOptions, open_table

    file = open_table(arguments.data, ReadOptions.of(arguments))
    if not is_large(file):
        return True
    console.note(
        f"No standard models for comparison: they need the whole table in memory, {size_text(bytes_in_memory(file))} "
        "or more."
    )
    return False


def compare(arguments: argparse.Namespace, model: SMaLLModel, rows: "ModelRows", console: Console) -> Any:
    """Standard models on the ``rows`` that the model is evaluated on, with all columns of their table.

    They train on ``--train``, or on the rows themselves by cross-validation. If these are too few to train on, a note
    says so and the result is None. A comparison on the training rows that is kept with the model is not made again.
    """
    from threadpoolctl import threadpool_limits

    from smallearn.cli.io.model_rows import required_target
    from smallearn.cli.io.tables import EXCEL, ReadOptions, open_table
    from smallearn.cli.io.training import convert_for_training, convert_like
    from smallearn.evaluation import N_FAMILIAR, Comparison, familiar
    from smallearn.evaluation._comparison import MOST_ROWS

    assert rows.table is not None  # whoever compares reads all columns
    target = required_target(model, arguments.target)
    separate = arguments.train is not None
    kept = Comparison.kept_with(model)
    if kept is not None and not separate and not arguments.compare_all and model.was_trained_on(rows.X, rows.y):
        return kept
    options = ReadOptions.of(arguments, model)
    if separate and arguments.train.suffix.lower() not in EXCEL:
        options = replace(options, sheet=None)
    table = open_table(arguments.train, options).load(console) if separate else rows.table
    try:
        training = convert_for_training(
            table, target, rules=_rules(model, table.file), console=SILENT
        )  # `fit` noted what is ignored
    except CommandError as error:
        if separate:
            raise
        console.note(f"No standard models for comparison: {error}.")
        return None
    test, same = None, None
    if separate:
        assert rows.y is not None  # evaluate and report compare labelled rows alone
        X = convert_like(training, rows.table, rows.X.index.to_numpy())
        test = X, rows.y.astype(str)
        same = None if model.data is None or not model.data.fingerprint else _is_training_table(model, table, target)
    # On one thread: on small tables the threads of gradient boosting mostly wait, for seconds where a core is busy.
    with threadpool_limits(1), console.progress(N_FAMILIAR, "standard models") as bar:
        most = None if arguments.compare_all else MOST_ROWS
        return familiar(training.X, training.y.astype(str), test, same, step=bar.step, max_rows=most)


def check_comparable(rows: "TrainingTable | StoredTable | ClusteredTable") -> None:
    """Check, before a model is trained, that standard models can be trained on the same rows."""
    from smallearn.cli.io.training import TrainingTable

    if not isinstance(rows, TrainingTable):
        raise CommandError("--compare needs the table in memory: leave it out, or add --in-memory")


def kept_comparison(model: SMaLLModel, rows: Any, console: Console) -> SMaLLModel:
    """The model with standard models on its training rows."""
    from threadpoolctl import threadpool_limits

    from smallearn.evaluation import N_FAMILIAR, familiar

    with threadpool_limits(1), console.progress(N_FAMILIAR, "standard models") as bar:
        return familiar(rows.X, rows.y.astype(str), step=bar.step).kept_by(model)


def _rules(model: SMaLLModel, file: "TableFile") -> "TrainingRules":
    """What `fit` was told of the table, as far as the model knows."""
    from smallearn.cli.io.class_names import ClassNames
    from smallearn.cli.io.rules import TrainingRules

    ids = tuple(name for name in model.table.ids if name in file.names)
    return TrainingRules(ids=ids, names=ClassNames(model.table.renamed), many_classes=True)


def _is_training_table(model: SMaLLModel, table: "Table", target: str) -> bool:
    from smallearn.cli.io.model_rows import Labels, convert_for_model

    try:
        rows = convert_for_model(model, table, target=target, labels=Labels.REQUIRED, console=SILENT)
        return bool(model.was_trained_on(rows.X, rows.y))
    except (CommandError, ValueError):  # the model cannot read it
        return False
