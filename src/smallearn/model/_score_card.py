"""A model of literals as a score card: points from 0 for the bin that each feature is in, added up to a total.

The literals of a feature cut its values into bins, of which a row is in exactly one. The points of a bin are the
weights of the literals that are true there, less the least of the feature's bins. Every total is ``zero + step ·
score`` of its prototype, with one ``zero`` and one ``step`` for all prototypes, so that totals compare as scores do.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from smallearn._errors import Parameter, ParameterError, check_choice
from smallearn._text import joined, show
from smallearn.model._score_card_bins import Card, bins_of, plain_card
from smallearn.model._score_card_text import card_html, card_text, point_text

if TYPE_CHECKING:
    from smallearn.model._model import SMaLLModel

SCALINGS = ("pdo", "min_max")
MOST_TOTALS = 12  # that are all shown with their probability
LEVELS = (0.01, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99)  # shown where there are more


@dataclass(frozen=True)
class ScoreCard:
    """A model as a score card, as `SMaLLModel.score_card` returns it.

    Parameters
    ----------
    model : SMaLLModel
        The model.
    cards : tuple of Card
        One for each prototype; the highest total counts.
    scaling : {"pdo", "min_max"} or None
        How totals are scaled.
    zero, step : float
        A total is ``zero + step * score``, of a score of the model.
    digits : int or None
        Digits after the point that points are rounded to; None if they are not rounded.
    changed : int or None
        How many decisions rounding changes on the rows that were given; None without rows.
    n_rows : int or None
        The number of these rows.

    Examples
    --------
    >>> from smallearn.model import Prototype, SMaLLModel, Term
    >>> terms = (Term(0, 2.0, "age", "above", 40.0), Term(1, -1.0, "smoker", "equals", True))
    >>> model = SMaLLModel(("no", "yes"), "<U3", n_features=2, prototypes=(Prototype(1, -1.0, terms),))
    >>> print(model.score_card())
    Score card: add the points of one line for each feature.
    Predict 'yes' above 2 points, otherwise 'no'.
    <BLANKLINE>
      points  age
           0  ≤ 40, or missing
           2  > 40
    <BLANKLINE>
      points  smoker
           0  True
           1  any other, or missing
    <BLANKLINE>
      points  probability of 'yes'
           0  11.9%
           1  26.9%
           2  50.0%
           3  73.1%
    """

    model: "SMaLLModel"
    cards: tuple[Card, ...]
    scaling: str | None
    zero: float
    step: float
    digits: int | None = None
    changed: int | None = None
    n_rows: int | None = None

    @property
    def threshold(self) -> float | None:
        """The total above which the class that owns the cards is predicted (from which on, if it is the first class).

        Returns
        -------
        float or None
            None unless one of two classes owns all cards.
        """
        return None if self.model.sole_owner is None else self.zero + self.step * self.model.cut

    @property
    def doubling(self) -> float:
        """The points that double the odds.

        Returns
        -------
        float
        """
        return self.step * math.log(2.0) / self.model.scale

    def log_odds(self, total: Any) -> Any:
        """The log-odds of the class that owns a card, of two; with more, its score.

        Parameters
        ----------
        total : float or ndarray
            Points.

        Returns
        -------
        float or ndarray
        """
        return self.model.scale * (total - self.zero) / self.step

    def probability(self, total: float) -> float:
        """The probability of the class that owns all cards.

        Parameters
        ----------
        total : float
            The highest total of a row.

        Returns
        -------
        float
        """
        return 0.5 * (1.0 + math.tanh(0.5 * self.log_odds(total)))

    def totals(self, X: Any) -> np.ndarray:
        """The total of each card for each row.

        Parameters
        ----------
        X : array, sparse matrix, table or Rows
            Rows.

        Returns
        -------
        ndarray of shape (n_rows, n_prototypes)
        """
        from smallearn.model._arguments import read_rows

        rows = read_rows(self.model, X)
        self.model.scores(rows)  # refuses what the model refuses
        columns = [rows.columns[term.feature] for term in self.model.features]
        place = {term.feature: column for term, column in zip(self.model.features, columns, strict=True)}
        totals = np.empty((rows.n_rows, len(self.cards)))
        for j, card in enumerate(self.cards):
            totals[:, j] = card.start
            for feature in card.features:
                points = np.array([one.points for one in feature.bins])
                totals[:, j] += points[bins_of(feature, place[feature.feature])]
        return totals

    def predict(self, X: Any) -> np.ndarray:
        """The class of each row by the card, with its rounding.

        Parameters
        ----------
        X : array, sparse matrix, table or Rows
            Rows.

        Returns
        -------
        ndarray of shape (n_rows,)
        """
        return self.model.labels(self.model.decide((self.totals(X) - self.zero) / self.step))

    def strip(self) -> tuple[tuple[float, float], ...]:
        """Totals and their probabilities, ascending.

        Returns
        -------
        tuple of (float, float)
            Points, and the probability of the class that owns all cards: every total if these are few, else totals of
            round probabilities. Empty unless one of two classes owns all cards.
        """
        if self.model.sole_owner is None:
            return ()
        few = _few_totals(self.cards)
        if few is not None:
            return tuple((total, self.probability(total)) for total in few)
        lowest, highest = min(card.start for card in self.cards), max(card.highest for card in self.cards)
        lowest = max(
            lowest, max(card.start for card in self.cards)
        )  # the highest total of a row is not below any start
        totals = (self.zero + self.step * math.log(p / (1.0 - p)) / self.model.scale for p in LEVELS)
        ends = ((lowest, self.probability(lowest)), (highest, self.probability(highest)))
        inner = [(total, p) for total, p in zip(totals, LEVELS, strict=True) if lowest < total < highest]
        return (ends[0], *inner, ends[1])

    def lines(self) -> list[tuple[str, str, str, float]]:
        """Give the card as a table of plain values.

        Returns
        -------
        list of (str, str, str, float)
            Title of the card, feature, values and points; with the start of each card first, if it is not 0.
        """
        lines: list[tuple[str, str, str, float]] = []
        for card in self.cards:
            if card.start != 0.0:
                lines.append((card.title, "", "start", card.start))
            lines += [(card.title, one.name, part.text, part.points) for one in card.features for part in one.bins]
        return lines

    def to_frame(self) -> Any:
        """Give the card as a pandas table.

        Returns
        -------
        pandas DataFrame
            With the columns card, feature, values and points.
        """
        import pandas as pd

        return pd.DataFrame(self.lines(), columns=["card", "feature", "values", "points"])

    def point_text(self, points: float) -> str:
        """Points as text.

        Parameters
        ----------
        points : float
            Points, or a total.

        Returns
        -------
        str
            With the digits of the card, or four if it is not rounded.
        """
        return point_text(self, points)

    def __str__(self) -> str:
        return card_text(self)

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        return card_html(self)


def score_card(
    model: "SMaLLModel",
    scaling: str | None,
    *,
    points: float,
    odds: float,
    pdo: float,
    low: float,
    high: float,
    digits: int | None,
    X: Any,
) -> ScoreCard:
    """See `SMaLLModel.score_card`."""
    _check(scaling, points=points, odds=odds, pdo=pdo, low=low, high=high, digits=digits)
    raw = list(dict.fromkeys(term.label for term in model.terms if term.kind == "raw"))
    if raw:
        raise ParameterError(
            "A score card gives points for conditions, and this model multiplies "
            f"{joined([show(name) for name in raw])} by a weight. Train a model of conditions alone: ",
            Parameter("literals", "thresholds"),
            ".",
        )
    plain = tuple(plain_card(model, j) for j in range(len(model.prototypes)))
    zero, step = _scale(model, plain, scaling, points=points, odds=odds, pdo=pdo, low=low, high=high)
    card = ScoreCard(model, tuple(_scaled(one, zero, step) for one in plain), scaling, zero, step)
    if digits is not None:
        card = replace(card, cards=tuple(_rounded(one, digits) for one in card.cards), digits=digits)
    if X is None:
        return card
    predicted = card.predict(X)
    changed = int(np.count_nonzero(predicted != model.predict(X)))
    return replace(card, changed=changed, n_rows=len(predicted))


def _check(scaling: str | None, *, digits: int | None, **values: float) -> None:
    if scaling is not None:
        check_choice("scaling", scaling, SCALINGS, ", or None for the points of the model")
    for name, value in values.items():
        number = isinstance(value, int | float | np.number) and math.isfinite(value)
        if not number or (name in ("odds", "pdo") and value <= 0.0):
            needed = "a positive number" if name in ("odds", "pdo") else "a finite number"
            raise ParameterError(Parameter(name, value), f" is not {needed}.")
    if values["low"] >= values["high"]:
        raise ParameterError(Parameter("low", values["low"]), " is not below ", Parameter("high", values["high"]), ".")
    if digits is not None and (isinstance(digits, bool) or not isinstance(digits, int) or not 0 <= digits <= 15):
        raise ParameterError(Parameter("digits", digits), " is not a whole number from 0 to 15, nor None.")


def _scale(
    model: "SMaLLModel", cards: Sequence[Card], scaling: str | None, *, points, odds, pdo, low, high
) -> tuple[float, float]:
    """``zero`` and ``step`` of the totals."""
    if scaling == "pdo":
        step = pdo * model.scale / math.log(2.0)
        return points - step * math.log(odds) / model.scale, step
    least, most = min(card.start for card in cards), max(card.highest for card in cards)
    step = (high - low) / (most - least) if scaling == "min_max" and most > least else 1.0
    return (low if scaling == "min_max" else 0.0) - step * least, step


def _scaled(card: Card, zero: float, step: float) -> Card:
    return _changed(card, zero + step * card.start, lambda points: step * points)


def _rounded(card: Card, digits: int) -> Card:
    return _changed(card, round(card.start, digits), lambda points: round(points, digits))


def _changed(card: Card, start: float, change: Any) -> Card:
    features = tuple(
        replace(feature, bins=tuple(replace(one, points=change(one.points) + 0.0) for one in feature.bins))
        for feature in card.features
    )
    return replace(card, start=start + 0.0, features=features)


def _few_totals(cards: Sequence[Card]) -> list[float] | None:
    """All totals that a row can have, if they are few. Cards that share a feature are not combined."""
    if len(cards) > 1:
        return None
    totals = {cards[0].start}
    for feature in cards[0].features:
        totals = {float(f"{total + one.points:.12g}") for total in totals for one in feature.bins}
        if len(totals) > MOST_TOTALS:
            return None
    return sorted(totals)
