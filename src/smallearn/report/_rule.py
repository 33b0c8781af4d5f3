"""What the model is: its title, its cards, its exact weights, and its rule."""

from dataclasses import dataclass
from typing import Any

from smallearn import explain
from smallearn._text import count, joined, show, typeset
from smallearn.explain._describe import DIGITS, written
from smallearn.explain._dnf.rule import conditions_of
from smallearn.model import SMaLLModel
from smallearn.model._card import card_table
from smallearn.model._sentences import CONSTANT, score_name, score_title, terms_text
from smallearn.model._term import term_text
from smallearn.report._rounding import MOST
from smallearn.report._score_card import score_card_section
from smallearn.report._subject import Subject
from smallearn.report._tables import Table

MOST_CLAUSES, MOST_CLASSES = 12, 6
FEW_CLASSES = 3  # with more, approximate rules are too many to be read, and take long to find


@dataclass(frozen=True)
class Shown:
    """A model as the page has it: ``model`` in few digits, where ``is_rounded``, in place of the one that was given.

    ``has_all_digits`` tells whether the card shows its weights in all their digits.
    """

    model: SMaLLModel
    is_rounded: bool
    has_all_digits: bool


def title_of(model: SMaLLModel) -> str:
    """The heading of the page, if none is given."""
    target = "" if model.data is None or model.data.target is None else f" for {show(model.data.target, quote=False)}"
    return f"A small model{target}"


def rule_of(subject: Subject, shown: Shown, *, approximate: bool) -> dict[str, Any]:
    """The model as cards, as exact weights and as a rule; ``approximate`` if a rule that is not exact is wanted."""
    model, judged = shown.model, subject.judged
    description = written(model, subject.rows, subject.units, digits=None if shown.has_all_digits else DIGITS)
    simplify = judged is not None and judged.is_training_data
    rules = _rules(subject, model, simplify=simplify, approximate=approximate)
    is_exact = bool(rules) and all(rule.same_as_model for rule in rules)
    return {
        "lead": _lead(model),
        "sentence": description.rule,
        "card": card_of(description),
        "cards": _cards(description),
        "note": _note(subject, shown),
        "exact": None if shown.has_all_digits or not model.terms else _exact(model),
        "rules": rules,
        "is_exact": is_exact,
        "more_classes": max(0, len(model.classes) - MOST_CLASSES),
        "score_card": _score_card(model),
    }


def _note(subject: Subject, shown: Shown) -> str:
    if shown.is_rounded and subject.rows is not None:
        return (
            f"Rounded so that no decision on the {count(subject.rows.n_rows, 'row')} given changes, and no probability "
            "by more than 0.05 percentage points. Everything on this page, and the model it saves, uses these numbers."
        )
    if shown.has_all_digits:
        return "Everything on this page uses these numbers."
    return "Numbers are shown in four digits. Everything on this page is computed with the exact weights."


def _lead(model: SMaLLModel) -> str:
    """The model in a sentence."""
    if not model.terms:
        return f"It has no terms: the prediction is always {show(model.predict_one({}), quote=False)}."
    used = joined([show(term.label, quote=False) for term in model.features])
    return f"{terms_text(model)} from {len(model.features)} of {count(model.n_features, 'feature')}: {used}."


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
            "caption": "Score card" if model.is_score_card else "Weights",
            "unit": "points" if model.is_score_card else "weight",
            "lines": [{"number": typeset(line.number), "text": line.text} for line in card],
        }
        for number, card in enumerate(description.cards)
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


def _score_card(model: SMaLLModel) -> dict[str, Any] | None:
    """Points from 0 and what their total means, for a score card of literals."""
    return score_card_section(model.score_card()) if is_card(model) else None


def is_card(model: SMaLLModel) -> bool:
    """Whether the model is shown as a score card: whole points for literals."""
    return model.is_score_card and not any(term.kind == "raw" for term in model.terms)


def _rules(subject: Subject, model: SMaLLModel, *, simplify: bool, approximate: bool) -> list[explain.DNF]:
    """The model as a rule, or one for each class if there are several; none if it has none or is too long."""
    weighs = any(term.kind == "raw" for term in model.terms)
    if weighs and (not approximate or len(model.classes) > FEW_CLASSES):
        return []
    rules = conditions_of(model, subject.rows, MOST_CLASSES, simplify=simplify)
    short = all(0 < len(rule.clauses) <= MOST_CLAUSES and () not in rule.clauses for rule in rules)
    return rules if short else []


def shown_model(original: SMaLLModel, rounded: SMaLLModel, *, checked: bool) -> Shown:
    """What the page has of a model; ``checked``: whether it was rounded with rows."""
    digits = all(_digits(weight) <= MOST for weight in _weights(rounded))
    return Shown(
        model=rounded, is_rounded=rounded != original, has_all_digits=(checked and digits) or _is_short(original)
    )


def _weights(model: SMaLLModel) -> list[float]:
    return [*(term.weight for term in model.terms), *(prototype.intercept for prototype in model.prototypes)]


def _is_short(model: SMaLLModel) -> bool:
    """Whether four digits are all that the weights have."""
    return all(_digits(weight) <= DIGITS for weight in _weights(model))


def _digits(number: float) -> int:
    return next((d for d in range(1, 17) if float(f"{number:.{d - 1}e}") == number), 17)
