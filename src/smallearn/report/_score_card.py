"""A score card as a section of the page: tables of plain text."""

from typing import Any

from smallearn._text import percent, show
from smallearn.model import ScoreCard
from smallearn.model._score_card_text import notes_of, rule_sentence
from smallearn.report._tables import Table


def score_card_section(card: ScoreCard) -> dict[str, Any]:
    """What the page shows: sentences, a table for each card, and what totals mean (None if that depends on others)."""
    tables = []
    for one in card.cards:
        lines = [("", "to start with", card.point_text(one.start))] if one.start != 0.0 else []
        for feature in one.features:
            name = show(feature.name, quote=False)
            lines += [(name, part.text, card.point_text(part.points)) for part in feature.bins]
        tables.append(
            Table(name=one.title, head=("feature", "values", "points"), lines=lines, numbers=(2,), narrow=True)
        )
    strip = [(card.point_text(total), percent(chance)) for total, chance in card.strip()]
    head = ("points", f"probability of {show(card.cards[0].label, quote=False)}")
    meaning = Table(name="Points and probability", head=head, lines=strip, numbers=(0, 1), narrow=True)
    return {
        "text": ["Add the points of one line for each feature.", rule_sentence(card), *notes_of(card)],
        "tables": tables,
        "strip": meaning if strip else None,
    }
