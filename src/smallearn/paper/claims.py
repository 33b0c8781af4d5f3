"""The claims of the paper: what it says, what it prints, what was measured, and whether that bears it out."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from smallearn.paper.files import markdown

HOLDS, IN_PART, NOT = "holds", "holds in part", "does not hold"


class Claim(NamedTuple):
    """A sentence of the paper; ``published`` and ``measured`` are the figures for it."""

    claim: str
    published: str
    measured: str
    verdict: str


class Outcome(NamedTuple):
    """What an experiment has to say."""

    summary: str
    claims: Sequence[Claim]


def verdict(whole: bool, part: bool = False) -> str:
    """In words."""
    return HOLDS if whole else IN_PART if part else NOT


def table(outcomes: Mapping[str, Outcome]) -> str:
    """All claims, with the command that measures each."""
    rows = [
        [str(number), claim.claim, claim.published, claim.measured, claim.verdict, f"`smallearn paper {name}`"]
        for number, (name, claim) in enumerate(
            ((name, claim) for name, outcome in outcomes.items() for claim in outcome.claims), start=1
        )
    ]
    return markdown(["#", "the paper's claim", "published", "measured", "verdict", "command"], rows)
