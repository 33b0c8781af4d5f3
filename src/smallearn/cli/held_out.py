"""``fit --test-size``: the scores of a model on the rows that were held out, and these rows as a table."""

import argparse
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from smallearn._text import count
from smallearn.cli.arguments import add_path, probability
from smallearn.cli.console import SILENT, Console
from smallearn.cli.errors import CommandError
from smallearn.cli.io.files import check_output
from smallearn.cli.io.tables import ReadOptions, open_table
from smallearn.cli.metrics import score_of
from smallearn.model import SMaLLModel


@dataclass(frozen=True)
class HeldOutScores:
    """A model on the rows that were held out.

    Parameters
    ----------
    numbers : ndarray
        The numbers of these rows in the table, from 1.
    evaluation : Evaluation
        The scores, as `smallearn.evaluation.evaluate` returns them.
    score : float
        The score that the model was chosen by.
    """

    numbers: np.ndarray
    evaluation: Any
    score: float


def add_held_out(command: argparse.ArgumentParser) -> None:
    """``--test-size`` and ``--save-test``."""
    parser = command.add_argument_group("rows held out")
    parser.add_argument(
        "--test-size",
        type=probability,
        metavar="SHARE",
        help="hold out this share of the rows of each class, such as 0.3, train on the others and print the scores on "
        "the rows held out; the same --seed holds out the same rows",
    )
    add_path(
        parser,
        "--save-test",
        metavar="FILE",
        help="with --test-size: write the rows held out as a table, for evaluate, predict and report",
    )


def check_held_out(arguments: argparse.Namespace) -> None:
    """Check what can be checked before the table is read."""
    from smallearn.cli.io.output import check_ending

    if arguments.save_test is None:
        return
    if arguments.test_size is None:
        raise CommandError("--save-test writes the rows that --test-size holds out: add --test-size 0.3")
    check_ending(arguments.save_test)
    check_output(arguments.save_test, *arguments.data)


def score_held_out(arguments: argparse.Namespace, model: SMaLLModel, scoring: Any) -> HeldOutScores:
    """The scores of a model on the rows that it was not trained on. The table is read once more for that."""
    from smallearn.cli.io.held_out import Split
    from smallearn.cli.io.model_rows import Labels, read_for_model
    from smallearn.evaluation import evaluate
    from smallearn.evaluation._evaluate import RunningEvaluation

    running = RunningEvaluation(model)
    numbers: list[np.ndarray] = []

    def watch(X: Any, code: np.ndarray, number: np.ndarray) -> None:
        running.add(X, code, number)
        numbers.append(number + 1)

    rows = read_for_model(
        model,
        arguments.data,
        labels=Labels.REQUIRED,
        options=ReadOptions.of(arguments, model),
        watch=watch,
        split=Split.of_model(model),
        console=SILENT,  # what there is to note of the table has been noted
    )
    assert rows.y is not None  # classes are required
    judge = running.with_sample if rows.is_sample else partial(evaluate, model)
    return HeldOutScores(
        numbers=np.concatenate(numbers),
        evaluation=replace(judge(rows.X, rows.y), is_held_out=True),
        score=score_of(model, scoring, rows.X, rows.y),
    )


def save_held_out(arguments: argparse.Namespace, numbers: np.ndarray, console: Console) -> None:
    """Write the rows with these numbers, as they stand in the table."""
    from smallearn.cli.io.output import Layout, open_output

    source, begin = open_table(arguments.data, ReadOptions.of(arguments)), 0
    with open_output(arguments.save_test, source, Layout(copied=source.names, added=[])) as output:
        for chunk in source.chunks(SILENT):
            here = numbers[(numbers > begin) & (numbers <= begin + len(chunk))]
            output.write(chunk.take(here - 1 - begin), [])
            begin += len(chunk)
    console.note(f"Wrote {arguments.save_test}: {count(len(numbers), 'row')}, those held out.")
