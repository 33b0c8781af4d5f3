"""A model as text for people: its sentences, the names of its scores, the lines of its cards.

What is printed, shown in a notebook, drawn or put into a report takes its words from here. Everything is a field or a
short sentence, so that nobody has to take a longer text apart.
"""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from smallearn._text import count, joined, listed, of_unit, percent, percent_up, show, show_category, signed
from smallearn.model._columns import is_missing
from smallearn.model._count import count_terms
from smallearn.model._parts import standard_error
from smallearn.model._term import LONGEST_NAME, Term, term_text

if TYPE_CHECKING:
    from smallearn.model._model import SMaLLModel

UNINFORMATIVE_GAP = 0.9  # a bound so far below the objective says next to nothing: 0 is always a bound
CONSTANT = "constant"


@dataclass(frozen=True)
class Line:
    """A line of a card.

    Parameters
    ----------
    number : str
        Points or a weight, with its sign: ``"+2"``, ``"-0.25"``.
    text : str
        What the number is for: ``"× radius"``, ``"if age is at most 40 years"``, ``"constant"``.
    term : Term or None, default=None
        The term; None for the constant.
    """

    number: str
    text: str
    term: Term | None = None


# --- sentences -------------------------------------------------------------------------------------------------------


def size_text(model: "SMaLLModel") -> str:
    """``6 terms in 1 prototype, 6 of 30 features used``; ``4 terms (12 weights)`` where prototypes share terms."""
    return (
        f"{terms_text(model)} in {count(len(model.prototypes), 'prototype')}, "
        f"{len(model.features)} of {count(model.n_features, 'feature')} used"
    )


def terms_text(model: "SMaLLModel") -> str:
    """``6 terms``, or ``4 terms (12 weights)`` where prototypes share terms."""
    rows, weights = count_terms(model.prototypes)[0], len(model.terms)
    shared = rows < weights and (shares_terms(model) or model.n_terms == rows)
    return f"{count(rows, 'term')} ({weights} weights)" if shared else count(weights, "term")


def decision_sentence(model: "SMaLLModel") -> str:
    """How the scores make a decision."""
    owner = model.sole_owner
    if owner is None:
        return f"Predict the class with {_aim(model)}; at a tie the first of {listed(model.classes)}."
    which = "this score is" if len(model.prototypes) == 1 else "any of these scores is"
    other = show(model.classes[1 - owner])
    return f"Predict {show(model.classes[owner])} if {which} {cut_text(model)}{_chance(model)}, otherwise {other}."


def cut_text(model: "SMaLLModel") -> str:
    """The scores that predict the owner of all prototypes, of two classes: ``above 0``, ``-1.386 or more``."""
    counts = model.is_score_card and all(term.kind != "raw" for term in model.terms)  # every score is a whole number
    return threshold_text(model.prototypes[0].owner, model.cut, whole=counts)


def threshold_text(owner: int, cut: float = 0.0, *, whole: bool = False) -> str:
    """The scores that predict the owner of all prototypes, of two classes: a score of ``cut`` predicts the first class.

    ``whole``: scores are whole numbers.
    """
    if whole:
        cut = math.floor(cut) if owner == 1 else math.ceil(cut)
    number = f"{cut:z.4g}" if not whole else f"{cut:d}"
    return f"above {number}" if owner == 1 else f"{number} or more"


def _chance(model: "SMaLLModel") -> str:
    """The probability at the threshold, in brackets, unless it is even."""
    threshold = model.decision_threshold
    if threshold == 0.5:
        return ""
    side = "above" if model.prototypes[0].owner == 1 else "at most"
    return f" (a probability of {show(model.classes[1])} {side} {percent(threshold)})"


def _aim(model: "SMaLLModel") -> str:
    """What the predicted one of several classes has."""
    decision = model.decision
    if decision.costs is not None:
        return "the least expected cost"
    added = [
        f"{signed(offset)} for {show(label)}"
        for label, offset in zip(model.classes, decision.offsets or (), strict=False)
        if offset != 0.0
    ]
    return f"the highest score, with {joined(added)}" if added else "the highest score"


def budget_sentence(model: "SMaLLModel") -> str | None:
    """Whether terms of the budget were left unused; None if all were used, or the budget is not known."""
    chosen, n_terms = model.selection, model.n_terms
    if chosen is None or n_terms >= chosen.max_terms:
        return None
    larger = [step for step in chosen.frontier if step.n_terms > n_terms]
    helped = any(step.score > chosen.score + step.spread for step in larger)
    more = "; more did not help" if larger and not helped else ""
    return f"Used {n_terms} of the {count(chosen.max_terms, 'term')} allowed{more}."


