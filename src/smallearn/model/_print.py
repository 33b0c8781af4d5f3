"""A model as `print` shows it."""

from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING

from smallearn._text import percent, show
from smallearn.model._card import CardTable, card_table
from smallearn.model._sentences import (
    CONSTANT,
    budget_sentence,
    card_lines,
    certificate_sentence,
    score_title,
    size_text,
)

if TYPE_CHECKING:
    from smallearn.model._model import SMaLLModel

WIDTH = 100  # characters of a line that has a card of several columns
FEWEST = 3  # columns side by side, if there are that many


def text_of(model: "SMaLLModel") -> str:
    """The size, the rule, the terms of each prototype, what the totals of a score card mean, and the certificate."""
    return "\n".join([*_head(model), *_cards(model), *_probabilities(model), *_training(model)])


def _head(model: "SMaLLModel") -> Iterator[str]:
    yield f"SMaLL model: {size_text(model)}"
    yield model.rule
    if model.scale != 1.0:
        yield f"One point is worth {model.scale:.2g} in log-odds."
    if model.edits:
        yield "Changed by hand:"
        yield from (f"  {edit.text}" for edit in model.edits)


def _cards(model: "SMaLLModel") -> Iterator[str]:
    cards = [card_lines(model, j) for j in range(len(model.prototypes))]
    table = card_table(model, cards)
    if table is not None and _groups(table):
        yield from table_text(table)
        return
    for j, lines in enumerate(cards):
        width = max(len(line.number) for line in lines)
        yield f"\n  {score_title(model, j)}"
        for line in lines:
            text = f"({CONSTANT})" if line.term is None else line.text
            yield f"    {line.number:>{width}} {text}"


def table_text(table: CardTable) -> Iterator[str]:
    """The card, with as many columns side by side as are read on a screen, then the others below."""
    for begin, end in _groups(table):
        yield "\n  Score for class"
        cells = [table.heads[begin:end], *(numbers[begin:end] for numbers, _, _ in table.lines)]
        texts = ["", *(f"({text})" if term is None else text for _, text, term in table.lines)]
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        for line, text in zip(cells, texts, strict=True):
            numbers = "  ".join(f"{cell:>{width}}" for cell, width in zip(line, widths, strict=True))
            yield f"    {numbers}  {text}".rstrip()


def _groups(table: CardTable) -> list[tuple[int, int]]:
    """The first and the last column, exclusive, of each group that is shown side by side; none if nothing fits."""
    n_columns = len(table.heads)
    width = 2 + max(len(cell) for cells in (table.heads, *(numbers for numbers, _, _ in table.lines)) for cell in cells)
    fitting = (WIDTH - 4 - max(len(text) for _, text, _ in table.lines)) // width
    if fitting < min(n_columns, FEWEST):
        return []
    n_groups = -(-n_columns // fitting)
    ends = [n_columns * group // n_groups for group in range(n_groups + 1)]  # of about the same size
    return list(pairwise(ends))


def _probabilities(model: "SMaLLModel") -> Iterator[str]:
    totals = model.totals()
    if not totals:
        return
    yield f"\n  points: probability of {show(model.classes[model.prototypes[0].owner])}"
    width = max(len(f"{total:+d}") for total, _ in totals)
    for total, probability in totals:
        yield f"    {total:+{width}d}: {percent(probability)}"


def _training(model: "SMaLLModel") -> Iterator[str]:
    sentences = [sentence for sentence in (budget_sentence(model), certificate_sentence(model)) if sentence]
    if sentences:
        yield "\n" + "\n".join(sentences)
