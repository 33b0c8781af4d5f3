"""The model in words: each prototype as a sentence and as a card."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from smallearn._text import count, show, show_category
from smallearn.explain._digits import rounded
from smallearn.model import Prototype, SMaLLModel, Term
from smallearn.model._rows import as_model, checked_units, read_rows


@dataclass(frozen=True)
class Line:
    """A line of a card: ``number`` (points, or a weight) for each ``text``; the constant has no term."""

    number: str
    text: str
    term: Term | None = None


@dataclass(frozen=True)
class Description:
    """A model in words. ``model`` is the one described, in fewer digits if rows were given: ``n_rows`` of them, on
    which it decides as the original does (None: no rows were given, numbers are shown in four digits)."""

    model: SMaLLModel
    rule: str
    sentences: tuple[str, ...]
    cards: tuple[tuple[Line, ...], ...]
    n_rows: int | None

    @property
    def note(self) -> str:
        """What the rounding did."""
        if self.n_rows is None:
            return "Numbers are shown in four digits."
        return (
            f"Rounded as far as no decision changes on the {count(self.n_rows, 'row')} given; with any number "
            "rounded to fewer digits one would."
            if not self.model.is_score_card
            else f"Whole points; every decision on the {count(self.n_rows, 'row')} given is that of the exact weights."
        )

    def __str__(self) -> str:
        lines = [self.rule, ""]
        for number, (sentence, card) in enumerate(zip(self.sentences, self.cards, strict=True), start=1):
            owner = self.model.prototypes[number - 1].owner
            of_class = f", for {show(self.model.classes[owner])}" if len(self.model.classes) > 2 else ""
            width = max(len(line.number) for line in card)
            title = f"Prototype {number}{of_class}. " if len(self.cards) > 1 else ""
            lines += [f"{title}{sentence}", ""]
            lines += [f"    {line.number:>{width}}  {line.text}" for line in card]
            lines.append("")
        return "\n".join([*lines, self.note])


def describe(model: Any, X: Any = None, *, units: Mapping[str, str] | None = None) -> Description:
    """The model in words. With rows ``X``, numbers are rounded as far as no decision on them changes, and not further
    (see `rounded`). ``units`` are those of features: ``{"age": "years"}``."""
    model = as_model(model)
    units = checked_units(model, units)
    rows = None if X is None else read_rows(model, X)
    if rows is None or rows.n_rows == 0:
        shown, n_rows, digits, gaps = model, None, 4, set()
    else:
        shown, n_rows, digits = rounded(model, rows), rows.n_rows, None
        gaps = set(filter(rows.fills_gaps, shown.terms))
    cards = tuple(_card(prototype, shown.is_score_card, digits, units, gaps) for prototype in shown.prototypes)
    sentences = tuple(
        _sentence(shown, prototype, card) for prototype, card in zip(shown.prototypes, cards, strict=True)
    )
    return Description(shown, model.rule, sentences, cards, n_rows)


def _card(
    prototype: Prototype, points: bool, digits: int | None, units: Mapping[str, str], gaps: set[Term]
) -> tuple[Line, ...]:
    lines = [
        Line(_number(t.points if points else t.weight, digits, points), _per(t, points, units, t in gaps), t)
        for t in prototype.terms
    ]
    return (*lines, Line(_number(prototype.intercept, digits, points), "to begin with"))


def _number(value: float, digits: int | None, points: bool) -> str:
    if points:
        return f"{round(value):+d}"
    return _exact(value, "+") if digits is None else f"{value:+.{digits}g}"


def _exact(value: Any, sign: str = "") -> str:
    """In 15 digits, or in as many as it takes to read the same number again."""
    value = float(value)
    short = f"{value:{sign}.15g}"
    return short if float(short) == value else f"{value:{sign}}"


def _per(term: Term, points: bool, units: Mapping[str, str], has_gaps: bool) -> str:
    """What the number is for: ``if age is at most 40 years``, ``× radius (in mm)``, ``for each 10 mm of radius``; and
    what stands in for a missing value."""
    unit = units.get(term.label)
    if term.kind != "raw":
        return f"if {condition(term, unit)}"
    name = show(term.label, quote=False)
    gap = f"{_exact(term.mean)} if missing" if has_gaps else ""
    if points and term.unit not in (None, 1.0):
        each = f"for each {_exact(term.unit)} {show(unit or 'units', quote=False)} of {name}"
        return f"{each} ({gap})" if gap else each
    notes = "; ".join(filter(None, (f"in {show(unit, quote=False)}" if unit else "", gap)))
    return f"× {name} ({notes})" if notes else f"× {name}"


def condition(term: Term, unit: str | None = None) -> str:
    """A literal in words: ``age ≤ 40 years``, ``colour is 'red'``, ``age is missing``."""
    name = show(term.label, quote=False)
    if term.kind == "missing":
        return f"{name} is missing"
    if term.kind == "equals":
        return f"{name} is {show_category(term.value)}"
    of_unit = f" {show(unit, quote=False)}" if unit else ""
    return f"{name} is {'at most' if term.kind == 'at_most' else 'above'} {_exact(term.value)}{of_unit}"


def _sentence(model: SMaLLModel, prototype: Prototype, card: Sequence[Line]) -> str:
    """The score as one would say it."""
    begin = card[-1].number.removeprefix("+").replace("-", "−")
    if not prototype.terms:
        return f"The score is always {begin}."
    parts = [_clause(line) for line in card[:-1]]
    listed_parts = parts[0] if len(parts) == 1 else ", ".join(parts[:-1]) + f" and {parts[-1]}"
    if model.is_score_card:
        opening = f"Begin with {begin} {'point' if begin in ('1', '−1') else 'points'}"
    else:
        opening = f"Begin with a score of {begin}"
    return f"{opening}; {listed_parts}."


def _clause(line: Line) -> str:
    term = line.term
    assert term is not None
    verb = "add" if not line.number.startswith("-") else "take away"
    amount = line.number.lstrip("+-")
    if term.kind != "raw":
        return f"{verb} {amount} {line.text}"
    if line.text.startswith("× "):
        return f"{verb} {amount} times {line.text.removeprefix('× ')}"
    return f"{verb} {amount} {line.text}"
