"""The body of a C export as straight-line code: weights are immediates, only what is used is loaded."""

from collections.abc import Iterator
from textwrap import wrap

from smallearn.export._c.identifiers import Words
from smallearn.export._c.rules import condition
from smallearn.export._fixed.numbers import TargetTerm

NARROW = "int_fast8_t"  # the arithmetic of C is that of int, and has to be brought back


def functions(words: Words, public: str, private: str) -> Iterator[str]:
    """All functions; ``public`` and ``private`` are the storage classes to begin them with."""
    flat = words.target.flat
    for prototype in range(len(flat.owners)):
        yield _prototype(words, prototype, private)
    yield _predict(words, public)
    yield _score(words, public)
    if not flat.is_binary:
        yield _scores(words, public)
    yield _reason(words, public)


def lines_of(text: str, indent: str = "") -> list[str]:
    """Long text on several lines, broken at spaces alone."""
    return wrap(text, 110, subsequent_indent=indent, break_on_hyphens=False, break_long_words=False)


def function(head: str, body: list[str]) -> str:
    return "\n".join([f"{head} {{", *(f"    {line}" for line in body), "}"])


def _prototype(words: Words, prototype: int, private: str) -> str:
    """The score of a prototype."""
    kind, terms = words.sum_type(prototype), words.target.of(prototype)
    body = words.unused({term.input for term in terms})
    before = ""
    if _turn(words, prototype):
        before = _sum(words, prototype, private) + "\n\n"
        total = _sum_call(words, prototype)
        intercept = words.target.intercepts[prototype]
        sign = "-" if _turn(words, prototype) < 0 else "+"
        body = [f"return {_narrowed(kind, f'{intercept} {sign} {total}')};"]
    else:
        body.append(f"{kind} z = {words.number(words.target.intercepts[prototype])};")
        body += [_statement(words, term, kind, term.weight) for term in terms]
        body.append("return z;")
    return before + function(f"{private}{kind} {_name(words, prototype)}({words.parameters})", body)


def _turn(words: Words, prototype: int) -> int:
    """Whether there is a sum of its own, without the constant: 1, or −1 with all signs turned so that the first product
    needs no change of sign; 0 if not. `predict` compares such a sum with the constant, which is shorter than to add it
    and then to compare with 0. Whole numbers do not mind the order; `Rounded.intervals` holds for any."""
    products = [term.weight for term in words.target.of(prototype) if term.kind == "raw"]
    if words.is_float or not products:
        return 0
    return 1 if max(products) > 0 else -1


def _sum(words: Words, prototype: int, private: str) -> str:
    kind, turn = words.sum_type(prototype), _turn(words, prototype)
    terms = words.target.of(prototype)
    first = next(term for term in terms if term.kind == "raw" and turn * term.weight > 0)
    product = _narrowed(kind, words.product(first, abs(first.weight)))
    body = [*words.unused({term.input for term in terms}), f"{kind} z = {product}; /* {words.says(first.text)} */"]
    body += [_statement(words, term, kind, turn * term.weight) for term in terms if term is not first]
    return function(f"{private}{kind} {words.prefix}_sum_{prototype}({words.parameters})", [*body, "return z;"])


def _sum_call(words: Words, prototype: int) -> str:
    return f"{words.prefix}_sum_{prototype}({words.passed})"


def _speaks(words: Words, prototype: int) -> str:
    """The condition that a prototype gives its class, of two."""
    sign = ">" if words.target.flat.owners[0] == 1 else ">="
    turn = _turn(words, prototype)
    if not turn:
        return f"{_call(words, prototype)} {sign} {words.number(0)}"
    bar = -turn * words.target.intercepts[prototype]
    return f"{_sum_call(words, prototype)} {sign if turn > 0 else sign.replace('>', '<')} {bar}"


def _statement(words: Words, term: TargetTerm, kind: str, weight: float) -> str:
    """Add what a term adds, its weight in ``weight`` with the sign that is wanted."""
    sign = "-" if weight < 0 else "+"
    added = words.product(term, abs(weight)) if term.kind == "raw" else words.number(abs(weight))
    change = f"z = ({kind})(z {sign} {added});" if kind == NARROW else f"z {sign}= {added};"
    comment = f"/* {words.says(term.text)} */"
    return f"{change} {comment}" if term.kind == "raw" else f"if ({words.holds(term)}) {change} {comment}"


