"""The claims of the paper: the claim, the published numbers, the measured numbers, and a verdict."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from smallearn.paper.compare import Settings
from smallearn.paper.files import markdown

HOLDS, IN_PART, NOT = "holds", "holds in part", "does not hold"
HEADER = ("#", "the paper's claim", "published", "measured", "verdict", "criterion", "command")


class Claim(NamedTuple):
    """A claim of the paper, with the published and the measured numbers. ``criterion`` says when it holds."""

    claim: str
    published: str
    measured: str
    verdict: str
    criterion: str


class Outcome(NamedTuple):
    """The result of an experiment: a summary for the terminal and the claims that it tests."""

    summary: str
    claims: Sequence[Claim]
    settings: Settings


def verdict(holds: bool, in_part: bool = False) -> str:
    """The verdict on a claim that holds, holds in part, or does not hold."""
    return HOLDS if holds else IN_PART if in_part else NOT


def table(outcomes: Mapping[str, Outcome]) -> str:
    """A Markdown table of all claims, each with the command that measures it."""
    rows: list[list[str]] = []
    for name, outcome in outcomes.items():
        settings = outcome.settings
        seed = f" --seed {settings.seed}" if settings.seed else ""
        command = f"`smallearn paper {name} --splits {settings.splits}{seed}`"
        rows += [[str(number), *claim, command] for number, claim in enumerate(outcome.claims, len(rows) + 1)]
    return markdown(HEADER, rows)
