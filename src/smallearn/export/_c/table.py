"""The body of a C export as a loop over tables of constants, which are in flash on AVR."""

from collections.abc import Iterator, Sequence

from smallearn.export._c.code import function, lines_of
from smallearn.export._c.identifiers import Words, count_type
from smallearn.export._fixed.numbers import TargetTerm
from smallearn.export._fixed.quantise import IntegerModel, bits_for

KINDS = ("RAW", "RAW_OR_MEAN", "BETWEEN", "AT_MOST", "ABOVE", "EQUALS", "MISSING")
READ = {"8": "pgm_read_byte({})", "16": "pgm_read_word({})", "32": "pgm_read_dword({})", "float": "pgm_read_float({})"}
WIDE = "((uint64_t)pgm_read_dword({0}) | (uint64_t)pgm_read_dword((const uint8_t *)({0}) + 4) << 32)"


def flash(words: Words, types: Sequence[str]) -> str:
    """Macros that put a table into flash and read a number of each of these types from one."""
    up = words.upper
    names = {kind: f"{up}_GET_{kind.removesuffix('_t').upper()}" for kind in types}
    lines = ["#ifdef __AVR__", "#include <avr/pgmspace.h>", f"#define {up}_FLASH PROGMEM"]
    for kind, name in names.items():
        size = kind.strip("uint_") if "int" in kind else "float"
        read = READ.get(size, WIDE).format("&(table)[i]")
        lines.append(f"#define {name}(table, i) (({kind}){read})")
    lines += ["#else", f"#define {up}_FLASH"]
    lines += [f"#define {name}(table, i) ((table)[i])" for name in names.values()]
    return "\n".join([*lines, "#endif"])


def table(words: Words, name: str, kind: str, values: Sequence[str]) -> str:
    """The definition of a table."""
    inside = "\n    ".join(lines_of(", ".join(values)))
    return f"static const {kind} {words.prefix}_{name}[] {words.upper}_FLASH = {{\n    {inside}\n}};"


def element(words: Words, name: str, kind: str, index: str) -> str:
    """An element of a table, as an expression."""
    return f"{words.upper}_GET_{kind.removesuffix('_t').upper()}({words.prefix}_{name}, {index})"


class Tables:
    """The tables that this model needs: ``kinds`` of terms that it has, and the type of each table's numbers."""

    def __init__(self, words: Words):
        self.words = words
        self.terms = words.target.terms
        self.kinds = sorted({self.kind(term) for term in self.terms}, key=KINDS.index)
        self.index_type = count_type(2 * len(self.terms))  # `reason` counts on past the end
        literals = [kind for kind in self.kinds if not kind.startswith("RAW")]
        self.types = {"begin": self.index_type, "intercept": words.score_type}
        if not words.target.flat.is_binary:
            self.types["owner"] = words.position_type
        self.types |= {"input": count_type(len(words.inputs)), "weight": self._weight_type()}
        if len(self.kinds) > 1:
            self.types["kind"] = "uint8_t"
        if "BETWEEN" in literals:
            self.types |= {"low": words.input_type, "high": words.input_type}
        elif literals and literals != ["MISSING"]:
            self.types["value"] = words.input_type
        if "RAW_OR_MEAN" in self.kinds:
            self.types["instead"] = words.score_type

    def _weight_type(self) -> str:
        if self.words.is_float:
            return self.words.score_type
        return f"int{bits_for((0, max(abs(term.weight) for term in self.terms)))}_t"

    def kind(self, term: TargetTerm) -> str:
        """In whole numbers every literal is one of a lower and an upper end."""
        if term.kind == "raw":
            return "RAW" if term.instead is None else "RAW_OR_MEAN"
        return term.kind.upper() if self.words.is_float else "BETWEEN"

    def ends(self, term: TargetTerm) -> tuple[int, int]:
        """The least and the greatest code at which a literal holds; 0 and 0 of a raw term."""
        assert isinstance(self.words.target, IntegerModel)
        least = self.words.target.missing
        value, most = term.value or 0, -least - 1
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
        target, number = self.words.target, self.words.number
        if name == "begin":
            begins = [sum(term.prototype < j for term in self.terms) for j in range(len(target.intercepts) + 1)]
            return [str(begin) for begin in begins]
        if name == "intercept":
            return [number(intercept) for intercept in target.intercepts]
        if name == "owner":
            return [str(owner) for owner in target.flat.owners]
        of_term = {
            "input": lambda term: f"{self.words.upper}_X_{self.words.inputs[term.input].upper()}",
            "weight": lambda term: number(term.weight),
            "kind": lambda term: f"{self.words.upper}_KIND_{self.kind(term)}",
            "low": lambda term: str(self.ends(term)[0]),
            "high": lambda term: str(self.ends(term)[1]),
            "value": lambda term: number(term.value or 0),
            "instead": lambda term: number(term.instead or 0),
        }[name]
        return [of_term(term) for term in self.terms]

    def get(self, name: str, index: str) -> str:
        """An element of a table, as an expression."""
        return element(self.words, name, self.types[name], index)


