"""What cross-validation may choose from: the options of ``fit`` and ``frontier``, and the parameters that they set."""

import argparse
from typing import TYPE_CHECKING, Any, NamedTuple

from smallearn._text import listed, show
from smallearn.cli.arguments import positive_integer, positive_number, sample_rows, seed, whole_number
from smallearn.cli.column_options import check_columns, cut_points, directions
from smallearn.cli.console import Console
from smallearn.cli.errors import CommandError
from smallearn.cli.metrics import check_metric, class_named, default_positive, find_scoring

if TYPE_CHECKING:
    from smallearn.cli.io.clustered import ClusteredTable
    from smallearn.cli.io.stored import StoredTable
    from smallearn.cli.io.training import TrainingTable

    Rows = TrainingTable | StoredTable | ClusteredTable


class SelectionGroups(NamedTuple):
    """Groups of options, to which a command may add its own."""

    model: argparse._ArgumentGroup
    choice: argparse._ArgumentGroup


def add_selection(parser: argparse.ArgumentParser, max_terms: int, with_device: str | None = None) -> SelectionGroups:
    """What cross-validation may choose from, the certificate, the time, the seed and the number of processes.

    ``with_device`` says what ``--max-terms`` is by default with a chip; it is then None if the user does not set it.
    """
    model = parser.add_argument_group("what the model may be")
    model.add_argument(
        "--max-terms",
        type=positive_integer,
        default=max_terms if with_device is None else None,
        metavar="N",
        help="the most terms that a model may have; with more than two classes a term that several of them weigh "
        f"counts once (default: {max_terms}{with_device or ''})",
    )
    model.add_argument(
        "--prototypes",
        dest="n_prototypes",
        type=positive_integer,
        metavar="P",
        help="the number of prototypes (default: chosen by cross-validation)",
    )
    model.add_argument(
        "--literals",
        choices=("raw", "thresholds", "both"),
        metavar="KIND",
        help="what terms are made of: raw, the numbers themselves; thresholds, conditions such as [age ≤ 40]; or both "
        "(default: the better of raw and both)",
    )
    model.add_argument(
        "--points",
        dest="max_points",
        type=positive_integer,
        metavar="N",
        help="train a score card: weights are whole points from -N to N",
    )
    model.add_argument(
        "--cut-points",
        action="append",
        default=[],
        metavar="N|COLUMN=1,2,3",
        help="at how many values a column may be cut for conditions, or at which; the latter is repeatable (default: "
        "20, quantiles of each column)",
    )
    model.add_argument(
        "--monotone",
        dest="monotonic_cst",
        action="append",
        default=[],
        metavar="COLUMN=+1|-1",
        help="with two classes: as COLUMN rises, the probability of the class that --positive names (default: the "
        "second) never falls (+1) or never rises (-1); repeatable",
    )
    model.add_argument(
        "--always-in",
        action="append",
        default=[],
        metavar="COLUMN",
        help="the model has to use this column of numbers; repeatable",
    )
    model.add_argument(
        "--positive", dest="positive_class", metavar="LABEL", help="with two classes, the one that high scores mean"
    )
    choice = parser.add_argument_group("how it is chosen")
    choice.add_argument(
        "--metric",
        dest="scoring",
        metavar="NAME",
        help="the score to choose the model by: a name of scikit-learn's, such as f1, recall, roc_auc "
        "(default: accuracy less a fifth of the log loss); f1, recall and the like are those of the class that "
        "--positive names, else of class 1 of 0 and 1, else of the rarer class",
    )
    choice.add_argument(
        "--class-weight",
        choices=("balanced",),
        help="balanced: in training every class has the same weight, however rare it is",
    )
    choice.add_argument(
        "--folds",
        dest="cv",
        type=folds,
        metavar="N",
        help="the number of folds of cross-validation (default: 5, repeated if there are few rows)",
    )
    search = parser.add_argument_group("time and chance")
    search.add_argument(
        "--time-limit",
        type=positive_number,
        metavar="SECONDS",
        help="take the best result so far when this time is up (default: no limit)",
    )
    search.add_argument(
        "--certificate",
        choices=("auto", "yes", "no"),
        default="auto",
        metavar="WHEN",
        help="whether to compute the certificate: yes, no, or auto, where it adds at most about a tenth to the work "
        "(default: auto)",
    )
    search.add_argument(
        "--sample-rows",
        type=sample_rows,
        default="auto",
        metavar="N",
        help="about how many rows of each fold a model is trained on while models are compared; all: every row "
        "(default: auto, at least 1,600)",
    )
    search.add_argument("--seed", type=seed, default=0, metavar="N", help="random seed (default: 0)")
    search.add_argument(
        "--jobs", dest="n_jobs", type=positive_integer, metavar="N", help="the number of cores to use (default: 1)"
    )
    return SelectionGroups(model, choice)


