"""Whether the parts of a model fit together."""

import math
from typing import TYPE_CHECKING

from smallearn._text import listed
from smallearn.model._limits import check_kinds, check_limits

if TYPE_CHECKING:
    from smallearn.model._model import SMaLLModel
    from smallearn.model._parts import Accepted
    from smallearn.model._term import Term


LARGEST_COST = 1e100  # so that sums of costs are finite


def check_parts(model: "SMaLLModel") -> None:
    """Raise ValueError unless the classes, prototypes, names, ranges and counts of a model fit together."""
    if len(model.classes) < 2 or not model.prototypes:
        raise ValueError(
            f"A model needs at least two classes and one prototype; it got {len(model.classes)} and "
            f"{len(model.prototypes)}."
        )
    if not 0.0 < model.scale < math.inf:
        raise ValueError(f"A model's scale is a positive finite number, not {model.scale!r}.")
    check_limits(model)
    check_kinds(model)
    _check_decision(model)
    _check_names(model)
    _check_ranges(model)
    _check_accepted(model)
    _check_others(model)
    _check_reference(model)
    held_out = model.table.held_out
    if held_out is not None and len(held_out.class_counts) != len(model.classes):
        raise ValueError(
            f"There are {len(held_out.class_counts)} counts of rows held out; classes: {len(model.classes)}."
        )
    if model.data is not None and len(model.data.class_counts) != len(model.classes):
        raise ValueError(f"There are {len(model.data.class_counts)} class counts for {len(model.classes)} classes.")
    owners = set(model.owners)
    if not owners <= set(range(len(model.classes))):
        raise ValueError("Each prototype belongs to one of the classes.")
    if len(model.classes) > 2 and len(owners) < len(model.classes):
        raise ValueError("With more than two classes, each of them owns a prototype.")


def _check_decision(model: "SMaLLModel") -> None:
    """The threshold is a probability, for two classes; a cost matrix has a row and a column for each of more."""
    threshold, costs, n_classes = model.decision_threshold, model.cost_matrix, len(model.classes)
    if not 0.0 < threshold < 1.0:
        raise ValueError(f"A model's decision threshold is a probability above 0 and below 1, not {threshold!r}.")
    if n_classes == 2 and costs is not None:
        raise ValueError("With two classes, costs are a decision threshold; a cost matrix is for more classes.")
    if n_classes > 2 and threshold != 0.5:
        raise ValueError(
            f"A decision threshold is for two classes; with {n_classes} it is 0.5, not {threshold!r}; use a cost "
            "matrix."
        )
    if costs is not None and (len(costs) != n_classes or any(len(row) != n_classes for row in costs)):
        raise ValueError(f"A cost matrix has {n_classes} rows of {n_classes} numbers, one for each class.")
    if costs is not None and not all(abs(cost) <= LARGEST_COST for row in costs for cost in row):
        raise ValueError(f"A cost matrix has finite numbers of at most {LARGEST_COST:g}.")


def _check_names(model: "SMaLLModel") -> None:
    """Each feature in use has one name, and all differ; or none has a name."""
    names: dict[int, str | None] = {}
    for term in model.terms:
        if names.setdefault(term.feature, term.name) != term.name:
            raise ValueError(f"Feature {term.feature} has two names: {listed([names[term.feature], term.name])}.")
    known = [name for name in names.values() if name is not None]
    if len(set(known)) < len(known) or 0 < len(known) < len(names):
        raise ValueError(f"The features in use must have different names, or all none: {listed(list(names.values()))}.")


def _check_ranges(model: "SMaLLModel") -> None:
    """Each range belongs to one feature in use, and its ends are in order."""
    ranged = [extent.feature for extent in model.ranges]
    if len(set(ranged)) < len(ranged) or not set(ranged) <= {term.feature for term in model.terms}:
        raise ValueError(f"Ranges belong to features in use, at most one for each, not to {listed(ranged)}.")
    if not all(-math.inf < extent.low <= extent.high < math.inf for extent in model.ranges):
        raise ValueError("A range goes from a finite number to another that is not smaller.")


def _check_accepted(model: "SMaLLModel") -> None:
    """What is accepted belongs to one feature in use, and is something."""
    limited = [one.feature for one in model.accepted]
    if len(set(limited)) < len(limited) or not set(limited) <= {term.feature for term in model.terms}:
        raise ValueError(f"Accepted values belong to features in use, once for each, not to {listed(limited)}.")
    if any(one.missing and one.categories is None for one in model.accepted):
        raise ValueError("Accepted values are some categories, or all but missing ones.")
    for one in model.accepted:
        if one.categories is not None:
            _check_categories(one, [term for term in model.terms if term.feature == one.feature])


def _check_categories(accepted: "Accepted", terms: "list[Term]") -> None:
    """The terms of a feature ask for values that it may have."""
    is_text = any(isinstance(value, str) for value in accepted.categories or ())
    for term in terms:
        if term.kind == "equals" and not accepted.takes(term.value):
            raise ValueError(f"The accepted values of feature {accepted.feature} lack that of {term.text}.")
        if term.kind not in ("equals", "missing") and is_text:
            raise ValueError(f"{term.text} needs numbers; the accepted values of feature {accepted.feature} are text.")


def _check_reference(model: "SMaLLModel") -> None:
    """There is a histogram for each score and, at most one, for each feature; and a count for each class.

    A feature need not be in use: a model may lose terms when it is rounded or edited.
    """
    known, n_classes = model.reference, len(model.classes)
    if known is None:
        return
    n_scores = 1 if n_classes == 2 else n_classes
    if len(known.scores) != n_scores or len(known.predicted) != n_classes:
        raise ValueError(f"reference: {n_classes} classes have {n_scores} scores and {n_classes} predicted counts.")
    if any(one.edges is None or one.feature is not None for one in known.scores):
        raise ValueError("reference: the histogram of a score has edges, and no feature.")
    features = [one.feature for one in known.features]
    if len(set(features)) < len(features) or not set(features) <= set(range(model.n_features)):
        raise ValueError(f"reference: histograms belong to features, at most one for each, not to {listed(features)}.")


def _check_others(model: "SMaLLModel") -> None:
    """Models of other sizes and alternatives answer the same question, and have no such models themselves."""
    for name in ("frontier_models", "alternatives"):
        for position, other in enumerate(getattr(model, name)):
            if (other.classes, other.class_dtype, other.n_features) != (
                model.classes,
                model.class_dtype,
                model.n_features,
            ):
                raise ValueError(f"{name}[{position}]: the classes or the number of features differ from this model's.")
            if other.frontier_models or other.alternatives or other.reference is not None:
                raise ValueError(f"{name}[{position}]: such a model has no further models and no reference.")
    described = [one.name for one in model.descriptions]
    if len(set(described)) < len(described):
        raise ValueError(f"descriptions: a feature is described twice: {listed(described)}.")
