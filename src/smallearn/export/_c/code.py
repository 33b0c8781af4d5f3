"""The body of a C export as straight-line code: weights are constants in the code, and only what is used is read.

Each prototype has a function for its score. Where prototypes share terms, or offsets or costs decide, all scores are
added up by one function instead, so that each literal is evaluated once: see `columns`.
"""

from collections.abc import Iterator
from textwrap import wrap
from typing import Literal

import numpy as np

from smallearn.export._c.columns import Columns
from smallearn.export._c.conditions import condition
from smallearn.export._c.model import CModel
from smallearn.export._fixed.numbers import Row, TargetTerm
from smallearn.export._fixed.quantise import IntegerModel

LARGEST_SCALE, LARGEST_COST = 1e30, 1e30  # whose products float32 holds
MOST_BITS = 16  # of an input all of whose codes are tried
NARROW = "int_fast8_t"  # C computes in int, so that results have to be cast back


def functions(c: CModel, public: str, private: str) -> Iterator[str]:
    """All functions; ``public`` and ``private`` are their storage classes."""
    if adds_together(c):
        columns = Columns.of(c, 0 if c.is_float else c.target.sum_bits)  # type: ignore[attr-defined]
        yield _sums(columns, private)
        passed = f"{c.passed}, z" if c.passed else "z"
        begin = [f"{columns.type} z[{len(c.target.intercepts)}];", f"{c.prefix}_sums({passed});"]
        predict = predict_of_one_input(c, public)
        yield from of_columns(columns, public, private, kind=columns.type, begin=begin, predict=predict)
        return
    flat = c.target.flat
    for prototype in range(len(flat.owners)):
        yield _prototype(c, prototype, private)
    yield predict_of_one_input(c, public) or _predict(c, public)
    yield _score(c, public)
    if not flat.has_one_owner:
        yield _scores(c, public)
    yield _reason(c, public)


def adds_together(c: CModel) -> bool:
    """Whether all scores are added up before one is compared.

    With two classes, prototypes of few literals are conditions, and raw terms share nothing but the reading of x.
    """
    target = c.target
    if not target.flat.has_one_owner:
        return target.shares_terms or bool(target.offsets) or target.flat.decision.costs is not None
    literals = any(_first(row).kind != "raw" and _shared(row) for row in target.rows)
    return literals and any(condition(c, j) is None for j in range(len(target.intercepts)))


def _first(row: Row) -> TargetTerm:
    return next(term for term in row if term is not None)


def _shared(row: Row) -> bool:
    return sum(term is not None for term in row) > 1


def lines_of(text: str, indent: str = "") -> list[str]:
    """Long text on several lines, broken only at spaces."""
    return wrap(text, 110, subsequent_indent=indent, break_on_hyphens=False, break_long_words=False)


def function(head: str, body: list[str]) -> str:
    """The definition of a function, its body indented."""
    return "\n".join([f"{head} {{", *(f"    {line}" for line in body), "}"])


def predict_of_one_input(c: CModel, public: str) -> str | None:
    """`predict` as comparisons of the only input, by what is predicted at each of its codes; otherwise None."""
    target = c.target
    if not isinstance(target, IntegerModel) or target.flat.has_one_owner or len(target.coders) != 1:
        return None
    if c.takes_floats:
        return None
    if target.input_bits > MOST_BITS:
        return None
    codes = np.arange(0, 2**target.input_bits) if target.unsigned else np.arange(target.missing, -target.missing)
    answers = target.predict(codes[:, None])
    ends = np.flatnonzero(answers[:-1] != answers[1:])
    if len(ends) > len(target.intercepts):
        return None
    body = [f"if ({c.x(0)} <= {codes[end]}) return {answers[end]};" for end in ends]
    head = f"{public}{c.position_type} {c.prefix}_predict({c.parameters})"
    return function(head, [*([] if body else c.unused(set())), *body, f"return {answers[-1]};"])


# --- all scores together ---------------------------------------------------------------------------------------------


def _sums(columns: Columns, private: str) -> str:
    """The function that adds up the columns."""
    c, kind = columns.c, columns.type
    body = c.unused({term.input for term in c.target.terms})
    body += [f"z[{j}] = {c.number(start)};" for j, start in enumerate(columns.starts)]
    for row in c.target.rows:
        body += _row(columns, row)
    meaning = "the score of each prototype"
    if columns.first is not None:
        meaning = (
            f"z[{columns.first}]: the score of prototype {columns.first}; the others: how far they are ahead of it"
        )
    head = f"{private}void {c.prefix}_sums({c.with_output('z', kind)})"
    return f"/* {meaning} */\n" + function(head, body)


