"""What a DNF is made of: conditions on single features, clauses that join them, and the answer with its worth."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from smallearn._text import percent, show, show_category
from smallearn.model import Term
from smallearn.model._columns import Column, gather
from smallearn.model._parts import Category

EVERYWHERE = (-math.inf, math.inf)


@dataclass(frozen=True)
class Condition:
    """Something said of the feature at position ``feature``, called ``name`` if the data had names.

    It holds for a number in one of ``intervals`` (low < x ≤ high), for a value among ``categories`` (if ``negated``,
    for one that is not among them), and, if ``missing``, where there is no value. ``flag``: the feature is 0 or 1.
    """

    feature: int
    name: str | None
    intervals: tuple[tuple[float, float], ...] = ()
    categories: tuple[Category, ...] = ()
    negated: bool = False
    missing: bool = False
    flag: bool = False

    @property
    def label(self) -> str:
        return f"x{self.feature}" if self.name is None else self.name

    def holds(self, values: Any) -> np.ndarray:
        """Whether it holds for each of ``values``, those of the feature."""
        column = values if isinstance(values, Column) else Column(np.asarray(values), self.label)
        if self.intervals:
            with np.errstate(invalid="ignore"):  # a comparison with NaN is false, as wanted
                inside = [(column.numbers > low) & (column.numbers <= high) for low, high in self.intervals]
        else:
            inside = [column.factor(self._equals(category)) for category in self.categories]
        found = np.logical_or.reduce(inside) if inside else np.zeros(len(column.values), dtype=bool)
        return np.where(column.missing, self.missing, found != self.negated)

    def _equals(self, category: Category) -> Term:
        return Term(self.feature, 1.0, self.name, "equals", category)

    @property
    def text(self) -> str:
        """On one line: ``age ≤ 40``, ``colour is 'red' or 'blue'``."""
        label = show(self.label, quote=False)
        if self.flag and self.categories:
            return f"{'' if self.categories == (1,) else 'not '}{label}{' or missing' * self.missing}"
        return self._of_number(label) if self.intervals else self._of_category(label)

    def _of_number(self, label: str) -> str:
        gap = self._gap()
        if gap is not None:
            left_out = show_category(gap)
            return f"{label} is not {left_out}" if self.missing else f"{label} is neither missing nor {left_out}"
        if not self.missing and self.intervals == (EVERYWHERE,):
            return f"{label} is not missing"
        pieces = [_interval(label, low, high) for low, high in self.intervals]
        return " or ".join([*pieces, *["missing"] * self.missing])

    def _gap(self) -> float | None:
        """The one number that is left out, if that is so."""
        if len(self.intervals) != 2:
            return None
        (low, end), (begin, high) = self.intervals
        return begin if (low, high) == EVERYWHERE and end == math.nextafter(begin, -math.inf) else None

    def _of_category(self, label: str) -> str:
        shown = [show_category(category) for category in self.categories]
        if self.missing != self.negated:
            shown = ["missing", *shown] if self.negated else [*shown, "missing"]
        if not self.negated:
            equals = len(shown) == 1 and not self.missing
            return f"{label} = {shown[0]}" if equals else f"{label} is {' or '.join(shown)}"
        return f"{label} is not {shown[0]}" if len(shown) == 1 else f"{label} is neither {' nor '.join(shown)}"

    @property
    def has_alternatives(self) -> bool:
        """Whether its text has an "or"."""
        pieces = len(self.intervals) + len(self.categories) + self.missing
        return not self.negated and self._gap() is None and pieces > 1

    @property
    def awkwardness(self) -> int:
        """0 if it says plainly what holds, 1 if it says what does not, 2 if it lists alternatives."""
        several = self.has_alternatives or (self.negated and len(self.categories) + (not self.missing) > 1)
        says_not = self.negated or (self.flag and self.categories == (0,)) or self._gap() is not None
        return 2 if several else int(says_not)


def _interval(label: str, low: float, high: float) -> str:
    if low == math.nextafter(high, -math.inf):
        return f"{label} = {show_category(high)}"
    # The last float before 3 is nobody's idea of a bound: below 3 is meant.
    above, least = show_category(low), show_category(math.nextafter(low, math.inf))
    most, beyond = show_category(high), show_category(math.nextafter(high, math.inf))
    upper = f"< {beyond}" if len(beyond) + 6 < len(most) else f"≤ {most}"
    if low == -math.inf:
        return f"{label} {upper}"
    inclusive = len(least) + 6 < len(above)
    if high == math.inf:
        return f"{label} ≥ {least}" if inclusive else f"{label} > {above}"
    return f"{least} ≤ {label} {upper}" if inclusive else f"{above} < {label} {upper}"


@dataclass(frozen=True)
class DNF:
    """``label`` is predicted where all conditions of any clause hold; elsewhere ``other`` (None: one of several).

    ``exact``: it says what the model says on all of ``domain``, and ``verified`` tells how that was checked. If it is
    not, but is in rows with nothing missing, ``domain`` says so, and ``exact`` is False. ``fidelity`` is the share of
    the ``n_rows`` given rows on which both say the same. ``imitates``: it was made to do so, and knows no more of the
    model than these rows show. ``n_features`` is the width of the data.
    """

    clauses: tuple[tuple[Condition, ...], ...]
    label: Any
    other: Any
    n_features: int
    exact: bool = False
    domain: str | None = None
    verified: str | None = None
    fidelity: float | None = None
    n_rows: int | None = None
    imitates: bool = False

    def predict(self, X: Any) -> np.ndarray:
        """Which rows satisfy it."""
        return np.logical_or.reduce(self.holds_for(X), axis=1)

    def holds_for(self, X: Any) -> np.ndarray:
        """Which rows satisfy which clause: rows × clauses."""
        features = {condition.feature: condition for clause in self.clauses for condition in clause}
        terms = [Term(feature, 1.0, features[feature].name) for feature in sorted(features)]
        blocks = [held_by(self.clauses, n_rows, columns) for n_rows, columns in gather(X, terms, self.n_features)]
        return np.concatenate(blocks) if blocks else np.zeros((0, len(self.clauses)), dtype=bool)

    # --- text ------------------------------------------------------------------------------------------------------

    @property
    def same_as_model(self) -> bool:
        """Whether the rule is known to agree with the model, rather than to approximate it.

        Returns
        -------
        bool
            True if it is exact, at least on rows without missing values, or was derived from the model and agrees with
            it on all the rows given.
        """
        return self.domain is not None or (self.fidelity == 1.0 and not self.imitates)

    @property
    def heading(self) -> str:
        """What the clauses decide: ``Predict 'yes' if any of these holds, otherwise 'no':``.

        Returns
        -------
        str
            One sentence. It ends with a colon if clauses follow, and with a full stop if the rule is constant.
        """
        label = show(self.label)
        otherwise = "another class" if self.other is None else show(self.other)
        if not self.clauses:
            return f"Never predict {label}, always {otherwise}."
        if () in self.clauses:
            return f"Always predict {label}."
        which = "this holds" if len(self.clauses) == 1 else "any of these holds"
        return f"Predict {label} if {which}, otherwise {otherwise}:"

    @property
    def clause_texts(self) -> tuple[str, ...]:
        """Each clause on one line: ``age > 40 and colour = 'red'``.

        Returns
        -------
        tuple of str
            Empty if the rule is constant.
        """
        return () if () in self.clauses else tuple(clause_text(clause) for clause in self.clauses)

    @property
    def note(self) -> str | None:
        """How well the rule agrees with the model.

        Returns
        -------
        str or None
            One sentence; None if that is not known.
        """
        if self.domain is not None:
            return f"Exactly the model, on {self.domain} ({self.verified})."
        if self.fidelity is None:
            return None
        if self.fidelity < 1.0:
            return f"Agrees with the model on {percent(self.fidelity)} of the {self.n_rows:,} rows given."
        rows = "the one row" if self.n_rows == 1 else f"all {self.n_rows:,} rows"
        return f"The same as the model on {rows} given{'; on others it may differ' if self.imitates else ''}."

    def __str__(self) -> str:
        lines = [self.heading, *(f"  {number}. {text}" for number, text in enumerate(self.clause_texts, start=1))]
        return "\n".join([*lines, *([] if self.note is None else [self.note])])


def clause_text(clause: Sequence[Condition]) -> str:
    """The conditions of a clause joined by "and"; those with an "or" in parentheses, unless alone."""
    if len(clause) == 1:
        return clause[0].text
    return " and ".join(f"({one.text})" if one.has_alternatives else one.text for one in clause)


def held_by(clauses: Sequence[Sequence[Condition]], n_rows: int, columns: dict[int, Column]) -> np.ndarray:
    held = np.ones((n_rows, len(clauses)), dtype=bool)
    for i, clause in enumerate(clauses):
        for condition in clause:
            held[:, i] &= condition.holds(columns[condition.feature])
    return held


def cost_of(clause: Sequence[Condition]) -> int:
    """Conditions above all, then how they read."""
    return 10 * len(clause) + sum(condition.awkwardness for condition in clause)
