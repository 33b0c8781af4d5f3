"""What the model is: its title, its cards, its exact weights, and the same as conditions."""

from collections.abc import Sequence
from typing import Any

from smallearn import explain
from smallearn._text import count, percent, show
from smallearn.evaluation import Evaluation
from smallearn.explain._dnf.rule import conditions_of
from smallearn.model import SMaLLModel, Term
from smallearn.report._tables import Table, typeset

MOST_CLAUSES, MOST_CLASSES = 12, 6


def title_of(model: SMaLLModel) -> str:
    about = "" if model.data is None or model.data.target is None else f" for {show(model.data.target, quote=False)}"
    return f"A small model{about}"


def about(model: SMaLLModel, X: Any, judged: Evaluation | None, units: dict[str, str]) -> dict[str, Any]:
    description = explain.describe(model, X, units=units)
    shown = description.model
    points = shown.is_score_card
    cards = []
    for number, (prototype, sentence, card) in enumerate(
        zip(shown.prototypes, description.sentences, description.cards, strict=True), start=1
    ):
        owner = show(model.classes[prototype.owner], quote=False)
        name = "The score" if len(shown.prototypes) == 1 else f"Prototype {number}"
        cards.append(
            {
                "title": f"{name}, for {owner}",
                "sentence": sentence,
                "caption": f"Score card {number}" if len(shown.prototypes) > 1 else "Score card",
                "unit": "points" if points else "weight",
                "lines": [{"number": typeset(line.number), "text": line.text} for line in card],
            }
        )
    owner_name = show(model.classes[model.prototypes[0].owner], quote=False)
    totals = [(typeset(f"{total:+d}"), percent(chance)) for total, chance in shown.totals()]
    return {
        "description": description,
        "cards": cards,
        "lead": _lead(model),
        "exact": _exact(model) if model.terms and shown != model else None,
        "rules": _conditions(model, X, simplify=judged is not None and judged.is_training_data),
        "more_classes": max(0, len(model.classes) - MOST_CLASSES),
        "totals": Table(
            "Points and probability", ("points", f"probability of {owner_name}"), totals, (0, 1), narrow=True
        )
        if totals
        else None,
    }


def _exact(model: SMaLLModel) -> Table:
    """The weights as they are in the model's file: what predicts."""
    lines = []
    for number, prototype in enumerate(model.prototypes, start=1):
        name = "score" if len(model.prototypes) == 1 else f"prototype {number}"
        each = [(_whole_text(term), term.weight) for term in prototype.terms]
        lines += [
            (name, text, typeset(f"{value!r}")) for text, value in (*each, ("to begin with", prototype.intercept))
        ]
    return Table("Exact weights", ("of", "for", "weight"), lines, (2,))


def _whole_text(term: Term) -> str:
    """The term with its cut point in all its digits."""
    if term.kind in ("at_most", "above"):
        return f"[{show(term.label, quote=False)} {'≤' if term.kind == 'at_most' else '>'} {term.value!r}]"
    return term.text if term.mean is None else f"{term.text} ({term.mean!r} if missing)"


def _lead(model: SMaLLModel) -> str:
    if not model.terms:
        return f"It has no terms and reads nothing: the answer is always {show(model.predict_one({}), quote=False)}."
    used = ", ".join(show(term.label, quote=False) for term in model.features)
    n_terms, n_scores = count(len(model.terms), "term"), count(len(model.prototypes), "short score")
    return (
        f"It tells {_either(model.classes)} apart by {n_terms} in {n_scores}, from {len(model.features)} of "
        f"{count(model.n_features, 'feature')}: {used}."
    )


def _either(classes: Sequence[Any]) -> str:
    names = [show(label, quote=False) for label in classes]
    return ", ".join(names[:-1]) + f" and {names[-1]}"


def _conditions(model: SMaLLModel, X: Any, *, simplify: bool) -> list[dict[str, Any]]:
    """The model as an OR of ANDs, for each class if there are several, where that can be had and is not too long."""
    found = conditions_of(model, X, MOST_CLASSES, simplify=simplify)
    if not all(0 < len(one.clauses) <= MOST_CLAUSES and () not in one.clauses for one in found):
        return []
    return [_clauses(one) for one in found]


def _clauses(found: explain.DNF) -> dict[str, Any]:
    head, *lines = str(found).splitlines()
    clauses = [line.strip().split(". ", 1)[1] for line in lines[: len(found.clauses)]]
    note = " ".join(lines[len(found.clauses) :])
    same = found.domain is not None or (found.fidelity == 1.0 and not found.imitates)
    return {"head": head, "clauses": clauses, "note": note, "same": same}