def _narrowed(kind: str, expression: str) -> str:
    return f"({kind})({expression})" if kind == NARROW else expression


def _name(words: Words, prototype: int) -> str:
    return f"{words.prefix}_prototype_{prototype}"


def _call(words: Words, prototype: int) -> str:
    return f"{_name(words, prototype)}({words.passed})"


def _predict(words: Words, public: str) -> str:
    flat = words.target.flat
    head = f"{public}{words.position_type} {words.prefix}_predict({words.parameters})"
    if not flat.is_binary:
        return function(head, [*_best(words, flat.owners), "return winner;"])
    owner = flat.owners[0]
    rules = [condition(words, j) for j in range(len(flat.owners))]
    read = [set(range(len(words.inputs))) if rule is None else rule[1] for rule in rules]
    body = words.unused(set().union(*read))
    for j, rule in enumerate(rules):
        if rule is None:
            body.append(f"if ({_speaks(words, j)}) return {owner};")
        else:
            body.append(f"/* exactly where score {j} is {'above 0' if owner else '0 or more'} */")
            body += lines_of(f"if ({rule[0]}) return {owner};", indent="        ")
    return function(head, [*body, f"return {1 - owner};"])


def _best(words: Words, labels: tuple[int, ...], labelled: bool = True) -> list[str]:
    """Statements that leave the greatest score in ``best`` and the label of its prototype in ``winner``."""
    owners = words.target.flat.owners
    first, *others = sorted(range(len(owners)), key=lambda j: owners[j])  # so that ties go to the first class
    kind = words.sum_type()
    lines = [f"{kind} best = {_call(words, first)};"]
    lines += [f"{kind} z;"] if others else []
    lines += [f"{words.position_type} winner = {labels[first]};"] if labelled else []
    for j in others:
        gained = f"{{ best = z; winner = {labels[j]}; }}" if labelled else "best = z;"
        lines += [f"z = {_call(words, j)};", f"if (z > best) {gained}"]
    return lines


def _score(words: Words, public: str) -> str:
    head = f"{public}{words.score_type} {words.prefix}_score({words.parameters})"
    best = _best(words, words.target.flat.owners, labelled=False)
    return function(head, [*best, f"return ({words.score_type})best;"])


def _scores(words: Words, public: str) -> str:
    flat, kind = words.target.flat, words.score_type
    body = [f"{words.sum_type()} z;"] if len(flat.owners) > len(flat.classes) else []
    for label in range(len(flat.classes)):
        first, *others = [j for j, owner in enumerate(flat.owners) if owner == label]
        body.append(f"scores[{label}] = ({kind}){_call(words, first)};")
        for j in others:
            body += [f"z = {_call(words, j)};", f"if (z > scores[{label}]) scores[{label}] = ({kind})z;"]
    return function(f"{public}void {words.prefix}_scores({words.with_output('scores')})", body)


def _reason(words: Words, public: str) -> str:
    count = len(words.target.flat.owners)
    body = [
        *_best(words, tuple(range(count))),
        "reason->prototype = winner;",
        f"reason->score = ({words.score_type})best;",
    ]
    most = max(len(words.target.of(j)) for j in range(count))
    body.append("switch (winner) {")
    for j in range(count):
        body.append("default:" if j == count - 1 else f"case {j}:")
        lines = [_contribution(words, term) for term in words.target.of(j)]
        lines += [words.number(0)] * (max(1, most) - len(lines))
        body += [f"    reason->contribution[{place}] = {line};" for place, line in enumerate(lines)]
        body.append("    break;")
    return function(f"{public}void {words.prefix}_reason({words.with_output('reason')})", [*body, "}"])


def _contribution(words: Words, term: TargetTerm) -> str:
    if term.kind == "raw":
        return f"({words.score_type})({words.product(term, term.weight)})"
    return f"{words.holds(term)} ? {words.number(term.weight)} : {words.number(0)}"
