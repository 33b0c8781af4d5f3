"""The body of a C export as straight-line code: weights are immediates, only what is used is loaded."""

from collections.abc import Iterator

from smallearn.export.c_words import Words
from smallearn.export.numbers import TargetTerm


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


def function(head: str, body: list[str]) -> str:
    return "\n".join([f"{head} {{", *(f"    {line}" for line in body), "}"])


def _prototype(words: Words, prototype: int, private: str) -> str:
    kind = words.sum_type(prototype)
    terms = words.target.of(prototype)
    body = [
        *words.unused({term.input for term in terms}),
        f"{kind} z = {words.number(words.target.intercepts[prototype])};",
    ]
    body += [f"{_statement(words, term, kind)} /* {words.says(term.text)} */" for term in terms]
    return function(f"{private}{kind} {_name(words, prototype)}({words.parameters})", [*body, "return z;"])


def _statement(words: Words, term: TargetTerm, kind: str) -> str:
    sign, size = ("-", -term.weight) if term.weight < 0 else ("+", term.weight)
    added = words.product(term, size) if term.kind == "raw" else words.number(size)
    narrow = kind == "int_fast8_t"  # int arithmetic has to be brought back
    change = f"z = ({kind})(z {sign} {added});" if narrow else f"z {sign}= {added};"
    return change if term.kind == "raw" else f"if ({words.holds(term)}) {change}"


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
    sign = ">" if owner == 1 else ">="
    body = [f"if ({_call(words, j)} {sign} {words.number(0)}) return {owner};" for j in range(len(flat.owners))]
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
    return function(
        head, [*_best(words, words.target.flat.owners, labelled=False), f"return ({words.score_type})best;"]
    )


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
    out = f"{words.prefix}_reason_t *reason"
    out = out if words.parameters == "void" else f"{words.parameters}, {out}"
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
