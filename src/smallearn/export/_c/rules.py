"""When literals alone decide: the condition under which their weighted sum is above 0, without the sum.

A prototype without products has a score for each subset of its literals, so that its decision is a Boolean function; as
a literal of positive weight can only help and one of negative weight only hinder, the function is monotone and its
condition short: ``33 a + 15 b + 24 c > 47`` is ``a && (b || c)``.
"""

from functools import cache

import numpy as np

from smallearn.export._c.identifiers import Words
from smallearn.export._fixed.numbers import TargetTerm
from smallearn.export._fixed.quantise import IntegerModel

MOST = 8  # literals whose every subset is looked at
FEW = 12  # times that a literal is asked for


def condition(words: Words, prototype: int) -> tuple[str, set[int]] | None:
    """The condition that a prototype gives its class, of two, and the inputs in it. None where there are products or
    many literals, or where they would have to be asked so often that a sum is shorter."""
    terms = words.target.of(prototype)
    if any(term.kind == "raw" for term in terms) or len(terms) > MOST:
        return None
    order = sorted(terms, key=lambda term: -abs(term.weight))
    asked: list[TargetTerm] = []

    @cache
    def found(helping: tuple[bool, ...]) -> bool | tuple:
        """The function where the first literals of the order help or not: a constant, or (literal, if so, if not)."""
        if len(helping) == len(order):
            return _gives(words, prototype, dict(zip(map(id, order), helping, strict=True)))
        so, not_so = found((*helping, True)), found((*helping, False))
        return so if so == not_so else (len(helping), so, not_so)

    def written(node: bool | tuple, inside: str) -> str:
        if isinstance(node, bool):
            return "1" if node else "0"
        place, so, not_so = node
        asked.append(order[place])
        literal = words.holds(order[place])
        literal = literal if order[place].weight > 0 else f"!({literal})"
        literal = f"({literal})" if " && " in literal and not literal.startswith("!") else literal
        if so is True and not_so is False:
            return literal
        if so is True:
            return _joined("||", inside, literal, written(not_so, "||"))
        if not_so is False:
            return _joined("&&", inside, literal, written(so, "&&"))
        return _joined("||", inside, f"({literal} && {written(so, '&&')})", written(not_so, "||"))

    text = written(found(()), "")
    return None if len(asked) > max(FEW, 2 * len(terms)) else (text, {term.input for term in asked})


def _joined(sign: str, inside: str, left: str, right: str) -> str:
    joined = f"{left} {sign} {right}"
    return joined if inside in ("", sign) else f"({joined})"


def _gives(words: Words, prototype: int, helping: dict[int, bool]) -> bool:
    """Whether the score is on the side of the class, summed as the device does it."""
    kind = int if isinstance(words.target, IntegerModel) else np.dtype(words.target.number).type
    z = kind(words.target.intercepts[prototype])
    with np.errstate(over="ignore", invalid="ignore"):
        for term in words.target.of(prototype):
            if helping[id(term)] == (term.weight > 0):
                z = z + kind(term.weight)
    return bool(z > 0 if words.target.flat.owners[0] == 1 else z >= 0)
