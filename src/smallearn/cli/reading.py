"""From the options of a command to the rows of its table."""

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from smallearn.cli.column_options import renamed_classes
from smallearn.cli.console import Console
from smallearn.cli.errors import CommandError, library_errors
from smallearn.cli.io.tables import ReadOptions
from smallearn.model import SMaLLModel, TableFacts

if TYPE_CHECKING:
    from smallearn.cli.io.clustered import ClusteredTable
    from smallearn.cli.io.model_rows import Labels, ModelRows, Watch
    from smallearn.cli.io.rules import TrainingRules
    from smallearn.cli.io.stored import StoredTable
    from smallearn.cli.io.training import TrainingTable


def read_training(arguments: argparse.Namespace, console: Console) -> "TrainingTable":
    """The rows that `arguments.add_training` asks for."""
    from smallearn.cli.io.training import read_for_training

    return read_for_training(arguments.data, arguments.target, **_training_options(arguments), console=console)


@contextmanager
def rows_to_train_on(
    arguments: argparse.Namespace, console: Console
) -> "Iterator[TrainingTable | StoredTable | ClusteredTable]":
    """The same rows where `arguments.add_storage` asks for them: in memory, in files (also if they are many), or on a
    Dask cluster, to which there is a connection inside the context."""
    if arguments.dask is None:
        yield _read_or_store(arguments, console)
        return
    from smallearn.cli.io.clustered import connected, read_on_cluster

    for option, given in (
        ("--device", arguments.device is not None),
        ("--float32", arguments.float32),
        ("--test-size", arguments.test_size is not None),
    ):
        if given:
            raise CommandError(f"{option} is not possible with --dask")
    with library_errors(arguments), connected(arguments.dask, arguments.n_jobs) as client:
        options = _training_options(arguments)
        yield read_on_cluster(arguments.data, arguments.target, **options, client=client, console=console)


def _read_or_store(arguments: argparse.Namespace, console: Console) -> "TrainingTable | StoredTable":
    from smallearn.cli.io.stored import is_large, store_for_training
    from smallearn.cli.io.tables import open_table

    on_disk = arguments.on_disk
    if on_disk is None:
        on_disk = is_large(open_table(arguments.data, ReadOptions.of(arguments)))
    if not on_disk:
        return read_training(arguments, console)
    if arguments.device is not None:
        raise CommandError("--device needs the table in memory: add --in-memory, or take a part of the rows")
    dtype = "float32" if arguments.float32 else "float64"
    options = _training_options(arguments)
    return store_for_training(arguments.data, arguments.target, **options, dtype=dtype, console=console)


def _training_options(arguments: argparse.Namespace) -> dict[str, Any]:
    return {"rules": training_rules(arguments), "options": ReadOptions.of(arguments)}


def training_rules(arguments: argparse.Namespace) -> "TrainingRules":
    """What the options of `arguments.add_training`, and ``--test-size``, say of the table."""
    from smallearn.cli.io.class_names import ClassNames, check_ranges
    from smallearn.cli.io.rules import Share, TrainingRules

    size = getattr(arguments, "test_size", None)
    names = renamed_classes(arguments.labels)
    check_ranges(names)
    return TrainingRules(
        drop=tuple(arguments.drop),
        keep=tuple(arguments.keep),
        ids=tuple(dict.fromkeys(arguments.ids)),
        weights=arguments.weights,
        names=ClassNames(tuple(names.items())),
        many_classes=arguments.many_classes,
        share=None if size is None else Share(size, arguments.seed),
    )


def with_memory(
    arguments: argparse.Namespace, model: SMaLLModel, rows: "TrainingTable | StoredTable | ClusteredTable", source: str
) -> SMaLLModel:
    """A model with what it is to remember of the table that it was trained on, whose name is ``source``."""
    rules = training_rules(arguments)
    facts = TableFacts(
        ids=rules.ids,
        renamed=rules.names.pairs,
        held_out=rows.held_out,
        missing=ReadOptions.of(arguments).missing,
        missing_by_column=tuple(rows.missing.items()),
        positive=arguments.positive_class,
    )
    return replace(rows.remembered_by(model, arguments.target, source), table=facts)


def read_rows(
    arguments: argparse.Namespace,
    model: SMaLLModel,
    *,
    labels: "Labels",
    all_columns: bool = False,
    watch: "Watch | None" = None,
    scored: SMaLLModel | None = None,
    console: Console,
) -> "ModelRows":
    """The rows that `arguments.add_data` asks for, as a model reads them; see `io.model_rows.read_for_model`.

    If the model that is to be ``scored`` was trained on a part of this table, they are the rows that were held out.
    """
    from smallearn.cli.io.model_rows import known_split, read_for_model

    options = ReadOptions.of(arguments, scored or model)
    split = None
    if scored is not None:
        split = known_split(scored, arguments.data, target=arguments.target, options=options)
    return read_for_model(
        model,
        arguments.data,
        target=arguments.target,
        labels=labels,
        options=options,
        all_columns=all_columns,
        watch=watch,
        split=split,
        console=console,
    )
