"""``smallearn edit``: change a model by hand, and see what that costs."""

import argparse
from typing import Any

import numpy as np

from smallearn._text import count, joined, percent, show
from smallearn.cli.arguments import add_command, add_data, add_model, add_path, add_printing, add_target
from smallearn.cli.console import SILENT, Console, heading
from smallearn.cli.edits import add_edits, changed_by_steps
from smallearn.cli.errors import CommandError, ExitCode, library_errors
from smallearn.cli.io.files import check_output, print_json, read_model
from smallearn.model import SMaLLModel

DESCRIPTION = """\
Change cuts, weights, constants, the decision threshold and terms of a model. Changes are made in the order in which
they are given; terms are named as the model prints them, with <= for ≤ if that is easier to type. With DATA, the output
tells the scores before and after and how many decisions change; with --refit, all weights that were not set by hand are
fitted to DATA again. The model is written if -o names a file, which remembers what was changed by hand.

A model of several scores counts them from 1, in the order in which it prints them: '2:[age > 45]=1.5' is the term in
score 2.
"""
EXAMPLES = """\
smallearn edit model.json --threshold 0.3 -o edited.json
smallearn edit model.json data.csv --cut "age=38:40" --refit -o edited.json
smallearn edit model.json data.csv --forbid colour --refit --replace -o edited.json
smallearn edit model.json data.csv --add "[size > 6]=0.5" --json
"""
FIGURES = {"accuracy": "accuracy", "balanced_accuracy": "balanced accuracy", "auc": "ROC AUC", "log_loss": "log loss"}
SHARES = ("accuracy", "balanced_accuracy")
FOLDS = 5


def add(commands) -> argparse.ArgumentParser:
    """Add the command's parser."""
    parser = add_command(
        commands,
        "edit",
        summary="change a model by hand, and see what that costs",
        description=DESCRIPTION,
        examples=EXAMPLES,
    )
    add_model(parser)
    add_data(parser, optional=True)
    add_edits(parser)
    parser.add_argument(
        "--refit", action="store_true", help="fit the weights that were not set by hand, now or before, to DATA"
    )
    parser.add_argument(
        "--replace",
        action="store_true",
        help="with --refit, add the best other term for each that was dropped; DATA needs the columns of training",
    )
    parser.add_argument(
        "--keep", action="append", default=[], metavar="TERM", help="with --refit, keep this weight too; repeatable"
    )
    parser.add_argument(
        "--drop",
        action="append",
        default=[],
        metavar="COLUMN",
        help="a column of DATA that the model was not trained on, for --replace and --add; repeatable",
    )
    add_target(parser)
    add_path(parser, "-o", "--output", metavar="FILE", help="where to write the changed model (default: nowhere)")
    add_printing(parser)
    return parser


def run(arguments: argparse.Namespace, console: Console) -> int:
    """Change, refit, compare, print, write."""
    _check(arguments)
    model = read_model(arguments)
    if arguments.output is not None:
        check_output(arguments.output, arguments.model, arguments.data)
    whole = None
    if arguments.data is not None and (arguments.replace or any(option == "--add" for option, _ in arguments.steps)):
        whole = _training_table(arguments, model, console)
    names = None if whole is None else _names(model, whole)
    edited = changed_by_steps(model.edit(names), arguments.steps)
    rows: tuple[Any, np.ndarray] | None = None
    held_out = None
    with library_errors(arguments):
        if arguments.data is not None:
            rows = _rows(arguments, model, edited, console)
        if arguments.refit:
            assert rows is not None  # `_check` asks for a table
            given = (whole.X, whole.y) if whole is not None and arguments.replace else rows
            unchanged = edited
            edited = _refitted(edited, given[0], given[1], arguments)
            held_out = _held_out(model, unchanged, given, arguments, console)
            if arguments.replace:  # the terms that were found read other columns
                rows = _rows(arguments, model, edited, console)
        cost = None if rows is None else _cost(model, edited, *rows, held_out)
    if arguments.output is not None:
        edited.save(arguments.output)
    if arguments.json:
        print_json(_facts(model, edited, cost))
    else:
        print(edited)
        _print_cost(model, cost, arguments)
    if arguments.output is not None:
        console.note(f"Wrote {arguments.output}.")
    else:
        console.note("Nothing was written: -o FILE saves the changed model.")
    return ExitCode.DONE


