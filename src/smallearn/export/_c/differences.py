"""A card of more than two classes as a table of differences between neighbouring prototypes; on AVR it is in flash.

The table has, for each prototype but the last, from the last but one to the first, by how much its weights and its
constant exceed those of the next: added up, that is how far it is ahead of the next. `predict` adds on to how far the
next is ahead of the best so far, so that it needs no other variable: who is ahead is the best, and the sum begins again
at 0. This is the shortest code there is for many classes, or for products alone.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from smallearn.export._c.card import FEW, Card, CardRow, getter, power_of_two, size_of
from smallearn.export._c.code import NARROW, function, lines_of, of_columns
from smallearn.export._c.columns import codes_of
from smallearn.export._c.model import CModel, count_type
from smallearn.export._fixed.quantise import bits_for


@dataclass(frozen=True)
class Differences:
    """The differences between the neighbouring columns of a card."""

    card: Card

    @classmethod
    def of(cls, c: CModel) -> "Differences | None":
        """None where scores would need a wider type, and for few columns with literals: a loop over rows is shorter."""
        card = Card.scores_of(c)
        if (
            card is None
            or c.target.flat.has_one_owner
            or (card.n_products < len(card.rows) and len(card.shown) <= FEW + 1)
        ):
            return None
        found = cls(card)
        return found if found.bits <= max(16, card.target.sum_bits) and found.bytes <= card.bytes_of_list else None

    @property
    def c(self) -> CModel:
        return self.card.c

    @cached_property
    def rows(self) -> list[CardRow]:
        """The rows of the card that make a difference."""
        return [row for row in self.card.rows if len(set(row.weights)) > 1]

    @cached_property
    def n_products(self) -> int:
        return sum(row.above is None for row in self.rows)

    @cached_property
    def step(self) -> int:
        """A power of 2 that divides the weights of all literals, beside products."""
        return self.card.step

    # --- numbers -----------------------------------------------------------------------------------------------------

    @cached_property
    def _own(self) -> list[list[int]]:
        """The column of each prototype: its weight in each row, then its constant."""
        return [[*(row.weights[j] for row in self.rows), start] for j, start in enumerate(self.card.starts)]

    @cached_property
    def columns(self) -> list[list[int]]:
        """The columns of the table: by how much each prototype exceeds the next, from the last but one to the first."""
        pairs = list(pairwise(self._own))
        return [[one - after for one, after in zip(*pair, strict=True)] for pair in reversed(pairs)]

    def _ends(self, column: Sequence[int]) -> tuple[int, int]:
        """An interval that holds every partial sum of a column, for all codes and in any order."""
        low, high = min(0, column[-1]), max(0, column[-1])
        for row, weight in zip(self.rows, column[:-1], strict=True):
            factors = codes_of(self.card.target, row.input) if row.above is None else (0, 1)
            added = [0, *(weight * factor for factor in factors)]
            low, high = low + min(added), high + max(added)
        return low, high

    @cached_property
    def bits(self) -> int:
        """The width of the smallest type that holds every partial sum of `predict`."""
        behind = [0]  # how far the next prototype may be behind the best so far, when a column is added to that
        for place in range(1, len(self.columns)):
            between = [self.columns[place - 1]]
            for column in reversed(self.columns[: place - 1]):
                between.append([one + other for one, other in zip(between[-1], column, strict=True)])
            behind.append(min(self._ends(column)[0] for column in between))
        ends = [self._ends(column) for column in self.columns]
        return max(bits_for((lag + low, high)) for lag, (low, high) in zip(behind, ends, strict=True))

    @cached_property
    def score_bits(self) -> int:
        """The width of the smallest type that holds every partial sum of the scores."""
        own = [self._ends(column) for column in self._own]
        gaps = [self._ends(column) for column in self.columns]
        added = [(a + c, b + d) for (a, b), (c, d) in zip(reversed(own[1:]), gaps, strict=True)]
        return max(map(bits_for, [*own, *added]))

    # --- tables ------------------------------------------------------------------------------------------------------

    def _in_steps(self, column: Sequence[int]) -> list[int]:
        """The weights of a column, those of literals divided by the step."""
        return [
            weight // (1 if row.above is None else self.step) for weight, row in zip(column, self.rows, strict=False)
        ]

    @cached_property
    def unit(self) -> int:
        """A power of 2 that divides the constants in the table, where they would not fit beside the weights."""
        starts = [column[-1] for column in self.columns]
        weights = [weight for column in self.columns for weight in self._in_steps(column)]
        return power_of_two(starts) if bits_of(starts) > bits_of(weights) else 1

    @cached_property
    def tables(self) -> dict[str, tuple[str, list[int]]]:
        """The type and the numbers of each table that `predict` needs."""
        inside = [number for column in self.columns for number in (*self._in_steps(column), column[-1] // self.unit)]
        tables = {"weight": (f"int{bits_of(inside)}_t", inside)}
        above = [row.above for row in self.rows if row.above is not None]
        if above:
            tables["above"] = (self.c.input_type, above)
        inputs = [row.input for row in self.rows]
        if inputs != list(range(len(inputs))):
            tables["input"] = (count_type(len(self.c.inputs)), inputs)
        owners = list(self.c.target.flat.owners)
        if owners != list(range(len(owners))):
            tables["owner"] = (self.c.position_type, owners)
        return tables

    @cached_property
    def all_tables(self) -> dict[str, tuple[str, list[int]]]:
        """All tables, with the weights of the last prototype, which scores need."""
        last = self._in_steps(self._own[-1])
        return self.tables | {"last": (f"int{bits_of(last)}_t", last)}

    @property
    def bytes(self) -> int:
        """Of the tables that `predict` needs."""
        return sum(size_of(kind) * len(numbers) for kind, numbers in self.tables.values())

    @property
    def types(self) -> list[str]:
        """The types of all numbers in tables."""
        return [kind for kind, _ in self.all_tables.values()]

    @property
    def type(self) -> str:
        """The type of the sums in `predict`."""
        return self.c.fast_type(self.bits)

    @property
    def score_type(self) -> str:
        """The type of the sums that are scores."""
        return self.c.fast_type(self.score_bits)

    def get(self, table: str, index: str, base: str = "") -> str:
        """An element of a table, or of what begins at ``base`` in it, as an expression."""
        return f"{getter(self.c, self.all_tables[table][0])}({base or f'{self.c.prefix}_{table}'}, {index})"


def bits_of(numbers: Sequence[int]) -> int:
    """The width of the smallest type that holds these numbers and their negatives."""
    return bits_for((0, max(map(abs, numbers), default=0)))


def functions(gaps: Differences, public: str, private: str) -> Iterator[str]:
    """The tables and all functions."""
    c = gaps.c
    yield "\n".join(_tables(gaps))
    yield _sums(gaps, private)
    array = [f"const {c.input_type} x[] = {{{c.passed}}};"] if c.arguments else []
    begin = [*array, f"{gaps.score_type} z[{c.upper}_PROTOTYPES];", f"{c.prefix}_sums(x, z);"]
    predict = _predict(gaps, public, array)
    yield from of_columns(gaps.card.columns, public, private, kind=gaps.score_type, begin=begin, predict=predict)


def _tables(gaps: Differences) -> Iterator[str]:
    """The definitions of the tables, that of the weights with a line for each column."""
    c = gaps.c
    for name, (kind, numbers) in gaps.all_tables.items():
        width = len(gaps.rows) + 1 if name == "weight" else len(numbers)
        parts = [", ".join(map(str, numbers[place : place + width])) for place in range(0, len(numbers), width)]
        body = ",\n    ".join("\n    ".join(lines_of(part)) for part in parts)
        yield f"static const {kind} {c.prefix}_{name}[] {c.upper}_FLASH = {{\n    {body}\n}};"


def _value(gaps: Differences) -> str:
    return f"x[{gaps.get('input', 'i') if 'input' in gaps.tables else 'i'}]"


def _variables(gaps: Differences, kind: str, z: int, prototypes: Sequence[str]) -> list[str]:
    """The weights of the next column, the sum, prototypes and rows; what each row is, where there are literals."""
    c, last, n_rows, products = gaps.c, len(gaps.columns), len(gaps.rows), gaps.n_products
    lines = [f"const {gaps.tables['weight'][0]} *w = {c.prefix}_weight;", f"{kind} z = {z};"]
    lines += [f"{c.position_type} {', '.join(f'{name} = {last}' for name in prototypes)};", f"{count_type(n_rows)} i;"]
    if products < n_rows:
        narrow = gaps.step < 2 ** (gaps.card.target.input_bits - 1)
        place = f"i - {products}" if products else "i"
        greater = f"{_value(gaps)} > {gaps.get('above', place)}"
        lines.append(f"{c.input_type if narrow else kind} v[{n_rows}];")
        lines.append(
            f"for (i = {products}; i < {n_rows}; i++) v[i] = {greater}{f' ? {gaps.step} : 0' if products else ''};"
        )
        lines += [f"for (i = 0; i < {products}; i++) v[i] = {_value(gaps)};"] if products else []
    return lines


def _rows(gaps: Differences, kind: str, weight: str) -> str:
    """A loop that adds what the rows add with these weights."""
    value = "v[i]" if gaps.n_products < len(gaps.rows) else _value(gaps)
    return f"for (i = 0; i < {len(gaps.rows)}; i++) {_plus(kind, f'{_cast(kind)}{weight} * {value}')}"


def _column(gaps: Differences, kind: str) -> list[str]:
    """Statements that go on to the next prototype and add the column of the table to ``z``."""
    width, unit = len(gaps.rows) + 1, gaps.unit
    start = gaps.get("weight", str(width - 1), "w")
    first = _plus(kind, start if unit == 1 else f"{_cast(kind)}{start} * {unit}")
    return ["k--;", first, _rows(gaps, kind, gaps.get("weight", "i", "w")), f"w += {width};"]


def _cast(kind: str) -> str:
    return f"({kind})" if kind in ("int_fast32_t", "int64_t") else ""


def _plus(kind: str, number: str) -> str:
    return f"z = ({kind})(z + {number});" if kind == NARROW else f"z += {number};"


def _do_while(statements: list[str]) -> list[str]:
    return ["do {", *(f"    {line}" for line in statements), "} while (k);"]


def _sums(gaps: Differences, private: str) -> str:
    """The function that adds up all scores."""
    c, kind = gaps.c, gaps.score_type
    begin = _variables(gaps, kind, gaps.card.starts[-1], ["k"])
    last = [_rows(gaps, kind, gaps.get("last", "i")), "scores[k] = z;"]
    body = [*begin, *last, *_do_while([*_column(gaps, kind), "scores[k] = z;"])]
    head = f"{private}void {c.prefix}_sums(const {c.input_type} *x, {kind} *scores)"
    return "/* the score of each prototype */\n" + function(head, body)


def _predict(gaps: Differences, public: str, array: list[str]) -> str:
    """`predict`: whoever is ahead of the best so far is the best, also at a tie, as the first comes last."""
    c, kind = gaps.c, gaps.type
    ahead = ["if (z >= 0) {", "    z = 0;", "    winner = k;", "}"]
    answer = gaps.get("owner", "winner") if "owner" in gaps.tables else "winner"
    body = [
        *array,
        *_variables(gaps, kind, 0, ["k", "winner"]),
        *_do_while([*_column(gaps, kind), *ahead]),
        f"return {answer};",
    ]
    return function(f"{public}{c.position_type} {c.prefix}_predict({c.parameters})", body)
