"""The parts of a model as SQL expressions: inputs, terms, scores, answers. `writer` puts them together.

An input, a score and so on is a piece of SQL here: a column of an earlier step, or a whole expression.
"""

from collections.abc import Sequence
from typing import Any

from smallearn._text import listed
from smallearn.export._flat import FlatModel, FlatTerm, as_term
from smallearn.export._sql.dialects import MOST, Dialect
from smallearn.model import SMaLLModel

ANSWERS = ("prediction", "score", "probability", "reason")


class Expressions:
    """The expressions of one model in one dialect. ``labels`` are the classes as literals."""

    def __init__(self, model: SMaLLModel, flat: FlatModel, dialect: Dialect):
        self.flat, self.dialect = flat, dialect
        self.labels = _labels(flat.classes, dialect)
        self.booleans = _booleans(model)

    # --- scores ----------------------------------------------------------------------------------------------------

    def inputs(self, columns: list[str]) -> list[str]:
        """The value of each input: a double, or text; NULL where it is missing."""
        return [
            self.dialect.text_input(column)
            if input_.is_text
            else self.dialect.numeric_input(column, input_.feature in self.booleans)
            for input_, column in zip(self.flat.inputs, columns, strict=True)
        ]

    def unanswered(self, columns: list[str], inputs: list[str]) -> str:
        """The condition that the model cannot predict; empty if it always can."""
        conditions = []
        for input_, column, x in zip(self.flat.inputs, columns, inputs, strict=True):
            refused = None if input_.is_text else self.dialect.refused(column)
            conditions += [refused] if refused else []
            conditions += [] if input_.may_be_missing else [f"{x} IS NULL"]
        return "\n      OR ".join(conditions)

    def scores(self, inputs: list[str]) -> list[str]:
        """The score of each prototype, summed from the left in the order of the terms."""
        scores = []
        for j, intercept in enumerate(self.flat.intercepts):
            terms = [self._term(term, inputs[term.input]) for term in self.flat.of(j)]
            scores.append("\n      + ".join([self.dialect.number(intercept), *filter(None, terms)]))
        return scores

    def _term(self, term: FlatTerm, x: str) -> str | None:
        if term.kind == "raw":
            return self._raw(term, x)
        condition = self._condition(term, x)
        return condition and f"CASE WHEN {condition} THEN {self.dialect.number(term.weight)} ELSE 0 END"

    def _raw(self, term: FlatTerm, x: str) -> str:
        x = x if term.mean is None else f"COALESCE({x}, {self.dialect.number(term.mean)})"
        return self.dialect.product(term.weight, x)

    def _condition(self, term: FlatTerm, x: str) -> str | None:
        """The condition that a literal holds; None if it never does."""
        if term.kind == "missing":
            return f"{x} IS NULL"
        if isinstance(term.value, str):
            return self.dialect.same_text(x, term.value)
        value = float(term.value)  # type: ignore[arg-type]
        if self.flat.inputs[term.input].is_text:
            return self.dialect.same_number_in_text(x, value)
        sign = {"at_most": "<=", "above": ">", "equals": "="}[term.kind]
        return f"{x} {sign} {self.dialect.number(value)}"

    def greatest(self, scores: list[str]) -> str:
        """The greatest of some scores."""
        return scores[0] if len(scores) == 1 else f"{self.dialect.greatest}({', '.join(scores)})"

    def log_odds(self, best: str) -> str:
        """The decision function of two classes, or the greatest score of more."""
        return self._scaled(best, -1.0 if self.flat.is_binary and self.flat.owners[0] == 0 else 1.0)

    def class_scores(self, scores: list[str]) -> list[str]:
        """The decision function of more than two classes; empty for two."""
        own: list[list[str]] = [[] for _ in self.flat.classes]
        for score, owner in zip(scores, self.flat.owners, strict=True):
            own[owner].append(score)
        return [] if self.flat.is_binary else [self._scaled(self.greatest(scores)) for scores in own]

    def _scaled(self, score: str, sign: float = 1.0) -> str:
        if self.flat.scale == 1.0:
            return score if sign > 0.0 else f"-{score}"
        return self.dialect.product(sign * self.flat.scale, score)

    # --- answers ---------------------------------------------------------------------------------------------------

    def any_of(self, scores: list[str]) -> str:
        """The class, of two: the owner if any score is high enough, otherwise the other."""
        owner = self.flat.owners[0]
        condition = "\n      OR ".join(f"{z} {'>' if owner else '>='} 0" for z in scores)
        return f"CASE WHEN {condition}\n    THEN {self.labels[owner]} ELSE {self.labels[1 - owner]} END"

    def winner(self, best: str, scores: list[str]) -> str:
        """The class, of more than two: the first that has the greatest score."""
        return _cases(best, [(scores[j], self.labels[self.flat.owners[j]]) for j in self.flat.by_class])

    def prediction(self, best: str, scores: list[str]) -> str:
        """The class; NULL where ``best`` is NULL."""
        if not self.flat.is_binary:
            return self.winner(best, scores)
        owner = self.flat.owners[0]
        yes, no = (">", "<=") if owner else (">=", "<")
        return (
            f"CASE WHEN {best} {yes} 0 THEN {self.labels[owner]} WHEN {best} {no} 0 THEN {self.labels[1 - owner]} END"
        )

    def probability(self, best: str, score: str, own: list[str]) -> str:
        """The probability of the predicted class: ``1 / Σ exp(score of a class - greatest score)``."""
        most = self.dialect.number(MOST)
        if self.flat.is_binary:
            return f"CASE WHEN {best} IS NOT NULL THEN 1 / (1 + exp(-{self.dialect.least}(abs({score}), {most}))) END"
        least = self.dialect.number(-MOST)
        total = "\n      + ".join(f"exp({self.dialect.greatest}({one} - {score}, {least}))" for one in own)
        return f"CASE WHEN {best} IS NOT NULL THEN 1 / ({total}) END"

    def reason(self, best: str, scores: list[str], inputs: list[str]) -> str:
        """The prototype with the greatest score and what its terms add, as text."""
        return _cases(best, [(scores[j], self._reason(j, inputs)) for j in self.flat.by_class])

    def _reason(self, prototype: int, inputs: list[str]) -> str:
        """``prototype 1: constant -1.5000, age 0.7500, [ward = 'A'] 4.0000``, with only those literals that hold."""
        start = f"prototype {prototype + 1}: constant {self.flat.intercepts[prototype]:.4f}"
        parts = [self.dialect.text(start)]
        for term in self.flat.of(prototype):
            x, text = inputs[term.input], as_term(self.flat, term).text.replace("≤", "<=")
            condition = None if term.kind == "raw" else self._condition(term, x)
            if term.kind == "raw":
                added = self.dialect.decimals(self._raw(term, x))
                parts.append(self.dialect.joined([self.dialect.text(f", {text} "), added]))
            elif condition:
                adds = self.dialect.text(f", {text} {term.weight:.4f}")
                parts.append(f"CASE WHEN {condition} THEN {adds} ELSE '' END")
        return self.dialect.joined(parts, gap="\n        ")


def _cases(subject: str, branches: list[tuple[str, str]]) -> str:
    return "\n      ".join([f"CASE {subject}", *(f"WHEN {value} THEN {answer}" for value, answer in branches), "END"])


def _labels(classes: Sequence[Any], dialect: Dialect) -> list[str]:
    """The classes as literals of one type: their own, or text if they have several."""
    types = {type(label) for label in classes}
    if types == {bool}:
        return [dialect.truth(label) for label in classes]
    if types == {int} and all(-(2**63) <= label < 2**63 for label in classes):
        return [dialect.whole(label) for label in classes]
    if types == {float}:
        return [dialect.number(label) for label in classes]
    texts = [str(label) for label in classes]
    if len(set(texts)) < len(texts):
        raise ValueError(
            f"The classes {listed(classes)} are of several types, and two of them are the same text: rename one."
        )
    return [dialect.text(text) for text in texts]


def _booleans(model: SMaLLModel) -> set[int]:
    """The features that are compared with True and False alone."""
    values: dict[int, set[type]] = {}
    for term in model.terms:
        if term.kind != "missing":
            values.setdefault(term.feature, set()).add(type(term.value))
    return {feature for feature, types in values.items() if types == {bool}}
