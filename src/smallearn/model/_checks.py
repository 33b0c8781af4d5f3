"""Whether the parts of a model fit together."""

import math
from typing import TYPE_CHECKING

from smallearn._text import listed

if TYPE_CHECKING:
    from smallearn.model._model import SMaLLModel


def check_parts(model: "SMaLLModel") -> None:
    """Raise ValueError unless the classes, prototypes, names, ranges and counts of a model fit together."""
    if len(model.classes) < 2 or not model.prototypes:
        raise ValueError(
            f"A model needs at least two classes and one prototype; it got {len(model.classes)} and "
            f"{len(model.prototypes)}."
        )
    if not 0.0 < model.scale < math.inf:
        raise ValueError(f"A model's scale is a positive finite number, not {model.scale!r}.")
    _check_names(model)
    _check_ranges(model)
    if model.data is not None and len(model.data.class_counts) != len(model.classes):
        raise ValueError(f"There are {len(model.data.class_counts)} class counts for {len(model.classes)} classes.")
    owners = set(model.owners)
    if len(model.classes) == 2 and len(owners) != 1:
        raise ValueError("With two classes, one of them owns all the prototypes.")
    if len(model.classes) > 2 and owners != set(range(len(model.classes))):
        raise ValueError("With more than two classes, each of them owns a prototype.")


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
