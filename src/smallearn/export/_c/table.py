"""The body of a C export as a loop over tables of constants; on AVR they are in flash.

Where prototypes share terms, a row of the tables is a term with its weight in every prototype (in whole numbers that is
`card`, or for many classes `differences`); otherwise tables list the terms of one prototype after the other (for raw
terms in bytes that is `gaps`).
"""

from collections.abc import Iterator, Sequence

from smallearn.export._c import card, differences, gaps
from smallearn.export._c.code import function, lines_of, of_columns
from smallearn.export._c.columns import Columns
from smallearn.export._c.model import CModel, count_type
from smallearn.export._fixed.numbers import TargetTerm
from smallearn.export._fixed.quantise import IntegerModel, bits_for

KINDS = ("RAW", "RAW_OR_MEAN", "BETWEEN", "AT_MOST", "ABOVE", "EQUALS", "MISSING")
COMPARISONS = {"AT_MOST": "<=", "ABOVE": ">", "EQUALS": "=="}
READ = {"8": "pgm_read_byte({})", "16": "pgm_read_word({})", "32": "pgm_read_dword({})", "float": "pgm_read_float({})"}
WIDE = "((uint64_t)pgm_read_dword({0}) | (uint64_t)pgm_read_dword((const uint8_t *)({0}) + 4) << 32)"


def flash(c: CModel, types: Sequence[str]) -> str:
    """Macros that put a table into flash, and read a number of each of these types from one."""
    up = c.upper
    names = {kind: f"{up}_GET_{kind.removesuffix('_t').upper()}" for kind in types}
    lines = ["#ifdef __AVR__", "#include <avr/pgmspace.h>", f"#define {up}_FLASH PROGMEM"]
    for kind, name in names.items():
        size = kind.strip("uint_") if "int" in kind else "float"
        read = READ.get(size, WIDE).format("&(table)[i]")
        lines.append(f"#define {name}(table, i) (({kind}){read})")
    lines += ["#else", f"#define {up}_FLASH"]
    lines += [f"#define {name}(table, i) ((table)[i])" for name in names.values()]
    return "\n".join([*lines, "#endif"])


def table(c: CModel, name: str, kind: str, values: Sequence[str]) -> str:
    """The definition of a table."""
    inside = "\n    ".join(lines_of(", ".join(values)))
    return f"static const {kind} {c.prefix}_{name}[] {c.upper}_FLASH = {{\n    {inside}\n}};"


def element(c: CModel, name: str, kind: str, index: str) -> str:
    """An element of a table, as an expression."""
    return f"{c.upper}_GET_{kind.removesuffix('_t').upper()}({c.prefix}_{name}, {index})"


def types_of(c: CModel) -> list[str]:
    """The types of the numbers in the tables of a model."""
    found = differences.Differences.of(c) or card.Card.of(c) or gaps.Gaps.of(c)
    return list(Tables(c).types.values()) if found is None else found.types


