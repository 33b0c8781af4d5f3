"""A score card as text, and as HTML in a notebook's own colours."""

import math
from collections.abc import Iterator
from html import escape
from typing import TYPE_CHECKING

from smallearn._text import count, joined, listed, percent, show, signed

if TYPE_CHECKING:
    from smallearn.model._score_card import ScoreCard
    from smallearn.model._score_card_bins import Card

CELL = "text-align:left;padding:.1em .7em .1em 0;border:0;background:none"
NUMBER = "text-align:right;padding:.1em .7em .1em 0;border:0;background:none;font-variant-numeric:tabular-nums"
WHOLE = 1e-9  # how far a whole number may be off by rounding errors


def point_text(card: "ScoreCard", points: float) -> str:
    """Points with the digits of the card; else whole if all are whole, or in four digits."""
    if card.digits is not None:
        return f"{points:z.{card.digits}f}"
    return f"{points:z.0f}" if _is_whole(card) else f"{points:z.4g}"


def rule_sentence(card: "ScoreCard") -> str:
    """How totals make a decision."""
    model = card.model
    owner, cut = model.sole_owner, card.threshold
    if owner is None or cut is None:
        added = [
            f"{signed(card.step * offset)} points for {show(label)}"
            for label, offset in zip(model.classes, model.decision.offsets or (), strict=False)
            if offset != 0.0
        ]
        if model.decision.costs is not None:
            return "Predict the class of the least expected cost."
        extra = f", with {joined(added)}" if added else ""
        return f"Predict the class with the most points{extra}; at a tie the first of {listed(model.classes)}."
    digits = 0 if card.digits is None and _is_whole(card) else card.digits
    if digits is not None:  # between two totals any threshold decides the same
        power = 10.0**digits
        cut = (math.floor if owner == 1 else math.ceil)(cut * power + (WHOLE if owner == 1 else -WHOLE)) / power
    limit = point_text(card, cut)
    which = f"above {limit} points" if owner == 1 else f"from {limit} points on"
    any_card = " on any card" if len(card.cards) > 1 else ""
    return f"Predict {show(model.classes[owner])} {which}{any_card}, otherwise {show(model.classes[1 - owner])}."


def notes_of(card: "ScoreCard") -> Iterator[str]:
    """What the points are worth, and what rounding changes."""
    if card.scaling == "pdo" or not card.strip():
        yield f"{card.doubling:.4g} points double the odds."
    if card.changed is not None:
        changed = "no decision" if not card.changed else count(card.changed, "decision")
        what = "Rounding changes" if card.digits is not None else "The card changes"
        yield f"{what} {changed} on the {count(card.n_rows or 0, 'row')} given."


def card_text(card: "ScoreCard") -> str:
    """The cards one after the other, and what totals mean."""
    lines = ["Score card: add the points of one line for each feature.", rule_sentence(card), *notes_of(card)]
    for one in card.cards:
        lines += _one_card(card, one)
    strip = card.strip()
    if strip:
        owner = show(card.cards[0].label)
        texts = [point_text(card, total) for total, _ in strip]
        width = max(len("points"), *map(len, texts))
        lines += ["", f"  {'points':>{width}}  probability of {owner}"]
        lines += [f"  {text:>{width}}  {percent(p)}" for text, (_, p) in zip(texts, strip, strict=True)]
    return "\n".join(lines)


def _one_card(card: "ScoreCard", one: "Card") -> Iterator[str]:
    texts = [point_text(card, part.points) for feature in one.features for part in feature.bins]
    width = max([len("points"), *map(len, texts)])
    if len(card.cards) > 1:
        yield f"\n{one.title}"
    if one.start != 0.0:
        yield f"\n  {point_text(card, one.start):>{width}}  to start with"
    for feature in one.features:
        yield f"\n  {'points':>{width}}  {show(feature.name, quote=False)}"
        for part in feature.bins:
            yield f"  {point_text(card, part.points):>{width}}  {part.text}"


def card_html(card: "ScoreCard") -> str:
    """A small table for each card, and one for the probabilities."""
    sentences = "<br>".join(escape(text) for text in (rule_sentence(card), *notes_of(card)))
    tables = [_html_of(card, one) for one in card.cards]
    strip = card.strip()
    if strip:
        owner = show(card.cards[0].label)
        body = "".join(_row(point_text(card, total), percent(p)) for total, p in strip)
        tables.append(_table("Probability", _head("points", f"probability of {owner}") + body))
    return (
        '<div class="smallearn-score-card" style="overflow-x:auto">'
        f'<p style="margin:.2em 0">Score card: add the points of one line for each feature.<br>{sentences}</p>'
        f'<div style="display:flex;flex-wrap:wrap;gap:.3em 2.5em">{"".join(tables)}</div></div>'
    )


def _html_of(card: "ScoreCard", one: "Card") -> str:
    body = _row(point_text(card, one.start), "to start with") if one.start != 0.0 else ""
    for feature in one.features:
        body += _head("points", show(feature.name, quote=False))
        body += "".join(_row(point_text(card, part.points), part.text) for part in feature.bins)
    return _table(one.title, body)


def _head(number: str, text: str) -> str:
    cells = ((NUMBER, number), (CELL, text))
    return "<tr>" + "".join(f'<th style="{s}" scope="col">{escape(cell)}</th>' for s, cell in cells) + "</tr>"


def _row(number: str, text: str) -> str:
    return f'<tr><td style="{NUMBER}">{escape(number)}</td><td style="{CELL}">{escape(text)}</td></tr>'


def _table(title: str, body: str) -> str:
    caption = f'<caption style="text-align:left;caption-side:top">{escape(title)}</caption>'
    return f'<table style="border:0;margin:.3em 0">{caption}<tbody>{body}</tbody></table>'


def _is_whole(card: "ScoreCard") -> bool:
    """Whether all points are whole numbers."""
    values = (one for each in card.cards for one in (each.start, *(p.points for f in each.features for p in f.bins)))
    return all(abs(value - round(value)) <= WHOLE * max(1.0, abs(value)) for value in values)
