"""The options of reason codes: how many, in which words, and for which class."""

import argparse
from pathlib import Path
from typing import Any

from smallearn.cli.arguments import Parser, add_path, positive_integer
from smallearn.cli.console import Console
from smallearn.cli.io.small_tables import read_lines
from smallearn.model import SMaLLModel

DEFAULT = 3
COLUMNS = ("term", "words")


def add_reason_codes(parser: Parser, target: str = "", shown: str = "name") -> None:
    """``--reason-codes``, ``--wording`` and ``--favourable``; ``target`` begins their help."""
    parser.add_argument(
        "--reason-codes",
        type=positive_integer,
        metavar="N",
        help=f"{target}{shown} the N terms that held a class back most "
        f"(default: none; {DEFAULT} with --wording or --favourable)",
    )
    add_path(
        parser,
        "--wording",
        metavar="FILE",
        help=f"{target}your words for reason codes: a CSV file with the columns term (a term as it is printed, such as "
        "[age <= 40], or a feature) and words",
    )
    parser.add_argument(
        "--favourable",
        metavar="CLASS",
        help=f"{target}the class that reason codes speak of (default: the second of two)",
    )


def reason_codes_of(arguments: argparse.Namespace, model: SMaLLModel) -> dict[str, Any]:
    """``reason_codes``, ``wording`` and ``favourable`` as the library takes them; empty if the user wants none."""
    wants = (arguments.reason_codes, arguments.wording, arguments.favourable)
    if all(one is None for one in wants):
        return {}
    return {
        "reason_codes": arguments.reason_codes or DEFAULT,
        "wording": None if arguments.wording is None else _words(arguments.wording),
        "favourable": None if arguments.favourable is None else _label(model, arguments.favourable),
    }


def note_wordless(arguments: argparse.Namespace, model: SMaLLModel, options: dict[str, Any], console: Console) -> None:
    """A note on the terms that the user's words leave out; ``options`` are those of `reason_codes_of`."""
    if options.get("wording") is None:
        return
    from smallearn.export._flat import flatten
    from smallearn.export._reason_codes import shortfalls

    texts = shortfalls(flatten(model), options["wording"], options["favourable"]).wordless
    if texts:
        console.note(f"{arguments.wording.name} has no words for: {', '.join(texts)}.")


def _label(model: SMaLLModel, text: str) -> Any:
    """The class that is written so; whatever else was written, for the library to refuse."""
    return next((label for label in model.classes if str(label) == text), text)


def _words(path: Path) -> dict[str, str]:
    """The words by term or feature."""
    return {term: line["words"] for term, line in read_lines(path, COLUMNS).items()}