class Tables:
    """The tables that a model needs: the kinds of its terms, and the type of the numbers in each table.

    ``rows`` are the rows of the card in floats, if prototypes share terms; then ``terms`` has one of each row.
    """

    def __init__(self, c: CModel):
        self.c = c
        self.rows = c.target.rows if c.is_float and c.target.shares_terms else []
        self.terms = [next(filter(None, row)) for row in self.rows] or c.target.terms
        self.kinds = sorted({self.kind(term) for term in self.terms}, key=KINDS.index)
        self.index_type = count_type(2 * len(self.terms))  # `reason` counts on past the end
        literals = [kind for kind in self.kinds if not kind.startswith("RAW")]
        self.types = {"intercept": c.score_type}
        if not self.rows:
            self.types["begin"] = self.index_type
        if not c.target.flat.has_one_owner and not self.uses_columns:
            self.types["owner"] = c.position_type
        self.types |= {"input": count_type(len(c.inputs)), "weight": self._weight_type()}
        if len(self.kinds) > 1:
            self.types["kind"] = "uint8_t"
        if "BETWEEN" in literals:
            self.types |= {"low": c.input_type, "high": c.input_type}
        elif literals and literals != ["MISSING"]:
            self.types["value"] = c.input_type
        if "RAW_OR_MEAN" in self.kinds:
            self.types["instead"] = c.score_type

    @property
    def uses_columns(self) -> bool:
        """Whether all scores are added up before one is compared."""
        return bool(self.rows or self.c.target.offsets) or self.c.target.flat.decision.costs is not None

    def _weight_type(self) -> str:
        if self.c.is_float:
            return self.c.score_type
        return f"int{bits_for((0, max(abs(term.weight) for term in self.terms)))}_t"

    def kind(self, term: TargetTerm) -> str:
        """The kind of a term in the table. In whole numbers every literal is an interval of codes."""
        if term.kind == "raw":
            return "RAW" if term.instead is None else "RAW_OR_MEAN"
        return term.kind.upper() if self.c.is_float else "BETWEEN"

    def ends(self, term: TargetTerm) -> tuple[int, int]:
        """The least and the greatest code at which a literal holds; 0 and 0 for a raw term."""
        assert isinstance(self.c.target, IntegerModel)
        least = 0 if self.c.target.unsigned else self.c.target.missing
        value, most = term.value or 0, 2**self.c.target.input_bits - 1 + least
        ends = {
            "raw": (0, 0),
            "at_most": (least, value),
            "above": (value + 1, most),
            "equals": (value, value),
            "between": (value + 1, term.high or 0),
            "missing": (least, least),
        }
        return ends[term.kind]

    def values(self, name: str) -> list[str]:
        """The numbers of a table."""
        target, number = self.c.target, self.c.number
        if name == "begin":
            begins = [sum(term.prototype < j for term in self.terms) for j in range(len(target.intercepts) + 1)]
            return [str(begin) for begin in begins]
        if name == "intercept":
            return [number(intercept) for intercept in target.intercepts]
        if name == "owner":
            return [str(owner) for owner in target.flat.owners]
        if self.rows and name in ("weight", "instead"):
            cells = [0 if term is None else getattr(term, name) for row in self.rows for term in row]
            return [number(cell or 0) for cell in cells]
        of_term = {
            "input": lambda term: f"{self.c.upper}_X_{self.c.inputs[term.input].upper()}",
            "weight": lambda term: number(term.weight),
            "kind": lambda term: f"{self.c.upper}_KIND_{self.kind(term)}",
            "low": lambda term: str(self.ends(term)[0]),
            "high": lambda term: str(self.ends(term)[1]),
            "value": lambda term: number(term.value or 0),
            "instead": lambda term: number(term.instead or 0),
        }[name]
        return [of_term(term) for term in self.terms]

    def get(self, name: str, index: str) -> str:
        """An element of a table, as an expression."""
        return element(self.c, name, self.types[name], index)


def functions(c: CModel, public: str, private: str) -> Iterator[str]:
    """Tables and functions; ``public`` and ``private`` are the storage classes of functions."""
    by_class, found = differences.Differences.of(c), card.Card.of(c)
    if by_class is not None:
        yield from differences.functions(by_class, public, private)
        return
    if found is not None:
        yield from card.functions(found, public, private)
        return
    listed = gaps.Gaps.of(c)
    if listed is not None:
        yield "\n".join(table(c, name, kind, [*map(str, numbers)]) for name, (kind, numbers) in listed.tables.items())
        yield from gaps.functions(listed, public, private)
        return
    tables = Tables(c)
    yield "\n".join(_definitions(tables))
    if tables.rows:
        yield _sums_of_rows(tables, private)
    else:
        yield _term(tables, private)
        yield _prototype(tables, private)
    if tables.uses_columns:
        if not tables.rows:
            yield _sums_of_prototypes(tables, private)
        begin = [*_array(c), f"{c.sum_type()} z[{c.upper}_PROTOTYPES];", f"{c.prefix}_sums(x, z);"]
        yield from of_columns(Columns(c, None), public, private, kind=c.sum_type(), begin=begin)
        return
    yield _predict(tables, public)
    yield _score(tables, public)
    if not c.target.flat.has_one_owner:
        yield _scores(tables, public)
    yield _reason(tables, public)


def _definitions(tables: Tables) -> Iterator[str]:
    c = tables.c
    if "kind" in tables.types:
        inside = ", ".join(f"{c.upper}_KIND_{kind} = {place}" for place, kind in enumerate(tables.kinds))
        yield f"enum {{ {inside} }};"
    for name, kind in tables.types.items():
        yield table(c, name, kind, tables.values(name))


