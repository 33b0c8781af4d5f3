"""``smallearn evaluate``: how good a model is on the rows of a table."""

import argparse
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from smallearn._text import count, percent, show
from smallearn.cli.arguments import add_command, add_data, add_model, add_printing, add_target
from smallearn.cli.comparison import add_comparison, compare
from smallearn.cli.console import Console, heading
from smallearn.cli.errors import ExitCode, library_errors
from smallearn.cli.io.files import print_json, read_model
from smallearn.cli.reading import read_rows
from smallearn.cli.table_text import print_section, print_table

DESCRIPTION = """\
Scores of a model on a table with 95% confidence intervals, the confusion matrix, groups of rows with many errors and
the most confident errors. If DATA is the training table, the output says so and begins with the cross-validated
score; if it was trained on a part of DATA (fit --test-size), only the rows held out are scored. A table may be larger
than memory, unless standard models are compared: of more than 200,000 rows, ROC AUC and groups are those of a random
sample.
"""
EXAMPLES = """\
smallearn evaluate model.json data.csv
smallearn evaluate model.json data.csv --compare
smallearn evaluate model.json data.csv --compare-all
smallearn evaluate model.json data.csv --compare --train data.csv --json
smallearn evaluate model.json data.xlsx --sheet May --target y
smallearn evaluate model.json data.csv --encoding cp1252 --missing 999 --quiet
"""
FIGURES = ("accuracy", "balanced_accuracy", "auc", "log_loss", "brier")
MOST_ERRORS = 5  # that are printed


def add(commands) -> argparse.ArgumentParser:
    """Add the command's parser."""
    parser = add_command(
        commands,
        "evaluate",
        summary="how good a model is on a table, and where it errs",
        description=DESCRIPTION,
        examples=EXAMPLES,
    )
    add_model(parser)
    add_data(parser)
    add_target(parser)
    add_comparison(parser)
    add_printing(parser)
    return parser


def run(arguments: argparse.Namespace, console: Console) -> int:
    """Evaluate and print."""
    model = read_model(arguments)  # before what takes long to import
    from smallearn.cli.io.model_rows import Labels
    from smallearn.evaluation import evaluate
    from smallearn.evaluation._evaluate import RunningEvaluation

    compares = arguments.compare or arguments.compare_all or arguments.train is not None
    running = RunningEvaluation(model)
    with library_errors(arguments):
        rows = read_rows(
            arguments,
            model,
            labels=Labels.REQUIRED,
            all_columns=compares,
            watch=running.add,
            scored=model,
            console=console,
        )
        judge = running.with_sample if rows.is_sample else partial(evaluate, model)
        evaluation = replace(judge(rows.X, rows.y), is_held_out=rows.is_held_out)
    comparison = compare(arguments, model, rows, console) if compares else None
    if arguments.json:
        print_json(_facts(model, evaluation, comparison, rows.numbers))
        return ExitCode.DONE
    print(heading(f"{arguments.model.name} on {arguments.data.name}: {count(evaluation.n_rows, 'row')}"))
    print("\n".join(evaluation.summary(model)))
    _print_sections(model, evaluation, comparison, rows.numbers)
    return ExitCode.DONE


def _print_sections(model: Any, evaluation: Any, comparison: Any, numbers: Sequence[int]) -> None:
    """Scores, confusion matrix, errors and comparison; ``numbers`` are those of the rows in the file."""
    from smallearn.evaluation import _captions as captions

    print()
    print_table(list(evaluation.figures()))
    n_classes = len(evaluation.classes)
    print_section(captions.CONFUSION, evaluation.confusion_lines(), right=range(1, n_classes + 2))
    if evaluation.groups:
        groups = [(group.text, str(group.n_rows), f"{group.wrong:.1%}") for group in evaluation.groups]
        print_section(captions.GROUPS, [captions.GROUPS_HEAD, *groups], right=(1, 2))
    if evaluation.mistakes:
        errors = [
            (str(numbers[error.row]), show(error.truth), show(error.predicted), percent(error.probability))
            for error in evaluation.mistakes[:MOST_ERRORS]
        ]
        print_section(captions.ERRORS, [captions.ERRORS_HEAD, *errors], right=(0, 3))
    if comparison is not None:
        lines = [captions.COMPARISON_HEAD, *comparison.lines(model, evaluation)]
        print_section(captions.COMPARISON, lines, right=(1, 3), sentence=comparison.words(model, evaluation))


def _facts(model: Any, evaluation: Any, comparison: Any, numbers: Sequence[int]) -> dict[str, Any]:
    """The result, for scripts."""
    selection = model.selection
    facts: dict[str, Any] = {
        "rows": evaluation.n_rows,
        "sampled_rows": evaluation.n_sampled,
        "is_training_data": evaluation.is_training_data,
        "is_held_out": evaluation.is_held_out,
        "cross_validated": None
        if selection is None
        else {
            "metric": selection.metric,
            "score": selection.score,
            "spread": selection.spread,
            "folds": len(selection.scores),
        },
        **{
            name: None if value is None else {"value": value.value, "low": value.low, "high": value.high}
            for name, value in ((name, getattr(evaluation, name)) for name in FIGURES)
        },
        "most_frequent_class": evaluation.frequent,
        "classes": list(evaluation.classes),
        "confusion": evaluation.confusion.tolist(),
        "mistakes": [
            {
                "row": int(numbers[error.row]),
                "is": error.truth,
                "says": error.predicted,
                "probability": error.probability,
            }
            for error in evaluation.mistakes
        ],
        "groups": [{"where": group.text, "rows": group.n_rows, "wrong": group.wrong} for group in evaluation.groups],
    }
    if comparison is not None:
        facts["familiar"] = [
            {
                "name": one.name,
                "accuracy": one.score,
                "spread": one.spread,
                "size": one.size,
                "seconds": one.seconds,
            }
            for one in comparison.models
        ]
        facts["familiar_rows"] = comparison.n_rows
    return facts
