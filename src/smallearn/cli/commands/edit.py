"""``smallearn edit``: change a model by hand, and see what that costs."""

import argparse
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from smallearn._text import count
from smallearn.cli.arguments import add_command, add_data, add_model, add_path, add_printing, add_target
from smallearn.cli.console import SILENT, Console
from smallearn.cli.edits import add_edits, changed_by_steps
from smallearn.cli.errors import CommandError, ExitCode, library_errors
from smallearn.cli.io.files import check_output, print_json, read_model
from smallearn.model import SMaLLModel

if TYPE_CHECKING:
    from smallearn.cli.edit_cost import Cost

DESCRIPTION = """\
Change cuts, weights, constants, the decision threshold and terms of a model. Changes are made in the order in which
they are given; terms are named as the model prints them, with <= for ≤ if that is easier to type. With DATA, the output
tells the scores before and after and how many decisions change; with --refit, all weights that were not set by hand are
fitted to DATA again. If the model was trained on a part of DATA (fit --test-size), the refit takes the same rows, and
the scores are those of the rows held out. The model is written if -o names a file, which remembers what was changed by
hand.

A model of several scores counts them from 1, in the order in which it prints them: '2:[age > 45]=1.5' is the term in
score 2.
"""
EXAMPLES = """\
smallearn edit model.json --threshold 0.3 -o edited.json
smallearn edit model.json data.csv --cut "age=38:40" --refit -o edited.json
smallearn edit model.json data.csv --forbid colour --refit --replace -o edited.json
smallearn edit model.json data.csv --add "[size > 6]=0.5" --json
smallearn edit model.json --weight "[size <= 6]=-5" --constant 9 -o edited.json
smallearn edit model.json data.csv --drop-term "[age <= 38]" --refit --keep "[size <= 6]"
smallearn edit model.json data.xlsx --sheet May --target y --threshold 0.4
smallearn edit model.json new.csv --drop when --add "[size > 6]=0.5" --encoding cp1252 --missing 999 --quiet
"""
MOST_LISTED = 30  # terms in a message


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
    fitting = parser.add_argument_group("the other weights")
    fitting.add_argument(
        "--refit", action="store_true", help="fit the weights that were not set by hand, now or before, to DATA"
    )
    fitting.add_argument(
        "--replace",
        action="store_true",
        help="with --refit, add the best other term for each that was dropped; DATA needs the columns of training",
    )
    fitting.add_argument(
        "--keep", action="append", default=[], metavar="TERM", help="with --refit, keep this weight too; repeatable"
    )
    fitting.add_argument(
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
    model = read_model(arguments)
    _check(arguments, model)
    if arguments.output is not None:
        check_output(arguments.output, arguments.model, arguments.data)
    whole = None
    if arguments.data is not None and (arguments.replace or any(option == "--add" for option, _ in arguments.steps)):
        whole = _training_table(arguments, model)
    names = None if whole is None else _names(model, whole)
    edited = changed_by_steps(model.edit(names), arguments.steps)
    cost = None
    with library_errors(arguments):
        if arguments.data is not None:
            edited, cost = _refitted_and_judged(arguments, model, edited, whole, console)
    if arguments.output is not None:
        edited.save(arguments.output)
    if arguments.json:
        print_json(_facts(model, edited, cost))
    else:
        print(edited)
        if cost is not None:
            cost.print(arguments, len(model.classes))
    if arguments.output is not None:
        console.note(f"Wrote {arguments.output}.")
    else:
        console.note("Nothing was written: -o FILE saves the changed model.")
    return ExitCode.DONE


def _refitted_and_judged(
    arguments: argparse.Namespace, model: SMaLLModel, edited: SMaLLModel, whole: Any, console: Console
) -> tuple[SMaLLModel, "Cost"]:
    """The changed model, its weights refitted if the user wants that, and what the change costs.

    If the model was trained on a part of this very table, the weights are fitted to the same part, and the scores are
    those of the other rows.
    """
    from smallearn import refit
    from smallearn.cli.edit_cost import accuracy_by_folds, cost_of

    held_out = _held_out_numbers(arguments, model)
    rows, by_folds = _rows(arguments, model, edited, console), None
    if arguments.refit:
        given = rows if whole is None or not arguments.replace else _Rows(whole.X, whole.y, whole.numbers)
        given = given.part(held_out, held=False)
        unchanged = edited
        edited = refit(edited, given.X, given.y, keep=arguments.keep, replace_terms=arguments.replace)
        if held_out is None:
            by_folds = accuracy_by_folds(model, unchanged, (given.X, given.y), arguments, console)
        if arguments.replace:  # the terms that were found read other columns
            rows = _rows(arguments, model, edited, SILENT)
    judged = rows.part(held_out, held=True)
    cost = cost_of(model, edited, judged.X, judged.y, is_held_out=held_out is not None, by_folds=by_folds)
    return edited, cost


def _check(arguments: argparse.Namespace, model: SMaLLModel) -> None:
    if not arguments.steps and not arguments.refit:
        texts = list(dict.fromkeys(term.text for term in model.terms))
        has = f"; the model has {', '.join(texts[:MOST_LISTED])}" if texts else ""
        raise CommandError(f"there is nothing to change: name a change, such as --threshold 0.3 (see --help){has}")
    if arguments.refit and arguments.data is None:
        raise CommandError("--refit needs a table: smallearn edit MODEL DATA --refit")
    for option in ("replace", "keep"):
        if getattr(arguments, option) and not arguments.refit:
            raise CommandError(f"--{option} goes with --refit")


# --- reading ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Rows:
    """Rows, their classes, and their numbers in the table, from 1."""

    X: Any
    y: np.ndarray
    numbers: np.ndarray

    def part(self, held_out: np.ndarray | None, *, held: bool) -> "_Rows":
        """Those that are held out, or the others; all of them if none are."""
        if held_out is None:
            return self
        chosen = np.isin(self.numbers, held_out) == held
        return _Rows(self.X[chosen], self.y[chosen], self.numbers[chosen])


def _held_out_numbers(arguments: argparse.Namespace, model: SMaLLModel) -> np.ndarray | None:
    """The numbers of the rows that were held out, if the model was trained on the other rows of this table."""
    from smallearn.cli.io.model_rows import Labels, known_split, read_for_model
    from smallearn.cli.io.tables import ReadOptions

    options = ReadOptions.of(arguments, model)
    split = known_split(model, arguments.data, target=arguments.target, options=options)
    if split is None:
        return None
    numbers: list[np.ndarray] = []
    read_for_model(
        model,
        arguments.data,
        target=arguments.target,
        labels=Labels.REQUIRED,
        options=options,
        watch=lambda _, __, number: numbers.append(number + 1),
        split=split,
        console=SILENT,
    )
    return np.concatenate(numbers)


def _training_table(arguments: argparse.Namespace, model: SMaLLModel) -> Any:
    """The table with all columns that the model may have been trained on; `fit` noted what is ignored."""
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
    return read_for_training(arguments.data, target, rules=rules, options=options, console=SILENT)


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


def _rows(arguments: argparse.Namespace, model: SMaLLModel, edited: SMaLLModel, console: Console) -> _Rows:
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
    return _Rows(table, read.y, read.X.index.to_numpy() + 1)


def _facts(model: SMaLLModel, edited: SMaLLModel, cost: "Cost | None") -> dict[str, Any]:
    """The result, for scripts."""
    facts: dict[str, Any] = {
        "edits": [
            {"action": e.action, "what": e.what, "before": e.before, "after": e.after, "score": e.score, "text": e.text}
            for e in edited.edits
        ],
        "terms": {"before": model.n_terms, "after": edited.n_terms},
        "decision_threshold": edited.decision_threshold,
    }
    return facts if cost is None else facts | cost.facts()
