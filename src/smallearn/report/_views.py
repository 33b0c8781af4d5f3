"""Pictures of the model: the frontier, what each term adds, which features matter, one decision."""

from typing import Any

from smallearn import explain
from smallearn._text import count, joined, show, signed, typeset
from smallearn.model import SMaLLModel
from smallearn.model._sentences import score_name
from smallearn.report._panel import Field
from smallearn.report._pictures import Picture, draw
from smallearn.report._subject import Subject
from smallearn.report._tables import Table


def frontier_of(model: SMaLLModel) -> dict[str, Any] | None:
    """Accuracy against size, if the model was chosen by cross-validation."""
    selection = model.selection
    if selection is None or len(selection.frontier) < 2:
        return None
    from smallearn import plot

    best = max(selection.frontier, key=lambda step: step.score)
    text = (
        "The best model of each size by cross-validation; bars are standard errors. The model on this page has "
        f"{count(model.n_terms, 'term')}."
    )
    if best.n_terms != model.n_terms:
        text += (
            f" The highest score is {typeset(selection.told(best.score))}, with {count(best.n_terms, 'term')}; the "
            "choice also takes the uncertainty of the scores into account."
        )
    points = ", ".join(f"{count(step.n_terms, 'term')}: {selection.told(step.score)}" for step in selection.frontier)
    picture = draw(
        lambda ax: plot.frontier(model, ax=ax),
        name="frontier",
        alt=f"Score by number of terms. {points}.",
        caption="Cross-validated score against the number of terms.",
        height=4.2,
    )
    return {"text": text, "picture": picture}


def pictures_of(subject: Subject) -> dict[str, Any]:
    """What each term adds, the decision surface if there are two numbers, and which features matter."""
    model = subject.model
    pictures = [_violins(subject)] if model.terms else []
    numeric = {extent.feature for extent in model.ranges}
    if len(model.features) == 2 and {term.feature for term in model.features} <= numeric:
        pictures.append(_surface(subject))
    return {"pictures": pictures, "importance": _importance(subject)}


def _violins(subject: Subject) -> Picture:
    from smallearn import plot

    model = subject.model
    n_lines = len(model.terms) + len(model.prototypes) + 1
    names = joined([show(term.text, quote=False) for term in model.terms])
    return draw(
        lambda ax: plot.violins(model, subject.rows, subject.y, ax=ax),
        name="violins",
        alt=f"What each term adds to its score, class by class: {names}.",
        caption="What each term adds to its score, class by class, and the score that decides.",
        height=min(1.6 + 0.62 * n_lines, max(14.0, 0.22 * n_lines)),  # many lines are closer together
    )


def _surface(subject: Subject) -> Picture:
    from smallearn import plot

    return draw(
        lambda ax: plot.decision_surface(subject.model, subject.rows, subject.y, ax=ax),
        name="surface",
        alt="Where each class is predicted, over the two features in use.",
        caption="Where each class is predicted; the line is where the decision changes.",
        height=5.4,
    )


def _importance(subject: Subject) -> dict[str, Any] | None:
    """Which features matter; None without classes."""
    if subject.y is None or not subject.model.terms:
        return None
    importance = explain.importance(subject.model, subject.rows, subject.y)
    lines = [
        (show(one.label, quote=False), _points(one.loss), f"{_points(one.permuted)} ± {_points(one.spread)}")
        for one in sorted(importance.features, key=lambda one: -one.loss)
    ]
    text = (
        "Accuracy lost, in percentage points, when the feature's terms are replaced by their averages, and when its "
        "values are shuffled (mean and standard deviation). Negative values are usually noise."
    )
    if len(importance.prototypes) > 1:
        shares = joined(
            [f"{score_name(subject.model, one.number - 1)} on {one.share:.1%}" for one in importance.prototypes]
        )
        text = f"Highest score: {shares} of the rows. {text}"
    table = Table(
        name="Which features matter", head=("feature", "replaced by average", "shuffled"), lines=lines, numbers=(1, 2)
    )
    return {"text": text, "table": table}


def _points(share: float) -> str:
    """Percentage points; what rounds to 0 has no sign."""
    return typeset(f"{100 * share:z.1f}")


def case_of(subject: Subject, fields: list[Field]) -> dict[str, Any] | None:
    """The decision about a typical row: the values that the panel begins with."""
    model = subject.model
    if not model.terms or not fields:
        return None
    from smallearn import plot

    start = {field.feature: field.start for field in fields}
    values = {term.label: start.get(term.feature, 0.0) for term in model.features}
    case = explain.case(model, values, X=subject.rows, units=subject.units)
    added = "; ".join(f"{part.text}: {signed(part.points)}" for part in case.contributions)
    picture = draw(
        lambda ax: plot.contributions(model, values, ax=ax),
        name="case",
        alt=f"What each term adds to the score: {added}.",
        caption="From the constant, term by term, to the score.",
        height=1.4 + 0.5 * (len(case.contributions) + 2),
    )
    return {
        "text": f"A typical row, with the median or most frequent value of each input, is predicted {case.headline}",
        "picture": picture,
        "reason": typeset(case.reason),
        "changes": case.change_summary,
    }