def functions(words: Words, public: str, private: str) -> Iterator[str]:
    """Tables and functions; ``public`` and ``private`` are the storage classes of functions."""
    tables = Tables(words)
    yield "\n".join(_definitions(tables))
    yield _term(tables, private)
    yield _prototype(tables, private)
    yield _predict(tables, public)
    yield _score(tables, public)
    if not words.target.flat.is_binary:
        yield _scores(tables, public)
    yield _reason(tables, public)


def _definitions(tables: Tables) -> Iterator[str]:
    words = tables.words
    if "kind" in tables.types:
        inside = ", ".join(f"{words.upper}_KIND_{kind} = {place}" for place, kind in enumerate(tables.kinds))
        yield f"enum {{ {inside} }};"
    for name, kind in tables.types.items():
        yield table(words, name, kind, tables.values(name))


def _term(tables: Tables, private: str) -> str:
    """What term ``i`` adds."""
    words, Z = tables.words, tables.words.sum_type()
    body = [
        f"const {words.input_type} v = x[{tables.get('input', 'i')}];",
        f"const {Z} w = {tables.get('weight', 'i')};",
    ]
    results = {kind: _added(tables, kind) for kind in tables.kinds}
    last = tables.kinds[-1]
    if len(results) > 1:
        body.append(f"switch ({tables.get('kind', 'i')}) {{")
        for kind, result in results.items():
            body.append("default:" if kind == last else f"case {words.upper}_KIND_{kind}:")
            body.append(f"    return ({Z})({result});")
        body.append("}")
    else:
        body.append(f"return ({Z})({results[last]});")
    return function(f"{private}{Z} {words.prefix}_term(const {words.input_type} *x, {tables.index_type} i)", body)


def _added(tables: Tables, kind: str) -> str:
    words, zero = tables.words, tables.words.number(0)
    missing = "v != v" if words.is_float else f"v == {words.upper}_MISSING"
    if kind == "RAW":
        return "w * v"
    if kind == "RAW_OR_MEAN":
        return f"{missing} ? {tables.get('instead', 'i')} : w * v"
    if kind == "MISSING":
        return f"{missing} ? w : {zero}"
    if kind == "BETWEEN":
        return f"v >= {tables.get('low', 'i')} && v <= {tables.get('high', 'i')} ? w : {zero}"
    sign = {"AT_MOST": "<=", "ABOVE": ">", "EQUALS": "=="}[kind]
    return f"v {sign} {tables.get('value', 'i')} ? w : {zero}"


def _prototype(tables: Tables, private: str) -> str:
    """The score of prototype ``j``."""
    words, Z = tables.words, tables.words.sum_type()
    body = [
        f"{Z} z = {tables.get('intercept', 'j')};",
        f"{tables.index_type} i = {tables.get('begin', 'j')};",
        f"const {tables.index_type} end = {tables.get('begin', 'j + 1')};",
        f"for (; i < end; i++) z = ({Z})(z + {words.prefix}_term(x, i));",
        "return z;",
    ]
    head = f"{private}{Z} {words.prefix}_prototype(const {words.input_type} *x, {words.position_type} j)"
    return function(head, body)


