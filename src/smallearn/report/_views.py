"""What the page shows of one model: of the chosen one, of another size or of an alternative, by the same template."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from smallearn.evaluation import Evaluation
from smallearn.model import SMaLLModel
from smallearn.model._sentences import terms_text
from smallearn.report._charts import chances_picture, curves_of, found_picture
from smallearn.report._counts import Counts, counts_of
from smallearn.report._features import features_of
from smallearn.report._importance import heat_map_of, importance_of
from smallearn.report._quality import confusion_of, errors_of, judged_of, ranked_by, scores_of
from smallearn.report._rule import Shown, rule_of
from smallearn.report._subject import Subject
from smallearn.report._verdict import rows_of, verdict_of_more, verdict_of_two, verdict_without_rows

PARTS = ("rule", "picture", "confusion", "curves", "features", "importance", "errors", "scores")


@dataclass(frozen=True)
class View:
    """A model of the page, and what is shown of it, by the name of its place.

    ``size`` is the number of its terms; ``is_size`` if the slider of sizes leads to it.
    """

    number: int
    shown: Shown
    name: str
    is_size: bool
    verdict: str
    counts: Counts | None
    parts: dict[str, Any]

    @property
    def model(self) -> SMaLLModel:
        return self.shown.model

    @property
    def size(self) -> int:
        return self.model.n_terms

    def without(self, part: str) -> "View":
        """The view with a place left empty, to save space."""
        return replace(self, parts={**self.parts, part: None})


def view_of(subject: Subject, shown: Shown, number: int, name: str, *, is_size: bool, wanted: set[str]) -> View:
    """What is shown of a model; ``wanted`` are the sections of the page."""
    model = shown.model
    is_chosen = number == 0
    judged = subject.judged if is_chosen else judged_of(subject, model, resampled=False)
    two = len(model.classes) == 2
    counts = None
    if two and judged is not None and subject.rows is not None and subject.code is not None:
        counts = counts_of(model, subject.rows, subject.code)
    parts: dict[str, Any] = dict.fromkeys(PARTS)
    parts["rule"] = rule_of(subject, shown, approximate=is_chosen)
    if judged is not None:
        parts |= _of_quality(subject, model, judged, wanted)
    if "features" in wanted:
        parts["features"] = {"features": features_of(subject, model), "map": heat_map_of(subject, model)}
        parts["importance"] = importance_of(subject, model) if is_chosen else None
    return View(
        number=number,
        shown=shown,
        name=name,
        is_size=is_size,
        verdict=_verdict(subject, model, judged, counts),
        counts=counts,
        parts=parts,
    )


def name_of(model: SMaLLModel) -> str:
    """What a size is called."""
    return terms_text(model)


def _of_quality(subject: Subject, model: SMaLLModel, judged: Evaluation, wanted: set[str]) -> dict[str, Any]:
    assert subject.rows is not None
    assert subject.code is not None
    z = model.scores(subject.rows)
    chances = model.chances(z)
    parts: dict[str, Any] = {}
    two = len(model.classes) == 2
    if two:
        parts["picture"] = chances_picture(subject, chances[:, 1], model.decision_threshold)
    else:
        parts["confusion"] = confusion_of(judged)
        parts["picture"] = found_picture(subject, judged.confusion)
    if "scores" in wanted:
        parts["scores"] = scores_of(subject, model, judged)
        parts["curves"] = _curves(subject, model, z, chances)
    if "errors" in wanted:
        parts["errors"] = errors_of(subject, judged)
    return parts


def _curves(subject: Subject, model: SMaLLModel, z: np.ndarray, chances: np.ndarray) -> list[dict[str, Any]]:
    """For each class, its curves."""
    ranked, code = ranked_by(model, z), subject.code
    assert code is not None
    found = []
    for k, name in enumerate(subject.class_names):
        order = ranked[:, k] if ranked.ndim == 2 else ranked if k else -ranked
        pictures = curves_of(order, chances[:, k], code == k, name)
        if pictures:
            found.append({"label": k, "pictures": pictures})
    return found


def _verdict(subject: Subject, model: SMaLLModel, judged: Evaluation | None, counts: Counts | None) -> str:
    names = subject.class_names
    if counts is not None:
        hits, false = positive_counts(counts, subject.positive)
        return verdict_of_two(
            hits, false, counts.sizes, subject.positive, names, rows_of(subject.model, subject.positive)
        )
    if judged is not None:
        return verdict_of_more(judged.confusion, names)
    return verdict_without_rows(model)


def positive_counts(counts: Counts, positive: int) -> tuple[int, int]:
    """The rows of the class the page speaks of that are found, and those of the other that are taken for it."""
    hits, false = counts.own
    return (hits, false) if positive else (counts.sizes[0] - false, counts.sizes[1] - hits)
