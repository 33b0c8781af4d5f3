"""From the options of ``fit`` and ``frontier`` to the parameters of `SMaLLClassifierCV`."""

import argparse
from typing import TYPE_CHECKING, Any

from smallearn._text import listed, show
from smallearn.cli.console import Console
from smallearn.cli.errors import CommandError

if TYPE_CHECKING:
    from smallearn.cli.io.clustered import ClusteredTable
    from smallearn.cli.io.stored import StoredTable
    from smallearn.cli.io.training import TrainingTable


def selection_parameters(
    arguments: argparse.Namespace, rows: "TrainingTable | StoredTable | ClusteredTable", console: Console
) -> dict[str, Any]:
    """The parameters that `arguments.add_selection` asks for, for these rows."""
    return {
        "n_prototypes": arguments.n_prototypes,
        "categorical_features": rows.categorical or None,
        "positive_class": _positive_class(arguments.positive_class, rows.classes),
        "max_points": arguments.max_points,
        "certificate": {"yes": True, "no": False}.get(arguments.certificate, "auto"),
        "sample_rows": arguments.sample_rows,
        "time_limit": arguments.time_limit,
        "random_state": arguments.seed,
        "n_jobs": arguments.n_jobs,
        "verbose": console.verbose,
        **({} if arguments.literals is None else {"literals": arguments.literals}),
    }


def _positive_class(label: str | None, classes: list[Any]) -> Any:
    """The class that the user named, with the type that it has in the table."""
    if label is None:
        return "auto"
    if len(classes) > 2:
        raise CommandError(f"--positive is for two classes; each of these has a score: {listed(classes)}")
    named = [known for known in classes if str(known).lower() == label.lower()]
    exact = [known for known in named if str(known) == label] or named
    if not exact:
        raise CommandError(f"--positive {show(label)} is not one of the classes: {listed(classes)}")
    return exact[0]