def _array(words: Words) -> list[str]:
    """The inputs as an array, where they are arguments."""
    return [f"const {words.input_type} x[] = {{{words.passed}}};"] if words.arguments else []


def _predict(tables: Tables, public: str) -> str:
    words, flat = tables.words, tables.words.target.flat
    head = f"{public}{words.position_type} {words.prefix}_predict({words.parameters})"
    if not flat.is_binary:
        return function(head, [*_array(words), *_best(tables), f"return {tables.get('owner', 'winner')};"])
    owner = flat.owners[0]
    test = f"{words.prefix}_prototype(x, j) {'>' if owner == 1 else '>='} {words.number(0)}"
    loop = f"for (j = 0; j < {words.upper}_PROTOTYPES; j++) if ({test}) return {owner};"
    return function(head, [*_array(words), f"{words.position_type} j;", loop, f"return {1 - owner};"])


def _best(tables: Tables) -> list[str]:
    """Statements that leave the greatest score in ``best`` and its prototype in ``winner``."""
    words, Z = tables.words, tables.words.sum_type()
    tie = ""
    if not words.target.flat.is_binary:
        tie = f" || (z == best && {tables.get('owner', 'j')} < {tables.get('owner', 'winner')})"
    return [
        f"{Z} best = {words.prefix}_prototype(x, 0);",
        f"{words.position_type} winner = 0;",
        f"{words.position_type} j;",
        f"for (j = 1; j < {words.upper}_PROTOTYPES; j++) {{",
        f"    const {Z} z = {words.prefix}_prototype(x, j);",
        f"    if (z > best{tie}) {{",
        "        best = z;",
        "        winner = j;",
        "    }",
        "}",
    ]


def _score(tables: Tables, public: str) -> str:
    words, Z = tables.words, tables.words.sum_type()
    body = [
        f"{Z} best = {words.prefix}_prototype(x, 0);",
        f"{words.position_type} j;",
        f"for (j = 1; j < {words.upper}_PROTOTYPES; j++) {{",
        f"    const {Z} z = {words.prefix}_prototype(x, j);",
        "    if (z > best) best = z;",
        "}",
        f"return ({words.score_type})best;",
    ]
    head = f"{public}{words.score_type} {words.prefix}_score({words.parameters})"
    return function(head, [*_array(words), *body])


def _scores(tables: Tables, public: str) -> str:
    words, flat = tables.words, tables.words.target.flat
    firsts = [flat.owners.index(label) for label in range(len(flat.classes))]
    kind = words.score_type
    body = [f"{words.position_type} j;"]
    body += [f"scores[{label}] = ({kind}){words.prefix}_prototype(x, {j});" for label, j in enumerate(firsts)]
    body += [
        f"for (j = 0; j < {words.upper}_PROTOTYPES; j++) {{",
        f"    const {kind} z = ({kind}){words.prefix}_prototype(x, j);",
        f"    const {words.position_type} owner = {tables.get('owner', 'j')};",
        "    if (z > scores[owner]) scores[owner] = z;",
        "}",
    ]
    return function(f"{public}void {words.prefix}_scores({words.with_output('scores')})", [*_array(words), *body])


def _reason(tables: Tables, public: str) -> str:
    words = tables.words
    added = f"({words.score_type}){words.prefix}_term(x, i)"
    body = [
        *_best(tables),
        f"{tables.index_type} i, end, place;",
        "reason->prototype = winner;",
        f"reason->score = ({words.score_type})best;",
        f"i = {tables.get('begin', 'winner')};",
        f"end = {tables.get('begin', 'winner + 1')};",
        f"for (place = 0; place < {words.upper}_TERMS; place++, i++) {{",
        f"    reason->contribution[place] = i < end ? {added} : {words.number(0)};",
        "}",
    ]
    return function(f"{public}void {words.prefix}_reason({words.with_output('reason')})", [*_array(words), *body])
