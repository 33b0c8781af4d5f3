"""Which features matter, and for many classes what each of them adds to which class."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from smallearn import explain
from smallearn._text import joined, show, signed, typeset
from smallearn.explain._describe import written
from smallearn.model import SMaLLModel
from smallearn.model._sentences import score_name
from smallearn.report._subject import Subject
from smallearn.report._tables import Table

FEW_CLASSES = 3  # above which a map of classes and terms is drawn
MOST_DIGITS = 6  # after the point
STEPS = 4  # of colour on either side of 0


def importance_of(subject: Subject, model: SMaLLModel) -> dict[str, Any] | None:
    """Which features matter; None without classes."""
    if subject.y is None or subject.rows is None or not model.terms:
        return None
    importance = explain.importance(model, subject.rows, subject.y)
    lines = [
        (show(one.label, quote=False), _points(one.loss), f"{_points(one.permuted)} ± {_points(one.spread)}")
        for one in sorted(importance.features, key=lambda one: -one.loss)
    ]
    text = (
        "Accuracy lost, in percentage points, when the feature's terms are replaced by their averages, and when its "
        "values are shuffled (mean and standard deviation). Negative values are usually noise."
    )
    if len(importance.prototypes) > len(model.classes):
        shares = joined([f"{score_name(model, one.number - 1)} on {one.share:.1%}" for one in importance.prototypes])
        text = f"Highest score: {shares} of the rows. {text}"
    head = ("feature", "replaced by average", "shuffled")
    return {
        "text": text,
        "table": Table(name="Which features matter", head=head, lines=lines, numbers=(1, 2)),
    }


def _points(share: float) -> str:
    """Percentage points; what rounds to 0 has no sign."""
    return typeset(f"{100 * share:z.1f}")


# --- many classes ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Cell:
    """What a term adds to the score of a class where it is high: its text, its colour from -4 to 4, and in words."""

    text: str
    shade: int
    title: str


@dataclass(frozen=True)
class HeatMap:
    """A row for each term, with a cell for each score."""

    heads: list[str]
    lines: list[tuple[str, list[Cell]]]


def heat_map_of(subject: Subject, model: SMaLLModel) -> HeatMap | None:
    """Terms by classes, for more than three classes."""
    if len(model.classes) <= FEW_CLASSES or not model.terms:
        return None
    numbered = len(model.prototypes) > len(set(model.owners))
    names = [subject.class_names[owner] for owner in model.owners]
    heads = [f"{name} ({j + 1})" if numbered else name for j, name in enumerate(names)]
    texts = {
        (line.term.feature, line.term.kind, line.term.value): line.text.removeprefix("× ")
        for card in written(model, subject.rows, subject.units, digits=None).cards
        for line in card
        if line.term is not None
    }
    effects = [[None if term is None else _effect(subject, term) for term in row.terms] for row in model.card]
    most = max(abs(one) for line in effects for one in line if one is not None) or 1.0
    digits = max(0, 1 - math.floor(math.log10(most)))  # after the point, the same in all cells
    lines = []
    for row, line in zip(model.card, effects, strict=True):
        text = texts[row.term.feature, row.term.kind, row.term.value]
        cells = [_cell(one, most, digits, text, head) for one, head in zip(line, heads, strict=True)]
        lines.append((text, cells))
    return HeatMap(heads=heads, lines=lines)


def _effect(subject: Subject, term: Any) -> float:
    """What a standard deviation of a number adds, or a literal that is true."""
    if term.kind != "raw":
        return float(term.weight)
    if subject.rows is not None:
        return float(term.weight * subject.rows.factor(term).std())
    extent = next((one.high - one.low for one in subject.model.ranges if one.feature == term.feature), 1.0)
    return float(term.weight * extent / 4)


def _cell(effect: float | None, most: float, digits: int, text: str, head: str) -> Cell:
    if effect is None:
        return Cell(text="·", shade=0, title=f"{head}: {text} does not count")
    shown = f"{effect:+z.{digits}f}" if digits < MOST_DIGITS else signed(effect, digits=2)
    shown = typeset(shown if float(shown) else shown.removeprefix("+"))  # what rounds to 0 has no sign
    shade = int(np.sign(effect) * np.ceil(STEPS * abs(effect) / most - 1e-9))
    return Cell(text=shown, shade=shade, title=f"{head}: {text} {shown}")
