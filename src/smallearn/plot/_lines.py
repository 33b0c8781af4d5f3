"""The lines of a picture of what each term adds: the terms of each prototype, then the scores that decide."""

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from smallearn.model import Prototype, Rows, SMaLLModel, Term
from smallearn.model._decision import leads
from smallearn.model._sentences import cut_text, score_title
from smallearn.plot._canvas import font_for_lines, inches, signed
from smallearn.plot._colours import GREY
from smallearn.plot._glyphs import families, readable
from smallearn.plot._rows import additions
from smallearn.plot._text import READ, font_for_text, label_of, name_of, shortened

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LONGEST_HEADING, LONGEST_OWNER = 48, 30  # characters of the name of a score, and of a class in a heading


class Line(NamedTuple):
    """One line of the picture: the values in the rows, or the range of possible values; neither for a heading."""

    label: str
    values: np.ndarray | None = None
    ends: tuple[float, float] | None = None
    literal: bool = False

    @property
    def is_heading(self) -> bool:
        return self.values is None and self.ends is None


def _heading(model: SMaLLModel, number: int) -> Line:
    title = shortened(readable(score_title(model, number, quote=False, longest=READ)), LONGEST_HEADING)
    return Line(f"{title}: constant {signed(model.prototypes[number].intercept)}")


def _decision_labels(model: SMaLLModel, suffix: str = "") -> list[str]:
    """The heading of the last lines, and their labels."""
    owner = model.sole_owner
    if owner is None:
        what = "Lead over the next class" if model.decision.costs is None else "Expected cost below the next class's"
        return [
            f"{what}: predicted if above 0",
            *(f"{name_of(label)}{suffix}" for label in model.classes),
        ]
    highest = "score" if len(model.prototypes) == 1 else "highest score"
    decision = f"Decision: {name_of(model.classes[owner], LONGEST_OWNER)} if the {highest} is {cut_text(model)}"
    return [decision, f"{highest}{suffix}"]


def measured_lines(model: SMaLLModel, rows: Rows) -> list[Line]:
    """What each term adds in the rows, and the scores."""
    lines = []
    for number, (prototype, added) in enumerate(zip(model.prototypes, additions(model, rows), strict=True)):
        lines.append(_heading(model, number))
        for place, term in enumerate(prototype.terms):
            lines.append(Line(label_of(term), values=added[:, place], literal=term.kind != "raw"))
    best = model.compared(model.scores(rows))
    decisive = leads(best) if model.sole_owner is None else best[:, [model.sole_owner]]
    heading, *labels = _decision_labels(model)
    return [*lines, Line(heading), *(Line(label, values=decisive[:, at]) for at, label in enumerate(labels))]


def possible_lines(model: SMaLLModel) -> list[Line]:
    """What each term can add over the ranges in training, and the scores that are possible."""
    lines = []
    for number, prototype in enumerate(model.prototypes):
        lines.append(_heading(model, number))
        for term in prototype.terms:
            ends = _ends(model, term)
            unknown = "" if ends else f" ({signed(term.weight)} per unit, range unknown)"
            lines.append(Line(label_of(term) + unknown, ends=ends or (0.0, 0.0), literal=term.kind != "raw"))
    spans = [_span(model, prototype) for prototype in model.prototypes]
    if any(span is None for span in spans) or model.decision.costs is not None:
        return lines
    scores = np.array([span for span in spans if span]).T  # the least score of each prototype, then the greatest
    low, high = model.compared(scores)
    heading, *labels = _decision_labels(model, " (range)")
    owner = model.sole_owner
    if owner is not None:
        ends_of = [(float(low[owner]), float(high[owner]))]
    else:
        others = [np.delete(np.arange(len(low)), label) for label in range(len(low))]
        ends_of = [
            (float(low[label] - high[rest].max()), float(high[label] - low[rest].max()))
            for label, rest in enumerate(others)
        ]
    return [*lines, Line(heading), *(Line(label, ends=ends) for label, ends in zip(labels, ends_of, strict=True))]


def _ends(model: SMaLLModel, term: Term) -> tuple[float, float] | None:
    """The least and the most that a term can add."""
    if term.kind != "raw":
        return min(0.0, term.weight), max(0.0, term.weight)
    for extent in model.ranges:
        if extent.feature == term.feature:
            ends = sorted((term.weight * extent.low, term.weight * extent.high))
            return (ends[0], ends[1]) if np.isfinite(ends).all() else None
    return None


def _span(model: SMaLLModel, prototype: Prototype) -> tuple[float, float] | None:
    """The least and the greatest score of a prototype, as if its terms were independent."""
    ends = [_ends(model, term) for term in prototype.terms]
    if any(pair is None for pair in ends):
        return None
    return tuple(prototype.intercept + sum(pair[end] for pair in ends if pair) for end in (0, 1))  # type: ignore[return-value]


def write_headings(ax: "Axes", lines: list[Line]) -> None:
    """Headings inside the Axes, on lines of their own."""
    headings = [line.label for line in lines if line.is_heading]
    room = 0.97 * inches(ax)[0]
    largest = font_for_lines(ax, len(lines), 9.5)
    size = min(font_for_text(heading, room, largest, "bold") for heading in headings)
    behind = {"boxstyle": "square,pad=0.15", "facecolor": "white", "edgecolor": "none"}
    look: dict[str, Any] = {"va": "center", "fontweight": "bold", "fontsize": size, "parse_math": False, "zorder": 2}
    for place, line in enumerate(lines):
        if line.is_heading:
            where: dict[str, Any] = {"transform": ax.get_yaxis_transform(), "in_layout": False}
            ax.text(0.012, place, line.label, bbox=behind, **where, **look, **families([line.label]))
            if place:
                ax.axhline(place - 0.5, color=GREY, linewidth=0.6)
