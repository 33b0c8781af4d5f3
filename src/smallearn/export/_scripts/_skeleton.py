"""What the exports in this folder have in common, and what a language has to describe.

A language is a subclass of `Script`, in a file of its own. It has

- ``template``: the text of the program, with ``@name@`` where something of the model goes (`Script.parts` has all
  names); a ``@name@`` alone on a line is a block of lines, indented as it is there and absent if there are none;
- ``test_template``: what is added if there are test vectors;
- ``two_classes`` and ``more_classes``: what ``@decision@`` is; ``cut_decides``, ``highest_decides``,
  ``offsets_decide`` and ``costs_decide``: what ``@winner@`` is;
- the abstract methods: ``number``, ``string``, ``cell``, ``labels``, ``named_place``, ``reading``, ``missing``,
  ``equal``, ``either`` and ``named``;
- where the language differs, other class variables (``comment``, ``brackets``, ``closing``, …) and the methods
  ``value``, ``operand``, ``summand`` and ``shared_name``.

docs/develop/add_a_language.md leads through it.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

from smallearn._errors import Parameter, ParameterError
from smallearn._text import show
from smallearn.export._flat import FlatModel, FlatTerm, as_term, decision_rule, flatten, unchecked
from smallearn.export._names import comment_text
from smallearn.export._vectors import Cell, Vector, vectors_of
from smallearn.model._arguments import as_model
from smallearn.model._term import plain_text

NUMERIC = ("raw", "at_most", "above")
HOLE = re.compile(r"^(?P<indent> *)@(?P<block>\w+)@\n|@(?P<inline>\w+)@", re.MULTILINE)


@dataclass(frozen=True)
class Layout:
    """Rows of ``width`` values, in which input number i is at ``places[i]``. ``named``: the places have names."""

    width: int
    places: tuple[int, ...]
    named: bool


def layout_of(flat: FlatModel, inputs: str) -> Layout:
    """All features by their position in the training data, or only those in use, in order."""
    if inputs == "all":
        return Layout(width=flat.n_features, places=tuple(input_.feature for input_ in flat.inputs), named=False)
    if inputs == "used":
        return Layout(width=len(flat.inputs), places=tuple(range(len(flat.inputs))), named=True)
    raise ParameterError(
        Parameter("inputs", inputs),
        " is neither 'all' (a row has all features, as in the training data) "
        "nor 'used' (a row has only those that the model uses).",
    )


def write(language: "type[Script]", model: Any, inputs: str, conformance: Any) -> str:
    """The text of a model in a language; with the rows of ``conformance`` as test vectors, unless that is None."""
    model = as_model(model)
    flat = flatten(model)
    script = language(flat, layout_of(flat, inputs))
    return script.text(None if conformance is None else vectors_of(model, flat, conformance))


# --- a language ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Script(ABC):
    """A model in one language."""

    flat: FlatModel
    layout: Layout

    template: ClassVar[str]
    test_template: ClassVar[str]
    two_classes: ClassVar[str]
    two_owners: ClassVar[str]
    more_classes: ClassVar[str]
    cut_decides: ClassVar[str]
    highest_decides: ClassVar[str]
    offsets_decide: ClassVar[str]
    costs_decide: ClassVar[str]
    closing: ClassVar[str] = ""  # the end of the text, after the test vectors
    comment: ClassVar[str] = "//"
    gap: ClassVar[str] = " "  # between code and a comment
    indent: ClassVar[str] = "    "
    brackets: ClassVar[str] = "[]"  # of a sequence
    pair: ClassVar[str] = "()"
    zero: ClassVar[str] = "0.0"  # what a literal adds where it does not hold
    terms_opening: ClassVar[str] = "["  # of the terms of one prototype, in the table of terms

    # How the language writes things.

    @abstractmethod
    def number(self, value: float) -> str:
        """A float64, in digits that are read back as the same number."""

    @abstractmethod
    def string(self, text: str) -> str:
        """Text in quotes, in ASCII."""

    @abstractmethod
    def cell(self, value: Cell) -> str:
        """A value of a row."""

    @abstractmethod
    def labels(self) -> list[str]:
        """The classes."""

    @abstractmethod
    def named_place(self, name: str, place: int) -> str:
        """A constant ``name`` for the place of an input in a row."""

    @abstractmethod
    def reading(self, position: int) -> Iterable[str]:
        """Statements that read an input, so that `value` is defined."""

    @abstractmethod
    def missing(self, position: int) -> str:
        """The condition that an input is missing."""

    @abstractmethod
    def equal(self, position: int, value: Cell) -> str | None:
        """The condition that an input equals a category; None if it never can."""

    @abstractmethod
    def either(self, condition: str, yes: str, no: str) -> str:
        """The value of ``yes`` where the condition holds, else of ``no``."""

    @abstractmethod
    def named(self, name: str, expression: str) -> str:
        """A statement that gives a name to the value of an expression."""

    def shared_name(self, number: int) -> str:
        """What number so many of the terms that several prototypes have is called."""
        return f"b{number}"

    def value(self, position: int) -> str:
        """An input, as an expression."""
        return f"x{self.layout.places[position]}"

    def operand(self, expression: str) -> str:
        """An expression as an operand of ``*``."""
        return f"({expression})"

    def summand(self, expression: str) -> str:
        """What `either` gives, as an entry of a sequence."""
        return expression

    # What all languages share.

    def text(self, vectors: Sequence[Vector] | None) -> str:
        """The whole program."""
        if vectors is None:
            return fill(self.template + self.closing, self.parts())
        template = self.template + self.test_template + self.closing
        return fill(template, self.parts() | self.test_parts(vectors))

    def parts(self) -> dict[str, str | list[str]]:
        """What goes in the place of each ``@name@`` of a template: text, or a block of lines."""
        flat, places = self.flat, self.layout.places
        prototypes = range(len(flat.owners))
        names = [f"X_{input_.name.upper()}" for input_ in flat.inputs] if self.layout.named else []
        return {
            "heading": [f"{self.comment} {line}" for line in heading(flat, self.layout)],
            "names": [self.named_place(name, place) for name, place in zip(names, places, strict=False)],
            "width": str(self.layout.width),
            "n_prototypes": str(len(prototypes)),
            "n_classes": str(len(flat.classes)),
            "most_terms": str(self.most_terms),
            "classes": self.sequence(self.labels()),
            "owners": self.sequence(map(str, flat.owners)),
            "by_class": self.sequence(map(str, flat.by_class)),
            "intercepts": self.sequence(map(self.number, flat.intercepts)),
            "scale": self.number(flat.scale),
            "winner": self._winner(),
            "shared": list(self._shared_parts()),
            "terms": list(self._groups(self.terms_opening, map(self._term_names, prototypes))),
            "inputs": [line for position in range(len(flat.inputs)) for line in self.reading(position)],
            "contributions": list(self._groups(self.brackets[0], map(self.contributions, prototypes))),
            "decision": self._decision().splitlines(),
        }

    def _decision(self) -> str:
        """The function for the log-odds: one number for two classes."""
        if len(self.flat.classes) > 2:
            return self.more_classes
        return self.two_classes if self.flat.has_one_owner else self.two_owners

    def _winner(self) -> list[str]:
        """The lines by which the scores decide."""
        decision = self.flat.decision
        if self.flat.has_one_owner:
            text = self.cut_decides
        elif decision.costs is not None:
            text = self.costs_decide
        else:
            text = self.highest_decides if decision.offsets is None else self.offsets_decide
        numbers = {"cut": self.number(decision.cut), "offsets": self.sequence(map(self.number, decision.offsets or ()))}
        costs = [f"{self.sequence(map(self.number, row))}," for row in decision.costs or ()]
        return fill(text, {**numbers, "costs": costs}).splitlines()

    @cached_property
    def _names(self) -> dict[tuple, str]:
        """The name of each literal, or feature with a mean, that several prototypes have: it is evaluated once."""
        rows = [[term for term in row if term is not None] for row in self.flat.rows]
        shared = [row[0] for row in rows if len(row) > 1 and (row[0].kind != "raw" or row[0].mean is not None)]
        named = [term for term in shared if term.kind == "raw" or self._condition(term) is not None]
        return {_factor(term): self.shared_name(number) for number, term in enumerate(named)}

    def _shared_parts(self) -> Iterator[str]:
        """Statements that evaluate what several prototypes have."""
        first = {_factor(term): term for term in reversed(self.flat.terms)}
        for factor, name in self._names.items():
            term = first[factor]
            value = self._filled(term) if term.kind == "raw" else self._condition(term)
            yield f"{self.named(name, str(value))}{self.gap}{self.comment} {self.term_comment(term)}"

    def test_parts(self, vectors: Sequence[Vector]) -> dict[str, str | list[str]]:
        """The same for ``test_template``."""
        rows = [(self.sequence(map(self.cell, vector.cells)), str(vector.expected)) for vector in vectors]
        return {
            "places": self.sequence(map(str, self.layout.places)),
            "n_places": str(len(self.layout.places)),
            "n_rows": str(len(rows)),
            "rows": [f"{self._pair(*row)}," for row in rows],
        }

    @property
    def most_terms(self) -> int:
        """Of the prototype that has the most."""
        return max(len(self.flat.of(j)) for j in range(len(self.flat.owners)))

    def is_number(self, position: int) -> bool:
        """Whether an input is multiplied or compared by size, so that it cannot hold text."""
        return any(term.kind in NUMERIC for term in self.flat.terms if term.input == position)

    def sequence(self, items: Iterable[str]) -> str:
        """On one line."""
        return f"{self.brackets[0]}{', '.join(items)}{self.brackets[1]}"

    def contributions(self, prototype: int) -> list[str]:
        """What each term adds to the score of a prototype, as lines of a sequence."""
        return [
            f"{self.contribution(term)},{self.gap}{self.comment} {self.term_comment(term)}"
            for term in self.flat.of(prototype)
        ]

    def contribution(self, term: FlatTerm) -> str:
        """``weight · b`` as an expression."""
        weight, name = self.number(term.weight), self._names.get(_factor(term))
        if term.kind == "raw":
            if name is None:
                name = self.value(term.input) if term.mean is None else self.operand(self._filled(term))
            return f"{weight} * {name}"
        condition = name or self._condition(term)
        return self.zero if condition is None else self.summand(self.either(condition, weight, self.zero))

    def _filled(self, term: FlatTerm) -> str:
        """The value of a raw term, with its mean where it is missing."""
        return self.either(self.missing(term.input), self.number(term.mean), self.value(term.input))  # type: ignore[arg-type]

    def _condition(self, term: FlatTerm) -> str | None:
        """When a literal holds; None if never."""
        if term.kind == "missing":
            return self.missing(term.input)
        if term.kind == "equals":
            return self.equal(term.input, term.value)
        sign = "<=" if term.kind == "at_most" else ">"
        return f"{self.value(term.input)} {sign} {self.number(term.value)}"  # type: ignore[arg-type]

    def term_comment(self, term: FlatTerm) -> str:
        """A term for a comment."""
        return comment_text(self.term_text(term))

    def term_text(self, term: FlatTerm) -> str:
        """A term on one line."""
        return term_text(self.flat, term)

    def _term_names(self, prototype: int) -> list[str]:
        """The feature and the text of each term, as lines of a sequence."""
        labels = [input_.label for input_ in self.flat.inputs]
        return [
            f"{self._pair(self.string(labels[term.input]), self.string(self.term_text(term)))},"
            for term in self.flat.of(prototype)
        ]

    def _pair(self, first: str, second: str) -> str:
        return f"{self.pair[0]}{first}, {second}{self.pair[1]}"

    def _groups(self, opening: str, groups: Iterable[Iterable[str]]) -> Iterator[str]:
        """A sequence of sequences of lines."""
        for lines in groups:
            yield opening
            yield from (f"{self.indent}{line}" for line in lines)
            yield f"{self.brackets[1]},"


def _factor(term: FlatTerm) -> tuple:
    """What is the same for terms that differ in the prototype and the weight alone."""
    return term.input, term.kind, term.value, term.mean


def fill(template: str, parts: Mapping[str, str | list[str]]) -> str:
    """The template with its parts in place. They are put in all at once: a label may look like a part's name."""

    def put(hole: re.Match) -> str:
        if hole["inline"]:
            return "".join(parts[hole["inline"]])
        return "".join(f"{hole['indent']}{line}\n" for line in parts[hole["block"]])

    return HOLE.sub(put, template)


# --- text for people -------------------------------------------------------------------------------------------------


def heading(flat: FlatModel, layout: Layout) -> list[str]:
    """Lines for the comment at the top: where the text comes from, the rule, and what a row is."""
    labels = [comment_text(show(label)) for label in flat.classes]
    score = "the score" if len(flat.owners) == 1 else "any score"
    lines = [flat.stamp, f"Predict {decision_rule(flat, labels, score)}."]
    if flat.scale != 1.0:
        lines.append(f"One point of score is {flat.scale!r} in log-odds.")
    lines.append(f"A row has {layout.width} values{', of which these are used:' if flat.inputs else '; none is used.'}")
    for place, input_ in zip(layout.places, flat.inputs, strict=True):
        kind = "text" if input_.is_text else "number"
        missing = ", may be missing" if input_.may_be_missing else ""
        lines.append(f"  [{place}] {comment_text(input_.label)}: {kind}{missing}")
    return [*lines, *unchecked(flat)]


def term_text(flat: FlatModel, term: FlatTerm) -> str:
    """``age``, ``age <= 40.0``, ``ward = 'Süd'``, ``age is missing``: a term on one line, its number in full."""
    return plain_text(as_term(flat, term), all_digits=True, at_most="<=")