def _term(tables: Tables, private: str) -> str:
    """What term ``i`` adds."""
    c, Z = tables.c, tables.c.sum_type()
    body = [
        f"const {c.input_type} v = x[{tables.get('input', 'i')}];",
        f"const {Z} w = {tables.get('weight', 'i')};",
    ]
    results = {kind: _added(tables, kind) for kind in tables.kinds}
    last = tables.kinds[-1]
    if len(results) > 1:
        body.append(f"switch ({tables.get('kind', 'i')}) {{")
        for kind, result in results.items():
            body.append("default:" if kind == last else f"case {c.upper}_KIND_{kind}:")
            body.append(f"    return ({Z})({result});")
        body.append("}")
    else:
        body.append(f"return ({Z})({results[last]});")
    return function(f"{private}{Z} {c.prefix}_term(const {c.input_type} *x, {tables.index_type} i)", body)


def _added(tables: Tables, kind: str) -> str:
    """What a term of this kind adds, given its weight ``w`` and its input ``v``."""
    c, zero = tables.c, tables.c.number(0)
    missing = "v != v" if c.is_float else f"v == {c.upper}_MISSING"
    if kind == "RAW":
        return "w * v"
    if kind == "RAW_OR_MEAN":
        return f"{missing} ? {tables.get('instead', 'i')} : w * v"
    return f"{_holds(tables, kind)} ? w : {zero}"


def _prototype(tables: Tables, private: str) -> str:
    """The score of prototype ``j``."""
    c, Z = tables.c, tables.c.sum_type()
    body = [
        f"{Z} z = {tables.get('intercept', 'j')};",
        f"{tables.index_type} i = {tables.get('begin', 'j')};",
        f"const {tables.index_type} end = {tables.get('begin', 'j + 1')};",
        f"for (; i < end; i++) z = ({Z})(z + {c.prefix}_term(x, i));",
        "return z;",
    ]
    head = f"{private}{Z} {c.prefix}_prototype(const {c.input_type} *x, {c.position_type} j)"
    return function(head, body)


def _sums_of_prototypes(tables: Tables, private: str) -> str:
    """The score of each prototype, with the offset of its class where these are whole numbers."""
    c, Z = tables.c, tables.c.sum_type()
    body = [f"{c.position_type} j;", f"for (j = 0; j < {c.upper}_PROTOTYPES; j++) z[j] = {c.prefix}_prototype(x, j);"]
    body += [f"z[{j}] += {shift};" for j, shift in enumerate(Columns(c, None).shifts) if shift]
    return function(f"{private}void {c.prefix}_sums(const {c.input_type} *x, {Z} *z)", body)


def _sums_of_rows(tables: Tables, private: str) -> str:
    """The score of each prototype, row by row of the card: each literal is evaluated once."""
    c, Z = tables.c, tables.c.sum_type()
    place = f"i * {c.upper}_PROTOTYPES + j"
    each = f"for (j = 0; j < {c.upper}_PROTOTYPES; j++)"
    factors = {kind: _factor(tables, kind) for kind in tables.kinds}
    *cases, last = factors.items()
    choice = [f"const {Z} f = {last[1]};"]
    if cases:
        choice = [f"{Z} f;", f"switch ({tables.get('kind', 'i')}) {{"]
        choice += [f"case {c.upper}_KIND_{kind}: f = {factor}; break;" for kind, factor in cases]
        choice += [f"default: f = {last[1]}; break;", "}"]
    if "RAW_OR_MEAN" in factors:
        only = f"{tables.get('kind', 'i')} == {c.upper}_KIND_RAW_OR_MEAN && " if cases else ""
        choice += [f"if ({only}v != v) {{", f"    {each} z[j] += {tables.get('instead', place)};", "    continue;", "}"]
    row = [
        f"const {c.input_type} v = x[{tables.get('input', 'i')}];",
        *choice,
        f"if (f != {c.number(0)}) {each} z[j] += f * {tables.get('weight', place)};",
    ]
    body = [
        f"{count_type(len(tables.rows) * len(c.target.intercepts))} i;",
        f"{c.position_type} j;",
        f"{each} z[j] = {tables.get('intercept', 'j')};",
        f"for (i = 0; i < {len(tables.rows)}; i++) {{",
        *(f"    {line}" for line in row),
        "}",
    ]
    return function(f"{private}void {c.prefix}_sums(const {c.input_type} *x, {Z} *z)", body)


def _factor(tables: Tables, kind: str) -> str:
    """What the weights of a row of this kind are multiplied by, given its input ``v``."""
    if kind.startswith("RAW"):
        return "v"
    one, zero = tables.c.number(1), tables.c.number(0)
    return f"{_holds(tables, kind)} ? {one} : {zero}"


