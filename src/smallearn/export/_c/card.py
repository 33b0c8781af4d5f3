"""The card of a model in whole numbers as a table of constants; on AVR it is in flash.

In whole numbers every literal is made of comparisons with one end: ``x ≤ a`` is ``1 − [x > a]``, ``x = a`` is
``[x > a − 1] − [x > a]``, and a missing value, whose code is the least, is ``1 − [x > least]``. So a row of the table
is an input, what it is compared with, and what is added to each column where it is greater; a raw term is a row whose
input is multiplied instead. Comparisons of the same input with the same number are one row.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from smallearn.export._c.code import NARROW, function, lines_of, of_columns
from smallearn.export._c.columns import Columns, codes_of
from smallearn.export._c.model import CModel, count_type
from smallearn.export._fixed.numbers import TargetTerm
from smallearn.export._fixed.quantise import IntegerModel, bits_for

FEW = 3  # columns that are variables; more are added up one after the other, which is shorter and as fast


@dataclass(frozen=True)
class CardRow:
    """``weights`` times an input, or where an input is greater than ``above``."""

    input: int
    above: int | None
    weights: list[int]


@dataclass(frozen=True)
class Card:
    """A card whose columns are the scores, or how far all others are ahead of the first."""

    c: CModel
    is_ahead: bool

    @classmethod
    def of(cls, c: CModel) -> "Card | None":
        """The smaller of both cards; None if a list of the terms is smaller, or prototypes are not in order."""
        scores, target = cls.scores_of(c), c.target
        if scores is None or not isinstance(target, IntegerModel):
            return None
        cards = [scores] if target.flat.has_one_owner else [scores, cls(c, True)]
        narrow = [card for card in cards if card.bits <= max(16, target.sum_bits)]
        best = min(narrow, key=lambda card: card.bytes, default=None)
        return best if best is not None and best.bytes <= best.bytes_of_list else None

    @classmethod
    def scores_of(cls, c: CModel) -> "Card | None":
        """The card whose columns are the scores; None if no term is shared, or prototypes are not in order."""
        target = c.target
        if not isinstance(target, IntegerModel) or not target.shares_terms:
            return None
        return cls(c, False) if list(target.flat.owners) == sorted(target.flat.owners) else None

    @property
    def target(self) -> IntegerModel:
        return self.c.target  # type: ignore[return-value]

    @cached_property
    def columns(self) -> Columns:
        """How scores come out of the columns."""
        return Columns(self.c, 0 if self.is_ahead else None)

    @property
    def shown(self) -> list[int]:
        """The prototypes whose columns are in the table."""
        return self.columns.others

    # --- numbers -----------------------------------------------------------------------------------------------------

    @cached_property
    def _parts(self) -> tuple[list[int], dict[tuple[int, int | None], list[int]]]:
        """The constant of each prototype, and its weight in each row."""
        target = self.target
        starts = list(target.intercepts)
        rows: dict[tuple[int, int | None], list[int]] = {}

        def add(term: TargetTerm[int], above: int | None, weight: int) -> None:
            rows.setdefault((term.input, above), [0] * len(starts))[term.prototype] += weight

        least, greatest = target.missing, -target.missing - 1
        for term in target.terms:
            value, j = term.value or 0, term.prototype
            if term.kind == "raw":
                add(term, None, term.weight)
                if term.instead is not None:
                    other = term.instead - least * term.weight
                    starts[j] += other
                    add(term, least, -other)
                continue
            low = value if term.kind in ("above", "between") else value - 1 if term.kind == "equals" else None
            high = {"at_most": value, "equals": value, "between": term.high, "missing": least}.get(term.kind)
            if low is None:
                starts[j] += term.weight
            else:
                add(term, low, term.weight)
            if high is not None and high < greatest:
                add(term, high, -term.weight)
        return starts, {key: weights for key, weights in rows.items() if any(weights)}

    @cached_property
    def starts(self) -> list[int]:
        """Where each column begins."""
        starts = self.columns.ahead(self._parts[0])
        return [int(start + shift) for start, shift in zip(starts, self.columns.shifts, strict=True)]

    @cached_property
    def rows(self) -> list[CardRow]:
        """Products first, then in the order of the inputs; rows that add nothing to the columns shown are left out."""
        found = [
            CardRow(i, above, [int(weight) for weight in self.columns.ahead(weights)])
            for (i, above), weights in self._parts[1].items()
        ]
        found = [row for row in found if any(row.weights)]
        return sorted(found, key=lambda row: (row.above is not None, row.input, row.above or 0))

    @property
    def n_products(self) -> int:
        return sum(row.above is None for row in self.rows)

    @cached_property
    def bits(self) -> int:
        """The width of the smallest type that holds every partial sum of every column."""
        ends = [[min(0, start), max(0, start)] for start in self.starts]
        for row in self.rows:
            factors = codes_of(self.target, row.input) if row.above is None else (0, 1)
            for own, weight in zip(ends, row.weights, strict=True):
                added = [0, *(weight * factor for factor in factors)]
                own[0] += min(added)
                own[1] += max(added)
        return max(bits_for((low, high)) for low, high in ends)

    @cached_property
    def step(self) -> int:
        """A power of 2 that divides the weights of all literals, beside products."""
        literals = [weight for row in self.rows if row.above is not None for weight in row.weights]
        return power_of_two(literals) if self.n_products and literals else 1

    def in_table(self, row: CardRow) -> list[int]:
        """The weights of a row as the table has them: that of the first prototype, then those of the columns shown."""
        unit = 1 if row.above is None else self.step
        return [row.weights[j] // unit for j in (0, *self.shown)]

    # --- the table ---------------------------------------------------------------------------------------------------

    @cached_property
    def fields(self) -> dict[str, str]:
        """The fields of a row and their types, the widest first, so that there is no gap between them."""
        weights = [weight for row in self.rows for weight in self.in_table(row)[1:]]
        fields = {"weight": f"int{bits_for((0, max(map(abs, weights), default=0)))}_t"}
        if self.n_products < len(self.rows):
            fields["above"] = self.c.input_type
        if [row.input for row in self.rows] != list(range(len(self.rows))):
            fields["input"] = count_type(len(self.c.inputs))
        return dict(sorted(fields.items(), key=lambda field: -size_of(field[1])))

    @property
    def bytes(self) -> int:
        """Of the table."""
        sizes = {name: size_of(kind) for name, kind in self.fields.items()}
        row = sum(size * (len(self.shown) if name == "weight" else 1) for name, size in sizes.items())
        widest = max(sizes.values())
        return len(self.rows) * -(-row // widest) * widest

    @property
    def bytes_of_list(self) -> int:
        """Of the tables that list every term of every prototype."""
        target = self.target
        literals = any(term.kind != "raw" for term in target.terms)
        weight = bits_for((0, max(abs(term.weight) for term in target.terms))) // 8
        term = 1 + weight + (2 * target.input_bits // 8 if literals else 0)
        return len(target.terms) * term + 2 * len(target.intercepts)

    @property
    def types(self) -> list[str]:
        """The types of all numbers in tables."""
        more = [_start_type(self)] if len(self.shown) > FEW else []
        more += [_base_type(self)] if self.is_ahead else []
        more += [self.c.position_type] if _needs_owners(self) else []
        return [*self.fields.values(), *more]

    @property
    def type(self) -> str:
        """The type of a column."""
        return self.c.fast_type(self.bits)

    def get(self, field: str, index: str = "0") -> str:
        """A field of row ``i``, as an expression."""
        base = f"{self.c.prefix}_rows[i].{field}"
        return f"{getter(self.c, self.fields[field])}({base if field == 'weight' else f'&{base}'}, {index})"


def power_of_two(numbers: Sequence[int]) -> int:
    """The greatest power of 2 that divides all numbers."""
    common = math.gcd(*numbers)
    return common & -common or 1


def size_of(kind: str) -> int:
    """Bytes of an integer type."""
    return int(kind.strip("uint_")) // 8


def getter(c: CModel, kind: str) -> str:
    """The macro that reads a number of a type from a table."""
    return f"{c.upper}_GET_{kind.removesuffix('_t').upper()}"


def _start_type(card: Card) -> str:
    return f"int{bits_for((0, max(abs(card.starts[j]) for j in card.shown)))}_t"


def _base_type(card: Card) -> str:
    return f"int{bits_for((0, max((abs(card.in_table(row)[0]) for row in card.rows), default=0)))}_t"


def _needs_owners(card: Card) -> bool:
    """Whether `predict` looks up the class of a column."""
    owners = list(card.target.flat.owners)
    return len(card.shown) > FEW and not card.target.flat.has_one_owner and owners != list(range(len(owners)))


def functions(card: Card, public: str, private: str) -> Iterator[str]:
    """The table and all functions."""
    c = card.c
    yield "\n".join(_tables(card))
    if card.is_ahead:
        yield _base(card, private)
    few = len(card.shown) <= FEW
    yield _sums(card, private) if few else f"{_column(card, private)}\n\n{_all_columns(card, private)}"
    array = [f"const {c.input_type} x[] = {{{c.passed}}};"] if c.arguments else []
    begin = [*array, f"{card.type} z[{len(card.target.intercepts)}];", f"{c.prefix}_sums(x, z);"]
    with_score = [*begin, f"z[0] = {c.prefix}_first(x);"] if card.is_ahead else begin
    predict = None if few else _predict(card, public, array)
    columns = card.columns
    yield from of_columns(columns, public, private, kind=card.type, begin=begin, with_score=with_score, predict=predict)


def _tables(card: Card) -> Iterator[str]:
    c = card.c
    inside = " ".join(
        f"{kind} {name}{f'[{len(card.shown)}]' if name == 'weight' else ''};" for name, kind in card.fields.items()
    )
    yield f"typedef struct {{ {inside} }} {c.prefix}_row_t;"
    yield f"static const {c.prefix}_row_t {c.prefix}_rows[] {c.upper}_FLASH = {{"
    for place, row in enumerate(card.rows):
        values = {
            "weight": f"{{{', '.join(str(weight) for weight in card.in_table(row)[1:])}}}",
            "above": str(row.above or 0),
            "input": f"{c.upper}_X_{c.inputs[row.input].upper()}",
        }
        comma = "," if place < len(card.rows) - 1 else ""
        yield "\n".join(
            f"    {line}" for line in lines_of(f"{{{', '.join(values[name] for name in card.fields)}}}{comma}")
        )
    yield "};"
    lists = []
    if len(card.shown) > FEW:
        lists.append(("start", _start_type(card), [card.starts[j] for j in card.shown]))
    if card.is_ahead:
        lists.append(("base", _base_type(card), [card.in_table(row)[0] for row in card.rows]))
    if _needs_owners(card):
        lists.append(("owner", c.position_type, list(card.target.flat.owners)))
    for name, kind, numbers in lists:
        body = "\n    ".join(lines_of(", ".join(map(str, numbers))))
        yield f"static const {kind} {c.prefix}_{name}[] {c.upper}_FLASH = {{\n    {body}\n}};"


def _loop(card: Card, weights: list[tuple[str, str]]) -> list[str]:
    """A loop over the rows that adds to each variable its weight, an expression."""
    kind, products = card.type, card.n_products
    value = f"x[{card.get('input') if 'input' in card.fields else 'i'}]"
    lines = [f"for (i = 0; i < {len(card.rows)}; i++) {{"]
    if not products:
        lines.append(f"    if ({value} > {card.get('above')}) {{")
        lines += [f"        {_added(kind, name, weight)}" for name, weight in weights]
        return [*lines, "    }", "}"]
    lines.append(f"    {kind} v = {value};")
    if products < len(card.rows):
        greater = f"v > {card.get('above')}"
        greater = greater if card.step == 1 else f"{greater} ? {card.step} : 0"
        lines.append(f"    if (i >= {products}) v = {greater}; /* the rows before are products */")
    lines += [f"    {_added(kind, name, f'{weight} * v')}" for name, weight in weights]
    return [*lines, "}"]


def _added(kind: str, name: str, number: str) -> str:
    return f"{name} = ({kind})({name} + {number});" if kind == NARROW else f"{name} += {number};"


def _sums(card: Card, private: str) -> str:
    """The function that adds up the few columns of the table."""
    c = card.c
    body = [f"{count_type(len(card.rows))} i;"]
    body += [f"z[{j}] = {card.starts[j]};" for j in card.shown]
    body += _loop(card, [(f"z[{j}]", card.get("weight", str(k))) for k, j in enumerate(card.shown)])
    note = "how far each prototype but the first is ahead of it" if card.is_ahead else "the score of each prototype"
    return f"/* {note} */\n" + function(f"{private}void {c.prefix}_sums(const {c.input_type} *x, {card.type} *z)", body)


def _base(card: Card, private: str) -> str:
    """The function for the score of the first prototype."""
    c = card.c
    weight = f"{getter(c, _base_type(card))}({c.prefix}_base, i)"
    body = [f"{count_type(len(card.rows))} i;", f"{card.type} z = {card.starts[0]};", *_loop(card, [("z", weight)])]
    return function(f"{private}{card.type} {c.prefix}_first(const {c.input_type} *x)", [*body, "return z;"])


def _column(card: Card, private: str) -> str:
    """The function for the sum of a column of the table."""
    c = card.c
    body = [
        f"{count_type(len(card.rows))} i;",
        f"{card.type} z = {getter(c, _start_type(card))}({c.prefix}_start, k);",
        *_loop(card, [("z", card.get("weight", "k"))]),
        "return z;",
    ]
    return function(f"{private}{card.type} {c.prefix}_column(const {c.input_type} *x, {c.position_type} k)", body)


def _all_columns(card: Card, private: str) -> str:
    c, first = card.c, card.shown[0]
    loop = f"for (k = 0; k < {len(card.shown)}; k++) z[k{f' + {first}' if first else ''}] = {c.prefix}_column(x, k);"
    head = f"{private}void {c.prefix}_sums(const {c.input_type} *x, {card.type} *z)"
    return function(head, [f"{c.position_type} k;", loop])


def _predict(card: Card, public: str, array: list[str]) -> str:
    """`predict` without an array of all columns."""
    c, flat = card.c, card.target.flat
    head = f"{public}{c.position_type} {c.prefix}_predict({c.parameters})"
    column = f"{c.prefix}_column(x, k)"
    if flat.has_one_owner:
        owner = flat.owners[0]
        test = f"{column} {'>' if owner == 1 else '>='} {card.target.cut}"
        loop = f"for (k = 0; k < {len(card.shown)}; k++) if ({test}) return {owner};"
        return function(head, [*array, f"{c.position_type} k;", loop, f"return {1 - owner};"])
    begin = 0 if card.is_ahead else 1
    best = "0" if card.is_ahead else f"{c.prefix}_column(x, 0)"
    winner = "k + 1" if card.is_ahead else "k"
    answer = f"{getter(c, c.position_type)}({c.prefix}_owner, winner)" if _needs_owners(card) else "winner"
    body = [
        *array,
        f"{card.type} best = {best};",
        f"{c.position_type} winner = 0, k;",
        f"for (k = {begin}; k < {len(card.shown)}; k++) {{",
        f"    const {card.type} z = {column};",
        "    if (z > best) {",
        "        best = z;",
        f"        winner = ({c.position_type})({winner});",
        "    }",
        "}",
        f"return {answer};",
    ]
    return function(head, body)
