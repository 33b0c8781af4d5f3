"""What ``fit`` and ``frontier`` ask of the selection, and what it answers in terms of their arguments."""

import argparse
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from smallearn._text import listed, show
from smallearn.cli.common import CommandError
from smallearn.cli.terminal import is_quiet

# How the parameters of `SMaLLClassifierCV` are called on the command line.
FLAGS = {
    "max_flash": "--max-flash",
    "max_ram": "--max-ram",
    "max_cycles": "--max-cycles",
    "max_time_us": "--max-time-us",
    "max_terms": "--max-terms",
    "max_points": "--points",
    "n_prototypes": "--prototypes",
    "positive_class": "--positive",
    "literals": "--literals",
    "n_jobs": "--jobs",
    "device": "--device",
    "number": "--number",
    "layout": "--layout",
    "chip": "--chip",
    "dialect": "--dialect",
    "form": "--form",
    "inputs": "--inputs",
    "name": "--name",
}


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
    """What a fit cannot do, in terms of the command's arguments; and no word on compiling if none is wanted."""
    mind_quiet()
    try:
        yield
    except (ValueError, OSError, RuntimeError) as problem:
        raise CommandError(in_flags(str(problem))) from None


def mind_quiet() -> None:
    """No word on compiling if none is wanted."""
    from smallearn._learn import kernels

    kernels._Notice.pending = not is_quiet()


def in_flags(text: str) -> str:
    """``max_flash=2`` as ``--max-flash 2``, and ``name='m'`` as ``--name m``; quotes stay where there are spaces."""
    for name, flag in FLAGS.items():
        text = re.sub(rf"\b{name}='([^\s']+)'", rf"{flag} \1", text)
        text = re.sub(rf"\b{name}=", f"{flag} ", text)
        text = re.sub(rf"(?<![-\w]){name}(?![-\w])", flag, text) if "_" in name else text
    return text
