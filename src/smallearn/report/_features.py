"""What the model adds along each feature: a curve over the rows, the observed rate, and a table of its bins."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np

from smallearn._text import of_unit, show, signed, typeset
from smallearn.model import Rows, SMaLLModel, Term
from smallearn.model._columns import Column, factor_of_one
from smallearn.report._bins import Bin, bins_of, cuts_of, evidence_of, is_number, mean_in
from smallearn.report._subject import Subject
from smallearn.report._svg import Chart, Picture, number_text, shortened, ticks
from smallearn.report._tables import Table

FEW_CLASSES = 6  # that have a column each in the table of bins
Points = list[tuple[float, float]]


@dataclass(frozen=True)
class Feature:
    """One feature: its name, its picture and its bins."""

    name: str
    picture: Picture
    bins: Table | None
    value: str | None


def features_of(subject: Subject, model: SMaLLModel) -> list[Feature]:
    """Every feature in use, the one that moves the scores most first."""
    parts = [_Part(subject, model, term) for term in model.features]
    if not parts:
        return []
    low = min(min(part.values) for part in parts)
    high = max(max(part.values) for part in parts)
    room = 0.06 * (high - low) or 1.0
    parts.sort(key=lambda part: -part.spread)
    return [part.feature((low - room, high + room)) for part in parts]


class _Part:
    """What the terms of one feature add, relative to the average over the rows."""

    def __init__(self, subject: Subject, model: SMaLLModel, feature: Term):
        self.subject, self.model, self.feature_term = subject, model, feature
        self.label = show(feature.label, quote=False)
        self.unit = subject.unit_of(feature)
        self.terms = [
            [one for one in prototype.terms if one.feature == feature.feature] for prototype in model.prototypes
        ]
        self.every = [term for terms in self.terms for term in terms]
        self.rows: Rows | None = subject.rows
        self.column: Column | None = None if self.rows is None else self.rows.columns[feature.feature]
        self.added = None if self.rows is None else [_added(self.rows, terms) for terms in self.terms]
        self.means = [0.0] * len(self.terms) if self.added is None else [float(one.mean()) for one in self.added]
        self.is_number = is_number(self.every) and not self._is_flag()
        self.bins: list[Bin] = [] if self.column is None else bins_of(self.every, self.column)
        if self.is_number:
            self.extent = subject.extent_of(feature)
            self.curves = [self._curve(j) for j in range(len(self.terms))]
        else:
            self.choices = self._choices()
            self.curves = [[(i, self._at(j, value)) for i, (_, value) in enumerate(self.choices)] for j in self.own]

    def _is_flag(self) -> bool:
        """Whether a number has two values in the rows, as one that is 0 or 1 has."""
        if self.column is None:
            return False
        known = self.column.numbers[~self.column.missing]
        return len(known) > 0 and len(np.unique(known[:1000])) <= 2 and len(np.unique(known)) <= 2

    @property
    def own(self) -> list[int]:
        """The scores that read the feature."""
        return [j for j, terms in enumerate(self.terms) if terms]

    @property
    def values(self) -> list[float]:
        return [y for curve in self.curves for _, y in curve] or [0.0]

    @property
    def spread(self) -> float:
        """How much the feature moves the scores: the greatest standard deviation of what it adds."""
        if self.added is None:
            return max(self.values) - min(self.values)
        largest = max(float(np.abs(one).max(initial=0.0)) for one in self.added) or 1.0  # whose square may overflow
        return max(largest * float((one / largest).std()) for one in self.added)

    def _at(self, j: int, value: Any) -> float:
        return sum(term.weight * factor_of_one(term, value) for term in self.terms[j]) - self.means[j]

    def _curve(self, j: int) -> Points:
        if not self.terms[j]:
            return []
        low, high = self.extent
        cuts = [cut for cut in cuts_of(self.terms[j]) if low <= cut < high]
        ends = [low, *(x for cut in cuts for x in (cut, math.nextafter(cut, math.inf))), high]
        return [(x, self._at(j, x)) for x in ends]

    def _choices(self) -> list[tuple[str, Any]]:
        """The text and the value of each category: those of the rows, or of the model."""
        if self.column is not None:
            values = self.column.values
            return [(one.text, values[int(np.argmax(one.rows))]) for one in self.bins if one.rows.any()]
        known = list(dict.fromkeys(term.value for term in self.every if term.kind == "equals"))
        return [*((show(value, quote=False), value) for value in known), ("missing", None)]

    # --- the picture -------------------------------------------------------------------------------------------------

    def feature(self, y: tuple[float, float]) -> Feature:
        picture = self._line_picture(y) if self.is_number else self._category_picture(y)
        table, value = self._table()
        return Feature(name=self.label, picture=picture, bins=table, value=value)

    def _kinds(self) -> list[tuple[int, str, str]]:
        """The scores that read the feature, each with the class of its line and its name."""
        names = self.subject.class_names
        if len(self.model.prototypes) == 1:
            return [(0, "curve", names[self.model.owners[0]])]
        numbered = len(self.model.prototypes) > len(set(self.model.owners))
        return [
            (
                j,
                f"curve k{self.model.owners[j] % 10}",
                names[self.model.owners[j]] + (f" ({j + 1})" if numbered else ""),
            )
            for j in self.own
        ]

    def _line_picture(self, y: tuple[float, float]) -> Picture:
        kinds = self._kinds()
        several = len(self.model.prototypes) > 1
        right = self.subject.margin
        ends = "; ".join(
            f"{name}: from {number_text(self.curves[j][0][1])} to {number_text(self.curves[j][-1][1])}"
            for j, _, name in kinds
        )
        chart = Chart(alt=f"What {self.label} adds along its range. {ends}.", x=self.extent, y=y, right=right)
        name = self.label + of_unit(f"({self.unit})" if self.unit else None)
        chart.add(self.subject.backdrop(self.feature_term))
        chart.axes(name, "adds to the score")
        if y[0] < 0.0 < y[1]:
            chart.line([(self.extent[0], 0.0), (self.extent[1], 0.0)], "zero")
        for j, kind, owner in kinds:
            title = f"{owner}: {ends}" if not several else owner
            chart.line(self.curves[j], kind, title)
            if several:
                _end_label(chart, self.curves[j][-1], kind, owner)
        return Picture(chart.svg(), self.label)

    def _category_picture(self, y: tuple[float, float]) -> Picture:
        line = 24
        height = 52 + line * len(self.choices)
        left = 96
        alt = "; ".join(f"{text}: {number_text(self._at(self.own[0], value))}" for text, value in self.choices)
        chart = Chart(alt=f"What each value of {self.label} adds. {alt}.", x=y, y=(0.0, 1.0), height=height, left=left)
        bottom = height - 40
        for value in ticks(*y, most=4):
            x = chart.at_x(value)
            chart.add(f'<path class="grid" d="M{x:.1f} 4V{bottom}"/>')
            chart.add(f'<text x="{x:.1f}" y="{bottom + 16}" class="middle">{number_text(value)}</text>')
        chart.add(f'<text x="{left}" y="{height - 7}" class="name">adds to the score</text>')
        zero = chart.at_x(0.0)
        for i, (text, value) in enumerate(self.choices):
            middle = 6 + line * i + line / 2
            chart.add(
                f'<text x="{left - 6}" y="{middle + 4:.1f}" class="end">{escape(shortened(text, left - 10))}</text>'
            )
            for j, kind, owner in self._kinds():
                added = self._at(j, value)
                x = chart.at_x(added)
                told = f"<title>{escape(f'{text}, {owner}: {number_text(added)}')}</title>"
                if len(self.model.prototypes) == 1:
                    shape = (
                        f'x="{min(x, zero):.1f}" y="{middle - 7:.1f}" width="{max(abs(x - zero), 1):.1f}" height="14"'
                    )
                    chart.add(f'<rect class="{"plus" if added >= 0 else "minus"}" {shape}>{told}</rect>')
                else:
                    spot = kind.replace("curve", "spot")
                    chart.add(f'<circle class="{spot}" cx="{x:.1f}" cy="{middle:.1f}" r="4.5">{told}</circle>')
        chart.add(f'<path class="axis" d="M{zero:.1f} 4V{bottom}"/>')
        return Picture(chart.svg(), self.label)

    # --- the table ---------------------------------------------------------------------------------------------------

    def _table(self) -> tuple[Table | None, str | None]:
        """The bins; above them the information value of the feature."""
        if not self.bins or self.added is None:
            return None, None
        code, names = self.subject.code, self.subject.class_names
        adds = list(self.own) if len(self.own) <= FEW_CLASSES else []
        heads = ["adds"] if len(self.terms) == 1 else [f"adds ({names[self.model.owners[j]]})" for j in adds]
        head, lines, value = ["value", "rows", *heads], [], None
        two = code is not None and len(self.model.classes) == 2
        positive = self.subject.positive
        if two:
            head += [f"share of {names[positive]}", "weight of evidence", "information value"]
            found = [evidence_of(one, np.asarray(code == positive)) for one in self.bins]
            total = sum(one.value for one in found)
            value = None if math.isnan(total) else f"{total:.3f}"
        for i, one in enumerate(self.bins):
            line = [one.text, f"{int(one.rows.sum()):,}"]
            line += [typeset(signed(mean_in(one, self.added[j]), digits=3)) for j in adds]
            if two:
                share, weight, worth = found[i].rate, found[i].weight, found[i].value
                line += [
                    f"{share:.1%}",
                    *("–" if math.isnan(n) else typeset(f"{n:z.{d}f}") for n, d in ((weight, 2), (worth, 3))),
                ]
            lines.append(line)
        name = f"Bins of {self.label}" + (f" in {self.unit}" if self.unit else "")
        return Table(name=name, head=head, lines=lines, numbers=range(1, len(head))), value


def _added(rows: Rows, terms: Sequence[Term]) -> np.ndarray:
    total = np.zeros(rows.n_rows)
    for term in terms:
        total += term.weight * rows.factor(term)
    return total


def _end_label(chart: Chart, end: tuple[float, float], kind: str, text: str) -> None:
    x, y = chart.at_x(end[0]) + 3, chart.at_y(end[1]) + 3.5
    chart.add(
        f'<text x="{x:.1f}" y="{y:.1f}" class="{kind.replace("curve", "label")}">{escape(shortened(text, 52))}</text>'
    )
