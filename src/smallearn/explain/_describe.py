"""A model as sentences and as cards."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any

from smallearn._text import count, exact, joined, show, signed
from smallearn.explain._digits import rounded
from smallearn.model import Rows, SMaLLModel, Term
from smallearn.model._arguments import as_model, checked_units, read_rows
from smallearn.model._card import card_table
from smallearn.model._print import table_text
from smallearn.model._sentences import CONSTANT, Line, score_title
from smallearn.model._term import condition_text

DIGITS = 4  # where no rows tell how many are needed


@dataclass(frozen=True)
class Description:
    """A model as sentences and as cards: what `describe` returns.

    Parameters
    ----------
    model : SMaLLModel
        The model described; in fewer digits, if rows were given.
    rule : str
        How the scores make a decision.
    sentences : tuple of str
        Each score as a sentence.
    cards : tuple of tuple of Line
        Each score line by line: ``number``, ``text``, and ``term`` (None for the constant, which is the last line).
    n_rows : int or None
        The number of rows on which no decision changes by the rounding; None if no rows were given, and numbers are
        shown in four digits.

    Examples
    --------
    >>> from smallearn.explain import describe
    >>> from smallearn.model import Prototype, SMaLLModel, Term
    >>> prototype = Prototype(owner=1, intercept=1.5, terms=(Term(feature=0, weight=-0.25, name="size"),))
    >>> model = SMaLLModel(("no", "yes"), "<U3", n_features=1, prototypes=(prototype,))
    >>> description = describe(model)
    >>> description.sentences[0]
    'Start from 1.5; subtract 0.25 times size.'
    >>> [(line.number, line.text) for line in description.cards[0]]
    [('-0.25', '× size'), ('+1.5', 'constant')]
    """

    model: SMaLLModel
    rule: str
    sentences: tuple[str, ...]
    cards: tuple[tuple[Line, ...], ...]
    n_rows: int | None

    @property
    def titles(self) -> tuple[str, ...]:
        """A heading for each score: ``Score for class 'yes'``.

        Returns
        -------
        tuple of str
            In the order of the prototypes.
        """
        return tuple(score_title(self.model, j) for j in range(len(self.cards)))

    @property
    def note(self) -> str:
        """How the numbers were rounded.

        Returns
        -------
        str
            One sentence.
        """
        if self.n_rows is None:
            return "Numbers are shown in four digits."
        kept = f"every decision on the {count(self.n_rows, 'row')} given is"
        if self.model.is_score_card:
            return f"Whole points; {kept} that of the exact weights."
        return f"Rounded: {kept} unchanged, and rounding any number further would change one."

    def __str__(self) -> str:
        shared = card_table(self.model, self.cards)
        if shared is not None:
            return "\n".join([self.rule, *table_text(shared), "", self.note])
        lines = [self.rule, ""]
        for title, sentence, card in zip(self.titles, self.sentences, self.cards, strict=True):
            width = max(len(line.number) for line in card)
            lines += [sentence if len(self.cards) == 1 else f"{title}. {sentence}", ""]
            lines += [f"    {line.number:>{width}}  {line.text}" for line in card]
            lines.append("")
        return "\n".join([*lines, self.note])


def describe(model: Any, X: Any = None, *, units: Mapping[str, str] | None = None) -> Description:
    """Describe a model in sentences and cards.

    Parameters
    ----------
    model : SMaLLModel or fitted estimator
        The model.
    X : array, sparse matrix, table or Rows, default=None
        Rows × features. Numbers are rounded without changing a decision on these rows; see `rounded`.
    units : mapping from str to str, default=None
        The units of features: ``{"age": "years"}``.

    Returns
    -------
    Description
        Print it, or take its fields.

    See Also
    --------
    rounded : The model with these numbers, to predict with.
    dnf : The model as conditions.

    Examples
    --------
    >>> from smallearn.explain import describe
    >>> from smallearn.model import Prototype, SMaLLModel, Term
    >>> terms = (Term(feature=0, weight=2.0, name="age", kind="above", value=40.0),)
    >>> model = SMaLLModel(("no", "yes"), "<U3", n_features=1, prototypes=(Prototype(1, -1.0, terms),))
    >>> print(describe(model, [[30.0], [50.0]], units={"age": "years"}))
    Predict 'yes' if this score is above 0, otherwise 'no'.
    <BLANKLINE>
    Start from −1 point; add 2 if age is above 40 years.
    <BLANKLINE>
        +2  if age is above 40 years
        -1  constant
    <BLANKLINE>
    Whole points; every decision on the 2 rows given is that of the exact weights.
    """
    model = as_model(model)
    units = checked_units(model, units)
    rows = None if X is None else read_rows(model, X)
    if rows is None or rows.n_rows == 0:
        return written(model, None, units, digits=DIGITS)
    return replace(written(rounded(model, rows), rows, units, digits=None), rule=model.rule, n_rows=rows.n_rows)


def written(shown: SMaLLModel, rows: Rows | None, units: Mapping[str, str], *, digits: int | None) -> Description:
    """A model as it is: its weights in so many digits, None for all. ``rows`` tell whether values are missing."""
    filled = [] if rows is None else [term for term in shown.terms if rows.fills_gaps(term)]
    writer = _Writer(points=shown.is_score_card, digits=digits, units=units, filled=filled)
    return Description(
        model=shown,
        rule=shown.rule,
        sentences=tuple(writer.sentence(shown, j) for j in range(len(shown.prototypes))),
        cards=tuple(writer.card(shown, j) for j in range(len(shown.prototypes))),
        n_rows=None,
    )


@dataclass(frozen=True)
class _Writer:
    """How numbers are written: as points, in how many digits (None: all), with which units, and which terms have a
    value for missing values that is worth showing."""

    points: bool
    digits: int | None
    units: Mapping[str, str]
    filled: Collection[Term]

    def card(self, model: SMaLLModel, prototype: int) -> tuple[Line, ...]:
        """One line for each term, and one for the constant."""
        chosen = model.prototypes[prototype]
        lines = [
            Line(
                number=self._number(self._weight(term)),
                text=f"× {self._per(term)}" if self._is_factor(term) else self._per(term),
                term=term,
            )
            for term in chosen.terms
        ]
        return (*lines, Line(number=self._number(chosen.intercept), text=CONSTANT))

    def sentence(self, model: SMaLLModel, prototype: int) -> str:
        """``Start from −1 point; add 2 if age is above 40 years.``"""
        chosen = model.prototypes[prototype]
        start = self._number(chosen.intercept).removeprefix("+").replace("-", "−")
        if not chosen.terms:
            return f"The score is always {start}."
        points = "" if not self.points else " point" if start in ("1", "−1") else " points"
        return f"Start from {start}{points}; {joined([self._step(term) for term in chosen.terms])}."

    def _step(self, term: Term) -> str:
        """``add 2 if age is above 40 years``, ``subtract 0.25 times size``, ``subtract size``."""
        number = self._number(self._weight(term))
        verb, amount = "subtract" if number.startswith("-") else "add", number.lstrip("+-")
        if not self._is_factor(term):
            return f"{verb} {amount} {self._per(term)}"
        return f"{verb} {self._per(term)}" if amount == "1" else f"{verb} {amount} times {self._per(term)}"

    def _weight(self, term: Term) -> float:
        return term.points if self.points else term.weight

    def _number(self, value: float) -> str:
        return signed(value, whole=self.points, digits=self.digits)

    def _has_unit(self, term: Term) -> bool:
        """Whether points are counted for each 10, 100, … of the feature."""
        return self.points and term.unit not in (None, 1.0)

    def _is_factor(self, term: Term) -> bool:
        """Whether the number is multiplied by the feature itself."""
        return term.kind == "raw" and not self._has_unit(term)

    def _per(self, term: Term) -> str:
        """What the number is for: ``if age is at most 40 years``, ``radius (in mm)``, ``for each 10 mm of radius``."""
        unit = self.units.get(term.label)
        if term.kind != "raw":
            return f"if {condition_text(term, unit)}"
        name = show(term.label, quote=False)
        missing = f"{exact(term.mean)} if missing" if term in self.filled else ""
        if self._has_unit(term):
            each = f"for each {exact(term.unit)} {show(unit or 'units', quote=False)} of {name}"
            return f"{each} ({missing})" if missing else each
        notes = "; ".join(filter(None, (f"in {show(unit, quote=False)}" if unit else "", missing)))
        return f"{name} ({notes})" if notes else name
