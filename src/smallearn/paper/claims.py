"""The claims of the paper: what it says, what it prints, what was measured, and whether that bears it out."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from smallearn.paper.compare import Settings
from smallearn.paper.files import markdown

HOLDS, IN_PART, NOT = "holds", "holds in part", "does not hold"
HEADER = ("#", "the paper's claim", "published", "measured", "verdict", "holds if", "command")


class Claim(NamedTuple):
    """A sentence of the paper; ``published`` and ``measured`` are the figures for it, ``criterion`` says when it
    holds."""

    claim: str
    published: str
    measured: str
    verdict: str
    criterion: str


class Outcome(NamedTuple):
    """What an experiment has to say."""

    summary: str
    claims: Sequence[Claim]
    settings: Settings


def verdict(whole: bool, part: bool = False) -> str:
    """In words."""
    return HOLDS if whole else IN_PART if part else NOT


def table(outcomes: Mapping[str, Outcome]) -> str:
    """All claims, with the command that measures each."""
    rows: list[list[str]] = []
    for name, outcome in outcomes.items():
        asked = outcome.settings
        command = f"`smallearn paper {name} --splits {asked.splits}{f' --seed {asked.seed}' if asked.seed else ''}`"
        for claim in outcome.claims:
            shown = (claim.claim, claim.published, claim.measured, claim.verdict, claim.criterion)
            rows.append([str(len(rows) + 1), *shown, command])
    return markdown(HEADER, rows)
