"""Options of ``explain --card``, and the score card that they ask for."""

import argparse
from typing import Any

from smallearn.cli.arguments import positive_number, whole_number
from smallearn.cli.console import Console, heading
from smallearn.cli.errors import CommandError, library_errors
from smallearn.cli.io.files import print_json
from smallearn.cli.reading import read_rows
from smallearn.model import ScoreCard, SMaLLModel

SCALED_BY = {"points": "pdo", "odds": "pdo", "pdo": "pdo", "low": "min_max", "high": "min_max"}  # option: --scaling


def add_score_card(command: argparse.ArgumentParser) -> None:
    """``--card`` and how it is scaled."""
    parser = command.add_argument_group("as a score card")
    parser.add_argument(
        "--card",
        action="store_true",
        help="print a model of conditions as a score card: points from 0, one bin a feature",
    )
    parser.add_argument(
        "--scaling",
        choices=("pdo", "min_max"),
        help="with --card: pdo, --points mean odds of --odds to 1 and --pdo more points double them; min_max, totals "
        "from --low to --high (default: the points of the model)",
    )
    parser.add_argument("--points", type=float, metavar="N", help="with --scaling pdo (default: 600)")
    parser.add_argument("--odds", type=positive_number, metavar="N", help="with --scaling pdo (default: 50)")
    parser.add_argument("--pdo", type=positive_number, metavar="N", help="with --scaling pdo (default: 20)")
    parser.add_argument("--low", type=float, metavar="N", help="with --scaling min_max (default: 0)")
    parser.add_argument("--high", type=float, metavar="N", help="with --scaling min_max (default: 100)")
    parser.add_argument(
        "--digits",
        type=lambda text: whole_number(text, 0, 15),
        metavar="N",
        help="with --card: round points to N digits after the point, 0 for whole points; with DATA, count the "
        "decisions that this changes",
    )


def check_score_card(arguments: argparse.Namespace) -> None:
    """Check that options for score cards are given with what they need."""
    for name, scaling in SCALED_BY.items():
        if getattr(arguments, name) is not None and arguments.scaling != scaling:
            raise CommandError(f"--{name} is for --card --scaling {scaling}")
    for name in ("scaling", "digits"):
        if getattr(arguments, name) is not None and not arguments.card:
            raise CommandError(f"--{name} is for a score card: add --card")
    if arguments.card and (arguments.row is not None or arguments.changeable):
        raise CommandError("--card prints the model, not one row: leave out --row and --changeable")


def print_score_card(arguments: argparse.Namespace, model: SMaLLModel, console: Console) -> None:
    """Print the card, or its facts as JSON."""
    X = None
    if arguments.data is not None:
        from smallearn.cli.io.model_rows import Labels

        X = read_rows(arguments, model, labels=Labels.IGNORED, console=console).X
    scaled = {name: getattr(arguments, name) for name in SCALED_BY if getattr(arguments, name) is not None}
    with library_errors(arguments):
        card = model.score_card(arguments.scaling, **scaled, digits=arguments.digits, X=X)
    if arguments.json:
        print_json(card_facts(card))
        return
    first, _, rest = str(card).partition("\n")
    print(f"{heading(first)}\n{rest}")


def card_facts(card: ScoreCard) -> dict[str, Any]:
    """The card, for scripts."""
    return {
        "scaling": card.scaling,
        "digits": card.digits,
        "threshold": card.threshold,
        "points_that_double_the_odds": card.doubling,
        "cards": [
            {
                "class": one.label,
                "start": one.start,
                "features": [
                    {
                        "name": feature.name,
                        "bins": [
                            {
                                "values": part.text,
                                "points": part.points,
                                "above": part.low,
                                "up_to": part.high,
                                "categories": list(part.categories),
                                "missing": part.missing,
                            }
                            for part in feature.bins
                        ],
                    }
                    for feature in one.features
                ],
            }
            for one in card.cards
        ],
        "probabilities": [{"points": total, "probability": p} for total, p in card.strip()],
        "changed_decisions": card.changed,
        "rows": card.n_rows,
    }
