"""A decision about one row, explained: the fields, and the text made from them."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from smallearn._text import percent, show, signed
from smallearn.explain._case.changes import Flip
from smallearn.model import SMaLLModel, Term
from smallearn.model._columns import factor_of_one, is_missing
from smallearn.model._sentences import CONSTANT, score_name, value_text


@dataclass(frozen=True)
class Contribution:
    """What a term added to a score.

    Parameters
    ----------
    term : Term
        The term.
    value : object
        The value of its feature in the row.
    points : float
        What it added.
    unit : str or None
        The unit of the value.

    Examples
    --------
    >>> from smallearn.explain import Contribution
    >>> from smallearn.model import Term
    >>> term = Term(feature=0, weight=2.0, name="age", kind="at_most", value=40.0)
    >>> Contribution(term=term, value=35, points=2.0, unit="years").text
    '[age ≤ 40] is true: age = 35 years'
    """

    term: Term
    value: Any
    points: float
    unit: str | None = None

    @property
    def text(self) -> str:
        """The term and the value: ``age = 35``, ``[age ≤ 40] is true: age = 35``.

        Returns
        -------
        str
            On one line.
        """
        value = f"{show(self.term.label, quote=False)} = {value_text(self.value, self.unit)}"
        if self.term.kind != "raw":
            return f"{self.term.text} is {'true' if self._is_true else 'false'}: {value}"
        filled = is_missing(self.value) and self.term.mean is not None
        return f"{value}, mean {self.term.mean:.6g} used" if filled else value

    @property
    def _is_true(self) -> bool:
        return bool(self.points) or factor_of_one(self.term, self.value) == 1.0


@dataclass(frozen=True)
class ChangeSummary:
    """What would change a decision, as text.

    Parameters
    ----------
    heading : str
        What the lines are.
    lines : tuple of str
        One for each feature that changes the decision alone, the smallest change first, and one for the features that
        do not.
    conclusion : str or None
        How the changes of single features compare with those of several; None if there is nothing to add.

    Examples
    --------
    >>> from smallearn.explain import ChangeSummary
    >>> ChangeSummary(heading="None of the features in use may change.").lines
    ()
    """

    heading: str
    lines: tuple[str, ...] = ()
    conclusion: str | None = None


@dataclass(frozen=True)
class Case:
    """A decision about one row, explained: what `case` returns.

    Parameters
    ----------
    model : SMaLLModel
        The model.
    values : dict
        The value of each feature in use, by its position.
    prediction : class label
        What the model predicts.
    probability : float
        The probability of the predicted class, by the model.
    prototype : int
        The position, from 0, of the prototype with the highest score.
    scores : tuple of float
        The score of each prototype.
    margin : float
        How far the score that decides is from where the decision changes: from the threshold with two classes, from
        the best score of another class with more. Where expected costs decide, by how much the cost is lower.
    parts : tuple of tuple of Contribution
        For each prototype, what its terms added.
    alone : dict
        For each feature that may change, the smallest change of it that changes the decision; None if no value within
        its range in training does.
    smallest : Flip or None
        The smallest change of one or several features that changes the decision.

    Examples
    --------
    >>> from smallearn.explain import case
    >>> from smallearn.model import Prototype, SMaLLModel, Term
    >>> term = Term(feature=0, weight=2.0, name="colour", kind="equals", value="red")
    >>> model = SMaLLModel(("no", "yes"), "<U3", n_features=1, prototypes=(Prototype(1, -1.0, (term,)),))
    >>> explained = case(model, {"colour": "blue"})
    >>> explained.prediction, explained.margin, explained.smallest.text
    ('no', -1.0, "colour from 'blue' to 'red' makes it 'yes'")
    """

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

    # --- fields derived from others --------------------------------------------------------------------------------

    @property
    def contributions(self) -> tuple[Contribution, ...]:
        """What each term added to the highest score.

        Returns
        -------
        tuple of Contribution
            In the order of the terms.
        """
        return self.parts[self.prototype]

    @property
    def rival(self) -> int | None:
        """The best prototype of another class.

        Returns
        -------
        int or None
            Its position; None if one of two classes has no prototypes.
        """
        if self.model.sole_owner is not None:
            return None
        owners = self.model.owners
        ahead = self.model.compared(np.array([self.scores]))[0]
        ahead[owners[self.prototype]] = -np.inf
        label = int(ahead.argmax())
        return max((j for j in range(len(owners)) if owners[j] == label), key=lambda j: self.scores[j])

    @property
    def fired(self) -> bool:
        """Whether the class that owns the highest score is predicted.

        Returns
        -------
        bool
            Always True with more than two classes.
        """
        return self.model.classes[self.model.prototypes[self.prototype].owner] == self.prediction

    # --- text ------------------------------------------------------------------------------------------------------

    @property
    def headline(self) -> str:
        """The decision and its probability.

        Returns
        -------
        str
            One sentence.
        """
        return f"{show(self.prediction)}, with probability {percent(self.probability)}."

    @property
    def reason(self) -> str:
        """Which score decided, and how far it is from where the decision changes.

        Returns
        -------
        str
            One sentence.
        """
        score, decision = self.scores[self.prototype], self.model.decision
        if self.rival is not None:
            name = score_name(self.model, self.prototype)
            label = self.model.prototypes[self.rival].owner
            other = show(self.model.classes[label])
            if decision.costs is not None:
                own, next_cost = (self.expected_costs[k] for k in (self.model.owners[self.prototype], label))
                return (
                    f"{show(self.prediction)} has the least expected cost, {own:.4g}; the next class is {other} with "
                    f"{next_cost:.4g}."
                )
            if decision.offsets is not None:
                mine, theirs = (decision.offsets[k] for k in (self.model.owners[self.prototype], label))
                theirs_text = f"{signed(self.scores[self.rival])} and {signed(theirs)}"
                return (
                    f"The {name}, {signed(score)}, is highest with its offset of {signed(mine)}; the next class is "
                    f"{other} with {theirs_text}, {abs(self.margin):.4g} lower."
                )
            return (
                f"The {name} is highest, {signed(score)}; the next class is {other} with "
                f"{signed(self.scores[self.rival])}, {abs(self.margin):.4g} lower."
            )
        side = "Above" if score > decision.cut else "Below" if score < decision.cut else "At"
        threshold = f"{side} the threshold of {decision.cut:z.4g}"
        if len(self.scores) == 1:
            return f"{threshold}: score {signed(score)}."
        number = f"number {self.prototype + 1} of {len(self.scores)}"
        return f"{threshold}: best score {signed(score)} ({number})."

    @property
    def expected_costs(self) -> tuple[float, ...]:
        """The expected cost of predicting each class.

        Returns
        -------
        tuple of float
            By the model's cost matrix; empty if it has none.
        """
        if self.model.cost_matrix is None:
            return ()
        chances = self.model.chances(np.array([self.scores]))[0]
        return tuple((chances @ np.array(self.model.cost_matrix)).tolist())

    @property
    def change_summary(self) -> ChangeSummary:
        """What would change the decision.

        Returns
        -------
        ChangeSummary
            A heading, a line for each change, and a conclusion.
        """
        if not self.alone:
            return ChangeSummary(heading="None of the features in use may change.")
        flips = sorted((flip for flip in self.alone.values() if flip is not None), key=lambda flip: flip.size)
        lines = [flip.text for flip in flips]
        without = [show(label, quote=False) for label, flip in self.alone.items() if flip is None]
        if without:
            lines.append(f"{', '.join(without)}: no value changes it alone")
        return ChangeSummary(
            heading="What would change the decision, one feature at a time, within its range in training:",
            lines=tuple(lines),
            conclusion=self._conclusion(len(flips)),
        )

    def _conclusion(self, n_alone: int) -> str | None:
        """How the changes of single features, ``n_alone`` of which change the decision, compare with the smallest."""
        if self.smallest is None:
            return "No combination of changes does either." if len(self.alone) > 1 else None
        if len(self.smallest.changes) > 1:
            which = "A smaller change of several features" if n_alone else "Several features together"
            return f"{which}: {self.smallest.text}."
        return "The first is the smallest change relative to each feature's range." if n_alone > 1 else None

    def changes(self) -> Iterator[str]:
        """What would change the decision, line by line.

        Yields
        ------
        str
            The heading, the lines indented by four blanks, and the conclusion, of `change_summary`.
        """
        summary = self.change_summary
        yield summary.heading
        yield from (f"    {line}" for line in summary.lines)
        if summary.conclusion is not None:
            yield summary.conclusion

    def __str__(self) -> str:
        lines = [self.headline, self.reason, "", *self._table(self.prototype), ""]
        if self.rival is not None:
            owner = self.model.classes[self.model.prototypes[self.rival].owner]
            lines += [f"The next class, {show(owner)}:", "", *self._table(self.rival), ""]
        return "\n".join([*lines, *self.changes()])

    def _table(self, prototype: int) -> list[str]:
        """A score, from the constant term by term to the sum."""
        lines = [(signed(self.model.prototypes[prototype].intercept), CONSTANT)]
        lines += [(signed(part.points), part.text) for part in self.parts[prototype]]
        lines.append((signed(self.scores[prototype]), "score"))
        width = max(len(number) for number, _ in lines)
        return [f"    {number:>{width}}  {text}" for number, text in lines]
