"""Why a case was decided so, and what would have changed it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from smallearn._text import listed, percent, show, show_category
from smallearn.explain._case.changes import Flip, of_unit, plain, smallest_flip
from smallearn.explain._case.domains import Known, known_from
from smallearn.model import SMaLLModel, Term
from smallearn.model._columns import factor_in_row, factor_of_one, is_missing
from smallearn.model._rows import as_model, as_row, checked_units, values_of
from smallearn.model._rule import contributions, score, winners


@dataclass(frozen=True)
class Contribution:
    """What a term added to the score of a prototype, with the value that its feature had, in ``unit``."""

    term: Term
    value: Any
    points: float
    unit: str | None = None

    @property
    def text(self) -> str:
        """``[age ≤ 40], age = 35``."""
        value = "missing" if is_missing(self.value) else show_category(plain(self.value)) + of_unit(self.unit)
        name = show(self.term.label, quote=False)
        if self.term.kind == "raw":
            filled = (
                f", counted as {self.term.mean:.6g}" if is_missing(self.value) and self.term.mean is not None else ""
            )
            return f"{name} = {value}{filled}"
        return f"{self.term.text} {'holds' if self.points or self._holds else 'does not hold'}: {name} = {value}"

    @property
    def _holds(self) -> bool:
        return factor_of_one(self.term, self.value) == 1.0


@dataclass(frozen=True)
class Case:
    """A decision. ``prototype`` is the number, from 0, of the one with the greatest score; ``margin`` how far its score
    is from where the decision changes, in points; ``parts`` has for each prototype what its terms added. ``alone`` has
    for each changeable feature the smallest change of it that changes the decision (None: no value in its range in
    training does), ``smallest`` that of several together."""

    model: SMaLLModel
    values: dict[int, Any]
    prediction: Any
    probability: float
    prototype: int
    scores: tuple[float, ...]
    margin: float
    parts: tuple[tuple[Contribution, ...], ...]
    alone: dict[str, Flip | None]
    smallest: Flip | None

    @property
    def contributions(self) -> tuple[Contribution, ...]:
        """What each term of the prototype with the greatest score added to it."""
        return self.parts[self.prototype]

    @property
    def rival(self) -> int | None:
        """With more than two classes, the number of the best prototype of another class."""
        if len(self.model.classes) == 2:
            return None
        owners = self.model.owners
        others = [j for j in range(len(owners)) if owners[j] != owners[self.prototype]]
        return max(others, key=lambda j: (self.scores[j], -owners[j]))

    @property
    def fired(self) -> bool:
        """Whether the prototype that decided is one for the class that was predicted; with two classes the other class
        wins where none reaches 0."""
        return self.model.classes[self.model.prototypes[self.prototype].owner] == self.prediction

    @property
    def headline(self) -> str:
        """The decision in one sentence."""
        return f"{show(self.prediction)}, with a probability of {percent(self.probability)} by the model."

    @property
    def reason(self) -> str:
        """Which prototype decided, and how far from where the decision changes."""
        score, number = self.scores[self.prototype], self.prototype + 1
        of = "The score" if len(self.scores) == 1 else f"Prototype {number} of {len(self.scores)}"
        if self.rival is not None:
            other = show(self.model.classes[self.model.prototypes[self.rival].owner])
            return (
                f"{of} scores highest, {score:+.4g}; the next class is {other} with {self.scores[self.rival]:+.4g}, "
                f"{abs(self.margin):.4g} less."
            )
        if self.fired and len(self.scores) > 1:
            return f"{of} decides, with {score:+.4g}; the decision changes at 0."
        if len(self.scores) == 1:
            return f"The score is {score:+.4g}; the decision changes at 0."
        none = "is above 0" if self.model.prototypes[0].owner == 1 else "reaches 0"
        return f"No prototype {none}, where the decision changes; the nearest is number {number} with {score:+.4g}."

    def __str__(self) -> str:
        text = [self.headline, self.reason, "", *self._table(self.prototype), ""]
        if self.rival is not None:
            owner = self.model.classes[self.model.prototypes[self.rival].owner]
            text += [f"The next class, {show(owner)}:", "", *self._table(self.rival), ""]
        return "\n".join([*text, *self.changes()])

    def _table(self, prototype: int) -> list[str]:
        lines = [(f"{self.model.prototypes[prototype].intercept:+z.4g}", "to begin with")]
        lines += [(f"{part.points:+z.4g}", part.text) for part in self.parts[prototype]]
        lines.append((f"{self.scores[prototype]:+z.4g}", "in all"))
        width = max(len(number) for number, _ in lines)
        return [f"    {number:>{width}}  {words}" for number, words in lines]

    def changes(self) -> Iterator[str]:
        """What would change the decision: a heading, and a line for each."""
        if not self.alone:
            yield "None of the features in use may be changed."
            return
        yield "What would change the decision, one feature at a time, within its range in training:"
        flips = sorted((flip for flip in self.alone.values() if flip is not None), key=lambda flip: flip.size)
        for flip in flips:
            yield f"    {flip.text}"
        stuck = [show(label, quote=False) for label, flip in self.alone.items() if flip is None]
        if stuck:
            yield f"    {', '.join(stuck)}: no value {'of any of them ' if len(stuck) > 1 else ''}alone does"
        if self.smallest is None:
            if len(self.alone) > 1:
                yield "No change of them together does either."
        elif len(self.smallest.changes) > 1:
            yield (
                f"Together a smaller change will do: {self.smallest.text}."
                if flips
                else (f"Together: {self.smallest.text}.")
            )
        elif len(flips) > 1:
            yield "The first of these is the smallest change of all, measured in ranges."


def case(
    model: Any,
    row: Any,
    *,
    X: Any = None,
    changeable: Sequence[str] | None = None,
    units: Mapping[str, str] | None = None,
) -> Case:
    """Why the model decides as it does about one case, and what would change that.

    Parameters
    ----------
    model : SMaLLModel
    row : mapping, sequence, or table of one row
        The case; a mapping by the features' labels needs those in use alone.
    X : table or array, optional
        Rows that tell which numbers are whole, which categories there are, and ranges that the model does not know.
    changeable : labels, optional
        The features that can be changed: not someone's age, say. None: all in use.
    units : mapping, optional
        What features are measured in: ``{"age": "years"}``.
    """
    model = as_model(model)
    units = checked_units(model, units)
    values = values_of(model, row)
    prediction = model.predict_one(as_row(model, values))
    scores, parts = _scores(model, values, units)
    winner = int(winners(np.array([scores]), model.owners)[0])
    known = known_from(model, X)
    features = _changeable(model, changeable)
    alone = {term.label: _flip(model, values, [term], known, units) for term in features}
    return Case(
        model,
        values,
        prediction,
        _probability(model, scores),
        winner,
        tuple(scores),
        _margin(model, scores, winner),
        tuple(map(tuple, parts)),
        alone,
        _least([*alone.values(), _flip(model, values, features, known, units)]),
    )


def _least(flips: Sequence[Flip | None]) -> Flip | None:
    """The smallest of them; among equals the first."""
    return min((flip for flip in flips if flip is not None), key=lambda flip: flip.size, default=None)


def _flip(model: SMaLLModel, values, features: Sequence[Term], known: Known, units: Mapping[str, str]) -> Flip | None:
    """The smallest change of these features, with their units."""
    found = smallest_flip(model, values, [term.feature for term in features], known)
    if found is None:
        return None
    return replace(found, changes=tuple(replace(one, unit=units.get(one.label)) for one in found.changes))


def _changeable(model: SMaLLModel, labels: Sequence[str] | None) -> list[Term]:
    if labels is None:
        return list(model.features)
    known = [term.label for term in model.features]
    strange = [label for label in labels if label not in known]
    if strange:
        raise ValueError(f"changeable: {listed(strange)} is not among the features in use: {listed(known)}.")
    return [term for term in model.features if term.label in labels]


def _scores(
    model: SMaLLModel, values: dict[int, Any], units: Mapping[str, str]
) -> tuple[list[float], list[list[Contribution]]]:
    factor = partial(factor_in_row, values)
    parts = [
        [
            Contribution(term=term, value=values[term.feature], points=points, unit=units.get(term.label))
            for term, points in zip(prototype.terms, contributions(prototype, factor), strict=True)
        ]
        for prototype in model.prototypes
    ]
    return [float(score(prototype, factor)) for prototype in model.prototypes], parts


def _margin(model: SMaLLModel, scores: Sequence[float], winner: int) -> float:
    if len(model.classes) == 2:
        return scores[winner]
    owner = model.prototypes[winner].owner
    others = [z for z, prototype in zip(scores, model.prototypes, strict=True) if prototype.owner != owner]
    return scores[winner] - max(others)


def _probability(model: SMaLLModel, scores: Sequence[float]) -> float:
    """Of the class that is predicted."""
    by_class = [
        model.scale * max((z for z, one in zip(scores, model.prototypes, strict=True) if one.owner == c), default=0.0)
        for c in range(len(model.classes))
    ]
    weight = np.exp(np.array(by_class) - max(by_class))
    return float(weight.max() / weight.sum())
