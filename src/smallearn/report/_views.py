"""The model in pictures: the frontier, what each term adds, what matters, a typical case."""

from typing import Any

from smallearn import explain
from smallearn._text import count, show
from smallearn.model import SMaLLModel
from smallearn.report._panel import Field
from smallearn.report._pictures import draw
from smallearn.report._tables import Table, typeset


def frontier_of(model: SMaLLModel) -> dict[str, Any] | None:
    kept = model.selection
    if kept is None or len(kept.frontier) < 2:
        return None
    from smallearn import plot

    best = max(kept.frontier, key=lambda one: one.score)
    words = (
        "The best model of each size, by cross-validation; bars are standard errors. The one on this page has "
        f"{count(len(model.terms), 'term')}."
    )
    if best.n_terms != len(model.terms):
        words += (
            f" The highest score is {typeset(kept.told(best.score))}, with {count(best.n_terms, 'term')}; the choice "
            "weighs in how sure and how steady that is."
        )
    caption = "Cross-validated score against the number of terms."
    points = ", ".join(f"{count(one.n_terms, 'term')}: {kept.told(one.score)}" for one in kept.frontier)
    picture = draw(
        "frontier", 4.2, lambda ax: plot.frontier(model, ax=ax), f"Score by number of terms. {points}.", caption
    )
    return {"words": words, "picture": picture}


def pictures_of(model: SMaLLModel, X: Any, y: Any) -> dict[str, Any]:
    from smallearn import plot

    pictures = []
    if model.terms:
        n_lines = len(model.terms) + len(model.prototypes) + 1
        height = min(1.6 + 0.62 * n_lines, max(14.0, 0.22 * n_lines))  # many lines stand closer
        names = ", ".join(show(term.text, quote=False) for term in model.terms)
        pictures.append(
            draw(
                "violins",
                height,
                lambda ax: plot.violins(model, X, y, ax=ax),
                f"What each term adds to its score, class by class: {names}.",
                "What each term adds to its score, class by class, and the score that decides.",
            )
        )
    numeric = {extent.feature for extent in model.ranges}
    if len(model.features) == 2 and {term.feature for term in model.features} <= numeric:
        pictures.append(
            draw(
                "surface",
                5.4,
                lambda ax: plot.decision_surface(model, X, y, ax=ax),
                "Where each class is predicted, in the plane of the two features in use.",
                "Where each class is predicted; the line is where the decision changes.",
            )
        )
    return {"pictures": pictures, "importance": _importance(model, X, y)}


def _importance(model: SMaLLModel, X: Any, y: Any) -> dict[str, Any] | None:
    if y is None or not model.terms:
        return None
    found = explain.importance(model, X, y)
    lines = [
        (show(one.label, quote=False), _points(one.loss), f"{_points(one.permuted)} ± {_points(one.spread)}")
        for one in sorted(found.features, key=lambda one: -one.loss)
    ]
    shares = "; ".join(f"prototype {one.number} on {one.share:.1%}" for one in found.prototypes)
    words = (
        "Percentage points of accuracy that are lost without the feature (its average in its place), and when its "
        "values are shuffled. Below 0: on these rows the model would do better without it, which on few rows is "
        "mostly chance."
    )
    if len(found.prototypes) > 1:
        words = f"Which prototype has the greatest score: {shares} of the rows. {words}"
    head = ("feature", "lost without it", "lost by shuffling")
    return {"words": words, "table": Table("Which features matter", head, lines, (1, 2))}


def _points(share: float) -> str:
    """Percentage points, without a sign before what is rounded to 0."""
    return typeset(f"{100 * share:z.1f}")


def case_of(model: SMaLLModel, X: Any, fields: list[Field]) -> dict[str, Any] | None:
    """A typical case: the values that the panel begins with."""
    if not model.terms or not fields:
        return None
    from smallearn import plot

    start = {field.feature: field.start for field in fields}
    values = {term.label: start.get(term.feature, 0.0) for term in model.features}
    found = explain.case(model, values, X=X)
    intro, *changes = found.changes()
    parts = "; ".join(f"{part.text}: {part.points:+z.4g}" for part in found.contributions)
    words = f"A typical case, with the middle or most frequent value of each input: {found.headline}"
    picture = draw(
        "case",
        1.4 + 0.5 * (len(found.contributions) + 2),
        lambda ax: plot.contributions(model, values, ax=ax),
        f"What each term adds to the score: {parts}.",
        "From the constant, term by term, to the score.",
    )
    return {
        "words": words,
        "picture": picture,
        "reason": typeset(found.reason),
        "intro": intro,
        "changes": [line.strip() for line in changes if line.startswith(" ")],
        "closing": " ".join(line for line in changes if not line.startswith(" ")),
    }
