"""A model as a notebook shows it: the rule as HTML, in the notebook's own colours. Needs nothing."""

from collections.abc import Iterator
from html import escape
from typing import Any

from smallearn._text import count, show
from smallearn.model._parts import Prototype

CELL = "text-align:left;padding:.1em .7em .1em 0;border:0;background:none"
NUMBER = "text-align:right;padding:.1em .7em .1em 0;border:0;background:none;font-variant-numeric:tabular-nums"


def rule_html(model: Any) -> str:
    """The rule and a small table for each prototype."""
    head = f"<b>{count(len(model.terms), 'term')}</b>, {len(model.features)} of {count(model.n_features, 'feature')}"
    kept = "" if model.selection is None else f", {escape(_score(model.selection))}"
    cards = "".join(_card(model, number, prototype) for number, prototype in enumerate(model.prototypes, start=1))
    return (
        f'<div class="smallearn-model" style="overflow-x:auto"><p style="margin:.2em 0">SMaLL model: {head}{kept}.<br>'
        f'{escape(model.rule)}</p><div style="display:flex;flex-wrap:wrap;gap:.3em 2.5em">{cards}</div></div>'
    )


def _score(selection: Any) -> str:
    return f"{selection.metric} {selection.text} by cross-validation"


def _card(model: Any, number: int, prototype: Prototype) -> str:
    owner = show(model.classes[prototype.owner], quote=False)
    name = "score" if len(model.prototypes) == 1 else f"prototype {number}"
    lines = "".join(
        f'<tr><td style="{NUMBER}">{weight}</td><td style="{CELL}">{escape(text)}</td></tr>'
        for weight, text in _lines(model, prototype)
    )
    caption = f'<caption style="text-align:left;caption-side:top">{escape(f"{name}, for {owner}")}</caption>'
    return f'<table style="border:0;margin:.3em 0">{caption}<tbody>{lines}</tbody></table>'


def _lines(model: Any, prototype: Prototype) -> Iterator[tuple[str, str]]:
    points = model.is_score_card
    for term in prototype.terms:
        per = f"per {term.unit:.15g} " if points and term.unit not in (None, 1.0) else ""
        yield (f"{round(term.points):+d}" if points else f"{term.weight:+.4g}"), f"{per}× {term.text}"
    yield (f"{round(prototype.intercept):+d}" if points else f"{prototype.intercept:+.4g}"), "to begin with"


def beside(rule: str, diagram: str) -> str:
    """The rule of a fitted estimator, and scikit-learn's diagram of it."""
    return (
        '<div style="display:flex;flex-wrap:wrap;gap:1em 2.5em;align-items:flex-start">'
        f"<div>{rule}</div><div>{diagram}</div></div>"
    )