def smaller_model(model: "SMaLLModel") -> "SMaLLModel | None":
    """The smallest of the models of other sizes that scores within a standard error of this one; None if there is none.

    The error is that of the differences between the two on the folds.
    """
    if model.selection is None or len(model.selection.scores) < 2:
        return None
    for other in model.frontier_models:
        if other.n_terms >= model.n_terms or other.selection is None:
            continue
        if len(other.selection.scores) != len(model.selection.scores):
            continue
        pairs = zip(model.selection.scores, other.selection.scores, strict=True)
        behind = tuple(own - its for own, its in pairs)
        if math.fsum(behind) / len(behind) <= standard_error(behind):
            return other
    return None


def smaller_sentence(model: "SMaLLModel") -> str | None:
    """``3 terms would do as well: 95.0% by cross-validation, …``; None if they would not, or it is not known."""
    other = smaller_model(model)
    if other is None or other.selection is None or model.selection is None:
        return None
    told = model.selection.told
    return (
        f"{terms_text(other)} would do as well: {told(other.selection.score)} by cross-validation, within a standard "
        f"error of {told(model.selection.score)}."
    )


def alternatives_sentence(model: "SMaLLModel") -> str:
    """What the alternatives use, in place of what: a line for each."""
    if not model.alternatives:
        return "No other model of this size that uses other features scores within a standard error."
    own = {term.label for term in model.features}
    lines = []
    for number, other in enumerate(model.alternatives, 1):
        its = {term.label for term in other.features}
        score = "" if other.selection is None else f" ({other.selection.text} by cross-validation)"
        use = joined([show(label) for label in sorted(its - own)]) or "fewer features"
        left_out = joined([show(label) for label in sorted(own - its)])
        lines.append(f"Alternative {number}{score}: {use} in place of {left_out}.")
    return "\n".join(lines)


def certificate_sentence(model: "SMaLLModel") -> str | None:
    """How much better a model within the budget could be in training; None if that is unknown or says nothing."""
    facts = model.training
    if facts is None or model.edits or facts.optimality_gap is None:
        return None
    if not 0.0 <= facts.optimality_gap < UNINFORMATIVE_GAP:
        return None
    about = [f"objective {facts.objective:.4g}", *facts.limits]
    if len(model.prototypes) > len(set(model.owners)):  # otherwise each row can belong to one prototype only
        about.append("this assignment of rows to prototypes")
    if facts.certified or facts.optimality_gap == 0.0:
        claim = "Proven optimal on the training data"
    else:
        claim = f"At most {percent_up(facts.optimality_gap)} better is possible on the training data"
    return f"{claim} ({', '.join(about)})."


def edits_sentence(model: "SMaLLModel") -> str | None:
    """What a person changed after training; None if nothing."""
    return f"Changed by hand: {'; '.join(edit.text for edit in model.edits)}." if model.edits else None


# --- names -----------------------------------------------------------------------------------------------------------


def score_name(model: "SMaLLModel", prototype: int, *, quote: bool = True, longest: int = LONGEST_NAME) -> str:
    """``score for class 'yes'``; with the number of the prototype, from 1, where a class owns several."""
    owner = show(model.classes[model.prototypes[prototype].owner], quote=quote, most=longest)
    number = f" {prototype + 1}" if model._owns_several else ""
    return f"score{number} for class {owner}"


def score_title(model: "SMaLLModel", prototype: int, *, quote: bool = True, longest: int = LONGEST_NAME) -> str:
    """``Score for class 'yes'``: `score_name` as a heading."""
    name = score_name(model, prototype, quote=quote, longest=longest)
    return name[0].upper() + name[1:]


# --- cards -----------------------------------------------------------------------------------------------------------


def shares_terms(model: "SMaLLModel") -> bool:
    """Whether most of the terms are in several prototypes."""
    rows, shared = count_terms(model.prototypes)
    return 2 * shared > rows


def card_lines(model: "SMaLLModel", prototype: int, *, longest: int = LONGEST_NAME) -> tuple[Line, ...]:
    """A prototype line by line: points or weights, ``× radius`` or ``per 10 × radius``, and the constant."""
    points, chosen = model.is_score_card, model.prototypes[prototype]
    lines = [
        Line(
            number=signed(term.points if points else term.weight, whole=points),
            text=f"{_per(term) if points else ''}× {term_text(term, longest=longest)}",
            term=term,
        )
        for term in chosen.terms
    ]
    return (*lines, Line(number=signed(chosen.intercept, whole=points), text=CONSTANT))


def _per(term: Term) -> str:
    return "" if term.unit in (None, 1.0) else f"per {term.unit:.15g} "


def value_text(value: Any, unit: str | None = None, *, longest: int = LONGEST_NAME) -> str:
    """The value of a feature in one row: ``35 years``, ``'red'``, ``missing``."""
    return "missing" if is_missing(value) else f"{show_category(plain(value), most=longest)}{of_unit(unit)}"


def plain(value: Any) -> Any:
    """A value of numpy's as one of Python's; a whole number without a point."""
    value = value.item() if isinstance(value, np.generic) else value
    return int(value) if isinstance(value, float) and value.is_integer() and abs(value) < 1e15 else value
