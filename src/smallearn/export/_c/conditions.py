"""Where literals alone decide, a condition instead of a sum: ``33 a + 15 b + 24 c > 47`` is ``a && (b || c)``.

A prototype without raw terms has one score for each subset of its literals, so its decision is a Boolean function of
them. A literal of positive weight can only raise the score and one of negative weight only lower it, so the function is
monotone and its condition is short.
"""

from functools import cache

import numpy as np

from smallearn.export._c.model import CModel
from smallearn.export._fixed.numbers import TargetTerm
from smallearn.export._fixed.quantise import IntegerModel

MOST = 8  # literals of a prototype: all their subsets are enumerated
FEW = 12  # literals in a condition, repeated ones counted


def condition(c: CModel, prototype: int) -> tuple[str, set[int]] | None:
    """The condition that a prototype predicts its class, of two, and the inputs in it.

    None if there are raw terms or many literals, or if literals repeat so often that a sum is shorter.
    """
    terms = c.target.of(prototype)
    if any(term.kind == "raw" for term in terms) or len(terms) > MOST:
        return None
    order = sorted(terms, key=lambda term: -abs(term.weight))
    written_terms: list[TargetTerm] = []

    @cache
    def decision(helping: tuple[bool, ...]) -> bool | tuple:
        """The decision once the first literals of the order are known to help or not.

        It is a constant, or (position of the next literal, decision if that helps, decision if not).
        """
        if len(helping) == len(order):
            return _is_predicted(c, prototype, dict(zip(map(id, order), helping, strict=True)))
        yes, no = decision((*helping, True)), decision((*helping, False))
        return yes if yes == no else (len(helping), yes, no)

    def written(node: bool | tuple, inside: str) -> str:
        if isinstance(node, bool):
            return "1" if node else "0"
        place, yes, no = node
        written_terms.append(order[place])
        literal = c.holds(order[place])
        if order[place].weight < 0:
            literal = f"!({literal})"
        elif " && " in literal:
            literal = f"({literal})"
        if yes is True and no is False:
            return literal
        if yes is True:
            return _joined("||", inside, literal, written(no, "||"))
        if no is False:
            return _joined("&&", inside, literal, written(yes, "&&"))
        return _joined("||", inside, f"({literal} && {written(yes, '&&')})", written(no, "||"))

    text = written(decision(()), "")
    return None if len(written_terms) > max(FEW, 2 * len(terms)) else (text, {term.input for term in written_terms})


def _joined(sign: str, inside: str, left: str, right: str) -> str:
    joined = f"{left} {sign} {right}"
    return joined if inside in ("", sign) else f"({joined})"


def _is_predicted(c: CModel, prototype: int, helping: dict[int, bool]) -> bool:
    """Whether a prototype predicts its class, its score summed in the numbers of the device.

    ``helping`` has the id of each term, and whether it raises the score: a literal of negative weight does so by not
    holding.
    """
    kind = int if isinstance(c.target, IntegerModel) else np.dtype(c.target.number).type
    z = kind(c.target.intercepts[prototype])
    with np.errstate(over="ignore", invalid="ignore"):
        for term in c.target.of(prototype):
            if helping[id(term)] == (term.weight > 0):
                z = z + kind(term.weight)
    cut = kind(c.target.cut)
    return bool(z > cut if c.target.flat.owners[0] == 1 else z >= cut)