def _check(arguments: argparse.Namespace) -> None:
    if not arguments.steps and not arguments.refit:
        raise CommandError("there is nothing to change: name a change, such as --threshold 0.3 (see --help)")
    if arguments.refit and arguments.data is None:
        raise CommandError("--refit needs a table: smallearn edit MODEL DATA --refit")
    for option in ("replace", "keep"):
        if getattr(arguments, option) and not arguments.refit:
            raise CommandError(f"--{option} goes with --refit")


# --- reading ---------------------------------------------------------------------------------------------------------


def _training_table(arguments: argparse.Namespace, model: SMaLLModel, console: Console) -> Any:
    """The table with all columns that the model may have been trained on."""
    from smallearn.cli.io.class_names import ClassNames
    from smallearn.cli.io.model_rows import required_target
    from smallearn.cli.io.rules import TrainingRules
    from smallearn.cli.io.tables import ReadOptions
    from smallearn.cli.io.training import read_for_training

    target = required_target(model, arguments.target)
    rules = TrainingRules(
        drop=tuple(arguments.drop),
        keep=tuple(term.label for term in model.features if term.name is not None),
        ids=tuple(name for name in model.table.ids if name not in arguments.drop),
        names=ClassNames(model.table.renamed),
        many_classes=True,
    )
    options = ReadOptions.of(arguments, model)
    return read_for_training(arguments.data, target, rules=rules, options=options, console=console)


def _names(model: SMaLLModel, table: Any) -> list[str]:
    """The names of all features, which the table must have as the model was trained on them."""
    names = [str(name) for name in table.X.columns]
    wrong = [t.name for t in model.features if t.name is not None and names[t.feature : t.feature + 1] != [t.name]]
    if len(names) != model.n_features or wrong:
        raise CommandError(
            f"the model was trained on {count(model.n_features, 'column')}, and this table has {len(names)} to learn "
            "from, in another order or number; use the training table, and name with --drop the columns that were "
            "dropped"
        )
    return names


def _rows(
    arguments: argparse.Namespace, model: SMaLLModel, edited: SMaLLModel, console: Console
) -> tuple[Any, np.ndarray]:
    """The rows with the columns that one of the models reads, and their classes."""
    from smallearn.cli.io.model_rows import Labels, read_for_model
    from smallearn.cli.io.tables import ReadOptions

    table = None
    for one in (edited, model):
        read = read_for_model(
            one,
            arguments.data,
            target=arguments.target,
            labels=Labels.REQUIRED,
            options=ReadOptions.of(arguments, model),
            console=console if table is None else SILENT,
        )
        if table is None:
            table = read.X.copy()
        for name in read.X.columns:
            if name not in table or (one is model and name in [term.label for term in model.features]):
                table[name] = read.X[name]
    assert read.y is not None  # classes are required
    return table, read.y


# --- fitting and scores ----------------------------------------------------------------------------------------------


def _refitted(model: SMaLLModel, X: Any, y: Any, arguments: argparse.Namespace) -> SMaLLModel:
    from smallearn import refit

    return refit(model, X, y, keep=arguments.keep, replace_terms=arguments.replace)


