"""The cards of a score card: the bins that the literals of each feature make, and their points."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from smallearn._text import joined, show_category
from smallearn.model._columns import Column, factor_of_one
from smallearn.model._sentences import score_title
from smallearn.model._term import Category, Term

if TYPE_CHECKING:
    from smallearn.model._model import SMaLLModel


@dataclass(frozen=True)
class CardBin:
    """Some values of a feature, and their points.

    Parameters
    ----------
    text : str
        The values: ``"> 40 and ≤ 55"``, ``"'red'"``, ``"any other, or missing"``.
    points : float
        What they add to the total.
    low, high : float or None
        Of an interval: above ``low`` and up to ``high``; None where it has no end.
    categories : tuple
        Of categories: those in the bin. Of an interval: none.
    excluded : tuple
        Categories that are not in the bin, because they have bins of their own.
    rest : bool
        Whether the bin has every value that no other bin has.
    missing : bool
        Whether missing values are in the bin.

    Examples
    --------
    >>> from smallearn.model import CardBin
    >>> CardBin("> 40", 2.0, low=40.0, high=None, categories=(), excluded=(), rest=False, missing=False).points
    2.0
    """

    text: str
    points: float
    low: float | None
    high: float | None
    categories: tuple[Category, ...]
    excluded: tuple[Category, ...]
    rest: bool
    missing: bool


@dataclass(frozen=True)
class CardFeature:
    """The bins of one feature; a row is in exactly one of them.

    Parameters
    ----------
    name : str
        The feature.
    feature : int
        Its position in the training data.
    bins : tuple of CardBin
        Intervals in ascending order, categories, and the rest.

    Examples
    --------
    >>> from smallearn.model import CardFeature
    >>> CardFeature(name="age", feature=0, bins=()).name
    'age'
    """

    name: str
    feature: int
    bins: tuple[CardBin, ...]


@dataclass(frozen=True)
class Card:
    """The card of one prototype: its total is ``start`` plus the points of one bin of each feature.

    Parameters
    ----------
    title : str
        ``"Score for class 'yes'"``.
    label : class label
        The class that owns the prototype.
    start : float
        The lowest total.
    features : tuple of CardFeature
        The features that the prototype reads.

    Examples
    --------
    >>> from smallearn.model import Card
    >>> Card(title="Score for class 'yes'", label="yes", start=0.0, features=()).highest
    0.0
    """

    title: str
    label: Any
    start: float
    features: tuple[CardFeature, ...]

    @property
    def highest(self) -> float:
        """The highest total.

        Returns
        -------
        float
        """
        return self.start + sum(max(one.points for one in feature.bins) for feature in self.features)


def plain_card(model: "SMaLLModel", j: int) -> Card:
    """The card of a prototype, in the points of the model."""
    prototype = model.prototypes[j]
    terms: dict[int, list[Term]] = {}
    for term in prototype.terms:
        terms.setdefault(term.feature, []).append(term)
    start, features = prototype.intercept, []
    for feature, own in terms.items():
        bins = tuple(_bins(model, feature, own))
        least = min(one.points for one in bins)
        start += least
        shifted = tuple(replace(one, points=one.points - least) for one in bins)
        features.append(CardFeature(own[0].label, feature, shifted))
    return Card(score_title(model, j), model.classes[prototype.owner], start, tuple(features))


def _bins(model: "SMaLLModel", feature: int, terms: Sequence[Term]) -> Iterator[CardBin]:
    """The bins of a feature, with the sum of the weights of its true literals."""
    accepted = next((one for one in model.accepted if one.feature == feature), None)
    may_miss = accepted is None or accepted.missing
    sides = [(term, float(term.value)) for term in terms if term.kind in ("at_most", "above")]  # type: ignore[arg-type]
    cuts = sorted({cut for _, cut in sides})
    equal = list(dict.fromkeys(term.value for term in terms if term.kind == "equals" and term.value is not None))
    points = partial(_points, terms)
    found = []
    for low, high in zip((None, *cuts), (*cuts, None), strict=True) if cuts else ():
        inside = tuple(value for value in equal if _is_between(value, low, high))
        below = [term.weight for term, cut in sides if term.kind == "at_most" and high is not None and high <= cut]
        above = [term.weight for term, cut in sides if term.kind == "above" and low is not None and low >= cut]
        gain = float(sum(below) + sum(above))
        found.append(CardBin(_interval(low, high, inside), gain, low, high, (), inside, False, False))
    found += [CardBin(show_category(value), points(value), None, None, (value,), (), False, False) for value in equal]
    known = None if accepted is None else accepted.categories
    if not cuts and (known is None or not set(known) <= set(equal)):
        text = "any other" if equal else "any value"
        found.append(CardBin(text, 0.0, None, None, (), tuple(equal), True, False))
    if may_miss:
        gain = points(None)
        same = next((at for at in reversed(range(len(found))) if found[at].points == gain), None)
        if any(one.rest for one in found) and found[-1].points == gain:
            same = len(found) - 1
        if same is None:
            found.append(CardBin("missing", gain, None, None, (), (), False, True))
        else:
            found[same] = replace(found[same], text=f"{found[same].text}, or missing", missing=True)
    yield from sorted(found, key=lambda one: one.rest)


def _points(terms: Sequence[Term], value: Any) -> float:
    """What literals of one feature add at a value."""
    return float(sum(term.weight for term in terms if factor_of_one(term, value)))


def _is_between(value: Any, low: float | None, high: float | None) -> bool:
    if isinstance(value, str):
        return False
    return (low is None or value > low) and (high is None or value <= high)


def _interval(low: float | None, high: float | None, excluded: Sequence[Any]) -> str:
    ends = [*([] if low is None else [f"> {low:.6g}"]), *([] if high is None else [f"≤ {high:.6g}"])]
    others = f", other than {joined([show_category(value) for value in excluded])}" if excluded else ""
    return " and ".join(ends) + others


def bins_of(feature: CardFeature, column: Column) -> np.ndarray:
    """The position of the bin of each value."""
    found = np.full(len(column.missing), -1)
    for at, one in enumerate(feature.bins):
        if one.low is None and one.high is None:
            continue
        with np.errstate(invalid="ignore"):
            inside = ~column.missing
            if one.low is not None:
                inside &= column.numbers > one.low
            if one.high is not None:
                inside &= column.numbers <= one.high
        found[inside] = at
    for at, one in enumerate(feature.bins):
        for value in one.categories:
            found[column.factor(Term(feature.feature, 1.0, feature.name, "equals", value))] = at
    rest = next((at for at, one in enumerate(feature.bins) if one.rest), None)
    missing = next((at for at, one in enumerate(feature.bins) if one.missing), None)
    if rest is not None:
        found[found < 0] = rest
    if missing is not None:
        found[column.missing] = missing
    return found
