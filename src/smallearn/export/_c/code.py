"""The body of a C export as straight-line code: weights are constants in the code, and only what is used is read."""

from collections.abc import Iterator
from textwrap import wrap
from typing import Literal

from smallearn.export._c.conditions import condition
from smallearn.export._c.model import CModel
from smallearn.export._fixed.numbers import TargetTerm
from smallearn.model._sentences import threshold_text

NARROW = "int_fast8_t"  # C computes in int, so that results have to be cast back


def functions(c: CModel, public: str, private: str) -> Iterator[str]:
    """All functions; ``public`` and ``private`` are their storage classes."""
    flat = c.target.flat
    for prototype in range(len(flat.owners)):
        yield _prototype(c, prototype, private)
    yield _predict(c, public)
    yield _score(c, public)
    if not flat.is_binary:
        yield _scores(c, public)
    yield _reason(c, public)


def lines_of(text: str, indent: str = "") -> list[str]:
    """Long text on several lines, broken only at spaces."""
    return wrap(text, 110, subsequent_indent=indent, break_on_hyphens=False, break_long_words=False)


def function(head: str, body: list[str]) -> str:
    """The definition of a function, its body indented."""
    return "\n".join([f"{head} {{", *(f"    {line}" for line in body), "}"])


def _prototype(c: CModel, prototype: int, private: str) -> str:
    """The score of a prototype."""
    kind, terms = c.sum_type(prototype), c.target.of(prototype)
    body = c.unused({term.input for term in terms})
    before = ""
    direction = _sum_sign(c, prototype)
    if direction is not None:
        before = _sum(c, prototype, direction, private) + "\n\n"
        total = _sum_call(c, prototype)
        intercept = c.target.intercepts[prototype]
        sign = "-" if direction < 0 else "+"
        body = [f"return {_narrowed(kind, f'{intercept} {sign} {total}')};"]
    else:
        body.append(f"{kind} z = {c.number(c.target.intercepts[prototype])};")
        body += [_statement(c, term, kind, term.weight) for term in terms]
        body.append("return z;")
    return before + function(f"{private}{kind} {_name(c, prototype)}({c.parameters})", body)


def _sum_sign(c: CModel, prototype: int) -> Literal[1, -1] | None:
    """Whether a prototype has a function for its sum without the constant: 1, −1 if it is the negative sum, else None.

    `predict` compares such a sum with the constant, which is shorter than adding the constant and comparing with 0. The
    sign is chosen so that the first product needs no negation. Whole numbers may be added in any order:
    `Rounded.intervals` holds for all.
    """
    products = [term.weight for term in c.target.of(prototype) if term.kind == "raw"]
    if c.is_float or not products:
        return None
    return 1 if max(products) > 0 else -1


def _sum(c: CModel, prototype: int, sign: Literal[1, -1], private: str) -> str:
    """The function for the sum of a prototype without its constant, times ``sign``."""
    kind, terms = c.sum_type(prototype), c.target.of(prototype)
    first = next(term for term in terms if term.kind == "raw" and sign * term.weight > 0)
    product = _narrowed(kind, c.product(first, abs(first.weight)))
    body = [*c.unused({term.input for term in terms}), f"{kind} z = {product}; /* {c.term_comment(first)} */"]
    body += [_statement(c, term, kind, sign * term.weight) for term in terms if term is not first]
    return function(f"{private}{kind} {c.prefix}_sum_{prototype}({c.parameters})", [*body, "return z;"])


def _sum_call(c: CModel, prototype: int) -> str:
    return f"{c.prefix}_sum_{prototype}({c.passed})"


def _comparison(c: CModel, prototype: int) -> str:
    """The condition that a prototype predicts its class, of two, as a comparison of its score."""
    sign = ">" if c.target.flat.owners[0] == 1 else ">="
    direction = _sum_sign(c, prototype)
    if direction is None:
        return f"{_call(c, prototype)} {sign} {c.number(0)}"
    threshold = -direction * c.target.intercepts[prototype]
    return f"{_sum_call(c, prototype)} {sign if direction > 0 else sign.replace('>', '<')} {threshold}"