def _held_out(
    model: SMaLLModel, edited: SMaLLModel, given: tuple[Any, Any], arguments: argparse.Namespace, console: Console
) -> tuple[float, float] | None:
    """The accuracy by cross-validation of the weights, of both models: each fold is predicted by weights that were
    fitted to the others. None if a class has too few rows."""
    from sklearn.model_selection import StratifiedKFold

    from smallearn import refit

    X, y = given
    if np.unique(y, return_counts=True)[1].min() < FOLDS:
        return None
    right = np.zeros(2)
    with console.progress(FOLDS, "folds") as bar:
        for train, test in StratifiedKFold(FOLDS, shuffle=True, random_state=0).split(np.zeros(len(y)), y):
            before = refit(model, X.iloc[train], y[train])
            after = _refitted(edited, X.iloc[train], y[train], arguments)
            right += [np.sum(one.predict(X.iloc[test]) == y[test]) for one in (before, after)]
            bar.step()
    return float(right[0] / len(y)), float(right[1] / len(y))


def _cost(
    model: SMaLLModel, edited: SMaLLModel, X: Any, y: np.ndarray, held_out: tuple[float, float] | None
) -> dict[str, Any]:
    """The scores of both models on the rows, and the decisions that differ."""
    from smallearn.evaluation import evaluate

    judged = evaluate(model, X, y), evaluate(edited, X, y)
    scores = {}
    for name in FIGURES:
        values = [getattr(one, name) for one in judged]
        if None not in values:
            scores[name] = tuple(float(value.value) for value in values)
    if held_out is not None:
        scores["held_out_accuracy"] = held_out
    codes = [model.codes(one.predict(X)) for one in (model, edited)]
    moved = np.zeros((len(model.classes), len(model.classes)), dtype=np.int64)
    np.add.at(moved, (codes[0], codes[1]), 1)
    np.fill_diagonal(moved, 0)
    return {
        "rows": len(y),
        "is_training_data": judged[0].is_training_data,
        "scores": scores,
        "changed": int(moved.sum()),
        "moved": [(model.classes[a], model.classes[b], int(moved[a, b])) for a, b in np.argwhere(moved).tolist()],
    }


# --- printing --------------------------------------------------------------------------------------------------------


def _print_cost(model: SMaLLModel, cost: dict[str, Any] | None, arguments: argparse.Namespace) -> None:
    if cost is None:
        return
    which = ", the training rows" if cost["is_training_data"] else ""
    print(heading(f"\nOn {arguments.data.name}: {count(cost['rows'], 'row')}{which}"))
    names = {**FIGURES, "held_out_accuracy": f"accuracy on held-out rows ({FOLDS} folds)"}
    lines: list[tuple[str, ...]] = [("", "before", "after")]
    for name, values in cost["scores"].items():
        is_share = name in SHARES or name == "held_out_accuracy"
        lines.append((names[name], *(f"{value:.1%}" if is_share else f"{value:.3f}" for value in values)))
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for name, *values in lines:
        cells = "  ".join(value.rjust(width) for value, width in zip(values, widths[1:], strict=True))
        print(f"  {name.ljust(widths[0])}  {cells}")
    share = percent(cost["changed"] / cost["rows"])
    moves = joined([f"{n} from {show(a)} to {show(b)}" for a, b, n in cost["moved"]])
    told = f": {moves}" if cost["moved"] and len(model.classes) < 5 else ""
    print(f"Decisions changed: {cost['changed']} of {cost['rows']} ({share}){told}.")


def _facts(model: SMaLLModel, edited: SMaLLModel, cost: dict[str, Any] | None) -> dict[str, Any]:
    """The result, for scripts."""
    facts: dict[str, Any] = {
        "edits": [
            {"action": e.action, "what": e.what, "before": e.before, "after": e.after, "score": e.score, "text": e.text}
            for e in edited.edits
        ],
        "terms": {"before": model.n_terms, "after": edited.n_terms},
        "decision_threshold": edited.decision_threshold,
    }
    if cost is not None:
        facts |= {
            "rows": cost["rows"],
            "is_training_data": cost["is_training_data"],
            "scores": {name: {"before": b, "after": a} for name, (b, a) in cost["scores"].items()},
            "decisions_changed": cost["changed"],
            "moved": [{"from": a, "to": b, "rows": n} for a, b, n in cost["moved"]],
        }
    return facts
