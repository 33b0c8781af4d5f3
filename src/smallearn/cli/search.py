"""What ``fit`` and ``frontier`` ask of the selection, and what it answers in terms of their arguments."""

import argparse
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from smallearn._errors import Parameter, ParameterError
from smallearn._text import listed, show
from smallearn.cli.common import CommandError
from smallearn.cli.terminal import is_quiet

# Parameters that the command line calls otherwise; the others have the option of the same name.
OPTIONS = {"max_points": "--points", "n_prototypes": "--prototypes", "positive_class": "--positive", "n_jobs": "--jobs"}


def search_options(given: argparse.Namespace, rows: Any) -> dict[str, Any]:
    """The parameters that `arguments.add_search` asks for, for these training rows."""
    return {
        "n_prototypes": given.prototypes,
        "categorical_features": rows.text or None,
        "positive_class": _positive(given.positive, rows.y),
        "max_points": given.points,
        "random_state": given.seed,
        "n_jobs": given.jobs,
        "verbose": -1 if is_quiet() else 0,
        **({} if given.literals is None else {"literals": given.literals}),
    }


def _positive(label: str | None, y: Any) -> Any:
    """The class that the user wrote, of the type that it has in the table."""
    if label is None:
        return "auto"
    classes = sorted(set(y.tolist()))
    if len(classes) > 2:
        raise CommandError(f"--positive is for two classes; here each of {listed(classes)} has scores of its own")
    found = [known for known in classes if str(known).lower() == label.lower()]
    exact = [known for known in found if str(known) == label] or found
    if not exact:
        raise CommandError(f"--positive {show(label)} is none of the classes, {listed(classes)}")
    return exact[0]


@contextmanager
def failures() -> Iterator[None]:
    """What a fit cannot do, in terms of the command's arguments."""
    try:
        yield
    except (ValueError, OSError, RuntimeError) as problem:
        raise CommandError(message_of(problem)) from None


def message_of(error: Exception) -> str:
    """The message of an error, in which parameters are called by their options."""
    return error.message(as_option) if isinstance(error, ParameterError) else str(error)


def as_option(parameter: Parameter) -> str:
    """``--max-flash 2`` for ``max_flash=2``, as a shell takes it."""
    option = OPTIONS.get(parameter.name, f"--{parameter.name.replace('_', '-')}")
    if not parameter.has_value:
        return option
    value = parameter.value
    return f"{option} {value:g}" if isinstance(value, float) else f"{option} {shlex.quote(str(value))}"
