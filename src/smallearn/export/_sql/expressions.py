"""The parts of a model as SQL expressions: inputs, terms, scores, answers. `writer` puts them together.

An input, a score and so on is a piece of SQL here: a column of an earlier step, or a whole expression.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

from smallearn._text import listed
from smallearn.export._flat import FlatModel, FlatTerm, as_term
from smallearn.export._reason_codes import Shortfalls
from smallearn.export._sql.dialect import Dialect
from smallearn.model import SMaLLModel

Factor = tuple  # what is the same for terms that differ in the prototype and the weight alone
ANSWERS = ("prediction", "score", "probability")
REASON = "reason"
MOST = 700.0  # exp(±700) neither overflows nor underflows; in PostgreSQL that would be an error
MOST_ARGUMENTS = 50  # of a function: SQLite may take as few as 100


class Value(NamedTuple):
    """An input: a double, or text. ``x`` is NULL where it is missing, ``bare`` may be NaN there."""

    x: str
    bare: str


class Expressions:
    """The expressions of one model in one dialect. ``labels`` are the classes as literals."""

    def __init__(self, model: SMaLLModel, flat: FlatModel, dialect: Dialect):
        self.flat, self.dialect = flat, dialect
        self.labels = _labels(flat.classes, dialect)
        self.booleans = _booleans(model)

    @property
    def has_text_labels(self) -> bool:
        """Whether the classes come out as text."""
        return self.labels == [self.dialect.text(str(label)) for label in self.flat.classes]

    # --- scores ----------------------------------------------------------------------------------------------------

    def inputs(self, columns: list[str]) -> list[Value]:
        """The value of each input."""
        return [
            self._input(input_.is_text, column, input_.feature in self.booleans)
            for input_, column in zip(self.flat.inputs, columns, strict=True)
        ]

    def _input(self, is_text: bool, column: str, is_boolean: bool) -> Value:
        bare = self.dialect.text_input(column) if is_text else self.dialect.numeric_input(column, is_boolean)
        x = bare if is_text else self.dialect.without_nan(bare)
        return Value(x, bare if self.dialect.nan_is_greatest else x)

    def unanswered(self, columns: list[str], inputs: list[Value], noticed: Collection[int] = ()) -> str:
        """The condition that the model cannot predict; empty if it always can.

        ``noticed``: inputs whose missing values are noticed otherwise.
        """
        conditions = []
        for place, (input_, column, (x, _)) in enumerate(zip(self.flat.inputs, columns, inputs, strict=True)):
            refused = None if input_.is_text else self.dialect.refused(column)
            conditions += [refused] if refused else []
            accepted = input_.accepted
            gaps = input_.may_be_missing and (accepted is None or accepted.missing)
            conditions += [] if gaps or place in noticed else [f"{x} IS NULL"]
            if accepted is not None and accepted.categories is not None:
                terms = [FlatTerm(0, place, 1.0, "equals", value, None) for value in accepted.categories]
                known = [self._condition(term, inputs[place]) for term in terms]
                conditions.append(f"NOT ({' OR '.join([f'{x} IS NULL', *filter(None, known)])})")
        return "\n      OR ".join(conditions)

    def factors(self, inputs: list[Value]) -> dict[Factor, str]:
        """What several prototypes have, to be evaluated once: literals, and features with a mean."""
        rows = [[term for term in row if term is not None] for row in self.flat.rows]
        shared = [row[0] for row in rows if len(row) > 1 and (row[0].kind != "raw" or row[0].mean is not None)]
        found = {_factor(term): self._value(term, inputs[term.input]) for term in shared}
        return {factor: text for factor, text in found.items() if text is not None}

    def sums(self, prototype: int) -> set[int]:
        """The inputs that make a score NULL where they are, and NaN where they are."""
        return {term.input for term in self.flat.of(prototype) if term.kind == "raw" and term.mean is None}

    def summed(self, inputs: list[Value]) -> list[Value]:
        """The inputs; those of sums as they are, where scores tell that one is NaN."""
        summed = set().union(*map(self.sums, range(len(self.flat.owners))))
        return [Value(value.bare, value.bare) if place in summed else value for place, value in enumerate(inputs)]

    def scores(self, inputs: list[Value], factors: Mapping[Factor, str]) -> list[str]:
        """The score of each prototype, summed from the left in the order of the terms.

        ``factors`` are those that have been evaluated before. Where NaN is the greatest number, a score may be NaN.
        """
        scores = []
        for j, intercept in enumerate(self.flat.intercepts):
            terms = [self._term(term, inputs[term.input], factors) for term in self.flat.of(j)]
            scores.append("\n      + ".join([self.dialect.number(intercept), *filter(None, terms)]))
        return scores

    def _term(self, term: FlatTerm, given: Value, factors: Mapping[Factor, str]) -> str | None:
        value = factors.get(_factor(term)) or self._value(term, given)
        if term.kind == "raw":
            return self.dialect.product(term.weight, str(value))
        return value and f"CASE WHEN {value} THEN {self.dialect.number(term.weight)} ELSE 0 END"

    def _value(self, term: FlatTerm, given: Value) -> str | None:
        """What the weight of a term is multiplied by: a number, or a condition; None if it never holds."""
        if term.kind != "raw":
            return self._condition(term, given)
        return given.bare if term.mean is None else f"COALESCE({given.x}, {self.dialect.number(term.mean)})"

    def _condition(self, term: FlatTerm, given: Value) -> str | None:
        """The condition that a literal holds; None if it never does. NaN, where it may be, is above every cut point."""
        x = given.x if term.kind in ("missing", "above") else given.bare
        if term.kind == "missing":
            return f"{x} IS NULL"
        if isinstance(term.value, str):
            return self.dialect.same_text(x, self.dialect.text(term.value))
        value = float(term.value)  # type: ignore[arg-type]
        if self.flat.inputs[term.input].is_text:
            return self.dialect.same_number_in_text(x, value)
        sign = {"at_most": "<=", "above": ">", "equals": "="}[term.kind]
        return f"{x} {sign} {self.dialect.number(value)}"

    def greatest(self, scores: list[str]) -> str:
        """The greatest of some scores."""
        return scores[0] if len(scores) == 1 else f"{self.dialect.greatest}({', '.join(scores)})"

    def best(self, scores: list[str]) -> str:
        """The greatest, but NULL in place of NaN, which is the greatest where one of them is NaN."""
        may_be_nan = self.dialect.nan_is_greatest and any(self.sums(j) for j in range(len(self.flat.owners)))
        return self.dialect.without_nan(self.greatest(scores)) if may_be_nan else self.greatest(scores)

    def log_odds(self, best: str) -> str:
        """The decision function of two classes, or the greatest score of more."""
        return self._scaled(best, -1.0 if self.flat.has_one_owner and self.flat.owners[0] == 0 else 1.0)

    def class_scores(self, scores: list[str]) -> list[str]:
        """The score of each of more than two classes; empty for two."""
        own: list[list[str]] = [[] for _ in self.flat.classes]
        for score, owner in zip(scores, self.flat.owners, strict=True):
            own[owner].append(score)
        return [] if self.flat.has_one_owner else [self.greatest(scores) for scores in own]

    def odds(self, own: list[str]) -> list[str]:
        """The decision function of more than two classes, from the score of each."""
        return [self._scaled(score) for score in own]

    def _scaled(self, score: str, sign: float = 1.0) -> str:
        if self.flat.scale == 1.0:
            return score if sign > 0.0 else f"-{score}"
        return self.dialect.product(sign * self.flat.scale, score)

    # --- offsets and costs -------------------------------------------------------------------------------------------

    @property
    def has_merits(self) -> bool:
        """Whether something else than the score of a class decides between more than two."""
        return self.flat.decision.offsets is not None or self.flat.decision.costs is not None

    def chances(self, own: list[str]) -> list[str]:
        """Of each class the probability, relative to the most probable; empty if there are no costs."""
        if self.flat.decision.costs is None:
            return []
        top, least = self.greatest(own), self.dialect.number(-MOST)
        return [f"exp({self.dialect.greatest}({self._scaled(f'({one} - {top})')}, {least}))" for one in own]

    def merits(self, own: list[str], chances: list[str]) -> list[str]:
        """What decides between more than two classes, the greatest: scores and offsets, or minus expected costs."""
        offsets, costs = self.flat.decision.offsets, self.flat.decision.costs
        if costs is not None:
            return [self._cost(chances, [row[k] for row in costs]) for k in range(len(own))]
        return [f"{score} + {self.dialect.number(off)}" for score, off in zip(own, offsets or (), strict=True)]

    def _cost(self, chances: list[str], costs: list[float]) -> str:
        """Minus the expected cost of a prediction."""
        parts = [self.dialect.product(cost, chance) for chance, cost in zip(chances, costs, strict=True) if cost]
        return f"-({' + '.join(parts)})" if parts else self.dialect.number(0.0)

    def _cases(self, subject: str, branches: list[tuple[str, str]]) -> str:
        """The answer beside the first value that equals ``subject``; NULL if that is NULL.

        In ``CASE subject WHEN value``, ClickHouse takes NULL for equal to NULL.
        """
        if self.dialect.steps == "inline":  # the subject is long
            whens = [f"CASE {subject}", *(f"WHEN {value} THEN {answer}" for value, answer in branches)]
        else:
            whens = ["CASE", *(f"WHEN {subject} = {value} THEN {answer}" for value, answer in branches)]
        return "\n      ".join([*whens, "END"])

    def of_class(self, best: str, merits: list[str], answers: list[str]) -> str:
        """The answer of the class that decides; NULL where ``best`` is NULL."""
        return self._cases(best, list(zip(merits, answers, strict=True)))

    # --- answers ---------------------------------------------------------------------------------------------------

    def any_of(self, scores: list[str]) -> str:
        """The class, of two: the owner if any score is high enough, otherwise the other."""
        owner = self.flat.owners[0]
        condition = "\n      OR ".join(f"{z} {'>' if owner else '>='} {self._cut}" for z in scores)
        return f"CASE WHEN {condition}\n    THEN {self.labels[owner]} ELSE {self.labels[1 - owner]} END"

    @property
    def _cut(self) -> str:
        cut = self.flat.decision.cut
        return self.dialect.number(cut) if cut else "0"

    def winner(self, best: str, scores: list[str]) -> str:
        """The class, of more than two: the first that has the greatest score."""
        return self._cases(best, [(scores[j], self.labels[self.flat.owners[j]]) for j in self.flat.by_class])

    def prediction(self, best: str, scores: list[str]) -> str:
        """The class; NULL where ``best`` is NULL."""
        if not self.flat.has_one_owner:
            return self.winner(best, scores)
        owner = self.flat.owners[0]
        yes, no = (">", "<=") if owner else (">=", "<")
        cut, labels = self._cut, self.labels
        return f"CASE WHEN {best} {yes} {cut} THEN {labels[owner]} WHEN {best} {no} {cut} THEN {labels[1 - owner]} END"

    def probability(self, best: str, score: str, own: list[str], has_gaps: bool) -> str:
        """The probability of the predicted class: ``1 / Σ exp(score of a class - greatest score)``.

        ``has_gaps``: ``best`` may be NULL.
        """
        most = self.dialect.number(MOST)
        if self.flat.has_one_owner and self.flat.decision.cut:
            owner = self.flat.owners[0]
            yes, no = (">", "<=") if owner else (">=", "<")
            odds = self._clipped(score)
            first, second = ("-", "") if owner else ("", "-")
            return (
                f"CASE WHEN {best} {yes} {self._cut} THEN 1 / (1 + exp({first}{odds}))\n"
                f"      WHEN {best} {no} {self._cut} THEN 1 / (1 + exp({second}{odds})) END"
            )
        if self.flat.has_one_owner:
            return self._unless_null(has_gaps, best, f"1 / (1 + exp(-{self.dialect.least}(abs({score}), {most})))")
        total = "\n      + ".join(f"exp({self._clipped(f'{one} - {score}')})" for one in own)
        return self._unless_null(has_gaps, best, f"1 / ({total})")

    def _unless_null(self, has_gaps: bool, best: str, answer: str) -> str:
        """The answer, NULL where ``best`` is."""
        return f"CASE WHEN {best} IS NOT NULL THEN {answer} END" if has_gaps and self.dialect.skips_null else answer

    def _clipped(self, odds: str) -> str:
        """Log-odds that are no error as an exponent."""
        least, most = self.dialect.number(-MOST), self.dialect.number(MOST)
        return f"{self.dialect.least}({self.dialect.greatest}({odds}, {least}), {most})"

    def reasons(self, inputs: list[Value], factors: Mapping[Factor, str]) -> list[str]:
        """For each prototype its terms as text."""
        return [
            self.dialect.joined([*self._said(j, inputs, factors), *self._largest(j, inputs, factors)])
            for j in range(len(self.flat.owners))
        ]

    def reason(self, best: str, scores: list[str], reasons: list[str]) -> str:
        """That of the prototype with the greatest score."""
        return self._cases(best, [(scores[j], reasons[j]) for j in self.flat.by_class])

    def reason_of_class(self, label: int, own: str, scores: list[str], reasons: list[str]) -> str:
        """That of the prototype with the greatest score of a class, which is ``own``."""
        return self._cases(own, [(scores[j], reasons[j]) for j, owner in enumerate(self.flat.owners) if owner == label])

    def _said(self, prototype: int, inputs: list[Value], factors: Mapping[Factor, str]) -> list[str]:
        """``prototype 1: constant -1.5000, 0.75 * age, [ward = 'A'] 4.0000``, with only those literals that hold.

        A raw term has its weight and not what it adds: to turn that into text would take longer than to predict.
        """
        said = f"prototype {prototype + 1}: constant {self.flat.intercepts[prototype]:.4f}"
        parts = []
        for term in self.flat.of(prototype):
            if term.kind == "raw":
                given = "" if term.mean is None else f" ({term.mean:.6g} if missing)"
                said += f", {term.weight:.6g} * {self._words(term)}{given}"
                continue
            value = factors.get(_factor(term)) or self._value(term, inputs[term.input])
            if value:
                text = self.dialect.text(f", {self._words(term)} {term.weight:.4f}")
                parts += [self.dialect.text(said)] if said else []
                parts.append(f"CASE WHEN {value} THEN {text} ELSE '' END")
                said = ""
        return [*parts, self.dialect.text(said)] if said else parts

    def _largest(self, prototype: int, inputs: list[Value], factors: Mapping[Factor, str]) -> list[str]:
        """``; largest: age``: the first of the terms that move the score most, up or down.

        Nothing where what each term adds is in the text already, or if there is a single one.
        """
        terms = list(self.flat.of(prototype))
        added = [self._term(term, inputs[term.input], factors) for term in terms]
        moves = [(term, f"abs({text})") for term, text in zip(terms, added, strict=True) if text]
        if len(moves) < 2 or all(term.kind != "raw" for term in terms):
            return []
        return [self._first_of_most([(f"; largest: {self._words(term)}", text) for term, text in moves])]

    def _first_of_most(self, moves: list[tuple[str, str]]) -> str:
        """Of some texts with a number each, the first whose number is the greatest: that of the better half.

        So the length grows hardly faster than the number of texts, and each row computes every number about twice.
        """
        if len(moves) == 1:
            return self.dialect.text(moves[0][0])
        first, second = moves[: len(moves) // 2], moves[len(moves) // 2 :]
        ahead, behind = (self._most([number for _, number in half]) for half in (first, second))
        return f"CASE WHEN {ahead} >= {behind} THEN {self._first_of_most(first)} ELSE {self._first_of_most(second)} END"

    def _most(self, numbers: list[str]) -> str:
        """The greatest of any number of values: functions take a limited number."""
        if len(numbers) <= MOST_ARGUMENTS:
            return self.greatest(numbers)
        half = len(numbers) // 2
        return self.greatest([self._most(numbers[:half]), self._most(numbers[half:])])

    def _words(self, term: FlatTerm) -> str:
        return as_term(self.flat, term).text.replace("≤", "<=")

    # --- reason codes ------------------------------------------------------------------------------------------------

    def short(
        self, found: Shortfalls, inputs: list[Value], factors: Mapping[Factor, str], scores: list[str]
    ) -> list[str]:
        """By how much the terms fall short, of the prototype that counts: the first, the second and so on."""
        each = {
            j: [self._short(term, most, found.sign, inputs[term.input], factors) for term, most, _ in terms]
            for j, terms in found.terms.items()
        }
        slots = max(len(terms) for terms in each.values())
        nothing = self.dialect.number(0.0)
        each = {j: [*terms, *[nothing] * (slots - len(terms))] for j, terms in each.items()}
        return [self._of_best(scores, {j: each[j][slot] for j in each}) for slot in range(slots)]

    def _of_best(self, scores: list[str], answers: Mapping[int, str]) -> str:
        """The answer of the prototype with the greatest score, of those that have one."""
        if len(set(answers.values())) == 1:
            return next(iter(answers.values()))
        best = self.greatest([scores[j] for j in answers])
        return self._cases(best, [(scores[j], answer) for j, answer in answers.items()])

    def _short(self, term: FlatTerm, most: float, sign: float, given: Value, factors: Mapping[Factor, str]) -> str:
        number = self.dialect.number
        if term.kind == "raw":
            return f"{number(most)} {'-' if sign > 0.0 else '+'} ({self._term(term, given, factors)})"
        value = factors.get(_factor(term)) or self._value(term, given)
        if value is None:
            return number(most)
        return f"CASE WHEN {value} THEN {number(most - sign * term.weight)} ELSE {number(most)} END"

    def ranks(self, short: Sequence[str]) -> list[str]:
        """The place of each term, from 1 for that which falls short most; NULL if it does not fall short."""
        ranks = []
        for place, mine in enumerate(short):
            before = [
                f"CASE WHEN {other} {'>=' if at < place else '>'} {mine} THEN 1 ELSE 0 END"
                for at, other in enumerate(short)
                if at != place
            ]
            ranks.append(f"CASE WHEN {mine} > 0 THEN {' + '.join(['1', *before])} END")
        return ranks

    def code(self, place: int, found: Shortfalls, ranks: list[str], scores: list[str]) -> str:
        """The words for the term of that place, of the prototype that counts."""
        words = {j: [self.dialect.text(text) for _, _, text in terms] for j, terms in found.terms.items()}
        whens = [
            f"WHEN {rank} = {place} THEN "
            + self._of_best(scores, {j: mine[slot] for j, mine in words.items() if slot < len(mine)})
            for slot, rank in enumerate(ranks)
        ]
        return "\n      ".join(["CASE", *whens, "END"]) if place <= len(whens) else self.dialect.null(is_text=True)


def _factor(term: FlatTerm) -> Factor:
    return term.input, term.kind, term.value, term.mean


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
