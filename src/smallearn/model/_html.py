"""A model as a notebook shows it: HTML in the notebook's own colours."""

from html import escape
from typing import TYPE_CHECKING

from smallearn.model._card import CardTable, card_table
from smallearn.model._sentences import card_lines, edits_sentence, score_title, size_text

if TYPE_CHECKING:
    from smallearn.model._model import SMaLLModel

CELL = "text-align:left;padding:.1em .7em .1em 0;border:0;background:none"
NUMBER = "text-align:right;padding:.1em .7em .1em 0;border:0;background:none;font-variant-numeric:tabular-nums"


def model_html(model: "SMaLLModel") -> str:
    """The size, the rule, and a small table for each prototype."""
    chosen = model.selection
    quality = "" if chosen is None else f", {chosen.metric} {chosen.text} by cross-validation"
    lines = [card_lines(model, j) for j in range(len(model.prototypes))]
    shared = card_table(model, lines)
    cards = "".join(_card(model, j) for j in range(len(model.prototypes))) if shared is None else _table(shared)
    changed = edits_sentence(model)
    edited = "" if changed is None else f"<br>{escape(changed)}"
    return (
        '<div class="smallearn-model" style="overflow-x:auto">'
        f'<p style="margin:.2em 0">SMaLL model: {escape(size_text(model) + quality)}.<br>'
        f"{escape(model.rule)}{edited}</p>"
        f'<div style="display:flex;flex-wrap:wrap;gap:.3em 2.5em">{cards}</div></div>'
    )


def _card(model: "SMaLLModel", prototype: int) -> str:
    lines = "".join(
        f'<tr><td style="{NUMBER}">{line.number}</td><td style="{CELL}">{escape(line.text)}</td></tr>'
        for line in card_lines(model, prototype)
    )
    title = escape(score_title(model, prototype))
    caption = f'<caption style="text-align:left;caption-side:top">{title}</caption>'
    return f'<table style="border:0;margin:.3em 0">{caption}<tbody>{lines}</tbody></table>'


def _table(card: CardTable) -> str:
    """One table for all prototypes."""
    lines = [(card.heads, ""), *((numbers, text) for numbers, text, _ in card.lines)]
    body = "".join(
        "<tr>"
        + "".join(f'<td style="{NUMBER}">{escape(number)}</td>' for number in numbers)
        + f'<td style="{CELL}">{escape(text)}</td></tr>'
        for numbers, text in lines
    )
    caption = '<caption style="text-align:left;caption-side:top">Score for class</caption>'
    return f'<table style="border:0;margin:.3em 0">{caption}<tbody>{body}</tbody></table>'


def beside(rule: str, diagram: str) -> str:
    """The rule of a fitted estimator beside scikit-learn's diagram of it."""
    return (
        '<div style="display:flex;flex-wrap:wrap;gap:1em 2.5em;align-items:flex-start">'
        f"<div>{rule}</div><div>{diagram}</div></div>"
    )