def _holds(tables: Tables, kind: str) -> str:
    """The condition that a literal of this kind holds, given its input ``v``."""
    if kind == "MISSING":
        return "v != v" if tables.c.is_float else f"v == {tables.c.upper}_MISSING"
    if kind == "BETWEEN":
        return f"v >= {tables.get('low', 'i')} && v <= {tables.get('high', 'i')}"
    return f"v {COMPARISONS[kind]} {tables.get('value', 'i')}"


def _array(c: CModel) -> list[str]:
    """The inputs as an array, where they are arguments."""
    return [f"const {c.input_type} x[] = {{{c.passed}}};"] if c.arguments else []


def _predict(tables: Tables, public: str) -> str:
    c, flat = tables.c, tables.c.target.flat
    head = f"{public}{c.position_type} {c.prefix}_predict({c.parameters})"
    if not flat.has_one_owner:
        return function(head, [*_array(c), *_best(tables), f"return {tables.get('owner', 'winner')};"])
    owner = flat.owners[0]
    test = f"{c.prefix}_prototype(x, j) {'>' if owner == 1 else '>='} {c.number(c.target.cut)}"
    loop = f"for (j = 0; j < {c.upper}_PROTOTYPES; j++) if ({test}) return {owner};"
    return function(head, [*_array(c), f"{c.position_type} j;", loop, f"return {1 - owner};"])


def _first(tables: Tables) -> str:
    """A statement that puts the score of the first prototype into ``best``."""
    return f"{tables.c.sum_type()} best = {tables.c.prefix}_prototype(x, 0);"


def _others(tables: Tables, body: list[str]) -> list[str]:
    """A loop over the other prototypes ``j``, whose score is in ``z``."""
    c, Z = tables.c, tables.c.sum_type()
    return [
        f"{c.position_type} j;",
        f"for (j = 1; j < {c.upper}_PROTOTYPES; j++) {{",
        f"    const {Z} z = {c.prefix}_prototype(x, j);",
        *(f"    {line}" for line in body),
        "}",
    ]


def _best(tables: Tables) -> list[str]:
    """Statements that leave the greatest score in ``best`` and its prototype in ``winner``."""
    c = tables.c
    tie = ""
    if not c.target.flat.has_one_owner:
        tie = f" || (z == best && {tables.get('owner', 'j')} < {tables.get('owner', 'winner')})"
    return [
        _first(tables),
        f"{c.position_type} winner = 0;",
        *_others(tables, [f"if (z > best{tie}) {{", "    best = z;", "    winner = j;", "}"]),
    ]


def _score(tables: Tables, public: str) -> str:
    c = tables.c
    body = [_first(tables), *_others(tables, ["if (z > best) best = z;"]), f"return ({c.score_type})best;"]
    head = f"{public}{c.score_type} {c.prefix}_score({c.parameters})"
    return function(head, [*_array(c), *body])


def _scores(tables: Tables, public: str) -> str:
    c, flat = tables.c, tables.c.target.flat
    firsts = [flat.owners.index(label) for label in range(len(flat.classes))]
    kind = c.score_type
    body = [f"{c.position_type} j;"]
    body += [f"scores[{label}] = ({kind}){c.prefix}_prototype(x, {j});" for label, j in enumerate(firsts)]
    body += [
        f"for (j = 0; j < {c.upper}_PROTOTYPES; j++) {{",
        f"    const {kind} z = ({kind}){c.prefix}_prototype(x, j);",
        f"    const {c.position_type} owner = {tables.get('owner', 'j')};",
        "    if (z > scores[owner]) scores[owner] = z;",
        "}",
    ]
    return function(f"{public}void {c.prefix}_scores({c.with_output('scores')})", [*_array(c), *body])


def _reason(tables: Tables, public: str) -> str:
    c = tables.c
    added = f"({c.score_type}){c.prefix}_term(x, i)"
    body = [
        *_best(tables),
        f"{tables.index_type} i, end, place;",
        "reason->prototype = winner;",
        f"reason->score = ({c.score_type})best;",
        f"i = {tables.get('begin', 'winner')};",
        f"end = {tables.get('begin', 'winner + 1')};",
        f"for (place = 0; place < {c.upper}_TERMS; place++, i++) {{",
        f"    reason->contribution[place] = i < end ? {added} : {c.number(0)};",
        "}",
    ]
    return function(f"{public}void {c.prefix}_reason({c.with_output('reason')})", [*_array(c), *body])
