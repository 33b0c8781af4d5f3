"""Models that are about as good as the chosen one: what they read, how good they are, where they disagree."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from smallearn._text import count, joined, show, typeset
from smallearn.model import SMaLLModel
from smallearn.report._subject import Subject

MOST_ROWS = 10  # on which models disagree, that are listed


@dataclass(frozen=True)
class Alternative:
    """A line of the table: ``number`` is that of its view."""

    number: int
    name: str
    reads: str
    score: str
    differs: str
    where: str


def alternatives_of(subject: Subject, models: Sequence[SMaLLModel], numbers: Sequence[int]) -> list[Alternative]:
    """The chosen model, which comes first, and its alternatives; ``numbers`` are those of their views."""
    chosen = models[0]
    rows = subject.rows
    decided = None if rows is None else chosen.decide(chosen.scores(rows))
    shared = set.intersection(*({term.feature for term in model.features} for model in models))
    lines = []
    for place, (number, model) in enumerate(zip(numbers, models, strict=True)):
        differs = where = "–"
        if place and rows is not None and decided is not None:
            other = np.flatnonzero(model.decide(model.scores(rows)) != decided)
            differs = f"{len(other) / rows.n_rows:.1%} ({len(other):,})"
            listed = [str(subject.number_of(int(row))) for row in other[:MOST_ROWS]]
            where = ", ".join(listed) + (", …" if len(other) > MOST_ROWS else "") if listed else "nowhere"
        own = [show(term.label, quote=False) for term in model.features if term.feature not in shared]
        common = [show(term.label, quote=False) for term in model.features if term.feature in shared]
        reads = joined(own) if own else "the same features"
        lines.append(
            Alternative(
                number=number,
                name="this model" if place == 0 else f"alternative {place}",
                reads=f"{reads}; as all: {joined(common)}" if own and common else reads if own else joined(common),
                score=_score_of(subject, model),
                differs=differs,
                where=where,
            )
        )
    return lines


def _score_of(subject: Subject, model: SMaLLModel) -> str:
    """The cross-validated score with its error; else the accuracy on the rows."""
    size = count(model.n_terms, "term")
    if model.selection is not None:
        return f"{typeset(model.selection.text)} ({model.selection.metric}; {size})"
    if subject.rows is None or subject.code is None:
        return size
    right = float(np.mean(model.decide(model.scores(subject.rows)) == subject.code))
    spread = math.sqrt(right * (1.0 - right) / len(subject.code))
    return f"{right:.1%} ± {spread:.1%} (accuracy on these rows; {size})"
