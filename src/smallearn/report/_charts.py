"""Pictures of how good the model is: probabilities by class, ROC, precision-recall, reliability, score by size."""

from collections.abc import Sequence
from html import escape

import numpy as np

from smallearn._text import count, typeset
from smallearn.evaluation import wilson
from smallearn.model import SMaLLModel
from smallearn.report._subject import Subject
from smallearn.report._svg import Chart, Picture, number_text, shortened, width_of
from smallearn.report._verdict import percent_of

BARS, POINTS, GROUPS = 25, 60, 10  # of the histogram of probabilities; of a curve; of the reliability diagram
FEW_CLASSES = 6  # above which the bars of classes are narrower
FAR = 0.005  # share of the picture that a point of a curve must lie off the line to stay


def chances_picture(subject: Subject, chance: np.ndarray, threshold: float) -> Picture:
    """For two classes: how many rows of each have which probability of the second, and the threshold."""
    names, code = subject.class_names, subject.code
    edges = np.linspace(0.0, 1.0, BARS + 1)
    counts = [np.histogram(chance[code == k], bins=edges)[0] for k in (0, 1)]
    shares = [one / max(int(one.max()), 1) for one in counts]  # a rare class would not be seen beside the other
    alt = (
        f"Histogram of the probability of {names[1]}: rows of {names[1]} upwards, rows of {names[0]} downwards; "
        f"the threshold is {number_text(threshold)}."
    )
    chart = Chart(alt=alt, x=(0.0, 1.0), y=(-1.15, 1.15), height=230, left=14)
    for k, sign in ((1, 1.0), (0, -1.0)):
        for low, high, share, n in zip(edges, edges[1:], shares[k], counts[k], strict=False):
            if n:
                span = f"from {100 * low:.0f}% to {100 * high:.0f}%"
                title = f"{count(int(n), 'row')} of {names[k]} with a probability {span}"
                chart.bar(low, high, 0.0, sign * share, "plus" if k else "minus", title)
    base = chart.height - 40
    for value in (0.0, 0.25, 0.5, 0.75, 1.0):
        x = chart.at_x(value)
        chart.add(f'<path class="tick" d="M{x:.1f} {base}v4"/>')
        chart.add(f'<text x="{x:.1f}" y="{base + 16}" class="middle">{100 * value:.0f}%</text>')
    chart.line([(0.0, 0.0), (1.0, 0.0)], "axis")
    x = chart.at_x(threshold)
    span = f'data-from="{chart.at_x(0.0):.0f}" data-wide="{chart.at_x(1.0) - chart.at_x(0.0):.0f}"'
    chart.add(f'<path class="cut" data-cut {span} d="M0 8V{base}" transform="translate({x:.2f})"/>')
    for k, y in ((1, 14), (0, base - 5)):
        size = f": {count(int(np.sum(code == k)), 'row')}"
        told = escape(shortened(f"truly {names[k]}", 300 - width_of(size)) + size)
        chart.add(f'<text x="328" y="{y}" class="end strong over">{told}</text>')
    name = escape(shortened(f"probability of {names[1]}", 300))
    chart.add(f'<text x="170" y="{chart.height - 7}" class="middle name">{name}</text>')
    caption = (
        f"To the right of the line {names[1]} is predicted: what lies there below the axis, and to the left above it, "
        "is predicted wrongly. Each class has its own scale."
    )
    return Picture(chart.svg("wide"), caption)


def found_picture(subject: Subject, confusion: np.ndarray) -> Picture:
    """For more classes: the share of the rows of each that is found."""
    names, sizes, hits = subject.class_names, confusion.sum(axis=1), np.diag(confusion)
    line, left = (20 if len(names) <= FEW_CLASSES else 15), 96
    height = 48 + line * len(names)
    told = "; ".join(f"{name}: {percent_of(int(h), int(n))}" for name, h, n in zip(names, hits, sizes, strict=True))
    chart = Chart(
        alt=f"Share of the rows of each class that is found. {told}.",
        x=(0.0, 1.0),
        y=(0.0, 1.0),
        height=height,
        left=left,
    )
    base = height - 40
    for value in (0.0, 0.5, 1.0):
        x = chart.at_x(value)
        chart.add(f'<path class="grid" d="M{x:.1f} 4V{base}"/>')
        chart.add(f'<text x="{x:.1f}" y="{base + 16}" class="middle">{100 * value:.0f}%</text>')
    for i, name in enumerate(names):
        y = 6 + line * i
        share = hits[i] / sizes[i] if sizes[i] else 0.0
        title = f"{name}: {int(hits[i]):,} of {count(int(sizes[i]), 'row')} found"
        chart.add(f'<text x="{left - 6}" y="{y + line - 6}" class="end">{escape(shortened(name, left - 10))}</text>')
        shape = f'x="{left}" y="{y}" width="{chart.at_x(share) - left:.1f}" height="{line - 3}"'
        chart.add(f'<rect class="plus" {shape}><title>{escape(title)}</title></rect>')
    chart.add(f'<text x="{left}" y="{height - 7}" class="name">found, of the rows of each class</text>')
    return Picture(chart.svg(), "How many of the rows of each class are found.")


# --- curves of one class ---------------------------------------------------------------------------------------------