def check_selection_options(arguments: argparse.Namespace) -> None:
    """Check what can be checked before the table is read."""
    directions(arguments.monotonic_cst)
    cut_points(arguments.cut_points)
    if arguments.scoring is not None:
        check_metric(arguments.scoring)
        if getattr(arguments, "cost_matrix", None) is not None:
            raise CommandError("--metric and --cost-matrix are two scores to choose by: leave one of them out")


def selection_parameters(arguments: argparse.Namespace, rows: "Rows", console: Console) -> dict[str, Any]:
    """The parameters that `add_selection` asks for, for these rows."""
    positive = _positive_class(arguments.positive_class, rows.classes)
    cuts = cut_points(arguments.cut_points)
    return {
        "n_prototypes": arguments.n_prototypes,
        "categorical_features": rows.categorical or None,
        "positive_class": positive,
        "scoring": find_scoring(arguments.scoring, rows.classes, scored_class(arguments, rows)),
        "class_weight": arguments.class_weight,
        "cv": arguments.cv,
        "monotonic_cst": _monotonic(arguments, rows, positive),
        "always_in": _always_in(arguments, rows),
        "max_points": arguments.max_points,
        "certificate": {"yes": True, "no": False}.get(arguments.certificate, "auto"),
        "sample_rows": arguments.sample_rows,
        "time_limit": arguments.time_limit,
        "random_state": arguments.seed,
        "n_jobs": arguments.n_jobs,
        "verbose": console.verbose,
        **({} if cuts is None else {"cut_points": _checked_cuts(cuts, rows)}),
        **({} if arguments.literals is None else {"literals": arguments.literals}),
    }


def scored_class(arguments: argparse.Namespace, rows: "Rows") -> Any:
    """Of two classes, the one that f1, recall and the like are about; None if the metric is about all classes.

    It is the one that the user named; else 1 of 0 and 1, as in scikit-learn; else the rarer one.
    """
    usual = default_positive(arguments.scoring, rows.classes, rows.class_counts)
    if usual is None or arguments.positive_class is None:
        return usual
    return _positive_class(arguments.positive_class, rows.classes)


def _monotonic(arguments: argparse.Namespace, rows: "Rows", positive: Any) -> dict[str, int] | None:
    """The signs by column, for the second class as the library takes them."""
    signs = directions(arguments.monotonic_cst)
    if not signs:
        return None
    if len(rows.classes) > 2:
        raise CommandError(f"--monotone is for two classes, and there are {len(rows.classes)}")
    check_columns("--monotone", list(signs), rows.features, rows.ignored)
    text = [name for name in signs if name in rows.categorical]
    if text:
        raise CommandError(f"--monotone {show(text[0])}: this column is text, and rises in no order")
    turned = -1 if positive == rows.classes[0] else 1
    return {name: turned * sign for name, sign in signs.items()}


def _always_in(arguments: argparse.Namespace, rows: "Rows") -> list[str] | None:
    check_columns("--always-in", arguments.always_in, rows.features, rows.ignored)
    text = [name for name in arguments.always_in if name in rows.categorical]
    if text:
        raise CommandError(
            f"--always-in {show(text[0])}: this column is text, and only a column of numbers is always in"
        )
    if arguments.always_in and arguments.literals == "thresholds":
        raise CommandError("--always-in needs the numbers themselves as terms: use --literals both, or leave it out")
    return list(dict.fromkeys(arguments.always_in)) or None


def _checked_cuts(cuts: int | dict[str, list[float]], rows: "Rows") -> int | dict[str, list[float]]:
    if isinstance(cuts, dict):
        check_columns("--cut-points", list(cuts), rows.features, rows.ignored)
        text = [name for name in cuts if name in rows.categorical]
        if text:
            raise CommandError(f"--cut-points {show(text[0])}: this column is text; its conditions name categories")
    return cuts


def _positive_class(label: str | None, classes: list[Any]) -> Any:
    """The class that the user named, with the type that it has in the table."""
    if label is None:
        return "auto"
    if len(classes) > 2:
        raise CommandError(f"--positive is for two classes; each of these has a score: {listed(classes)}")
    named = class_named(label, classes)
    if named is None:
        raise CommandError(f"--positive {show(label)} is not one of the classes: {listed(classes)}")
    return named


def folds(text: str) -> int:
    """A number of folds, from 2."""
    return whole_number(text, 2, 1000)
