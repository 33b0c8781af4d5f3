"""Conditions on single features, and clauses that join them."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from smallearn._text import show, show_category
from smallearn.model import Term
from smallearn.model._columns import Column
from smallearn.model._parts import Category

EVERYWHERE = (-math.inf, math.inf)


@dataclass(frozen=True)
class Condition:
    """A condition on one feature.

    Parameters
    ----------
    feature : int
        The position of the feature in the training data.
    name : str or None
        The name of the feature; None if the data had no names.
    intervals : tuple of (float, float), default=()
        It holds for a number in one of these, ``low < x <= high``.
    categories : tuple, default=()
        It holds for one of these values.
    negated : bool, default=False
        It holds for values that are not among ``categories`` instead.
    missing : bool, default=False
        It holds for a missing value.
    flag : bool, default=False
        The feature is 0 or 1.

    Examples
    --------
    >>> from smallearn.explain import Condition
    >>> condition = Condition(feature=0, name="colour", categories=("red", "blue"))
    >>> condition.text
    "colour is 'red' or 'blue'"
    >>> condition.holds(["red", "green"]).tolist()
    [True, False]
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
        """The name of the feature, as `Term.label` has it.

        Returns
        -------
        str
            ``x0``, ``x1``, … if the data had no names.
        """
        return f"x{self.feature}" if self.name is None else self.name

    def holds(self, values: Any) -> np.ndarray:
        """Check values of the feature.

        Parameters
        ----------
        values : array of shape (n_rows,)
            Values of the feature.

        Returns
        -------
        ndarray of bool of shape (n_rows,)
            Whether the condition holds for each of them.
        """
        column = values if isinstance(values, Column) else Column(np.asarray(values), self.label)
        if self.intervals:
            with np.errstate(invalid="ignore"):  # a comparison with NaN is false, as wanted
                inside = [(column.numbers > low) & (column.numbers <= high) for low, high in self.intervals]
        else:
            inside = [column.factor(self._equals(category)) for category in self.categories]
        listed = np.logical_or.reduce(inside) if inside else np.zeros(len(column.values), dtype=bool)
        return np.where(column.missing, self.missing, listed != self.negated)

    def _equals(self, category: Category) -> Term:
        return Term(feature=self.feature, weight=1.0, name=self.name, kind="equals", value=category)

    @property
    def text(self) -> str:
        """The condition: ``age ≤ 40``, ``colour is 'red' or 'blue'``.

        Returns
        -------
        str
            A short sentence.
        """
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
        """The number, if the intervals leave out exactly one."""
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
        """Whether the text has an "or".

        Returns
        -------
        bool
            True if it lists several values or intervals.
        """
        pieces = len(self.intervals) + len(self.categories) + self.missing
        return not self.negated and self._gap() is None and pieces > 1

    @property
    def awkwardness(self) -> int:
        """How hard the text is to read.

        Returns
        -------
        int
            0 if it says what holds, 1 if it says what does not hold, 2 if it lists alternatives.
        """
        several = self.has_alternatives or (self.negated and len(self.categories) + (not self.missing) > 1)
        says_not = self.negated or (self.flag and self.categories == (0,)) or self._gap() is not None
        return 2 if several else int(says_not)


def _interval(label: str, low: float, high: float) -> str:
    """``label ≤ 3``; where a bound is the float before or after a short number, that number: ``label < 3``."""
    if low == math.nextafter(high, -math.inf):
        return f"{label} = {show_category(high)}"
    above, least = show_category(low), show_category(math.nextafter(low, math.inf))
    most, beyond = show_category(high), show_category(math.nextafter(high, math.inf))
    upper = f"< {beyond}" if len(beyond) + 6 < len(most) else f"≤ {most}"
    if low == -math.inf:
        return f"{label} {upper}"
    inclusive = len(least) + 6 < len(above)
    if high == math.inf:
        return f"{label} ≥ {least}" if inclusive else f"{label} > {above}"
    return f"{least} ≤ {label} {upper}" if inclusive else f"{above} < {label} {upper}"


def clause_text(clause: Sequence[Condition]) -> str:
    """The conditions of a clause joined by "and"; those with an "or" in parentheses, unless alone."""
    if len(clause) == 1:
        return clause[0].text
    return " and ".join(f"({one.text})" if one.has_alternatives else one.text for one in clause)


def held_by(clauses: Sequence[Sequence[Condition]], n_rows: int, columns: dict[int, Column]) -> np.ndarray:
    """Which rows satisfy which clause: rows × clauses."""
    held = np.ones((n_rows, len(clauses)), dtype=bool)
    for i, clause in enumerate(clauses):
        for condition in clause:
            held[:, i] &= condition.holds(columns[condition.feature])
    return held


def cost_of(clause: Sequence[Condition]) -> int:
    """The number of conditions, and then how hard they are to read."""
    return 10 * len(clause) + sum(condition.awkwardness for condition in clause)
