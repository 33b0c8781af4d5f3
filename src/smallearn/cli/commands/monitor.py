"""``smallearn monitor``: how far the rows of a table have moved away from the training rows."""

import argparse
from typing import Any

from smallearn._text import count
from smallearn.cli.arguments import (
    add_command,
    add_data,
    add_model,
    add_path,
    add_printing,
    add_target,
    positive_number,
)
from smallearn.cli.console import Console, heading
from smallearn.cli.errors import CommandError, ExitCode, library_errors
from smallearn.cli.io.files import print_json, read_model
from smallearn.cli.table_text import print_section, print_table
from smallearn.cli.watching import add_periods, period_of, watched
from smallearn.model import SMaLLModel

DESCRIPTION = """\
Compare a table with the rows that a model was trained on: how far the score and each feature have moved (population
stability index, PSI), missing values, values outside the training range, new categories, and how often each class is
predicted. If the table has the classes, the performance too. The training rows are not needed: the model's file has
histograms of them.

A PSI below 0.1 is usually called stable, up to 0.25 a moderate shift, above a large one. Few rows have a high PSI by
chance: what chance explains is stable here, whatever the PSI.

The exit code is 3 if the score or a feature has a PSI above --fail-at, over all rows or in the latest period; 0 if not.
A table may be larger than memory.
"""
EXAMPLES = """\
smallearn monitor model.json new.csv
smallearn monitor model.json new.csv --date when --period week
smallearn monitor model.json new.csv --fail-at 0.1 --json
smallearn monitor model.json new.csv --reference data.csv
smallearn monitor model.json data.xlsx --sheet May --target y
smallearn monitor model.json new.csv --encoding cp1252 --missing 999 --quiet
"""
FAIL_AT = 0.25


def add(commands) -> argparse.ArgumentParser:
    """Add the command's parser."""
    parser = add_command(
        commands,
        "monitor",
        summary="whether new rows still look like the training rows",
        description=DESCRIPTION,
        examples=EXAMPLES,
    )
    add_model(parser)
    add_data(parser)
    add_target(parser)
    add_periods(parser)
    parser.add_argument(
        "--fail-at",
        type=positive_number,
        default=FAIL_AT,
        metavar="PSI",
        help=f"exit with code {ExitCode.SHIFTED} if a PSI is above this (default: {FAIL_AT})",
    )
    add_path(
        parser,
        "--reference",
        metavar="TABLE",
        help="compare with the rows of this table instead, such as last year's, or the training table of a model of an "
        "earlier version",
    )
    add_printing(parser)
    return parser


def run(arguments: argparse.Namespace, console: Console) -> int:
    """Compare and print."""
    model = read_model(arguments)
    with library_errors(arguments):
        model = _with_reference(arguments, model, console)
        result = watched(arguments, arguments.data, model, console)
    code = ExitCode.DONE if result.is_stable(arguments.fail_at) else ExitCode.SHIFTED
    if arguments.json:
        print_json(_facts(result, arguments.fail_at))
        return code
    print(heading(f"{arguments.model.name} on {arguments.data.name}"))
    print("\n".join(result.summary()))
    _print_sections(result, period_of(arguments))
    shifted = result.shifted(arguments.fail_at)
    if shifted:
        print(f"\nPSI above {arguments.fail_at:g}: {', '.join(shifted)} (exit code {code:d}).")
    return code


def _with_reference(arguments: argparse.Namespace, model: SMaLLModel, console: Console) -> SMaLLModel:
    """The model with the histograms that rows are compared with."""
    if arguments.reference is not None:
        from smallearn.cli.io.model_rows import read_for_model
        from smallearn.cli.io.tables import ReadOptions

        options = ReadOptions.of(arguments, model)
        read = read_for_model(model, arguments.reference, options=options, console=console)
        return model.with_reference(read.X)
    if model.reference is None:
        raise CommandError(
            f"{arguments.model.name}: this model's file has no histograms of its training rows; name a table to "
            "compare with, such as the training table: --reference TABLE; or train the model again"
        )
    return model


def _print_sections(result: Any, period: str) -> None:
    print_section("Stability", result.stability_lines(), right=(1, 3, 4, 5, 6))
    changes = result.change_lines()
    if len(changes) > 1:
        print_section("What moved most", changes, right=(2, 3))
    print_section("Classes", result.class_lines(), right=range(1, 5))
    if result.evaluation is not None:
        print(heading(f"\nPerformance on {count(result.evaluation.n_rows, 'row')} with a known class"))
        print_table([*result.evaluation.figures(), *result.rare_class_lines()])
    if result.periods:
        print_section(f"By {period}", result.period_lines(), right=(1, 4))


def _facts(result: Any, limit: float) -> dict[str, Any]:
    """The result, for scripts."""
    judged = result.evaluation
    return {
        "rows": result.overall.n_rows,
        "reference_rows": result.n_reference,
        "fail_at": limit,
        "stable": result.is_stable(limit),
        "shifted": list(result.shifted(limit)),
        "notes": list(result.notes),
        **_period_facts(result.overall, result.classes),
        "predicted_in_training": result.predicted_before and list(result.predicted_before),
        "classes_in_training": result.observed_before and list(result.observed_before),
        "performance": None
        if judged is None
        else {
            "rows": judged.n_rows,
            "is_training_data": judged.is_training_data,
            "score": result.score,
            "in_training": result.expected,
            "rare_class": None if result.rare is None else result.classes[result.rare],
            **{
                name: None if value is None else {"value": value.value, "low": value.low, "high": value.high}
                for name, value in (
                    (name, getattr(judged, name))
                    for name in ("accuracy", "balanced_accuracy", "auc", "log_loss", "brier")
                )
            },
        },
        "periods": [
            {"period": one.name, "rows": one.n_rows, **_period_facts(one, result.classes)} for one in result.periods
        ],
    }


def _period_facts(period: Any, classes: tuple[Any, ...]) -> dict[str, Any]:
    accuracy = period.accuracy
    return {
        "scores": [_drift_facts(one) for one in period.scores],
        "features": [_drift_facts(one) for one in period.features],
        "classes": list(classes),
        "predicted": list(period.predicted),
        "confusion": None if period.confusion is None else period.confusion.tolist(),
        "accuracy": None if accuracy is None else {"value": accuracy.value, "low": accuracy.low, "high": accuracy.high},
    }


def _drift_facts(one: Any) -> dict[str, Any]:
    before, now = one.missing
    return {
        "name": one.name,
        "psi": one.psi,
        "by_chance": one.by_chance,
        "reading": one.reading,
        "missing_in_training": before,
        "missing": now,
        "outside": one.outside,
        "new_categories": [{"category": value, "rows": number} for value, number in one.new_categories],
        "bins": [{"values": part.text, "in_training": part.before, "now": part.now} for part in one.bins],
    }