def _statement(c: CModel, term: TargetTerm, kind: str, weight: float) -> str:
    """Add the contribution of a term to ``z``; ``weight`` is its weight, possibly with the opposite sign."""
    sign = "-" if weight < 0 else "+"
    added = c.product(term, abs(weight)) if term.kind == "raw" else c.number(abs(weight))
    change = f"z = ({kind})(z {sign} {added});" if kind == NARROW else f"z {sign}= {added};"
    comment = f"/* {c.term_comment(term)} */"
    return f"{change} {comment}" if term.kind == "raw" else f"if ({c.holds(term)}) {change} {comment}"


def _narrowed(kind: str, expression: str) -> str:
    return f"({kind})({expression})" if kind == NARROW else expression


def _name(c: CModel, prototype: int) -> str:
    return f"{c.prefix}_prototype_{prototype}"


def _call(c: CModel, prototype: int) -> str:
    return f"{_name(c, prototype)}({c.passed})"


def _predict(c: CModel, public: str) -> str:
    flat = c.target.flat
    head = f"{public}{c.position_type} {c.prefix}_predict({c.parameters})"
    if not flat.is_binary:
        return function(head, [*_best(c, flat.owners), "return winner;"])
    owner = flat.owners[0]
    conditions = [condition(c, j) for j in range(len(flat.owners))]
    read = [set(range(len(c.inputs))) if found is None else found[1] for found in conditions]
    body = c.unused(set().union(*read))
    for j, found in enumerate(conditions):
        if found is None:
            body.append(f"if ({_comparison(c, j)}) return {owner};")
        else:
            body.append(f"/* exactly where score {j} is {threshold_text(owner)} */")
            body += lines_of(f"if ({found[0]}) return {owner};", indent="        ")
    return function(head, [*body, f"return {1 - owner};"])


def _best(c: CModel, labels: tuple[int, ...], labelled: bool = True) -> list[str]:
    """Statements that leave the greatest score in ``best`` and the label of its prototype in ``winner``."""
    first, *others = c.target.flat.by_class  # so that ties go to the first class
    kind = c.sum_type()
    lines = [f"{kind} best = {_call(c, first)};"]
    lines += [f"{kind} z;"] if others else []
    lines += [f"{c.position_type} winner = {labels[first]};"] if labelled else []
    for j in others:
        gained = f"{{ best = z; winner = {labels[j]}; }}" if labelled else "best = z;"
        lines += [f"z = {_call(c, j)};", f"if (z > best) {gained}"]
    return lines


def _score(c: CModel, public: str) -> str:
    head = f"{public}{c.score_type} {c.prefix}_score({c.parameters})"
    best = _best(c, c.target.flat.owners, labelled=False)
    return function(head, [*best, f"return ({c.score_type})best;"])


def _scores(c: CModel, public: str) -> str:
    flat, kind = c.target.flat, c.score_type
    body = [f"{c.sum_type()} z;"] if len(flat.owners) > len(flat.classes) else []
    for label in range(len(flat.classes)):
        first, *others = [j for j, owner in enumerate(flat.owners) if owner == label]
        body.append(f"scores[{label}] = ({kind}){_call(c, first)};")
        for j in others:
            body += [f"z = {_call(c, j)};", f"if (z > scores[{label}]) scores[{label}] = ({kind})z;"]
    return function(f"{public}void {c.prefix}_scores({c.with_output('scores')})", body)


def _reason(c: CModel, public: str) -> str:
    count = len(c.target.flat.owners)
    body = [
        *_best(c, tuple(range(count))),
        "reason->prototype = winner;",
        f"reason->score = ({c.score_type})best;",
    ]
    most = max(len(c.target.of(j)) for j in range(count))
    body.append("switch (winner) {")
    for j in range(count):
        body.append("default:" if j == count - 1 else f"case {j}:")
        lines = [_contribution(c, term) for term in c.target.of(j)]
        lines += [c.number(0)] * (max(1, most) - len(lines))
        body += [f"    reason->contribution[{place}] = {line};" for place, line in enumerate(lines)]
        body.append("    break;")
    return function(f"{public}void {c.prefix}_reason({c.with_output('reason')})", [*body, "}"])


def _contribution(c: CModel, term: TargetTerm) -> str:
    if term.kind == "raw":
        return f"({c.score_type})({c.product(term, term.weight)})"
    return f"{c.holds(term)} ? {c.number(term.weight)} : {c.number(0)}"
