"""The terms of each prototype as one list of bytes: how far the next input is, and its weight; on AVR it is in flash.

For whole-number models of two classes and of raw terms alone. A term takes two bytes however many inputs there are, and
the list is read from its beginning to its end, so that nothing points into it: each prototype begins with the number of
its terms.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from smallearn.export._c.code import function
from smallearn.export._c.model import CModel
from smallearn.export._fixed.quantise import IntegerModel, bits_for

BYTE = 255  # the largest gap, and the largest number of terms of a prototype
WEIGHT_BITS = 8


@dataclass(frozen=True)
class Gaps:
    """The list of a model."""

    c: CModel

    @classmethod
    def of(cls, c: CModel) -> "Gaps | None":
        """The list; None if the model has literals, wide weights or gaps, offsets, or prototypes or terms that are out
        of order, or if tables of inputs and weights are as small: one class owns all prototypes, and inputs are
        few."""
        target, flat = c.target, c.target.flat
        if not isinstance(target, IntegerModel) or target.offsets or not target.terms or len(flat.classes) > 2:
            return None
        if flat.has_one_owner and len(flat.inputs) <= BYTE:
            return None
        owners = list(flat.owners)
        if owners != sorted(owners) or any(term.kind != "raw" or term.instead is not None for term in target.terms):
            return None
        if bits_for((0, max(abs(term.weight) for term in target.terms))) > WEIGHT_BITS:
            return None
        fits = all(
            len(inputs) <= BYTE and all(0 < after - before <= BYTE for before, after in pairwise([-1, *inputs]))
            for inputs in ([term.input for term in target.of(j)] for j in range(len(owners)))
        )
        return cls(c) if fits else None

    @property
    def target(self) -> IntegerModel:
        return self.c.target  # type: ignore[return-value]

    @property
    def bytes(self) -> list[int]:
        """For each prototype the number of its terms, and for each term the gap before its input and its weight.

        The first gap is the input itself.
        """
        listed = []
        for j in range(len(self.target.intercepts)):
            terms = self.target.of(j)
            listed.append(len(terms))
            for before, term in zip([0, *(term.input for term in terms)], terms, strict=False):
                listed += [term.input - before, term.weight % (BYTE + 1)]
        return listed

    @property
    def tables(self) -> dict[str, tuple[str, list[int]]]:
        """The type and the numbers of each table."""
        return {"list": ("uint8_t", self.bytes), "intercept": (self.c.score_type, list(self.target.intercepts))}

    @property
    def types(self) -> list[str]:
        """The types of the numbers in tables."""
        return [kind for kind, _ in self.tables.values()]

    @property
    def least(self) -> int:
        """No score is less."""
        return min(low for low, _ in self.target.intervals)

    def get(self, table: str, index: str) -> str:
        """A number of a table, as an expression."""
        return f"{self._getter(self.tables[table][0])}({self.c.prefix}_{table}, {index})"

    def at(self, offset: int) -> str:
        """A byte of the list, after the one that ``at`` points to."""
        return f"{self._getter('uint8_t')}(at, {offset})"

    def _getter(self, kind: str) -> str:
        return f"{self.c.upper}_GET_{kind.removesuffix('_t').upper()}"

    def class_of(self, prototype: str) -> str:
        """The class of a prototype, where both classes own some, as an expression."""
        return f"{prototype} >= {self.target.flat.owners.index(1)}"

    def each_prototype(self, body: list[str]) -> list[str]:
        """A loop over the prototypes ``j``, whose score is in ``z``."""
        c, Z = self.c, self.c.sum_type()
        return [
            f"for (j = 0; j < {c.upper}_PROTOTYPES; j++) {{",
            f"    const {Z} z = {c.prefix}_next(x, &at, {self.get('intercept', 'j')});",
            *(f"    {line}" for line in body),
            "}",
        ]

    @property
    def begin(self) -> list[str]:
        """The inputs as an array, if they are arguments, and the variables of a loop over the prototypes."""
        c = self.c
        array = [f"const {c.input_type} x[] = {{{c.passed}}};"] if c.arguments else []
        return [*array, f"const uint8_t *at = {c.prefix}_list;", f"{c.position_type} j;"]

    @property
    def winner(self) -> list[str]:
        """Statements that leave the greatest score in ``best`` and its prototype in ``winner``, at a tie the first."""
        variables = [f"{self.c.sum_type()} best = {self.least};", f"{self.c.position_type} winner = 0;"]
        return [*variables, *self.each_prototype(["if (z > best) {", "    best = z;", "    winner = j;", "}"])]


def functions(gaps: Gaps, public: str, private: str) -> Iterator[str]:
    """All functions; the tables are written by who knows how."""
    yield _next(gaps, private)
    yield _predict(gaps, public)
    yield _score(gaps, public)
    if not gaps.target.flat.has_one_owner:
        yield _scores(gaps, public)
    yield _reason(gaps, public)


def _next(gaps: Gaps, private: str) -> str:
    """The score of the prototype whose terms begin at ``*place``, which then points behind them."""
    c, Z = gaps.c, gaps.c.sum_type()
    body = [
        "const uint8_t *at = *place;",
        f"uint8_t terms = {gaps.at(0)};",
        "for (at++; terms; terms--, at += 2) {",
        f"    x += {gaps.at(0)};",
        f"    z = ({Z})(z + ({Z})(int8_t){gaps.at(1)} * *x);",
        "}",
        "*place = at;",
        "return z;",
    ]
    return function(f"{private}{Z} {c.prefix}_next(const {c.input_type} *x, const uint8_t **place, {Z} z)", body)


def _predict(gaps: Gaps, public: str) -> str:
    c, flat = gaps.c, gaps.target.flat
    head = f"{public}{c.position_type} {c.prefix}_predict({c.parameters})"
    if not flat.has_one_owner:
        return function(head, [*gaps.begin, *gaps.winner, f"return {gaps.class_of('winner')};"])
    owner = flat.owners[0]
    loop = gaps.each_prototype([f"if (z {'>' if owner == 1 else '>='} {gaps.target.cut}) return {owner};"])
    return function(head, [*gaps.begin, *loop, f"return {1 - owner};"])


def _score(gaps: Gaps, public: str) -> str:
    c = gaps.c
    loop = gaps.each_prototype(["if (z > best) best = z;"])
    body = [*gaps.begin, f"{c.sum_type()} best = {gaps.least};", *loop, f"return ({c.score_type})best;"]
    return function(f"{public}{c.score_type} {c.prefix}_score({c.parameters})", body)


def _scores(gaps: Gaps, public: str) -> str:
    c = gaps.c
    own = [
        f"const {c.position_type} own = {gaps.class_of('j')};",
        f"if (z > scores[own]) scores[own] = ({c.score_type})z;",
    ]
    clear = f"for (j = 0; j < {c.upper}_CLASSES; j++) scores[j] = {gaps.least};"
    return function(
        f"{public}void {c.prefix}_scores({c.with_output('scores')})", [*gaps.begin, clear, *gaps.each_prototype(own)]
    )


def _reason(gaps: Gaps, public: str) -> str:
    c, Z = gaps.c, gaps.c.sum_type()
    product = f"({Z})(int8_t){gaps.at(1)} * *v"
    body = [
        *gaps.begin,
        f"const {c.input_type} *v = x;",
        "uint8_t place, terms;",
        *gaps.winner,
        "reason->prototype = winner;",
        f"reason->score = ({c.score_type})best;",
        f"for (at = {c.prefix}_list; winner; winner--) at += 2 * {gaps.at(0)} + 1;",
        f"terms = {gaps.at(0)};",
        f"for (place = 0, at++; place < {c.upper}_TERMS; place++) {{",
        "    if (place >= terms) {",
        "        reason->contribution[place] = 0;",
        "        continue;",
        "    }",
        f"    v += {gaps.at(0)};",
        f"    reason->contribution[place] = ({c.score_type})({product});",
        "    at += 2;",
        "}",
    ]
    return function(f"{public}void {c.prefix}_reason({c.with_output('reason')})", body)