def _row(columns: Columns, row: Row) -> Iterator[str]:
    """Statements that add a row of the card to the columns."""
    c, kind, term = columns.c, columns.type, _first(row)
    comment = f"/* {c.term_comment(term)} */"
    if term.kind != "raw":
        added = _changes(kind, [(j, w, c.number(abs(w))) for j, w in enumerate(columns.weights(row))])
        yield from _block(f"if ({c.holds(term)})", added, comment)
        return
    weights, instead = columns.weights(row), columns.instead(row)
    added = _changes(kind, [(j, w, c.times(term.input, abs(w), kind)) for j, w in enumerate(weights)])
    if instead is None:
        yield from (f"{change}{f' {comment}' if not place else ''}" for place, change in enumerate(added))
        return
    absent = _changes(kind, [(j, w, c.number(abs(w))) for j, w in enumerate(instead)])
    yield from _block(f"if ({c.is_missing(term.input)})", absent, comment)
    yield from _block("else", added, "")


def _changes(kind: str, parts: list[tuple[int, float, str]]) -> list[str]:
    """Add to each column, or subtract from it, a number; the second of each part has its sign."""
    changes = []
    for j, weight, number in parts:
        sign = "-" if weight < 0 else "+"
        change = f"z[{j}] = ({kind})(z[{j}] {sign} {number});" if kind == NARROW else f"z[{j}] {sign}= {number};"
        changes += [change] if weight else []
    return changes


def _block(head: str, statements: list[str], comment: str) -> list[str]:
    text = f"{head} {{ {' '.join(statements)} }} {comment}".rstrip()
    if len(text) <= 110:
        return [text]
    return [f"{head} {{ {comment}".rstrip(), *(f"    {line}" for line in lines_of(" ".join(statements))), "}"]


def of_columns(
    columns: Columns,
    public: str,
    private: str,
    *,
    kind: str,
    begin: list[str],
    with_score: list[str] | None = None,
    predict: str | None = None,
) -> Iterator[str]:
    """The functions that use the columns ``z``, numbers of type ``kind``.

    ``begin`` are statements that define z, ``with_score`` those that define the score of the first prototype, too, and
    ``predict`` is that function, if it is not written from the columns.
    """
    c, flat = columns.c, columns.c.target.flat
    with_score = begin if with_score is None else with_score
    if flat.decision.costs is not None:
        yield cheapest(c, private)
    head = f"{public}{c.position_type} {c.prefix}_predict({c.parameters})"
    yield predict or function(head, [*begin, *_class(columns, kind)])
    decided = [*with_score, *_winner(columns, kind)]
    head = f"{public}{c.score_type} {c.prefix}_score({c.parameters})"
    yield function(head, [*decided, *_winners_score(columns, "return")])
    if not flat.has_one_owner:
        yield _class_scores(columns, public, with_score)
    body = [*decided, "reason->prototype = winner;", *_winners_score(columns, "reason->score =")]
    head = f"{public}void {c.prefix}_reason({c.with_output('reason')})"
    yield function(head, [*body, *_parts(c)])


def _class(columns: Columns, kind: str) -> list[str]:
    """Statements that return the predicted class, from the columns ``z``."""
    c, flat = columns.c, columns.c.target.flat
    if flat.has_one_owner:
        owner = flat.owners[0]
        test = " || ".join(f"z[{j}] {_sign(owner)} {c.number(c.target.cut)}" for j in range(len(flat.owners)))
        return [*lines_of(f"if ({test}) return {owner};", indent="        "), f"return {1 - owner};"]
    if flat.decision.costs is not None:
        return [f"return {c.prefix}_cheapest(z);"]
    return [*_greatest(columns, flat.owners, kind), "return winner;"]


def _winner(columns: Columns, kind: str) -> list[str]:
    """Statements that leave the prototype that decides in ``winner``."""
    c, flat = columns.c, columns.c.target.flat
    prototypes = tuple(range(len(flat.owners)))
    if flat.decision.costs is None:
        return _greatest(columns, prototypes, kind)
    lines = [f"{c.position_type} label = {c.prefix}_cheapest(z);", f"{c.position_type} winner = {flat.by_class[0]};"]
    for label in range(len(flat.classes)):
        first, *others = [j for j in prototypes if flat.owners[j] == label]
        lines.append(f"if (label == {label}) winner = {first};")
        lines += [f"if (label == {label} && z[{j}] > z[winner]) winner = {j};" for j in others]
    return lines


def _greatest(columns: Columns, labels: tuple[int, ...], kind: str) -> list[str]:
    """Statements that leave the label of the prototype that is ahead in ``winner``."""
    c = columns.c
    first, others = columns.first, columns.others
    start = c.number(0)
    if first is None:
        first, *others = others
        start = columns.compared(first)
    lines = [f"{kind} best = {start};", f"{c.position_type} winner = {labels[first]};"]
    for j in others:
        z = columns.compared(j)
        lines.append(f"if ({z} > best) {{ best = {z}; winner = {labels[j]}; }}")
    return lines


