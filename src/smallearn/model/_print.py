"""A model as `print` shows it."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from smallearn._text import percent, show
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


def text_of(model: "SMaLLModel") -> str:
    """The size, the rule, the terms of each prototype, what the totals of a score card mean, and the certificate."""
    return "\n".join([*_head(model), *_cards(model), *_probabilities(model), *_training(model)])


def _head(model: "SMaLLModel") -> Iterator[str]:
    yield f"SMaLL model: {size_text(model)}"
    yield model.rule
    if model.scale != 1.0:
        yield f"One point is worth {model.scale:.2g} in log-odds."


def _cards(model: "SMaLLModel") -> Iterator[str]:
    for j in range(len(model.prototypes)):
        lines = card_lines(model, j)
        width = max(len(line.number) for line in lines)
        yield f"\n  {score_title(model, j)}"
        for line in lines:
            text = f"({CONSTANT})" if line.term is None else line.text
            yield f"    {line.number:>{width}} {text}"


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
