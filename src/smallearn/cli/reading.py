"""From the options of a command to the rows of its table."""

import argparse
from typing import TYPE_CHECKING

from smallearn.cli.console import Console
from smallearn.cli.io.tables import ReadOptions
from smallearn.model import SMaLLModel

if TYPE_CHECKING:
    from smallearn.cli.io.model_rows import Labels, ModelRows
    from smallearn.cli.io.training import TrainingTable


def read_training(arguments: argparse.Namespace, console: Console) -> "TrainingTable":
    """The rows that `arguments.add_training` asks for."""
    from smallearn.cli.io.training import read_for_training

    return read_for_training(
        arguments.data,
        arguments.target,
        drop=arguments.drop,
        keep=arguments.keep,
        options=ReadOptions.of(arguments),
        console=console,
    )


def read_rows(
    arguments: argparse.Namespace,
    model: SMaLLModel,
    *,
    labels: "Labels",
    all_columns: bool = False,
    console: Console,
) -> "ModelRows":
    """The rows that `arguments.add_data` asks for, as a model reads them; see `io.model_rows.read_for_model`."""
    from smallearn.cli.io.model_rows import read_for_model

    return read_for_model(
        model,
        arguments.data,
        target=arguments.target,
        labels=labels,
        options=ReadOptions.of(arguments),
        all_columns=all_columns,
        console=console,
    )
