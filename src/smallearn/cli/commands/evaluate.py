"""``smallearn evaluate``: how good a model is on the rows of a table."""

import argparse
from typing import Any

from smallearn._text import count, percent, show
from smallearn.cli.arguments import add_command, add_data, add_model, add_path, add_talk
from smallearn.cli.common import CommandError, print_json, read_model, tell
from smallearn.cli.terminal import heading

EXAMPLES = """\
smallearn evaluate model.json data.csv
smallearn evaluate model.json data.csv --compare
smallearn evaluate model.json data.csv --compare --train data.csv --json
"""


def add(commands) -> None:
    """The command's arguments."""
    parser = add_command(
        commands,
        "evaluate",
        "how good a model is on a table, and where it errs",
        "Scores of a model on a table with 95% intervals, who is taken for whom, and where it errs. If the rows\n"
        "are those that it was trained on, that is said, and the cross-validated score comes first.",
        EXAMPLES,
    )
    add_model(parser)
    add_data(parser)
    parser.add_argument("--target", metavar="COLUMN", help="the column of classes (the one that it was trained on)")
    add_comparison(parser)
    add_talk(parser)
    parser.set_defaults(run=run)


def add_comparison(parser: argparse.ArgumentParser, by_default: bool = False) -> None:
    """``--compare`` or ``--no-compare``, and ``--train``."""
    words = "familiar models beside it: logistic regression, tree, forest, boosting (takes some seconds)"
    if by_default:
        parser.add_argument("--no-compare", dest="compare", action="store_false", help=f"without {words}")
    else:
        parser.add_argument("--compare", action="store_true", help=words)
    add_path(
        parser,
        "--train",
        metavar="DATA",
        help="the table that the model was trained on: familiar models learn from it too, and not by folds of DATA"
        + ("" if by_default else "; means --compare"),
    )


def run(given: argparse.Namespace) -> int:
    """Judge and print."""
    model = read_model(given)  # before what takes its time to import
    from smallearn.cli.io.tables import read_for
    from smallearn.evaluation import _captions as captions
    from smallearn.evaluation import evaluate

    X, y = read_for(model, given.data, target=given.target, labels=True, encoding=given.encoding, missing=given.missing)
    try:
        judged = evaluate(model, X, y)
    except ValueError as problem:
        raise CommandError(str(problem)) from None
    compared = compare(given, model, X, y) if given.compare or given.train is not None else None
    rows = X.index.to_numpy() + 1
    if given.json:
        print_json(_facts(model, judged, compared, rows))
        return 0
    print(heading(f"{given.model.name} on {given.data.name}: {count(judged.n_rows, 'row')}"))
    for sentence in judged.summary(model):
        print(sentence)
    print()
    print_table(list(judged.figures()))
    print(heading(f"\n{captions.CONFUSION}"))
    print_table(judged.confusion_lines(), right=tuple(range(1, len(judged.classes) + 2)))
    _print_errors(judged, rows)
    if compared is not None:
        print(heading(f"\n{captions.COMPARISON}"))
        print(compared.words(model, judged))
        print_table([captions.COMPARISON_HEAD, *compared.lines(model, judged)], right=(1,))
    return 0


def compare(given: argparse.Namespace, model: Any, X: Any, y: Any) -> Any:
    """Familiar models on the rows ``X`` that the model was judged by, with all columns of their file; None, and a word
    why, if these do not suffice to learn from."""
    from smallearn._run.progress import Bar
    from smallearn.cli.io.tables import target_of
    from smallearn.cli.io.training import read_like, read_training
    from smallearn.cli.terminal import is_quiet
    from smallearn.evaluation import N_FAMILIAR, familiar

    target = target_of(model, given.target)
    if target is None:
        raise CommandError("the model does not know which column has the classes: name it with --target")
    learn_from = given.data if given.train is None else given.train
    options = {"encoding": given.encoding, "missing": given.missing}
    try:
        table = _quietly(read_training, learn_from, target, **options)
    except CommandError as problem:
        if given.train is not None:
            raise
        tell(f"No familiar models beside it: {problem}.")
        return None
    test, same = None, None
    if given.train is not None:
        test = _quietly(read_like, table, given.data, X.index.to_numpy(), **options), y.astype(str)
        same = None if model.data is None else _is_training_table(model, given, target)
    with Bar(N_FAMILIAR, "familiar models", not is_quiet()) as bar:
        return familiar(table.X, table.y.astype(str), test, same, step=bar.step)


def _is_training_table(model: Any, given: argparse.Namespace, target: str) -> bool:
    from smallearn.cli.io.tables import read_for

    options = {"encoding": given.encoding, "missing": given.missing}
    try:
        X, y = _quietly(read_for, model, given.train, target=target, labels=True, **options)
        return bool(model.was_trained_on(X, y))
    except (CommandError, ValueError):  # a table that the model cannot read is not its own
        return False


def _quietly(read: Any, *arguments: Any, **options: Any) -> Any:
    """What `fit` has told of these columns is not told again."""
    from smallearn.cli.terminal import is_quiet, set_quiet

    before = is_quiet()
    set_quiet(True)
    try:
        return read(*arguments, **options)
    finally:
        set_quiet(before)


def print_table(lines: list[tuple[str, ...]], right: tuple[int, ...] = ()) -> None:
    """Lines in columns."""
    if not lines:
        return
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    for line in lines:
        cells = [
            f"{cell:>{w}}" if i in right else f"{cell:<{w}}"
            for i, (cell, w) in enumerate(zip(line, widths, strict=True))
        ]
        print(f"  {'  '.join(cells)}".rstrip())


def _print_errors(judged: Any, rows: Any) -> None:
    from smallearn.evaluation import _captions as captions

    if judged.groups:
        print(heading(f"\n{captions.GROUPS}"))
        lines = [(group.text, str(group.n_rows), f"{group.wrong:.1%}") for group in judged.groups]
        print_table([captions.GROUPS_HEAD, *lines], right=(1, 2))
    if judged.mistakes:
        print(heading(f"\n{captions.ERRORS}"))
        errors = [
            (str(rows[one.row]), show(one.truth), show(one.predicted), percent(one.probability))
            for one in judged.mistakes[:5]
        ]
        print_table([captions.ERRORS_HEAD, *errors], right=(0, 3))


def _facts(model: Any, judged: Any, compared: Any, rows: Any) -> dict[str, Any]:
    """What was found, for machines."""
    figures = ("accuracy", "balanced_accuracy", "auc", "log_loss", "brier")
    kept = model.selection
    facts: dict[str, Any] = {
        "rows": judged.n_rows,
        "is_training_data": judged.is_training_data,
        "cross_validated": None
        if kept is None
        else {"metric": kept.metric, "score": kept.score, "spread": kept.spread, "folds": len(kept.scores)},
        **{
            name: None if value is None else {"value": value.value, "low": value.low, "high": value.high}
            for name, value in ((name, getattr(judged, name)) for name in figures)
        },
        "most_frequent_class": judged.frequent,
        "classes": list(judged.classes),
        "confusion": judged.confusion.tolist(),
        "mistakes": [
            {"row": int(rows[one.row]), "is": one.truth, "says": one.predicted, "probability": one.probability}
            for one in judged.mistakes
        ],
        "groups": [{"where": group.text, "rows": group.n_rows, "wrong": group.wrong} for group in judged.groups],
    }
    if compared is not None:
        facts["familiar"] = [
            {"name": one.name, "accuracy": one.score, "spread": one.spread, "size": one.size} for one in compared.models
        ]
    return facts
