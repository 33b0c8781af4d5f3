"""What the model is: its title, its cards, its exact weights, and its rule."""

from typing import Any

from smallearn import explain
from smallearn._text import count, joined, percent, show, typeset
from smallearn.explain._dnf.rule import conditions_of
from smallearn.model import SMaLLModel
from smallearn.model._card import card_table
from smallearn.model._sentences import CONSTANT, score_name, score_title, terms_text
from smallearn.model._term import term_text
from smallearn.report._subject import Subject
from smallearn.report._tables import Table

MOST_CLAUSES, MOST_CLASSES = 12, 6


def title_of(model: SMaLLModel) -> str:
    """The heading of the page, if none is given."""
    target = "" if model.data is None or model.data.target is None else f" for {show(model.data.target, quote=False)}"
    return f"A small model{target}"


def about(subject: Subject) -> dict[str, Any]:
    """The model as cards, as exact weights and as a rule."""
    model, judged = subject.model, subject.judged
    description = explain.describe(model, subject.rows, units=subject.units)
    shown = description.model
    return {
        "lead": _lead(model),
        "description": description,
        "card": card_of(description),
        "cards": _cards(description),
        "exact": _exact(model) if model.terms and shown != model else None,
        "rules": _rules(subject, simplify=judged is not None and judged.is_training_data),
        "more_classes": max(0, len(model.classes) - MOST_CLASSES),
        "totals": _totals(shown),
    }


def _lead(model: SMaLLModel) -> str:
    """The model in a sentence."""
    if not model.terms:
        return f"It has no terms: the prediction is always {show(model.predict_one({}), quote=False)}."
    classes = joined([show(label, quote=False) for label in model.classes])
    used = joined([show(term.label, quote=False) for term in model.features])
    size = f"{terms_text(model)} in {count(len(model.prototypes), 'score')}"
    return (
        f"It distinguishes {classes} with {size}, from {len(model.features)} of "
        f"{count(model.n_features, 'feature')}: {used}."
    )


def card_of(description: explain.Description) -> Table | None:
    """One table for all scores, if they share most of their terms."""
    found = card_table(description.model, description.cards, quote=False)
    if found is None:
        return None
    lines = [(text, *map(typeset, numbers)) for numbers, text, _ in found.lines]
    name = "Points of each class" if description.model.is_score_card else "Weights of each class"
    return Table(name=name, head=("term", *found.heads), lines=lines, numbers=range(1, 1 + len(found.heads)))


def _cards(description: explain.Description) -> list[dict[str, Any]]:
    model = description.model
    return [
        {
            "title": score_title(model, number, quote=False),
            "sentence": sentence,
            "caption": "Score card" if model.is_score_card else "Weights",
            "unit": "points" if model.is_score_card else "weight",
            "lines": [{"number": typeset(line.number), "text": line.text} for line in card],
        }
        for number, (sentence, card) in enumerate(zip(description.sentences, description.cards, strict=True))
    ]


def _exact(model: SMaLLModel) -> Table:
    """The weights as they are in the model's file: predictions are made with these."""
    lines = []
    for number, prototype in enumerate(model.prototypes):
        weights = [(_exact_text(term), term.weight) for term in prototype.terms]
        lines += [
            (score_name(model, number, quote=False), text, typeset(f"{value!r}"))
            for text, value in (*weights, (CONSTANT, prototype.intercept))
        ]
    return Table(name="Exact weights", head=("score", "term", "weight"), lines=lines, numbers=(2,))


def _exact_text(term: Any) -> str:
    """The term with its threshold, and the mean used for missing values, in all digits."""
    text = term_text(term, all_digits=True)
    return text if term.mean is None else f"{text} ({term.mean!r} if missing)"


def _totals(shown: SMaLLModel) -> Table | None:
    """Each total that a score card of literals can have, and its probability."""
    lines = [(typeset(f"{total:+d}"), percent(chance)) for total, chance in shown.totals()]
    if not lines:
        return None
    owner = show(shown.classes[shown.prototypes[0].owner], quote=False)
    head = ("points", f"probability of {owner}")
    return Table(name="Points and probability", head=head, lines=lines, numbers=(0, 1), narrow=True)


def _rules(subject: Subject, *, simplify: bool) -> list[explain.DNF]:
    """The model as a rule, or one for each class if there are several; none if it has none or is too long."""
    rules = conditions_of(subject.model, subject.rows, MOST_CLASSES, simplify=simplify)
    short = all(0 < len(rule.clauses) <= MOST_CLAUSES and () not in rule.clauses for rule in rules)
    return rules if short else []
