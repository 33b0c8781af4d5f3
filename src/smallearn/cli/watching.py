"""New rows beside the training rows, for ``monitor`` and ``report --monitor``."""

import argparse
from pathlib import Path
from typing import Any

import numpy as np

from smallearn.cli.arguments import Parser
from smallearn.cli.console import SILENT, Console
from smallearn.cli.errors import CommandError
from smallearn.model import SMaLLModel

PERIODS = ("month", "week", "quarter", "day")


def add_periods(parser: Parser, option: str = "") -> None:
    """``--date`` and ``--period``; ``option`` is what they go with."""
    goes_with = f"with {option}: " if option else ""
    parser.add_argument(
        "--date", metavar="COLUMN", help=f"{goes_with}the column of dates: compare each period too, a line for each"
    )
    parser.add_argument("--period", choices=PERIODS, help="with --date: the length of a period (default: month)")


def period_of(arguments: argparse.Namespace) -> str:
    """The length of a period."""
    return arguments.period or "month"


def watched(arguments: argparse.Namespace, path: Path, model: SMaLLModel, console: Console) -> Any:
    """Read a table chunk by chunk: all rows are compared, those with a class evaluated."""
    from smallearn.cli.io.dates import check_date_column, days_in, no_dates
    from smallearn.cli.io.labels import LabelTally, check_known, model_labels
    from smallearn.cli.io.model_rows import MOST_ROWS, Labels, ModelReader, find_target
    from smallearn.cli.io.sampling import Sample
    from smallearn.cli.io.tables import ReadOptions, open_table
    from smallearn.evaluation._evaluate import RunningEvaluation, evaluate
    from smallearn.evaluation._monitor import RunningMonitor
    from smallearn.evaluation._periods import periods_of

    file = open_table(path, ReadOptions.of(arguments, model))
    reader = ModelReader(model, file)
    target = find_target(file, model, arguments.target, Labels.OPTIONAL)
    if arguments.date is not None:
        check_date_column(file, arguments.date)
    elif arguments.period is not None:
        raise CommandError("--period goes with --date, which names the column of dates")
    running, judged, sample, tally = RunningMonitor(model), RunningEvaluation(model), Sample(MOST_ROWS), LabelTally()
    columns = [*reader.columns, *(name for name in (target, arguments.date) if name is not None)]
    n_rows, dated = 0, False
    for chunk in file.chunks(console, columns=columns):
        X, code, periods = reader.convert(chunk, n_rows), None, None
        if target is not None:
            labels = model_labels(file, chunk.column(target), model.classes)
            tally.add(labels)
            known = labels.is_known
            code = np.where(known, labels.code, -1)
            sample.add(X[known], labels.code[known])
            if known.any():
                judged.add(X[known], labels.code[known], np.flatnonzero(known) + n_rows)
        if arguments.date is not None:
            periods = periods_of(
                days_in(file, arguments.date, chunk.column(arguments.date), n_rows), period_of(arguments)
            )
            dated = dated or any(period is not None for period in periods)
        running.add(X, code, periods)
        n_rows += len(chunk)
    if n_rows == 0:
        raise CommandError(f"{file.shown} has no rows")
    if arguments.date is not None and not dated:
        raise no_dates(file, arguments.date)
    if target is None or tally.only_missing:
        return running.result()
    check_known(tally, file, target, model.classes, SILENT)
    unknown = tally.n_missing + tally.n_unknown
    if unknown:
        have = "row has" if unknown == 1 else "rows have"
        console.note(f"{unknown} {have} no class that the model knows: compared, not evaluated.")
    X, code = sample.rows()
    y = model.labels(code)
    evaluation = judged.with_sample(X, y) if len(y) < sample.n_rows else evaluate(model, X, y)
    return running.result(evaluation, _score(model, X, y))


def _score(model: SMaLLModel, X: Any, y: np.ndarray) -> str | None:
    """The score that the model was chosen by, if that is not the accuracy."""
    from smallearn.cli.metrics import metric_of, score_of

    metric = metric_of(model)
    if metric is None or len(np.unique(y)) < len(model.classes):  # some scores need all classes
        return None
    assert model.selection is not None  # it has the metric
    return f"{metric.text} {model.selection.told(score_of(model, metric.scoring, X, y))}"