def curves_of(ranked: np.ndarray, chance: np.ndarray, is_class: np.ndarray, name: str) -> list[Picture]:
    """ROC, precision-recall and reliability of a class, by what its rows are ranked by and by its probability."""
    members, others = int(is_class.sum()), int((~is_class).sum())
    if not members or not others:
        return []
    order = np.argsort(-ranked, kind="stable")
    last = np.append(np.flatnonzero(np.diff(ranked[order])), len(order) - 1)  # the last of equal scores
    hits = np.cumsum(is_class[order])[last]
    false = 1 + last - hits
    return [
        _roc(hits / members, false / others, name),
        _precision_recall(hits / members, hits / (hits + false), members / (members + others), name),
        _reliability(chance, is_class, name),
    ]


def _roc(recall: np.ndarray, false: np.ndarray, name: str) -> Picture:
    x, y = np.append(0.0, false), np.append(0.0, recall)
    area = float(np.sum(np.diff(x) * (y[1:] + y[:-1]) / 2))
    chart = Chart(alt=f"ROC curve of {name}. The area under it is {area:.3f}.", x=(0.0, 1.0), y=(0.0, 1.0))
    chart.axes("false positive rate", "true positive rate", percent="xy")
    chart.line([(0.0, 0.0), (1.0, 1.0)], "zero").line(_thinned(x, y), "curve")
    return Picture(chart.svg(), f"ROC curve; area {area:.3f}.")


def _precision_recall(recall: np.ndarray, precision: np.ndarray, base: float, name: str) -> Picture:
    area = float(np.sum(np.diff(np.append(0.0, recall)) * precision))
    alt = f"Precision-recall curve of {name}. The average precision is {area:.3f}."
    chart = Chart(alt=alt, x=(0.0, 1.0), y=(0.0, 1.0)).axes("recall", "precision", percent="xy")
    chart.line([(0.0, base), (1.0, base)], "zero", f"guessing: {100 * base:.1f}%")
    chart.line(_thinned(recall, precision), "curve")
    return Picture(chart.svg(), f"Precision and recall; average precision {area:.3f}.")


def _reliability(chance: np.ndarray, is_class: np.ndarray, name: str) -> Picture:
    order = np.argsort(chance, kind="stable")
    groups = [part for part in np.array_split(order, min(GROUPS, max(1, len(order) // 5))) if len(part)]
    chart = Chart(alt=f"Reliability of the probabilities of {name}.", x=(0.0, 1.0), y=(0.0, 1.0))
    chart.axes("predicted probability", "observed share", percent="xy").line([(0.0, 0.0), (1.0, 1.0)], "zero")
    for part in groups:
        told, seen = float(chance[part].mean()), wilson(int(is_class[part].sum()), len(part))
        chart.line([(told, seen.low), (told, seen.high)], "error")
        title = f"predicted {100 * told:.1f}%, observed {100 * seen.value:.1f}% of {count(len(part), 'row')}"
        chart.dot(told, seen.value, "spot", title, focusable=True)
    return Picture(
        chart.svg(), "Reliability: on the dashed line, probabilities are as observed; bars are 95% intervals."
    )


def _thinned(x: np.ndarray, y: np.ndarray) -> list[tuple[float, float]]:
    """A curve in few points: those that are far from one another."""
    keep, last = [0], 0
    for i in range(1, len(x) - 1):
        if abs(x[i] - x[last]) + abs(y[i] - y[last]) >= 2.0 / POINTS:
            keep.append(i)
            last = i
    keep.append(len(x) - 1)
    return [(float(x[i]), float(y[i])) for i in dict.fromkeys(keep)]


# --- size ------------------------------------------------------------------------------------------------------------


def frontier_picture(model: SMaLLModel, sizes: Sequence[int]) -> Picture | None:
    """Score against size, with the sizes that the page has; None unless the model was chosen among several sizes."""
    selection = model.selection
    if selection is None or len(selection.frontier) < 2:
        return None
    steps = selection.frontier
    low = min(step.score - step.spread for step in steps)
    high = max(step.score + step.spread for step in steps)
    room = 0.05 * (high - low) or 0.01
    most = max(step.n_terms for step in steps)
    unit = "weights" if model.n_terms == len(model.terms) != len(model.card) else "terms"  # what the budget counted
    points = ", ".join(f"{count(step.n_terms, unit[:-1])}: {typeset(selection.told(step.score))}" for step in steps)
    chart = Chart(alt=f"Score by number of {unit}. {points}.", x=(0.5, most + 0.5), y=(low - room, high + room))
    is_share = "accuracy" in selection.metric
    whole = [float(n) for n in range(1, most + 1) if most <= 12 or n % (most // 8) == 0]
    chart.axes(unit, selection.metric, percent="y" if is_share else "", x_ticks=whole)
    chart.line([(step.n_terms, step.score) for step in steps], "soft-line")
    for step in steps:
        chart.line([(step.n_terms, step.score - step.spread), (step.n_terms, step.score + step.spread)], "error")
    for step in steps:
        title = f"{count(step.n_terms, unit[:-1])}: {selection.told(step.score)} ± {selection.told(step.spread)}"
        kind = "spot now" if step.n_terms == model.n_terms else "spot"
        known = f' data-size="{step.n_terms}"' if step.n_terms in sizes else ""
        chart.dot(step.n_terms, step.score, kind, typeset(title), focusable=True, more=known)
    caption = (
        f"Cross-validated score by number of {unit}; bars are standard errors. The filled point is the model shown."
    )
    return Picture(chart.svg(), caption)
