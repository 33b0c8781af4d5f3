"""The card of a model: a row for each different term, a column for each prototype.

Where prototypes share terms, the card is what people read, what a shared budget counts and what exports are written
from.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from smallearn._text import show
from smallearn.model._count import count_terms, key_of
from smallearn.model._parts import Prototype
from smallearn.model._sentences import Line, shares_terms
from smallearn.model._term import Term

if TYPE_CHECKING:
    from smallearn.model._model import SMaLLModel

T = TypeVar("T")
NO_WEIGHT = "·"  # in the place of a weight, where a prototype does not have the term
LONGEST_HEAD = 12
MOST_CELLS = 1_000_000  # of a table that is printed


@dataclass(frozen=True)
class CardRow:
    """A row of a model's card: one term, and its weight in each prototype.

    Parameters
    ----------
    terms : tuple of Term or None
        The term of each prototype; None where a prototype does not have it. All have the same feature, kind and value.

    Examples
    --------
    >>> from smallearn.model import CardRow, Term
    >>> row = CardRow((None, Term(feature=0, weight=2.0, name="age", kind="above", value=40.0)))
    >>> row.text, row.weights
    ('[age > 40]', (0.0, 2.0))
    """

    terms: tuple[Term | None, ...]

    @property
    def term(self) -> Term:
        """The term, as the first prototype that has it has it.

        Returns
        -------
        Term
        """
        return next(term for term in self.terms if term is not None)

    @property
    def weights(self) -> tuple[float, ...]:
        """The weight in each prototype.

        Returns
        -------
        tuple of float
            0 where a prototype does not have the term.
        """
        return tuple(0.0 if term is None else term.weight for term in self.terms)

    @property
    def text(self) -> str:
        """What the weights are multiplied by: ``radius`` or ``[radius ≤ 13.2]``.

        Returns
        -------
        str
        """
        return self.term.text


def card_of(prototypes: Sequence[Prototype]) -> tuple[CardRow, ...]:
    """The rows, in the order of the terms of every prototype as far as these orders agree."""
    rows = aligned([prototype.terms for prototype in prototypes], key_of)
    return tuple(map(CardRow, rows))


def aligned(columns: Sequence[Iterable[T]], key: Callable[[T], Any]) -> list[tuple[T | None, ...]]:
    """Entries of equal ``key`` side by side, None where a column has none.

    Rows are in the order of every column, if one order can be that. A key that one column has twice makes two rows.
    """
    order: list[tuple[Any, int]] = []
    cells: list[dict[tuple[Any, int], T]] = []
    for column in columns:
        seen: Counter = Counter()
        own: dict[tuple[Any, int], T] = {}
        at = 0
        for entry in column:
            found = (key(entry), seen[key(entry)])
            seen[found[0]] += 1
            own[found] = entry
            if found not in order:
                order.insert(at, found)
            at = max(at, order.index(found) + 1)
        cells.append(own)
    return [tuple(own.get(found) for own in cells) for found in order]


# --- the card as text ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class CardTable:
    """The card as text: a heading for each prototype, and lines of numbers with what they are for.

    The last line has the constants; its ``term`` is None.
    """

    heads: tuple[str, ...]
    lines: tuple[tuple[tuple[str, ...], str, Term | None], ...]


def card_table(model: "SMaLLModel", cards: Sequence[Sequence[Line]], *, quote: bool = True) -> CardTable | None:
    """The lines of all prototypes as one table; None where they are better read one prototype after the other.

    One table is better if most of the terms are in several prototypes. ``cards`` has the lines of each prototype, with
    that of the constant at the end.
    """
    if not shares_terms(model) or count_terms(model.prototypes)[0] * len(model.prototypes) > MOST_CELLS:
        return None
    lines = []
    for row in aligned([card[:-1] for card in cards], lambda line: key_of(line.term)):
        known = [line for line in row if line is not None]
        if len({line.text for line in known}) > 1:  # points for different units of a feature
            return None
        numbers = tuple(NO_WEIGHT if line is None else line.number for line in row)
        lines.append((numbers, known[0].text, known[0].term))
    lines.append((tuple(card[-1].number for card in cards), cards[0][-1].text, None))
    return CardTable(heads=tuple(_head(model, j, quote) for j in range(len(cards))), lines=tuple(lines))


def _head(model: "SMaLLModel", prototype: int, quote: bool) -> str:
    """The class of a prototype; with the number of the prototype, from 1, where a class owns several."""
    label = show(model.classes[model.owners[prototype]], quote=quote, most=LONGEST_HEAD)
    return f"{label} ({prototype + 1})" if model._owns_several else label