def _winners_score(columns: Columns, before: str) -> list[str]:
    """Statements with the score of the prototype that decides, after ``before``."""
    c = columns.c
    if columns.first is None and not any(columns.shifts):
        return [f"{before} ({c.score_type})z[winner];"]
    *cases, last = [(j, columns.score(j)) for j in range(len(c.target.intercepts))]
    then = " break;" if before.endswith("=") else ""
    lines = [f"case {j}: {before} {score};{then}" for j, score in cases]
    return ["switch (winner) {", *lines, f"default: {before} {last[1]};{then}", "}"]


def _class_scores(columns: Columns, public: str, begin: list[str]) -> str:
    c, flat = columns.c, columns.c.target.flat
    body = list(begin)
    for label in range(len(flat.classes)):
        first, *others = [j for j, owner in enumerate(flat.owners) if owner == label]
        body.append(f"scores[{label}] = {columns.score(first)};")
        body += [f"if ({columns.score(j)} > scores[{label}]) scores[{label}] = {columns.score(j)};" for j in others]
    return function(f"{public}void {c.prefix}_scores({c.with_output('scores')})", body)


def cheapest(c: CModel, private: str) -> str:
    """The function that finds the class of the least expected cost, from the scores of the prototypes."""
    flat, kind, n = c.target.flat, c.sum_type(), len(c.target.flat.classes)
    assert flat.decision.costs is not None
    largest = max(abs(cost) for row in flat.decision.costs for cost in row)
    unit = largest if c.target.number == "float32" and largest > LARGEST_COST else 1.0
    exponential = "expf" if c.target.number == "float32" else "exp"
    body = [f"{kind} s[{n}], best, cost, least = {c.number(0)};", f"{c.position_type} label = 0;"]
    for label in range(n):
        first, *others = [j for j, owner in enumerate(flat.owners) if owner == label]
        body.append(f"s[{label}] = z[{first}];")
        body += [f"if (z[{j}] > s[{label}]) s[{label}] = z[{j}];" for j in others]
    body.append("best = s[0];")
    body += [f"if (s[{label}] > best) best = s[{label}];" for label in range(1, n)]
    scale = c.number(min(flat.decision.scale, LARGEST_SCALE))
    body += [f"s[{label}] = {exponential}({scale} * (s[{label}] - best));" for label in range(n)]
    for k in range(n):
        costs = [(i, row[k] / unit) for i, row in enumerate(flat.decision.costs)]
        total = " + ".join(f"{c.number(cost)} * s[{i}]" for i, cost in costs if cost) or c.number(0)
        body += lines_of(f"cost = {total};", indent="        ")
        body.append("least = cost;" if not k else f"if (cost < least) {{ least = cost; label = {k}; }}")
    return function(f"{private}{c.position_type} {c.prefix}_cheapest(const {kind} *z)", [*body, "return label;"])


# --- one score after the other ---------------------------------------------------------------------------------------


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


def _sign(owner: int) -> str:
    """How a score that predicts the owner of all prototypes compares with the cut: the first class wins a tie."""
    return ">" if owner == 1 else ">="


def _comparison(c: CModel, prototype: int) -> str:
    """The condition that a prototype predicts its class, of two, as a comparison of its score."""
    sign = _sign(c.target.flat.owners[0])
    direction = _sum_sign(c, prototype)
    if direction is None:
        return f"{_call(c, prototype)} {sign} {c.number(c.target.cut)}"
    threshold = direction * (c.target.cut - c.target.intercepts[prototype])
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
    if not flat.has_one_owner:
        return function(head, [*_best(c, flat.owners), "return winner;"])
    owner = flat.owners[0]
    conditions = [condition(c, j) for j in range(len(flat.owners))]
    read = [set(range(len(c.inputs))) if found is None else found[1] for found in conditions]
    body = c.unused(set().union(*read))
    for j, found in enumerate(conditions):
        if found is None:
            body.append(f"if ({_comparison(c, j)}) return {owner};")
        else:
            body.append(f"/* exactly where score {j} {_sign(owner)} {c.number(c.target.cut)} */")
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
    body = [
        *_best(c, tuple(range(len(c.target.intercepts)))),
        "reason->prototype = winner;",
        f"reason->score = ({c.score_type})best;",
        *_parts(c),
    ]
    return function(f"{public}void {c.prefix}_reason({c.with_output('reason')})", body)


def _parts(c: CModel) -> list[str]:
    """Statements that write what each term of prototype ``winner`` adds."""
    count = len(c.target.intercepts)
    most = max(len(c.target.of(j)) for j in range(count))
    body = ["switch (winner) {"]
    for j in range(count):
        body.append("default:" if j == count - 1 else f"case {j}:")
        lines = [_contribution(c, term) for term in c.target.of(j)]
        lines += [c.number(0)] * (max(1, most) - len(lines))
        body += [f"    reason->contribution[{place}] = {line};" for place, line in enumerate(lines)]
        body.append("    break;")
    return [*body, "}"]


def _contribution(c: CModel, term: TargetTerm) -> str:
    if term.kind == "raw":
        return f"({c.score_type})({c.product(term, term.weight)})"
    return f"{c.holds(term)} ? {c.number(term.weight)} : {c.number(0)}"
